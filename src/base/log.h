/* strata's own words, on stderr, and how many of them: the one piece of global state beside the stop
 * flag. Only commands call these; libraries return errors instead.
 */
#ifndef STRATA_BASE_LOG_H
#define STRATA_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

extern enum log_level log_level;

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));	 /* always */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2))); /* always */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));	 /* unless -q */
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2))); /* with -v */

/* Whether output to this descriptor may be coloured: --color WHEN, NO_COLOR, a terminal. */
bool log_color(int fd);
int log_set_color(const char *when); /* auto, always, never; -EINVAL otherwise */

#endif
