#!/usr/bin/env bats
# Calls of functions, against what the programs themselves count, and bpftrace, strace and objdump.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# calls_of [CONDITION]: function, calls, returns and the sum of results, or of first arguments where there are none.
calls_of() {
	rows call "${1:-True}" func,dur,returned,arg0 |
		awk -F'\t' '{ n[$1]++; d[$1] += $2 != "-"; s[$1] += $3 != "-" ? $3 : $4 }
			END { for (f in n) print f, n[f], d[f], s[f] }' | sort
}

# A library of one function, and a program that waits for a line, loads it and calls that ten times, for each line.
make_plugin() {
	cat >plugin.c <<-'END'
		long plugin_work(long a) { __asm__ volatile(""); return a + 1; }
	END
	cat >host.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			char line[64];
			while (fgets(line, sizeof(line), stdin)) {
				void *plugin = dlopen(argv[1], RTLD_NOW);
				long (*work)(long) = plugin ? (long (*)(long))dlsym(plugin, "plugin_work") : 0;
				long sum = 0;
				for (int i = 0; work && i < 10; i++)
					sum += work(i);
				printf("%ld\n", sum);
				fflush(stdout);
				if (plugin)
					dlclose(plugin);
			}
			return argc != 2;
		}
	END
	gcc -O2 -shared -fPIC -o plugin.so plugin.c
	gcc -O2 -o host host.c
}

@test "each call once, with its result and depth: threads, recursion, longjmp, jumps in place of calls, exits" {
	record -e process --call 'exe:calls_*' -- "$W/calls" 100 >truth
	same calls "$(sort truth)" "$(calls_of)"
	same "depths of a recursion" "$(seq -f '400 %g' 0 10)" \
		"$(rows call "func == 'calls_recurse'" depth | sort -n | uniq -c | awk '{ print $1, $2 }')"
	same "a jump in place of a call" "400 0
400 1" "$(rows call "func == 'calls_leaf'" depth | sort -n | uniq -c | awk '{ print $1, $2 }')"
	same "what longjmp left" "400 0
400 1
400 2" "$(rows call "func == 'calls_jump'" depth | sort -n | uniq -c | awk '{ print $1, $2 }')"
	same "too deep for the kernel" 37 "$(rows loss "layer == 'call'" count | paste -sd+ | bc)"
	same threads 5 "$(rows call True tid | sort -u | wc -l)"
}

@test "an inner call lies inside its outer one" {
	record -e process --call 'exe:calls_recurse,calls_tail,calls_leaf' -- "$W/calls" 20 >truth
	no_loss
	rows call True tid,ts,dur,depth | sort -t$'\t' -k1,1n -k2,2n | awk -F'\t' '
		{ for (d in end) if (d + 0 >= $4) delete end[d] }
		$1 != tid { delete end; tid = $1 }
		$4 && !(($4 - 1) in end) { print "no call around", $0; bad = 1 }
		$4 && $2 + $3 > end[$4 - 1] { print "ends after the one around it:", $0; bad = 1 }
		{ end[$4] = $2 + $3 }
		END { exit bad }'
}

@test "bpftrace counts the same calls of the same program" {
	command -v bpftrace >/dev/null || skip "bpftrace is not installed"
	program="$(for f in leaf recurse tail jump deep; do
		echo "uprobe:$W/calls:calls_$f { @calls_$f = count(); }"
	done)"
	"$ROOT/scripts/with-tracefs" bpftrace -e "$program" -c "$W/calls 50" >counted 2>/dev/null
	record -e process --call 'exe:calls_leaf,calls_recurse,calls_tail,calls_jump,calls_deep' -- "$W/calls" 50 >truth
	same calls "$(sed -n 's/^@\(calls_[a-z]*\): /\1 /p' counted | sort)" "$(calls_of | cut -d' ' -f1,2)"
}

@test "an exception passes frames of C++ and C that are traced, and qsort's: the program lives" {
	"$W/throws" >plain
	record -e process --call 'exe:*throws_*' --call libc.so.6:qsort -- "$W/throws" >truth
	same "what the program says" "$(cat plain)" "$(cat truth)"
	same calls "$(sed 1d truth | sort)" "$(rows call True func | sed -E 's/^_Z[0-9]+(.*)i$/\1/' | sort | uniq -c | awk '{ print $2, $1 }')"
	same "calls with a length" 0 "$(count call "dur is not None")"
	says words "call.dur.*not recorded.*exception"
}

@test "functions that return twice or never get no return probe, whatever is asked" {
	cat >twice.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static jmp_buf back;
		int main(void)
		{
			volatile int jumps = 0;
			if (setjmp(back) < 5) longjmp(back, ++jumps);
			pid_t child = vfork();
			if (!child) _exit(3);
			int status;
			waitpid(child, &status, 0);
			printf("%d %d\n", jumps, WEXITSTATUS(status));
			return 0;
		}
	END
	gcc -O2 -o twice twice.c
	record -e process --call-returns --call 'libc.so.6:*setjmp,*longjmp,vfork,_exit,exit,waitpid,__libc_start*' \
		--call exe:_start,main -- ./twice >out
	same "what the program says" "5 3" "$(cat out)"
	same "calls with a length" "main
waitpid" "$(rows call "dur is not None" func | sort -u)"
}

@test "coroutines and signal handlers on stacks of their own: the program lives, and every call is there" {
	record -e process --call 'exe:stacks_*' -- "$W/stacks" >truth
	same calls "$(cat truth)" "$(rows call True func | sort | uniq -c | awk '{ print $2, $1 }')"
	same "calls on other stacks with a length" 0 "$(count call "func in ('stacks_outer', 'stacks_handler') and dur is not None")"
}

@test "every probe that is moved behind a first instruction stands where objdump sees no harm in it" {
	"$HERE/slides.py" "$STRATA" /lib/x86_64-linux-gnu/libc.so.6
}

@test "reads and writes of libc are the system calls that strata sees, with their results" {
	record -e io --call libc.so.6:read,write -- dd if=/dev/zero of=out bs=4k count=300 status=none
	no_loss
	rows io "returned == 4096 and op in ('read', 'write')" op,returned | sort >system
	same "calls of 4 KiB" 600 "$(wc -l <system)"
	same calls "$(cat system)" "$(rows call "returned == 4096" func,returned | sort)"
	same "bytes asked for" 4096 "$(rows call "returned == 4096" arg2 | sort -u)"
}

@test "only the job's threads are recorded, though others call the same functions" {
	background sh -c 'while :; do head -c 2 /etc/hostname; done'
	record -e process --scope job --call libc.so.6:read -- head -c 2 /etc/hostname >out
	same processes "$(rows process "event == 'exec'" pid)" "$(rows call True pid | sort -u)"
	[ "$(count call)" -gt 0 ]
}

@test "a library that is loaded, unloaded and loaded again later is traced" {
	make_plugin
	record -e process --call "$T/plugin.so:plugin_work" -- ./host "$T/plugin.so" <<<$'a\nb\nc' >out
	no_loss
	same "results" "plugin_work 30 30 165" "$(calls_of)"
}

@test "a running process: what it has mapped is found by name, children are followed, and its end is the end" {
	background /usr/bin/python3 -c 'import os, time
while not os.path.exists("go"): time.sleep(0.01)
child = os.fork()
fd = os.open("/dev/zero", os.O_RDONLY)
for i in range(50): os.pread(fd, 1000 + (child == 0), 0)
if child: os.waitpid(child, 0)'
	target=$PID
	"$STRATA" record -o "$RUN" -e process --call 'libc.so*:pread64' -p "$target" 2>words 3>&- &
	recorder=$!
	within 20 armed
	touch go
	wait $recorder
	same "sizes" "50 1000
50 1001" "$(rows call "arg2 > 999" arg2 | sort | uniq -c | awk '{ print $1, $2 }')"
}

@test "a target that ends while it is attached to is no hang" {
	background sleep 0.1
	status=0
	timeout 20 "$STRATA" record -o "$RUN" --call @posix -p "$PID" 2>words || status=$?
	[ $status != 124 ]
}

@test "counters: each call of each thread once, with its time in a histogram; the bytes of what moves some" {
	record -e process --aggregate 50ms --call 'exe:calls_*' -- "$W/calls" 200 >truth
	same calls "$(cut -d' ' -f1,2 truth | sort)" "$(rows counter True func,count |
		awk -F'\t' '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort)"
	same "rows of calls" 0 "$(count call)"
	rows counter "func == 'calls_recurse'" tid,count,hist | awk -F'\t' '
		{ split($3, buckets, /\\x20/); for (i in buckets) { split(buckets[i], b, ":"); n += b[2] }; all += $2; tids[$1] }
		END { exit !(n == all && length(tids) == 4) }'
	rm "$RUN"
	record -e process --aggregate 1s --call @posix --call @malloc -- dd if=/dev/zero of=out bs=4k count=100 status=none
	same "bytes" "read 409600
write 409600" "$(rows counter "func in ('read', 'write')" func,bytes | awk -F'\t' '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort)"
}

@test "system calls that are counted are as many, and move as much, as those that are recorded" {
	record -e io,fs,mem --scope job -- dd if=/dev/zero of=out bs=4k count=100 status=none
	no_loss
	rows io,fs,mem True table,op,returned | awk -F'\t' '{ n[$2]++; if ($1 == "io" && $3 > 0) b[$2] += $3 }
		END { for (f in n) print f, n[f], b[f] + 0 }' | sort >recorded
	rm "$RUN" out
	record -e io,fs,mem --scope job --aggregate 1s -- dd if=/dev/zero of=out bs=4k count=100 status=none
	no_loss
	same "rows of calls" 0 "$(count io,fs,mem)"
	same calls "$(cat recorded)" "$(rows counter "module == 'syscall'" func,count,bytes | awk -F'\t' '{ n[$1] += $2; b[$1] += $3 }
		END { for (f in n) print f, n[f], b[f] + 0 }' | sort)"
	[ "$(wc -l <recorded)" -gt 8 ]
}

@test "counters are ph C in a .pfw file, with count, time in seconds and bytes, of the right thread" {
	record -e process --scope job --aggregate 1h --call libc.so.6:read,write -- dd if=/dev/zero of=out bs=4k count=100 status=none
	"$STRATA" export "$RUN" -f pfw -o out.pfw
	jq -rc 'select(.ph? == "C") | [.name, .pid, .tid, .args.count, .args.size, .args.time > 0]' <(grep '"ph":"C"' out.pfw) >found
	pid=$(rows process "event == 'exec'" pid)
	same counters "[\"read [libc.so.6]\",$pid,$pid,100,409600,true]
[\"write [libc.so.6]\",$pid,$pid,100,409600,true]" "$(sort found)"
}

@test "--min-dur keeps slow calls, and counts the others" {
	record -e process --min-dur 20ms --call libc.so.6:clock_nanosleep -- /usr/bin/python3 -c 'import time
for i in range(10): time.sleep(0.001)
for i in range(3): time.sleep(0.05)'
	slow=$(count call)
	[ "$slow" -ge 3 ] # a busy machine makes slow ones of short sleeps
	same "shorter than asked" 0 "$(count call "dur < 20000000")"
	same "the others" $((13 - slow)) "$(rows counter True count | paste -sd+ | bc)"
	same "long ones among them" 0 "$(count counter "int(hist.split()[-1].split(':')[0]) > 24")"
}

@test "MPI: calls of four ranks, with their counts" {
	command -v mpicc >/dev/null || skip "openmpi is not installed"
	mpicc -O2 -o ring "$ROOT/tests/workloads/mpi/ring.c"
	record -e process --call @mpi -- mpirun --allow-run-as-root --oversubscribe -n 4 ./ring
	same calls "MPI_Allreduce 4
MPI_Barrier 40
MPI_Comm_rank 4
MPI_Comm_size 4
MPI_Finalize 4
MPI_Init 4
MPI_Recv 40
MPI_Send 40" "$(rows call "dur is not None" func | sort | uniq -c | awk '{ print $2, $1 }')"
	same "ints sent" 10240 "$(rows call "func == 'MPI_Send'" arg1 | paste -sd+ | bc)"
	same ranks 4 "$(rows call "func == 'MPI_Send'" pid | sort -u | wc -l)"
}

@test "HDF5: calls of a writer" {
	command -v h5cc >/dev/null || skip "hdf5 is not installed"
	h5cc -shlib -O2 -o writer "$ROOT/tests/workloads/hdf5/writer.c"
	record -e process --call @hdf5 -- ./writer "$T/out.h5"
	same calls "H5Dclose 5
H5Dcreate2 5
H5Dread 1
H5Dwrite 5
H5Fclose 1
H5Fcreate 1
H5Sclose 1
H5Screate_simple 1" "$(rows call "depth == 0 and func not in ('H5open',)" func | grep -E '^H5[DFS]' | sort | uniq -c | awk '{ print $2, $1 }')"
}

@test "python3 with @posix and @python: reads are the system calls', and the interpreter's own functions are there" {
	record -e io --scope job --call @posix --call @python -- /usr/bin/python3 -c 'import os, json
fd = os.open("/dev/zero", os.O_RDONLY)
for i in range(20): os.read(fd, 1000 + i)'
	no_loss
	same reads "$(rows io "op == 'read' and returned >= 1000 and path == '/dev/zero'" returned)" \
		"$(rows call "func == 'read' and 1000 <= (returned or 0) <= 1020 and arg2 < 1020" returned)"
	[ "$(count call "module.startswith('python3') and func == 'PyEval_EvalCode' and dur is not None")" -gt 1 ]
}

@test "an own preset adds to the shipped ones" {
	printf '@mine libc.so.6\npread64 bytes=ARG2\n' >mine
	record -e process --presets mine --aggregate 1s --call @mine -- /usr/bin/python3 -c 'import os
fd = os.open("/dev/zero", os.O_RDONLY)
for i in range(7): os.pread(fd, 100, 0)'
	same bytes 700 "$(rows counter "func == 'pread64'" bytes | paste -sd+ | bc)"
	printf '@mine libc.so.6\npread64 bytes=ARG7\n' >mine
	! record -e process --presets mine --call @mine -- true
	says words "mine, line 2.*ARG7"
}

@test "what is not there is named, with what is near" {
	! record --call libc.so.6:mallok -- true && says words "no function 'mallok', did you mean 'malloc'"
	! record --call libcc.so.6:read -- true && says words "no library or program 'libcc.so.6'.*did you mean.*libc.so.6"
	! record --call @posixx -- true && says words "no preset '@posixx': did you mean 'posix'"
	! record --call 'libc.so.6:/(/' -- true && says words "not a regular expression"
	! record --call read -- true && says words "MODULE:FUNCTION"
	! record --call 'libc.so.6:*' --call-limit 100 -- true && says words "more than 100 functions.*--call-limit"
	! record -e call -- true && says words "layer 'call' needs --call"
	! record -e sched --aggregate 1s -- true && says words "--aggregate counts .*: there is neither"
	! record --min-dur 1s -- true && says words "--min-dur is about the functions of --call"
	! record --aggregate 1s --path /tmp -- true && says words "--path makes no sense"
	cp "$W/calls" stripped
	strip stripped
	! record --call exe:calls_leaf -- ./stripped && says words "no names of functions: it is stripped"
	[ ! -e "$RUN" ]
}

@test "a function that cannot be probed is named, and the others are recorded" {
	record -e process --call libc.so.6:strlen,pthread_spin_lock,malloc -- true
	says words "call.function.*strlen.*pthread_spin_lock.*cannot be probed"
	"$STRATA" record --list-calls libc.so.6:strlen,pthread_spin_lock >listed
	says listed "strlen .*cannot be probed: .*IFUNC"
	says listed "pthread_spin_lock .*cannot be probed"
}

@test "a library that is replaced while it is traced: no probe goes astray, and it is said" {
	make_plugin
	gcc -O2 -shared -fPIC -fno-omit-frame-pointer -nostartfiles -o other.so plugin.c
	mkfifo lines
	record_background -e process --call "$T/plugin.so:plugin_work" -- sh -c 'exec ./host "$1" <lines' - "$T/plugin.so"
	exec 8>lines
	echo a >&8
	within 20 grep -q 55 out
	mv other.so plugin.so
	sleep 0.6
	echo b >&8
	within 20 eval '[ "$(grep -c 55 out)" = 2 ]'
	exec 8>&-
	within 20 gone "$PID"
	same calls "plugin_work 10 10 55" "$(calls_of)"
	says <("$STRATA" info "$RUN" 2>&1) "replaced while it was traced"
}

@test "a kernel that lets nobody probe its functions is named; where it does, calls are the system calls'" {
	if record -e io --call kernel:vfs_read -- cat /etc/hostname >out; then
		same reads "$(count io "op in ('read', 'pread64') and returned >= 0")" "$(count call "func == 'vfs_read'")"
	else
		says words "lets nobody probe its functions"
	fi
}
