/* What the layers io, fs and mem share: the shapes of calls, their saved arguments, scratch memory and
 * the head of a record.
 */
#ifndef STRATA_BPF_SYSCALL_BPF_H
#define STRATA_BPF_SYSCALL_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/file.h"
#include "bpf/path.bpf.h"
#include "bpf/vector.bpf.h"
#include "schema/syscalls.h"

/* A flag for the functions that end a call, beside those of records.h: the thread is not the current
 * one, so its memory and descriptors are not to be looked at. */
#define SYSCALL_ABSENT 0x80

/* Set by strata before load. */
const volatile __u16 syscalls_by_number[SYSCALL_NUMBERS] = {};
const volatile __u8 layers_by_number32[SYSCALL_NUMBERS] = {}; /* enum layer + 1; 0: none */
const volatile struct syscall_shape syscall_shapes[SYSCALL_SHAPES] = {};

/* Memory for records too large for the stack. */
struct scratch {
	struct fs_record fs;
	char paths[3 * PATH_BYTES]; /* two, and room to compare beyond them */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* At the end of a call: some kernels hide a process from tracing, and a thread that comes after one of its threads is not
 * seen to come. How long it was off the CPU is not known then. */
static __always_inline void blocked_settle(struct task_state *state)
{
	if (state->off_since)
		state->blocked = RECORD_NULL;
	state->off_since = 0;
}

static __always_inline const volatile struct syscall_shape *shape_of(__u8 syscall)
{
	return &syscall_shapes[syscall & (SYSCALL_SHAPES - 1)];
}

/* The saved argument at a place that a shape names; only for places other than ARGUMENT_NONE. */
static __always_inline __u64 argument(struct task_state *state, __u8 place)
{
	return state->args[place & 7];
}

static __always_inline __s64 argument_or_null(struct task_state *state, __u8 place)
{
	return place == ARGUMENT_NONE ? RECORD_NULL : (__s64)argument(state, place);
}

static __always_inline void head_fill(struct record *head, struct task_state *state, __u8 kind,
				      __u64 end, __u8 flags)
{
	record_head(head, PROBE_file, kind, state->syscall, flags & ~SYSCALL_ABSENT);
	head->pid = state->pid;
	head->tid = state->tid;
	head->ts = state->ts;
	head->dur = end - state->ts;
}

#endif
