/* The finished model of files: totals, directories, and everything in order of weight. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells.h"
#include "analyze/files.h"

static void total_file(struct files_total *total, const struct file_use *use)
{
	traffic_add(&total->read, &use->read);
	traffic_add(&total->written, &use->written);
	total->small_reads += use->small_reads;
	total->empty_reads += use->empty_reads;
	total->sequential += use->sequential;
	total->compared += use->compared;
	total->again_bytes += use->again_bytes;
	total->again_files += use->again_bytes > 0;
	total->again_unknown += !use->again_known;
	total->missed_bytes += use->missed_bytes;
	total->ahead_bytes += use->ahead_bytes;
	total->direct_bytes += use->direct_bytes;
	total->told_bytes += use->told_bytes;
	total->read_files += use->read.bytes > 0;
	total->written_files += use->written.bytes > 0;
}

/* The directory of an absolute path; anything else has none. */
static bool directory_of(const struct dims_text *path, struct dims_text *dir)
{
	const char *slash;

	if (!path->bytes || !path->size || *path->bytes != '/')
		return false;
	slash = memrchr(path->bytes, '/', path->size);
	*dir = (struct dims_text){ path->bytes,
				   slash == path->bytes ? 1 : (size_t)(slash - path->bytes) };
	return true;
}

static int total_dir(struct files *files, const struct file_use *use)
{
	struct dims_text path;
	struct dir_use *dir;
	uint32_t number;

	if (!directory_of(&use->path, &path))
		return 0;
	if (strings_add(&files->dir_names, path.bytes, path.size, &number))
		return -ENOMEM;
	if (number * sizeof(*dir) == files->dir_list.size &&
	    buf_append_zeros(&files->dir_list, sizeof(*dir)))
		return -ENOMEM;
	dir = (struct dir_use *)files->dir_list.data + number;
	dir->path = path;
	dir->files++;
	traffic_add(&dir->read, &use->read);
	traffic_add(&dir->written, &use->written);
	dir->opens += use->opens;
	dir->device_ns += use->device_ns;
	return hist_merge(&dir->latency, &use->latency) || hist_merge(&dir->size, &use->size)
		       ? -ENOMEM
		       : 0;
}

static int finish_file(struct files *files, struct file_use *use)
{
	const struct file_row *row = dims_find_file(files->context->dims, use->file);

	if (row) {
		use->path = row->path;
		use->regular = file_row_is(row, FILE_KIND_FILE);
	}
	extents_free(&use->extents);
	files->regular_count += use->regular;
	total_file(use->regular ? &files->regular : &files->other, use);
	return use->regular ? total_dir(files, use) : 0;
}

static int by_bytes(const struct traffic *left_read, const struct traffic *left_written,
		    const struct traffic *right_read, const struct traffic *right_written)
{
	uint64_t left = left_read->bytes + left_written->bytes;
	uint64_t right = right_read->bytes + right_written->bytes;

	if (left != right)
		return left > right ? -1 : 1;
	left = left_read->calls + left_written->calls;
	right = right_read->calls + right_written->calls;
	return left > right ? -1 : left < right;
}

static int compare_files(const void *a, const void *b)
{
	const struct file_use *left = a, *right = b;
	int order;

	if (left->regular != right->regular)
		return left->regular ? -1 : 1;
	order = by_bytes(&left->read, &left->written, &right->read, &right->written);

	return order ? order : left->file < right->file ? -1 : left->file > right->file;
}

static int compare_dirs(const void *a, const void *b)
{
	const struct dir_use *left = a, *right = b;

	return by_bytes(&left->read, &left->written, &right->read, &right->written);
}

static int compare_ops(const void *a, const void *b)
{
	const struct op_use *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return left->calls > right->calls ? -1 : left->calls < right->calls;
}

static uint64_t process_time(const struct process_use *use)
{
	return use->read.time_ns + use->written.time_ns + use->metadata_ns;
}

static int compare_processes(const void *a, const void *b)
{
	uint64_t left = process_time(a), right = process_time(b);

	return left > right ? -1 : left < right;
}

static void sort(void *list, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(list, count, size, compare);
}

/* Pipes and sockets are not cached. */
static void finish_total(struct files_total *total, bool cached)
{
	uint64_t fetched = total->missed_bytes + total->direct_bytes;

	if (cached && total->told_bytes > fetched)
		total->cached_bytes = total->told_bytes - fetched;
	total->cached_share = share_of(total->cached_bytes, cached ? total->told_bytes : 0);
	total->small_share = share_of(total->small_reads, total->read.calls);
	total->empty_share = share_of(total->empty_reads, total->read.calls);
	total->sequential_share = share_of(total->sequential, total->compared);
}

static void find_top_dir(struct files *files)
{
	for (size_t i = 0; i < files->dir_count; i++) {
		const struct dir_use *dir = &files->dirs[i];

		if (dir->read.bytes &&
		    (!files->top_dir || dir->read.bytes > files->top_dir->read.bytes))
			files->top_dir = dir;
	}
}

/* What follows from the sums. */
static void finish_shares(struct files *files)
{
	uint64_t reads = files->regular.read.calls;

	finish_total(&files->regular, true);
	finish_total(&files->other, false);
	files->failed_open_share = share_of(files->failed_opens, files->opens);
	files->failed_stat_share = share_of(files->failed_stats, files->stats);
	files->opens_a_read = share_of(files->opens, reads);
	files->stats_a_read = share_of(files->stats, reads);
	find_top_dir(files);
}

static void finish_ops(struct files *files)
{
	files->ops = (struct op_use *)files->op_list.data;
	files->op_count = files->op_list.size / sizeof(*files->ops);
	for (size_t i = 0; i < files->op_count; i++) {
		size_t size;
		const char *key = strings_get(&files->op_names, (uint32_t)i, &size);

		files->ops[i].name = key + 1;
		files->ops[i].name_size = size - 1;
	}
}

int files_finish(struct files *files)
{
	finish_ops(files);
	files->files = (struct file_use *)files->file_list.data;
	files->file_count = files->file_list.size / sizeof(*files->files);
	for (size_t i = 0; i < files->file_count; i++)
		if (finish_file(files, &files->files[i]))
			return -ENOMEM;
	files->dirs = (struct dir_use *)files->dir_list.data;
	files->dir_count = files->dir_list.size / sizeof(*files->dirs);
	files->processes = (struct process_use *)files->process_list.data;
	files->process_count = files->process_list.size / sizeof(*files->processes);
	sort(files->ops, files->op_count, sizeof(*files->ops), compare_ops);
	sort(files->files, files->file_count, sizeof(*files->files), compare_files);
	sort(files->dirs, files->dir_count, sizeof(*files->dirs), compare_dirs);
	sort(files->processes, files->process_count, sizeof(*files->processes), compare_processes);
	finish_shares(files);
	return 0;
}

void files_free(struct files *files)
{
	struct op_use *ops = (struct op_use *)files->op_list.data;
	struct file_use *uses = (struct file_use *)files->file_list.data;
	struct dir_use *dirs = (struct dir_use *)files->dir_list.data;
	struct process_use *processes = (struct process_use *)files->process_list.data;

	for (size_t i = 0; i < files->op_list.size / sizeof(*ops); i++) {
		hist_free(&ops[i].latency);
		hist_free(&ops[i].size);
	}
	for (size_t i = 0; i < files->file_list.size / sizeof(*uses); i++) {
		hist_free(&uses[i].latency);
		hist_free(&uses[i].size);
		extents_free(&uses[i].extents);
	}
	for (size_t i = 0; i < files->dir_list.size / sizeof(*dirs); i++) {
		hist_free(&dirs[i].latency);
		hist_free(&dirs[i].size);
	}
	for (size_t i = 0; i < files->process_list.size / sizeof(*processes); i++) {
		hist_free(&processes[i].latency);
		hist_free(&processes[i].size);
	}
	strings_free(&files->op_names);
	strings_free(&files->dir_names);
	numbering_free(&files->by_file);
	map_free(&files->walks);
	buf_free(&files->op_list);
	buf_free(&files->file_list);
	buf_free(&files->dir_list);
	buf_free(&files->process_list);
	buf_free(&files->by_id);
	buf_free(&files->by_proc);
	*files = (struct files){ 0 };
}
