#include "analyze/why.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "analyze/scan.h"
#include "analyze/why_bound.h"
#include "analyze/why_focus.h"

/* ---- loading ---- */

static int load_steps(struct why *why, struct reader *reader, struct error *e)
{
	struct scan_sink sink;
	int err;

	if (steps_open(&why->steps, &why->context))
		return error_set(e, -ENOMEM, "out of memory");
	sink = steps_sink(&why->steps);
	err = scan_run(reader, &sink, 1, e);
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

/* ---- the verdict ---- */

static const char *refuse(const struct why *why)
{
	for (size_t i = 0; i < why->summary.loss_count; i++)
		if (!strcmp(why->summary.losses[i].layer, schema_layers[LAYER_sched].name))
			return "rows of table sched were lost: a larger --buffer keeps them";
	if (why->summary.off.windows)
		return "the recording was switched off for a part of the time, and nothing tells "
		       "what "
		       "was then";
	return why->ledger.total_ns ? NULL : "the thread had no time in the recording";
}

/* What of a count by context is in the loop: training and the turns between, or all where there are no steps. */
static uint64_t in_loop(const struct why_verdict *verdict, const uint64_t *by_context)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WHY_CONTEXT_COUNT; i++)
		if (!verdict->loop || i == WHY_CONTEXT_TRAINING || i == WHY_CONTEXT_TURN)
			sum += by_context[i];
	return sum;
}

static void find_cause(const struct ledger *ledger, struct why_verdict *verdict)
{
	for (unsigned i = 0; i < WHY_CAUSE_COUNT; i++) {
		uint64_t by_context[WHY_CONTEXT_COUNT], ns;

		for (unsigned k = 0; k < WHY_CONTEXT_COUNT; k++)
			by_context[k] = ledger->context_causes[k][i];
		ns = in_loop(verdict, by_context);
		if (ns > verdict->ns) {
			verdict->ns = ns;
			verdict->cause = (enum why_cause)i;
		}
	}
	for (size_t i = 0; i < ledger->sum_count; i++) {
		const struct why_sum *sum = &ledger->sums[i];
		uint64_t ns = in_loop(verdict, sum->by_context);

		if (why_acts[sum->act].cause == verdict->cause && ns > verdict->sum_ns) {
			verdict->sum_ns = ns;
			verdict->sum = sum;
		}
	}
}

static int judge_run(struct why *why)
{
	const struct ledger *ledger = &why->ledger;
	struct why_verdict *verdict = &why->verdict;
	uint64_t start = ledger->start, end = ledger->end;

	verdict->refused = refuse(why);
	if (verdict->refused)
		return 0;
	verdict->known = true;
	verdict->loop = ledger->by_context[WHY_CONTEXT_TRAINING] > 0;
	verdict->of_ns = in_loop(verdict, ledger->by_context);
	find_cause(ledger, verdict);
	verdict->share = share_of(verdict->ns, verdict->of_ns);
	verdict->bound_ns = verdict->of_ns - verdict->sum_ns;
	if (verdict->cause != WHY_input)
		return 0;
	if (verdict->loop) {
		start += ledger->by_context[WHY_CONTEXT_START];
		end -= ledger->by_context[WHY_CONTEXT_END];
	}
	return why_bound(why, start, end, verdict->ns, verdict->sum->act, &verdict->bound_ns);
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
	if (err)
		return err;
	find_life(why, &start, &end);
	if (judge_open(&why->judge, &why->context, &why->stays, &why->calls, why->focus,
		       why->focus_proc) ||
	    ledger_open(&why->ledger, start, end, &why->steps) || focus_charge(why) ||
	    ledger_finish(&why->ledger))
		return error_set(e, -ENOMEM, "no memory for the ledger");
	assert(why->ledger.total_ns == end - start);
	why->may_spin =
		!why->summary.tables[TABLE_gpu_op].rows && why->summary.tables[TABLE_gpu].rows;
	judge_run(why);
	return 0;
}

void why_free(struct why *why)
{
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
