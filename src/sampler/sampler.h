/* A layer that is read from /proc or a driver every interval, as a descriptor. samplers.c lists them all.
 * The session's thread calls them; what they keep between two samples is theirs.
 */
#ifndef STRATA_SAMPLER_SAMPLER_H
#define STRATA_SAMPLER_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/sink.h"

struct sampler {
	const char *name;
	uint32_t layers; /* LAYER_BITs */
	/* Takes the first reading. A failure names what this machine lacks: the layer is absent then. */
	int (*open)(void **state, struct error *e);
	/* Takes the next reading and adds the rows of the interval since the last one. */
	void (*sample)(void *state, struct sink *sink);
	void (*close)(void *state);
};

extern const struct sampler *const samplers[];
extern const size_t sampler_count;

#endif
