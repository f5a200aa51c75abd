#include "render/result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/real.h"
#include "render/safe.h"

static char *format_integer(char *end, unsigned __int128 value, bool grouped)
{
	unsigned digits = 0;

	*--end = '\0';
	do {
		if (grouped && digits && digits % 3 == 0)
			*--end = ',';
		*--end = (char)('0' + (int)(value % 10));
		value /= 10;
		digits++;
	} while (value);
	return end;
}

static const char *format_int(char *buffer, size_t size, __int128 value, bool grouped,
			      size_t *length)
{
	unsigned __int128 magnitude =
		value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
	char *start = format_integer(buffer + size, magnitude, grouped);

	if (value < 0)
		*--start = '-';
	*length = (size_t)(buffer + size - 1 - start);
	return start;
}

const char *result_text(const struct cell *cell, char buffer[RESULT_NUMBER], size_t *size)
{
	switch (cell->kind) {
	case CELL_IS_BOOL: *size = cell->truth ? 4 : 5; return cell->truth ? "true" : "false";
	case CELL_IS_INT: return format_int(buffer, RESULT_NUMBER, cell->number, false, size);
	case CELL_IS_REAL: *size = real_format(buffer, RESULT_NUMBER, cell->real); return buffer;
	case CELL_IS_TEXT: *size = cell->text.size; return cell->text.bytes;
	case CELL_IS_NULL: break;
	}
	*size = 0;
	return "";
}

/* What is shown of a real number: three digits behind the point, four that count below one. */
static int humane_real(double value, struct buf *out)
{
	char digits[64];
	const char *point;
	size_t lead;

	if (!isfinite(value) || fabs(value) >= 1e15 || (value != 0 && fabs(value) < 1e-4))
		return buf_printf(out, "%.4g", value);
	if (fabs(value) < 1)
		return buf_printf(out, "%.4g", value);
	snprintf(digits, sizeof(digits), "%.3f", value);
	if (fabs(value) < 10000)
		return buf_append(out, digits, strlen(digits));
	point = strchr(digits, '.');
	lead = point ? (size_t)(point - digits) : strlen(digits);
	for (size_t i = 0; i < lead; i++) {
		int err = 0;

		if (i && digits[i - 1] != '-' && (lead - i) % 3 == 0)
			err = buf_append(out, ",", 1);
		if (!err)
			err = buf_append(out, &digits[i], 1);
		if (err)
			return err;
	}
	return point ? buf_append(out, point, strlen(point)) : 0;
}

int result_humane(const struct cell *cell, bool plain, struct buf *out)
{
	char buffer[2 * RESULT_NUMBER];
	const char *text;
	size_t size;

	switch (cell->kind) {
	case CELL_IS_NULL: return 0;
	case CELL_IS_TEXT: return safe_append(out, cell->text.bytes, cell->text.size);
	case CELL_IS_REAL: return humane_real(cell->real, out);
	case CELL_IS_INT:
		plain |= cell->number > -10000 && cell->number < 10000;
		text = format_int(buffer, sizeof(buffer), cell->number, !plain, &size);
		return buf_append(out, text, size);
	default: text = result_text(cell, buffer, &size); return buf_append(out, text, size);
	}
}

int result_print(struct result *result, const struct result_style *style, FILE *out,
		 struct result_counts *counts, struct error *e)
{
	*counts = (struct result_counts){ 0 };
	if (style->format == RESULT_TABLE || style->format == RESULT_MARKDOWN)
		return result_print_table(result, style, out, counts, e);
	return result_print_lines(result, style, out, counts, e);
}
