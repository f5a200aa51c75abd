/* What a spool's .batch file says, to and from a line of JSON. */
#ifndef STRATA_CLUSTER_PUSH_SPOOL_RECORD_H
#define STRATA_CLUSTER_PUSH_SPOOL_RECORD_H

#include "cluster/push/spool.h"

/* No record is longer: three texts, each byte of which may become six, and numbers. */
#define SPOOL_RECORD (3 * 6 * SPOOL_TEXT + 512)

/* Returns the length, or -ENAMETOOLONG. */
int spool_format(const struct batch *batch, char out[SPOOL_RECORD]);

#endif
