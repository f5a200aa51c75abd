/* The inside of libstrata_gpu.so, which processes of the job load: one file serves as CUDA's injection library, as NVTX's, and as a
 * preloaded one that notices when the job itself turns to CUPTI. A process that uses neither pays for its mapping only.
 *
 *     library.c     the process's state, and records on their way to the recorder
 *     cupti.c       finding CUPTI, and the right one
 *     activity.c    records of the device, as CUPTI hands them over
 *     launches.c    which thread launched what, and when
 *     giveway.c     the job's own profiler comes first
 *     nvtx.c        ranges and marks; nvtx_text.c their names
 *
 * Nothing here is printed, and no failure of it is the job's.
 */
#ifndef STRATA_GPU_LIBRARY_H
#define STRATA_GPU_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "gpu/cupti.h"
#include "gpu/records.h"

#define GPU_EXPORT __attribute__((visibility("default")))

/* ---- library.c ---- */

/* Whether there is a recorder to write to. Opens the way to it when first called. */
bool library_ready(void);
uint64_t library_now(void); /* CLOCK_BOOTTIME */
uint32_t library_tid(void);
uint32_t library_pid(void);

/* Writes a record; the rest of its last slot is zeros. */
void library_write(struct inject_head *head, enum inject_kind kind, unsigned number, size_t size);
void library_note(enum gpu_note note, uint64_t count, const char *text);

/* The hash of a text; the text itself is told when it is new to the process. */
uint64_t library_text(const char *text, bool demangle);

/* ---- launches.c ---- */

/* Begins to note launches. */
void launches_start(const struct cupti *cupti);
void launches_stop(const struct cupti *cupti);

/* Who called with this number, and when; false: not known. */
bool launches_find(uint32_t correlation, uint32_t *tid, uint64_t *ts);

/* ---- activity.c ---- */

/* Has CUPTI record; NULL, or why it does not. */
const char *activity_start(const struct cupti *cupti, char *text, size_t size);

/* Has it hand over what it has, and stop. */
void activity_stop(void);
void activity_flush(void);

/* ---- giveway.c ---- */

/* Whether the job itself has turned to CUPTI. */
bool giveway_held(void);

/* Calls that strata makes itself are nobody else's. */
void giveway_begin_own(void);
void giveway_end_own(void);

/* CUPTI records for strata from here on; it is to be stopped when somebody else wants it. */
void giveway_watch(const struct cupti *cupti);

/* ---- nvtx_text.c ---- */

#define NVTX_MOST_NAME 240 /* bytes, with the terminator; what is longer is cut */

void nvtx_copy(char *out, const char *text);
void nvtx_copy_wide(char *out, const wchar_t *text); /* as UTF-8, whatever the locale */

#endif
