#!/usr/bin/env bats
# `pos`: where in the file the bytes come from or go to, also when the call does not say it.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

@test "appends, shared and moved positions, vectors, copies and offsets beyond 4 GiB" {
	record -e io,fs -- "$W/positions" "$T/work" >truth
	"$HERE/truth.py" "$RUN" truth
	no_loss
}

@test "positions of a file read from start to end follow each other" {
	head -c 1000000 /dev/zero >data
	record -e io -- dd if=data of=out bs=4096 status=none
	same "reads" "$(seq 0 4096 1000000; echo 1000000)" "$(rows io "path == '$T/data'" pos)"
	same "writes" "$(seq 0 4096 999999)" "$(rows io "path == '$T/out'" pos)"
}

@test "two processes append to one file: every byte has one place" {
	record -e io -- sh -c 'for i in 1 2; do (for j in $(seq 200); do echo "$i$j"; done >>log) & done; wait'
	rows io "path == '$T/log' and op == 'write'" pos,returned | sort -n >found
	awk '{ if ($1 != next_pos) { print "byte " next_pos " is not followed"; exit 1 } next_pos = $1 + $2 }' found
	same "bytes" "$(stat -c %s log)" "$(awk '{ n += $2 } END { print n }' found)"
}

@test "one description for threads and children: each position is the one that the kernel used, or null" {
	record -e io -- "$W/sharedpos" reads "$T/work" >truth
	"$HERE/shared_positions.py" "$RUN" read 20 truth
	rm work/shared
	record --force -e io -- "$W/sharedpos" appends "$T/work" >truth
	"$HERE/shared_positions.py" "$RUN" write 20 truth
}
