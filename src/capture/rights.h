/* What this kernel and this user allow, whom the user may see, and what strata gives up once it is armed.
 *
 * docs/security.md states the rules for readers; in short: root, whoever has the capabilities of their own, and members of
 * the group to which alone root has given the program see everybody. Anybody else who may record (the program has
 * file capabilities) sees what they could see by ptrace: their own processes.
 */
#ifndef STRATA_CAPTURE_RIGHTS_H
#define STRATA_CAPTURE_RIGHTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "capture/kernel.h"
#include "capture/session.h"

/* 0, or -EPERM with the missing capabilities and the commands that grant them, or -ENOTSUP when the
 * kernel offers no type information (BTF) or no BPF at all. */
int rights_check(struct error *e);

#define RIGHTS_RECIPE_BYTES (3 * PATH_MAX + 256)

/* The commands by which root lets the members of a group record with this very program. Returns out. */
const char *rights_recipe(char *out, size_t size);

/* Whether the caller may see processes of others. */
bool rights_see_all(void);

/* Narrows a recording to what the caller may see; -EPERM when it asks for more. */
int rights_narrow(struct session_config *config, struct error *e);

/* All programs are attached: becomes the invoking user, and gives up what recording on does not need. Called while there
 * is one thread; those to come have no more. */
int rights_give_up(const struct session_config *config, const struct kernel *kernel,
		   struct error *e);

#endif
