#include "analyze/why_ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const why_rank_names[WHY_RANK_COUNT] = {
#define WHY_RANK_NAME(id, name) name,
	WHY_RANKS(WHY_RANK_NAME)
#undef WHY_RANK_NAME
};

struct file_cost {
	int64_t file;
	uint64_t ns, pieces;
};

void ranks_open(struct ranks *ranks, uint64_t start, uint64_t end)
{
	*ranks = (struct ranks){ .start = start, .end = end };
	ranks->list.limit = ranks->files.limit = SIZE_MAX;
}

static uint64_t inside(const struct ranks *ranks, uint64_t start, uint64_t end)
{
	start = start < ranks->start ? ranks->start : start;
	end = end > ranks->end ? ranks->end : end;
	return end > start ? end - start : 0;
}

static int add_cost(struct ranks *ranks, enum why_rank rank, const char *name, size_t size,
		    uint64_t ns, uint64_t pieces)
{
	struct why_ranked *ranked;
	uint32_t text, number;

	if (strings_add(&ranks->names, name, size, &text) ||
	    numbering_add(&ranks->numbers, (uint64_t)rank << 32 | text, &number) < 0)
		return -ENOMEM;
	ranked = buf_element(&ranks->list, number, sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	ranked->rank = rank;
	ranked->name = text;
	ranked->ns += ns;
	ranked->pieces += pieces;
	return 0;
}

int ranks_add(struct ranks *ranks, enum why_rank rank, const char *name, size_t size,
	      uint64_t start, uint64_t end)
{
	uint64_t ns = inside(ranks, start, end);

	return ns ? add_cost(ranks, rank, name, size, ns, 1) : 0;
}

int ranks_add_file(struct ranks *ranks, int64_t file, uint64_t start, uint64_t end)
{
	uint64_t ns = inside(ranks, start, end);
	struct file_cost *cost;
	uint32_t number;

	if (!ns)
		return 0;
	if (numbering_add(&ranks->by_file, (uint64_t)file, &number) < 0)
		return -ENOMEM;
	cost = buf_element(&ranks->files, number, sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	cost->file = file;
	cost->ns += ns;
	cost->pieces++;
	return 0;
}

/* ---- the end ---- */

static int add_mount(struct ranks *ranks, const struct file_row *row, const struct file_cost *cost)
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
	return add_cost(ranks, WHY_RANK_MOUNT, name, (size_t)size, cost->ns, cost->pieces);
}

/* A file counts by its path; one that has a folder counts for it, and for its file system. */
static int add_by_path(struct ranks *ranks, const struct dims *dims, const struct file_cost *cost)
{
	const struct file_row *row = dims_find_file(dims, cost->file);
	const char *slash, *path = row ? row->path.bytes : NULL;

	if (!path)
		return 0;
	if (add_cost(ranks, WHY_RANK_FILE, path, row->path.size, cost->ns, cost->pieces))
		return -ENOMEM;
	if (*path != '/' || !(file_row_is(row, FILE_KIND_FILE) || file_row_is(row, FILE_KIND_DIR)))
		return 0;
	slash = memrchr(path, '/', row->path.size);
	if (add_cost(ranks, WHY_RANK_FOLDER, path, slash == path ? 1 : (size_t)(slash - path),
		     cost->ns, cost->pieces))
		return -ENOMEM;
	return add_mount(ranks, row, cost);
}

static int compare(const void *a, const void *b)
{
	const struct why_ranked *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

int ranks_finish(struct ranks *ranks, const struct dims *dims)
{
	const struct file_cost *files = (const struct file_cost *)ranks->files.data;
	const struct why_ranked *list;
	size_t count, at = 0;

	for (size_t i = 0; i < ranks->files.size / sizeof(*files); i++)
		if (add_by_path(ranks, dims, &files[i]))
			return -ENOMEM;
	count = ranks->list.size / sizeof(*list);
	if (count)
		qsort(ranks->list.data, count, sizeof(*list), compare);
	list = (const struct why_ranked *)ranks->list.data;
	for (unsigned rank = 0; rank <= WHY_RANK_COUNT; rank++) {
		while (at < count && list[at].rank < rank)
			at++;
		ranks->first[rank] = at;
	}
	return 0;
}

void ranks_close(struct ranks *ranks)
{
	strings_free(&ranks->names);
	numbering_free(&ranks->numbers);
	numbering_free(&ranks->by_file);
	buf_free(&ranks->list);
	buf_free(&ranks->files);
	*ranks = (struct ranks){ 0 };
}
