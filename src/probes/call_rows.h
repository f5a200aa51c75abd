/* Records of calls as rows of table call. */
#ifndef STRATA_PROBES_CALL_ROWS_H
#define STRATA_PROBES_CALL_ROWS_H

#include "probes/probe.h"

void call_decode(struct row_maker *maker, const struct record *record, size_t size);

#endif
