/* The folder of a spool: small files that are replaced whole, and numbers in them. */
#ifndef STRATA_CLUSTER_PUSH_SPOOL_FOLDER_H
#define STRATA_CLUSTER_PUSH_SPOOL_FOLDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define SPOOL_NAME 40 /* bytes of a file's name */

struct spool_folder {
	int fd;
	char *path;
};

/* Replaces a small file, whole and on disk when this returns. */
int folder_write(const struct spool_folder *folder, const char *name, const void *bytes,
		 size_t size, struct error *e);
int folder_write_number(const struct spool_folder *folder, const char *name, uint64_t number,
			struct error *e);

/* At most SPOOL_RECORD bytes, with a NUL behind them. Returns how many, or -errno. */
ssize_t folder_read(const struct spool_folder *folder, const char *name, char *out);

/* The number in a file, which is made with `first` when there is none. */
int folder_find_number(const struct spool_folder *folder, const char *name, uint64_t first,
		       uint64_t *number, struct error *e);

#endif
