/* strata record --list-calls: which functions a pattern finds, and what a probe of each costs. */
#ifndef STRATA_CMD_LIST_CALLS_H
#define STRATA_CMD_LIST_CALLS_H

#include "symbols/calls.h"

/* MODULE, MODULE:PATTERN,... or @PRESET, on standard output. The exit status. */
int list_calls(const struct calls_request *request);

#endif
