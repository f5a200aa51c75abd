/* Histograms that are kept in the kernel while strata runs: loading the programs of bpf/live_*.bpf.c, and reading what happened
 * since the last reading. All in the kernel hangs on descriptors of this process and is gone with it.
 *
 *     live_open(&live, &config, e)
 *     each interval: live_read(live, &reading, e), print it
 *     live_reading_free(&reading), live_close(live)
 */
#ifndef STRATA_LIVE_LIVE_H
#define STRATA_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "bpf/live.h"

enum live_what {
#define LIVE(name, ...) LIVE_##name,
#include "live/live.def"
	LIVE_COUNT
};

#define LIVE_BIT(what) (1u << (what))

struct live_info {
	const char *name;
	const char *doc;
	bool chosen; /* can be narrowed to some processes */
};

extern const struct live_info live_infos[LIVE_COUNT];

/* Adds what has this name to the bits. */
int live_find(const char *name, unsigned *what, struct error *e);

struct live_config {
	unsigned what;	   /* LIVE_BITs */
	uint64_t unit;	   /* ns of a slot's unit: 1000 or 1000000 */
	const pid_t *pids; /* watch these processes alone; none: everybody */
	size_t pid_count;
	bool follow;	  /* and the children that they start */
	bool on_cpu;	  /* of cpudist: stays on a CPU */
	bool off_cpu;	  /* of cpudist: times off it */
	bool per_process; /* cpudist and runqlat of each process too */
	bool top;	  /* busiest threads and files too; needs cpudist and iolat */
};

struct live;

int live_open(struct live **live, const struct live_config *config, struct error *e);
void live_close(struct live *live);

/* What one histogram has counted. Empty ones are left out. */
struct live_series {
	enum live_what what;
	bool off_cpu;
	uint32_t pid;	/* 0: all that are watched */
	char comm[16];	/* of the process */
	char label[32]; /* the call, or the device; "": none */
	const char *op; /* R W F D of a device; "": none */
	uint64_t count;
	struct live_hist hist;
};

struct live_thread_use {
	uint32_t tid;
	struct live_busy use;
};

struct live_file_use {
	struct live_file_key key;
	struct live_file use;
};

/* Zeroed before the first reading; each reading takes the place of the last. */
struct live_reading {
	uint64_t ts;	  /* CLOCK_MONOTONIC of the reading */
	uint64_t length;  /* ns since the one before, or since live_open() */
	uint64_t started; /* processes and threads */
	uint64_t lost;	  /* events that could not be counted */
	struct buf
		series; /* struct live_series: in order of live.def, label, op; processes after the whole */
	struct buf threads;	 /* struct live_thread_use, busiest first */
	struct buf files;	 /* struct live_file_use, likewise by bytes */
	struct buf keys, values; /* scratch */
};

int live_read(struct live *live, struct live_reading *reading, struct error *e);
void live_reading_free(struct live_reading *reading);

/* Gives up all capabilities but these, and what this kernel wants for reading on. For the one thread that there is; takes a
 * reading, with which the first interval begins. */
int live_give_up(struct live *live, struct live_reading *reading, uint64_t keep, struct error *e);

size_t live_series_count(const struct live_reading *reading);
const struct live_series *live_series_at(const struct live_reading *reading, size_t i);

/* The processes that are watched, into pids[most], with those that were followed. Returns how many. */
size_t live_pids(struct live *live, pid_t *pids, size_t most);

/* The least value of a slot, in units. */
uint64_t live_slot_start(unsigned slot);

#endif
