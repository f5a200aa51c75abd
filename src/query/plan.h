/* Finds out from DuckDB's plan of a statement what it asks of each table, so that chunks without such rows
 * are not read. DuckDB pushes a condition down to the scan that it concerns, through views, subqueries and
 * joins, but its C API does not pass it on to the scan; the plan, which EXPLAIN prints, shows it there.
 */
#ifndef STRATA_QUERY_PLAN_H
#define STRATA_QUERY_PLAN_H

#include "query/scan.h"

/* Sets the filters of the tables, TABLE_COUNT of them, for a statement that has been prepared just now. What it cannot
 * read leaves a table without filter. */
void plan_filters(duckdb_connection connection, const char *sql, struct scan_table *tables);

#endif
