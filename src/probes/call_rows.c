#include "probes/call_rows.h"

#include <string.h>

#include "bpf/call.h"
#include "schema/schema.h"
#include "symbols/calls.h"

#define SET(column, value) builder_set(row, column_call_##column, (int64_t)(value))

/* As nccl.h numbers them. */
static const char *const nccl_ops[] = { "sum", "prod", "max", "min", "avg" };

static void set_told(struct builder *row, const struct call_record *call,
		     const struct call_function *function)
{
	if (call->bytes != RECORD_NULL)
		SET(bytes, call->bytes);
	if (call->count != RECORD_NULL)
		SET(count, call->count);
	if (call->rank != RECORD_NULL)
		SET(rank, call->rank);
	if (call->file)
		SET(file, call->file);
	if (function->traits.op.as == AS_NCCL_OP && call->op >= 0 &&
	    call->op < (int64_t)(sizeof(nccl_ops) / sizeof(*nccl_ops)))
		builder_set_text(row, column_call_op, nccl_ops[call->op],
				 strlen(nccl_ops[call->op]));
}

static void set_path(struct builder *row, const struct call_record *call, size_t size)
{
	const struct call_path_record *with = (const void *)call;

	if (call->head.kind == CALL_WITH_PATH && size >= sizeof(*with) && call->path_size &&
	    call->path_size <= sizeof(with->path))
		builder_set_text(row, column_call_arg_path, with->path, call->path_size - 1u);
}

void call_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct call_record *call = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_call);
	const struct call_function *function;
	const char *module;

	if (!row || call->function >= calls_count(maker->calls))
		return sink_drop(&maker->sink, TABLE_call);
	function = calls_get(maker->calls, call->function);
	module = calls_module(maker->calls, function->module)->name;
	SET(ts, head->ts);
	SET(cpu, head->cpu);
	SET_HOST_IDS(row, call, head->pid, head->tid);
	builder_set_text(row, column_call_func, function->name, strlen(function->name));
	builder_set_text(row, column_call_module, module, strlen(module));
	SET(depth, call->depth);
	if (call->args[0] != RECORD_NULL)
		SET(arg0, call->args[0]);
	if (call->args[1] != RECORD_NULL)
		SET(arg1, call->args[1]);
	if (call->args[2] != RECORD_NULL)
		SET(arg2, call->args[2]);
	if (call->args[3] != RECORD_NULL)
		SET(arg3, call->args[3]);
	if (!(head->flags & RECORD_UNFINISHED)) {
		SET(dur, head->dur);
		SET(returned, call->returned);
	}
	set_told(row, call, function);
	set_path(row, call, size);
	sink_end_row(&maker->sink, TABLE_call);
}
