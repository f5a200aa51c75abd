/* See chunk.h. All memory belongs to the struct column of the caller; column_free() releases it. */
#include "store/chunk.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"
#include "store/codec.h"
#include "store/format.h"

/* pos is stored against returned, which is stored against requested: no chain is longer. */
#define CHUNK_MAX_DEPTH 2

struct entry {
	uint8_t number, type, encoding, mode;
	struct cursor stream;
};

struct chunk_view {
	uint32_t rows;
	unsigned count;
	struct entry entries[FORMAT_MAX_COLUMNS];
};

static int read_directory(const uint8_t *bytes, size_t size, struct chunk_view *view,
			  struct error *e)
{
	uint64_t sizes[FORMAT_MAX_COLUMNS];
	struct chunk_header header;
	const char *wrong = format_get_chunk(bytes, size, &header);
	struct cursor cursor = cursor_over(bytes, size);

	if (wrong)
		return error_set(e, -EBADMSG, "%s", wrong);
	cursor_take(&cursor, FORMAT_CHUNK_HEADER_SIZE);
	view->rows = header.rows;
	view->count = header.columns;
	for (unsigned i = 0; i < view->count; i++) {
		struct entry *entry = &view->entries[i];
		uint8_t kind;

		entry->number = cursor_u8(&cursor);
		kind = cursor_u8(&cursor);
		entry->type = kind & 0x0f;
		entry->encoding = kind >> 4;
		entry->mode = cursor_u8(&cursor);
		sizes[i] = cursor_varint(&cursor);
	}
	for (unsigned i = 0; i < view->count; i++) {
		const uint8_t *stream = cursor_take(&cursor, sizes[i]);

		if (!stream)
			return error_set(e, -EBADMSG, "its columns do not fit into it");
		view->entries[i].stream = cursor_over(stream, sizes[i]);
	}
	return 0;
}

static const struct entry *find_entry(const struct chunk_view *view, uint16_t number)
{
	for (unsigned i = 0; i < view->count; i++)
		if (view->entries[i].number == number)
			return &view->entries[i];
	return NULL;
}

/* Decodes the columns that `input` is stored against into the decoder's rooms: two at depth 0, and one
 * more at each of the next depths. */
static int decode_references(const struct chunk_view *view, struct decoder *decoder,
			     struct decoder_input *input, unsigned depth, struct error *e)
{
	for (unsigned i = 0; i < codec_references(input->encoding); i++) {
		const struct entry *entry = find_entry(view, cursor_u8(&input->stream));
		struct decoder_input reference;
		int64_t *cells;
		int err;

		if (!entry)
			continue;
		if (depth == CHUNK_MAX_DEPTH || (depth && i) || codec_has_texts(entry->type))
			return error_set(e, -EBADMSG, "stored against a column that cannot be");
		cells = decoder_room(decoder, depth ? depth + 1 : i, view->rows);
		if (!cells)
			return error_set(e, -ENOMEM, "no memory for a column");
		reference = (struct decoder_input){ .stream = entry->stream,
						    .rows = view->rows,
						    .encoding = entry->encoding,
						    .mode = entry->mode };
		err = decode_references(view, decoder, &reference, depth + 1, e);
		if (!err)
			err = decoder_get(decoder, &reference, cells, NULL, NULL, e);
		if (err)
			return err;
		input->reference_cells[i] = cells;
	}
	return 0;
}

static int decode_entry(const struct chunk_view *view, const struct entry *entry,
			struct column *out, struct error *e)
{
	struct decoder_input input = { .stream = entry->stream,
				       .rows = view->rows,
				       .encoding = entry->encoding,
				       .mode = entry->mode };
	struct decoder_texts texts = { 0 };
	bool has_texts = codec_has_texts(entry->type);
	int err = decode_references(view, out->decoder, &input, 0, e);

	if (!err)
		err = decoder_get(out->decoder, &input, out->cells, &out->text_memory,
				  has_texts ? &texts : NULL, e);
	if (err)
		return err;
	out->text_count = texts.count;
	out->text_ends = texts.ends;
	out->text_bytes = texts.bytes;
	return 0;
}

/* Numbers are alike; texts, and reals, are kinds of their own. */
static unsigned kind_of(uint8_t type)
{
	return codec_has_texts(type) ? 2 : type == TYPE_REAL;
}

int chunk_decode(const uint8_t *bytes, size_t size, const struct schema_table *table,
		 unsigned column, struct column *out, struct error *e)
{
	const struct schema_column *schema = &table->columns[column];
	const struct entry *entry;
	struct chunk_view view;
	int err;

	view.rows = view.count = 0; /* not the entries, of which few are filled */
	err = read_directory(bytes, size, &view, e);
	out->rows = out->text_count = 0;
	if (err)
		return err;
	out->cells = buf_reserve(&out->cell_memory, view.rows * sizeof(*out->cells));
	if (!out->cells || (!out->decoder && decoder_open(&out->decoder)))
		return error_set(e, -ENOMEM, "no memory for a column");
	entry = find_entry(&view, schema->number);
	if (entry && kind_of(entry->type) != kind_of(schema->type))
		return error_set(e, -EBADMSG, "stored with another type");
	if (entry) {
		err = decode_entry(&view, entry, out, e);
		if (err)
			return err;
	} else {
		for (uint32_t row = 0; row < view.rows; row++)
			out->cells[row] = CELL_NULL;
	}
	out->rows = view.rows;
	return 0;
}

const char *column_text(const struct column *column, int64_t cell, size_t *size)
{
	uint32_t start;

	*size = 0;
	if ((uint64_t)cell >= column->text_count)
		return NULL;
	start = cell ? column->text_ends[cell - 1] : 0;
	*size = column->text_ends[cell] - start;
	return column->text_bytes + start;
}

int column_number_names(const struct column *column, const struct names *names, struct buf *numbers)
{
	numbers->size = 0;
	for (uint32_t i = 0; i < column->text_count; i++) {
		size_t size;
		const char *text = column_text(column, i, &size);
		int16_t number = (int16_t)schema_find_name(names, text, size);

		if (buf_append(numbers, &number, sizeof(number)))
			return -ENOMEM;
	}
	return 0;
}

void column_free(struct column *column)
{
	buf_free(&column->cell_memory);
	buf_free(&column->text_memory);
	if (!column->decoder_lent)
		decoder_close(column->decoder);
	*column = (struct column){ 0 };
}
