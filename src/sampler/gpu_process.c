#include "sampler/gpu_process.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define MOST_PROCESSES 1024
#define MOST_USES      4096

const char *gpu_process_type(const struct gpu_process *process)
{
	if (process->shares)
		return "M+C";
	if (process->computes)
		return process->draws ? "C+G" : "C";
	return process->draws ? "G" : "";
}

/* pmon's name is that of the program's file; the thread's name does where the driver knows none. */
static void find_command(const struct nvml *nvml, struct gpu_process *process)
{
	char path[256] = "", *name = path;
	FILE *comm;

	if (nvml->process_name && !nvml->process_name(process->pid, path, sizeof(path))) {
		path[sizeof(path) - 1] = '\0';
		path[strcspn(path, " \n")] = '\0'; /* arguments may follow */
		name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	} else {
		snprintf(path, sizeof(path), "/proc/%u/comm", process->pid);
		comm = fopen(path, "re");
		path[0] = '\0';
		if (comm && fgets(path, sizeof(path), comm))
			path[strcspn(path, "\n")] = '\0';
		if (comm)
			fclose(comm);
	}
	snprintf(process->command, sizeof(process->command), "%s", name);
}

/* The process of this reading; made, if it is new. NULL: out of memory. */
static struct gpu_process *find_process(const struct gpu_process *model, struct buf *processes,
					size_t first, unsigned pid)
{
	struct gpu_process *found = (struct gpu_process *)processes->data;
	struct gpu_process made = *model;

	for (size_t i = first; i < processes->size / sizeof(*found); i++)
		if (found[i].pid == pid)
			return &found[i];
	made.pid = pid;
	if (buf_append(processes, &made, sizeof(made)))
		return NULL;
	return (struct gpu_process *)(processes->data + processes->size) - 1;
}

typedef int process_list(nvml_device, unsigned *, struct nvml_process *);

static unsigned list_processes(process_list *ask, nvml_device handle, struct nvml_process *list)
{
	unsigned count = MOST_PROCESSES;

	return ask && !ask(handle, &count, list) && count <= MOST_PROCESSES ? count : 0;
}

static void take_lists(const struct nvml *nvml, const struct gpu_device *device, struct buf *spare,
		       const struct gpu_process *model, struct buf *processes, size_t first)
{
	process_list *const lists[] = {
		nvml->compute_v3 ? nvml->compute_v3 : nvml->compute_v2,
		nvml->graphics_v3 ? nvml->graphics_v3 : nvml->graphics_v2,
		nvml->mps_v3,
	};
	struct nvml_process *list = buf_reserve(spare, MOST_PROCESSES * sizeof(*list));

	for (unsigned kind = 0; list && kind < 3; kind++) {
		unsigned count = list_processes(lists[kind], device->handle, list);

		for (unsigned i = 0; i < count; i++) {
			struct gpu_process *process =
				find_process(model, processes, first, list[i].pid);

			if (!process)
				return;
			process->computes |= kind == 0;
			process->draws |= kind == 1;
			process->shares |= kind == 2;
			if (list[i].memory != NVML_NOT_AVAILABLE)
				process->fb = list[i].memory;
		}
	}
}

static void add_use(struct gpu_process *process, const struct nvml_process_use_v1 *use, bool newer)
{
	if (!process->uses++)
		process->sm = process->mem = process->enc = process->dec = process->jpg =
			process->ofa = 0;
	process->sm += use->sm;
	process->mem += use->mem;
	process->enc += use->enc;
	process->dec += use->dec;
	process->jpg += newer ? use->jpg : NAN;
	process->ofa += newer ? use->ofa : NAN;
}

/* What the newer function tells; drivers before 550 have only the older one, which knows fewer engines. Returns how many, or
 * -result. */
static int list_uses(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		     struct nvml_process_use_v1 **out, bool *newer)
{
	struct nvml_process_uses asked = { .version = NVML_VERSION(struct nvml_process_uses, 1),
					   .count = MOST_USES,
					   .since = device->processes_seen };
	unsigned count = MOST_USES;
	struct nvml_process_use *old;
	int result = NVML_ERROR_NOT_SUPPORTED;

	asked.uses = buf_reserve(spare, MOST_USES * (sizeof(*asked.uses) + sizeof(*old)));
	if (!asked.uses)
		return 0;
	*out = asked.uses;
	*newer = nvml->process_uses && !(result = nvml->process_uses(device->handle, &asked));
	if (*newer)
		return asked.count < MOST_USES ? (int)asked.count : MOST_USES;
	old = (struct nvml_process_use *)(asked.uses + MOST_USES);
	if (nvml->process_use)
		result = nvml->process_use(device->handle, old, &count, device->processes_seen);
	if (result)
		return -result;
	for (unsigned i = 0; i < count && i < MOST_USES; i++)
		(*out)[i] = (struct nvml_process_use_v1){ .time = old[i].time,
							  .pid = old[i].pid,
							  .sm = old[i].sm,
							  .mem = old[i].mem,
							  .enc = old[i].enc,
							  .dec = old[i].dec };
	return count < MOST_USES ? (int)count : MOST_USES;
}

static int take_uses(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		     const struct gpu_process *model, struct buf *processes, size_t first)
{
	unsigned long long seen = device->processes_seen;
	struct nvml_process_use_v1 *uses = NULL;
	bool newer = false;
	int count = list_uses(nvml, device, spare, &uses, &newer);

	for (int i = 0; i < count; i++) {
		struct gpu_process *process;

		if (!uses[i].pid || uses[i].time <= seen)
			continue;
		if (uses[i].time > device->processes_seen)
			device->processes_seen = uses[i].time;
		process = find_process(model, processes, first, uses[i].pid);
		if (process)
			add_use(process, &uses[i], newer);
	}
	/* NOT_FOUND: nobody has used it since. */
	return count < 0 && count != -NVML_ERROR_NOT_FOUND ? -count : NVML_SUCCESS;
}

int gpu_processes_read(const struct nvml *nvml, struct gpu_device *device, struct buf *spare,
		       struct buf *processes)
{
	const struct gpu_process model = { .ts = clock_boot(),
					   .gpu = device->gpu,
					   .mig = device->mig,
					   .sm = NAN,
					   .mem = NAN,
					   .enc = NAN,
					   .dec = NAN,
					   .jpg = NAN,
					   .ofa = NAN,
					   .fb = GPU_UNKNOWN };
	size_t first = processes->size / sizeof(model);
	struct gpu_process *found;
	int result;

	if (device->sliced) /* its slices tell */
		return NVML_SUCCESS;
	take_lists(nvml, device, spare, &model, processes, first);
	result = take_uses(nvml, device, spare, &model, processes, first);
	found = (struct gpu_process *)processes->data;
	for (size_t i = first; i < processes->size / sizeof(*found); i++) {
		double *sums[] = { &found[i].sm,  &found[i].mem, &found[i].enc,
				   &found[i].dec, &found[i].jpg, &found[i].ofa };

		for (unsigned k = 0; k < 6 && found[i].uses; k++)
			*sums[k] /= found[i].uses;
		find_command(nvml, &found[i]);
	}
	return result;
}
