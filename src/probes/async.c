/* Operations that a program hands over in a queue: bpf/uring.bpf.c for io_uring, bpf/aio.bpf.h for libaio. Their
 * records are those of the layers io and fs, and file.c turns them into rows. */
#include "probes/async.h"

#include "probes/probe.h"

#include "bpf/strata.skel.h"
#include "capture/features.h"
#include "probes/file.h"

#define COMPLETE_ARGUMENTS 3 /* since 6.16 with the completion itself */

enum queue { QUEUE_URING, QUEUE_AIO };

struct operation {
	uint8_t syscall;
	uint8_t layer;
	uint8_t queue;
	uint8_t number;
};

static const struct operation operations[] = {
#define QUEUED_IO(name, queue, number, ...) { SYSCALL_##name, LAYER_io, QUEUE_##queue, number },
#define QUEUED_FS(name, queue, number, ...) { SYSCALL_##name, LAYER_fs, QUEUE_##queue, number },
#include "schema/syscalls.def"
};

#define OPERATION_COUNT (sizeof(operations) / sizeof(*operations))

static void configure_uring(const struct probe_setup *setup, bool on)
{
	const struct features *features = setup->features;
	int complete = features_tracepoint_arguments(features, "io_uring_complete");
	bool submit = features_tracepoint_arguments(features, "io_uring_submit_req");
	bool submit_sqe = features_tracepoint_arguments(features, "io_uring_submit_sqe") == 2;
	bool known = complete && (submit || submit_sqe) && features_has_struct(features, "io_rw");
	struct strata_bpf *bpf = setup->bpf;

	if (on && !known)
		absences_add(setup->absences, "io.io_uring",
			     "this kernel has no io_uring, or not the tracepoints that tell of it");
	on = on && known;
	bpf_program__set_autoload(bpf->progs.uring_submit, on && submit);
	bpf_program__set_autoload(bpf->progs.uring_submit_sqe, on && !submit);
	bpf_program__set_autoload(bpf->progs.uring_complete, on && complete == COMPLETE_ARGUMENTS);
	bpf_program__set_autoload(bpf->progs.uring_complete_result,
				  on && complete != COMPLETE_ARGUMENTS);
}

static void async_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	bool on = setup->layers & (LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs));

	configure_uring(setup, on);
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		const struct operation *one = &operations[i];

		if (!(setup->layers & LAYER_BIT(one->layer)))
			continue;
		if (one->queue == QUEUE_AIO) {
			bpf->rodata->aio_syscalls[one->number] = one->syscall;
		} else {
			bpf->rodata->uring_syscalls[one->number] = one->syscall;
			bpf->rodata->uring_layers[one->number] = one->layer;
		}
	}
	if (!on)
		bpf_map__set_max_entries(bpf->maps.asyncs, 1);
}

static struct record unfinished_head(const struct async_state *state, uint8_t type)
{
	return (struct record){
		.type = type,
		.op = state->syscall,
		.flags = state->flags | RECORD_UNFINISHED,
		.pid = state->pid,
		.tid = state->tid,
		.ts = state->ts,
	};
}

void async_add_unfinished(struct sink *sink, const struct async_state *state)
{
	struct io_record io = {
		.head = unfinished_head(state, RECORD_IO),
		.requested = (uint64_t)state->requested,
		.pos = state->pos,
		.blocked = RECORD_NULL,
		.missed = RECORD_NULL,
		.fd = state->fd,
		.file = state->file,
	};
	struct fs_record fs = {
		.head = unfinished_head(state, RECORD_FS),
		.flags = state->syscall_flags,
		.mode = state->mode,
		.pos = state->pos,
		.length = state->requested,
		.fd = state->fd == DESCRIPTOR_NONE ? RECORD_NULL : state->fd,
		.blocked = RECORD_NULL,
		.file = state->file,
		.dir = state->dir,
	};

	file_add_row(sink, schema_syscalls[state->syscall].layer == LAYER_io ? &io.head : &fs.head);
}

const struct probe async_probe = {
	.name = "async",
	.layers = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs),
	.configure = async_configure,
};
