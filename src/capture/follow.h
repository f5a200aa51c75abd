/* The job's own log, followed while recording: its :::MLLOG lines become rows of table mark, with source
 * mllog, the key as name and the JSON object as value, at the time that the line itself tells.
 *
 * The file may appear later, grow, be cut or be replaced. Lines of a time before the recording are left
 * out. The session's thread calls these.
 */
#ifndef STRATA_CAPTURE_FOLLOW_H
#define STRATA_CAPTURE_FOLLOW_H

#include <stdint.h>

#include "base/error.h"
#include "store/sink.h"

struct follow;

/* -EINVAL: what is there is no file that could be followed, such as a pipe, which would have an end only when it is closed,
 * or a device, which has none. A file that is not there yet is fine. */
int follow_check(const char *path, struct error *e);

/* NULL when out of memory. path must outlive it. */
struct follow *follow_open(const char *path);
void follow_close(struct follow *follow);

/* Takes the lines that came since the last time; start is when the recording began, offset that of the wall clock, whose
 * time the lines tell, from boot time. */
void follow_take(struct follow *follow, uint64_t start, uint64_t offset, struct sink *sink);

#endif
