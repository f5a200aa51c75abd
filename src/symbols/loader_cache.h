/* The dynamic loader's own list of libraries, /etc/ld.so.cache. */
#ifndef STRATA_SYMBOLS_LOADER_CACHE_H
#define STRATA_SYMBOLS_LOADER_CACHE_H

#include "base/buf.h"

/* Paths of the libraries whose name the glob matches, each with its NUL; of a name that is no glob the first. None is no error. */
int loader_cache_find(struct buf *paths, const char *glob);

/* The names of all, each with its NUL. */
int loader_cache_names(struct buf *names);

#endif
