/* The layers io, fs and mem: constants of bpf/file.bpf.c, and its records as rows. */
#include "probes/file.h"

#include "probes/probe.h"

#include <asm/unistd_64.h>
#include <assert.h>
#include <string.h>

#include "bpf/strata.skel.h"
#include "capture/features.h"
#include "probes/names.h"

#define _ ARGUMENT_NONE

static const struct syscall_shape shapes[SYSCALL_COUNT] = {
#define IO_SYSCALL(name, number, number32, family, trait, direction, shape) \
	[SYSCALL_##name] = { .layer = LAYER_io, .io = IO_##shape },
#define FS_SYSCALL(name, number, number32, family, trait, ...) \
	[SYSCALL_##name] = { LAYER_fs, IO_NONE, __VA_ARGS__,   \
			     .opens = FAMILY_##family == FAMILY_open },
#define MEM_SYSCALL(name, ...) [SYSCALL_##name] = { .layer = LAYER_mem },
#define QUEUE_SYSCALL(name, number, number32, shape) \
	[SYSCALL_##name] = { .layer = LAYER_io, .io = IO_##shape },
#include "schema/syscalls.def"
};

#undef _

struct syscall_number {
	uint8_t syscall; /* SYSCALL_none: no row, but it moves paths, or only 32-bit */
	uint8_t layer;
	int16_t number; /* -1: none */
	int16_t number32;
};

static const struct syscall_number numbers[] = {
#define IO_SYSCALL(name, number, number32, ...) { SYSCALL_##name, LAYER_io, number, number32 },
#define FS_SYSCALL(name, number, number32, family, trait, ...) \
	{ SYSCALL_##name, LAYER_fs, number, number32 },
#define MEM_SYSCALL(name, number, number32, ...)   { SYSCALL_##name, LAYER_mem, number, number32 },
#define SYSCALL32(layer, number32)		   { SYSCALL_none, LAYER_##layer, -1, number32 },
#define NAMESPACE_SYSCALL(number, number32)	   { SYSCALL_none, LAYER_fs, number, -1 },
#define QUEUE_SYSCALL(name, number, number32, ...) { SYSCALL_##name, LAYER_io, number, number32 },
#include "schema/syscalls.def"
};

#define IO_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define FS_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define MEM_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define QUEUE_SYSCALL(name, number, ...) static_assert(__NR_##name == number, #name);
#include "schema/syscalls.def"

static_assert(SYSCALL_COUNT <= SYSCALL_SHAPES, "SYSCALL_SHAPES bounds the table in the kernel");
static_assert(RECORD_NULL == CELL_NULL, "null passes from record to row unchanged");

static bool moves_paths(uint8_t syscall)
{
	return syscall == SYSCALL_none || schema_syscalls[syscall].trait == TRAIT_MOVES_PATHS;
}

/* As syscall_may_mark() in bpf/file.bpf.c. */
static bool may_mark(uint8_t syscall)
{
	return schema_syscalls[syscall].trait == TRAIT_MARKS;
}

static void file_configure(const struct probe_setup *setup)
{
	struct strata_bpf *bpf = setup->bpf;
	bool on = setup->layers & file_probe.layers, counted;

	bpf_program__set_autoload(bpf->progs.file_sys_enter, on);
	bpf_program__set_autoload(bpf->progs.file_sys_exit, on);
	bpf_program__set_autoload(bpf->progs.file_signal_deliver, on);
	bpf_program__set_autoload(bpf->progs.file_process_exit, on);
	bpf_program__set_autoload(bpf->progs.file_in_flight, on);
	counted = setup->layers & (LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fault));
	bpf->rodata->count_missed = counted && features_has_struct(setup->features, "folio");
	if (counted && !bpf->rodata->count_missed)
		absences_add(setup->absences, "io.missed",
			     "this kernel's page cache has no folios");
	bpf_program__set_autoload(bpf->progs.cache_add, bpf->rodata->count_missed);
	memcpy(bpf->rodata->syscall_shapes, shapes, sizeof(shapes));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct syscall_number *n = &numbers[i];
		bool recorded =
			setup->layers & LAYER_BIT(n->layer) ||
			(shapes[n->syscall].io >= IO_SUBMIT && setup->layers & LAYER_BIT(LAYER_fs));

		/* Renames are watched whatever is recorded: they change the paths of known files.
		 * So is the call that makes marks. */
		if (n->number >= 0)
			bpf->rodata->syscalls_by_number[n->number] =
				(recorded || may_mark(n->syscall) ? n->syscall : 0) |
				(moves_paths(n->syscall) ? SYSCALL_MOVES_PATHS : 0);
		if (n->number32 >= 0 && recorded)
			bpf->rodata->layers_by_number32[n->number32] = n->layer + 1;
	}
}

#define SET(table, column, value) builder_set(row, column_##table##_##column, (int64_t)(value))

/* The columns that every table of calls begins with. */
#define SET_HEAD(table, head)                             \
	do {                                              \
		SET(table, ts, (head)->ts);               \
		if (!((head)->flags & RECORD_UNFINISHED)) \
			SET(table, dur, (head)->dur);     \
		SET(table, cpu, (head)->cpu);             \
		SET(table, pid, (head)->pid);             \
		SET(table, tid, (head)->tid);             \
		SET(table, op, (head)->op);               \
	} while (0)

static void io_decode(struct sink *sink, const struct record *head)
{
	const struct io_record *io = (const void *)head;
	struct builder *row = sink_table(sink, TABLE_io);

	if (!row)
		return sink_drop(sink, TABLE_io);
	SET_HEAD(io, head);
	SET(io, dir, schema_syscalls[head->op].direction);
	if (io->fd != DESCRIPTOR_NONE)
		SET(io, fd, io->fd);
	if (io->file)
		SET(io, file, io->file);
	if (io->pos != RECORD_NULL)
		SET(io, pos, io->pos);
	if (!(head->flags & RECORD_NO_REQUESTED))
		SET(io, requested, io->requested);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(io, returned, io->returned);
	if (io->missed != RECORD_NULL)
		SET(io, missed, io->missed);
	if (io->blocked != RECORD_NULL)
		SET(io, blocked, io->blocked);
	if (io->file)
		SET(io, direct, !!(head->flags & RECORD_DIRECT));
	if (head->flags & RECORD_INTERRUPTED)
		SET(io, restarted, !!(head->flags & RECORD_RESTARTED));
	if (head->type == RECORD_COPY) {
		const struct copy_record *copy = (const void *)head;

		SET(io, out_fd, copy->out_fd);
		if (copy->out_file)
			SET(io, out_file, copy->out_file);
		if (copy->out_pos != RECORD_NULL)
			SET(io, out_pos, copy->out_pos);
	}
	sink_end_row(sink, TABLE_io);
}

static void fs_decode(struct sink *sink, const struct record *head)
{
	const struct fs_record *fs = (const void *)head;
	struct builder *row = sink_table(sink, TABLE_fs);
	const char *paths = (const char *)(fs + 1);

	if (!row)
		return sink_drop(sink, TABLE_fs);
	SET_HEAD(fs, head);
	if (fs->fd != RECORD_NULL)
		SET(fs, fd, fs->fd);
	if (fs->file)
		SET(fs, file, fs->file);
	if (fs->dir)
		SET(fs, dir, fs->dir);
	if (fs->dir2)
		SET(fs, dir2, fs->dir2);
	if (fs->path_size)
		builder_set_text(row, column_fs_arg_path, paths, fs->path_size - 1u);
	if (fs->path2_size)
		builder_set_text(row, column_fs_arg_path2, paths + fs->path_size,
				 fs->path2_size - 1u);
	if (fs->flags != RECORD_NULL)
		SET(fs, flags, (uint32_t)fs->flags);
	if (fs->mode != RECORD_NULL)
		SET(fs, mode, (uint32_t)fs->mode);
	if (fs->pos != RECORD_NULL)
		SET(fs, pos, fs->pos);
	if (fs->length != RECORD_NULL)
		SET(fs, length, fs->length);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(fs, returned, fs->returned);
	if (fs->blocked != RECORD_NULL)
		SET(fs, blocked, fs->blocked);
	if (head->flags & RECORD_INTERRUPTED)
		SET(fs, restarted, !!(head->flags & RECORD_RESTARTED));
	sink_end_row(sink, TABLE_fs);
}

static void mem_decode(struct sink *sink, const struct record *head)
{
	const struct mem_record *mem = (const void *)head;
	struct builder *row = sink_table(sink, TABLE_mem);

	if (!row)
		return sink_drop(sink, TABLE_mem);
	SET_HEAD(mem, head);
	SET(mem, addr, mem->addr);
	SET(mem, length, mem->length);
	SET(mem, old_length, mem->old_length);
	SET(mem, prot, mem->prot);
	SET(mem, flags, mem->flags);
	SET(mem, fd, mem->fd);
	if (mem->file)
		SET(mem, file, mem->file);
	SET(mem, pos, mem->pos);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(mem, returned, mem->returned);
	sink_end_row(sink, TABLE_mem);
}

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

static void file_name_decode(struct decoder *decoder, const struct file_record *file)
{
	struct builder *row = sink_table(&decoder->sink, TABLE_file);
	char dev[32];
	int size;

	if (!row)
		return sink_drop(&decoder->sink, TABLE_file);
	SET(file, file, file->id);
	if (!(file->flags & FILE_CUT) && !names_file_path(&decoder->scratch, file))
		builder_set_text(row, column_file_path, decoder->scratch.data,
				 decoder->scratch.size);
	size = snprintf(dev, sizeof(dev), "%u:%u", file->dev >> 20, file->dev & 0xfffff);
	builder_set_text(row, column_file_dev, dev, (size_t)size);
	SET(file, inode, file->inode);
	SET(file, generation, file->generation);
	builder_set_text(row, column_file_fs, file->fs, strnlen(file->fs, sizeof(file->fs)));
	SET(file, kind, kind_of(file->mode));
	sink_end_row(&decoder->sink, TABLE_file);
}

static void mark_decode(struct sink *sink, const struct record *head)
{
	const struct mark_record *mark = (const void *)head;
	size_t size = mark->size ? mark->size - 1u : 0, name = 0;
	struct builder *row;

	while (name < size && mark->text[name] != '\n')
		name++;
	if (!name)
		return;
	row = sink_table(sink, TABLE_mark);
	if (!row)
		return sink_drop(sink, TABLE_mark);
	SET(mark, ts, head->ts);
	if (head->pid)
		SET(mark, pid, head->pid);
	if (head->tid)
		SET(mark, tid, head->tid);
	builder_set_text(row, column_mark_source, "mark", 4);
	builder_set_text(row, column_mark_name, mark->text, name);
	if (name < size)
		builder_set_text(row, column_mark_value, mark->text + name + 1, size - name - 1);
	sink_end_row(sink, TABLE_mark);
}

void file_add_row(struct sink *sink, const struct record *record)
{
	switch (record->type) {
	case RECORD_FS: return fs_decode(sink, record);
	case RECORD_MEM: return mem_decode(sink, record);
	case RECORD_MARK: return mark_decode(sink, record);
	default: return io_decode(sink, record);
	}
}

static void file_decode(struct decoder *decoder, const struct record *record, size_t size)
{
	(void)size;
	if (record->type == RECORD_FILE)
		file_name_decode(decoder, (const void *)record);
	else
		file_add_row(&decoder->sink, record);
}

const struct probe file_probe = {
	.name = "file",
	.layers = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_mem),
	.records = 1u << RECORD_IO | 1u << RECORD_COPY | 1u << RECORD_FS | 1u << RECORD_MEM |
		   1u << RECORD_FILE | 1u << RECORD_MARK,
	.configure = file_configure,
	.decode = file_decode,
};
