#!/usr/bin/env bats
# bats file_tags=machine
# Live histograms: against bpftrace, the switches that the kernel counts, /proc/diskstats, and programs that know what they do.

load ../run/lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# beat ARGS...: the workload, waiting for its signal; its id is in $BEAT.
beat() {
	background "$W/beat" "$@"
	within 10 [ -s out ]
	BEAT=$(head -1 out)
	mv out beat.out
}

# stat_of ARGS...: strata stat in the background, ready.
stat_of() {
	"$STRATA" stat "$@" >stat.out 2>stat.err 3>&- </dev/null &
	STAT=$!
	within 20 grep -q 'Ctrl-C' stat.err
}

# The workload has made its rounds, and strata stat ends with them.
end_stat() {
	within 60 grep -q done beat.out
	kill -INT $STAT
	wait $STAT
}

# The two look at the clock up to a microsecond apart, so waits of some microseconds fall into different slots by where those end: 3.5 %
# more in one of them was seen. Here the waits are milliseconds: two threads that do not preempt each other share a CPU.
@test "cpudist and runqlat count what bpftrace does by the same definitions" {
	command -v bpftrace >/dev/null || skip "no bpftrace"
	background taskset -c 0 chrt -b 0 sh -c "while :; do :; done"
	background taskset -c 0 chrt -b 0 "$W/beat" 700 300 1500
	within 10 [ -s out ]
	BEAT=$(head -1 out)
	mv out beat.out
	background "$ROOT/scripts/with-tracefs" bpftrace -B line -f json "$ROOT/tests/cluster/stat.bt" "$BEAT"
	within 60 grep -q attached_probes out
	stat_of cpudist runqlat -p "$BEAT" --json
	kill -USR1 "$BEAT"
	end_stat
	pkill -INT -s "$PID" bpftrace
	within 20 gone "$PID"
	/usr/bin/python3 "$ROOT/tests/cluster/stat_check.py" bpftrace stat.out out
}

@test "as many stays as switches, calls as were made, bytes as were read" {
	head -c 4096 /dev/zero >page
	beat 400 50 300 page
	stat_of cpudist sclat iolat -p "$BEAT" --json
	kill -USR1 "$BEAT"
	end_stat
	read -r _ voluntary involuntary < <(grep done beat.out)
	stays=$(jq '[.histograms[] | select(.name == "cpudist") | .count] | add' stat.out)
	# One more may be the last, which ends in pause().
	echo "$stays stays, $voluntary + $involuntary switches"
	[ $((stays - voluntary - involuntary)) -ge 0 ]
	[ $((stays - voluntary - involuntary)) -le 2 ]
	same "clock_nanosleep and pread64" $'clock_nanosleep 400\npread64 400' \
		"$(jq -r '.histograms[] | select(.name == "sclat" and (.label == "pread64" or .label == "clock_nanosleep")) | "\(.label) \(.count)"' stat.out | sort)"
	same "iolat" "pread64 400 1638400" \
		"$(jq -r '.histograms[] | select(.name == "iolat" and .label == "pread64") | "\(.label) \(.count) \(.bytes)"' stat.out)"
	# None slept shorter than it asked for, which is what slot 256 begins below.
	same "sleeps shorter than 256 us" 0 \
		"$(jq '[.histograms[] | select(.label == "clock_nanosleep") | .slots[] | select(.to < 256) | .count] | add' stat.out)"
	same "lost" 0 "$(jq .lost stat.out)"
}

@test "off the CPU: the sleeps, and no stay on it" {
	beat 300 20 2100
	stat_of cpudist --off -p "$BEAT" --json
	kill -USR1 "$BEAT"
	end_stat
	# A thread that is preempted on its way to sleep sleeps the rest only.
	[ "$(jq '[.histograms[] | select(.off_cpu) | .slots[] | select(.from >= 2048) | .count] | add' stat.out)" -ge 270 ]
	same "stays on the CPU" 0 "$(jq '[.histograms[] | select(.off_cpu | not)] | length' stat.out)"
}

@test "pidpersec counts the children of a process" {
	cat >parent <<-'END'
	read -r _
	for ((i = 0; i < 25; i++)); do /bin/true; done
	echo done
	sleep 60
	END
	mkfifo go
	exec 5<>go
	# The shell that reads is the one that is watched.
	setsid bash parent <go >beat.out 3>&- &
	PARENT=$! STARTED="$! ${STARTED:-}"
	stat_of pidpersec -p "$PARENT" --json
	echo >&5
	within 30 grep -q done beat.out
	kill -INT $STAT
	wait $STAT
	started=$(jq .started stat.out)
	echo "$started"
	[ "$started" -eq 25 ] || [ "$started" -eq 26 ] # and perhaps the sleep
}

@test "biolat counts a device's requests as /proc/diskstats does" {
	truncate -s 8M image
	device=$(losetup -f --show --direct-io=on image) || skip "no loop device"
	undo losetup -d "$device"
	name=$(basename "$device")
	stat_of biolat --json
	before=$(awk -v d="$name" '$3 == d { print $4, $8 }' /proc/diskstats)
	dd if="$device" of=/dev/null bs=4k count=500 iflag=direct status=none
	dd if=/dev/zero of="$device" bs=8k count=300 oflag=direct status=none
	after=$(awk -v d="$name" '$3 == d { print $4, $8 }' /proc/diskstats)
	kill -INT $STAT
	wait $STAT
	read -r r0 w0 <<<"$before"
	read -r r1 w1 <<<"$after"
	same "reads and writes" "R $((r1 - r0)) W $((w1 - w0))" "$(jq -r --arg d "$name" '[.histograms[] | select(.label == $d) | select(.op == "R" or .op == "W")] | sort_by(.op) | map("\(.op) \(.count)") | join(" ")' stat.out)"
	same "bytes read" 2048000 "$(jq --arg d "$name" '.histograms[] | select(.label == $d and .op == "R") | .bytes' stat.out)"
}

@test "the text is what bcc's printer makes of the same counts" {
	/usr/bin/python3 -c 'import bcc.table' 2>/dev/null || skip "no python3-bpfcc"
	"$STRATA" stat cpudist 1 1 >text
	/usr/bin/python3 "$ROOT/tests/cluster/stat_check.py" bcc text
}

@test "intervals, processes, milliseconds and averages as bcc's tools have them" {
	background "$W/spin"
	"$STRATA" stat cpudist -P -m -e 0.5 2 >text 2>err
	[ "$(grep -c '^pid = ' text)" -ge 1 ]
	says text "^     msecs               : count     distribution$"
	says text "^avg = [0-9]+ msecs, total: [0-9]+ msecs, count: [0-9]+$"
	"$STRATA" stat runqlat pidpersec -T 0.3 3 >text 2>err
	same "intervals" 3 "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2}: PIDs/sec: [0-9]+$' text)"
	same "titles" 3 "$(grep -c '^runqlat$' text)"
	same "times" 3 "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2}$' text)"
}

@test "what is asked wrongly is said, with what there is" {
	run -2 "$STRATA" stat runqlot
	[[ $output == *"did you mean 'runqlat'"* ]]
	run -2 "$STRATA" stat
	[[ $output == *"cpudist, runqlat"* ]]
	run -2 "$STRATA" stat cpudist 0
	run -2 "$STRATA" stat cpudist 1 2 3
	run -2 "$STRATA" stat cpudist -p 4194304999
	run -2 "$STRATA" stat biolat -p $$
	[[ $output == *"whole machine"* ]]
	run -2 "$STRATA" stat --top
	[[ $output == *"terminal"* ]]
	run -2 "$STRATA" stat runqlat --off
}

@test "a live screen shows histograms, threads, files and devices, and gives the terminal back" {
	head -c 65536 /dev/zero >busiest
	background bash -c "while :; do cat $T/busiest; done >/dev/null"
	/usr/bin/python3 - "$STRATA" <<-'END' >screen
	import os, pty, select, sys, time, fcntl, termios, struct
	pid, fd = pty.fork()
	if not pid:
	    os.execv(sys.argv[1], [sys.argv[1], "stat", "--top", "0.5"])
	fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
	end, text, asked = time.time() + 20, b"", False
	while time.time() < end:
	    if select.select([fd], [], [], 0.1)[0]:
	        try:
	            text += os.read(fd, 65536)
	        except OSError:
	            break
	    if text.count(b"strata stat") >= 3 and not asked:
	        os.write(fd, b"q")
	        asked = True
	sys.stdout.buffer.write(text)
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	says screen "cpudist.*runqlat.*iolat.*biolat"
	says screen "TID +PID +CPU%"
	says screen "busiest"
	says screen "DEVICE"
	says screen $'\e\\[\\?1049h'
	says screen $'\e\\[\\?1049l'
}
