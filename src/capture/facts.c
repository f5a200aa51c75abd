#include "capture/facts.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job_place.h"
#include "base/quote.h"
#include "probes/probe.h"
#include "schema/schema.h"

void facts_add(struct sink *sink, const char *key, const char *format, ...)
{
	struct builder *row = sink_table(sink, TABLE_run);
	char value[8192];
	va_list args;

	if (!row)
		return;
	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	builder_set_text(row, column_run_key, key, strlen(key));
	builder_set_text(row, column_run_value, value, strlen(value));
	sink_end_row(sink, TABLE_run);
}

/* Redacted, it is the name of the program alone. */
static void facts_command(struct sink *sink, char **command, bool redacted)
{
	struct buf text = { 0 };
	int err = 0;

	for (int i = 0; command[i] && !err && !(i && redacted); i++) {
		if (i)
			err = buf_append(&text, " ", 1);
		if (!err)
			err = quote_word(&text, command[i], strlen(command[i]));
	}
	if (!err)
		facts_add(sink, "command", "%.*s", (int)text.size, (char *)text.data);
	buf_free(&text);
}

static void facts_layers(struct sink *sink, uint32_t layers)
{
	char text[128] = "";

	for (unsigned i = 0; i < LAYER_COUNT; i++)
		if (layers & LAYER_BIT(i))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? "," : "", layer_names.names[i]);
	facts_add(sink, "layers", "%s", text);
}

static void facts_pids(struct sink *sink, const struct session_config *config)
{
	char text[1024] = "";

	for (size_t i = 0; i < config->pid_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? "," : "",
			 (int)config->pids[i]);
	facts_add(sink, "pids", "%s", text);
}

static void facts_absences(struct sink *sink, const struct absences *absences)
{
	char key[64];

	for (size_t i = 0; i < absences->count; i++) {
		snprintf(key, sizeof(key), "absent.%s", absences->items[i].what);
		facts_add(sink, key, "%s", absences->items[i].why);
	}
}

/* So that recordings of all its nodes and ranks are known as one job's. */
static void facts_job(struct sink *sink)
{
	struct job_place place = job_place_find();

	if (place.job)
		facts_add(sink, "job", "%s", place.job);
	if (place.rank >= 0)
		facts_add(sink, "rank", "%lld", (long long)place.rank);
}

void facts_begin(struct sink *sink, const struct session_config *config, uint32_t layers,
		 const struct absences *absences)
{
	char directory[PATH_MAX];
	struct utsname system;

	facts_add(sink, "version", "%s", STRATA_VERSION);
	if (!uname(&system)) {
		facts_add(sink, "host", "%s", system.nodename);
		facts_add(sink, "kernel", "%s %s", system.sysname, system.release);
		facts_add(sink, "machine", "%s", system.machine);
	}
	facts_add(sink, "cpus", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (getcwd(directory, sizeof(directory)))
		facts_add(sink, "cwd", "%s", directory);
	facts_add(sink, "target", "%s",
		  config->command		? "launch"
		  : config->pid_count		? "attach"
		  : config->selection.container ? "container"
						: "all");
	facts_add(sink, "scope", "%s", config->scope == SCOPE_JOB ? "job" : "all");
	if (config->command)
		facts_command(sink, config->command, config->redact_args);
	if (config->redact_args)
		facts_add(sink, "redacted", "args");
	if (config->pid_count)
		facts_pids(sink, config);
	if (config->selection.comm)
		facts_add(sink, "filter.comm", "%s", config->selection.comm);
	if (config->selection.container)
		facts_add(sink, "filter.container", "%s", config->selection.container);
	if (config->selection.cgroup)
		facts_add(sink, "filter.cgroup", "%s", config->selection.cgroup);
	if (config->selection.path)
		facts_add(sink, "filter.path", "%s", config->selection.prefix);
	if (config->account.change)
		facts_add(sink, "user", "%s", config->account.name);
	facts_job(sink);
	facts_layers(sink, layers);
	facts_absences(sink, absences);
}

void facts_start(struct sink *sink, const struct kernel *kernel, uint64_t start, uint64_t start_cpu)
{
	char key[64];

	facts_add(sink, "start_ts", "%llu", (unsigned long long)start);
	facts_add(sink, "start_cpu_ns", "%llu", (unsigned long long)start_cpu);
	facts_add(sink, "buffer_bytes", "%llu", (unsigned long long)kernel_ring_bytes(kernel));
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		if (!kernel_load_cpu(kernel, i))
			continue;
		snprintf(key, sizeof(key), "load_cpu_ns.%s", probes[i]->name);
		facts_add(sink, key, "%llu", (unsigned long long)kernel_load_cpu(kernel, i));
	}
}

static void facts_exit_status(struct sink *sink, int status)
{
	if (WIFSIGNALED(status))
		facts_add(sink, "exit_status", "signal %d", WTERMSIG(status));
	else
		facts_add(sink, "exit_status", "%d", WEXITSTATUS(status));
}

void facts_end(struct sink *sink, const struct facts_end *end)
{
	facts_add(sink, "recorder_tids", "%d%s", (int)getpid(), end->recorder_tids);
	facts_add(sink, "stop_ts", "%llu", (unsigned long long)end->stop);
	facts_add(sink, "stop_reason", "%s", end->reason);
	if (end->command_status)
		facts_exit_status(sink, *end->command_status);
	facts_add(sink, "cpu_ns", "%llu", (unsigned long long)clock_own_cpu());
}
