# Block devices that a test has for itself. `load disks` after `load lib`, and call remove_disks after leave.

# disk SIZE [FOLDER]: a loop device over a file in FOLDER ($T); its path in $DISK, its name in $NAME.
disk() {
	truncate -s "$1" "${2:-$T}/image"
	DISK=$(losetup -f --show "${2:-$T}/image" 2>"$T/losetup") || skip "no loop device: $(cat "$T/losetup")"
	NAME=${DISK#/dev/}
	DISKS="$DISK ${DISKS:-}"
}

# bio_disk SIZE: a device that makes no requests of its bios, likewise.
bio_disk() {
	local number

	number=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || skip "no zram in this kernel"
	NAME=zram$number DISK=/dev/zram$number
	DISKS="$DISK ${DISKS:-}"
	echo "$1" >"/sys/block/$NAME/disksize"
	[ -b "$DISK" ] || mknod "$DISK" b $(tr ':' ' ' <"/sys/block/$NAME/dev")
}

# What both made; after `leave`, which unmounts them.
remove_disks() {
	local disk

	for disk in ${DISKS:-}; do
		case $disk in
		/dev/loop*) losetup -d "$disk" ;;
		*) within 10 sh -c "echo ${disk#/dev/zram} 2>/dev/null >/sys/class/zram-control/hot_remove" ;;
		esac
	done
}
