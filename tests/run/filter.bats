#!/usr/bin/env bats
# --comm, --cgroup and --path: exactly the rows that an unfiltered recording of the same job has of them.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# cgroup TYPE: makes a cgroup in a hierarchy of that type (cgroup2, or cgroup with a controller); its folder is $GROUP.
cgroup() {
	local mount

	mount=$(awk -v type="$1" '$3 == type && (type == "cgroup2" || $4 ~ /(freezer|blkio|pids|memory)/) { print $2; exit }' \
		/proc/mounts)
	if [ -z "$mount" ]; then
		mount=$T/$1
		mounted "$mount" -t "$1" $([ "$1" = cgroup2 ] || echo -o freezer) none || skip "no $1 in this kernel"
	fi
	GROUP=$mount/strata-test-$$-$BATS_TEST_NUMBER
	folder "$GROUP" || skip "cannot make a cgroup"
}

# folder GROUP: a cgroup, until the test ends.
folder() {
	undo sh -c '[ ! -d "$0" ] || rmdir "$0"' "$1"
	mkdir "$1"
}

# Rows of the job's tables, by what does not change from run to run.
calls() { rows io,fs,mem "$1" op,path,returned | grep -v '^m' | sort; }

job='cat a b >/dev/null; head -c 100 a >/dev/null; cp a dir/c; stat dir/c >/dev/null; cat dir/c >/dev/null; rm dir/c'

files() {
	mkdir dir
	head -c 100000 /dev/urandom >a
	head -c 5000 /dev/urandom >b
}

@test "--comm: the rows of threads of that name, and no others" {
	files
	record --force -e io,fs -- bash -c "$job"
	expected=$(calls "comm == 'cat'")
	record --force -e io,fs --comm cat -- bash -c "$job"
	same "calls" "$expected" "$(calls True)"
	same "names" cat "$(rows io,fs True comm | sort -u)"
	no_loss
}

@test "--comm: from the moment that a thread takes the name, until it takes another" {
	record -e fs --comm wanted -- /usr/bin/python3 -c '
import os
def name(text):
	with open("/proc/self/comm", "w") as file:
		file.write(text)
os.access("/before", 0)
name("wanted")
os.access("/within", 0)
if not os.fork():
	os.access("/child", 0)
	os._exit(0)
os.wait()
name("other")
os.access("/after", 0)'
	same "calls" "$(printf '/child\n/within')" "$(rows fs "op == 'access'" arg_path | sort)"
}

@test "-a --comm: threads of that name, whoever started them" {
	cp /bin/cat ./wanted
	background bash -c 'while :; do ./wanted /etc/passwd >/dev/null; cat /etc/group >/dev/null; done'
	record -e io,fs -a --comm wanted -d 500ms
	[ "$(count io "path == '/etc/passwd'")" -gt 0 ]
	same "names" wanted "$(rows io,fs True comm | sort -u)"
}

@test "a name that nobody has: said at the end, the command's status passed on" {
	run -7 record --comm nobody -- sh -c 'exit 7'
	says words 'no thread matched --comm nobody'
	same "rows" 0 "$(count io,fs,mem)"
}

@test "--cgroup, unified hierarchy: its threads and those below it" {
	cgroup cgroup2
	folder "$GROUP/below"
	record -e fs --cgroup "$GROUP" -- bash -c '
		[ -e /before ]
		echo $$ >"$0/cgroup.procs"; [ -e /within ]
		echo $$ >"$0/below/cgroup.procs"; [ -e /below ]; (:; [ -e /child ])
		echo $$ >"$0/../cgroup.procs"; [ -e /after ]; :' "$GROUP"
	same "calls" "$(printf '/below\n/child\n/within')" \
		"$(rows fs "arg_path in ('/before', '/within', '/below', '/child', '/after')" arg_path | sort)"
}

@test "--cgroup by the path that /proc shows, with -a and a process that was there before" {
	cgroup cgroup2
	background bash -c 'echo $BASHPID >"$0/cgroup.procs"; while :; do [ -e /within ]; sleep 0.01; done' "$GROUP"
	within 5 grep -q . "$GROUP/cgroup.procs"
	record -e fs -a --cgroup "/${GROUP##*/}" -d 500ms
	[ "$(count fs "arg_path == '/within'")" -gt 5 ]
	same "processes outside" 0 "$(count fs "comm not in ('bash', 'sleep')")"
}

@test "--cgroup, hierarchy of a controller" {
	cgroup cgroup
	record -e fs --cgroup "$GROUP" -- bash -c '
		[ -e /before ]; echo $$ >"$0/cgroup.procs"; [ -e /within ]; echo $$ >"$0/../cgroup.procs"; [ -e /after ]; :' "$GROUP"
	same "calls" /within "$(rows fs "arg_path in ('/before', '/within', '/after')" arg_path)"
}

@test "--cgroup: threads of a process that is moved while it runs" {
	cgroup cgroup2
	background /usr/bin/python3 -c '
import os, threading, time
def work():
	while True:
		os.access("/within", 0)
		time.sleep(0.01)
for i in range(3):
	threading.Thread(target=work).start()'
	moved=$PID
	background "$STRATA" record -o "$RUN" -e fs -a --cgroup "$GROUP" -d 3s
	within 20 armed
	echo "$moved" >"$GROUP/cgroup.procs"
	wait "$PID"
	same "threads" 3 "$(rows fs "arg_path == '/within'" tid | sort -u | wc -l)"
}

@test "--cgroup that is not there: an error before the command runs" {
	run -125 record --cgroup /no/such/group -- touch ran
	says words "no cgroup '/no/such/group'"
	[ ! -e ran ]
}

@test "--path: calls on files below it, by descriptor, by path and relative to wherever" {
	files
	walk="cd dir; cat ../a c 2>/dev/null; cd ..; $job; cd /; cat '$T/dir/../b'; stat tmp"
	record --force -e io,fs,mem -- bash -c "$walk" >/dev/null
	expected=$(calls "(path or '').startswith('$T/dir') or (table == 'io' and (out_path or '').startswith('$T/dir'))")
	[ "$(wc -l <<<"$expected")" -gt 10 ]
	record --force -e io,fs,mem --path "$T/dir" -- bash -c "$walk" >/dev/null
	same "calls" "$expected" "$(calls True)"
	no_loss
}

@test "--path: a prefix within a name, relative, and one that leads through a symbolic link" {
	files
	ln -s dir link
	for prefix in "$T/di" di link/ "$T/link"; do
		record --force -e io --path "$prefix" -- bash -c "$job"
		same "files with --path $prefix" "$T/dir/c" "$(rows io "out_path is None" path | sort -u)"
	done
	record --force -e fs --path link -- stat link/none "$T/link/none" 2>/dev/null || true
	same "calls by that path" 2 "$(count fs "op in ('statx', 'newfstatat')")"
}

@test "--path: mappings, faults and block requests" {
	[ "$(stat -f -c %T .)" != tmpfs ] || skip "the temporary folder is a tmpfs"
	files
	head -c 1048576 /dev/urandom >dir/big
	cp dir/big big
	sync dir/big big
	dd if=dir/big iflag=nocache count=0 status=none
	dd if=big iflag=nocache count=0 status=none
	record --path "$T/dir/" -- bash -c '"$0" dir/big read; "$0" big read' "$W/touch" >/dev/null
	for table in mem fault block; do
		same "files of $table" "$T/dir/big" "$(rows $table True path | sort -u)"
	done
	same "bytes read" 1048576 "$(rows block "op == 'R'" bytes | awk '{ sum += $1 } END { print sum }')"
}

@test "--path that no file has: said at the end" {
	record --path /no/such/place -- true
	says words 'no file matched --path /no/such/place'
}

@test "filters that make no sense together are refused" {
	run -2 record -a --comm x --scope all -d 1s
	says words 'makes no sense'
	run -2 record --path '' -- true
	says words 'path is empty'
}
