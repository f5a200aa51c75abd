/* What libstrata_gpu.so writes into the job's rings (inject/shared.h), and the recorder reads. Both are of one build, so these change as
 * they like; the recorder trusts none of it.
 */
#ifndef STRATA_GPU_RECORDS_H
#define STRATA_GPU_RECORDS_H

#include <assert.h>
#include <stdint.h>

#include "inject/shared.h"

/* What a device did; also the texts of gpu_op.kind. OP(name) */
#define GPU_OPS(OP) \
	OP(kernel)  \
	OP(copy)    \
	OP(memset)  \
	OP(wait)

enum gpu_op_kind {
#define GPU_OP_ID(name) GPU_OP_##name,
	GPU_OPS(GPU_OP_ID)
#undef GPU_OP_ID
		GPU_OP_COUNT
};

#define GPU_NO_NUMBER UINT32_MAX /* a device or stream that is not known */

enum gpu_host_memory { GPU_HOST_UNKNOWN, GPU_HOST_PAGEABLE, GPU_HOST_PINNED };

/* INJECT_GPU_OP; head.number is an enum gpu_op_kind. Times are CLOCK_BOOTTIME. */
struct gpu_op_record {
	struct inject_head head;
	uint64_t start, end;
	uint64_t launch; /* when the call that led to it began; 0: not known */
	uint64_t bytes;
	uint64_t name; /* hash of a text that an INJECT_GPU_TEXT tells */
	uint32_t pid;  /* in the namespace of the job */
	uint32_t tid;  /* of the thread that called, there too; 0: not known */
	uint32_t correlation;
	uint32_t device, stream;
	uint32_t grid[3];
	uint16_t block[3];
	uint16_t registers;
	uint32_t shared; /* bytes */
	uint32_t graph;	 /* the graph that it was launched with; 0: none */
	uint32_t host;	 /* enum gpu_host_memory */
	uint8_t unused[28];
};

/* INJECT_GPU_TEXT: a name, told once a process. head.number: whether it was cut. */
struct gpu_text_record {
	struct inject_head head;
	uint64_t hash;
	uint32_t size;
	char text[];
};

enum gpu_payload { GPU_PAYLOAD_NONE, GPU_PAYLOAD_UNSIGNED, GPU_PAYLOAD_SIGNED, GPU_PAYLOAD_REAL };

/* INJECT_GPU_MARK: a range or a moment that the job named. */
struct gpu_mark_record {
	struct inject_head head; /* number: enum gpu_payload */
	uint64_t ts, dur;	 /* dur UINT64_MAX: a moment */
	uint64_t payload;
	uint32_t pid, tid; /* in the namespace of the job */
	uint32_t name_size, domain_size;
	char text[]; /* the name, then the domain */
};

/* INJECT_GPU_NOTE: what the recorder should tell. */
enum gpu_note {
	GPU_NOTE_ON,	   /* CUPTI records; count: its version */
	GPU_NOTE_NO_CUPTI, /* there is none that could be loaded; text: why */
	GPU_NOTE_REFUSED,  /* CUPTI does not do it; text: why */
	GPU_NOTE_HELD,	   /* the job's own profiler has it from here on; text: who */
	GPU_NOTE_DROPPED,  /* CUPTI had no room for so many records */
	GPU_NOTES
};

struct gpu_note_record {
	struct inject_head head; /* number: enum gpu_note */
	uint64_t ts, count;
	uint32_t size;
	char text[];
};

#define GPU_RECORD_MOST (INJECT_MOST_SLOTS * INJECT_SLOT)

static_assert(sizeof(struct gpu_op_record) == 2 * INJECT_SLOT, "struct gpu_op_record");

#endif
