/* See remote_views.h. Three things stand between braces: {opens}, the calls that open a file; {io}, {fs} and so on, a table with
 * its database; {q50 dur}, a quantile as DuckDB's quantile_cont has it, between the two nearest values, which old servers have no
 * function for. `sleep` is missing: it looks at the row before, and old servers have no window functions.
 */
#include "cluster/push/remote_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

#define EVERY_CALL                                                                                \
	"(SELECT 'io' AS `table`, ts, t, dur, pid, tid, comm, op, path, returned, blocked, run, " \
	"node, job FROM {io} UNION ALL SELECT 'fs' AS `table`, ts, t, dur, pid, tid, comm, op, "  \
	"path, returned, blocked, run, node, job FROM {fs}) AS calls"

/* A sum of nothing is 0 on old servers and null on current ones. What is null in DuckDB is told by the count of what is summed;
 * what is 0 there sums a 0 of each row. */
#define MS(column)	 "if(count(" column ") = 0, NULL, sum(" column ") / 1e6)"
#define MEAN(column)	 "avg(" column ") / 1e3"
#define BYTES(condition) "sum(if(" condition "returned > 0, returned, 0))"
#define BYTES_READ	 BYTES("dir != 'W' AND ") " AS bytes_read"
#define BYTES_WRITTEN	 BYTES("dir != 'R' AND ") " AS bytes_written"

const struct remote_view remote_views[] = {
	{ "file_io",
	  "SELECT path, count() AS calls, " BYTES_READ ", " BYTES_WRITTEN
	  ", " MS("dur") " AS time_ms, " MS(
		  "blocked") " AS blocked_ms, min(t) AS first_t, max(t) AS last_t, run, "
			     "node FROM {io} GROUP BY path, run, node ORDER BY time_ms DESC" },
	{ "process_io",
	  "SELECT pid, argMax(comm, ts) AS comm, uniqExact(tid) AS threads, count() AS calls, "
	  "uniqExact(file) AS files, " BYTES_READ ", " BYTES_WRITTEN
	  ", " MS("dur") " AS time_ms, " MS(
		  "blocked") " AS blocked_ms, run, node FROM {io} GROUP BY pid, run, "
			     "node ORDER BY time_ms DESC" },
	{ "op_time",
	  "SELECT `table`, op, count() AS calls, countIf(returned < 0) AS failed, if(`table` = "
	  "'io', " BYTES("") ", NULL) AS bytes, " MS("dur") " AS time_ms, " MEAN(
		  "dur") " AS mean_us, " MS("blocked") " AS blocked_ms, run, node FROM " EVERY_CALL
						       " GROUP BY `table`, op, run, node ORDER BY "
						       "time_ms DESC" },
	{ "latency",
	  "SELECT `table`, op, count(dur) AS calls, min(dur) / 1e3 AS min_us, {q500 dur} / 1e3 AS "
	  "p50_us, {q900 dur} / 1e3 AS p90_us, {q990 dur} / 1e3 AS p99_us, {q999 dur} / 1e3 AS "
	  "p999_us, max(dur) / 1e3 AS max_us, run, node FROM " EVERY_CALL
	  " GROUP BY `table`, op, run, node ORDER BY calls DESC" },
	{ "slowest",
	  "SELECT dur / 1e6 AS ms, blocked / 1e6 AS blocked_ms, t, `table`, op, pid, tid, comm, "
	  "path, returned, ts, run, node FROM " EVERY_CALL
	  " WHERE isNotNull(dur) ORDER BY dur DESC LIMIT 100" },
	{ "opens",
	  "SELECT toInt64(floor(t)) AS second, count() AS opens, countIf(returned < 0) AS failed, "
	  "uniqExact(file) AS files, " MS(
		  "dur") " AS time_ms, run, node FROM {fs} WHERE op IN "
			 "({opens}) GROUP BY second, run, node ORDER BY run, second" },
	{ "block_file",
	  "SELECT dev, path, op, requests, moved AS bytes, time_ms, p50_us, p99_us, "
	  "mean_queued_us, readahead, run, node FROM (SELECT dev, path, op, count() AS requests, "
	  "sum(bytes) AS moved, " MS(
		  "dur") " AS time_ms, {q500 dur} / 1e3 AS p50_us, {q990 dur} / 1e3 AS "
			 "p99_us, " MEAN("queued") " AS mean_queued_us, countIf(ahead = 1) AS "
						   "readahead, run, node FROM {block} GROUP BY "
						   "dev, path, op, run, node) AS files ORDER BY "
						   "bytes DESC" },
	{ "cache_miss",
	  "SELECT path, count() AS reads, countIf(missed > 0) AS reads_missed, sumIf(returned, "
	  "returned > 0) AS bytes_read, sum(missed) AS bytes_missed, sumIf(dur, missed > 0) / 1e6 "
	  "AS time_missed_ms, avgIf(dur, missed > 0) / 1e3 AS mean_missed_us, avgIf(dur, missed = "
	  "0) / 1e3 AS mean_hit_us, run, node FROM {io} WHERE isNotNull(missed) GROUP BY path, "
	  "run, node HAVING bytes_missed > 0 ORDER BY bytes_missed DESC" },
	{ "runq",
	  "SELECT tid, argMax(comm, ts) AS comm, any(pid) AS pid, count() AS stays, " MS(
		  "dur") " AS on_cpu_ms, " MS("wait") " AS wait_ms, {q500 wait} / 1e3 AS "
						      "wait_p50_us, {q990 wait} "
						      "/ 1e3 AS wait_p99_us, max(wait) / 1e3 AS "
						      "wait_max_us, countIf(end_state = 'R') AS "
						      "preempted, run, node FROM {sched} WHERE tid "
						      "!= 0 GROUP BY tid, run, node ORDER BY "
						      "wait_ms DESC" },
	{ "wait_time",
	  "SELECT op, path, count() AS waits, countIf(returned < 0) AS failed, countIf(timeout <= "
	  "dur) AS timed_out, " MS("dur") " AS time_ms, " MS(
		  "blocked") " AS blocked_ms, "
			     "{q500 blocked} / 1e3 AS p50_us, max(blocked) / 1e3 AS max_us, "
			     "uniqExact(tid) AS "
			     "threads, run, node FROM {wait} GROUP BY op, path, run, node ORDER BY "
			     "blocked_ms DESC" },
	{ "stall_time", "SELECT kind, path, dev, count() AS stalls, " MS(
				"dur") " AS time_ms, {q500 dur} / 1e3 "
				       "AS p50_us, max(dur) / 1e3 AS max_us, if(count(value) = 0, "
				       "NULL, sum(value)) AS bytes, "
				       "uniqExact(tid) AS threads, run, node FROM {stall} GROUP BY "
				       "kind, path, dev, run, node "
				       "ORDER BY time_ms DESC" },
};

const unsigned remote_view_count = sizeof(remote_views) / sizeof(*remote_views);

static void add_opens(struct sql_text *sql)
{
	const char *comma = "";

	for (unsigned i = 0; i < SYSCALL_COUNT; i++)
		if (schema_syscalls[i].name && schema_syscalls[i].family == FAMILY_open) {
			sql_add(sql, "%s'%s'", comma, schema_syscalls[i].name);
			comma = ", ";
		}
}

/* h = (n - 1) q; between the values at floor(h) and at the one behind it. Null of no value at all. */
static void add_quantile(struct sql_text *sql, unsigned permille, const char *column)
{
	char place[160];

	snprintf(place, sizeof(place), "(count(%s) - 1) * %u / 1000", column, permille);
	sql_add(sql,
		"if(count(%s) = 0, NULL, arrayElement(arraySort(groupArray(%s)), "
		"toUInt32(floor(%s)) "
		"+ 1) + (%s - floor(%s)) * (arrayElement(arraySort(groupArray(%s)), "
		"toUInt32(ceil(%s)) + 1) - arrayElement(arraySort(groupArray(%s)), "
		"toUInt32(floor(%s)) + 1)))",
		column, column, place, place, place, column, place, column, place);
}

static void add_word(struct sql_text *sql, const char *word, size_t size, const char *database)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)size, word);
	if (!strcmp(name, "opens")) {
		add_opens(sql);
	} else if (name[0] == 'q' && strchr(name, ' ')) {
		add_quantile(sql, (unsigned)strtoul(name + 1, NULL, 10), strchr(name, ' ') + 1);
	} else {
		sql_name(sql, database);
		sql_add(sql, ".`%s`", name);
	}
}

void remote_view_add(struct sql_text *sql, const struct remote_view *view, const char *database)
{
	const char *rest = view->sql, *open;

	while ((open = strchr(rest, '{'))) {
		size_t size = strcspn(open + 1, "}");

		sql_add(sql, "%.*s", (int)(open - rest), rest);
		add_word(sql, open + 1, size, database);
		rest = open + 1 + size + 1;
	}
	sql_add(sql, "%s", rest);
}
