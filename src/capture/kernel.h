/* The BPF side of a recording: the probes' objects opened, configured, loaded, attached, and asked. Everything in the kernel
 * hangs on file descriptors of this process and is gone with it, whatever ends it.
 */
#ifndef STRATA_CAPTURE_KERNEL_H
#define STRATA_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "capture/selection.h"
#include "probes/absences.h"
#include "schema/layers.h"
#include "store/sink.h"

struct kernel;

struct kernel_config {
	uint32_t layers;      /* LAYER_BITs to record */
	uint32_t required;    /* those of them that were asked for by name */
	bool record_all;      /* io, fs, mem and fault of every process */
	uid_t mark_uid;	      /* whose marks are taken from outside the job, beside root's */
	bool process_all;     /* the other layers of every process */
	bool own_only;	      /* processes of this user, with no rights of their own */
	bool redact_args;     /* arguments of processes are left out */
	uint64_t ring_bytes;  /* of each CPU's ring; 0: chosen by the number of CPUs */
	const pid_t *targets; /* processes to attach to */
	size_t target_count;
	struct calls *calls; /* functions to trace; NULL: none */
	uint64_t min_dur;    /* see struct probe_setup; so is aggregates */
	bool aggregates;
	bool command;			   /* a command will be launched */
	const struct selection *selection; /* resolved */
	struct absences *absences;	   /* gets what this kernel cannot give */
};

/* Loads and attaches all programs; nothing is recorded yet. */
int kernel_open(struct kernel **kernel, const struct kernel_config *config, struct error *e);
void kernel_close(struct kernel *kernel);

/* Those of the layers asked for that the probes and the samplers to come can record. */
uint32_t kernel_layers(const struct kernel *kernel);

/* CPU time that a probe's programs took to load; 0: they were not. */
uint64_t kernel_load_cpu(const struct kernel *kernel, enum probe_id probe);

/* Tells of each program that is loaded where it hangs, as its section says, and whether it is attached. */
void kernel_list_hooks(const struct kernel *kernel,
		       void (*each)(void *context, enum probe_id probe, const char *place,
				    bool attached),
		       void *context);

/* Makes a child of strata's part of the job as soon as it calls execve. */
int kernel_add_child(struct kernel *kernel, pid_t pid, struct error *e);

/* Begins recording; `start` is the boot time from which on rows count. Threads of the targets join the
 * job, and what exists is told. */
int kernel_start(struct kernel *kernel, bool off, uint64_t *start, struct error *e);

/* Has the probes look after what they watch; to be called twice a second. */
void kernel_poll(struct kernel *kernel);

/* Adds the probes' rows of the interval since the last time. */
void kernel_sample(struct kernel *kernel, struct sink *sink);

/* Adds rows of what was counted since the last time. */
void kernel_count(struct kernel *kernel, struct sink *sink);

/* The functions that are traced; NULL: none. */
const struct calls *kernel_calls(const struct kernel *kernel);

/* Ends recording: what is in flight is closed as unfinished, all into the rings, and the programs are detached, but for what
 * kernel_signalled() needs. */
int kernel_stop(struct kernel *kernel, struct error *e);

/* What is left to tell when the rings have been emptied after kernel_stop(). */
void kernel_finish(struct kernel *kernel, struct sink *sink);

/* What the selection has matched: threads, and files; and marks that others tried to make. */
struct kernel_matches {
	uint64_t threads, files;
	uint64_t marks_refused;
};

struct kernel_matches kernel_matches(const struct kernel *kernel);

/* Whether `sender` has sent this signal to the launched command itself, after the boot time `since`. */
bool kernel_signalled(const struct kernel *kernel, int signal, pid_t sender, uint64_t since);

uint32_t kernel_live(const struct kernel *kernel); /* threads of the job */

unsigned kernel_ring_count(const struct kernel *kernel);
uint64_t kernel_ring_bytes(const struct kernel *kernel);
const struct shared *kernel_shared(const struct kernel *kernel); /* memory of the programs */
int kernel_ring_fd(const struct kernel *kernel, unsigned cpu);	 /* -1: that CPU is not there */

/* Whether maps can be read with the capabilities in effect. */
bool kernel_reachable(const struct kernel *kernel);

/* Reads the loss counters into loss[cpu * LAYER_COUNT * LOSS_COUNT + layer * LOSS_COUNT + reason]. */
int kernel_read_loss(const struct kernel *kernel, uint64_t *loss, struct error *e);

#endif
