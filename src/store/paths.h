/* The path that a row of table fs is about, which the row itself does not hold: that of the file it
 * opened or was given, or the one that its directory and path arguments spell.
 */
#ifndef STRATA_STORE_PATHS_H
#define STRATA_STORE_PATHS_H

#include <stdint.h>

#include "base/buf.h"
#include "schema/schema.h"
#include "store/dims.h"
#include "store/rows.h"

/* The cells that decide; the caller keeps the bytes. */
struct fs_names {
	int op;			 /* enum syscall, -1: unknown */
	int64_t file, dir, dir2; /* file ids or CELL_NULL */
	struct dims_text arg_path, arg_path2;
};

/* The columns of table fs that the cells are in. */
#define PATHS_FS_COLUMNS                                                         \
	(1ull << column_fs_op | 1ull << column_fs_file | 1ull << column_fs_dir | \
	 1ull << column_fs_dir2 | 1ull << column_fs_arg_path | 1ull << column_fs_arg_path2)

/* The path, or null when it is not known: nothing is guessed, so a relative path from an unknown
 * directory has none. The result points into the dims, the row or `scratch` and holds until one of
 * them changes. 0 or -ENOMEM. */
int path_of_fs_names(const struct dims *dims, const struct fs_names *names, struct buf *scratch,
		     struct dims_text *path);

/* The same of the row of table fs at which `rows` stands. */
int path_of_fs_row(const struct dims *dims, const struct rows *rows, struct buf *scratch,
		   struct dims_text *path);

#endif
