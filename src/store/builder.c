/* See builder.h. The builder owns its cells, texts and scratch; builder_close frees them.
 *
 * A chunk is made in place: rows are reordered column by column through one spare array, which then
 * changes roles with the column's own.
 */
#include "store/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/codec.h"
#include "store/format.h"
#include "store/group.h"
#include "store/planes.h"

_Static_assert(BUILDER_MAX_ROWS <= FORMAT_MAX_ROWS, "a reader refuses larger chunks");
_Static_assert(BUILDER_MAX_TEXT + (uint64_t)TABLE_MAX_COLUMNS * BUILDER_MAX_CELL_TEXT <=
		       FORMAT_MAX_DICTIONARY,
	       "a reader refuses larger dictionaries");

struct builder_scratch {
	struct encoder *encoder;
	struct group *group;
	int64_t *spare;	      /* BUILDER_MAX_ROWS cells */
	struct buf streams;   /* of the columns, before the directory is known */
	struct strings names; /* the names that a NAME column uses in this chunk */
	struct buf directory;
	uint32_t *name_places; /* a name's number in the schema to 1 + its number in `names` */
};

static void scratch_close(struct builder_scratch *scratch)
{
	if (!scratch)
		return;
	encoder_close(scratch->encoder);
	group_close(scratch->group);
	free(scratch->spare);
	buf_free(&scratch->streams);
	buf_free(&scratch->directory);
	strings_free(&scratch->names);
	free(scratch->name_places);
	free(scratch);
}

static struct builder_scratch *scratch_open(const struct schema_table *table)
{
	struct builder_scratch *scratch = calloc(1, sizeof(*scratch));
	unsigned names = 1;

	if (!scratch)
		return NULL;
	for (unsigned i = 0; i < table->column_count; i++)
		if (table->columns[i].names && table->columns[i].names->count > names)
			names = table->columns[i].names->count;
	scratch->spare = malloc(BUILDER_MAX_ROWS * sizeof(*scratch->spare));
	scratch->name_places = malloc(names * sizeof(*scratch->name_places));
	if (!scratch->spare || !scratch->name_places ||
	    encoder_open(&scratch->encoder, BUILDER_MAX_ROWS) ||
	    group_open(&scratch->group, BUILDER_MAX_ROWS)) {
		scratch_close(scratch);
		return NULL;
	}
	return scratch;
}

int builder_open(struct builder **builder, const struct schema_table *table, struct error *e)
{
	struct builder *b = calloc(1, sizeof(*b));

	if (b) {
		b->table = table;
		b->scratch = scratch_open(table);
	}
	if (!b || !b->scratch) {
		free(b);
		return error_set(e, -ENOMEM, "no memory for rows of table '%s'", table->name);
	}
	*builder = b;
	return 0;
}

void builder_close(struct builder *builder)
{
	if (!builder)
		return;
	for (unsigned i = 0; i < TABLE_MAX_COLUMNS; i++) {
		free(builder->columns[i].cells);
		strings_free(&builder->texts[i]);
	}
	scratch_close(builder->scratch);
	free(builder);
}

static void fill_to(struct builder_column *column, uint32_t rows)
{
	while (column->filled < rows)
		column->cells[column->filled++] = CELL_NULL;
}

void builder_fill(struct builder *builder, unsigned column)
{
	struct builder_column *c = &builder->columns[column];

	if (!c->cells)
		c->cells = malloc(BUILDER_MAX_ROWS * sizeof(*c->cells));
	if (!c->cells)
		builder->failed = true;
	else
		fill_to(c, builder->rows);
}

void builder_set_text(struct builder *builder, unsigned column, const void *bytes, size_t size)
{
	struct strings *texts = &builder->texts[column];
	size_t before = texts->bytes.size;
	uint32_t number;

	if (size > BUILDER_MAX_CELL_TEXT)
		size = BUILDER_MAX_CELL_TEXT;
	if (strings_add(texts, bytes, size, &number)) {
		builder->failed = true;
		return;
	}
	builder->text_bytes += (uint32_t)(texts->bytes.size - before);
	builder_set(builder, column, number);
}

void builder_empty(struct builder *builder)
{
	for (unsigned i = 0; i < builder->table->column_count; i++) {
		builder->columns[i].filled = 0;
		if (builder->texts[i].count)
			strings_clear(&builder->texts[i]);
	}
	builder->rows = 0;
	builder->text_bytes = 0;
	builder->failed = false;
}

static int order_rows(struct builder *builder)
{
	struct builder_column *column = &builder->columns[builder->table->group];
	const uint32_t *order;
	int err;

	if (!column->filled)
		return 0;
	err = group_rows(builder->scratch->group, column->cells, builder->rows, &order);
	if (err || !order)
		return err;
	for (unsigned i = 0; i < builder->table->column_count; i++) {
		int64_t *spare = builder->scratch->spare;

		column = &builder->columns[i];
		if (!column->filled ||
		    planes_constant(column->cells, builder->rows, sizeof(*column->cells)))
			continue;
		for (uint32_t row = 0; row < builder->rows; row++)
			spare[row] = column->cells[order[row]];
		builder->scratch->spare = column->cells;
		column->cells = spare;
	}
	return 0;
}

/* Numbers of names in the schema become numbers of names in this chunk; a number without a name, null. */
static int localize_names(struct builder *builder, unsigned column)
{
	const struct names *names = builder->table->columns[column].names;
	uint32_t *places = builder->scratch->name_places;
	struct strings *used = &builder->scratch->names;
	int64_t *cells = builder->columns[column].cells;

	strings_clear(used);
	memset(places, 0, names->count * sizeof(*places));
	for (uint32_t row = 0; row < builder->rows; row++) {
		uint64_t number = (uint64_t)cells[row];

		if (number >= names->count || !names->names[number]) {
			cells[row] = CELL_NULL;
			continue;
		}
		if (!places[number]) {
			const char *name = names->names[number];

			if (strings_add(used, name, strlen(name), &places[number]))
				return -ENOMEM;
			places[number]++;
		}
		cells[row] = places[number] - 1;
	}
	return 0;
}

static void find_references(const struct builder *builder, const struct schema_column *schema,
			    struct encoder_input *input)
{
	static const enum column_role roles[][CODEC_MAX_REFERENCES] = {
		[ENCODING_AFTER] = { ROLE_LENGTH },
		[ENCODING_FOLLOW] = { ROLE_RESULT, ROLE_FILE },
		[ENCODING_MINUS] = { ROLE_REQUEST },
		[ENCODING_BEFORE] = { ROLE_TIME, ROLE_WAIT },
	};

	for (unsigned i = 0; i < codec_references(input->encoding); i++) {
		enum column_role role = roles[input->encoding][i];
		int column;

		if (schema->role == ROLE_PID) /* a process is called as its first thread is */
			role = ROLE_TID;
		column = schema_column_by_role(builder->table, role);
		if (column < 0)
			continue;
		input->reference_numbers[i] = (uint8_t)builder->table->columns[column].number;
		if (builder->columns[column].filled)
			input->reference_cells[i] = builder->columns[column].cells;
	}
}

/* Adds a column to the directory and its stream to the streams. 1, 0 for a column of nulls, -errno. */
static int encode_column(struct builder *builder, unsigned column)
{
	const struct schema_column *schema = &builder->table->columns[column];
	struct builder_scratch *scratch = builder->scratch;
	struct encoder_input input = { .cells = builder->columns[column].cells,
				       .rows = builder->rows,
				       .encoding = schema->encoding };
	size_t before = scratch->streams.size;
	uint8_t entry[3] = { (uint8_t)schema->number,
			     (uint8_t)(schema->type | schema->encoding << 4) };
	int err;

	if (schema->type == TYPE_NAME) {
		err = localize_names(builder, column);
		if (err)
			return err;
		input.texts = &scratch->names;
	} else if (schema->type == TYPE_TEXT) {
		input.texts = &builder->texts[column];
	}
	find_references(builder, schema, &input);
	err = encoder_put(scratch->encoder, &input, &scratch->streams, &entry[2]);
	if (err <= 0)
		return err;
	err = buf_append(&scratch->directory, entry, sizeof(entry));
	if (!err)
		err = format_put_varint(&scratch->directory, scratch->streams.size - before);
	return err ? err : 1;
}

/* Least ts and greatest ts + dur; a null ts counts as 0 and a null dur too. */
static void find_times(const struct builder *builder, struct chunk_header *header)
{
	int dur = schema_column_by_role(builder->table, ROLE_LENGTH);
	const int64_t *ts = builder->columns[0].filled ? builder->columns[0].cells : NULL;
	const int64_t *durs =
		dur >= 0 && builder->columns[dur].filled ? builder->columns[dur].cells : NULL;

	if (!ts || !schema_is_timed(builder->table))
		return;
	header->first_ts = UINT64_MAX;
	for (uint32_t row = 0; row < builder->rows; row++) {
		uint64_t start = ts[row] == CELL_NULL ? 0 : (uint64_t)ts[row];
		uint64_t lasted = durs && durs[row] > 0 ? (uint64_t)durs[row] : 0;
		uint64_t end = start > UINT64_MAX - lasted ? UINT64_MAX : start + lasted;

		header->first_ts = start < header->first_ts ? start : header->first_ts;
		header->last_end = end > header->last_end ? end : header->last_end;
	}
}

static int encode_chunk(struct builder *builder, struct buf *out)
{
	struct builder_scratch *scratch = builder->scratch;
	struct chunk_header header = { .table = builder->table->number, .rows = builder->rows };
	size_t payload;
	uint8_t *at;
	int err = builder->table->group >= 0 ? order_rows(builder) : 0;

	if (err)
		return err;
	find_times(builder, &header);
	scratch->streams.size = scratch->directory.size = 0;
	for (unsigned i = 0; i < builder->table->column_count; i++) {
		err = builder->columns[i].filled ? encode_column(builder, i) : 0;
		if (err < 0)
			return err;
		header.columns += (uint16_t)err;
	}
	payload = scratch->directory.size + scratch->streams.size;
	at = buf_reserve(out, FORMAT_CHUNK_HEADER_SIZE + payload);
	if (!at)
		return -ENOMEM;
	if (scratch->directory.size)
		memcpy(at + FORMAT_CHUNK_HEADER_SIZE, scratch->directory.data,
		       scratch->directory.size);
	if (scratch->streams.size)
		memcpy(at + FORMAT_CHUNK_HEADER_SIZE + scratch->directory.size,
		       scratch->streams.data, scratch->streams.size);
	header.payload = (uint32_t)payload;
	header.checksum = format_checksum(at + FORMAT_CHUNK_HEADER_SIZE, payload);
	format_put_chunk(at, &header);
	out->size += FORMAT_CHUNK_HEADER_SIZE + payload;
	return 0;
}

int builder_encode(struct builder *builder, struct buf *out, struct error *e)
{
	int err = builder->failed ? -ENOMEM : 0;

	if (!err && builder->rows) {
		for (unsigned i = 0; i < builder->table->column_count; i++)
			if (builder->columns[i].filled)
				fill_to(&builder->columns[i], builder->rows);
		err = encode_chunk(builder, out);
	}
	builder_empty(builder);
	if (err)
		return error_set(e, err, "no memory to encode rows of table '%s'",
				 builder->table->name);
	return 0;
}
