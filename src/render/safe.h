/* Text of a trace on its way to a terminal: the trace may come from anywhere, so nothing in it may steer
 * the terminal. Control characters and bytes that are not UTF-8 show as \xNN.
 */
#ifndef STRATA_RENDER_SAFE_H
#define STRATA_RENDER_SAFE_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

void safe_print(FILE *out, const char *text);
void safe_write(FILE *out, const char *bytes, size_t size);

/* Appends the text as it is shown; 0 or -ENOMEM. */
int safe_append(struct buf *out, const char *bytes, size_t size);

#endif
