#!/usr/bin/env bats
# What strata push sends to a current ClickHouse: the statements, settings and bytes, taken by npm's chdb, an engine of today. It has
# no server: chdb_server.mjs stands before it. Skipped where chdb was not fetched (make soak does).

load ../run/lib
load shards
load questions

DEMO=$ROOT/tests/data/demo.strata
CHDB=${CHDB:-$ROOT/build/chdb/node_modules}

setup() {
	T=$(realpath "$BATS_TEST_TMPDIR")
	cd "$T" || return 1
	export HOME=$T
	[ -d "$CHDB/chdb" ] && [ -d "$CHDB/@chdb" ] || skip "chdb is not fetched"
	PORT=$(free_ports 2)
	U=http://127.0.0.1:$PORT
	background node "$ROOT/tests/cluster/chdb_server.mjs" "$CHDB" "$T" "$PORT"
	within 30 curl -sf -o /dev/null "$U/ping"
}
teardown() { leave; }

every_row() {
	"$ROOT/tests/cluster/same_rows.py" "$STRATA" "$DEMO" "$U" demo demo >rows || { cat rows; return 1; }
	same "rows of table io" 8642 "$(ask 1 'SELECT count() FROM io')"
}

@test "a current engine takes tables, views and rows, with what old servers lack" {
	"$STRATA" push -q --spool spool --to "$U" "$DEMO"
	every_row
	same "sums" "$("$STRATA" sql -q -f csv "$DEMO" 'select count(*), sum(dur), sum(returned) from io' | tail -1)" \
		"$(ask 1 'SELECT count(), sum(dur), sum(returned) FROM io FORMAT CSV')"
	run "$ROOT/tests/cluster/same_views.py" "$STRATA" "$DEMO" "$U" demo demo file_io process_io op_time latency slowest opens \
		block_file cache_miss runq wait_time stall_time
	echo "$output"
	[ "$status" = 0 ]
	ask 1 'SHOW CREATE TABLE io' >made
	says made 'CODEC\(Delta\(8\), ZSTD\(1\)\)'
	says made 'LowCardinality\(Nullable\(String\)\)'
	says made 'non_replicated_deduplication_window = 10000'
	same "gates, which it needs none of" "" "$(ask 1 "SELECT name FROM system.tables WHERE name LIKE 'gate%'")"
	same "tables of more than one part or partition" "" "$(ask 1 "SELECT table FROM system.parts WHERE active AND database = 'strata' \
		GROUP BY table HAVING count() != 1 OR uniqExact(partition) != 1")"
	questions_answered
}

@test "its tokens: requests cut, delivered late or answered into the void, every row once" {
	local proxy=$((PORT + 1))

	background "$ROOT/tests/cluster/rough_proxy.py" "$proxy" "$PORT" "$RANDOM" 0.2
	within 10 curl -s -o /dev/null "http://127.0.0.1:$proxy/ping"
	for _ in 1 2 3 4 5; do
		"$STRATA" push -q --spool spool --to "http://127.0.0.1:$proxy" --batch 2000 --timeout 1s --wait 120s "$DEMO" && break
	done
	sleep 2.5 # what is still on its way arrives
	kill "$PID"
	within 5 grep -q good out
	says out 'late|mute'
	every_row
}
