#include "inject/ticks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define TRIES	    8
#define READ_EVERY  (100 * 1000000ull) /* ns */
#define LEAST_APART (2 * 1000000ull)   /* ns between two readings that tell a pace */

static bool file_has(const char *path, const char *const words[])
{
	FILE *file = fopen(path, "re");
	char line[8192];
	bool all = false;

	while (file && !all && fgets(line, sizeof(line), file)) {
		all = true;
		for (unsigned i = 0; words[i]; i++)
			all &= !!strstr(line, words[i]);
	}
	if (file)
		fclose(file);
	return all;
}

bool ticks_usable(void)
{
#ifdef __x86_64__
	static const char source[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";

	/* The kernel leaves a counter that it finds unsteady for another clock; a guest's clock is made of the counter. */
	return file_has("/proc/cpuinfo",
			(const char *const[]){ "flags", " constant_tsc", " nonstop_tsc", NULL }) &&
	       (file_has(source, (const char *const[]){ "tsc", NULL }) ||
		file_has(source, (const char *const[]){ "kvm-clock", NULL }));
#else
	return false;
#endif
}

static struct ticks_reading take_reading(void)
{
	struct ticks_reading best = { 0, 0 };
#ifdef __x86_64__
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), ns = clock_boot(),
			 after = __builtin_ia32_rdtsc();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct ticks_reading){ before + least / 2, ns };
	}
#endif
	return best;
}

/* Two readings, a moment apart: a pace to begin with. */
void ticks_open(struct ticks *ticks, bool usable)
{
	struct timespec moment = { 0, 2 * LEAST_APART };

	*ticks = (struct ticks){ .same = !usable };
	if (!usable)
		return;
	ticks->readings[ticks->count++] = take_reading();
	nanosleep(&moment, NULL);
	ticks->readings[ticks->count++] = take_reading();
}

void ticks_read(struct ticks *ticks)
{
	if (ticks->same || clock_boot() - ticks->readings[ticks->count - 1].ns < READ_EVERY)
		return;
	if (ticks->count == TICKS_READINGS) {
		memmove(&ticks->readings[0], &ticks->readings[1],
			sizeof(ticks->readings) - sizeof(ticks->readings[0]));
		ticks->count--;
	}
	ticks->readings[ticks->count++] = take_reading();
}

/* Nanoseconds that so many ticks take at the pace between two readings. */
static uint64_t scale(const struct ticks_reading *from, const struct ticks_reading *to,
		      uint64_t length)
{
	uint64_t ticks = to->ticks - from->ticks;

	return ticks ? (uint64_t)((unsigned __int128)length * (to->ns - from->ns) / ticks) : length;
}

/* The reading that the line through `at` begins with: the last one before it, but never the very last. */
static const struct ticks_reading *reading_before(const struct ticks *ticks, uint64_t at)
{
	uint32_t i = ticks->count - 2;

	while (i && ticks->readings[i].ticks > at)
		i--;
	return &ticks->readings[i];
}

uint64_t ticks_pace(const struct ticks *ticks, uint32_t shift)
{
	const struct ticks_reading *last;

	if (ticks->same)
		return 1ull << shift;
	last = &ticks->readings[ticks->count - 1];
	return scale(last - 1, last, 1ull << shift);
}

uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t at)
{
	const struct ticks_reading *from;

	if (ticks->same)
		return at;
	from = reading_before(ticks, at);
	return at >= from->ticks ? from->ns + scale(from, from + 1, at - from->ticks)
				 : from->ns - scale(from, from + 1, from->ticks - at);
}

uint64_t ticks_length(const struct ticks *ticks, uint64_t at, uint64_t length)
{
	const struct ticks_reading *from;

	if (ticks->same)
		return length;
	from = reading_before(ticks, at);
	return scale(from, from + 1, length);
}
