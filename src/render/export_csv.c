/* Tables as CSV, one file a table, as `strata dump` prints them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/export.h"
#include "render/folder.h"
#include "render/rows_csv.h"
#include "schema/shown.h"

struct table_progress {
	const struct export_request *request;
	uint64_t rows;
};

static void table_progress(void *data, uint64_t rows)
{
	struct table_progress *progress = data;

	progress->rows += rows;
	export_progress(progress->request, rows);
}

static int table_write(const struct export_request *request, unsigned table, struct output *out,
		       struct export_result *result, uint64_t *rows, struct error *e)
{
	const struct export_run *run = &request->runs[0];
	struct shown_column columns[SHOWN_MAX_COLUMNS];
	struct table_progress progress = { request, 0 };
	struct rows_csv what = { .table = table,
				 .columns = columns,
				 .column_count = shown_columns(&schema_tables[table], columns),
				 .from = run->from,
				 .to = run->to,
				 .limit = UINT64_MAX,
				 .progress = table_progress,
				 .data = &progress };
	struct csv csv = { 0 };
	int err = csv_open(&csv, out->file.fd);

	if (err)
		return error_set(e, err, "out of memory");
	csv.limit = out->limit;
	csv.no_formulas = request->csv_safe;
	err = rows_csv_write(&what, run->reader, run->dims, &csv, e);
	out->error = csv.error;
	out->total = csv.total;
	*rows = progress.rows;
	csv_free(&csv);
	return export_settle(result, err, e);
}

int csv_write(const struct export_request *request, struct export_result *result, struct error *e)
{
	struct export_empty empty = { .what = "rows" };
	struct folder folder;
	int err = folder_open(&folder, request, e);

	for (unsigned table = 0; table < TABLE_COUNT && !err; table++) {
		char name[64];
		struct output *out;
		uint64_t rows = 0;

		if (!(request->tables >> table & 1))
			continue;
		snprintf(name, sizeof(name), "%s.csv", schema_tables[table].name);
		out = folder_add(&folder, name, e);
		if (!out) {
			err = -EIO;
			break;
		}
		err = table_write(request, table, out, result, &rows, e);
		if (!err)
			err = folder_finish(&folder, out, e);
		result->rows += rows;
		if (!rows)
			export_empty_add(&empty, schema_tables[table].name);
	}
	err = folder_close(&folder, err, &result->bytes, e);
	if (!err)
		export_empty_note(&empty, request);
	return err;
}
