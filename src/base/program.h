/* Where this program lies. */
#ifndef STRATA_BASE_PROGRAM_H
#define STRATA_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file beside this program, given relative to its folder. False: it is not known, or does not fit. */
bool program_beside(char *out, size_t size, const char *relative);

#endif
