#!/usr/bin/env bats
# What strata writes appears whole or not at all, replaces no device, follows no link and overwrites no input.

load lib

setup_file() {
	need_bpf
	[ -n "$REFUSED" ] || "$STRATA" record -q -o "$BATS_FILE_TMPDIR/run.strata" --scope job -- cat /etc/hostname >/dev/null
}

setup() {
	enter
	cp "$BATS_FILE_TMPDIR/run.strata" run.strata 2>/dev/null || true
	cp run.strata second.strata
	before=$(sha256sum <run.strata)
	export TMPDIR=$T/tmp
	mkdir "$TMPDIR"
}

teardown() { leave; }

# unharmed: the trace is what it was, and nothing unfinished lies about.
unharmed() {
	same "trace" "$before" "$(sha256sum <run.strata)"
	same "left behind" "" "$(ls -A . tmp | grep -v '\.strata$' | grep -E '\.[a-z0-9A-Z]{6}$|strata-sql' || true)"
}

@test "no command overwrites what it reads, under any of its names" {
	ln run.strata hard.strata
	ln -s run.strata soft.strata
	mkdir folder
	ln run.strata folder/io.csv
	for name in run.strata ./run.strata hard.strata soft.strata; do
		for command in "report --html $name" "report --svg $name" "diff --html $name second.strata" \
			"dump -o $name" "export -f perfetto -o $name" "export -f pfw -o $name" "export -f read -o $name"; do
			set -- $command
			table=
			[ "$1" != dump ] || table=io
			run "$STRATA" "$@" run.strata $table
			[ "$status" != 0 ] || { echo "$command succeeded"; return 1; }
			unharmed
		done
		for name2 in "-f csv" "-f parquet"; do
			run "$STRATA" sql $name2 -o "$name" run.strata 'select 1'
			[ "$status" != 0 ]
			unharmed
		done
	done
	run -1 "$STRATA" export -f csv -o folder run.strata
	unharmed
	cp run.strata log
	"$STRATA" report --log log --html log run.strata && return 1
	cmp run.strata log
	run -125 "$STRATA" record --force --log log -o log -- true
	cmp run.strata log
	echo 'select 1' >query
	run -1 "$STRATA" sql -i query -o query run.strata
	same "query" "select 1" "$(cat query)"
}

@test "a link in the way is replaced, not followed" {
	for command in "report --html page" "report --svg page" "diff --html page second.strata" "dump -o page" \
		"sql -f csv -o page" "sql -f parquet -o page" "export -f pfw -o page" "record --force -o page --"; do
		echo precious >victim
		ln -sf "$T/victim" page
		set -- $command
		case $1 in
		dump) set -- "$@" run.strata io ;;
		sql) set -- "$@" run.strata 'select 1 as one' ;;
		record) set -- "$@" true ;;
		*) set -- "$@" run.strata ;;
		esac
		"$STRATA" "$@" 2>words || { echo "$command failed"; cat words; return 1; }
		same "$command: behind the link" precious "$(cat victim)"
		[ ! -L page ] && [ -s page ]
		unharmed
	done
}

@test "what cannot be written whole leaves what was there" {
	for command in "report --html page" "diff --html page second.strata" "sql -o page" "dump -o page" "export -f perfetto -o page"; do
		echo old >page
		set -- $command
		[ "$1" != dump ] || set -- "$@" run.strata fs
		[ "$1" != sql ] || set -- "$@" run.strata 'select repeat(path, 1000) from fs, fs as other'
		[ "${*: -1}" != page ] && [ "${*: -1}" != second.strata ] || set -- "$@" run.strata
		status=0
		(ulimit -f 1 && trap '' XFSZ && exec "$STRATA" "$@") >/dev/null 2>words || status=$?
		[ $status != 0 ] || { echo "$command succeeded"; return 1; }
		same "$command" old "$(cat page)"
		unharmed
	done
	echo old >page
	run -1 "$STRATA" sql -o page run.strata 'select 1; select nothing'
	same "a failed query" old "$(cat page)"
}

@test "a device is never replaced; a trace may go to /dev/null" {
	mknod null c 1 3
	for force in "" --force; do
		status=0
		"$STRATA" record $force -o null -- sh -c 'exit 3' 2>words || status=$?
		same "exit status" 3 $status
		same "kind" "character special file" "$(stat -c %F null)"
		run -127 "$STRATA" record $force -o null -- ./nowhere
		same "kind, nothing run" "character special file" "$(stat -c %F null)"
	done
	mkfifo pipe
	for what in pipe /dev/stdout; do
		run -125 "$STRATA" record --force -o $what -- touch ran
		says <(echo "$output") "is no file"
	done
	same "kind" fifo "$(stat -c %F pipe)"
	[ ! -e ran ]
	[ -L /dev/stdout ]
	for command in "report --html" "report --svg" "dump -o" "sql -o" "export -f pfw -o"; do
		set -- $command null run.strata
		[ "$1" != dump ] || set -- "$@" io
		[ "$1" != sql ] || set -- "$@" 'select 1'
		"$STRATA" "$@" 2>words
		same "$command: kind" "character special file" "$(stat -c %F null)"
	done
	"$STRATA" report --html /dev/stdout run.strata >page 2>words
	"$STRATA" report --html page2 run.strata 2>words
	cmp page page2
	[ -L /dev/stdout ]
}

@test "what does not fit into memory goes to a private folder, which is gone afterwards" {
	query="SET memory_limit = '40MB'; SET threads = 1; CREATE TABLE numbers AS SELECT range AS i, hash(range) AS h FROM range(3000000);
		SELECT count(*) FROM (SELECT * FROM numbers ORDER BY h OFFSET 10)"
	mkdir victim
	# strata has the id of the shell that guesses its folder's name. Under ASan: nobody else can look for leaks while strace looks.
	ASAN_OPTIONS=detect_leaks=0 strace -f -o calls -e trace=mkdir,openat sh -c 'ln -s "$PWD/victim" "$TMPDIR/strata-sql-$$"
		exec "$STRATA" sql --allow-files -f csv run.strata "$0"' "$query" >rows 2>words
	same "sorted" 2999990 "$(tail -1 rows)"
	rm "$TMPDIR"/strata-sql-[0-9]*[0-9]
	folder=$(sed -n 's/.*mkdir("\(.*\)", 0700) *= 0/\1/p' calls)
	[[ $folder == "$TMPDIR"/strata-sql-* ]]
	says calls "openat.*\"$folder/.*O_CREAT" # something did not fit
	same "files elsewhere" "" "$(grep -E "openat.*\"$TMPDIR/.*O_CREAT" calls | grep -v "\"$folder/" || true)"
	unharmed
	run -1 "$STRATA" sql run.strata 'select nothing'
	unharmed
}
