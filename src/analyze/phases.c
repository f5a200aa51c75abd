#include "analyze/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/phase_pairs.h"
#include "base/buf.h"
#include "base/mllog.h"
#include "store/rows.h"

const char *const phase_source_names[] = { "none", "marks", "mllog", "log" };

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

/* Only a regular file: a pipe or a device may have no end. O_NONBLOCK: nor may opening one hang us. */
static int open_log(FILE **file, const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	int err = 0;

	if (fd < 0)
		return error_errno(e, "cannot open log '%s'", path);
	if (fstat(fd, &stat))
		err = error_errno(e, "cannot open log '%s'", path);
	else if (!S_ISREG(stat.st_mode))
		err = error_set(e, -EINVAL, "cannot read log '%s': not a regular file", path);
	*file = err ? NULL : fdopen(fd, "r");
	if (!err && !*file)
		err = error_errno(e, "cannot open log '%s'", path);
	if (err)
		close(fd);
	return err;
}

/* Of a longer line the rest is skipped: it is no line of MLLOG. */
#define LONGEST_LINE 65536

static int read_lines(struct phases *phases, struct buf *events, const struct dims *dims,
		      const struct span *span, FILE *file, struct error *e)
{
	char *line = malloc(LONGEST_LINE);
	bool skipping = false;
	int err = line ? 0 : error_set(e, -ENOMEM, "out of memory");

	while (!err && fgets(line, LONGEST_LINE, file)) {
		size_t size = strlen(line);
		bool ended = feof(file) || (size && line[size - 1] == '\n');

		if (ended && !skipping)
			err = take_line(phases, events, dims, span, line, size, e);
		skipping = !ended;
	}
	free(line);
	return err;
}

static int read_log(struct phases *phases, struct buf *events, const struct dims *dims,
		    const struct span *span, const char *path, struct error *e)
{
	FILE *file = NULL;
	int err = open_log(&file, path, e);

	if (err)
		return err;
	err = read_lines(phases, events, dims, span, file, e);
	if (!err && ferror(file))
		err = error_errno(e, "cannot read log '%s'", path);
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
	struct pairs *pairs;
	struct buf list, steps;
};

static int add_phase(struct making *making, const struct said *event, uint64_t start, uint64_t end,
		     bool open)
{
	struct phase phase = { .start = clip(making->span, start),
			       .end = clip(making->span, end),
			       .open = open,
			       .point = event->kind == MLLOG_POINT && !event->span };
	struct marked_step step = { phase.start, phase.end };

	if (is_step(event->stem)) {
		making->phases->steps_nvtx = !strcmp(event->source, "nvtx");
		return step.end > step.start ? buf_append(&making->steps, &step, sizeof(step)) : 0;
	}
	memcpy(phase.stem, event->stem, sizeof(phase.stem));
	memcpy(phase.number, event->number, sizeof(phase.number));
	return buf_append(&making->list, &phase, sizeof(phase));
}

static int make_phase(struct making *making, size_t i)
{
	const struct said *event = &making->events[i];
	size_t stop;

	if (event->span)
		return add_phase(making, event, event->ts, event->end, false);
	switch (event->kind) {
	case MLLOG_START:
		stop = pairs_take_stop(making->pairs, i);
		if (stop == PAIRS_NONE)
			return add_phase(making, event, event->ts, making->span->end, true);
		return add_phase(making, event, event->ts, making->events[stop].ts, false);
	case MLLOG_STOP:
		if (pairs_taken(making->pairs, i))
			return 0;
		return add_phase(making, event, making->span->start, event->ts, true);
	default:
		/* A point of a log is a value (a loss, a batch size), not a phase. */
		if (!strcmp(event->source, "mllog"))
			return 0;
		stop = pairs_next_point(making->pairs, i);
		return add_phase(making, event, event->ts,
				 stop == PAIRS_NONE ? making->span->end : making->events[stop].ts,
				 false);
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

/* A phase lies in the nearest one before it, in order of start, that ends no earlier. Those that a later one outlasts are no
 * longer the nearest of any, and those that have ended hold nothing: what is left stands on a stack, the last to end below. */
static int find_depths(struct phases *phases)
{
	size_t *stack = calloc(phases->count + 1, sizeof(*stack)), open = 0;

	if (!stack)
		return -ENOMEM;
	for (size_t i = 0; i < phases->count; i++) {
		struct phase *phase = &phases->list[i];

		while (open && (phases->list[stack[open - 1]].end < phase->end ||
				phases->list[stack[open - 1]].end <= phase->start))
			open--;
		if (open)
			phase->depth = phases->list[stack[open - 1]].depth + 1;
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
	int err;

	if (making.count)
		qsort(making.events, making.count, sizeof(*making.events), compare_events);
	if (phases->lines > phases->bad_lines)
		making.count = drop_marks(making.events, making.count);
	err = pairs_open(&making.pairs, making.events, making.count);
	for (size_t i = 0; i < making.count && !err; i++)
		err = make_phase(&making, i);
	pairs_close(making.pairs);
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
