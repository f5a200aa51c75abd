/* Words as a POSIX shell needs them quoted to take each as one. */
#ifndef STRATA_BASE_QUOTE_H
#define STRATA_BASE_QUOTE_H

#include "base/buf.h"

/* Appends a word, in quotes where it needs them. 0 or -ENOMEM. */
int quote_word(struct buf *out, const char *word, size_t size);

#endif
