/* What the job as a whole used, by the kernel's own counters: the sums of table job over the intervals that begin in
 * the window, and the most of what is sampled at their ends. No answer that is not known is a 0: it is CELL_NULL.
 */
#ifndef STRATA_ANALYZE_JOB_USE_H
#define STRATA_ANALYZE_JOB_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/scan.h"

/* SUM(field, column) */
#define JOB_SUMS(SUM)                   \
	SUM(usr_ns, usr)                \
	SUM(sys_ns, sys)                \
	SUM(read_bytes, read_bytes)     \
	SUM(write_bytes, write_bytes)   \
	SUM(rchar_bytes, rchar)         \
	SUM(wchar_bytes, wchar)         \
	SUM(minor_faults, minor_faults) \
	SUM(major_faults, major_faults) \
	SUM(voluntary, voluntary)       \
	SUM(involuntary, involuntary)

struct job_use {
	struct context *context;
	bool known;	     /* there was a row */
	uint64_t sampled_ns; /* the length of the intervals */
	int64_t cpu_ns;	     /* usr_ns + sys_ns */
	double cpus;	     /* used at a time; NAN: not known */
	double usr_share;    /* of the CPU time; NAN: not known */
	int64_t most_rss; /* bytes resident at the end of an interval: peaks between are not seen */
	int64_t most_processes, most_threads; /* likewise */
#define SUM_FIELD(field, column) int64_t field;
	JOB_SUMS(SUM_FIELD)
#undef SUM_FIELD
};

void job_use_open(struct job_use *use, struct context *context);
struct scan_sink job_use_sink(struct job_use *use);
void job_use_finish(struct job_use *use);

#endif
