/* The statements of the store, by name; metric_store.c alone runs them. */
#ifndef STRATA_CLUSTER_METRIC_STORE_SQL_H
#define STRATA_CLUSTER_METRIC_STORE_SQL_H

#define STORE_STATEMENTS(SQL)                                                                     \
	SQL(find_series, "SELECT id, seen FROM series "                                           \
			 "WHERE metric = ? AND label = ? AND op = ? AND pid = ? AND comm = ?")    \
	SQL(keep_series, "INSERT INTO series(metric, label, op, pid, comm, seen) "                \
			 "VALUES(?, ?, ?, ?, ?, ?) "                                              \
			 "ON CONFLICT DO UPDATE SET seen = excluded.seen")                        \
	SQL(add_sample, "INSERT INTO sample(series, value) VALUES(?, ?)")                         \
	SQL(add_interval,                                                                         \
	    "INSERT INTO interval(start, length, samples, first) VALUES(?, ?, ?, "                \
	    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'sample'), 0) + 1)")          \
	SQL(pages, "PRAGMA page_count")                                                           \
	SQL(free_pages, "PRAGMA freelist_count")                                                  \
	SQL(page_size, "PRAGMA page_size")                                                        \
	/* Those of removing, in their order. */                                                  \
	SQL(choose_old, "INSERT INTO old SELECT id, first, first + samples FROM interval "        \
			"WHERE start < ? ORDER BY id LIMIT ?")                                    \
	SQL(drop_samples, "DELETE FROM sample WHERE id < (SELECT max(beyond) FROM old)")          \
	SQL(drop_intervals, "DELETE FROM interval WHERE id <= (SELECT max(id) FROM old)")         \
	SQL(forget_old, "DELETE FROM old")                                                        \
	SQL(drop_series, "DELETE FROM series WHERE seen + ? < "                                   \
			 "coalesce((SELECT min(start) FROM interval), 0)")                        \
	SQL(read, "SELECT s.id, i.start, i.length, r.metric, r.label, r.op, r.pid, r.comm, "      \
		  "s.value FROM interval i "                                                      \
		  "CROSS JOIN sample s ON s.id >= max(i.first, ?3 + 1) AND "                      \
		  "s.id < i.first + i.samples "                                                   \
		  "CROSS JOIN series r ON r.id = s.series "                                       \
		  "WHERE i.start >= ?1 AND i.start < ?2 AND i.first + i.samples > ?3 + 1 "        \
		  "AND (?4 IS NULL OR instr(?4, ',' || r.metric || ',')) "                        \
		  "AND (?5 = -1 OR r.pid = ?5) AND (?6 IS NULL OR r.comm = ?6) "                  \
		  "ORDER BY i.id, s.id LIMIT ?7")                                                 \
	SQL(span, "SELECT min(start), max(start + length), sum(length), count(*) FROM interval "  \
		  "WHERE start >= ?1 AND start < ?2")                                             \
	SQL(set_fact, "INSERT INTO fact(name, value) VALUES(?, ?) "                               \
		      "ON CONFLICT DO UPDATE SET value = excluded.value")                         \
	SQL(fact, "SELECT value FROM fact WHERE name = ?")

enum store_sql {
#define SQL(name, text) STORE_SQL_##name,
	STORE_STATEMENTS(SQL)
#undef SQL
		STORE_SQL_COUNT
};

static const char *const store_sql_texts[STORE_SQL_COUNT] = {
#define SQL(name, text) [STORE_SQL_##name] = text,
	STORE_STATEMENTS(SQL)
#undef SQL
};

/* A checkpoint each 1000 pages keeps the log below some 4 MiB. The size of an old log is given back. */
static const char store_sql_setup[] =
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

static const char store_sql_look[] = "SELECT 1 FROM interval LIMIT 1";

#endif
