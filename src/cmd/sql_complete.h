/* Completion of names at the prompt of `strata sql`. */
#ifndef STRATA_CMD_SQL_COMPLETE_H
#define STRATA_CMD_SQL_COMPLETE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

/* Looks at the word that ends at `typed` characters of the line and appends to `insert` what completes it as far as
 * it is certain. Where that is nothing, prints the possibilities to `out` and sets *listed. -ENOENT: no name begins
 * so; -ENOMEM. */
int sql_complete(const char *line, size_t typed, FILE *out, struct buf *insert, bool *listed);

#endif
