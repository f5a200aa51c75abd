/* Real numbers as the shortest text that reads back as the same number. */
#ifndef STRATA_BASE_REAL_H
#define STRATA_BASE_REAL_H

#include <stddef.h>

/* Writes at most size bytes, terminator included; 25 are always enough. Returns the length. */
size_t real_format(char *out, size_t size, double value);

#endif
