/* What libraries inside of the job write (inject/), as rows: the pool read in a thread of its own, and each record handed to the reader
 * of the library that wrote it. A library is a number (enum inject_library), a row in injected_readers[] here and one in
 * capture/injection.c, where its file is.
 */
#ifndef STRATA_PROBES_INJECTED_H
#define STRATA_PROBES_INJECTED_H

#include "base/error.h"
#include "inject/pool.h"
#include "probes/probe.h"

#define INJECT_BIT(library) (1u << (library))

/* What the recording is to be, for the readers. */
struct injected_setup {
	struct pool *pool;
	uint32_t libraries; /* INJECT_BITs of those that the job is to load */
	const struct calls *calls;
	uint64_t aggregate, min_dur; /* as struct session_config has them */
	enum inject_clock clock;
};

/* What becomes of what a library writes. Hooks but the first two run in the thread that empties the pool. */
struct injected_reader {
	enum layer layer; /* whose losses these are */
	/* Makes the reader's own state, and the library's settings by pool_set(). */
	int (*open)(void **state, const struct injected_setup *setup, struct error *e);
	/* The recording begins, in the session's thread. NULL: it does not matter when. */
	void (*start)(void *state, uint64_t now);
	void (*record)(void *state, struct row_maker *maker, const struct pool_writer *writer,
		       const struct inject_head *head);
	/* A thread will write no more. NULL: it does not matter. */
	void (*end)(void *state, struct row_maker *maker, const struct pool_writer *writer);
	/* After all rings were read; last: for the last time. NULL: nothing to do. */
	void (*pass)(void *state, struct row_maker *maker, bool last);
	void (*close)(void *state);
};

struct injected;

int injected_open(struct injected **injected, const struct injected_setup *setup, struct error *e);
void injected_close(struct injected *injected);

void injected_start(struct injected *injected, uint64_t now);

/* For the thread that empties the pool: what it does instead of waiting for and emptying rings of the kernel. */
bool injected_wait(struct injected *injected); /* whether rings fill fast */
void injected_read(struct injected *injected, struct row_maker *maker, bool last);

/* Who did not load the library of calls; NULL: it is not to be loaded. */
struct unloaded *injected_unloaded(const struct injected *injected);

/* For others: has it look at once. */
void injected_wake(struct injected *injected);

/* Adds rows of table loss for what was lost since `since`, up to `now`. Returns how much that was. */
uint64_t injected_take_losses(struct injected *injected, struct sink *sink, uint64_t since,
			      uint64_t now);

#endif
