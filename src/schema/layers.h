/* The layers that can be recorded, and why events may be lost. Shared with the BPF programs, so it
 * includes nothing. Numbers are only used inside one process: the file holds names.
 */
#ifndef STRATA_SCHEMA_LAYERS_H
#define STRATA_SCHEMA_LAYERS_H

/* LAYER(name, doc) */
#define LAYERS(LAYER)                                          \
	LAYER(process, "forks, execs, exits and renames")      \
	LAYER(sched, "stays of threads on CPUs")               \
	LAYER(io, "reads, writes and copies")                  \
	LAYER(fs, "opens, closes, stats, creates and deletes") \
	LAYER(mem, "mmap, munmap, mremap, madvise, msync")     \
	LAYER(fault, "page faults on file mappings")           \
	LAYER(block, "requests to block devices")              \
	LAYER(cpu, "CPU usage each interval")                  \
	LAYER(disk, "disk usage each interval")                \
	LAYER(gpu, "GPU usage each interval")                  \
	LAYER(call, "functions of libraries and the kernel")

enum layer {
#define LAYER_ID(name, doc) LAYER_##name,
	LAYERS(LAYER_ID)
#undef LAYER_ID
		LAYER_COUNT
};

/* LOSS(name, text) */
#define LOSSES(LOSS)                                  \
	LOSS(RING, "ring full")                       \
	LOSS(STATE, "no memory for a thread's state") \
	LOSS(STRING, "string cut")                    \
	LOSS(UNREAD, "user memory not readable")      \
	LOSS(ABI32, "32-bit call")                    \
	LOSS(REQUEST, "too many requests in flight")

enum loss {
#define LOSS_ID(name, text) LOSS_##name,
	LOSSES(LOSS_ID)
#undef LOSS_ID
		LOSS_COUNT
};

#endif
