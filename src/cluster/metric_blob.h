/* A histogram of one interval as bytes: version, sum, most, bytes, then for each slot up to the last that is used its count; all
 * as LEB128. Most slots are small or empty, so that a histogram is some twenty bytes.
 */
#ifndef STRATA_CLUSTER_METRIC_BLOB_H
#define STRATA_CLUSTER_METRIC_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cluster/metric_store.h"

/* Appends the bytes: 0 or -ENOMEM. */
int metric_blob_write(struct buf *out, const struct metric_sample *sample);

/* Fills the sample's sums and LIVE_SLOTS slots. False: these are no such bytes. */
bool metric_blob_read(const uint8_t *bytes, size_t size, uint64_t *slots,
		      struct metric_sample *sample);

#endif
