/* Loading BPF objects side by side: the verifier takes most of the start of a recording, and works on one program a thread.
 */
#ifndef STRATA_CAPTURE_LOADER_H
#define STRATA_CAPTURE_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct loader;
struct bpf_object_skeleton;

/* One object, and what became of it. */
struct loader_item {
	struct bpf_object_skeleton *skeleton;
	uint64_t cpu_ns; /* what it took, most of it the verifier */
	int err;	 /* -errno: the kernel refused it, and error says why */
	struct error error;
};

/* Starts to load objects that are open; the items are the caller's. */
int loader_begin(struct loader **loader, struct loader_item *items, size_t count, struct error *e);

/* Waits for all, and frees it; NULL is none. */
void loader_end(struct loader *loader);

#endif
