#!/usr/bin/env bats
# Exports in the formats of older programs, read as those read them (originals.py): what they count and sum is what
# `strata sql` says, of the recording that ships with strata and of a job recorded here.

load lib

setup_file() {
	need_bpf
	[ -n "$REFUSED" ] || record_training
}

setup() {
	[ -e "$ROOT/build/libduckdb.so" ] || skip "DuckDB's library is not there"
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$T/run.strata
	cd "$T"
	RUNS=$ROOT/tests/data/demo.strata
	[ -n "$REFUSED" ] || RUNS="$RUNS $BATS_FILE_TMPDIR/train.strata"
	# The zone of trace_visuals' scripts.
	export TZ=America/Montreal
}

teardown() { leave; }

record_training() {
	local data=$BATS_FILE_TMPDIR/data

	/usr/bin/python3 "$TRAIN" --prepare --samples 32 "$data" &&
		"$STRATA" record -q -o "$BATS_FILE_TMPDIR/train.strata" -- /usr/bin/python3 "$TRAIN" --samples 32 --epochs 1 \
			--workers 2 "$data" >/dev/null 3>&-
}

# export_all FORMAT WORDS...: each run, and what the format's readers find.
export_all() {
	local run format=$1

	for run in $RUNS; do
		rm -rf out
		"$STRATA" export -q "$run" -f "$@" -o out
		"$HERE/originals.py" "$format" "$run" out
	done
}

made() {
	"$ROOT/build/tools/rows_to_run" "$RUN"
}

@test "every classic layout, line by line and field by field" {
	export_all classic
}

@test "trace_visuals: its scripts take in every line, and count and sum what sql does" {
	export_all trace_visuals
	same "files" "cpu.out gpu.out trace_bio.out trace_openat.out trace_read.out trace_time_align.out trace_write.out" \
		"$(ls out | xargs)"
}

# Its lines without their numbers, equal ones once.
shape() {
	sed -E 's/[0-9][0-9.:\/]*/N/g' | tr -s ' ' | uniq
}

@test "trace_visuals: cpu.out looks as mpstat 1 does" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	"$STRATA" export -q "$BATS_FILE_TMPDIR/train.strata" -f trace_visuals -o out
	same "cpu.out" "$(LC_ALL=C mpstat 1 2 | shape)" "$(shape <out/cpu.out)"
}

@test "pfw: DFAnalyzer sorts calls by the names of the C library, and finds their bytes" {
	export_all pfw --names libc
	run -2 "$STRATA" export "$ROOT/tests/data/demo.strata" -f pfw --names posix -o none
	[ ! -e none ]
	"$STRATA" export -q "$ROOT/tests/data/demo.strata" -f pfw --names syscall -o one
	"$STRATA" export -q "$ROOT/tests/data/demo.strata" -f pfw -o two
	cmp one two
	grep -q '"name":"newfstatat"' one
	! grep -q '"name":"fstatat"' one
	grep -q '"name":"fstatat".*"syscall":"newfstatat"' out || [ "$RUNS" != "$ROOT/tests/data/demo.strata" ]
}

@test "pfw: a call that never ends lasts to the end of the recording, and no analysis stumbles over it" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	mkfifo fifo
	exec 5<>fifo
	background cat fifo
	within 10 grep -q '^0 ' "/proc/$PID/syscall"
	record -p "$PID" -d 1s
	exec 5>&-
	same "calls under way" 1 "$(count io "op == 'read' and dur is None")"
	"$STRATA" export -q "$RUN" -f pfw --names libc -o out
	"$HERE/originals.py" pfw "$RUN" out
	start=$("$STRATA" sql -f csv "$RUN" "select ts from io where dur is null" | tail -1)
	stop=$("$STRATA" sql -f csv "$RUN" "select value from run where key = 'stop_ts'" | tail -1)
	dur=$(sed -n 's/.*"dur":\([0-9]*\),"ph":"X","args":{[^}]*"unfinished":true.*/\1/p' out)
	echo "$start $stop $dur"
	[ $((dur - (stop - start) / 1000)) -ge -1 ] && [ $((dur - (stop - start) / 1000)) -le 1 ]
}

@test "switches of a job alone: a warning, and what the job did not run is the idle thread's" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	record --scope job -- sh -c 'for i in 1 2 3 4 5; do sleep 0.02; done'
	"$STRATA" export -q "$RUN" -f switches -o out 2>words
	says words "warning: switches: only the job's own"
	"$HERE/originals.py" switches "$RUN" out
	[ "$(grep -c '^swapper/' out)" -ge 5 ]
	for args in "-e sched --scope all" "-e io --scope job"; do
		record --force $args -- true
		"$STRATA" export -q "$RUN" -f switches -o out 2>words
		same "words" "" "$(cat words)"
	done
	same "lines without stays" 1 "$(wc -l <out)"
}

@test "switches: the name of a thread that still runs after its exit, and of one that has begun another program" {
	made <<-EOF
		process ts=100 event=exec pid=7 tid=7 comm=old
		process ts=250 event=exec pid=7 tid=7 comm=new
		process ts=350 event=exit pid=7 tid=7 comm=new
		process ts=900 event=fork pid=9 tid=7 comm=other
		sched ts=200 dur=100 cpu=0 pid=7 tid=7
		sched ts=360 dur=40 cpu=0 pid=7 tid=7
		sched ts=950 dur=10 cpu=0 pid=9 tid=7
	EOF
	"$STRATA" export -q "$RUN" -f switches -o out
	same "names" "new 300 new 400 other 960" "$(tail -n +2 out | awk '{ print $1, $4 }' | xargs)"
}

@test "a process that strata's /proc does not show has a number that scripts can read" {
	made <<-EOF
		clock ts=1000 realtime=1790000000000001000 monotonic=1000
		sched ts=1000 dur=100 cpu=0
		sched ts=2000 dur=100 cpu=0 host_pid=77
		io ts=1000 dur=10 op=read dir=R requested=1 returned=1
		io ts=2000 dur=10 op=write dir=W requested=1 returned=1
		fs ts=1000 dur=10 op=openat arg_path=a returned=3
		fs ts=2000 dur=10 op=close fd=3 returned=0
		fs ts=3000 dur=10 op=mkdir arg_path=a returned=0
		mem ts=1000 dur=10 op=mmap addr=0 length=4096 returned=4096
		mem ts=2000 dur=10 op=munmap addr=4096 length=4096 returned=0
		block ts=1000 dur=10 queued=5 dev=vda op=R bytes=4096
	EOF
	"$STRATA" export -q "$RUN" -f classic -o classic
	"$STRATA" export -q "$RUN" -f trace_visuals -o visuals
	same switches "$(printf '%s\n' "- 2147483647 0 1100" "- 77 0 2100")" "$(tail -n +2 classic/switches)"
	for file in bio:3 bio:5 open:3 vfs_rw:3 read:2 write:2 close:2 create_del:2 mmap:2 munmap:2; do
		same "$file" 2147483647 "$(tail -n +3 "classic/${file%:*}" | awk -v at="${file#*:}" '{ print $at }' | sort -u)"
	done
	for file in bio openat read write; do
		same "$file" 2147483647 "$(tail -n +3 "visuals/trace_$file.out" | awk '{ print $2 }')"
	done
}

@test "trace_visuals: names of the characters that its patterns have, failures as they were printed, numbers always" {
	made <<-EOF
		clock ts=1000 realtime=1790000000000001000 monotonic=1000
		process ts=100 event=exec pid=7 tid=7 comm=a%20b
		process ts=100 event=exec pid=8 tid=8 comm=kworker/0:1-x
		file file=1 path=/data/a%20b%2bc:d%ff kind=file
		file file=2 path=pipe:[77] kind=pipe
		file file=3 path=anon_inode:[eventfd] kind=other
		file file=4 path=/data/x.npy kind=file
		io ts=1000 dur=10 pid=7 tid=7 op=write dir=W file=1 pos=5 requested=9 returned=8
		io ts=2000 dur=10 pid=7 tid=7 op=write dir=W file=2 requested=9 returned=9
		io ts=3000 dur=10 pid=7 tid=7 op=write dir=W file=3 requested=8 returned=8
		io ts=4000 dur=10 pid=7 tid=7 op=write dir=W file=4 requested=8 returned=-28
		io ts=5000 dur=10 pid=7 tid=7 op=read dir=R file=4 requested=8 returned=-11
		io ts=6000 dur=10 pid=7 tid=7 op=pread64 dir=R file=4 pos=4096 requested=8 returned=0
		io ts=7000 dur=10 pid=7 tid=7 op=readv dir=R file=4 pos=0 requested=8 returned=8
		io ts=8000 pid=7 tid=7 op=read dir=R file=4 pos=0 requested=8
		fs ts=1000 dur=10 pid=7 tid=7 op=openat arg_path=../x.npy file=4 returned=3
		fs ts=2000 dur=10 pid=7 tid=7 op=openat arg_path=none returned=-2
		fs ts=3000 dur=10 pid=7 tid=7 op=open arg_path=x.npy file=4 returned=3
		block ts=1000 dur=10 queued=5 pid=8 tid=8 dev=sdb op=W bytes=4096 sector=8
		block ts=2000 dur=10 pid=7 tid=7 dev=sdb op=W bytes=0
		block ts=3000 dur=10 pid=7 tid=7 dev=sdb op=F
	EOF
	"$STRATA" export -q "$RUN" -f trace_visuals -o out
	same write "$(printf '%s\n' "1010 7 5 8 10 a_x20b_x2bc_x3ad_xff" "2010 7 0 9 10" \
		"3010 7 0 8 10 [eventfd]" "4010 7 18446744073709551615 -28 10 x.npy")" "$(tail -n +3 out/trace_write.out)"
	same read "$(printf '%s\n' "5010 7 18446744073709551615 18446744073709551605 10 x.npy" "6010 7 4096 0 10 x.npy")" \
		"$(tail -n +3 out/trace_read.out)"
	same openat "$(printf '%s\n' "1010 7 a_x20b 10 ../x.npy x.npy" "2010 7 a_x20b 10 none")" "$(tail -n +3 out/trace_openat.out)"
	same bio "$(printf '%s\n' "1015 8 kworker/0:1-x sdb W 4096 8 10" "2010 7 a_x20b sdb W 0 0 10")" \
		"$(tail -n +3 out/trace_bio.out)"
}

@test "trace_visuals: gpu.out has the columns that its scripts take, and a date where there is no GPU" {
	export TZ=UTC
	made <<-EOF
		clock ts=1000 realtime=1790000000000001000 monotonic=1000
		gpu ts=1000 dur=100 gpu=0 sm=55.5
		gpu ts=1000 dur=100 gpu=1 sm=0
		gpu_process ts=1000 gpu=0 pid=10 type=C sm=44.4 mem=3 fb=322961408 command=python
	EOF
	"$STRATA" export -q "$RUN" -f trace_visuals -o out
	# Date and time become one field; then gpu is 1, pid 2, sm 4, mem 5 and fb 8.
	same lines "$(printf '%s\n' "20260921 14:13:20 0 10 44 3 308" "20260921 14:13:20 1 - - - -")" \
		"$(awk '!/^#/ { print $1, $2, $3, $4, $6, $7, $10 }' out/gpu.out)"
	echo "clock ts=1000 realtime=1790000000000001000 monotonic=1000" | made
	"$STRATA" export -q "$RUN" -f trace_visuals -o out
	same lines "20260921 14:13:20 - - - - - - - - -" "$(awk '!/^#/ { $1 = $1; print }' out/gpu.out)"
}

@test "time_align: two lines at each full second, though the clock drifts or steps, and one second always" {
	export TZ=UTC
	made <<-EOF
		run key=start_ts value=5000
		run key=stop_ts value=6000
		clock ts=1000 realtime=1790000000300000000 monotonic=1000
	EOF
	"$STRATA" export -q "$RUN" -f time_align -o out
	same "a short recording" "700000999 14:13:20 700001000 14:13:21" "$(tail -n +3 out | xargs)"
	# 10 % too fast, then 5 s forward between two readings, then one second back.
	made <<-EOF
		run key=start_ts value=0
		run key=stop_ts value=4000000000
		clock ts=0 realtime=1790000000000000000 monotonic=0
		clock ts=1000000000 realtime=1790000001100000000 monotonic=1000000000
		clock ts=1000000001 realtime=1790000006100000001 monotonic=1000000001
		clock ts=3000000000 realtime=1790000008100000000 monotonic=3000000000
		clock ts=3000000001 realtime=1790000007100000001 monotonic=3000000001
		clock ts=4000000000 realtime=1790000008100000000 monotonic=4000000000
	EOF
	"$STRATA" export -q "$RUN" -f time_align -o out
	same "seconds" "909090909 14:13:20 909090910 14:13:21 1000000000 14:13:21 1000000001 14:13:26" \
		"$(sed -n 3,6p out | xargs)"
	while read -r ts clock; do
		same "clock at $ts" "$("$STRATA" sql -f csv "$RUN" "select strftime(utc($ts), '%H:%M:%S')" | tail -1)" "$clock"
	done < <(tail -n +3 out)
	awk 'NR > 2 && NR % 2 { before = $1; clock = $2 } NR > 2 && !(NR % 2) && ($1 != before + 1 || $2 == clock) { exit 1 }' out
	same "steps" "14:13:27 14:13:28 14:13:27 14:13:28 14:13:29" "$(awk 'NR > 6 && !(NR % 2) { print $2 }' out | xargs)"
	# Centuries between two readings, in which the clock stands still or runs.
	for realtime in 1790000000000000000 9000000000000000000; do
		made <<-EOF
			clock ts=1 realtime=1790000000000000000 monotonic=1
			clock ts=9000000000000000000 realtime=$realtime monotonic=1
		EOF
		timeout 30 "$STRATA" export -q "$RUN" -f time_align -o out
		[ "$(wc -l <out)" -lt 1000 ]
	done
}

@test "pids: every thread with its arguments; a forked child has its parent's, as they were then" {
	made <<-EOF
		run key=target value=launch
		run key=recorder_tids value=5
		run key=stop_ts value=9000000000
		process ts=1000 event=exec pid=7 tid=7 ppid=5 comm=sh args=sh%20-c%20x uid=33
		process ts=2000 event=fork pid=8 tid=8 ppid=7 comm=sh
		process ts=2500 event=fork pid=8 tid=10 ppid=7 comm=worker
		process ts=3000 event=exec pid=7 tid=7 ppid=5 comm=python args=python%20train.py
		process ts=4000 event=fork pid=9 tid=9 ppid=7 comm=python
		process ts=4500 event=exit pid=8 tid=8 ppid=7 comm=sh
		process ts=5000 event=fork pid=6 tid=6 ppid=1 comm=alien
		sched ts=4000 dur=3000000000 cpu=0 pid=9 tid=9
	EOF
	"$STRATA" export -q "$RUN" -f pids -o out
	same lines "$(printf '%s\n' "33 7 7 0:00 python train.py" "- 8 8 0:00 sh -c x" "- 8 10 0:00 sh -c x" "- 9 9 0:03 python train.py")" \
		"$(awk 'NR > 1 { printf "%s %s %s %s", $1, $2, $3, $11; for (i = 12; i <= NF; i++) printf " %s", $i; print "" }' out)"
}

# A process with threads and a child, which has ps list them while they live.
LISTED='
import os, subprocess, threading
read, write = os.pipe()
for _ in range(3): threading.Thread(target=os.read, args=(read, 1)).start()
if not os.fork():
    os.close(write)
    os.read(read, 1)
    os._exit(0)
with open("listed", "w") as file: subprocess.run(["ps", "aux", "-T", "--cols", "2000"], stdout=file)
os.close(write)
os.wait()
'

@test "pids: what ps itself lists, while it runs under the recording" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	echo "$LISTED" >listed.py
	record -e process,sched -- /usr/bin/python3 listed.py now
	"$STRATA" export -q "$RUN" -f pids -o out
	same "header" "$(head -1 listed | xargs)" "$(head -1 out | xargs)"
	# PID, SPID and COMMAND of the job's: the parent with its threads, the child, and ps.
	job=" (/usr/bin/python3 listed.py now|ps aux -T --cols 2000)\$"
	sed -i '/ record -o /d' listed
	same "threads" "$(grep -E "$job" listed | awk '{ $1 = $4 = $5 = $6 = $7 = $8 = $9 = $10 = $11 = ""; print }' | sort)" \
		"$(grep -E "$job" out | awk '{ $1 = $4 = $5 = $6 = $7 = $8 = $9 = $10 = $11 = ""; print }' | sort)"
	same "number of threads" 6 "$(($(wc -l <out) - 1))"
}

@test "calls that a seccomp filter answered have a result and no length: none looks unfinished" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	record -- "$W/answered" "$T"
	answered=$(count io,fs,mem "dur is None and returned is not None")
	[ "$answered" -gt 0 ]
	"$STRATA" export -q "$RUN" -f pfw -o out
	same "untimed" "$answered" "$(grep -c '"dur":0,"ph":"X".*"untimed":true' out)"
	same "unfinished" "$(count io,fs,mem "dur is None and returned is None")" "$(grep -c '"unfinished":true' out || true)"
}

@test "open: calls of vfs_open where they were traced, with the name of the file" {
	made <<-EOF
		file file=1 path=/data/real.npy kind=file
		fs ts=1000 dur=1000 pid=7 tid=7 op=openat arg_path=/data/link.npy file=1 returned=3
		call ts=1200 dur=300 pid=7 tid=7 func=vfs_open module=kernel returned=0
		call ts=1210 dur=30 pid=7 tid=7 func=vfs_read module=kernel returned=0
		call ts=1300 dur=300 pid=8 tid=8 func=vfs_open module=kernel returned=0
		fs ts=3000 dur=1000 pid=7 tid=7 op=openat arg_path=none returned=-2
		call ts=4500 dur=10 pid=7 tid=7 func=vfs_open module=kernel returned=0
	EOF
	"$STRATA" export -q "$RUN" -f open -o out
	same lines "$(printf '%s\n' "1500 vfs_open 300 real.npy" "1600 vfs_open 300 -" "2000 openat 1000 /data/link.npy" \
		"4000 openat 1000 none" "4510 vfs_open 10 -")" "$(tail -n +3 out | awk '{ print $1, $5, $6, $7 }')"
}
