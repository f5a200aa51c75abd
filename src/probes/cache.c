/* What calls and faults missed in the page cache: bpf/cache.bpf.c, which adds to the state of the thread that runs. */
#include "probes/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/cache.skel.h"

PROBE_OPEN(cache)

static int cache_supported(const struct features *features, struct error *e)
{
	if (features_has_struct(features, "folio"))
		return 0;
	return error_set(e, -ENOTSUP, "this kernel's page cache has no folios");
}

static int cache_start(struct probe_run *run, struct error *e)
{
	(void)e;
	run->setup->shared->count_missed = 1;
	return 0;
}

const struct probe cache_probe = {
	.name = "cache",
	.serves = LAYER_BIT(LAYER_io) | LAYER_BIT(LAYER_fault),
	.part = "io.missed",
	.supported = cache_supported,
	.open = cache_open,
	.start = cache_start,
};
