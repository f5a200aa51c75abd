/* A layer that is read from /proc or a driver every interval, as a descriptor. schema/layers.def lists them all. They are opened
 * once the rights over the machine are given up: a driver's library is code of others.
 * The session's thread calls them; what they keep between two samples is theirs.
 */
#ifndef STRATA_SAMPLER_SAMPLER_H
#define STRATA_SAMPLER_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/sink.h"

struct sampler {
	const char *name;
	uint32_t layers; /* LAYER_BITs */
	/* Gives a state that is not NULL. A failure names what this machine lacks: the layer is absent
	 * then. -ENODEV: there is nothing here to record, which is no matter. */
	int (*open)(void **state, struct error *e);
	/* The part of the layer that this machine does not give, with the reason; NULL: it gives all. */
	const char *(*lacks)(void *state, struct error *e);
	/* Takes the reading that the first interval begins with, when the recording begins. NULL: none
	 * is needed. */
	void (*start)(void *state);
	/* Takes the next reading and adds the rows of the interval since the last one. */
	void (*sample)(void *state, struct sink *sink);
	/* The same for the last interval, at the end of the recording. NULL: sample does. */
	void (*finish)(void *state, struct sink *sink);
	void (*close)(void *state);
};

#define SAMPLER(name) extern const struct sampler name##_sampler;
#include "schema/layers.def"

extern const struct sampler *const samplers[];
extern const size_t sampler_count;

/* For each of samplers[] that is open: states has the state of each, NULL where it is not. */
void samplers_start(void **states);
void samplers_sample(void **states, struct sink *sink);
void samplers_finish(void **states, struct sink *sink);

/* Closes them and frees the list, which may be NULL. */
void samplers_close(void **states);

#endif
