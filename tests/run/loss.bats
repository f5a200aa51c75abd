#!/usr/bin/env bats
# Loss is data: what could not be kept is counted, stored and said.

# bats file_tags=quiet
load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

@test "half a million calls as fast as dd can: none lost, none missing" {
	record --scope job -e io -- dd if=/dev/zero of=/dev/null bs=1 count=250000 status=none
	no_loss
	"$STRATA" dump "$RUN" io --columns op,path >calls
	same reads 250000 "$(grep -c '^read,/dev/zero$' calls)"
	same writes 250000 "$(grep -c '^write,/dev/null$' calls)"
}

@test "a ring that is too small: rows and losses together are the calls made; record and info say it" {
	# Stopped, strata cannot drain its rings; the job goes on and fills them.
	background "$STRATA" record -o "$RUN" --scope job -e io --buffer 64K -- \
		sh -c 'echo ready; sleep 1; dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none'
	within 20 grep -q ready out
	kill -STOP $PID
	sleep 2
	kill -CONT $PID
	wait $PID
	lost=$(rows loss "layer == 'io' and reason == 'ring full'" count | awk '{ n += $1 } END { print n + 0 }')
	[ "$lost" -gt 1000 ]
	same "dd's calls, kept and lost" 40000 "$(($(count io "path in ('/dev/zero', '/dev/null') and fd < 2 \
		and requested == 1") + lost))"
	says err "lost"
	same "in info" "$(rows loss True count | awk '{ n += $1 } END { print n + 0 }')" \
		"$("$STRATA" info --json "$RUN" | jq .lost)"
	"$STRATA" info "$RUN" >info
	says info "ring full"
}

@test "faults that share a record: rows and losses together are the kernel's count" {
	mounted "$T/memory" -t tmpfs none
	truncate -s 256M memory/data # 4,096 faults, of which a ring of 64 KiB holds half
	"$W/touch" memory/data write >/dev/null
	background "$STRATA" record -o "$RUN" --scope job --buffer 16K -- \
		sh -c "echo ready >&2; sleep 1; exec taskset -c 0 $W/touch memory/data read"
	within 20 grep -q ready err
	kill -STOP $PID
	sleep 2
	kill -CONT $PID
	wait $PID
	read -r _ minor major _ <out
	lost=$(rows loss "layer == 'fault' and reason == 'ring full'" count | awk '{ n += $1 } END { print n + 0 }')
	kept=$(count fault "path == '$T/memory/data'")
	echo "lost $lost, kernel $minor $major, kept $kept"
	[ "$lost" -gt 200 ]
	[ $((kept + lost)) -ge $((minor + major)) ]
	[ $((kept + lost)) -le $((minor + major + 50)) ] # the program's own code, when it ends
}

@test "the recorder wakes in its time or when a bell rings, not whenever there is something to do" {
	record_background --scope job -e io -- dd if=/dev/zero of=/dev/null bs=1
	timeout 2 strace -f -c -e trace=poll,epoll_wait -o waits -p $PID || true
	kill -INT $PID
	wait $PID || true # as dd ended
	waits=$(awk '$NF ~ /poll/ { n += $4 } END { print n + 0 }' waits)
	[ "$waits" -gt 0 ]
	[ "$waits" -lt 1000 ] # ten a second, and a few bells; else tens of thousands
}
