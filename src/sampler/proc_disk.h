/* What /proc/diskstats says, and what a device did between two readings of it: iostat's columns by
 * iostat's rules. Plain computation, without system calls.
 */
#ifndef STRATA_SAMPLER_PROC_DISK_H
#define STRATA_SAMPLER_PROC_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_NAME_SIZE 32 /* as the kernel has it for whole disks */

/* A device's counters since it was made. The kernel keeps times in 32 bits, which wrap. */
struct disk_counters {
	char name[DISK_NAME_SIZE];
	uint64_t reads, read_sectors, writes, write_sectors, discards, flushes;
	uint32_t read_ms, write_ms, discard_ms;
	uint32_t busy_ms;   /* with a request outstanding */
	uint32_t waited_ms; /* of all requests, those outstanding included */
};

struct disk_usage {
	uint64_t reads, writes, read_bytes, write_bytes;
	double util, queue;
	double await; /* NaN: no request was completed */
};

/* Reads up to `most` devices and partitions, in the order of the text. Returns how many. */
size_t disk_parse(const char *text, size_t size, struct disk_counters *disks, size_t most);

/* Whether it has had any request since boot. */
bool disk_used(const struct disk_counters *disk);

/* What the device did in `ns` nanoseconds between two readings. before NULL: it was not there. */
struct disk_usage disk_compare(const struct disk_counters *before,
			       const struct disk_counters *after, uint64_t ns);

#endif
