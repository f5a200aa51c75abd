#!/usr/bin/env bats
# Namespaces and file systems that show one thing under several names.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

@test "strata inside a PID namespace: ids are those of its own /proc" {
	unshare -pf --mount-proc "$STRATA" record --scope job -e io,fs -o "$RUN" -- \
		sh -c "echo \$\$ >'$T/work/shell'; cat '$T/work/shell' >/dev/null; true" 2>words
	same "id of the shell" "$(cat work/shell)" "$(rows io "path == '$T/work/shell' and dir == 'W'" pid)"
	same "its first exec" "$(cat work/shell)" "$(rows process "event == 'exec' and comm == 'sh'" pid | head -1)"
	same "the child's rows are there" 1 "$(count io "comm == 'cat' and path == '$T/work/shell' and returned > 0")"
	no_loss
}

@test "strata inside a PID namespace: attaching by an id of that namespace" {
	head -c 100 /dev/zero >data
	cat >attach.sh <<-SHELL
		"$W/spin" "$T/data" 5000 >/dev/null & echo \$! >"$T/id"
		"$STRATA" record -e io -d 1s -o "$RUN" -p \$! 2>"$T/words"
		kill \$!
	SHELL
	unshare -pf --mount-proc sh attach.sh
	[ "$(count io "path == '$T/data' and pid == $(cat id)")" -gt 10 ]
}

@test "strata inside a PID namespace: who is outside has no id there, but the machine's number, in exports too" {
	head -c 100 /dev/zero >data
	background "$W/spin" "$T/data" 5000
	unshare -pf --mount-proc "$STRATA" record -a -d 1s -o "$RUN" 2>words
	for table in sched io; do
		rows $table "host_pid == $PID" pid,tid,comm | sort -u >ids
		same "ids inside ($table)" "- - -" "$(tr '\t' ' ' <ids)"
	done
	[ "$(count io "host_pid == $PID and path == '$T/data' and returned == 64")" -gt 10 ]
	same "rows with neither number" 0 "$(count sched,io,fs,mem "pid is None and host_pid is None")"
	same "rows with both" 0 "$(count sched,io,fs,mem,process "pid is not None and host_pid is not None")"
	"$STRATA" export -q "$RUN" -f switches -o switches 2>words
	"$STRATA" export -q "$RUN" -f read -o reads
	same "lines of the switches" "$(count sched "host_pid == $PID and dur is not None")" \
		"$(awk -v pid="$PID" '$2 == pid' switches | wc -l)"
	[ "$(awk -v pid="$PID" '$2 == pid' reads | wc -l)" -gt 10 ]
	same "lines without a number" "" "$(tail -n +2 switches | awk '$2 !~ /^[0-9]+$/ || $2 == 2147483647')"
}

@test "a job in its own PID namespace: ids as strata's /proc shows them" {
	# /proc is the outer one still: /proc/self names the id that the outer namespace sees.
	inner=$(record --scope job -e io,fs -- unshare -pf sh -c 'echo $$; readlink /proc/self')
	same "the shell thinks it is" 1 "$(head -1 <<<"$inner")"
	same "readlink, seen from outside" "$(tail -1 <<<"$inner")" \
		"$(rows process "event == 'exec' and comm == 'readlink'" pid)"
	no_loss
}

@test "a job in its own mount namespace: paths as it sees them" {
	mkdir work/real
	echo 12345 >work/real/file
	record -e io,fs -- unshare -m sh -c "
		mkdir '$T/work/new' '$T/work/bound'
		mount -t tmpfs none '$T/work/new'
		mount --bind '$T/work/real' '$T/work/bound'
		echo hello >'$T/work/new/file'
		cat '$T/work/new/file' '$T/work/bound/file'" >/dev/null
	same "on a mount of its own" "$T/work/new/file" "$(rows io "comm == 'cat' and dir == 'R' and returned == 6 \
		and '/new/' in path" path)"
	same "through a bind mount" "$T/work/bound/file" "$(rows io "comm == 'cat' and dir == 'R' and returned == 6 \
		and '/new/' not in path" path)"
	same "type of the file system" tmpfs "$(rows file "path == '$T/work/new/file'" fs | sort -u)"
}

@test "the same file through two mounts: two names, one inode" {
	mkdir work/real
	echo 12345 >work/real/file
	mounted "$T/work/bound" --bind "$T/work/real"
	record -e io -- cat work/real/file work/bound/file >/dev/null
	same paths "$(printf '%s\n' "$T/work/real/file" "$T/work/bound/file")" \
		"$(rows io "dir == 'R' and returned == 6" path)"
	same "one inode, two ids" "2 1" "$(rows file "path.endswith('/file') and '/work/' in path" file |
		sort -u | wc -l) $(rows file "path.endswith('/file') and '/work/' in path" inode | sort -u | wc -l)"
}

@test "overlayfs: paths of the merged view, also when a write copies the file up" {
	mkdir work/{lower,upper,inside}
	echo 12345 >work/lower/file
	mounted "$T/work/merged" -t overlay \
		-o "lowerdir=$T/work/lower,upperdir=$T/work/upper,workdir=$T/work/inside" none
	record -e io,fs -- sh -c "cat '$T/work/merged/file'; echo more >>'$T/work/merged/file'; \
		cat '$T/work/merged/file'" >/dev/null
	rows io "path and path.startswith('$T/work/')" dir,returned,path >found
	same rows "$(printf '%s\t%s\t%s\n' R 6 "$T/work/merged/file" R 0 "$T/work/merged/file" \
		W 5 "$T/work/merged/file" R 11 "$T/work/merged/file" R 0 "$T/work/merged/file")" "$(cat found)"
	same "type and device, as mountinfo shows them" \
		"overlay $(findmnt -no MAJ:MIN "$T/work/merged" | tr -d ' ')" \
		"$(rows file "path == '$T/work/merged/file'" fs,dev | sort -u | tr '\t' ' ')"
}

@test "btrfs subvolumes: equal inode numbers are different files" {
	grep -qw btrfs /proc/filesystems && command -v mkfs.btrfs >/dev/null || skip "no btrfs here"
	truncate -s 128M image
	mkfs.btrfs -q image
	mounted "$T/work/btrfs" -o loop "$T/image" || skip "no loop device"
	for name in one two; do
		btrfs -q subvolume create "work/btrfs/$name" >/dev/null
		echo $name >work/btrfs/$name/file
	done
	same "equal inode numbers" "$(stat -c %i work/btrfs/one/file)" "$(stat -c %i work/btrfs/two/file)"
	record -e io -- cat work/btrfs/one/file work/btrfs/two/file >/dev/null
	same paths "$(printf '%s\n' "$T/work/btrfs/one/file" "$T/work/btrfs/two/file")" \
		"$(rows io "dir == 'R' and returned == 4 and 'btrfs' in path" path)"
	same "two ids" 2 "$(rows file "'/btrfs/' in path and path.endswith('/file')" file | sort -u | wc -l)"
	# stat shows another device for each subvolume; the superblock's is the one in mountinfo.
	same "one device, as in mountinfo" "$(findmnt -no MAJ:MIN "$T/work/btrfs" | tr -d ' ')" \
		"$(rows file "'/btrfs/' in path and path.endswith('/file')" dev | sort -u)"
}

@test "chroot: paths from the root of the mount namespace" {
	mkdir work/root
	echo 12345 >work/root/file
	record -e io,fs -- /usr/bin/python3 -c "
import os
os.chroot('$T/work/root')
os.chdir('/')
os.read(os.open('/file', os.O_RDONLY), 77)"
	same "read" "$T/work/root/file" "$(rows io "requested == 77" path)"
	same "opened as" "/file" "$(rows fs "op == 'openat' and path == '$T/work/root/file'" arg_path)"
}
