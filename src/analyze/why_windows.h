/* The ledger by step: the focus thread's time by cause in windows that follow each other. A window is one step or, where there are more
 * than can be shown, several; what lies between steps has none. The causes of a window add up to its length.
 */
#ifndef STRATA_ANALYZE_WHY_WINDOWS_H
#define STRATA_ANALYZE_WHY_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/steps.h"
#include "analyze/why_acts.h"
#include "base/buf.h"

#define WHY_MOST_WINDOWS 300

struct why_window {
	uint64_t start, end;
	uint64_t steps; /* that it holds */
	uint64_t causes[WHY_CAUSE_COUNT];
};

struct windows {
	struct buf list; /* struct why_window, in order of time, none overlapping */
};

int windows_open(struct windows *windows, const struct steps *steps, uint64_t start, uint64_t end);
void windows_add(struct windows *windows, enum why_cause cause, uint64_t start, uint64_t end);
void windows_close(struct windows *windows);

static inline size_t windows_count(const struct windows *windows)
{
	return windows->list.size / sizeof(struct why_window);
}

static inline struct why_window *windows_get(const struct windows *windows, size_t i)
{
	return (struct why_window *)windows->list.data + i;
}

#endif
