#!/usr/bin/env bats
# bats file_tags=machine
# The agent: what it serves, to whom, what a real Prometheus and a browser make of it, and what it has after it was killed.

load ../run/lib
load agent.bash
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

@test "/metrics is good text and good OpenMetrics, for promtool and for what it does not find" {
	command -v promtool >/dev/null || skip "no promtool"
	agent n1 --interval 0.3s
	within 20 intervals 3
	fetch /metrics -D headers >text
	says headers "^Content-Type: text/plain; version=0.0.4; charset=utf-8"
	promtool check metrics <text
	/usr/bin/python3 "$ROOT/tests/cluster/metrics_check.py" text
	fetch /metrics -D headers -H 'Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1' >open
	says headers "^Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"
	/usr/bin/python3 "$ROOT/tests/cluster/metrics_check.py" open openmetrics
	same "health" "ok" "$(fetch /healthz)"
}

@test "a real Prometheus scrapes without a warning, and its p99 is the agent's own" {
	command -v prometheus >/dev/null || skip "no prometheus"
	background "$W/beat" 500 100 400
	within 10 [ -s out ]
	beat=$(cat out)
	mv out beat.out
	agent n1 --interval 0.3s -p "$beat"
	cat >prometheus.yml <<-END
	global: { scrape_interval: 1s, scrape_timeout: 1s }
	scrape_configs: [ { job_name: strata, static_configs: [ { targets: ['127.0.0.1:$PORT'] } ] } ]
	END
	promtool check config prometheus.yml
	background prometheus --config.file=prometheus.yml --storage.tsdb.path="$T/tsdb" \
		--web.listen-address=127.0.0.1:19391 --log.level=warn
	kill -USR1 "$beat"
	within 30 grep -q done beat.out
	before=$(own intervals_total)
	within 20 intervals $((before + 2))
	within 30 scraped
	asked='histogram_quantile(0.99, sum by (node,le)(strata_run_queue_latency_seconds_bucket))'
	curl -sS http://127.0.0.1:19391/api/v1/query --data-urlencode "query=$asked" >theirs
	fetch /query -G --data-urlencode 'q=select runqlat_p99 from n1' >ours
	/usr/bin/python3 - <<-'END'
	import json
	theirs = float(json.load(open("theirs"))["data"]["result"][0]["value"][1]) * 1e6
	ours = json.load(open("ours"))["nodes"][0]["series"][0]["points"][0]["value"]
	print(theirs, ours)
	assert abs(theirs - ours) < 1e-6 * ours
	END
	same "Prometheus says" "" "$(cat err out)"
}

# The target is up, and the workload's events are in the last scrape.
scraped() {
	curl -sS http://127.0.0.1:19391/api/v1/targets | jq -e '.data.activeTargets[0] | .health == "up" and .lastError == ""' >/dev/null &&
		[ "$(curl -sS http://127.0.0.1:19391/api/v1/query --data-urlencode 'query=strata_run_queue_latency_seconds_count' |
			jq -r '.data.result[0].value[1]')" = "$(fetch /metrics | sed -n 's/^strata_run_queue_latency_seconds_count{.*} //p')" ]
}

@test "the paths and shapes of the first askers" {
	agent n1 --interval 0.3s
	within 20 intervals 3
	fetch /cpu_avg,pidpersec_sum >worker
	jq -e '(.cpu_avg | type == "object" and (keys_unsorted[0] == "0-1") and all(.[]; type == "number")) and (.pidpersec_sum | type == "number")' worker
	fetch /cpu_avg,runqlat_sum/n1 >coordinator
	jq -e '(keys == ["n1"]) and (.n1 | keys == ["cpu_avg", "runqlat_sum"])' coordinator
	fetch /query -G --data-urlencode 'q=select cpu_usr, disk_util from n1' | jq -e '.nodes[0].node == "n1"'
}

@test "a histogram known by construction: sleeps in sclat, reads in iolat, and of the job alone" {
	head -c 4096 /dev/zero >page
	background "$W/beat" 250 50 1500 "$T/page"
	within 10 [ -s out ]
	beat=$(cat out)
	mv out beat.out
	agent n1 --interval 0.3s --metrics all -p "$beat"
	kill -USR1 "$beat"
	within 30 grep -q done beat.out
	before=$(own intervals_total)
	within 20 intervals $((before + 2))
	fetch /metrics >text
	same "reads" 250 "$(sed -n 's/^strata_io_latency_seconds_count{node="n1",op="pread64"} //p' text)"
	same "sleeps" 250 "$(sed -n 's/^strata_syscall_latency_seconds_count{node="n1",op="clock_nanosleep"} //p' text)"
	same "sleeps below 1.024 ms" 0 "$(sed -n 's/^strata_syscall_latency_seconds_bucket{node="n1",op="clock_nanosleep",le="0.001024"} //p' text)"
	same "processes of the job" 1 "$(sed -n 's/^strata_job_processes{.*} //p' text)"
	same "select's count" 250 "$(fetch /query -G --data-urlencode 'q=select iolat_count from n1' |
		jq '[.nodes[0].series[] | select(.label == "pread64") | .points[].value] | add')"
	# CPU time of the job as the kernel has it, to the tick.
	theirs=$(awk '{ print $14 + $15 }' "/proc/$beat/stat")
	ours=$(awk '/^strata_job_(user|system)_seconds_total/ { sum += $2 } END { printf "%d", sum * 100 + 0.5 }' text)
	echo "$theirs $ours"
	[ $((theirs - ours)) -ge -1 ] && [ $((theirs - ours)) -le 2 ]
}

# What is served of the histograms and of pidpersec.
kept() { fetch /metrics | sed -nE 's/^# TYPE (strata_[a-z_]+) histogram$/\1/p; s/^(strata_tasks_started_total)\{.*/\1/p' | sort | xargs; }

# What programs of the agent are in the kernel, by the kernel's own list.
loaded() { bpftool -j prog | jq -r '.[] | select((.name // "") | startswith("live_")) | .name' | sort -u | xargs; }

@test "it keeps what it was asked for, all but sclat by default, and loads nothing for the rest" {
	touch page
	agent n1 --interval 0.2s
	within 20 intervals 2
	head -c 5 page
	[[ $(kept) != *syscall* && $(kept) == *strata_cpu_stay_seconds*strata_io_latency_seconds*strata_run_queue*strata_tasks_started_total* ]]
	same "calls that move no data" "" "$(fetch /metrics | grep -E 'op="(nanosleep|clock_nanosleep|openat|futex)"')"
	kill -TERM "$AGENT"
	within 10 gone "$AGENT"
	agent n2 --interval 0.2s --metrics runqlat
	within 20 intervals 2
	same "kept" "strata_run_queue_latency_seconds" "$(kept)"
	same "loaded" "live_switch live_wakeup live_wakeup_new" "$(loaded)"
	fetch /metrics | grep -q '^strata_cpu_idle_ratio'
}

@test "kill -9 loses at most the interval under way, and the next agent goes on" {
	agent n1 --interval 0.2s
	within 20 intervals 12
	told=$(own intervals_total)
	kill -KILL "$(pgrep -s "$AGENT" -x strata-cluster)"
	within 10 gone "$AGENT"
	same "integrity" ok "$(in_store 'PRAGMA integrity_check')"
	there=$(in_store 'SELECT count(*) FROM interval')
	echo "$told told, $there there"
	[ "$there" -ge "$told" ]
	same "intervals without their samples" 0 "$(in_store 'SELECT count(*) FROM interval i WHERE samples !=
		(SELECT count(*) FROM sample s WHERE s.id >= i.first AND s.id < i.first + i.samples)')"
	last=$(in_store 'SELECT max(id) FROM sample')
	agent n1 --interval 0.2s
	within 20 intervals 2
	same "samples with an id used again" 0 "$(in_store "SELECT count(*) FROM interval WHERE first <= $last AND id > $there")"
	[ "$(in_store 'SELECT count(*) FROM interval')" -gt "$there" ]
	# What is older than asked for goes with the first interval.
	kill -TERM "$AGENT"
	within 10 gone "$AGENT"
	sleep 1
	agent n1 --interval 0.2s --max-age 0.5s
	within 20 intervals 1
	[ "$(in_store 'SELECT count(*) FROM interval')" -le 4 ]
}

@test "a disk that is full does not end the agent" {
	mounted "$T/small" -t tmpfs -o size=160k tmpfs
	background "$STRATA" agent --node n1 --listen 127.0.0.1:0 --store "$T/small/a.db" --interval 0.1s
	AGENT=$PID
	within 20 grep -q 'serving on port' err
	PORT=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' err)
	within 30 unwritten
	says err "full|space"
	same "warnings" 1 "$(grep -c 'the agent goes on' err)"
	fetch /healthz
	mount -o remount,size=20m "$T/small"
	before=$(own intervals_total)
	within 20 intervals $((before + 3))
}

unwritten() {
	[ "$(own unwritten_intervals_total)" -gt 0 ]
}

@test "bad requests get what they deserve, are logged, tell nothing and hold nobody" {
	agent n1 --interval 0.3s
	within 20 intervals 1
	/usr/bin/python3 "$ROOT/tests/cluster/requests.py" "$PORT" refused
	says n1.err "405 to 127.0.0.1: POST /metrics"
	says n1.err "404 to 127.0.0.1"
	[ "$(fetch /metrics | sed -n 's/^strata_agent_http_answers_total{.*code="4xx"} //p')" -ge 15 ]
	/usr/bin/python3 "$ROOT/tests/cluster/requests.py" "$PORT" slow
	/usr/bin/python3 "$ROOT/tests/cluster/requests.py" "$PORT" fuzz 1 "$(size 300 20000)"
	same "health" ok "$(fetch /healthz)"
	for ((i = 0; i < 300; i++)); do echo "url = http://127.0.0.1:$PORT/healthz"; done >many
	curl -s -o /dev/null -w '%{http_code}\n' -K many | sort | uniq -c >codes
	says codes "429"
}

@test "beyond loopback: a token or nothing, and HTTPS with a certificate" {
	run -1 "$STRATA" agent --node n1 --listen 0.0.0.0:0 --store "$T/n1.db"
	[[ $output == *"--token-file"* ]]
	echo 0123456789abcdef0123 >token
	chmod 644 token
	run -1 "$STRATA" agent --node n1 --listen 0.0.0.0:0 --store "$T/n1.db" --token-file token
	[[ $output == *"chmod 600"* ]]
	chmod 600 token
	echo short >short
	chmod 600 short
	run -1 "$STRATA" agent --node n1 --store "$T/n1.db" --token-file short
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	chmod 600 key.pem
	run -1 "$STRATA" agent --node n1 --listen 127.0.0.1:0 --store "$T/n1.db" --cert cert.pem
	agent n1 --listen 0.0.0.0:0 --interval 0.3s --token-file token --cert cert.pem --key key.pem
	url=https://127.0.0.1:$PORT
	same "health needs none" ok "$(curl -s --cacert cert.pem $url/healthz)"
	same "without" 401 "$(curl -s --cacert cert.pem -o answer -w '%{http_code}' $url/metrics)"
	[[ $(cat answer) != *strata_* ]]
	same "wrong" 401 "$(curl -s --cacert cert.pem -o answer -w '%{http_code}' -H 'Authorization: Bearer 0123456789abcdef0124' $url/metrics)"
	same "right" 200 "$(curl -s --cacert cert.pem -o answer -w '%{http_code}' -H 'Authorization: Bearer 0123456789abcdef0123' $url/metrics)"
	run ! curl -s --cacert cert.pem --tls-max 1.1 --ciphers 'DEFAULT:@SECLEVEL=0' $url/healthz
	run ! curl -s --max-time 5 "http://127.0.0.1:$PORT/healthz"
	says n1.err "401 to"
	! grep -q 0123456789abcdef n1.err
}

@test "the page in Chromium: draws, asks nobody else, and takes the token" {
	command -v chromium >/dev/null || skip "chromium is not installed"
	[ -d "$ROOT/build/npm/playwright-core" ] || skip "no playwright-core: make test-deps"
	mkdir -p "$ROOT/build/web"
	agent n1 --interval 0.5s
	node "$ROOT/tests/cluster/page.mjs" "$ROOT/build/npm" "http://127.0.0.1:$PORT/" "$ROOT/build/web/agent.png" >shown
	jq -e '.node == "n1" and (.cpu | test("^[0-9]+ %$")) and .bars > 3 and .lost == "0"' shown
	echo 0123456789abcdef0123 >token
	chmod 600 token
	agent n2 --interval 0.5s --token-file token
	node "$ROOT/tests/cluster/page.mjs" "$ROOT/build/npm" "http://127.0.0.1:$PORT/" "$ROOT/build/web/agent-token.png" 0123456789abcdef0123
}

@test "no rights are left once it measures, and none are given to who has none" {
	agent n1 --interval 0.3s
	cluster=$(pgrep -s "$AGENT" -x strata-cluster)
	# Root keeps CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER; no thread has more.
	same "capabilities" 000000000000000e "$(cat /proc/"$cluster"/task/*/status | awk '/^CapPrm/ { print $2 }' | sort -u)"
	open_folder
	cp "$ROOT/build/strata-cluster" "$OPEN/"
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$OPEN/strata" agent --store "$OPEN/x.db"
	[[ $output == *"CAP_BPF"* ]]
	# A strata that its file gives rights runs the strata-cluster that root installed, never one beside a link to it.
	printf '#!/bin/sh\necho taken\n' >"$OPEN/strata-cluster"
	setcap cap_bpf,cap_perfmon+ep "$OPEN/strata"
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$OPEN/strata" agent --store "$OPEN/x.db"
	[[ $output == *"whole machine"* ]]
	chgrp 65534 "$OPEN/strata"
	chmod 750 "$OPEN/strata"
	setcap cap_bpf,cap_perfmon+ep "$OPEN/strata"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$OPEN/strata" agent -h
	[[ $output != *taken* ]]
	[ -e /usr/local/libexec/strata/strata-cluster ] || [[ $output == *"runs '/usr/local/libexec/strata/strata-cluster' alone"* ]]
	rm "$OPEN/strata-cluster"
	run -1 "$OPEN/strata" agent
	[[ $output == *"not beside strata"* ]]
}

@test "wrong options are said" {
	run -2 "$STRATA" agent --node 'n1"}'
	run -2 "$STRATA" agent --interval 1ms
	run -2 "$STRATA" agent -p 99999999
	run -2 "$STRATA" agent now
	run -2 "$STRATA" agent --metrics cpudist,sclot
	[[ $output == *"did you mean 'sclat'"* ]]
	run -2 "$STRATA" agent --metrics cpudist,
	run -1 "$STRATA" agent --listen nowhere:1 --store "$T/x.db"
	[[ $output == *"no address to listen on"* ]]
	run -1 "$STRATA" agent --store "$T/none/x.db"
	echo "no database at all, but text of some length, more than a header has bytes; and more of it, and more of it" >text
	run -1 "$STRATA" agent --store "$T/text"
	[[ $output == *"not a database"* ]]
}
