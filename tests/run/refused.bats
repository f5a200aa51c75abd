# A kernel that refuses a program: the probe that it belongs to is left out with the verifier's reason, and the others record.
load lib

setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# refuse PROGRAM CMD...: CMD, with strata in a kernel that refuses PROGRAM.
refuse() {
	REFUSE_BPF=$1 LD_PRELOAD=$ROOT/build/tools/refuse_bpf.so "${@:2}"
}

# The launched command must not be preloaded too.
job=(env -u LD_PRELOAD dd if=/dev/zero of=out bs=4096 count=10 conv=fsync)

@test "a refused program leaves out its layer, with the verifier's reason" {
	refuse block_start "$STRATA" record -o "$RUN" -- "${job[@]}" 2>words
	says words "layer 'block' is not recorded: .*block_start.*R3 invalid mem access 'scalar'"
	same "rows of block" "" "$(rows block)"
	[ "$(count io "op == 'write' and path == '$T/out'")" = 10 ]
	[ "$(count sched)" -gt 0 ]
	[ "$(count fault)" -gt 0 ]
	"$STRATA" info "$RUN" >info
	says info "block.*R3 invalid mem access"
	! grep -E '^ *layers:.*block' info
}

@test "a layer that was asked for by name is not left out" {
	run -125 refuse block_start "$STRATA" record -o "$RUN" -e io,block -- touch ran
	echo "$output" >words
	says words "cannot record layer 'block': .*R3 invalid mem access"
	[ ! -e ran ]
}

@test "what all need is not left out" {
	run -125 refuse process_exec "$STRATA" record -o "$RUN" -- touch ran
	echo "$output" >words
	says words "cannot record layer 'process'"
	[ ! -e ran ]
}

@test "a refused part is null in the rows, not zero" {
	refuse cache_add "$STRATA" record -o "$RUN" -- "${job[@]}" 2>words
	says words "'io.missed' is not recorded: .*R3 invalid mem access"
	[ "$(count io "missed is not None")" = 0 ]
	[ "$(count io "blocked is not None")" -gt 0 ]
}

@test "without the scheduler's program, calls do not know how long they were blocked, and the job's totals are right" {
	# Children that live shorter than an interval count when they leave a CPU for the last time.
	burn="import time; [0 for _ in iter(lambda: time.process_time() < 0.2, False)]"
	refuse sched_switch "$STRATA" record -o "$RUN" --interval 60s -- \
		env -u LD_PRELOAD sh -c "for i in 1 2 3; do /usr/bin/python3 -c '$burn'; done" 2>words
	says words "layer 'sched' is not recorded"
	says words "'io.blocked' is not recorded"
	[ "$(count io)" -gt 0 ]
	[ "$(count io "blocked is not None")" = 0 ]
	used=$(rows job True usr,sys | awk '{ sum += $1 + $2 } END { print int(sum / 1e6) }')
	[ "$used" -ge 600 ]
}

@test "io_uring refused: other calls are recorded" {
	refuse uring_submit "$STRATA" record -o "$RUN" -- "${job[@]}" 2>words
	says words "'io.io_uring' is not recorded"
	[ "$(count io "op == 'write' and path == '$T/out'")" = 10 ]
}
