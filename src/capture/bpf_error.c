#include "capture/bpf_error.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

static __thread char words[512];

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !*words)
		vsnprintf(words, sizeof(words), format, args);
	return 0;
}

void bpf_error_listen(void)
{
	*words = 0;
	libbpf_set_print(keep_words);
}

int bpf_error(struct error *e, int err, const char *what)
{
	size_t length = strcspn(words, "\n");

	return error_set(e, err, "%s: %s%s%.*s%s", what, strerror(-err), length ? " (" : "",
			 (int)length, words, length ? ")" : "");
}
