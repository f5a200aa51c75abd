/* What was done with files: calls, bytes and time by operation, file, directory and process; how reads walk
 * through files; what is read again; what the page cache, readahead and devices served. From the
 * tables io, fs, mem, fault and block.
 *
 * - A call counts where it began; its time needs its end, so unfinished ones have none.
 * - Bytes are those that calls returned; failed calls move none.
 * - A read is sequential when it begins where the thread's last read of the same file ended. Reads
 *   with no earlier one to compare with are neither sequential nor random.
 * - A small read moved less than 4 KiB of a regular file, and more than nothing; one that moved nothing
 *   is empty (the end of a file, mostly).
 * - Bytes are read again when they were read before in the window, by any process.
 * - missed: bytes that the kernel filled into the page cache while the call ran. As far as they do not
 *   exceed what the call returned, the call waited for them; what exceeds it was fetched ahead. The
 *   rest came from the page cache, whoever had brought it there, or, with O_DIRECT, from the device.
 */
#ifndef STRATA_ANALYZE_FILES_H
#define STRATA_ANALYZE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/extents.h"
#include "analyze/hist.h"
#include "analyze/scan.h"

#define FILES_SMALL 4096

struct op_use {
	const char *table, *name; /* name is not terminated */
	size_t name_size;
	uint64_t calls, errors, unfinished, bytes, time_ns, blocked_ns;
	struct hist latency, size; /* size: bytes returned, of calls that move data */
};

/* What reads and writes have in common, whatever they are summed by. */
struct traffic {
	uint64_t calls, bytes, time_ns;
};

static inline void traffic_add(struct traffic *into, const struct traffic *from)
{
	into->calls += from->calls;
	into->bytes += from->bytes;
	into->time_ns += from->time_ns;
}

struct file_use {
	int64_t file;	       /* id */
	struct dims_text path; /* bytes NULL: not known */
	bool regular;
	struct traffic read, written;
	uint64_t blocked_ns;
	uint64_t opens, stats, maps, faults, major_faults;
	uint64_t small_reads, empty_reads;
	uint64_t sequential, compared; /* reads */
	uint64_t again_bytes;	       /* read again */
	bool again_known;	       /* false: its reads are too scattered to tell */
	uint64_t missed_bytes, ahead_bytes, direct_bytes, told_bytes;
	uint64_t device_read_bytes, device_write_bytes, device_ns, device_requests;
	struct hist latency, size; /* of data calls */
	struct extents extents;
};

struct dir_use {
	struct dims_text path;
	uint64_t files;
	struct traffic read, written;
	uint64_t opens, device_ns;
	struct hist latency, size;
};

struct process_use {
	uint32_t proc; /* PROC_NONE: not known */
	struct traffic read, written;
	uint64_t opens, stats, metadata_calls, metadata_ns, blocked_ns, small_reads;
	struct hist latency, size;
};

/* Sums over regular files, and over everything else (pipes, sockets, terminals). */
struct files_total {
	struct traffic read, written;
	uint64_t small_reads, empty_reads, sequential, compared;
	uint64_t again_bytes, again_files, again_unknown; /* files */
	uint64_t missed_bytes, ahead_bytes, direct_bytes, cached_bytes;
	uint64_t told_bytes; /* read by calls of which it is known what they missed */
	uint64_t read_files, written_files;
	double cached_share;		 /* of told_bytes; NAN: nothing is told */
	double small_share, empty_share; /* of calls that read; NAN: none */
	double sequential_share;	 /* of those compared; NAN: none */
};

struct files {
	struct context *context;
	bool has_io, has_fs, has_block; /* there was a row */
	bool io_known, fs_known;	/* it was recorded: no row means that nothing happened */
	struct op_use *ops;		/* by time, the greatest first, once finished */
	size_t op_count;
	struct file_use *files; /* regular ones first; by bytes moved, the greatest first */
	size_t file_count, regular_count;
	struct dir_use *dirs; /* by bytes moved */
	size_t dir_count;
	const struct dir_use
		*top_dir; /* that most is read from: the data set, mostly; NULL: none */
	struct process_use *processes; /* by time in calls */
	size_t process_count;
	struct files_total regular, other;
	uint64_t opens, failed_opens, stats, failed_stats, closes, syncs, sync_ns, metadata_ns;
	uint64_t metadata_calls;
	double failed_open_share, failed_stat_share; /* NAN: there were none */
	double opens_a_read, stats_a_read; /* for each read of a regular file; NAN: none */

	/* While loading. */
	struct strings op_names, dir_names;
	struct numbering by_file;
	struct map walks; /* by place of the file and tid: where the thread's last read ended */
	struct buf op_list, file_list, dir_list, process_list;
	uint32_t op_places[TABLE_COUNT][SYSCALL_COUNT]; /* in op_list, + 1 */
	struct buf by_id;   /* uint32_t: place in file_list + 1, by id as rows carry it */
	struct buf by_proc; /* uint32_t: place in process_list + 1, by process + 1 */
};

int files_open(struct files *files, struct context *context);
size_t files_sinks(struct files *files, struct scan_sink *sinks); /* at most FILES_SINKS */
#define FILES_SINKS 5
int files_finish(struct files *files);
void files_free(struct files *files);

#endif
