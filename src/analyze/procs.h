/* The processes of a recording, each life of a process id on its own: when it began and ended, who forked
 * it, what it ran, and whether it belongs to the job. Made from table process by one pass; constant
 * afterwards. Texts belong to it.
 *
 * The job is the launched command, or the processes attached to, or those of the container, and all that they forked; a
 * recording of the whole machine has no job: there every process counts as the job's.
 */
#ifndef STRATA_ANALYZE_PROCS_H
#define STRATA_ANALYZE_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/dims.h"
#include "store/reader.h"

#define PROC_NONE UINT32_MAX

struct proc {
	int64_t pid, ppid; /* ppid: CELL_NULL when not known */
	uint64_t start;	   /* fork or exec; the recording's start when it was there before */
	uint64_t end;	   /* its last thread's exit; UINT64_MAX when it outlived the recording */
	int64_t exit_code; /* CELL_NULL: none seen */
	uint32_t parent;   /* place in the list, or PROC_NONE */
	uint32_t threads;  /* beside its leader, forked while recorded */
	bool born;	   /* its start was seen */
	bool execed;	   /* it ran another program after its fork */
	bool root;	   /* the command, or attached to */
	bool in_job;
	bool kernel;		    /* a thread of the kernel */
	struct dims_text comm;	    /* the leader's last name */
	struct dims_text args;	    /* of its last exec; null without one */
	struct dims_text container; /* that it was in last; null: none */
	struct dims_text
		command; /* the same as args, or else its parent's when that forked it, as ps shows it */
	int64_t uid; /* CELL_NULL: not known */
};

struct procs;

int procs_open(struct procs **procs, struct reader *reader, const struct dims *dims,
	       struct error *e);
void procs_close(struct procs *procs);

uint32_t procs_count(const struct procs *procs);
const struct proc *procs_get(const struct procs *procs, uint32_t i);
bool procs_has_job(const struct procs *procs); /* false: the whole machine was recorded */

/* The process that had the id at that time, or else the next that got it, or else the last; PROC_NONE
 * for an id never seen. */
uint32_t procs_find(const struct procs *procs, int64_t pid, uint64_t ts);

#endif
