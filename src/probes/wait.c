/* The layer wait: records of calls that slept, as rows. The programs that see those calls are others' (bpf/file.bpf.c their
 * beginning and end, bpf/sched.bpf.c their sleep), which take here what is known of each call. */
#include "probes/wait.h"

#include <errno.h>
#include <asm/unistd_64.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "gen/syscall_numbers.h"
#include "probes/probe.h"

#ifndef __NR_futex_wait /* newer than the headers */
#	define __NR_futex_wait 455
#endif

#define WAIT_DESCRIPTOR(name, number)	static_assert(__NR_##name == number, #name);
#define WAIT_TIMEOUT(name, number, ...) static_assert(__NR_##name == number, #name);
#include "schema/waits.def"

void wait_fill_traits(struct wait_trait *traits)
{
#define IO_SYSCALL(name, number, number32, family, trait, direction, shape) \
	traits[number].has_fd = IO_##shape != IO_REMOTE;
#define _ ARGUMENT_NONE
#define FS_SYSCALL(name, number, number32, family, trait, fd, ...) \
	traits[number].has_fd = (fd) != ARGUMENT_NONE;
#include "schema/syscalls.def"
#undef _
#define WAIT_DESCRIPTOR(name, number) traits[number].has_fd = 1;
#define WAIT_TIMEOUT(name, number, kind, at)  \
	traits[number].timeout = WAIT_##kind; \
	traits[number].place = at;
#include "schema/waits.def"
}

/* Those that the header of the C library does not have yet. */
static const char *const newer_names[SYSCALL_NUMBERS] = {
#define WAIT_NAME(name, number) [number] = #name,
#include "schema/waits.def"

#define CLOCK_TRIES 3
};

#define SET(column, value) builder_set(row, column_wait_##column, (int64_t)(value))

static void set_name(struct builder *row, unsigned number)
{
	const char *name = number < SYSCALL_NUMBER_COUNT ? syscall_by_number[number] : NULL;
	char text[32];

	if (!name && number < SYSCALL_NUMBERS)
		name = newer_names[number];
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%#x", number); /* as strace has it */
		name = text;
	}
	builder_set_text(row, column_wait_op, name, strlen(name));
}

/* How far a clock is ahead of boot time. They cannot be read at one instant: of a few tries the quickest counts. */
static int clock_ahead(clockid_t clock, int64_t *ahead)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = clock_boot(), after;
		struct timespec time;
		int64_t now;

		if (clock_gettime(clock, &time))
			return -errno;
		after = clock_boot();
		now = time.tv_sec * 1000000000ll + time.tv_nsec;
		if (after - before >= least)
			continue;
		least = after - before;
		*ahead = now - (int64_t)(before + least / 2);
	}
	return 0;
}

/* A time on some clock as a length from ts on. What clocks differ by is taken now, moments after the call. */
static void set_timeout(struct builder *row, const struct wait_record *wait)
{
	int64_t ahead = 0, left;

	if (wait->timeout == RECORD_NULL)
		return;
	if (wait->clock == CLOCK_NONE) {
		SET(timeout, wait->timeout);
		return;
	}
	if (wait->clock == CLOCK_PROCESS_CPUTIME_ID || wait->clock == CLOCK_THREAD_CPUTIME_ID ||
	    clock_ahead(wait->clock, &ahead))
		return;
	left = (int64_t)((uint64_t)wait->timeout - (uint64_t)ahead - wait->head.ts);
	SET(timeout, left > 0 ? left : 0);
}

static void wait_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct wait_record *wait = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_wait);

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_wait);
	SET_HEAD(row, wait, head);
	set_name(row, wait->number);
	SET(arg0, wait->arg0);
	if (wait->fd != DESCRIPTOR_NONE)
		SET(fd, wait->fd);
	if (wait->file)
		SET(file, wait->file);
	set_timeout(row, wait);
	if (wait->blocked != RECORD_NULL)
		SET(blocked, wait->blocked);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(returned, wait->returned);
	if (head->flags & RECORD_INTERRUPTED)
		SET(restarted, !!(head->flags & RECORD_RESTARTED));
	sink_end_row(&maker->sink, TABLE_wait);
}

const struct probe wait_probe = {
	.name = "wait",
	.decode = wait_decode,
};
