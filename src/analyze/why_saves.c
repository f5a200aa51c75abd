#include "analyze/why_saves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BYTES (1u << 20) /* of a file that is neither synced nor renamed */

const char *const why_save_says[WHY_SAVE_PART_COUNT] = {
#define WHY_SAVE_PART_SAYS(id, says) says,
	WHY_SAVE_PARTS(WHY_SAVE_PART_SAYS)
#undef WHY_SAVE_PART_SAYS
};

/* The file that is being written, as far as the calls were looked at. */
struct saving {
	struct saves *saves;
	const struct dims *dims;
	const struct steps *steps;
	struct why_save save;
	uint64_t opened_ts; /* of the file that was opened last */
	int64_t opened;
	size_t step; /* the first that begins after the save's end */
	bool active, settled, renamed;
};

/* ---- families of calls ---- */

static int find_families(struct saves *saves)
{
	const struct strings *names = &saves->calls->names;

	saves->families = calloc(names->count + 1, sizeof(*saves->families));
	if (!saves->families)
		return -ENOMEM;
	for (unsigned i = 0; i < SYSCALL_COUNT; i++) {
		const char *name = schema_syscalls[i].name;
		uint32_t number;

		if (name && strings_find(names, name, strlen(name), &number))
			saves->families[number] = (uint8_t)schema_syscalls[i].family;
	}
	return 0;
}

static enum syscall_family family_of(const struct saves *saves, const struct why_call *call)
{
	return call->table == TABLE_io || call->table == TABLE_fs
		       ? (enum syscall_family)saves->families[call->name]
		       : FAMILY_none;
}

/* ---- finding them ---- */

static bool is_regular(const struct dims *dims, int64_t file)
{
	const struct file_row *row = file == CELL_NULL ? NULL : dims_find_file(dims, file);

	return row && file_row_is(row, FILE_KIND_FILE);
}

static int finish_save(struct saving *saving)
{
	bool counts = saving->active && (saving->settled || saving->save.bytes >= LEAST_BYTES);

	saving->active = false;
	return counts ? buf_append(&saving->saves->list, &saving->save, sizeof(saving->save)) : 0;
}

/* Whether a step begins after the last call of the save, and not after ts. */
static bool step_between(struct saving *saving, uint64_t ts)
{
	const struct steps *steps = saving->steps;

	while (saving->step < steps->count && steps->list[saving->step].start <= saving->save.end)
		saving->step++;
	return saving->step < steps->count && steps->list[saving->step].start <= ts;
}

static int take_write(struct saving *saving, const struct why_call *call)
{
	if (!is_regular(saving->dims, call->file))
		return 0;
	if (!saving->active || saving->save.file != call->file) {
		if (finish_save(saving))
			return -ENOMEM;
		saving->save = (struct why_save){ .start = call->ts, .file = call->file };
		if (saving->opened == call->file)
			saving->save.start = saving->opened_ts;
		saving->active = true;
		saving->settled = saving->renamed = false;
	}
	saving->save.bytes += call->returned > 0 ? (uint64_t)call->returned : 0;
	saving->save.end = call->end;
	return 0;
}

/* A call that may belong to the save that is under way. */
static void take_other(struct saving *saving, const struct why_call *call,
		       enum syscall_family family)
{
	bool same = call->file == saving->save.file;

	if (family == FAMILY_rename && !saving->renamed && !call->returned)
		saving->renamed = true;
	else if (!(family == FAMILY_sync && (same || saving->renamed)) &&
		 !(family == FAMILY_close && same))
		return;
	saving->settled |= family != FAMILY_close;
	saving->save.end = call->end;
}

static int take_call(struct saving *saving, const struct why_call *call)
{
	enum syscall_family family = family_of(saving->saves, call);

	if (call->end == UINT64_MAX)
		return 0;
	if (saving->active && step_between(saving, call->ts) && finish_save(saving))
		return -ENOMEM;
	if (family == FAMILY_write || family == FAMILY_writev)
		return take_write(saving, call);
	if (family == FAMILY_open && call->file != CELL_NULL) {
		saving->opened = call->file;
		saving->opened_ts = call->ts;
	} else if (saving->active) {
		take_other(saving, call, family);
	}
	return 0;
}

/* Between two files the later begins where the earlier ends; in the loop are those that begin before its last step ends. */
static void settle_list(struct saves *saves, uint64_t loop_end)
{
	struct why_save *list = (struct why_save *)saves->list.data;

	for (size_t i = 0; i < saves_count(saves); i++) {
		if (i && list[i].start < list[i - 1].end)
			list[i].start = list[i - 1].end;
		list[i].loop = list[i].start < loop_end;
		saves->bytes += list[i].bytes;
	}
}

int saves_find(struct saves *saves, const struct why_calls *calls, const struct dims *dims,
	       const struct steps *steps, uint32_t focus)
{
	struct saving saving = {
		.saves = saves, .dims = dims, .steps = steps, .opened = CELL_NULL
	};
	const struct why_call *call, *end;
	uint64_t loop_end = 0;
	int err;

	*saves = (struct saves){ .calls = calls };
	if (!steps->count || !calls->calls.size)
		return 0;
	end = (const struct why_call *)(calls->calls.data + calls->calls.size);
	for (size_t i = 0; i < steps->count; i++)
		if (steps->list[i].end > loop_end)
			loop_end = steps->list[i].end;
	err = find_families(saves);
	call = why_call_next(&calls->calls, focus, steps->list[0].start);
	for (; call && call < end && call->thread == focus && !err; call++)
		err = take_call(&saving, call);
	if (!err)
		err = finish_save(&saving);
	settle_list(saves, loop_end);
	return err;
}

/* ---- what they were made of ---- */

static enum why_save_part part_of(const struct saves *saves, uint32_t focus, enum why_act act,
				  uint64_t ts)
{
	const struct why_call *call = why_call_at(&saves->calls->calls, focus, ts);

	if (act == WHY_THROTTLED)
		return WHY_SAVE_THROTTLED;
	switch (call ? family_of(saves, call) : FAMILY_none) {
	case FAMILY_write:
	case FAMILY_writev: return WHY_SAVE_WRITE;
	case FAMILY_sync: return WHY_SAVE_SYNC;
	case FAMILY_rename: return WHY_SAVE_RENAME;
	default: return WHY_SAVE_SERIALISE;
	}
}

void saves_add(struct saves *saves, uint32_t focus, enum why_act act, uint64_t start, uint64_t end)
{
	size_t low = 0, high = saves_count(saves);

	while (low < high) { /* all below low end at start or before */
		size_t middle = low + (high - low) / 2;

		if (saves_get(saves, middle)->end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < saves_count(saves) && saves_get(saves, low)->start < end; low++) {
		const struct why_save *save = saves_get(saves, low);
		uint64_t from = save->start > start ? save->start : start;
		uint64_t to = save->end < end ? save->end : end;

		saves->ns += to - from;
		saves->parts[part_of(saves, focus, act, from)] += to - from;
	}
}

void saves_free(struct saves *saves)
{
	buf_free(&saves->list);
	free(saves->families);
	*saves = (struct saves){ 0 };
}
