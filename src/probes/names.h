/* Names that are sent once and stand for numbers in other records. */
#ifndef STRATA_PROBES_NAMES_H
#define STRATA_PROBES_NAMES_H

#include "bpf/names.h"
#include "probes/probe.h"

/* Joins NUL-ended names, leaf first, into an absolute path; no name at all is "/". */
int names_join(struct buf *out, const char *names, size_t size);

/* The path of a file: absolute, or, for what is on no mounted tree, as /proc/PID/fd shows it. */
int names_file_path(struct buf *out, const struct file_record *file);

/* The path of a cgroup that a record so far has named; NULL: none has. */
const char *names_cgroup(const struct row_maker *maker, uint64_t id);

/* Frees the names that are kept. */
void names_forget(struct row_maker *maker);

#endif
