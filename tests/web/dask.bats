#!/usr/bin/env bats
# .pfw.gz files on a real Dask cluster: a scheduler and two workers of their own, as contrib/dask uses them.

load ../run/lib

DASK=$ROOT/contrib/dask
PYTHON=/usr/bin/python3

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
