/* The layer block: which programs of bpf/block.bpf.c the kernel has the tracepoints for, and their records
 * as rows. */
#include "bpf/block.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/block.skel.h"
#include "probes/iterate.h"
#include "probes/probe.h"

PROBE_OPEN(block)

/* Whether the kernel tells of bios as this expects. */
static bool block_has_bios(const struct features *features)
{
	return features_tracepoint_arguments(features, "block_bio_queue") == 1 &&
	       features_tracepoint_arguments(features, "block_bio_complete") == 2 &&
	       features_tracepoint_arguments(features, "block_bio_remap") == 3;
}

/* A device that may get single pages past all tracepoints, on a kernel that does so; false: none. */
static bool block_page_device(const struct features *features, char *name, size_t size)
{
	static const char *const kinds[] = { "pmem", "ram", "zram" };
	DIR *disks = opendir("/sys/block");
	struct dirent *disk;
	bool found = false;

	while (disks && !found && (disk = readdir(disks)))
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !found; i++)
			found = !strncmp(disk->d_name, kinds[i], strlen(kinds[i])) &&
				snprintf(name, size, "%s", disk->d_name) > 0;
	if (disks)
		closedir(disks);
	return found && features_has_member(features, "block_device_operations", "rw_page");
}

static void block_note_absent(const struct probe_setup *setup)
{
	char device[64];

	if (!block_has_bios(setup->features))
		absences_add(
			setup->absences, "block.bio",
			"this kernel does not tell of I/O to devices without requests (dm, md, "
			"zram)");
	else if (block_page_device(setup->features, device, sizeof(device)))
		absences_add(
			setup->absences, "block.page",
			"this kernel may swap and read single pages of %s and the like without "
			"a bio",
			device);
}

static void block_configure(struct probe_run *run)
{
	const struct features *features = run->setup->features;
	bool starts = features_tracepoint_arguments(features, "block_io_start");
	bool bios = block_has_bios(features);
	bool folios = features_tracepoint_arguments(features, "writeback_dirty_folio");
	struct block_bpf *bpf = run->bpf;

	block_note_absent(run->setup);
	bpf->rodata->block_starts = starts;
	bpf_program__set_autoload(bpf->progs.block_start, starts);
	bpf_program__set_autoload(bpf->progs.block_insert, !starts);
	bpf_program__set_autoload(bpf->progs.bio_queue, bios);
	bpf_program__set_autoload(bpf->progs.bio_remap, bios);
	bpf_program__set_autoload(bpf->progs.bio_complete, bios);
	bpf_program__set_autoload(bpf->progs.block_dirty_folio, folios);
	bpf_program__set_autoload(bpf->progs.block_dirty_page, !folios);
}

static int block_stop(struct probe_run *run, struct error *e)
{
	struct block_bpf *bpf = run->bpf;
	union bpf_iter_link_info requests = {
		.map.map_fd = (__u32)bpf_map__fd(bpf->maps.requests),
	};

	return iterate(bpf->progs.block_in_flight, &requests, NULL, e);
}

/* The kernel's blk_status_t as the error number that it stands for. The greater ones have changed their
 * meaning over time; the kernel's own word for one it does not know is EIO. */
static int64_t error_of_status(int32_t status)
{
	static const int16_t errors[] = { 0,	     EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK,
					  EREMOTEIO, EBADE,	 ENODATA,   EILSEQ, ENOMEM,
					  EIO,	     EREMCHG,	 EAGAIN,    EBUSY };

	if (status < 0)
		return status;
	return (size_t)status < sizeof(errors) / sizeof(*errors) ? -errors[status] : -EIO;
}

#define SET(column, value) builder_set(row, column_block_##column, (int64_t)(value))

static void block_decode(struct row_maker *maker, const struct record *head, size_t size)
{
	const struct block_record *block = (const void *)head;
	struct builder *row = sink_table(&maker->sink, TABLE_block);

	(void)size;
	if (!row)
		return sink_drop(&maker->sink, TABLE_block);
	SET(ts, head->ts);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(dur, head->dur);
	if (block->queued != RECORD_NULL)
		SET(queued, block->queued);
	if (block->flags & BLOCK_ISSUED)
		SET(cpu, head->cpu);
	SET_HOST_IDS(row, block, head->pid, head->tid);
	builder_set_text(row, column_block_dev, block->disk,
			 strnlen(block->disk, sizeof(block->disk)));
	SET(op, head->op);
	SET(sync, !!(block->flags & BLOCK_SYNC));
	SET(meta, !!(block->flags & BLOCK_META));
	SET(ahead, !!(block->flags & BLOCK_AHEAD));
	if (block->bytes)
		SET(sector, block->sector);
	SET(bytes, block->bytes);
	if (block->file)
		SET(file, block->file);
	if (!(block->done_pid & RECORD_HOST_ID) && !(head->flags & RECORD_UNFINISHED))
		SET(done_pid, block->done_pid);
	if (!(head->flags & RECORD_UNFINISHED))
		SET(error, error_of_status(block->error));
	sink_end_row(&maker->sink, TABLE_block);
}

const struct probe block_probe = {
	.name = "block",
	.layers = LAYER_BIT(LAYER_block),
	.open = block_open,
	.configure = block_configure,
	.stop = block_stop,
	.decode = block_decode,
};
