/* What this machine and this user allow a recording, found by looking and by trying: the model behind `strata doctor`.
 *
 *     doctor_look_around     kernel, rights, limits, container: read, nothing is opened
 *     doctor_try             every probe and sampler is opened, loaded, attached and taken back, as record would
 *
 * One of them adds to what the other found; both run in the calling thread. The struct owns what doctor_free() frees.
 */
#ifndef STRATA_CAPTURE_DOCTOR_H
#define STRATA_CAPTURE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "probes/absences.h"
#include "schema/layers.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,	/* worth knowing, no obstacle */
	DOCTOR_WARNING, /* less is recorded, or it may be */
	DOCTOR_MISSING, /* nothing can be recorded */
};

extern const char *const doctor_state_names[];

struct doctor_check {
	const char *name;
	enum doctor_state state;
	char found[384];
	char fix[640]; /* what to do, as commands where there are any; empty: nothing */
};

/* A program in the kernel, and where it hangs. */
struct doctor_hook {
	enum probe_id probe;
	char place[64]; /* tp_btf/sched_switch */
	bool attached;
};

struct doctor {
	struct doctor_check checks[32];
	size_t check_count;
	struct buf hooks;  /* struct doctor_hook each */
	bool tried;	   /* doctor_try has got as far as the kernel */
	bool works;	   /* record would record something */
	bool complete;	   /* and all that it records by default */
	uint32_t layers;   /* LAYER_BITs that would be recorded */
	char failure[512]; /* why nothing would be; empty: something would */
	struct absences absences;
};

struct doctor_check *doctor_add(struct doctor *doctor, const char *name, enum doctor_state state,
				const char *found, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor_check *check, const char *fix, ...)
	__attribute__((format(printf, 2, 3)));

void doctor_look_around(struct doctor *doctor);
/* Opens, loads and attaches as a recording would, and takes it back. Gives up all rights of this process for good: what it ends with, and
 * what comes next, may load libraries. */
void doctor_try(struct doctor *doctor);
void doctor_free(struct doctor *doctor);

/* The driver, NVML and CUPTI. Loads libraries. */
void doctor_look_at_gpus(struct doctor *doctor);

/* Why a layer would not be recorded. */
const char *doctor_why_absent(const struct doctor *doctor, enum layer layer);

/* The parts of doctor_look_around(). */
void doctor_look_at_kernel(struct doctor *doctor);
void doctor_look_at_limits(struct doctor *doctor);
void doctor_look_at_place(struct doctor *doctor);

/* Reads the first line of a file, without its end; false: it cannot be read. */
bool doctor_read_line(const char *path, char *out, size_t size);

#endif
