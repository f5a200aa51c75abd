# What the run tests share. A test file begins with `load lib` and calls these from its hooks:
#
#     setup_file() { need_bpf; }
#     setup() { enter; }
#     teardown() { leave; }
#
# Inside a test $T is a temporary folder of its own, $RUN the trace that `record` writes there, $W the folder
# of the workloads and $STRATA the program under test. Processes started with `background`, mounts made with
# `mounted` and all that is written down with `undo` are gone after the test, whether it passes, fails or is killed.

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
STRATA=${STRATA:-$ROOT/build/strata}
W=${WORKLOADS:-$ROOT/build/workloads}
HERE=$ROOT/tests/run
TRAIN=$ROOT/tests/workloads/train.py
export STRATA PYTHONDONTWRITEBYTECODE=1

# Skips the file's tests, with the reason, where the kernel refuses what a recording needs; fails where strata
# cannot record although the kernel would let it.
need_bpf() {
	local words

	export REFUSED=
	if [ "$(id -u)" != 0 ]; then
		REFUSED="needs root"
	elif ! words=$("$STRATA" record -o "$BATS_FILE_TMPDIR/probe.strata" -- true 2>&1); then
		if REFUSED=$("$HERE/bpf_allowed.py" 2>&1); then
			echo "$words" >&2
			return 1
		fi
	fi
}

enter() {
	[ -z "$REFUSED" ] || skip "$REFUSED"
	T=$(realpath "$BATS_TEST_TMPDIR")
	RUN=$T/run.strata
	cd "$T" || return 1
}

# Ends what the test, or the hook of the file, has begun, and takes back what it has done.
leave() {
	local pid

	for pid in ${STARTED:-}; do
		pkill -KILL -s "$pid"
	done
	wait 2>/dev/null
	[ -z "${STRATA_SUITE:-}" ] || [ -z "${T:-}" ] || keep_runs
	cd /
	"$ROOT/tests/outside-state" undo "$(journal)"
}

# The recordings of a test are kept until all suites have ended: run-suites looks at what must be true of every one.
keep_runs() {
	local run

	for run in "$T"/*.strata; do
		[ ! -f "$run" ] || [ -h "$run" ] || ln "$run" "${STRATA_SUITE%/*}/runs/$(basename "$BATS_TEST_FILENAME")-$BATS_TEST_NUMBER-${run##*/}" || true
	done 2>/dev/null
}

journal() {
	echo "${STRATA_SUITE:-$BATS_RUN_TMPDIR}/undo-$(basename "$BATS_TEST_FILENAME")-${BATS_TEST_NUMBER:-file}"
}

# undo CMD...: to be run when the test ends, the last one first. Written to a file, which run-suites finds when the test
# was killed: so CMD is a program, no function, and is right when there is nothing to undo.
undo() {
	echo "${@@Q}" >>"$(journal)"
}

# background CMD...: starts CMD, in a session of its own, which ends with the test; its id is in $PID, its standard
# output in $T/out, standard error in $T/err.
background() {
	# A shell lets what it starts in the background ignore INT and QUIT; that is undone.
	setsid env --default-signal=INT,QUIT "$@" >"$T/out" 2>"$T/err" 3>&- </dev/null &
	PID=$!
	STARTED="$PID ${STARTED:-}"
}

# mounted DIR ARGS...: mount ARGS... DIR, until the test ends.
mounted() {
	mkdir -p "$1"
	undo sh -c '! mountpoint -q "$0" || umount -l "$0"' "$1"
	mount "${@:2}" "$1"
}

# open_folder: a folder, $OPEN, that any user can enter and write to, with the program; $T and the source may be closed.
open_folder() {
	OPEN=$(mktemp -d /tmp/strata-test.XXXXXX)
	undo rm -rf "$OPEN"
	cp "$STRATA" "$OPEN/strata"
	chmod 777 "$OPEN"
}

# within SECONDS CMD...: waits until CMD succeeds; generous, for liveness only.
within() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		if [ $SECONDS -gt $end ]; then
			echo "never true: $*"
			return 1
		fi
		sleep 0.05
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# record ARGS...: strata record into $RUN; strata's own words go to $T/words.
record() {
	"$STRATA" record -o "$RUN" "$@" 2>"$T/words" 3>&-
}

# record_background ARGS...: the same in the background, ready when this returns.
record_background() {
	background "$STRATA" record -o "$RUN" "$@"
	within 20 armed
}

# A recording that has begun has written its first chunk: facts and the first reading of the clocks.
armed() {
	[ "$("$STRATA" dump "$RUN" clock 2>/dev/null | wc -l)" -gt 1 ]
}

# rows TABLE [CONDITION [COLUMNS]]: see rows.py. Failing to read must not look like finding nothing.
rows() {
	"$HERE/rows.py" "$RUN" "$@" || {
		echo "ROWS CANNOT BE READ"
		return 1
	}
}

count() {
	"$HERE/rows.py" "$RUN" "$1" "${2:-True}" table >"$T/counted" || {
		echo "ROWS CANNOT BE READ"
		return 1
	}
	wc -l <"$T/counted"
}

# same WHAT EXPECTED FOUND: the assertion of these tests; says what differs.
same() {
	if [ "$2" != "$3" ]; then
		printf '%s: expected (-), found (+)\n' "$1"
		diff -U1 <(echo "$2") <(echo "$3") | tail -n +3 | head -40
		[ ! -s "$T/words" ] || cat "$T/words"
		return 1
	fi
}

# says FILE PATTERN: FILE has a line that matches.
says() {
	grep -qiE -- "$2" "$1" || {
		printf 'nothing like "%s" in:\n' "$2"
		cat "$1"
		return 1
	}
}

# Nothing was lost: a count that is right by luck is no count. Anybody on the machine may start a program with more arguments
# than are kept; that is counted, and no matter here.
no_loss() {
	same "rows of loss" "" "$(rows loss "not (layer == 'process' and reason == 'string cut')")"
}

# All there is of a finished trace can be read.
readable() {
	"$STRATA" info "$RUN" >"$T/info" 2>"$T/info.err" || {
		cat "$T/info.err"
		return 1
	}
	rows process >/dev/null
}

# No BPF object is new since `before` that no process holds, and still there a moment later: the kernel frees them with some
# delay, and others on this machine come and go.
no_new_orphans() {
	"$ROOT/tests/outside-state" all bpf | comm -13 before - >new
	sleep 0.5
	"$ROOT/tests/outside-state" all bpf | comm -12 new - >left
	[ ! -s left ]
}

# size SHORT FULL: how much of it; FULL with FAULTS=full, as `make soak` has it.
size() {
	if [ "${FAULTS:-}" = full ]; then echo "$2"; else echo "$1"; fi
}

# figure WORDS...: a line for docs/reliability.md, to the file $FAULTS_LOG.
figure() {
	echo "$*" >>"${FAULTS_LOG:-/dev/null}"
}

# boot_ns: now, on the clock of ts.
boot_ns() {
	/usr/bin/python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_BOOTTIME))'
}
