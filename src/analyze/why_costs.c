#include "analyze/why_costs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const why_cost_names[WHY_COST_COUNT] = {
#define WHY_COST_NAME(id, name) name,
	WHY_COSTS(WHY_COST_NAME)
#undef WHY_COST_NAME
};

struct file_cost {
	int64_t file;
	uint64_t ns, pieces;
};

void costs_open(struct costs *costs, uint64_t start, uint64_t end)
{
	*costs = (struct costs){ .start = start, .end = end };
	costs->list.limit = costs->files.limit = SIZE_MAX;
}

static uint64_t inside(const struct costs *costs, uint64_t start, uint64_t end)
{
	start = start < costs->start ? costs->start : start;
	end = end > costs->end ? costs->end : end;
	return end > start ? end - start : 0;
}

static int add_cost(struct costs *costs, enum why_cost_kind kind, const char *name, size_t size,
		    uint64_t ns, uint64_t pieces)
{
	struct why_cost *cost;
	uint32_t text, number;

	if (strings_add(&costs->names, name, size, &text) ||
	    numbering_add(&costs->numbers, (uint64_t)kind << 32 | text, &number) < 0)
		return -ENOMEM;
	cost = buf_element(&costs->list, number, sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	cost->kind = kind;
	cost->name = text;
	cost->ns += ns;
	cost->pieces += pieces;
	return 0;
}

int costs_add(struct costs *costs, enum why_cost_kind kind, const char *name, size_t size,
	      uint64_t start, uint64_t end)
{
	uint64_t ns = inside(costs, start, end);

	return ns ? add_cost(costs, kind, name, size, ns, 1) : 0;
}

int costs_add_file(struct costs *costs, int64_t file, uint64_t start, uint64_t end)
{
	uint64_t ns = inside(costs, start, end);
	struct file_cost *cost;
	uint32_t number;

	if (!ns)
		return 0;
	if (numbering_add(&costs->by_file, (uint64_t)file, &number) < 0)
		return -ENOMEM;
	cost = buf_element(&costs->files, number, sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	cost->file = file;
	cost->ns += ns;
	cost->pieces++;
	return 0;
}

/* ---- the end ---- */

static int add_mount(struct costs *costs, const struct file_row *row, const struct file_cost *cost)
{
	char name[128];
	int size;

	if (!row->dev.bytes)
		return 0;
	size = snprintf(name, sizeof(name), "%.*s%s%.*s", (int)row->dev.size, row->dev.bytes,
			row->fs.bytes ? " " : "", (int)row->fs.size,
			row->fs.bytes ? row->fs.bytes : "");
	if (size >= (int)sizeof(name))
		size = sizeof(name) - 1;
	return add_cost(costs, WHY_COST_MOUNT, name, (size_t)size, cost->ns, cost->pieces);
}

/* A file counts by its path; one that has a folder counts for it, and for its file system. */
static int add_by_path(struct costs *costs, const struct dims *dims, const struct file_cost *cost)
{
	const struct file_row *row = dims_find_file(dims, cost->file);
	const char *slash, *path = row ? row->path.bytes : NULL;

	if (!path)
		return 0;
	if (add_cost(costs, WHY_COST_FILE, path, row->path.size, cost->ns, cost->pieces))
		return -ENOMEM;
	if (*path != '/' || !(file_row_is(row, FILE_KIND_FILE) || file_row_is(row, FILE_KIND_DIR)))
		return 0;
	slash = memrchr(path, '/', row->path.size);
	if (add_cost(costs, WHY_COST_FOLDER, path, slash == path ? 1 : (size_t)(slash - path),
		     cost->ns, cost->pieces))
		return -ENOMEM;
	return add_mount(costs, row, cost);
}

static int compare(const void *a, const void *b)
{
	const struct why_cost *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

int costs_finish(struct costs *costs, const struct dims *dims)
{
	const struct file_cost *files = (const struct file_cost *)costs->files.data;
	const struct why_cost *list;
	size_t count, at = 0;

	for (size_t i = 0; i < costs->files.size / sizeof(*files); i++)
		if (add_by_path(costs, dims, &files[i]))
			return -ENOMEM;
	count = costs->list.size / sizeof(*list);
	if (count)
		qsort(costs->list.data, count, sizeof(*list), compare);
	list = (const struct why_cost *)costs->list.data;
	for (unsigned kind = 0; kind <= WHY_COST_COUNT; kind++) {
		while (at < count && list[at].kind < kind)
			at++;
		costs->first[kind] = at;
	}
	return 0;
}

void costs_close(struct costs *costs)
{
	strings_free(&costs->names);
	numbering_free(&costs->numbers);
	numbering_free(&costs->by_file);
	buf_free(&costs->list);
	buf_free(&costs->files);
	*costs = (struct costs){ 0 };
}
