/* The agent's embedded store: what each interval brought, in one SQLite file.
 *
 *     interval  [first sample, start, length] ...   one row an interval
 *     sample    [id, series, value or slots]  ...   appended, never changed; ids grow and are never used again
 *     series    [metric, label, op, pid, comm]      what a sample is of
 *
 * An interval is written in one transaction (WAL): whatever kills the agent, those before are whole. One connection writes; any
 * number of others, of this or other processes, read at the same time. A connection belongs to one thread.
 */
#ifndef STRATA_CLUSTER_METRIC_STORE_H
#define STRATA_CLUSTER_METRIC_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/live.h"
#include "cluster/metrics.h"

struct metric_store;

enum metric_store_mode { METRIC_STORE_READ, METRIC_STORE_WRITE };

struct metric_sample {
	uint64_t id;	 /* grows with time: a cursor for who reads on; given by the store */
	uint64_t start;	 /* of the interval, ns of CLOCK_REALTIME; given by the store */
	uint64_t length; /* of the interval, ns; likewise */
	enum metric metric;
	const char *label; /* the device, operation or GPU, as metrics[].label says; "" none */
	const char *op;	   /* R W F D where metrics[].has_op; "" none */
	int64_t pid;	   /* 0 and comm "": the whole node, or the job that the agent watches */
	const char *comm;
	double value; /* METRIC_KIND_SUM, METRIC_KIND_GAUGE; never NaN: what is not known has no sample */
	/* METRIC_KIND_HISTOGRAM: of this interval alone. */
	uint64_t count, sum, most, bytes; /* events, their ns, the longest's ns, bytes moved */
	const uint64_t *slots;		  /* LIVE_SLOTS of them, see bpf/live.h */
};

/* WRITE makes the file (mode 0600) if it is not there. READ finds -ENOENT then. */
int metric_store_open(struct metric_store **store, const char *path, enum metric_store_mode mode,
		      struct error *e);
void metric_store_close(struct metric_store *store);

/* ---- writing ---- */

struct metric_interval {
	uint64_t start, length; /* ns of CLOCK_REALTIME */
	const struct metric_sample *samples;
	size_t count;
};

/* All of it or nothing. */
int metric_store_write(struct metric_store *store, const struct metric_interval *interval,
		       struct error *e);

struct metric_retention {
	uint64_t age;  /* ns: intervals that began longer before `now` go; 0: no limit */
	uint64_t size; /* bytes of the file: the oldest go; 0: no limit */
};

/* Removes what is too old, or too much, a little of it at a time; for the writer, now and then. */
int metric_store_retain(struct metric_store *store, const struct metric_retention *retention,
			uint64_t now, struct error *e);

/* ---- reading ---- */

struct metric_filter {
	uint64_t metrics;  /* bit 1 << enum metric; 0: all */
	uint64_t from, to; /* intervals that began in [from, to); to 0: no end */
	uint64_t after;	   /* samples with a greater id; 0: all */
	int64_t pid;	   /* 0: the node's own, -1: any, else of that process */
	const char *comm;  /* of processes of that name; NULL: any */
	uint64_t limit;	   /* samples at most; 0: no limit */
	uint64_t deadline; /* CLOCK_MONOTONIC ns after which it ends with -ETIMEDOUT; 0: none */
};

/* Calls `each` for the samples in order of id. What it returns other than 0 ends the reading: a negative one is returned, and
 * `each` has described it. The sample and its texts hold until `each` returns. */
int metric_store_each(struct metric_store *store, const struct metric_filter *filter,
		      int (*each)(void *context, const struct metric_sample *sample), void *context,
		      struct error *e);

/* The intervals that began in [from, to), to 0: no end. What is empty has 0 intervals. */
struct metric_span {
	uint64_t start, end; /* of the first and last, ns of CLOCK_REALTIME */
	uint64_t covered;    /* ns in them: less than end - start where the agent was away */
	uint64_t intervals;
};

int metric_store_span(struct metric_store *store, uint64_t from, uint64_t to,
		      struct metric_span *span, struct error *e);

/* Bytes of the file that hold something. */
uint64_t metric_store_bytes(struct metric_store *store);

/* Short facts by name: "node", "started" (ns of CLOCK_REALTIME when this agent began). Reading gives -ENOENT for one that is
 * not there. */
int metric_store_set_fact(struct metric_store *store, const char *name, const char *value,
			  struct error *e);
int metric_store_fact(struct metric_store *store, const char *name, char *out, size_t size,
		      struct error *e);

#endif
