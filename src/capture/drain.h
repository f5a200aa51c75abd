/* The threads that empty the rings: each owns the rings of some CPUs, turns their records into rows and
 * has them written, at the latest half a second after they came.
 */
#ifndef STRATA_CAPTURE_DRAIN_H
#define STRATA_CAPTURE_DRAIN_H

#include "capture/kernel.h"
#include "probes/injected.h"
#include "store/writer.h"

struct drain;

/* Starts the threads. injected: what libraries inside of the job write, for a thread of its own; NULL: there are none. kept: of a recording that goes on in new files, else NULL. job_event: an eventfd that is written when the
 * job may have ended, when a thread can write no more, and when the file has got to its limit. */
int drain_open(struct drain **drain, struct kernel *kernel, struct injected *injected,
	       struct writer *writer, struct kept *kept, int job_event, struct error *e);

/* The size of the file at which job_event is written; 0: none. */
void drain_watch(struct drain *drain, uint64_t bytes);

/* Has all that the rings hold written, and the threads wait; then lets them go on with another writer. */
void drain_pause(struct drain *drain);
void drain_resume(struct drain *drain, struct writer *writer);

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
