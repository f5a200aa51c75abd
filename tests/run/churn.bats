#!/usr/bin/env bats
# Names that live short: a row carries the name that its file had then, not that of one which was at the same place in the
# kernel's memory before.

load lib
load disks
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# file_system TYPE: a new one at $T/TYPE.
file_system() {
	mkdir -p "$T/images/$1"
	disk 400M "$T/images/$1"
	mkfs -t "$1" -q "$DISK" 2>/dev/null || mkfs -t "$1" "$DISK" >/dev/null
	mounted "$T/$1" "$DISK"
}

# churned MODE FOLDER N NAME: each row's position tells which file it is of; NAME is its path, %d for the number.
churned() {
	mkdir -p "$2"
	record --force -e io,fs -- "$W/churn" "$1" "$2" "$3"
	no_loss
	same "rows of $1 in $2" "$3" "$(count io "requested == 1")"
	same "names of $1 in $2" "" "$(rows io "requested == 1 and path != '$2/$4' % pos" pos,path | sed -n 1,5p)"
}

@test "on the file system of the temporary folder" {
	churned files "$T/work" 3000 f%d
	churned links "$T/links" 5000 d%d/link
	churned dirs "$T/dirs" 3000 d%d/same
}

@test "on ext4, xfs and btrfs" {
	for fs in ext4 xfs btrfs; do
		file_system "$fs"
		churned files "$T/$fs/work" 3000 f%d
		churned links "$T/$fs/links" 5000 d%d/link
		churned dirs "$T/$fs/dirs" 2000 d%d/same
	done
}

@test "on an overlay, whose inodes have no generations" {
	file_system ext4
	mkdir -p ext4/upper ext4/work lower
	mounted "$T/merged" -t overlay overlay -o "lowerdir=$T/lower,upperdir=$T/ext4/upper,workdir=$T/ext4/work"
	churned files "$T/merged/files" 3000 f%d
	churned links "$T/merged/links" 3000 d%d/link
	churned dirs "$T/merged/dirs" 2000 d%d/same
}

@test "through FUSE, whose inodes a program in user space numbers" {
	[ -e /dev/fuse ] && command -v bindfs >/dev/null || skip "no FUSE here"
	for caching in "" "-o attr_timeout=0,entry_timeout=0"; do
		mkdir -p source fused
		undo sh -c '! mountpoint -q "$0" || umount -l "$0"' "$T/fused"
		bindfs $caching "$T/source" "$T/fused" 3>&-
		churned files "$T/fused/files" 500 f%d
		churned links "$T/fused/links" 300 d%d/link
		churned dirs "$T/fused/dirs" 300 d%d/same
		umount "$T/fused"
		rm -r source
	done
}

@test "on tmpfs" {
	mounted "$T/memory" -t tmpfs tmpfs
	churned files "$T/memory/files" 3000 f%d
	churned links "$T/memory/links" 3000 d%d/link
	churned dirs "$T/memory/dirs" 2000 d%d/same
}
