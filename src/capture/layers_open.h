/* Which layers this strata can record, and opening the samplers of those that are wanted. */
#ifndef STRATA_CAPTURE_LAYERS_OPEN_H
#define STRATA_CAPTURE_LAYERS_OPEN_H

#include <stdint.h>

#include "base/error.h"
#include "probes/absences.h"
#include "schema/schema.h"

uint32_t layers_available(void);	    /* LAYER_BITs that some probe or sampler records */
uint32_t layers_that(enum layer_when when); /* of those, the ones that are recorded then */

/* Opens the samplers of the layers: states gets the state of each of samplers[]. One that this machine cannot give is taken
 * out of the layers and noted, unless it is required. samplers_close() ends them, also after a failure. */
int layers_open_samplers(void ***states, uint32_t *layers, uint32_t required,
			 struct absences *absences, struct error *e);

#endif
