#include "analyze/container_use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

#define NOT_COUNTED UINT32_MAX

/* The group of each process, and how many groups: the first is what is outside of any container. */
static int number_groups(const struct context *context, uint32_t *of, struct strings *names)
{
	uint32_t number;
	int err = strings_add(names, "", 0, &number);

	for (uint32_t i = 0; i < procs_count(context->procs) && !err; i++) {
		const struct proc *proc = procs_get(context->procs, i);

		of[i] = NOT_COUNTED;
		if (proc->in_job)
			err = strings_add(names, proc->container.bytes ? proc->container.bytes : "",
					  proc->container.size, &of[i]);
	}
	return err;
}

static void add_processes(struct container_use *list, const uint32_t *of,
			  const struct context *context)
{
	for (uint32_t i = 0; i < procs_count(context->procs); i++) {
		if (of[i] == NOT_COUNTED)
			continue;
		list[of[i]].processes++;
		list[of[i]].container = procs_get(context->procs, i)->container;
	}
}

static void add_use(struct container_use *list, const uint32_t *of, const struct tasks *tasks,
		    const struct files *files)
{
	for (size_t i = 0; i < tasks->process_count; i++) {
		const struct task_process *process = &tasks->processes[i];

		if (process->proc == PROC_NONE || of[process->proc] == NOT_COUNTED)
			continue;
		list[of[process->proc]].cpu_ns += process->cpu_ns;
		list[of[process->proc]].wait_ns += process->wait_ns;
	}
	for (size_t i = 0; i < files->process_count; i++) {
		const struct process_use *process = &files->processes[i];
		struct container_use *use;

		if (process->proc == PROC_NONE || of[process->proc] == NOT_COUNTED)
			continue;
		use = &list[of[process->proc]];
		traffic_add(&use->read, &process->read);
		traffic_add(&use->written, &process->written);
		use->metadata_ns += process->metadata_ns;
	}
}

static int compare_uses(const void *a, const void *b)
{
	const struct container_use *left = a, *right = b;
	uint64_t moved = left->read.bytes + left->written.bytes;
	uint64_t other = right->read.bytes + right->written.bytes;
	size_t size = left->container.size < right->container.size ? left->container.size
								   : right->container.size;
	int order;

	if (left->cpu_ns != right->cpu_ns)
		return left->cpu_ns > right->cpu_ns ? -1 : 1;
	if (moved != other)
		return moved > other ? -1 : 1;
	order = size ? memcmp(left->container.bytes, right->container.bytes, size) : 0;
	return order ? order
		     : (left->container.size > right->container.size) -
			       (left->container.size < right->container.size);
}

int container_uses_load(struct container_uses *uses, const struct context *context,
			const struct tasks *tasks, const struct files *files)
{
	uint32_t *of = calloc(procs_count(context->procs) + 1, sizeof(*of));
	struct strings names = { 0 };
	int err = of ? number_groups(context, of, &names) : -ENOMEM;

	*uses = (struct container_uses){ 0 };
	if (!err && names.count > 2) { /* with the one outside of any */
		uses->list = calloc(names.count, sizeof(*uses->list));
		err = uses->list ? 0 : -ENOMEM;
	}
	if (!err && uses->list) {
		add_processes(uses->list, of, context);
		add_use(uses->list, of, tasks, files);
		qsort(uses->list, names.count, sizeof(*uses->list), compare_uses);
		for (size_t i = 0; i < names.count; i++)
			if (uses->list[i].processes)
				uses->list[uses->count++] = uses->list[i];
	}
	strings_free(&names);
	free(of);
	return err;
}

void container_uses_free(struct container_uses *uses)
{
	free(uses->list);
	*uses = (struct container_uses){ 0 };
}
