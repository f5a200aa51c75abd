/* Probes on functions of the kernel: fentry and fexit for a few, which are the cheapest; kprobes for many, by one link where the
 * kernel can. Some kernels forbid all of them.
 */
#ifndef STRATA_PROBES_CALL_KERNEL_H
#define STRATA_PROBES_CALL_KERNEL_H

#include "base/error.h"
#include "probes/probe.h"
#include "symbols/calls.h"

struct call_kernel;

/* Chooses programs, before load. */
void call_kernel_configure(struct probe_run *run);

/* Attaches to the functions of the kernel among those of the recording; 0 when there are none. */
int call_kernel_attach(struct call_kernel **kernel, struct probe_run *run, struct error *e);
void call_kernel_detach(struct call_kernel *kernel);

/* What a probe of a function is told: its number, and what the programs need to know of it. */
uint64_t call_cookie(uint32_t number, const struct call_function *function);

#endif
