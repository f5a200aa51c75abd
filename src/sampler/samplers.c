/* The list of all samplers, and what is done with each of it. */
#include "sampler/sampler.h"

#include <stdlib.h>

const struct sampler *const samplers[] = {
#define SAMPLER(name) &name##_sampler,
#include "schema/layers.def"
};

const size_t sampler_count = sizeof(samplers) / sizeof(*samplers);

void samplers_start(void **states)
{
	for (size_t i = 0; i < sampler_count; i++)
		if (states[i] && samplers[i]->start)
			samplers[i]->start(states[i]);
}

void samplers_sample(void **states, struct sink *sink)
{
	for (size_t i = 0; i < sampler_count; i++)
		if (states[i])
			samplers[i]->sample(states[i], sink);
}

void samplers_finish(void **states, struct sink *sink)
{
	for (size_t i = 0; i < sampler_count; i++)
		if (states[i])
			(samplers[i]->finish ? samplers[i]->finish : samplers[i]->sample)(states[i],
											  sink);
}

void samplers_close(void **states)
{
	for (size_t i = 0; states && i < sampler_count; i++)
		if (states[i])
			samplers[i]->close(states[i]);
	free(states);
}
