# Block devices that a test has for itself, until it ends. `load disks` after `load lib`.

# disk SIZE [FOLDER]: a loop device over a file in FOLDER ($T); its path in $DISK, its name in $NAME.
disk() {
	truncate -s "$1" "${2:-$T}/image"
	undo sh -c 'losetup -nO NAME -j "$0" | xargs -r losetup -d' "${2:-$T}/image"
	DISK=$(losetup -f --show "${2:-$T}/image" 2>"$T/losetup") || skip "no loop device: $(cat "$T/losetup")"
	NAME=${DISK#/dev/}
}

# bio_disk SIZE: a device that makes no requests of its bios, likewise.
bio_disk() {
	local number control=/sys/class/zram-control

	[ -e $control ] || modprobe zram num_devices=0 2>/dev/null || true
	number=$(cat $control/hot_add 2>/dev/null) || skip "no zram in this kernel"
	NAME=zram$number DISK=/dev/zram$number
	undo sh -c "[ ! -e /sys/block/$NAME ] || echo $number >$control/hot_remove"
	echo "$1" >"/sys/block/$NAME/disksize"
	if [ ! -b "$DISK" ]; then
		undo rm -f "$DISK"
		mknod "$DISK" b $(tr ':' ' ' <"/sys/block/$NAME/dev")
	fi
}
