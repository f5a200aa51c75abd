/* Iterators: BPF programs that the kernel runs once for each task, mapping or entry of a map. */
#ifndef STRATA_PROBES_ITERATE_H
#define STRATA_PROBES_ITERATE_H

#include <linux/bpf.h>

#include "base/buf.h"
#include "base/error.h"

struct bpf_program;

/* Runs a program once over what `over` says, or, NULL, over all tasks. What it writes goes to `out`; NULL for one
 * that does not. */
int iterate(struct bpf_program *program, union bpf_iter_link_info *over, struct buf *out,
	    struct error *e);

#endif
