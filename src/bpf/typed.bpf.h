/* Kernel memory by plain loads, where the kernel can vouch for the type of a bare pointer (6.2 and later): that is
 * several times cheaper than asking a helper for a copy. For one of the objects only: the BPF linker cannot join
 * two declarations of what the kernel provides.
 */
#ifndef STRATA_BPF_TYPED_BPF_H
#define STRATA_BPF_TYPED_BPF_H

#include "bpf/maps.bpf.h"

extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;

#define typed(type, address) \
	((type *)bpf_rdonly_cast((void *)(address), bpf_core_type_id_kernel(type)))

/* One field of a structure of which the address is known. What it gives may be a pointer to the kernel: to become a
 * number it has to be stored in a map and read again. */
#define typed_read(type, address, field)                \
	(typed_reads ? typed(type, address)->field : ({ \
		type *place_ = (void *)(address);       \
		BPF_CORE_READ(place_, field);           \
	}))

#endif
