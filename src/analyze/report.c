#include "analyze/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "base/suggest.h"

/* ---- the window ---- */

static int unknown_phase(const struct phases *phases, const char *name, struct error *e)
{
	const char *names[64];
	char labels[64][128], hint[512];
	size_t count = 0;

	for (size_t i = 0; i < phases->count && count < 64; i++)
		names[count] = phase_label(&phases->list[i], labels[count], sizeof(labels[0])),
		count++;
	return error_set(e, -EINVAL, "no phase '%s', %s", name,
			 suggest_names(hint, sizeof(hint), name, names, count));
}

/* A phase by its label; by its stem alone when only one has it. */
static int choose_window(struct report *report, const char *name, struct error *e)
{
	const struct phases *phases = &report->phases;
	size_t found = 0, at = 0;
	char label[128];

	report->context.window = report->summary.span;
	report->whole = !name;
	for (size_t i = 0; i < phases->count && name; i++) {
		bool exact = !strcmp(name, phase_label(&phases->list[i], label, sizeof(label)));

		if (!exact && strcmp(name, phases->list[i].stem))
			continue;
		at = i;
		found++;
		if (exact) {
			found = 1;
			break;
		}
	}
	if (!name)
		return 0;
	if (!found)
		return unknown_phase(phases, name, e);
	if (found > 1)
		return error_set(e, -EINVAL, "%zu phases are called '%s': give its number too",
				 found, name);
	report->context.window = (struct span){ phases->list[at].start, phases->list[at].end };
	phase_label(&phases->list[at], report->window_name, sizeof(report->window_name));
	return 0;
}

/* ---- the pass ---- */

static int open_context(struct report *report, struct reader *reader, const struct dims *dims,
			struct error *e)
{
	struct context *context = &report->context;
	int err = context_open(context, reader, dims, &report->summary.span, e);

	if (!err && segments_open(&context->segments, &report->phases, &context->window))
		err = error_set(e, -ENOMEM, "no memory for the phases");
	return err;
}

static int run_models(struct report *report, struct reader *reader, bool timeline, struct error *e)
{
	struct scan_sink sinks[32];
	size_t count = 0;

	if (tasks_open(&report->tasks, &report->context) ||
	    waits_open(&report->waits, &report->context) ||
	    files_open(&report->files, &report->context) ||
	    devices_open(&report->devices, &report->context) ||
	    usage_open(&report->usage, &report->context) ||
	    steps_open(&report->steps, &report->context))
		return error_set(e, -ENOMEM, "out of memory");
	sinks[count++] = tasks_sink(&report->tasks);
	count += waits_sinks(&report->waits, sinks + count);
	sinks[count++] = devices_sink(&report->devices);
	sinks[count++] = steps_sink(&report->steps);
	job_use_open(&report->job, &report->context);
	sinks[count++] = job_use_sink(&report->job);
	count += files_sinks(&report->files, sinks + count);
	count += usage_sinks(&report->usage, sinks + count);
	gpu_work_open(&report->gpu_work, &report->context);
	sinks[count++] = gpu_work_sink(&report->gpu_work);
	if (timeline) {
		report->timeline = malloc(sizeof(*report->timeline));
		if (!report->timeline || timeline_open(report->timeline, &report->context))
			return error_set(e, -ENOMEM, "no memory for the timeline");
		count += timeline_sinks(report->timeline, sinks + count);
	}
	return scan_run(reader, sinks, count, e);
}

static int finish_models(struct report *report)
{
	if (tasks_finish(&report->tasks) || waits_finish(&report->waits) ||
	    files_finish(&report->files) || steps_finish(&report->steps, &report->phases) ||
	    (report->timeline && timeline_finish(report->timeline)))
		return -ENOMEM;
	devices_finish(&report->devices);
	usage_finish(&report->usage);
	gpu_work_finish(&report->gpu_work);
	job_use_finish(&report->job);
	role_use_load(report->by_role, &report->context, &report->tasks, &report->files,
		      &report->waits);
	if (container_uses_load(&report->by_container, &report->context, &report->tasks,
				&report->files))
		return -ENOMEM;
	report->has_job = procs_has_job(report->context.procs);
	report->files.io_known = report->files.has_io || report_has_layer(report, LAYER_io);
	report->files.fs_known = report->files.has_fs || report_has_layer(report, LAYER_fs);
	report->devices.known = report->devices.count || report_has_layer(report, LAYER_block);
	return 0;
}

static struct phase_use use_phase(const struct report *report, const struct phase *phase)
{
	const struct span *window = &report->context.window;
	uint64_t length = phase->end - phase->start;
	struct phase_use use = {
		.known = phase->start >= window->start && phase->end <= window->end,
		.main_cpu_share = NAN,
		.main_data_share = NAN,
		.cpus = NAN,
		.read_rate = NAN,
	};
	const struct figures *figures = &use.figures;

	if (!use.known)
		return use;
	use.figures = segments_sum(&report->context.segments, phase->start, phase->end);
	if (report->waits.known) {
		use.main_cpu_share = share_of(figures->main_cpu_ns, length);
		use.main_data_share =
			share_of(figures->main_workers_ns + figures->main_storage_ns, length);
	}
	if (report->tasks.known)
		use.cpus = share_of(figures->cpu_ns, length);
	if (report->files.io_known)
		use.read_rate = share_of(figures->read_bytes, length) * 1e9;
	return use;
}

static int finish_figures(struct report *report)
{
	report->phase_uses = calloc(report->phases.count, sizeof(*report->phase_uses));
	if (!report->phase_uses)
		return -ENOMEM;
	segments_settle(&report->context.segments);
	report->total =
		segments_sum(&report->context.segments, report->context.window.start, UINT64_MAX);
	for (size_t i = 0; i < report->phases.count; i++)
		report->phase_uses[i] = use_phase(report, &report->phases.list[i]);
	main_thread_load(&report->main, &report->context, report->waits.known, &report->total);
	return 0;
}

static void finish_cost(struct report *report)
{
	const struct summary *summary = &report->summary;
	struct cost *cost = &report->cost;

	cost->cpu_known = summary->cpu_ns.known;
	cost->cpu_ns = summary->cpu_ns.value;
	if (summary->start_cpu_ns.value <= cost->cpu_ns)
		cost->start_cpu_ns = summary->start_cpu_ns.value;
	cost->recording_cpu_ns = cost->cpu_ns - cost->start_cpu_ns;
	cost->on_cpu_ns = report->tasks.strata_ns;
	cost->core_share = cost->cpu_known
				   ? share_of(cost->recording_cpu_ns, span_length(&summary->span))
				   : NAN;
}

int report_load(struct report *report, const char *path, struct reader *reader,
		const struct dims *dims, const struct report_options *options, struct error *e)
{
	int err;

	*report = (struct report){ 0 };
	err = summary_load(&report->summary, path, reader, dims, e);
	if (!err)
		err = phases_load(&report->phases, reader, dims, &report->summary.span,
				  options->log, e);
	if (!err)
		err = choose_window(report, options->phase, e);
	if (!err)
		err = open_context(report, reader, dims, e);
	if (!err)
		err = run_models(report, reader, options->timeline, e);
	if (!err && options->levels)
		err = levels_load(&report->levels, reader, &report->context.window, e);
	if (!err && (finish_models(report) || finish_figures(report)))
		err = error_set(e, -ENOMEM, "no memory to finish the report");
	if (err) {
		report_free(report);
		return err;
	}
	finish_cost(report);
	summary_take_damage(&report->summary, reader); /* by now everything was looked at */
	return 0;
}

void report_free(struct report *report)
{
	container_uses_free(&report->by_container);
	tasks_free(&report->tasks);
	waits_free(&report->waits);
	files_free(&report->files);
	devices_free(&report->devices);
	levels_free(&report->levels);
	usage_free(&report->usage);
	gpu_work_free(&report->gpu_work);
	steps_free(&report->steps);
	if (report->timeline)
		timeline_free(report->timeline);
	free(report->timeline);
	context_close(&report->context);
	free(report->phase_uses);
	phases_free(&report->phases);
	summary_free(&report->summary);
	*report = (struct report){ 0 };
}

const char *report_absent(const struct report *report, enum layer layer)
{
	for (size_t i = 0; i < report->summary.absent_count; i++)
		if (!strcmp(report->summary.absent[i].what, layer_names.names[layer]))
			return report->summary.absent[i].why;
	return NULL;
}

bool report_has_layer(const struct report *report, enum layer layer)
{
	for (size_t i = 0; i < report->summary.layer_count; i++)
		if (dims_text_is(&report->summary.layers[i], layer_names.names[layer]))
			return !report_absent(report, layer);
	return false;
}

bool report_lacks_layer(const struct report *report, enum layer layer)
{
	for (size_t i = 0; i < FIGURE_COUNT; i++)
		if (figure_infos[i].layer == layer)
			return !report_has_layer(report, layer);
	return false;
}
