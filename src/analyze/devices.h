/* What block devices did for the machine: requests, bytes and latency by device, from table block. Devices
 * may stand on one another (a loop device on a disk), so nothing is summed across them.
 */
#ifndef STRATA_ANALYZE_DEVICES_H
#define STRATA_ANALYZE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/context.h"
#include "analyze/hist.h"
#include "analyze/scan.h"

struct device {
	const char *name; /* not terminated */
	size_t name_size;
	uint64_t read_bytes, write_bytes;
	uint64_t ahead_bytes;	 /* of those read: by readahead */
	uint64_t job_bytes;	 /* read and written: for the job */
	uint64_t file_bytes;	 /* read and written: of a known file */
	uint64_t others, errors; /* flushes and discards; failed requests */
	struct hist read, write; /* latency of finished requests: in the queue and at the driver */
	struct hist read_size, write_size;
};

struct devices {
	struct context *context;
	bool known;	     /* recorded: none means that no request was made */
	struct device *list; /* by bytes, the greatest first */
	size_t count;
	size_t moving; /* those that moved bytes: the first ones */
	struct strings names;
	struct buf memory;
};

int devices_open(struct devices *devices, struct context *context);
struct scan_sink devices_sink(struct devices *devices);
void devices_finish(struct devices *devices);
void devices_free(struct devices *devices);

#endif
