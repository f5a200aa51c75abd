/* The trace file's place on disk, opened with the rights of whom strata works for, and for nobody else to read. */
#ifndef STRATA_CAPTURE_OUTPUT_H
#define STRATA_CAPTURE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "capture/launch.h"

/* Where a trace goes, and for whom. */
struct output_place {
	const char *path;
	const char *log; /* that is read meanwhile, and must not be overwritten; NULL: none */
	const struct account *invoker;
	bool force; /* replaces what is there */
};

/* Makes the file, empty. Refuses (-EEXIST) to replace one unless force is set; then the old one goes only when the new one
 * is there. What is no regular file is never replaced; /dev/null is fine as it is. */
int output_create(const struct output_place *place, int *fd, struct error *e);

/* Removes the file again, if it is one. */
void output_remove(const struct output_place *place);

/* Whether an error says that the place is full or not writable. */
bool output_refused(int err);

#endif
