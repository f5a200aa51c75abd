#!/usr/bin/env bats
# Perfetto exports, in Perfetto's own trace processor and viewer.

# bats file_tags=machine
load ../run/lib

WEB=$ROOT/build/npm
export TRACE_PROCESSOR=$WEB/trace-processor

setup_file() {
	need_bpf
	[ -n "$REFUSED" ] || record_training
}

teardown_file() { leave; }

setup() {
	[ -e "$WEB/trace-processor" ] && command -v node >/dev/null || skip "no trace processor: see scripts/fetch-web"
	T=$(realpath "$BATS_TEST_TMPDIR")
	TRAINING=$BATS_FILE_TMPDIR/train.strata
	cd "$T"
}

teardown() { leave; }

# A real job on a cold file system of its own, with marks.
record_training() {
	local disk=$BATS_FILE_TMPDIR/disk mnt=$BATS_FILE_TMPDIR/mnt

	truncate -s 64M "$disk" && mkfs.ext4 -q -F "$disk" && mounted "$mnt" -o loop "$disk" || return
	/usr/bin/python3 "$TRAIN" --prepare "$mnt/data" && umount "$mnt" && mount -o loop "$disk" "$mnt" &&
		"$STRATA" record -q -o "$BATS_FILE_TMPDIR/train.strata" -- sh -c "$STRATA mark begin; /usr/bin/python3 $TRAIN \
			--epochs 1 $mnt/data; $STRATA mark end now" >/dev/null 3>&-
}

training() {
	[ -z "$REFUSED" ] || skip "$REFUSED"
}

odd() {
	"$ROOT/tests/web/odd_rows.py" "$@" | "$ROOT/build/tools/rows_to_run" odd.strata
}

# ask TRACE QUERY: the rows as JSON.
ask() {
	node "$ROOT/tests/web/trace_processor.mjs" "$WEB/trace-processor" "$1" <<<"$2" 2>"$T/node.err" || {
		cat "$T/node.err"
		return 1
	}
}

ERRORS="select name, value from stats where severity in ('error', 'data_loss') and value > 0"

@test "a recorded job: slices, arguments, CPUs, thread states, wakers, counters and flows are those of dump" {
	training
	"$STRATA" export "$TRAINING" -f perfetto -o train.pftrace
	"$ROOT/tests/web/check_perfetto.py" "$TRAINING" train.pftrace
	[ "$(ask train.pftrace "select count(*) > 10 from flow")" = '[[1]]' ]
	[ "$(ask train.pftrace "select count(*) from slice where category = 'mark'")" = '[[2]]' ]
}

@test "io_uring: operations that overlap on a thread are all there, on tracks of their own" {
	training
	RUN=$T/run.strata
	record -- fio --name=uring --filename="$T/file" --size=8m --bs=64k --rw=randread --direct=1 --ioengine=io_uring \
		--iodepth=8 --thread --output="$T/fio"
	[ "$("$STRATA" dump "$RUN" io --columns op | grep -c ^io_uring_read)" -ge 128 ] || skip "no io_uring here"
	"$STRATA" export -q "$RUN" -f perfetto -o uring.pftrace
	"$ROOT/tests/web/check_perfetto.py" "$RUN" uring.pftrace
	[ "$(ask uring.pftrace "select count(distinct track_id) > 1 and count(*) >= 128 from slice join track t on t.id = track_id
		where t.name = 'overlapping calls' and slice.name = 'io_uring_read'")" = '[[1]]' ]
}

@test "odd rows: what overlaps, never ended, is not UTF-8, or spans days" {
	odd
	"$STRATA" export odd.strata -f perfetto -o odd.pftrace
	"$ROOT/tests/web/check_perfetto.py" odd.strata odd.pftrace
}

@test "a reused thread id is two threads" {
	odd
	"$STRATA" export odd.strata -f perfetto -o odd.pftrace
	same "threads numbered 11" '[["new","other",1],["reused","a\\xff b",2]]' "$(ask odd.pftrace \
		"select t.name, p.name, (select count(*) from slice s join thread_track tt on tt.id = s.track_id
			where tt.utid = t.utid and s.depth = 0) from thread t join process p using (upid) where tid = 11 order by 1")"
}

@test "100,000 threads load" {
	odd 100000
	"$STRATA" export odd.strata -f perfetto -o odd.pftrace
	same errors '[]' "$(ask odd.pftrace "$ERRORS")"
	same "threads with a slice" '[[100003]]' \
		"$(ask odd.pftrace "select count(distinct utid) from slice s join thread_track t on t.id = s.track_id")"
}

@test "the ledger: spans of a cause on a track below the focus thread, which add up to what why says" {
	"$ROOT/tests/run/why_rows.py" half | "$ROOT/build/tools/rows_to_run" half.strata
	"$STRATA" export -q half.strata -f perfetto -o half.pftrace
	same errors '[]' "$(ask half.pftrace "$ERRORS")"
	"$STRATA" why --json half.strata >why.json
	sums=$("$STRATA" sql -f csv half.strata "select format('[\"{}\",{}]', cause, sum(dur)) from ledger group by cause order by cause" |
		tail -n +2 | tr -d '"' | sed -E 's/\[([a-z]+)/["\1"/' | paste -sd,)
	same "causes" "[$sums]" "$(ask half.pftrace \
		"select name, sum(dur) from slice where category = 'why' and depth = 0 group by 1 order by 1")"
	# What is inside tells more, and is as long; all of it lies on one track of thread 100.
	same "acts" '[[1]]' "$(ask half.pftrace "select sum(dur) = (select sum(dur) from slice where category = 'why' and depth = 0)
		from slice where category = 'why' and depth = 1")"
	same "track" '[["why",100,1]]' "$(ask half.pftrace "select t.name, tid, count(distinct t.id) from slice s
		join thread_track t on t.id = s.track_id join thread using (utid)
		where category = 'why'")"
	# Neighbours of one cause are one span.
	same "neighbours" '[[0]]' "$(ask half.pftrace "select count(*) from slice a join slice b on b.ts = a.ts + a.dur and a.name = b.name
		where a.category = 'why' and b.category = 'why' and a.depth = b.depth and a.parent_id is b.parent_id")"
}

@test "a window and layers: only those rows" {
	training
	"$STRATA" export "$TRAINING" -f perfetto -e io --from 0.2 --to 1.5 -o part.pftrace
	rows=$("$STRATA" dump "$TRAINING" io --from 0.2 --to 1.5 | wc -l)
	same "slices of io" "[[\"io\",$((rows - 1))]]" \
		"$(ask part.pftrace "select category, count(*) from slice where category != 'mark' group by 1")"
	same "stays" '[[0]]' "$(ask part.pftrace "select count(*) from sched")"
}

@test "runs merge: each is a machine of its own, in UTC" {
	training
	odd
	"$STRATA" export "$TRAINING" odd.strata "$TRAINING" -f perfetto -o merged.pftrace
	"$STRATA" export "$TRAINING" -f perfetto -o one.pftrace
	same errors '[]' "$(ask merged.pftrace "$ERRORS")"
	sums="select count(*), sum(dur) from slice join track t on t.id = track_id"
	one=$(ask one.pftrace "$sums")
	same "slices of the first" "$one" "$(ask merged.pftrace "$sums where t.machine_id = 0")"
	same "slices of the third" "$one" "$(ask merged.pftrace "$sums where t.machine_id = 2")"
	stays="select count(*), sum(dur), max(t.tid) from sched join thread t using (utid)"
	same "stays of the third" "$(ask one.pftrace "$stays")" "$(ask merged.pftrace "$stays where t.machine_id = 2")"
	[ "$(ask merged.pftrace "select min(ts) > 1700000000000000000 from slice")" = '[[1]]' ]
}

@test "no rows: a valid, empty trace and a note" {
	odd
	"$STRATA" export odd.strata -f perfetto --from 100h -o empty.pftrace 2>words
	says words "no rows"
	same errors '[]' "$(ask empty.pftrace "$ERRORS")"
	same slices '[[0]]' "$(ask empty.pftrace "select count(*) from slice")"
}

@test "pfw, plain and gzipped: the slices of dump, in whole microseconds" {
	training
	"$STRATA" export "$TRAINING" -f pfw -o train.pfw
	"$STRATA" export "$TRAINING" -f pfw -o train.pfw.gz
	gzip -t train.pfw.gz
	for file in train.pfw train.pfw.gz; do
		"$ROOT/tests/web/check_pfw.py" "$TRAINING" $file
	done
}

@test "pfw of odd rows: valid JSON and UTF-8, counters, and nothing dropped" {
	odd
	"$STRATA" export odd.strata -f pfw -o odd.pfw
	"$ROOT/tests/web/check_pfw.py" odd.strata odd.pfw
	same counters '[["read [libc.so.6] count",7],["read [libc.so.6] size",100],["read [libc.so.6] time",1.2345679]]' \
		"$(ask odd.pfw "select t.name, sum(value) from counter join counter_track t on t.id = track_id group by 1" |
			sed 's/1\.23456790*/1.2345679/')"
}

@test "Perfetto's viewer shows the tracks" {
	training
	[ -e "$WEB/perfetto-ui" ] && [ -e "$WEB/playwright-core" ] && [ -x /usr/bin/chromium ] ||
		skip "no viewer or browser: see scripts/fetch-web"
	"$STRATA" export "$TRAINING" -f perfetto -o train.pftrace
	disk=$("$STRATA" dump "$TRAINING" block --columns dev | sed -n 2p)
	mkdir -p "$ROOT/build/web"
	node "$ROOT/tests/web/screenshot.mjs" "$WEB" train.pftrace "$ROOT/build/web/train.png" \
		"Cpu 0" "$disk" "all CPUs usr" "read" "python3"
}
