#!/usr/bin/env bats
# Faults of the machine and of the people around: limits, full disks, kills, stops. The job never notices, what is kept is
# readable, and what is not kept is counted. FAULTS=full, as `make soak` has it, makes them as many and as long as
# docs/reliability.md tells; figures go to the file $FAULTS_LOG.

load lib
load disks
load groups
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# lost [LAYER]: events that the trace counts as lost.
lost() {
	rows loss "${1:+layer == '$1' and }reason != 'string cut'" count | awk '{ n += $1 } END { print n + 0 }'
}

# counted N: dd's N reads and N writes of one byte, kept or counted as lost.
counted() {
	local kept

	"$STRATA" dump "$RUN" io --columns comm,requested,path >calls || return 1
	kept=$(grep -cE '^dd,1,/dev/(zero|null)$' calls)
	same "dd's calls, kept and lost" $((2 * $1)) $((kept + $(lost io)))
	figure "$BATS_TEST_DESCRIPTION: $((2 * $1)) calls = $kept rows + $(lost io) lost"
}

# bytes N: the command that makes them.
bytes() {
	DD=(dd if=/dev/zero of=/dev/null bs=1 count="$1" status=none)
}

# limited N CMD...: CMD with N open files at most.
limited() {
	(ulimit -n "$1" && exec "${@:2}")
}

@test "few open files: strata raises its own limit as far as it may, the job keeps what it was given" {
	(ulimit -Sn 40 && "$STRATA" record -o "$RUN" -- sh -c 'ulimit -Sn; ulimit -Hn' >limits 2>words)
	same "the job's limits" "$(printf '40\n%s' "$(ulimit -Hn)")" "$(cat limits)"
	! grep -i warning words
	"$STRATA" info --json "$RUN" | jq -e '.absent | del(.gpu) == {}' # whose driver may not be there
}

@test "too few open files for all layers: the first ones are recorded, the others absent with the way out" {
	limited 150 "$STRATA" record -o "$RUN" -- sh -c 'ulimit -n >limit; exec dd if=/dev/zero of=out bs=4096 count=10' 2>words
	same "the job's limit" 150 "$(cat limit)"
	says words "layer 'block' is not recorded: it needs [0-9]+ open files.*ulimit -n"
	same "writes" 10 "$(count io "op == 'write' and path == '$T/out'")"
	"$STRATA" info --json "$RUN" | jq -e '.absent.block | test("open files")'
}

@test "too few open files for any recording: said before the job starts" {
	for limit in 12 30 60; do
		run -125 limited $limit "$STRATA" record -o "$RUN" -- touch ran
		echo "$output" >words
		says words "open files.*ulimit -n 4096"
		[ ! -e ran ]
	done
}

@test "a full disk: info names it and counts what was not written" {
	mounted "$T/small" -t tmpfs -o size=128k none
	RUN=$T/small/run.strata
	mkdir work
	record -e io,fs -- /usr/bin/python3 -c "
import os, secrets, time
for number in range(20000):
    if number == 500:
        time.sleep(1.6)
    os.close(os.open('work/' + secrets.token_hex(16), os.O_CREAT | os.O_WRONLY))"
	"$STRATA" info "$RUN" >info 2>err
	says info "stopped: .*No space left on device; [0-9]+ rows are not in it"
	says info "incomplete: the recorder could not write on"
	[ "$("$STRATA" info --json "$RUN" 2>err | jq .unwritten)" -gt 0 ]
	same "rows not written, told twice" \
		"$(grep -oE '[0-9,]+ rows were not written' words | tr -dc '0-9')" "$("$STRATA" info --json "$RUN" 2>err | jq .unwritten)"
	"$STRATA" report "$RUN" >report 2>err
	says report "could not write on"
}

@test "kill -9 at random moments: the job never notices, what was in the file stays in it, nothing stays in the kernel" {
	local kills before_kill=0 rows_after=0 started=0

	kills=$(size 6 50)
	"$ROOT/tests/outside-state" all bpf >before
	bytes 1000000
	for ((i = 0; i < kills; i++)); do
		RUN=$T/run$i.strata
		background "$STRATA" record -o "$RUN" -- sh -c "echo begun >begun$i; ${DD[*]}; echo \$? >ended$i"
		((i % 5 == 0)) || within 20 test -e "begun$i" # some come before the job
		sleep "$(awk -v r=$RANDOM 'BEGIN { print r / 32768 * 1.6 }')"
		before_kill=$("$STRATA" info --json "$RUN" 2>/dev/null | jq .rows) || before_kill=0
		kill -KILL $PID 2>/dev/null || true # on a fast machine the job may have ended
		wait $PID 2>/dev/null || true
		if [ -e "begun$i" ]; then
			within 60 test -s "ended$i"
			same "the job's exit status" 0 "$(cat "ended$i")"
			started=$((started + 1))
		fi
		if [ "${before_kill:-0}" -gt 0 ]; then
			"$STRATA" info --json "$RUN" >info.json 2>info.err
			same damage null "$(jq .damage info.json)"
			rows_after=$(jq .rows info.json)
			[ "$rows_after" -ge "$before_kill" ] || { echo "rows before $before_kill, after $rows_after"; false; }
			figure "kill $i: $before_kill rows before, $rows_after after"
		fi
	done
	within 20 no_new_orphans
	figure "kill -9: $kills kills, $started jobs had begun and ended with 0; no BPF object stays"
}

@test "a fork bomb: each process has its rows, or is counted" {
	local bomb forks exits

	bomb=$(size 2000 20000)
	record --scope job -e process -- "$W/bomb" "$bomb" 1000
	main=$(rows process "event == 'exec'" pid | head -1)
	forks=$(count process "event == 'fork' and ppid == $main")
	exits=$(count process "event == 'exit' and ppid == $main")
	same "forks and exits, kept and lost" $((2 * bomb)) $((forks + exits + $(lost process)))
	figure "fork bomb of $bomb: $forks forks, $exits exits, $(lost process) lost"
}

@test "a fork bomb under all layers" {
	local bomb

	bomb=$(size 1000 20000)
	record -- "$W/bomb" "$bomb" 500
	main=$(rows process "event == 'exec'" pid | head -1)
	kept=$(count process "event in ('fork', 'exit') and ppid == $main")
	[ $((kept + $(lost process))) -ge $((2 * bomb)) ]
	[ "$kept" -le $((2 * bomb)) ]
	figure "fork bomb of $bomb, all layers: $kept forks and exits, $(lost) lost in all layers"
}

@test "SIGSTOP of strata: rows and losses together are what the job did" {
	local stop

	stop=$(size 2 10)
	bytes "$(size 100000 1500000)"
	background "$STRATA" record -o "$RUN" --scope job -e io --buffer 256K -- sh -c "echo ready; sleep 1; ${DD[*]}"
	within 20 grep -q ready out
	kill -STOP $PID
	sleep "$stop"
	kill -CONT $PID
	wait $PID
	[ "$(lost io)" -gt 1000 ]
	counted "$(size 100000 1500000)"
}

@test "a memory cgroup that is too small for strata: the job goes on, what is kept is readable or strata says why" {
	local limit status outcome

	bytes "$(size 300000 1000000)"
	"$ROOT/tests/outside-state" all bpf >before
	group memory
	for limit in 16M 90M 256M; do
		rm -f "$RUN" go
		echo $limit >"$GROUP/memory.limit_in_bytes"
		background sh -c "until [ -e go ]; do sleep 0.05; done; exec ${DD[*]}"
		job=$PID
		background sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" "$STRATA" record -o "$RUN" --scope job -e io -p $job
		within 30 eval 'armed || gone $PID'
		touch go
		wait $job # it ends with 0
		status=0
		wait $PID || status=$?
		if [ $status = 0 ]; then
			counted "$(size 300000 1000000)"
			outcome="recorded all"
		elif [ $status = 137 ]; then
			[ ! -s "$RUN" ] || "$STRATA" info "$RUN" >info
			outcome="killed by the kernel for its memory"
		else
			says err "memory|allocate"
			outcome="said $(tail -1 err)"
		fi
		figure "memory limit of $limit: $outcome"
	done
	within 20 no_new_orphans
}

@test "a slow disk: rows and losses together are what the job did" {
	group blkio
	disk 64M
	mkfs -t ext4 -q "$DISK"
	mounted "$T/slow" -o sync "$DISK"
	RUN=$T/slow/run.strata
	echo "$(cat "/sys/block/$NAME/dev") $((64 * 1024))" >"$GROUP/blkio.throttle.write_bps_device"
	bytes "$(size 200000 1000000)"
	background sh -c "until [ -e go ]; do sleep 0.05; done; exec ${DD[*]}"
	job=$PID
	background sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" \
		"$STRATA" record -o "$RUN" --scope job -e io --buffer 64K -p $job
	within 30 armed
	touch go
	wait $job # it ends with 0
	wait $PID
	[ "$(lost io)" -gt 0 ]
	counted "$(size 200000 1000000)"
}

@test "a full disk that is a disk: the job goes on, the trace tells why it ended" {
	disk 2M
	mkfs -t ext4 -q -O ^has_journal "$DISK"
	mounted "$T/small" "$DISK"
	RUN=$T/small/run.strata
	mkdir work
	run -7 record -e io,fs -- /usr/bin/python3 -c "
import os, secrets, sys, time
for number in range($(size 60000 200000)):
    if number == 500:
        time.sleep(1.6)
    os.close(os.open('work/' + secrets.token_hex(32), os.O_CREAT | os.O_WRONLY))
sys.exit(7)"
	"$STRATA" info --json "$RUN" >info.json 2>err
	jq -e '.damage == null and (.stop_reason | test("No space left"))' info.json
	[ "$(jq .unwritten info.json)" -gt 0 ]
	[ "$(count fs 2>/dev/null)" -gt 500 ]
	figure "full disk of 2 MiB: $(jq .rows info.json) rows kept, $(jq .unwritten info.json) not written"
}

@test "pids that are used again: each process is told from those that had its number before" {
	local count

	count=$(size 1500 10000)
	head -c 20000 /dev/zero >data
	# A PID namespace with 300 numbers, as the first 300 are not used twice; strata runs inside it, and its /proc shows those.
	unshare -pf --mount-proc sh -c 'echo 600 >/proc/sys/kernel/pid_max' || skip "pid_max is not of a namespace here"
	unshare -pf --mount-proc sh -c 'echo 600 >/proc/sys/kernel/pid_max && exec "$@"' sh \
		"$STRATA" record -o "$RUN" --scope job -e io -- "$W/forks" "$T/data" "$count" 2>words
	same "lost" 0 "$(lost)"
	# A child reads at the position of its number and exits with that modulo 100.
	rows process "event in ('fork', 'exit')" ts,tid,event,exit_code | tr '\t' ' ' >lives
	rows io "requested == 16 and pos is not None and path == '$T/data' and op == 'pread64'" ts,tid,pos | tr '\t' ' ' >reads
	same "reads" $((count - (count + 9) / 10)) "$(wc -l <reads)"
	numbers=$(awk '{ print $2 }' reads | sort -u | wc -l)
	[ "$numbers" -lt 600 ]
	same "reads of a process whose exit tells another number" "" "$(sort -n <(sed 's/^/e /' lives) <(sed 's/^/r /' reads) |
		sort -k2,2n | awk '$1 == "r" { pending[$3] = $4 % 100; has[$3] = 1 }
		$1 == "e" && $4 == "exit" && has[$3] { if ($5 != pending[$3]) print; has[$3] = 0 }' | head -5)"
	figure "pid reuse: $count processes under $numbers numbers, all reads with the right process"
}

@test "storms of renames and mounts: each read has the path that its file had then" {
	local storm

	storm=$(size 1500 20000)
	mkdir r0
	echo data >r0/file
	cat >storm.py <<-'PYTHON'
		import ctypes, os, sys, threading
		libc = ctypes.CDLL(None, use_errno=True)
		done = False
		mounts = 0
		def mount():
		    global mounts
		    while not done:
		        assert not libc.mount(b"none", b"m", b"tmpfs", 0, None), ctypes.get_errno()
		        assert not libc.umount2(b"m", 2), ctypes.get_errno()
		        mounts += 1
		os.mkdir("m")
		threads = [threading.Thread(target=mount)]
		for thread in threads: thread.start()
		for i in range(int(sys.argv[1])):
		    os.rename(f"r{i}", f"r{i + 1}")
		    fd = os.open(f"r{i + 1}/file", os.O_RDONLY)
		    os.pread(fd, 1, i)
		    os.close(fd)
		done = True
		for thread in threads: thread.join()
		print(mounts)
	PYTHON
	record --scope job -e io,fs -- unshare -m /usr/bin/python3 storm.py "$storm" >mounts
	same "lost" 0 "$(lost)"
	same "reads" "$storm" "$(count io "op == 'pread64' and requested == 1")"
	same "reads with another path" "" "$(rows io "op == 'pread64' and requested == 1 and \
		path != '$T/r%d/file' % (pos + 1)" pos,path | head -5)"
	same "renames" "$storm" "$(count fs "op == 'rename' and returned == 0")"
	figure "storm of $storm renames and $(cat mounts) mounts: every read has its path"
}

@test "two recordings at once, and one of the whole machine: each counts its own in full" {
	local each

	each=$(size 50000 500000)
	bytes "$each"
	RUN=$T/all.strata
	record_background -a --comm dd -e io
	all=$PID
	"$STRATA" record -o one.strata -e io -- "${DD[@]}" 2>one.err &
	one=$!
	"$STRATA" record -o two.strata -e io -- "${DD[@]}" 2>two.err &
	wait $one
	wait $!
	kill -INT $all
	wait $all
	counted $((2 * each))
	for RUN in one.strata two.strata; do
		counted "$each"
	done
}

@test "strata records strata, which records a job" {
	local each

	each=$(size 20000 500000)
	bytes "$each"
	record -e io,fs -- "$STRATA" record -o inner.strata -e io -- "${DD[@]}" 2>outer.err
	counted "$each"
	[ "$("$STRATA" dump "$RUN" io --columns op,path | grep -c "^pwrite64,$T/inner.strata\$")" -gt 0 ]
	RUN=inner.strata
	counted "$each"
}

@test "a step of the wall clock: times since boot and counts do not notice" {
	[ "${FAULTS:-}" = full ] || skip "steps the clock of the whole machine: make soak does"
	bytes 200000
	step="import time, sys
offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
def step(ns):
    time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_BOOTTIME) + offset + ns)
step(-5000000000)
time.sleep(0.5)
step(0)"
	/usr/bin/python3 -c "import time; time.clock_settime_ns(time.CLOCK_REALTIME, time.clock_gettime_ns(time.CLOCK_REALTIME))" ||
		skip "the clock may not be set here"
	from=$(boot_ns)
	record --interval 100ms -e io -- sh -c "/usr/bin/python3 -c '$step'; ${DD[*]}"
	to=$(boot_ns)
	counted 200000
	same "rows outside of the recording's time" 0 "$(count io "ts < $from or ts > $to or (dur is not None and ts + dur > $to)")"
	[ "$(count clock)" -gt 5 ]
	figure "clock stepped by -5 s and back: $(count clock) readings, no row outside of its time"
}
