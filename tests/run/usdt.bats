#!/usr/bin/env bats
# USDT marks as functions to trace: where the notes of a file say, with their arguments, against what the programs count, and bpftrace.

load lib
setup_file() { need_bpf; }
setup() { enter; }
teardown() { leave; }

# A program with marks of its own: arguments in registers and memory, signed and not, constants; one behind a semaphore; one name at
# two places.
make_marked() {
	cat >marked.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define NOTE(name, semaphore, arguments) \
			"990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
			"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, " semaphore "\n" \
			".asciz \"mine\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n994: .balign 4\n.popsection\n"
		__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n.weak _.stapsdt.base\n"
			".hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");
		__attribute__((section(".probes"), used)) volatile unsigned short watched;
		__asm__(".globl watched");
		__attribute__((noinline)) static void work(long i)
		{
			volatile int small = -7;
			volatile short shorter = -3;
			__asm__ volatile(NOTE("step", "0", "8@%0 -4@%1 2@%2 -8@$42") : : "r"(i), "m"(small), "m"(shorter));
			if (i % 2)
				__asm__ volatile(NOTE("half", "0", "-4@%k0") : : "b"((int)-i));
			else
				__asm__ volatile(NOTE("half", "0", "8f@%%xmm0 8@%0") : : "r"(i));
			if (watched)
				__asm__ volatile(NOTE("asked", "watched", "8@%0") : : "r"(i));
		}
		int main(int argc, char **argv)
		{
			for (long i = 0; i < atol(argv[argc - 1]); i++)
				work(i);
			printf("%u\n", watched);
			return 0;
		}
	END
	gcc -O1 -fno-pie -no-pie -o marked marked.c
}

@test "marks of a program: each once, with its arguments, the one behind a semaphore too" {
	make_marked
	./marked 10 >plain
	same "watched without a probe" 0 "$(cat plain)"
	record -e process --call 'usdt:exe:*' -- ./marked 10 >out
	same "watched with one" 1 "$(cat out)"
	no_loss
	same "step" "$(for i in 0 1 2 3 4 5 6 7 8 9; do echo "$i -7 65533 42"; done)" "$(rows call "func == 'mine:step'" arg0,arg1,arg2,arg3 | tr '\t' ' ')"
	same "half" "$(printf '%s\n' '- 0' '-1 -' '- 2' '-3 -' '- 4' '-5 -' '- 6' '-7 -' '- 8' '-9 -')" \
		"$(rows call "func == 'mine:half'" arg0,arg1 | tr '\t' ' ')"
	same "asked" "$(seq 0 9)" "$(rows call "func == 'mine:asked'" arg0)"
	same "module and length" "marked -" "$(rows call True module,dur | sort -u | tr '\t' ' ')"
	same "watched afterwards" 0 "$(./marked 1)"
}

@test "bpftrace sees the same" {
	command -v bpftrace >/dev/null || skip "bpftrace is not installed"
	make_marked
	"$ROOT/scripts/with-tracefs" bpftrace -e "usdt:$T/marked:mine:step { @step = count(); @sum = sum(arg0); }
		usdt:$T/marked:mine:half { @half = count(); }" -c "$T/marked 50" >counted 2>/dev/null
	record -e process --call usdt:exe:step,mine:half --aggregate 1h -- ./marked 50
	same calls "$(sed -n 's/^@\(step\|half\): /mine:\1 /p' counted | sort)" \
		"$(rows counter True func,count | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort)"
	rm "$RUN"
	record -e process --call usdt:exe:step -- ./marked 50 >out
	same "sum of arguments" "$(sed -n 's/^@sum: //p' counted)" "$(rows call True arg0 | paste -sd+ | bc)"
}

@test "python3: as many collections of garbage as it counts itself, in the order of their generations" {
	"$STRATA" record --list-calls usdt:/usr/bin/python3 >listed || skip "this python3 has no marks"
	says listed "python:gc__start .*USDT with a semaphore, arguments"
	record -e process --call usdt:/usr/bin/python3:gc__start,gc__done -- /usr/bin/python3 -c 'import gc
gc.disable()
for generation in (0, 2, 1, 1): gc.collect(generation)'
	says <(rows call "func == 'python:gc__start'" arg0 | xargs) "0 2 1 1" # among those of its start and its end
	says words "lost" && ! grep call.dur words
	same "ends" "$(count call "func == 'python:gc__start'")" "$(count call "func == 'python:gc__done'")"
}

@test "a mark that is not there, a file without any, and an own process by its id" {
	make_marked
	! record --call usdt:exe:stepp -- ./marked 1 && says words "no USDT mark 'stepp'.*did you mean 'step'"
	! record --call usdt:libc.so.6:any -- true && says words "libc.so.6 has no USDT mark"
	! record --call usdt:exe -- true && says words "MODULE:FUNCTION"
	"$STRATA" record --list-calls usdt:./marked >listed
	same "places" 4 "$(wc -l <listed)"
	says listed "marked:mine:step .*USDT, arguments 8@%"
}
