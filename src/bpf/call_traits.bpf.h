/* What the arguments and the result of a call say: bytes, counts, ranks, files and paths, by the traits of the function.
 *
 * What lies behind pointers is read as the call begins, when the caller has just filled it; but paths as it ends, for at
 * the beginning their pages are often not resident yet, and a program cannot fault them in.
 */
#ifndef STRATA_BPF_CALL_TRAITS_BPF_H
#define STRATA_BPF_CALL_TRAITS_BPF_H

#include "bpf/call.h"

#include "bpf/compat.bpf.h"
#include "bpf/path.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* one for each function: set by strata before load */
	__type(key, __u32);
	__type(value, struct function_traits);
} call_traits SEC(".maps");

/* What is known of a call at its beginning, and waits for its end. */
struct call_facts {
	__s64 bytes, count, rank, op;
	__u32 file;
	__u32 pad;
};

/* The registers of a call, in the order of its arguments. */
struct call_registers {
	__s64 args[6];
	__s64 returned;
	__u64 kernel; /* pointers lead into the kernel's memory */
};

/* Bytes of NCCL's types, half a byte each: from int8 and uint8 to bfloat16 and the two of 8 bits. */
#define NCCL_TYPE_SIZES 0x112842884411ull
#define NCCL_TYPES	12

static __always_inline __s64 source_read(__u64 address, bool kernel)
{
	__s64 value = 0;
	long err;

	if (kernel)
		err = bpf_probe_read_kernel(&value, sizeof(value), (void *)address);
	else
		err = bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return err ? RECORD_NULL : value;
}

/* RECORD_NULL: it says nothing. */
__noinline __s64 source_value(struct function_source *source, struct call_registers *registers)
{
	__s64 value;
	__u32 argument;

	if (!source || !registers || source->from == FROM_NONE)
		return RECORD_NULL;
	argument = source->from - FROM_ARG0;
	if (source->from == FROM_NUMBER)
		return source->value;
	if (source->from == FROM_RETURNED)
		value = registers->returned;
	else if (argument < 6)
		value = registers->args[argument];
	else
		return RECORD_NULL;
	if (source->behind) {
		value = source_read(value + source->value, registers->kernel);
		if (value == RECORD_NULL)
			return value;
	}
	if (source->as == AS_INT || source->as == AS_NCCL_OP)
		return (__s32)value;
	if (source->as == AS_NCCL_TYPE)
		return (__u32)value < NCCL_TYPES ? NCCL_TYPE_SIZES >> 4 * (__u32)value & 15
						 : RECORD_NULL;
	return value;
}

/* ---- files ---- */

/* Finding out the path of a file that is new takes memory of the CPU's own, and programs on functions may be preempted: who finds it
 * taken does without. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} call_walking SEC(".maps");

__noinline __u32 call_file_seen(struct file_view *view)
{
	__u32 zero = 0, id = 0;
	__u64 *walking = bpf_map_lookup_elem(&call_walking, &zero);

	if (!view || !walking || __sync_val_compare_and_swap(walking, 0, 1))
		return 0;
	id = path_lookup(view);
	*walking = 0;
	return id;
}

/* Apart from what asks for it: the stack of all calls together is small. */
__noinline __u32 call_file_of_descriptor(__u32 fd)
{
	struct file *file = path_descriptor(bpf_get_current_task_btf(), fd);
	struct file_view view = {};

	if (!file)
		return 0;
	file_read(&view, file);
	return call_file_seen(&view);
}

__noinline __u32 call_file_at(__u64 address)
{
	struct file_view view = {};

	if (!address)
		return 0;
	file_read(&view, (struct file *)address);
	return call_file_seen(&view);
}

static __always_inline __u32 call_file(struct function_traits *traits,
				       struct call_registers *registers)
{
	__s64 value;

	if (traits->fd.from) {
		value = source_value(&traits->fd, registers);
		return value < 0 ? 0 : call_file_of_descriptor(value);
	}
	value = source_value(&traits->file, registers);
	return value == RECORD_NULL ? 0 : call_file_at(value);
}

/* ---- a call ---- */

static __always_inline struct function_traits *traits_of(__u64 cookie)
{
	__u32 function = cookie;

	return cookie & CALL_TELLS ? bpf_map_lookup_elem(&call_traits, &function) : NULL;
}

static __always_inline bool is_of_result(const struct function_source *source)
{
	return source->from == FROM_RETURNED;
}

/* What is known when it begins. */
__noinline int call_tell_entry(struct function_traits *traits, struct call_registers *registers,
			       struct call_facts *facts)
{
	__s64 factor;

	if (!traits || !registers || !facts)
		return 0;
	facts->count = source_value(&traits->count, registers);
	facts->rank = source_value(&traits->rank, registers);
	facts->op = source_value(&traits->op, registers);
	facts->bytes = traits->bytes[0].from ? 1 : RECORD_NULL;
	for (int i = 0; i < 2; i++) {
		if (!traits->bytes[i].from || is_of_result(&traits->bytes[i]))
			continue;
		factor = source_value(&traits->bytes[i], registers);
		if (factor == RECORD_NULL || facts->bytes == RECORD_NULL)
			facts->bytes = RECORD_NULL;
		else
			facts->bytes *= factor;
	}
	facts->file = is_of_result(&traits->fd) ? 0 : call_file(traits, registers);
	return 0;
}

/* What its result adds. A call that fails moves nothing. */
__noinline int call_tell_return(struct function_traits *traits, struct call_registers *registers,
				struct call_facts *facts)
{
	__s64 factor;

	if (!traits || !registers || !facts)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (!is_of_result(&traits->bytes[i]) || facts->bytes == RECORD_NULL)
			continue;
		factor = source_value(&traits->bytes[i], registers);
		facts->bytes *= factor > 0 ? factor : 0;
	}
	if (is_of_result(&traits->fd))
		facts->file = call_file(traits, registers);
	return 0;
}

/* Of a call whose result will not be seen, what would rest on it. */
static __always_inline void call_tell_nothing(struct function_traits *traits,
					      struct call_facts *facts)
{
	if (is_of_result(&traits->bytes[0]) || is_of_result(&traits->bytes[1]))
		facts->bytes = RECORD_NULL;
}

#endif
