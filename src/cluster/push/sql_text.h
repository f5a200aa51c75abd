/* A statement of SQL as it grows. A failure to grow is kept and told when the statement runs, so that callers need not ask
 * after each word. A zeroed struct is an empty statement; the owner frees it with sql_free().
 */
#ifndef STRATA_CLUSTER_PUSH_SQL_TEXT_H
#define STRATA_CLUSTER_PUSH_SQL_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

struct sql_text {
	struct buf buf; /* ends with a terminator that size does not count */
	bool failed;
};

void sql_add(struct sql_text *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text between single quotes, a name between backquotes, as ClickHouse reads them. */
void sql_string(struct sql_text *sql, const char *text);
void sql_name(struct sql_text *sql, const char *name);

/* The statement so far; NULL: there was no memory for it. */
const char *sql_get(const struct sql_text *sql);
void sql_clear(struct sql_text *sql);
void sql_free(struct sql_text *sql);

#endif
