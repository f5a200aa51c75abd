/* The part of `strata sql` that asks ClickHouse; strata hands it over when it sees --via. */
#ifndef STRATA_CLUSTER_SQL_VIA_H
#define STRATA_CLUSTER_SQL_VIA_H

int cluster_sql(int argc, char **argv);

#endif
