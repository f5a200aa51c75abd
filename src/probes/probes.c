#include "probes/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

const struct probe *const probes[PROBE_COUNT] = {
#define PROBE(name) [PROBE_##name] = &name##_probe,
#include "schema/layers.def"
};

int probe_keep_link(struct probe_run *run, struct bpf_link *link)
{
	struct bpf_link **more;

	if (!link)
		return -errno;
	more = realloc(run->links, (run->link_count + 1) * sizeof(*more));
	if (!more) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	run->links = more;
	run->links[run->link_count++] = link;
	return 0;
}
