/* The part of DuckDB's C API that strata uses. libduckdb is found and loaded when a query is to run, so that
 * no other command needs it; its package ships no header, so the prototypes stand here, under the names and
 * with the meaning of DuckDB's own documentation. A new function is one more row below.
 *
 * The table of functions is one a process, because DuckDB's callbacks pass nothing by which they could
 * find another. duckdb_load() fills it once, before any thread starts, and it is constant from then on.
 */
#ifndef STRATA_QUERY_DUCKDB_API_H
#define STRATA_QUERY_DUCKDB_API_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef uint64_t idx_t;
typedef uint32_t sel_t;

#define DUCKDB_HANDLE(name) typedef struct name##_handle *name;
DUCKDB_HANDLE(duckdb_database)
DUCKDB_HANDLE(duckdb_connection)
DUCKDB_HANDLE(duckdb_prepared_statement)
DUCKDB_HANDLE(duckdb_pending_result)
DUCKDB_HANDLE(duckdb_data_chunk)
DUCKDB_HANDLE(duckdb_vector)
DUCKDB_HANDLE(duckdb_selection_vector)
DUCKDB_HANDLE(duckdb_logical_type)
DUCKDB_HANDLE(duckdb_value)
DUCKDB_HANDLE(duckdb_table_function)
DUCKDB_HANDLE(duckdb_scalar_function)
DUCKDB_HANDLE(duckdb_scalar_function_set)
DUCKDB_HANDLE(duckdb_bind_info)
DUCKDB_HANDLE(duckdb_init_info)
DUCKDB_HANDLE(duckdb_function_info)
#undef DUCKDB_HANDLE

typedef enum { DuckDBSuccess = 0, DuckDBError = 1 } duckdb_state;

typedef enum {
	DUCKDB_TYPE_BOOLEAN = 1,
	DUCKDB_TYPE_TINYINT = 2,
	DUCKDB_TYPE_SMALLINT = 3,
	DUCKDB_TYPE_INTEGER = 4,
	DUCKDB_TYPE_BIGINT = 5,
	DUCKDB_TYPE_UTINYINT = 6,
	DUCKDB_TYPE_USMALLINT = 7,
	DUCKDB_TYPE_UINTEGER = 8,
	DUCKDB_TYPE_UBIGINT = 9,
	DUCKDB_TYPE_FLOAT = 10,
	DUCKDB_TYPE_DOUBLE = 11,
	DUCKDB_TYPE_HUGEINT = 16,
	DUCKDB_TYPE_VARCHAR = 17,
	DUCKDB_TYPE_DECIMAL = 19,
	DUCKDB_TYPE_TIMESTAMP_NS = 22,
} duckdb_type;

typedef enum {
	DUCKDB_STATEMENT_TYPE_SELECT = 1,
	DUCKDB_STATEMENT_TYPE_EXPLAIN = 4,
} duckdb_statement_type;

typedef enum { DUCKDB_RESULT_TYPE_QUERY_RESULT = 3 } duckdb_result_type;

typedef struct {
	idx_t deprecated_column_count, deprecated_row_count, deprecated_rows_changed;
	void *deprecated_columns;
	char *deprecated_error_message;
	void *internal_data;
} duckdb_result;

typedef struct {
	double percentage; /* -1: not known */
	uint64_t rows_processed, total_rows_to_process;
} duckdb_query_progress_type;

typedef struct {
	uint64_t lower;
	int64_t upper;
} duckdb_hugeint;

/* A text in a vector: up to 12 bytes lie inside, longer ones elsewhere. */
typedef union {
	struct {
		uint32_t length;
		char prefix[4];
		const char *ptr;
	} pointer;
	struct {
		uint32_t length;
		char inlined[12];
	} inlined;
} duckdb_string_t;

#define DUCKDB_STRING_INLINED 12

typedef void (*duckdb_delete_callback_t)(void *data);
typedef void (*duckdb_table_function_bind_t)(duckdb_bind_info info);
typedef void (*duckdb_table_function_init_t)(duckdb_init_info info);
typedef void (*duckdb_table_function_t)(duckdb_function_info info, duckdb_data_chunk output);
typedef void (*duckdb_scalar_function_t)(duckdb_function_info info, duckdb_data_chunk input,
					 duckdb_vector output);

/* FUNCTION(result, name without duckdb_, arguments) */
#define DUCKDB_FUNCTIONS(FUNCTION)                                                                 \
	FUNCTION(const char *, library_version, (void))                                            \
	FUNCTION(void, free, (void *memory))                                                       \
	FUNCTION(idx_t, vector_size, (void))                                                       \
	/* databases and connections */                                                            \
	FUNCTION(duckdb_state, open, (const char *path, duckdb_database *out))                     \
	FUNCTION(void, close, (duckdb_database * database))                                        \
	FUNCTION(duckdb_state, connect, (duckdb_database database, duckdb_connection * out))       \
	FUNCTION(void, disconnect, (duckdb_connection * connection))                               \
	FUNCTION(void, interrupt, (duckdb_connection connection))                                  \
	FUNCTION(duckdb_query_progress_type, query_progress, (duckdb_connection connection))       \
	/* queries and their results */                                                            \
	FUNCTION(duckdb_state, query,                                                              \
		 (duckdb_connection connection, const char *query, duckdb_result *out))            \
	FUNCTION(                                                                                  \
		duckdb_state, prepare,                                                             \
		(duckdb_connection connection, const char *query, duckdb_prepared_statement *out)) \
	FUNCTION(const char *, prepare_error, (duckdb_prepared_statement statement))               \
	FUNCTION(void, destroy_prepare, (duckdb_prepared_statement * statement))                   \
	FUNCTION(idx_t, nparams, (duckdb_prepared_statement statement))                            \
	FUNCTION(duckdb_statement_type, prepared_statement_type,                                   \
		 (duckdb_prepared_statement statement))                                            \
	FUNCTION(idx_t, prepared_statement_column_count, (duckdb_prepared_statement statement))    \
	FUNCTION(const char *, prepared_statement_column_name,                                     \
		 (duckdb_prepared_statement statement, idx_t column))                              \
	FUNCTION(duckdb_type, prepared_statement_column_type,                                      \
		 (duckdb_prepared_statement statement, idx_t column))                              \
	FUNCTION(duckdb_state, pending_prepared_streaming,                                         \
		 (duckdb_prepared_statement statement, duckdb_pending_result * out))               \
	FUNCTION(const char *, pending_error, (duckdb_pending_result pending))                     \
	FUNCTION(duckdb_state, execute_pending,                                                    \
		 (duckdb_pending_result pending, duckdb_result * out))                             \
	FUNCTION(void, destroy_pending, (duckdb_pending_result * pending))                         \
	FUNCTION(void, destroy_result, (duckdb_result * result))                                   \
	FUNCTION(const char *, result_error, (duckdb_result * result))                             \
	FUNCTION(duckdb_result_type, result_return_type, (duckdb_result result))                   \
	FUNCTION(idx_t, column_count, (duckdb_result * result))                                    \
	FUNCTION(const char *, column_name, (duckdb_result * result, idx_t column))                \
	FUNCTION(duckdb_type, column_type, (duckdb_result * result, idx_t column))                 \
	FUNCTION(duckdb_data_chunk, fetch_chunk, (duckdb_result result))                           \
	FUNCTION(void, destroy_data_chunk, (duckdb_data_chunk * chunk))                            \
	FUNCTION(idx_t, data_chunk_get_size, (duckdb_data_chunk chunk))                            \
	FUNCTION(void, data_chunk_set_size, (duckdb_data_chunk chunk, idx_t size))                 \
	FUNCTION(duckdb_vector, data_chunk_get_vector, (duckdb_data_chunk chunk, idx_t column))    \
	/* types and vectors */                                                                    \
	FUNCTION(duckdb_logical_type, create_logical_type, (duckdb_type type))                     \
	FUNCTION(void, destroy_logical_type, (duckdb_logical_type * type))                         \
	FUNCTION(duckdb_vector, create_vector, (duckdb_logical_type type, idx_t capacity))         \
	FUNCTION(void, destroy_vector, (duckdb_vector * vector))                                   \
	FUNCTION(void *, vector_get_data, (duckdb_vector vector))                                  \
	FUNCTION(uint64_t *, vector_get_validity, (duckdb_vector vector))                          \
	FUNCTION(void, vector_ensure_validity_writable, (duckdb_vector vector))                    \
	FUNCTION(void, vector_assign_string_element_len,                                           \
		 (duckdb_vector vector, idx_t index, const char *text, idx_t size))                \
	FUNCTION(void, vector_reference_vector, (duckdb_vector to, duckdb_vector from))            \
	FUNCTION(duckdb_value, create_varchar_length, (const char *text, idx_t size))              \
	FUNCTION(duckdb_value, create_int64, (int64_t number))                                     \
	FUNCTION(void, destroy_value, (duckdb_value * value))                                      \
	FUNCTION(void, vector_reference_value, (duckdb_vector to, duckdb_value value))             \
	FUNCTION(void, slice_vector,                                                               \
		 (duckdb_vector vector, duckdb_selection_vector selection, idx_t size))            \
	FUNCTION(duckdb_selection_vector, create_selection_vector, (idx_t size))                   \
	FUNCTION(void, destroy_selection_vector, (duckdb_selection_vector selection))              \
	FUNCTION(sel_t *, selection_vector_get_data_ptr, (duckdb_selection_vector selection))      \
	/* functions that strata gives to DuckDB */                                                \
	FUNCTION(duckdb_table_function, create_table_function, (void))                             \
	FUNCTION(void, destroy_table_function, (duckdb_table_function * function))                 \
	FUNCTION(void, table_function_set_name,                                                    \
		 (duckdb_table_function function, const char *name))                               \
	FUNCTION(void, table_function_set_extra_info,                                              \
		 (duckdb_table_function function, void *data, duckdb_delete_callback_t destroy))   \
	FUNCTION(void, table_function_set_bind,                                                    \
		 (duckdb_table_function function, duckdb_table_function_bind_t bind))              \
	FUNCTION(void, table_function_set_init,                                                    \
		 (duckdb_table_function function, duckdb_table_function_init_t init))              \
	FUNCTION(void, table_function_set_local_init,                                              \
		 (duckdb_table_function function, duckdb_table_function_init_t init))              \
	FUNCTION(void, table_function_set_function,                                                \
		 (duckdb_table_function function, duckdb_table_function_t run))                    \
	FUNCTION(void, table_function_supports_projection_pushdown,                                \
		 (duckdb_table_function function, bool supported))                                 \
	FUNCTION(duckdb_state, register_table_function,                                            \
		 (duckdb_connection connection, duckdb_table_function function))                   \
	FUNCTION(void *, bind_get_extra_info, (duckdb_bind_info info))                             \
	FUNCTION(void, bind_add_result_column,                                                     \
		 (duckdb_bind_info info, const char *name, duckdb_logical_type type))              \
	FUNCTION(void, bind_set_bind_data,                                                         \
		 (duckdb_bind_info info, void *data, duckdb_delete_callback_t destroy))            \
	FUNCTION(void, bind_set_cardinality, (duckdb_bind_info info, idx_t rows, bool exact))      \
	FUNCTION(void, bind_set_error, (duckdb_bind_info info, const char *error))                 \
	FUNCTION(void *, init_get_bind_data, (duckdb_init_info info))                              \
	FUNCTION(idx_t, init_get_column_count, (duckdb_init_info info))                            \
	FUNCTION(idx_t, init_get_column_index, (duckdb_init_info info, idx_t column))              \
	FUNCTION(void, init_set_init_data,                                                         \
		 (duckdb_init_info info, void *data, duckdb_delete_callback_t destroy))            \
	FUNCTION(void, init_set_max_threads, (duckdb_init_info info, idx_t threads))               \
	FUNCTION(void, init_set_error, (duckdb_init_info info, const char *error))                 \
	FUNCTION(void *, function_get_bind_data, (duckdb_function_info info))                      \
	FUNCTION(void *, function_get_init_data, (duckdb_function_info info))                      \
	FUNCTION(void *, function_get_local_init_data, (duckdb_function_info info))                \
	FUNCTION(void, function_set_error, (duckdb_function_info info, const char *error))         \
	FUNCTION(duckdb_scalar_function, create_scalar_function, (void))                           \
	FUNCTION(void, destroy_scalar_function, (duckdb_scalar_function * function))               \
	FUNCTION(void, scalar_function_set_name,                                                   \
		 (duckdb_scalar_function function, const char *name))                              \
	FUNCTION(void, scalar_function_add_parameter,                                              \
		 (duckdb_scalar_function function, duckdb_logical_type type))                      \
	FUNCTION(void, scalar_function_set_return_type,                                            \
		 (duckdb_scalar_function function, duckdb_logical_type type))                      \
	FUNCTION(void, scalar_function_set_function,                                               \
		 (duckdb_scalar_function function, duckdb_scalar_function_t run))                  \
	FUNCTION(void, scalar_function_set_extra_info,                                             \
		 (duckdb_scalar_function function, void *data, duckdb_delete_callback_t destroy))  \
	FUNCTION(void *, scalar_function_get_extra_info, (duckdb_function_info info))              \
	FUNCTION(void, scalar_function_set_error, (duckdb_function_info info, const char *error))  \
	FUNCTION(duckdb_scalar_function_set, create_scalar_function_set, (const char *name))       \
	FUNCTION(void, destroy_scalar_function_set, (duckdb_scalar_function_set * set))            \
	FUNCTION(duckdb_state, add_scalar_function_to_set,                                         \
		 (duckdb_scalar_function_set set, duckdb_scalar_function function))                \
	FUNCTION(duckdb_state, register_scalar_function_set,                                       \
		 (duckdb_connection connection, duckdb_scalar_function_set set))

struct duckdb {
#define DUCKDB_MEMBER(result, name, arguments) result(*name) arguments;
	DUCKDB_FUNCTIONS(DUCKDB_MEMBER)
#undef DUCKDB_MEMBER
};

extern struct duckdb duckdb;

/* Finds and loads the library, once; see duckdb_load.c for where it is looked for. -ENOENT when there is
 * none, -ENOTSUP when what was found is too old or no DuckDB: the text says what to do. */
int duckdb_load(struct error *e);

#endif
