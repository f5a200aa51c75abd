#!/usr/bin/env bats
# Standard input and output, signals, the terminal and the exit status behave as if strata were not there.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

@test "the exit status is the command's" {
	for status in 0 1 7 125 126 127 255; do
		run -$status record -e io -- sh -c "exit $status"
		rm -f "$RUN"
	done
}

@test "a command that cannot be run: 127 when it is not found, 126 when it is not executable" {
	run -127 record -- ./there-is-no-such-command
	says words "there-is-no-such-command"
	rm -f "$RUN"
	echo text >file
	run -126 record -- ./file
	says words "file"
	rm -f "$RUN"
	mkdir folder
	run -126 record -- ./folder
}

@test "death by a signal is passed on as death by that signal" {
	for signal in TERM INT KILL SEGV USR1; do
		number=$(kill -l $signal)
		same "SIG$signal" "-$number" "$(/usr/bin/python3 -c "
import subprocess, sys
print(subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode)" \
			"$STRATA" record --force --scope job -e io -o "$RUN" -- sh -c "kill -$signal \$\$; sleep 5")"
		same "and recorded" "-$number" "$(rows process "event == 'exit' and comm == 'sh'" exit_code | tail -1)"
	done
}

@test "a thread that is stopped inside a call was blocked no longer than the call took" {
	mkfifo fifo
	background sleep 1000 # keeps the FIFO open
	record -e io -- /usr/bin/python3 -c '
import os, signal, sys, time
fd = os.open("fifo", os.O_RDWR)
if child := os.fork():
    os.read(fd, 10)
    os.waitpid(child, 0)
else:
    parent = os.getppid()
    time.sleep(0.2)
    os.kill(parent, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(parent, signal.SIGCONT)
    time.sleep(0.2)
    os.write(fd, b"x")
'
	same "blocked longer than they took" "" "$(rows io "blocked is not None and dur is not None and blocked > dur" op,dur,blocked)"
	same "the read, begun anew after the stop" "True -4 None 1" \
		"$(rows io "path == '$T/fifo' and op == 'read'" restarted,returned | sed 's/-$/None/; s/^-/None/' | xargs)"
}

@test "standard input and output pass through untouched; strata's words go to standard error" {
	head -c 300000 /dev/urandom >input
	record -- cat <input >output
	cmp input output
	record --force -- sh -c 'echo problem >&2; exit 0'
	says words '^problem$'
	says words "$RUN"
	same "standard output" "" "$(record --force -- true)"
}

@test "the command has no descriptor but those it was given" {
	expected=$(ls /proc/self/fd 3>&-)
	same descriptors "$expected" "$(record -- ls /proc/self/fd)"
}

@test "the command's signals are as they were: nothing blocked, nothing newly ignored" {
	ours=$(grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status)
	same signals "$ours" "$(record -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status)"
	same "an ignored signal stays ignored" "$(sh -c "trap '' USR1; exec grep ^SigIgn /proc/self/status")" \
		"$(sh -c "trap '' USR1; exec '$STRATA' record -q --force -o '$RUN' -- grep ^SigIgn /proc/self/status" \
			2>/dev/null)"
}

@test "TERM to strata reaches the command; its exit status comes back" {
	background "$STRATA" record --scope job -o "$RUN" -- \
		sh -c "trap 'exit 8' TERM; echo ready; while :; do sleep 0.05; done"
	within 20 grep -q ready out
	kill -TERM $PID
	status=0
	wait $PID || status=$?
	same "exit status" 8 $status
	readable
	same "recorded" 8 "$(rows process "event == 'exit' and comm == 'sh'" exit_code | tail -1)"
}

@test "Ctrl-C on the terminal reaches the command once, and strata ends with it" {
	run -9 "$HERE/on_terminal.py" ready ^C "$STRATA" record --scope job -o "$RUN" -- \
		sh -c "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"
	same "times the command got it" 1 "$(grep -c caught <<<"$output")"
	readable
	same "recorded to its end" 9 "$(rows process "event == 'exit' and comm == 'sh'" exit_code | tail -1)"
}

@test "a command that outlives Ctrl-C is not disturbed" {
	run -5 "$HERE/on_terminal.py" ready ^C "$STRATA" record -o "$RUN" -- \
		sh -c "trap 'echo caught' INT; echo ready; sleep 1; echo on; exit 5"
	grep -q caught <<<"$output"
	tr '\r' '\n' <<<"$output" | grep -q '^on' # the line of progress ends with a return
	readable
}

@test "the command can use the terminal: it is in the foreground, and reads what is typed" {
	run -0 "$HERE/on_terminal.py" ready "typed
" "$STRATA" record -o "$RUN" -- \
		sh -c 'stty -a >/dev/null || exit 3; echo ready; read -r line; echo "got <$line>"'
	grep -q 'got <typed>' <<<"$output"
}

@test "progress only on a terminal" {
	run -0 "$HERE/on_terminal.py" nothing "" "$STRATA" record -o "$RUN" -- sleep 2.5
	on_terminal=$output
	record --force -- sleep 2.5
	same "carriage returns and escapes off the terminal" 0 "$(grep -cE $'\r|\e' words || true)"
	# A line that is rewritten each second, so more than the closing words.
	[ "$(tr '\r' '\n' <<<"$on_terminal" | grep -c .)" -gt "$(grep -c . words)" ]
}

@test "SIGINT once: a recording of others ends cleanly, and they go on" {
	head -c 100 /dev/zero >data
	background "$W/spin" "$T/data" 2000
	spin=$PID
	record_background -p $spin
	sleep 0.5
	kill -INT $PID
	status=0
	wait $PID || status=$?
	same "exit status" 0 $status
	kill -0 $spin
	readable
	same "warnings" "" "$(cat info.err)"
	[ "$(count io "pid == $spin")" -gt 10 ]
}

@test "SIGINT twice stops at once, and the file is readable" {
	head -c 100 /dev/zero >data
	background "$W/spin" "$T/data" 200
	spin=$PID
	record_background -p $spin
	sleep 1.6 # what is older than a second is in the file already
	kill -INT $PID
	kill -INT $PID || true
	within 10 gone $PID
	kill -0 $spin
	readable
	[ "$(count io "pid == $spin")" -gt 10 ]
}

@test "SIGKILL of strata: the command goes on, the file is readable, nothing stays in the kernel" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	head -c 100 /dev/zero >data
	"$ROOT/tests/outside-state" all bpf >before
	background "$STRATA" record -o "$RUN" -- sh -c "echo \$\$; exec '$W/spin' '$T/data' 2000"
	within 20 grep -q ready out
	job=$(head -1 out)
	sleep 1.5
	kill -KILL $PID
	wait $PID || true
	kill -0 "$job"
	within 10 no_new_orphans
	kill -0 "$job"
	readable
	[ "$(count io "pid == $job")" -gt 10 ]
}
