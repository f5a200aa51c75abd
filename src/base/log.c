#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

enum log_level log_level = LOG_NORMAL;

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;

/* One write a message, so that lines of strata and of the job do not mix. Names of files and texts of others stand in
 * messages: nothing in them steers the terminal, and a log file may be shown on one later. */
static void log_write(const char *prefix, const char *color, const char *format, va_list args)
{
	bool colored = color && log_color(STDERR_FILENO);
	char message[4096], line[8192];
	struct escape_text text = { message, 0 };
	char *at;

	vsnprintf(message, sizeof(message), format, args);
	text.size = strlen(message);
	at = line + snprintf(line, sizeof(line), "%s%s%s", colored ? color : "", prefix,
			     colored ? "\033[0m" : "");
	at = escape_some(ESCAPE_MESSAGE, &text, at, (size_t)(line + sizeof(line) - 1 - at));
	*at++ = '\n';
	fwrite(line, 1, (size_t)(at - line), stderr);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("strata: ", "\033[1;31m", format, args);
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("strata: warning: ", "\033[1;33m", format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (log_level < LOG_NORMAL)
		return;
	va_start(args, format);
	log_write("strata: ", NULL, format, args);
	va_end(args);
}

void log_verbose(const char *format, ...)
{
	va_list args;

	if (log_level < LOG_VERBOSE)
		return;
	va_start(args, format);
	log_write("strata: ", NULL, format, args);
	va_end(args);
}

bool log_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color_mode != COLOR_AUTO)
		return color_mode == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return term && strcmp(term, "dumb") && isatty(fd);
}

int log_set_color(const char *when)
{
	if (!strcmp(when, "auto"))
		color_mode = COLOR_AUTO;
	else if (!strcmp(when, "always"))
		color_mode = COLOR_ALWAYS;
	else if (!strcmp(when, "never"))
		color_mode = COLOR_NEVER;
	else
		return -EINVAL;
	return 0;
}
