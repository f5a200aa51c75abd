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

static void error_write(struct error *e, const char *format, va_list args, const char *cause)
{
	size_t length;

	vsnprintf(e->text, sizeof(e->text), format, args);
	length = strlen(e->text);
	snprintf(e->text + length, sizeof(e->text) - length, ": %s", cause);
}

int error_errno(struct error *e, const char *format, ...)
{
	int err = errno;
	va_list args;

	va_start(args, format);
	error_write(e, format, args, strerror(err));
	va_end(args);
	return -err;
}

int error_add(struct error *e, int err, const char *format, ...)
{
	struct error inner = *e;
	va_list args;

	va_start(args, format);
	error_write(e, format, args, inner.text);
	va_end(args);
	return err;
}
