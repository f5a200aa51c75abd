/* Emptying the page cache (--drop-caches): the file that does it is opened while strata may, and used when it is time. */
#ifndef STRATA_CAPTURE_CACHES_H
#define STRATA_CAPTURE_CACHES_H

#include "base/error.h"

int caches_open(int *fd, struct error *e);
int caches_drop(int fd, struct error *e);

#endif
