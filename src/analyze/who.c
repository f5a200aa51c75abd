#include "analyze/who.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const kernel_prefixes[] = { "kworker/", "ksoftirqd/", "migration/", "cpuhp/" };

/* The bytes of the name that stay: all, or those before the slash. */
static size_t task_name_size(const char *comm, size_t size, bool kernel)
{
	const char *slash = memchr(comm, '/', size);

	for (size_t i = 0; i < sizeof(kernel_prefixes) / sizeof(*kernel_prefixes) && !kernel; i++) {
		size_t length = strlen(kernel_prefixes[i]);

		kernel = size >= length && !memcmp(comm, kernel_prefixes[i], length);
	}
	return kernel && slash && slash != comm ? (size_t)(slash - comm) : size;
}

int who_name_proc(struct who *who, const struct proc *proc, uint32_t *name)
{
	*name = who->unknown;
	if (!proc->comm.size)
		return 0;
	return strings_add(&who->names, proc->comm.bytes,
			   task_name_size(proc->comm.bytes, proc->comm.size, proc->kernel), name);
}

static int name_thread(struct who *who, uint32_t i)
{
	const struct thread_row *row = threads_row(who->threads, i);
	uint64_t ts = row->first_ts == CELL_NULL ? 0 : (uint64_t)row->first_ts;
	uint32_t proc = row->pid == CELL_NULL ? PROC_NONE : procs_find(who->procs, row->pid, ts);
	bool kernel = proc != PROC_NONE && procs_get(who->procs, proc)->kernel;

	who->proc_of[i] = proc;
	who->name_of[i] = row->tid ? who->unknown : who->idle;
	if (!row->tid || !row->comm_size)
		return 0;
	return strings_add(&who->names, row->comm,
			   task_name_size(row->comm, row->comm_size, kernel), &who->name_of[i]);
}

int who_open(struct who *who, const struct dims *dims, const struct procs *procs, struct error *e)
{
	int err;

	*who = (struct who){ .threads = dims_threads(dims), .procs = procs };
	who->last.limit = SIZE_MAX;
	who->thread_count = (uint32_t)threads_count(who->threads);
	who->name_of = calloc(who->thread_count + 1, sizeof(*who->name_of));
	who->proc_of = calloc(who->thread_count + 1, sizeof(*who->proc_of));
	err = who->name_of && who->proc_of ? 0 : -ENOMEM;
	if (!err)
		err = strings_add(&who->names, "idle", 4, &who->idle);
	if (!err)
		err = strings_add(&who->names, "(unknown)", 9, &who->unknown);
	for (uint32_t i = 0; i < who->thread_count && !err; i++)
		err = name_thread(who, i);
	if (err) {
		who_close(who);
		return error_set(e, err, "no memory for the threads");
	}
	return 0;
}

void who_close(struct who *who)
{
	strings_free(&who->names);
	numbering_free(&who->by_tid);
	buf_free(&who->last);
	free(who->name_of);
	free(who->proc_of);
	*who = (struct who){ 0 };
}

static bool holds(const struct thread_row *row, uint64_t ts)
{
	return (row->first_ts == CELL_NULL || (uint64_t)row->first_ts <= ts) &&
	       (row->last_ts == CELL_NULL || ts < (uint64_t)row->last_ts);
}

uint32_t who_thread(struct who *who, int64_t tid, uint64_t ts)
{
	const struct thread_row *row;
	uint32_t number, *last;
	int new;

	if (tid == CELL_NULL)
		return WHO_NONE;
	new = numbering_add(&who->by_tid, (uint64_t)tid, &number);
	if (new < 0 || (new &&buf_append(&who->last, &(uint32_t){ WHO_NONE }, sizeof(*last))))
		return WHO_NONE;
	if (number >= who->last.size / sizeof(*last)) /* no memory for it when it was new */
		return WHO_NONE;
	last = (uint32_t *)who->last.data + number;
	if (*last != WHO_NONE && holds(threads_row(who->threads, *last), ts))
		return *last;
	/* After its exit a thread still runs for a moment: nobody else has its id yet. */
	row = threads_find(who->threads, tid, ts);
	if (row)
		*last = (uint32_t)(row - threads_row(who->threads, 0));
	return *last;
}
