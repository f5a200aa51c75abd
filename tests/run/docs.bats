#!/usr/bin/env bats
# What is written beside the program says what the program does. Needs no BPF.

load lib

@test "docs/tables.md is what the schema says" {
	build/tools/schema-docs | diff - docs/tables.md
}

long_options() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }

@test "each command's help and man page name the same options" {
	for command in record info dump report diff sql export mark; do
		diff <("$STRATA" $command -h | long_options) \
			<(sed -n '/^# OPTIONS/,/^# [A-NP-Z]/p' man/strata-$command.1.scd | long_options)
	done
}

@test "the man pages are valid, and there is one for each command" {
	for command in $("$STRATA" -h | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		scdoc <"man/strata-$command.1.scd" >/dev/null
	done
}

@test "help fits a screen, and every command answers -h and -V" {
	for command in record info dump report diff sql export mark; do
		"$STRATA" $command -h >"$BATS_TEST_TMPDIR/help"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/help")" -le 40 ]
		[ "$(wc -L <"$BATS_TEST_TMPDIR/help")" -le 100 ]
		"$STRATA" $command -V | grep -q '^strata [0-9]'
	done
}

@test "the README's commands are there, and the code is formatted" {
	for target in demo test; do
		grep -q "make $target" README.md
		make -n $target >/dev/null
	done
	make -s check-format
}

@test "each folder of src includes only those below it" {
	local copy=$BATS_TEST_TMPDIR/src

	tests/check-layers
	mkdir -p "$copy"/{store,query,cmd}
	echo '#include "analyze/report.h"' >"$copy/query/upward.c"
	echo '#include <bpf/libbpf.h>' >"$copy/cmd/loader.c"
	echo '#include "base/buf.h"' >"$copy/store/downward.c"
	run tests/check-layers "$copy"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 2 ]
	[[ $output == *src/query/upward.c:* && $output == *src/cmd/loader.c:* ]]
}
