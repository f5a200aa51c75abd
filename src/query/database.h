/* Traces as one database: tables, views and functions over them, and statements that run there.
 *
 * One thread uses a database; database_interrupt() and database_progress() may be called from any.
 */
#ifndef STRATA_QUERY_DATABASE_H
#define STRATA_QUERY_DATABASE_H

#include "base/error.h"
#include "query/pieces.h"
#include "query/result.h"
#include "query/runs.h"

struct database;

struct database_options {
	bool allow_files;	  /* queries may read and write files */
	const char *output;	  /* the one file that may be written all the same, or NULL */
	pieces_maker make_ledger; /* what view ledger shows; NULL: it has no rows */
};

/* Opens the traces and DuckDB, and closes both again. */
int database_open(struct database **database, char *const *paths, size_t count,
		  const struct database_options *options, struct error *e);
void database_close(struct database *database);

const struct runs *database_runs(const struct database *database);

/* Runs one statement. With `json`, columns that are neither number nor text come as JSON, otherwise as text.
 * The caller frees the result with result_free() and fetches all of it before the next statement.
 * -EINVAL: DuckDB refused it; the text of the failure is DuckDB's, with the nearest of our names. */
int database_run(struct database *database, const char *sql, size_t size, bool json,
		 struct result *result, struct error *e);

/* Runs one statement and writes its rows to a Parquet file. */
int database_write_parquet(struct database *database, const char *sql, size_t size,
			   const char *path, uint64_t *rows, struct error *e);

void database_interrupt(struct database *database);
/* The part of the rows asked for that has been read, 0 to 1. */
double database_progress(const struct database *database);
/* Rows of the tables that the last statement scanned, and how many of them DuckDB got to see. */
void database_scanned(const struct database *database, uint64_t *total, uint64_t *given);
/* What could not be decoded while the last statement ran; NULL: nothing. */
const char *database_damage(const struct database *database);

#endif
