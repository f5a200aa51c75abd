#!/usr/bin/env bats
# What is written beside the program says what the program does. Needs no BPF.

load lib

@test "docs/tables.md is what the schema says" {
	build/tools/schema-docs | diff - docs/tables.md
}

long_options() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }

@test "each command's help and man page name the same options" {
	for command in record info dump report diff why sql export mark doctor stat agent select push; do
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
	for command in record info dump report diff why sql export mark doctor stat agent select push; do
		"$STRATA" $command -h >"$BATS_TEST_TMPDIR/help"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/help")" -le 48 ]
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

@test "what the documents point at is there" {
	local page target missing=

	for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
		while read -r target; do
			[ -e "$(dirname "$page")/$target" ] || missing+="$page: $target"$'\n'
		done < <(grep -oE '\]\([^)#]+' "$page" | cut -c3- | grep -v '^https\?:')
		while read -r target; do
			[ -e "$target" ] || missing+="$page: $target"$'\n'
		done < <(grep -oE '`(src|tests|bench|scripts|contrib|docs|man)/[A-Za-z0-9_./-]+`' "$page" | tr -d '`')
	done
	# The worked example is of a file that is not there yet.
	same "missing" "" "$(grep -vE 'CONTRIBUTING.md: (src/(bpf|probes)|tests/run)/signal\.' <<<"$missing")"
}

@test "the file format and the tables have man pages, made of the documents" {
	for page in format tables; do
		man -l "build/man/strata-$page.5" >"$BATS_TEST_TMPDIR/page" 2>/dev/null || skip "no man on this machine"
		grep -q "strata-$page - " "$BATS_TEST_TMPDIR/page"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/page")" -gt 100 ]
	done
}

@test "a file of src has one subject: none is longer than 450 lines" {
	same "long files" "" "$(wc -l src/*/*.[ch] src/*/*.def | awk '$2 != "total" && $1 > 450 { print }')"
}
