#!/usr/bin/env bats
# What goes wrong is said with its reason and its cure, and never harms the job.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# refuses STATUS PATTERN ARGS...: strata ARGS... ends with STATUS and says PATTERN.
refuses() {
	local status=0

	"$STRATA" "${@:3}" >out 2>words || status=$?
	same "exit status of: ${*:3}" "$1" $status
	says words "$2"
}

@test "an unknown layer, option, table or command: the nearest valid names, exit 2" {
	refuses 2 "'?io'?" record -e ios -- touch ran
	refuses 2 "process" record -e proces -- touch ran
	refuses 2 "'--force'" record --forse -- touch ran
	refuses 2 "record" recrod -- touch ran
	refuses 2 "--until|main|all" record --until never -- touch ran
	[ ! -e ran ]
	record -- true
	refuses 2 "process" dump "$RUN" processes
	refuses 2 "returned" dump "$RUN" io --columns retrned
}

@test "no command, no target: usage, exit 2" {
	refuses 2 "strata record" record
	refuses 2 "" record --
	refuses 2 "" dump
	refuses 2 "" info
}

@test "-h and -V answer on standard output, exit 0" {
	"$STRATA" -h >out
	says out record
	"$STRATA" record -h >out
	says out "--scope"
	"$STRATA" -V >out
	says out '[0-9]+\.[0-9]+'
}

@test "the output exists: refused, the file untouched, the job not run; --force overwrites" {
	echo precious >"$RUN"
	run -125 record -- touch ran
	says words "exist"
	says words "--force"
	[ ! -e ran ]
	same "the file" precious "$(cat "$RUN")"
	record --force -- touch ran
	[ -e ran ]
	readable
}

@test "disk full: the job finishes undisturbed, its exit status comes back, what was written is readable" {
	mounted "$T/small" -t tmpfs -o size=256k none
	RUN=$T/small/run.strata
	mkdir work
	# 16 random bytes in each name do not compress into the place there is; what is older than a second at the
	# first pause is in the file before it is full.
	run -7 record -e io,fs -- /usr/bin/python3 -c "
import os, secrets, sys, time
for number in range(30000):
    if number == 500:
        time.sleep(1.6)
    os.close(os.open('work/' + secrets.token_hex(16), os.O_CREAT | os.O_WRONLY))
sys.exit(7)"
	same "files that the job made" 30000 "$(find work -type f | wc -l)"
	says words "space|full"
	readable
	[ "$(count fs 2>/dev/null)" -gt 100 ]
}

@test "a folder that cannot be written to: said, and the job runs unrecorded with its own exit status" {
	mounted "$T/readonly" -t tmpfs -o ro none
	RUN=$T/readonly/run.strata
	run -7 record -- sh -c 'touch ran; exit 7'
	[ -e ran ]
	says words "readonly/run.strata"
	says words "read-only"
}

@test "a folder that is not there" {
	RUN=$T/nowhere/run.strata
	run record -- sh -c 'touch ran; exit 7'
	says words "nowhere"
}

# A trace to damage, with rows in several chunks: one is written each second at least.
make_trace() {
	head -c 20000 /dev/zero >data
	record -e io,fs -- sh -c "for i in 1 2 3; do '$W/forks' '$T/data' 300; sleep 1; done"
	"$STRATA" dump "$RUN" io --columns "$COLUMNS_KEPT" | sort >whole.csv
	"$STRATA" dump "$RUN" io --columns ts,path,comm | sort >whole.names
	size=$(stat -c %s "$RUN")
}

# What a row says by itself; names come from other tables, which the damage may have taken.
COLUMNS_KEPT=ts,dur,cpu,pid,tid,op,dir,fd,pos,requested,returned

# reads FILE: every reader ends with 0 or 1, in time, and what it gives are rows of the whole trace.
reads() {
	local status arguments

	for arguments in "io --columns $COLUMNS_KEPT" "io --columns ts,path,comm" process file thread; do
		status=0
		timeout 20 "$STRATA" dump "$1" $arguments >part.csv 2>words || status=$?
		[ $status -le 1 ] || {
			echo "dump $1 $arguments: exit status $status"
			return 1
		}
		[ $status = 0 ] || [ -s words ] # an error is said
		case $arguments in
		*returned) same "rows of $1 that were never there" "" "$(sort part.csv | comm -23 - whole.csv)" ;;
		*comm) same "names of $1 that were never there" "" \
			"$(grep -vE ',(,|$)' part.csv | sort | comm -23 - whole.names)" ;;
		esac
	done
	status=0
	timeout 20 "$STRATA" info "$1" >/dev/null 2>&1 || status=$?
	[ $status -le 1 ]
}

@test "a cut file: the rows before the cut, a warning, exit 0" {
	make_trace
	head -c $((size * 2 / 3)) "$RUN" >cut.strata
	"$STRATA" dump cut.strata io >part.csv 2>words
	[ -s words ]
	[ "$(wc -l <part.csv)" -gt 1 ]
	reads cut.strata
	for part in 1 2 4 8 16 63 64 65 100 $((size / 10)) $((size / 2)) $((size - 1)); do
		head -c $part "$RUN" >cut.strata
		reads cut.strata
	done
}

@test "an empty or foreign file, a folder, a file that is not there: an error, exit 1" {
	: >empty.strata
	refuses 1 "empty.strata" info empty.strata
	refuses 1 "empty.strata" dump empty.strata io
	head -c 5000 /bin/sh >foreign.strata
	refuses 1 "foreign.strata.*(not a|no) (strata )?trace|foreign" info foreign.strata
	refuses 1 "foreign.strata" dump foreign.strata io
	refuses 1 "nowhere.strata.*No such file" info nowhere.strata
	refuses 1 "$T" info "$T"
}

@test "a flipped bit anywhere: an error or all rows up to it, never a wrong row, never a crash" {
	make_trace
	for i in $(seq 40); do
		cp "$RUN" flipped.strata
		place=$((i * size / 41))
		byte=$(od -An -tu1 -j $place -N 1 flipped.strata | tr -d ' ')
		printf "\\x$(printf %x $((byte ^ (1 << (i % 8)))))" |
			dd of=flipped.strata bs=1 seek=$place conv=notrunc status=none
		reads flipped.strata
	done
}

@test "a kernel without type information (BTF): said" {
	status=0
	unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf && exec '$STRATA' record -o '$RUN' -- touch ran" \
		2>words || status=$?
	same "exit status" 125 $status
	says words "BTF"
	[ ! -e ran ]
}

@test "not root and no capabilities: which is missing, and the command that fixes it" {
	open_folder
	status=0
	(cd "$OPEN" && setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		./strata record -- touch ran 2>"$T/words") || status=$?
	left=$(ls "$OPEN")
	same "exit status" 125 $status
	says words "CAP_(BPF|PERFMON|SYS_ADMIN)"
	says words "sudo|setcap"
	same "files: no trace, and the job did not run" strata "$left"
}
