#include "capture/losses.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

int losses_open(struct losses *losses, const struct kernel *kernel, struct error *e)
{
	size_t counters = (size_t)kernel_ring_count(kernel) * LAYER_COUNT * LOSS_COUNT;

	losses->now = calloc(counters, sizeof(uint64_t));
	losses->before = calloc(counters, sizeof(uint64_t));
	return losses->now && losses->before ? 0 : error_set(e, -ENOMEM, "out of memory");
}

void losses_start(struct losses *losses, uint64_t start)
{
	losses->since = start;
}

static void losses_add_row(const struct losses *losses, struct sink *sink, unsigned counter,
			   uint64_t count, uint64_t now)
{
	struct builder *row = sink_table(sink, TABLE_loss);

	if (!row)
		return;
	builder_set(row, column_loss_ts, (int64_t)losses->since);
	builder_set(row, column_loss_dur, (int64_t)(now - losses->since));
	builder_set(row, column_loss_layer, counter / LOSS_COUNT % LAYER_COUNT);
	builder_set(row, column_loss_cpu, counter / (LAYER_COUNT * LOSS_COUNT));
	builder_set(row, column_loss_count, (int64_t)count);
	builder_set(row, column_loss_reason, counter % LOSS_COUNT);
	sink_end_row(sink, TABLE_loss);
}

void losses_take(struct losses *losses, const struct kernel *kernel, struct injected *injected,
		 struct sink *sink)
{
	unsigned counters = kernel_ring_count(kernel) * LAYER_COUNT * LOSS_COUNT;
	uint64_t now = clock_boot(), *swap = losses->before;
	struct error ignored;

	if (injected)
		losses->total += injected_take_losses(injected, sink, losses->since, now);
	if (kernel_read_loss(kernel, losses->now, &ignored))
		return;
	for (unsigned i = 0; i < counters; i++) {
		uint64_t count = losses->now[i] - losses->before[i];

		losses->total += count;
		if (count)
			losses_add_row(losses, sink, i, count, now);
	}
	losses->before = losses->now;
	losses->now = swap;
	losses->since = now;
}

void losses_close(struct losses *losses)
{
	free(losses->now);
	free(losses->before);
}
