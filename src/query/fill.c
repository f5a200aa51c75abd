/* See fill.h. The loops are written for the vectoriser, which gcc runs in earnest only from -O3. */
#if defined(__GNUC__) && !defined(__clang__)
#	pragma GCC optimize("O3")
#endif
#include "query/fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "query/text.h"
#include "store/paths.h"

struct filled {
	struct query_column column;
	duckdb_vector texts;   /* of a SOURCE_TEXT column: the part's, and a null behind them */
	uint32_t text_count;   /* without the null */
	duckdb_value constant; /* of SOURCE_RUN and SOURCE_NODE */
};

struct filler {
	const struct loaded *loaded;
	const struct run *run;
	duckdb_logical_type varchar;
	struct buf scratch, shown;
	struct buf calls; /* the schema's numbers of the part's texts in fs.op */
	struct comm_cache comms;
	unsigned count;
	struct filled columns[];
};

struct filler *filler_open(const struct query_column *columns, unsigned count)
{
	struct filler *filler = calloc(1, sizeof(*filler) + count * sizeof(filler->columns[0]));

	if (!filler)
		return NULL;
	filler->varchar = duckdb.create_logical_type(DUCKDB_TYPE_VARCHAR);
	filler->count = count;
	for (unsigned i = 0; i < count; i++)
		filler->columns[i].column = columns[i];
	return filler;
}

static void clear_column(struct filled *filled)
{
	if (filled->texts)
		duckdb.destroy_vector(&filled->texts);
	if (filled->constant)
		duckdb.destroy_value(&filled->constant);
	filled->texts = NULL;
	filled->constant = NULL;
}

void filler_close(struct filler *filler)
{
	if (!filler)
		return;
	for (unsigned i = 0; i < filler->count; i++)
		clear_column(&filler->columns[i]);
	duckdb.destroy_logical_type(&filler->varchar);
	buf_free(&filler->scratch);
	buf_free(&filler->shown);
	buf_free(&filler->calls);
	free(filler);
}

/* Copies the bytes into the vector, as they are shown. */
static int assign_text(struct filler *filler, duckdb_vector vector, idx_t at, const char *bytes,
		       size_t size)
{
	if (!escape_is_plain(ESCAPE_SHOWN, bytes, size)) {
		filler->shown.size = 0;
		if (escape_append(&filler->shown, ESCAPE_SHOWN, bytes, size))
			return -ENOMEM;
		bytes = (const char *)filler->shown.data;
		size = filler->shown.size;
	}
	duckdb.vector_assign_string_element_len(vector, at, bytes, size);
	return 0;
}

static void set_null(uint64_t *validity, uint32_t row)
{
	validity[row / 64] &= ~(1ull << row % 64);
}

static uint64_t *writable_validity(duckdb_vector vector)
{
	duckdb.vector_ensure_validity_writable(vector);
	return duckdb.vector_get_validity(vector);
}

/* The part's texts as a vector. It is made anew for each part: output vectors keep a share in the last. */
static int begin_texts(struct filler *filler, struct filled *filled)
{
	const struct column *column = &filler->loaded->columns[filled->column.column];
	int err = 0;

	filled->text_count = column->text_count;
	filled->texts = duckdb.create_vector(filler->varchar, column->text_count + 1);
	if (!filled->texts)
		return -ENOMEM;
	for (uint32_t i = 0; i < column->text_count && !err; i++) {
		size_t size;
		const char *bytes = column_text(column, i, &size);

		err = assign_text(filler, filled->texts, i, bytes, size);
	}
	set_null(writable_validity(filled->texts), column->text_count);
	return err;
}

int filler_begin(struct filler *filler, const struct loaded *loaded)
{
	const struct run *run = loaded->part->run;
	int err = 0;

	if (filler->run != run)
		comm_cache_clear(&filler->comms);
	for (unsigned i = 0; i < filler->count && !err; i++) {
		struct filled *filled = &filler->columns[i];
		enum column_source source = filled->column.source;
		const duckdb_string_t *text = source == SOURCE_RUN ? &run->name : &run->node;

		if (filled->constant && filler->run == run)
			continue;
		clear_column(filled);
		filler->loaded = loaded;
		if (source == SOURCE_TEXT)
			err = begin_texts(filler, filled);
		else if (source == SOURCE_FS_PATH)
			err = column_number_names(&loaded->columns[column_fs_op], &syscall_names,
						  &filler->calls);
		else if (source == SOURCE_RUN || source == SOURCE_NODE)
			filled->constant = duckdb.create_varchar_length(text_bytes(text),
									text->inlined.length);
	}
	filler->loaded = loaded;
	filler->run = run;
	return err;
}

/* Rows of one thread stand side by side in a chunk, so that a whole vector often holds one value. DuckDB groups and
 * compares such a vector at once. */
static bool is_constant(const int64_t *cells, uint32_t count)
{
	uint64_t differs = 0;

	if (cells[0] != cells[count - 1])
		return false;
	for (uint32_t i = 0; i < count; i++)
		differs |= (uint64_t)(cells[i] ^ cells[0]);
	return !differs;
}

static void fill_constant_text(const duckdb_string_t *text, duckdb_vector out)
{
	duckdb_value value = duckdb.create_varchar_length(text_bytes(text), text->inlined.length);

	duckdb.vector_reference_value(out, value);
	duckdb.destroy_value(&value);
}

/* Null has the sign bit set: where no number has it, which is quickly seen, there is none. */
static bool has_null(const int64_t *cells, uint32_t count)
{
	int64_t bits = 0;
	unsigned found = 0;

	for (uint32_t i = 0; i < count; i++)
		bits |= cells[i];
	for (uint32_t i = 0; bits < 0 && i < count; i++)
		found |= cells[i] == CELL_NULL;
	return found;
}

static void fill_nulls(const int64_t *cells, uint32_t count, duckdb_vector out)
{
	uint64_t *validity;

	if (!has_null(cells, count))
		return;
	validity = writable_validity(out);
	for (uint32_t i = 0; i < count; i++)
		if (cells[i] == CELL_NULL)
			set_null(validity, i);
}

static void fill_number(const struct query_column *column, const int64_t *cells, uint32_t count,
			duckdb_vector out)
{
	if (column->type == DUCKDB_TYPE_BIGINT && cells[0] != CELL_NULL &&
	    is_constant(cells, count)) {
		duckdb_value value = duckdb.create_int64(cells[0]);

		duckdb.vector_reference_value(out, value);
		duckdb.destroy_value(&value);
		return;
	}
	memcpy(duckdb.vector_get_data(out), cells, count * sizeof(*cells));
	fill_nulls(cells, count, out);
}

static void fill_bool(const int64_t *cells, uint32_t count, uint8_t *out)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = cells[i] != 0;
}

static void fill_t(const int64_t *cells, uint32_t count, uint64_t start, double *out)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = (double)(int64_t)((uint64_t)cells[i] - start) / 1e9;
}

static void fill_utc(const struct run *run, const int64_t *cells, uint32_t count, duckdb_vector out)
{
	int64_t *times = duckdb.vector_get_data(out);
	uint64_t *validity = NULL, realtime;

	for (uint32_t i = 0; i < count; i++) {
		if (cells[i] != CELL_NULL && !dims_utc(run->dims, (uint64_t)cells[i], &realtime)) {
			times[i] = (int64_t)realtime;
			continue;
		}
		if (!validity)
			validity = writable_validity(out);
		set_null(validity, i);
	}
}

static void fill_file(const struct run *run, const int64_t *cells, uint32_t count, int64_t *out)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i && cells[i] == cells[i - 1])
			out[i] = out[i - 1];
		else
			out[i] = cells[i] == CELL_NULL ? cells[i] : dims_file(run->dims, cells[i]);
	}
}

/* When every cell is the id of a file with a path, which is the rule: no look at each. */
static bool fill_known_paths(const struct run *run, const int64_t *cells, uint32_t count,
			     duckdb_string_t *texts)
{
	const duckdb_string_t *paths = run->paths;
	uint64_t bits = 0;
	unsigned unknown = 0;

	for (uint32_t i = 0; i < count; i++)
		bits |= (uint64_t)cells[i];
	/* All below the power of two above all of them: a quick bound first, an exact one if it does not hold. */
	if (bits >= run->path_count)
		for (uint32_t i = 0; i < count; i++)
			unknown |= (uint64_t)cells[i] >= run->path_count;
	if (unknown)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		texts[i] = paths[cells[i]];
		unknown |= texts[i].pointer.length == RUN_NO_TEXT;
	}
	return !unknown;
}

static void fill_path(const struct run *run, const int64_t *cells, uint32_t count,
		      duckdb_vector out)
{
	duckdb_string_t *texts = duckdb.vector_get_data(out);
	uint64_t *validity = NULL;

	if (fill_known_paths(run, cells, count, texts))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const duckdb_string_t *path =
			cells[i] == CELL_NULL ? NULL : run_path(run, cells[i]);

		if (path) {
			texts[i] = *path;
			continue;
		}
		if (!validity)
			validity = writable_validity(out);
		set_null(validity, i);
	}
}

/* The one name that the thread had at all these times, or NULL. */
static const duckdb_string_t *find_comm_between(struct filler *filler, int64_t tid,
						const int64_t *ts, uint32_t count)
{
	int64_t least = ts[0], greatest = ts[0];
	const duckdb_string_t *comm;

	for (uint32_t i = 0; i < count; i++) {
		least = ts[i] < least ? ts[i] : least;
		greatest = ts[i] > greatest ? ts[i] : greatest;
	}
	comm = run_comm(filler->run, &filler->comms, tid, (uint64_t)least);
	return comm == run_comm(filler->run, &filler->comms, tid, (uint64_t)greatest) ? comm : NULL;
}

static void fill_comm(struct filler *filler, const int64_t *ts, const int64_t *tids, uint32_t count,
		      duckdb_vector out)
{
	duckdb_string_t *texts = duckdb.vector_get_data(out);
	const duckdb_string_t *only = NULL;
	uint64_t *validity = NULL;

	if (tids[0] != CELL_NULL && is_constant(tids, count))
		only = find_comm_between(filler, tids[0], ts, count);
	if (only) {
		fill_constant_text(only, out);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const duckdb_string_t *comm = NULL;

		if (tids[i] != CELL_NULL)
			comm = run_comm(filler->run, &filler->comms, tids[i], (uint64_t)ts[i]);
		if (comm) {
			texts[i] = *comm;
			continue;
		}
		if (!validity)
			validity = writable_validity(out);
		set_null(validity, i);
	}
}

static int fill_texts(const struct filled *filled, const int64_t *cells, uint32_t count,
		      duckdb_vector out)
{
	const duckdb_string_t *texts = duckdb.vector_get_data(filled->texts);
	duckdb_selection_vector selection;
	sel_t *places, null = filled->text_count;

	if (cells[0] != CELL_NULL && is_constant(cells, count)) {
		fill_constant_text(&texts[cells[0]], out);
		return 0;
	}
	selection = duckdb.create_selection_vector(count);
	if (!selection)
		return -ENOMEM;
	places = duckdb.selection_vector_get_data_ptr(selection);
	for (uint32_t i = 0; i < count; i++)
		places[i] = cells[i] == CELL_NULL ? null : (sel_t)cells[i];
	duckdb.vector_reference_vector(out, filled->texts);
	duckdb.slice_vector(out, selection, count);
	duckdb.destroy_selection_vector(selection);
	return 0;
}

static struct dims_text text_of(const struct filler *filler, unsigned column, uint32_t row)
{
	const struct column *from = &filler->loaded->columns[column];
	struct dims_text text = { 0 };

	text.bytes = column_text(from, from->cells[row], &text.size);
	return text;
}

static int fill_fs_path(struct filler *filler, uint32_t at, uint32_t count, duckdb_vector out)
{
	const struct column *columns = filler->loaded->columns;
	uint64_t *validity = NULL;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		struct fs_names names = {
			.op = column_name(&filler->calls, columns[column_fs_op].cells[at + i]),
			.file = columns[column_fs_file].cells[at + i],
			.dir = columns[column_fs_dir].cells[at + i],
			.dir2 = columns[column_fs_dir2].cells[at + i],
			.arg_path = text_of(filler, column_fs_arg_path, at + i),
			.arg_path2 = text_of(filler, column_fs_arg_path2, at + i),
		};
		struct dims_text path;

		err = path_of_fs_names(filler->run->dims, &names, &filler->scratch, &path);
		if (err)
			break;
		if (path.bytes) {
			err = assign_text(filler, out, i, path.bytes, path.size);
			continue;
		}
		if (!validity)
			validity = writable_validity(out);
		set_null(validity, i);
	}
	return err;
}

int filler_fill(struct filler *filler, unsigned i, uint32_t at, uint32_t count, duckdb_vector out)
{
	const struct filled *filled = &filler->columns[i];
	const struct column *columns = filler->loaded->columns;
	const struct query_column *column = &filled->column;
	const int64_t *cells = NULL, *ts = NULL;

	if (query_column_needs(column) >> column->column & 1)
		cells = columns[column->column].cells + at;
	if (query_column_needs(column) & 1)
		ts = columns[0].cells + at;
	switch (column->source) {
	case SOURCE_RUN:
	case SOURCE_NODE: duckdb.vector_reference_value(out, filled->constant); break;
	case SOURCE_NUMBER: fill_number(column, cells, count, out); break;
	case SOURCE_BOOL:
		fill_bool(cells, count, duckdb.vector_get_data(out));
		fill_nulls(cells, count, out);
		break;
	case SOURCE_FILE:
		fill_file(filler->run, cells, count, duckdb.vector_get_data(out));
		fill_nulls(cells, count, out);
		break;
	case SOURCE_T:
		fill_t(ts, count, filler->run->start, duckdb.vector_get_data(out));
		fill_nulls(ts, count, out);
		break;
	case SOURCE_TEXT: return fill_texts(filled, cells, count, out);
	case SOURCE_PATH: fill_path(filler->run, cells, count, out); break;
	case SOURCE_COMM: fill_comm(filler, ts, cells, count, out); break;
	case SOURCE_UTC: fill_utc(filler->run, ts, count, out); break;
	case SOURCE_FS_PATH: return fill_fs_path(filler, at, count, out);
	}
	return 0;
}
