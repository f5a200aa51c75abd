#!/usr/bin/env bats
# make demo, on a machine that lets strata record and on one that does not.

load lib

@test "the recording that ships with strata is whole, and of the demo's job" {
	"$STRATA" info tests/data/demo.strata 2>&1 | tee "$BATS_TEST_TMPDIR/info"
	grep -q 'complete$' "$BATS_TEST_TMPDIR/info"
	grep -q 'train.py' "$BATS_TEST_TMPDIR/info"
	[ "$("$STRATA" dump tests/data/demo.strata io --columns path | grep -c 'sample-')" -gt 100 ]
}

@test "where recording is refused, the demo says what is missing and shows that recording" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give up capabilities"
	setpriv --bounding-set -sys_admin,-bpf,-perfmon scripts/demo >"$BATS_TEST_TMPDIR/out" 2>&1
	grep -q 'CAP_BPF' "$BATS_TEST_TMPDIR/out"
	grep -q 'tests/data/demo.strata' "$BATS_TEST_TMPDIR/out"
	grep -q 'sample-' "$BATS_TEST_TMPDIR/out"
}

@test "the demo records a real training job and shows its files" {
	need_bpf
	scripts/demo >"$BATS_TEST_TMPDIR/out" 2>&1
	grep -q 'epoch 2: loss' "$BATS_TEST_TMPDIR/out"
	grep -q 'none lost' "$BATS_TEST_TMPDIR/out"
	grep -q 'Main thread, python3' "$BATS_TEST_TMPDIR/out"
	grep -q 'build/demo/data' "$BATS_TEST_TMPDIR/out"
	grep -q 'build/demo/report.html$' "$BATS_TEST_TMPDIR/out"
	[ -s build/demo/report.html ]
}
