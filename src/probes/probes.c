#include "probes/probe.h"

const struct probe *const probes[] = { &process_probe, &file_probe,  &sched_probe, &block_probe,
				       &fault_probe,   &async_probe, &job_probe };
const size_t probe_count = sizeof(probes) / sizeof(*probes);
