/* The files behind the name of a module: a path; `exe`, the program itself; a library as the dynamic loader finds it; a program of
 * $PATH; or whatever of that name a running process has mapped. Names may be globs.
 */
#ifndef STRATA_SYMBOLS_MODULE_H
#define STRATA_SYMBOLS_MODULE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Whose modules they are. */
struct module_target {
	const char *command; /* to be launched, as given; NULL: none */
	pid_t pid;	     /* that runs; 0: none */
};

struct module_file {
	char *path; /* to open it by */
	char *name; /* to show */
};

/* Adds a struct module_file for each file; -ENOENT, with the nearest names, when there is none. */
int module_find(struct buf *files, const char *name, const struct module_target *target,
		struct error *e);
void module_files_free(struct buf *files);

#endif
