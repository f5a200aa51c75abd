#!/usr/bin/env bats
# Since when a thread was ready, who or what made it so, and what it slept for: against bpftrace, schedstat and programs that
# know it.

# bats file_tags=quiet
load lib
load disks
load groups
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# watched SCRIPT NAME CMD...: CMD is recorded while bpftrace runs a script of this folder on threads of that name. strata's
# programs are there first, so that it reads its clock before bpftrace's take their time.
watched() {
	local script=$HERE/$1 name=$2 recorder

	shift 2
	command -v bpftrace >/dev/null || skip "no bpftrace"
	grep -qw tracefs /proc/filesystems || skip "no tracefs in this kernel"
	record_background -e sched -- sh -c 'until [ -e go ]; do sleep 0.1; done; exec "$@"' sh "$@"
	recorder=$PID
	mv out printed
	background "$ROOT/scripts/with-tracefs" bpftrace -B line -f "${FORMAT:-text}" "$script" "$name"
	within 60 attached "$PID"
	touch go
	wait "$recorder"
	sleep 0.2
	kill -INT "$PID"
	wait "$PID" || true
}

# bpftrace says so on its first line, or ends.
attached() {
	grep -qi attach out || ! gone "$1" || {
		cat err
		exit 1
	}
	grep -qi attach out
}

# The id of the process that was started with this word among its arguments.
started() {
	rows process "event == 'exec' and '$1' in args" pid | tail -1
}

@test "wake_ts is the sched_waking that bpftrace saw, the first after the thread had left" {
	watched wake.bt pingpong sh -c '"$0" 500 1; "$0" 500 0' "$W/pingpong"
	no_loss
	"$HERE/wakes.py" "$RUN" out
}

@test "waits for a CPU fall into the buckets of runqlat" {
	FORMAT=json watched runqlat.bt schedule sh -c '"$0"; "$0"' "$W/schedule"
	no_loss
	"$HERE/runqlat.py" "$RUN" schedule out
}

@test "what a thread waited for before it was moved to another CPU counts" {
	[ "$(nproc)" -gt 1 ] || skip "one CPU"
	record -e sched -- "$W/flips" >truth
	no_loss
	"$HERE/flips.py" "$RUN" truth
}

@test "sleeps with iowait take as long as the kernel's own account of delays says" {
	[ -e /proc/sys/kernel/task_delayacct ] || skip "this kernel does not account for delays"
	group blkio
	disk 64M
	echo "$(cat "/sys/block/$NAME/dev") $((32 << 20))" >"$GROUP/blkio.throttle.read_bps_device" || skip "no limit of a device's speed"
	undo sysctl -q kernel.task_delayacct="$(cat /proc/sys/kernel/task_delayacct)"
	sysctl -q kernel.task_delayacct=1
	# In ticks of 10 ms, as the 42nd field of /proc/PID/stat.
	record -e sched -- sh -c 'echo $$ >"$1/cgroup.procs"; exec /usr/bin/python3 -c "$2" "$3"' sh "$GROUP" '
import mmap, os, sys
fd, buffer = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 1 << 20)
for i in range(40):
    os.preadv(fd, [buffer], i << 20)
print(os.getpid(), open("/proc/self/stat").read().rsplit(")", 1)[1].split()[39])' "$DISK" >truth
	no_loss
	"$HERE/delays.py" "$RUN" $(cat truth)
}

@test "a sleep with iowait is ended by a request of the thread's own" {
	disk 32M
	record -e sched,block -- dd if="$DISK" of=/dev/null iflag=direct bs=64k 2>/dev/null
	no_loss
	"$HERE/cold.py" "$RUN" "$(started "if=$DISK")"
}

@test "threads that fight for the lock of their memory wait for locks, and for no storage" {
	record -e sched,block,fault,fs,mem -- "$W/maplock"
	no_loss
	pid=$(started maplock)
	same "sleeps for storage" 0 "$(count sched "tid == $pid and iowait and syscall == 'mprotect'")"
	[ "$(count sched "tid == $pid and end_state == 'D' and syscall == 'mprotect'")" -ge 10 ]
	"$STRATA" report --json "$RUN" >report.json
	/usr/bin/python3 - <<-'END'
		import json
		report = json.load(open("report.json"))
		parts = {part["figure"]: part["time_ns"] for part in report["main"]["parts"] if part["figure"]}
		calls = [call for call in report["waits"]["calls"] if call["syscall"] == "mprotect"]
		assert calls and all(call["reason"] == "lock in the kernel" for call in calls), calls
		assert {call["woken_by"] for call in calls} == {"own threads"}, calls
		assert parts["main_lock_ns"] > 0, parts
	END
}

@test "a send to a socket of this machine wakes the receiver, although a softirq delivers it" {
	record -e sched -- /usr/bin/python3 -c '
import os, socket
listener = socket.create_server(("127.0.0.1", 0))
there = socket.create_connection(listener.getsockname())
here, _ = listener.accept()
if os.fork():
    for _ in range(300):
        there.send(b"x"), there.recv(1)
    os.wait()
else:
    for _ in range(300):
        here.recv(1), here.send(b"x")
' ping
	no_loss
	first=$(started ping)
	second=$(rows process "event == 'fork' and ppid == $first" pid)
	"$HERE/answers.py" "$RUN" "$first" "$second"
}

@test "a timer ends a sleep, and no thread does" {
	record -e sched -- sh -c 'for i in 1 2 3 4 5; do sleep 0.02; done; : timed'
	"$HERE/after.py" "$RUN" clock_nanosleep sleep >after
	same "what ended each sleep" "timer - -" "$(sort -u after)"
	[ "$(wc -l <after)" -ge 5 ]
}

@test "whoever wakes a thread is on a CPU then" {
	mkdir work
	record -e sched -- sh -c '"$0/pingpong" 300 1; "$0/threads" work 50; "$0/forks" /bin/true 50' "$W" >/dev/null
	no_loss
	"$HERE/on_cpu.py" "$RUN"
}

@test "a DataLoader's main thread: what it slept has a thread, a device or a timer behind it" {
	/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "python3-torch is not installed"
	for mode in fork spawn persistent relay; do
		rm -f "$RUN"
		record -- "$ROOT/tests/workloads/loader.py" $mode
		echo "$mode:"
		"$HERE/sleeps.py" "$RUN" "loader.py $mode"
		"$HERE/on_cpu.py" "$RUN"
	done
}
