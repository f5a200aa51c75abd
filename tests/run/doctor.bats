#!/usr/bin/env bats
# strata doctor: what it says is what a recording then does.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# doctor [CMD...]: its JSON, run by CMD; its exit status in $status.
doctor() {
	run --separate-stderr "$@" "$STRATA" doctor --json
	echo "$output" >doctor.json
	jq -e 'has("works") and (.checks | length > 10)' doctor.json >/dev/null
}

# same_as_recording [CMD...]: layers and absences are those of a recording.
same_as_recording() {
	"$@" "$STRATA" record -o "$RUN" -- env -u LD_PRELOAD true 2>words
	"$STRATA" info --json "$RUN" >info.json
	same layers "$(jq -r '.layers | sort | join(" ")' info.json)" \
		"$(jq -r '[.layers | to_entries[] | select(.value.state == "records") | .key] | sort | join(" ")' doctor.json)"
	same absences "$(jq -r '.absent | keys | join(" ")' info.json)" "$(jq -r '.absent | keys | join(" ")' doctor.json)"
	jq -e '.layers[] | (.state == "records") == (.why == null)' doctor.json >all
	! grep -v true all
}

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

@test "as root: what is recorded, and exit status 0 when that is everything" {
	doctor
	same_as_recording
	same "exit status" "$(jq '.complete | if . then 0 else 3 end' doctor.json)" "$status"
	same "rights" ok "$(jq -r '.checks[] | select(.name == "capabilities").state' doctor.json)"
	same "kernel" "$(uname -r)" "$(jq -r '.checks[] | select(.name == "kernel").found' doctor.json | cut -d' ' -f2 | tr -d ,)"
	"$STRATA" doctor >doctor.txt || [ $? = 3 ]
	says doctor.txt "record works"
}

@test "the hooks that it tells of are those that a recording has in the kernel" {
	doctor
	record_background -- sleep 60
	# Programs with a link; one may hang on an event of each CPU.
	programs=$(grep -l '^link_id:' /proc/$PID/fdinfo/* | xargs grep -h '^prog_id:' | sort -u | wc -l)
	[ "$programs" -gt 10 ]
	same "programs attached" "$programs" "$(jq '[.hooks[] | select(.attached)] | length' doctor.json)"
}

@test "as a user without rights: exit status 1, the reason, and the way out" {
	open_folder
	STRATA=$OPEN/strata doctor as_nobody
	same "exit status" 1 "$status"
	jq -e '.works == false and .complete == false and .hooks == [] and (.failure | test("CAP_BPF"))' doctor.json
	same "layers" absent "$(jq -r '.layers[].state' doctor.json | sort -u)"
	fix=$(jq -r '.checks[] | select(.name == "capabilities" and .state == "missing").fix' doctor.json)
	for part in 'chown root:strata' 'chmod 0750' 'setcap cap_bpf,cap_perfmon'; do
		grep -qF "$part $OPEN/strata" <<<"${fix/+ep/}" || { echo "no '$part' in: $fix"; false; }
	done
	run as_nobody "$OPEN/strata" record -o "$OPEN/run.strata" -- true
	same "record's exit status" 125 "$status"
}

@test "the way out works: file capabilities, for members of the group" {
	command -v setcap >/dev/null || skip "setcap is not installed"
	open_folder
	setcap cap_bpf,cap_perfmon+ep "$OPEN/strata" || skip "no file capabilities in $OPEN"
	STRATA=$OPEN/strata doctor as_nobody
	same "works" true "$(jq .works doctor.json)"
	as_nobody "$OPEN/strata" record -o "$OPEN/run.strata" -- true 2>words
	same layers "$("$STRATA" info --json "$OPEN/run.strata" | jq -r '.layers | sort | join(" ")')" \
		"$(jq -r '[.layers | to_entries[] | select(.value.state == "records") | .key] | sort | join(" ")' doctor.json)"
}

@test "a program that the kernel refuses: exit status 3, its layer absent with the verifier's words" {
	refuse=(env REFUSE_BPF=block_start LD_PRELOAD="$ROOT/build/tools/refuse_bpf.so")
	doctor "${refuse[@]}"
	same "exit status" 3 "$status"
	jq -e '.layers.block.state == "absent" and (.layers.block.why | test("R3 invalid mem access"))' doctor.json
	same "hooks of block" 0 "$(jq '[.hooks[] | select(.probe == "block")] | length' doctor.json)"
	same_as_recording "${refuse[@]}"
}

@test "a part of a layer that is refused is named" {
	refuse=(env REFUSE_BPF=cache_add LD_PRELOAD="$ROOT/build/tools/refuse_bpf.so")
	doctor "${refuse[@]}"
	same "exit status" 3 "$status"
	jq -e '.layers.io.state == "records" and (.absent["io.missed"] | test("R3 invalid mem access"))' doctor.json
	same_as_recording "${refuse[@]}"
}

@test "few open files: a warning with the way out, and what is then absent" {
	few() { (ulimit -n 150 && exec "$@"); }
	doctor few
	same "exit status" 3 "$status"
	jq -e '.checks[] | select(.name == "open_files") | .state == "warning" and (.fix | test("ulimit -n"))' doctor.json
	same_as_recording few
}

@test "a memory cgroup that is small for the rings, and users of another namespace" {
	memory=/sys/fs/cgroup/memory
	[ -e $memory/memory.limit_in_bytes ] || skip "no memory controller of cgroup v1"
	undo sh -c "[ ! -d $memory/strata-test-doctor ] || rmdir $memory/strata-test-doctor"
	mkdir $memory/strata-test-doctor
	echo 48M >$memory/strata-test-doctor/memory.limit_in_bytes
	(echo "$BASHPID" >$memory/strata-test-doctor/cgroup.procs && exec "$STRATA" doctor --json) >doctor.json || true
	jq -e '.checks[] | select(.name == "ring_memory") | .state == "warning" and (.found | test("48.0 MiB")) and (.fix | test("--buffer"))' doctor.json
	unshare -Ur true || skip "no user namespaces"
	doctor unshare -Ur
	same "exit status" 1 "$status"
	jq -e '.checks[] | select(.name == "container").state == "missing"' doctor.json
}
