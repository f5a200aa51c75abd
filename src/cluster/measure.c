#include "cluster/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caps.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/job_figures.h"
#include "live/live.h"
#include "sampler/sampler.h"

#define CPU_OF_ALL (-1) /* table cpu: all of them together */

/* A sample and what its pointers lead to. */
struct measured {
	struct metric_sample sample;
	uint64_t slots[LIVE_SLOTS];
	char label[32], op[4], comm[16];
};

struct measure {
	struct live *live;
	struct live_reading reading;
	void **samplers; /* states of samplers[] */
	struct sink sink;
	struct job_figures *job; /* NULL: the whole machine */
	uint64_t processes, lost, since;
	bool counts_tasks;   /* pidpersec is wanted */
	struct buf measured; /* struct measured */
	struct buf samples;  /* struct metric_sample, once all are there */
};

/* ---- opening ---- */

static void open_samplers(struct measure *measure)
{
	struct error e;

	for (size_t i = 0; i < sampler_count; i++)
		if (samplers[i]->open(&measure->samplers[i], &e)) {
			measure->samplers[i] = NULL;
			log_verbose("no figures of %s: %s", samplers[i]->name, e.text);
		}
	samplers_start(measure->samplers);
}

int measure_open(struct measure **out, const struct measure_config *config, struct error *e)
{
	struct live_config live = {
		.what = config->live,
		.unit = 1000,
		.pids = config->job,
		.pid_count = config->job_count,
		.follow = config->job_count,
		.on_cpu = true,
		.per_process = config->processes && config->live & LIVE_BIT(LIVE_cpudist),
	};
	struct measure *measure = calloc(1, sizeof(*measure));
	int err = 0;

	*out = NULL;
	if (measure)
		measure->samplers = calloc(sampler_count, sizeof(*measure->samplers));
	if (!measure || !measure->samplers)
		err = error_set(e, -ENOMEM, "out of memory");
	if (!err) {
		measure->processes = config->processes;
		measure->counts_tasks = config->live & LIVE_BIT(LIVE_pidpersec);
		sink_init(&measure->sink, NULL);
		err = live_open(&measure->live, &live, e);
	}
	if (!err && config->job_count)
		err = job_figures_open(&measure->job, e);
	if (err) {
		measure_close(measure);
		return err;
	}
	open_samplers(measure);
	measure->since = clock_now(CLOCK_REALTIME);
	*out = measure;
	return 0;
}

void measure_close(struct measure *measure)
{
	if (!measure)
		return;
	samplers_close(measure->samplers);
	sink_free(&measure->sink);
	job_figures_close(measure->job);
	live_reading_free(&measure->reading);
	live_close(measure->live);
	buf_free(&measure->measured);
	buf_free(&measure->samples);
	free(measure);
}

uint64_t measure_lost(const struct measure *measure)
{
	return measure->lost;
}

/* Root keeps what lets it reach its store in whoever's folder, and read what others' processes of the job have moved. */
int measure_give_up(struct measure *measure, struct error *e)
{
	uint64_t keep = caps_root() ? CAPS_ROOT_FILES : 0;
	int err;

	if (caps_root() && measure->job)
		keep |= CAP_BIT(CAP_SYS_PTRACE);
	err = live_give_up(measure->live, &measure->reading, keep, e);
	measure->since = clock_now(CLOCK_REALTIME);
	return err;
}

/* ---- samples ---- */

static struct measured *measured_add(struct measure *measure, enum metric metric)
{
	struct measured *measured = buf_reserve(&measure->measured, sizeof(*measured));

	if (!measured)
		return NULL;
	memset(measured, 0, sizeof(*measured));
	measured->sample.metric = metric;
	measure->measured.size += sizeof(*measured);
	return measured;
}

static int add_value(struct measure *measure, enum metric metric, const char *label, double value)
{
	struct measured *measured = measured_add(measure, metric);

	if (!measured)
		return -ENOMEM;
	snprintf(measured->label, sizeof(measured->label), "%s", label);
	measured->sample.value = value;
	return 0;
}

/* ---- histograms ---- */

static enum metric metric_of(enum live_what what)
{
	static const enum metric of[LIVE_COUNT] = {
		[LIVE_cpudist] = METRIC_cpudist, [LIVE_runqlat] = METRIC_runqlat,
		[LIVE_iolat] = METRIC_iolat,	 [LIVE_biolat] = METRIC_biolat,
		[LIVE_sclat] = METRIC_sclat,	 [LIVE_pidpersec] = METRIC_pidpersec,
	};

	return of[what];
}

static int add_series(struct measure *measure, const struct live_series *series)
{
	struct measured *measured = measured_add(measure, metric_of(series->what));

	if (!measured)
		return -ENOMEM;
	measured->sample.pid = series->pid;
	measured->sample.count = series->count;
	measured->sample.sum = series->hist.sum;
	measured->sample.most = series->hist.most;
	measured->sample.bytes = series->hist.bytes;
	memcpy(measured->slots, series->hist.slots, sizeof(measured->slots));
	snprintf(measured->label, sizeof(measured->label), "%s", series->label);
	snprintf(measured->op, sizeof(measured->op), "%s", series->op);
	snprintf(measured->comm, sizeof(measured->comm), "%s", series->comm);
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The CPU time from which on a process is one of the busiest. */
static int busy_from(const struct live_reading *reading, uint64_t wanted, uint64_t *from)
{
	size_t count = live_series_count(reading), used = 0;
	uint64_t *times = calloc(count ? count : 1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct live_series *series = live_series_at(reading, i);

		if (series->pid && series->what == LIVE_cpudist)
			times[used++] = series->hist.sum;
	}
	qsort(times, used, sizeof(*times), compare_times);
	*from = !wanted ? UINT64_MAX : used > wanted ? times[wanted - 1] : 0;
	free(times);
	return 0;
}

/* Whether the process of a series is one of the busiest: those are told by their cpudist. */
static bool is_busy(const struct live_reading *reading, const struct live_series *series,
		    uint64_t from)
{
	for (size_t i = 0; from && i < live_series_count(reading); i++) {
		const struct live_series *other = live_series_at(reading, i);

		if (other->pid == series->pid && other->what == LIVE_cpudist)
			return other->hist.sum >= from;
	}
	return !from;
}

static int take_histograms(struct measure *measure)
{
	const struct live_reading *reading = &measure->reading;
	uint64_t from;
	int err = busy_from(reading, measure->processes, &from);

	for (size_t i = 0; !err && i < live_series_count(reading); i++) {
		const struct live_series *series = live_series_at(reading, i);

		if (!series->pid || is_busy(reading, series, from))
			err = add_series(measure, series);
	}
	return err || !measure->counts_tasks
		       ? err
		       : add_value(measure, METRIC_pidpersec, "", (double)reading->started);
}

/* ---- figures ---- */

static int64_t cell(const struct builder *table, unsigned column, uint32_t row)
{
	const struct builder_column *cells = &table->columns[column];

	return cells->cells && row < cells->filled ? cells->cells[row] : CELL_NULL;
}

/* What a row is about: the text of its KEY. */
static void row_label(const struct builder *table, uint32_t row, char *out, size_t size)
{
	int column = schema_column_by_role(table->table, ROLE_KEY);
	int64_t value = column >= 0 ? cell(table, (unsigned)column, row) : CELL_NULL;
	const char *text;
	size_t length;

	*out = 0;
	if (value == CELL_NULL)
		return;
	if (table->table->columns[column].type != TYPE_TEXT) {
		snprintf(out, size, "%lld", (long long)value);
		return;
	}
	text = strings_get(&table->texts[column], (uint32_t)value, &length);
	snprintf(out, size, "%.*s", (int)length, text);
}

static double real_of(const struct schema_column *column, int64_t cell_value)
{
	double real;

	if (column->type != TYPE_REAL)
		return (double)cell_value;
	memcpy(&real, &cell_value, sizeof(real));
	return real;
}

static int take_row(struct measure *measure, const struct builder *table, enum table_id id,
		    uint32_t row)
{
	char label[32];

	row_label(table, row, label, sizeof(label));
	for (enum metric i = 0; i < METRIC_COUNT; i++) {
		const struct metric_info *info = &metrics[i];
		int64_t value;

		if (info->table != (int)id)
			continue;
		value = cell(table, (unsigned)info->column, row);
		if (value != CELL_NULL &&
		    add_value(measure, i, info->label == METRIC_LABEL_NONE ? "" : label,
			      real_of(&table->table->columns[info->column], value)))
			return -ENOMEM;
	}
	return 0;
}

/* Figures are of all CPUs together, and of a GPU as a whole, not of its slices. */
static bool is_figure(const struct builder *table, enum table_id id, uint32_t row)
{
	if (id == TABLE_cpu)
		return cell(table, column_cpu_cpu, row) == CPU_OF_ALL;
	return id != TABLE_gpu || cell(table, column_gpu_mig, row) == CELL_NULL;
}

/* The rows that samplers have made since the last time, of whichever tables. */
static int take_figures(struct measure *measure)
{
	int err = 0;

	for (enum table_id id = 0; id < TABLE_COUNT; id++) {
		struct builder *table = measure->sink.builders[id];

		for (uint32_t row = 0; !err && table && row < table->rows; row++)
			if (is_figure(table, id, row))
				err = take_row(measure, table, id, row);
		if (table)
			builder_empty(table);
		measure->sink.since[id] = 0;
	}
	return err;
}

/* ---- the interval ---- */

/* All are there, and stay where they are. */
static int point_samples(struct measure *measure, struct metric_interval *interval)
{
	struct measured *all = (struct measured *)measure->measured.data;
	size_t count = measure->measured.size / sizeof(*all);

	measure->samples.size = 0;
	for (size_t i = 0; i < count; i++) {
		all[i].sample.slots = all[i].slots;
		all[i].sample.label = all[i].label;
		all[i].sample.op = all[i].op;
		all[i].sample.comm = all[i].comm;
		if (buf_append(&measure->samples, &all[i].sample, sizeof(all[i].sample)))
			return -ENOMEM;
	}
	interval->samples = (const struct metric_sample *)measure->samples.data;
	interval->count = count;
	return 0;
}

int measure_take(struct measure *measure, struct metric_interval *interval, struct error *e)
{
	uint64_t now;
	int err = live_read(measure->live, &measure->reading, e);

	if (err)
		return err;
	now = clock_now(CLOCK_REALTIME);
	*interval = (struct metric_interval){ .start = measure->since,
					      .length = measure->reading.length };
	measure->since = now;
	measure->lost += measure->reading.lost;
	measure->measured.size = 0;
	samplers_sample(measure->samplers, &measure->sink);
	if (measure->job)
		job_figures_sample(measure->job, measure->live, &measure->sink);
	err = take_histograms(measure);
	if (!err)
		err = take_figures(measure);
	if (!err)
		err = point_samples(measure, interval);
	return err ? error_set(e, err, "out of memory") : 0;
}
