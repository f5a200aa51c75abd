#!/usr/bin/env bats
# fio's own totals of requests and bytes, and its percentiles of their times, equal those of the rows of its data file.

# bats file_tags=quiet
load lib
load disks
setup_file() { need_bpf; }
setup() {
	enter
	command -v fio >/dev/null || skip "fio is not installed"
	DATA=$T/data
	head -c 16M /dev/urandom >"$DATA" # there already, so that fio does not lay it out itself
}
teardown() { leave; }

# run_fio ENGINE FIO-ARGS...: records fio's work on $DATA; what fio measured is in fio.json.
run_fio() {
	record -e "${LAYERS:-io}" -- $FIRST fio --name=job --filename="$DATA" --size="${SIZE:-4M}" --overwrite=1 --fallocate=none \
		--ioengine="$1" --bs=4k --randseed=7 --lat_percentiles=1 --clat_percentiles=1 --percentile_list=50:90:99 \
		--output-format=json --output="$T/fio.json" "${@:2}"
	no_loss
}

# same_totals READ-OP WRITE-OP: as many rows, and bytes, as fio counts.
same_totals() {
	local direction op

	for direction in read write; do
		op=$1
		[ $direction = read ] || op=$2
		rows io "path == '$DATA' and op == '$op'" returned >returned
		same "$direction bytes" "$(jq "[.jobs[].$direction.io_bytes] | add" fio.json)" \
			"$(awk '{ n += $1 } END { print n + 0 }' returned)"
		same "$direction requests" "$(jq "[.jobs[].$direction.total_ios] | add" fio.json)" \
			"$(wc -l <returned)"
	done
	same "other calls on the data file" 0 "$(count io "path == '$DATA' and op not in ('$1', '$2')")"
}

# check ENGINE READ-OP WRITE-OP FIO-ARGS...
check() {
	run_fio "$1" "${@:4}"
	same_totals "$2" "$3"
}

# Which of fio's times means the same as ours:
#   io, engines that call and wait (psync): `dur` is the call; fio's clat is read before and after the call, and it knows
#       no slat.
#   io, engines with a queue (libaio, io_uring): `dur` is from submission to completion; fio's clat begins when the
#       submitting call has returned, so it is lat, which begins before that call. fio must submit each on its own
#       (iodepth_batch 1, the default), or lat has the time in which it gathers a batch.
#   block, on a device that does its work inside the call (zram): a bio that takes long is nearly all of the call: clat.
#   block, elsewhere: fio has no such time. clat has the way to the device and the wake-up too, so it is a bound.
# Ranks of single operations are noise, so there are thousands. And fio goes first at the scheduler: a thread that has used
# up its share leaves the CPU on the way out of a call, which fio's times have in them and the call's own have not.

# On a busy machine single runs differ at the 99th percentile, most likely by what disturbs fio between a completion and
# its look at the clock: one attempt of some must agree in all percentiles.
ATTEMPTS=8

# check_times ENGINE FIGURE READ-OP WRITE-OP FIO-ARGS...: counts, bytes and percentiles of time as fio has them.
check_times() {
	local attempt times

	for ((attempt = 0; attempt < ATTEMPTS; attempt++)); do
		rm -f "$RUN"
		FIRST="chrt -f 1" SIZE=16M run_fio "$1" --rw=randrw "${@:5}"
		same_totals "$3" "$4"
		times=$("$HERE/latencies.py" "$RUN" fio.json io read "$2" "path == '$DATA' and op == '$3'"
			"$HERE/latencies.py" "$RUN" fio.json io write "$2" "path == '$DATA' and op == '$4'")
		[ -n "$times" ] || return 0
	done
	same "times that differ, in the last of $ATTEMPTS attempts" "" "$times"
}

@test "sync, sequential read" { check sync read write --rw=read; }
@test "sync, mixed" { check sync read write --rw=rw --rwmixread=70; }
@test "psync, random read" { check psync pread64 pwrite64 --rw=randread; }
@test "psync, random mixed, two jobs" { check psync pread64 pwrite64 --rw=randrw --numjobs=2; }
@test "psync, two threads" { check psync pread64 pwrite64 --rw=randwrite --numjobs=2 --thread; }
# Deeper queues put neighbouring requests into one vector, and then fio's own totals leave some out.
@test "vsync, mixed" { check vsync readv writev --rw=rw --iodepth=1; }
@test "pvsync, random mixed" { check pvsync preadv pwritev --rw=randrw; }
@test "pvsync2, random mixed" { check pvsync2 preadv2 pwritev2 --rw=randrw; }

@test "sync: percentiles of time, cached" { check_times sync clat read write --direct=0; }
@test "psync: percentiles of time, cached" { check_times psync clat pread64 pwrite64 --direct=0; }
@test "psync: percentiles of time, direct" { check_times psync clat pread64 pwrite64 --direct=1; }

# on_disk MAKER: the data file on ext4 on a device that MAKER makes.
on_disk() {
	command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is not installed"
	"$1" 64M
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$DISK"
	mounted "$T/disk" -t ext4 "$DISK"
	DATA=$T/disk/data
	head -c 16M /dev/urandom >"$DATA"
	sync
}

# check_block RULE FIO-ARGS...: percentiles of the requests or bios of the data file against those of the calls, as RULE
# (see latencies.py) says; of the directions that fio went.
check_block() {
	local attempt direction times

	for ((attempt = 0; attempt < ATTEMPTS; attempt++)); do
		rm -f "$RUN"
		FIRST="chrt -f 1" LAYERS=io,block SIZE=16M run_fio psync --direct=1 "${@:2}"
		times=$(for direction in $(jq -r '.jobs[0] | ("read", "write") as $d | select(.[$d].total_ios > 0) | $d' fio.json); do
			"$HERE/latencies.py" "$RUN" fio.json block $direction clat \
				"path == '$DATA' and op == '${direction:0:1}'.upper()" "$1"
		done)
		[ -n "$times" ] || return 0
	done
	same "times that differ, in the last of $ATTEMPTS attempts" "" "$times"
}

# Packing what cannot be packed is what takes the time.
@test "psync, direct: percentiles of the time of bios to a device that works inside the call" {
	on_disk bio_disk
	check_block most --rw=randwrite --bs=64k --io_size=256M --norandommap --refill_buffers
}

@test "psync, direct: no percentile of the time of requests is longer than that of the calls around them" {
	on_disk disk
	check_block within --rw=randrw
}

@test "libaio: percentiles of time, direct" { check_times libaio lat aio_pread aio_pwrite --direct=1 --iodepth=8; }
@test "libaio: percentiles of time, one at a time" { check_times libaio lat aio_pread aio_pwrite --direct=1 --iodepth=1; }
@test "libaio: percentiles of time, cached" { check_times libaio lat aio_pread aio_pwrite --direct=0 --iodepth=1; }
# One at a time: a row of io_uring ends when its completion is posted, and with more of them fio comes late to look.
@test "io_uring: percentiles of time, direct" { check_times io_uring lat io_uring_read io_uring_write --direct=1 --iodepth=1; }
@test "io_uring: percentiles of time, cached" { check_times io_uring lat io_uring_read io_uring_write --direct=0 --iodepth=1; }
