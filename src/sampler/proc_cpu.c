#include "sampler/proc_cpu.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sampler/proc_text.h"

#define TIMES (sizeof(struct cpu_times) / sizeof(uint64_t))

/* ---- reading ---- */

/* The CPU's number after "cpu"; false for the line of all together and for other lines. */
static bool parse_name(struct proc_text *line, uint64_t *cpu)
{
	const char *word;
	size_t size = proc_text_word(line, &word);

	return size > 3 && !memcmp(word, "cpu", 3) && proc_text_number(word + 3, size - 3, cpu);
}

size_t cpu_parse(const char *text, size_t size, struct cpu_times *cpus, size_t count)
{
	struct proc_text rest = { text, text + size }, line;
	size_t found = 0;

	memset(cpus, 0, count * sizeof(*cpus));
	while (proc_text_line(&rest, &line)) {
		uint64_t cpu, times[TIMES] = { 0 };

		if (!parse_name(&line, &cpu) || cpu >= count)
			continue;
		/* Old kernels have fewer columns: the times they do not tell of are 0. */
		if (proc_text_numbers(&line, times, TIMES) < 4)
			continue;
		memcpy(&cpus[cpu], times, sizeof(times));
		found++;
	}
	return found;
}

/* ---- comparing ---- */

static uint64_t cpu_total(const struct cpu_times *times)
{
	return times->user + times->nice + times->system + times->idle + times->iowait +
	       times->irq + times->softirq + times->steal;
}

/* By how much a counter went backwards. */
static uint64_t cpu_fall(uint64_t before, uint64_t after)
{
	return after < before ? before - after : 0;
}

/* Mends counters that went backwards for a reason that is known: the kernel may take back iowait and
 * call it idle; a CPU that comes back online begins idle and iowait anew. */
static void cpu_mend(struct cpu_times *before, const struct cpu_times *after)
{
	if (after->iowait < before->iowait)
		before->iowait = after->idle >= before->idle ? after->iowait : 0;
	if (after->idle < before->idle)
		before->idle = 0;
}

/* The ticks that have passed for a mended CPU, by its own count and not the clock's. What went backwards
 * takes nothing from them. The ticks of a virtual machine are at times in guest before they are in user. */
static uint64_t cpu_ticks(const struct cpu_times *before, const struct cpu_times *after)
{
	return cpu_total(after) - cpu_total(before) +
	       cpu_fall(before->user - before->guest, after->user - after->guest) +
	       cpu_fall(before->nice - before->guest_nice, after->nice - after->guest_nice) +
	       cpu_fall(before->system, after->system) + cpu_fall(before->irq, after->irq) +
	       cpu_fall(before->softirq, after->softirq) + cpu_fall(before->steal, after->steal);
}

static double cpu_share(uint64_t before, uint64_t after, uint64_t ticks)
{
	return after < before ? NAN : (double)(after - before) / (double)ticks * 100;
}

/* Of time without that of virtual machines, which may be counted late. */
static double cpu_share_or_none(uint64_t before, uint64_t after, uint64_t ticks)
{
	return after < before ? 0 : cpu_share(before, after, ticks);
}

static struct cpu_shares cpu_shares(int cpu, const struct cpu_times *before,
				    const struct cpu_times *after, uint64_t ticks)
{
	if (!ticks) /* a CPU without a tick is asleep */
		return (struct cpu_shares){ .cpu = cpu, .idle = 100 };
	return (struct cpu_shares){
		.cpu = cpu,
		.usr = cpu_share_or_none(before->user - before->guest, after->user - after->guest,
					 ticks),
		.nice = cpu_share_or_none(before->nice - before->guest_nice,
					  after->nice - after->guest_nice, ticks),
		.sys = cpu_share(before->system, after->system, ticks),
		.iowait = cpu_share(before->iowait, after->iowait, ticks),
		.irq = cpu_share(before->irq, after->irq, ticks),
		.soft = cpu_share(before->softirq, after->softirq, ticks),
		.steal = cpu_share(before->steal, after->steal, ticks),
		.guest = cpu_share(before->guest, after->guest, ticks),
		.gnice = cpu_share(before->guest_nice, after->guest_nice, ticks),
		.idle = cpu_share(before->idle, after->idle, ticks),
	};
}

static void cpu_add(struct cpu_times *sum, const struct cpu_times *times)
{
	uint64_t sums[TIMES], terms[TIMES];

	memcpy(sums, sum, sizeof(sums));
	memcpy(terms, times, sizeof(terms));
	for (size_t i = 0; i < TIMES; i++)
		sums[i] += terms[i];
	memcpy(sum, sums, sizeof(sums));
}

size_t cpu_compare(struct cpu_times *before, struct cpu_times *after, size_t count,
		   struct cpu_shares *rows)
{
	struct cpu_times all_before = { 0 }, all_after = { 0 };
	uint64_t all_ticks = 0;
	size_t row_count = 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t ticks;

		if (!cpu_total(&after[i]))
			after[i] = before[i]; /* for when it comes back */
		else if (cpu_total(&before[i])) {
			cpu_mend(&before[i], &after[i]);
			ticks = cpu_ticks(&before[i], &after[i]);
			rows[row_count++] = cpu_shares((int)i, &before[i], &after[i], ticks);
			all_ticks += ticks;
			cpu_add(&all_before, &before[i]);
			cpu_add(&all_after, &after[i]);
		}
	}
	if (!all_ticks)
		return 0;
	/* The kernel's own line of sums is not used: it jumps when a CPU goes or comes. */
	rows[0] = cpu_shares(-1, &all_before, &all_after, all_ticks);
	return row_count;
}
