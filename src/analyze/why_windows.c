#include "analyze/why_windows.h"

#include <errno.h>

/* Steps of two loops at once overlap: the later one begins where the earlier ends. */
int windows_open(struct windows *windows, const struct steps *steps, uint64_t start, uint64_t end)
{
	size_t together = (steps->count + WHY_MOST_WINDOWS - 1) / WHY_MOST_WINDOWS;
	struct why_window window = { 0 };
	uint64_t reached = start;

	*windows = (struct windows){ 0 };
	for (size_t i = 0; i < steps->count; i++) {
		uint64_t from = steps->list[i].start > reached ? steps->list[i].start : reached;
		uint64_t to = steps->list[i].end < end ? steps->list[i].end : end;

		if (from >= to)
			continue;
		/* A pause between passes over the data is in no window. */
		if (window.steps && (window.steps == together || from > window.end)) {
			if (buf_append(&windows->list, &window, sizeof(window)))
				return -ENOMEM;
			window.steps = 0;
		}
		if (!window.steps)
			window.start = from;
		window.end = reached = to;
		window.steps++;
	}
	return window.steps ? buf_append(&windows->list, &window, sizeof(window)) : 0;
}

void windows_add(struct windows *windows, enum why_cause cause, uint64_t start, uint64_t end)
{
	size_t low = 0, high = windows_count(windows);

	while (low < high) { /* all below low end at start or before */
		size_t middle = low + (high - low) / 2;

		if (windows_get(windows, middle)->end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < windows_count(windows); low++) {
		struct why_window *window = windows_get(windows, low);
		uint64_t from = window->start > start ? window->start : start;
		uint64_t to = window->end < end ? window->end : end;

		if (window->start >= end)
			return;
		window->causes[cause] += to - from;
	}
}

void windows_close(struct windows *windows)
{
	buf_free(&windows->list);
	*windows = (struct windows){ 0 };
}
