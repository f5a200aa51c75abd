#!/usr/bin/env bats
# Table stall: what the kernel made threads wait for, against bpftrace at the same tracepoints; and CPU quotas, against cpu.stat.

# bats file_tags=quiet
load lib
load disks
load groups
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# watching SCRIPT: bpftrace runs SCRIPT, its output in $T/seen, until `watched`.
watching() {
	command -v bpftrace >/dev/null || skip "no bpftrace"
	grep -qw tracefs /proc/filesystems || skip "no tracefs in this kernel"
	background "$ROOT/scripts/with-tracefs" bpftrace -B line -e "BEGIN { printf(\"ready\n\"); } $1"
	WATCHER=$PID
	mv out seen
	within 60 grep -q ready seen
}

# A signal that comes while bpftrace is not waiting for events may be lost on it.
watched() {
	within 20 interrupted "$WATCHER"
	wait "$WATCHER" || true
}

interrupted() {
	grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null || ! kill -INT "$1" 2>/dev/null
}

@test "pauses of a thread that dirties pages too fast: as many as bpftrace sees, with file and disk" {
	disk 256M
	mkfs.ext4 -q "$DISK"
	mounted "$T/disk" -t ext4 "$DISK"
	# The limit is the device's own, and stays with its number.
	bdi=/sys/class/bdi/$(cat "/sys/block/$NAME/dev")
	[ -e "$bdi/strict_limit" ] && [ -e "$bdi/max_bytes" ] || skip "this kernel has no limit of dirty pages by device"
	undo sh -c 'echo 0 >"$0/strict_limit"; echo 100 >"$0/max_ratio"' "$bdi"
	echo 1 >"$bdi/strict_limit"
	echo 2097152 >"$bdi/max_bytes"
	watching 'tracepoint:writeback:balance_dirty_pages /comm == "dd" && args->pause > 0/ { printf("%d\n", args->dirtied); }'
	record -- dd if=/dev/zero of="$T/disk/data" bs=64k count=1024 status=none
	watched
	grep -x '[0-9][0-9]*' seen >theirs
	[ "$(wc -l <theirs)" -ge 3 ]
	same "pages dirtied before each pause" "$(cat theirs)" "$(rows stall "kind == 'dirty'" value | awk '{ print $1 / 4096 }')"
	same "file, disk" "$T/disk/data $NAME" "$(rows stall "kind == 'dirty'" path,dev | tr '\t' ' ' | sort -u)"
	# Each lies in a write, which was off the CPU at least as long.
	rows io,stall "(op if table == 'io' else kind) in ('write', 'dirty')" table,ts,dur,blocked |
		awk '$1 == "io" { begin = $2; end = $2 + $3; left = $4 }
			$1 == "stall" && $3 != "-" { left -= $3; if ($2 < begin || $2 + $3 > end || left < -100000) { print "not inside its write: " $0; bad = 1 } }
			END { exit bad }'
	no_loss
}

@test "memory freed under the limit of a control group: as often and as much as bpftrace sees" {
	group memory
	echo $((24 << 20)) >"$GROUP/memory.limit_in_bytes"
	head -c 96M /dev/zero >data
	sync data
	dd of=data oflag=nocache conv=notrunc count=0 status=none # whoever has a page in the cache is charged for it
	watching 'tracepoint:vmscan:mm_vmscan_memcg_reclaim_end /comm == "reclaims"/ { printf("%d\n", args->nr_reclaimed); }'
	cp "$(command -v cat)" reclaims
	record -- sh -c 'echo $$ >"$1/cgroup.procs"; exec ./reclaims data data >/dev/null' sh "$GROUP"
	watched
	grep -x '[0-9][0-9]*' seen >theirs
	[ "$(wc -l <theirs)" -ge 3 ]
	same "pages freed each time" "$(cat theirs)" "$(rows stall "kind == 'cgroup_reclaim' and comm == 'reclaims'" value | awk '{ print $1 / 4096 }')"
	no_loss
}

@test "memory moved to make large pieces of it: as often and as long as bpftrace sees" {
	[ -w /proc/sys/vm/compact_memory ] || skip "this kernel does not compact memory on demand"
	watching 'tracepoint:compaction:mm_compaction_begin /comm == "compacts"/ { @began = nsecs; }
		tracepoint:compaction:mm_compaction_end /comm == "compacts" && @began/ { printf("%d\n", nsecs - @began); @began = 0; }
		END { clear(@began); }'
	cp "$(command -v dd)" compacts
	record -- sh -c 'echo 1 | ./compacts of=/proc/sys/vm/compact_memory status=none'
	watched
	grep -x '[0-9][0-9]*' seen >theirs
	rows stall "kind == 'compaction' and comm == 'compacts'" dur >ours
	paste theirs ours
	[ "$(wc -l <theirs)" -ge 1 ]
	same "how often" "$(wc -l <theirs)" "$(wc -l <ours)"
	# Each of strata's lies around bpftrace's, or inside it, by what the programs of the other take.
	paste theirs ours | awk '{ off = $1 > $2 ? $1 - $2 : $2 - $1; if (off > 200000 && off > $1 / 20) { print "differ: " $0; bad = 1 } } END { exit bad }'
	no_loss
}

@test "waits for locks: those with rows and those that were only counted are all that bpftrace sees" {
	grep -qw contention_begin /proc/kallsyms 2>/dev/null || grep -q trace_contention_begin /proc/kallsyms || skip "this kernel does not tell of locks"
	watching 'tracepoint:lock:contention_begin /comm == "locks" && !@began[tid, args->lock_addr]/ { @began[tid, args->lock_addr] = nsecs; }
		tracepoint:lock:contention_end /@began[tid, args->lock_addr]/ {
			printf("%d\n", nsecs - @began[tid, args->lock_addr]); delete(@began[tid, args->lock_addr]); }
		END { clear(@began); }'
	record -- "$W/locks" 4 300
	watched
	theirs=$(grep -cx '[0-9]*' seen)
	ours=$(count stall "comm == 'locks'")
	short=$(rows run "key == 'stall.short_locks'" value)
	echo "bpftrace $theirs, strata $ours and $short short ones"
	# The two do not hook the same instant, and each makes locks of its own wait.
	[ "$ours" -ge 50 ]
	[ $((ours + short)) -ge $((theirs * 9 / 10)) ]
	# strata's clocks include what bpftrace's programs take, so that some waits are long to it alone.
	long=$(awk '/^[0-9]+$/ && $1 >= 20000' seen | wc -l)
	[ "$ours" -ge $((long * 9 / 10)) ]
	same "shorter than the threshold" "" "$(rows stall "dur < 10000 and kind not in ('dirty', 'reclaim', 'compaction')")"
	# They wait to change the mappings.
	[ "$(count stall "comm == 'locks' and kind == 'rwsem_write'")" -gt $((ours / 2)) ]
}

@test "CPU quota: the time and the periods of cpu.stat" {
	group cpu
	echo 20000 >"$GROUP/cpu.cfs_quota_us"
	background sh -c 'echo $$ >"$0/cgroup.procs"; echo in; while :; do :; done' "$GROUP"
	job=$PID
	within 10 grep -q in out
	spent() { awk '$1 == "nr_throttled" { n = $2 } $1 == "throttled_time" { print n, $2 }' "$GROUP/cpu.stat"; }
	read -r periods time < <(spent)
	record -e cpu --interval 200ms -p "$job" -d 2
	read -r periods_then time_then < <(spent)
	read -r ours_periods ours_time < <(rows job True throttled_periods,throttled | awk '{ n += $1; t += $2 } END { printf "%d %.0f\n", n, t }')
	echo "cpu.stat $((periods_then - periods)) $((time_then - time)), strata $ours_periods $ours_time"
	# It was read before the recording began and after it had ended.
	[ "$ours_periods" -ge 5 ] && [ "$ours_periods" -le $((periods_then - periods)) ]
	[ "$ours_time" -gt 0 ] && [ "$ours_time" -le $((time_then - time)) ]
	rm "$RUN"
	kill -STOP "$job"
	sleep 0.3
	read -r periods time < <(spent)
	record -e cpu --interval 200ms -p "$job" -d 1
	same "of a job that does not run" "$(spent)" "$periods $time"
	same "in the rows" "0	0" "$(rows job True throttled,throttled_periods | sort -u)"
}
