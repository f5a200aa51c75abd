#include "analyze/scan.h"

#include <errno.h>

#include "schema/schema.h"

static int scan_table(struct reader *reader, unsigned table, uint64_t columns,
		      const struct scan_sink *sinks, size_t count, struct error *e)
{
	struct rows *rows = NULL;
	int err, more = 0;

	err = rows_open(&rows, reader, table, columns, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		for (size_t i = 0; i < count && !err; i++)
			if (sinks[i].table == table && sinks[i].take(sinks[i].state, rows))
				err = error_set(e, -ENOMEM, "no memory to analyse table '%s'",
						schema_tables[table].name);
	rows_close(rows);
	return err ? err : more;
}

int scan_run(struct reader *reader, const struct scan_sink *sinks, size_t count, struct error *e)
{
	int err = 0;

	for (unsigned table = 0; table < TABLE_COUNT && !err; table++) {
		uint64_t columns = 0;

		for (size_t i = 0; i < count; i++)
			if (sinks[i].table == table)
				columns |= sinks[i].columns;
		if (columns)
			err = scan_table(reader, table, columns, sinks, count, e);
	}
	return err;
}
