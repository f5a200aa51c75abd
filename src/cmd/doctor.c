/* strata doctor: what this machine and this user allow, and how to fix what is missing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/doctor.h"
#include "capture/layers_open.h"
#include "cmd/cmd.h"
#include "probes/probe.h"
#include "query/duckdb_api.h"
#include "render/json.h"
#include "render/safe.h"

enum { DOCTOR_PARTLY = 3 }; /* record works, and leaves out what it would record by default */

/* The options, filled once by cmd_parse(). */
static struct {
	bool json;
} given;

static const struct option_row doctor_rows[] = {
	{ 0, "json", OPTION_FLAG, &given.json, NULL, "print one JSON object" },
	{ 0 },
};

const struct options doctor_options = {
	.usage = "strata doctor [options]",
	.summary = "Tell what this machine lets strata record, and how to fix what is missing.",
	.examples = "strata doctor\n"
		    "strata doctor --json | jq '.checks[] | select(.fix)'",
	.rows = doctor_rows,
};

static void look_at_duckdb(struct doctor *doctor)
{
	struct doctor_check *check;
	struct error e;

	if (!duckdb_load(&e)) {
		doctor_add(doctor, "duckdb", DOCTOR_OK, "%s, for 'strata sql'",
			   duckdb.library_version());
		return;
	}
	check = doctor_add(doctor, "duckdb", DOCTOR_NOTE, "absent: %s", e.text);
	doctor_advise(check, "make deps where strata was built, and make install; or "
			     "STRATA_DUCKDB=/path/to/libduckdb.so");
}

static const struct doctor_hook *hooks_of(const struct doctor *doctor, size_t *count)
{
	*count = doctor->hooks.size / sizeof(struct doctor_hook);
	return (const struct doctor_hook *)doctor->hooks.data;
}

static const char *verdict(const struct doctor *doctor)
{
	return !doctor->works ? "record would not work here"
	       : doctor->complete
		       ? "record works, with all layers that it records by default"
		       : "record works, but not with all layers that it records by default";
}

/* ---- text ---- */

static void print_line(const char *state, const char *name, const char *text, const char *fix)
{
	printf("%-8s %-26s ", state, name);
	safe_print(stdout, text);
	putchar('\n');
	if (fix && *fix) {
		printf("%-8s %-26s fix: ", "", "");
		safe_print(stdout, fix);
		putchar('\n');
	}
}

static void print_hooks(const struct doctor *doctor)
{
	const struct doctor_hook *hooks;
	size_t count;

	hooks = hooks_of(doctor, &count);
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++) {
		size_t all = 0, attached = 0;
		char text[128];

		for (size_t i = 0; i < count; i++) {
			all += hooks[i].probe == probe;
			attached += hooks[i].probe == probe && hooks[i].attached;
		}
		if (!probes[probe]->open)
			continue;
		snprintf(text, sizeof(text), all ? "%zu of %zu programs attached" : "not attached",
			 attached, all);
		print_line(all		   ? "ok"
			   : doctor->tried ? "absent"
					   : "untried",
			   probes[probe]->name, text, NULL);
	}
}

static void print_layers(const struct doctor *doctor)
{
	for (unsigned i = 0; i < LAYER_COUNT; i++) {
		bool records = doctor->layers & LAYER_BIT(i);

		print_line(records ? "ok" : "absent", schema_layers[i].name,
			   records ? schema_layers[i].doc : doctor_why_absent(doctor, i), NULL);
	}
	for (size_t i = 0; i < doctor->absences.count; i++)
		if (strchr(doctor->absences.items[i].what, '.')) /* a part of a layer */
			print_line("absent", doctor->absences.items[i].what,
				   doctor->absences.items[i].why, NULL);
}

static void print_text(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->check_count; i++)
		print_line(doctor_state_names[doctor->checks[i].state], doctor->checks[i].name,
			   doctor->checks[i].found, doctor->checks[i].fix);
	puts("\nHooks, by trying:");
	print_hooks(doctor);
	puts("\nLayers:");
	print_layers(doctor);
	printf("\n%s%s", verdict(doctor), *doctor->failure ? ": " : "");
	safe_print(stdout, doctor->failure);
	putchar('\n');
}

/* ---- JSON ---- */

static void print_json_checks(const struct doctor *doctor, struct json *json)
{
	json_open(json, "checks", '[');
	for (size_t i = 0; i < doctor->check_count; i++) {
		const struct doctor_check *check = &doctor->checks[i];

		json_open(json, NULL, '{');
		json_string(json, "name", check->name);
		json_string(json, "state", doctor_state_names[check->state]);
		json_string(json, "found", check->found);
		json_string(json, "fix", *check->fix ? check->fix : NULL);
		json_close(json);
	}
	json_close(json);
}

static void print_json_hooks(const struct doctor *doctor, struct json *json)
{
	const struct doctor_hook *hooks;
	size_t count;

	hooks = hooks_of(doctor, &count);
	json_open(json, "hooks", '[');
	for (size_t i = 0; i < count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "probe", probes[hooks[i].probe]->name);
		json_string(json, "place", hooks[i].place);
		json_bool(json, "attached", hooks[i].attached);
		json_close(json);
	}
	json_close(json);
}

static void print_json_layers(const struct doctor *doctor, struct json *json)
{
	json_open(json, "layers", '{');
	for (unsigned i = 0; i < LAYER_COUNT; i++) {
		bool records = doctor->layers & LAYER_BIT(i);

		json_open(json, schema_layers[i].name, '{');
		json_string(json, "state", records ? "records" : "absent");
		json_string(json, "why", records ? NULL : doctor_why_absent(doctor, i));
		json_close(json);
	}
	json_close(json);
	json_open(json, "absent", '{'); /* as info has it: layers and parts of layers */
	for (size_t i = 0; i < doctor->absences.count; i++)
		json_string(json, doctor->absences.items[i].what, doctor->absences.items[i].why);
	json_close(json);
}

static void print_json(const struct doctor *doctor)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_string(&json, "version", STRATA_VERSION);
	json_bool(&json, "works", doctor->works);
	json_bool(&json, "complete", doctor->complete);
	json_string(&json, "failure", *doctor->failure ? doctor->failure : NULL);
	print_json_checks(doctor, &json);
	print_json_hooks(doctor, &json);
	print_json_layers(doctor, &json);
	json_close(&json);
}

int cmd_doctor(int argc, char **argv)
{
	struct arguments arguments;
	struct doctor doctor = { 0 };
	struct error e;
	int status;

	if (!cmd_parse(&doctor_options, argc, argv, &arguments, &status))
		return status;
	free(arguments.items);
	if (arguments.count || arguments.command) {
		error_set(&e, -EINVAL, "doctor takes no argument");
		return cmd_usage(argv[0], &e);
	}
	doctor_look_around(&doctor);
	doctor_try(&doctor);
	look_at_duckdb(&doctor);
	doctor_look_at_gpus(&doctor);
	if (given.json)
		print_json(&doctor);
	else
		print_text(&doctor);
	status = !doctor.works ? CMD_FAILURE : doctor.complete ? CMD_OK : DOCTOR_PARTLY;
	if (fflush(stdout) && errno != EPIPE) {
		error_errno(&e, "cannot write stdout");
		status = cmd_fail(&e);
	}
	doctor_free(&doctor);
	return status;
}
