#!/usr/bin/env bats
# Which file a row is about: the one behind the descriptor when the call began, under the name it had then.

load lib
setup_file() { need_bpf; }
setup() { enter; mkdir work; }
teardown() { leave; }

# of N COLUMN: of the read of N bytes (identity.c makes each once).
of() {
	rows io "requested == $1 and op == 'pread64'" "$2"
}

# inode N: of the file that the read of N bytes carries.
inode() {
	rows file "file == $(of "$1" file)" inode,dev
}

@test "rename, link, unlink, dup, fork, replacement and a renamed folder" {
	record -e io,fs -- "$W/identity" "$T/work"
	same "before the rename" "$T/work/a" "$(of 101 path)"
	same "after the rename" "$T/work/b" "$(of 102 path)"
	same "the same inode" "$(inode 101)" "$(inode 102)"
	[ "$(of 101 file)" != "$(of 102 file)" ]
	same "through another link" "$T/work/c" "$(of 103 path)"
	same "the same inode" "$(inode 101)" "$(inode 103)"
	[ "$(of 103 file)" != "$(of 102 file)" ]
	same "the first name still" "$(of 102 file)" "$(of 104 file)"
	same "duplicated descriptor" "$(of 102 file)" "$(of 105 file)"
	same "shared with a child" "$(of 102 file)" "$(of 106 file)"
	[ "$(of 106 pid)" != "$(of 105 pid)" ]
	same "the last name stays after unlink" "$T/work/b" "$(of 107 path)"
	same "a new file of the same name" "$T/work/b" "$(of 108 path)"
	[ "$(of 108 file)" != "$(of 107 file)" ]
	same "moved to another folder" "$T/work/sub/d" "$(of 109 path)"
	same "a folder above it renamed" "$T/work/moved/d" "$(of 110 path)"
	same "inode, as stat shows it" "$(stat -c %i work/moved/d)" "$(inode 110 | cut -f1)"
	same "device, as mountinfo shows it" \
		"$(findmnt -no MAJ:MIN -T work | tr -d ' ')" "$(inode 110 | cut -f2)"
}

# in_turn TIMES: records reads of one file by three names in turn; how many names the kernel's side sent. Readers make
# one of ids that mean the same, so only this tells whether a name was sent again.
in_turn() {
	rm -f "$RUN"
	record -e io -- bash -c 'for ((i = 0; i < $1; i++)); do for name in first second third/first; do
		read -r x <work/$name; done; done' bash "$1"
	"$STRATA" info --json "$RUN" | jq .tables.file.rows
}

@test "a file met by several names in turn keeps one id for each" {
	local once often

	echo x >work/first
	ln work/first work/second
	mounted "$T/work/third" --bind "$T/work"
	once=$(in_turn 1)
	often=$(in_turn 20)
	for name in first second third/first; do
		same "reads of $name" 20 "$(count io "path == '$T/work/$name'")"
	done
	[ "$once" -gt 3 ]
	echo "names sent: $once, $often"
	[ "$often" -lt $((once + 5)) ] # of 60 reads; what is known may be forgotten and sent again now and then
}

@test "a descriptor replaced while a read on it sleeps: the row carries the first file" {
	fd=$(record -e io -- "$W/fdrace" "$T/work")
	rows io "op == 'read' and fd == $fd and requested in (16, 9)" returned,path >found
	says found "^4.*pipe:\[[0-9]+\]$"
	says found "^9.*$T/work/file$"
}

@test "pipes, sockets, memfds and anonymous inodes are named as in /proc/PID/fd" {
	cat >names.py <<-'PYTHON'
		import ctypes, os, socket
		def show(fd):
		    print(fd, os.readlink(f"/proc/self/fd/{fd}"), sep="\t", flush=True)
		reader, writer = os.pipe()
		os.write(writer, b"x" * 11)
		show(writer)
		left, right = socket.socketpair()
		left.send(b"x" * 12)
		show(left.fileno())
		memory = os.memfd_create("a name")
		os.write(memory, b"x" * 13)
		show(memory)
		event = ctypes.CDLL(None).eventfd(0, 0)
		os.write(event, (1).to_bytes(8, "little"))
		show(event)
	PYTHON
	record -e io -- /usr/bin/python3 names.py >expected
	while IFS=$'\t' read -r fd name; do
		same "descriptor $fd" "$name" "$(printf %b "$(rows io \
			"fd == $fd and dir == 'W' and requested in (8, 11, 12, 13)" path)")"
	done <expected
	same "kinds" "other pipe socket" "$(for n in 8 11 12; do
		rows file "file == $(rows io "requested == $n and dir == 'W' and fd > 2" file | head -1)" kind
	done | sort | xargs)"
}

@test "opens: the file that the kernel found, symbolic links resolved; stats: the path as passed" {
	mkdir work/real
	echo x >work/real/file
	ln -s real work/link
	record -e fs -- sh -c "cd '$T/work'; cat link/../link/file; stat link/file" >/dev/null
	same opened "$(printf '%s' "$T/work/real/file")" \
		"$(rows fs "op == 'openat' and arg_path == 'link/../link/file'" path)"
	same stat "$(printf '%s\t-' "$T/work/link/file")" \
		"$(rows fs "op in ('statx', 'newfstatat') and arg_path == 'link/file'" path,file | head -1)"
}
