/* Text of a trace on its way out: names, paths and arguments may hold any byte, and each reader has bytes of its own that it
 * would take for something else. A style says which, and what stands for them; all else is copied.
 *
 * What could steer a terminal are the control characters (U+0000 to U+001F, U+007F to U+009F) and those that turn the
 * direction of the text or end its line (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069), by which a name can
 * show as another. In a string of JSON they are \uNNNN, which is the same string.
 *
 * The longest run of bytes that need nothing is copied by a look into a table for each: that is nearly all there
 * ever is, and exports spend much of their time here.
 */
#ifndef STRATA_BASE_ESCAPE_H
#define STRATA_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum escape_style {
	/* As `strata dump` shows text: \xNN for a byte that is not UTF-8, NUL and the backslash, so that nothing is
	 * ambiguous. */
	ESCAPE_SHOWN,
	ESCAPE_CSV,		   /* so in a cell of CSV, a quote doubled */
	ESCAPE_CSV_SHOWN,	   /* text that is as shown already, in a cell of CSV */
	ESCAPE_CSV_TERMINAL,	   /* the two before on a terminal: */
	ESCAPE_CSV_SHOWN_TERMINAL, /* what could steer it too */
	ESCAPE_FIELD, /* as shown, and blanks and what could steer a terminal too: one field of a line */
	ESCAPE_JSON,	   /* a string of JSON; a byte that is not UTF-8 is the text \xNN in it */
	ESCAPE_JSON_SHOWN, /* a string of JSON that holds the text as shown */
	ESCAPE_JSON_WHOLE, /* JSON that somebody else wrote */
	ESCAPE_TERMINAL,   /* \xNN for what could steer a terminal, and for what is not UTF-8 */
	ESCAPE_MESSAGE,	   /* the same for text of many lines */
	ESCAPE_XML,	   /* text or an attribute of XML */
	ESCAPE_SCRIPT,	   /* JSON inside a script element: no < ends it */
	ESCAPE_MARKDOWN,   /* a cell of a table */
	ESCAPE_SHELL,	   /* between the single quotes of a POSIX shell */
	ESCAPE_SQL,	   /* between the single quotes of SQL */
	ESCAPE_STYLE_COUNT,
};

/* The most bytes that one byte becomes. */
#define ESCAPE_MOST 6

/* Whether the text stays as it is. */
bool escape_is_plain(enum escape_style style, const char *bytes, size_t size);

/* Whether the text, in a cell of CSV or as a word of a shell, must stand in quotes; the caller writes them. */
bool escape_needs_quotes(enum escape_style style, const char *bytes, size_t size);

/* Copies the bytes before the first that is not simply kept, and returns how many: of most texts, all. */
size_t escape_copy_kept(enum escape_style style, const char *bytes, size_t size, char *out);

/* What is left of a text to be escaped. */
struct escape_text {
	const char *bytes;
	size_t size;
};

/* Escapes as much of the text as fits into `room` bytes, ESCAPE_MOST at least, takes it off the text and returns where
 * the output ends. No character and no escape is cut in two. */
char *escape_some(enum escape_style style, struct escape_text *text, char *out, size_t room);

int escape_append(struct buf *out, enum escape_style style, const char *bytes,
		  size_t size); /* 0 or -ENOMEM */
void escape_print(FILE *out, enum escape_style style, const char *bytes, size_t size);

#endif
