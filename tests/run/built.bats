#!/usr/bin/env bats
# How the program is built: what makes an overrun harder to use.

load lib
setup() {
	REFUSED=
	enter
}
teardown() { leave; }

@test "PIE, full RELRO, no executable stack, stack protector, FORTIFY" {
	readelf -hlWd "$ROOT/build/strata" >elf
	says elf "Type: +DYN"
	says elf "FLAGS_1.*PIE"
	says elf "FLAGS_1.*NOW"
	says elf "GNU_RELRO"
	says elf "GNU_STACK +[^E]*RW +0x"
	readelf -sW "$ROOT/build/strata" >symbols
	says symbols "__stack_chk_fail"
	says symbols "__(memcpy|snprintf|vsnprintf|printf|fprintf)_chk"
}

@test "what was fetched is hashed again when it is used" {
	[ -d "$ROOT/build/npm/uplot" ] || skip "nothing was fetched"
	package=$(sed -n 's/^\t\t\(sha512-[^ ]*\) \$(UPLOT)$/\1/p' "$ROOT/Makefile")
	cp -r "$ROOT/build/npm/uplot" "$ROOT/build/npm/uplot.tgz" .
	# Neither npm nor curl: whatever would be fetched anew fails.
	mkdir bin
	for tool in bash cat openssl base64 tar gzip grep find wc ln mkdir mktemp rm realpath dirname; do
		ln -s "$(command -v $tool)" bin/
	done
	PATH=$T/bin "$ROOT/scripts/fetch-npm" uplot 1.6.32 "$package" uplot
	echo x >>uplot/LICENSE
	run ! env PATH="$T/bin" "$ROOT/scripts/fetch-npm" uplot 1.6.32 "$package" uplot
	cp "$ROOT/build/npm/uplot/LICENSE" uplot/
	PATH=$T/bin "$ROOT/scripts/fetch-npm" uplot 1.6.32 "$package" uplot
	echo x >uplot/more.js
	run ! env PATH="$T/bin" "$ROOT/scripts/fetch-npm" uplot 1.6.32 "$package" uplot
	rm uplot/more.js
	echo x >>uplot.tgz
	run ! env PATH="$T/bin" "$ROOT/scripts/fetch-npm" uplot 1.6.32 "$package" uplot
}
