/* The tables and columns of a trace, expanded from tables.def, and the fixed lists of names that some
 * columns draw on. Everything here is constant data.
 */
#ifndef STRATA_SCHEMA_SCHEMA_H
#define STRATA_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/layers.h"
#include "schema/syscalls.h"

/* The value of a cell that is null, wherever cells are 64-bit integers in memory: one that no program passes by accident, as
 * it may 2^63. The file has a bitmap of nulls instead. */
#define CELL_NULL (INT64_MIN + 0x6e756c6c)

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
	ENCODING_BEFORE = 5,
};

/* What the rows of a table are, for those who draw or export them. */
enum table_kind {
	KIND_CALLS,	       /* spans of a thread, nested as its calls are */
	KIND_CALLS_OR_MOMENTS, /* likewise; one without a length is a moment, not unfinished */
	KIND_SPANS, /* spans that may overlap, on tracks of their own: one for each KEY */
	KIND_SPANS_OR_MOMENTS,
	KIND_SAMPLES,	/* numbers over an interval: a series for each LABEL, KEY, and TID or PID */
	KIND_EVENTS,	/* what others are read by: known to each reader by itself */
	KIND_DIMENSION, /* what ids stand for */
};

/* What a cell says about its row. */
enum column_role {
	ROLE_VALUE,  /* a quantity, a text, a flag */
	ROLE_TIME,   /* when it began, by CLOCK_BOOTTIME; the first column */
	ROLE_LENGTH, /* how long it lasted; null: unfinished */
	ROLE_LEAD,   /* how long after its beginning the length began */
	ROLE_WAIT,   /* how long before its beginning it was ready to begin */
	ROLE_PID,    /* whose it is */
	ROLE_TID,    /* likewise; comm is shown beside it */
	ROLE_LABEL,  /* what it is called */
	ROLE_KEY,    /* which of several things of one kind it is about: a device, a stream */
	ROLE_FILE,   /* the file that it is about; its path is shown beside it */
	ROLE_GIVEN, /* as a program gave it to the kernel, an address, flags, a size: may be any 64 bits */
	ROLE_REQUEST, /* likewise: how many bytes a call asked for */
	ROLE_RESULT,  /* what a call gave back: negative is an error */
	ROLE_ID,      /* names something else, or is a set of bits: digits matter, size does not */
	ROLE_INSTANT, /* a time on some clock */
};

/* TABLE_io and so on, dense from 0. */
enum table_id {
#define TABLE(table, ...) TABLE_##table,
#define COLUMN(table, number, name, ...)
#include "schema/tables.def"
	TABLE_COUNT
};

/* flat_io_dur: the column's place among all columns; column_io_dur: its place in its table. */
enum column_flat {
#define TABLE(table, ...)		 first_##table, before_##table = first_##table - 1,
#define COLUMN(table, number, name, ...) flat_##table##_##name,
#define END_TABLE(table)		 end_##table, after_##table = end_##table - 1,
#include "schema/tables.def"
	COLUMN_FLAT_COUNT
};

enum column_id {
#define TABLE(table, ...) column_##table##_NONE = -1,
#define COLUMN(table, number, name, ...) \
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
	const struct names *names;   /* of a TYPE_NAME column */
	const char *path, *path_doc; /* of a second file: the column that shows its path */
	uint16_t number;
	uint8_t role;
	uint8_t type;
	uint8_t encoding;
};

struct schema_table {
	const char *name;
	const char *label; /* its category among what a job did; NULL: its rows are not among it */
	const char *doc;
	const struct schema_column *columns;
	unsigned column_count;
	int group; /* the column that rows are grouped by, or -1 */
	enum table_kind kind;
	enum layer layer; /* LAYER_none: recorded with all */
	uint16_t number;
};

extern const struct schema_table schema_tables[TABLE_COUNT];

/* What stands above the table's tracks and charts. */
const char *schema_title(const struct schema_table *table);
const struct schema_table *schema_table_by_name(const char *name);
const struct schema_table *schema_table_by_number(uint16_t number);
const struct schema_column *schema_column_by_number(const struct schema_table *table,
						    uint16_t number);
/* The column's index in the table, or -1. */
int schema_column_by_name(const struct schema_table *table, const char *name);
/* The first column in that role: its index in the table, or -1. */
int schema_column_by_role(const struct schema_table *table, enum column_role role);
/* Whether its rows have a time, and come in the order of it: all do but the dimensions file and run. */
bool schema_is_timed(const struct schema_table *table);

/* Which recordings a layer is part of. */
enum layer_when {
	WHEN_ALWAYS,  /* all */
	WHEN_DEFAULT, /* those for which no layers were named */
	WHEN_NAMED,   /* those that name it */
};

struct layer_info {
	const char *name;
	const char *doc;
	enum layer_when when;
};

extern const struct layer_info schema_layers[LAYER_COUNT];

extern const struct names event_names, task_state_names, waker_kind_names, syscall_names,
	direction_names, block_op_names, stall_kind_names, layer_names, loss_names, file_kind_names;

/* The place of a name in its list, or -1. */
int schema_find_name(const struct names *names, const char *text, size_t size);

enum direction { DIRECTION_R, DIRECTION_W, DIRECTION_C, DIRECTION_none };
enum block_op { BLOCK_OP_R, BLOCK_OP_W, BLOCK_OP_F, BLOCK_OP_D };
enum end_state {
	END_STATE_R,
	END_STATE_S,
	END_STATE_D,
	END_STATE_T,
	END_STATE_t,
	END_STATE_X,
	END_STATE_Z,
	END_STATE_P,
	END_STATE_I
}; /* as task_state_names */

/* Wakers that are looked for, as numbered in waker_kind_names. */
enum waker_by {
	WAKER_BY_THREAD,
	WAKER_BY_HARDIRQ,
	WAKER_BY_TIMER,
	WAKER_BY_NET_TX = 5,
	WAKER_BY_NET_RX,
	WAKER_BY_BLOCK,
};

/* What there is to know of a call by its name; indexed by enum syscall, as the cells of columns `op` are. */
struct syscall_info {
	const char *name; /* NULL: no row is called so */
	enum layer layer;
	enum syscall_family family;
	enum syscall_trait trait;
	enum direction direction; /* DIRECTION_none: moves no data */
	bool queued;		  /* handed over in a queue: may end elsewhere, and overlap */
};

extern const struct syscall_info schema_syscalls[SYSCALL_COUNT];
/* What the C library calls them, where that differs; NULL elsewhere. */
extern const char *const schema_libc_names[SYSCALL_COUNT];

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
