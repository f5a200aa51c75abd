#include "cluster/metric_store_sql.h"

const char *const store_sql_texts[STORE_SQL_COUNT] = {
#define SQL(name, text) [STORE_SQL_##name] = text,
#include "cluster/metric_store_sql.def"
};

/* A checkpoint each 1000 pages keeps the log below some 4 MiB. The size of an old log is given back. */
const char store_sql_setup[] =
	"PRAGMA journal_mode = WAL;"
	"PRAGMA synchronous = NORMAL;"
	"PRAGMA journal_size_limit = 4194304;"
	"CREATE TABLE IF NOT EXISTS fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, "
	"label TEXT NOT NULL, op TEXT NOT NULL, pid INTEGER NOT NULL, comm TEXT NOT NULL, "
	"seen INTEGER NOT NULL, UNIQUE(pid, metric, label, op, comm));"
	"CREATE TABLE IF NOT EXISTS interval(id INTEGER PRIMARY KEY, start INTEGER NOT NULL, "
	"length INTEGER NOT NULL, first INTEGER NOT NULL, samples INTEGER NOT NULL);"
	"CREATE INDEX IF NOT EXISTS interval_start ON interval(start);"
	"CREATE TABLE IF NOT EXISTS sample(id INTEGER PRIMARY KEY AUTOINCREMENT, "
	"series INTEGER NOT NULL, value NOT NULL);"
	"CREATE TEMP TABLE old(id INTEGER, first INTEGER, beyond INTEGER);";

const char store_sql_look[] = "SELECT 1 FROM interval LIMIT 1";
