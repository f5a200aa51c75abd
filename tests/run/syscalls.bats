#!/usr/bin/env bats
# Every recorded call, against what the program that made it knows: order, arguments, results, files.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

@test "every call of io, fs and mem, in order, with arguments, results and paths" {
	record -e io,fs,mem -- "$W/syscalls" "$T/work" >truth
	"$HERE/truth.py" "$RUN" truth
	no_loss
}

@test "calls on descriptors, attributes and advice, messages, pipes and other memory" {
	record -e io,fs -- "$W/morecalls" "$T/work" >truth
	"$HERE/truth.py" "$RUN" truth
	no_loss
}

@test "every call that can be recorded is one of those" {
	record -e io,fs,mem -- sh -c '"$0/syscalls" "$1/work"; "$0/morecalls" "$1/work"' "$W" "$T" >/dev/null
	same "calls that were not made" "" \
		"$(comm -23 <("$HERE/syscalls.py" | tr -d '?' | tr , '\n' | sort) <(rows io,fs,mem True op | sort -u))"
}

@test "the same with the default layers" {
	record -- "$W/syscalls" "$T/work" >truth
	"$HERE/truth.py" "$RUN" truth
}

@test "calls that a seccomp filter answers: their end is known, and nothing else is made up" {
	record -e fs -- "$W/answered" "$T/work" >told
	[ "$(wc -l <told)" = 3 ]
	rows fs "op in ('mkdir', 'rmdir')" op,ts,dur,returned,blocked | paste - <(tr ' ' '\t' <told) >both
	# Of each call the row's ts is its end; the supervisor's answer took 50 ms.
	awk '$1 != $6 || $3 != "-" || $5 != "-" || $2 < $7 || $2 > $8 || $4 != ($1 == "mkdir" ? -1 : -39) { print "wrong: " $0; bad = 1 }
		END { exit bad || NR != 3 }' both
	no_loss
}

@test "arguments that mean something else than they look like" {
	record -e io,fs -- "$W/oddargs" "$T/work" >truth
	"$HERE/truth.py" "$RUN" truth
	same "numbers in dump and in SQL" "$("$STRATA" dump "$RUN" io --columns op,pos,requested,returned)" \
		"$("$STRATA" sql "$RUN" -f csv 'SELECT op, pos, requested, returned FROM io ORDER BY ts')"
	# Of a path that is too long for the kernel only its beginning could be told.
	same "loss" "fs 1 string cut" "$(rows loss True layer,count,reason | sed 's/\\x20/ /; s/\t/ /g')"
}

@test "32-bit calls (int 0x80) are decoded or counted as loss, never misread" {
	"$W/int80" "$T/work" >/dev/null || skip "this kernel has no 32-bit entry"
	rm -f work/*
	record -e io,fs -- "$W/int80" "$T/work" >truth
	# Those that were not decoded are missing from the rows and counted: no row may be wrong.
	"$HERE/truth.py" "$RUN" truth || {
		lost=$(rows loss "reason == '32-bit call'" count | awk '{ n += $1 } END { print n + 0 }')
		made=$(($(wc -l <truth) - 1))
		begin=$(rows fs "arg_path == 'TRUTH BEGINS'" ts)
		end=$(rows fs "arg_path == 'TRUTH ENDS'" ts)
		same "calls decoded and lost" "$made" "$(($(count io,fs "$begin < ts < $end") + lost))"
	}
}

@test "ts and dur: in order, inside the recording, on the clock since boot" {
	before=$(boot_ns)
	record -e io,fs,mem -- "$W/syscalls" "$T/work" >truth
	after=$(boot_ns)
	for table in io fs mem; do
		same "$table rows outside of the run" "" \
			"$(rows $table "dur is None or ts < $before or ts + dur > $after")"
		same "$table in order of ts" "" \
			"$("$STRATA" dump "$RUN" $table --columns ts | tail -n +2 | sort -nc 2>&1)"
	done
}

@test "comm is the program's name in every row" {
	record -e io,fs,mem -- "$W/syscalls" "$T/work" >truth
	same comm syscalls "$(rows io,fs,mem True comm | sort -u)"
}

@test "paths of 4,000 bytes, names with spaces, newlines, quotes and bytes that are no UTF-8" {
	same "length of the path" 4000 "$("$W/longpath" "$T/work")"
	find work -type f -print0 | xargs -0 -n1 sh -c 'readlink -fz -- "$0"' | sort -z >expected
	rm -rf work/*
	record -e io,fs -- "$W/longpath" "$T/work" >/dev/null
	no_loss
	# Written to, by the path that the kernel shows.
	/usr/bin/python3 - "$HERE" "$RUN" expected <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
from rows import table_rows
expected = set(open(sys.argv[3], "rb").read().decode("latin-1").split("\0")) - {""}
rows = table_rows(sys.argv[2], "io")
written = {row["path"] for row in rows if row["op"] == "write" and row["fd"] > 2}
assert written == expected, f"missing {expected - written}, too many {written - expected}"
opened = [row for row in table_rows(sys.argv[2], "fs") if row["op"] == "openat"]
names = {row["arg_path"] for row in opened}
assert {path.rsplit("/", 1)[1] for path in expected} <= names, "names as passed"
assert any(len(name) == 4000 for name in names), "the long path as passed"
PYTHON
}
