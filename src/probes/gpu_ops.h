/* What libstrata_gpu.so tells from inside of the job: rows of gpu_op and of mark. */
#ifndef STRATA_PROBES_GPU_OPS_H
#define STRATA_PROBES_GPU_OPS_H

#include "probes/injected.h"

extern const struct injected_reader gpu_ops_reader;

#endif
