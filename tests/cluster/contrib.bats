#!/usr/bin/env bats
# bats file_tags=machine
# What contrib/ has for Grafana and Prometheus: every expression is of metrics that an agent serves, and a real Prometheus that
# scrapes one answers it.

load ../run/lib
load agent.bash
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

RULES=$ROOT/contrib/prometheus/rules.yml

prometheus_asked() {
	curl -sS "http://127.0.0.1:19392/api/v1/query" --data-urlencode "query=$1" |
		jq -e --arg kind "${2:-data}" '.status == "success" and ($kind == "none" or (.data.result | length > 0))' >/dev/null
}

# The agent's metrics, once a request to a disk is among them.
has_disk() {
	dd if=/dev/urandom of=file bs=1M count=1 conv=fsync status=none
	fetch /metrics >text
	grep -q '^strata_block_latency_seconds_bucket' text
}

@test "the dashboard and the rules ask for what there is, and get it" {
	command -v prometheus >/dev/null || skip "no prometheus"
	promtool check rules "$RULES"
	agent n1 --interval 0.3s
	within 20 intervals 3
	within 20 has_disk
	"$ROOT/tests/cluster/contrib_check.py" text "$ROOT/contrib/grafana/dashboard.json" "$RULES" "$ROOT/src/cluster/metrics.def" >asked
	cp "$RULES" rules.yml
	cat >prometheus.yml <<-END
	global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
	rule_files: [ rules.yml ]
	scrape_configs: [ { job_name: strata, static_configs: [ { targets: ['127.0.0.1:$PORT'] } ] } ]
	END
	background prometheus --config.file=prometheus.yml --storage.tsdb.path="$T/tsdb" \
		--web.listen-address=127.0.0.1:19392 --log.level=warn
	within 30 prometheus_asked 'rate(strata_tasks_started_total[10s])'
	while read -r kind expression; do
		within 20 prometheus_asked "$expression" "$kind"
	done <asked
	within 20 prometheus_asked 'node:strata_run_queue_latency_seconds:p99'
	same "warnings of Prometheus" "" "$(grep -v 'level=info' err)"
}

@test "a metric or label that is not there is found" {
	agent n1 --interval 0.3s
	within 20 intervals 3
	within 20 has_disk
	sed 's/strata_cpu_idle_ratio/strata_cpu_lazy_ratio/' "$ROOT/contrib/grafana/dashboard.json" >dashboard.json
	run ! "$ROOT/tests/cluster/contrib_check.py" text dashboard.json "$RULES" "$ROOT/src/cluster/metrics.def"
	[[ $output == *"strata_cpu_lazy_ratio is not served"* ]]
	sed 's/node, device, le/node, disk, le/' "$RULES" >rules.yml
	run ! "$ROOT/tests/cluster/contrib_check.py" text "$ROOT/contrib/grafana/dashboard.json" rules.yml "$ROOT/src/cluster/metrics.def"
	[[ $output == *"has no label disk"* ]]
}
