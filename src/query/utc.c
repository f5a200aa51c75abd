#include "query/utc.h"

#include <errno.h>

#include "query/text.h"
#include "schema/schema.h"

static bool is_valid(const uint64_t *validity, idx_t row)
{
	return !validity || (validity[row / 64] >> row % 64 & 1);
}

/* The run that row `row` names, or the only one. NULL: none of that name. */
static const struct run *run_of(const struct runs *runs, duckdb_vector names, idx_t row)
{
	const duckdb_string_t *texts;

	if (!names)
		return &runs->items[0];
	if (!is_valid(duckdb.vector_get_validity(names), row))
		return NULL;
	texts = duckdb.vector_get_data(names);
	return runs_find(runs, texts[row]);
}

static void utc_fill(const struct runs *runs, duckdb_vector ts, duckdb_vector names, idx_t count,
		     duckdb_vector output)
{
	const uint64_t *known = duckdb.vector_get_validity(ts);
	const int64_t *times = duckdb.vector_get_data(ts);
	int64_t *out = duckdb.vector_get_data(output);
	uint64_t *validity = NULL, realtime;

	for (idx_t i = 0; i < count; i++) {
		const struct run *run = is_valid(known, i) ? run_of(runs, names, i) : NULL;

		if (run && !dims_utc(run->dims, (uint64_t)times[i], &realtime)) {
			out[i] = (int64_t)realtime;
			continue;
		}
		if (!validity) {
			duckdb.vector_ensure_validity_writable(output);
			validity = duckdb.vector_get_validity(output);
		}
		validity[i / 64] &= ~(1ull << i % 64);
	}
}

static void utc_one(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
	const struct runs *runs = duckdb.scalar_function_get_extra_info(info);

	if (runs->count != 1) {
		duckdb.scalar_function_set_error(
			info,
			"there are several runs, each with clocks of its own: write utc(ts, run), "
			"or use the column utc");
		return;
	}
	utc_fill(runs, duckdb.data_chunk_get_vector(input, 0), NULL,
		 duckdb.data_chunk_get_size(input), output);
}

static void utc_many(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
	const struct runs *runs = duckdb.scalar_function_get_extra_info(info);

	utc_fill(runs, duckdb.data_chunk_get_vector(input, 0),
		 duckdb.data_chunk_get_vector(input, 1), duckdb.data_chunk_get_size(input), output);
}

static duckdb_scalar_function utc_function(const struct runs *runs, bool many)
{
	duckdb_scalar_function function = duckdb.create_scalar_function();
	duckdb_logical_type ts = duckdb.create_logical_type(DUCKDB_TYPE_BIGINT);
	duckdb_logical_type run = duckdb.create_logical_type(DUCKDB_TYPE_VARCHAR);
	duckdb_logical_type utc = duckdb.create_logical_type(DUCKDB_TYPE_TIMESTAMP_NS);

	duckdb.scalar_function_set_name(function, "utc");
	duckdb.scalar_function_add_parameter(function, ts);
	if (many)
		duckdb.scalar_function_add_parameter(function, run);
	duckdb.scalar_function_set_return_type(function, utc);
	duckdb.scalar_function_set_extra_info(function, (void *)runs, NULL);
	duckdb.scalar_function_set_function(function, many ? utc_many : utc_one);
	duckdb.destroy_logical_type(&ts);
	duckdb.destroy_logical_type(&run);
	duckdb.destroy_logical_type(&utc);
	return function;
}

int utc_register(duckdb_connection connection, const struct runs *runs, struct error *e)
{
	duckdb_scalar_function_set set = duckdb.create_scalar_function_set("utc");
	duckdb_scalar_function one = utc_function(runs, false), many = utc_function(runs, true);
	int err = 0;

	if (duckdb.add_scalar_function_to_set(set, one) != DuckDBSuccess ||
	    duckdb.add_scalar_function_to_set(set, many) != DuckDBSuccess ||
	    duckdb.register_scalar_function_set(connection, set) != DuckDBSuccess)
		err = error_set(e, -EINVAL, "DuckDB does not take function utc");
	duckdb.destroy_scalar_function(&one);
	duckdb.destroy_scalar_function(&many);
	duckdb.destroy_scalar_function_set(&set);
	return err;
}
