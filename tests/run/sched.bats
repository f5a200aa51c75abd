#!/usr/bin/env bats
# Stays on CPUs, against what the kernel itself counts.

# bats file_tags=quiet
load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

@test "the rows of each CPU tile the recording: no gap, no overlap, idle included" {
	record -e sched -- sh -c 'grep "^cpu " /proc/stat; "$1" /bin/sh 200; sleep 0.3; grep "^cpu " /proc/stat' - \
		"$W/forks" >ticks
	no_loss
	"$HERE/tiles.py" "$RUN"
	[ "$(count sched "tid == 0")" -gt 0 ] || same "ticks without work" 0 "$(awk '{ n = $5 - n } END { print n }' ticks)"
}

@test "time on the CPU, run-queue time and switches of a thread are those of schedstat and status" {
	# Steal of less than a tick is in no witness: what differs by it may agree the next time.
	for attempt in 1 2 3; do
		rm -f "$RUN"
		record -e sched -- "$W/schedule" >truth
		no_loss
		"$HERE/schedule.py" "$RUN" truth && return
	done
	false
}

@test "a ping-pong over pipes names the right waker every time" {
	for second_cpu in 0 1; do
		[ -e /sys/devices/system/cpu/cpu$second_cpu ] || continue
		rm -f "$RUN"
		record -e sched -- "$W/pingpong" 500 $second_cpu >ids
		no_loss
		read -r first second <ids
		# A stay that follows a sleep in read was begun by the other one's write.
		"$HERE/wakers.py" "$RUN" "$first" "$second" 100
	done
}

@test "--scope job: only the job's threads" {
	record --scope job -e sched -- sh -c 'sleep 0.1'
	same "others" 0 "$(count sched "comm not in ('sh', 'sleep')")"
	[ "$(count sched "comm in ('sh', 'sleep')")" -gt 0 ]
}

@test "every stay of the job has a name, also on the way out; --scope job has the same stays" {
	mkdir work
	head -c 2000 /dev/zero >data
	for scope in "" "--scope job"; do
		record --force $scope -e sched -- sh -c '"$1/forks" "$2/data" 1000; "$1/threads" "$2/work" 300; exit 0' - "$W" "$T"
		no_loss
		# All that the shell forked, and what those did.
		shell=$(rows process "event == 'exec' and comm == 'sh' and '/data' in args" pid)
		rows process "event == 'fork'" pid,tid,ppid | awk -v shell="$shell" '
			BEGIN { job[shell] } $3 in job || $1 in job { job[$1]; if (!seen[$2]++) print $2 }' | sort >threads
		same "threads" 1302 "$(wc -l <threads)"
		rows sched "tid" tid,comm,end_state | sort | join -t "$(printf '\t')" - threads >stays
		same "names ($scope)" "exe forks sh threads" "$(cut -f2 stays | sort -u | xargs)"
		same "last stays ($scope)" 1302 "$(cut -f1,3 stays | grep -cw X)"
	done
}

@test "a thread that this kernel hides from tracing has a name too" {
	record -e sched -- sleep 1
	same "stays without a name" 0 "$(count sched "comm is None and dur is not None")"
}

@test "the state in which a thread left, and the call that it was in" {
	record -e sched -- sh -c 'sleep 0.2; true'
	shell=$(rows process "event == 'exec' and comm == 'sh' and 'sleep 0.2; true' in args" pid)
	tid=$(rows process "event == 'fork' and ppid == $shell" tid)
	same "a sleep in clock_nanosleep" S "$(rows sched "tid == $tid and syscall == 'clock_nanosleep'" end_state | sort -u)"
	same "the last stay of a thread" X "$(rows sched "tid == $tid" end_state | tail -1)"
}

@test "blocked: the time that a call was off the CPU" {
	record -e io -- sh -c '{ sleep 0.3; echo x; } | { read -r line; }'
	blocked=$(rows io "op == 'read' and path.startswith('pipe:') and returned == 2 or returned == 1 and op == 'read'" blocked | sort -n | tail -1)
	[ "$blocked" -ge 250000000 ]
	same "a call is never off the CPU for longer than it takes" 0 "$(count io "dur is not None and blocked > dur")"
}

@test "blocked is zero for a call that never waited" {
	record -e io -- cat /proc/self/stat >/dev/null
	[ "$(count io "blocked == 0")" -gt 0 ]
}
