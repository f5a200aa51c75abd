/* What has a name in both runs: operations, devices, directories, files. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_load.h"

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
	uint32_t number, place;

	if (!name.bytes || !strings_find(&matching->names, name.bytes, name.size, &number))
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

static void add_uses(struct diff_making *making, enum diff_group group, struct dims_text name,
		     const struct traffic *read_a, const struct traffic *read_b,
		     const struct traffic *written_a, const struct traffic *written_b, double noise)
{
	static const struct traffic none;
	bool in_a = read_a != NULL, in_b = read_b != NULL;

	read_a = read_a ? read_a : &none;
	read_b = read_b ? read_b : &none;
	written_a = written_a ? written_a : &none;
	written_b = written_b ? written_b : &none;
	diff_add(making, group, AMOUNT_ns, name, "time in reads and writes",
		 in_a ? (double)(read_a->time_ns + written_a->time_ns) : NAN,
		 in_b ? (double)(read_b->time_ns + written_b->time_ns) : NAN, noise);
	if (read_a->bytes != read_b->bytes)
		diff_add(making, group, AMOUNT_bytes, name, "bytes read",
			 in_a ? (double)read_a->bytes : NAN, in_b ? (double)read_b->bytes : NAN, 0);
	if (written_a->bytes != written_b->bytes)
		diff_add(making, group, AMOUNT_bytes, name, "bytes written",
			 in_a ? (double)written_a->bytes : NAN,
			 in_b ? (double)written_b->bytes : NAN, 0);
}

void diff_add_files(struct diff_making *making, const struct files *a, const struct files *b)
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
			 right ? diff_sum_noise(&left->latency, &right->latency) : NAN);
	}
	for (size_t i = 0; i < b->file_count; i++)
		if (b->files[i].regular && match_take(&matching, b->files[i].path) == i)
			add_uses(making, DIFF_files, b->files[i].path, NULL, &b->files[i].read,
				 NULL, &b->files[i].written, NAN);
	match_close(&matching);
}

void diff_add_dirs(struct diff_making *making, const struct files *a, const struct files *b)
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
			 right ? diff_sum_noise(&left->latency, &right->latency) : NAN);
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

static void add_op(struct diff_making *making, const struct op_use *left,
		   const struct op_use *right)
{
	const struct op_use *any = left ? left : right;
	struct dims_text name = { any->name, any->name_size };

	diff_add(making, DIFF_operations, AMOUNT_ns, name, "time inside it",
		 left ? (double)left->time_ns : NAN, right ? (double)right->time_ns : NAN,
		 left && right ? diff_sum_noise(&left->latency, &right->latency) : NAN);
	diff_add(making, DIFF_operations, AMOUNT_count, name, "calls",
		 left ? (double)left->calls : NAN, right ? (double)right->calls : NAN, 0);
}

void diff_add_ops(struct diff_making *making, const struct files *a, const struct files *b)
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

void diff_add_devices(struct diff_making *making, const struct devices *a, const struct devices *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct device *left = &a->list[i], *right = find_device(b, left);
		struct dims_text name = { left->name, left->name_size };

		diff_add(making, DIFF_devices, AMOUNT_ns, name, "mean time of a read",
			 hist_mean(&left->read), right ? hist_mean(&right->read) : NAN,
			 right ? diff_mean_noise(&left->read, &right->read) : NAN);
		diff_add(making, DIFF_devices, AMOUNT_bytes, name, "bytes read",
			 (double)left->read_bytes, right ? (double)right->read_bytes : NAN, 0);
		diff_add(making, DIFF_devices, AMOUNT_bytes, name, "bytes written",
			 (double)left->write_bytes, right ? (double)right->write_bytes : NAN, 0);
	}
	for (size_t i = 0; i < b->count; i++)
		if (!find_device(a, &b->list[i]))
			diff_add(making, DIFF_devices, AMOUNT_bytes,
				 (struct dims_text){ b->list[i].name, b->list[i].name_size },
				 "bytes read", NAN, (double)b->list[i].read_bytes, 0);
}
