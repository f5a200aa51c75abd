/* Kernel memory by plain loads, where the kernel can be told the type of a bare pointer (6.2 and later): that is several
 * times cheaper than asking a helper for a copy.
 *
 * It also spares the start of a recording: of each pointer that a program loads from an argument of its tracepoint, the
 * verifier asks by name, through all types of the kernel, whether it may be trusted. Of one that came out of a cast it
 * knows that it may not.
 */
#ifndef STRATA_BPF_TYPED_BPF_H
#define STRATA_BPF_TYPED_BPF_H

#include "bpf/ring.bpf.h"

extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;

/* A structure of TYPED_STRUCTS at an address, in whichever type that comes. */
#define typed(name, address) ((struct name *)bpf_rdonly_cast((void *)(address), config.type_##name))

/* One field of a structure of which the address is known, in one of its variants. What it gives may be a pointer to the
 * kernel: to become a number it has to be stored in a map and read again. */
#define typed_read_as(variant, name, address, field)                        \
	(config.typed_reads ? ((variant *)typed(name, address))->field : ({ \
		variant *place_ = (void *)(address);                        \
		BPF_CORE_READ(place_, field);                               \
	}))

#define typed_read(name, address, field) typed_read_as(struct name, name, address, field)

/* A pointer that a structure holds, of which the kernel knows the type: a tracepoint's argument, or what it leads to. */
#define pointer_in(name, structure, field) \
	(config.typed_reads ? typed(name, structure)->field : (structure)->field)

#endif
