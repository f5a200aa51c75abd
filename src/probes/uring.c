/* Operations through io_uring: bpf/uring.bpf.c. They are rows of the layers io and fs, and probes/file.c makes them. */
#include "bpf/file.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/uring.skel.h"
#include "probes/probe.h"

#define COMPLETE_ARGUMENTS 3 /* since 6.16 with the completion itself */

PROBE_OPEN(uring)

static int uring_supported(const struct features *features, struct error *e)
{
	bool submit = features_tracepoint_arguments(features, "io_uring_submit_req") ||
		      features_tracepoint_arguments(features, "io_uring_submit_sqe") == 2;

	if (submit && features_tracepoint_arguments(features, "io_uring_complete") &&
	    features_has_struct(features, "io_rw"))
		return 0;
	return error_set(e, -ENOTSUP,
			 "this kernel has no io_uring, or not the tracepoints that tell of it");
}

static void uring_configure(struct probe_run *run)
{
	const struct features *features = run->setup->features;
	bool submit = features_tracepoint_arguments(features, "io_uring_submit_req");
	bool completion =
		features_tracepoint_arguments(features, "io_uring_complete") == COMPLETE_ARGUMENTS;
	struct uring_bpf *bpf = run->bpf;

	bpf_program__set_autoload(bpf->progs.uring_submit, submit);
	bpf_program__set_autoload(bpf->progs.uring_submit_sqe, !submit);
	bpf_program__set_autoload(bpf->progs.uring_complete, completion);
	bpf_program__set_autoload(bpf->progs.uring_complete_result, !completion);
#define QUEUED(name, queue, number, layer_)                                         \
	if (QUEUE_##queue == QUEUE_URING && run->setup->layers & LAYER_BIT(layer_)) \
		bpf->rodata->uring_operations[(number) & (URING_NUMBERS - 1)] =     \
			(struct uring_operation){ .syscall = SYSCALL_##name, .layer = layer_ };
#define QUEUED_IO(name, queue, number, ...) QUEUED(name, queue, number, LAYER_io)
#define QUEUED_FS(name, queue, number, ...) QUEUED(name, queue, number, LAYER_fs)
#include "schema/syscalls.def"
}

const struct probe uring_probe = {
	.name = "uring",
	.serves = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs),
	.part = "io.io_uring",
	.supported = uring_supported,
	.open = uring_open,
	.configure = uring_configure,
};
