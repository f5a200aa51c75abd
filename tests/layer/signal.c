/* The layer signal: records of bpf/signal.bpf.c as rows. */
#include "probes/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/signal.skel.h"

PROBE_OPEN(signal)

#define SET(column, value) builder_set(row, column_signal_##column, (int64_t)(value))

static void signal_decode(struct row_maker *maker, const struct record *record, size_t size)
{
	struct builder *row = sink_table(&maker->sink, TABLE_signal);

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_signal);
	SET(ts, record->ts);
	SET(cpu, record->cpu);
	if (record->pid)
		SET(pid, record->pid);
	if (record->tid)
		SET(tid, record->tid);
	SET(number, record->op);
	sink_end_row(&maker->sink, TABLE_signal);
}

const struct probe signal_probe = {
	.name = "signal",
	.layers = LAYER_BIT(LAYER_signal),
	.open = signal_open,
	.decode = signal_decode,
};
