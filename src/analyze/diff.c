#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DEVIATIONS 3

const char *const diff_groups[DIFF_GROUP_COUNT] = {
#define GROUP_NAME(name) #name,
	DIFF_GROUPS(GROUP_NAME)
#undef GROUP_NAME
};

enum diff_verdict diff_judge(const struct diff_item *item)
{
	if (isnan(item->a) || isnan(item->b))
		return DIFF_BEYOND;
	if (item->a == item->b)
		return DIFF_SAME;
	if (isnan(item->noise))
		return DIFF_UNKNOWN;
	return fabs(item->b - item->a) > DEVIATIONS * item->noise ? DIFF_BEYOND : DIFF_WITHIN;
}

/* The items on their way into the list. */
struct making {
	struct buf list;
	int err;
};

static void add(struct making *making, enum diff_group group, enum diff_unit unit,
		struct dims_text name, const char *what, double a, double b, double noise)
{
	struct diff_item item = {
		.group = group, .unit = unit, .name = name, .a = a, .b = b, .noise = noise
	};

	if ((isnan(a) || a == 0) && (isnan(b) || b == 0))
		return;
	snprintf(item.what, sizeof(item.what), "%s", what);
	if (buf_append(&making->list, &item, sizeof(item)))
		making->err = -ENOMEM;
}

/* ---- noise ---- */

/* Of the sum of all values. */
static double sum_variance(const struct hist *hist)
{
	return hist->count < 2 ? NAN : (double)hist->count * hist_variance(hist);
}

/* Of their mean. */
static double mean_variance(const struct hist *hist)
{
	return hist->count < 2 ? NAN : hist_variance(hist) / (double)hist->count;
}

static double noise_of(double variance_a, double variance_b)
{
	return sqrt(variance_a + variance_b);
}

static double mean(const struct hist *hist)
{
	return hist->count ? (double)hist->sum / (double)hist->count : NAN;
}

/* ---- what can be compared ---- */

static bool both_have(const struct report *a, const struct report *b, enum layer layer)
{
	return report_has_layer(a, layer) && report_has_layer(b, layer);
}

static bool alike(const struct report *a, const struct report *b, enum layer layer)
{
	return report_has_layer(a, layer) == report_has_layer(b, layer);
}

/* The layer that a figure is counted from, by its place. */
static enum layer figure_layer(size_t place)
{
	if (place < FIGURE_PLACE(reads))
		return LAYER_sched;
	if (place < FIGURE_PLACE(opens))
		return LAYER_io;
	return place < FIGURE_PLACE(device_read_bytes) ? LAYER_fs : LAYER_block;
}

/* ---- the run and its phases ---- */

static const struct dims_text nameless;

static void add_run(struct making *making, const struct report *a, const struct report *b)
{
	double length_a = (double)(a->context.window.end - a->context.window.start);
	double length_b = (double)(b->context.window.end - b->context.window.start);
	double noise = NAN;

	/* A run of many steps varies as their sum does. */
	if (a->steps.count && b->steps.count)
		noise = noise_of(sum_variance(&a->steps.durations),
				 sum_variance(&b->steps.durations));
	add(making, DIFF_run, DIFF_NS, nameless, "length of the run", length_a, length_b, noise);
	for (size_t i = 0; i < FIGURE_COUNT; i++) {
		const char *name = figure_infos[i].name;
		size_t length = strlen(name);
		bool time = length > 3 && !strcmp(name + length - 3, "_ns");
		bool bytes = length > 6 && !strcmp(name + length - 6, "_bytes");

		if (!both_have(a, b, figure_layer(i)))
			continue;
		add(making, DIFF_run,
		    time    ? DIFF_NS
		    : bytes ? DIFF_BYTES
			    : DIFF_COUNT,
		    nameless, figure_infos[i].doc, (double)((const uint64_t *)&a->total)[i],
		    (double)((const uint64_t *)&b->total)[i], time ? NAN : 0);
	}
}

/* The lengths of all phases of a kind. */
static struct hist phase_lengths(const struct report *report, const char *stem)
{
	struct hist lengths = { 0 };

	for (size_t i = 0; i < report->phases.count; i++)
		if (!strcmp(report->phases.list[i].stem, stem) &&
		    hist_add(&lengths, report->phases.list[i].end - report->phases.list[i].start))
			break;
	return lengths;
}

static bool first_of_stem(const struct report *report, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(report->phases.list[i].stem, report->phases.list[at].stem))
			return false;
	return true;
}

static struct dims_text text_of(const char *text)
{
	return (struct dims_text){ text, strlen(text) };
}

static void add_phases(struct making *making, const struct report *a, const struct report *b)
{
	for (size_t i = 0; i < a->phases.count; i++) {
		const char *stem = a->phases.list[i].stem;
		struct hist left, right;

		if (!first_of_stem(a, i))
			continue;
		left = phase_lengths(a, stem);
		right = phase_lengths(b, stem);
		add(making, DIFF_phases, DIFF_COUNT, text_of(stem), "how many", (double)left.count,
		    (double)right.count, 0);
		add(making, DIFF_phases, DIFF_NS, text_of(stem), "mean length", mean(&left),
		    mean(&right), noise_of(mean_variance(&left), mean_variance(&right)));
		hist_free(&left);
		hist_free(&right);
	}
	for (size_t i = 0; i < b->phases.count; i++) {
		const char *stem = b->phases.list[i].stem;
		struct hist left = phase_lengths(a, stem), right;

		if (!left.count && first_of_stem(b, i)) {
			right = phase_lengths(b, stem);
			add(making, DIFF_phases, DIFF_NS, text_of(stem), "mean length", NAN,
			    mean(&right), NAN);
			hist_free(&right);
		}
		hist_free(&left);
	}
}

static void add_steps(struct making *making, const struct report *a, const struct report *b)
{
	const struct hist *left = &a->steps.durations, *right = &b->steps.durations;

	add(making, DIFF_steps, DIFF_COUNT, nameless, "steps", (double)left->count,
	    (double)right->count, 0);
	add(making, DIFF_steps, DIFF_NS, nameless, "mean length of a step", mean(left), mean(right),
	    noise_of(mean_variance(left), mean_variance(right)));
}

static void add_roles(struct making *making, const struct report *a, const struct report *b)
{
	for (unsigned i = 0; i <= PROC_ROLE_HELPER; i++) {
		const struct report *both[] = { a, b };
		double cpu[2] = { 0 };

		for (unsigned j = 0; j < 2; j++)
			for (size_t k = 0; k < both[j]->tasks.process_count; k++) {
				const struct task_process *process = &both[j]->tasks.processes[k];

				if (both[j]->context.roles.of[process->proc] == i)
					cpu[j] += (double)process->cpu_ns;
			}
		add(making, DIFF_roles, DIFF_COUNT, text_of(role_names[i]), "processes",
		    a->context.roles.counts[i], b->context.roles.counts[i], 0);
		if (both_have(a, b, LAYER_sched))
			add(making, DIFF_roles, DIFF_NS, text_of(role_names[i]), "time on CPUs",
			    cpu[0], cpu[1], NAN);
		if (!both_have(a, b, LAYER_io))
			continue;
		add(making, DIFF_roles, DIFF_BYTES, text_of(role_names[i]), "bytes read",
		    (double)a->files.role_read[i].bytes, (double)b->files.role_read[i].bytes, 0);
		add(making, DIFF_roles, DIFF_NS, text_of(role_names[i]), "time in reads",
		    (double)a->files.role_read[i].time_ns, (double)b->files.role_read[i].time_ns,
		    NAN);
	}
}

/* ---- what has a name in both runs ---- */

/* The names of one run by number, to find those of the other in it. */
struct matching {
	struct strings names;
	uint32_t *place; /* by number; the element of run b + 1 */
};

static bool match_open(struct matching *matching, size_t count)
{
	*matching = (struct matching){ .place = calloc(count + 1, sizeof(uint32_t)) };
	return matching->place != NULL;
}

static bool match_put(struct matching *matching, struct dims_text name, size_t place)
{
	uint32_t number, before = matching->names.count;

	if (!name.bytes || strings_add(&matching->names, name.bytes, name.size, &number))
		return false;
	if (number == before)
		matching->place[number] = (uint32_t)place + 1;
	return true;
}

/* The element of run b with that name, or SIZE_MAX; each is found once. */
static size_t match_take(struct matching *matching, struct dims_text name)
{
	uint32_t number, before = matching->names.count, place;

	if (!name.bytes || strings_add(&matching->names, name.bytes, name.size, &number))
		return SIZE_MAX;
	if (number >= before)
		return SIZE_MAX;
	place = matching->place[number];
	matching->place[number] = 0;
	return place ? place - 1 : SIZE_MAX;
}

static void match_close(struct matching *matching)
{
	strings_free(&matching->names);
	free(matching->place);
}

static void add_uses(struct making *making, enum diff_group group, struct dims_text name,
		     const struct traffic *read_a, const struct traffic *read_b,
		     const struct traffic *written_a, const struct traffic *written_b, double noise)
{
	static const struct traffic none;
	bool in_a = read_a != NULL, in_b = read_b != NULL;

	read_a = read_a ? read_a : &none;
	read_b = read_b ? read_b : &none;
	written_a = written_a ? written_a : &none;
	written_b = written_b ? written_b : &none;
	add(making, group, DIFF_NS, name, "time in reads and writes",
	    in_a ? (double)(read_a->time_ns + written_a->time_ns) : NAN,
	    in_b ? (double)(read_b->time_ns + written_b->time_ns) : NAN, noise);
	if (read_a->bytes != read_b->bytes)
		add(making, group, DIFF_BYTES, name, "bytes read",
		    in_a ? (double)read_a->bytes : NAN, in_b ? (double)read_b->bytes : NAN, 0);
	if (written_a->bytes != written_b->bytes)
		add(making, group, DIFF_BYTES, name, "bytes written",
		    in_a ? (double)written_a->bytes : NAN, in_b ? (double)written_b->bytes : NAN,
		    0);
}

static void add_files(struct making *making, const struct files *a, const struct files *b)
{
	struct matching matching;

	if (!match_open(&matching, b->file_count)) {
		making->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < b->file_count; i++)
		if (b->files[i].regular)
			match_put(&matching, b->files[i].path, i);
	for (size_t i = 0; i < a->file_count; i++) {
		const struct file_use *left = &a->files[i], *right = NULL;
		size_t place;

		if (!left->regular)
			continue;
		place = match_take(&matching, left->path);
		right = place == SIZE_MAX ? NULL : &b->files[place];
		add_uses(making, DIFF_files, left->path, &left->read, right ? &right->read : NULL,
			 &left->written, right ? &right->written : NULL,
			 right ? noise_of(sum_variance(&left->latency),
					  sum_variance(&right->latency))
			       : NAN);
	}
	for (size_t i = 0; i < b->file_count; i++)
		if (b->files[i].regular && match_take(&matching, b->files[i].path) == i)
			add_uses(making, DIFF_files, b->files[i].path, NULL, &b->files[i].read,
				 NULL, &b->files[i].written, NAN);
	match_close(&matching);
}

static void add_dirs(struct making *making, const struct files *a, const struct files *b)
{
	struct matching matching;

	if (!match_open(&matching, b->dir_count)) {
		making->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < b->dir_count; i++)
		match_put(&matching, b->dirs[i].path, i);
	for (size_t i = 0; i < a->dir_count; i++) {
		const struct dir_use *left = &a->dirs[i], *right;
		size_t place = match_take(&matching, left->path);

		right = place == SIZE_MAX ? NULL : &b->dirs[place];
		add_uses(making, DIFF_directories, left->path, &left->read,
			 right ? &right->read : NULL, &left->written,
			 right ? &right->written : NULL,
			 right ? noise_of(sum_variance(&left->latency),
					  sum_variance(&right->latency))
			       : NAN);
	}
	for (size_t i = 0; i < b->dir_count; i++)
		if (match_take(&matching, b->dirs[i].path) == i)
			add_uses(making, DIFF_directories, b->dirs[i].path, NULL, &b->dirs[i].read,
				 NULL, &b->dirs[i].written, NAN);
	match_close(&matching);
}

static const struct op_use *find_op(const struct files *files, const struct op_use *op)
{
	for (size_t i = 0; i < files->op_count; i++)
		if (files->ops[i].table == op->table && files->ops[i].name_size == op->name_size &&
		    !memcmp(files->ops[i].name, op->name, op->name_size))
			return &files->ops[i];
	return NULL;
}

static void add_op(struct making *making, const struct op_use *left, const struct op_use *right)
{
	const struct op_use *any = left ? left : right;
	struct dims_text name = { any->name, any->name_size };

	add(making, DIFF_operations, DIFF_NS, name, "time inside it",
	    left ? (double)left->time_ns : NAN, right ? (double)right->time_ns : NAN,
	    left && right ? noise_of(sum_variance(&left->latency), sum_variance(&right->latency))
			  : NAN);
	add(making, DIFF_operations, DIFF_COUNT, name, "calls", left ? (double)left->calls : NAN,
	    right ? (double)right->calls : NAN, 0);
}

static void add_ops(struct making *making, const struct files *a, const struct files *b)
{
	for (size_t i = 0; i < a->op_count; i++)
		add_op(making, &a->ops[i], find_op(b, &a->ops[i]));
	for (size_t i = 0; i < b->op_count; i++)
		if (!find_op(a, &b->ops[i]))
			add_op(making, NULL, &b->ops[i]);
}

static const struct device *find_device(const struct devices *devices, const struct device *device)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->list[i].name_size == device->name_size &&
		    !memcmp(devices->list[i].name, device->name, device->name_size))
			return &devices->list[i];
	return NULL;
}

static void add_devices(struct making *making, const struct devices *a, const struct devices *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct device *left = &a->list[i], *right = find_device(b, left);
		struct dims_text name = { left->name, left->name_size };

		add(making, DIFF_devices, DIFF_NS, name, "mean time of a read", mean(&left->read),
		    right ? mean(&right->read) : NAN,
		    right ? noise_of(mean_variance(&left->read), mean_variance(&right->read))
			  : NAN);
		add(making, DIFF_devices, DIFF_BYTES, name, "bytes read", (double)left->read_bytes,
		    right ? (double)right->read_bytes : NAN, 0);
		add(making, DIFF_devices, DIFF_BYTES, name, "bytes written",
		    (double)left->write_bytes, right ? (double)right->write_bytes : NAN, 0);
	}
	for (size_t i = 0; i < b->count; i++)
		if (!find_device(a, &b->list[i]))
			add(making, DIFF_devices, DIFF_BYTES,
			    (struct dims_text){ b->list[i].name, b->list[i].name_size },
			    "bytes read", NAN, (double)b->list[i].read_bytes, 0);
}

/* ---- order ---- */

static double weight(const struct diff_item *item)
{
	double a = isnan(item->a) ? 0 : item->a, b = isnan(item->b) ? 0 : item->b;

	return fabs(b - a);
}

static int compare_items(const void *left_item, const void *right_item)
{
	const struct diff_item *left = left_item, *right = right_item;
	double more, less;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->unit != right->unit)
		return left->unit < right->unit ? -1 : 1;
	more = weight(left);
	less = weight(right);
	return more > less ? -1 : more < less;
}

int diff_load(struct diff *diff, const struct report *a, const struct report *b, struct error *e)
{
	struct making making = { .list.limit = SIZE_MAX };

	add_run(&making, a, b);
	if (a->phases.source != PHASES_NONE || b->phases.source != PHASES_NONE)
		add_phases(&making, a, b);
	if (both_have(a, b, LAYER_io) || a->steps.count == b->steps.count)
		add_steps(&making, a, b);
	add_roles(&making, a, b);
	if (alike(a, b, LAYER_io) && alike(a, b, LAYER_fs))
		add_ops(&making, &a->files, &b->files);
	if (both_have(a, b, LAYER_block))
		add_devices(&making, &a->devices, &b->devices);
	if (both_have(a, b, LAYER_io)) {
		add_dirs(&making, &a->files, &b->files);
		add_files(&making, &a->files, &b->files);
	}
	diff->items = (struct diff_item *)making.list.data;
	diff->count = making.list.size / sizeof(*diff->items);
	if (making.err) {
		diff_free(diff);
		return error_set(e, making.err, "no memory to compare the runs");
	}
	/* The run's own figures stay in their order: its length first. */
	for (size_t first = 0; first < diff->count; first++)
		if (diff->items[first].group != DIFF_run) {
			qsort(diff->items + first, diff->count - first, sizeof(*diff->items),
			      compare_items);
			break;
		}
	return 0;
}

void diff_free(struct diff *diff)
{
	free(diff->items);
	*diff = (struct diff){ 0 };
}
