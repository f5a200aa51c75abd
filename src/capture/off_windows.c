#include "capture/off_windows.h"

#include "schema/schema.h"

uint32_t off_windows_layers(uint32_t layers)
{
	return layers & ~(LAYER_BIT(LAYER_process) | LAYER_BIT(LAYER_cpu) | LAYER_BIT(LAYER_disk) |
			  LAYER_BIT(LAYER_gpu));
}

static void tell(struct off_windows *windows, struct sink *sink, uint64_t from, uint64_t to)
{
	if (windows->told > from)
		from = windows->told;
	for (unsigned layer = 0; layer < LAYER_COUNT && from < to; layer++) {
		struct builder *row;

		if (!(windows->layers & LAYER_BIT(layer)))
			continue;
		row = sink_table(sink, TABLE_loss);
		if (!row)
			return;
		builder_set(row, column_loss_ts, (int64_t)from);
		builder_set(row, column_loss_dur, (int64_t)(to - from));
		builder_set(row, column_loss_layer, layer);
		builder_set(row, column_loss_reason, LOSS_OFF);
		sink_end_row(sink, TABLE_loss);
	}
}

void off_windows_take(struct off_windows *windows, const struct shared *shared, struct sink *sink,
		      uint64_t now)
{
	uint64_t count = __atomic_load_n(&shared->off_count, __ATOMIC_ACQUIRE);
	uint64_t since = shared->off_ts;

	/* More than are kept since the last look: from the end of what is known to the first one that is. */
	if (count - windows->taken > OFF_WINDOWS) {
		const struct off_window *first = &shared->offs[count % OFF_WINDOWS];

		tell(windows, sink, windows->told, first->ts);
		windows->taken = count - OFF_WINDOWS;
	}
	for (; windows->taken < count; windows->taken++) {
		const struct off_window *window = &shared->offs[windows->taken % OFF_WINDOWS];

		tell(windows, sink, window->ts, window->end);
		windows->told = window->end;
	}
	if (now && since) {
		tell(windows, sink, since, now);
		windows->told = now;
	}
}
