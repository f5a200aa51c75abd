#!/usr/bin/env bats
# strata sql: the same values as strata dump, by an independent computation; many runs; what is not whole; bad input.

load lib

# A training job with cold files, so that disks, cache misses and every layer have rows; refused: the one that ships.
setup_file() {
	need_bpf
	export JOB=$BATS_FILE_TMPDIR/job.strata
	if [ -n "$REFUSED" ]; then
		cp "$ROOT/tests/data/demo.strata" "$JOB"
		return
	fi
	/usr/bin/python3 "$TRAIN" --prepare "$BATS_FILE_TMPDIR/data"
	sync "$BATS_FILE_TMPDIR"/data/*
	for file in "$BATS_FILE_TMPDIR"/data/*; do
		dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
	done
	"$STRATA" record -q -o "$JOB" -- sh -c "'$STRATA' mark epoch 1; /usr/bin/python3 '$TRAIN' '$BATS_FILE_TMPDIR/data'" \
		>/dev/null 3>&-
}
setup() {
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$T/run.strata
	cd "$T" || return 1
	export HOME=$T
}
teardown() { leave; }

recorded() { [ -z "$REFUSED" ] || skip "$REFUSED"; }

ask() { "$STRATA" sql -f csv "$@" 2>words; }

# refuses STATUS PATTERN ARGS...: strata sql ARGS... ends with STATUS and says PATTERN.
refuses() {
	local status=0

	"$STRATA" sql "${@:3}" >out 2>words || status=$?
	same "exit status of: ${*:3}" "$1" $status
	says words "$2"
}

@test "every table has the rows that dump prints" {
	"$HERE/sql_check.py" rows "$JOB"
}

@test "totals of every column of every table are those computed from dump" {
	"$HERE/sql_check.py" totals "$JOB"
}

@test "groups are those that sqlite3 makes of dump's rows" {
	"$HERE/sql_check.py" groups "$JOB"
}

@test "conditions save reading and change no result" {
	"$HERE/sql_check.py" filters "$JOB"
}

@test "every query of docs/sql.md runs and gives rows" {
	recorded
	"$HERE/sql_docs.py" "$ROOT/docs/sql.md" "$JOB"
}

@test "docs/sql.md names every view, and every view gives its columns" {
	"$STRATA" sql "$JOB" .tables | sed '1,/^view/d' | awk '{ print $1 }' >names
	[ "$(wc -l <names)" -ge 9 ]
	while read -r view; do
		grep -q "^| \`$view\` |" "$ROOT/docs/sql.md"
		[[ -z $REFUSED || $view != ledger* ]] || continue # the one that ships is too old to be judged
		"$STRATA" sql "$JOB" "from $view" >out
	done <names
}

@test "the ledger of a real job is that of why to the nanosecond, and its checkpoints are the files on disk" {
	recorded
	"$STRATA" why --json "$JOB" >why.json || true # a loss may forbid the verdict
	"$STRATA" sql -f json "$JOB" 'select cause, sum(dur) as ns from ledger group by cause' >causes.json
	/usr/bin/python3 - "$BATS_FILE_TMPDIR"/data/checkpoint-*.pt <<-'PYTHON'
		import collections, json, os, sys
		why, causes = json.load(open("why.json")), collections.Counter()
		for line in why["ledger"]:
		    causes[line["cause"]] += line["ns"]
		assert causes == {row["cause"]: row["ns"] for row in json.load(open("causes.json"))}, causes
		saves = why["checkpoints"]
		assert sorted(save["bytes"] for save in saves["list"]) == sorted(map(os.path.getsize, sys.argv[1:])), saves
		assert sum(part["ns"] for part in saves["parts"]) == saves["ns"] == sum(s["end"] - s["start"] for s in saves["list"]), saves
	PYTHON
}

@test "an open is an open, through io_uring too: view opens" {
	"$ROOT/build/tools/rows_to_run" run.strata <<-EOF
		run key=start_ts value=1000000000
		fs ts=1000000000 dur=5 tid=7 op=openat file=1 returned=3
		fs ts=1000001000 dur=5 tid=7 op=io_uring_openat file=2 returned=4
		fs ts=1000002000 dur=5 tid=7 op=creat returned=-13
		fs ts=1000003000 dur=5 tid=7 op=close file=1 returned=0
		fs ts=2000001000 dur=5 tid=7 op=io_uring_openat2 returned=-2
		fs ts=2000002000 dur=5 tid=7 op=io_uring_close file=2 returned=0
	EOF
	same "opens by second" "second,opens,failed,files 0,3,1,2 1,1,1,0" \
		"$(ask run.strata "select second, opens, failed, files from opens" | xargs)"
}

@test "a table for people: quantities have separators, ids and addresses do not" {
	"$ROOT/build/tools/rows_to_run" run.strata <<-EOF
		job ts=123456789 dur=1000000 minor_faults=1234567 rss=7654321
		mem ts=123456789 op=mmap addr=140737488347136 length=65536 returned=140737488347136 tid=123456
	EOF
	same "quantities" "1,234,567 7,654,321 123456789" \
		"$("$STRATA" sql run.strata "select minor_faults, rss, ts from job" 2>words | tail -1 | xargs)"
	same "ids" "140737488347136 65,536 140737488347136 123456" \
		"$("$STRATA" sql run.strata "select addr, length, returned, tid from mem" 2>words | tail -1 | xargs)"
}

@test "t, utc and utc(ts) agree with the clocks of the trace" {
	same "t" 0 "$(ask "$JOB" "select count(*) from io where abs(t - (ts - (select value::bigint from run where key = 'start_ts')) / 1e9) > 1e-9" | tail -1)"
	same "readings" 0 "$(ask "$JOB" "select count(*) from clock where epoch_ns(utc) <> realtime or utc <> utc(ts)" | tail -1)"
}

@test "bytes that are no text look as dump shows them" {
	recorded
	printf 'x' >"$(printf 'bad\xff,"\\name')"
	"$STRATA" record -q -o "$RUN" -e fs,io -- sh -c 'cat bad*' >/dev/null 3>&-
	"$STRATA" dump "$RUN" io --columns path | grep 'bad' | sort -u >dumped
	says dumped 'bad\\xff'
	ask "$RUN" "select distinct path from io where path like '%bad%'" | tail -n +2 >asked
	same "path" "$(cat dumped)" "$(cat asked)"
	says asked '\\x5cname'
	same "found by it" 1 "$(ask "$RUN" "select count(distinct path) from io where path = '$T/bad\\xff,\"\\x5cname'" | tail -1)"
}

@test "a hundred runs in one query, by folder and by pattern, each with its rows, node and clock" {
	mkdir runs
	for i in $(seq 100); do
		ln "$JOB" "runs/run-$i.strata" 2>/dev/null || cp "$JOB" "runs/run-$i.strata"
	done
	rows=$(ask "$JOB" 'select count(*) from io' | tail -1)
	same "by folder" "100,$((100 * rows)),1" "$(ask runs 'select count(distinct run), count(*), count(distinct node) from io' | tail -1)"
	same "by pattern" "11,$((11 * rows))" "$(ask 'runs/run-1?.strata' "$JOB" 'select count(distinct run), count(*) from io' | tail -1)"
	same "one of them" "$rows" "$(ask runs "select count(*) from io where run = 'run-42'" | tail -1)"
	same "utc" "$(ask "$JOB" 'select min(utc) from io' | tail -1)" "$(ask runs "select distinct min(utc(ts, run)) from io group by run" | tail -n +2)"
	refuses 1 "utc\(ts, run\)" runs 'select utc(ts) from io'
}

@test "a recording under way gives the rows so far, and says so" {
	recorded
	record_background -e io -- sh -c 'while :; do cat "$0" >/dev/null; done' "$JOB"
	sleep 1.5
	first=$(ask "$RUN" 'select count(*) from io' | tail -1)
	says words "still being recorded"
	[ "$first" -gt 0 ]
	sleep 1.5
	[ "$(ask "$RUN" 'select count(*) from io' | tail -1)" -gt "$first" ]
	kill -TERM $PID
	within 10 gone $PID
}

@test "a cut trace gives the rows before the cut, with a warning" {
	size=$(stat -c %s "$JOB")
	head -c $((size * 2 / 3)) "$JOB" >cut.strata
	ask cut.strata 'select count(*) from fs' >out
	says words "warning.*damaged|cut"
	same "rows" "$("$STRATA" dump cut.strata fs --columns ts 2>/dev/null | tail -n +2 | wc -l)" "$(tail -1 out)"
	head -c 70 "$JOB" >stub.strata
	refuses 1 "stub.strata" stub.strata 'select 1'
}

@test "a header that does not hold is refused by name" {
	cp "$JOB" new.strata
	printf '\x63' | dd of=new.strata bs=1 seek=8 conv=notrunc status=none
	refuses 1 "new.strata.*header" new.strata 'select 1'
}

@test "a wrong table or column: DuckDB's message and the nearest of our names" {
	refuses 1 "Table with name ios does not exist" "$JOB" 'select * from ios'
	says words "did you mean 'io'"
	refuses 1 'column "retrned" not found' "$JOB" 'select retrned from io'
	says words "did you mean 'returned'"
	refuses 1 "syntax error" "$JOB" 'selec 1'
	refuses 1 "'.schema'" "$JOB" '.schma io'
	refuses 1 "'io'" "$JOB" '.schema ioo'
	refuses 2 "'csv'" -f cvs "$JOB" 'select 1'
	refuses 1 "no trace 'nothere.strata'" nothere.strata 'select 1'
	refuses 2 "needs a trace" 'select 1'
	refuses 2 "comes after the query" "$JOB" 'select 1' 'select 2'
	refuses 2 "-o" -f parquet "$JOB" 'select 1'
	cp "$JOB" precious.strata
	refuses 1 "is read by this command" precious.strata -o precious.strata 'select 1'
	cmp "$JOB" precious.strata
}

@test "queries read and write no other file, unless allowed" {
	echo 'a,b' >other.csv
	echo '1,2' >>other.csv
	refuses 1 "--allow-files" "$JOB" "select * from '$T/other.csv'"
	refuses 1 "--allow-files" "$JOB" "select * from read_text('$T/other.csv')"
	refuses 1 "--allow-files" "$JOB" "copy (select 1) to '$T/written.csv'"
	refuses 1 "" "$JOB" "attach '$T/written.db'"
	refuses 1 "" "$JOB" "set enable_external_access = true"
	refuses 1 "" "$JOB" "install httpfs"
	refuses 1 "--allow-files" "$JOB" -o allowed.parquet -f parquet "select * from read_text('$T/other.csv')"
	[ ! -e written.csv ] && [ ! -e written.db ]
	same "allowed" 2 "$(ask --allow-files "$JOB" "select b from '$T/other.csv'" | tail -1)"
}

@test "formats: csv, json, jsonl, markdown and parquet hold the same" {
	query="select op, count(*) as n, sum(dur) as total, avg(dur) as mean, min(utc) as first, null as none from io group by op order by op"
	ask "$JOB" "$query" >rows.csv
	"$STRATA" sql "$JOB" "$query" -o rows.json
	"$STRATA" sql "$JOB" "$query" -o rows.jsonl
	"$STRATA" sql "$JOB" "$query" -o rows.md
	"$STRATA" sql "$JOB" "$query" -o rows.parquet
	/usr/bin/python3 - <<-'END'
		import csv, json
		rows = list(csv.DictReader(open("rows.csv")))
		array, lines = json.load(open("rows.json")), [json.loads(line) for line in open("rows.jsonl")]
		assert array == lines and len(array) == len(rows) > 3
		for row, object in zip(rows, array):
		    assert row["none"] == "" and object["none"] is None
		    assert (row["op"], int(row["n"]), float(row["mean"])) == (object["op"], object["n"], object["mean"])
		    assert int(row["total"]) == object["total"] and row["first"] == object["first"]
		assert len(open("rows.md").readlines()) == len(rows) + 2
	END
	ask --allow-files "$JOB" "from '$T/rows.parquet'" >again.csv
	same "parquet" "$(cat rows.csv)" "$(cat again.csv)"
}

@test "queries from a file and from stdin, several in one, and the first failure ends it" {
	printf 'select 1 as a; -- one\nselect 2 as b;\n.schema mark\n' >queries.sql
	same "file" "$(printf 'a\n1\nb\n2')" "$(ask "$JOB" -i queries.sql | head -4)"
	same "stdin" "$(printf 'a\n1\nb\n2')" "$(ask "$JOB" - <queries.sql | head -4)"
	same "piped" "$(printf 'a\n1\nb\n2')" "$(ask "$JOB" <queries.sql | head -4)"
	same "quotes" "a;b" "$(ask "$JOB" "select 'a;b' as x /* ; */" | tail -1)"
	refuses 1 "nowhere" "$JOB" 'select 1; from nowhere; select 3'
	! grep -q 3 out
	"$STRATA" sql --timing "$JOB" 'select 1' 2>words
	says words "1 row in"
}

@test "the prompt: many lines, completion, history, and a query that Ctrl-C cancels" {
	"$HERE/dialogue.py" "$STRATA" sql "$JOB" -- 'strata> ' 'select 40 + \n' '\.\.\.> ' '2 as ans;\n' '42(.|\n)*strata> ' 'sel\t' 'ect ' \
		'count(*) from range(1000000000000) where hash(range) = 1;\n' '%' '^C' 'interrupted(.|\n)*strata> ' 'half^C' 'strata> ' \
		'select 6 * 7 + 1 as more;\n' '43(.|\n)*strata> ' '.quit\n' >shown
	says "$T/.local/state/strata/sql_history" "ans"
}

@test "Ctrl-C ends a one-shot query with 130" {
	background "$STRATA" sql "$JOB" 'select count(*) from range(1000000000000) where hash(range) = 1'
	sleep 1
	kill -INT $PID
	status=0
	wait $PID || status=$?
	same "exit status" 130 $status
}

@test "without DuckDB: said with the cure, and everything else works" {
	cp "$STRATA" alone
	status=0
	./alone sql "$JOB" 'select 1' >out 2>words || status=$?
	if [ $status = 0 ]; then
		skip "this system has a libduckdb of its own"
	fi
	says words "make deps"
	STRATA_DUCKDB=$T/nothing refuses 1 "$T/nothing" "$JOB" 'select 1'
	STRATA_DUCKDB=/lib/x86_64-linux-gnu/libc.so.6 refuses 1 "duckdb_library_version" "$JOB" 'select 1'
	./alone info "$JOB" >out
	./alone dump "$JOB" io >out
}
