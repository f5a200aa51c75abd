#!/usr/bin/env bats
# .pfw.gz files on a real Dask cluster: a scheduler and two workers of their own, as contrib/dask uses them.

load ../run/lib

DASK=$ROOT/contrib/dask
PYTHON=/usr/bin/python3

setup_file() { need_bpf; }
setup() {
	$PYTHON -c 'import distributed, pandas, matplotlib' 2>/dev/null || skip "no Dask: python3-distributed"
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$ROOT/tests/data/demo.strata
	cd "$T"
	"$STRATA" export -q "$RUN" -f pfw -o one.pfw.gz
	"$STRATA" export -q "$RUN" -f pfw -o two.pfw
}

teardown() { leave; }

# cluster: a scheduler, whose address is in $SCHEDULER, and two workers. A nanny's processes, killed as these are, would leave
# semaphores in /dev/shm.
cluster() {
	background $PYTHON -m distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 --no-dashboard \
		--scheduler-file "$T/scheduler.json"
	within 60 test -s scheduler.json
	SCHEDULER=$(jq -r .address scheduler.json)
	for worker in 1 2; do
		background $PYTHON -m distributed.cli.dask_worker "$SCHEDULER" --nthreads 1 --no-nanny --no-dashboard \
			--local-directory "$T/worker$worker"
	done
}

@test "the group-by of a cluster is that of dump" {
	cluster
	timeout 120 $PYTHON "$DASK/analyze.py" --scheduler "$SCHEDULER" --interval 0.1 --csv tables --plot run.png \
		one.pfw.gz two.pfw >words
	"$ROOT/tests/web/check_dask.py" "$RUN" 2 tables
	says words "functions by time"
	[ "$(head -c 4 run.png | tail -c 3)" = PNG ]
}

# found TABLE CONDITION: calls and bytes of a table of analyze.py, where the condition of awk holds for its columns.
found() {
	/usr/bin/python3 -c 'import csv, sys
rows = [row for row in csv.DictReader(open(f"tables/{sys.argv[1]}.csv")) if eval(sys.argv[2], {}, row)]
print(sum(int(row["count"]) for row in rows), sum(int(row["bytes"]) for row in rows))' "$1" "$2"
}

in_sql() { "$STRATA" sql -f csv "$OWN" "$1" | sed 1d | tr , ' '; }

@test "functions, what ran inside them, and counters in both dialects are as strata sql tells them" {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	cat >app.c <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			static char room[512];
			FILE *file = fopen(argv[argc - 1], "r");
			while (fread(room, 1, sizeof(room), file) > 0)
				;
			return fclose(file);
		}
	END
	gcc -O2 -o app app.c
	head -c 1000000 /dev/urandom >data
	OWN=$T/own.strata
	"$STRATA" record -q -o "$OWN" --scope job --call libc.so.6:fopen,fread,fclose -- ./app data 3>&-
	"$STRATA" export -q "$OWN" -f pfw -o own.pfw.gz
	"$STRATA" export -q "$OWN" -f pfw --dialect datacrumbs --interval 10ms -o counted.pfw.gz
	cluster
	timeout 120 $PYTHON "$DASK/analyze.py" --scheduler "$SCHEDULER" --csv tables own.pfw.gz >words
	same "freads" "$(in_sql "select count(*), sum(bytes) from call where func = 'fread'")" "$(found functions 'name == "fread" and cat == "libc.so.6"')"
	same "reads inside freads" "$(in_sql "select calls - 1, bytes from levels where operation = 'fread' and level = 'system call'")" \
		"$(found inside 'outer == "fread" and name == "read"')"
	same "of the file" "$(in_sql "select count(*), sum(returned) from io where path = '$T/data'")" \
		"$(found inside 'outer == "fread" and name == "read"')"
	for way in datacrumbs aggregate; do
		if [ $way = aggregate ]; then
			"$STRATA" record -q -o agg.strata -e io,fs --scope job --aggregate 10ms --call libc.so.6:fopen,fread,fclose -- ./app data 3>&-
			"$STRATA" export -q agg.strata -f pfw -o counted.pfw.gz
		fi
		grep -c . <(zcat counted.pfw.gz | grep '"ph":"C"') >lines
		[ "$(cat lines)" -ge 5 ]
		timeout 120 $PYTHON "$DASK/analyze.py" --scheduler "$SCHEDULER" --csv tables counted.pfw.gz >words
		same "$way: freads" "$(in_sql "select count(*), sum(bytes) from call where func = 'fread'")" "$(found functions 'name == "fread"')"
		same "$way: reads" "$(in_sql "select count(*), sum(returned) from io where op = 'read'")" "$(found functions 'name == "read"')"
		same "$way: opens" "$(in_sql "select count(*), 0 from fs where op = 'openat'")" "$(found functions 'name == "openat"')"
	done
}

@test "the notebook runs from its first cell to its last, with the same numbers" {
	command -v jupyter-nbconvert >/dev/null || skip "no jupyter-nbconvert"
	cp "$DASK"/analyze.ipynb "$DASK"/strata_dask.py .
	STRATA_PFW="$T/one.pfw.gz" timeout 200 jupyter-nbconvert --to notebook --execute --output done.ipynb analyze.ipynb \
		2>nbconvert.err || { cat nbconvert.err; return 1; }
	calls=$("$STRATA" dump "$RUN" io --columns op | grep -cx read)
	jq -r '.cells[].outputs[]?.data["text/plain"]? // empty | if type == "array" then join("") else . end' done.ipynb >outputs
	grep -qE "POSIX +read +$calls |read +$calls " outputs
	[ "$(jq '[.cells[].outputs[]?.data["image/png"]? | select(.)] | length' done.ipynb)" = 1 ]
}
