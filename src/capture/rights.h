/* What this kernel and this user allow. */
#ifndef STRATA_CAPTURE_RIGHTS_H
#define STRATA_CAPTURE_RIGHTS_H

#include "base/error.h"

/* 0, or -EPERM with the missing capabilities and the command that grants them, or -ENOTSUP when the
 * kernel offers no type information (BTF) or no BPF at all. */
int rights_check(struct error *e);

#endif
