/* Vectors of buffers in a program's memory: how many bytes they ask for. */
#ifndef STRATA_BPF_VECTOR_BPF_H
#define STRATA_BPF_VECTOR_BPF_H

#include "bpf/ring.bpf.h"

#define VECTOR_MOST  1024 /* the kernel's IOV_MAX */
#define VECTOR_GROUP 8

struct vector {
	__u64 sum;
	__u64 count;
	struct user_iovec items[VECTOR_MOST + VECTOR_GROUP];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vector);
} vectors SEC(".maps");

/* Adds up one group; what is beyond the end is zero. */
static long vector_sum_group(__u32 group, void *context)
{
	struct vector *vector = *(struct vector **)context;
	__u32 first = group * VECTOR_GROUP;

	if (first >= vector->count || first >= VECTOR_MOST)
		return 1;
	for (__u32 i = 0; i < VECTOR_GROUP; i++)
		vector->sum += vector->items[first + i].length;
	return 0;
}

/* Bytes that a vector in the current thread's memory asks for; -1 when it cannot be read. */
__noinline __s64 vector_sum(__u64 pointer, __u64 count)
{
	struct vector *vector;
	__u32 zero = 0;

	vector = bpf_map_lookup_elem(&vectors, &zero);
	if (!vector || count > VECTOR_MOST)
		return -1;
	if (bpf_probe_read_user(vector->items, count * sizeof(struct user_iovec), (void *)pointer))
		return -1;
	for (__u32 i = 0; i < VECTOR_GROUP; i++)
		vector->items[count + i].length = 0;
	vector->sum = 0;
	vector->count = count;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(VECTOR_MOST / VECTOR_GROUP, vector_sum_group, &vector, 0);
	} else {
		for (__u32 i = 0; i < VECTOR_MOST / VECTOR_GROUP; i++)
			if (vector_sum_group(i, &vector))
				break;
	}
	return vector->sum;
}

/* ---- several messages, as sendmmsg and recvmmsg take them ---- */

#define MESSAGES_MOST	  1024
#define MESSAGES_MOST_OLD 16

struct messages {
	__u64 pointer;
	__u64 count;
	__u64 requested; /* bytes */
	__u64 moved;
	struct user_mmsghdr one;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct messages);
} messages_scratch SEC(".maps");

static long messages_add(__u32 index, void *context)
{
	struct messages *messages = *(struct messages **)context;
	struct user_mmsghdr *one = &messages->one;
	__s64 bytes;

	if (index >= messages->count)
		return 1;
	if (bpf_probe_read_user(one, sizeof(*one),
				(void *)(messages->pointer + index * sizeof(*one))))
		return 1;
	bytes = vector_sum(one->header.vector, one->header.vector_length);
	if (bytes > 0)
		messages->requested += bytes;
	messages->moved += one->length;
	return 0;
}

/* Sums over the messages that a call has sent or received, of which it returned the count; in the scratch memory. */
__noinline int messages_sum(__u64 pointer, __u64 count)
{
	struct messages *messages;
	__u32 zero = 0;

	messages = bpf_map_lookup_elem(&messages_scratch, &zero);
	if (!messages)
		return 0;
	messages->pointer = pointer;
	messages->count = count;
	messages->requested = 0;
	messages->moved = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(MESSAGES_MOST, messages_add, &messages, 0);
	} else {
		for (__u32 i = 0; i < MESSAGES_MOST_OLD; i++)
			if (messages_add(i, &messages))
				break;
	}
	return 0;
}

#endif
