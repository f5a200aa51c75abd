#!/usr/bin/env bats
# That tests leave the machine as it was is seen by tests/run-suites, whatever they leave and however they end.

load lib

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	REFUSED= enter
}

teardown() { leave; }

# suite NAME [HOOK]: a bats file with the test on standard input.
suite() {
	{
		echo "load '$HERE/lib'"
		echo "load '$HERE/disks'"
		echo 'setup() { REFUSED= enter; }'
		echo "${2:-}"
		echo '@test "a test" {'
		cat
		echo '}'
	} >"$T/$1.bats"
}

# Of loop devices and processes, that are of this test.
ours() {
	losetup -nlO BACK-FILE | grep -F "$T/" || true
	grep -F "$T/" /proc/self/mounts || true
	pgrep -f "sleep 4[0-9][0-9]$BATS_ROOT_PID" || true
}

@test "the state shows each thing that is changed" {
	cp -a /var/lib/dpkg dpkg
	cat >change <<-'EOS'
		"$ROOT/tests/outside-state" all >before
		mount -t tmpfs none /mnt
		mount -t tmpfs none /run && ip netns add left
		mount -t tmpfs none /var/tmp && touch /var/tmp/strata-left
		mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/strata-test-left
		mount -t tmpfs none /etc/sudoers.d && touch /etc/sudoers.d/left
		{ cat /etc/passwd; echo left:x:4242:4242::/:/bin/sh; } >passwd && mount --bind passwd /etc/passwd
		mkdir /mnt/bpf && mount -t bpf none /mnt/bpf
		bpftool map create /mnt/bpf/left type array key 4 value 4 entries 1 name left
		echo 1 >/proc/sys/net/ipv4/ip_forward
		printf 'Package: left\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n' >>dpkg/status
		truncate -s 1M /var/tmp/image && losetup -f --show /var/tmp/image >device
		"$ROOT/tests/outside-state" all >after
		losetup -d "$(cat device)"
	EOS
	ROOT=$ROOT DPKG_ADMINDIR=$T/dpkg unshare --mount --net --propagation private sh -e change
	comm -13 before after >more
	for thing in 'mount /mnt tmpfs' 'netns left' 'file /var/tmp/strata-left' 'cgroup .*/strata-test-left' 'sudoer left' \
		'user left' 'bpf /mnt/bpf/left' 'sysctl net.ipv4.ip_forward = 1' 'package .*left' "disk $(cat device) */var/tmp/image"; do
		says more "^$thing"
	done
	says <(comm -23 before after) 'sysctl net.ipv4.ip_forward = 0'
}

@test "what a test leaves behind fails the run, is shown and goes" {
	suite leaves <<-EOS
		disk 1M
		rm -f "\$(journal)"
		mkdir place
		mount -t tmpfs none place
		setsid sleep 400$BATS_ROOT_PID >/dev/null 2>&1 3>&- &
	EOS
	run -1 "$ROOT/tests/run-suites" "$T/leaves.bats"
	echo "$output"
	says <(tail -1 <<<"$output") "^2 passed, [12] failed, 0 skipped" # bats itself cannot remove its folder
	for thing in "leaves.bats: left behind" "mount .*/place tmpfs" "disk /dev/loop.*/image" "process .* sleep 400"; do
		says <(echo "$output") "$thing"
	done
	same "what is there" "" "$(ours)"
}

@test "what a test changes outside of its folder fails the run" {
	undo rm -f "/var/tmp/strata-left-$BATS_ROOT_PID"
	suite changes <<-EOS
		touch "/var/tmp/strata-left-$BATS_ROOT_PID"
	EOS
	SUITE_SETTLE=1 run -1 "$ROOT/tests/run-suites" "$T/changes.bats"
	echo "$output"
	same "the last line" "1 passed, 1 failed, 0 skipped" "$(tail -1 <<<"$output")"
	says <(echo "$output") "^not ok the state of the machine is not what it was"
	says <(echo "$output") "^\+ file /var/tmp/strata-left-$BATS_ROOT_PID\$"
}

@test "a test that is killed leaves nothing" {
	suite killed 'teardown() { leave; }' <<-EOS
		disk 1M
		mounted "\$T/place" -t tmpfs none
		background sleep 401$BATS_ROOT_PID
		trap '' TERM
		while :; do sleep 402$BATS_ROOT_PID; done
	EOS
	SUITE_LIMIT=2 run -1 "$ROOT/tests/run-suites" "$T/killed.bats"
	echo "$output"
	same "the last line" "1 passed, 1 failed, 0 skipped" "$(tail -1 <<<"$output")"
	same "what is there" "" "$(ours)"
}

@test "what a run leaves that is killed itself, the next run takes back" {
	suite long 'teardown() { leave; }' <<-EOS
		disk 1M
		mounted "\$T/place" -t tmpfs none
		sleep 403$BATS_ROOT_PID
	EOS
	suite short </dev/null
	background "$ROOT/tests/run-suites" "$T/long.bats"
	within 20 pgrep -f "sleep 403$BATS_ROOT_PID"
	kill -KILL "$PID"
	wait "$PID" || true
	[ -n "$(ours)" ]
	run -0 "$ROOT/tests/run-suites" "$T/short.bats"
	same "what is there" "" "$(ours)"
}
