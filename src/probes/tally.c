/* System calls that are counted instead of recorded: bpf/tally.bpf.c, which takes the place of bpf/file.bpf.c with --aggregate. */
#include "bpf/tally.h"

#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bpf/tally.skel.h"
#include "probes/call_counters.h"
#include "probes/probe.h"
#include "schema/schema.h"

#define TALLY_LAYERS (LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_mem))

struct syscall_number {
	uint16_t syscall;
	uint8_t layer;
	int16_t number;
};

static const struct syscall_number numbers[] = {
#define IO_SYSCALL(name, number, ...)  { SYSCALL_##name, LAYER_io, number },
#define FS_SYSCALL(name, number, ...)  { SYSCALL_##name, LAYER_fs, number },
#define MEM_SYSCALL(name, number, ...) { SYSCALL_##name, LAYER_mem, number },
#include "schema/syscalls.def"
};

PROBE_OPEN(tally)

static bool tally_wanted(const struct probe_setup *setup)
{
	return setup->aggregates && setup->layers & TALLY_LAYERS;
}

static void tally_configure(struct probe_run *run)
{
	struct tally_bpf *bpf = run->bpf;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct syscall_number *call = &numbers[i];
		bool moves = schema_syscalls[call->syscall].direction != DIRECTION_none;

		if (call->number >= 0 && call->number < TALLY_NUMBERS &&
		    run->setup->layers & LAYER_BIT(call->layer))
			bpf->rodata->tally_by_number[call->number] =
				(uint16_t)(call->syscall | (moves ? TALLY_BYTES : 0));
	}
	absences_add(run->setup->absences, "io.queued",
		     "with --aggregate, operations through io_submit are not counted, and those "
		     "through io_uring are recorded one by one");
}

static bool tally_counted(const void *context, uint32_t number, struct counted *counted)
{
	(void)context;
	if (number >= SYSCALL_COUNT || !schema_syscalls[number].name)
		return false;
	*counted = (struct counted){
		.name = schema_syscalls[number].name,
		.module = "syscall",
		.timed = true,
		.moves_bytes = schema_syscalls[number].direction != DIRECTION_none,
	};
	return true;
}

static int tally_attach(struct probe_run *run, struct error *e)
{
	struct tally_bpf *bpf = run->bpf;
	struct call_counters *counters = NULL;
	int err = call_counters_open(&counters, bpf_map__fd(bpf->maps.tally_counters),
				     tally_counted, NULL, e);

	run->state = counters;
	return err;
}

static int tally_start(struct probe_run *run, struct error *e)
{
	(void)e;
	call_counters_start(run->state, run->setup->shared->start_ts);
	return 0;
}

static void tally_count(struct probe_run *run, struct sink *sink)
{
	call_counters_take(run->state, sink);
}

static int tally_stop(struct probe_run *run, struct error *e)
{
	(void)e;
	call_counters_stop(run->state, clock_boot());
	return 0;
}

static void tally_close(struct probe_run *run)
{
	call_counters_close(run->state);
}

const struct probe tally_probe = {
	.name = "tally",
	.layers = TALLY_LAYERS,
	.wanted = tally_wanted,
	.open = tally_open,
	.configure = tally_configure,
	.attach = tally_attach,
	.start = tally_start,
	.count = tally_count,
	.stop = tally_stop,
	.finish = tally_count,
	.close = tally_close,
};
