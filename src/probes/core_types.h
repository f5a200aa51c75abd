/* The kernel's types that the programs' relocations ask for (CO-RE), as a small BTF of their own.
 *
 * libbpf looks for each type by its name among all of the kernel's, some 130,000, and does so again for every object: most of
 * the time that it spends. Here all objects are served by one walk, and search among a few hundred.
 */
#ifndef STRATA_PROBES_CORE_TYPES_H
#define STRATA_PROBES_CORE_TYPES_H

#include <stddef.h>

#include "base/error.h"

struct bpf_object;
struct btf;

/* Writes to a file those types of the kernel's that objects, opened and not loaded, declare too, by name: structures,
 * unions and enumerations. */
int core_types_write(int fd, const struct btf *kernel, struct bpf_object *const *objects,
		     size_t count, struct error *e);

#endif
