/* Cuts a text of SQL into statements, at semicolons outside strings, names and comments. */
#ifndef STRATA_QUERY_SPLIT_H
#define STRATA_QUERY_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct split {
	const char *start; /* of the statement, without blanks and comments before it */
	size_t size;	   /* without the semicolon and blanks before that */
	const char *next;  /* where to look for the next one */
	bool ended;	   /* by a semicolon; false at the end of the text */
};

/* The first statement; size 0 when there is none left. */
struct split split_statement(const char *text);

/* Past the string, quoted name or comment at `at`, or `at` itself when there is none; the end of the text
 * when it is not closed. */
const char *split_skip(const char *at);

#endif
