#include "analyze/why_ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells.h"

const char *const why_context_names[WHY_CONTEXT_COUNT] = {
#define WHY_CONTEXT_NAME(id, name) name,
	WHY_CONTEXTS(WHY_CONTEXT_NAME)
#undef WHY_CONTEXT_NAME
};

/* From here on, until the next one, it is this context. */
struct why_border {
	uint64_t ts;
	enum why_context_id context;
};

/* ---- contexts ---- */

static int add_border(struct ledger *ledger, uint64_t ts, enum why_context_id context)
{
	struct why_border border = { ts, context };
	struct why_border *last;

	if (ledger->borders.size) {
		last = (struct why_border *)(ledger->borders.data + ledger->borders.size) - 1;
		if (last->context == context)
			return 0;
		if (last->ts >= ts) {
			last->context = context;
			return 0;
		}
	}
	return buf_append(&ledger->borders, &border, sizeof(border));
}

static int add_borders(struct ledger *ledger, const struct steps *steps)
{
	uint64_t reached = 0;

	if (!steps->count)
		return add_border(ledger, 0, WHY_CONTEXT_RUN);
	if (add_border(ledger, 0, WHY_CONTEXT_START))
		return -ENOMEM;
	for (size_t i = 0; i < steps->count; i++) {
		const struct marked_step *step = &steps->list[i];

		if (reached && step->start > reached &&
		    add_border(ledger, reached, WHY_CONTEXT_TURN))
			return -ENOMEM;
		if (add_border(ledger, step->start, WHY_CONTEXT_TRAINING))
			return -ENOMEM;
		if (step->end > reached)
			reached = step->end;
	}
	return add_border(ledger, reached, WHY_CONTEXT_END);
}

int ledger_open(struct ledger *ledger, uint64_t start, uint64_t end, const struct steps *steps)
{
	*ledger = (struct ledger){ .start = start, .end = end };
	ledger->lines.limit = ledger->borders.limit = ledger->files.limit = SIZE_MAX;
	ledger->pieces.limit = SIZE_MAX;
	return add_borders(ledger, steps);
}

int ledger_cut(struct ledger *ledger, const struct why_span *spans, size_t count,
	       enum why_context_id context)
{
	struct buf old = ledger->borders;
	const struct why_border *borders = (const struct why_border *)old.data;
	size_t border_count = old.size / sizeof(*borders), at = 0;
	uint64_t loop_end = borders[border_count - 1].ts;
	int err = 0;

	ledger->borders = (struct buf){ .limit = SIZE_MAX };
	for (size_t i = 0; i < count && spans[i].start < loop_end && !err; i++) {
		uint64_t end = spans[i].end < loop_end ? spans[i].end : loop_end;

		for (; at < border_count && borders[at].ts <= spans[i].start && !err; at++)
			err = add_border(ledger, borders[at].ts, borders[at].context);
		if (!err)
			err = add_border(ledger, spans[i].start, context);
		while (at < border_count && borders[at].ts <= end)
			at++;
		if (!err)
			err = add_border(ledger, end, borders[at - 1].context);
	}
	for (; at < border_count && !err; at++)
		err = add_border(ledger, borders[at].ts, borders[at].context);
	buf_free(&old);
	return err;
}

/* The last border not after ts. */
static size_t border_at(const struct ledger *ledger, uint64_t ts)
{
	const struct why_border *borders = (const struct why_border *)ledger->borders.data;
	size_t low = 0, high = ledger->borders.size / sizeof(*borders);

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (borders[middle].ts <= ts)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int add_by_context(struct ledger *ledger, struct why_line *line, int64_t file,
			  uint64_t start, uint64_t end)
{
	const struct why_border *borders = (const struct why_border *)ledger->borders.data;
	size_t count = ledger->borders.size / sizeof(*borders);

	for (size_t i = border_at(ledger, start); start < end; i++) {
		enum why_context_id context = borders[i].context;
		uint64_t to = i + 1 < count && borders[i + 1].ts < end ? borders[i + 1].ts : end;
		struct why_piece piece = { start, to, file, line->name, line->act, context };

		if (ledger->keeps_pieces && buf_append(&ledger->pieces, &piece, sizeof(piece)))
			return -ENOMEM;
		line->by_context[context] += to - start;
		ledger->by_context[context] += to - start;
		ledger->context_causes[context][why_acts[line->act].cause] += to - start;
		start = to;
	}
	return 0;
}

/* ---- lines ---- */

static int add_file(struct ledger *ledger, uint32_t line, int64_t file, uint64_t ns)
{
	uint32_t number;
	int new = numbering_add(&ledger->by_file, (uint64_t)line << 40 ^ (uint64_t)file, &number);
	struct why_file *entry;

	if (new < 0)
		return -ENOMEM;
	entry = buf_element(&ledger->files, number, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->line = line;
	entry->file = file;
	entry->ns += ns;
	return 0;
}

int ledger_add(struct ledger *ledger, const struct ledger_entry *entry, uint64_t start,
	       uint64_t end, struct why_line **longest)
{
	struct why_line *line;
	uint32_t number;

	*longest = NULL;
	start = start < ledger->start ? ledger->start : start;
	end = end > ledger->end ? ledger->end : end;
	if (start >= end)
		return 0;
	if (numbering_add(&ledger->by_line, (uint64_t)entry->act << 32 | entry->name, &number) < 0)
		return -ENOMEM;
	line = buf_element(&ledger->lines, number, sizeof(*line));
	if (!line)
		return -ENOMEM;
	line->act = entry->act;
	line->name = entry->name;
	line->ns += end - start;
	line->pieces++;
	ledger->total_ns += end - start;
	ledger->causes[why_acts[entry->act].cause] += end - start;
	if (add_by_context(ledger, line, entry->file, start, end))
		return -ENOMEM;
	if (end - start > line->longest_ns) {
		line->longest_ns = end - start;
		line->longest_ts = start;
		*longest = line;
	}
	return entry->file == CELL_NULL ? 0 : add_file(ledger, number, entry->file, end - start);
}

/* ---- the end ---- */

static int compare_files(const void *a, const void *b)
{
	const struct why_file *left = a, *right = b;

	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

static int compare_lines(const void *a, const void *b)
{
	const struct why_line *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

static int compare_sums(const void *a, const void *b)
{
	const struct why_sum *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct why_piece *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static void sum_lines(struct ledger *ledger)
{
	for (unsigned i = 0; i < WHY_ACT_COUNT; i++)
		ledger->sums[i].act = (enum why_act)i;
	for (size_t i = 0; i < ledger_count(ledger); i++) {
		const struct why_line *line = ledger_line(ledger, i);
		struct why_sum *sum = &ledger->sums[line->act];

		sum->ns += line->ns;
		sum->pieces += line->pieces;
		ledger->sum_count += !sum->line_count++;
		for (unsigned k = 0; k < WHY_CONTEXT_COUNT; k++)
			sum->by_context[k] += line->by_context[k];
	}
	for (unsigned i = 0; i < WHY_ACT_COUNT; i++)
		ledger->sums[i].share = share_of(ledger->sums[i].ns, ledger->total_ns);
	qsort(ledger->sums, WHY_ACT_COUNT, sizeof(*ledger->sums), compare_sums);
}

int ledger_finish(struct ledger *ledger)
{
	struct why_line *lines = (struct why_line *)ledger->lines.data;
	struct why_file *files = (struct why_file *)ledger->files.data;
	size_t count = ledger_count(ledger), file_count = ledger->files.size / sizeof(*files);

	if (file_count)
		qsort(files, file_count, sizeof(*files), compare_files);
	for (size_t i = 0; i < file_count; i++) {
		struct why_line *line = &lines[files[i].line];

		if (!line->file_count++)
			line->files = &files[i];
	}
	for (size_t i = 0; i < count; i++)
		lines[i].share = share_of(lines[i].ns, ledger->total_ns);
	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	if (ledger->pieces.size)
		qsort(ledger->pieces.data, ledger_piece_count(ledger), sizeof(struct why_piece),
		      compare_pieces);
	sum_lines(ledger);
	return 0;
}

void ledger_close(struct ledger *ledger)
{
	struct why_line *lines = (struct why_line *)ledger->lines.data;

	for (size_t i = 0; i < ledger_count(ledger); i++)
		free(lines[i].chain);
	buf_free(&ledger->lines);
	buf_free(&ledger->borders);
	buf_free(&ledger->files);
	buf_free(&ledger->pieces);
	numbering_free(&ledger->by_line);
	numbering_free(&ledger->by_file);
	*ledger = (struct ledger){ 0 };
}
