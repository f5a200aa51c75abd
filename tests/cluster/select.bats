#!/usr/bin/env bats
# strata select: three agents, asked directly, through a coordinator and via ClickHouse: the same numbers. And one that is down,
# one that is slow, and questions that nobody understands.

load ../run/lib
load shards

# Agents n1 to n3 and c, which coordinates, on ports from $AGENTS on; n1's job sleeps and spins fixed times.
setup_file() {
	need_bpf
	need_clickhouse
	[ -z "$REFUSED" ] || return 0
	shards_start 1
	export AGENTS
	AGENTS=$(free_ports 5)
	cat >"$FOLDER/nodes.ini" <<END
[nodes]
n1 = 127.0.0.1:$((AGENTS + 1))
n2 = 127.0.0.1:$((AGENTS + 2))
n3 = 127.0.0.1:$((AGENTS + 3))
END
	cp "$FOLDER/nodes.ini" "$FOLDER/some.ini"
	echo "n4 = 127.0.0.1:$((AGENTS + 4))" >>"$FOLDER/some.ini"
	agent c 0 --coordinate "$FOLDER/nodes.ini"
	for i in 1 2 3; do
		agent n$i $i --push "$SHARDS" --push-every 1s --metrics all
	done
	for i in 0 1 2 3; do
		within 20 curl -sf -o /dev/null "http://127.0.0.1:$((AGENTS + i))/healthz"
	done
	sleep 4
	# Everything is asked up to here.
	export UNTIL
	UNTIL="until '$(date -u -d '-1 second' +%FT%TZ)'"
	within 20 pushed
}

# agent NODE NUMBER OPTIONS...
agent() {
	(
		setsid "$STRATA" agent --node "$1" --listen 127.0.0.1:$((AGENTS + $2)) --store "$FOLDER/$1.db" --interval 0.2s "${@:3}" \
			>"$FOLDER/$1.out" 2>&1 3>&- </dev/null &
		echo $! >>"$FOLDER/agents"
	)
}

# All samples of that time are there.
pushed() {
	[ "$(ask 1 "SELECT countIf(last > toUnixTimestamp(now()) * 1000000000 - 2000000000) FROM (SELECT node, max(time) AS last FROM \
		metric GROUP BY node)")" = 3 ] && sleep 2.5
}

teardown_file() {
	xargs -a "$FOLDER/agents" kill 2>/dev/null
	xargs -a "$FOLDER/agents" -n 1 sh -c 'while kill -0 "$0" 2>/dev/null; do sleep 0.05; done'
	shards_stop
}
setup() { enter; need_clickhouse; }
teardown() { leave; }

direct() { "$STRATA" select --nodes "$FOLDER/nodes.ini" "$@"; }

# The same question three ways, as CSV.
same_numbers() {
	direct -f csv "$1 $UNTIL" >direct
	"$STRATA" select --coordinator 127.0.0.1:"$AGENTS" -f csv "$1 $UNTIL" >coordinator
	"$STRATA" select --via "$SHARDS" -f csv "$1 $UNTIL" >via
	same "through the coordinator: $1" "$(cat direct)" "$(cat coordinator)"
	same "via ClickHouse: $1" "$(cat direct)" "$(cat via)"
	[ "$(wc -l <direct)" -gt "$2" ]
}

@test "the first client's questions: the same numbers from agents, a coordinator and ClickHouse" {
	same_numbers 'select cpu_avg from n1,n2,n3' 12
	same_numbers 'select cpu_avg,cpu_sum from n1,n3' 12
	same_numbers 'select cpu_avg,pidpersec_avg,runqlat_avg,runqlat_sum from n1,n2,n3' 20
	grep -qE '^n3,pidpersec_avg,' direct
}

@test "counts, means, quantiles and figures, in windows: the same numbers" {
	same_numbers 'cpudist_count,cpudist_mean,runqlat_p50,runqlat_p90,runqlat_p99,cpudist_max,pidpersec_sum from *' 20
	same_numbers 'select runqlat_p99,cpudist_count,sclat_count from n2 over 2s every 1s' 3
	same_numbers "select cpu_avg from n1,n2,n3 where comm = 'strata-cluster'" 3
}

@test "the quantile is Prometheus' own, of the same buckets" {
	command -v promtool >/dev/null || skip "there is no promtool"
	direct -f json "runqlat_sum,runqlat_p50,runqlat_p90,runqlat_p99 from n1 $UNTIL" >answer
	/usr/bin/python3 - answer >rules.yml <<'END'
import json, sys

series = {s["metric"]: s["points"][0] for s in json.load(open(sys.argv[1]))["nodes"][0]["series"]}
slots = series["runqlat_sum"]["slots"]
print("evaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:")
total = 0
for slot in range(35):
    total += slots[slot] if slot < len(slots) else 0
    print(f"  - {{series: 'x_bucket{{le=\"{2 ** (slot + 1)}\"}}', values: '{total}'}}")
print(f"  - {{series: 'x_bucket{{le=\"+Inf\"}}', values: '{sum(slots)}'}}")
print("  promql_expr_test:")
for q in (50, 90, 99):
    print(f"  - {{expr: 'abs(histogram_quantile(0.{q}, x_bucket) - {series[f'runqlat_p{q}']['value']!r}) < bool 1e-6', "
          "eval_time: 0s, exp_samples: [{labels: '{}', value: 1}]}")
END
	promtool test rules rules.yml
}

@test "a node that is down or slow is named, the others answer" {
	run -1 --separate-stderr "$STRATA" select --nodes "$FOLDER/some.ini" -f csv 'pidpersec_avg from *'
	[[ $stderr == *"node n4: http://127.0.0.1:$((AGENTS + 4))"* ]]
	same "nodes that answered" "n1 n2 n3" "$(tail -n +2 <<<"$output" | cut -d, -f1 | sort -u | xargs)"
	background /usr/bin/python3 -c "import socket, time; s = socket.create_server(('127.0.0.1', $((AGENTS + 4)))); time.sleep(60)"
	within 10 eval "(: </dev/tcp/127.0.0.1/$((AGENTS + 4))) 2>/dev/null"
	run -1 --separate-stderr "$STRATA" select --nodes "$FOLDER/some.ini" --timeout 1s -f csv 'pidpersec_avg from *'
	[[ $stderr == *"did not answer in time"* ]]
	same "nodes that answered" "n1 n2 n3" "$(tail -n +2 <<<"$output" | cut -d, -f1 | sort -u | xargs)"
}

@test "the first client's shapes: asterisks, rules, and what Python shows" {
	direct -f original "select cpu_avg,pidpersec_sum from n1,n2 $UNTIL" >out
	/usr/bin/python3 - out <<'END'
import ast, re, sys

blocks = re.split(r"\n\*{20} (n\d) \*{20}\n", open(sys.argv[1]).read())
assert blocks[0] == "" and blocks[1::2] == ["n1", "n2"], blocks
for block in blocks[2::2]:
    found = re.fullmatch(r"\ncpu_avg :\n={52}\n(.*)\n={52}\n\npidpersec_sum :\n={52}\n(.*)\n={52}\n", block)
    slots = ast.literal_eval(found[1])
    assert list(slots)[:3] == ["0-1", "2-3", "4-7"] and all(isinstance(v, float) for v in slots.values()), slots
    assert isinstance(ast.literal_eval(found[2]), int), found[2]
END
}

@test "at the prompt: questions one after another, with history" {
	HOME=$T XDG_STATE_HOME=$T/state /usr/bin/python3 "$HERE/dialogue.py" "$STRATA" select --nodes "$FOLDER/nodes.ini" -f csv -- \
		'select> ' 'select pidpersec_sum from n1\n' '(?s)n1,pidpersec_sum.*select> ' 'select cpu_avg fron n1\n' \
		"(?s)'from' is expected here.*select> " 'quit\n' >out || { cat out; return 1; }
	grep -q 'select pidpersec_sum from n1' "$T/state/strata/select_history" || grep -q 'pidpersec_sum' "$T/state/strata/select_history"
	printf 'select pidpersec_sum from n1\nselect cpu_sum from n2\n' | direct -f csv >out
	grep -q '^n1,pidpersec_sum' out
	grep -q '^n2,cpu_sum' out
}

@test "bad input: unknown metrics and nodes get the list, bad grammar a caret" {
	run -2 direct 'select cpu_agv from n1'
	[[ $output == *"there is no metric 'cpu_agv'"*runqlat* ]]
	run -1 direct 'select cpu_avg from n9'
	[[ $output == *"there is no node 'n9': known are n1, n2, n3"* ]]
	run -1 "$STRATA" select --via "$SHARDS" 'select cpu_avg from n9'
	[[ $output == *"there is no node 'n9': known are n1, n2, n3"* ]]
	run -1 "$STRATA" select --coordinator 127.0.0.1:"$AGENTS" 'select cpu_avg from n9'
	[[ $output == *"there is no node 'n9'"* ]]
	run -2 direct 'select cpu_avg from n1 wehre pid = 3'
	same "a caret" '                         ^' "${lines[2]}"
	run -2 "$STRATA" select 'select cpu_avg from n1'
	[[ $output == *"select needs nodes"* ]]
}

@test "sql --via: the samples and the tables in ClickHouse's SQL, which only reads" {
	same "nodes" '"n1","n2","n3"' "$("$STRATA" sql --via "$SHARDS" -f csv 'SELECT DISTINCT node FROM metric ORDER BY node' | tail -3 | paste -sd,)"
	"$STRATA" sql --via "$SHARDS" -f json 'SELECT node, count() AS samples FROM metric GROUP BY node' | jq -e 'length == 3 and .[0].samples > 0'
	run -1 "$STRATA" sql --via "$SHARDS" 'DROP TABLE metric'
	[[ $output == *refused*"readonly"* ]] || [[ $output == *refused*"Code: 164"* ]]
}
