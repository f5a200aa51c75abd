#include "sampler/proc_disk.h"

#include <math.h>
#include <string.h>

#include "sampler/proc_text.h"

/* The numbers after a device's name. */
enum {
	READS,
	READ_MERGES,
	READ_SECTORS,
	READ_MS,
	WRITES,
	WRITE_MERGES,
	WRITE_SECTORS,
	WRITE_MS,
	OUTSTANDING,
	BUSY_MS,
	WAITED_MS,
	NEEDED,
	DISCARDS = NEEDED, /* since Linux 4.18 */
	DISCARD_MERGES,
	DISCARD_SECTORS,
	DISCARD_MS,
	FLUSHES, /* since Linux 5.5 */
	FLUSH_MS,
	FIELDS
};

static bool parse_line(struct proc_text *line, struct disk_counters *disk)
{
	uint64_t device[2], n[FIELDS] = { 0 };
	const char *name;
	size_t size;

	if (proc_text_numbers(line, device, 2) < 2)
		return false;
	size = proc_text_word(line, &name);
	if (!size || size >= DISK_NAME_SIZE || memchr(name, 0, size) ||
	    proc_text_numbers(line, n, FIELDS) < NEEDED)
		return false;
	*disk = (struct disk_counters){
		.reads = n[READS],
		.read_sectors = n[READ_SECTORS],
		.writes = n[WRITES],
		.write_sectors = n[WRITE_SECTORS],
		.discards = n[DISCARDS],
		.flushes = n[FLUSHES],
		.read_ms = (uint32_t)n[READ_MS],
		.write_ms = (uint32_t)n[WRITE_MS],
		.discard_ms = (uint32_t)n[DISCARD_MS],
		.busy_ms = (uint32_t)n[BUSY_MS],
		.waited_ms = (uint32_t)n[WAITED_MS],
	};
	memcpy(disk->name, name, size);
	return true;
}

size_t disk_parse(const char *text, size_t size, struct disk_counters *disks, size_t most)
{
	struct proc_text rest = { text, text + size }, line;
	size_t count = 0;

	while (count < most && proc_text_line(&rest, &line))
		count += parse_line(&line, &disks[count]);
	return count;
}

bool disk_used(const struct disk_counters *disk)
{
	return disk->reads || disk->writes || disk->discards || disk->flushes;
}

/* Whether it is another device under the same name: counts never go backwards, and do not wrap. */
static bool disk_replaced(const struct disk_counters *before, const struct disk_counters *after)
{
	return after->reads < before->reads || after->read_sectors < before->read_sectors ||
	       after->writes < before->writes || after->write_sectors < before->write_sectors ||
	       after->discards < before->discards || after->flushes < before->flushes;
}

struct disk_usage disk_compare(const struct disk_counters *before,
			       const struct disk_counters *after, uint64_t ns)
{
	static const struct disk_counters none; /* a device that has come counts from 0 */
	struct disk_usage usage = { .await = NAN };
	double hundredths = (double)(ns ? ns : 1) / 1e7;
	uint64_t requests;

	if (!before || disk_replaced(before, after))
		before = &none;
	usage.reads = after->reads - before->reads;
	usage.writes = after->writes - before->writes;
	usage.read_bytes = (after->read_sectors - before->read_sectors) * 512;
	usage.write_bytes = (after->write_sectors - before->write_sectors) * 512;
	/* Differences of times are taken in 32 bits, which makes them right when one has wrapped. */
	usage.util = (double)(after->busy_ms - before->busy_ms) / hundredths * 100 / 10;
	usage.queue = (double)(after->waited_ms - before->waited_ms) / hundredths * 100 / 1000;
	requests = usage.reads + usage.writes + (after->discards - before->discards);
	if (requests)
		usage.await = (double)(uint32_t)(after->read_ms - before->read_ms +
						 after->write_ms - before->write_ms +
						 after->discard_ms - before->discard_ms) /
			      (double)requests;
	return usage;
}
