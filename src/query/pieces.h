/* The table function strata_ledger: pieces of a thread's time and what each went to. To judge that is not the business of queries: who
 * opens the database gives the function that does. It is asked when a statement first needs the pieces, once for each run, and
 * they are kept until pieces_close().
 */
#ifndef STRATA_QUERY_PIECES_H
#define STRATA_QUERY_PIECES_H

#include <pthread.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "query/runs.h"

struct piece {
	uint64_t ts, dur;
	int64_t tid, file;		    /* file: CELL_NULL for none */
	const char *cause, *says, *context; /* that live as long as the program */
	uint32_t name;			    /* in pieces.names; UINT32_MAX: none */
};

struct pieces {
	struct buf list;      /* struct piece */
	struct strings names; /* as ESCAPE_SHOWN has them */
};

/* 0, or -errno with the reason why the run cannot be judged. */
typedef int (*pieces_maker)(const struct run *run, struct pieces *out, struct error *e);

struct pieces_table {
	const struct runs *runs;
	pieces_maker make; /* NULL: no rows */
	pthread_mutex_t lock;
	struct pieces *by_run; /* NULL: not made yet */
};

void pieces_init(struct pieces_table *table, const struct runs *runs, pieces_maker make);
int pieces_register(struct pieces_table *table, duckdb_connection connection, struct error *e);
void pieces_close(struct pieces_table *table);

#endif
