/* Programs of the job that did not load the library which they were told to: every execve, less those that a library tells of. The threads
 * that empty rings note both.
 */
#ifndef STRATA_PROBES_UNLOADED_H
#define STRATA_PROBES_UNLOADED_H

#include <stddef.h>
#include <stdint.h>

struct unloaded;

struct unloaded *unloaded_open(void); /* NULL: out of memory */
void unloaded_close(struct unloaded *unloaded);

/* A process of the job has become a program; comm: COMM_BYTES. unloaded: NULL when nobody asks. */
void unloaded_note_exec(struct unloaded *unloaded, uint32_t pid, uint64_t ts, const char *comm);

/* The library is in the process. */
void unloaded_note_load(struct unloaded *unloaded, uint32_t pid, uint64_t ts);

/* How many have not loaded it, and the names of some: "busybox, sudo (2 times) and 3 more". */
size_t unloaded_name_some(struct unloaded *unloaded, char *out, size_t size);

#endif
