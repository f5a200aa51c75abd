/* The ledger for programs: every line, with its chain, its files and the rows behind it. */
#include <string.h>

#include "analyze/cells.h"
#include "base/units.h"
#include "render/json_fields.h"
#include "render/why.h"

#define MOST_FILES 10
#define MOST_COSTS 20
#define MOST_SAVES 300

static void print_focus(struct json *json, const struct why *why)
{
	size_t size;
	const char *comm = dims_comm(why->context.dims, why->focus_tid, why->ledger.start, &size);

	json_open(json, "focus", '{');
	json_int(json, "tid", why->focus_tid);
	if (why->focus_proc == PROC_NONE)
		json_null(json, "pid");
	else
		json_int(json, "pid", procs_get(why->context.procs, why->focus_proc)->pid);
	if (comm)
		json_text(json, "comm", comm, size);
	else
		json_null(json, "comm");
	json_uint(json, "start_ts", why->ledger.start);
	json_uint(json, "end_ts", why->ledger.end);
	json_close(json);
}

static void print_chain(struct json *json, const struct why *why, const struct why_line *line)
{
	json_open(json, "chain", '[');
	for (size_t i = 0; i < line->chain_count; i++) {
		size_t size;
		const char *text = strings_get(&why->context.who.names, line->chain[i].name, &size);

		json_open(json, NULL, '{');
		json_int(json, "tid", line->chain[i].tid);
		json_text(json, "comm", text, size);
		text = stays_syscall(&why->stays, line->chain[i].syscall, &size);
		if (size)
			json_text(json, "syscall", text, size);
		else
			json_null(json, "syscall");
		json_close(json);
	}
	json_close(json);
}

static void print_files(struct json *json, const struct why *why, const struct why_line *line)
{
	json_open(json, "files", '[');
	for (size_t i = 0; i < line->file_count && i < MOST_FILES; i++) {
		size_t size;
		const char *path = dims_path(why->context.dims, line->files[i].file, &size);

		json_open(json, NULL, '{');
		if (path)
			json_text(json, "path", path, size);
		else
			json_null(json, "path");
		json_uint(json, "ns", line->files[i].ns);
		json_close(json);
	}
	json_close(json);
}

static void print_line(struct json *json, const struct why *why, const struct why_line *line)
{
	char text[512];
	size_t size;
	const char *name = why_line_name(why, line, &size);

	json_open(json, NULL, '{');
	json_string(json, "cause", why_cause_names[why_acts[line->act].cause]);
	json_string(json, "says", why_acts[line->act].says);
	if (name)
		json_text(json, "name", name, size);
	else
		json_null(json, "name");
	JSON_FIELDS(json, line, ns, share, pieces, longest_ns, longest_ts);
	print_chain(json, why, line);
	print_files(json, why, line);
	json_string(json, "sql", why_line_sql(line, text, sizeof(text)));
	json_close(json);
}

static void print_name(struct json *json, const struct why *why, const char *key, uint32_t name)
{
	size_t size;
	const char *text = name == UINT32_MAX ? NULL : strings_get(&why->calls.names, name, &size);

	if (text)
		json_text(json, key, text, size);
	else
		json_null(json, key);
}

static void print_path(struct json *json, const struct why *why, int64_t file)
{
	size_t size;
	const char *path = file == CELL_NULL ? NULL : dims_path(why->context.dims, file, &size);

	if (path)
		json_text(json, "path", path, size);
	else
		json_null(json, "path");
}

/* The fields of a claim, into an object that is open. */
static void print_claim(struct json *json, const struct why *why, const struct why_claim *claim)
{
	struct buf text = { 0 };

	json_string(json, "cause", why_cause_names[claim->cause]);
	if (!why_say_claim(why, claim, &text))
		json_text(json, "sentence", (const char *)text.data, text.size);
	buf_free(&text);
	json_uint(json, "ns", claim->ns);
	json_real(json, "share", claim->share);
	json_string(json, "says", why_acts[claim->act].says);
	json_uint(json, "says_ns", claim->act_ns);
	print_name(json, why, "name", claim->name);
	print_path(json, why, claim->file);
	json_uint(json, "bound", claim->bound_ns);
	json_string(json, "limit", why_limit_says[claim->limit]);
}

static void print_verdict(struct json *json, const struct why *why)
{
	const struct why_verdict *verdict = &why->verdict;

	json_open(json, "verdict", '{');
	if (verdict->refused || !verdict->claim_count) {
		json_null(json, "cause");
		json_string(json, "sentence", verdict->refused ? verdict->refused : "nothing");
		json_null(json, "share");
		json_null(json, "bound");
		json_close(json);
		return;
	}
	print_claim(json, why, &verdict->claims[0]);
	json_bool(json, "loop", verdict->loop);
	json_uint(json, "of_ns", verdict->of_ns);
	json_string(json, "advice", why_advice_names[verdict->advice]);
	json_open(json, "next", '[');
	for (size_t i = 1; i < verdict->claim_count; i++) {
		json_open(json, NULL, '{');
		print_claim(json, why, &verdict->claims[i]);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_mix(struct json *json, const struct why *why)
{
	const struct why_mix *mix = &why->mix;

	json_open(json, "mix", '{');
	JSON_FIELDS(json, mix, batches, awaited, made_ns, waited_ns, charged_ns, outside_ns);
	JSON_FIELDS(json, mix, hidden_ns, missed_ns, idle_ns, workers, busy_ns);
	json_open(json, "parts", '[');
	for (size_t i = 0; i < mix_count(mix); i++) {
		const struct why_part *part = mix_part(mix, i);

		json_open(json, NULL, '{');
		json_string(json, "says", why_acts[part->act].says);
		print_name(json, why, "name", part->name);
		JSON_FIELDS(json, part, made_ns, charged_ns);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_causes(struct json *json, const uint64_t *causes)
{
	json_open(json, "causes", '{');
	for (unsigned i = 0; i < WHY_CAUSE_COUNT; i++)
		if (causes[i])
			json_uint(json, why_cause_names[i], causes[i]);
	json_close(json);
}

static void print_contexts(struct json *json, const struct why *why)
{
	json_open(json, "contexts", '[');
	for (unsigned i = 0; i < WHY_CONTEXT_COUNT; i++) {
		if (!why->ledger.by_context[i])
			continue;
		json_open(json, NULL, '{');
		json_string(json, "name", why_context_names[i]);
		json_uint(json, "ns", why->ledger.by_context[i]);
		print_causes(json, why->ledger.context_causes[i]);
		json_close(json);
	}
	json_close(json);
}

static void print_windows(struct json *json, const struct why *why)
{
	json_open(json, "windows", '[');
	for (size_t i = 0; i < windows_count(&why->windows); i++) {
		const struct why_window *window = windows_get(&why->windows, i);

		json_open(json, NULL, '{');
		JSON_FIELDS(json, window, start, end, steps);
		print_causes(json, window->causes);
		json_close(json);
	}
	json_close(json);
}

static void print_gpus(struct json *json, const struct gpus *gpus)
{
	json_open(json, "gpus", '[');
	for (size_t i = 0; i < gpus_count(gpus); i++) {
		const struct why_gpu *gpu = gpus_get(gpus, i);

		json_open(json, NULL, '{');
		JSON_FIELDS(json, gpu, gpu, operations, busy_ns, idle_ns, loop_busy_ns);
		print_causes(json, gpu->causes);
		json_open(json, "ledger", '[');
		for (unsigned act = 0; act < WHY_ACT_COUNT; act++) {
			if (!gpu->acts[act])
				continue;
			json_open(json, NULL, '{');
			json_string(json, "cause", why_cause_names[why_acts[act].cause]);
			json_string(json, "says", why_acts[act].says);
			json_uint(json, "ns", gpu->acts[act]);
			json_close(json);
		}
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void print_costs(struct json *json, const struct costs *costs)
{
	json_open(json, "costs", '{');
	for (unsigned kind = 0; kind < WHY_COST_COUNT; kind++) {
		json_open(json, why_cost_names[kind], '[');
		for (size_t i = 0; i < costs_count(costs, kind) && i < MOST_COSTS; i++) {
			const struct why_cost *cost = costs_get(costs, kind, i);
			size_t size;
			const char *name = strings_get(&costs->names, cost->name, &size);

			json_open(json, NULL, '{');
			json_text(json, "name", name, size);
			JSON_FIELDS(json, cost, ns, pieces);
			json_close(json);
		}
		json_close(json);
	}
	json_close(json);
}

static void print_saves(struct json *json, const struct why *why)
{
	const struct saves *saves = &why->saves;

	json_open(json, "checkpoints", '{');
	json_uint(json, "count", saves_count(saves));
	JSON_FIELDS(json, saves, ns, bytes);
	json_open(json, "parts", '[');
	for (unsigned i = 0; i < WHY_SAVE_PART_COUNT; i++) {
		json_open(json, NULL, '{');
		json_string(json, "says", why_save_says[i]);
		json_uint(json, "ns", saves->parts[i]);
		json_close(json);
	}
	json_close(json);
	json_open(json, "list", '[');
	for (size_t i = 0; i < saves_count(saves) && i < MOST_SAVES; i++) {
		const struct why_save *save = saves_get(saves, i);

		json_open(json, NULL, '{');
		JSON_FIELDS(json, save, start, end, bytes);
		json_bool(json, "loop", save->loop);
		print_path(json, why, save->file);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

void why_print_json(const struct why *why, FILE *out)
{
	struct json json = { .out = out };

	json_open(&json, NULL, '{');
	print_focus(&json, why);
	json_uint(&json, "total_ns", why->ledger.total_ns);
	json_open(&json, "ledger", '[');
	for (size_t i = 0; i < ledger_count(&why->ledger); i++)
		print_line(&json, why, ledger_line(&why->ledger, i));
	json_close(&json);
	print_verdict(&json, why);
	print_mix(&json, why);
	print_contexts(&json, why);
	print_windows(&json, why);
	print_saves(&json, why);
	print_gpus(&json, &why->gpus);
	print_costs(&json, &why->costs);
	json_close(&json);
	fputc('\n', out);
}
