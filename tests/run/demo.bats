#!/usr/bin/env bats
# make demo, on a machine that lets strata record and on one that does not.

load lib

OUT=$BATS_TEST_TMPDIR/out

@test "the recording that ships with strata is whole, and of the demo's job" {
	"$STRATA" info tests/data/demo.strata 2>&1 | tee "$BATS_TEST_TMPDIR/info"
	grep -q 'complete$' "$BATS_TEST_TMPDIR/info"
	grep -q 'train.py --jpeg --mark .*--workers 1' "$BATS_TEST_TMPDIR/info"
	[ "$("$STRATA" dump tests/data/demo.strata io --columns path | grep -c 'sample-')" -gt 100 ]
	[ "$(stat -c %s tests/data/demo.strata)" -lt 400000 ]
}

@test "where recording is refused, the demo says what is missing and shows that recording" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give up capabilities"
	setpriv --bounding-set -sys_admin,-bpf,-perfmon scripts/demo >"$OUT" 2>&1
	says "$OUT" 'CAP_BPF'
	says "$OUT" 'tests/data/demo.strata'
	says "$OUT" '^  --> '
	says "$OUT" 'waited [0-9.]+ of [0-9.]+ s for its data loader'
}

# pointed_at: the line that the demo points at is one of the report's, with the time that its JSON has.
pointed_at() {
	line=$(sed -n 's/^  --> //p' "$OUT")
	[ -n "$line" ]
	"$STRATA" report --section overview "$1" | grep -qF -- "$line"
	seconds=$("$STRATA" report --json "$1" | jq '.run.figures.main_workers_ns / 1e9')
	echo "$line: $seconds"
	awk -v line="$line" -v s="$seconds" 'BEGIN { match(line, /[0-9.]+ s /); d = substr(line, RSTART) - s; exit d * d > 1e-4 * s * s }'
}

@test "the line that it points at is found by its figure, whatever its words are" {
	scripts/show-wait tests/data/demo.strata >"$OUT"
	pointed_at tests/data/demo.strata
	cat >"$BATS_TEST_TMPDIR/strata" <<-EOS
		#!/bin/sh
		case \$* in *--json*) exec "$STRATA" "\$@" ;; esac
		"$STRATA" "\$@" | sed 's/^  [a-z][^0-9]*  /  in other words  /'
	EOS
	chmod +x "$BATS_TEST_TMPDIR/strata"
	STRATA=$BATS_TEST_TMPDIR/strata scripts/show-wait tests/data/demo.strata >"$BATS_TEST_TMPDIR/other"
	same "figures" "$(grep -oE '[0-9.]+ (s|ms) .*' "$OUT")" "$(grep -oE '[0-9.]+ (s|ms) .*' "$BATS_TEST_TMPDIR/other")"
	says "$BATS_TEST_TMPDIR/other" '^  --> in other words'
}

@test "the demo records a real training job, shows its epochs and what it waits for, and what one worker more changes" {
	need_bpf
	[ -z "$REFUSED" ] || skip "$REFUSED"
	DEMO_EPOCHS=2 scripts/demo >"$OUT" 2>&1
	says "$OUT" 'epoch 1: loss'
	says "$OUT" '^Main thread, python3'
	says "$OUT" '^ +epoch 1 '
	says "$OUT" 'build/demo/data'
	pointed_at build/demo/one-worker.strata
	[ "$(nproc)" = 1 ] || says "$OUT" '^B: build/demo/two-workers.strata'
	says "$OUT" 'build/demo/report.html '
	[ -s build/demo/report.html ]
	same "what is lost" "" "$("$STRATA" dump build/demo/one-worker.strata loss --columns reason | grep -vx -e reason -e 'string cut')"
}
