#!/usr/bin/env bats
# The number of each call, the errors, the bytes moved and the paths equal what strace counted in an identical
# run. counts.py says what is compared; a difference shows as a diff, strace's side first.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# compare LEAVE-OUT PREPARE CMD...: CMD under strace, then under strata, each after PREPARE, in the same folder.
compare() {
	local leave_out=$1 prepare=$2

	shift 2
	$prepare
	strace -f -y -xx -s 0 --seccomp-bpf -e "trace=$("$HERE/syscalls.py")" -o "$T/strace.log" "$@" >/dev/null
	$prepare
	record --scope job -e io,fs,mem -- "$@" >/dev/null
	"$HERE/strace_counts.py" "$T/strace.log" "$leave_out" >"$T/strace.counts"
	"$HERE/strata_counts.py" "$RUN" "$leave_out" >"$T/strata.counts"
	[ "$(wc -l <"$T/strace.counts")" -gt 10 ] # something was compared
	[ -z "${MAY_DIFFER:-}" ] || sed -i -E "/$MAY_DIFFER/d" "$T/strace.counts" "$T/strata.counts"
	diff "$T/strace.counts" "$T/strata.counts" >"$T/difference" || {
		head -60 "$T/difference"
		return 1
	}
	no_loss
}

# A tree of 300 files in 30 folders, some links, and a name with a space.
make_tree() {
	rm -rf "$T/tree" "$T/copy" "$T/tree.tar"
	local i
	for i in $(seq 30); do
		mkdir -p "$T/tree/d$i"
		head -c $((i * 1000)) /dev/zero | tee "$T/tree/d$i/"{1,2,3,4,5,6,7,8,9,a} >/dev/null
		ln -s 1 "$T/tree/d$i/link"
	done
	echo x >"$T/tree/a name"
	ln "$T/tree/a name" "$T/tree/hard"
}

@test "a program that makes every call" {
	fresh() { rm -rf "$T/work"; mkdir "$T/work"; }
	compare "" fresh "$W/syscalls" "$T/work"
}

@test "500 threads" {
	fresh() { rm -rf "$T/work"; mkdir "$T/work"; }
	# Whether a thread's stack is reused or mapped anew depends on when the one before it ended.
	MAY_DIFFER='^count (mmap|munmap|madvise) '
	compare "" fresh "$W/threads" "$T/work" 500
}

@test "tar" {
	compare "" make_tree tar -cf "$T/tree.tar" -C "$T" tree
}

@test "find" {
	compare "" make_tree find "$T/tree" -name '*a*' -size +2k
}

@test "cp -r" {
	compare "" make_tree cp -r "$T/tree" "$T/copy"
}

@test "a shell pipeline of many programs" {
	# bash reads script and pipe byte by byte, or not, by itself; how a pipe's bytes are cut into reads
	# depends on who runs first: pipes are left out.
	compare '^pipe:' make_tree sh -c "find '$T/tree' -type f ! -name '* *' | sort | xargs -n 20 cat | wc -c"
}

# training_job OPTION...: makes the data of train.py, compares its calls, and counts what was read of its samples.
training_job() {
	/usr/bin/python3 -c 'import torch, PIL' 2>/dev/null || skip "python3-torch or python3-pil is not installed"
	fresh() { rm -f "$T/data/"checkpoint*; }
	"$TRAIN" --prepare "$@" "$T/data"
	"$TRAIN" "$@" --epochs 1 "$T/data" >/dev/null # compiled Python modules are written once
	# Left out: pipes and sockets between the workers (how often a queue is polled depends on timing),
	# /proc and /sys (their text differs in each run). Anonymous memory: how threads share arenas and
	# stacks depends on timing. All files, opens, stats and file mappings are exact.
	MAY_DIFFER='^count (mmap|munmap|madvise|mremap) '
	compare '^(pipe|socket):|^/proc/|^/sys/' fresh "$TRAIN" "$@" --epochs 2 "$T/data"
	# And the samples by themselves: each is read whole, once an epoch, by a worker.
	same "bytes of samples" $((2 * $(cat data/sample-* | wc -c))) \
		"$(rows io "op == 'read' and '/sample-' in path" returned | awk '{ n += $1 } END { print n }')"
	main=$(rows process "event == 'exec'" pid | head -1)
	same "samples read by the main process" 0 "$(count io "'/sample-' in (path or '') and pid == $main")"
}

@test "a PyTorch training job with DataLoader workers" {
	training_job --samples 96
}

@test "a PyTorch training job on photographs" {
	training_job --samples 32 --jpeg
}
