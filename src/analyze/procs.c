#include "analyze/procs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/container.h"
#include "base/numbering.h"
#include "base/strings.h"
#include "store/rows.h"

#define NO_TEXT	 UINT32_MAX
#define KTHREADD 2

struct procs {
	struct buf list; /* struct proc, in order of (pid, start) once open */
	struct buf keys; /* struct keys of each, while loading */
	struct numbering by_pid;
	struct buf newest; /* uint32_t by number of by_pid: its newest life; later its first */
	struct strings texts;
	bool has_job;
};

struct keys {
	uint32_t comm, args, command, container;
};

static struct proc *proc_at(const struct procs *procs, uint32_t i)
{
	return (struct proc *)procs->list.data + i;
}

static struct keys *keys_at(const struct procs *procs, uint32_t i)
{
	return (struct keys *)procs->keys.data + i;
}

static uint32_t newest_of(const struct procs *procs, int64_t pid)
{
	uint32_t number;

	if (pid == CELL_NULL || !numbering_find(&procs->by_pid, (uint64_t)pid, &number))
		return PROC_NONE;
	return ((uint32_t *)procs->newest.data)[number];
}

static int begin_life(struct procs *procs, int64_t pid, uint64_t ts)
{
	struct proc proc = { .pid = pid,
			     .ppid = CELL_NULL,
			     .start = ts,
			     .end = UINT64_MAX,
			     .exit_code = CELL_NULL,
			     .uid = CELL_NULL,
			     .parent = PROC_NONE };
	struct keys keys = { NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT };
	uint32_t number, place = procs_count(procs);
	int new = numbering_add(&procs->by_pid, (uint64_t)pid, &number);

	if (new < 0 || (new &&buf_append_zeros(&procs->newest, sizeof(place))) ||
	    buf_append(&procs->list, &proc, sizeof(proc)) ||
	    buf_append(&procs->keys, &keys, sizeof(keys)))
		return -ENOMEM;
	((uint32_t *)procs->newest.data)[number] = place;
	return 0;
}

static int keep_text(struct procs *procs, const struct rows *rows, unsigned column, uint32_t *kept)
{
	size_t size;
	const char *text = rows_text(rows, column, &size);

	return text ? strings_add(&procs->texts, text, size, kept) : 0;
}

/* What a row says of the process, beside its event. */
static int take_facts(struct procs *procs, uint32_t place, const struct rows *rows, bool leader)
{
	struct proc *proc = proc_at(procs, place);
	int64_t ppid = rows_cell(rows, column_process_ppid);
	int64_t uid = rows_cell(rows, column_process_uid);

	if (leader && uid != CELL_NULL)
		proc->uid = uid;
	if (ppid != CELL_NULL && proc->ppid == CELL_NULL) {
		proc->ppid = ppid;
		proc->parent = newest_of(procs, ppid);
		proc->kernel = ppid == KTHREADD || proc->pid == KTHREADD;
		if (proc->born && proc->parent != PROC_NONE)
			keys_at(procs, place)->command = keys_at(procs, proc->parent)->command;
	}
	if (keep_text(procs, rows, column_process_container, &keys_at(procs, place)->container))
		return -ENOMEM;
	return leader ? keep_text(procs, rows, column_process_comm, &keys_at(procs, place)->comm)
		      : 0;
}

/* The life that a row is of: a leader's fork begins one, and so does the first row of an id. Threads may
 * outlive their leader, so that only a leader's row tells a new life of an id whose last one ended. */
static int life_of_row(struct procs *procs, int64_t pid, uint64_t ts, bool leader, bool fork,
		       uint32_t *place)
{
	bool alive;

	*place = newest_of(procs, pid);
	alive = *place != PROC_NONE && proc_at(procs, *place)->end == UINT64_MAX;
	if (*place != PROC_NONE && !(leader && (fork || !alive)))
		return 0;
	if (begin_life(procs, pid, ts))
		return -ENOMEM;
	if (alive)
		proc_at(procs, *place)->end = ts;
	*place = newest_of(procs, pid);
	proc_at(procs, *place)->born = fork && leader;
	return 0;
}

static int take_row(struct procs *procs, const struct rows *rows)
{
	int64_t pid = rows_cell(rows, column_process_pid);
	bool leader = pid == rows_cell(rows, column_process_tid);
	uint64_t ts = (uint64_t)rows_cell(rows, column_process_ts);
	int event = rows_name(rows, column_process_event);
	uint32_t place;

	if (pid == CELL_NULL || rows_cell(rows, column_process_event) == CELL_NULL)
		return 0;
	if (life_of_row(procs, pid, ts, leader, event == EVENT_FORK, &place))
		return -ENOMEM;
	if (event == EVENT_FORK && !leader)
		proc_at(procs, place)->threads++;
	if (event == EVENT_EXEC) {
		proc_at(procs, place)->execed = true;
		if (keep_text(procs, rows, column_process_args, &keys_at(procs, place)->args))
			return -ENOMEM;
	}
	if (event == EVENT_EXIT) {
		if (leader)
			proc_at(procs, place)->exit_code =
				rows_cell(rows, column_process_exit_code);
		if (leader || proc_at(procs, place)->end != UINT64_MAX)
			proc_at(procs, place)->end = ts;
	}
	if (take_facts(procs, place, rows, leader))
		return -ENOMEM;
	if (event == EVENT_EXEC)
		keys_at(procs, place)->command = keys_at(procs, place)->args;
	return 0;
}

/* ---- who belongs to the job ---- */

/* The first id of a list separated by commas, or CELL_NULL; *rest is what follows it. */
static int64_t first_id(const char **rest)
{
	char *end;
	long id;

	if (!*rest || !**rest)
		return CELL_NULL;
	id = strtol(*rest, &end, 10);
	if (end == *rest || id <= 0)
		return CELL_NULL;
	*rest = *end == ',' ? end + 1 : end;
	return id;
}

/* The recorder is the parent of the command that it launches, and starts nothing else. Where it did not
 * tell its id, the command is told by its arguments. */
static void find_command(struct procs *procs, const struct dims *dims)
{
	const char *tids = dims_run(dims, "recorder_tids"), *command = dims_run(dims, "command");
	int64_t recorder = first_id(&tids);

	for (uint32_t i = 0; i < procs_count(procs); i++) {
		struct proc *proc = proc_at(procs, i);
		const struct keys *keys = keys_at(procs, i);
		bool found = recorder != CELL_NULL && proc->ppid == recorder;
		size_t size;

		if (recorder == CELL_NULL && command && keys->args != NO_TEXT) {
			const char *args = strings_get(&procs->texts, keys->args, &size);

			found = size == strlen(command) && !memcmp(args, command, size);
		}
		if (!found || !proc->execed)
			continue;
		proc->root = proc->born = true;
		return;
	}
}

static void find_attached(struct procs *procs, const struct dims *dims)
{
	const char *pids = dims_run(dims, "pids");

	for (int64_t pid = first_id(&pids); pid != CELL_NULL; pid = first_id(&pids))
		for (uint32_t i = 0; i < procs_count(procs); i++)
			if (proc_at(procs, i)->pid == pid) {
				proc_at(procs, i)->root = true;
				break;
			}
}

/* Those of the container that was asked for: by its name or id, or by a process that is in it. */
static void find_contained(struct procs *procs, const struct dims *dims)
{
	const char *wanted = dims_run(dims, "filter.container");
	const char *rest = wanted;
	int64_t pid = first_id(&rest);
	uint32_t container = NO_TEXT;

	if (!wanted)
		return;
	for (uint32_t i = 0; i < procs_count(procs) && pid != CELL_NULL; i++)
		if (proc_at(procs, i)->pid == pid && !*rest) {
			proc_at(procs, i)->root = true;
			container = keys_at(procs, i)->container;
			break;
		}
	for (uint32_t i = 0; i < procs_count(procs); i++) {
		struct container_name name = { 0 };
		uint32_t theirs = keys_at(procs, i)->container;

		if (theirs == NO_TEXT)
			continue;
		name.text = strings_get(&procs->texts, theirs, &name.size);
		proc_at(procs, i)->root |= theirs == container || container_is(&name, wanted);
	}
}

/* Parents come before their children, in order of time. Whom a launched command did not fork is not its child. */
static void find_job(struct procs *procs, const struct dims *dims)
{
	const char *target = dims_run(dims, "target");
	bool launched = target && !strcmp(target, "launch");

	procs->has_job = target && strcmp(target, "all") != 0;
	if (launched)
		find_command(procs, dims);
	else if (procs->has_job && !strcmp(target, "container"))
		find_contained(procs, dims);
	else if (procs->has_job)
		find_attached(procs, dims);
	for (uint32_t i = 0; i < procs_count(procs); i++) {
		struct proc *proc = proc_at(procs, i);

		proc->in_job = !procs->has_job || proc->root ||
			       ((proc->born || !launched) && proc->parent != PROC_NONE &&
				proc_at(procs, proc->parent)->in_job);
	}
}

/* ---- settling ---- */

struct sorted {
	struct proc proc;
	uint32_t place;
};

static int compare_procs(const void *a, const void *b)
{
	const struct proc *left = &((const struct sorted *)a)->proc;
	const struct proc *right = &((const struct sorted *)b)->proc;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return left->start < right->start ? -1 : left->start > right->start;
}

static void settle_texts(struct procs *procs)
{
	for (uint32_t i = 0; i < procs_count(procs); i++) {
		struct proc *proc = proc_at(procs, i);
		const struct keys *keys = keys_at(procs, i);

		if (keys->comm != NO_TEXT)
			proc->comm.bytes = strings_get(&procs->texts, keys->comm, &proc->comm.size);
		if (keys->args != NO_TEXT)
			proc->args.bytes = strings_get(&procs->texts, keys->args, &proc->args.size);
		if (keys->command != NO_TEXT)
			proc->command.bytes =
				strings_get(&procs->texts, keys->command, &proc->command.size);
		if (keys->container != NO_TEXT)
			proc->container.bytes =
				strings_get(&procs->texts, keys->container, &proc->container.size);
	}
}

/* Orders the list by (pid, start), and lets parents and the map point to the new places. */
static int settle_order(struct procs *procs)
{
	uint32_t count = procs_count(procs), number;
	struct sorted *sorted = calloc(count + 1, sizeof(*sorted));
	uint32_t *moved = calloc(count + 1, sizeof(*moved));

	if (!sorted || !moved) {
		free(sorted);
		free(moved);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct sorted){ *proc_at(procs, i), i };
	qsort(sorted, count, sizeof(*sorted), compare_procs);
	for (uint32_t i = 0; i < count; i++)
		moved[sorted[i].place] = i;
	for (uint32_t i = count; i-- > 0;) {
		struct proc *proc = proc_at(procs, i);

		*proc = sorted[i].proc;
		if (proc->parent != PROC_NONE)
			proc->parent = moved[proc->parent];
		if (numbering_find(&procs->by_pid, (uint64_t)proc->pid, &number))
			((uint32_t *)procs->newest.data)[number] = i;
	}
	free(sorted);
	free(moved);
	return 0;
}

int procs_open(struct procs **out, struct reader *reader, const struct dims *dims, struct error *e)
{
	static const uint64_t wanted =
		1u << column_process_ts | 1u << column_process_event | 1u << column_process_pid |
		1u << column_process_tid | 1u << column_process_ppid | 1u << column_process_comm |
		1u << column_process_args | 1u << column_process_uid |
		1u << column_process_container | 1u << column_process_exit_code;
	struct procs *procs = calloc(1, sizeof(*procs));
	struct rows *rows = NULL;
	int err, more = 0;

	*out = procs;
	if (!procs)
		return error_set(e, -ENOMEM, "out of memory");
	procs->list.limit = procs->keys.limit = procs->newest.limit = SIZE_MAX;
	err = rows_open(&rows, reader, TABLE_process, wanted, 0, UINT64_MAX, e);
	while (!err && (more = rows_next(rows, e)) > 0)
		if (take_row(procs, rows))
			err = error_set(e, -ENOMEM, "no memory for the processes");
	err = err ? err : more;
	rows_close(rows);
	if (!err) {
		find_job(procs, dims);
		settle_texts(procs);
		if (settle_order(procs))
			err = error_set(e, -ENOMEM, "no memory for the processes");
	}
	buf_free(&procs->keys);
	if (err) {
		procs_close(procs);
		*out = NULL;
	}
	return err;
}

void procs_close(struct procs *procs)
{
	if (!procs)
		return;
	buf_free(&procs->list);
	buf_free(&procs->keys);
	buf_free(&procs->newest);
	numbering_free(&procs->by_pid);
	strings_free(&procs->texts);
	free(procs);
}

uint32_t procs_count(const struct procs *procs)
{
	return (uint32_t)(procs->list.size / sizeof(struct proc));
}

const struct proc *procs_get(const struct procs *procs, uint32_t i)
{
	return proc_at(procs, i);
}

bool procs_has_job(const struct procs *procs)
{
	return procs->has_job;
}

uint32_t procs_find(const struct procs *procs, int64_t pid, uint64_t ts)
{
	uint32_t at = newest_of(procs, pid); /* once open, the first of its lives */

	if (at == PROC_NONE)
		return PROC_NONE;
	while (proc_at(procs, at)->end < ts && at + 1 < procs_count(procs) &&
	       proc_at(procs, at + 1)->pid == pid)
		at++;
	return at;
}
