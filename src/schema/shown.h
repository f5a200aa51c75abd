/* A table as people see it, in `strata dump`, in SQL and in docs/tables.md: its own columns, and
 * beside an id the name that it stands for, which the trace keeps only once.
 */
#ifndef STRATA_SCHEMA_SHOWN_H
#define STRATA_SCHEMA_SHOWN_H

#include "schema/schema.h"

enum shown_kind {
	SHOWN_CELL,    /* the column itself */
	SHOWN_COMM,    /* name of the thread in `column` at ts */
	SHOWN_PATH,    /* path of the file in `column` */
	SHOWN_FS_PATH, /* path that a row of table fs is about; see store/paths.h */
};

struct shown_column {
	const char *name;
	const char *unit;
	const char *doc;
	enum shown_kind kind;
	enum column_role role; /* of a SHOWN_CELL */
	enum column_type type;
	unsigned column; /* in the table */
};

#define SHOWN_MAX_COLUMNS (TABLE_MAX_COLUMNS + 3)

/* Lists the columns in the order shown and returns how many there are. */
unsigned shown_columns(const struct schema_table *table,
		       struct shown_column out[SHOWN_MAX_COLUMNS]);

#endif
