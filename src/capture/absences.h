/* What was asked for and cannot be recorded here: a layer ("disk"), or a part of one ("io.missed"), with
 * the reason. Told by record when it begins and stored as facts of the run.
 */
#ifndef STRATA_CAPTURE_ABSENCES_H
#define STRATA_CAPTURE_ABSENCES_H

#include <stddef.h>

#define ABSENCES_MOST 32

struct absence {
	char what[48];
	char why[256];
};

struct absences {
	struct absence items[ABSENCES_MOST];
	size_t count;
};

void absences_add(struct absences *absences, const char *what, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

#endif
