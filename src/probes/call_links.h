/* Probes on many places of a file: by one link where the kernel can, else by one a place. Those that the kernel refuses are found
 * and left out.
 */
#ifndef STRATA_PROBES_CALL_LINKS_H
#define STRATA_PROBES_CALL_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct bpf_link;
struct bpf_program;

/* What holds probes: descriptors of links of many, and libbpf's links of one each. */
struct call_links {
	struct buf fds;	  /* int each */
	struct buf links; /* struct bpf_link * each */
};

/* One place. */
struct call_place {
	uint64_t offset; /* in the file */
	uint64_t cookie;
	uint64_t semaphore; /* in the file: counted up while the probe is there; 0: none */
	bool refused;	    /* set when the kernel puts no probe there */
};

/* Of enum bpf_attach_type. */
#define ATTACH_UPROBE_MULTI   48
#define ATTACH_UPROBE_SESSION 57

/* By one link, of the program's attach type; `returns`: at the returns. The places that are refused are marked, and the rest
 * attached. */
int call_links_multi(struct call_links *links, const struct bpf_program *program, int type,
		     bool returns, const char *path, struct call_place *places, size_t count,
		     struct error *e);

/* By one link a place. */
int call_links_single(struct call_links *links, const struct bpf_program *program, bool returns,
		      const char *path, struct call_place *places, size_t count, struct error *e);

/* Takes all probes away: side by side, since the kernel waits for each. */
void call_links_close(struct call_links *links);

#endif
