#include "capture/layers_open.h"

#include <errno.h>
#include <stdlib.h>

#include "probes/probe.h"
#include "sampler/sampler.h"

uint32_t layers_available(void)
{
	uint32_t found = 0;

	for (size_t i = 0; i < PROBE_COUNT; i++)
		found |= probes[i]->layers;
	for (size_t i = 0; i < sampler_count; i++)
		found |= samplers[i]->layers;
	return found;
}

uint32_t layers_that(enum layer_when when)
{
	uint32_t found = 0;

	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (schema_layers[i].when == when)
			found |= LAYER_BIT(i);
	return found & layers_available();
}

int layers_open_samplers(void ***states, uint32_t *layers, uint32_t required,
			 struct absences *absences, struct error *e)
{
	const char *part;
	int err = 0;

	*states = calloc(sampler_count, sizeof(**states));
	if (!*states)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sampler_count && !err; i++) {
		if (!(samplers[i]->layers & *layers))
			continue;
		err = samplers[i]->open(&(*states)[i], e);
		part = !err && samplers[i]->lacks ? samplers[i]->lacks((*states)[i], e) : NULL;
		if (part)
			absences_add(absences, part, "%s", e->text);
		if (err)
			err = absences_leave_out(absences, layers, required, samplers[i]->layers,
						 err, e);
	}
	return err;
}
