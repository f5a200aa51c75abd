/* A folder of files that appear together: each is written under a temporary name, and folder_close() renames
 * them all once every one is whole. The folder is made if need be; other files in it are left alone.
 */
#ifndef STRATA_RENDER_FOLDER_H
#define STRATA_RENDER_FOLDER_H

#include "base/buf.h"
#include "render/export.h"
#include "render/output.h"

struct folder {
	const struct export_request *request; /* the caller keeps it */
	struct buf files;		      /* struct output *, finished ones but for the last */
	uint64_t total;
	bool made; /* it was not there before */
};

int folder_open(struct folder *folder, const struct export_request *request, struct error *e);

/* Begins a file; the folder owns it. What was begun before must be finished. */
struct output *folder_add(struct folder *folder, const char *name, struct error *e);
int folder_finish(struct folder *folder, struct output *out, struct error *e);
/* Names all files, unless err says that something failed: then they are gone, with the folder if it was made. Frees the folder and returns what went wrong;
 * *total: bytes in all files. */
int folder_close(struct folder *folder, int err, uint64_t *total, struct error *e);

#endif
