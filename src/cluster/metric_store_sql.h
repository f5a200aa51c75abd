/* The statements of the store, by name; metric_store.c alone runs them. */
#ifndef STRATA_CLUSTER_METRIC_STORE_SQL_H
#define STRATA_CLUSTER_METRIC_STORE_SQL_H

enum store_sql {
#define SQL(name, text) STORE_SQL_##name,
#include "cluster/metric_store_sql.def"
	STORE_SQL_COUNT
};

extern const char *const store_sql_texts[STORE_SQL_COUNT];

extern const char store_sql_setup[]; /* of who writes: makes what is not there */
extern const char store_sql_look[];  /* of who reads: fails where there is no store */

#endif
