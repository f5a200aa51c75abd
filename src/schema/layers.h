/* The layers that can be recorded, the probes that record them, and why events may be lost. Shared with the
 * BPF programs, so it includes nothing else.
 */
#ifndef STRATA_SCHEMA_LAYERS_H
#define STRATA_SCHEMA_LAYERS_H

enum layer {
#define LAYER(name, when, doc) LAYER_##name,
#include "schema/layers.def"
	LAYER_COUNT,
	LAYER_none = LAYER_COUNT
};

#define LAYER_BIT(layer) (1u << (layer))

/* A record says which probe's it is. */
enum probe_id {
#define PROBE(name) PROBE_##name,
#include "schema/layers.def"
	PROBE_COUNT
};

/* What a thread may be made to wait for. KIND(name) */
#define STALL_KINDS(KIND)    \
	KIND(dirty)          \
	KIND(reclaim)        \
	KIND(cgroup_reclaim) \
	KIND(compaction)     \
	KIND(mutex)          \
	KIND(rwsem_read)     \
	KIND(rwsem_write)    \
	KIND(spin)           \
	KIND(rwlock_read)    \
	KIND(rwlock_write)   \
	KIND(rt_mutex)       \
	KIND(percpu_read)    \
	KIND(percpu_write)

enum stall_kind {
#define STALL_ID(name) STALL_##name,
	STALL_KINDS(STALL_ID)
#undef STALL_ID
};

/* LOSS(name, text) */
#define LOSSES(LOSS)                                                                    \
	LOSS(RING, "ring full")                                                         \
	LOSS(STATE, "no memory for a thread's state")                                   \
	LOSS(STRING, "string cut")                                                      \
	LOSS(UNREAD, "user memory not readable")                                        \
	LOSS(ABI32, "32-bit call")                                                      \
	LOSS(REQUEST, "too many requests in flight")                                    \
	LOSS(DEPTH, "no length: too deep, or not on the stack of its thread")           \
	LOSS(TORN, "a process of the job left its record unfinished, or wrote over it") \
	LOSS(CUPTI, "CUPTI had no room")                                                \
	LOSS(HELD, "the job's own profiler has the GPU's records")                      \
	LOSS(OFF, "switched off")

enum loss {
#define LOSS_ID(name, text) LOSS_##name,
	LOSSES(LOSS_ID)
#undef LOSS_ID
		LOSS_COUNT
};

#endif
