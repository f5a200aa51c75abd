/* What /proc/stat says about CPUs, and the shares of time that follow from two readings of it: mpstat's
 * columns by mpstat's rules. Plain computation, without system calls.
 */
#ifndef STRATA_SAMPLER_PROC_CPU_H
#define STRATA_SAMPLER_PROC_CPU_H

#include <stddef.h>
#include <stdint.h>

/* A CPU's times since boot in ticks of 1/100 s, in the order of the line. user contains guest, and nice
 * contains guest_nice. A CPU that is offline has no line, and zeros here. */
struct cpu_times {
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice;
};

/* Shares in percent; NaN: not known. */
struct cpu_shares {
	int cpu; /* -1: all of them together */
	double usr, nice, sys, iowait, irq, soft, steal, guest, gnice, idle;
};

/* Reads the lines of CPUs 0 to count - 1 into cpus[]; those without a line become zeros. Returns how many
 * lines there were. */
size_t cpu_parse(const char *text, size_t size, struct cpu_times *cpus, size_t count);

/* Computes the shares of the time between two readings into rows[count + 1]: all CPUs together, then each
 * one that is online now and was when it was last seen. Returns the number of rows; 0 when no tick has
 * passed.
 *
 * after[] is made what the next call needs as before[]: a CPU that is offline keeps its last times there.
 * before[] is spent. */
size_t cpu_compare(struct cpu_times *before, struct cpu_times *after, size_t count,
		   struct cpu_shares *rows);

#endif
