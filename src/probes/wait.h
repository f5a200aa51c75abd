/* What strata knows of calls that may sleep, by their numbers: constants of the programs that notice them. */
#ifndef STRATA_PROBES_WAIT_H
#define STRATA_PROBES_WAIT_H

#include "bpf/wait.h"

/* Fills traits[SYSCALL_NUMBERS], which are zeros. */
void wait_fill_traits(struct wait_trait *traits);

#endif
