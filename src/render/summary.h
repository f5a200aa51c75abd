/* A summary of a trace as text for people or JSON for programs. Errors stay in the stream. */
#ifndef STRATA_RENDER_SUMMARY_H
#define STRATA_RENDER_SUMMARY_H

#include <stdio.h>

#include "analyze/summary.h"

void summary_print_text(const struct summary *summary, FILE *out);
void summary_print_json(const struct summary *summary, FILE *out); /* keys: strata-info(1) */

#endif
