#!/usr/bin/env bats
# Totals of the job, against what the kernel tells the job itself and those who wait for it.

# bats file_tags=quiet
load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# total COLUMN...: the sum of columns over all rows.
total() {
	rows job True "$(tr ' ' , <<<"$*")" | awk '{ for (i = 1; i <= NF; i++) n += $i } END { printf "%.0f\n", n }'
}

# between LEAST COUNT MOST WHAT
between() {
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ] || {
		echo "$4: $1 <= $2 <= $3 does not hold"
		return 1
	}
}

@test "attached: 1000 short-lived processes count in full, and what the job used before does not" {
	disk 16M
	for layers in cpu cpu,sched; do # without and with a program at each switch
		rm -f "$RUN"
		"$HERE/job.py" "$RUN" $layers "$W/usage" "$DISK" 1000
		"$HERE/usage.py" tiles "$RUN" job table
		no_loss
	done
}

@test "launched: from the execve on, also what nobody waits for" {
	echo x | record -e cpu --interval 50ms -- "$W/usage" orphan 300 >readings
	no_loss
	# the first reading tells what came before the orphan, the last what came beside it
	past=$(sed -n 1p readings | cut -d' ' -f1)
	own=$(sed -n 3p readings | cut -d' ' -f1)
	between $((past + 300000000)) "$(total usr sys)" $((own + 320000000)) "ns of CPU"
}

@test "launched: what strata's child does before its execve does not count" {
	head -c 100000 /dev/urandom >data
	record -e cpu,io -u nobody -- cat <data >/dev/null
	[ "$(total rchar)" -ge 100000 ]
	same "rchar" "$(rows io "dir == 'R'" returned | awk '{ n += $1 } END { print n }')" "$(total rchar)"
}

@test "launched: faults, switches and CPU time are those of time -v" {
	disk 16M
	record -e cpu --interval 50ms -- /usr/bin/time -f '%F %R %w %c %U %S' -o theirs /usr/bin/python3 -c '
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
pages = mmap.mmap(fd, 256 * 4096, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
for i in range(256):
    pages[i * 4096]
for i in range(300):
    os.sched_yield() if i % 2 else os.waitpid(os.fork() or os._exit(0), 0)
' "$DISK"
	no_loss
	read -r major minor voluntary involuntary usr sys <theirs
	[ "$major" -ge 256 ]
	# time itself is part of the job: its own few
	between "$major" "$(total major_faults)" $((major + 20)) "major faults"
	between "$minor" "$(total minor_faults)" $((minor + 400)) "minor faults"
	between "$voluntary" "$(total voluntary)" $((voluntary + 500)) "voluntary switches"
	between "$involuntary" "$(total involuntary)" $((involuntary + 100)) "involuntary switches"
	ns=$(awk -v a="$usr" -v b="$sys" 'BEGIN { printf "%.0f\n", (a + b) * 1e9 }')
	# told in whole hundredths of user and kernel time
	between $((ns - 20000000)) "$(total usr sys)" $((ns + 20000000 + 10000000)) "ns of CPU"
}

@test "user and kernel time are told apart as getrusage does" {
	record -e cpu --interval 100ms -- /usr/bin/python3 -c '
import os, resource, time
def spend(work):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        work()
spend(lambda: sum(range(10000)))
zero = os.open("/dev/zero", os.O_RDONLY)
spend(lambda: os.pread(zero, 4 << 20, 0))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(round(usage.ru_utime * 1e9), round(usage.ru_stime * 1e9), usage.ru_nivcsw)' >theirs
	read -r usr sys preempted <theirs
	between $((usr + sys)) "$(total usr sys)" $((usr + sys + 20000000)) "ns of CPU"
	# The kernel divides it by the ticks so far and takes back nothing that it has said. Whoever shares the
	# CPU makes ticks fall unevenly, and what it says then depends on when it was asked.
	ns=$((20000000 + preempted * 1000000))
	between $((usr - ns)) "$(total usr)" $((usr + ns)) "user ns"
	between $((sys - ns)) "$(total sys)" $((sys + ns)) "kernel ns"
}

@test "the report tells of the job what the kernel told it, in text and JSON" {
	head -c 3000000 /dev/urandom >data
	record -e cpu --interval 50ms -- /usr/bin/python3 -c '
import resource, time
def reading():
    io = dict(line.split(": ") for line in open("/proc/self/io").read().splitlines())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(round((usage.ru_utime + usage.ru_stime) * 1e9), usage.ru_minflt, usage.ru_majflt, io["rchar"], io["wchar"], usage.ru_maxrss * 1024)
reading()
held = bytearray(b"x" * (60 << 20))
time.sleep(0.3)
del held
open("data", "rb").read()
open("copy", "wb").write(bytes(500000))
reading()' >theirs
	no_loss
	"$STRATA" report --json "$RUN" >report.json
	job() { jq ".job.$1" report.json; }
	# its last reading has what it did before its execve too, and not what its end takes
	at=0 first=($(sed -n 1p theirs)) last=($(sed -n 2p theirs)) slack=(20000000 200 20 10000 1000)
	for figure in cpu_ns minor_faults major_faults rchar_bytes wchar_bytes; do
		between $((last[at] - first[at])) "$(job $figure)" $((last[at] + slack[at])) $figure
		at=$((at + 1))
	done
	# the kernel counts resident pages by CPU, and adds them up by 32 or more
	between $((60 << 20)) "$(job most_rss)" $((last[5] + (64 << 12) * $(nproc))) "bytes of memory"
	# it is the sum of the rows, and the text says the same
	for column in usr sys read_bytes write_bytes minor_faults major_faults voluntary involuntary; do
		same "$column" "$(total $column)" "$(job "$column" | grep -v null || job "${column}_ns")"
	done
	same "most processes" 1 "$(job most_processes)"
	"$STRATA" report "$RUN" >report
	says report "^Job      .* of CPU time, .* % user; most memory .* MiB; storage .* in, .* out; $(job major_faults) major faults\$"
	says report "page faults that waited for storage +$(job major_faults)\$"
}

@test "the report does not invent counters of a job" {
	record -e io -- true
	"$STRATA" report "$RUN" >report
	says report "^Job      its CPU time, memory and faults are not known"
	"$STRATA" report --json "$RUN" | jq -e '.job.known == false and .job.cpu_ns == null and .job.most_rss == null'
	rm "$RUN"
	record -a -d 200ms --interval 50ms
	"$STRATA" report "$RUN" >report
	! grep -q '^Job  ' report
	says report "the whole machine was recorded: there is none"
}

# The newest row that is in the file, once there are two more than now.
settled_row() {
	local had

	had=$(count job)
	within 20 eval '[ "$(count job)" -ge $(('"$had"' + 3)) ]'
	rows job True processes,threads,rss | tail -1
}

@test "processes, threads and resident memory are those of /proc/PID/status" {
	background /usr/bin/python3 -c '
import os, signal, threading
held = bytearray(40 << 20)
for _ in range(3):
    if not os.fork():
        own = bytearray(10 << 20)
        threading.Thread(target=signal.pause, daemon=True).start() if os.getpid() % 2 else None
        signal.pause()
        os._exit(0)
print("ready", flush=True)
signal.pause()'
	job=$PID
	within 20 grep -q ready out
	record_background -e cpu --interval 50ms -p $job
	ours=$(settled_row)
	for pid in $job $(cat "/proc/$job/task/$job/children"); do
		cat "/proc/$pid/status"
	done >status
	same "processes, threads, resident bytes" "$(awk '/^Threads:/ { n++; t += $2 } /^VmRSS:/ { r += $2 }
		END { print n "\t" t "\t" r * 1024 }' status)" "$ours"
	kill -INT $PID
	wait $PID
}

@test "no rows without a job, and none without layer cpu" {
	record -a -d 300ms --interval 50ms
	same "rows" 0 "$(count job)"
	[ "$(count cpu)" -gt 0 ]
	rm "$RUN"
	record -e io,disk -- true
	same "rows" 0 "$(count job)"
}
