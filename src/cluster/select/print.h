/* Answers, printed. */
#ifndef STRATA_CLUSTER_SELECT_PRINT_H
#define STRATA_CLUSTER_SELECT_PRINT_H

#include <stdio.h>

#include "base/error.h"
#include "cluster/select/answer.h"

enum select_format {
	SELECT_TABLE,	 /* slots as histograms, all else as one table */
	SELECT_CSV,	 /* a line a value: node, metric, label, op, from, to, slot, value */
	SELECT_JSON,	 /* see answer.h */
	SELECT_ORIGINAL, /* as the first client of these questions printed them */
};

/* Errors of the stream stay in it. -ENOMEM. */
int select_print(const struct select_answer *answer, enum select_format format, unsigned width,
		 FILE *out, struct error *e);

#endif
