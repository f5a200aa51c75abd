/* The capabilities of this process, and giving them up. All of it concerns the calling thread, so it is called before
 * there is a second one.
 */
#ifndef STRATA_BASE_CAPS_H
#define STRATA_BASE_CAPS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Later than some systems' headers. */
#ifndef CAP_PERFMON
#	define CAP_PERFMON 38
#	define CAP_BPF	    39
#endif

#define CAP_BIT(name) (1ull << (name))

/* What lets root read and write everybody's files. */
#define CAPS_ROOT_FILES \
	(CAP_BIT(CAP_DAC_OVERRIDE) | CAP_BIT(CAP_DAC_READ_SEARCH) | CAP_BIT(CAP_FOWNER))

/* Whether the file of this program gave it rights that its caller lacks: then the environment and all else that the
 * caller controls is not to be trusted. */
bool caps_secure(void);

/* Whether the caller is root itself. */
bool caps_root(void);

uint64_t caps_effective(void);

/* Keeps these of the permitted ones, in effect, and gives up the others for good; none passes an execve. */
int caps_keep(uint64_t keep, struct error *e);

/* Makes the permitted ones pass the execves of this thread. */
int caps_pass_on(struct error *e);

/* Puts these of the permitted ones in effect, and no others, until the next call. */
int caps_use(uint64_t these, struct error *e);

/* A set-user-ID or set-group-ID bit on the program means nothing: becomes the caller. */
int caps_settle_ids(struct error *e);

/* For what records nothing: gives up all; root keeps what lets it read and write everybody's files. */
int caps_give_up(struct error *e);

#endif
