/* Errors as a chain of context.
 *
 * A function that can fail returns 0 or -errno and describes the failure in the caller's struct
 * error; each caller on the way up may put what it was doing in front. Only main prints the text:
 *     cannot open trace 'x.strata': chunk 7 at byte 81920: checksum differs
 * The struct owns no memory, so it needs no cleanup.
 */
#ifndef STRATA_BASE_ERROR_H
#define STRATA_BASE_ERROR_H

struct error {
	char text[1024];
};

/* States a failure; returns err, so that `return error_set(...)` works. */
int error_set(struct error *e, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* States a failure of a system call: the text ends with ": " and errno's message. Returns -errno. */
int error_errno(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts context in front of a failure already stated. Returns err. */
int error_add(struct error *e, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
