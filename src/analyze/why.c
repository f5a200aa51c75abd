#include "analyze/why.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "analyze/scan.h"
#include "analyze/why_focus.h"

/* ---- loading ---- */

static int load_steps(struct why *why, struct reader *reader, struct error *e)
{
	struct scan_sink sinks[2];
	int err;

	batches_open(&why->batches, &why->context);
	if (steps_open(&why->steps, &why->context))
		return error_set(e, -ENOMEM, "out of memory");
	sinks[0] = steps_sink(&why->steps);
	sinks[1] = batches_sink(&why->batches);
	err = scan_run(reader, sinks, 2, e);
	if (!err && steps_finish(&why->steps, &why->phases))
		err = error_set(e, -ENOMEM, "no memory for the steps");
	return err;
}

static int load_context(struct why *why, const char *path, struct reader *reader,
			const struct dims *dims, struct error *e)
{
	struct context *context = &why->context;
	int err = summary_load(&why->summary, path, reader, dims, e);

	if (!err)
		err = phases_load(&why->phases, reader, dims, &why->summary.span, NULL, e);
	if (err)
		return err;
	context->window = why->summary.span;
	err = context_open(context, reader, dims, &why->summary.span, e);
	if (!err && segments_open(&context->segments, &why->phases, &context->window))
		err = error_set(e, -ENOMEM, "no memory for the phases");
	return err;
}

static int choose_focus(struct why *why, const struct why_options *options, struct error *e)
{
	const struct context *context = &why->context;
	uint32_t proc = context->roles.main;

	if (options->focus != CELL_NULL) {
		why->focus_tid = options->focus;
	} else {
		if (proc == PROC_NONE)
			return error_set(e, -ENODATA,
					 "no process of a job to judge: record one with '-- "
					 "COMMAND' or '-p PID', or choose "
					 "a thread with --focus");
		why->focus_tid = procs_get(context->procs, proc)->pid;
	}
	why->focus = stays_thread(&why->stays, why->focus_tid);
	if (why->focus == STAY_NONE || !stay_list_count(&why->stays.by_thread, why->focus))
		return error_set(e, -ENODATA, "thread %lld has no stay on a CPU in this recording",
				 (long long)why->focus_tid);
	if (options->focus != CELL_NULL)
		proc = stay_at(&why->stays, &why->stays.by_thread, why->focus, 0)->proc;
	why->focus_proc = proc;
	return 0;
}

/* From the start of its process, or its own birth, to its end; what was there before the recording counts from its start. */
static void find_life(const struct why *why, uint64_t *start, uint64_t *end)
{
	const struct context *context = &why->context;
	uint32_t last = stay_list_count(&why->stays.by_thread, why->focus) - 1;
	const struct stay_row *first_stay =
		stay_at(&why->stays, &why->stays.by_thread, why->focus, 0);
	const struct stay_row *last_stay =
		stay_at(&why->stays, &why->stays.by_thread, why->focus, last);
	const struct stay_birth *birth = stays_birth(&why->stays, why->focus, first_stay->ts);

	*start = context->window.start;
	*end = context->window.end;
	if (why->focus_proc != PROC_NONE) {
		const struct proc *proc = procs_get(context->procs, why->focus_proc);

		*start = context_clip(context, proc->start);
		*end = context_clip(context, proc->end);
	}
	if (birth && birth->ts > *start)
		*start = context_clip(context, birth->ts);
	if (last_stay->end > *end) /* on its way out it is still on a CPU */
		*end = context_clip(context, last_stay->end);
	if (*end < *start)
		*end = *start;
}

static int check_recording(const struct why *why, struct error *e)
{
	if (!stays_count(&why->stays))
		return error_set(
			e, -ENODATA,
			"the recording has no layer sched, which tells who ran and who woke whom: "
			"record with all default layers, or with -e sched,io,fs,block,fault");
	if (!why->stays.has_wakes)
		return error_set(e, -ENODATA,
				 "the recording does not tell when threads were woken "
				 "(sched.wake_ts): it is of an older "
				 "strata; record again");
	return 0;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncasecmp(text, start, strlen(start));
}

/* A phase that the job named so, with its beginning and its end. */
static bool is_evaluation(const struct phase *phase)
{
	return !phase->open && !phase->point &&
	       (begins_with(phase->stem, "eval") || begins_with(phase->stem, "valid"));
}

static int cut_contexts(struct why *why)
{
	size_t most = why->phases.count + saves_count(&why->saves), count = 0;
	struct why_span *spans = calloc(most + 1, sizeof(*spans));
	uint64_t reached = why->steps.count ? why->steps.list[0].start : UINT64_MAX;
	int err;

	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < why->phases.count; i++) {
		const struct phase *phase = &why->phases.list[i];

		if (phase->start < reached || !is_evaluation(phase))
			continue;
		spans[count++] = (struct why_span){ phase->start, phase->end };
		reached = phase->end;
	}
	err = ledger_cut(&why->ledger, spans, count, WHY_CONTEXT_EVALUATION);
	count = 0;
	for (size_t i = 0; i < saves_count(&why->saves); i++)
		spans[count++] = (struct why_span){ saves_get(&why->saves, i)->start,
						    saves_get(&why->saves, i)->end };
	if (!err)
		err = ledger_cut(&why->ledger, spans, count, WHY_CONTEXT_SAVE);
	free(spans);
	return err;
}

int why_load(struct why *why, const char *path, struct reader *reader, const struct dims *dims,
	     const struct why_options *options, struct error *e)
{
	uint64_t start, end;
	int err;

	*why = (struct why){ 0 };
	err = load_context(why, path, reader, dims, e);
	if (!err)
		err = load_steps(why, reader, e);
	if (!err)
		err = stays_load(&why->stays, reader, &why->context, e);
	if (!err)
		err = check_recording(why, e);
	if (!err)
		err = choose_focus(why, options, e);
	if (!err)
		err = why_calls_load(&why->calls, reader, &why->stays, why->focus, e);
	if (!err)
		err = gpus_load(&why->gpus, reader, &why->stays, &why->calls.names, e);
	if (err)
		return err;
	find_life(why, &start, &end);
	if (judge_open(&why->judge, &why->context, &why->stays, &why->calls, why->focus,
		       why->focus_proc) ||
	    saves_find(&why->saves, &why->calls, dims, &why->steps, why->focus) ||
	    ledger_open(&why->ledger, start, end, &why->steps) || cut_contexts(why) ||
	    windows_open(&why->windows, &why->steps, start, end))
		return error_set(e, -ENOMEM, "no memory for the ledger");
	why->ledger.keeps_pieces = options->keep_pieces;
	verdict_find_loop(why);
	costs_open(&why->costs, why->verdict.start, why->verdict.end);
	if (focus_charge(why) || ledger_finish(&why->ledger) || costs_finish(&why->costs, dims) ||
	    gpus_charge(why) || batches_finish(&why->batches, why->focus_proc))
		return error_set(e, -ENOMEM, "no memory for the ledger");
	assert(why->ledger.total_ns == end - start);
	why->may_spin =
		!why->summary.tables[TABLE_gpu_op].rows && why->summary.tables[TABLE_gpu].rows;
	if (mix_finish(why, why->verdict.start, why->verdict.end) || verdict_reach(why))
		return error_set(e, -ENOMEM, "no memory for the verdict");
	return 0;
}

void why_free(struct why *why)
{
	gpus_free(&why->gpus);
	costs_close(&why->costs);
	windows_close(&why->windows);
	mix_free(&why->mix);
	batches_free(&why->batches);
	saves_free(&why->saves);
	ledger_close(&why->ledger);
	judge_close(&why->judge);
	why_calls_free(&why->calls);
	stays_free(&why->stays);
	steps_free(&why->steps);
	context_close(&why->context);
	phases_free(&why->phases);
	summary_free(&why->summary);
	*why = (struct why){ 0 };
}

const char *why_line_name(const struct why *why, const struct why_line *line, size_t *size)
{
	*size = 0;
	return line->name == UINT32_MAX ? NULL : strings_get(&why->calls.names, line->name, size);
}
