/* The layers io, fs and mem: constants of bpf/file.bpf.c, and its records as rows. Operations in queues are rows of io
 * and fs too, whoever saw them: bpf/uring.bpf.c for io_uring, bpf/aio.bpf.h for libaio. */
#include "bpf/file.h"
#include "bpf/wait.h"

#include <asm/unistd_64.h>
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpf/file.skel.h"
#include "probes/iterate.h"
#include "probes/probe.h"
#include "probes/wait.h"

#define _ ARGUMENT_NONE

static const struct syscall_shape shapes[SYSCALL_COUNT] = {
#define IO_SYSCALL(name, number, number32, family_, trait_, direction, shape) \
	[SYSCALL_##name] = { .layer = LAYER_io,                               \
			     .io = IO_##shape,                                \
			     .family = FAMILY_##family_,                      \
			     .trait = TRAIT_##trait_ },
#define FS_SYSCALL(name, number, number32, family_, trait_, ...)                         \
	[SYSCALL_##name] = { LAYER_fs, IO_NONE, __VA_ARGS__, .family = FAMILY_##family_, \
			     .trait = TRAIT_##trait_ },
#define MEM_SYSCALL(name, ...) [SYSCALL_##name] = { .layer = LAYER_mem },
#define QUEUED_IO(name, ...)   [SYSCALL_##name] = { .layer = LAYER_io },
#define QUEUED_FS(name, ...)   [SYSCALL_##name] = { .layer = LAYER_fs },
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

#ifndef __NR_fchmodat2 /* newer than the headers */
#	define __NR_fchmodat2 452
#endif

#define IO_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define FS_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define MEM_SYSCALL(name, number, ...)	 static_assert(__NR_##name == number, #name);
#define QUEUE_SYSCALL(name, number, ...) static_assert(__NR_##name == number, #name);
#include "schema/syscalls.def"

static_assert(SYSCALL_COUNT <= SYSCALL_SHAPES, "SYSCALL_SHAPES bounds the table in the kernel");
static_assert(SYSCALL_COUNT <= SYSCALL_OTHER, "no call with a shape has that number");
static_assert(RECORD_NULL == CELL_NULL, "null passes from record to row unchanged");

PROBE_OPEN(file)

static bool syscall_is_recorded(const struct syscall_number *call, uint32_t layers)
{
	if (layers & LAYER_BIT(call->layer))
		return true;
	return shapes[call->syscall].io >= IO_SUBMIT && layers & LAYER_BIT(LAYER_fs);
}

/* What is watched of a call, whoever makes it. */
static uint16_t syscall_bits(uint8_t syscall)
{
	if (syscall == SYSCALL_none)
		return SYSCALL_MOVES_PATHS;
	switch (schema_syscalls[syscall].trait) {
	case TRAIT_MOVES_PATHS: return SYSCALL_MOVES_PATHS;
	case TRAIT_REMOVES: return SYSCALL_MAY_REMOVE;
	case TRAIT_MARKS: return SYSCALL_MAY_MARK;
	default: return 0;
	}
}

static void file_configure(struct probe_run *run)
{
	uint32_t layers = run->setup->layers;
	struct file_bpf *bpf = run->bpf;

	memcpy(bpf->rodata->syscall_shapes, shapes, sizeof(shapes));
	bpf->rodata->waits = layers & LAYER_BIT(LAYER_wait);
	wait_fill_traits(bpf->rodata->wait_traits);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct syscall_number *call = &numbers[i];
		bool recorded = syscall_is_recorded(call, layers);

		if (call->number >= 0)
			bpf->rodata->syscalls_by_number[call->number] =
				(uint16_t)((recorded ? call->syscall : 0) |
					   syscall_bits(call->syscall));
		if (call->number32 >= 0 && recorded)
			bpf->rodata->layers_by_number32[call->number32] = call->layer + 1;
	}
#define QUEUED(name, queue, number, layer)                           \
	if (QUEUE_##queue == QUEUE_AIO && layers & LAYER_BIT(layer)) \
		bpf->rodata->aio_syscalls[(number) & (AIO_NUMBERS - 1)] = SYSCALL_##name;
#define QUEUED_IO(name, queue, number, ...) QUEUED(name, queue, number, LAYER_io)
#define QUEUED_FS(name, queue, number, ...) QUEUED(name, queue, number, LAYER_fs)
#include "schema/syscalls.def"
}

static int file_start(struct probe_run *run, struct error *e)
{
	(void)e;
	run->setup->shared->moves_watched = 1;
	return 0;
}

static int file_stop(struct probe_run *run, struct error *e)
{
	struct file_bpf *bpf = run->bpf;

	return iterate(bpf->progs.file_in_flight, NULL, NULL, e);
}

#define SET(table, column, value) builder_set(row, column_##table##_##column, (int64_t)(value))

static enum direction direction_of(const struct record *head)
{
	const struct syscall_info *call = &schema_syscalls[head->op];

	return call->trait == TRAIT_EITHER && head->flags & RECORD_READS ? DIRECTION_R
									 : call->direction;
}

static void io_decode(struct sink *sink, const struct record *head)
{
	const struct io_record *io = (const void *)head;
	struct builder *row = sink_table(sink, TABLE_io);

	if (!row)
		return sink_drop(sink, TABLE_io);
	SET_HEAD(row, io, head);
	SET(io, op, head->op);
	SET(io, dir, direction_of(head));
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
	if (head->kind == FILE_COPY) {
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
	SET_HEAD(row, fs, head);
	SET(fs, op, head->op);
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
	SET_HEAD(row, mem, head);
	SET(mem, op, head->op);
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
	SET_IDS(row, mark, head->pid, head->tid);
	builder_set_text(row, column_mark_source, "mark", 4);
	builder_set_text(row, column_mark_name, mark->text, name);
	if (name < size)
		builder_set_text(row, column_mark_value, mark->text + name + 1, size - name - 1);
	sink_end_row(sink, TABLE_mark);
}

static void file_add_row(struct sink *sink, const struct record *record)
{
	switch (record->kind) {
	case FILE_FS: return fs_decode(sink, record);
	case FILE_MEM: return mem_decode(sink, record);
	case FILE_MARK: return mark_decode(sink, record);
	default: return io_decode(sink, record);
	}
}

/* ---- operations in queues that were not seen to end ---- */

static struct record unfinished_head(const struct async_state *state, uint8_t kind)
{
	return (struct record){
		.probe = PROBE_file,
		.kind = kind,
		.op = state->syscall,
		.flags = state->flags | RECORD_UNFINISHED,
		.pid = state->pid,
		.tid = state->tid,
		.ts = state->ts,
	};
}

static void add_unfinished(struct sink *sink, const struct async_state *state)
{
	struct io_record io = {
		.head = unfinished_head(state, FILE_IO),
		.requested = (uint64_t)state->requested,
		.pos = state->pos,
		.blocked = RECORD_NULL,
		.missed = RECORD_NULL,
		.fd = state->fd,
		.file = state->file,
	};
	struct fs_record fs = {
		.head = unfinished_head(state, FILE_FS),
		.flags = state->syscall_flags,
		.mode = state->mode,
		.pos = state->pos,
		.length = state->requested,
		.fd = state->fd == DESCRIPTOR_NONE ? RECORD_NULL : state->fd,
		.blocked = RECORD_NULL,
		.file = state->file,
		.dir = state->dir,
	};

	file_add_row(sink, schema_syscalls[state->syscall].layer == LAYER_io ? &io.head : &fs.head);
}

static void file_finish(struct probe_run *run, struct sink *sink)
{
	struct async_key key, *before = NULL;
	struct async_state state;
	int map = run->setup->asyncs;

	while (!bpf_map_get_next_key(map, before, &key)) {
		if (!bpf_map_lookup_elem(map, &key, &state))
			add_unfinished(sink, &state);
		before = &key;
	}
}

static void file_decode(struct row_maker *maker, const struct record *record, size_t size)
{
	(void)size;
	file_add_row(&maker->sink, record);
}

#define FILE_LAYERS \
	(LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fs) | LAYER_BIT(LAYER_mem) | LAYER_BIT(LAYER_wait))

/* Where calls are counted, tally.c has them. */
static bool file_wanted(const struct probe_setup *setup)
{
	return !setup->aggregates && setup->layers & FILE_LAYERS;
}

const struct probe file_probe = {
	.name = "file",
	.layers = FILE_LAYERS,
	.wanted = file_wanted,
	.open = file_open,
	.configure = file_configure,
	.start = file_start,
	.stop = file_stop,
	.finish = file_finish,
	.decode = file_decode,
};
