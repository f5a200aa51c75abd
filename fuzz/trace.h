/* What the targets share: bytes as a file that has a path. */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct fuzz_file {
	int fd;
	char path[64];
};

/* Whether there is a file; the caller closes fd. */
static inline int fuzz_file_make(struct fuzz_file *file, const uint8_t *data, size_t size)
{
	file->fd = memfd_create("trace", MFD_CLOEXEC);
	if (file->fd < 0)
		return 0;
	if (write(file->fd, data, size) != (ssize_t)size) {
		close(file->fd);
		return 0;
	}
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	return 1;
}

/* A byte of the header that means nothing chooses among readers, so that each input costs little; 0, as in whatever strata
 * wrote, is all of them. */
#define FUZZ_CHOICE_AT 40

static inline int fuzz_chosen(const uint8_t *data, size_t size, unsigned reader, unsigned readers)
{
	uint8_t choice = size > FUZZ_CHOICE_AT ? data[FUZZ_CHOICE_AT] : 0;

	return !choice || choice % readers == reader;
}

#endif
