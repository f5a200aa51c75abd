#!/usr/bin/env bats
# Marks from a shell and from a program, as docs/marks.md tells.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

marks() { rows mark "$1" name,value | tr '\t' ' '; }

@test "a program marks with one call, in order, with and without a value" {
	record -- /usr/bin/python3 -c '
import os
for epoch in range(3):
    assert not os.access(f"epoch\nno. {epoch}", os.F_OK, dir_fd=0x53545241)
os.access("done", os.F_OK, dir_fd=0x53545241)'
	same marks "$(printf 'epoch no.\\x20%d\n' 0 1 2; echo done -)" "$(marks "comm == 'python3'")"
	same source mark "$(rows mark True source | sort -u)"
}

@test "strata mark reaches a recording from outside the job: root's and its user's, nobody else's" {
	open_folder
	record_background -u daemon -- sleep 1
	"$STRATA" mark 'two words' 'a "value"'
	setpriv --reuid daemon --clear-groups "$OPEN/strata" mark own
	setpriv --reuid 65534 --clear-groups "$OPEN/strata" mark foreign
	within 10 gone $PID
	same marks "$(printf 'two\\x20words a\\x20"value"\nown -\n')" "$(marks True)"
	says err "1 marks by other users were left out"
}

@test "a recording of all processes takes the marks of all" {
	open_folder
	record_background -a -d 2
	setpriv --reuid 65534 --clear-groups "$OPEN/strata" mark foreign
	within 10 gone $PID
	same marks "foreign -" "$(marks True)"
}

@test "marks come with any of the layers io, fs and mem" {
	for layer in io fs mem; do
		rm -f "$RUN"
		record -e $layer -- "$STRATA" mark layer $layer
		same marks "layer $layer" "$(marks True)"
	done
	same "rows of fs without that layer" 0 "$(count fs)"
}

# A program that reads 1, 2 and 4 bytes while the recording is on, 8 and 16 while it is off, 32 when it is on again.
switching() {
	cat >switching.py <<-'END'
		import os, sys, threading, time
		def record(state):
		    if len(sys.argv) < 3: os.access("strata.record\n" + state, os.F_OK, dir_fd=0x53545241)
		zero = os.open("/dev/zero", os.O_RDONLY)
		ends = os.pipe()
		waiting = threading.Thread(target=lambda: os.read(ends[0], 1)) # begins while on, ends while off
		if sys.argv[1] == "on": waiting.start()
		for size in (1, 2, 4): os.read(zero, size)
		time.sleep(0.1)
		record("off")
		for size in (8, 16): os.read(zero, size)
		os.write(ends[1], b"x")
		if sys.argv[1] == "on": waiting.join()
		later = os.pipe()
		sleeper = threading.Thread(target=lambda: os.read(later[0], 1)) # begins while off, ends while on
		sleeper.start()
		time.sleep(0.3)
		record("on")
		os.read(zero, 32)
		os.write(later[1], b"x")
		sleeper.join()
	END
}

zeros() { rows io "path == '/dev/zero'" returned | xargs; }

@test "switched off and on by the program itself: what lies between is not there, and it is told" {
	switching
	record --call libc.so.6:read -- /usr/bin/python3 switching.py on
	same "reads" "1 2 4 32" "$(zeros)"
	same "calls of the library" "1 2 4 32" "$(rows call "func == 'read' and path == '/dev/zero'" bytes | xargs)"
	same "the read that began while it was on" "1 True" "$(rows io "op == 'read' and path.startswith('pipe:') and dur > 50_000_000" returned,blocked | awk '{ print $1, ($2 > 0 ? "True" : "False") }')"
	same "reads of pipes" 1 "$(count io "op == 'read' and path.startswith('pipe:')")"
	same marks "strata.record off strata.record on" "$(marks True | xargs)"
	off=$(rows mark "value == 'off'" ts) on=$(rows mark "value == 'on'" ts)
	same "windows" "$off $((on - off)) -" "$(rows loss "reason == 'switched\\x20off' or 'off' in reason" ts,dur,count | sort -u | tr '\t' ' ')"
	same "stays that began in between" 0 "$(count sched "$off < ts < $on")"
	same "waits longer than since it went on" 0 "$(count sched "ts > $on and wait is not None and wait > ts - $on")"
	[ "$(count process "event == 'fork' and $off < ts < $on")" -gt 0 ]
	says <("$STRATA" info "$RUN") "switched off 1 time, .* ms in all"
	same "in JSON" "1 $((on - off))" "$("$STRATA" info --json "$RUN" | jq -r '"\(.off.windows) \(.off.ns)"')"
	says <("$STRATA" report "$RUN") "SWITCHED OFF for"
	says <("$STRATA" why "$RUN") "No verdict: the recording was switched off"
	same "verdict" null "$("$STRATA" why --json "$RUN" | jq .verdict.cause)"
}

@test "a recording that begins off: nothing before it is switched on but processes" {
	switching
	record --start off -- /usr/bin/python3 switching.py off
	same "reads" 32 "$(zeros)"
	on=$(rows mark "value == 'on'" ts)
	same "rows of other layers before" 0 "$(count io,fs,mem,sched,fault,wait "ts < $on")"
	[ "$(count process "ts < $on and event == 'exec'")" -gt 0 ]
	same "window" "$(rows run "key == 'start_ts'" value) $((on - $(rows run "key == 'start_ts'" value)))" \
		"$(rows loss "'off' in reason" ts,dur | sort -u | tr '\t' ' ')"
	run -2 "$STRATA" record --start off -e sched -- true
	run -2 "$STRATA" record --start maybe -- true
}

@test "a recording that is never switched on again tells so to its end; strata mark --record does it from outside" {
	record_background --scope job -- sh -c 'until [ -e go ]; do sleep 0.01; done; head -c 7 /dev/zero >out2'
	"$STRATA" mark --record off
	touch go
	within 10 gone $PID
	same "reads" 0 "$(count io "path == '/dev/zero'")"
	same "the end of the window" "$(rows run "key == 'stop_ts'" value)" \
		"$(rows loss "'off' in reason" ts,dur | awk '{ print $1 + $2 }' OFMT=%.0f CONVFMT=%.0f | sort -u)"
	run -2 "$STRATA" mark --record maybe
	run -2 "$STRATA" mark --record on name
}

@test "counters: what runs while it is off is not counted, and marks are seen" {
	switching
	record -e io,fs --scope job --aggregate 10ms --call libc.so.6:read -- /usr/bin/python3 switching.py on
	same marks "strata.record off strata.record on" "$(marks True | xargs)"
	on=$(rows counter "func == 'read' and module == 'syscall'" bytes | paste -sd+ | bc)
	rm "$RUN"
	record -e io,fs --scope job --aggregate 10ms -- /usr/bin/python3 switching.py on "and never off"
	all=$(rows counter "func == 'read' and module == 'syscall'" bytes | paste -sd+ | bc)
	same "bytes less: 8, 16, and the one that began while it was off" 25 $((all - on))
}

@test "a name that cannot be is refused" {
	for name in '' /slash 'new
line'; do
		run -2 "$STRATA" mark "$name"
	done
	run -2 "$STRATA" mark
	run -2 "$STRATA" mark a b c
}
