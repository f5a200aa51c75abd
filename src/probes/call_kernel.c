#include "probes/call_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/call.skel.h"
#include "probes/bpf_error.h"

#define MOST_FENTRIES	    8  /* each is two programs of its own, which take their time to load */
#define ATTACH_KPROBE_MULTI 42 /* of enum bpf_attach_type */

struct call_kernel {
	struct call_bpf *objects[MOST_FENTRIES]; /* fentry and fexit: one for each function */
	struct bpf_link *links[2 * MOST_FENTRIES];
	size_t object_count, link_count;
	struct bpf_link **singles; /* kprobes one by one */
	size_t single_count;
};

/* The kernel's functions among those to trace. */
static size_t kernel_count(const struct calls *calls)
{
	size_t count = 0;

	for (size_t i = 0; i < calls_count(calls); i++)
		count += calls_is_kernel(calls_module(calls, calls_get(calls, i)->module)) &&
			 calls_get(calls, i)->probing != CALL_NONE;
	return count;
}

static bool has_multi(const struct features *features)
{
	return features_has_function(features, "bpf_kprobe_multi_link_attach");
}

void call_kernel_configure(struct probe_run *run)
{
	bool wanted = kernel_count(run->setup->calls);
	struct call_bpf *bpf = run->bpf;

	bool multi = wanted && has_multi(run->setup->features);
	struct bpf_program *programs[] = { bpf->progs.call_kernel_multi_entry,
					   bpf->progs.call_kernel_multi_return };

	bpf_program__set_autoload(bpf->progs.call_kernel_entry, wanted);
	bpf_program__set_autoload(bpf->progs.call_kernel_return, wanted);
	for (int i = 0; i < 2; i++) {
		bpf_program__set_autoload(programs[i], multi);
		bpf_program__set_expected_attach_type(programs[i], ATTACH_KPROBE_MULTI);
	}
}

/* ---- fentry and fexit ---- */

/* An object of its own for one function, with the maps of the first one. */
static int fentry_load(struct call_bpf *object, const struct call_bpf *from, const char *function)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, object->obj) {
		struct bpf_map *common =
			bpf_object__find_map_by_name(from->obj, bpf_map__name(map));

		if (!err && common)
			err = bpf_map__reuse_fd(map, bpf_map__fd(common));
	}
	bpf_object__for_each_program (program, object->obj)
		bpf_program__set_autoload(program, false);
	bpf_program__set_autoload(object->progs.call_fentry, true);
	bpf_program__set_autoload(object->progs.call_fexit, true);
	if (!err)
		err = bpf_program__set_attach_target(object->progs.call_fentry, 0, function);
	if (!err)
		err = bpf_program__set_attach_target(object->progs.call_fexit, 0, function);
	return err ? err : bpf_object__load(object->obj);
}

static int fentry_attach(struct call_kernel *kernel, const struct call_bpf *from,
			 const struct call_function *function, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_trace_opts, options, .cookie = cookie);
	struct call_bpf *object = call_bpf__open();
	struct bpf_program *programs[2];
	int err;

	if (!object)
		return -errno;
	kernel->objects[kernel->object_count++] = object;
	err = fentry_load(object, from, function->name);
	programs[0] = object->progs.call_fexit; /* a return without its entry is passed over */
	programs[1] = object->progs.call_fentry;
	for (int i = 0; i < 2 && !err; i++) {
		struct bpf_link *link = bpf_program__attach_trace_opts(programs[i], &options);

		if (link)
			kernel->links[kernel->link_count++] = link;
		else
			err = -errno;
	}
	return err;
}

static int fentry_attach_all(struct call_kernel *kernel, const struct call_bpf *from,
			     const struct calls *calls)
{
	int err = 0;

	for (size_t i = 0; i < calls_count(calls) && !err; i++) {
		const struct call_function *function = calls_get(calls, i);

		if (calls_is_kernel(calls_module(calls, function->module)) &&
		    function->probing != CALL_NONE)
			err = fentry_attach(kernel, from, function,
					    call_cookie((uint32_t)i, function));
	}
	return err;
}

/* ---- kprobes ---- */

static void refuse(struct call_function *function)
{
	function->probing = CALL_NONE;
	function->why = "the kernel lets nobody probe it";
}

static int kprobe_attach_multi(struct call_kernel *kernel, const struct call_bpf *bpf,
			       const char **names, const uint64_t *cookies, size_t count)
{
	for (int returns = 1; returns >= 0; returns--) {
		LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = names,
			    .cookies = (const __u64 *)cookies, .cnt = count, .retprobe = returns);
		struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(
			returns ? bpf->progs.call_kernel_multi_return
				: bpf->progs.call_kernel_multi_entry,
			NULL, &options);

		if (!link)
			return -errno;
		kernel->links[kernel->link_count++] = link;
	}
	return 0;
}

/* One by one: a function that refuses is left out. */
static int kprobe_attach_single(struct call_kernel *kernel, const struct probe_run *run,
				const char **names, const uint64_t *cookies, size_t count)
{
	const struct call_bpf *bpf = run->bpf;
	int err = 0;

	kernel->singles = calloc(2 * count, sizeof(*kernel->singles));
	if (!kernel->singles)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_kprobe_opts, at_return, .bpf_cookie = cookies[i], .retprobe = true);
		LIBBPF_OPTS(bpf_kprobe_opts, at_entry, .bpf_cookie = cookies[i]);
		struct bpf_link *links[2];

		links[0] = bpf_program__attach_kprobe_opts(bpf->progs.call_kernel_return, names[i],
							   &at_return);
		links[1] = links[0] ? bpf_program__attach_kprobe_opts(bpf->progs.call_kernel_entry,
								      names[i], &at_entry)
				    : NULL;
		if (links[1]) {
			kernel->singles[kernel->single_count++] = links[0];
			kernel->singles[kernel->single_count++] = links[1];
			continue;
		}
		err = -errno;
		bpf_link__destroy(links[0]);
		refuse(calls_get(run->setup->calls, (uint32_t)cookies[i]));
	}
	return kernel->single_count ? 0 : err;
}

static int kprobe_attach_all(struct call_kernel *kernel, const struct probe_run *run, bool multi)
{
	const struct calls *calls = run->setup->calls;
	size_t most = calls_count(calls), count = 0;
	const char **names = calloc(most, sizeof(*names));
	uint64_t *cookies = calloc(most, sizeof(*cookies));
	int err = names && cookies ? 0 : -ENOMEM;

	for (size_t i = 0; i < most && !err; i++) {
		const struct call_function *function = calls_get(calls, i);

		if (!calls_is_kernel(calls_module(calls, function->module)) ||
		    function->probing == CALL_NONE)
			continue;
		names[count] = function->name;
		cookies[count++] = call_cookie((uint32_t)i, function);
	}
	if (!err && multi)
		err = kprobe_attach_multi(kernel, run->bpf, names, cookies, count);
	else if (!err)
		err = kprobe_attach_single(kernel, run, names, cookies, count);
	free(names);
	free(cookies);
	return err;
}

/* ---- all ---- */

static void detach(struct call_kernel *kernel)
{
	while (kernel->link_count)
		bpf_link__destroy(kernel->links[--kernel->link_count]);
	while (kernel->single_count)
		bpf_link__destroy(kernel->singles[--kernel->single_count]);
	while (kernel->object_count)
		call_bpf__destroy(kernel->objects[--kernel->object_count]);
	free(kernel->singles);
	kernel->singles = NULL;
}

/* Tries one way; what it did is undone when it fails. */
static int attach_by(struct call_kernel *kernel, struct probe_run *run, const char *way)
{
	int err;

	if (!strcmp(way, "fentry"))
		err = fentry_attach_all(kernel, run->bpf, run->setup->calls);
	else
		err = kprobe_attach_all(kernel, run, !strcmp(way, "kprobe.multi"));
	if (err)
		detach(kernel);
	else
		run->setup->calls->kernel_way = way;
	return err;
}

int call_kernel_attach(struct call_kernel **out, struct probe_run *run, struct error *e)
{
	size_t count = kernel_count(run->setup->calls);
	struct call_kernel *kernel;
	int err = -ENOTSUP;

	if (!count)
		return 0;
	kernel = *out = calloc(1, sizeof(*kernel));
	if (!kernel)
		return error_set(e, -ENOMEM, "out of memory");
	if (count <= MOST_FENTRIES)
		err = attach_by(kernel, run, "fentry");
	if (err && has_multi(run->setup->features))
		err = attach_by(kernel, run, "kprobe.multi");
	if (err)
		err = attach_by(kernel, run, "kprobe");
	if (!err)
		return 0;
	return bpf_error(
		e, err,
		"this kernel lets nobody probe its functions: neither fentry nor kprobes work");
}

void call_kernel_detach(struct call_kernel *kernel)
{
	if (!kernel)
		return;
	detach(kernel);
	free(kernel);
}
