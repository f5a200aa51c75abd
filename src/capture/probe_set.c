#include "capture/probe_set.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/shared.skel.h"
#include "capture/descriptors.h"
#include "capture/loader.h"
#include "probes/bpf_error.h"
#include "probes/core_types.h"

/* The probes that are part of the recording, in their order. */
static struct probe_run *next_run(const struct probe_set *set, const struct probe_run *after)
{
	size_t i = after ? (size_t)(after - set->runs) + 1 : 0;

	while (i < PROBE_COUNT && !set->runs[i].bpf)
		i++;
	return i < PROBE_COUNT ? (struct probe_run *)&set->runs[i] : NULL;
}

#define for_each_run(run, set) \
	for (struct probe_run *run = next_run(set, NULL); run; run = next_run(set, run))

/* Gives an object the maps of the shared one instead of its own of the same names. */
static int share_maps(const struct shared_bpf *shared, struct bpf_object *object)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map (map, object) {
		struct bpf_map *common =
			bpf_object__find_map_by_name(shared->obj, bpf_map__name(map));

		if (common && !err)
			err = bpf_map__reuse_fd(map, bpf_map__fd(common));
	}
	return err;
}

/* ---- opening ---- */

static bool probe_is_wanted(const struct probe *probe, const struct probe_setup *setup)
{
	if (!probe->open)
		return false;
	return probe->wanted ? probe->wanted(setup)
			     : (probe->layers | probe->serves) & setup->layers;
}

static void run_close(struct probe_run *run)
{
	if (run->probe->close && run->bpf)
		run->probe->close(run);
	while (run->link_count)
		bpf_link__destroy(run->links[--run->link_count]);
	free(run->links);
	if (run->skeleton)
		bpf_object__destroy_skeleton(run->skeleton);
	free(run->bpf);
	*run = (struct probe_run){ .probe = run->probe, .setup = run->setup };
}

/* Goes on without a probe, for the reason in e, unless that would leave out a layer that was asked for by name. */
static int set_leave_out(struct probe_set *set, struct probe_run *run, int err, struct error *e)
{
	const struct probe *probe = run->probe;
	struct probe_setup *setup = &set->setup;

	err = absences_leave_out(setup->absences, &setup->layers, setup->required, probe->layers,
				 err, e);
	if (!err && probe->part && probe->serves & setup->layers)
		absences_add(setup->absences, probe->part, "%s", e->text);
	run_close(run);
	return err;
}

static int run_open(struct probe_run *run, const struct bpf_object_open_opts *options,
		    const struct shared_bpf *shared, struct error *e)
{
	const struct probe *probe = run->probe;
	struct bpf_program *program;
	struct bpf_object *object;
	int err = 0;

	if (probe->supported)
		err = probe->supported(run->setup->features, e);
	if (err)
		return err;
	err = probe->open(run, options);
	if (err)
		return bpf_error(e, err, "cannot open the BPF programs");
	object = *run->skeleton->obj;
	err = share_maps(shared, object);
	if (err)
		return bpf_error(e, err, "cannot share the BPF maps");
	bpf_object__for_each_program (program, object)
		if (!strncmp(bpf_program__section_name(program), "iter", 4))
			bpf_program__set_autoattach(program, false);
	if (probe->configure)
		probe->configure(run);
	return 0;
}

/* What loading and attaching an object opens: programs, their links, maps of its own, its types. Those of the maps that it
 * shares are open. */
static long run_descriptors(const struct probe_run *run)
{
	struct bpf_object *object = *run->skeleton->obj;
	struct bpf_program *program;
	struct bpf_map *map;
	long count = 1;

	bpf_object__for_each_program (program, object)
		count += bpf_program__autoload(program) ? 2 : 0;
	bpf_object__for_each_map (map, object)
		count += bpf_map__fd(map) < 0;
	return count;
}

/* What else a recording opens: the rings, a few for each thread that drains them, the trace, files of /proc, and what the
 * objects need in passing while they load side by side. */
static long set_other_descriptors(const struct rings *rings)
{
	return 28 + (long)rings->cpus + (long)rings->cpus / 4;
}

/* Whether there are file descriptors left for an object that is open, beside those that `planned` counts for others. Asked before
 * any is loaded: else it were chance which of them found none left, and when. */
static int run_fit(const struct probe_run *run, long *planned, struct error *e)
{
	long need = run_descriptors(run), left = descriptors_left() - *planned;

	if (need > left)
		return error_set(e, -EMFILE,
				 "it needs %ld open files, and the limit of this process leaves "
				 "%ld; " DESCRIPTORS_ADVICE,
				 need, left < 0 ? 0 : left);
	*planned += need;
	return 0;
}

/* Opens the objects of all probes that this recording wants. types: where the kernel's types will be. */
static int set_open_objects(struct probe_set *set, const struct shared_bpf *shared,
			    const struct rings *rings, const char *types, struct error *e)
{
	long planned = set_other_descriptors(rings);
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = types);
	int err = 0;

	for (unsigned i = 0; i < PROBE_COUNT && !err; i++) {
		struct probe_run *run = &set->runs[i];

		if (!probe_is_wanted(probes[i], &set->setup))
			continue;
		err = run_open(run, &options, shared, e);
		if (!err)
			err = run_fit(run, &planned, e);
		if (err)
			err = set_leave_out(set, run, err, e);
	}
	return err;
}

static int set_write_types(const struct probe_set *set, int types, struct error *e)
{
	struct bpf_object *objects[PROBE_COUNT];
	size_t count = 0;

	for_each_run (run, set)
		objects[count++] = *run->skeleton->obj;
	return core_types_write(types, features_btf(set->setup.features), objects, count, e);
}

/* Objects that are large take longest: they are begun first. */
static int compare_items(const void *a, const void *b)
{
	size_t one = ((const struct loader_item *)a)->skeleton->data_sz;
	size_t other = ((const struct loader_item *)b)->skeleton->data_sz;

	return (one < other) - (one > other);
}

/* Takes what the loading of each object came to. */
static int set_take_loaded(struct probe_set *set, struct loader_item *items, size_t count,
			   struct error *e)
{
	int err = 0;

	for_each_run (run, set) {
		size_t i = 0;

		while (i < count && items[i].skeleton != run->skeleton)
			i++;
		if (i == count)
			continue;
		set->load_cpu_ns[run - set->runs] = items[i].cpu_ns;
		if (!items[i].err) {
			set->setup.loaded |= 1u << (run - set->runs);
		} else if (!err) {
			*e = items[i].error;
			err = set_leave_out(set, run, items[i].err, e);
		}
	}
	return err;
}

/* Loads all objects, and makes the rings meanwhile. */
static int set_load(struct probe_set *set, const struct shared_bpf *shared, struct rings *rings,
		    struct error *e)
{
	struct loader_item *items = calloc(PROBE_COUNT, sizeof(*items));
	struct loader *loader = NULL;
	size_t count = 0;
	int err;

	if (!items)
		return error_set(e, -ENOMEM, "out of memory");
	for_each_run (run, set)
		items[count++].skeleton = run->skeleton;
	qsort(items, count, sizeof(*items), compare_items);
	err = loader_begin(&loader, items, count, e);
	if (!err)
		err = rings_make(rings, bpf_map__fd(shared->maps.rings), e);
	loader_end(loader);
	if (!err)
		err = set_take_loaded(set, items, count, e);
	free(items);
	return err;
}

static int run_attach(struct probe_run *run, struct error *e)
{
	int err = bpf_object__attach_skeleton(run->skeleton);

	if (err)
		return bpf_error(e, err, "cannot attach to the kernel's tracepoints");
	return run->probe->attach ? run->probe->attach(run, e) : 0;
}

static int set_attach(struct probe_set *set, struct error *e)
{
	int err = 0;

	for_each_run (run, set) {
		if (err)
			break;
		err = run_attach(run, e);
		if (err)
			err = set_leave_out(set, run, err, e);
	}
	return err;
}

int probe_set_open(struct probe_set *set, const struct shared_bpf *shared, struct rings *rings,
		   struct error *e)
{
	int types = memfd_create("kernel types", MFD_CLOEXEC), err;
	char path[32];

	if (types < 0)
		return error_errno(e, "cannot make a file in memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		set->runs[i] = (struct probe_run){ .probe = probes[i], .setup = &set->setup };
	err = set_open_objects(set, shared, rings, path, e);
	if (!err)
		err = set_write_types(set, types, e);
	if (!err)
		err = set_load(set, shared, rings, e);
	close(types);
	return err ? err : set_attach(set, e);
}

void probe_set_close(struct probe_set *set)
{
	for_each_run (run, set)
		run_close(run);
}

/* ---- recording ---- */

int probe_set_start(struct probe_set *set, struct error *e)
{
	int err = 0;

	for_each_run (run, set)
		if (!err && run->probe->start)
			err = run->probe->start(run, e);
	return err;
}

void probe_set_poll(struct probe_set *set)
{
	for_each_run (run, set)
		if (run->probe->poll)
			run->probe->poll(run);
}

void probe_set_sample(struct probe_set *set, struct sink *sink)
{
	for_each_run (run, set)
		if (run->probe->sample)
			run->probe->sample(run, sink);
}

void probe_set_count(struct probe_set *set, struct sink *sink)
{
	for_each_run (run, set)
		if (run->probe->count)
			run->probe->count(run, sink);
}

static void run_detach(struct probe_run *run)
{
	bpf_object__detach_skeleton(run->skeleton);
	while (run->link_count)
		bpf_link__destroy(run->links[--run->link_count]);
}

int probe_set_stop(struct probe_set *set, struct error *e)
{
	int err = 0;

	for_each_run (run, set)
		if (!err && run->probe->stop)
			err = run->probe->stop(run, e);
	/* A job may go on for long after its recording: it must not pay for programs that do nothing. */
	for_each_run (run, set)
		run_detach(run);
	return err;
}

void probe_set_finish(struct probe_set *set, struct sink *sink)
{
	for_each_run (run, set)
		if (run->probe->finish)
			run->probe->finish(run, sink);
}
