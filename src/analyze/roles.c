#include "analyze/roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/rows.h"

const char *const role_names[PROC_ROLE_COUNT] = {
#define ROLE_NAME(id, name) name,
	ROLES(ROLE_NAME)
#undef ROLE_NAME
};

/* What a launcher runs lives for this share of the launcher's own life. */
#define MOST_OF_LIFE 0.8

static uint64_t life_of(const struct proc *proc, const struct span *span)
{
	uint64_t end = proc->end < span->end ? proc->end : span->end;

	return end > proc->start ? end - proc->start : 0;
}

static bool args_have(const struct proc *proc, const char *text)
{
	return proc->args.bytes &&
	       memmem(proc->args.bytes, proc->args.size, text, strlen(text)) != NULL;
}

/* The process of a GPU's table that comes first, as far as it is the job's. */
static int find_gpu_user(const struct procs *procs, struct reader *reader, unsigned table,
			 unsigned ts_column, unsigned pid_column, uint32_t *found, struct error *e)
{
	struct rows *rows = NULL;
	int err, more = 0;

	err = rows_open(&rows, reader, table, 1ull << ts_column | 1ull << pid_column, 0, UINT64_MAX,
			e);
	while (!err && *found == PROC_NONE && (more = rows_next(rows, e)) > 0) {
		uint32_t proc = procs_find(procs, rows_cell(rows, pid_column),
					   (uint64_t)rows_cell(rows, ts_column));

		if (proc != PROC_NONE && procs_get(procs, proc)->in_job)
			*found = proc;
	}
	rows_close(rows);
	return err ? err : more < 0 ? more : 0;
}

/* From the command down to what it runs for most of its own time. */
static uint32_t find_main_by_tree(const struct procs *procs, const struct span *span)
{
	uint32_t at = PROC_NONE;

	for (uint32_t i = 0; i < procs_count(procs); i++)
		if (procs_get(procs, i)->root && procs_get(procs, i)->in_job &&
		    (at == PROC_NONE ||
		     life_of(procs_get(procs, i), span) > life_of(procs_get(procs, at), span)))
			at = i;
	for (uint32_t depth = 0; at != PROC_NONE && depth < procs_count(procs); depth++) {
		uint32_t next = PROC_NONE;
		uint64_t longest =
			(uint64_t)((double)life_of(procs_get(procs, at), span) * MOST_OF_LIFE);

		for (uint32_t i = 0; i < procs_count(procs); i++) {
			const struct proc *proc = procs_get(procs, i);

			if (proc->parent != at || i == at || !proc->execed ||
			    args_have(proc, "multiprocessing") || life_of(proc, span) <= longest)
				continue;
			next = i;
			longest = life_of(proc, span);
		}
		if (next == PROC_NONE)
			return at;
		at = next;
	}
	return at;
}

static bool is_worker(const struct roles *roles, const struct procs *procs, const struct proc *proc)
{
	const struct proc *parent;

	if (proc->parent == PROC_NONE || !proc->born)
		return false;
	parent = procs_get(procs, proc->parent);
	if (proc->execed)
		return roles->of[proc->parent] == PROC_ROLE_MAIN &&
		       args_have(proc, "multiprocessing.spawn");
	return roles->of[proc->parent] == PROC_ROLE_MAIN ||
	       args_have(parent, "multiprocessing.forkserver");
}

static void name_roles(struct roles *roles, const struct procs *procs, const struct span *span)
{
	const struct proc *main = roles->main == PROC_NONE ? NULL : procs_get(procs, roles->main);

	for (uint32_t i = 0; i < procs_count(procs); i++) {
		const struct proc *proc = procs_get(procs, i);

		roles->of[i] = proc->kernel	      ? PROC_ROLE_KERNEL
			       : main && proc->in_job ? PROC_ROLE_HELPER
						      : PROC_ROLE_OTHER;
		/* Ranks that one launcher started: as long at work as the one that was found. */
		if (main && !main->root && proc->in_job && proc->execed &&
		    proc->parent == main->parent && proc->parent != PROC_NONE &&
		    (double)life_of(proc, span) >= (double)life_of(main, span) * MOST_OF_LIFE)
			roles->of[i] = PROC_ROLE_MAIN;
	}
	if (!main)
		return;
	roles->of[roles->main] = PROC_ROLE_MAIN;
	for (uint32_t at = main->parent, depth = 0;
	     at != PROC_NONE && procs_get(procs, at)->in_job && depth < procs_count(procs);
	     at = procs_get(procs, at)->parent, depth++)
		roles->of[at] = PROC_ROLE_LAUNCHER;
	for (uint32_t i = 0; i < procs_count(procs); i++)
		if (roles->of[i] == PROC_ROLE_HELPER &&
		    is_worker(roles, procs, procs_get(procs, i)))
			roles->of[i] = PROC_ROLE_WORKER;
}

struct edge {
	uint64_t ts;
	int change;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->change - right->change;
}

static int count_roles(struct roles *roles, const struct procs *procs)
{
	struct edge *edges = calloc(2 * (size_t)procs_count(procs) + 1, sizeof(*edges));
	size_t used = 0;
	int now = 0;

	if (!edges)
		return -ENOMEM;
	for (uint32_t i = 0; i < procs_count(procs); i++) {
		roles->counts[roles->of[i]]++;
		if (roles->of[i] != PROC_ROLE_WORKER)
			continue;
		edges[used++] = (struct edge){ procs_get(procs, i)->start, 1 };
		edges[used++] = (struct edge){ procs_get(procs, i)->end, -1 };
	}
	qsort(edges, used, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < used; i++) {
		now += edges[i].change;
		if (now > (int)roles->workers_at_once)
			roles->workers_at_once = (uint32_t)now;
	}
	free(edges);
	return 0;
}

int roles_load(struct roles *roles, const struct procs *procs, struct reader *reader,
	       const struct span *span, struct error *e)
{
	int err;

	*roles = (struct roles){ .main = PROC_NONE };
	roles->of = calloc(procs_count(procs) + 1, sizeof(*roles->of));
	if (!roles->of)
		return error_set(e, -ENOMEM, "no memory for the roles");
	err = find_gpu_user(procs, reader, TABLE_gpu_op, column_gpu_op_ts, column_gpu_op_pid,
			    &roles->main, e);
	if (!err)
		err = find_gpu_user(procs, reader, TABLE_gpu_process, column_gpu_process_ts,
				    column_gpu_process_pid, &roles->main, e);
	roles->by_gpu = roles->main != PROC_NONE;
	if (!err && !roles->by_gpu && procs_has_job(procs))
		roles->main = find_main_by_tree(procs, span);
	if (!err) {
		name_roles(roles, procs, span);
		if (count_roles(roles, procs))
			err = error_set(e, -ENOMEM, "no memory for the roles");
	}
	if (err)
		roles_free(roles);
	return err;
}

void roles_free(struct roles *roles)
{
	free(roles->of);
	*roles = (struct roles){ .main = PROC_NONE };
}
