#!/usr/bin/env bats
# The kernel's own account, /proc/PID/io: rchar and wchar between two readings.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

@test "rchar is the bytes of reads, sendfile and copy_file_range, wchar likewise of writes" {
	# Splice and socket messages count nothing there; a child's bytes count once it is reaped. A reading
	# shows what was counted before it: the first one's own bytes are inside, the second's are not.
	record -e io,fs -- "$W/procio" "$T/work" >readings
	read -r rchar1 wchar1 rchar2 wchar2 <readings
	begin=$(rows fs "arg_path == 'FIRST READING'" ts)
	second=$(rows io "'/io' in (path or '') and path.startswith('/proc/')" ts | tail -1)
	sum() {
		rows io "returned is not None and returned > 0 and $begin < ts < $second and op in '$1'.split()" \
			returned | awk '{ n += $1 } END { print n + 0 }'
	}
	copies="sendfile copy_file_range"
	same rchar $((rchar2 - rchar1)) "$(sum "read pread64 readv preadv preadv2 $copies")"
	same wchar $((wchar2 - wchar1)) "$(sum "write pwrite64 writev pwritev pwritev2 $copies")"
	no_loss
}
