#!/usr/bin/env bats
# Block requests against the kernel's own statistics of a device that the test has for itself, against fio, and against
# what is known of the files and processes behind them.

load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# file_system TYPE [OPTION...]: on a new disk, mounted on $T/disk. $MAKE_DISK makes it: disk, or bio_disk.
file_system() {
	local options

	command -v "mkfs.$1" >/dev/null || skip "mkfs.$1 is not installed"
	"${MAKE_DISK:-disk}" 512M
	case $1 in
	ext4) options="-q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard" ;;
	xfs) options="-q -K" ;;
	btrfs) options="-q -K" ;;
	esac
	"mkfs.$1" $options "$DISK"
	mounted "$T/disk" -t "$@" "$DISK" || skip "no file system $1 in this kernel"
	within 30 idle
}

# Whether the device has done nothing for a while.
idle() {
	local before

	sync
	before=$(cat "/sys/block/$NAME/stat")
	sleep 0.4
	[ "$before" = "$(cat "/sys/block/$NAME/stat")" ]
}

# reading: the device's counters, and after them the time: nothing may go on meanwhile.
reading() {
	cat "/sys/block/$NAME/stat"
	boot_ns
}

# disk_delta BEFORE AFTER: requests and sectors of each operation between two readings.
disk_delta() {
	paste <(head -1 "$1" | xargs -n1) <(head -1 "$2" | xargs -n1) | awk '{ d[NR] = $2 - $1 }
		END { print "R", d[1], d[3]; print "W", d[5], d[7]; print "D", d[12], d[14]; print "F", d[16] }'
}

# watched CMD...: records the machine while CMD runs; the kernel's counters in `before` and `after`, what the trace has
# of that time in `found`.
watched() {
	record_background -a -e block
	within 30 idle
	reading >before
	"$@"
	within 30 idle
	reading >after
	kill -INT "$PID"
	within 10 gone "$PID"
	"$HERE/requests.py" "$RUN" "$NAME" "$(tail -1 before)" "$(tail -1 after)" >found
	no_loss
}

# counted CMD...: the same, and both must be equal.
counted() {
	watched "$@"
	same "requests and sectors of $NAME" "$(disk_delta before after)" "$(cat found)"
}

# Every way to a disk: written back, forced out, direct, read cold, erased.
work() {
	local i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		head -c 300K /dev/urandom >"disk/small$i"
	done
	dd if=/dev/urandom of=disk/large bs=1M count=24 status=none
	sync
	dd if=/dev/urandom of=disk/synced bs=8k count=20 oflag=dsync status=none
	dd if=/dev/urandom of=disk/direct bs=64k count=40 oflag=direct status=none
	dd if=/dev/urandom of=disk/large bs=4k count=50 seek=100 conv=notrunc,fsync status=none
	umount disk
	mount "$DISK" disk
	cat disk/small* disk/large disk/synced disk/direct >/dev/null
	dd if=disk/direct of=/dev/null bs=16k iflag=direct status=none
	rm disk/small* disk/large
	sync
	fstrim disk
}

# check_counts TYPE [OPTION...]
check_counts() {
	file_system "$@"
	counted work
	[ "$(count block "dev == '$NAME' and op == 'R'")" -gt 50 ]
	[ "$(count block "dev == '$NAME' and op == 'W' and bytes > 0")" -gt 50 ]
	[ "$(count block "dev == '$NAME' and op == 'F' and bytes == 0 and sync")" -gt 5 ]
	[ "$(count block "dev == '$NAME' and op == 'D' and bytes > 0 and file is None")" -gt 0 ]
	[ "$(count block "dev == '$NAME' and meta")" -gt 0 ]
	# A request that was not seen to end has no answer.
	same "errors" 0 "$(count block "error not in (0, None) or (dur is not None and error is None)")"
}

@test "ext4: requests and bytes of every operation as the kernel counts them" { check_counts ext4; }
@test "xfs: requests and bytes of every operation as the kernel counts them" { check_counts xfs; }
@test "btrfs: requests and bytes of every operation as the kernel counts them" { check_counts btrfs; }

@test "the time of all requests is what the kernel accounts to the device" {
	command -v fio >/dev/null || skip "fio is not installed"
	disk 64M
	watched fio --name=job --filename="$DISK" --rw=randrw --bs=16k --size=32M --ioengine=libaio --iodepth=4 --direct=1 \
		--randseed=7 --output=/dev/null
	read -r reads writes <<<"$(paste <(head -1 before | xargs -n1) <(head -1 after | xargs -n1) |
		awk '{ d[NR] = $2 - $1 } END { print d[4], d[8] }')"
	same "times that differ" "" "$("$HERE/requests.py" "$RUN" "$NAME" times "$reads" "$writes")"
}

@test "merged requests count once: many writes side by side through a scheduler that merges" {
	command -v fio >/dev/null || skip "fio is not installed"
	disk 64M
	echo mq-deadline >"/sys/block/$NAME/queue/scheduler" || skip "no mq-deadline in this kernel"
	echo 1 >"/sys/block/$NAME/queue/rq_affinity"
	counted fio --name=job --filename="$DISK" --rw=write --bs=4k --size=32M --ioengine=libaio --iodepth=64 \
		--iodepth_batch=16 --direct=1 --numjobs=2 --offset_increment=4k --output=/dev/null
	[ "$(awk 'NR == 1 { print $6 }' after)" -gt "$(awk 'NR == 1 { print $6 }' before)" ] ||
		skip "nothing was merged"
}

@test "zeroing is a write, erasing a discard" {
	disk 16M
	counted blkdiscard -o 0 -l 4M "$DISK"
	same "discard" "D 4194304 0" "$(rows block "dev == '$NAME' and op in 'WD'" op,bytes,sector | tr '\t' ' ')"
	rm "$RUN"
	counted blkdiscard -z -o 4M -l 1M "$DISK"
	same "bytes zeroed" "W 1048576" "$(rows block "dev == '$NAME' and op in 'WD'" op,bytes | sort |
		awk '{ n[$1] += $2 } END { for (op in n) print op, n[op] }')"
}

@test "a write that fails carries the error" {
	mounted "$T/tiny" -t tmpfs -o size=1m tmpfs
	disk 16M "$T/tiny"
	counted sh -c "! dd if=/dev/zero of=$DISK bs=256k count=16 oflag=direct"
	[ "$(count block "dev == '$NAME' and op == 'W' and error == -28 and comm == 'dd'")" -ge 1 ]
	[ "$(count block "dev == '$NAME' and op == 'W' and error == 0")" -ge 1 ]
}

# cold TYPE: 100 files of odd sizes, read in random order from an empty cache.
cold() {
	local i

	file_system "$1"
	mkdir disk/set
	for i in $(seq 100); do
		head -c $((65536 + RANDOM * 4 + i)) /dev/urandom >"disk/set/$i"
	done
	umount disk
	mount "$DISK" disk
	record "${@:2}" -- sh -c 'shuf -e "$@" | xargs cat >/dev/null' sh "$T"/disk/set/*
	same "files of reads" "" "$("$HERE/requests.py" "$RUN" "$NAME" files "$T/disk/set")"
	# All reads of files by the reader.
	same "who" cat "$(rows block "dev == '$NAME' and op == 'R' and '/set/' in (path or '')" comm | sort -u)"
	share=$("$STRATA" info --json "$RUN" | jq '.block | .file_bytes / .bytes')
	says <("$STRATA" info "$RUN") "block: .* the file known for $(awk "BEGIN { print int($share * 100) }")"
	no_loss
}

@test "ext4: cold reads of 100 files in random order carry the right file" { cold ext4; }
@test "xfs: cold reads of 100 files in random order carry the right file" { cold xfs; }
@test "btrfs: cold reads of 100 files in random order carry the right file" { cold btrfs; }
@test "files are known without the layers io and fs" { cold ext4 -e block; }

@test "a device without requests: bios and bytes as the kernel counts them" {
	MAKE_DISK=bio_disk file_system ext4
	watched work
	same "bios and sectors of $NAME" "$(disk_delta before after | grep '^[RW]')" \
		"$(grep '^[RW]' found)" # zram counts no discards
	same "bios with a time in a queue" 0 "$(count block "dev == '$NAME' and queued is not None")"
	[ "$(count block "dev == '$NAME' and op == 'R'")" -gt 50 ]
	[ "$(count block "dev == '$NAME' and op == 'W' and bytes > 0")" -gt 50 ]
	[ "$(count block "dev == '$NAME' and op == 'D' and bytes > 0 and file is None")" -gt 0 ]
	[ "$(count block "dev == '$NAME' and meta")" -gt 0 ]
	same "bios without a CPU, or with an error" 0 "$(count block "dev == '$NAME' and (cpu is None or error)")"
}

@test "a device without requests: cold reads of 100 files in random order carry the right file" {
	MAKE_DISK=bio_disk cold ext4
}

@test "a device without requests: a bio that fails carries the error" {
	bio_disk 16M
	echo 1M >"/sys/block/$NAME/mem_limit"
	watched sh -c "! dd if=/dev/urandom of=$DISK bs=256k count=16 oflag=direct"
	[ "$(count block "dev == '$NAME' and op == 'W' and error == -5 and comm == 'dd'")" -ge 1 ]
	[ "$(count block "dev == '$NAME' and op == 'W' and error == 0")" -ge 1 ]
}

# check_fio TYPE FIO-ARGS...: bytes of the data file as fio counts them.
check_fio() {
	local direction

	command -v fio >/dev/null || skip "fio is not installed"
	file_system "$1"
	head -c 16M /dev/urandom >disk/data
	sync
	record -e io,fs,block -- fio --name=job --filename="$T/disk/data" --size=16M --overwrite=1 --fallocate=none \
		--randseed=7 --output-format=json --output="$T/fio.json" "${@:2}"
	for direction in read write; do
		rows block "dev == '$NAME' and path == '$T/disk/data' and op == '${direction:0:1}'.upper()" bytes >bytes
		same "$direction bytes" "$(jq "[.jobs[].$direction.io_bytes] | add" fio.json)" \
			"$(awk '{ n += $1 } END { print n + 0 }' bytes)"
	done
	# Threads that io_uring makes inside a process are of that process.
	same "who" fio "$(rows block "dev == '$NAME' and path == '$T/disk/data'" comm | grep -v '^iou-' | sort -u)"
	no_loss
}

@test "fio, direct, ext4, psync" { check_fio ext4 --direct=1 --rw=randrw --bs=16k --ioengine=psync; }
@test "fio, direct, xfs, psync" { check_fio xfs --direct=1 --rw=randrw --bs=16k --ioengine=psync; }
@test "fio, direct, btrfs, psync" { check_fio btrfs --direct=1 --rw=randrw --bs=16k --ioengine=psync; }
@test "fio, direct, ext4, libaio" { check_fio ext4 --direct=1 --rw=randrw --bs=4k --ioengine=libaio --iodepth=8; }
@test "fio, direct, xfs, io_uring" { check_fio xfs --direct=1 --rw=randrw --bs=4k --ioengine=io_uring --iodepth=8; }
@test "fio, direct, ext4, into shared memory" { check_fio ext4 --direct=1 --rw=randread --bs=16k --mem=mmapshared; }
@test "fio, direct, ext4 on a device without requests, psync" {
	MAKE_DISK=bio_disk check_fio ext4 --direct=1 --rw=randrw --bs=16k --ioengine=psync
}
@test "fio, direct, ext4 on a device without requests, io_uring" {
	MAKE_DISK=bio_disk check_fio ext4 --direct=1 --rw=randrw --bs=16k --ioengine=io_uring --iodepth=8
}
@test "fio, buffered, ext4: cold reads" { check_fio ext4 --rw=read --bs=64k --invalidate=1; }
@test "fio, buffered, xfs: writes, and their fsync" { check_fio xfs --rw=write --bs=64k --end_fsync=1; }

# later TYPE: what the kernel writes after the writer has gone is of the file, under its new name, and of the writer. Somebody
# else's sync meanwhile makes requests of its own: then it is done again.
later() {
	file_system "$1"
	cat >write.py <<-'PYTHON'
		import mmap, os, sys
		folder = sys.argv[1]
		with open(f"{folder}/temporary", "wb") as f:
		    f.write(os.urandom(1 << 20))
		os.rename(f"{folder}/temporary", f"{folder}/written")
		with open(f"{folder}/mapped", "wb+") as f:
		    f.truncate(1 << 20)
		    with mmap.mmap(f.fileno(), 0) as m:
		        m[:] = os.urandom(1 << 20)
		print(os.getpid())
	PYTHON
	for _ in {1..5}; do
		rm -rf "$RUN" "$T"/disk/written "$T"/disk/mapped
		sync
		record_background -a -e io,fs,mem,block
		writer=$(/usr/bin/python3 write.py "$T/disk")
		sync
		within 30 idle
		kill -INT "$PID"
		within 10 gone "$PID"
		[ "$(count fs "op in ('sync', 'syncfs')")" -gt 1 ] || break
	done
	for name in written mapped; do
		rows block "dev == '$NAME' and op == 'W' and path == '$T/disk/$name'" pid,bytes >found
		same "who wrote $name" "$writer" "$(cut -f1 found | sort -u)"
		same "bytes of $name" 1048576 "$(awk '{ n += $2 } END { print n }' found)"
	done
	same "lost requests" "" "$(rows loss "layer == 'block'")" # others' calls are recorded too
}

@test "ext4: what is written back later, by the kernel, has its file and its writer" { later ext4; }
@test "xfs: what is written back later, by the kernel, has its file and its writer" { later xfs; }
@test "btrfs: what is written back later, by the kernel, has its file and its writer" { later btrfs; }
@test "a device without requests: what is written back later has its file and its writer" {
	MAKE_DISK=bio_disk later ext4
}

@test "--scope job: the requests of the job alone; by default those of the machine" {
	file_system ext4
	head -c 1M /dev/urandom >disk/mine
	head -c 1M /dev/urandom >disk/other
	sync
	for scope in "" "--scope job"; do
		rm -f "$RUN" go
		mkfifo go
		record_background $scope -e io,fs,block -- \
			sh -c 'dd if=disk/mine of=/dev/null bs=64k iflag=direct status=none; read -r x <go'
		dd if=disk/other of=/dev/null bs=64k iflag=direct status=none
		echo >go
		within 10 gone "$PID"
		same "bytes of the job" 1048576 "$(rows block "dev == '$NAME' and path == '$T/disk/mine'" bytes |
			awk '{ n += $1 } END { print n }')"
		same "bytes of others ($scope)" "$([ -n "$scope" ] && echo 0 || echo 1048576)" \
			"$(rows block "dev == '$NAME' and path == '$T/disk/other'" bytes | awk '{ n += $1 } END { print n + 0 }')"
	done
}
