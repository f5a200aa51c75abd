#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *e, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return err;
}

int error_errno(struct error *e, const char *format, ...)
{
	int err = errno;
	size_t length;
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	length = strlen(e->text);
	snprintf(e->text + length, sizeof(e->text) - length, ": %s", strerror(err));
	return -err;
}

int error_add(struct error *e, int err, const char *format, ...)
{
	struct error inner = *e;
	size_t length;
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	length = strlen(e->text);
	snprintf(e->text + length, sizeof(e->text) - length, ": %s", inner.text);
	return err;
}
