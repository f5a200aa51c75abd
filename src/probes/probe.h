/* A layer, or a few that share their hooks, as a descriptor: which BPF programs it needs, how they are
 * configured, and how their records become rows. probes.c lists them all.
 */
#ifndef STRATA_PROBES_PROBE_H
#define STRATA_PROBES_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records.h"
#include "capture/absences.h"
#include "capture/features.h"
#include "capture/sink.h"

struct bpf_link;
struct strata_bpf;

/* Links that hang programs on what libbpf cannot find by itself. */
#define PROBE_LINKS 1024

struct probe_links {
	struct bpf_link *items[PROBE_LINKS];
	size_t count;
};

struct cgroup_name {
	uint64_t id;
	char *path;
};

/* What turning a record into rows needs besides the record. One for each drain thread. */
struct decoder {
	struct sink sink;
	struct buf cgroups; /* struct cgroup_name each: what the records so far have named */
	struct buf scratch;
};

/* What a probe is configured with. */
struct probe_setup {
	struct strata_bpf *bpf;
	uint32_t layers;   /* those to record */
	uint32_t required; /* those of them that were asked for by name */
	const struct features *features;
	struct absences *absences;
};

struct probe {
	const char *name;
	uint32_t layers;  /* LAYER_BITs */
	uint32_t records; /* bits of enum record_type that decode takes */
	/* -errno, with the reason, where this machine cannot give the layer at all. NULL: it always can. */
	int (*supported)(const struct features *features, struct error *e);
	/* Chooses programs and sets constants, before load, and notes which parts of its layers this kernel
	 * cannot give. */
	void (*configure)(const struct probe_setup *setup);
	/* Attaches programs that libbpf cannot attach by their section alone. NULL: there are none. */
	int (*attach)(struct strata_bpf *bpf, uint32_t layers, struct probe_links *links,
		      struct error *e);
	/* NULL for one without records. */
	void (*decode)(struct decoder *decoder, const struct record *record, size_t size);
};

extern const struct probe process_probe, file_probe, sched_probe, block_probe, fault_probe,
	async_probe, job_probe;
extern const struct probe *const probes[];
extern const size_t probe_count;

#endif
