/* Names that the programs send once, of files and cgroups: as rows of table file, and kept for process rows. */
#include "probes/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_PIPE  0x50495045
#define MAGIC_SOCK  0x534f434b
#define MAGIC_ANON  0x09041934
#define MAGIC_PIDFS 0x50494446
#define MAGIC_NSFS  0x6e736673

int names_join(struct buf *out, const char *names, size_t size)
{
	int err;

	out->size = 0;
	while (size) {
		size_t end = size - 1; /* of the last name: its NUL */
		size_t start = end;

		while (start && names[start - 1])
			start--;
		err = buf_append(out, "/", 1);
		if (!err)
			err = buf_append(out, names + start, end - start);
		if (err)
			return err;
		size = start;
	}
	return out->size ? 0 : buf_append(out, "/", 1);
}

int names_file_path(struct buf *out, const struct file_record *file)
{
	const char *names = (const char *)(file + 1);
	int length = (int)strnlen(names, file->names_size);
	unsigned long long inode = file->inode;

	if (!(file->flags & FILE_PSEUDO))
		return names_join(out, names, file->names_size);
	out->size = 0;
	switch (file->magic) {
	case MAGIC_PIPE: return buf_printf(out, "pipe:[%llu]", inode);
	case MAGIC_SOCK: return buf_printf(out, "socket:[%llu]", inode);
	case MAGIC_ANON: return buf_printf(out, "anon_inode:%.*s", length, names);
	case MAGIC_PIDFS: return buf_printf(out, "anon_inode:[pidfd]");
	case MAGIC_NSFS: return buf_printf(out, "%.*s:[%llu]", length, names, inode);
	default: return buf_printf(out, "/%.*s (deleted)", length, names); /* memfd and its kin */
	}
}

#define SET(column, value) builder_set(row, column_file_##column, (int64_t)(value))

static enum file_kind kind_of(uint16_t mode)
{
	switch (mode & 0170000) {
	case 0100000: return FILE_KIND_FILE;
	case 0040000: return FILE_KIND_DIR;
	case 0120000: return FILE_KIND_LINK;
	case 0020000: return FILE_KIND_CHAR;
	case 0060000: return FILE_KIND_BLOCK;
	case 0010000: return FILE_KIND_PIPE;
	case 0140000: return FILE_KIND_SOCKET;
	default: return FILE_KIND_OTHER;
	}
}

/* The path of a file in strata's own mount namespace, if another one's led to it: unless it is the same. */
static void set_host_path(struct row_maker *maker, struct builder *row,
			  const struct file_record *file)
{
	struct buf *path = &maker->scratch, *host = &maker->scratch2;

	if (maker->placed != file->id || file->flags & (FILE_CUT | FILE_PSEUDO) ||
	    mounts_path(&maker->mounts, file->dev, (const char *)maker->place.data,
			maker->place.size, host) ||
	    (host->size == path->size && !memcmp(host->data, path->data, path->size)))
		return;
	builder_set_text(row, column_file_host_path, host->data, host->size);
}

static void file_decode(struct row_maker *maker, const struct file_record *file)
{
	struct builder *row = sink_table(&maker->sink, TABLE_file);
	char dev[32];
	int size;

	if (!row)
		return sink_drop(&maker->sink, TABLE_file);
	SET(file, file->id);
	if (!(file->flags & FILE_CUT) && !names_file_path(&maker->scratch, file))
		builder_set_text(row, column_file_path, maker->scratch.data, maker->scratch.size);
	size = snprintf(dev, sizeof(dev), "%u:%u", file->dev >> 20, file->dev & 0xfffff);
	builder_set_text(row, column_file_dev, dev, (size_t)size);
	SET(inode, file->inode);
	SET(generation, file->generation);
	builder_set_text(row, column_file_fs, file->fs, strnlen(file->fs, sizeof(file->fs)));
	SET(kind, kind_of(file->mode));
	set_host_path(maker, row, file);
	sink_end_row(&maker->sink, TABLE_file);
}

const char *names_cgroup(const struct row_maker *maker, uint64_t id)
{
	const struct cgroup_name *names = (const void *)maker->cgroups.data;

	for (size_t i = 0; i < maker->cgroups.size / sizeof(*names); i++)
		if (names[i].id == id)
			return names[i].path;
	return NULL;
}

static void cgroup_decode(struct row_maker *maker, const struct cgroup_record *record)
{
	struct cgroup_name name = { .id = record->id };

	if (names_cgroup(maker, record->id) ||
	    names_join(&maker->scratch, (const char *)(record + 1), record->names_size))
		return;
	name.path = strndup((const char *)maker->scratch.data, maker->scratch.size);
	if (!name.path || buf_append(&maker->cgroups, &name, sizeof(name)))
		free(name.path);
}

static void place_decode(struct row_maker *maker, const struct file_record *file)
{
	bool kept = !names_join(&maker->place, (const char *)(file + 1), file->names_size);

	maker->placed = kept ? file->id : 0;
}

static void names_decode(struct row_maker *maker, const struct record *record, size_t size)
{
	(void)size;
	switch (record->kind) {
	case NAMES_CGROUP: cgroup_decode(maker, (const void *)record); break;
	case NAMES_PLACE: place_decode(maker, (const void *)record); break;
	default: file_decode(maker, (const void *)record);
	}
}

void names_forget(struct row_maker *maker)
{
	struct cgroup_name *names = (void *)maker->cgroups.data;

	for (size_t i = 0; i < maker->cgroups.size / sizeof(*names); i++)
		free(names[i].path);
	buf_free(&maker->cgroups);
	buf_free(&maker->place);
	buf_free(&maker->scratch2);
	mounts_close(&maker->mounts);
}

const struct probe names_probe = {
	.name = "names",
	.decode = names_decode,
};
