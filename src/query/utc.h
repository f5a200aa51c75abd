/* The SQL function utc(ts): a time of the trace as UTC. With several runs, whose clocks differ, it is
 * utc(ts, run).
 */
#ifndef STRATA_QUERY_UTC_H
#define STRATA_QUERY_UTC_H

#include "query/runs.h"

/* The runs must live as long as the connection. */
int utc_register(duckdb_connection connection, const struct runs *runs, struct error *e);

#endif
