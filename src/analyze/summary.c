#include "analyze/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "base/units.h"
#include "store/format.h"
#include "store/rows.h"

static struct summary_number summary_number(const char *digits)
{
	struct summary_number number = { 0 };

	number.known = digits && !units_parse_count(digits, &number.value);
	if (!number.known)
		number.value = 0;
	return number;
}

#define BY_SIGNAL "signal "

static void summary_load_exit(struct summary *summary)
{
	const char *status = summary->exit_status;

	if (status && !strncmp(status, BY_SIGNAL, strlen(BY_SIGNAL)))
		summary->exit_signal = summary_number(status + strlen(BY_SIGNAL));
	else
		summary->exit_code = summary_number(status);
}

static void summary_load_facts(struct summary *summary, const struct dims *dims)
{
	summary->version = dims_run(dims, "version");
	summary->host = dims_run(dims, "host");
	summary->kernel = dims_run(dims, "kernel");
	summary->machine = dims_run(dims, "machine");
	summary->user = dims_run(dims, "user");
	summary->cwd = dims_run(dims, "cwd");
	summary->command = dims_run(dims, "command");
	summary->target = dims_run(dims, "target");
	summary->pids = dims_run(dims, "pids");
	summary->only_comm = dims_run(dims, "filter.comm");
	summary->only_cgroup = dims_run(dims, "filter.cgroup");
	summary->only_path = dims_run(dims, "filter.path");
	summary->exit_status = dims_run(dims, "exit_status");
	summary->stop_reason = dims_run(dims, "stop_reason");
	summary->segment = summary_number(dims_run(dims, "segment"));
	summary->dropped_segments = summary_number(dims_run(dims, "dropped_segments"));
	summary->dropped_rows = summary_number(dims_run(dims, "dropped_rows"));
	summary->cpus = summary_number(dims_run(dims, "cpus"));
	summary->buffer_bytes = summary_number(dims_run(dims, "buffer_bytes"));
	summary->cpu_ns = summary_number(dims_run(dims, "cpu_ns"));
	summary->start_cpu_ns = summary_number(dims_run(dims, "start_cpu_ns"));
	summary_load_exit(summary);
}

static int summary_load_layers(struct summary *summary, const struct dims *dims, struct error *e)
{
	const char *at = dims_run(dims, "layers");

	for (; at && *at; at += strspn(at, ",")) {
		struct dims_text *layers =
			reallocarray(summary->layers, summary->layer_count + 1, sizeof(*layers));

		if (!layers)
			return error_set(e, -ENOMEM, "out of memory");
		summary->layers = layers;
		layers[summary->layer_count++] = (struct dims_text){ at, strcspn(at, ",") };
		at += strcspn(at, ",");
	}
	return 0;
}

#define ABSENT "absent."

static int summary_load_absent(struct summary *summary, const struct dims *dims, struct error *e)
{
	size_t count = dims_fact_count(dims);

	summary->absent = calloc(count + 1, sizeof(*summary->absent));
	if (!summary->absent)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		const char *value, *key = dims_fact(dims, i, &value);

		if (!strncmp(key, ABSENT, strlen(ABSENT)))
			summary->absent[summary->absent_count++] =
				(struct summary_absence){ key + strlen(ABSENT), value };
	}
	return 0;
}

static int summary_load_tables(struct summary *summary, struct reader *reader, struct error *e)
{
	struct chunk *chunks;
	size_t count;
	int err;

	err = reader_select(reader, TABLE_COUNT, 0, UINT64_MAX, &chunks, &count, e);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		struct summary_table *table = &summary->tables[chunks[i].table];

		if (!table->rows || chunks[i].first_ts < table->first_ts)
			table->first_ts = chunks[i].first_ts;
		if (chunks[i].last_end > table->last_end)
			table->last_end = chunks[i].last_end;
		table->rows += chunks[i].rows;
		table->bytes += chunks[i].size;
		summary->rows += chunks[i].rows;
	}
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		struct summary_table *table = &summary->tables[i];

		table->bytes_a_row = share_of(table->bytes, table->rows);
		table->timed = table->rows && schema_is_timed(&schema_tables[i]);
	}
	free(chunks);
	return 0;
}

/* Whether the row tells of a time in which the recording was switched off; then it is no loss. */
static bool summary_add_off(struct summary *summary, const struct rows *rows)
{
	uint64_t ts = (uint64_t)rows_cell(rows, column_loss_ts);
	int64_t dur = rows_cell(rows, column_loss_dur);
	struct summary_off *off = &summary->off;

	if (rows_name(rows, column_loss_reason) != LOSS_OFF)
		return false;
	if (!off->windows || ts != off->last_ts) {
		off->windows++;
		off->ns += dur == CELL_NULL ? 0 : (uint64_t)dur;
	}
	off->last_ts = ts;
	return true;
}

static int summary_add_loss(struct summary *summary, const struct rows *rows, struct error *e)
{
	struct summary_loss loss = { .layer = "unknown", .reason = "unknown" }, *losses;
	int64_t count = rows_cell(rows, column_loss_count);
	const char *text;
	size_t size;

	loss.count = count == CELL_NULL ? 0 : (uint64_t)count;
	summary->lost += loss.count;
	text = rows_text(rows, column_loss_layer, &size);
	if (text)
		snprintf(loss.layer, sizeof(loss.layer), "%.*s", (int)size, text);
	text = rows_text(rows, column_loss_reason, &size);
	if (text)
		snprintf(loss.reason, sizeof(loss.reason), "%.*s", (int)size, text);
	for (size_t i = 0; i < summary->loss_count; i++)
		if (!strcmp(summary->losses[i].layer, loss.layer) &&
		    !strcmp(summary->losses[i].reason, loss.reason)) {
			summary->losses[i].count += loss.count;
			return 0;
		}
	losses = reallocarray(summary->losses, summary->loss_count + 1, sizeof(*losses));
	if (!losses)
		return error_set(e, -ENOMEM, "out of memory");
	losses[summary->loss_count++] = loss;
	summary->losses = losses;
	return 0;
}

/* Rounded down: what is missing never disappears. */
static double percent_below(double share)
{
	return floor(share * 1e4) / 100;
}

/* The hole that is open while the rows of losses pass in order of time. */
struct hole {
	uint64_t start, end;
};

static void summary_close_hole(struct summary_coverage *coverage, const struct hole *hole)
{
	uint64_t length = hole->end - hole->start;

	coverage->hole_ns += length;
	if (length > coverage->longest_ns)
		coverage->longest_ns = length;
}

static uint64_t summary_clip(const struct span *span, uint64_t ts)
{
	return ts < span->start ? span->start : ts > span->end ? span->end : ts;
}

static void summary_add_hole(struct summary *summary, struct hole *hole, const struct rows *rows)
{
	uint64_t ts = (uint64_t)rows_cell(rows, column_loss_ts);
	int64_t dur = rows_cell(rows, column_loss_dur);
	uint64_t end = dur == CELL_NULL ? ts : ts + (uint64_t)dur;
	struct hole next = { summary_clip(&summary->span, ts), summary_clip(&summary->span, end) };

	if (next.end < next.start) /* ts + dur past the end of numbers: only in a forged file */
		next.end = summary->span.end;
	if (summary->coverage.holes && next.start <= hole->end) {
		if (next.end > hole->end)
			hole->end = next.end;
		return;
	}
	if (summary->coverage.holes)
		summary_close_hole(&summary->coverage, hole);
	summary->coverage.holes++;
	*hole = next;
}

static int summary_load_losses(struct summary *summary, struct reader *reader, struct error *e)
{
	struct summary_coverage *coverage = &summary->coverage;
	uint64_t length = summary->span.end - summary->span.start;
	struct hole hole = { 0 };
	struct rows *rows = NULL;
	int err;

	err = rows_open(&rows, reader, TABLE_loss, UINT64_MAX, 0, UINT64_MAX, e);
	if (err)
		return err;
	while ((err = rows_next(rows, e)) > 0) {
		err = summary_add_off(summary, rows) ? 0 : summary_add_loss(summary, rows, e);
		if (err)
			break;
		summary_add_hole(summary, &hole, rows);
	}
	rows_close(rows);
	if (coverage->holes)
		summary_close_hole(coverage, &hole);
	coverage->share = length ? 1 - (double)coverage->hole_ns / (double)length : 1;
	coverage->percent = percent_below(coverage->share);
	return err;
}

static int summary_load_clock(struct summary *summary, struct reader *reader, struct error *e)
{
	uint64_t wanted = 1ull << column_clock_ts | 1ull << column_clock_realtime;
	struct clock_reading first = { 0 }, last = { 0 };
	struct summary_clock *clock = &summary->clock;
	struct rows *rows = NULL;
	uint64_t moved, stepped = 0; /* forward or, above half of all numbers, back */
	int err;

	err = rows_open(&rows, reader, TABLE_clock, wanted, 0, UINT64_MAX, e);
	if (err)
		return err;
	while ((err = rows_next(rows, e)) > 0) {
		struct clock_reading next = { (uint64_t)rows_cell(rows, column_clock_ts),
					      (uint64_t)rows_cell(rows, column_clock_realtime) };

		if (!clock->readings++) {
			first = next;
		} else if (clocks_step(&last, &next)) {
			clock->steps++;
			stepped += (next.realtime - last.realtime) - (next.ts - last.ts);
		}
		last = next;
	}
	rows_close(rows);
	moved = (last.realtime - first.realtime) - (last.ts - first.ts);
	clock->step_ns = (int64_t)stepped;
	clock->drift_ns = (int64_t)(moved - stepped);
	if (last.ts > first.ts)
		clock->drift_ppm = (double)clock->drift_ns / (double)(last.ts - first.ts) * 1e6;
	return err;
}

static int summary_load_block(struct summary *summary, struct reader *reader, struct error *e)
{
	uint64_t wanted =
		1ull << column_block_op | 1ull << column_block_bytes | 1ull << column_block_file;
	struct summary_block *block = &summary->block;
	struct rows *rows = NULL;
	int err;

	err = rows_open(&rows, reader, TABLE_block, wanted, 0, UINT64_MAX, e);
	if (err)
		return err;
	while ((err = rows_next(rows, e)) > 0) {
		int64_t bytes = rows_cell(rows, column_block_bytes);
		int op = rows_name(rows, column_block_op);

		if (bytes == CELL_NULL || (op != BLOCK_OP_R && op != BLOCK_OP_W))
			continue;
		block->bytes += (uint64_t)bytes;
		if (rows_cell(rows, column_block_file) != CELL_NULL)
			block->file_bytes += (uint64_t)bytes;
	}
	block->percent = percent_below(share_of(block->file_bytes, block->bytes));
	rows_close(rows);
	return err;
}

void summary_take_damage(struct summary *summary, const struct reader *reader)
{
	summary->damage = reader_damage(reader);
	summary->state = summary->damage     ? SUMMARY_DAMAGED
			 : summary->complete ? SUMMARY_COMPLETE
			 : summary->live     ? SUMMARY_LIVE
			 : *summary->failure ? SUMMARY_UNWRITTEN
					     : SUMMARY_KILLED;
}

/* What the header tells of a recorder that could write no more: nothing else can. */
static void summary_load_failure(struct summary *summary, const struct file_header *header)
{
	char reason[64];

	if (!header->failure)
		return;
	snprintf(summary->failure, sizeof(summary->failure),
		 "the trace could not be written: %s; %llu rows are not in it",
		 strerror_r((int)header->failure, reason, sizeof(reason)),
		 (unsigned long long)header->unwritten);
	summary->stop_reason = summary->failure;
	summary->unwritten = header->unwritten;
	if (header->lost > summary->lost) /* rows of losses may be among those not written */
		summary->lost = header->lost;
}

int summary_load(struct summary *summary, const char *path, struct reader *reader,
		 const struct dims *dims, struct error *e)
{
	int err;

	*summary = (struct summary){ .path = path };
	summary_load_facts(summary, dims);
	err = summary_load_layers(summary, dims, e);
	if (!err)
		err = summary_load_absent(summary, dims, e);
	if (!err)
		err = summary_load_tables(summary, reader, e);
	if (!err)
		err = times_span(reader, dims, &summary->span, e);
	if (!err && summary->span.end < summary->span.start)
		summary->span.end = summary->span.start;
	if (!err)
		err = summary_load_losses(summary, reader, e);
	if (!err)
		err = summary_load_clock(summary, reader, e);
	if (!err)
		err = summary_load_block(summary, reader, e);
	if (err) {
		summary_free(summary);
		return err;
	}
	summary_load_failure(summary, reader_header(reader));
	summary->has_utc = !dims_utc(dims, summary->span.start, &summary->start_utc) &&
			   !dims_utc(dims, summary->span.end, &summary->end_utc);
	summary->bytes = reader_file_size(reader);
	summary->format = reader_version(reader);
	summary->complete = reader_complete(reader);
	summary->live = reader_live(reader);
	summary->bytes_a_row = share_of(summary->bytes, summary->rows);
	summary_take_damage(summary, reader);
	return 0;
}

void summary_free(struct summary *summary)
{
	free(summary->losses);
	free(summary->absent);
	free(summary->layers);
	summary->layers = NULL;
	summary->layer_count = 0;
	summary->losses = NULL;
	summary->loss_count = 0;
	summary->absent = NULL;
	summary->absent_count = 0;
}
