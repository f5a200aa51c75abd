#!/usr/bin/env bats
# What a read found in the page cache, on a file system that has one (tmpfs is its own cache).

load lib
setup_file() { need_bpf; }

setup() {
	enter
	[ "$(stat -f -c %T .)" != tmpfs ] || skip "the temporary folder is a tmpfs"
	head -c 8388608 /dev/urandom >data
	sync data
}

teardown() { leave; }

missed() { rows io "path == '$T/data' and dir == 'R'" missed | awk '{ sum += $1 } END { print sum + 0 }'; }

@test "a cold read fills the file's size, give or take a readahead window" {
	dd if=data iflag=nocache count=0 status=none
	record -e io -- dd if=data of=/dev/null bs=64k status=none
	[ "$(missed)" -ge 8388608 ]
	[ "$(missed)" -le $((8388608 + 2097152)) ]
}

@test "a warm read misses nothing" {
	for _ in 1 2 3; do # somebody else may empty the caches in between
		cat data >/dev/null
		record --force -e io -- dd if=data of=/dev/null bs=64k status=none
		[ "$(missed)" != 0 ] || break
	done
	same missed 0 "$(missed)"
	same direct False "$(rows io "path == '$T/data'" direct | sort -u)"
}

@test "part of the file cold: that part is missed" {
	cat data >/dev/null
	dd if=data iflag=nocache skip=4 count=4 bs=1M status=none of=/dev/null
	record -e io -- dd if=data of=/dev/null bs=64k status=none
	[ "$(missed)" -ge 4000000 ]
	[ "$(missed)" -le $((4194304 + 2097152)) ]
}

@test "O_DIRECT passes by the cache, and can be told" {
	dd if=data iflag=nocache count=0 status=none
	record -e io -- dd if=data of=/dev/null bs=64k iflag=direct status=none
	same missed 0 "$(missed)"
	same direct True "$(rows io "path == '$T/data' and returned > 0" direct | sort -u)"
}

@test "writes say nothing of misses; sendfile does" {
	dd if=data iflag=nocache count=0 status=none
	record -e io -- sh -c 'head -c 100000 /dev/zero >out; exec /usr/bin/python3 -c "
import os
source, sink = os.open(\"data\", os.O_RDONLY), os.open(\"/dev/null\", os.O_WRONLY)
print(os.sendfile(sink, source, 0, 1 << 20))"' >sent
	same "missed by writes" - "$(rows io "path == '$T/out'" missed | sort -u)"
	[ "$(rows io "op == 'sendfile' and path == '$T/data'" missed)" -ge "$(cat sent)" ]
}
