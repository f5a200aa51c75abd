/* Answers as JSON, and back. Numbers are written so that they read back as the same: what passes through a coordinator is what
 * the agent said. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/real.h"
#include "cluster/select/answer.h"

/* ---- writing ---- */

/* Appends with failures kept, as sql_text.h does. */
struct out {
	struct buf *buf;
	bool failed;
};

#define PUT(out, ...) ((out)->failed |= buf_printf((out)->buf, __VA_ARGS__) != 0)

static void put_text(struct out *out, const char *text)
{
	PUT(out, "\"");
	out->failed |= escape_append(out->buf, ESCAPE_JSON, text, strlen(text)) != 0;
	PUT(out, "\"");
}

static void put_real(struct out *out, double value)
{
	char text[32];

	real_format(text, sizeof(text), value);
	PUT(out, "%s", text);
}

static void put_point(struct out *out, const struct select_series *series,
		      const struct select_point *point)
{
	PUT(out, "{\"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"seconds\": ", point->start,
	    point->start + point->length);
	put_real(out, (double)point->covered / 1e9);
	PUT(out, ", \"%s\": ", select_is_slots(&series->metric) ? "slots" : "value");
	if (!point->known) {
		PUT(out, "null}");
		return;
	}
	if (!select_is_slots(&series->metric)) {
		put_real(out, point->value);
		PUT(out, "}");
		return;
	}
	PUT(out, "[");
	for (unsigned i = 0; i < point->slot_count; i++) {
		PUT(out, i ? ", " : "");
		put_real(out, point->slots[i]);
	}
	PUT(out, "]}");
}

static void put_series(struct out *out, const struct select_series *series)
{
	PUT(out, "{\"metric\": ");
	put_text(out, series->metric.name);
	if (*series->label) {
		PUT(out, ", \"label\": ");
		put_text(out, series->label);
	}
	if (*series->op) {
		PUT(out, ", \"op\": ");
		put_text(out, series->op);
	}
	PUT(out, ", \"unit\": ");
	put_text(out, select_unit(&series->metric));
	PUT(out, ", \"points\": [");
	for (unsigned i = 0; i < series->point_count; i++) {
		PUT(out, i ? ", " : "");
		put_point(out, series, &series->points[i]);
	}
	PUT(out, "]}");
}

static void put_node(struct out *out, const struct select_node *node)
{
	PUT(out, "{\"node\": ");
	put_text(out, node->name);
	if (*node->error) {
		PUT(out, ", \"error\": ");
		put_text(out, node->error);
		PUT(out, "}");
		return;
	}
	PUT(out, ", \"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"series\": [", node->start,
	    node->end);
	for (unsigned i = 0; i < node->series_count; i++) {
		PUT(out, i ? ",\n  " : "\n  ");
		put_series(out, &node->series[i]);
	}
	PUT(out, "]}");
}

int select_answer_json(const struct select_answer *answer, struct buf *buf)
{
	struct out out = { .buf = buf };

	PUT(&out, "{\"nodes\": [");
	for (unsigned i = 0; i < answer->count; i++) {
		PUT(&out, i ? ",\n " : "\n ");
		put_node(&out, &answer->nodes[i]);
	}
	PUT(&out, "]}\n");
	return out.failed ? -ENOMEM : 0;
}

int select_node_json(const struct select_node *node, const char *name, struct buf *buf)
{
	struct select_node named = *node;

	snprintf(named.name, sizeof(named.name), "%s", name);
	return select_answer_json(&(struct select_answer){ .nodes = &named, .count = 1 }, buf);
}

/* A sum counts events and is whole; an average is not, and Python shows a point. */
static void put_original(struct out *out, const struct select_metric *metric, double value)
{
	char text[32];

	real_format(text, sizeof(text), value);
	PUT(out, "%s%s", text,
	    metric->form != SELECT_SUM && metric->form != SELECT_COUNT && !strpbrk(text, ".en")
		    ? ".0"
		    : "");
}

/* One value a metric: of several series, such as those of several disks, the first worker had none; they go by
 * their labels. */
static void put_original_series(struct out *out, const struct select_series *series)
{
	const struct select_point *point = series->point_count
						   ? &series->points[series->point_count - 1]
						   : &(const struct select_point){ 0 };
	char name[48];

	if (!select_is_slots(&series->metric)) {
		if (point->known)
			put_original(out, &series->metric, point->value);
		else
			PUT(out, "null");
		return;
	}
	PUT(out, "{");
	for (unsigned i = 0; i < point->slot_count; i++) {
		PUT(out, "%s\"%s\": ", i ? ", " : "", select_slot_name(i, name));
		put_original(out, &series->metric, point->slots[i]);
	}
	PUT(out, "}");
}

int select_node_original(const struct select_node *node, struct buf *buf)
{
	struct out out = { .buf = buf };

	PUT(&out, "{");
	for (unsigned i = 0; i < node->series_count; i++) {
		const struct select_series *series = &node->series[i];
		char key[SELECT_NAME + SELECT_LABEL + 16];

		snprintf(key, sizeof(key), "%s%s%s%s%s%s", series->metric.name,
			 *series->label ? "{" : "", series->label, *series->op ? "," : "",
			 series->op, *series->label ? "}" : "");
		PUT(&out, i ? ", " : "");
		put_text(&out, key);
		PUT(&out, ": ");
		put_original_series(&out, series);
	}
	PUT(&out, "}");
	return out.failed ? -ENOMEM : 0;
}

/* ---- reading ---- */

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static void read_slots(struct json_object *slots, struct select_point *point)
{
	size_t count = json_object_array_length(slots);

	point->slot_count = count < LIVE_SLOTS ? (unsigned)count : LIVE_SLOTS;
	for (unsigned i = 0; i < point->slot_count; i++)
		point->slots[i] = json_object_get_double(json_object_array_get_idx(slots, i));
	point->known = true;
}

static void read_point(struct json_object *object, struct select_point *point)
{
	struct json_object *slots = json_object_object_get(object, "slots");
	struct json_object *value = json_object_object_get(object, "value");
	double seconds = json_object_get_double(json_object_object_get(object, "seconds"));

	point->start = json_object_get_uint64(json_object_object_get(object, "from"));
	point->length = json_object_get_uint64(json_object_object_get(object, "to")) - point->start;
	point->covered = seconds > 0 && seconds < 1e10 ? (uint64_t)llround(seconds * 1e9) : 0;
	if (json_object_is_type(slots, json_type_array))
		read_slots(slots, point);
	point->known |= json_object_is_type(value, json_type_double) ||
			json_object_is_type(value, json_type_int);
	point->value = json_object_get_double(value);
}

static int read_series(struct json_object *object, struct select_series *series, struct error *e)
{
	struct json_object *points = json_object_object_get(object, "points");
	const char *metric = text_of(object, "metric"), *label = text_of(object, "label");
	const char *op = text_of(object, "op");

	if (!metric || !json_object_is_type(points, json_type_array) ||
	    select_find_metric(metric, &series->metric, e) ||
	    json_object_array_length(points) > SELECT_POINTS)
		return error_set(e, -EBADMSG, "it answers something that was not asked");
	snprintf(series->label, sizeof(series->label), "%s", label ? label : "");
	snprintf(series->op, sizeof(series->op), "%.7s", op ? op : "");
	series->point_count = (unsigned)json_object_array_length(points);
	series->points = calloc(series->point_count + 1u, sizeof(*series->points));
	if (!series->points)
		return error_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < series->point_count; i++)
		read_point(json_object_array_get_idx(points, i), &series->points[i]);
	return 0;
}

static int read_node(struct json_object *object, struct select_answer *answer, struct error *e)
{
	struct json_object *list = json_object_object_get(object, "series");
	const char *name = text_of(object, "node"), *error = text_of(object, "error");
	struct select_node *node = select_add_node(answer, name ? name : "");
	size_t count =
		json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	int err = 0;

	if (!node)
		return error_set(e, -ENOMEM, "out of memory");
	snprintf(node->error, sizeof(node->error), "%s", error ? error : "");
	node->start = json_object_get_uint64(json_object_object_get(object, "from"));
	node->end = json_object_get_uint64(json_object_object_get(object, "to"));
	node->series = calloc(count + 1, sizeof(*node->series));
	if (!node->series)
		return error_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !err; i++) {
		err = read_series(json_object_array_get_idx(list, i), &node->series[i], e);
		node->series_count += !err;
	}
	return err;
}

int select_answer_read(const char *text, size_t size, struct select_answer *answer, struct error *e)
{
	struct json_tokener *tokener = json_tokener_new_ex(16);
	struct json_object *object = NULL, *list;
	int err = -EBADMSG;

	if (!tokener)
		return error_set(e, -ENOMEM, "out of memory");
	error_set(e, err, "its answer is no JSON of strata's");
	if (size <= INT32_MAX)
		object = json_tokener_parse_ex(tokener, text, (int)size);
	list = json_object_is_type(object, json_type_object)
		       ? json_object_object_get(object, "nodes")
		       : NULL;
	if (json_object_is_type(list, json_type_array)) {
		err = 0;
		for (size_t i = 0; i < json_object_array_length(list) && !err; i++)
			err = read_node(json_object_array_get_idx(list, i), answer, e);
	}
	json_object_put(object);
	json_tokener_free(tokener);
	return err;
}
