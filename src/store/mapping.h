/* A file mapped to be read. Another program may cut the file meanwhile: what is read of it then is zeros, and mapping_cut()
 * says so, where the kernel would end the process with SIGBUS. Reading the file by pread into buffers would have no such
 * trouble, but copy every byte; this costs nothing while nothing is cut.
 *
 * The handler of SIGBUS is installed with the first mapping and serves all threads. A SIGBUS elsewhere ends the process as
 * before.
 */
#ifndef STRATA_STORE_MAPPING_H
#define STRATA_STORE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped;

struct mapping {
	const uint8_t *bytes;
	size_t size;
	struct mapped *known; /* to the handler */
};

int mapping_open(struct mapping *mapping, int fd, size_t size); /* 0 or -errno */
void mapping_close(struct mapping *mapping);
bool mapping_cut(const struct mapping *mapping);

#endif
