#!/usr/bin/env bats
# What the start of a recording takes, by counts that no load of the machine changes.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# The instructions that the verifier looked at, of each program that a process holds.
verified() {
	local info

	for info in /proc/"$1"/fdinfo/*; do
		awk '$1 == "prog_id:" { id = $2 } $1 == "link_type:" { id = "" } $1 == "verified_insns:" { insns = $2 }
			END { if (id != "" && insns != "") print id, insns }' "$info" 2>/dev/null
	done | sort -u
}

@test "the verifier looks at no more than 130,000 instructions, 15,000 of one program" {
	record_background -- cat /dev/zero >/dev/null # until the test ends
	verified "$PID" >programs
	kill "$PID"
	wait "$PID" || true
	[ "$(wc -l <programs)" -ge 40 ] || skip "this kernel does not tell how much it verified"
	awk '{ sum += $2 } END { print NR " programs, " sum " instructions" }' programs
	[ "$(awk '{ sum += $2 } END { print sum }' programs)" -le 130000 ]
	[ "$(awk '$2 > 15000' programs | wc -l)" = 0 ]
}

@test "the kernel's types are read once for all objects" {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has its types elsewhere"
	strace -f -e trace=read -P /sys/kernel/btf/vmlinux -o log "$STRATA" record -q -o "$RUN" -- true
	bytes=$(awk '{ sum += $NF } END { print sum }' log)
	size=$(wc -c </sys/kernel/btf/vmlinux)
	echo "$bytes bytes read of $size"
	[ "$bytes" -ge "$size" ]
	[ "$bytes" -lt $((2 * size)) ] # libbpf looks at the beginning of a file before it reads it
}
