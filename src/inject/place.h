/* A private folder of a recording for what the job opens by its path: the pool and the libraries. It belongs to whoever records, the
 * files in it to whoever the job runs as. Others can enter it, if they know its name, but not list it: a process of the job that becomes
 * another user still finds the library, or its loader would complain; the pool it cannot open. Gone with place_remove;
 * what a killed recorder leaves goes with the next recording (inject/folder.h).
 *
 * Tried in turn: /dev/shm, $XDG_RUNTIME_DIR, /tmp, /var/tmp. A library goes to the first where a program may be run from, the pool
 * to the first that has room.
 */
#ifndef STRATA_INJECT_PLACE_H
#define STRATA_INJECT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "inject/folder.h"

/* Who the files are for. */
struct place_users {
	uid_t recorder_uid;
	gid_t recorder_gid;
	uid_t job_uid;
	gid_t job_gid;
};

struct place {
	struct place_users users;
	char folders[FOLDER_BASES][PATH_MAX];
	int locks[FOLDER_BASES]; /* what folder_make() gave; -1: there is none */
};

void place_open(struct place *place, const struct place_users *users);

/* Makes an empty file that the job may read and write, where there is room for so many bytes. */
int place_make_file(struct place *place, const char *name, uint64_t bytes, int *fd,
		    char path[PATH_MAX], struct error *e);

/* Writes a library that the job may load. */
int place_write_library(struct place *place, const char *name, const void *bytes, size_t size,
			char path[PATH_MAX], struct error *e);

/* Takes everything away. */
void place_remove(struct place *place);

/* Takes a file away and leaves the libraries for the job, until a later recording finds that nobody needs them. */
void place_leave(struct place *place, const char *file);

#endif
