#!/usr/bin/env bats
# A recording can be read while it goes on: a row is in the file at most one second after its call ended.

# bats file_tags=quiet
load lib
setup_file() { need_bpf; }
setup() { enter; head -c 1000 /dev/zero >data; }
teardown() { leave; }

@test "a row is in the file at most one second after its call ended" {
	background "$W/spin" "$T/data" 20000 # a read every 20 ms: few, so that no full buffer pushes them out
	record_background -e io -p $PID
	sleep 1
	for _ in 1 2 3; do
		now=$(boot_ns)
		sleep 1.3
		newest=$(rows io "path == '$T/data'" ts 2>/dev/null | tail -1)
		echo "the newest row is $(((now - newest) / 1000000)) ms older than a moment 1.3 s ago"
		[ "$newest" -ge $((now - 100000000)) ] # a tenth of a second for the pause and the machine
	done
}

@test "the file grows while the job runs, and every reading of it is whole rows" {
	record_background -e io,fs -- sh -c 'while :; do cat data >/dev/null; done'
	last=0
	for _ in 1 2 3; do
		sleep 1.2
		now=$(count io 2>/dev/null)
		[ "$now" -gt "$last" ]
		last=$now
	done
	"$STRATA" info "$RUN" >info
	kill -TERM $PID
	within 10 gone $PID
	readable
	[ "$(count io)" -ge "$last" ]
}
