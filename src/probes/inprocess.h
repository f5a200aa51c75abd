/* Calls that libstrata_calls.so recorded inside of the job's processes (inprocess/), as rows of the tables call and counter. */
#ifndef STRATA_PROBES_INPROCESS_H
#define STRATA_PROBES_INPROCESS_H

#include "probes/injected.h"
#include "symbols/calls.h"

extern const struct injected_reader inprocess_reader;

/* Leaves to the library those of the functions that it stands before: they get no probe. -ENOENT: there is none. */
int inprocess_choose(struct calls *calls, struct error *e);

#endif
