/* An interval of strata stat as text, in the layout of bcc's tools, or as JSON. */
#include "cmd/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "render/json.h"
#include "render/log2_text.h"

static const char *unit_name(const struct stat_style *style)
{
	return style->milliseconds ? "msecs" : "usecs";
}

/* Of processes, where those were asked for, else of the whole. */
static bool is_shown(const struct live_series *series, const struct stat_style *style)
{
	bool divided = series->what == LIVE_cpudist || series->what == LIVE_runqlat;

	return !divided || style->per_process == (series->pid != 0);
}

/* ---- text ---- */

static void print_time(char separator)
{
	time_t now = time(NULL);
	struct tm local;
	char text[16];

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&now, &local));
	printf("%s%c", text, separator);
}

static void print_section(const struct live_series *series)
{
	switch (series->what) {
	case LIVE_iolat: printf("\nop = %s\n", series->label); break;
	case LIVE_sclat: printf("\nsyscall = %s\n", series->label); break;
	case LIVE_biolat: printf("\ndisk = %s op = %s\n", series->label, series->op); break;
	default: break;
	}
	if (series->pid) {
		printf("\npid = %" PRIu32 " ", series->pid);
		escape_print(stdout, ESCAPE_TERMINAL, series->comm, strlen(series->comm));
		putchar('\n');
	}
}

static void print_series(const struct live_series *series, const struct stat_style *style)
{
	uint64_t unit = style->milliseconds ? 1000000 : 1000;

	print_section(series);
	log2_print(stdout, unit_name(style), series->hist.slots, LIVE_SLOTS);
	if (style->extended)
		printf("\navg = %" PRIu64 " %s, total: %" PRIu64 " %s, count: %" PRIu64 "\n",
		       series->hist.sum / series->count / unit, unit_name(style),
		       series->hist.sum / unit, unit_name(style), series->count);
}

/* A power of two is one histogram alone, which needs no title. */
static bool is_alone(unsigned what)
{
	return !(what & (what - 1));
}

static void print_one(const struct live_reading *reading, const struct stat_style *style,
		      enum live_what what)
{
	if (what == LIVE_pidpersec) {
		print_time(':');
		printf(" PIDs/sec: %.0f\n",
		       (double)reading->started * 1e9 / (double)reading->length);
		return;
	}
	if (is_alone(style->what))
		putchar('\n');
	else
		printf("\n%s%s\n", live_infos[what].name,
		       what == LIVE_cpudist && style->off_cpu ? " (off CPU)" : "");
	for (size_t i = 0; i < live_series_count(reading); i++) {
		const struct live_series *series = live_series_at(reading, i);

		if (series->what == what && is_shown(series, style))
			print_series(series, style);
	}
}

void stat_print_text(const struct live_reading *reading, const struct stat_style *style)
{
	if (style->timestamp)
		print_time('\n');
	for (enum live_what what = 0; what < LIVE_COUNT; what++)
		if (style->what & LIVE_BIT(what))
			print_one(reading, style, what);
	if (reading->lost)
		fprintf(stderr, "strata: %" PRIu64 " events could not be counted\n", reading->lost);
}

/* ---- JSON ---- */

static void json_slots(struct json *json, const uint64_t *slots)
{
	unsigned count = LIVE_SLOTS;

	while (count && !slots[count - 1])
		count--;
	json_open(json, "slots", '[');
	for (unsigned i = 0; i < count; i++) {
		json_open(json, NULL, '{');
		json_uint(json, "from", live_slot_start(i));
		json_uint(json, "to", (2ull << i) - 1);
		json_uint(json, "count", slots[i]);
		json_close(json);
	}
	json_close(json);
}

static void json_series(struct json *json, const struct live_series *series,
			const struct stat_style *style)
{
	bool moves = series->what == LIVE_iolat || series->what == LIVE_biolat;

	json_open(json, NULL, '{');
	json_string(json, "name", live_infos[series->what].name);
	if (series->what == LIVE_cpudist)
		json_bool(json, "off_cpu", series->off_cpu);
	if (series->pid) {
		json_uint(json, "pid", series->pid);
		json_string(json, "comm", series->comm);
	}
	if (*series->label)
		json_string(json, "label", series->label);
	if (*series->op)
		json_string(json, "op", series->op);
	json_string(json, "unit", style->milliseconds ? "ms" : "us");
	json_uint(json, "count", series->count);
	json_uint(json, "total_ns", series->hist.sum);
	json_uint(json, "max_ns", series->hist.most);
	if (moves)
		json_uint(json, "bytes", series->hist.bytes);
	json_slots(json, series->hist.slots);
	json_close(json);
}

void stat_print_json(const struct live_reading *reading, const struct stat_style *style)
{
	struct json json = { .out = stdout };
	char utc[64];

	json_open(&json, NULL, '{');
	json_string(&json, "time", units_format_utc(utc, sizeof(utc), clock_now(CLOCK_REALTIME)));
	json_real(&json, "seconds", (double)reading->length / 1e9);
	json_uint(&json, "lost", reading->lost);
	if (style->what & LIVE_BIT(LIVE_pidpersec))
		json_uint(&json, "started", reading->started);
	json_open(&json, "histograms", '[');
	for (size_t i = 0; i < live_series_count(reading); i++)
		if (is_shown(live_series_at(reading, i), style))
			json_series(&json, live_series_at(reading, i), style);
	json_close(&json);
	json_close(&json);
}
