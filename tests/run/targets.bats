#!/usr/bin/env bats
# What is recorded: a launched job, running processes, the whole machine; for how long; which layers.

load lib
setup_file() { need_bpf; }
setup() { enter; head -c 1000 /dev/zero >data; }
teardown() { leave; }

@test "launch: recording ends with the last process, also when the first exits early" {
	mkdir work
	run -4 record -e io,fs -- "$W/daemon" "$T/work"
	same "the grandchild's last write" "3 $T/work/late" \
		"$(rows io "op == 'write'" returned,path | tail -1 | tr '\t' ' ')"
	[ -s work/late ]
}

@test "launch --until main: recording ends with the first process" {
	mkdir work
	run -4 record -e io,fs --until main -- "$W/daemon" "$T/work"
	same "the grandchild's writes" 0 "$(count io "op == 'write'")"
	within 5 test -s work/late # the grandchild goes on
}

@test "launch: the default name of the trace says command and time, and -o is not needed" {
	"$STRATA" record -e io -- true 2>words
	[ "$(find . -name "strata-true-*.strata" -size +0 | wc -l)" = 1 ]
	says words "$(ls strata-true-*.strata)"
}

@test "-p: files open before are known from their first use, and the exit of the target ends it" {
	background "$W/spin" "$T/data" 1000
	spin=$PID
	within 5 grep -q ready out
	record_background -p $spin
	sleep 0.5
	kill $spin
	within 10 gone $PID
	readable
	same "paths" "$T/data" "$(rows io "op == 'pread64' and pid == $spin" path | sort -u)"
	same "names" spin "$(rows io True comm | sort -u)"
	same "other processes" 0 "$(count io "pid != $spin")"
	[ "$(count io "pid == $spin and returned == 64 and pos == 0")" -gt 50 ]
}

@test "-p: a call in flight begins with the recording; its file is known" {
	mkfifo fifo
	background "$W/blockedread" "$T/fifo" "$T/data"
	target=$PID
	within 5 grep -q ready out
	record_background -p $target
	sleep 0.3
	before=$(boot_ns)
	echo 1234 >fifo
	wait $target || same "exit status" 6 $?
	within 10 gone $PID
	rows io "path == '$T/fifo'" ts,dur,returned,op >found
	same "one row" 1 "$(wc -l <found)"
	read -r ts dur returned op <found
	same "result" "5 read" "$returned $op"
	start=$(rows clock True ts | head -1)
	[ "$ts" -lt "$before" ] # when the recording began, not when it was seen to end
	[ $((ts + dur)) -ge "$before" ]
	[ $((ts > start ? ts - start : start - ts)) -lt 2000000000 ]
	same "the file it opened before" "10 $T/data" "$(rows io "path == '$T/data'" returned,path | tr '\t' ' ')"
}

@test "-p: a splice in flight has gone to where the file's position was before" {
	cat >splice.py <<-'PYTHON'
		import os, sys
		out = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600)
		os.write(out, b"0123456789")
		pipe = os.open(sys.argv[1], os.O_RDWR)
		print("ready", flush=True)
		print(os.splice(pipe, out, 100), flush=True)
	PYTHON
	mkfifo fifo
	background python3 splice.py fifo out.bin
	target=$PID
	within 5 grep -q ready out
	within 5 grep -q '^275 ' /proc/$target/syscall
	record_background -p $target
	echo 1234 >fifo
	within 10 gone $PID
	same "row" "5 10" "$(rows io "op == 'splice'" returned,out_pos | tr '\t' ' ')"
}

@test "a call in flight at the stop has no result" {
	mkfifo fifo
	background "$W/blockedread" "$T/fifo" "$T/data"
	target=$PID
	within 5 grep -q ready out
	record -p $target -d 1s
	same "row" "$(printf 'read\t-\t-\t%s' "$T/fifo")" "$(rows io True op,dur,returned,path)"
	kill -0 $target
}

@test "-p: threads and later children of the target belong to it; several targets" {
	cat >parent.py <<-'PYTHON'
		import os, sys, threading, time
		def work():
		    while True:
		        os.pread(fd, 11, 0)
		        time.sleep(0.01)
		fd = os.open(sys.argv[1], os.O_RDONLY)
		threading.Thread(target=work, daemon=True).start()
		print("ready", flush=True)
		while True:
		    if os.fork() == 0:
		        os.pread(fd, 22, 0)
		        os._exit(0)
		    os.wait()
		    time.sleep(0.05)
	PYTHON
	background /usr/bin/python3 parent.py "$T/data"
	python=$PID
	within 5 grep -q ready out
	background "$W/spin" "$T/data" 5000
	spin=$PID
	record -e io -p $python,$spin -d 1s
	[ "$(count io "requested == 11 and pid == $python and tid != pid and path == '$T/data'")" -gt 10 ]
	[ "$(count io "requested == 22 and pid != $python and path == '$T/data'")" -gt 3 ]
	[ "$(count io "requested == 64 and pid == $spin")" -gt 10 ]
	same "others" 0 "$(count io "requested not in (11, 22, 64) and comm not in ('python3', 'spin')")"
}

@test "-p: who descends from the target already belongs to it, with what it is in the middle of" {
	cat >family.py <<-'PYTHON'
		import os, sys, time
		fd = os.open(sys.argv[1], os.O_RDONLY)
		(up, ready), (end, held) = os.pipe(), os.pipe()
		def started():
		    os.close(held)  # the first of them alone keeps it open
		    os.write(ready, b"r")
		def work(size):
		    started()
		    parent = os.getppid()
		    while os.getppid() == parent:
		        os.pread(fd, size, 0)
		        time.sleep(0.01)
		    os._exit(0)
		if os.fork() == 0:
		    if os.fork() == 0:
		        work(33)
		    if os.fork() == 0:
		        started()
		        os.read(end, 1)
		        os._exit(0)
		    work(22)
		for _ in range(3):
		    os.read(up, 1)
		print("ready", flush=True)
		os.wait()
	PYTHON
	background /usr/bin/python3 family.py "$T/data"
	python=$PID
	within 5 grep -q ready out
	background "$W/spin" "$T/data" 5000
	record -e io -p $python -d 1s
	child=$(rows io "requested == 22" pid | sort -u)
	same "child" "$(pgrep -P $python)" "$child"
	[ "$(count io "requested == 22 and pid == $child and path == '$T/data'")" -gt 10 ]
	[ "$(count io "requested == 33 and pid in ($(pgrep -P "$child" -d ,)) and path == '$T/data'")" -gt 10 ]
	same "a grandchild's call in flight" 1 "$(count io "requested == 1 and op == 'read' and returned is None")"
	same "others" 0 "$(count io "comm == 'spin'")"
	same "their parents" "$python $child $child" \
		"$(rows process "event == 'exists' and ppid in ($python, $child)" ppid | sort -n | xargs)"
}

@test "-p of a process that is not there" {
	run -125 record -p 4194304
	says words "4194304"
	[ ! -e "$RUN" ]
}

@test "-a: the whole machine, strata itself left out, -d ends it" {
	background "$W/spin" "$T/data" 2000
	spin=$PID
	background "$STRATA" record -o "$RUN" -a -e io,fs -d 1s
	wait $PID
	# There may be millions of rows on a busy machine.
	[ "$("$STRATA" dump "$RUN" io --columns pid,path | grep -cFx "$spin,$T/data")" -gt 50 ]
	for table in io fs; do
		same "strata's own rows" 0 "$("$STRATA" dump "$RUN" $table --columns pid | grep -cx $PID || true)"
	done
	readable
}

@test "-d takes units" {
	before=$SECONDS
	record -a -e io -d 500ms
	[ $((SECONDS - before)) -lt 10 ]
	run -2 record -a -d soon
	says words "soon"
}

@test "--scope: process covers the machine by default, io the job; one option sets both" {
	background sh -c 'while :; do cat /etc/hostname >/dev/null; done'
	record -e io -- sleep 1
	[ "$(count process "comm == 'cat'")" -gt 5 ]
	same "io of others" 0 "$(count io "comm == 'cat'")"
	record --force --scope job -e io -- sleep 1
	same "processes of others" 0 "$(count process "comm == 'cat'")"
	record --force --scope all -e io -- sleep 1
	[ "$(count io "comm == 'cat' and '/etc/hostname' == path")" -gt 5 ]
}

@test "-e: only the layers named, and always process, clock and loss" {
	record -e fs -- cat data >/dev/null
	same "io rows" 0 "$(count io)"
	[ "$(count fs "comm == 'cat'")" -gt 3 ]
	[ "$(count process "comm == 'cat'")" -ge 2 ]
	[ "$(count clock)" -ge 2 ]
}

@test "clock: readings through the whole run tie the clock since boot to UTC" {
	before=$(date +%s%N)
	record -e io -- sleep 2.2
	after=$(date +%s%N)
	[ "$(count clock)" -ge 3 ]
	rows clock True realtime >found
	sort -n -c found
	[ "$(head -1 found)" -ge "$before" ]
	[ "$(tail -1 found)" -le "$after" ]
	# boot time and UTC run alike: within a millisecond over two seconds.
	rows clock True ts,realtime | awk 'NR == 1 { d = $2 - $1 } { e = $2 - $1 - d; if (e * e > 1e12) exit 1 }'
}

@test "--interval: how often the clocks are read" {
	record -e io --interval 100ms -- sleep 1
	[ "$(count clock)" -ge 6 ]
}

@test "--drop-caches: the command starts with an empty page cache" {
	cat data >/dev/null
	same "pages in memory, without" 1 "$(fincore -n -o PAGES data | tr -d ' ')"
	sync data # what is not written yet cannot be dropped
	same "pages in memory" 0 "$(record --drop-caches -- fincore -n -o PAGES data | tr -d ' ')"
}

@test "info: host, command, layers, rows, loss and time; --json is JSON with the same numbers" {
	record -e io,fs -- cat data >/dev/null
	"$STRATA" info "$RUN" >info
	says info "$(uname -n)"
	says info "cat data"
	"$STRATA" info --json "$RUN" | jq -e . >info.json
	for table in io fs process clock; do
		same "$table rows" "$(count $table)" "$(jq .tables.$table.rows info.json)"
	done
	same "host and command" "$(uname -n) cat data" "$(jq -r '.host + " " + .command' info.json)"
	same "layers" "io fs" "$(jq -r '.layers | map(select(. == "io" or . == "fs")) | join(" ")' info.json)"
	same "lost, exit status, complete" "0 0 true" \
		"$(jq -r '"\(.lost) \(.exit_status) \(.complete)"' info.json)"
	same "the day in UTC" "$(date -u +%Y-%m-%d)" "$(jq -r .end_utc info.json | cut -c1-10)"
}

@test "dump: --columns, --limit, --from and --to; order of ts" {
	record -e io,fs -- "$W/forks" "$T/data" 50
	"$STRATA" dump "$RUN" io --columns ts,op,returned >all.csv
	same header "ts,op,returned" "$(head -1 all.csv)"
	same limit "$(head -11 all.csv)" "$("$STRATA" dump "$RUN" io --columns ts,op,returned --limit 10)"
	# --from and --to count from the start of the recording, both ends included.
	start=$("$STRATA" info --json "$RUN" | jq .start_ts)
	since() { sed -n "$1p" all.csv | awk -F, -v start="$start" '{ printf "%.9f", ($1 - start) / 1e9 }'; }
	same range "$(sed -n 20,40p all.csv)" \
		"$("$STRATA" dump "$RUN" io --columns ts,op,returned --from "$(since 20)" --to "$(since 40)" | sed 1d)"
	same "tables" 0 "$(for table in process io fs mem clock loss thread file run; do
		"$STRATA" dump "$RUN" $table >/dev/null || echo $table
	done | wc -l)"
}

@test "-u: the command runs as another user, who owns nothing of the recording's rights" {
	same "user and groups" "$(setpriv --reuid nobody --regid nogroup --init-groups id)" \
		"$(chmod 755 "$T"; record -u nobody -- id)"
}
