/* Vectors of buffers in a program's memory: how many bytes they ask for. */
#ifndef STRATA_BPF_VECTOR_BPF_H
#define STRATA_BPF_VECTOR_BPF_H

#include "bpf/maps.bpf.h"

#define VECTOR_MOST  1024 /* the kernel's IOV_MAX */
#define VECTOR_GROUP 8

struct vector {
	struct user_iovec items[VECTOR_MOST + VECTOR_GROUP];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vector);
} vectors __weak SEC(".maps");

/* Bytes that a vector in the current thread's memory asks for; -1 when it cannot be read. */
__weak __noinline __s64 vector_sum(__u64 pointer, __u64 count)
{
	struct vector *vector;
	__u32 zero = 0;
	__u64 sum = 0;

	vector = bpf_map_lookup_elem(&vectors, &zero);
	if (!vector || count > VECTOR_MOST)
		return -1;
	if (bpf_probe_read_user(vector->items, count * sizeof(struct user_iovec), (void *)pointer))
		return -1;
	/* Zeros up to a whole group let the loop run in few steps, which the verifier must all take. */
	for (__u32 i = 0; i < VECTOR_GROUP; i++)
		vector->items[count + i].length = 0;
	for (__u32 i = 0; i < VECTOR_MOST; i += VECTOR_GROUP) {
		if (i >= count)
			break;
		for (__u32 j = 0; j < VECTOR_GROUP; j++)
			sum += vector->items[i + j].length;
	}
	return sum;
}

#endif
