#include "analyze/why_judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DONE_TO_WAKE \
	5000 /* ns: what it may take from a request's end to the wake, seen from the other side */
#define NO_NAME UINT32_MAX

/* ---- what is known of all stays ---- */

static bool syscall_is(const struct judge *judge, const struct stay_row *stay, const char *name)
{
	size_t size;
	const char *text = stays_syscall(judge->stays, stay->syscall, &size);

	return size == strlen(name) && !memcmp(text, name, size);
}

/* One word for a thread that slept at an address of its process. */
static uint64_t lock_key(const struct stay_row *stay, uint64_t address)
{
	return ((address ^ (uint64_t)stay->proc << 48) * 0x9e3779b97f4a7c15ull) ^ stay->thread;
}

static bool is_worker(const struct judge *judge, const struct stay_row *stay)
{
	return stay->proc != PROC_NONE && judge->context->roles.of[stay->proc] == PROC_ROLE_WORKER;
}

static bool is_kernel(const struct judge *judge, const struct stay_row *stay)
{
	return stay->proc != PROC_NONE && judge->context->roles.of[stay->proc] == PROC_ROLE_KERNEL;
}

static int learn(struct judge *judge, bool *worker)
{
	for (uint32_t i = 0; i < stays_count(judge->stays); i++) {
		const struct stay_row *stay = stays_row(judge->stays, i);

		worker[stay->thread] = worker[stay->thread] || is_worker(judge, stay);
		if (stay->state == END_STATE_S && stay->arg0 && syscall_is(judge, stay, "futex") &&
		    !map_add(&judge->locks, lock_key(stay, stay->arg0), NULL))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < stays_count(judge->stays); i++) {
		const struct stay_row *stay = stays_row(judge->stays, i);

		if (stay->waker != STAY_NONE && worker[stay->waker])
			judge->fed[stay->thread] = true;
	}
	return 0;
}

int judge_open(struct judge *judge, struct context *context, const struct stays *stays,
	       struct why_calls *calls, uint32_t focus, uint32_t focus_proc)
{
	bool *worker = calloc((size_t)stays->threads.count + 1, sizeof(*worker));
	int err = -ENOMEM;

	*judge = (struct judge){ .context = context,
				 .stays = stays,
				 .calls = calls,
				 .focus = focus,
				 .focus_proc = focus_proc };
	judge->fed = calloc((size_t)stays->threads.count + 1, sizeof(*judge->fed));
	if (judge->fed && worker)
		err = learn(judge, worker);
	free(worker);
	return err;
}

void judge_close(struct judge *judge)
{
	free(judge->fed);
	map_free(&judge->locks);
	*judge = (struct judge){ 0 };
}

/* ---- names ---- */

static int name_text(struct judge *judge, const char *text, size_t size, struct verdict *out)
{
	return strings_add(&judge->calls->names, text, size, &out->name);
}

/* The program that a stay is of. */
static int name_task(struct judge *judge, const struct stay_row *stay, struct verdict *out)
{
	size_t size;
	const char *text = strings_get(&judge->context->who.names, stay->name, &size);

	return name_text(judge, text, size, out);
}

/* A rank: its program, and its process to tell it from the others by. */
static int name_rank(struct judge *judge, const struct stay_row *stay, struct verdict *out)
{
	size_t size;
	const char *text = strings_get(&judge->context->who.names, stay->name, &size);
	char name[64];
	int length = snprintf(name, sizeof(name), "%.*s[%lld]", (int)size, text,
			      (long long)procs_get(judge->context->procs, stay->proc)->pid);

	return name_text(judge, name,
			 length < (int)sizeof(name) ? (size_t)length : sizeof(name) - 1, out);
}

static int name_syscall(struct judge *judge, const struct stay_row *stay, struct verdict *out)
{
	size_t size;
	const char *text = stays_syscall(judge->stays, stay->syscall, &size);

	return size ? name_text(judge, text, size, out) : 0;
}

/* ---- sleeps that no thread ended ---- */

/* The end of a sleep: a call that slept still went on then, however its row tells its beginning. */
static uint64_t wake_of(const struct stay_row *before, const struct stay_row *after)
{
	return after->ready > before->end ? after->ready : before->end;
}

static bool file_is(const struct judge *judge, int64_t file, enum file_kind kind)
{
	const struct file_row *row =
		file == CELL_NULL ? NULL : dims_find_file(judge->context->dims, file);

	return row && file_row_is(row, kind);
}

static bool file_begins(const struct judge *judge, int64_t file, const char *path)
{
	const struct file_row *row =
		file == CELL_NULL ? NULL : dims_find_file(judge->context->dims, file);

	return row && row->path.bytes && row->path.size >= strlen(path) &&
	       !memcmp(row->path.bytes, path, strlen(path));
}

static bool is_stopped(const struct stay_row *before)
{
	return before->state == END_STATE_T || before->state == END_STATE_t;
}

/* What the kernel itself said of it; locks have holders, and are told by their wakers. */
static bool judge_stall(const struct why_call *stall, struct verdict *out)
{
	out->file = stall->file;
	if (stall->table == TABLE_fault) {
		out->act = stall->file == CELL_NULL ? WHY_SWAP : WHY_FAULT;
		return true;
	}
	switch (stall->kind) {
	case STALL_dirty: out->act = WHY_THROTTLED; return true;
	case STALL_reclaim:
	case STALL_cgroup_reclaim:
	case STALL_compaction: out->act = WHY_RECLAIM; return true;
	default: return false;
	}
}

/* A request of the thread itself, or of another for the same file. */
static bool judge_device(const struct judge *judge, const struct stay_row *before, uint64_t wake,
			 const struct why_call *call, struct verdict *out)
{
	const struct why_block *block =
		why_block_of(judge->calls, before->thread, before->end, wake + DONE_TO_WAKE);

	out->act = WHY_DEVICE;
	if (!block && before->iowait && call && call->file != CELL_NULL) {
		block = why_block_for(judge->calls, call->file, before->end, wake + DONE_TO_WAKE);
		out->act = WHY_FILL;
	}
	if (!block)
		return false;
	out->name = block->dev;
	out->device = true;
	out->file = block->file != CELL_NULL ? block->file : call ? call->file : CELL_NULL;
	return true;
}

/* Whether it had asked for no more than time to pass, or for that at most. */
static bool asked_for_time(const struct judge *judge, const struct stay_row *before,
			   const struct stay_row *after, const struct why_call *call)
{
	if (syscall_is(judge, before, "clock_nanosleep") || syscall_is(judge, before, "nanosleep"))
		return true;
	return after->kind == WAKER_BY_TIMER && (!call || call->timed);
}

int judge_sleep(struct judge *judge, const struct stay_row *before, const struct stay_row *after,
		struct verdict *out)
{
	uint64_t wake = wake_of(before, after);
	const struct why_call *call = why_call_at(&judge->calls->calls, before->thread, wake);
	const struct why_call *stall = why_call_at(&judge->calls->stalls, before->thread, wake);
	bool uninterruptible = before->state == END_STATE_D;

	*out = (struct verdict){ .act = WHY_INTERRUPT, .name = NO_NAME, .file = CELL_NULL };
	if (is_stopped(before)) {
		out->act = WHY_STOPPED;
		return 0;
	}
	/* A pause of a writer counts as a wait for storage, and requests of its own may end meanwhile; what ends it is a timer. */
	if (stall && stall->table == TABLE_stall && stall->kind == STALL_dirty &&
	    after->kind == WAKER_BY_TIMER) {
		judge_stall(stall, out);
		return 0;
	}
	if ((before->iowait || uninterruptible) && judge_device(judge, before, wake, call, out)) {
		if (stall && stall->table == TABLE_fault)
			out->act = WHY_FAULT;
		return 0;
	}
	if (stall && judge_stall(stall, out))
		return 0;
	out->file = call ? call->file : CELL_NULL;
	if (before->iowait)
		out->act = WHY_PAGE;
	else if (file_begins(judge, out->file, "/dev/nvidia"))
		out->act = WHY_GPU;
	else if (asked_for_time(judge, before, after, call))
		out->act = WHY_TIMER;
	else if (after->kind == WAKER_BY_NET_RX || after->kind == WAKER_BY_NET_TX ||
		 file_is(judge, out->file, FILE_KIND_SOCKET))
		out->act = WHY_NETWORK;
	else if (after->kind == WAKER_BY_BLOCK)
		out->act = WHY_PAGE;
	return name_syscall(judge, before, out);
}

/* ---- pieces of a walk ---- */

/* What the focus thread itself waited for. */
struct wait {
	bool lock; /* who woke it has slept at the same address */
	bool socket;
	bool storage; /* a call on a file, or a wait that the kernel counts as one for storage */
};

static struct wait look_at_wait(const struct judge *judge, const struct stay_row *before,
				const struct stay_row *after)
{
	const struct why_call *call =
		why_call_at(&judge->calls->calls, before->thread, wake_of(before, after));
	int64_t file = call ? call->file : CELL_NULL;
	struct wait wait = { .storage = before->iowait || (call && call->table == TABLE_fs) ||
					file_is(judge, file, FILE_KIND_FILE) ||
					file_is(judge, file, FILE_KIND_DIR),
			     .socket = file_is(judge, file, FILE_KIND_SOCKET) };

	if (after->waker == STAY_NONE)
		return wait;
	if (before->state == END_STATE_D && !wait.storage)
		wait.lock = true;
	if (before->arg0 && syscall_is(judge, before, "futex")) {
		struct stay_row waker = { .thread = after->waker, .proc = before->proc };

		wait.lock = map_find(&judge->locks, lock_key(&waker, before->arg0)) != NULL;
	}
	return wait;
}

/* Whether a data worker lies between the focus thread and the piece. */
static bool through_worker(const struct judge *judge, const struct walk *walk, uint32_t at)
{
	const struct walk_hop *hops = (const struct walk_hop *)walk->hops.data;

	for (; at != UINT32_MAX; at = hops[at].from)
		if (is_worker(judge, stays_row(judge->stays, hops[at].sleeper)))
			return true;
	return false;
}

/* A main process beside the focus thread's: another rank of the same job. */
static bool is_other_rank(const struct judge *judge, const struct stay_row *stay)
{
	return stay->proc != PROC_NONE && stay->proc != judge->focus_proc &&
	       judge->context->roles.of[stay->proc] == PROC_ROLE_MAIN;
}

/* The other rank whose thread lies between the focus thread and the piece, or is the piece's own; NULL: none. */
static const struct stay_row *through_rank(const struct judge *judge, const struct walk *walk,
					   const struct walk_piece *piece)
{
	const struct walk_hop *hops = (const struct walk_hop *)walk->hops.data;
	const struct stay_row *stay = stays_row(judge->stays, piece->stay);

	if (is_other_rank(judge, stay))
		return stay;
	for (uint32_t at = piece->hop; at != UINT32_MAX; at = hops[at].from) {
		stay = stays_row(judge->stays, hops[at].sleeper);
		if (is_other_rank(judge, stay))
			return stay;
	}
	return NULL;
}

static enum why_act act_of_rank(const struct walk_piece *piece, const struct stay_row *rank,
				const struct stay_row *stay)
{
	if (piece->act == WALK_SLEPT || rank->proc != stay->proc)
		return WHY_RANK_WAITED;
	return piece->act == WALK_READY ? WHY_RANK_READY : WHY_RANK_RAN;
}

static bool is_leader(const struct judge *judge, const struct stay_row *stay)
{
	return stays_tid(judge->stays, stay->thread) ==
	       procs_get(judge->context->procs, stay->proc)->pid;
}

static enum why_act act_of_worker(const struct judge *judge, const struct walk_piece *piece,
				  const struct stay_row *stay)
{
	if (piece->act == WALK_READY)
		return WHY_WORKER_READY;
	return is_leader(judge, stay) ? WHY_WORKER_RAN : WHY_HANDOVER;
}

/* What somebody else did that a worker, or the start of one, waited for. */
static enum why_act act_behind_worker(const struct judge *judge, const struct stay_row *stay,
				      const struct walk_hop *hop)
{
	if (hop->before == STAY_NONE)
		return WHY_WORKER_BORN;
	if (stay->proc == judge->focus_proc)
		return WHY_NO_INDEX;
	return is_kernel(judge, stay) ? WHY_WORKER_STORAGE : WHY_WORKER_WAITED;
}

static enum why_act act_of_other(const struct judge *judge, const struct walk_piece *piece,
				 const struct stay_row *stay, const struct wait *wait)
{
	bool ready = piece->act == WALK_READY;

	if (stay->proc == judge->focus_proc && judge->fed[stay->thread] && !wait->lock)
		return WHY_HANDOVER;
	if (wait->lock)
		return ready ? WHY_LOCK_READY : WHY_LOCK_RAN;
	if (is_kernel(judge, stay))
		return wait->storage ? WHY_WRITEBACK : ready ? WHY_WAKER_READY : WHY_KERNEL_THREAD;
	if (stay->proc == judge->focus_proc)
		return ready ? WHY_WAKER_READY : WHY_OWN;
	if (wait->socket)
		return WHY_PEER;
	if (context_in_job(judge->context, stay->proc))
		return ready ? WHY_WAKER_READY : WHY_CHILD;
	return wait->storage ? WHY_SERVER : WHY_OTHER;
}

/* A sleep of somebody else, whom the focus thread waited for. */
static int judge_others_sleep(struct judge *judge, const struct walk_piece *piece, bool worker,
			      const struct wait *wait, struct verdict *out)
{
	uint64_t lock = out->lock;
	int err = judge_sleep(judge, stays_row(judge->stays, piece->before),
			      stays_row(judge->stays, piece->stay), out);
	enum why_cause cause = why_acts[out->act].cause;

	out->lock = lock;
	if (err)
		return err;
	if (worker)
		out->act = cause == WHY_storage ? WHY_WORKER_STORAGE
			   : cause == WHY_sleep ? WHY_WORKER_SLEPT
						: WHY_WORKER_WAITED;
	else if (wait->lock && piece->hop != UINT32_MAX)
		out->act = WHY_LOCK_SLEPT;
	return 0;
}

int judge_piece(struct judge *judge, const struct walk *walk, const struct walk_piece *piece,
		const struct stay_row *before, const struct stay_row *after, struct verdict *out)
{
	const struct walk_hop *hops = (const struct walk_hop *)walk->hops.data;
	struct wait wait = look_at_wait(judge, before, after);
	bool through = through_worker(judge, walk, piece->hop);
	const struct stay_row *stay, *rank;

	*out = (struct verdict){ .act = piece->act == WALK_LATE ? WHY_LATE : WHY_UNSEEN,
				 .name = NO_NAME,
				 .file = CELL_NULL,
				 .lock = wait.lock ? before->arg0 : 0 };
	if (is_stopped(before))
		out->act = WHY_STOPPED; /* whoever let it go on */
	if (is_stopped(before) || piece->act == WALK_LATE || piece->act == WALK_UNSEEN)
		return 0;
	stay = stays_row(judge->stays, piece->stay);
	rank = through_rank(judge, walk, piece);
	if (rank) {
		out->act = act_of_rank(piece, rank, stay);
		return name_rank(judge, rank, out);
	}
	if (piece->act == WALK_SLEPT)
		return judge_others_sleep(
			judge, piece,
			through || (piece->hop != UINT32_MAX && is_worker(judge, stay)), &wait,
			out);
	if (is_worker(judge, stay))
		out->act = act_of_worker(judge, piece, stay);
	else if (through)
		out->act = act_behind_worker(judge, stay, &hops[piece->hop]);
	else
		out->act = act_of_other(judge, piece, stay, &wait);
	return name_task(judge, stay, out);
}

int judge_making(struct judge *judge, const struct walk *walk, const struct walk_piece *piece,
		 uint32_t writer, struct verdict *out)
{
	const struct walk_hop *hops = (const struct walk_hop *)walk->hops.data;
	const struct wait none = { 0 };
	const struct stay_row *stay;

	*out = (struct verdict){ .act = WHY_WORKER_WAITED, .name = NO_NAME, .file = CELL_NULL };
	if (piece->act == WALK_LATE || piece->act == WALK_UNSEEN)
		return 0;
	if (piece->act == WALK_SLEPT)
		return judge_others_sleep(judge, piece, true, &none, out);
	stay = stays_row(judge->stays, piece->stay);
	if (!is_worker(judge, stay) && piece->hop != UINT32_MAX)
		out->act = act_behind_worker(judge, stay, &hops[piece->hop]);
	else if (piece->act == WALK_READY)
		out->act = WHY_WORKER_READY;
	else
		out->act = stay->thread == writer && !is_leader(judge, stay) ? WHY_HANDOVER
									     : WHY_WORKER_RAN;
	return name_task(judge, stay, out);
}

int judge_ready(struct judge *judge, const struct stay_row *other, struct verdict *out)
{
	*out = (struct verdict){ .act = WHY_READY_OTHER, .name = NO_NAME, .file = CELL_NULL };
	if (!stays_tid(judge->stays, other->thread)) {
		out->act = WHY_READY_IDLE;
		return 0;
	}
	if (other->proc == PROC_NONE)
		out->act = WHY_READY_STRATA; /* it leaves only itself out of table process */
	else if (is_kernel(judge, other))
		out->act = WHY_READY_KERNEL;
	else if (context_in_job(judge->context, other->proc))
		out->act = WHY_READY_JOB;
	return name_task(judge, other, out);
}
