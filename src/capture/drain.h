/* The threads that empty the rings: each owns the rings of some CPUs, turns their records into rows and
 * has them written, at the latest half a second after they came.
 */
#ifndef STRATA_CAPTURE_DRAIN_H
#define STRATA_CAPTURE_DRAIN_H

#include "capture/kernel.h"
#include "store/writer.h"

struct drain;

/* Starts the threads. job_event: an eventfd that is written when the job may have ended or when a
 * thread can write no more. */
int drain_open(struct drain **drain, struct kernel *kernel, struct writer *writer, int job_event,
	       struct error *e);

/* The first failure to write; 0: none so far. */
int drain_failed(struct drain *drain, struct error *e);

/* Empties the rings a last time, writes everything and ends the threads. */
int drain_stop(struct drain *drain, struct error *e);

/* Rows that came after a failure to write, by table; after drain_stop. */
void drain_dropped(const struct drain *drain, uint64_t dropped[]);

/* Writes the threads' ids, each after a comma. */
void drain_tids(const struct drain *drain, char *out, size_t size);
void drain_close(struct drain *drain);

#endif
