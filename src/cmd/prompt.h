/* A prompt on the terminal: lines with history and completion. Ctrl-C at the prompt drops what has been typed. */
#ifndef STRATA_CMD_PROMPT_H
#define STRATA_CMD_PROMPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

struct prompt;

/* Who asks. */
struct prompt_user {
	void *data;
	const char *history;		 /* the file's name in the user's folder of such files */
	const char *(*text)(void *data); /* what stands before the line */
	/* A line, with its end. False: it was the last. */
	bool (*take)(void *data, struct prompt *prompt, const char *line);
	void (*drop)(void *data); /* what has been typed */
	/* What comes behind the `typed` bytes of the line: appended to `insert`, or listed on `out`. -errno: nothing.
	 * NULL: there is no completion. */
	int (*complete)(const char *line, size_t typed, FILE *out, struct buf *insert,
			bool *listed);
};

/* Reads lines until the end. */
int prompt_run(const struct prompt_user *user, struct error *e);

/* Puts a text among those that come back; for `take`. */
void prompt_remember(struct prompt *prompt, const char *text);

#endif
