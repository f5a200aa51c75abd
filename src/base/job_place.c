#include "base/job_place.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* The first that is set holds: what a person set, the scheduler's, the launcher's own. */
static const char *const jobs[] = { "STRATA_JOB", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", NULL };
static const char *const ranks[] = { "STRATA_RANK", "RANK",	    "OMPI_COMM_WORLD_RANK",
				     "PMIX_RANK",   "SLURM_PROCID", NULL };

struct job_place job_place_find(void)
{
	struct job_place place = { .rank = -1 };
	uint64_t rank;

	for (const char *const *name = jobs; *name && !place.job; name++) {
		const char *value = getenv(*name);

		if (value && *value && strcmp(value, "none")) /* torchrun's word for no id */
			place.job = value;
	}
	for (const char *const *name = ranks; *name && place.rank < 0; name++) {
		const char *value = getenv(*name);

		if (value && !units_parse_count(value, &rank) && rank <= INT32_MAX)
			place.rank = (int64_t)rank;
	}
	return place;
}
