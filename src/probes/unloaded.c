#include "probes/unloaded.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "bpf/records.h"

#define MOST_NOTES (1u << 16) /* then nothing is said of later ones */
#define MOST_NAMES 5

struct note {
	uint32_t pid;
	bool load; /* else an execve */
	bool told; /* named already */
	uint64_t ts;
	char comm[COMM_BYTES];
};

struct unloaded {
	pthread_mutex_t lock; /* guards what follows */
	struct buf notes;     /* struct note each */
};

struct unloaded *unloaded_open(void)
{
	struct unloaded *unloaded = calloc(1, sizeof(*unloaded));

	if (!unloaded)
		return NULL;
	pthread_mutex_init(&unloaded->lock, NULL);
	unloaded->notes.limit = MOST_NOTES * sizeof(struct note);
	return unloaded;
}

void unloaded_close(struct unloaded *unloaded)
{
	if (!unloaded)
		return;
	buf_free(&unloaded->notes);
	pthread_mutex_destroy(&unloaded->lock);
	free(unloaded);
}

static void add_note(struct unloaded *unloaded, const struct note *note)
{
	pthread_mutex_lock(&unloaded->lock);
	if (buf_append(&unloaded->notes, note, sizeof(*note)))
		unloaded->notes.limit = unloaded->notes.size; /* it is full, and stays so */
	pthread_mutex_unlock(&unloaded->lock);
}

void unloaded_note_exec(struct unloaded *unloaded, uint32_t pid, uint64_t ts, const char *comm)
{
	struct note note = { .pid = pid, .ts = ts };

	if (!unloaded)
		return;
	memcpy(note.comm, comm, sizeof(note.comm) - 1);
	add_note(unloaded, &note);
}

void unloaded_note_load(struct unloaded *unloaded, uint32_t pid, uint64_t ts)
{
	struct note note = { .pid = pid, .load = true, .ts = ts };

	if (!unloaded)
		return;
	add_note(unloaded, &note);
}

static int by_process_and_time(const void *one, const void *other)
{
	const struct note *a = one, *b = other;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

/* An execve with no load before the next one of its process. */
static bool is_unloaded(const struct note *note, const struct note *end)
{
	return !note->load && (note + 1 == end || note[1].pid != note->pid || !note[1].load);
}

/* How many of this name there are, from here on; they need not be told again. */
static size_t take_name(struct note *first, const struct note *end)
{
	size_t times = 0;

	for (struct note *note = first; note < end; note++) {
		if (!is_unloaded(note, end) || strcmp(note->comm, first->comm))
			continue;
		note->told = true;
		times++;
	}
	return times;
}

size_t unloaded_name_some(struct unloaded *unloaded, char *out, size_t size)
{
	struct note *notes = (struct note *)unloaded->notes.data;
	struct note *end = notes + unloaded->notes.size / sizeof(*notes);
	size_t all = 0, used = 0, named = 0, told = 0;

	*out = 0;
	if (notes)
		qsort(notes, (size_t)(end - notes), sizeof(*notes), by_process_and_time);
	for (struct note *note = notes; note < end; note++) {
		size_t times;

		if (!is_unloaded(note, end))
			continue;
		all++;
		if (note->told || named == MOST_NAMES || used + 64 > size)
			continue;
		times = take_name(note, end);
		told += times;
		used += (size_t)snprintf(out + used, size - used, "%s%s", named++ ? ", " : "",
					 note->comm);
		if (times > 1)
			used += (size_t)snprintf(out + used, size - used, " (%zu times)", times);
	}
	if (all > told)
		snprintf(out + used, size - used, " and %zu more", all - told);
	return all;
}
