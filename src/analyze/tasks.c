#include "analyze/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"

#define MOST_CPUS 65536

int tasks_open(struct tasks *tasks, struct context *context)
{
	*tasks = (struct tasks){ .context = context };
	tasks->by_name.limit = tasks->by_proc.limit = tasks->by_cpu.limit = SIZE_MAX;
	return 0;
}

/* A hole in the tiling of a CPU's time by its stays. */
static void note_gap(struct tasks *tasks, struct task_cpu *cpu, uint64_t from, uint64_t to)
{
	if (to <= from)
		return;
	cpu->gaps++;
	cpu->gap_ns += to - from;
	if (to - from > cpu->longest_gap_ns)
		cpu->longest_gap_ns = to - from;
	tasks->gaps++;
	tasks->gap_ns += to - from;
}

static int take_on_cpu(struct tasks *tasks, int64_t number, uint64_t from, uint64_t to, bool idle)
{
	struct task_cpu *cpu;

	if (number < 0 || number >= MOST_CPUS)
		return 0;
	cpu = buf_element(&tasks->by_cpu, (size_t)number, sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	if (!cpu->covered_until)
		cpu->covered_until = tasks->context->window.start;
	note_gap(tasks, cpu, cpu->covered_until, from);
	if (to > cpu->covered_until)
		cpu->covered_until = to;
	if (idle)
		cpu->idle_ns += to - from;
	else
		cpu->busy_ns += to - from;
	cpu->stays += !idle;
	return 0;
}

static int take_by_name(struct tasks *tasks, const struct rows *rows, uint32_t number, uint64_t ns,
			int64_t wait)
{
	struct task_name *name = buf_element(&tasks->by_name, number, sizeof(*name));

	if (!name)
		return -ENOMEM;
	name->cpu_ns += ns;
	name->stays++;
	name->preempted += rows_name(rows, column_sched_end_state) == END_STATE_R;
	return wait == CELL_NULL ? 0 : hist_add(&name->waits, (uint64_t)wait);
}

static int take_by_process(struct tasks *tasks, uint32_t proc, uint64_t from, uint64_t to,
			   int64_t wait)
{
	struct context *context = tasks->context;
	struct task_process *process;

	if (proc == PROC_NONE)
		return 0;
	process = buf_element(&tasks->by_proc, proc, sizeof(*process));
	if (!process)
		return -ENOMEM;
	process->cpu_ns += to - from;
	process->stays++;
	process->wait_ns += wait == CELL_NULL ? 0 : (uint64_t)wait;
	if (!context_in_job(context, proc))
		return 0;
	tasks->job_cpu_ns += to - from;
	segments_add_time(&context->segments, FIGURE_PLACE(cpu_ns), from, to);
	if (wait == CELL_NULL)
		return 0;
	tasks->job_wait_ns += (uint64_t)wait;
	segments_add_time(&context->segments, FIGURE_PLACE(queue_ns), from - (uint64_t)wait, from);
	return hist_add(&tasks->job_waits, (uint64_t)wait);
}

static int tasks_take(void *state, const struct rows *rows)
{
	struct tasks *tasks = state;
	struct context *context = tasks->context;
	uint64_t ts = (uint64_t)rows_cell(rows, column_sched_ts), from, to;
	int64_t dur = rows_cell(rows, column_sched_dur), tid = rows_cell(rows, column_sched_tid);
	int64_t wait = rows_cell(rows, column_sched_wait);
	uint32_t thread, name, proc;

	from = context_clip(context, ts);
	to = dur == CELL_NULL ? context->window.end : context_clip(context, ts + (uint64_t)dur);
	if (to < from || (to == from && !context_inside(context, ts)))
		return 0;
	tasks->known = true;
	thread = who_thread(&context->who, tid, ts);
	name = tid ? who_name(&context->who, thread) : context->who.idle;
	if (wait != CELL_NULL && (uint64_t)wait > from)
		wait = CELL_NULL; /* only in a forged file */
	if (!tid)
		wait = CELL_NULL;
	if (take_on_cpu(tasks, rows_cell(rows, column_sched_cpu), from, to, !tid) ||
	    take_by_name(tasks, rows, name, to - from, wait))
		return -ENOMEM;
	if (!tid) {
		tasks->idle_ns += to - from;
		return 0;
	}
	tasks->stays++;
	tasks->busy_ns += to - from;
	tasks->wait_ns += wait == CELL_NULL ? 0 : (uint64_t)wait;
	proc = who_proc_of(&context->who, thread, rows_cell(rows, column_sched_pid), ts);
	if (thread != WHO_NONE &&
	    proc == PROC_NONE) /* it leaves only itself out of table process */
		tasks->strata_ns += to - from;
	return take_by_process(tasks, proc, from, to, wait);
}

struct scan_sink tasks_sink(struct tasks *tasks)
{
	return (struct scan_sink){
		.table = TABLE_sched,
		.columns = SCAN_COLUMN(sched, ts) | SCAN_COLUMN(sched, dur) |
			   SCAN_COLUMN(sched, cpu) | SCAN_COLUMN(sched, pid) |
			   SCAN_COLUMN(sched, tid) | SCAN_COLUMN(sched, wait) |
			   SCAN_COLUMN(sched, end_state),
		.take = tasks_take,
		.state = tasks,
	};
}

/* ---- when all rows are in ---- */

static int count_lives(struct tasks *tasks)
{
	struct context *context = tasks->context;

	for (uint32_t i = 0; i < procs_count(context->procs); i++) {
		const struct proc *proc = procs_get(context->procs, i);
		struct task_name *name;
		uint32_t number;

		if (proc->start > context->window.end || proc->end < context->window.start)
			continue;
		if (who_name_proc(&context->who, proc, &number))
			return -ENOMEM;
		name = buf_element(&tasks->by_name, number, sizeof(*name));
		if (!name)
			return -ENOMEM;
		name->processes++;
		name->job_processes += proc->in_job;
		if (proc->born && proc->end != UINT64_MAX) {
			name->lives++;
			name->life_ns += proc->end - proc->start;
		}
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct task_name *left = a, *right = b;

	if (left->cpu_ns != right->cpu_ns)
		return left->cpu_ns > right->cpu_ns ? -1 : 1;
	return left->processes > right->processes ? -1 : left->processes < right->processes;
}

static int compare_processes(const void *a, const void *b)
{
	const struct task_process *left = a, *right = b;

	return left->cpu_ns > right->cpu_ns ? -1 : left->cpu_ns < right->cpu_ns;
}

static bool is_called(const struct task_name *name, const char *text)
{
	return name->name_size == strlen(text) && !memcmp(name->name, text, name->name_size);
}

static void finish_name(const struct tasks *tasks, struct task_name *name, uint32_t number)
{
	const struct who *who = &tasks->context->who;

	name->name = strings_get(&who->names, number, &name->name_size);
	name->idle = number == who->idle;
	name->telling = name->idle || is_called(name, "kworker");
	name->share = share_of(name->cpu_ns, tasks->busy_ns + tasks->idle_ns);
	name->busy_share = name->idle ? NAN : share_of(name->cpu_ns, tasks->busy_ns);
	name->mean_stay_ns = share_of(name->cpu_ns, name->stays);
	name->mean_life_ns = share_of(name->life_ns, name->lives);
}

static int compare_process_counts(const void *a, const void *b, void *state)
{
	const struct task_name *names = state;
	const struct task_name *left = &names[*(const uint32_t *)a];
	const struct task_name *right = &names[*(const uint32_t *)b];

	if (left->processes != right->processes)
		return left->processes > right->processes ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int rank_by_processes(struct tasks *tasks)
{
	tasks->by_processes = calloc(tasks->name_count + 1, sizeof(*tasks->by_processes));
	if (!tasks->by_processes)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->name_count; i++)
		if (tasks->names[i].processes)
			tasks->by_processes[tasks->by_process_count++] = (uint32_t)i;
	qsort_r(tasks->by_processes, tasks->by_process_count, sizeof(*tasks->by_processes),
		compare_process_counts, tasks->names);
	return 0;
}

static int finish_names(struct tasks *tasks)
{
	size_t count = tasks->by_name.size / sizeof(struct task_name);
	uint32_t idle = tasks->context->who.idle; /* told also when no CPU ever was */

	tasks->names = (struct task_name *)tasks->by_name.data;
	for (size_t i = 0; i < count; i++) {
		struct task_name *name = &tasks->names[i];

		if (!name->stays && !name->processes && !(tasks->known && i == idle))
			continue;
		finish_name(tasks, name, (uint32_t)i);
		if (tasks->name_count != i) {
			tasks->names[tasks->name_count] = *name;
			name->waits = (struct hist){ 0 };
		}
		tasks->name_count++;
	}
	if (tasks->name_count)
		qsort(tasks->names, tasks->name_count, sizeof(*tasks->names), compare_names);
	return rank_by_processes(tasks);
}

static void finish_processes(struct tasks *tasks)
{
	size_t count = tasks->by_proc.size / sizeof(struct task_process);

	tasks->processes = (struct task_process *)tasks->by_proc.data;
	for (size_t i = 0; i < count; i++) {
		tasks->processes[i].proc = (uint32_t)i;
		if (tasks->processes[i].stays)
			tasks->processes[tasks->process_count++] = tasks->processes[i];
	}
	if (tasks->process_count)
		qsort(tasks->processes, tasks->process_count, sizeof(*tasks->processes),
		      compare_processes);
}

static void finish_cpus(struct tasks *tasks)
{
	size_t count = tasks->by_cpu.size / sizeof(struct task_cpu);

	tasks->cpus = (struct task_cpu *)tasks->by_cpu.data;
	for (size_t i = 0; i < count; i++) {
		struct task_cpu *cpu = &tasks->cpus[i];

		if (!cpu->covered_until)
			continue;
		note_gap(tasks, cpu, cpu->covered_until, tasks->context->window.end);
		cpu->cpu = i;
		cpu->busy_share = share_of(cpu->busy_ns, cpu->busy_ns + cpu->idle_ns);
		tasks->cpus[tasks->cpu_count++] = *cpu;
	}
}

int tasks_finish(struct tasks *tasks)
{
	const struct span *window = &tasks->context->window;

	if (count_lives(tasks) || finish_names(tasks))
		return -ENOMEM;
	finish_processes(tasks);
	finish_cpus(tasks);
	tasks->busy_share = share_of(tasks->busy_ns, tasks->busy_ns + tasks->idle_ns);
	tasks->job_cpus = tasks->known ? share_of(tasks->job_cpu_ns, span_length(window)) : NAN;
	return 0;
}

void tasks_free(struct tasks *tasks)
{
	struct task_name *names = (struct task_name *)tasks->by_name.data;

	for (size_t i = 0; i < tasks->by_name.size / sizeof(*names); i++)
		hist_free(&names[i].waits);
	hist_free(&tasks->job_waits);
	free(tasks->by_processes);
	buf_free(&tasks->by_name);
	buf_free(&tasks->by_proc);
	buf_free(&tasks->by_cpu);
	*tasks = (struct tasks){ 0 };
}
