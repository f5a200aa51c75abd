/* What was asked for and cannot be recorded here: a layer ("disk"), or a part of one ("io.missed"), with
 * the reason. Told by record when it begins and stored as facts of the run.
 */
#ifndef STRATA_PROBES_ABSENCES_H
#define STRATA_PROBES_ABSENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ABSENCES_MOST 32

struct absence {
	char what[48];
	char why[384];
	bool expected; /* there is nothing here that could be recorded: not worth a warning */
};

struct absences {
	struct absence items[ABSENCES_MOST];
	size_t count;
	uint32_t expected; /* LAYER_BITs of the layers among them that are */
};

void absences_add(struct absences *absences, const char *what, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes the layers of a probe or sampler that cannot record them out of `layers`; e says why. One of `required` is a
 * failure instead: err comes back, with the layer's name added. */
int absences_leave_out(struct absences *absences, uint32_t *layers, uint32_t required,
		       uint32_t refused, int err, struct error *e);

#endif
