/* The three objects behind a struct live, for the files of this folder. */
#ifndef STRATA_LIVE_PARTS_H
#define STRATA_LIVE_PARTS_H

#include <bpf/libbpf.h>

#include "live/live.h"

/* Histograms in memory that the kernel shares: rows for each CPU, a subject each. */
struct live_table {
	struct live_hist *shared; /* NULL: not loaded */
	size_t bytes;
	struct live_hist *before; /* sums of all CPUs at the last reading, one for each subject */
	unsigned cpus, subjects;
};

struct live_call {
	const char *name;
	bool moves; /* data: it is part of iolat */
};

struct live {
	struct live_config config; /* without the pids */
	struct live_sched_bpf *sched;
	struct live_call_bpf *call;
	struct live_block_bpf *block;
	struct live_table sched_table, call_table, block_table;
	struct live_call calls[LIVE_CALL_NUMBERS]; /* by subject; 0 is none */
	unsigned call_count;			   /* subject 0 included */
	uint64_t read_at, started, lost;	   /* at the last reading */
	pid_t alone;				   /* the first of the processes that are watched */
};

/* Fills the table of wanted calls, and calls[]. */
void live_choose_calls(struct live *live, uint16_t *by_number);

/* What became of one subject since the last reading: false, if nothing. */
bool live_table_take(struct live_table *table, unsigned subject, struct live_hist *now);

#endif
