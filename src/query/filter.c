#include "query/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "query/text.h"

int filter_add(struct filter *filter, struct condition *conditions, size_t count)
{
	struct alternative *grown =
		realloc(filter->alternatives, (filter->count + 1) * sizeof(*grown));

	if (!grown) {
		conditions_free(conditions, count);
		return -ENOMEM;
	}
	filter->alternatives = grown;
	grown[filter->count++] = (struct alternative){ conditions, count };
	return 0;
}

void filter_free(struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		conditions_free(filter->alternatives[i].conditions, filter->alternatives[i].count);
	free(filter->alternatives);
	filter->alternatives = NULL;
	filter->count = 0;
}

static bool has_text(const struct condition *condition, const char *bytes, size_t size)
{
	const struct condition_text *texts = (const struct condition_text *)condition->texts.data;

	for (size_t i = 0; i < condition->texts.size / sizeof(*texts); i++)
		if (texts[i].size == size &&
		    !memcmp(condition->text_bytes.data + texts[i].start, bytes, size))
			return true;
	return false;
}

static bool has_string(const struct condition *condition, const duckdb_string_t *text)
{
	return has_text(condition, text_bytes(text), text->inlined.length);
}

/* A text of a chunk is compared as it is shown. -ENOMEM. */
static int has_stored_text(const struct condition *condition, const char *bytes, size_t size)
{
	struct buf shown = { 0 };
	int found;

	if (escape_is_plain(ESCAPE_SHOWN, bytes, size))
		return has_text(condition, bytes, size);
	if (escape_append(&shown, ESCAPE_SHOWN, bytes, size))
		return -ENOMEM;
	found = has_text(condition, (const char *)shown.data, shown.size);
	buf_free(&shown);
	return found;
}

static bool has_number(const struct condition *condition, int64_t number)
{
	const int64_t *numbers = (const int64_t *)condition->numbers.data;

	if (number == CELL_NULL)
		return false;
	if (condition->is_range)
		return number >= condition->low_number && number <= condition->high_number;
	for (size_t i = 0; i < condition->numbers.size / sizeof(*numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static double seconds(const struct run *run, uint64_t ts)
{
	return (double)(int64_t)(ts - run->start) / 1e9;
}

/* Rows of a chunk have a ts from first_ts to last_end. */
static bool time_may_hold(const struct condition *condition, enum column_source source,
			  const struct part *part)
{
	const struct chunk *chunk = &part->chunk;

	if (!condition->is_range || chunk->last_end > INT64_MAX)
		return true;
	if (source == SOURCE_T)
		return seconds(part->run, chunk->first_ts) <= condition->high &&
		       seconds(part->run, chunk->last_end) >= condition->low;
	if (source == SOURCE_UTC)
		return part->run->has_utc &&
		       (int64_t)chunk->first_ts + part->run->least_offset <=
			       condition->high_number &&
		       (int64_t)chunk->last_end + part->run->greatest_offset >=
			       condition->low_number;
	return (int64_t)chunk->first_ts <= condition->high_number &&
	       (int64_t)chunk->last_end >= condition->low_number;
}

static bool part_may_hold(const struct filter *filter, const struct condition *condition,
			  const struct part *part)
{
	const struct query_column *column = &filter->columns[condition->column];

	switch (column->source) {
	case SOURCE_RUN: return has_string(condition, &part->run->name);
	case SOURCE_NODE: return has_string(condition, &part->run->node);
	case SOURCE_T:
	case SOURCE_UTC: return time_may_hold(condition, column->source, part);
	case SOURCE_NUMBER:
		return column->role != ROLE_TIME || time_may_hold(condition, column->source, part);
	default: return true;
	}
}

bool filter_wants_part(const struct filter *filter, const struct part *part)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct alternative *alternative = &filter->alternatives[i];
		size_t c = 0;

		while (c < alternative->count &&
		       part_may_hold(filter, &alternative->conditions[c], part))
			c++;
		if (c == alternative->count)
			return true;
	}
	return !filter->count;
}

/* Clears the marks of blocks without a row for which the condition may hold. */
static void mark_numbers(const struct condition *condition, const int64_t *cells, uint32_t rows,
			 uint8_t *blocks)
{
	for (uint32_t at = 0; at < rows; at += FILTER_BLOCK) {
		uint32_t end = rows - at < FILTER_BLOCK ? rows : at + FILTER_BLOCK, i = at;

		if (!blocks[at / FILTER_BLOCK])
			continue;
		while (i < end &&
		       (i > at && cells[i] == cells[i - 1] ? true
							   : !has_number(condition, cells[i])))
			i++;
		blocks[at / FILTER_BLOCK] = i < end;
	}
}

/* The same for texts and paths, where `wanted` tells for each number in the cells. */
static void mark_wanted(const uint8_t *wanted, size_t count, const int64_t *cells, uint32_t rows,
			uint8_t *blocks)
{
	for (uint32_t at = 0; at < rows; at += FILTER_BLOCK) {
		uint32_t end = rows - at < FILTER_BLOCK ? rows : at + FILTER_BLOCK, i = at;

		while (i < end && !((uint64_t)cells[i] < count && wanted[cells[i]]))
			i++;
		blocks[at / FILTER_BLOCK] &= i < end;
	}
}

static int mark_texts(const struct condition *condition, const struct column *column,
		      uint8_t *blocks)
{
	uint8_t *wanted = calloc(column->text_count + 1, 1);
	int err = wanted ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < column->text_count && !err; i++) {
		size_t size;
		const char *bytes = column_text(column, i, &size);
		int found = has_stored_text(condition, bytes, size);

		if (found < 0)
			err = found;
		else
			wanted[i] = (uint8_t)found;
	}
	if (!err)
		mark_wanted(wanted, column->text_count, column->cells, column->rows, blocks);
	free(wanted);
	return err;
}

/* Cells are file ids: the file of each is looked at where it differs from the one before. */
static void mark_files(const struct condition *condition, const struct run *run, bool by_path,
		       const struct column *column, uint8_t *blocks)
{
	bool wanted = false;

	for (uint32_t i = 0; i < column->rows; i++) {
		int64_t file = column->cells[i];

		if (i % FILTER_BLOCK == 0) {
			wanted = false;
			if (!blocks[i / FILTER_BLOCK]) {
				i += FILTER_BLOCK - 1;
				continue;
			}
		}
		if (!wanted && file != CELL_NULL &&
		    (i % FILTER_BLOCK == 0 || file != column->cells[i - 1])) {
			const duckdb_string_t *path = by_path ? run_path(run, file) : NULL;

			if (by_path)
				wanted = path && has_string(condition, path);
			else
				wanted = has_number(condition, dims_file(run->dims, file));
		}
		if (i % FILTER_BLOCK == FILTER_BLOCK - 1 || i + 1 == column->rows)
			blocks[i / FILTER_BLOCK] = wanted;
	}
}

static int mark_condition(const struct filter *filter, const struct condition *condition,
			  struct loaded *loaded, uint8_t *blocks, struct error *e)
{
	const struct query_column *column = &filter->columns[condition->column];
	const struct column *cells = &loaded->columns[column->column];
	const struct run *run = loaded->part->run;
	int err;

	if (column->source != SOURCE_NUMBER && column->source != SOURCE_TEXT &&
	    column->source != SOURCE_FILE && column->source != SOURCE_PATH)
		return 0;
	/* Numbers without a sign, and reals, are not in the order of their cells. */
	if (column->source == SOURCE_NUMBER && column->type != DUCKDB_TYPE_BIGINT)
		return 0;
	err = load_columns(loaded, query_column_needs(column), e);
	if (err)
		return err;
	if (column->source == SOURCE_NUMBER)
		mark_numbers(condition, cells->cells, cells->rows, blocks);
	else if (column->source != SOURCE_TEXT)
		mark_files(condition, run, column->source == SOURCE_PATH, cells, blocks);
	else if (mark_texts(condition, cells, blocks))
		return error_set(e, -ENOMEM, "out of memory");
	return 0;
}

static bool any_marked(const uint8_t *blocks, size_t count)
{
	return memchr(blocks, 1, count) != NULL;
}

/* Marks what one alternative asks for. */
static int mark_alternative(const struct filter *filter, const struct alternative *alternative,
			    struct loaded *loaded, uint8_t *blocks, size_t count, struct error *e)
{
	int err = 0;

	memset(blocks, 1, count);
	for (size_t c = 0; c < alternative->count && !err; c++) {
		const struct condition *condition = &alternative->conditions[c];

		if (!part_may_hold(filter, condition, loaded->part))
			memset(blocks, 0, count);
		if (any_marked(blocks, count))
			err = mark_condition(filter, condition, loaded, blocks, e);
	}
	return err;
}

int filter_mark_blocks(const struct filter *filter, struct loaded *loaded, uint8_t *blocks,
		       struct error *e)
{
	size_t count = (loaded->part->chunk.rows + FILTER_BLOCK - 1) / FILTER_BLOCK;
	uint8_t *marks = malloc(count + 1);
	int err = marks ? 0 : error_set(e, -ENOMEM, "out of memory");

	memset(blocks, 0, count);
	for (size_t i = 0; i < filter->count && !err; i++) {
		err = mark_alternative(filter, &filter->alternatives[i], loaded, marks, count, e);
		for (size_t block = 0; block < count && !err; block++)
			blocks[block] |= marks[block];
	}
	free(marks);
	return err ? err : any_marked(blocks, count);
}
