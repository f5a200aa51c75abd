#include "analyze/role_use.h"

#include <string.h>

void role_use_load(struct role_use uses[PROC_ROLE_COUNT], const struct context *context,
		   const struct tasks *tasks, const struct files *files, const struct waits *waits)
{
	const struct roles *roles = &context->roles;

	memset(uses, 0, PROC_ROLE_COUNT * sizeof(*uses));
	for (unsigned i = 0; i < PROC_ROLE_COUNT; i++) {
		uses[i].processes = roles->counts[i];
		memcpy(uses[i].wakes, waits->wakes[i], sizeof(uses[i].wakes));
	}
	for (size_t i = 0; i < tasks->process_count; i++) {
		const struct task_process *process = &tasks->processes[i];

		uses[roles->of[process->proc]].cpu_ns += process->cpu_ns;
		uses[roles->of[process->proc]].wait_ns += process->wait_ns;
	}
	for (size_t i = 0; i < files->process_count; i++) {
		const struct process_use *process = &files->processes[i];
		struct role_use *use = &uses[process->proc == PROC_NONE ? PROC_ROLE_OTHER
									: roles->of[process->proc]];

		traffic_add(&use->read, &process->read);
		traffic_add(&use->written, &process->written);
		use->metadata_ns += process->metadata_ns;
	}
}
