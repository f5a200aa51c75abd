/* The list of all samplers. */
#include "sampler/sampler.h"

const struct sampler *const samplers[] = {
	&cpu_sampler,
	&disk_sampler,
};

const size_t sampler_count = sizeof(samplers) / sizeof(*samplers);
