#include "analyze/phases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mllog.h"
#include "base/buf.h"
#include "store/rows.h"

const char *const phase_source_names[] = { "none", "marks", "mllog", "log" };

/* Something that a log or a mark said, on its way to a phase. */
struct said {
	uint64_t ts, end; /* end: of a span */
	enum mllog_kind kind;
	bool span, taken;
	char stem[64];
	char number[32];
	char source[8];
};

static const char *const step_stems[] = { "step", "train_step", "training_step", "iteration",
					  "iter", "batch",	"train_batch" };

static bool is_step(const char *stem)
{
	for (size_t i = 0; i < sizeof(step_stems) / sizeof(*step_stems); i++)
		if (!strcasecmp(stem, step_stems[i]))
			return true;
	return false;
}

/* ---- from a log file ---- */

static int take_line(struct phases *phases, struct buf *events, const struct dims *dims,
		     const struct span *span, const char *line, size_t size, struct error *e)
{
	struct said event = { .source = "mllog" };
	struct mllog_line parsed;
	int found = mllog_parse(line, size, &parsed);

	if (!found)
		return 0;
	phases->lines++;
	if (found < 0) {
		phases->bad_lines++;
		return 0;
	}
	if (clocks_boot(dims_clocks(dims), parsed.realtime, &event.ts))
		return error_set(e, -ENODATA,
				 "the trace has no reading of the clocks to place the log by");
	/* The log has milliseconds: what is written at the very start or end may seem outside. */
	if (event.ts + 1000000000ull < span->start || event.ts > span->end + 1000000000ull) {
		phases->outside++;
		return 0;
	}
	event.kind = parsed.kind;
	memcpy(event.stem, parsed.stem, sizeof(event.stem));
	memcpy(event.number, parsed.number, sizeof(event.number));
	return buf_append(events, &event, sizeof(event)) ? error_set(e, -ENOMEM, "out of memory")
							 : 0;
}

static int read_log(struct phases *phases, struct buf *events, const struct dims *dims,
		    const struct span *span, const char *path, struct error *e)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int err = 0;

	if (!file)
		return error_errno(e, "cannot open log '%s'", path);
	errno = 0;
	while (!err && (size = getline(&line, &capacity, file)) >= 0)
		err = take_line(phases, events, dims, span, line, (size_t)size, e);
	if (!err && ferror(file))
		err = error_errno(e, "cannot read log '%s'", path);
	free(line);
	fclose(file);
	if (err)
		return err;
	if (!phases->lines)
		return error_set(e, -ENODATA, "no :::MLLOG line in log '%s'", path);
	phases->source = PHASES_LOG;
	return 0;
}

/* ---- from marks ---- */

static bool text_is(const char *text, size_t size, const char *word)
{
	return text && size == strlen(word) && !memcmp(text, word, size);
}

static int take_mark(struct phases *phases, struct buf *events, const struct rows *rows)
{
	int64_t dur = rows_cell(rows, column_mark_dur);
	struct said event = { .ts = (uint64_t)rows_cell(rows, column_mark_ts) };
	size_t source_size, name_size, value_size;
	const char *source = rows_text(rows, column_mark_source, &source_size);
	const char *name = rows_text(rows, column_mark_name, &name_size);
	const char *value = rows_text(rows, column_mark_value, &value_size);
	struct mllog_line parsed;

	if (!name)
		return 0;
	if (text_is(source, source_size, "mllog")) {
		phases->lines++;
		if (!value || mllog_parse_json(value, value_size, &parsed) < 0) {
			phases->bad_lines++;
			return 0;
		}
		event.kind = parsed.kind;
		memcpy(event.stem, parsed.stem, sizeof(event.stem));
		memcpy(event.number, parsed.number, sizeof(event.number));
	} else {
		event.kind = mllog_split(name, name_size, event.stem, sizeof(event.stem));
		if (value && value_size < sizeof(event.number))
			memcpy(event.number, value, value_size);
	}
	if (source && source_size < sizeof(event.source))
		memcpy(event.source, source, source_size);
	event.span = dur != CELL_NULL;
	event.end = event.span ? event.ts + (uint64_t)dur : 0;
	return buf_append(events, &event, sizeof(event));
}

static int read_marks(struct phases *phases, struct buf *events, struct reader *reader,
		      struct error *e)
{
	struct rows *rows = NULL;
	int err, more = 0;

	err = rows_open(&rows, reader, TABLE_mark, ~0ull, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		if (take_mark(phases, events, rows))
			err = error_set(e, -ENOMEM, "no memory for the marks");
	rows_close(rows);
	return err ? err : more;
}

/* ---- from events to phases ---- */

static uint64_t clip(const struct span *span, uint64_t ts)
{
	return ts < span->start ? span->start : ts > span->end ? span->end : ts;
}

struct making {
	struct phases *phases;
	const struct span *span;
	struct said *events;
	size_t count;
	struct buf list, steps;
};

static int add_phase(struct making *making, const struct said *event, uint64_t start, uint64_t end,
		     bool open)
{
	struct phase phase = { .start = clip(making->span, start),
			       .end = clip(making->span, end),
			       .open = open };
	struct marked_step step = { phase.start, phase.end };

	if (is_step(event->stem)) {
		making->phases->steps_nvtx = !strcmp(event->source, "nvtx");
		return step.end > step.start ? buf_append(&making->steps, &step, sizeof(step)) : 0;
	}
	memcpy(phase.stem, event->stem, sizeof(phase.stem));
	memcpy(phase.number, event->number, sizeof(phase.number));
	return buf_append(&making->list, &phase, sizeof(phase));
}

/* The stop that belongs to a start: the next of its stem, with its number where both have one. */
static struct said *find_stop(struct making *making, size_t i)
{
	const struct said *start = &making->events[i];

	for (size_t j = i + 1; j < making->count; j++) {
		struct said *stop = &making->events[j];

		if (stop->kind != MLLOG_STOP || stop->taken || strcmp(stop->stem, start->stem) ||
		    strcmp(stop->source, start->source))
			continue;
		if (*stop->number && *start->number && strcmp(stop->number, start->number))
			continue;
		return stop;
	}
	return NULL;
}

/* Where the next mark of the same name begins. */
static uint64_t find_next(const struct making *making, size_t i)
{
	for (size_t j = i + 1; j < making->count; j++)
		if (making->events[j].kind == MLLOG_POINT && !making->events[j].span &&
		    !strcmp(making->events[j].stem, making->events[i].stem))
			return making->events[j].ts;
	return making->span->end;
}

static int make_phase(struct making *making, size_t i)
{
	const struct said *event = &making->events[i];
	struct said *stop;

	if (event->span)
		return add_phase(making, event, event->ts, event->end, false);
	switch (event->kind) {
	case MLLOG_START:
		stop = find_stop(making, i);
		if (!stop)
			return add_phase(making, event, event->ts, making->span->end, true);
		stop->taken = true;
		return add_phase(making, event, event->ts, stop->ts, false);
	case MLLOG_STOP:
		if (event->taken)
			return 0;
		return add_phase(making, event, making->span->start, event->ts, true);
	default:
		/* A point of a log is a value (a loss, a batch size), not a phase. */
		if (!strcmp(event->source, "mllog"))
			return 0;
		return add_phase(making, event, event->ts, find_next(making, i), false);
	}
}

static int compare_phases(const void *a, const void *b)
{
	const struct phase *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->end > right->end ? -1 : left->end < right->end;
}

static int compare_steps(const void *a, const void *b)
{
	const struct marked_step *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static int compare_events(const void *a, const void *b)
{
	const struct said *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

/* In order of start, those that may still be open stand on a stack. */
static int find_depths(struct phases *phases)
{
	size_t *stack = calloc(phases->count + 1, sizeof(*stack)), open = 0;

	if (!stack)
		return -ENOMEM;
	for (size_t i = 0; i < phases->count; i++) {
		struct phase *phase = &phases->list[i];

		while (open && phases->list[stack[open - 1]].end <= phase->start)
			open--;
		for (size_t j = open; j-- > 0;)
			if (phases->list[stack[j]].end >= phase->end) {
				phase->depth = phases->list[stack[j]].depth + 1;
				break;
			}
		stack[open++] = i;
	}
	free(stack);
	return 0;
}

/* Marks that are phases only where no log is there. */
static size_t drop_marks(struct said *events, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(events[i].source, "mllog") || is_step(events[i].stem))
			events[kept++] = events[i];
	return kept;
}

static int make_phases(struct phases *phases, struct buf *events, const struct span *span)
{
	struct making making = { .phases = phases,
				 .span = span,
				 .events = (struct said *)events->data,
				 .count = events->size / sizeof(struct said) };
	struct phase whole = { .stem = "run", .start = span->start, .end = span->end };
	int err = 0;

	if (making.count)
		qsort(making.events, making.count, sizeof(*making.events), compare_events);
	if (phases->lines > phases->bad_lines)
		making.count = drop_marks(making.events, making.count);
	for (size_t i = 0; i < making.count && !err; i++)
		err = make_phase(&making, i);
	if (!err && !making.list.size) {
		phases->source = PHASES_NONE;
		err = buf_append(&making.list, &whole, sizeof(whole));
	} else if (phases->source != PHASES_LOG) {
		phases->source = phases->lines > phases->bad_lines ? PHASES_MLLOG : PHASES_MARKS;
	}
	phases->list = (struct phase *)making.list.data;
	phases->count = making.list.size / sizeof(whole);
	phases->steps = (struct marked_step *)making.steps.data;
	phases->step_count = making.steps.size / sizeof(struct marked_step);
	if (phases->count)
		qsort(phases->list, phases->count, sizeof(whole), compare_phases);
	if (phases->step_count)
		qsort(phases->steps, phases->step_count, sizeof(*phases->steps), compare_steps);
	return err ? err : find_depths(phases);
}

int phases_load(struct phases *phases, struct reader *reader, const struct dims *dims,
		const struct span *span, const char *log, struct error *e)
{
	struct buf events = { 0 };
	int err;

	*phases = (struct phases){ 0 };
	if (log)
		err = read_log(phases, &events, dims, span, log, e);
	else
		err = read_marks(phases, &events, reader, e);
	if (!err && make_phases(phases, &events, span))
		err = error_set(e, -ENOMEM, "no memory for the phases");
	buf_free(&events);
	if (err)
		phases_free(phases);
	return err;
}

void phases_free(struct phases *phases)
{
	free(phases->list);
	free(phases->steps);
	*phases = (struct phases){ 0 };
}

const char *phase_label(const struct phase *phase, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s", phase->stem, *phase->number ? " " : "", phase->number);
	return out;
}
