#!/usr/bin/env bats
# Calls recorded by a library inside of the job's processes, against what the programs count themselves, system calls of the same recording,
# and ltrace.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() {
	leave
	# Nothing of a recording stays.
	same "left behind" "" "$(ls -d {/dev/shm,/tmp,/var/tmp}/strata-*/libstrata_calls.so 2>/dev/null)"
}

presets=(--call @posix --call @stdio --call @malloc)

# What the program did not count itself: its setup, and what it prints.
uncounted="func in ('free', 'ftruncate', 'memfd_create') or func == 'write' and arg0 == 1"
# Allocations of others, the loader's for one.
others="func == 'malloc' and arg0 != 12345 or func == 'calloc' and arg1 != 2469 or func == 'realloc' and arg1 != 12346"
# The memory for the truth, and /dev/null, in each of three programs.
setup_calls="func == 'mmap' and arg2 == 3 or func == 'open' and arg1 == 1"

# calls_of: function, calls and the sum of results that are no errors and no pointers.
calls_of() {
	rows call "not ($uncounted) and not ($others) and not ($setup_calls)" func,returned |
		awk -F'\t' '{ n[$1]++; if ($2 > 0 && $2 < 1048576) s[$1] += $2 }
			END { for (f in n) print f, n[f], s[f] + 0 }' | sort
}

@test "each call once, with its result: threads, handlers, fork, vfork, exec, spawn, SIGKILL and a crash" {
	record -e process,io "${presets[@]}" --inprocess --buffer 4M -- "$W/inprocess" 20 >truth
	same loss "" "$(rows loss "layer == 'call'" reason,count)"
	same calls "$(sort truth)" "$(calls_of)"
	same "processes that never loaded it" 0 "$(grep -c 'did not load' words)"
	# A child of vfork is told under its own number, and so is what its parent does afterwards.
	parent=$(rows process "event == 'exec'" pid | head -1)
	same "children of vfork" 2 "$(rows call "func == 'write' and returned == 4 and pid == tid and pid != $parent" pid | sort -u | wc -l)"
	same "their parent" "$parent" "$(rows call "func == 'write' and returned == 8" tid)"
	same "what they allocated they freed" "$(rows call "func == 'malloc' and arg0 == 12345" tid | wc -l)" \
		"$(rows call "func == 'realloc' and arg1 == 12346" tid | wc -l)"
}

@test "a call of read and write is a system call of its thread, at that time" {
	record -e process,io --call libc.so.6:read,write,pread,pwrite --inprocess -- "$W/inprocess" 10 >truth
	rows call "returned != -1 and not (func == 'read' and returned is None)" ts,dur,tid,func,returned |
		awk -F'\t' '{ sub(/^p(read|write)$/, "&64", $4); print $3, $4, $5 }' | sort >inside
	rows io "op in ('read', 'write', 'pread64', 'pwrite64') and returned >= 0" tid,op,returned |
		tr '\t' ' ' | sort >kernel
	same "calls without a system call" "" "$(comm -23 inside kernel)"
	# What the kernel saw and the library did not is the loader's, and what is inside of the C library: 11 bytes of a stream.
	same "system calls without a call" "" "$(comm -13 inside kernel | awk '$3 != 11 && $3 < 100')"
}

@test "counters hold the same numbers and bytes" {
	record -e process "${presets[@]}" --inprocess --aggregate 50ms -- "$W/inprocess" 20 >truth
	same "no single calls" 0 "$(count call)"
	for func in pread pwrite writev fwrite fread lseek fsync unlink fgets; do
		same "$func" "$(awk -v f=$func '$1 == f { print $2 }' truth)" \
			"$(rows counter "func == '$func'" count | paste -sd+ | bc)"
	done
	same "bytes of pwrite" "$(awk '$1 == "pwrite" { print $3 }' truth)" "$(rows counter "func == 'pwrite'" bytes | paste -sd+ | bc)"
	same "histograms" "$(rows counter True count | paste -sd+ | bc)" \
		"$("$STRATA" dump "$RUN" counter --columns hist | tail -n +2 | tr ' ' '\n' | awk -F: '{ n += $2 } END { print n }')"
}

@test "--min-dur keeps slow calls and counts the others" {
	record -e process --call libc.so.6:pread,pwrite,fsync --inprocess --min-dur 1h -- "$W/inprocess" 10 >truth
	same "no call took an hour" 0 "$(count call)"
	same "counted" "$(awk '$1 == "pread" { print $2 }' truth)" "$(rows counter "func == 'pread'" count | paste -sd+ | bc)"
	record --force -e process --call libc.so.6:pread,pwrite,fsync --inprocess --min-dur 1ns -- "$W/inprocess" 10 >truth
	same "recorded" "$(awk '$1 == "pread" { print $2 }' truth)" "$(rows call "func == 'pread'" tid | wc -l)"
}

@test "ltrace counts the same" {
	command -v ltrace >/dev/null || skip "ltrace is not installed"
	cat >calls.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			char data[16];
			int fd = open("/etc/passwd", O_RDONLY);
			for (int i = 0; i < 30; i++) {
				void *volatile memory = malloc(100);
				free(memory);
				if (pread(fd, data, 16, i) < 0)
					return 1;
			}
			FILE *file = fopen("/etc/passwd", "r");
			while (fgets(data, 16, file))
				;
			return fclose(file) || close(fd);
		}
	END
	gcc -O1 -fno-builtin -no-pie -Wl,-z,lazy -o calls calls.c
	record -e process "${presets[@]}" --inprocess -- ./calls
	# The C library calls malloc and free as anybody else does, which ltrace does not see.
	rows call "func not in ('malloc', 'free') or arg0 == 100" func | sort | uniq -c | awk '{ print $2, $1 }' >found
	ltrace -o trace ./calls
	sed -nE 's/^([a-z_0-9]+)\(.*/\1/p' trace | grep -vE 'libc_start|free' | sort | uniq -c | awk '{ print $2, $1 }' >witness
	same calls "$(cat witness)" "$(cat found)"
}

@test "what cannot be seen is said: static and set-user-ID programs, and another environment" {
	echo 'int main(void) { return 0; }' >small.c
	gcc -static -o static_one small.c
	gcc -o setuid_one small.c
	chown nobody setuid_one
	chmod 4755 setuid_one
	chmod 755 "$T"
	record -e process --call @posix --inprocess -- sh -c './static_one; ./static_one; ./setuid_one; env -u LD_PRELOAD ls /; true' >out
	says words "did not load.*static_one .2 times."
	says words "did not load.*ls"
	"$STRATA" info "$RUN" | grep -q 'absent.*call.inprocess.*static_one'
}

@test "the job's own LD_PRELOAD comes first, and a process that becomes somebody else goes on" {
	cat >own.c <<-'END'
		#include <unistd.h>
		int lockf(int fd, int how, off_t size) { (void)fd; (void)how; (void)size; return 77; }
	END
	gcc -shared -fPIC -o own.so own.c
	cat >use.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void) { printf("%d %s\n", lockf(0, F_TEST, 0), getenv("LD_PRELOAD")); return 0; }
	END
	gcc -o use use.c
	LD_PRELOAD=$T/own.so record -e process "${presets[@]}" --inprocess -- ./use >out
	says out "^77 $T/own.so:/.*/libstrata_calls.so$"
	record --force -e process "${presets[@]}" --inprocess -- setpriv --reuid=65534 --clear-groups id -u >out 2>complaints
	same "as nobody" 65534 "$(cat out)"
	same complaints "" "$(cat complaints)"
}

@test "a real training job lives and learns the same" {
	/usr/bin/python3 -c 'import torch' 2>/dev/null || skip "python3-torch is not installed"
	cat >job.py <<-'END'
		import torch
		torch.manual_seed(1)
		data = torch.utils.data.TensorDataset(torch.randn(256, 8), torch.randn(256, 1))
		model = torch.nn.Linear(8, 1)
		best = torch.optim.SGD(model.parameters(), lr=0.1)
		for epoch in range(2):
		    for x, y in torch.utils.data.DataLoader(data, batch_size=32, num_workers=2):
		        best.zero_grad()
		        torch.nn.functional.mse_loss(model(x), y).backward()
		        best.step()
		print(model.weight.sum().item(), model.bias.item())
	END
	/usr/bin/python3 job.py >alone
	record -e process "${presets[@]}" --inprocess --aggregate 1s -- /usr/bin/python3 job.py >traced
	same "what it learnt" "$(cat alone)" "$(cat traced)"
	[ "$(rows counter "func == 'malloc'" count | paste -sd+ | bc)" -gt 100000 ]
	[ "$(rows counter True pid | sort -u | wc -l)" -ge 5 ]
}

@test "a library cannot be loaded from where programs cannot be run, nor without room: another place is taken, or it is said" {
	cat >closed.sh <<-'END'
		set -e
		mount --bind "$(dirname "$STRATA")" /mnt # it may lie below /tmp itself
		mount -t tmpfs -o noexec,size=400M none /dev/shm
		"$STRATA" record -o "$0.strata" -e process --call @posix --inprocess -- sh -c 'echo "$LD_PRELOAD $STRATA_INJECT"; ls /dev/shm'
		mount -t tmpfs -o ro none /dev/shm
		mount -t tmpfs -o noexec none /tmp
		mount -t tmpfs -o size=8k none /var/tmp
		unset XDG_RUNTIME_DIR
		! /mnt/strata record -o "$0.2.strata" -e process --call @posix --inprocess -- true
	END
	unshare -m bash ./closed.sh >out 2>words 3>&- || { cat words; false; }
	says out "^/tmp/strata-.*/libstrata_calls.so /dev/shm/strata-.*/pool$"
	says words "no place that the job could load"
}

@test "as another user, under sudo and by file capabilities" {
	open_folder
	cd "$OPEN"
	# shellcheck disable=SC2016
	job='id -u; stat -c %U "$STRATA_INJECT"'
	for way in "./strata record -u nobody" "env SUDO_USER=nobody ./strata record" \
		"setpriv --reuid=65534 --regid=65534 --clear-groups ./strata record"; do
		setcap -r strata 2>/dev/null || true
		[[ $way != setpriv* ]] || setcap cap_bpf,cap_perfmon+ep strata
		$way -o "$OPEN/run.strata" --force -e process --call @posix --inprocess -- sh -c "$job" >"$T/out" 2>"$T/words" 3>&-
		same "$way" "65534 nobody" "$(paste -sd' ' "$T/out")"
		[ "$(RUN=$OPEN/run.strata && rows call True tid | wc -l)" -gt 0 ]
	done
}

@test "a job that outlives its recording goes on without a complaint" {
	record -e process --call @posix --inprocess --until main -- sh -c '(sleep 2; ls / >/dev/null; echo over) >late 2>&1 &' 3>&-
	says words "processes of the job go on"
	within 20 grep -q over late
	same "what the loader said" over "$(cat late)"
	record --force -e process -- true # takes it away
}

@test "of a recorder that is killed nothing stays: the next one takes it away, and leaves a job its library" {
	background "$STRATA" record -o "$RUN" -e process --call @posix --inprocess -- sh -c 'echo $$ $STRATA_INJECT; while [ ! -e go ]; do sleep 0.1; done; ls / >/dev/null; echo over'
	within 20 grep -q /pool out
	read -r job pool <out
	kill -KILL "$PID"
	within 20 gone "$PID"
	[ -e "$pool" ]
	RUN=$T/other.strata record -e process -- true
	[ ! -e "$pool" ]
	[ -e "${pool%pool}libstrata_calls.so" ]
	touch go
	within 20 gone "$job"
	same "the job went on without a complaint" "over" "$(tail -n +2 out; cat err)"
	RUN=$T/other.strata record --force -e process -- true
	[ ! -e "${pool%/pool}" ]
}

@test "bad input gets a reason" {
	run -2 "$STRATA" record --inprocess -- true
	[[ $output == *"there is no --call"* ]]
	run -2 "$STRATA" record --inprocess --call @posix -a
	[[ $output == *"there is no command"* ]]
	run -2 "$STRATA" record --inprocess --call exe:main -- "$W/calls" 1
	[[ $output == *"none of them was asked for"* ]]
}
