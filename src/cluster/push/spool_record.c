#include "cluster/push/spool_record.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cluster/push/remote_tables.h"

static const char *table_name(unsigned table)
{
	return table < TABLE_COUNT ? schema_tables[table].name : "metric";
}

int spool_format(const struct batch *batch, char out[SPOOL_RECORD])
{
	struct json_object *object = json_object_new_object();
	int size = -ENAMETOOLONG;

#define ADD(key, value) json_object_object_add(object, key, value)
	ADD("number", json_object_new_uint64(batch->number));
	ADD("table", json_object_new_string(table_name(batch->table)));
	ADD("stream", json_object_new_string(batch->stream));
	ADD("cursor", json_object_new_uint64(batch->cursor));
	ADD("last", json_object_new_boolean(batch->is_last));
	ADD("node", json_object_new_string(batch->node));
	ADD("run", json_object_new_string(batch->run));
	ADD("rows", json_object_new_uint64(batch->rows));
	ADD("first_key", json_object_new_int64(batch->first));
	ADD("last_key", json_object_new_int64(batch->last));
#undef ADD
	if (object)
		size = snprintf(out, SPOOL_RECORD, "%s\n",
				json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
	return size < SPOOL_RECORD ? size : -ENAMETOOLONG;
}

static bool get_text(struct json_object *object, const char *key, char out[SPOOL_TEXT])
{
	struct json_object *value = json_object_object_get(object, key);

	if (!json_object_is_type(value, json_type_string) ||
	    json_object_get_string_len(value) >= SPOOL_TEXT ||
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return false;
	snprintf(out, SPOOL_TEXT, "%s", json_object_get_string(value));
	return true;
}

static bool get_number(struct json_object *object, const char *key, uint64_t *out)
{
	struct json_object *value = json_object_object_get(object, key);

	*out = json_object_get_uint64(value);
	return json_object_is_type(value, json_type_int) &&
	       (json_object_get_int64(value) >= 0 || *out > INT64_MAX);
}

static bool get_key(struct json_object *object, const char *key, int64_t *out)
{
	struct json_object *value = json_object_object_get(object, key);

	*out = json_object_get_int64(value);
	return json_object_is_type(value, json_type_int);
}

static bool get_table(struct json_object *object, unsigned *table)
{
	char name[SPOOL_TEXT];

	if (!get_text(object, "table", name))
		return false;
	for (*table = 0; *table < REMOTE_TABLE_COUNT; ++*table)
		if (!strcmp(table_name(*table), name))
			return true;
	return false;
}

static bool get_batch(struct json_object *object, struct batch *batch)
{
	struct json_object *last = json_object_object_get(object, "last");

	batch->is_last = json_object_get_boolean(last);
	return json_object_is_type(last, json_type_boolean) &&
	       get_number(object, "number", &batch->number) && get_table(object, &batch->table) &&
	       get_text(object, "stream", batch->stream) &&
	       get_number(object, "cursor", &batch->cursor) &&
	       get_text(object, "node", batch->node) && get_text(object, "run", batch->run) &&
	       get_number(object, "rows", &batch->rows) && batch->rows > 0 &&
	       get_key(object, "first_key", &batch->first) &&
	       get_key(object, "last_key", &batch->last);
}

int spool_parse(const char *text, size_t size, struct batch *batch, struct error *e)
{
	struct json_tokener *tokener = json_tokener_new_ex(4);
	struct json_object *object = NULL;
	int err = -EBADMSG;

	memset(batch, 0, sizeof(*batch));
	if (!tokener)
		return error_set(e, -ENOMEM, "out of memory");
	if (size < SPOOL_RECORD)
		object = json_tokener_parse_ex(tokener, text, (int)size);
	if (json_object_is_type(object, json_type_object) && get_batch(object, batch))
		err = 0;
	json_object_put(object);
	json_tokener_free(tokener);
	return err ? error_set(e, err, "it does not describe a batch") : 0;
}
