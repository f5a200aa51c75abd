/* The layer call: probes on the functions of files by bpf/call.bpf.c. Their records become rows in call_rows.c, what is counted instead
 * of recorded in call_counters.c. */
#include "bpf/call.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bpf/call.skel.h"
#include "probes/bpf_error.h"
#include "probes/call_counters.h"
#include "probes/call_kernel.h"
#include "probes/call_links.h"
#include "probes/call_rows.h"
#include "probes/iterate.h"
#include "probes/probe.h"
#include "symbols/calls.h"

/* What the kernel can do. */
enum call_way { WAY_SESSION, WAY_MULTI, WAY_SINGLE };

struct call_state {
	enum call_way way;
	struct call_links *links; /* by module */
	struct call_kernel *kernel;
	struct call_counters *counters;
	const char **changed; /* by module: what has become of its file; NULL: nothing */
};

PROBE_OPEN(call)

static bool call_wanted(const struct probe_setup *setup)
{
	return setup->calls && calls_probed(setup->calls) && setup->layers & LAYER_BIT(LAYER_call);
}

/* ---- configuring ---- */

static enum call_way call_best_way(const struct features *features)
{
	if (!features_has_function(features, "bpf_uprobe_multi_link_attach"))
		return WAY_SINGLE;
	return features_has_function(features, "bpf_session_is_return") ? WAY_SESSION : WAY_MULTI;
}

static bool call_has_usdt(const struct calls *calls)
{
	for (size_t i = 0; i < calls_count(calls); i++)
		if (calls_get(calls, i)->usdt)
			return true;
	return false;
}

static void call_configure(struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	enum call_way way = call_best_way(setup->features);
	struct call_state *state = run->state = calloc(1, sizeof(*state));
	struct call_bpf *bpf = run->bpf;
	bool usdt = call_has_usdt(setup->calls);
	struct bpf_program *program;

	if (state)
		state->way = way;
	bpf->rodata->call_aggregates = setup->aggregates;
	bpf->rodata->call_min_dur = setup->min_dur;
	bpf_map__set_max_entries(bpf->maps.call_traits, (uint32_t)calls_count(setup->calls) + 1);
	bpf_map__set_max_entries(bpf->maps.call_usdts,
				 usdt ? (uint32_t)calls_count(setup->calls) + 1 : 1);
	bpf->rodata->call_knows_stacks = features_has_helper(setup->features, "find_vma");
	bpf_program__set_autoload(bpf->progs.call_session, way == WAY_SESSION);
	bpf_program__set_autoload(bpf->progs.call_multi_entry, way != WAY_SINGLE);
	bpf_program__set_autoload(bpf->progs.call_multi_usdt, usdt && way != WAY_SINGLE);
	bpf_program__set_autoload(bpf->progs.call_single_usdt, usdt && way == WAY_SINGLE);
	bpf_program__set_expected_attach_type(bpf->progs.call_multi_usdt, ATTACH_UPROBE_MULTI);
	bpf_program__set_autoload(bpf->progs.call_multi_return, way == WAY_MULTI);
	bpf_program__set_autoload(bpf->progs.call_single_entry, way == WAY_SINGLE);
	bpf_program__set_autoload(bpf->progs.call_single_return, way == WAY_SINGLE);
	bpf_program__set_expected_attach_type(bpf->progs.call_session, ATTACH_UPROBE_SESSION);
	bpf_program__set_expected_attach_type(bpf->progs.call_multi_entry, ATTACH_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.call_multi_return, ATTACH_UPROBE_MULTI);
	bpf_object__for_each_program (program, bpf->obj)
		if (strncmp(bpf_program__section_name(program), "tp_btf", 6))
			bpf_program__set_autoattach(program, false);
	call_kernel_configure(run);
}

/* ---- attaching ---- */

static bool call_tells(const struct call_function *function)
{
	static const struct function_traits nothing;

	return memcmp(&function->traits, &nothing, sizeof(nothing));
}

uint64_t call_cookie(uint32_t number, const struct call_function *function)
{
	return number | (function->probing == CALL_ENTRY ? CALL_ENTRY_ONLY : 0) |
	       (call_tells(function) ? CALL_TELLS : 0) |
	       (function->traits.path.from ? CALL_PATHS : 0);
}

/* Tells the programs what the arguments of each function say. */
static int call_tell_traits(const struct probe_run *run, struct error *e)
{
	const struct calls *calls = run->setup->calls;
	const struct call_bpf *bpf = run->bpf;
	int err = 0;

	for (uint32_t i = 0; i < calls_count(calls) && !err; i++) {
		const struct call_function *function = calls_get(calls, i);

		if (call_tells(function))
			err = bpf_map_update_elem(bpf_map__fd(bpf->maps.call_traits), &i,
						  &function->traits, BPF_ANY);
		if (function->usdt)
			err = bpf_map_update_elem(bpf_map__fd(bpf->maps.call_usdts), &i,
						  function->sources, BPF_ANY);
	}
	return err ? bpf_error(e, err, "cannot tell the programs about functions") : 0;
}

/* The places of those functions of a module, or of its USDT marks, that are probed in one way; *count of them. */
static struct call_place *call_places(const struct calls *calls, uint32_t module, bool usdt,
				      enum call_probing probing, size_t *count)
{
	struct call_place *places = calloc(calls_count(calls) + 1, sizeof(*places));

	*count = 0;
	for (size_t i = 0; places && i < calls_count(calls); i++) {
		const struct call_function *function = calls_get(calls, i);

		if (function->module != module || function->probing != probing ||
		    function->usdt != usdt)
			continue;
		places[(*count)++] = (struct call_place){
			.offset = function->offset + function->site.slide,
			.cookie = call_cookie((uint32_t)i, function),
			.semaphore = function->semaphore,
		};
	}
	return places;
}

static int call_attach_pairs(struct call_state *state, uint32_t module, const struct call_bpf *bpf,
			     const char *path, struct call_place *places, size_t count,
			     struct error *e)
{
	int err;

	if (state->way == WAY_SESSION)
		return call_links_multi(&state->links[module], bpf->progs.call_session,
					ATTACH_UPROBE_SESSION, false, path, places, count, e);
	/* The return first: what enters before the entry is there has no frame, and what it says is passed over. */
	if (state->way == WAY_MULTI) {
		err = call_links_multi(&state->links[module], bpf->progs.call_multi_return,
				       ATTACH_UPROBE_MULTI, true, path, places, count, e);
		return err ? err
			   : call_links_multi(&state->links[module], bpf->progs.call_multi_entry,
					      ATTACH_UPROBE_MULTI, false, path, places, count, e);
	}
	err = call_links_single(&state->links[module], bpf->progs.call_single_return, true, path,
				places, count, e);
	return err ? err
		   : call_links_single(&state->links[module], bpf->progs.call_single_entry, false,
				       path, places, count, e);
}

static int call_attach_entries(struct call_state *state, uint32_t module,
			       const struct call_bpf *bpf, bool usdt, const char *path,
			       struct call_place *places, size_t count, struct error *e)
{
	if (state->way == WAY_SINGLE)
		return call_links_single(&state->links[module],
					 usdt ? bpf->progs.call_single_usdt
					      : bpf->progs.call_single_entry,
					 false, path, places, count, e);
	return call_links_multi(&state->links[module],
				usdt ? bpf->progs.call_multi_usdt : bpf->progs.call_multi_entry,
				ATTACH_UPROBE_MULTI, false, path, places, count, e);
}

static int call_attach_kind(struct probe_run *run, uint32_t module, bool usdt,
			    enum call_probing probing, struct error *e)
{
	const struct calls *calls = run->setup->calls;
	size_t count;
	struct call_place *places = call_places(calls, module, usdt, probing, &count);
	char path[32];
	int err = 0;

	if (!places)
		return error_set(e, -ENOMEM, "out of memory");
	/* By the descriptor that the symbols were read from: the file is the same, whoever has its name now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", calls_module(calls, module)->symbols.fd);
	if (count && probing == CALL_PAIR)
		err = call_attach_pairs(run->state, module, run->bpf, path, places, count, e);
	else if (count)
		err = call_attach_entries(run->state, module, run->bpf, usdt, path, places, count,
					  e);
	for (size_t i = 0; i < count && !err; i++) {
		struct call_function *function = calls_get(calls, (uint32_t)places[i].cookie);

		if (!places[i].refused)
			continue;
		function->probing = CALL_NONE;
		function->why = "the kernel cannot probe its first instruction";
	}
	free(places);
	return err;
}

static int call_attach_module(struct probe_run *run, uint32_t number, struct error *e)
{
	struct call_module *module = calls_module(run->setup->calls, number);
	int err;

	err = call_attach_kind(run, number, false, CALL_PAIR, e);
	if (!err)
		err = call_attach_kind(run, number, false, CALL_ENTRY, e);
	if (!err)
		err = call_attach_kind(run, number, true, CALL_ENTRY, e);
	if (!err && !elf_symbols_same(&module->symbols))
		err = error_set(e, -ESTALE, "'%s' was written to while its symbols were read",
				module->path);
	return err;
}

/* Tells which functions are recorded without a length, and which not at all. */
static void call_note_absent(const struct probe_run *run)
{
	const struct probe_setup *setup = run->setup;
	const struct call_state *state = run->state;
	char names[256];

	if (state->way != WAY_SESSION &&
	    calls_name_some(setup->calls, CALL_PAIR, names, sizeof(names)))
		absences_add(
			setup->absences, "call.stacks",
			"this kernel (before 6.13) puts return probes on calls on any stack, of "
			"any "
			"process: one with coroutines, or with signal handlers on a stack of their "
			"own, that is in a traced call meanwhile, may not survive it");

	if (calls_name_some(setup->calls, CALL_ENTRY, names, sizeof(names)))
		absences_add(
			setup->absences, "call.dur",
			"%s: no return probe, since an exception may pass through, or it does not "
			"return once; see --call-returns",
			names);
	if (calls_name_some(setup->calls, CALL_NONE, names, sizeof(names)))
		absences_add(setup->absences, "call.function",
			     "%s: cannot be probed; --list-calls says why", names);
}

static int call_attach_modules(struct probe_run *run, struct error *e)
{
	const struct calls *calls = run->setup->calls;
	struct call_state *state = run->state;
	int err = 0;

	for (uint32_t i = 0; i < calls_module_count(calls) && !err; i++)
		if (!calls_is_kernel(calls_module(calls, i)))
			err = call_attach_module(run, i, e);
	if (err)
		return err;
	err = call_kernel_attach(&state->kernel, run, e);
	if (err && calls_module_count(calls) > 1) {
		absences_add(run->setup->absences, "call.kernel", "%s", e->text);
		err = 0;
	}
	return err;
}

static bool call_counted(const void *context, uint32_t number, struct counted *counted)
{
	const struct calls *calls = context;
	const struct call_function *function;

	if (number >= calls_count(calls))
		return false;
	function = calls_get(calls, number);
	*counted = (struct counted){
		.name = function->name,
		.module = calls_module(calls, function->module)->name,
		.timed = function->probing == CALL_PAIR,
		.moves_bytes = function->traits.bytes[0].from,
	};
	return true;
}

static int call_attach(struct probe_run *run, struct error *e)
{
	struct call_state *state = run->state;
	size_t modules = calls_module_count(run->setup->calls);
	struct call_bpf *bpf = run->bpf;
	int err;

	if (state)
		state->links = calloc(modules + 1, sizeof(*state->links));
	if (state)
		state->changed = calloc(modules + 1, sizeof(*state->changed));
	if (!state || !state->links || !state->changed)
		return error_set(e, -ENOMEM, "out of memory");
	err = call_tell_traits(run, e);
	if (!err)
		err = call_attach_modules(run, e);
	if (err)
		return err;
	call_note_absent(run);
	if (!run->setup->aggregates && !run->setup->min_dur)
		return 0;
	return call_counters_open(&state->counters, bpf_map__fd(bpf->maps.call_counters),
				  call_counted, run->setup->calls, e);
}

/* ---- recording ---- */

static int call_start(struct probe_run *run, struct error *e)
{
	struct call_state *state = run->state;

	(void)e;
	if (state->counters)
		call_counters_start(state->counters, run->setup->shared->start_ts);
	return 0;
}

static void call_count(struct probe_run *run, struct sink *sink)
{
	struct call_state *state = run->state;

	if (state->counters)
		call_counters_take(state->counters, sink);
}

/* Looks whether the files are still those that the probes are in. Where somebody has written over one, the places may be others: its
 * probes are taken away. One that only lost its name goes on, and what is loaded by that name now is not seen. */
static void call_poll(struct probe_run *run)
{
	struct call_state *state = run->state;

	for (size_t i = 0; i < calls_module_count(run->setup->calls); i++) {
		struct call_module *module = calls_module(run->setup->calls, i);
		const struct stat *then = &module->symbols.identity;
		struct stat now;

		if (calls_is_kernel(module) || state->changed[i])
			continue;
		if (!elf_symbols_same(&module->symbols)) {
			state->changed[i] =
				"was written over while it was traced: its probes were taken away";
			call_links_close(&state->links[i]);
		} else if (!stat(module->path, &now) &&
			   (now.st_ino != then->st_ino || now.st_dev != then->st_dev)) {
			state->changed[i] = "was replaced while it was traced: what was loaded "
					    "after that is not seen";
		}
	}
}

static void call_close_links(struct probe_run *run)
{
	struct call_state *state = run->state;

	for (size_t i = 0; state->links && i < calls_module_count(run->setup->calls); i++)
		call_links_close(&state->links[i]);
	call_kernel_detach(state->kernel);
	state->kernel = NULL;
}

static int call_stop(struct probe_run *run, struct error *e)
{
	struct call_state *state = run->state;
	struct call_bpf *bpf = run->bpf;
	int err;

	if (state->counters)
		call_counters_stop(state->counters, clock_boot());
	err = iterate(bpf->progs.call_in_flight, NULL, NULL, e);

	call_poll(run);
	call_close_links(run);
	return err;
}

static void add_fact(struct sink *sink, const char *key, const char *value)
{
	struct builder *row = sink_table(sink, TABLE_run);

	if (!row)
		return sink_drop(sink, TABLE_run);
	builder_set_text(row, column_run_key, key, strlen(key));
	builder_set_text(row, column_run_value, value, strlen(value));
	sink_end_row(sink, TABLE_run);
}

static void call_finish(struct probe_run *run, struct sink *sink)
{
	static const char *const ways[] = { "session", "multi", "single" };
	const struct calls *calls = run->setup->calls;
	struct call_state *state = run->state;
	char key[320];

	call_count(run, sink);
	add_fact(sink, "call_probes", ways[state->way]);
	if (calls->kernel_way)
		add_fact(sink, "call_kernel_probes", calls->kernel_way);
	for (size_t i = 0; i < calls_module_count(calls); i++) {
		if (!state->changed[i])
			continue;
		snprintf(key, sizeof(key), "absent.call.%.255s", calls_module(calls, i)->name);
		add_fact(sink, key, state->changed[i]);
	}
}

static void call_close(struct probe_run *run)
{
	struct call_state *state = run->state;

	if (!state)
		return;
	call_close_links(run);
	call_counters_close(state->counters);
	free(state->links);
	free(state->changed);
	free(state);
}

const struct probe call_probe = {
	.name = "call",
	.layers = LAYER_BIT(LAYER_call),
	.wanted = call_wanted,
	.open = call_open,
	.configure = call_configure,
	.attach = call_attach,
	.start = call_start,
	.poll = call_poll,
	.count = call_count,
	.stop = call_stop,
	.finish = call_finish,
	.close = call_close,
	.decode = call_decode,
};
