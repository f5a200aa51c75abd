/* What the workloads share: stop on what must not fail, and the truth - lines of what a workload knows
 * about its own calls, which a test compares with the recorded rows (tests/run/truth.py).
 *
 * A truth line is `op key=value ...`: the columns that are certain, `-` for null. Lines stand in the
 * order of the calls. They collect in memory between truth_begin() and truth_end(), whose access()
 * calls mark the range in the recording, so that telling the truth makes no call of its own.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#define CHECK(condition)                                                                   \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
				strerror(errno));                                          \
			_exit(99);                                                         \
		}                                                                          \
	} while (0)

/* A raw system call: what the kernel returned, errors negative. */
#define RAW(name, ...) raw_result(syscall(SYS_##name, ##__VA_ARGS__))

static inline long raw_result(long result)
{
	return result == -1 ? -errno : result;
}

static char truth_text[1 << 20];
static size_t truth_length;

__attribute__((format(printf, 1, 2))) static inline void truth(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	truth_length += (size_t)vsnprintf(truth_text + truth_length,
					  sizeof(truth_text) - truth_length, format, arguments);
	va_end(arguments);
	CHECK(truth_length + 1 < sizeof(truth_text));
	truth_text[truth_length++] = '\n';
}

static inline void truth_begin(void)
{
	truth("begin");
	syscall(SYS_access, "TRUTH BEGINS", 0);
}

static inline void truth_end(void)
{
	syscall(SYS_access, "TRUTH ENDS", 0);
	for (size_t done = 0; done < truth_length;) {
		ssize_t written = write(1, truth_text + done, truth_length - done);

		CHECK(written > 0);
		done += (size_t)written;
	}
}

#endif
