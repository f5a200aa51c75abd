#!/usr/bin/env bats
# fio's own totals of requests and bytes equal the rows of its data file.

load lib
setup_file() { need_bpf; }
setup() {
	enter
	command -v fio >/dev/null || skip "fio is not installed"
	head -c 4M /dev/urandom >data # there already, so that fio does not lay it out itself
}
teardown() { leave; }

# check ENGINE READ-OP WRITE-OP FIO-ARGS...
check() {
	local engine=$1 read_op=$2 write_op=$3 direction op

	shift 3
	record -e io -- fio --name=job --filename="$T/data" --size=4M --overwrite=1 --fallocate=none \
		--ioengine="$engine" --bs=4k --randseed=7 --output-format=json --output="$T/fio.json" "$@"
	for direction in read write; do
		op=$read_op
		[ $direction = read ] || op=$write_op
		rows io "path == '$T/data' and op == '$op'" returned >returned
		same "$direction bytes" "$(jq "[.jobs[].$direction.io_bytes] | add" fio.json)" \
			"$(awk '{ n += $1 } END { print n + 0 }' returned)"
		same "$direction requests" "$(jq "[.jobs[].$direction.total_ios] | add" fio.json)" \
			"$(wc -l <returned)"
	done
	same "other calls on the data file" 0 \
		"$(count io "path == '$T/data' and op not in ('$read_op', '$write_op')")"
	no_loss
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
