/* Tables as Parquet, one file a table, with the columns that `strata dump` prints, written by DuckDB. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "query/database.h"
#include "render/export.h"
#include "render/folder.h"
#include "schema/shown.h"

/* SELECT ts, ... FROM io WHERE ts BETWEEN ... ORDER BY ts */
static int table_query(struct buf *sql, const struct export_run *run, unsigned table)
{
	struct shown_column columns[SHOWN_MAX_COLUMNS];
	const struct schema_table *schema = &schema_tables[table];
	unsigned count = shown_columns(schema, columns);
	const char *first = schema->columns[0].name;
	int err = buf_printf(sql, "SELECT ");

	for (unsigned i = 0; i < count && !err; i++)
		err = buf_printf(sql, "%s\"%s\"", i ? ", " : "", columns[i].name);
	if (!err)
		err = buf_printf(sql, " FROM \"%s\"", schema->name);
	/* What ids stand for is told whole, as in csv. */
	if (!err && schema->kind != KIND_DIMENSION && (run->from || run->to != UINT64_MAX))
		err = buf_printf(sql, " WHERE \"%s\" BETWEEN %" PRIu64 " AND %" PRIu64, first,
				 run->from, run->to < INT64_MAX ? run->to : (uint64_t)INT64_MAX);
	if (!err)
		err = buf_printf(sql, " ORDER BY \"%s\"", first);
	return err;
}

/* DuckDB writes by name; what names the open file is its descriptor. */
static int table_write(struct database *database, const struct export_run *run, unsigned table,
		       struct output *out, uint64_t *rows, struct error *e)
{
	struct buf sql = { 0 };
	struct stat file;
	char name[64];
	int err = table_query(&sql, run, table);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", out->file.fd);
	if (err)
		error_set(e, err, "out of memory");
	else
		err = database_write_parquet(database, (const char *)sql.data, sql.size, name, rows,
					     e);
	if (!err && !fstat(out->file.fd, &file))
		out->total = (uint64_t)file.st_size;
	buf_free(&sql);
	return err;
}

static int tables_write(const struct export_request *request, struct database *database,
			struct export_result *result, struct folder *folder, struct error *e)
{
	int err = 0;

	for (unsigned table = 0; table < TABLE_COUNT && !err; table++) {
		struct output *out;
		uint64_t rows = 0;
		char name[64];

		if (!(request->tables >> table & 1))
			continue;
		snprintf(name, sizeof(name), "%s.parquet", schema_tables[table].name);
		out = folder_add(folder, name, e);
		err = out ? table_write(database, &request->runs[0], table, out, &rows, e) : -EIO;
		if (!err)
			err = folder_finish(folder, out, e);
		result->rows += rows;
		export_progress(request, rows);
	}
	return err;
}

int parquet_write(const struct export_request *request, struct export_result *result,
		  struct error *e)
{
	struct database_options options = { .allow_files = true };
	char *path = (char *)request->runs[0].path;
	struct database *database = NULL;
	struct folder folder;
	int err = folder_open(&folder, request, e);

	if (!err)
		err = database_open(&database, &path, 1, &options, e);
	if (!err)
		err = tables_write(request, database, result, &folder, e);
	if (!err && database_damage(database))
		snprintf(result->damage, sizeof(result->damage), "%s", database_damage(database));
	err = folder_close(&folder, err, &result->bytes, e);
	database_close(database);
	return err;
}
