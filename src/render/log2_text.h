/* Counts by power of two as bcc's tools print them. */
#ifndef STRATA_RENDER_LOG2_TEXT_H
#define STRATA_RENDER_LOG2_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define LOG2_STARS 40

/* Slot 0 counts 0 and 1, slot k from 2^k up to 2^(k+1) - 1. unit: what the first column is headed with, "usecs". Nothing is
 * printed of an empty histogram. */
void log2_print(FILE *out, const char *unit, const uint64_t *slots, unsigned count);

#endif
