/* The ledger of `strata why` as rows for queries. */
#include <errno.h>

#include "analyze/why.h"
#include "base/escape.h"
#include "cmd/sql.h"

/* The name as queries show it, by its number there. */
static int keep_name(struct pieces *out, const struct why *why, uint32_t name, struct buf *scratch,
		     uint32_t *number)
{
	const char *text;
	size_t size;

	*number = UINT32_MAX;
	if (name == UINT32_MAX)
		return 0;
	text = strings_get(&why->calls.names, name, &size);
	scratch->size = 0;
	if (escape_append(scratch, ESCAPE_SHOWN, text, size))
		return -ENOMEM;
	return strings_add(&out->names, scratch->data, scratch->size, number);
}

static int keep_pieces(struct pieces *out, const struct why *why, struct error *e)
{
	struct buf scratch = { 0 };
	int err = 0;

	for (size_t i = 0; i < ledger_piece_count(&why->ledger) && !err; i++) {
		const struct why_piece *piece = ledger_piece(&why->ledger, i);
		struct piece row = { .ts = piece->start,
				     .dur = piece->end - piece->start,
				     .tid = why->focus_tid,
				     .file = piece->file,
				     .cause = why_cause_names[why_acts[piece->act].cause],
				     .says = why_acts[piece->act].says,
				     .context = why_context_names[piece->context] };

		err = keep_name(out, why, piece->name, &scratch, &row.name);
		if (!err)
			err = buf_append(&out->list, &row, sizeof(row));
	}
	buf_free(&scratch);
	return err ? error_set(e, err, "no memory for the ledger") : 0;
}

int sql_make_ledger(const struct run *run, struct pieces *out, struct error *e)
{
	struct why_options options = { .focus = CELL_NULL, .keep_pieces = true };
	struct why why;
	int err = why_load(&why, run->path, run->reader, run->dims, &options, e);

	if (err)
		error_add(e, err, "cannot judge '%s'", run->path);
	else
		err = keep_pieces(out, &why, e);
	why_free(&why);
	return err;
}
