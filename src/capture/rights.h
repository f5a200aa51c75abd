/* What this kernel and this user allow. */
#ifndef STRATA_CAPTURE_RIGHTS_H
#define STRATA_CAPTURE_RIGHTS_H

#include <stdint.h>

#include "base/error.h"

/* The capabilities that count now: bit i is capability number i. */
uint64_t rights_effective(void);

/* 0, or -EPERM with the missing capabilities and the command that grants them, or -ENOTSUP when the
 * kernel offers no type information (BTF) or no BPF at all. */
int rights_check(struct error *e);

#endif
