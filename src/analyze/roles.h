/* The part that each process plays in the job, told by the tree of processes, by what they run and by the
 * use of GPUs:
 *
 *     main       trains: the command, or where the command is a launcher (a shell, torchrun), what it
 *                runs for most of its own time; several when a launcher starts equal ones
 *     worker     loads data: forked by a main process without running another program, or started
 *                by Python's multiprocessing (spawn, forkserver)
 *     launcher   an ancestor of main inside the job
 *     helper     any other process of the job
 *     kernel, strata, other    not of the job
 */
#ifndef STRATA_ANALYZE_ROLES_H
#define STRATA_ANALYZE_ROLES_H

#include <stdint.h>

#include "analyze/procs.h"
#include "base/error.h"
#include "store/reader.h"
#include "store/times.h"

#define ROLES(ROLE)                \
	ROLE(MAIN, "main")         \
	ROLE(WORKER, "worker")     \
	ROLE(LAUNCHER, "launcher") \
	ROLE(HELPER, "helper")     \
	ROLE(KERNEL, "kernel")     \
	ROLE(OTHER, "other")

enum proc_role {
#define PROC_ROLE_ID(id, name) PROC_ROLE_##id,
	ROLES(PROC_ROLE_ID)
#undef PROC_ROLE_ID
		PROC_ROLE_COUNT
};

extern const char *const role_names[PROC_ROLE_COUNT];

struct roles {
	uint8_t *of;   /* enum proc_role by process */
	uint32_t main; /* the main process whose waits are told, or PROC_NONE */
	uint32_t counts[PROC_ROLE_COUNT];
	uint32_t workers_at_once; /* the most workers alive at one time */
	bool by_gpu;		  /* main was told by its use of a GPU */
};

int roles_load(struct roles *roles, const struct procs *procs, struct reader *reader,
	       const struct span *span, struct error *e);
void roles_free(struct roles *roles);

#endif
