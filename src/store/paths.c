#include "store/paths.h"

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

int path_of_fs_names(const struct dims *dims, const struct fs_names *names, struct buf *scratch,
		     struct dims_text *path)
{
	*path = path_of_file(dims, names->file);
	if (path->bytes)
		return 0;
	if (names->op >= 0 && schema_syscalls[names->op].trait == TRAIT_NAMES_SECOND)
		return path_join(dims, names->dir2, names->arg_path2, scratch, path);
	return path_join(dims, names->dir, names->arg_path, scratch, path);
}

static struct dims_text text_of(const struct rows *rows, unsigned column)
{
	struct dims_text text = { 0 };

	text.bytes = rows_text(rows, column, &text.size);
	return text;
}

int path_of_fs_row(const struct dims *dims, const struct rows *rows, struct buf *scratch,
		   struct dims_text *path)
{
	struct fs_names names = {
		.op = rows_name(rows, column_fs_op),
		.file = rows_cell(rows, column_fs_file),
		.dir = rows_cell(rows, column_fs_dir),
		.dir2 = rows_cell(rows, column_fs_dir2),
		.arg_path = text_of(rows, column_fs_arg_path),
		.arg_path2 = text_of(rows, column_fs_arg_path2),
	};

	return path_of_fs_names(dims, &names, scratch, path);
}
