/* See page.h. The data is two script elements that no browser runs: JSON, with every < written as an escape so
 * that nothing in it can end the element, and the arrays of the timeline, compressed and in base64:
 *
 *     float64  start, dur, bytes of each event
 *     float32  series, share of reads from the page cache, by slice
 *     uint32   tid and path of each event, heat map
 *     uint16   operation of each event
 *     uint8    lane and kind of each event; by lane and kind, how busy each slice is, of 255
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/escape.h"
#include "render/diff.h"
#include "render/json.h"
#include "render/page.h"
#include "render/report.h"
#include "render/why.h"

#define MOST_ROWS    200 /* of each list of figures */
#define MOST_STEPS   20000
#define MOST_CHANGES 60 /* of each group */

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "the page reads the arrays as they lie in memory");

/* The page as scripts/bundle-page made it. */
__asm__(".section .rodata\n"
	"page_bytes:\n"
	".incbin \"" PAGE_FILE "\"\n"
	"page_bytes_end:\n"
	".byte 0\n"
	".previous\n");
extern const char page_bytes[], page_bytes_end[];

static const char data_here[] = "<!-- data -->";

/* ---- JSON ---- */

static void print_lanes(struct json *json, const struct report *report)
{
	const struct timeline *timeline = report->timeline;

	json_open(json, "lanes", '[');
	for (size_t i = 0; i < timeline->lane_count; i++) {
		uint32_t place = timeline->lanes[i].proc;

		json_open(json, NULL, '{');
		if (timeline->lanes[i].of_stream) {
			char name[64];

			snprintf(name, sizeof(name), "  GPU %u stream %u", timeline->lanes[i].gpu,
				 timeline->lanes[i].stream);
			json_string(json, "name", name);
			json_null(json, "pid");
			json_string(json, "role", "");
		} else if (place == PROC_NONE) {
			json_string(json, "name", "other processes of the job");
			json_null(json, "pid");
			json_string(json, "role", "");
		} else {
			const struct proc *proc = procs_get(report->context.procs, place);

			json_text(json, "name", proc->comm.bytes ? proc->comm.bytes : "?",
				  proc->comm.bytes ? proc->comm.size : 1);
			json_int(json, "pid", proc->pid);
			json_string(json, "role", role_names[report->context.roles.of[place]]);
		}
		json_close(json);
	}
	json_close(json);
}

static void print_strings(struct json *json, const char *key, const struct strings *strings)
{
	json_open(json, key, '[');
	for (uint32_t i = 0; i < strings->count; i++) {
		size_t size;
		const char *text = strings_get(strings, i, &size);

		json_text(json, NULL, text, size);
	}
	json_close(json);
}

/* Start and length of each, one after the other. */
static void print_steps(struct json *json, const struct report *report)
{
	json_open(json, "steps", '[');
	for (size_t i = 0; i < report->steps.count && i < MOST_STEPS; i++) {
		const struct marked_step *step = &report->steps.list[i];

		json_uint(json, NULL,
			  context_clip(&report->context, step->start) -
				  report->context.window.start);
		json_uint(json, NULL, step->end - step->start);
	}
	json_close(json);
}

/* Which rows a kind shows among those of its table, in SQL; NULL: all. */
static const char *kind_condition(enum timeline_kind kind, char *out, size_t size)
{
	const char *not_open = kind == TIMELINE_metadata ? "NOT " : "";
	size_t used;

	switch (kind) {
	case TIMELINE_read: return "dir <> 'W'";
	case TIMELINE_write: return "dir = 'W'";
	case TIMELINE_gpu: return "kind <> 'wait'";
	case TIMELINE_open:
	case TIMELINE_metadata: break;
	default: return NULL;
	}
	used = (size_t)snprintf(out, size, "op %sIN (", not_open);
	for (unsigned i = 0; i < SYSCALL_COUNT && used < size; i++)
		if (schema_syscalls[i].family == FAMILY_open)
			used += (size_t)snprintf(out + used, size - used, "%s'%s'",
						 out[used - 1] == '(' ? "" : ", ",
						 schema_syscalls[i].name);
	if (used < size)
		snprintf(out + used, size - used, ")");
	return out;
}

/* Where the page finds the rows of each kind, for the selection as SQL. */
static void print_kind_rows(struct json *json)
{
	char condition[512];

	json_open(json, "kind_rows", '[');
	for (unsigned i = 0; i < TIMELINE_KIND_COUNT; i++) {
		const struct schema_table *table = &schema_tables[timeline_kinds[i].table];

		json_open(json, NULL, '{');
		json_string(json, "table", table->name);
		json_bool(json, "path", /* those of the table have one */
			  schema_column_by_role(table, ROLE_FILE) >= 0);
		json_string(json, "where", kind_condition(i, condition, sizeof(condition)));
		json_close(json);
	}
	json_close(json);
}

static void print_timeline(struct json *json, const struct report *report, size_t raw_size)
{
	const struct timeline *timeline = report->timeline;

	json_open(json, NULL, '{');
	json_uint(json, "start_ts", report->context.window.start);
	json_uint(json, "length_ns", report->context.window.end - report->context.window.start);
	json_uint(json, "slices", TIMELINE_SLICES);
	json_uint(json, "heat_slices", TIMELINE_HEAT);
	json_uint(json, "heat_latencies", TIMELINE_LATENCIES);
	json_uint(json, "events", timeline->event_count);
	json_uint(json, "events_seen", timeline->seen);
	json_uint(json, "raw_size", raw_size);
	json_open(json, "kinds", '[');
	for (unsigned i = 0; i < TIMELINE_KIND_COUNT; i++)
		json_string(json, NULL, timeline_kinds[i].name);
	json_close(json);
	print_kind_rows(json);
	print_lanes(json, report);
	json_open(json, "series", '[');
	for (size_t i = 0; i < timeline->series_count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "group", timeline->series[i].group);
		json_string(json, "name", timeline->series[i].name);
		json_string(json, "unit", timeline->series[i].unit);
		json_close(json);
	}
	json_close(json);
	json_uint(json, "series_left_out", timeline->series_left_out);
	print_steps(json, report);
	print_strings(json, "ops", &timeline->ops);
	print_strings(json, "paths", &timeline->paths);
	json_close(json);
}

/* ---- arrays ---- */

static int put_doubles(struct buf *out, const struct timeline *timeline, uint64_t origin,
		       unsigned which)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		double value = which == 0   ? (double)(int64_t)(event->ts - origin)
			       : which == 1 ? (double)event->dur
					    : (double)event->bytes;

		if (buf_append(out, &value, sizeof(value)))
			return -ENOMEM;
	}
	return 0;
}

static int put_slices(struct buf *out, const double *values)
{
	for (size_t i = 0; i < TIMELINE_SLICES; i++) {
		float value = (float)values[i];

		if (buf_append(out, &value, sizeof(value)))
			return -ENOMEM;
	}
	return 0;
}

static int put_numbers(struct buf *out, const struct timeline *timeline)
{
	int err = 0;

	for (size_t i = 0; i < timeline->event_count && !err; i++)
		err = buf_append(out, &timeline->events[i].tid, sizeof(uint32_t));
	for (size_t i = 0; i < timeline->event_count && !err; i++)
		err = buf_append(out, &timeline->events[i].path, sizeof(uint32_t));
	if (!err)
		err = buf_append(out, timeline->heat, sizeof(timeline->heat));
	for (size_t i = 0; i < timeline->event_count && !err; i++)
		err = buf_append(out, &timeline->events[i].op, sizeof(uint16_t));
	for (size_t i = 0; i < timeline->event_count && !err; i++)
		err = buf_append(out, &timeline->events[i].lane, 1);
	for (size_t i = 0; i < timeline->event_count && !err; i++)
		err = buf_append(out, &timeline->events[i].kind, 1);
	return err;
}

/* What is busy at all is never shown as idle. */
static int put_lane(struct buf *out, const float *busy, double slice_ns)
{
	for (size_t i = 0; i < TIMELINE_SLICES; i++) {
		double share = busy ? busy[i] / slice_ns : 0;
		uint8_t value = share <= 0 ? 0 : share >= 1 ? 255 : (uint8_t)(1 + share * 254);

		if (buf_append(out, &value, 1))
			return -ENOMEM;
	}
	return 0;
}

static int put_arrays(struct buf *out, const struct report *report)
{
	const struct timeline *timeline = report->timeline;
	int err = 0;

	for (unsigned i = 0; i < 3 && !err; i++)
		err = put_doubles(out, timeline, report->context.window.start, i);
	for (size_t i = 0; i < timeline->series_count && !err; i++)
		err = put_slices(out, timeline->series[i].mean);
	if (!err)
		err = put_slices(out, timeline->cached_share);
	if (!err)
		err = put_numbers(out, timeline);
	for (size_t i = 0; i < timeline->lane_count && !err; i++)
		for (unsigned kind = 0; kind < TIMELINE_KIND_COUNT && !err; kind++)
			err = put_lane(out, timeline->lanes[i].busy[kind], timeline->slice_ns);
	return err;
}

static void print_base64(const uint8_t *bytes, size_t size, FILE *out)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < size ? bytes[i + 2] : 0);

		putc(letters[three >> 18], out);
		putc(letters[three >> 12 & 63], out);
		putc(i + 1 < size ? letters[three >> 6 & 63] : '=', out);
		putc(i + 2 < size ? letters[three & 63] : '=', out);
	}
}

static int print_compressed(const struct buf *raw, FILE *out)
{
	uLongf size = compressBound(raw->size);
	uint8_t *packed = malloc(size);
	int err = 0;

	if (!packed ||
	    compress2(packed, &size, raw->data, raw->size, Z_DEFAULT_COMPRESSION) != Z_OK)
		err = -ENOMEM;
	else
		print_base64(packed, size, out);
	free(packed);
	return err;
}

/* ---- the file ---- */

static int print_json(const struct report *report, const struct why *why,
		      const struct page_changes *changes, size_t raw_size, FILE *out)
{
	struct json json = { 0 };
	char *text = NULL;
	size_t size = 0;

	json.out = open_memstream(&text, &size);
	if (!json.out)
		return -ENOMEM;
	fputs("{\"report\":", json.out);
	report_print_json(report, MOST_ROWS, json.out);
	fputs(",\"timeline\":", json.out);
	print_timeline(&json, report, raw_size);
	if (why) {
		fputs(",\"why\":", json.out);
		why_print_json(why, json.out);
	}
	if (changes) {
		fputs(",\"diff\":", json.out);
		diff_print_json(changes->diff, changes->before, report, MOST_CHANGES, json.out);
	}
	fputs("}", json.out);
	if (fclose(json.out)) {
		free(text);
		return -ENOMEM;
	}
	escape_print(out, ESCAPE_SCRIPT, text, size);
	free(text);
	return 0;
}

int page_print_html(const struct report *report, const struct why *why,
		    const struct page_changes *changes, FILE *out)
{
	size_t size = (size_t)(page_bytes_end - page_bytes);
	const char *here = memmem(page_bytes, size, data_here, strlen(data_here));
	struct buf raw = { 0 };
	int err = put_arrays(&raw, report);

	if (!err && here) {
		fwrite(page_bytes, 1, (size_t)(here - page_bytes), out);
		fputs("<script type=\"application/json\" id=\"data\">", out);
		err = print_json(report, why, changes, raw.size, out);
		fputs("</script>\n<script type=\"text/plain\" id=\"arrays\">", out);
		if (!err)
			err = print_compressed(&raw, out);
		fputs("</script>\n", out);
		here += strlen(data_here);
		fwrite(here, 1, (size_t)(page_bytes_end - here), out);
	}
	buf_free(&raw);
	return err;
}
