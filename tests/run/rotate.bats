#!/usr/bin/env bats
# Recordings that must stay small: they stop at a limit, or go on in new files and drop the oldest, each a trace by itself.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

# rotated N ARGS...: records the job of N reads, and looks at each file: in $FILES, in order.
rotated() {
	record --rotate "${@:2}" -- /usr/bin/python3 "$ROOT/tests/workloads/rotate.py" "$T/work" "$1"
	[ ! -e "$RUN" ]
	FILES=("${RUN%.strata}".*.strata)
	for RUN in "${FILES[@]}"; do
		"$STRATA" info --json "$RUN" >info.json
		same "complete, damage" "true null" "$(jq -r '"\(.complete) \(.damage)"' info.json)"
		same "lost in $RUN" 0 "$(jq .lost info.json)"
	done
}

# Every row of every file has its path and the name of its thread.
names_are_there() {
	for RUN in "${FILES[@]}"; do
		"$STRATA" dump "$RUN" io --columns path,comm,ts,tid,op >rows
		same "rows of io without a name in $RUN" "" "$(grep -E '^,|^[^,]*,,' rows | head -5)"
		same "names of the thread that took one at the beginning, in $RUN" "" \
			"$(grep "^$T/work/steady," rows | cut -d, -f2 | grep -vx named-early | sort -u)"
		"$STRATA" dump "$RUN" fs --columns comm,path,op,returned,ts,tid >rows
		same "rows of fs without a name in $RUN" "" "$(grep -E '^,|^[^,]*,,close,0' rows | head -5)"
	done
}

# reads: the positions of the reads of the file that was opened once, of all files, in order of time.
reads() {
	for RUN in "${FILES[@]}"; do
		"$STRATA" dump "$RUN" io --columns op,requested,path,pos,ts
	done | sed -n "s|^pread64,1,$T/work/held,||p" | sort -t, -k2n | cut -d, -f1
}

@test "old files are dropped: all together stay below the limit, what is left is whole and has its names" {
	count=$(size 600000 8000000)
	rotated "$count" --scope job -e io,fs --max-size "$(size 1M 4M)"
	names_are_there
	[ "${#FILES[@]}" -ge 2 ]
	# A recorder under TSan is slower than the job: what is on its way when a file is full may be more than there is room for.
	[[ $STRATA == */tsan/* ]] || [ "$(cat "${FILES[@]}" | wc -c)" -le "$(size 1048576 4194304)" ]
	reads >kept
	first=$(head -1 kept)
	[ "$first" -gt 0 ]
	same "reads since the first that is kept" "$(seq "$first" $((count - 1)) | md5sum)" "$(md5sum <kept)"
	# What was dropped is counted: each file tells it, and record too.
	"$STRATA" info --json "${FILES[-1]}" >info.json
	same "files, kept and dropped" "$(jq .segment info.json)" $((${#FILES[@]} + $(jq .dropped_segments info.json)))
	[ "$(jq .dropped_rows info.json)" -ge "$first" ]
	figure "rotation: $count reads in $(jq .segment info.json) files, ${#FILES[@]} kept with $(cat "${FILES[@]}" | wc -c) bytes," \
		"$(jq .dropped_rows info.json) rows dropped and counted; each of the $(wc -l <kept) reads kept has its names"
	says words "$(jq .dropped_segments info.json) before them, with .* rows, were dropped"
	"$STRATA" info "${FILES[-1]}" >info
	says info "segment: .* were dropped"
	"$STRATA" info --json "${FILES[0]}" >info.json
	says info.json "goes on in the next file"
}

@test "nothing is lost or told twice between files" {
	rotated 200000 --scope job -e io,fs --max-size 1M
	[[ $STRATA == */tsan/* ]] || [ "${#FILES[@]}" -ge 2 ]
	names_are_there
	same "reads" "$(seq 0 199999 | md5sum)" "$(reads | md5sum)"
	forks=0 exits=0 reads=0
	for RUN in "${FILES[@]}"; do
		forks=$((forks + $(count process "event == 'fork' and pid == tid")))
		exits=$((exits + $(count process "event == 'exit' and pid == tid")))
		reads=$((reads + $("$STRATA" dump "$RUN" io --columns op,requested,path | grep "^pread64,5,$T/work/held" | wc -l)))
	done
	same "forks, exits, reads of children" "100 101 100" "$forks $exits $reads"
}

@test "SQL over all files is SQL over the recording" {
	[ -e "$ROOT/build/libduckdb.so" ] || skip "no DuckDB: make deps"
	rotated 200000 --scope job -e io --max-size 1M
	same "reads in SQL" 200000 "$("$STRATA" sql "${FILES[@]}" -f csv \
		"select count(*) from io where op = 'pread64' and requested = 1 and path = '$T/work/held' and comm = 'python3'" | tail -1)"
}

@test "all layers, the whole machine: each file has the names of its threads" {
	rotated 200000 --max-time 2s --interval 100ms
	[ "${#FILES[@]}" -ge 2 ]
	for RUN in "${FILES[@]}"; do
		"$STRATA" dump "$RUN" process --columns tid,event | cut -d, -f1
	done | sort -u >known
	for RUN in "${FILES[@]}"; do
		# A thread on its way out has no name any more, and of some that nobody may look at none is ever told.
		"$STRATA" dump "$RUN" process --columns event,tid,ts | sed -n 's/^exit,//p' >>exits
		"$STRATA" dump "$RUN" sched --columns tid,ts,comm >stays
		[ "$(wc -l <stays)" -gt 10 ]
		same "stays of threads without a name in $RUN" "" "$(awk -F, 'FILENAME == "known" { known[$1] = 1; next }
			FILENAME == "exits" { exit_ts[$1] = $2; next }
			FNR > 1 && $3 == "" && $1 in known && !($1 in exit_ts && $2 >= exit_ts[$1])' known exits stays | head -5)"
		"$STRATA" report "$RUN" >report
	done
}

@test "files of an earlier series are not taken for this one's" {
	touch run.000007.strata
	run -125 record --rotate --max-size 1M -- touch ran
	says words "run.000007.strata' exists.*--force"
	[ ! -e ran ]
	record --force --rotate --max-size 1M -- touch ran
	same files "run.000001.strata" "$(echo run.*.strata)"
}

@test "a limit of size: the recording stops, the job goes on, info tells why" {
	run -7 record --scope job -e io --max-size 200K -- sh -c '/usr/bin/python3 "$0" work 400000; echo done >ended; exit 7' \
		"$ROOT/tests/workloads/rotate.py"
	[ -e ended ]
	"$STRATA" info --json "$RUN" >info.json
	same "why" "size limit reached (--max-size)" "$(jq -r .stop_reason info.json)"
	same "complete" true "$(jq .complete info.json)"
	[ "$(stat -c %s "$RUN")" -ge $((200 * 1024)) ]
	[ "$(stat -c %s "$RUN")" -lt $((1024 * 1024)) ]
	# Up to the end nothing is missing.
	FILES=("$RUN")
	reads >kept
	same "reads" "$(seq 0 $(($(wc -l <kept) - 1)) | md5sum)" "$(md5sum <kept)"
}

@test "a limit of time" {
	run -7 record --max-time 300ms -- sh -c 'sleep 1; touch ended; exit 7'
	[ -e ended ]
	same "why" "time limit reached (--max-time)" "$("$STRATA" info --json "$RUN" | jq -r .stop_reason)"
	run -2 record --rotate -- true
	says words "--rotate needs --max-size or --max-time"
}
