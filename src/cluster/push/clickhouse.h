/* One ClickHouse server over HTTP: statements, and inserts of files that are already in its row format.
 *
 * A connection belongs to one thread. Failures tell three things apart, because a delivery depends on it: the server said no
 * (its code is kept), it was not reached, and nobody knows: the request may still be on its way.
 */
#ifndef STRATA_CLUSTER_PUSH_CLICKHOUSE_H
#define STRATA_CLUSTER_PUSH_CLICKHOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "cluster/push/sql_text.h"

struct clickhouse;

/* Codes of its failures that mean something here. */
enum clickhouse_code {
	CLICKHOUSE_UNKNOWN_TABLE = 60,
	CLICKHOUSE_UNKNOWN_DATABASE = 81,
};

/* What this server can do, by what it says it knows and never by its version: old ones take no unknown setting. */
struct clickhouse_server {
	char version[32];
	struct strings settings;       /* of a statement */
	struct strings table_settings; /* of a MergeTree table */
	bool codecs;		       /* CODEC(...) in a column */
	bool low_cardinality;	       /* LowCardinality(T) */
	bool tokens;		       /* repeats of an insert are known by a token */
};

/* url: http[s]://[user[:password]@]host:port[/database]; the database is `strata` by default. Connects to nothing yet. */
int clickhouse_open(struct clickhouse **clickhouse, const char *url, struct error *e);
void clickhouse_close(struct clickhouse *clickhouse);

/* How long one request may take. */
void clickhouse_set_timeout(struct clickhouse *clickhouse, uint64_t ns);

const char *clickhouse_database(const struct clickhouse *clickhouse);
/* The address without user and password, for messages. */
const char *clickhouse_address(const struct clickhouse *clickhouse);

/* Asks what the server knows, once; later calls give the same. */
int clickhouse_probe(struct clickhouse *clickhouse, const struct clickhouse_server **server,
		     struct error *e);
bool clickhouse_knows(const struct strings *settings, const char *name);

/* Runs a statement; what it gives goes to `body`, unless NULL. `settings` are further parameters of the URL, escaped,
 * as in "&max_threads=2", or NULL. Returns 0; -EREMOTEIO when the server refused it; -ECONNREFUSED when it was not
 * reached; -EIO when its fate is unknown. */
int clickhouse_run(struct clickhouse *clickhouse, const char *settings, const char *sql,
		   struct buf *body, struct error *e);

/* The same of a statement that was put together, which is empty afterwards. */
int clickhouse_do(struct clickhouse *clickhouse, const char *settings, struct sql_text *sql,
		  struct buf *body, struct error *e);

/* The same with one number as its result. */
int clickhouse_number(struct clickhouse *clickhouse, struct sql_text *sql, uint64_t *number,
		      struct error *e);

/* Inserts a file of rows, one member of gzip. Same results. */
int clickhouse_insert(struct clickhouse *clickhouse, const char *settings, const char *sql, int fd,
		      uint64_t size, struct error *e);

/* The code of the last refusal, 0: it gave none. */
int clickhouse_refusal(const struct clickhouse *clickhouse);

#endif
