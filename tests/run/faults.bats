#!/usr/bin/env bats
# Faults of the machine and of the people around: limits, full disks, kills, stops. The job never notices, what is kept is
# readable, and what is not kept is counted. The same with the full counts is in tests/faults, for `make soak`.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# limited N CMD...: CMD with N open files at most.
limited() {
	(ulimit -n "$1" && exec "${@:2}")
}

@test "few open files: strata raises its own limit as far as it may, the job keeps what it was given" {
	(ulimit -Sn 40 && "$STRATA" record -o "$RUN" -- sh -c 'ulimit -Sn; ulimit -Hn' >limits 2>words)
	same "the job's limits" "$(printf '40\n%s' "$(ulimit -Hn)")" "$(cat limits)"
	! grep -i warning words
	"$STRATA" info --json "$RUN" | jq -e '.absent == {}'
}

@test "too few open files for all layers: the first ones are recorded, the others absent with the way out" {
	limited 150 "$STRATA" record -o "$RUN" -- sh -c 'ulimit -n >limit; exec dd if=/dev/zero of=out bs=4096 count=10' 2>words
	same "the job's limit" 150 "$(cat limit)"
	says words "layer 'block' is not recorded: it needs [0-9]+ open files.*ulimit -n"
	same "writes" 10 "$(count io "op == 'write' and path == '$T/out'")"
	"$STRATA" info --json "$RUN" | jq -e '.absent.block | test("open files")'
}

@test "too few open files for any recording: said before the job starts" {
	for limit in 12 30 60; do
		run -125 limited $limit "$STRATA" record -o "$RUN" -- touch ran
		echo "$output" >words
		says words "open files.*ulimit -n 4096"
		[ ! -e ran ]
	done
}

@test "a full disk: info names it and counts what was not written" {
	mounted "$T/small" -t tmpfs -o size=128k none
	RUN=$T/small/run.strata
	mkdir work
	record -e io,fs -- /usr/bin/python3 -c "
import os, secrets, time
for number in range(20000):
    if number == 500:
        time.sleep(1.6)
    os.close(os.open('work/' + secrets.token_hex(16), os.O_CREAT | os.O_WRONLY))"
	"$STRATA" info "$RUN" >info 2>err
	says info "stopped: .*No space left on device; [0-9]+ rows are not in it"
	says info "incomplete: the recorder could not write on"
	[ "$("$STRATA" info --json "$RUN" 2>err | jq .unwritten)" -gt 0 ]
	same "rows not written, told twice" \
		"$(grep -oE '[0-9,]+ rows were not written' words | tr -dc '0-9')" "$("$STRATA" info --json "$RUN" 2>err | jq .unwritten)"
	"$STRATA" report "$RUN" >report 2>err
	says report "could not write on"
}
