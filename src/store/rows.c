/* See rows.h. A struct rows owns its open chunks; one thread uses it.
 *
 *     waiting chunks, by first_ts:   [c7][c9]...        not decoded yet
 *     heap of open chunks, by the ts of their next row: the top gives the next row
 *
 * A waiting chunk is opened once its first_ts is not later than the top's: until then none of its rows
 * can be next. Rows of equal ts come in file order.
 */
#include "store/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/codec.h"
#include "store/format.h"

struct pair {
	uint64_t key; /* ts */
	uint32_t row;
};

struct open_chunk {
	struct column columns[TABLE_MAX_COLUMNS]; /* decoded where wanted */
	const int64_t *cells[TABLE_MAX_COLUMNS];  /* theirs; NULL: not wanted */
	struct buf numbers[TABLE_MAX_COLUMNS];	  /* int16_t: of names, by text of the column */
	struct pair *order;			  /* the rows still to come, by ts */
	size_t order_capacity;
	uint32_t at, count;
	size_t place;  /* of the chunk in the file: settles ties */
	uint64_t held; /* bytes of memory that it takes, as far as they grow with the file */
};

struct rows {
	struct rows_place place; /* first: rows_cell() */
	struct reader *reader;
	const struct schema_table *table;
	uint64_t wanted, from, to;
	bool timed;
	struct chunk *chunks;
	size_t *waiting; /* places in chunks, by first_ts */
	size_t chunk_count, opened;
	struct open_chunk *
		*heap; /* the first heap_count are open, the rest kept for their memory */
	size_t heap_count, heap_made;
	struct pair *sorted; /* the other half of a radix sort */
	size_t sorted_capacity;
	struct decoder *
		decoder; /* lent to the columns of all open chunks: each is decoded whole before the next */
	uint64_t held; /* by all open chunks */
	bool started;
};

/* qsort's only way to its data is the elements: the key goes with the place. */
struct waiting_key {
	uint64_t first_ts;
	size_t place;
};

static int compare_waiting(const void *a, const void *b)
{
	const struct waiting_key *left = a, *right = b;

	if (left->first_ts != right->first_ts)
		return left->first_ts < right->first_ts ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

static int order_chunks(struct rows *rows)
{
	struct waiting_key *keys = malloc((rows->chunk_count + 1) * sizeof(*keys));

	rows->waiting = malloc((rows->chunk_count + 1) * sizeof(*rows->waiting));
	rows->heap = calloc(rows->chunk_count + 1, sizeof(*rows->heap));
	if (!keys || !rows->waiting || !rows->heap) {
		free(keys);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rows->chunk_count; i++)
		keys[i] = (struct waiting_key){ rows->timed ? rows->chunks[i].first_ts : 0, i };
	qsort(keys, rows->chunk_count, sizeof(*keys), compare_waiting);
	for (size_t i = 0; i < rows->chunk_count; i++)
		rows->waiting[i] = keys[i].place;
	free(keys);
	return 0;
}

int rows_open(struct rows **rows, struct reader *reader, unsigned table, uint64_t wanted,
	      uint64_t from, uint64_t to, struct error *e)
{
	struct rows *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error_set(e, -ENOMEM, "no memory to read rows");
	r->reader = reader;
	r->table = &schema_tables[table];
	r->timed = schema_is_timed(r->table);
	r->wanted = wanted;
	r->from = r->timed ? from : 0;
	r->to = r->timed ? to : UINT64_MAX;
	err = reader_select(reader, table, r->from, r->to, &r->chunks, &r->chunk_count, e);
	if (!err && (order_chunks(r) || decoder_open(&r->decoder)))
		err = error_set(e, -ENOMEM, "no memory to read rows");
	if (err) {
		rows_close(r);
		return err;
	}
	*rows = r;
	return 0;
}

void rows_close(struct rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->heap_made; i++) {
		for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++) {
			column_free(&rows->heap[i]->columns[c]);
			buf_free(&rows->heap[i]->numbers[c]);
		}
		free(rows->heap[i]->order);
		free(rows->heap[i]);
	}
	free(rows->heap);
	free(rows->waiting);
	free(rows->chunks);
	free(rows->sorted);
	decoder_close(rows->decoder);
	free(rows);
}

static int reserve_pairs(struct pair **pairs, size_t *capacity, size_t count)
{
	if (*capacity >= count)
		return 0;
	free(*pairs);
	*pairs = malloc(count * sizeof(**pairs));
	*capacity = *pairs ? count : 0;
	return *pairs ? 0 : -ENOMEM;
}

/* One pass of a stable radix sort over eleven bits; false when they are the same in all. */
static bool sort_digit(const struct pair *from, struct pair *to, uint32_t count, unsigned shift)
{
	uint32_t starts[2048] = { 0 }, start = 0;

	for (uint32_t i = 0; i < count; i++)
		starts[from[i].key >> shift & 2047]++;
	if (starts[from[0].key >> shift & 2047] == count)
		return false;
	for (unsigned digit = 0; digit < 2048; digit++) {
		uint32_t size = starts[digit];

		starts[digit] = start;
		start += size;
	}
	for (uint32_t i = 0; i < count; i++)
		to[starts[from[i].key >> shift & 2047]++] = from[i];
	return true;
}

static int sort_pairs(struct rows *rows, struct open_chunk *open)
{
	bool sorted = true;

	for (uint32_t i = 1; i < open->count && sorted; i++)
		sorted = open->order[i - 1].key <= open->order[i].key;
	if (sorted)
		return 0;
	if (reserve_pairs(&rows->sorted, &rows->sorted_capacity, open->order_capacity))
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64; shift += 11) {
		if (sort_digit(open->order, rows->sorted, open->count, shift)) {
			struct pair *done = rows->sorted;
			size_t capacity = rows->sorted_capacity;

			rows->sorted = open->order;
			rows->sorted_capacity = open->order_capacity;
			open->order = done;
			open->order_capacity = capacity;
		}
	}
	return 0;
}

/* The rows of the chunk that are asked for, in order. */
static int order_rows(struct rows *rows, struct open_chunk *open, uint32_t count)
{
	const int64_t *ts = open->columns[0].cells;

	if (reserve_pairs(&open->order, &open->order_capacity, count))
		return -ENOMEM;
	open->at = open->count = 0;
	for (uint32_t row = 0; row < count; row++) {
		uint64_t key = 0;

		if (rows->timed && ts[row] != CELL_NULL)
			key = (uint64_t)ts[row];
		if (key >= rows->from && key <= rows->to)
			open->order[open->count++] = (struct pair){ key, row };
	}
	return sort_pairs(rows, open);
}

static int open_column(struct rows *rows, struct open_chunk *open, unsigned c, struct error *e)
{
	const struct names *names = rows->table->columns[c].names;
	int err;

	open->columns[c].decoder = rows->decoder;
	open->columns[c].decoder_lent = true;
	err = reader_decode(rows->reader, &rows->chunks[open->place], c, &open->columns[c], e);
	open->held += open->columns[c].rows * sizeof(int64_t) +
		      open->columns[c].text_count * sizeof(uint32_t) +
		      open->columns[c].text_memory.capacity;
	if (!err && names && column_number_names(&open->columns[c], names, &open->numbers[c]))
		err = error_set(e, -ENOMEM, "no memory for the names of a column");
	if (rows->wanted >> c & 1)
		open->cells[c] = open->columns[c].cells;
	return err;
}

/* Chunks of a recording overlap in time as far as its threads wrote at once; that all do is made up, or damage. */
static int hold_chunk(struct rows *rows, struct open_chunk *open, struct error *e)
{
	uint64_t most = FORMAT_LEAST_HELD + reader_file_size(rows->reader) * FORMAT_HELD_A_BYTE;

	rows->held += open->held;
	if (rows->held > most)
		return error_set(e, -EBADMSG,
				 "%zu chunks of table '%s' at the same time, more than a file of "
				 "this size can hold (file damaged)",
				 rows->heap_count + 1, rows->table->name);
	return 0;
}

static int open_next(struct rows *rows, struct open_chunk *open, struct error *e)
{
	int err;

	open->place = rows->waiting[rows->opened++];
	open->held = sizeof(*open) + rows->chunks[open->place].rows * sizeof(*open->order);
	for (unsigned c = 0; c < rows->table->column_count; c++) {
		bool ordering = rows->timed && c == 0;

		if (!ordering && !(rows->wanted >> c & 1))
			continue;
		err = open_column(rows, open, c, e);
		if (err)
			return err;
	}
	if (order_rows(rows, open, rows->chunks[open->place].rows))
		return error_set(e, -ENOMEM, "no memory to order rows");
	return open->count ? hold_chunk(rows, open, e) : 0;
}

static bool comes_first(const struct open_chunk *a, const struct open_chunk *b)
{
	uint64_t left = a->order[a->at].key, right = b->order[b->at].key;

	return left != right ? left < right : a->place < b->place;
}

static void heap_swap(struct rows *rows, size_t a, size_t b)
{
	struct open_chunk *kept = rows->heap[a];

	rows->heap[a] = rows->heap[b];
	rows->heap[b] = kept;
}

static void heap_sink(struct rows *rows)
{
	size_t at = 0;

	for (;;) {
		size_t least = at, child = 2 * at + 1;

		if (child < rows->heap_count && comes_first(rows->heap[child], rows->heap[least]))
			least = child;
		child++;
		if (child < rows->heap_count && comes_first(rows->heap[child], rows->heap[least]))
			least = child;
		if (least == at)
			return;
		heap_swap(rows, at, least);
		at = least;
	}
}

/* Opens the next waiting chunk onto the heap; one without a row asked for leaves it as it was. */
static int heap_add(struct rows *rows, struct error *e)
{
	size_t at = rows->heap_count;
	int err;

	if (at == rows->heap_made) {
		rows->heap[at] = calloc(1, sizeof(**rows->heap));
		if (!rows->heap[at])
			return error_set(e, -ENOMEM, "no memory to read rows");
		rows->heap_made++;
	}
	err = open_next(rows, rows->heap[at], e);
	if (err || !rows->heap[at]->count)
		return err;
	rows->heap_count++;
	for (; at && comes_first(rows->heap[at], rows->heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_swap(rows, at, (at - 1) / 2);
	return 0;
}

/* Whether the next waiting chunk may hold the next row. Without time one chunk follows the other. */
static bool must_open(const struct rows *rows)
{
	const struct open_chunk *top = rows->heap[0];

	if (rows->opened == rows->chunk_count)
		return false;
	if (!rows->heap_count)
		return true;
	return rows->timed &&
	       rows->chunks[rows->waiting[rows->opened]].first_ts <= top->order[top->at].key;
}

/* Texts may lie in the mapped file: it is let go of once the chunk's last row is left. */
static void leave_row(struct rows *rows)
{
	struct open_chunk *top = rows->heap[0];

	if (++top->at == top->count) {
		reader_release(rows->reader, &rows->chunks[top->place]);
		rows->held -= top->held;
		heap_swap(rows, 0, --rows->heap_count);
	}
	heap_sink(rows);
}

int rows_next(struct rows *rows, struct error *e)
{
	int err;

	if (rows->started && rows->heap_count)
		leave_row(rows);
	rows->started = true;
	while (must_open(rows)) {
		err = heap_add(rows, e);
		if (err) {
			rows->heap_count = 0;
			rows->opened = rows->chunk_count;
			return err;
		}
	}
	if (!rows->heap_count)
		return 0;
	rows->place = (struct rows_place){ rows->heap[0]->cells,
					   rows->heap[0]->order[rows->heap[0]->at].row };
	return 1;
}

const char *rows_text(const struct rows *rows, unsigned column, size_t *size)
{
	return column_text(&rows->heap[0]->columns[column], rows_cell(rows, column), size);
}

int rows_name(const struct rows *rows, unsigned column)
{
	return column_name(&rows->heap[0]->numbers[column], rows_cell(rows, column));
}
