/* Whose a row is: ids as strata's own /proc shows them. Inside a container it does not show everybody; then the machine's own
 * number of the process goes into a column of its own, as it may be somebody else's number here.
 */
#ifndef STRATA_PROBES_IDS_H
#define STRATA_PROBES_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/records.h"
#include "store/builder.h"

/* Whether strata's own /proc shows a process or thread under this number. */
static inline bool id_shown(uint32_t id)
{
	return id && !(id & RECORD_HOST_ID);
}

/* Sets the columns pid and tid of a table's row, where strata's own /proc has them. */
#define SET_IDS(row, table, pid_, tid_)                                 \
	do {                                                            \
		if (id_shown(pid_))                                     \
			builder_set(row, column_##table##_pid, (pid_)); \
		if (id_shown(tid_))                                     \
			builder_set(row, column_##table##_tid, (tid_)); \
	} while (0)

/* ... and host_pid, where it has not. */
#define SET_HOST_IDS(row, table, pid_, tid_)                                                   \
	do {                                                                                   \
		SET_IDS(row, table, pid_, tid_);                                               \
		if ((pid_)&RECORD_HOST_ID)                                                     \
			builder_set(row, column_##table##_host_pid, (pid_) & ~RECORD_HOST_ID); \
	} while (0)

#endif
