/* Operations through io_submit and io_getevents (libaio). They are kept when io_submit begins, because another
 * thread may collect them before it ends, and are over when a thread collects them: a completion that the
 * program takes from the ring in its own memory is seen by nobody, and stays unfinished.
 */
#ifndef STRATA_BPF_AIO_BPF_H
#define STRATA_BPF_AIO_BPF_H

#include "bpf/async.bpf.h"
#include "bpf/syscall.bpf.h"

#define AIO_MOST     4096 /* operations of one call that are looked at */
#define AIO_MOST_OLD 32	  /* where the kernel has no bpf_loop */

/* Set by strata before load: enum syscall by operation, 0 where it is not recorded. */
const volatile __u8 aio_syscalls[AIO_NUMBERS] = {};

enum { AIO_FSYNC = 2, AIO_FDSYNC = 3, AIO_PREADV = 7, AIO_PWRITEV = 8 };

static __always_inline void aio_send(struct async_state *state, __s64 returned, __u64 end,
				     __u8 flags)
{
	if (async_moves_data(state))
		async_send_io(state, returned, end, flags);
	else
		async_send_fs(state, returned, end, flags);
}

/* What a loop over the operations of one call goes through. */
struct aio_walk {
	__u64 array; /* of pointers to operations, or of completions */
	__u64 count;
	__u64 now;
	__u32 pid;
	__u32 tid;
};

/* Here, as the stack is small. */
struct aio_scratch {
	struct user_iocb control;
	struct user_io_event event;
	struct async_state async;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct aio_scratch);
} aio_scratches SEC(".maps");

/* The bytes that an operation asks for, and where in the file. */
static __always_inline void aio_take_range(struct async_state *async, struct user_iocb *control)
{
	async->requested = control->size;
	if (control->operation == AIO_PREADV || control->operation == AIO_PWRITEV) {
		async->requested = vector_sum(control->buffer, control->size);
		if (async->requested < 0)
			async->flags |= RECORD_NO_REQUESTED;
	} else if (!async_moves_data(async)) {
		async->requested = RECORD_NULL;
		async->pos = RECORD_NULL;
	}
}

/* Reads an operation from the program's memory; NULL: it cannot be read, or is not recorded. */
static __always_inline struct async_state *aio_read(struct aio_walk *walk, __u64 pointer)
{
	struct aio_scratch *scratch;
	struct user_iocb *control;
	struct async_state *async;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&aio_scratches, &zero);
	if (!scratch)
		return NULL;
	control = &scratch->control;
	async = &scratch->async;
	if (bpf_probe_read_user(control, sizeof(*control), (void *)pointer)) {
		loss_count(LAYER_io, LOSS_UNREAD);
		return NULL;
	}
	async->syscall = aio_syscalls[control->operation & (AIO_NUMBERS - 1)];
	if (!async->syscall || control->operation >= AIO_NUMBERS)
		return NULL;
	async->layer = shape_of(async->syscall)->layer;
	async->ts = walk->now;
	async->pid = walk->pid;
	async->tid = walk->tid;
	async->syscall_flags = RECORD_NULL;
	async->mode = RECORD_NULL;
	async->flags = 0;
	async->file = 0;
	async->dir = 0;
	async_take_file(bpf_get_current_task_btf(), async, control->fd, control->offset);
	aio_take_range(async, control);
	return async;
}

static __always_inline __u64 aio_owner(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static long aio_submit_one(__u32 index, void *context)
{
	struct async_key key = { .owner = aio_owner() };
	struct aio_walk *walk = context;
	struct async_state *async, *old;

	if (index >= walk->count ||
	    bpf_probe_read_user(&key.id, sizeof(key.id), (void *)(walk->array + index * 8)))
		return 1;
	old = bpf_map_lookup_elem(&asyncs, &key);
	if (old) /* collected unseen, and used again */
		aio_send(old, 0, old->ts, RECORD_UNFINISHED);
	async = aio_read(walk, key.id);
	if (async)
		async_keep(&key, async, async->layer);
	return 0;
}

/* Forgets an operation that io_submit did not take. */
static long aio_refuse_one(__u32 index, void *context)
{
	struct async_key key = { .owner = aio_owner() };
	struct aio_walk *walk = context;

	if (index >= walk->count)
		return 1;
	if (!bpf_probe_read_user(&key.id, sizeof(key.id), (void *)(walk->array + index * 8)))
		bpf_map_delete_elem(&asyncs, &key);
	return 0;
}

static long aio_collect_one(__u32 index, void *context)
{
	struct async_key key = { .owner = aio_owner() };
	struct aio_walk *walk = context;
	struct aio_scratch *scratch;
	struct async_state *async;
	__u32 zero = 0;

	scratch = bpf_map_lookup_elem(&aio_scratches, &zero);
	if (!scratch || index >= walk->count)
		return 1;
	if (bpf_probe_read_user(&scratch->event, sizeof(scratch->event),
				(void *)(walk->array + index * sizeof(scratch->event)))) {
		loss_count(LAYER_io, LOSS_UNREAD);
		return 1;
	}
	key.id = scratch->event.operation;
	async = bpf_map_lookup_elem(&asyncs, &key);
	if (async) {
		aio_send(async, scratch->event.result, walk->now, 0);
		bpf_map_delete_elem(&asyncs, &key);
		return 0;
	}
	async = shared.async_refused ? NULL : aio_read(walk, key.id);
	if (async) {
		async->ts = shared.start_ts; /* in flight when the recording began */
		aio_send(async, scratch->event.result, walk->now, 0);
	}
	return 0;
}

/* A longer array than is looked at: the rest is counted as lost. */
static __always_inline void aio_bound(struct aio_walk *walk, __u64 most)
{
	if (walk->count > most) {
		loss_count(LAYER_io, LOSS_REQUEST);
		walk->count = most;
	}
}

#define AIO_WALK(step, walk)                                                       \
	do {                                                                       \
		if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) { \
			aio_bound(walk, AIO_MOST);                                 \
			bpf_loop(AIO_MOST, step, walk, 0);                         \
		} else {                                                           \
			aio_bound(walk, AIO_MOST_OLD);                             \
			for (int i_ = 0; i_ < AIO_MOST_OLD; i_++)                  \
				if (step(i_, walk))                                \
					break;                                     \
		}                                                                  \
	} while (0)

/* io_submit(context, count, operations) begins. */
__noinline int aio_submit(__u64 array, __s64 count, __u64 now, __u32 pid, __u32 tid)
{
	struct aio_walk walk = { array, count, now, pid, tid };

	if (count > 0)
		AIO_WALK(aio_submit_one, &walk);
	return 0;
}

/* It has ended, and has taken fewer than it was given. */
__noinline int aio_refuse(__u64 array, __s64 count, __s64 taken)
{
	struct aio_walk walk = { .array = array, .count = count };

	if (taken < 0)
		taken = 0;
	walk.array += taken * 8;
	walk.count -= taken;
	if (count > taken)
		AIO_WALK(aio_refuse_one, &walk);
	return 0;
}

/* io_getevents(context, least, most, completions, timeout) has ended, as has io_pgetevents. */
__noinline int aio_collect(__u64 array, __s64 count, __u64 now, __u32 pid, __u32 tid)
{
	struct aio_walk walk = { array, count, now, pid, tid };

	if (count > 0)
		AIO_WALK(aio_collect_one, &walk);
	return 0;
}

/* The end of a call of the current thread's, which may be one of these. */
static __always_inline void aio_end(struct task_state *state, __u8 shape, __s64 returned, __u64 end)
{
	if (shape == IO_SUBMIT)
		aio_refuse(state->args[2], state->args[1], returned);
	else if (shape == IO_COLLECT)
		aio_collect(state->args[3], returned, end, state->pid, state->tid);
}

#endif
