/* What the tests of samplers share: texts that cannot be read past their end, and files as texts. */
#ifndef STRATA_TESTS_SAMPLER_HELP_H
#define STRATA_TESTS_SAMPLER_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy in memory of its own, without a terminator: a sanitizer sees a byte too many. The caller frees
 * it. */
static inline char *exact_copy(const char *text, size_t size)
{
	char *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, text, size);
	return copy;
}

static inline char *read_file(const char *path, size_t *size)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		exit(1);
	}
	*size = fread(text, 1, sizeof(text), file);
	fclose(file);
	return exact_copy(text, *size);
}

/* Calls `parse` with the text cut at every length, and with every byte changed to a few others. */
static inline void hostile_variants(const char *text, void (*parse)(const char *text, size_t size))
{
	static const char bytes[] = { 0, ' ', '\n', '-', '9', 'c', (char)0xff };
	size_t size = strlen(text);

	for (size_t i = 0; i <= size; i++) {
		char *copy = exact_copy(text, i);

		parse(copy, i);
		free(copy);
	}
	for (size_t i = 0; i < size; i++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			char *copy = exact_copy(text, size);

			copy[i] = bytes[b];
			parse(copy, size);
			free(copy);
		}
}

#endif
