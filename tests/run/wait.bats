#!/usr/bin/env bats
# Table wait: every call that slept and is in no other table, against what the program that made it knows.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

@test "two dozen calls that sleep: order, arguments, files, timeouts, results and time off the CPU" {
	record -- "$W/waits" >truth
	strace -f -T -o log "$W/waits" >/dev/null
	"$HERE/waits.py" "$RUN" truth log
	no_loss
}

@test "calls in flight: from the start of the recording, without a result when it ends" {
	# The shell waits for a child that sleeps for as long as the test lasts.
	background bash -c 'sleep 600; true'
	within 10 grep -q '^61 ' "/proc/$PID/syscall"
	job=$PID
	background "$STRATA" record -e wait -o "$RUN" -p "$job" -d 1
	recorder=$PID
	wait "$recorder"
	start=$(rows run "key == 'start_ts'" value)
	same "the wait for it" "wait4	$start	-	-	-" "$(rows wait "tid == $job" op,ts,dur,blocked,returned)"
	same "and its sleep" "clock_nanosleep	$start	-	-	-" "$(rows wait "comm == 'sleep'" op,ts,dur,blocked,returned)"
}

@test "a call that was in flight and ends has a length and a result, and what it waited on" {
	mkfifo fifo
	/usr/bin/python3 -c '
import os, select, time
fd = os.open("fifo", os.O_RDWR)
poll = select.poll()
poll.register(fd, select.POLLIN)
print("ready", flush=True)
poll.poll()
time.sleep(0.02)' >ready &
	STARTED="$! ${STARTED:-}"
	job=$!
	within 10 grep -q '^7 ' "/proc/$job/syscall"
	record_background -e wait -p "$job"
	echo x >fifo
	wait "$PID"
	start=$(rows run "key == 'start_ts'" value)
	same "poll" "$start	True	-	1	$T/fifo" "$(rows wait "op == 'poll'" ts,dur,blocked,returned,path | sed -E 's/\t[0-9]+\t-/\tTrue\t-/')"
	same "and the sleep after it" 20000000 "$(rows wait "op == 'clock_nanosleep' or op == 'pselect6'" timeout | awk '{ print ($1 > 19000000 && $1 <= 20000000) ? 20000000 : $1 }')"
}

@test "without layers that have the call, a read that slept is one of these" {
	record -e wait -- sh -c '(sleep 0.05; echo x) | cat >/dev/null; true'
	same "reads of cat" "True	True" "$(rows wait "comm == 'cat' and op == 'read' and fd == 0" "returned,path" | awk '$1 == 2 && $2 ~ /^pipe/ { print "True\tTrue" }')"
	rm "$RUN"
	record -e wait,io -- sh -c '(sleep 0.05; echo x) | cat >/dev/null; true'
	same "with layer io" 0 "$(count wait "op == 'read'")"
	# null where this kernel hides the moment at which it came back
	[ "$(count io "comm == 'cat' and op == 'read' and fd == 0 and returned == 2 and blocked != 0")" = 1 ]
}

@test "a stop and what follows it are no sleep of the call before, and a stopped call is begun anew" {
	/usr/bin/python3 -c '
import os, time
print("ready", flush=True)
for _ in range(3):
    os.kill(os.getpid(), 19)
    os.getppid()
    os.getppid()
import select
poll, before = select.poll(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
poll.poll(1000)
print(before)' >ready &
	STARTED="$! ${STARTED:-}"
	job=$!
	within 10 test -s ready
	record_background -e wait,sched -p "$job"
	for i in 1 2 3; do
		within 10 grep -q '^State:.*T' "/proc/$job/status"
		kill -CONT "$job"
		sleep 0.1
	done
	within 10 grep -q '^7 ' "/proc/$job/syscall"
	kill -STOP "$job"
	within 10 grep -q '^State:.*T' "/proc/$job/status"
	kill -CONT "$job"
	wait "$PID"
	same "rows of calls that did not sleep" 0 "$(count wait "op in ('getppid', 'kill')")"
	same "the poll" "poll	1000000000	-4	True
restart_syscall	-	0	-" "$(rows wait "op in ('poll', 'restart_syscall')" op,timeout,returned,restarted)"
	same "begun before the poll" "" "$(rows wait "op == 'poll' and ts < $(tail -1 ready)")"
}
