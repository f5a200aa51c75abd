/* The trace file's place on disk. */
#ifndef STRATA_CAPTURE_OUTPUT_H
#define STRATA_CAPTURE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "capture/launch.h"

/* Makes the file, empty, owned by the account if it is another's. Refuses (-EEXIST) to replace one
 * unless force is set; then the old one goes only when the new one is there. */
int output_create(const char *path, bool force, const struct account *account, int *fd,
		  struct error *e);

/* Whether an error says that the place is full or not writable. */
bool output_refused(int err);

#endif
