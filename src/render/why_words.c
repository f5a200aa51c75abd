/* What the text, the JSON and the page say in the same words: the verdict's sentence, and the query behind a line. */
#include <string.h>

#include "base/units.h"
#include "render/why.h"

/* What lies at the end of the chain: a device, a program, a file. */
static int say_end(const struct why *why, const struct why_claim *claim, struct buf *out)
{
	size_t name_size = 0, path_size = 0;
	const char *name = claim->name == UINT32_MAX
				   ? NULL
				   : strings_get(&why->calls.names, claim->name, &name_size);
	const char *path = claim->file == CELL_NULL
				   ? NULL
				   : dims_path(why->context.dims, claim->file, &path_size);

	if (!name && !path)
		return 0;
	return buf_printf(out, " (%.*s%s%.*s)", (int)name_size, name ? name : "",
			  name && path ? ", " : "", (int)path_size, path ? path : "");
}

int why_say_claim(const struct why *why, const struct why_claim *claim, struct buf *out)
{
	char part[32], whole[32], most[32];
	int err = buf_printf(out, "%s: %.1f %% of the %s, %s of %s; most of it: %s",
			     why_cause_names[claim->cause], claim->share * 100,
			     why->verdict.loop ? "training loop" : "run",
			     units_format_duration(part, sizeof(part), claim->ns),
			     units_format_duration(whole, sizeof(whole), why->verdict.of_ns),
			     why_acts[claim->act].says);

	if (!err)
		err = say_end(why, claim, out);
	return err ? err
		   : buf_printf(out, ", %s",
				units_format_duration(most, sizeof(most), claim->act_ns));
}

const char *why_line_sql(const struct why_line *line, char *out, size_t size)
{
	uint64_t end = line->longest_ts + line->longest_ns;

	snprintf(out, size,
		 "select ts, dur, cpu, tid, comm, end_state, syscall, waker_tid from sched where "
		 "ts + dur >= %llu and ts <= %llu order by ts",
		 (unsigned long long)line->longest_ts, (unsigned long long)end);
	return out;
}
