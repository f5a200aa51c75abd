#!/usr/bin/env bats
# Levels: what ran inside what, on programs whose amplification is known, against the kernel's own counters.

load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# levels: the tree as JSON.
levels() { "$STRATA" report --json "$RUN" | jq .levels; }

# level PATH FIELD...: of an operation, by the names from the outermost on, as fread/read.
level() {
	levels | jq -r --arg path "$1" --argjson fields "$(printf '%s\n' "${@:2}" | jq -R . | jq -s .)" '
		.operations as $all | def path: if .parent == null then .name else ($all[.parent] | path) + "/" + .name end;
		[$all[] | select(path == $path)][0] as $one | [$fields[] as $f | $one[$f] | tostring] | join(" ")'
}

# cold_file BYTES: a file of that size on a disk of its own, of which nothing is in memory.
cold_file() {
	disk 64M
	mkfs.ext4 -q -b 4096 "$DISK"
	mounted "$T/mnt" "$DISK"
	head -c "$1" /dev/urandom >mnt/data
	umount mnt
	mount "$DISK" mnt
	cat mnt/data >/dev/null # the metadata
	dd if=mnt/data iflag=nocache count=0 status=none
}

make_reader() {
	cat >reader.c <<-'END'
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			static char room[512];
			FILE *file = fopen(argv[argc - 1], "r");
			size_t got, sum = 0;
			while ((got = fread(room, 1, sizeof(room), file)) > 0)
				sum += got;
			printf("%zu\n", sum);
			return fclose(file);
		}
	END
	gcc -O2 -o reader reader.c
}

sectors_read() { awk '{ print $3 }' "/sys/block/$NAME/stat"; }

@test "512-byte freads of a cold file: the bytes of each level, to the byte, and the device's by the kernel's count" {
	make_reader
	cold_file 4194304
	before=$(sectors_read)
	record --call libc.so.6:fopen,fread,fclose -- ./reader mnt/data >out
	device=$((($(sectors_read) - before) * 512))
	no_loss
	same "read by the program" 4194304 "$(cat out)"
	same "library" "8193 4194304" "$(level fread calls bytes)"
	same "system call" "1025 4194304" "$(level fread/read calls bytes)"
	same "bytes of a call above and below" "4096 1" "$(rows io "path == '$T/mnt/data' and returned > 0" returned | sort -u) $(level fread/read growth)"
	same "page cache" 4194304 "$(level fread/read/fill bytes)"
	same "device, as /sys/block counts" "$device" "$(level "fread/read/fill/$NAME R" bytes)"
	same "requests" "$(count block "dev == '$NAME' and op == 'R'")" "$(level "fread/read/fill/$NAME R" calls)"
	[ "$(level "fread/read/fill/$NAME R" bytes_a_call | cut -d. -f1)" -ge 131072 ] # readahead
}

@test "own times of all levels add up to the time of the outermost" {
	make_reader
	cold_file 1048576
	record --call libc.so.6:fopen,fread,fclose -- ./reader mnt/data >out
	no_loss
	levels >levels.json
	jq -e '[.operations[] | select(.own_ns != null) | .own_ns] as $own |
		[.operations[] | select(.parent == null and .time_ns != null and .level != "device") | .time_ns] as $time |
		($own | add) == ($time | add) and ($own | min) >= 0' levels.json
	same "time of the calls" "$(rows call "func == 'fread'" dur | paste -sd+ | bc)" "$(level fread time_ns)"
	same "time of the reads" "$(rows io "path == '$T/mnt/data'" dur | paste -sd+ | bc)" "$(level fread/read time_ns)"
	[ "$(level "fread/read/fill/$NAME R" own_ns)" -gt 0 ]
	same "by level" "$(jq -c '[.operations | group_by(.level)[] | {(.[0].level): (map(.own_ns // 0) | add)}] | add | with_entries(select(.value > 0))' levels.json | jq -S .)" \
		"$(jq -c '.own_ns | with_entries(select(.value > 0))' levels.json | jq -S .)"
}

@test "view levels of SQL has the same calls, bytes and times" {
	make_reader
	cold_file 1048576
	record --call libc.so.6:fopen,fread,fclose -- ./reader mnt/data >out
	sql() { "$STRATA" sql -f csv "$RUN" "select calls, bytes, round(time_ms * 1e6)::bigint, round(own_ms * 1e6)::bigint from levels where operation = 'fread' and level = '$1'" | sed 1d | tr , ' '; }
	# inside fread there is a newfstatat too
	same library "$(level fread calls bytes time_ns own_ns)" "$(sql library)"
	same "system call" "$(($(level fread/read calls) + 1)) $(level fread/read bytes) $(($(level fread/read time_ns) + $(level fread/newfstatat time_ns))) \
$(($(level fread/read own_ns) + $(level fread/newfstatat own_ns)))" "$(sql "system call")"
	same device "$(level "fread/read/fill/$NAME R" calls bytes time_ns own_ns)" "$(sql device)"
	same "page cache" "$(level fread/read/fill calls bytes)" "$(sql "page cache" | xargs)"
}

@test "a write that the kernel writes later, and one that is waited for" {
	cold_file 4096
	record --call libc.so.6:write,fsync -- /usr/bin/python3 -c '
import os, time
fd = os.open("mnt/new", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"x" * 65536)
os.fsync(fd)'
	same "bytes at the library and the system call" "65536 65536" \
		"$(rows call "func == 'write' and path == '$T/mnt/new'" bytes) $(rows io "op == 'write' and path == '$T/mnt/new'" returned)"
	[ "$(level "fsync/fsync/$NAME W" bytes)" -ge 65536 ]
	[ "$(level fsync/fsync own_ns)" -lt "$(level fsync/fsync time_ns)" ]
}
