#include "base/mllog.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char tag[] = ":::MLLOG";

/* What tells one epoch, step or block from the next, the most telling first. */
static const char *const numbers[] = { "epoch_num", "epoch", "first_epoch_num", "step_num",
				       "step",	    "batch", "iteration" };

enum mllog_kind mllog_split(const char *name, size_t size, char *stem, size_t stem_size)
{
	static const struct {
		const char *suffix;
		enum mllog_kind kind;
	} suffixes[] = { { "_start", MLLOG_START },
			 { "_stop", MLLOG_STOP },
			 { "_end", MLLOG_STOP } };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t length = strlen(suffixes[i].suffix);

		if (size > length && !memcmp(name + size - length, suffixes[i].suffix, length)) {
			snprintf(stem, stem_size, "%.*s", (int)(size - length), name);
			return suffixes[i].kind;
		}
	}
	snprintf(stem, stem_size, "%.*s", (int)size, name);
	return MLLOG_POINT;
}

static void number_text(struct json_object *value, char *out, size_t size)
{
	switch (json_object_get_type(value)) {
	case json_type_int:
		snprintf(out, size, "%lld", (long long)json_object_get_int64(value));
		break;
	case json_type_double: snprintf(out, size, "%g", json_object_get_double(value)); break;
	case json_type_string:
		if ((size_t)json_object_get_string_len(value) < size)
			snprintf(out, size, "%s", json_object_get_string(value));
		break;
	default: break;
	}
}

static void find_number(struct json_object *object, struct mllog_line *out)
{
	struct json_object *metadata = json_object_object_get(object, "metadata");

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && !*out->number; i++)
		if (json_object_is_type(metadata, json_type_object))
			number_text(json_object_object_get(metadata, numbers[i]), out->number,
				    sizeof(out->number));
	if (!*out->number)
		number_text(json_object_object_get(object, "value"), out->number,
			    sizeof(out->number));
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static int read_object(struct json_object *object, struct mllog_line *out)
{
	struct json_object *time = json_object_object_get(object, "time_ms");
	const char *type = text_of(object, "event_type"), *key = text_of(object, "key");
	bool whole = json_object_is_type(time, json_type_int);
	double ms = json_object_get_double(time);

	if (!key || !(whole || json_object_is_type(time, json_type_double)) || !(ms >= 0) ||
	    ms > 1.8e13)
		return -EINVAL;
	out->realtime =
		whole ? (uint64_t)json_object_get_int64(time) * 1000000u : (uint64_t)(ms * 1e6);
	snprintf(out->key, sizeof(out->key), "%s", key);
	out->kind = mllog_split(out->key, strlen(out->key), out->stem, sizeof(out->stem));
	if (type && !strcmp(type, "INTERVAL_START"))
		out->kind = MLLOG_START;
	else if (type && !strcmp(type, "INTERVAL_END"))
		out->kind = MLLOG_STOP;
	else if (type)
		out->kind = MLLOG_POINT;
	find_number(object, out);
	return 1;
}

int mllog_parse_json(const char *json, size_t size, struct mllog_line *out)
{
	struct json_tokener *tokener;
	struct json_object *object;
	int found = -EINVAL;

	*out = (struct mllog_line){ .json = json, .json_size = size };
	tokener = size <= INT_MAX ? json_tokener_new() : NULL;
	if (!tokener)
		return -EINVAL;
	object = json_tokener_parse_ex(tokener, json, (int)size);
	if (json_object_is_type(object, json_type_object))
		found = read_object(object, out);
	json_object_put(object);
	json_tokener_free(tokener);
	return found;
}

int mllog_parse(const char *line, size_t size, struct mllog_line *out)
{
	const char *at = memmem(line, size, tag, strlen(tag)), *end = line + size;

	if (!at)
		return 0;
	at += strlen(tag);
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
		end--;
	return mllog_parse_json(at, (size_t)(end - at), out);
}
