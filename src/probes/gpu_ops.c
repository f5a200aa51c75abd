/* Records of libstrata_gpu.so as rows. A name is told once a process, in the ring of whichever thread came first, so rows are made when
 * all rings have been read. Nothing that a record says is believed without a look: the job can write what it likes.
 */
#include "probes/gpu_ops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/strings.h"
#include "gpu/records.h"

#define MOST_TEXTS (1u << 20) /* names; a job that has more says so on purpose */

struct gpu_ops {
	struct map texts; /* hash to the number in `names`, plus 1 */
	struct strings names;
	struct buf waiting; /* struct waiting_op */
};

struct waiting_op {
	struct pool_writer writer;
	struct gpu_op_record op;
};

/* Whether the text of so many bytes at `at` lies inside of the record. */
static bool has_text(const struct inject_head *head, size_t at, uint64_t size)
{
	return at + size <= (size_t)head->slots * INJECT_SLOT;
}

/* The job's own number of a thread, where it counts them as strata does; 0: not known. */
static uint32_t thread_of(const struct pool_writer *writer, uint32_t pid, uint32_t tid)
{
	return writer->pid && pid == writer->pid ? tid : 0;
}

/* ---- names ---- */

static void take_text(struct gpu_ops *state, const struct inject_head *head)
{
	const struct gpu_text_record *record = (const struct gpu_text_record *)head;
	uint64_t *number;
	uint32_t added;
	bool fresh;

	if (!has_text(head, offsetof(struct gpu_text_record, text), record->size) ||
	    state->names.count >= MOST_TEXTS)
		return;
	number = map_add(&state->texts, record->hash, &fresh);
	if (number && fresh && !strings_add(&state->names, record->text, record->size, &added))
		*number = added + 1ull;
}

static const char *text_of(const struct gpu_ops *state, uint64_t hash, size_t *size)
{
	const uint64_t *number = map_find(&state->texts, hash);

	return number && *number ? strings_get(&state->names, (uint32_t)*number - 1, size) : NULL;
}

/* ---- rows ---- */

#define SET(table, column, value) builder_set(row, column_##table##_##column, (int64_t)(value))

static void set_text(struct builder *row, unsigned column, const char *text)
{
	builder_set_text(row, column, text, strlen(text));
}

static void set_kernel(struct builder *row, const struct gpu_op_record *op)
{
	char text[64];

	snprintf(text, sizeof(text), "%ux%ux%u", op->grid[0], op->grid[1], op->grid[2]);
	set_text(row, column_gpu_op_grid, text);
	snprintf(text, sizeof(text), "%ux%ux%u", op->block[0], op->block[1], op->block[2]);
	set_text(row, column_gpu_op_block, text);
	SET(gpu_op, registers, op->registers);
	SET(gpu_op, shared, op->shared);
}

static void add_op(const struct gpu_ops *state, struct sink *sink, const struct waiting_op *waiting)
{
	static const char *const kinds[] = {
#define GPU_OP_TEXT(name) #name,
		GPU_OPS(GPU_OP_TEXT)
#undef GPU_OP_TEXT
	};
	const struct gpu_op_record *op = &waiting->op;
	uint32_t tid = thread_of(&waiting->writer, op->pid, op->tid);
	struct builder *row = sink_table(sink, TABLE_gpu_op);
	const char *name;
	size_t size;

	if (!row) {
		sink_drop(sink, TABLE_gpu_op);
		return;
	}
	SET(gpu_op, ts, op->start);
	SET(gpu_op, dur, op->end - op->start);
	if (waiting->writer.pid)
		SET(gpu_op, pid, waiting->writer.pid);
	if (tid)
		SET(gpu_op, tid, tid);
	if (op->device != GPU_NO_NUMBER)
		SET(gpu_op, gpu, op->device);
	if (op->stream != GPU_NO_NUMBER)
		SET(gpu_op, stream, op->stream);
	set_text(row, column_gpu_op_kind, kinds[op->head.number]);
	name = text_of(state, op->name, &size);
	if (name)
		builder_set_text(row, column_gpu_op_name, name, size);
	if (op->bytes != UINT64_MAX)
		SET(gpu_op, bytes, op->bytes);
	SET(gpu_op, correlation, op->correlation);
	if (op->launch)
		SET(gpu_op, launch, op->launch);
	if (op->head.number == GPU_OP_kernel)
		set_kernel(row, op);
	if (op->host)
		SET(gpu_op, pinned, op->host == GPU_HOST_PINNED);
	if (op->graph)
		SET(gpu_op, graph, op->graph);
	sink_end_row(sink, TABLE_gpu_op);
}

static void take_op(struct gpu_ops *state, const struct pool_writer *writer,
		    const struct inject_head *head)
{
	struct waiting_op waiting = { .writer = *writer };

	if ((size_t)head->slots * INJECT_SLOT < sizeof(waiting.op) || head->number >= GPU_OP_COUNT)
		return;
	memcpy(&waiting.op, head, sizeof(waiting.op));
	if (waiting.op.end < waiting.op.start || waiting.op.end > INT64_MAX ||
	    waiting.op.host > GPU_HOST_PINNED)
		return;
	if (buf_append(&state->waiting, &waiting, sizeof(waiting)))
		return; /* out of memory: less is told */
}

/* Payloads are told as the job would print them. */
static void set_payload(struct builder *row, unsigned kind, uint64_t payload)
{
	char text[64];
	double real;

	memcpy(&real, &payload, sizeof(real));
	if (kind == GPU_PAYLOAD_UNSIGNED)
		snprintf(text, sizeof(text), "%" PRIu64, payload);
	else if (kind == GPU_PAYLOAD_SIGNED)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)payload);
	else if (kind == GPU_PAYLOAD_REAL)
		snprintf(text, sizeof(text), "%.17g", real);
	else
		return;
	set_text(row, column_mark_value, text);
}

static void add_mark(struct sink *sink, const struct pool_writer *writer,
		     const struct inject_head *head)
{
	const struct gpu_mark_record *mark = (const struct gpu_mark_record *)head;
	size_t at = offsetof(struct gpu_mark_record, text);
	struct builder *row;
	uint32_t tid;

	if (!has_text(head, at, (uint64_t)mark->name_size + mark->domain_size) ||
	    mark->ts > INT64_MAX || (mark->dur != UINT64_MAX && mark->dur > INT64_MAX))
		return;
	row = sink_table(sink, TABLE_mark);
	if (!row) {
		sink_drop(sink, TABLE_mark);
		return;
	}
	tid = thread_of(writer, mark->pid, mark->tid);
	SET(mark, ts, mark->ts);
	if (mark->dur != UINT64_MAX)
		SET(mark, dur, mark->dur);
	if (writer->pid)
		SET(mark, pid, writer->pid);
	if (tid || writer->tid)
		SET(mark, tid, tid ? tid : writer->tid);
	set_text(row, column_mark_source, "nvtx");
	builder_set_text(row, column_mark_name, mark->text, mark->name_size);
	set_payload(row, head->number, mark->payload);
	if (mark->domain_size)
		builder_set_text(row, column_mark_domain, mark->text + mark->name_size,
				 mark->domain_size);
	sink_end_row(sink, TABLE_mark);
}

/* ---- what the library has to say ---- */

static void add_fact(struct sink *sink, const char *key, const char *value, size_t size)
{
	struct builder *row = sink_table(sink, TABLE_run);

	if (!row) {
		sink_drop(sink, TABLE_run);
		return;
	}
	set_text(row, column_run_key, key);
	builder_set_text(row, column_run_value, value, size);
	sink_end_row(sink, TABLE_run);
}

static void add_loss(struct sink *sink, const struct gpu_note_record *note, enum loss reason)
{
	struct builder *row = sink_table(sink, TABLE_loss);

	if (!row) {
		sink_drop(sink, TABLE_loss);
		return;
	}
	SET(loss, ts, note->ts);
	SET(loss, layer, LAYER_gpu);
	if (reason == LOSS_CUPTI)
		SET(loss, count, note->count);
	SET(loss, reason, reason);
	if (note->size)
		builder_set_text(row, column_loss_detail, note->text, note->size);
	sink_end_row(sink, TABLE_loss);
}

static void take_note(struct sink *sink, const struct inject_head *head)
{
	const struct gpu_note_record *note = (const struct gpu_note_record *)head;
	char version[32];

	if (!has_text(head, offsetof(struct gpu_note_record, text), note->size) ||
	    note->ts > INT64_MAX || note->count > INT64_MAX)
		return;
	switch (head->number) {
	case GPU_NOTE_ON:
		snprintf(version, sizeof(version), "%" PRIu64, note->count);
		add_fact(sink, "cupti", version, strlen(version));
		break;
	case GPU_NOTE_NO_CUPTI:
	case GPU_NOTE_REFUSED: add_fact(sink, "absent.gpu_op", note->text, note->size); break;
	case GPU_NOTE_HELD: add_loss(sink, note, LOSS_HELD); break;
	case GPU_NOTE_DROPPED: add_loss(sink, note, LOSS_CUPTI); break;
	}
}

/* ---- the reader ---- */

static int gpu_ops_open(void **opaque, const struct injected_setup *setup, struct error *e)
{
	(void)setup;
	*opaque = calloc(1, sizeof(struct gpu_ops));
	return *opaque ? 0 : error_set(e, -ENOMEM, "out of memory");
}

static void gpu_ops_record(void *opaque, struct row_maker *maker, const struct pool_writer *writer,
			   const struct inject_head *head)
{
	struct gpu_ops *state = opaque;

	switch (head->kind) {
	case INJECT_GPU_OP: take_op(state, writer, head); break;
	case INJECT_GPU_TEXT: take_text(state, head); break;
	case INJECT_GPU_MARK: add_mark(&maker->sink, writer, head); break;
	case INJECT_GPU_NOTE: take_note(&maker->sink, head); break;
	}
}

static void gpu_ops_pass(void *opaque, struct row_maker *maker, bool last)
{
	struct gpu_ops *state = opaque;
	const struct waiting_op *waiting = (const struct waiting_op *)state->waiting.data;

	(void)last;
	for (size_t i = 0; i < state->waiting.size / sizeof(*waiting); i++)
		add_op(state, &maker->sink, &waiting[i]);
	state->waiting.size = 0;
}

static void gpu_ops_close(void *opaque)
{
	struct gpu_ops *state = opaque;

	map_free(&state->texts);
	strings_free(&state->names);
	buf_free(&state->waiting);
	free(state);
}

const struct injected_reader gpu_ops_reader = {
	.layer = LAYER_gpu,
	.open = gpu_ops_open,
	.record = gpu_ops_record,
	.pass = gpu_ops_pass,
	.close = gpu_ops_close,
};
