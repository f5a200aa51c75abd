/* The tables and columns of a trace, expanded from tables.def, and the fixed lists of names that some
 * columns draw on. Everything here is constant data.
 */
#ifndef STRATA_SCHEMA_SCHEMA_H
#define STRATA_SCHEMA_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "schema/syscalls.h"
#include "schema/layers.h"

/* The value of a cell that is null, wherever cells are 64-bit integers in memory. */
#define CELL_NULL INT64_MIN

enum column_type {
	TYPE_UINT,
	TYPE_INT,
	TYPE_BOOL,
	TYPE_REAL, /* a double's bits */
	TYPE_NAME, /* an index into the column's names */
	TYPE_TEXT, /* an index into a set of strings */
	TYPE_FILE, /* a file id */
	TYPE_PATH, /* a file id, shown as the file's path */
};

/* How a column is stored; numbers are part of the file format. */
enum column_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_DELTA = 1,
	ENCODING_AFTER = 2,
	ENCODING_FOLLOW = 3,
	ENCODING_MINUS = 4,
};

/* TABLE_io and so on, dense from 0. */
enum table_id {
#define TABLE(table, number, group, doc) TABLE_##table,
#define COLUMN(table, number, name, type, encoding, unit, doc)
#include "schema/tables.def"
	TABLE_COUNT
};

/* flat_io_dur: the column's place among all columns; column_io_dur: its place in its table. */
enum column_flat {
#define TABLE(table, number, group, doc)		       first_##table, before_##table = first_##table - 1,
#define COLUMN(table, number, name, type, encoding, unit, doc) flat_##table##_##name,
#define END_TABLE(table)				       end_##table, after_##table = end_##table - 1,
#include "schema/tables.def"
	COLUMN_FLAT_COUNT
};

enum column_id {
#define TABLE(table, number, group, doc) column_##table##_NONE = -1,
#define COLUMN(table, number, name, type, encoding, unit, doc) \
	column_##table##_##name = flat_##table##_##name - first_##table,
#include "schema/tables.def"
};

#define TABLE_MAX_COLUMNS 24

/* A fixed list of names. A number without a name is NULL. */
struct names {
	const char *const *names;
	unsigned count;
};

struct schema_column {
	const char *name;
	const char *unit;
	const char *doc;
	const struct names *names; /* of a TYPE_NAME column */
	uint16_t number;
	uint8_t type;
	uint8_t encoding;
};

struct schema_table {
	const char *name;
	const char *doc;
	const struct schema_column *columns;
	unsigned column_count;
	int group; /* the column that rows are grouped by, or -1 */
	uint16_t number;
};

extern const struct schema_table schema_tables[TABLE_COUNT];

const struct schema_table *schema_table_by_name(const char *name);
const struct schema_table *schema_table_by_number(uint16_t number);
const struct schema_column *schema_column_by_number(const struct schema_table *table,
						    uint16_t number);
/* The column's index in the table, or -1. */
int schema_column_by_name(const struct schema_table *table, const char *name);

extern const struct names event_names, task_state_names, syscall_names, direction_names,
	block_op_names, layer_names, loss_names, file_kind_names;

enum direction { DIRECTION_R, DIRECTION_W, DIRECTION_C };
enum file_kind {
	FILE_KIND_FILE,
	FILE_KIND_DIR,
	FILE_KIND_LINK,
	FILE_KIND_CHAR,
	FILE_KIND_BLOCK,
	FILE_KIND_PIPE,
	FILE_KIND_SOCKET,
	FILE_KIND_OTHER,
};

#endif
