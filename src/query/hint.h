/* DuckDB's message of failure, with the nearest of our names where a table or column is not known. */
#ifndef STRATA_QUERY_HINT_H
#define STRATA_QUERY_HINT_H

#include "base/error.h"

void hint_set(struct error *e, const char *message, const char *sql);

#endif
