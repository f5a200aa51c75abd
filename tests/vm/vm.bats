#!/usr/bin/env bats
# The recorder inside Debian's own kernel: its programs load there and tell the truth. The kernel is booted
# once, under emulation; `guest` makes the recordings, which are read and checked here. Needs no root.

load ../run/lib

setup_file() {
	local program words

	export REFUSED= GUEST=$BATS_FILE_TMPDIR/guest
	for program in qemu-system-x86_64 busybox cpio setpriv dmsetup; do
		PATH=$PATH:/usr/sbin command -v $program >/dev/null || REFUSED="$program is not installed"
	done
	[ -n "$REFUSED" ] || words=$("$BATS_TEST_DIRNAME/prepare" 2>&1) || REFUSED=$(tail -n 1 <<<"$words")
	[ -n "$REFUSED" ] || setpriv --pdeathsig TERM "$BATS_TEST_DIRNAME/boot" "$GUEST" 3>&-
}

setup() { enter; }
teardown() { leave; }

# of JOB: what follows is about this recording of the guest's.
of() {
	T=$GUEST/$1
	RUN=$T/run.strata
	cd "$T" || return 1
}

# Of a job's first process.
first() {
	rows process "event == 'exec'" "$1" | head -1
}

@test "every layer attaches, and nothing is lost, in any recording" {
	local words

	for words in "$GUEST"/*/words; do
		of "$(basename "${words%/words}")"
		readable
		same "warnings of the reader" "" "$(cat info.err)"
		same "layers of $RUN" process,sched,io,fs,mem,wait,stall,fault,block,cpu,disk "$(rows run "key == 'layers'" value)"
		same "absent in $RUN" "$({ cat "${words%/words}/absent" 2>/dev/null; echo absent.fault.minor absent.gpu; } | xargs -n 1 | sort)" \
			"$(rows run "key.startswith('absent')" key | sort)"
		same "kernel" "$(cat "$GUEST/kernel")" "$(rows run "key == 'kernel'" value | sed 's/.*x20//')"
		says words "none lost"
		no_loss
	done
	same "recordings" "$(grep -cE '^(job|attached|limited|allowed)( |$)' "$BATS_TEST_DIRNAME/guest")" \
		"$(ls "$GUEST"/*/run.strata | wc -l)"
}

@test "every call of io, fs and mem, in order, with arguments, results and paths" {
	of syscalls
	same "exit status" 0 "$(cat status)"
	"$HERE/truth.py" "$RUN" out
}

@test "a program that makes every call: the counts that strace finds in a run of it here" {
	command -v strace >/dev/null || skip "strace is not installed"
	mkdir work
	strace -f -y -xx -s 0 -e "trace=$("$HERE/syscalls.py")" -o log "$W/syscalls" "$T/work" >out
	"$HERE/strace_counts.py" log | sed "s|$T/|/job/syscalls/|" | sort >strace.counts
	"$HERE/strata_counts.py" "$GUEST/syscalls/run.strata" | sort >strata.counts
	# The truth that the program tells is as long as the addresses and names in it.
	sed -i -E '/^(moved write|file W \/job\/syscalls\/out) /d' strace.counts strata.counts
	[ "$(wc -l <strace.counts)" -gt 100 ]
	same counts "$(cat strace.counts)" "$(cat strata.counts)"
}

@test "positions: appends, shared and moved positions, vectors, copies and offsets beyond 4 GiB" {
	of positions
	"$HERE/truth.py" "$RUN" out
}

@test "an empty path is read as such: the call is about its descriptor" {
	of syscalls
	begin=$(rows fs "arg_path == 'TRUTH BEGINS'" ts)
	rows fs "ts < $begin and op == 'newfstatat' and flags & 0x1000" fd,path,returned >found
	[ -s found ] || skip "the C library's fstat passes no path"
	# The loader asks for the state of each file that it opens.
	same "descriptors and their files" \
		"$(rows fs "ts < $begin and op == 'openat'" fd,path | sed 's/$/\t0/')" "$(cat found)"
}

@test "identity: rename, link, unlink, dup, fork, replacement and a renamed folder" {
	of identity
	rows io "op == 'pread64' and '/work/' in path" requested,file,path >found
	same "names" "$(printf "/job/identity/work/%s\n" a b c b b b b b sub/d moved/d)" "$(cut -f3 found)"
	# Ids by the order in which they first appear: one id is one name of one inode.
	same "ids" "1 2 3 2 2 2 2 4 5 6" "$(awk '!($2 in id) { id[$2] = ++n } { print id[$2] }' found | xargs)"
	while read -r _ file _; do
		rows file "file == $file" inode,dev
	done <found >inodes
	same "inodes" "1 1 1 1 1 1 1 2 2 2" \
		"$(awk '!($0 in id) { id[$0] = ++n } { print id[$0] }' inodes | xargs)"
	same "inode and device, as the guest shows them" "$(xargs <inode)" "$(tail -1 inodes | tr '\t' ' ')"
}

@test "a shell renames the folder of a file that it reads: the new path, the same inode" {
	of shell
	same "bytes and names" "$(printf '%s\n' "5 old" "5 new" "5 new")" \
		"$(rows io "'/work/' in path and dir != 'W'" pid,fd,returned,path |
			awk '{ key = $1 " " $2 " " $4 } key != last { if (n) print n, name; n = 0 }
				{ last = key; n += $3; split($4, part, "/"); name = part[5] } END { print n, name }')"
	rows file "'/work/' in path and path.endswith('/file')" path,inode,dev >files
	same "names" "/job/shell/work/old/file /job/shell/work/new/file" "$(cut -f1 files | xargs)"
	same "inodes" 1 "$(cut -f2,3 files | sort -u | wc -l)"
	same "as passed" "work/old work/new" \
		"$(rows fs "op.startswith('rename')" arg_path,arg_path2 | tr '\t' ' ')"
}

@test "a shell's children: fork, exec, exit" {
	of shell
	pid=$(first pid)
	same "the shell" "/usr/bin/busybox sh 0" \
		"$(rows process "event == 'exec' and pid == $pid" exe,comm,uid | tr '\t' ' ')"
	same "what its children exec" "$(printf '/bin/cat work/%s/file\n' old new)" \
		"$(printf '%b\n' "$(rows process "event == 'exec' and ppid == $pid" args)")"
	same "who is born and who dies" \
		"$({ echo $pid; rows process "event == 'fork' and ppid == $pid" pid; } | sort)" \
		"$(rows process "event == 'exit'" pid | sort)"
	same "exit codes" "0 3" "$(rows process "event == 'exit'" exit_code | uniq | xargs)"
	same "exit status" 3 "$(cat status)"
	start=$(rows process "event == 'exec'" ts | head -1)
	same "calls before the first exec" 0 "$(count io,fs,mem "ts < $start")"
}

@test "interrupted calls: interrupted, interrupted and begun anew, killed inside" {
	of signals
	same "reads of the pipe" "$(printf '%s\n' '-4 False' '-4 True' '5 -' '-4 False')" \
		"$(rows io "pid == $(first pid) and fd == $(cat out) and path.startswith('pipe:')" \
			returned,restarted | tr '\t' ' ')"
	same "death by TERM" -15 "$(rows process "event == 'exit' and pid == $(first pid)" exit_code)"
	same "exit status" 143 "$(cat status)"
}

@test "100 threads at once" {
	of threads
	pid=$(first pid)
	same "forks of threads" 100 "$(count process "event == 'fork' and pid == $pid and tid != pid")"
	same "exits" 101 "$(count process "event == 'exit' and pid == $pid")"
	rows io "op == 'write' and '/work/' in path" tid,pos,path >writes
	same "threads that wrote" 100 "$(cut -f1 writes | sort -u | wc -l)"
	same "files" "$(seq 0 99)" "$(cut -f3 writes | sed 's|.*/||' | sort -nu)"
	same "positions" "100 0 100 100 100 200" "$(cut -f2 writes | sort -n | uniq -c | xargs)"
}

@test "100 short-lived processes, each tenth with an exec" {
	of forks
	pid=$(first pid)
	same "forks" 100 "$(count process "event == 'fork' and ppid == $pid")"
	same "exec in children" 10 "$(count process "event == 'exec' and pid != $pid")"
	same "exit codes" "$(seq 0 99; echo 0)" "$(rows process "event == 'exit'" pid,exit_code | sort -n |
		awk -v pid=$pid '$1 != pid { print $2 } $1 == pid { own = $2 } END { print own }')"
	same "positions of the children's reads" "$(seq 0 99 | grep -v '0$')" \
		"$(rows io "op == 'pread64' and path == '/job/data'" pos | sort -n)"
	same "reads after exec" 10 "$(count io "op == 'read' and path == '/job/data' and returned == 16")"
}

@test "exec from a thread that is not the leader" {
	of execthread
	read -r pid tid <out
	[ "$pid" != "$tid" ]
	same "ids that wrote" "leader $pid $pid thread $pid $tid after $pid $pid" \
		"$(rows io "op == 'write' and '/work/' in path" path,pid,tid | sed 's|.*/work/||' | xargs)"
	same "the exec" "$pid $pid" "$(rows process "event == 'exec'" pid,tid | tail -1 | tr '\t' ' ')"
	same "exit code" 5 "$(rows process "event == 'exit'" exit_code | tail -1)"
}

@test "paths of 4,000 bytes, names with spaces, newlines, quotes and bytes that are no UTF-8" {
	of longpath
	same "length of the path" 4000 "$(cat out)"
	same "written to" "$(/usr/bin/python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from rows import visible
names = open("names", "rb").read().decode("latin-1").split("\0")[:-1]
print(*sorted(visible(name) for name in names), sep="\n")' "$HERE")" \
		"$(rows io "op == 'write' and fd > 2" path | LC_ALL=C sort)"
	same "the long path as passed" 1 "$(count fs "op == 'openat' and len(arg_path) == 4000")"
}

@test "attached to a process that sleeps in a read: the call begins with the recording" {
	of attach
	same "the read of the pipe" "$(printf 'read\t5\t/job/attach/fifo\t-')" \
		"$(rows io "ts == $(rows run "key == 'start_ts'" value)" op,returned,path,pos)"
	same "the file it opened before" "$(printf '10\t/job/attach/data\t0')" \
		"$(rows io "path.endswith('/data')" returned,path,pos)"
	same "exit code" 6 "$(rows process "event == 'exit' and comm == 'blockedread'" exit_code)"
}

# moved DEV [CONDITION]: bios (or requests) and sectors of a device, by operation, as counted prints them.
moved() {
	rows block "dev == '$1' and (${2:-True})" op,bytes |
		awk '{ n[$1]++; sectors[$1] += $2 / 512 } END { print n["R"] + 0, sectors["R"] + 0, n["W"] + 0, sectors["W"] + 0 }'
}

# counted DEV NUMBER: reads, sectors read, writes and sectors written as the guest's kernel counted them, in the
# NUMBERth piece of work on a device.
counted() {
	awk -v dev="$1" -v number="$2" '$1 == dev && ++n == number { print $19 - $2, $21 - $4, $23 - $6, $25 - $8 }' out
}

@test "io_uring: plain, polled by the kernel, with registered files" {
	for job in uring polled fixed; do
		of $job
		"$HERE/truth.py" "$RUN" out
	done
}

@test "libaio" {
	of aio
	"$HERE/truth.py" "$RUN" out
}

@test "filters: threads of a name, files below a path" {
	of filter
	same "names" cat "$(rows io,fs True comm | sort -u)"
	same "files" /job/filter/work/in/one "$(rows io True path | sort -u)"
	same "opens" 2 "$(count fs "op in ('open', 'openat')")"
}

@test "major faults, as many as the kernel counted, each of another page, with file and time" {
	of fault
	[ "$(cut -d' ' -f3 out)" -gt 100 ]
	rows fault "path == '/mnt/data' and major and dur > 0 and addr - pos == $(cut -d' ' -f1 out)" pos | sort -u >pages
	same "pages" "$(cut -d' ' -f3 out)" "$(wc -l <pages)"
	same "rows" "$(wc -l <pages)" "$(count fault "path == '/mnt/data'")"
}

@test "devices without requests: zram as the kernel counts; what passes it without a bio is named" {
	of bios
	same "zram0" "64 2048 146 13168" "$(counted zram0 1)"
	same "rows" "64 2048 146 13168" "$(moved zram0)"
	[ "$(counted zram0 2 | cut -d' ' -f1)" -gt 0 ] # read from the cache's side: no bio
	says words "'block.page' is not recorded: this kernel"
	"$STRATA" info "$RUN" >info
	says info "absent: block.page: this kernel"
	same "named in JSON" true "$("$STRATA" info --json "$RUN" | jq '.absent | has("block.page")')"
}

@test "devices without requests: dm, whose bio that is split is one row, and the device below it" {
	of bios
	same "dm-0, the parts of the one that was split counted" "64 2048 147 13168" "$(counted dm-0 1)"
	same "rows of dm-0" "64 2048 146 13168" "$(moved dm-0)"
	same "rows of ram0, which gets the parts" "64 2048 147 13168" "$(moved ram0)"
	same "bytes of the longest" "1048576 524288" "$(for dev in dm-0 ram0; do
		rows block "dev == '$dev' and sector in (0, 8192)" bytes | tail -1
	done | xargs)"
	same "rows of ram1, where the kernel counts none" "64 2048 146 13168" "$(moved ram1)"
}

@test "devices without requests: NVMe above its paths, merged below, with partitions, files and flushes" {
	of bios
	# From the second partition on: two fsync and what looks at the partitions beside the work.
	same "rows of the second partition" "64 2048 146 13168" "$(moved nvme0n1 "bytes and sector >= 34816 and comm == 'dd'")"
	same "first sector of each" "34816 34816" "$(for dev in nvme0n1 nvme0c0n1; do
		rows block "dev == '$dev' and op == 'W'" sector | head -1
	done | xargs)"
	[ "$(count block "dev == 'nvme0n1' and op == 'W' and bytes == 0 and sector is None and sync")" -ge 2 ]
	same "sectors above and below" "$(moved nvme0c0n1 | cut -d' ' -f2,4)" "$(moved nvme0n1 | cut -d' ' -f2,4)"
	[ "$(moved nvme0n1 | cut -d' ' -f3)" -gt "$(moved nvme0c0n1 | cut -d' ' -f3)" ] # or nothing was merged
	same "bytes of files" "written W 655360 direct W 327680 written R 655360" \
		"$(rows block "dev == 'nvme0n1' and (path or '').startswith('/mnt/')" path,op,bytes |
			awk '{ key = substr($1, 6) " " $2 } !(key in n) { keys[++k] = key } { n[key] += $3 }
				END { for (i = 1; i <= k; i++) print keys[i], n[keys[i]] }' | xargs)"
}

@test "devices without requests: no time in a queue, a CPU, no error" {
	of bios
	devices="dev in ('dm-0', 'ram0', 'ram1', 'zram0', 'nvme0n1')"
	[ "$(count block "$devices")" -gt 500 ]
	same "rows that differ" 0 "$(count block "$devices and (queued is not None or cpu is None or error or not dur)")"
}

@test "a wall clock that is set: the times of all rows are those that the job read from it" {
	of clockstep
	same "exit status" 0 "$(cat status)"
	"$STRATA" sql -f csv "$RUN" "select pos, epoch_ns(utc) from io where op = 'pwrite64' order by ts" |
		sed 1d | tr , ' ' >found
	same "rows" 48 "$(wc -l <found)"
	# Between two rows of table clock without a step time runs evenly, however late strata was told of the step.
	same "more than a second from what the job read" "" \
		"$(join out found | awk '$4 < $2 - 1e9 || $4 > $3 + 1e9')"
	# Lines of the log are at the times of what they tell of, to the millisecond, also where the clock was set after them.
	"$STRATA" sql -f csv "$RUN" "select json_extract(value, '$.value')::int, ts from mark where name = 'at' order by 1" |
		sed 1d | tr , ' ' >marks
	same "marks" 48 "$(wc -l <marks)"
	same "marks that are not at their writes" "" "$("$STRATA" sql -f csv "$RUN" \
		"select pos, ts from io where op = 'pwrite64' order by pos" | sed 1d | tr , ' ' |
		join - marks | awk '$3 < $2 - 1e9 || $3 > $2 + 1e9')"
	same "steps" "2 true" "$("$STRATA" info --json "$RUN" | jq -r '.clock | "\(.steps) \(.step_ns | fabs < 1e9)"')"
	says <("$STRATA" info "$RUN") "set 2 times"
}

@test "two dozen calls that sleep: order, arguments, files, timeouts, results and time off the CPU" {
	of waits
	same "exit status" 0 "$(cat status)"
	"$HERE/waits.py" "$RUN" out
}

@test "CAP_BPF and CAP_PERFMON are all that a user needs" {
	of allowed
	same "exit status" 0 "$(cat status)"
	same "the command's user, and its rights" "1000 0000000000000000 0000000000000000" \
		"$(awk '$1 == "Uid:" || $1 == "CapPrm:" || $1 == "CapAmb:" { print $2 }' out | xargs)"
	[ "$(count io "comm == 'cat' and dir == 'W' and returned > 0")" -gt 0 ]
	says doctor "perf_event_paranoid=2" # as Debian sets it, to 3
}

@test "CPU quota (cpu.max): the time and the periods of cpu.stat" {
	of quota
	spent() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }
	periods=$(($(spent after nr_throttled) - $(spent before nr_throttled)))
	time=$((($(spent after throttled_usec) - $(spent before throttled_usec)) * 1000))
	read -r ours_periods ours_time < <(rows job True throttled_periods,throttled | awk '{ n += $1; t += $2 } END { printf "%d %.0f\n", n, t }')
	echo "cpu.stat $periods $time, strata $ours_periods $ours_time"
	[ "$ours_periods" -ge 5 ] && [ "$ours_periods" -le "$periods" ]
	[ "$ours_time" -gt 0 ] && [ "$ours_time" -le "$time" ]
}

# calls_are PROBES: the recording's calls of vfs_read and vfs_write are its system calls, with their results.
calls_are() {
	same "exit status" 0 "$(cat status)"
	no_loss
	same probes "$1" "$(rows run "key == 'call_kernel_probes'" value)"
	[ "$(count call "func == 'vfs_read'")" -gt 20 ]
	same reads "$(rows io "op in ('read', 'pread64') and returned >= 0" tid,returned | sort)" \
		"$(rows call "func == 'vfs_read'" tid,returned | sort)"
	same writes "$(rows io "op == 'write' and returned >= 0" tid,returned | sort)" \
		"$(rows call "func == 'vfs_write'" tid,returned | sort)"
}

@test "a few functions of the kernel, by fentry: as many as system calls, with their results" {
	of calls/few
	calls_are fentry
}

@test "many functions of the kernel, by kprobes: as many as system calls, those of ext4 inside them" {
	of calls/many
	calls_are kprobe
	same "writes of ext4" "$(rows io "returned == 4096 and path == '/mnt/traced' and op == 'write'" op | wc -l)" \
		"$(count call "func == 'ext4_file_write_iter' and depth > 0")"
	rows call "func in ('vfs_write', 'ext4_file_write_iter')" tid,ts,dur,depth | sort -k2,2n |
		awk '!$4 { end = $2 + $3 } $4 && $2 + $3 > end { print "not inside:", $0; bad = 1 } END { exit bad }'
}

@test "functions of a program, by one probe each: every call, as here" {
	of calls/user
	same "exit status" 0 "$(cat status)"
	same probes single "$(rows run "key == 'call_probes'" value)"
	same calls "$(sort out)" "$(rows call True func,dur,returned,arg0 |
		awk -F'\t' '{ n[$1]++; d[$1] += $2 != "-"; s[$1] += $3 != "-" ? $3 : $4 }
			END { for (f in n) print f, n[f], d[f], s[f] }' | sort)"
}
