/* The loss counters of the kernel side, as rows of table loss: what each grew by since the last look. */
#ifndef STRATA_CAPTURE_LOSSES_H
#define STRATA_CAPTURE_LOSSES_H

#include "capture/kernel.h"
#include "store/sink.h"

struct losses {
	uint64_t *now, *before; /* cpus * LAYER_COUNT * LOSS_COUNT each */
	uint64_t since;		/* boot time of the last look */
	uint64_t total;
};

int losses_open(struct losses *losses, const struct kernel *kernel, struct error *e);
void losses_start(struct losses *losses, uint64_t start);
void losses_take(struct losses *losses, const struct kernel *kernel, struct sink *sink);
void losses_close(struct losses *losses);

#endif
