/* A file that appears whole or not at all, for all that strata writes beside recordings.
 *
 * Bytes go into a file without a name in the target's folder (or one of a random name, where the file system wants names),
 * which outfile_commit() puts in the target's place: a link of that name is replaced, never followed, and whoever reads
 * the old file keeps it. What is no regular file is never replaced: a pipe, a terminal or /dev/null is written as it is,
 * and so are "-" and names of open descriptors (/dev/stdout). A file that the command reads is refused.
 *
 * The owner ends it with outfile_commit() and then outfile_free(), which removes what was not committed.
 */
#ifndef STRATA_BASE_OUTFILE_H
#define STRATA_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Files that a command reads, which it must not write. */
struct outfile_inputs {
	const char *const *paths; /* NULLs among them are skipped */
	size_t count;
};

struct outfile {
	int fd;			/* -1: closed */
	char *path, *temporary; /* temporary NULL: written in place */
	bool nameless;		/* it has no name yet, not even the temporary one */
};

/* What a path leads to, for somebody who wants to write there. */
enum outfile_kind {
	OUTFILE_NEW,	 /* nothing yet */
	OUTFILE_REGULAR, /* a file to be replaced, or a link to one */
	OUTFILE_STREAM,	 /* a pipe, socket, character device, or an open descriptor's name */
	OUTFILE_FOLDER,
	OUTFILE_REFUSED, /* a disk, or a link to somewhere special that another user made */
};

enum outfile_kind outfile_look(const char *path);

/* -EINVAL when the path leads to one of the inputs. */
int outfile_check_inputs(const char *path, const struct outfile_inputs *inputs, struct error *e);

/* Checks the inputs as well. mode: of a new file, before the umask. */
int outfile_open(struct outfile *file, const char *path, mode_t mode,
		 const struct outfile_inputs *inputs, struct error *e);

/* Names the file; after that its descriptor is closed. */
int outfile_commit(struct outfile *file, struct error *e);

/* The same, but leaves the descriptor open, for the caller to close. */
int outfile_publish(struct outfile *file, struct error *e);

/* Closes the descriptor before the commit, unless that still needs it; 0 or -errno. */
int outfile_close(struct outfile *file);

void outfile_free(struct outfile *file);

#endif
