#include "analyze/why_mix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/walk.h"
#include "analyze/why.h"

struct wait_piece {
	uint64_t start, end;
	bool outside; /* what no worker's making of a batch explains */
};

int mix_add_wait(struct why_mix *mix, enum why_act act, uint64_t start, uint64_t end)
{
	struct wait_piece wait = {
		start, end, act == WHY_HANDOVER || act == WHY_WORKER_BORN || act == WHY_NO_INDEX
	};

	mix->waits.limit = SIZE_MAX;
	return start < end ? buf_append(&mix->waits, &wait, sizeof(wait)) : 0;
}

static int compare_waits(const void *a, const void *b)
{
	const struct wait_piece *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* ---- one batch ---- */

static struct why_part *part_of(struct why_mix *mix, const struct verdict *verdict)
{
	struct why_part *part;
	uint32_t number;

	if (numbering_add(&mix->by_part, (uint64_t)verdict->act << 32 | verdict->name, &number) < 0)
		return NULL;
	part = buf_element(&mix->parts, number, sizeof(*part));
	if (part) {
		part->act = verdict->act;
		part->name = verdict->name;
	}
	return part;
}

/* A part of a batch that is being looked at: numbers of parts, and their time. */
struct share {
	uint32_t part;
	uint64_t ns;
	int64_t file;
};

static int add_share(struct why_mix *mix, struct buf *shares, const struct verdict *verdict,
		     uint64_t ns)
{
	struct why_part *part = part_of(mix, verdict);
	struct share share = { .ns = ns, .file = verdict->file };

	if (!part)
		return -ENOMEM;
	part->made_ns += ns;
	mix->made_ns += ns;
	share.part = (uint32_t)(part - (struct why_part *)mix->parts.data);
	return buf_append(shares, &share, sizeof(share));
}

static int add_file(struct why_mix *mix, const struct share *share, uint64_t ns)
{
	struct why_file *entry;
	uint32_t number;

	if (share->file == CELL_NULL || !ns)
		return 0;
	if (numbering_add(&mix->by_file, (uint64_t)share->file, &number) < 0)
		return -ENOMEM;
	entry = buf_element(&mix->files, number, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->file = share->file;
	entry->ns += ns;
	return 0;
}

/* Divides the wait for a batch among its parts. */
static int divide(struct why_mix *mix, const struct buf *shares, uint64_t made, uint64_t waited)
{
	struct share *list = (struct share *)shares->data;
	struct why_part *parts = (struct why_part *)mix->parts.data;
	size_t count = shares->size / sizeof(*list), greatest = 0;
	uint64_t left = waited;

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = (uint64_t)((unsigned __int128)waited * list[i].ns / made);

		if (list[i].ns > list[greatest].ns)
			greatest = i;
		parts[list[i].part].charged_ns += ns;
		left -= ns;
		if (add_file(mix, &list[i], ns))
			return -ENOMEM;
	}
	parts[list[greatest].part].charged_ns += left;
	return add_file(mix, &list[greatest], left);
}

/* What the worker did from `from` to `written`. */
static int take_apart(struct why *why, const struct why_batch *batch, struct walk *walk,
		      struct buf *shares)
{
	uint32_t writer = stays_thread(&why->stays, batch->writer);
	const struct walk_piece *pieces;

	shares->size = 0;
	if (walk_from(walk, &why->stays, writer, batch->written, batch->from))
		return -ENOMEM;
	pieces = (const struct walk_piece *)walk->pieces.data;
	for (size_t i = 0; i < walk->pieces.size / sizeof(*pieces); i++) {
		struct verdict verdict;

		if (judge_making(&why->judge, walk, &pieces[i], writer, &verdict) ||
		    add_share(&why->mix, shares, &verdict, pieces[i].end - pieces[i].start))
			return -ENOMEM;
	}
	return 0;
}

/* ---- all of them ---- */

/* The waits by batch that was due; what is for none stays outside. */
static int sum_waits(struct why *why, uint64_t start, uint64_t end, uint64_t *waited)
{
	struct why_mix *mix = &why->mix;
	const struct wait_piece *waits = (const struct wait_piece *)mix->waits.data;

	for (size_t i = 0; i < mix->waits.size / sizeof(*waits); i++) {
		uint64_t from = waits[i].start > start ? waits[i].start : start;
		uint64_t to = waits[i].end < end ? waits[i].end : end;
		size_t due;

		if (from >= to)
			continue;
		mix->waited_ns += to - from;
		due = waits[i].outside ? batches_count(&why->batches)
				       : batches_due(&why->batches, from);
		if (due < batches_count(&why->batches))
			waited[due] += to - from;
	}
	return 0;
}

static int take_batches(struct why *why, uint64_t start, uint64_t end, const uint64_t *waited)
{
	struct why_mix *mix = &why->mix;
	struct buf shares = { .limit = SIZE_MAX };
	struct walk walk = { 0 };
	int err = 0;

	for (size_t i = 0; i < batches_count(&why->batches) && !err; i++) {
		const struct why_batch *batch = batches_get(&why->batches, i);
		uint64_t made = batch->written - batch->from;
		uint64_t charged = waited[i] < made ? waited[i] : made;

		if (batch->received <= start || batch->received > end)
			continue;
		mix->batches++;
		mix->awaited += charged > 0;
		if (!made)
			continue;
		err = take_apart(why, batch, &walk, &shares);
		if (!err)
			err = divide(mix, &shares, made, charged);
		mix->charged_ns += charged;
	}
	walk_free(&walk);
	buf_free(&shares);
	return err;
}

/* ---- idle workers ---- */

/* What of [from, to) the focus thread did not wait for input. */
static uint64_t without_waits(const struct why_mix *mix, uint64_t from, uint64_t to)
{
	const struct wait_piece *waits = (const struct wait_piece *)mix->waits.data;
	size_t count = mix->waits.size / sizeof(*waits), low = 0, high = count;
	uint64_t ns = to - from;

	while (low < high) { /* all below low end at from or before */
		size_t middle = low + (high - low) / 2;

		if (waits[middle].end <= from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && waits[low].start < to; low++) {
		uint64_t start = waits[low].start > from ? waits[low].start : from;
		uint64_t end = waits[low].end < to ? waits[low].end : to;

		ns -= end > start ? end - start : 0;
	}
	return ns;
}

/* A worker that made batches in the loop. */
struct made_by {
	uint64_t first, last; /* its first batch begun, its last written */
};

/* Before a batch that was waited for its worker may have had nothing to do, while the loop computed: begun then, it would have been
 * there that much earlier. */
static int find_idle(struct why *why, uint64_t start, uint64_t end, const uint64_t *waited)
{
	struct why_mix *mix = &why->mix;
	struct made_by *by = calloc((size_t)procs_count(why->context.procs) + 1, sizeof(*by));

	if (!by)
		return -ENOMEM;
	for (size_t i = 0; i < batches_count(&why->batches); i++) {
		const struct why_batch *batch = batches_get(&why->batches, i);
		struct made_by *worker = &by[batch->worker];
		uint64_t idle = 0;

		if (batch->written < start || batch->from >= end)
			continue;
		if (!worker->last) {
			mix->workers++;
			worker->first = batch->from;
		} else if (batch->taken > worker->last) {
			idle = without_waits(mix, worker->last, batch->taken);
		}
		mix->idle_ns += idle;
		mix->missed_ns += idle < waited[i] ? idle : waited[i];
		mix->busy_ns += batch->written - batch->from;
		worker->last = batch->written;
	}
	for (uint32_t i = 0; i < procs_count(why->context.procs); i++)
		mix->workers_ns += by[i].last - by[i].first;
	free(by);
	return 0;
}

/* ---- the end ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct why_part *left = a, *right = b;

	if (left->charged_ns != right->charged_ns)
		return left->charged_ns > right->charged_ns ? -1 : 1;
	return left->made_ns > right->made_ns ? -1 : left->made_ns < right->made_ns;
}

static int compare_files(const void *a, const void *b)
{
	const struct why_file *left = a, *right = b;

	return left->ns > right->ns ? -1 : left->ns < right->ns;
}

int mix_finish(struct why *why, uint64_t start, uint64_t end)
{
	struct why_mix *mix = &why->mix;
	uint64_t *waited = calloc(batches_count(&why->batches) + 1, sizeof(*waited));
	int err = waited ? 0 : -ENOMEM;

	mix->parts.limit = mix->files.limit = SIZE_MAX;
	if (mix->waits.size)
		qsort(mix->waits.data, mix->waits.size / sizeof(struct wait_piece),
		      sizeof(struct wait_piece), compare_waits);
	if (!err)
		err = sum_waits(why, start, end, waited);
	if (!err)
		err = take_batches(why, start, end, waited);
	if (!err)
		err = find_idle(why, start, end, waited);
	mix->outside_ns = mix->waited_ns - mix->charged_ns;
	mix->hidden_ns = mix->made_ns - mix->charged_ns;
	if (mix->parts.size)
		qsort(mix->parts.data, mix_count(mix), sizeof(struct why_part), compare_parts);
	if (mix->files.size)
		qsort(mix->files.data, mix->files.size / sizeof(struct why_file),
		      sizeof(struct why_file), compare_files);
	free(waited);
	return err;
}

uint64_t mix_charged(const struct why_mix *mix, enum why_act act)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < mix_count(mix); i++)
		if (mix_part(mix, i)->act == act)
			ns += mix_part(mix, i)->charged_ns;
	return ns;
}

void mix_free(struct why_mix *mix)
{
	buf_free(&mix->waits);
	buf_free(&mix->parts);
	buf_free(&mix->files);
	numbering_free(&mix->by_part);
	numbering_free(&mix->by_file);
	*mix = (struct why_mix){ 0 };
}
