#include "render/summary.h"

#include "base/units.h"
#include "render/json_fields.h"

static void print_number(struct json *json, const char *key, const struct summary_number *number)
{
	if (number->known)
		json_uint(json, key, number->value);
	else
		json_null(json, key);
}

static void print_time(struct json *json, const char *key, bool known, uint64_t realtime)
{
	char text[40];

	json_string(json, key, known ? units_format_utc(text, sizeof(text), realtime) : NULL);
}

static void print_facts(const struct summary *summary, struct json *json)
{
	JSON_FIELDS(json, summary, version, host, kernel, machine);
	print_number(json, "cpus", &summary->cpus);
	JSON_FIELDS(json, summary, user, cwd, target, command, pids, only_comm, only_cgroup,
		    only_path);
	print_number(json, "exit_status", &summary->exit_code);
	print_number(json, "exit_signal", &summary->exit_signal);
	json_string(json, "stop_reason", summary->stop_reason);
	print_number(json, "segment", &summary->segment);
	print_number(json, "dropped_segments", &summary->dropped_segments);
	print_number(json, "dropped_rows", &summary->dropped_rows);
	print_number(json, "buffer_bytes", &summary->buffer_bytes);
	print_number(json, "cpu_ns", &summary->cpu_ns);
	print_number(json, "start_cpu_ns", &summary->start_cpu_ns);
}

static void print_times(const struct summary *summary, struct json *json)
{
	json_uint(json, "start_ts", summary->span.start);
	json_uint(json, "end_ts", summary->span.end);
	json_uint(json, "length_ns", span_length(&summary->span));
	print_time(json, "start_utc", summary->has_utc, summary->start_utc);
	print_time(json, "end_utc", summary->has_utc, summary->end_utc);
	json_open(json, "clock", '{');
	json_uint(json, "readings", summary->clock.readings);
	json_uint(json, "steps", summary->clock.steps);
	json_int(json, "step_ns", summary->clock.step_ns);
	if (summary->clock.readings < 2) {
		json_null(json, "drift_ns");
		json_null(json, "drift_ppm");
	} else {
		json_int(json, "drift_ns", summary->clock.drift_ns);
		json_real(json, "drift_ppm", summary->clock.drift_ppm);
	}
	json_close(json);
}

static void print_layers(const struct summary *summary, struct json *json)
{
	json_open(json, "layers", '[');
	for (size_t i = 0; i < summary->layer_count; i++)
		json_text(json, NULL, summary->layers[i].bytes, summary->layers[i].size);
	json_close(json);
	json_open(json, "absent", '{');
	for (size_t i = 0; i < summary->absent_count; i++)
		json_string(json, summary->absent[i].what, summary->absent[i].why);
	json_close(json);
}

static void print_losses(const struct summary *summary, struct json *json)
{
	json_uint(json, "unwritten", summary->unwritten);
	json_uint(json, "lost", summary->lost);
	json_open(json, "losses", '[');
	for (size_t i = 0; i < summary->loss_count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "layer", summary->losses[i].layer);
		json_string(json, "reason", summary->losses[i].reason);
		json_uint(json, "count", summary->losses[i].count);
		json_close(json);
	}
	json_close(json);
	json_open(json, "coverage", '{');
	JSON_FIELDS(json, &summary->coverage, share, holes, hole_ns, longest_ns);
	json_close(json);
	json_open(json, "off", '{');
	JSON_FIELDS(json, &summary->off, windows, ns);
	json_close(json);
}

static void print_block(const struct summary *summary, struct json *json)
{
	json_open(json, "block", '{');
	JSON_FIELDS(json, &summary->block, bytes, file_bytes);
	json_close(json);
}

static void print_tables(const struct summary *summary, struct json *json)
{
	json_uint(json, "rows", summary->rows);
	json_open(json, "tables", '{');
	for (unsigned i = 0; i < TABLE_COUNT; i++) {
		const struct summary_table *table = &summary->tables[i];

		json_open(json, schema_tables[i].name, '{');
		JSON_FIELDS(json, table, rows, bytes);
		if (table->timed) {
			JSON_FIELDS(json, table, first_ts, last_end);
		} else {
			json_null(json, "first_ts");
			json_null(json, "last_end");
		}
		json_close(json);
	}
	json_close(json);
}

void summary_print_json(const struct summary *summary, FILE *out)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	JSON_FIELDS(&json, summary, path, bytes, format, complete, live, damage);
	print_facts(summary, &json);
	print_times(summary, &json);
	print_layers(summary, &json);
	print_losses(summary, &json);
	print_block(summary, &json);
	print_tables(summary, &json);
	json_close(&json);
}
