/* The names that records carry from the leaf up to the root, put together as paths. */
#ifndef STRATA_PROBES_NAMES_H
#define STRATA_PROBES_NAMES_H

#include "base/buf.h"
#include "bpf/records.h"

/* Joins NUL-ended names, leaf first, into an absolute path; no name at all is "/". */
int names_join(struct buf *out, const char *names, size_t size);

/* The path of a file: absolute, or, for what is on no mounted tree, as /proc/PID/fd shows it. */
int names_file_path(struct buf *out, const struct file_record *file);

#endif
