/* The loss counters of the kernel side, and of libraries inside of the job, as rows of table loss: what each grew by since the last look. */
#ifndef STRATA_CAPTURE_LOSSES_H
#define STRATA_CAPTURE_LOSSES_H

#include "capture/kernel.h"
#include "probes/injected.h"
#include "store/sink.h"

struct losses {
	uint64_t *now, *before; /* cpus * LAYER_COUNT * LOSS_COUNT each */
	uint64_t since;		/* boot time of the last look */
	uint64_t total;
};

int losses_open(struct losses *losses, const struct kernel *kernel, struct error *e);
void losses_start(struct losses *losses, uint64_t start);
/* injected: counts of its own; NULL: none. */
void losses_take(struct losses *losses, const struct kernel *kernel, struct injected *injected,
		 struct sink *sink);
void losses_close(struct losses *losses);

#endif
