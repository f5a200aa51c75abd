#!/usr/bin/env bats
# Operations that a program hands to the kernel in a queue, beside what the program knows about each.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

told() {
	"$HERE/truth.py" "$RUN" truth
	no_loss
}

@test "io_uring: every request with its file, position and result" {
	record -e io,fs -- "$W/uring" "$T/work" plain >truth
	told
	same "threads" "uring" "$(rows io "op.startswith('io_uring')" comm | sort -u)"
}

@test "io_uring, requests taken by the kernel's polling thread" {
	record -e io,fs -- "$W/uring" "$T/work" poll >truth
	told
	same "threads" 1 "$(rows io,fs "op.startswith('io_uring')" comm | sort -u | grep -c '^iou-sqp-')"
	same "processes" "$(rows process "event == 'exec' and comm == 'uring'" pid)" \
		"$(rows io,fs "op.startswith('io_uring')" pid | sort -u)"
}

@test "io_uring, files registered with the ring" {
	record -e io,fs -- "$W/uring" "$T/work" fixed >truth
	told
}

@test "io_uring, a ring that is registered itself" {
	record -e io,fs -- "$W/uring" "$T/work" registered >truth
	told
}

@test "io_uring, requests that ask for no completion: each is a row, whose end was not seen" {
	for mode in silent silent-poll; do
		record --force -e io,fs -- "$W/uring" "$T/work" $mode
		same "positions ($mode)" "$(seq 0 100 99900)" "$(rows io "op == 'io_uring_write' and path == '$T/work/quiet' and dur is None and returned is None" pos | sort -n)"
		same "the one that failed ($mode)" -9 "$(rows io "op == 'io_uring_write' and dur is not None" returned)"
		no_loss
	done
}

@test "io_uring of somebody else gives no rows" {
	background bash -c 'while :; do "$0" "$1" plain >/dev/null; done' "$W/uring" "$T/work"
	record -e io,fs -- sleep 0.5
	same "rows" 0 "$(count io,fs "op.startswith('io_uring')")"
}

@test "libaio: every operation with its file, position and result" {
	record -e io,fs -- "$W/aio" "$T/work" >truth
	told
}

@test "libaio, completions collected in the program's own memory: unfinished, each of them" {
	record -e io -- "$W/aio" "$T/work" unseen >/dev/null
	same "unfinished reads" "$(printf '%s\n' 0 0 4096 4096 8192 8192 12288 12288)" \
		"$(rows io "op == 'aio_pread' and dur is None and returned is None and path == '$T/work/data'" pos | sort -n)"
	same "finished reads" 2 "$(count io "op == 'aio_pread' and dur is not None")"
	no_loss
}
