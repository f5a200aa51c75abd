/* The page cache, emptied for --drop-caches. */
#ifndef STRATA_CAPTURE_CACHES_H
#define STRATA_CAPTURE_CACHES_H

#include "base/error.h"

int caches_drop(struct error *e);

#endif
