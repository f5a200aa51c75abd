#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *buf_reserve(struct buf *buf, size_t more)
{
	size_t limit = buf->limit ? buf->limit : BUF_DEFAULT_LIMIT;
	size_t capacity = buf->capacity ? buf->capacity : 256;
	uint8_t *data;

	if (more > limit || buf->size > limit - more)
		return NULL;
	if (buf->data && buf->size + more <= buf->capacity)
		return buf->data + buf->size;
	while (capacity < buf->size + more)
		capacity *= 2;
	data = realloc(buf->data, capacity);
	if (!data)
		return NULL;
	buf->data = data;
	buf->capacity = capacity;
	return buf->data + buf->size;
}

int buf_append(struct buf *buf, const void *data, size_t size)
{
	void *room = buf_reserve(buf, size);

	if (!room)
		return -ENOMEM;
	if (size)
		memcpy(room, data, size);
	buf->size += size;
	return 0;
}

int buf_append_zeros(struct buf *buf, size_t size)
{
	void *room = buf_reserve(buf, size);

	if (!room)
		return -ENOMEM;
	memset(room, 0, size);
	buf->size += size;
	return 0;
}

void *buf_element(struct buf *buf, size_t i, size_t size)
{
	size_t end = (i + 1) * size;

	if (end > buf->size && buf_append_zeros(buf, end - buf->size))
		return NULL;
	return buf->data + i * size;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	void *room;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return -EINVAL;
	room = buf_reserve(buf, (size_t)length + 1);
	if (!room)
		return -ENOMEM;
	va_start(args, format);
	vsnprintf(room, (size_t)length + 1, format, args);
	va_end(args);
	buf->size += (size_t)length;
	return 0;
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ .limit = buf->limit };
}
