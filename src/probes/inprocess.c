#include "probes/inprocess.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "inject/ticks.h"
#include "inprocess/calls.h"
#include "probes/inprocess_counts.h"
#include "probes/unloaded.h"

#define NO_CALL UINT32_MAX

/* What the rows need to know of a function, by enum inprocess_function. */
static const struct {
	const char *as; /* what it is asked for by */
	uint8_t args;
	bool returns;
} functions[INPROCESS_COUNT] = {
#define COUNT(...)			     COUNT_FOUR(__VA_ARGS__, 4, 4, 4, 3, 2, 1)
#define COUNT_FOUR(a, b, c, d, e, f, n, ...) n
#define CALL_AS(type, name, as, parameters, arguments, shown) \
	[INPROCESS_##name] = { #as, COUNT shown, true },
#define PROCEDURE(name, parameters, arguments) \
	[INPROCESS_##name] = { #name, COUNT arguments, false },
#define SPECIAL(name, as, count) [INPROCESS_##name] = { #as, count, true },
#include "inprocess/functions.def"
};

struct inprocess {
	struct pool *pool; /* not owned */
	const struct calls *calls;
	uint32_t numbers[INPROCESS_COUNT]; /* of calls; NO_CALL: not asked for */
	struct ticks ticks;
	_Atomic uint64_t start;
	struct inprocess_counts *counts; /* NULL: nothing is counted */
};

/* ---- which functions ---- */

/* The function of `calls` that lies where the C library has that name; NO_CALL: it was not asked for. */
static uint32_t find_call(const struct calls *calls, uint32_t module, const char *name)
{
	const struct elf_symbols *symbols = &calls_module(calls, module)->symbols;

	for (size_t i = 0; i < elf_symbols_count(symbols); i++) {
		const struct symbol *symbol = elf_symbols_get(symbols, i);

		if (strcmp(elf_symbols_name(symbols, symbol), name))
			continue;
		for (size_t k = 0; k < calls_count(calls); k++)
			if (calls_get(calls, k)->module == module &&
			    calls_get(calls, k)->offset == symbol->offset)
				return (uint32_t)k;
	}
	return NO_CALL;
}

static bool is_c_library(const struct call_module *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash && !fnmatch("libc[.-]*so*", slash + 1, 0);
}

/* Which function of `calls` each one of the library is. Returns how many are one. */
static size_t number_functions(const struct calls *calls, uint32_t numbers[INPROCESS_COUNT])
{
	size_t found = 0;

	for (unsigned i = 0; i < INPROCESS_COUNT; i++) {
		numbers[i] = NO_CALL;
		for (uint32_t k = 0; k < calls_module_count(calls) && numbers[i] == NO_CALL; k++)
			if (is_c_library(calls_module(calls, k)))
				numbers[i] = find_call(calls, k, functions[i].as);
		found += numbers[i] != NO_CALL;
	}
	return found;
}

int inprocess_choose(struct calls *calls, struct error *e)
{
	uint32_t numbers[INPROCESS_COUNT];

	if (!number_functions(calls, numbers))
		return error_set(
			e, -EINVAL,
			"--inprocess is about functions of the C library that read, write, "
			"open and allocate, such as --call @posix, @stdio or @malloc: none "
			"of them was asked for");
	for (unsigned i = 0; i < INPROCESS_COUNT; i++)
		if (numbers[i] != NO_CALL)
			calls_get(calls, numbers[i])->probing = CALL_INPROCESS;
	return 0;
}

/* ---- life ---- */

static const struct function_traits *traits_of(const struct inprocess *inprocess, uint32_t number)
{
	return &calls_get(inprocess->calls, inprocess->numbers[number])->traits;
}

/* Whether the arguments and the result that are recorded say it. */
static bool is_known(const struct function_source *source, uint32_t number)
{
	return !source->behind &&
	       (source->from == FROM_RETURNED ||
		(source->from >= FROM_ARG0 && source->from < FROM_ARG0 + functions[number].args));
}

static bool has_bytes(const struct inprocess *inprocess, uint32_t number)
{
	const struct function_source *bytes = traits_of(inprocess, number)->bytes;

	return is_known(&bytes[0], number) && (!bytes[1].from || is_known(&bytes[1], number));
}

static int set_library(const struct inprocess *inprocess, const struct injected_setup *setup,
		       struct error *e)
{
	uint64_t pace = ticks_pace(&inprocess->ticks, INPROCESS_SHIFT);
	struct inprocess_settings settings = {
		.aggregates = !!setup->aggregate,
		.min_ticks = (uint64_t)(((unsigned __int128)setup->min_dur << INPROCESS_SHIFT) /
					(pace ? pace : 1)),
	};

	for (unsigned i = 0; i < INPROCESS_COUNT; i++) {
		if (inprocess->numbers[i] == NO_CALL)
			continue;
		settings.wanted[i] = 1;
		if (!has_bytes(inprocess, i))
			continue;
		for (unsigned k = 0; k < 2; k++)
			settings.bytes[i][k] = traits_of(inprocess, i)->bytes[k].from;
	}
	pool_set_pace(setup->pool, pace, INPROCESS_SHIFT);
	return pool_set(setup->pool, INJECT_CALLS, &settings, sizeof(settings), e);
}

static int inprocess_open(void **state, const struct injected_setup *setup, struct error *e)
{
	struct inprocess *inprocess = *state = calloc(1, sizeof(*inprocess));
	uint64_t interval = setup->aggregate ? setup->aggregate : NS_PER_SECOND;
	int err = 0;

	if (!inprocess)
		return error_set(e, -ENOMEM, "out of memory");
	inprocess->pool = setup->pool;
	inprocess->calls = setup->calls;
	number_functions(setup->calls, inprocess->numbers);
	ticks_open(&inprocess->ticks, setup->clock == INJECT_TSC);
	if (setup->aggregate || setup->min_dur)
		err = inprocess_counts_open(&inprocess->counts, setup->pool, setup->calls,
					    inprocess->numbers, interval, e);
	return err ? err : set_library(inprocess, setup, e);
}

static void inprocess_start(void *state, uint64_t now)
{
	struct inprocess *inprocess = state;

	inprocess->start = now;
	if (inprocess->counts)
		inprocess_counts_start(inprocess->counts, now);
}

static void inprocess_close(void *state)
{
	struct inprocess *inprocess = state;

	inprocess_counts_close(inprocess->counts);
	free(inprocess);
}

/* ---- rows ---- */

#define SET(column, value) builder_set(row, column_call_##column, (int64_t)(value))

/* All but the length and the result. */
static void set_call(const struct inprocess *inprocess, struct builder *row,
		     const struct pool_writer *writer, uint32_t number, uint64_t ts, uint32_t depth,
		     const int64_t args[4])
{
	const struct call_function *function =
		calls_get(inprocess->calls, inprocess->numbers[number]);
	const char *module = calls_module(inprocess->calls, function->module)->name;
	static const unsigned columns[] = { column_call_arg0, column_call_arg1, column_call_arg2,
					    column_call_arg3 };

	SET(ts, ts);
	if (writer->pid)
		SET(pid, writer->pid);
	if (writer->tid)
		SET(tid, writer->tid);
	builder_set_text(row, column_call_func, function->name, strlen(function->name));
	builder_set_text(row, column_call_module, module, strlen(module));
	SET(depth, depth);
	for (unsigned i = 0; i < functions[number].args; i++)
		builder_set(row, columns[i], args[i]);
	if (is_known(&traits_of(inprocess, number)->count, number))
		SET(count, args[traits_of(inprocess, number)->count.from - FROM_ARG0]);
}

/* A call that fails moves nothing. */
static uint64_t factor(const struct function_source *source, const struct inprocess_record *call)
{
	if (source->from == FROM_NONE)
		return 1;
	if (source->from == FROM_RETURNED)
		return call->returned > 0 ? (uint64_t)call->returned : 0;
	return (uint64_t)call->args[source->from - FROM_ARG0];
}

/* Whether a call of this function can have been then. */
static bool is_sane(const struct inprocess *inprocess, uint32_t number, uint64_t ts, uint64_t dur)
{
	uint64_t now = clock_boot() + NS_PER_SECOND;

	return number < INPROCESS_COUNT && inprocess->numbers[number] != NO_CALL &&
	       ts >= inprocess->start && ts < now && dur < now - ts;
}

static void inprocess_record(void *state, struct row_maker *maker, const struct pool_writer *writer,
			     const struct inject_head *head)
{
	struct inprocess *inprocess = state;
	const struct inprocess_record *call = (const void *)head;
	uint32_t number = head->number & ((1 << INPROCESS_DEPTH_AT) - 1);
	uint64_t ts = ticks_to_ns(&inprocess->ticks, call->ts);
	uint64_t dur = ticks_length(&inprocess->ticks, call->ts, call->ticks);
	struct builder *row;

	if (head->kind == INJECT_LOADED && writer->pid)
		return unloaded_note_load(maker->unloaded, writer->pid, ts);
	if (head->kind != INJECT_CALL || !is_sane(inprocess, number, ts, dur))
		return pool_reject(inprocess->pool, INJECT_CALLS);
	row = sink_table(&maker->sink, TABLE_call);
	if (!row)
		return sink_drop(&maker->sink, TABLE_call);
	set_call(inprocess, row, writer, number, ts, head->number >> INPROCESS_DEPTH_AT,
		 call->args);
	SET(dur, dur);
	if (functions[number].returns)
		SET(returned, call->returned);
	if (has_bytes(inprocess, number))
		SET(bytes, factor(&traits_of(inprocess, number)->bytes[0], call) *
				   factor(&traits_of(inprocess, number)->bytes[1], call));
	sink_end_row(&maker->sink, TABLE_call);
}

/* Calls that the thread was in when it ended, or when the recording does. */
static void add_unfinished(struct inprocess *inprocess, struct row_maker *maker,
			   const struct pool_writer *writer, const struct inprocess_area *area)
{
	for (uint32_t depth = 0; depth < INPROCESS_FRAMES; depth++) {
		const struct inprocess_frame *frame = &area->frames[depth];
		uint64_t ts = ticks_to_ns(&inprocess->ticks, frame->ts);
		struct builder *row;

		if (!frame->function || !is_sane(inprocess, frame->function - 1, ts, 0))
			continue;
		row = sink_table(&maker->sink, TABLE_call);
		if (!row)
			return sink_drop(&maker->sink, TABLE_call);
		set_call(inprocess, row, writer, frame->function - 1, ts, depth, frame->args);
		sink_end_row(&maker->sink, TABLE_call);
	}
}

static void inprocess_end(void *state, struct row_maker *maker, const struct pool_writer *writer)
{
	struct inprocess *inprocess = state;
	const struct inprocess_area *area = pool_area(inprocess->pool, writer);

	if (!area)
		return;
	add_unfinished(inprocess, maker, writer, area);
	if (inprocess->counts)
		inprocess_counts_take(inprocess->counts, &maker->sink, writer, area);
}

static void inprocess_pass(void *state, struct row_maker *maker, bool last)
{
	struct inprocess *inprocess = state;

	ticks_read(&inprocess->ticks);
	if (inprocess->counts)
		inprocess_counts_tick(inprocess->counts, &maker->sink, last);
	pool_set_pace(inprocess->pool, ticks_pace(&inprocess->ticks, INPROCESS_SHIFT),
		      INPROCESS_SHIFT);
}

const struct injected_reader inprocess_reader = {
	.layer = LAYER_call,
	.open = inprocess_open,
	.start = inprocess_start,
	.record = inprocess_record,
	.end = inprocess_end,
	.pass = inprocess_pass,
	.close = inprocess_close,
};
