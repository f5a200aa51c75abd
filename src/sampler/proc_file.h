/* A file of /proc, kept open and read again and again into one buffer of fixed size.
 *
 *     struct proc_file file;
 *     proc_file_open(&file, "/proc/stat", 65536, e);
 *     if (!proc_file_read(&file))
 *             parse(file.text, file.size), the reading was taken at file.ts
 *     proc_file_close(&file);
 */
#ifndef STRATA_SAMPLER_PROC_FILE_H
#define STRATA_SAMPLER_PROC_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct proc_file {
	int fd;
	char *text;
	size_t capacity;
	size_t size; /* of the last reading; what does not fit is left out */
	uint64_t ts; /* of the last reading, on the clock since boot */
};

/* On failure there is nothing to close. */
int proc_file_open(struct proc_file *file, const char *path, size_t capacity, struct error *e);
void proc_file_close(struct proc_file *file);

/* 0 or -errno. */
int proc_file_read(struct proc_file *file);

#endif
