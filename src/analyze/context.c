#include "analyze/context.h"

int context_open(struct context *context, struct reader *reader, const struct dims *dims,
		 const struct span *span, struct error *e)
{
	int err;

	context->dims = dims;
	err = procs_open(&context->procs, reader, dims, e);
	if (!err)
		err = who_open(&context->who, dims, context->procs, e);
	if (!err)
		err = roles_load(&context->roles, context->procs, reader, span, e);
	return err;
}

void context_close(struct context *context)
{
	segments_close(&context->segments);
	roles_free(&context->roles);
	who_close(&context->who);
	procs_close(context->procs);
	*context = (struct context){ 0 };
}
