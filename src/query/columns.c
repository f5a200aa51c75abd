#include "query/columns.h"

#include "store/paths.h"

/* Numbers are signed, so that differences of times and positions are what they seem. What a program passes
 * to a call may be any 64 bits, though. */
static duckdb_type type_of_uint(enum column_role role)
{
	return role == ROLE_GIVEN || role == ROLE_REQUEST ? DUCKDB_TYPE_UBIGINT
							  : DUCKDB_TYPE_BIGINT;
}

static void set_type(struct query_column *out, duckdb_type type, enum column_source source)
{
	out->type = type;
	out->source = source;
}

static void set_cell(struct query_column *out, enum column_type type)
{
	switch (type) {
	case TYPE_UINT: set_type(out, type_of_uint(out->role), SOURCE_NUMBER); break;
	case TYPE_INT: set_type(out, DUCKDB_TYPE_BIGINT, SOURCE_NUMBER); break;
	case TYPE_REAL: set_type(out, DUCKDB_TYPE_DOUBLE, SOURCE_NUMBER); break;
	case TYPE_BOOL: set_type(out, DUCKDB_TYPE_BOOLEAN, SOURCE_BOOL); break;
	case TYPE_FILE: set_type(out, DUCKDB_TYPE_BIGINT, SOURCE_FILE); break;
	case TYPE_PATH: set_type(out, DUCKDB_TYPE_VARCHAR, SOURCE_PATH); break;
	case TYPE_NAME:
	case TYPE_TEXT: set_type(out, DUCKDB_TYPE_VARCHAR, SOURCE_TEXT); break;
	}
}

static struct query_column from_shown(const struct shown_column *shown)
{
	struct query_column out = { .name = shown->name,
				    .unit = shown->unit,
				    .doc = shown->doc,
				    .column = shown->column,
				    .role = shown->role };

	switch (shown->kind) {
	case SHOWN_CELL: set_cell(&out, shown->type); break;
	case SHOWN_COMM: set_type(&out, DUCKDB_TYPE_VARCHAR, SOURCE_COMM); break;
	case SHOWN_PATH: set_type(&out, DUCKDB_TYPE_VARCHAR, SOURCE_PATH); break;
	case SHOWN_FS_PATH: set_type(&out, DUCKDB_TYPE_VARCHAR, SOURCE_FS_PATH); break;
	}
	return out;
}

unsigned query_columns(const struct schema_table *table, struct query_column out[QUERY_MAX_COLUMNS])
{
	struct shown_column shown[SHOWN_MAX_COLUMNS];
	unsigned shown_count = shown_columns(table, shown), count = 0;

	out[count++] = (struct query_column){ .name = "run",
					      .unit = "",
					      .doc = "name of the run: its file's name",
					      .type = DUCKDB_TYPE_VARCHAR,
					      .source = SOURCE_RUN };
	out[count++] = (struct query_column){ .name = "node",
					      .unit = "",
					      .doc = "machine that it was recorded on",
					      .type = DUCKDB_TYPE_VARCHAR,
					      .source = SOURCE_NODE };
	for (unsigned i = 0; i < shown_count; i++)
		out[count++] = from_shown(&shown[i]);
	if (!schema_is_timed(table))
		return count;
	out[count++] =
		(struct query_column){ .name = "t",
				       .unit = "s",
				       .doc = "when it began, seconds since the recording's start",
				       .type = DUCKDB_TYPE_DOUBLE,
				       .source = SOURCE_T };
	out[count++] = (struct query_column){
		.name = "utc",
		.unit = "",
		.doc = "when it began in UTC, comparable across runs and machines",
		.type = DUCKDB_TYPE_TIMESTAMP_NS,
		.source = SOURCE_UTC
	};
	return count;
}

uint64_t query_column_needs(const struct query_column *column)
{
	switch (column->source) {
	case SOURCE_RUN:
	case SOURCE_NODE: return 0;
	case SOURCE_T:
	case SOURCE_UTC: return 1;
	case SOURCE_COMM: return 1 | 1ull << column->column; /* a name changes with time */
	case SOURCE_FS_PATH: return PATHS_FS_COLUMNS;
	default: return 1ull << column->column;
	}
}

const char *query_type_name(duckdb_type type)
{
	switch (type) {
	case DUCKDB_TYPE_BIGINT: return "BIGINT";
	case DUCKDB_TYPE_UBIGINT: return "UBIGINT";
	case DUCKDB_TYPE_DOUBLE: return "DOUBLE";
	case DUCKDB_TYPE_BOOLEAN: return "BOOLEAN";
	case DUCKDB_TYPE_TIMESTAMP_NS: return "TIMESTAMP_NS";
	default: return "VARCHAR";
	}
}
