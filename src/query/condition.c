#include "query/condition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool fits_column(const struct query_column *column, const struct constant *constant)
{
	switch (column->source) {
	case SOURCE_RUN:
	case SOURCE_NODE:
	case SOURCE_TEXT:
	case SOURCE_PATH: return constant->is_text;
	case SOURCE_NUMBER: return !constant->is_text && column->type == DUCKDB_TYPE_BIGINT;
	case SOURCE_FILE:
	case SOURCE_T: return !constant->is_text;
	case SOURCE_UTC: return !constant->is_text && constant->exact;
	default: return false;
	}
}

/* Makes the bounds wide enough that no rounding, here or in DuckDB, leaves out a row. */
static void set_bounds(struct condition *condition)
{
	double low = condition->low - fabs(condition->low) * 1e-12 - 1e-6;
	double high = condition->high + fabs(condition->high) * 1e-12 + 1e-6;

	condition->low = low;
	condition->high = high;
	if (condition->low_number == INT64_MIN && low > -9e18)
		condition->low_number = low > 9e18 ? INT64_MAX : (int64_t)low - 1;
	if (condition->high_number == INT64_MAX && high < 9e18)
		condition->high_number = high < -9e18 ? INT64_MIN : (int64_t)high + 1;
}

static struct condition any_range(unsigned column)
{
	return (struct condition){ .column = column,
				   .is_range = true,
				   .low = -INFINITY,
				   .high = INFINITY,
				   .low_number = INT64_MIN,
				   .high_number = INT64_MAX };
}

static void set_low(struct condition *condition, const struct constant *constant)
{
	condition->low = constant->real;
	if (constant->exact)
		condition->low_number = constant->number;
}

static void set_high(struct condition *condition, const struct constant *constant)
{
	condition->high = constant->real;
	if (constant->exact)
		condition->high_number = constant->number;
}

static int add_value(struct condition *condition, const struct constant *constant)
{
	struct condition_text text = { condition->text_bytes.size, constant->text.size };

	if (!constant->is_text)
		return buf_append(&condition->numbers, &constant->number, sizeof(int64_t));
	if (buf_append(&condition->text_bytes, constant->text.data, constant->text.size))
		return -ENOMEM;
	return buf_append(&condition->texts, &text, sizeof(text));
}

static bool needs_range(const struct query_column *column, const struct constant *constant)
{
	return !constant->is_text && (column->source == SOURCE_T || column->source == SOURCE_UTC ||
				      !constant->exact || column->role == ROLE_TIME);
}

int condition_compare(struct condition *condition, const struct query_column *columns,
		      unsigned column, const char *op, const struct constant *constant)
{
	*condition = any_range(column);
	if (!fits_column(&columns[column], constant))
		return -EINVAL;
	if (!strcmp(op, "=") && !needs_range(&columns[column], constant)) {
		condition->is_range = false;
		return add_value(condition, constant);
	}
	if (constant->is_text)
		return -EINVAL;
	if (!strcmp(op, "=") || !strcmp(op, ">") || !strcmp(op, ">="))
		set_low(condition, constant);
	if (!strcmp(op, "=") || !strcmp(op, "<") || !strcmp(op, "<="))
		set_high(condition, constant);
	if (!strcmp(op, ">") && constant->exact && constant->number < INT64_MAX)
		condition->low_number++;
	if (!strcmp(op, "<") && constant->exact && constant->number > INT64_MIN)
		condition->high_number--;
	set_bounds(condition);
	return 0;
}

int condition_between(struct condition *condition, const struct query_column *columns,
		      unsigned column, const struct constant *low, const struct constant *high)
{
	*condition = any_range(column);
	if (low->is_text || high->is_text || !fits_column(&columns[column], low) ||
	    !fits_column(&columns[column], high))
		return -EINVAL;
	set_low(condition, low);
	set_high(condition, high);
	set_bounds(condition);
	return 0;
}

int condition_add(struct condition *condition, const struct query_column *columns,
		  const struct constant *constant)
{
	if (!fits_column(&columns[condition->column], constant) ||
	    needs_range(&columns[condition->column], constant))
		return -EINVAL;
	return add_value(condition, constant);
}

int condition_join(struct condition *condition, const struct condition *other)
{
	const struct condition_text *texts = (const struct condition_text *)other->texts.data;
	int err = buf_append(&condition->numbers, other->numbers.data, other->numbers.size);

	for (size_t i = 0; i < other->texts.size / sizeof(*texts) && !err; i++) {
		struct condition_text text = { condition->text_bytes.size, texts[i].size };

		err = buf_append(&condition->text_bytes, other->text_bytes.data + texts[i].start,
				 texts[i].size);
		if (!err)
			err = buf_append(&condition->texts, &text, sizeof(text));
	}
	return err;
}

void condition_free(struct condition *condition)
{
	buf_free(&condition->numbers);
	buf_free(&condition->texts);
	buf_free(&condition->text_bytes);
}

void conditions_free(struct condition *conditions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		condition_free(&conditions[i]);
	free(conditions);
}
