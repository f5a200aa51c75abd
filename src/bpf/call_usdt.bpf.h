/* The arguments of USDT marks: in registers, in memory, or constants. */
#ifndef STRATA_BPF_CALL_USDT_BPF_H
#define STRATA_BPF_CALL_USDT_BPF_H

#include "bpf/call_traits.bpf.h"

struct usdt_sources {
	struct usdt_source sources[USDT_ARGUMENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* one for each function: set by strata before load */
	__type(key, __u32);
	__type(value, struct usdt_sources);
} call_usdts SEC(".maps");

/* Each load by itself: out of what looks alike the compiler would make one, at an offset that is not constant, which the verifier
 * does not let through. */
#define USDT_CASE(number, name)         \
case number:                            \
	value = ctx->name;              \
	asm volatile("" : "+r"(value)); \
	break;

static __noinline __u64 usdt_register(struct pt_regs *ctx, __u8 number)
{
	__u64 value = 0;

	switch (number) {
		USDT_CASE(0, ax)
		USDT_CASE(1, bx)
		USDT_CASE(2, cx)
		USDT_CASE(3, dx)
		USDT_CASE(4, si)
		USDT_CASE(5, di)
		USDT_CASE(6, bp)
		USDT_CASE(7, sp)
		USDT_CASE(8, r8)
		USDT_CASE(9, r9)
		USDT_CASE(10, r10)
		USDT_CASE(11, r11)
		USDT_CASE(12, r12)
		USDT_CASE(13, r13)
		USDT_CASE(14, r14)
		USDT_CASE(15, r15)
	}
	return value;
}

static __always_inline __s64 usdt_sized(__s64 value, __s8 size)
{
	switch (size) {
	case 1: return (__u8)value;
	case -1: return (__s8)value;
	case 2: return (__u16)value;
	case -2: return (__s16)value;
	case 4: return (__u32)value;
	case -4: return (__s32)value;
	default: return value;
	}
}

/* RECORD_NULL: it is not known. */
static __always_inline __s64 usdt_argument(struct pt_regs *ctx, const struct usdt_source *source)
{
	__s64 value = source->value;
	__u64 word = 0;
	__u32 size = source->size < 0 ? -source->size : source->size;

	if (source->kind == USDT_REGISTER)
		value = usdt_register(ctx, source->number);
	if (source->kind == USDT_MEMORY) {
		void *place = (void *)(usdt_register(ctx, source->number) + source->value);

		if (size > sizeof(word) || bpf_probe_read_user(&word, size, place))
			return RECORD_NULL;
		value = word;
	}
	return source->kind == USDT_NONE ? RECORD_NULL : usdt_sized(value, source->size);
}

static __always_inline void usdt_arguments(struct pt_regs *ctx, __u64 cookie,
					   struct call_registers *registers)
{
	__u32 function = cookie;
	struct usdt_sources *sources = bpf_map_lookup_elem(&call_usdts, &function);

	for (int i = 0; i < USDT_ARGUMENTS; i++)
		registers->args[i] =
			sources ? usdt_argument(ctx, &sources->sources[i]) : RECORD_NULL;
}

#endif
