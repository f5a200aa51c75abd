#!/usr/bin/env bats
# Trace files of strangers: what they can cost, what they can show on a terminal, what they can do to a spreadsheet, and what
# happens when they change while they are read. See docs/security.md.

load lib
setup() {
	REFUSED=
	enter
}
teardown() { leave; }

# bomb ROWS CHUNKS TEXT TABLE...: a small trace that says much.
bomb() { "$ROOT/build/tools/small_bomb" run.strata "$@"; }

# costs MOST ARGS...: strata ARGS... ends, at most MOST MiB of memory later.
costs() {
	local peak status

	read -r peak status <<<"$("$HERE/peak.py" "$STRATA" "${@:2}" 2>words)"
	echo "${*:2}: $peak MiB, exit status $status"
	[ "$status" -le 1 ]
	[ "$peak" -le "$1" ]
}

readers() {
	local most=$1

	costs "$most" info run.strata
	costs "$most" report run.strata
	costs "$most" report --json run.strata
	costs "$most" report --html page.html run.strata
	costs "$most" diff run.strata run.strata
	costs "$most" dump run.strata io --limit 10
	costs "$most" export run.strata -f perfetto -o /dev/null
	costs "$most" export run.strata -f pfw -o /dev/null
}

@test "a small file costs little memory: many rows, many chunks at once" {
	for table in $(sed -nE 's/^TABLE\((\w+),.*/\1/p' "$ROOT/src/schema/tables.def"); do
		bomb 1048576 1 1 $table # 139 to 290 bytes
		costs 48 info run.strata
	done
	bomb 1048576 1 1 process
	costs 128 report run.strata
	bomb 65536 1 1 ALL # 3 KB
	readers 256
	says words "more rows than a file of this size can hold"
	bomb 65536 20 1 io sched fault # 13 KB
	readers 256
	bomb 1 300 1 ALL
	costs 256 report run.strata
}

@test "a small file costs little memory: large texts" {
	bomb 16 1 8000000 process file mark
	readers 256
	"$STRATA" dump run.strata mark >out 2>words || true
	says words "impossible size|ends outside"
}

@test "numbers of CPUs, GPUs and disks make no room for themselves" {
	for table in cpu gpu disk sched; do
		bomb 65536 1 1 $table
		costs 256 report --html page.html run.strata
		costs 256 export run.strata -f perfetto -o /dev/null
	done
}

@test "a million marks, none inside another, take no more than a hundred thousand take ten times" {
	/usr/bin/python3 - >marks <<-'END'
		import random
		random.seed(1)
		print("run key=start_ts value=1000000000\nrun key=stop_ts value=3000000000")
		for i in range(500000):
		    t = 1000000000 + i * 3000 + random.randrange(900)
		    print(f"mark ts={t} source=mark name=epoch_start value={i}")
		    print(f"mark ts={t + 1000} source=mark name=epoch_stop value={i - 100000}")
	END
	"$ROOT/build/tools/rows_to_run" run.strata <marks
	SECONDS=0
	# On a quadratic way this would take hours: the limit is the job's.
	"$STRATA" report --top 3 run.strata >out
	says out "epoch"
	"$STRATA" diff --json run.strata run.strata >out
	same "phases compared, of 100,000 of which only the stop is there" 600000 "$(jq '.items[] | select(.group == "phases" and .what == "how many").a' out)"
	echo "# a million marks: report and diff of two in $SECONDS s" >&3
}

# shows ARGS...: what strata ARGS... puts on a terminal steers it in no way; `mark` stands in it, escaped.
shows() {
	/usr/bin/python3 "$HERE/on_terminal.py" never "" env NO_COLOR=1 TERM=dumb "$STRATA" "$@" >shown || true
	/usr/bin/python3 - "$@" <<-'END'
		import re, sys
		shown = open("shown", "rb").read().replace(b"\r\n", b"\n")
		shown = shown.replace(b"\r\x1b[K", b"")  # strata's own, before and after a bar
		text = shown.decode()
		bad = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
		assert not bad, (sys.argv[1:], bad, text)
		assert "xe2" in text or "u202e" in text, (sys.argv[1:], text)
	END
}

# Of everything that has a name there is one with an escape, a C1 control and a right-to-left override in it.
steering_run() {
	local bad='a%1b%5b31m%c2%9b2J%e2%80%aeb'

	cat >rows <<-END
		run key=start_ts value=1000000000
		run key=stop_ts value=2000000000
		run key=command value=$bad
		run key=host value=$bad
		run key=layers value=process,io,fs
		run key=target value=launch
		process ts=1000000000 event=exec pid=5 tid=5 ppid=1 comm=$bad args=$bad
		file file=1 path=/$bad dev=8:1 inode=3 generation=1 kind=file
		io ts=1100000000 dur=1000000 pid=5 tid=5 op=read file=1 pos=0 requested=100 returned=100
		fs ts=1200000000 dur=1000000 pid=5 tid=5 op=openat file=1 arg_path=$bad returned=3
		mark ts=1300000000 dur=100000000 pid=5 tid=5 source=mark name=$bad value=$bad
	END
	"$ROOT/build/tools/rows_to_run" run.strata <rows
}

@test "control and bidirectional characters are shown to a terminal, never sent" {
	steering_run
	for table in process file io fs mark run; do
		shows dump run.strata $table
	done
	shows info run.strata
	shows info --json run.strata
	shows report run.strata
	shows report --json run.strata
	shows diff run.strata run.strata
	shows export -q run.strata -f open -o -
	shows export -q run.strata -f open -o - --raw
	shows export -q run.strata -f pfw -o -
}

@test "the same of sql, its prompt and DuckDB's messages" {
	[ -e "$ROOT/build/libduckdb.so" ] || skip "no DuckDB"
	steering_run
	for format in table csv json jsonl markdown; do
		shows sql -f $format run.strata 'select path, comm from io'
		shows sql -f $format run.strata "select 1 as \"$(printf 'x\x1b[31m\xe2\x80\xae')\""
	done
	shows sql run.strata "select 1 from \"$(printf 'x\x1b[31m\xe2\x80\xae')\""
	shows sql run.strata "select error(name) from mark"
	shows sql run.strata '.runs'
	shows sql run.strata "explain select 1 from io where path = '$(printf '\x1b[31m\xe2\x80\xae')'"
}

@test "names of files in messages, and of commands" {
	bad=$(printf 'x\x1b[31m\xe2\x80\xaey')
	shows info "$bad"
	shows "$bad"
	echo no >"$bad"
	shows report "$bad"
	shows dump run.strata "$bad"
	shows sql "$bad" 'select 1'
}

@test "into files and pipes control characters go as they are" {
	steering_run
	"$STRATA" dump run.strata mark --columns name | tail -n 1 | od -An -tx1 >out
	says out "61 1b 5b 33 31 6d c2 9b 32 4a e2 80 ae 62"
}

@test "--csv-safe takes formulas from spreadsheets" {
	cat >rows <<-'END'
		mark ts=1 source=mark name==1+1 value=-5
		mark ts=2 source=mark name=@x value=+1,"2
		mark ts=3 source=mark name=a=1 value=%09x
	END
	"$ROOT/build/tools/rows_to_run" run.strata <rows
	"$STRATA" dump --csv-safe --columns ts,name,value run.strata mark >out
	same dump "$(printf "ts,name,value\n1,'=1+1,'-5\n2,'@x,\"'+1,\"\"2\"\n3,a=1,'\tx\n")" "$(cat out)"
	"$STRATA" export --csv-safe -f csv -o folder run.strata
	"$STRATA" dump --csv-safe run.strata mark >out
	cmp out folder/mark.csv
	"$STRATA" dump --columns name,value run.strata mark >out
	same plain "$(printf "name,value\n=1+1,-5\n@x,\"+1,\"\"2\"\na=1,\tx\n")" "$(cat out)"
	[ -e "$ROOT/build/libduckdb.so" ] || return 0
	"$STRATA" sql --csv-safe -f csv run.strata "select name, -1 as n from mark order by ts limit 1" >out
	same sql "$(printf "name,n\n'=1+1,-1\n")" "$(cat out)"
}

@test "a trace that is cut while it is read: an error, no signal" {
	"$ROOT/build/bench/make_run" run.strata 1000000
	size=$(stat -c %s run.strata)
	for part in 3 2; do
		cp run.strata cut.strata
		mkfifo fifo
		"$STRATA" dump cut.strata io >fifo 2>words &
		reader=$!
		exec 7<fifo
		head -c 10000 <&7 >/dev/null # it is under way, and waits for us
		truncate -s $((size / part + 77)) cut.strata
		cat <&7 >/dev/null
		exec 7<&-
		status=0
		wait $reader || status=$?
		same "exit status" 1 $status
		says words "cut while it was read"
		rm fifo cut.strata
	done
}

# cut ARGS...: strata ARGS... of cut.strata, which is cut after its state was asked for 0, 1, 3, ... times, is an error that says so; or it
# had read all before, and prints what it prints of the whole file.
cut() {
	local after=0 failed=0 status

	rm -rf exported
	cp run.strata cut.strata
	"$STRATA" "$@" >whole
	while rm -rf exported && cp run.strata cut.strata; do
		status=0
		CUT_FILE=$PWD/cut.strata CUT_AFTER=$after LD_PRELOAD=$ROOT/build/tools/cut_mapped.so "$STRATA" "$@" >out 2>words ||
			status=$?
		if [ $status = 0 ]; then
			cmp whole out
			[ "$(stat -c %s cut.strata)" -lt "$(stat -c %s run.strata)" ] || break # it looks no more often than that
		else
			same "exit status of $*, cut after $after" 1 $status
			says words "cut while it was read"
			[ ! -e exported ]
			failed=$((failed + 1))
		fi
		after=$((after * 2 + 1))
	done
	[ $failed -gt 2 ]
}

@test "a trace that is cut at any moment: an error in every command" {
	"$ROOT/build/bench/make_run" run.strata 20000
	cut info cut.strata
	cut dump cut.strata io
	cut report cut.strata
	cut report --json cut.strata
	cut report --html exported cut.strata
	cut diff cut.strata run.strata
	cut diff run.strata cut.strata
	for format in csv classic trace_visuals pfw perfetto; do
		cut export -q cut.strata -f $format -o exported
	done
	if [ -e "$ROOT/build/libduckdb.so" ]; then
		cut export -q cut.strata -f parquet -o exported
		cut sql cut.strata 'select sum(returned), count(path) from io'
	fi
	/usr/bin/python3 - >rows <<-'END'
		import random
		random.seed(1)
		print("run key=start_ts value=1000000000\nrun key=stop_ts value=3000000000\nrun key=target value=launch")
		print("run key=layers value=process,sched\nrun key=command value=a\nprocess ts=1000000000 event=exec pid=5 tid=5 ppid=1 comm=a args=a")
		ts = 1000000000
		for i in range(20000):
		    dur = random.randrange(20000, 40000)
		    print(f"sched ts={ts} dur={dur} cpu=0 pid=5 tid=5 wait=1000 wake_ts={ts - 1000} waker_kind=timer end_state=S")
		    ts += dur + random.randrange(20000, 40000)
	END
	"$ROOT/build/tools/rows_to_run" run.strata <rows
	cut why cut.strata
}

@test "--log on a pipe, a folder or a device: an error" {
	steering_run
	mkfifo pipe
	for log in pipe . /dev/zero /dev/null; do
		run -1 --separate-stderr timeout 20 "$STRATA" report --log $log run.strata
		[[ $stderr == *"not a regular file"* ]]
		run -2 --separate-stderr timeout 20 "$STRATA" record --log $log -o other.strata -- true
		[[ $stderr == *"not a regular file"* ]]
	done
	[ ! -e other.strata ]
}
