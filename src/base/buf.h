/* A growable run of bytes with a maximum.
 *
 * Appends return 0, or -ENOMEM when memory or the maximum is exhausted, and leave the contents as
 * they were; they must be checked. A zeroed struct is an empty buffer with the default maximum.
 * The owner frees it with buf_free().
 */
#ifndef STRATA_BASE_BUF_H
#define STRATA_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#define BUF_DEFAULT_LIMIT ((size_t)1 << 30)

struct buf {
	uint8_t *data;
	size_t size;
	size_t capacity;
	size_t limit; /* 0: BUF_DEFAULT_LIMIT */
};

/* Makes room for `more` bytes past the end and returns where they go, or NULL. Does not move the
 * end: the caller writes there and adds to size what it wrote. */
void *buf_reserve(struct buf *buf, size_t more) __attribute__((warn_unused_result));
int buf_append(struct buf *buf, const void *data, size_t size) __attribute__((warn_unused_result));
int buf_append_zeros(struct buf *buf, size_t size) __attribute__((warn_unused_result));

/* Element i of an array of elements of `size` bytes, after those up to it that are new, all zeros; or NULL. Holds until
 * the buffer grows. */
void *buf_element(struct buf *buf, size_t i, size_t size) __attribute__((warn_unused_result));
int buf_printf(struct buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));
void buf_free(struct buf *buf);

#endif
