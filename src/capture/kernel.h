/* The BPF side of a recording: opened, configured, loaded, attached, asked. Everything in the kernel
 * hangs on file descriptors of this process and is gone with it, whatever ends it.
 */
#ifndef STRATA_CAPTURE_KERNEL_H
#define STRATA_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/absences.h"
#include "capture/features.h"
#include "capture/filter.h"
#include "schema/layers.h"

struct kernel;
struct stay;	    /* bpf/records.h */
struct async_state; /* likewise */
struct sink;	    /* capture/sink.h */

struct kernel_config {
	uint32_t layers;      /* LAYER_BITs to record */
	uint32_t required;    /* those of them that were asked for by name */
	bool record_all;      /* io, fs and mem of every process */
	bool process_all;     /* process events of every process */
	uint64_t ring_bytes;  /* of each CPU's ring; 0: chosen by the number of CPUs */
	const pid_t *targets; /* processes to attach to */
	size_t target_count;
	bool command;		     /* a command will be launched */
	const struct filter *filter; /* resolved */
	const struct features *features;
	struct absences *absences; /* gets what this kernel cannot give */
};

/* Loads and attaches all programs; nothing is recorded yet. */
int kernel_open(struct kernel **kernel, const struct kernel_config *config, struct error *e);
void kernel_close(struct kernel *kernel);

/* Makes a child of strata's part of the job as soon as it calls execve. */
int kernel_add_child(struct kernel *kernel, pid_t pid, struct error *e);

/* Begins recording; `start` is the boot time from which on rows count. Threads of the targets join the
 * job, and what exists is told. */
int kernel_start(struct kernel *kernel, uint64_t *start, struct error *e);

/* Ends recording: calls in flight are closed as unfinished, all into the rings, and the programs are
 * detached, but for the one that kernel_signalled() needs. */
int kernel_stop(struct kernel *kernel, struct error *e);

/* The stay that each CPU was in when the recording ended, into stays[kernel_ring_count()]; -ENODATA when
 * the layer sched is not recorded, or only the job's. */
int kernel_read_stays(const struct kernel *kernel, struct stay *stays, struct error *e);

/* Asks of each thread again whether the filter matches it, where that may have changed unseen. */
void kernel_refresh_filter(struct kernel *kernel);

/* What has matched the filter: threads, and files. */
struct kernel_matches {
	uint64_t threads, files;
};

struct kernel_matches kernel_matches(const struct kernel *kernel);

/* Hands over each operation in a queue (io_uring, libaio) that was not seen to end. */
void kernel_each_async(const struct kernel *kernel,
		       void (*take)(struct sink *sink, const struct async_state *state),
		       struct sink *sink);

/* Whether `sender` has sent this signal to the launched command itself, after the boot time `since`. */
bool kernel_signalled(const struct kernel *kernel, int signal, pid_t sender, uint64_t since);

uint32_t kernel_live(const struct kernel *kernel); /* threads of the job */

/* Notes what the job's threads have used so far, for kernel_read_job() not to count it; -ENODATA when there is
 * no job, or its totals are not recorded. To be called after kernel_start(). */
int kernel_begin_job(struct kernel *kernel, struct error *e);

/* What the job's threads have used since then, into totals[JOB_COUNTERS]; missing: the bits of those that the
 * kernel does not count. Adds a pid, 32 bits wide, to `pids` for each thread that lives. */
int kernel_read_job(struct kernel *kernel, uint64_t *totals, uint32_t *missing, struct buf *pids,
		    struct error *e);

unsigned kernel_ring_count(const struct kernel *kernel);
uint64_t kernel_ring_bytes(const struct kernel *kernel);
int kernel_ring_fd(const struct kernel *kernel, unsigned cpu); /* -1: that CPU is not there */

/* Reads the loss counters into loss[cpu * LAYER_COUNT * LOSS_COUNT + layer * LOSS_COUNT + reason]. */
int kernel_read_loss(const struct kernel *kernel, uint64_t *loss, struct error *e);

#endif
