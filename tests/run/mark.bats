#!/usr/bin/env bats
# Marks from a shell and from a program, as docs/marks.md tells.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

marks() { rows mark "$1" name,value | tr '\t' ' '; }

@test "a program marks with one call, in order, with and without a value" {
	record -- /usr/bin/python3 -c '
import os
for epoch in range(3):
    assert not os.access(f"epoch\nno. {epoch}", os.F_OK, dir_fd=0x53545241)
os.access("done", os.F_OK, dir_fd=0x53545241)'
	same marks "$(printf 'epoch no.\\x20%d\n' 0 1 2; echo done -)" "$(marks "comm == 'python3'")"
	same source mark "$(rows mark True source | sort -u)"
}

@test "strata mark reaches a recording from outside the job: root's and its user's, nobody else's" {
	open_folder
	record_background -u daemon -- sleep 1
	"$STRATA" mark 'two words' 'a "value"'
	setpriv --reuid daemon --clear-groups "$OPEN/strata" mark own
	setpriv --reuid 65534 --clear-groups "$OPEN/strata" mark foreign
	within 10 gone $PID
	same marks "$(printf 'two\\x20words a\\x20"value"\nown -\n')" "$(marks True)"
	says err "1 marks by other users were left out"
}

@test "a recording of all processes takes the marks of all" {
	open_folder
	record_background -a -d 2
	setpriv --reuid 65534 --clear-groups "$OPEN/strata" mark foreign
	within 10 gone $PID
	same marks "foreign -" "$(marks True)"
}

@test "marks come with any of the layers io, fs and mem" {
	for layer in io fs mem; do
		rm -f "$RUN"
		record -e $layer -- "$STRATA" mark layer $layer
		same marks "layer $layer" "$(marks True)"
	done
	same "rows of fs without that layer" 0 "$(count fs)"
}

@test "a name that cannot be is refused" {
	for name in '' /slash 'new
line'; do
		run -2 "$STRATA" mark "$name"
	done
	run -2 "$STRATA" mark
	run -2 "$STRATA" mark a b c
}
