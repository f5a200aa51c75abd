/* The machine's page cache. */
#ifndef STRATA_CAPTURE_CACHES_H
#define STRATA_CAPTURE_CACHES_H

#include "base/error.h"

/* Writes what is dirty and empties the cache. */
int caches_drop(struct error *e);

#endif
