/* A layer, or a few that share their hooks, as a descriptor: which BPF programs it needs, how they are
 * configured, and how their records become rows. probes.c lists them all.
 */
#ifndef STRATA_PROBES_PROBE_H
#define STRATA_PROBES_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records.h"
#include "capture/sink.h"

struct strata_bpf;

#define LAYER_BIT(layer) (1u << (layer))

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

struct probe {
	const char *name;
	uint32_t layers;  /* LAYER_BITs */
	uint32_t records; /* bits of enum record_type that decode takes */
	/* Chooses programs and sets constants, before load. layers: those to record. */
	void (*configure)(struct strata_bpf *bpf, uint32_t layers);
	void (*decode)(struct decoder *decoder, const struct record *record, size_t size);
};

extern const struct probe process_probe, file_probe, sched_probe, block_probe;
extern const struct probe *const probes[];
extern const size_t probe_count;

#endif
