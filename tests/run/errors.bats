#!/usr/bin/env bats
# Errors are negative numbers, and right.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

@test "ENOENT, EBADF, EAGAIN, EFAULT, EEXIST, ENOTDIR, ENOTEMPTY, EINVAL" {
	record -e io,fs,mem -- "$W/syscalls" "$T/work" >/dev/null
	same "ENOENT" 1 "$(count fs "op == 'unlink' and arg_path == 'nowhere' and returned == -2")"
	same "EBADF" 1 "$(count io "op == 'read' and fd == 777 and returned == -9 and file is None")"
	same "EAGAIN" 1 "$(count io "op == 'read' and returned == -11")"
	same "EFAULT" 1 "$(count io "op == 'read' and returned == -14")"
	same "EEXIST" 1 "$(count fs "op == 'mkdir' and returned == -17")"
	same "ENOTDIR" 1 "$(count fs "op == 'faccessat' and returned == -20")"
	same "ENOTEMPTY" 1 "$(count fs "op == 'rmdir' and returned == -39")"
	same "EINVAL" 1 "$(count mem "op == 'munmap' and returned == -22")"
}

@test "a vector that cannot be read: EFAULT, and the bytes asked for are not known" {
	cat >bad.py <<-'PYTHON'
		import ctypes, os
		libc = ctypes.CDLL(None)
		libc.readv(os.open("/etc/passwd", os.O_RDONLY), ctypes.c_void_p(8), 2)
	PYTHON
	record -e io -- /usr/bin/python3 bad.py
	same "row" "$(printf -- '-14\t-\t/etc/passwd')" "$(rows io "op == 'readv'" returned,requested,path)"
}

@test "EINTR: interrupted, interrupted and begun anew, killed inside" {
	run record --scope job -e io -- "$W/signals"
	main=$(rows process "event == 'exec'" pid | head -1)
	fd=${lines[0]}
	# Without SA_RESTART the program sees EINTR; with it the kernel begins the read anew, a second row; the
	# last read was never begun anew, as the signal ended the process.
	same "reads of the pipe" "$(printf '%s\n' '-4 False' '-4 True' '5 -' '-4 False')" \
		"$(rows io "pid == $main and fd == $fd and path.startswith('pipe:')" returned,restarted | tr '\t' ' ')"
}
