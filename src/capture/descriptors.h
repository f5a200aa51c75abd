/* File descriptors: everything that a recording has in the kernel hangs on one, some two hundred and one for each CPU, and a
 * process has a limit. The soft limit is raised to the hard one; what then still finds no room is known beforehand.
 */
#ifndef STRATA_CAPTURE_DESCRIPTORS_H
#define STRATA_CAPTURE_DESCRIPTORS_H

#include <sys/resource.h>

#include "base/error.h"

/* Raises the soft limit as far as this process may, and gives the one that held before. */
void descriptors_raise(struct rlimit *before);
void descriptors_restore(const struct rlimit *before);

/* How many more can be opened. */
long descriptors_left(void);

/* Says of a failure whose cause is the limit (-EMFILE) what to do; other failures stay as they are. Returns err. */
int descriptors_explain(int err, struct error *e);

/* What to do about the limit, for messages. */
#define DESCRIPTORS_ADVICE                                                                      \
	"raise it to 4096: 'ulimit -n 4096' as root, LimitNOFILE=4096 in a systemd unit, or a " \
	"line 'nofile' in /etc/security/limits.conf"

#endif
