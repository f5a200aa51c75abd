#!/usr/bin/env bats
# Faults on file mappings, beside what getrusage counted in the same process.

load lib
setup_file() { need_bpf; }

setup() {
	enter
	[ "$(stat -f -c %T .)" != tmpfs ] || skip "the temporary folder is a tmpfs"
}

teardown() { leave; }

# file BYTES: a file of that size, in the page cache.
file() {
	head -c "$1" /dev/urandom >data
	sync data
}

cold() { dd if=data iflag=nocache count=0 status=none; }

# touched MODE: records the touching; $base is where the file was mapped, $minor and $major what the kernel counted.
touched() {
	record --force -e fault -- "$W/touch" data "$1" >counted
	read -r base minor major _ <counted
	no_loss
}

mine() { count fault "path == '$T/data'${1:+ and $1}"; }

@test "each major fault is a row, with its page, its time and the bytes that it filled" {
	file 4194304
	cold
	touched random
	same "faults the kernel counted" 1024 "$major"
	same "rows" 1024 "$(mine "major and dur > 0 and missed == 4096")"
	same "pages" "$(seq 0 4096 4194303)" "$(rows fault "path == '$T/data'" pos | sort -n)"
	same "rows at other addresses" 0 "$(mine "addr - pos != $base")"
}

@test "each minor fault is a row" {
	file 1048576
	"$W/touch" data read >/dev/null # into memory, and the program itself too
	for _ in 1 2 3; do
		touched read
		[ "$major" -gt 0 ] || break # it counts a fault on a page that DAMON or another had locked as major
	done
	same "major ones" 0 "$major"
	[ "$minor" -ge 16 ]
	same "rows" "$minor" "$(mine "not major and dur is None and missed == 0")"
	same "rows at other addresses" 0 "$(mine "addr - pos != $base")"
}

@test "all layers by default: the same faults, minor ones without their address, files known without it" {
	file 1048576
	cat data >/dev/null
	record -- "$W/touch" data read >counted
	read -r base minor major _ <counted
	same "rows" "$minor" "$(mine "not major and addr is None and pos % 4096 == 0")"
	same "faults on no file" 0 "$(count fault "path is None")"
	[ "$(count fault "'/ld-linux' in path")" -gt 0 ]
	cold
	record --force -- "$W/touch" data random >counted
	read -r base minor major _ <counted
	same "major ones" 256 "$major"
	same "rows of major ones" 256 "$(mine "major and dur > 0 and missed == 4096 and addr - pos == $base")"
	same "pages" "$(seq 0 4096 1048575)" "$(rows fault "path == '$T/data'" pos | sort -n)"
	no_loss
}

@test "readahead is charged to the faults that started it" {
	file 8388608
	cold
	touched read
	same "rows of major faults" "$major" "$(mine major)"
	filled=$(rows fault "path == '$T/data'" missed | awk '{ sum += $1 } END { print sum }')
	[ "$filled" -ge 8388608 ]
	[ "$filled" -le $((8388608 + 65536)) ] # what the file system reads to find the blocks
}

@test "a call that writes into a mapping: the mapped file faults, the call is charged" {
	file 8192
	cold
	record -e fault,io -- /usr/bin/python3 -c '
import mmap, os
file = os.open("data", os.O_RDWR)
map = mmap.mmap(file, 8192)
zero = os.open("/dev/zero", os.O_RDONLY)
os.preadv(zero, [memoryview(map)[5000:5100]], 0)'
	same "rows" "5000	True" "$(rows fault "path == '$T/data'" pos,major)"
	same "calls charged" 1 "$(count io "path == '/dev/zero' and op.startswith('preadv') and missed >= 4096")"
}

@test "anonymous memory gives no rows" {
	record -e fault -- /usr/bin/python3 -c '
import mmap
map = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, len(map), 4096):
	map[page] = 1
map[0:8] = b"\0" * 8
print(len(map))'
	same "rows of no file" 0 "$(count fault "path is None")"
	[ "$(count fault)" -lt 3000 ]
}

@test "-p: a mapped file that has several names goes by the one it was mapped under" {
	file 1048576
	background "$W/touch" data wait
	touch=$PID
	within 5 grep -q ready out
	ln data other # the newest name is what the kernel finds first
	cat other >/dev/null
	record_background -p $touch
	kill -USR1 $touch
	within 10 gone $PID
	same "names" "$T/data" "$(rows fault "path is None or '$T' in path" path | sort -u)"
}

# Shared memory: as threads of a program share it, as a program passes it on, and as PyTorch's data loaders do. The child
# finds the pages in the page cache, as those of a file.
@test "shared memory gives no rows, a file in memory does" {
	mounted "$T/memory" -t tmpfs none
	record -- /usr/bin/python3 -c '
import mmap, os
size = 8 << 20
def opened(name):
	fd = os.open("memory/" + name, os.O_RDWR | os.O_CREAT)
	if name == "unlinked":
		os.unlink("memory/" + name)
	return fd
for fd in -1, os.memfd_create("passed"), opened("unlinked"), opened("named"):
	if fd >= 0:
		os.truncate(fd, size)
	map = mmap.mmap(fd, size)
	for page in range(0, size, 4096):
		map[page] = 1
	if os.fork() == 0:
		sum(map[page] for page in range(0, size, 4096))
		os._exit(0)
	os.wait()'
	rows fault "path is None or 'memory' in path or 'memfd' in path or 'zero' in path" path | sort | uniq -c >found
	same "files" "$T/memory/named" "$(awk '{ print $2 }' found)"
	[ "$(awk '{ print $1 }' found)" -ge 128 ] # 8 MiB by 64 KiB
	no_loss
}

@test "a minor fault that slept, for a page that another process reads, has a time" {
	file 4194304
	cold
	record -e sched,fault -- sh -c '"$0" data random & "$0" data random; wait' "$W/touch" >/dev/null
	no_loss
	[ "$(mine "not major and dur is not None")" -gt 0 ]
	# It lasts until the thread has its CPU again, after a sleep inside it.
	rows fault "path == '$T/data' and not major and dur is not None" tid,ts,dur | awk '{ printf "%d %.0f\n", $1, $2 + $3 }' | sort >ends
	rows sched "comm == 'touch' and wake_ts is not None" tid,ts | tr '\t' ' ' | sort >stays
	same "that end at no stay" 0 "$(comm -23 ends stays | wc -l)"
}
