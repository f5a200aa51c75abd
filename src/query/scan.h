/* The table functions: every table of the traces, read where it lies when a query asks for it.
 *
 *     bind:  the columns
 *     init:  the parts of the table (chunks), less those that the filter leaves out
 *     next:  a thread takes the next part, decodes the columns asked for, and gives them out by vectors
 *
 * Many threads scan one table at the same time; each part belongs to one of them.
 */
#ifndef STRATA_QUERY_SCAN_H
#define STRATA_QUERY_SCAN_H

#include <pthread.h>
#include <stdatomic.h>

#include "query/filter.h"

/* What one statement's scans tell: how far they are, and what could not be read. */
struct scan_progress {
	_Atomic uint64_t rows, done;   /* to be read, and read or left out */
	_Atomic uint64_t total, given; /* all of the tables, and those that DuckDB got */
	pthread_mutex_t lock;
	struct error damage; /* the first piece that could not be decoded, empty when none */
};

/* A table as DuckDB's callbacks know it; lives as long as the database. */
struct scan_table {
	unsigned table;
	const struct runs *runs;
	struct scan_progress *progress;
	struct query_column columns[QUERY_MAX_COLUMNS];
	unsigned column_count;
	_Atomic unsigned binds; /* how often the statement names the table */
	struct filter filter;	/* of the statement that runs; changed only between statements */
};

void scan_table_init(struct scan_table *scan, unsigned table, const struct runs *runs,
		     struct scan_progress *progress);
/* Table functions and their columns have names that no query makes up by chance, strata_io and strata_io_tid, so that
 * plan.c can rely on them; the views over them give the names that people use. */
#define SCAN_PREFIX "strata_"

int scan_register(struct scan_table *scan, duckdb_connection connection, struct error *e);

#endif
