/* The ledger for programs: every line, with its chain, its files and the rows behind it. */
#include <string.h>

#include "analyze/cells.h"
#include "base/units.h"
#include "render/json_fields.h"
#include "render/why.h"

#define MOST_FILES 10

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

static void print_verdict(struct json *json, const struct why *why)
{
	const struct why_verdict *verdict = &why->verdict;
	char sentence[512], part[32], whole[32];

	json_open(json, "verdict", '{');
	if (!verdict->known) {
		json_null(json, "cause");
		json_string(json, "sentence", verdict->refused);
		json_null(json, "share");
		json_null(json, "bound");
		json_close(json);
		return;
	}
	snprintf(sentence, sizeof(sentence), "%s: %s of %s of the %s; most of it: %s",
		 why_cause_names[verdict->cause],
		 units_format_duration(part, sizeof(part), verdict->ns),
		 units_format_duration(whole, sizeof(whole), verdict->of_ns),
		 verdict->loop ? "training loop" : "run", why_acts[verdict->sum->act].says);
	json_string(json, "cause", why_cause_names[verdict->cause]);
	json_string(json, "sentence", sentence);
	json_bool(json, "loop", verdict->loop);
	json_uint(json, "ns", verdict->ns);
	json_real(json, "share", verdict->share);
	json_uint(json, "bound", verdict->bound_ns);
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
		json_open(json, "causes", '{');
		for (unsigned k = 0; k < WHY_CAUSE_COUNT; k++)
			if (why->ledger.context_causes[i][k])
				json_uint(json, why_cause_names[k],
					  why->ledger.context_causes[i][k]);
		json_close(json);
		json_close(json);
	}
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
	print_contexts(&json, why);
	json_close(&json);
	fputc('\n', out);
}
