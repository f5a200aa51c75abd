/* The model of files while it is loaded: what it wants of each table, and where the sums of a row are.
 * files_io.c and files_calls.c add to them, files_sum.c finishes the model.
 */
#include "analyze/files.h"

#include <string.h>

#include "analyze/files_load.h"
#include "analyze/io_row.h"

#define MOST_DIRECT 4000000 /* ids that are looked up without hashing; the recorder counts from 1 */

int files_open(struct files *files, struct context *context)
{
	*files = (struct files){ .context = context };
	files->op_list.limit = files->file_list.limit = files->dir_list.limit = SIZE_MAX;
	files->process_list.limit = files->by_id.limit = files->by_proc.limit = SIZE_MAX;
	return 0;
}

/* Operations of two tables are two although their names may be the same. */
static struct op_use *op_by_name(struct files *files, unsigned table, const struct rows *rows,
				 unsigned column)
{
	const char *name;
	struct op_use *op;
	uint32_t number;
	size_t size;
	char key[64];

	name = rows_text(rows, column, &size);
	if (!name) {
		name = "(unknown)";
		size = strlen(name);
	}
	if (size > sizeof(key) - 1)
		size = sizeof(key) - 1;
	key[0] = (char)table;
	memcpy(key + 1, name, size);
	if (strings_add(&files->op_names, key, size + 1, &number))
		return NULL;
	if (number * sizeof(*op) == files->op_list.size) {
		if (buf_append_zeros(&files->op_list, sizeof(*op)))
			return NULL;
		((struct op_use *)files->op_list.data)[number].table = schema_tables[table].name;
	}
	return (struct op_use *)files->op_list.data + number;
}

struct op_use *files_op(struct files *files, unsigned table, const struct rows *rows,
			unsigned column)
{
	int call = rows_name(rows, column);
	struct op_use *op;

	if (call >= 0 && files->op_places[table][call])
		return (struct op_use *)files->op_list.data + files->op_places[table][call] - 1;
	op = op_by_name(files, table, rows, column);
	if (op && call >= 0)
		files->op_places[table][call] =
			(uint32_t)(op - (struct op_use *)files->op_list.data) + 1;
	return op;
}

/* Where the place of a file stands that is found without hashing; NULL: not so. */
static uint32_t *place_by_id(struct files *files, int64_t file)
{
	if (file < 0 || file >= MOST_DIRECT)
		return NULL;
	return buf_element(&files->by_id, (size_t)file, sizeof(uint32_t));
}

struct file_use *files_file(struct files *files, int64_t file)
{
	uint32_t number, *place = place_by_id(files, file);
	struct file_use *use;
	int new;

	if (place && *place)
		return (struct file_use *)files->file_list.data + *place - 1;
	file = dims_file(files->context->dims, file);
	new = numbering_add(&files->by_file, (uint64_t)file, &number);
	if (new < 0 || (new &&buf_append_zeros(&files->file_list, sizeof(*use))))
		return NULL;
	use = (struct file_use *)files->file_list.data + number;
	if (new) {
		use->file = file;
		use->again_known = true;
	}
	if (place)
		*place = number + 1;
	return use;
}

struct process_use *files_process(struct files *files, int64_t pid, uint64_t ts)
{
	struct process_use *use;
	uint32_t proc = PROC_NONE, *place;

	if (pid != CELL_NULL)
		proc = procs_find(files->context->procs, pid, ts);
	place = buf_element(&files->by_proc, proc == PROC_NONE ? 0 : proc + 1, sizeof(*place));
	if (!place)
		return NULL;
	if (!*place) {
		if (buf_append_zeros(&files->process_list, sizeof(*use)))
			return NULL;
		*place = (uint32_t)(files->process_list.size / sizeof(*use));
	}
	use = (struct process_use *)files->process_list.data + *place - 1;
	use->proc = proc;
	return use;
}

size_t files_sinks(struct files *files, struct scan_sink *sinks)
{
	static const struct scan_sink wanted[FILES_SINKS] = {
		{ TABLE_io, IO_ROW_COLUMNS | SCAN_COLUMN(io, op) | SCAN_COLUMN(io, out_file),
		  files_take_io, NULL },
		{ TABLE_fs,
		  SCAN_COLUMN(fs, ts) | SCAN_COLUMN(fs, dur) | SCAN_COLUMN(fs, pid) |
			  SCAN_COLUMN(fs, op) | SCAN_COLUMN(fs, file) | SCAN_COLUMN(fs, returned) |
			  SCAN_COLUMN(fs, blocked),
		  files_take_fs, NULL },
		{ TABLE_mem,
		  SCAN_COLUMN(mem, ts) | SCAN_COLUMN(mem, dur) | SCAN_COLUMN(mem, op) |
			  SCAN_COLUMN(mem, file) | SCAN_COLUMN(mem, returned),
		  files_take_mem, NULL },
		{ TABLE_fault,
		  SCAN_COLUMN(fault, ts) | SCAN_COLUMN(fault, file) | SCAN_COLUMN(fault, major),
		  files_take_fault, NULL },
		{ TABLE_block,
		  SCAN_COLUMN(block, ts) | SCAN_COLUMN(block, dur) | SCAN_COLUMN(block, op) |
			  SCAN_COLUMN(block, bytes) | SCAN_COLUMN(block, file),
		  files_take_block, NULL },
	};

	for (size_t i = 0; i < FILES_SINKS; i++) {
		sinks[i] = wanted[i];
		sinks[i].state = files;
	}
	return FILES_SINKS;
}
