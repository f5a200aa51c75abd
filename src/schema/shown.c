#include "schema/shown.h"

#include <stdbool.h>

/* The column that stands beside one with an id, if any. */
static bool shown_beside(const struct schema_table *table, const struct schema_column *column,
			 struct shown_column *out)
{
	*out = (struct shown_column){ .unit = "", .type = TYPE_TEXT };
	if (column->role == ROLE_TID) {
		out->name = "comm";
		out->kind = SHOWN_COMM;
		out->doc = "the thread's name at that time";
	} else if (column->role == ROLE_FILE && table == &schema_tables[TABLE_fs]) {
		out->name = "path";
		out->kind = SHOWN_FS_PATH;
		out->doc = "path of file; for a call by path that opened nothing, dir joined with "
			   "arg_path; of symlink, the link's own path";
	} else if (column->role == ROLE_FILE) {
		out->name = column->path ? column->path : "path";
		out->kind = SHOWN_PATH;
		out->doc = column->path ? column->path_doc : "path of file";
	}
	return out->name && schema_column_by_name(table, out->name) < 0;
}

unsigned shown_columns(const struct schema_table *table, struct shown_column out[SHOWN_MAX_COLUMNS])
{
	unsigned count = 0;

	for (unsigned i = 0; i < table->column_count; i++) {
		const struct schema_column *column = &table->columns[i];

		out[count++] = (struct shown_column){ .name = column->name,
						      .unit = column->unit,
						      .doc = column->doc,
						      .kind = SHOWN_CELL,
						      .role = column->role,
						      .type = column->type,
						      .column = i };
		if (shown_beside(table, column, &out[count]))
			out[count++].column = i;
	}
	return count;
}
