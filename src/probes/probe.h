/* A layer, or a few that share their hooks, as a descriptor: the BPF object behind it, its life in a recording, and how its
 * records become rows. schema/layers.def lists them all.
 *
 *     supported → open → configure → (load) → attach → start → sample ... → stop → finish → close
 *
 * Each has an object of its own: one that the kernel refuses is left out, and the others record. All hooks run in the
 * session's thread, but for decode, which runs in the threads that empty the rings.
 */
#ifndef STRATA_PROBES_PROBE_H
#define STRATA_PROBES_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "bpf/records.h"
#include "bpf/shared.h"
#include "probes/absences.h"
#include "probes/features.h"
#include "probes/ids.h"
#include "probes/mounts.h"
#include "store/sink.h"

struct bpf_link;
struct calls;
struct unloaded;
struct bpf_object_open_opts;
struct bpf_object_skeleton;

/* What a recording is to be, for its probes. */
struct probe_setup {
	uint32_t layers;      /* those to record */
	uint32_t required;    /* those of them that were asked for by name */
	const pid_t *targets; /* processes to attach to */
	size_t target_count;
	bool command;	     /* a command will be launched */
	struct calls *calls; /* functions to trace; NULL: none */
	uint64_t min_dur;    /* ns: of them, calls that are shorter are counted only */
	bool aggregates;     /* of them, all calls are counted only */
	const struct features *features;
	struct absences *absences;   /* gets what this kernel cannot give */
	const struct config *config; /* as all programs see it */
	struct shared *shared;	     /* theirs and strata's memory; there from attach on */
	int asyncs;		     /* the map of operations in queues, from attach on */
	uint32_t loaded; /* bits of enum probe_id: those whose programs are in the kernel */
};

/* A probe in a recording. */
struct probe_run {
	const struct probe *probe;
	const struct probe_setup *setup;
	void *bpf; /* struct NAME_bpf, the object's skeleton; NULL: left out, or a probe without programs */
	struct bpf_object_skeleton *skeleton;
	struct bpf_link **links; /* those that are not the skeleton's */
	size_t link_count;
	void *state; /* the probe's own */
};

struct cgroup_name {
	uint64_t id;
	char *path;
};

/* What turning a record into rows needs besides the record. One for each thread that empties rings. */
struct row_maker {
	struct sink sink;
	struct buf cgroups; /* struct cgroup_name each: what the records so far have named */
	struct mounts mounts;
	struct buf place; /* where file `placed` lies in its file system, told just before it */
	uint32_t placed;
	struct buf scratch, scratch2;
	const struct calls *calls; /* the functions that are traced */
	struct unloaded *unloaded; /* notes which programs load a library; NULL: nobody asks */
};

struct probe {
	const char *name;
	uint32_t layers;  /* LAYER_BITs that it records, and that are absent without it */
	uint32_t serves;  /* layers that have rows without it too, but lack the part below */
	const char *part; /* as absences name it: "io.blocked" */
	/* Whether there is something to do for it in this recording. NULL: as its layers say. */
	bool (*wanted)(const struct probe_setup *setup);
	/* -errno, with the reason, where this machine cannot give the layer at all. NULL: it always can. */
	int (*supported)(const struct features *features, struct error *e);
	/* PROBE_OPEN makes it. NULL: a probe without programs. */
	int (*open)(struct probe_run *run, const struct bpf_object_open_opts *options);
	/* Chooses programs and sets constants, before load, and notes which parts of its layers this kernel
	 * cannot give. */
	void (*configure)(struct probe_run *run);
	/* Attaches what libbpf cannot attach by a program's section alone, and makes ready. Nothing is recorded
	 * yet. */
	int (*attach)(struct probe_run *run, struct error *e);
	/* The recording has begun; a launched command has not. */
	int (*start)(struct probe_run *run, struct error *e);
	/* Twice a second. */
	void (*poll)(struct probe_run *run);
	/* Each interval, and once more at the end, before stop. */
	void (*sample)(struct probe_run *run, struct sink *sink);
	/* Each interval of --aggregate: what was counted becomes rows. */
	void (*count)(struct probe_run *run, struct sink *sink);
	/* The recording has ended: what is unfinished goes into the rings. */
	int (*stop)(struct probe_run *run, struct error *e);
	/* The rings are empty, and all programs detached: what is left to tell becomes rows. */
	void (*finish)(struct probe_run *run, struct sink *sink);
	void (*close)(struct probe_run *run);
	/* NULL for one without records. */
	void (*decode)(struct row_maker *maker, const struct record *record, size_t size);
};

/* Defines NAME_open() for the object of bpf/NAME.bpf.c, whose skeleton is included. */
#define PROBE_OPEN(name)                                                                          \
	static int name##_open(struct probe_run *run, const struct bpf_object_open_opts *options) \
	{                                                                                         \
		struct name##_bpf *bpf = name##_bpf__open_opts(options);                          \
                                                                                                  \
		run->bpf = bpf;                                                                   \
		run->skeleton = bpf ? bpf->skeleton : NULL;                                       \
		return bpf ? 0 : -errno;                                                          \
	}

/* Sets the cells that rows of calls, waits and faults begin with, from the head of their record. */
#define SET_HEAD(row, table, head)                                                    \
	do {                                                                          \
		builder_set(row, column_##table##_ts, (int64_t)(head)->ts);           \
		if (!((head)->flags & (RECORD_UNFINISHED | RECORD_NO_START)))         \
			builder_set(row, column_##table##_dur, (int64_t)(head)->dur); \
		builder_set(row, column_##table##_cpu, (head)->cpu);                  \
		SET_HOST_IDS(row, table, (head)->pid, (head)->tid);                   \
	} while (0)

/* Keeps a link until the programs are detached. The link may be what libbpf gave: NULL, with errno. */
int probe_keep_link(struct probe_run *run, struct bpf_link *link);

#define PROBE(name) extern const struct probe name##_probe;
#include "schema/layers.def"

extern const struct probe *const probes[PROBE_COUNT]; /* by enum probe_id */

#endif
