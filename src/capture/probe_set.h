/* The probes of a recording, from their objects' opening to their end. A probe that this machine cannot give, or whose
 * programs the kernel refuses, is left out with the reason, unless one of its layers was asked for by name.
 */
#ifndef STRATA_CAPTURE_PROBE_SET_H
#define STRATA_CAPTURE_PROBE_SET_H

#include "capture/rings.h"
#include "probes/probe.h"

struct shared_bpf;

struct probe_set {
	struct probe_setup setup;
	uint64_t load_cpu_ns[PROBE_COUNT];
	struct probe_run runs
		[PROBE_COUNT]; /* by enum probe_id; without an object: not wanted, or left out */
};

/* Opens, loads and attaches what set->setup asks for; meanwhile makes the rings, which go into a map of the shared
 * object's. Nothing is recorded yet. */
int probe_set_open(struct probe_set *set, const struct shared_bpf *shared, struct rings *rings,
		   struct error *e);
void probe_set_close(struct probe_set *set);

/* Each calls the hook of that name of all probes that have it. */
int probe_set_start(struct probe_set *set, struct error *e);
void probe_set_poll(struct probe_set *set);
void probe_set_sample(struct probe_set *set, struct sink *sink);
void probe_set_count(struct probe_set *set, struct sink *sink);
int probe_set_stop(struct probe_set *set, struct error *e); /* and detaches them */
void probe_set_finish(struct probe_set *set, struct sink *sink);

#endif
