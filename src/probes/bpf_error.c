#include "probes/bpf_error.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BEGINS "-- BEGIN PROG LOAD LOG --\n"
#define LOG_ENDS   "processed "

/* Of each thread: objects are loaded side by side. */
static __thread char words[256];
static __thread char reason[256];

/* The verifier's last word on a program: the line before its statistics. */
static void keep_reason(const char *log)
{
	const char *end = strstr(log, LOG_ENDS), *line = log;

	if (!end)
		end = log + strlen(log);
	while (end > log && end[-1] == '\n')
		end--;
	for (const char *at = log; at < end; at++)
		if (*at == '\n')
			line = at + 1;
	snprintf(reason, sizeof(reason), "%.*s", (int)(end - line), line);
}

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	const char *said, *log;
	char *text = NULL;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	said = strncmp(text, "libbpf: ", 8) ? text : text + 8;
	log = strstr(said, LOG_BEGINS);
	if (log)
		keep_reason(log + strlen(LOG_BEGINS));
	else if (!*words)
		snprintf(words, sizeof(words), "%.*s", (int)strcspn(said, "\n"), said);
	free(text);
	return 0;
}

void bpf_error_listen(void)
{
	*words = 0;
	*reason = 0;
	libbpf_set_print(keep_words);
}

int bpf_error(struct error *e, int err, const char *what)
{
	return error_set(e, err, "%s: %s%s%s%s%s%s", what, strerror(-err), *words ? " (" : "",
			 words, *reason ? ": " : "", reason, *words ? ")" : "");
}
