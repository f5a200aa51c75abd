#include "store/paths.h"

#include <string.h>

#include "schema/schema.h"

static struct dims_text path_of_file(const struct dims *dims, int64_t file)
{
	struct dims_text path = { 0 };

	if (file != CELL_NULL)
		path.bytes = dims_path(dims, file, &path.size);
	return path;
}

static int path_join(const struct dims *dims, int64_t dir, struct dims_text arg,
		     struct buf *scratch, struct dims_text *path)
{
	struct dims_text start;
	int err;

	if (!arg.bytes)
		return 0;
	if (arg.size && arg.bytes[0] == '/') {
		*path = arg;
		return 0;
	}
	start = path_of_file(dims, dir);
	if (!start.bytes)
		return 0;
	if (!arg.size) {
		*path = start;
		return 0;
	}
	/* Nothing lies below a pipe or a socket. */
	if (!start.size || start.bytes[0] != '/')
		return 0;
	scratch->size = 0;
	err = buf_append(scratch, start.bytes, start.size);
	if (!err && start.bytes[start.size - 1] != '/')
		err = buf_append(scratch, "/", 1);
	if (!err)
		err = buf_append(scratch, arg.bytes, arg.size);
	if (err)
		return err;
	*path = (struct dims_text){ (const char *)scratch->data, scratch->size };
	return 0;
}

int path_of_fs_row(const struct dims *dims, const struct fs_names *row, struct buf *scratch,
		   struct dims_text *path)
{
	static const char symlink[] = "symlink"; /* and symlinkat, whose first path is mere text */

	*path = path_of_file(dims, row->file);
	if (path->bytes)
		return 0;
	if (row->op.size >= strlen(symlink) && !memcmp(row->op.bytes, symlink, strlen(symlink)))
		return path_join(dims, row->dir2, row->arg_path2, scratch, path);
	return path_join(dims, row->dir, row->arg_path, scratch, path);
}
