/* The scan of `strata sql` without DuckDB's library: the few of its functions that the scan calls, over vectors of the very
 * size asked for, so that what is written past one, or selected from outside it, is caught.
 */
#ifndef FUZZ_SCAN_H
#define FUZZ_SCAN_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "query/fill.h"
#include "query/filter.h"
#include "query/text.h"

struct text {
	struct text *next;
	char bytes[];
};

struct vector {
	uint64_t *validity;
	struct text *texts; /* those of cells set one by one */
	size_t capacity;
	duckdb_string_t cells[]; /* the widest kind of cell */
};

static duckdb_vector vector_make(duckdb_logical_type type, idx_t capacity)
{
	struct vector *vector = calloc(1, sizeof(*vector) + capacity * sizeof(vector->cells[0]));

	(void)type;
	if (vector)
		vector->capacity = capacity;
	return (duckdb_vector)vector;
}

static void vector_free(duckdb_vector *vector)
{
	for (struct text *text = ((struct vector *)*vector)->texts, *next; text; text = next) {
		next = text->next;
		free(text);
	}
	free(((struct vector *)*vector)->validity);
	free(*vector);
	*vector = NULL;
}

static void *vector_data(duckdb_vector vector)
{
	return ((struct vector *)vector)->cells;
}

static uint64_t *vector_validity(duckdb_vector vector)
{
	return ((struct vector *)vector)->validity;
}

static void vector_make_validity(duckdb_vector vector)
{
	struct vector *v = (struct vector *)vector;
	size_t size = (v->capacity + 63) / 64 * sizeof(*v->validity);

	if (!v->validity)
		v->validity = malloc(size);
	if (!v->validity)
		abort();
	memset(v->validity, 0xff, size);
}

static void vector_set_text(duckdb_vector vector, idx_t at, const char *text, idx_t size)
{
	struct vector *v = (struct vector *)vector;
	struct text *kept = malloc(sizeof(*kept) + size);

	assert(at < v->capacity);
	if (!kept)
		abort();
	memcpy(kept->bytes, text, size);
	kept->next = v->texts;
	v->texts = kept;
	v->cells[at] = text_string(kept->bytes, size);
}

static void vector_ignore(duckdb_vector to, void *from)
{
	(void)to;
	(void)from;
}

struct selection {
	size_t count;
	sel_t places[];
};

static duckdb_selection_vector selection_make(idx_t count)
{
	struct selection *selection = malloc(sizeof(*selection) + count * sizeof(sel_t));

	if (selection)
		selection->count = count;
	return (duckdb_selection_vector)selection;
}

static void selection_free(duckdb_selection_vector selection)
{
	free(selection);
}

static sel_t *selection_places(duckdb_selection_vector selection)
{
	return ((struct selection *)selection)->places;
}

static void vector_slice(duckdb_vector vector, duckdb_selection_vector selection, idx_t count)
{
	(void)vector;
	assert(count == ((struct selection *)selection)->count);
}

static duckdb_logical_type type_make(duckdb_type type)
{
	(void)type;
	return (duckdb_logical_type)malloc(1);
}

static void handle_free(void **handle)
{
	free(*handle);
	*handle = NULL;
}

static duckdb_value value_make(const char *text, idx_t size)
{
	char *copy = malloc(size + 1);

	if (copy)
		memcpy(copy, text, size);
	return (duckdb_value)copy;
}

static duckdb_value number_make(int64_t number)
{
	return value_make((const char *)&number, sizeof(number));
}

static void scan_use_vectors(void)
{
	duckdb.create_logical_type = type_make;
	duckdb.destroy_logical_type = (void (*)(duckdb_logical_type *))handle_free;
	duckdb.create_vector = vector_make;
	duckdb.destroy_vector = vector_free;
	duckdb.vector_get_data = vector_data;
	duckdb.vector_get_validity = vector_validity;
	duckdb.vector_ensure_validity_writable = vector_make_validity;
	duckdb.vector_assign_string_element_len = vector_set_text;
	duckdb.vector_reference_vector = (void (*)(duckdb_vector, duckdb_vector))vector_ignore;
	duckdb.vector_reference_value = (void (*)(duckdb_vector, duckdb_value))vector_ignore;
	duckdb.create_varchar_length = value_make;
	duckdb.create_int64 = number_make;
	duckdb.destroy_value = (void (*)(duckdb_value *))handle_free;
	duckdb.slice_vector = vector_slice;
	duckdb.create_selection_vector = selection_make;
	duckdb.destroy_selection_vector = selection_free;
	duckdb.selection_vector_get_data_ptr = selection_places;
}

static void scan_part(struct filler *filler, struct loaded *loaded, const struct part *part,
		      unsigned columns, uint64_t needs)
{
	struct error e;

	load_begin(loaded, part);
	if (load_columns(loaded, needs, &e) || filler_begin(filler, loaded))
		return;
	for (uint32_t at = 0; at < part->chunk.rows; at += FILTER_BLOCK) {
		uint32_t left = part->chunk.rows - at;
		uint32_t count = left < FILTER_BLOCK ? left : FILTER_BLOCK;

		for (unsigned i = 0; i < columns; i++) {
			duckdb_vector out = vector_make(NULL, count);

			if (out && filler_fill(filler, i, at, count, out))
				abort();
			if (out)
				vector_free(&out);
		}
	}
}

static void scan_table(const struct runs *runs, unsigned table)
{
	struct query_column columns[QUERY_MAX_COLUMNS];
	unsigned count = query_columns(&schema_tables[table], columns);
	struct filler *filler = filler_open(columns, count);
	struct loaded loaded = { 0 };
	struct part *parts = NULL;
	uint64_t needs = 0;
	struct error e;
	size_t part_count = 0;

	for (unsigned i = 0; i < count; i++)
		needs |= query_column_needs(&columns[i]);
	if (filler && !load_list(runs, table, &parts, &part_count, &e))
		for (size_t i = 0; i < part_count; i++)
			scan_part(filler, &loaded, &parts[i], count, needs);
	free(parts);
	filler_close(filler);
	load_free(&loaded);
}

/* Every column of every table of the trace, as `select *` asks for them. */
static void scan_all(char *path)
{
	struct runs runs;
	struct error e;

	scan_use_vectors();
	if (!runs_open(&runs, &path, 1, &e))
		for (unsigned table = 0; table < TABLE_COUNT; table++)
			scan_table(&runs, table);
	runs_close(&runs);
}

#endif
