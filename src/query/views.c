#include "query/views.h"

#include <string.h>

#include "schema/schema.h"

/* Stands for the calls that open a file, as a list of strings. */
#define OPENS "{opens}"

/* A call of io or fs, with what both have. */
#define EVERY_CALL                                                                                 \
	"(SELECT 'io' AS \"table\", ts, t, dur, pid, tid, comm, op, path, returned, blocked, "     \
	"run, node "                                                                               \
	"FROM io UNION ALL SELECT 'fs', ts, t, dur, pid, tid, comm, op, path, returned, blocked, " \
	"run, "                                                                                    \
	"node FROM fs)"

#define BYTES_READ \
	"coalesce(sum(returned) FILTER (dir <> 'W' AND returned > 0), 0)::BIGINT AS bytes_read"
#define BYTES_WRITTEN \
	"coalesce(sum(returned) FILTER (dir <> 'R' AND returned > 0), 0)::BIGINT AS bytes_written"

/* ---- levels: what ran inside what, by the outermost call around it ---- */

/* Calls of libraries that no other is around. */
#define OUTERMOST                                                                                  \
	"outer_call AS (SELECT run, node, tid, ts, ts + dur AS until, dur, func, bytes FROM call " \
	"WHERE depth = 0 AND module <> 'kernel' AND dur IS NOT NULL)"

/* System calls, each with the call of a library around it; not those in queues, which are inside nothing. */
#define SYSTEM_CALLS                                                                               \
	"every AS (SELECT run, node, tid, ts, dur, op, greatest(returned, 0) AS bytes, missed, "   \
	"blocked FROM io WHERE op NOT LIKE 'io\\_uring\\_%' ESCAPE '\\' AND op NOT LIKE "          \
	"'aio\\_%' "                                                                               \
	"ESCAPE '\\' UNION ALL SELECT run, node, tid, ts, dur, op, NULL, NULL, blocked FROM fs "   \
	"UNION ALL SELECT run, node, tid, ts, dur, op, NULL, NULL, NULL FROM mem UNION ALL "       \
	"SELECT run, node, tid, ts, dur, op, NULL, NULL, blocked FROM wait), "                     \
	"system_call AS (SELECT s.*, s.ts + s.dur AS until, CASE WHEN s.ts < o.until THEN o.func " \
	"END AS func FROM every s ASOF LEFT JOIN outer_call o ON s.run = o.run AND s.node = "      \
	"o.node AND s.tid = o.tid AND s.ts >= o.ts)"

/* Requests that the thread made itself, by the system call around them; those that the kernel writes later are not inside. */
#define REQUESTS                                                                                   \
	"request AS (SELECT b.run, b.node, b.tid, b.bytes, b.ts, b.ts + b.dur + "                  \
	"coalesce(b.queued, "                                                                      \
	"0) AS until, CASE WHEN b.ts < s.until THEN coalesce(s.func, s.op) END AS operation FROM " \
	"(SELECT * FROM block WHERE tid IS NOT NULL AND (op = 'R' OR sync)) b ASOF LEFT JOIN "     \
	"system_call s ON b.run = s.run AND b.node = s.node AND b.tid = s.tid AND b.ts >= s.ts)"

/* When a thread had a request under way: stretches without overlap, with how long those before each were. */
#define BUSY                                                                                      \
	"edge AS (SELECT *, max(until) OVER (PARTITION BY run, node, tid ORDER BY ts ROWS "       \
	"BETWEEN "                                                                                \
	"UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM request WHERE until IS NOT NULL), "  \
	"numbered AS (SELECT *, sum(CASE WHEN before IS NULL OR ts > before THEN 1 ELSE 0 END) "  \
	"OVER (PARTITION BY run, node, tid ORDER BY ts ROWS UNBOUNDED PRECEDING) AS number FROM " \
	"edge), stretch AS (SELECT run, node, tid, min(ts) AS ts, max(until) AS until FROM "      \
	"numbered GROUP BY run, node, tid, number), busy AS (SELECT *, sum(until - ts) OVER "     \
	"(PARTITION BY run, node, tid ORDER BY ts ROWS UNBOUNDED PRECEDING) - (until - ts) AS "   \
	"earlier FROM stretch)"

/* Time of a system call off the CPU while a request of its thread was under way. */
#define WAITED                                                                                    \
	"timed AS (SELECT s.*, coalesce(b.earlier + least(s.ts, b.until) - b.ts, 0) AS at_start " \
	"FROM system_call s ASOF LEFT JOIN busy b ON s.run = b.run AND s.node = b.node AND "      \
	"s.tid = b.tid AND s.ts >= b.ts), waited AS (SELECT s.*, least(s.blocked, "               \
	"coalesce(b.earlier + least(s.until, b.until) - b.ts, 0) - s.at_start) AS waited FROM "   \
	"timed s ASOF LEFT JOIN busy b ON s.run = b.run AND s.node = b.node AND s.tid = b.tid "   \
	"AND s.until >= b.ts)"

/* Functions of the kernel that no other is around, by the system call around them. */
#define KERNEL_CALLS                                                                               \
	"inner_call AS (SELECT *, max(ts + dur) OVER (PARTITION BY run, node, tid ORDER BY ts "    \
	"ROWS "                                                                                    \
	"BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM call WHERE module = "         \
	"'kernel' AND dur IS NOT NULL), kernel_call AS (SELECT k.run, k.node, k.dur, k.bytes, "    \
	"coalesce(CASE WHEN k.ts < s.until THEN coalesce(s.func, s.op) END, k.func) AS operation " \
	"FROM (SELECT * FROM inner_call WHERE before IS NULL OR ts >= before) k ASOF LEFT JOIN "   \
	"system_call s ON k.run = s.run AND k.node = s.node AND k.tid = s.tid AND k.ts >= s.ts)"

#define LEVELS                                                                                     \
	"level AS (SELECT run, node, func AS operation, 1 AS number, 'library' AS level, "         \
	"count(*) "                                                                                \
	"AS calls, sum(bytes) AS bytes, sum(dur) AS time, NULL AS own FROM outer_call GROUP BY "   \
	"ALL UNION ALL SELECT run, node, coalesce(func, op), 2, 'system call', count(*), "         \
	"sum(bytes), sum(dur), sum(dur - coalesce(waited, 0)) FROM waited GROUP BY ALL UNION "     \
	"ALL SELECT run, node, operation, 3, 'kernel', count(*), sum(bytes), sum(dur), NULL FROM " \
	"kernel_call GROUP BY ALL UNION ALL SELECT run, node, coalesce(func, op), 4, 'page "       \
	"cache', count(*), sum(missed), NULL, NULL FROM system_call WHERE missed > 0 GROUP BY "    \
	"ALL UNION ALL SELECT r.run, r.node, r.operation, 5, 'device', count(*), sum(r.bytes), "   \
	"sum(r.until - r.ts), NULL FROM request r WHERE operation IS NOT NULL GROUP BY ALL)"

/* Own time: of a library what is in no system call, of a system call what is neither in functions of the kernel nor a wait for
 * requests, of devices those waits. */
#define LEVELS_WITH                                                                               \
	"WITH " OUTERMOST ", " SYSTEM_CALLS ", " REQUESTS ", " BUSY ", " WAITED ", " KERNEL_CALLS \
	", " LEVELS ", waiting AS (SELECT run, node, coalesce(func, op) AS operation, "           \
	"sum(waited) AS waited FROM waited GROUP BY ALL) "

const struct view views[] = {
	{ "file_io", "Bytes and time of reads and writes per file",
	  "SELECT path, count(*) AS calls, " BYTES_READ ", " BYTES_WRITTEN
	  ", sum(dur) / 1e6 AS time_ms, "
	  "sum(blocked) / 1e6 AS blocked_ms, min(t) AS first_t, max(t) AS last_t, run, node "
	  "FROM io GROUP BY path, run, node ORDER BY time_ms DESC" },
	{ "process_io", "Bytes and time of reads and writes per process",
	  "SELECT pid, max_by(comm, ts) AS comm, count(DISTINCT tid) AS threads, count(*) AS "
	  "calls, "
	  "count(DISTINCT file) AS files, " BYTES_READ ", " BYTES_WRITTEN ", "
	  "sum(dur) / 1e6 AS time_ms, sum(blocked) / 1e6 AS blocked_ms, run, node "
	  "FROM io GROUP BY pid, run, node ORDER BY time_ms DESC" },
	{ "op_time", "Calls, failures, bytes and time per operation, of io and fs",
	  "SELECT \"table\", op, count(*) AS calls, count(*) FILTER (returned < 0) AS failed, "
	  "CASE WHEN \"table\" = 'io' THEN coalesce(sum(returned) FILTER (returned > 0), "
	  "0)::BIGINT END AS "
	  "bytes, sum(dur) / 1e6 AS time_ms, avg(dur) / 1e3 AS mean_us, sum(blocked) / 1e6 AS "
	  "blocked_ms, "
	  "run, node FROM " EVERY_CALL " GROUP BY \"table\", op, run, node ORDER BY time_ms DESC" },
	{ "latency", "Percentiles of the time that calls of io and fs took, per operation",
	  "SELECT \"table\", op, count(dur) AS calls, min(dur) / 1e3 AS min_us, "
	  "quantile_cont(dur, 0.5) / 1e3 AS p50_us, quantile_cont(dur, 0.9) / 1e3 AS p90_us, "
	  "quantile_cont(dur, 0.99) / 1e3 AS p99_us, quantile_cont(dur, 0.999) / 1e3 AS p999_us, "
	  "max(dur) / 1e3 AS max_us, run, node FROM " EVERY_CALL
	  " GROUP BY \"table\", op, run, node ORDER BY calls DESC" },
	{ "slowest", "The hundred calls of io and fs that took longest",
	  "SELECT dur / 1e6 AS ms, blocked / 1e6 AS blocked_ms, t, \"table\", op, pid, tid, comm, "
	  "path, "
	  "returned, ts, run, node FROM " EVERY_CALL
	  " WHERE dur IS NOT NULL ORDER BY dur DESC LIMIT 100" },
	{ "opens", "Files opened per second of the recording, and how many of the opens failed",
	  "SELECT floor(t)::BIGINT AS second, count(*) AS opens, count(*) FILTER (returned < 0) AS "
	  "failed, "
	  "count(DISTINCT file) AS files, sum(dur) / 1e6 AS time_ms, run, node FROM fs "
	  "WHERE op IN (" OPENS ") GROUP BY second, run, node ORDER BY run, second" },
	{ "block_file", "Requests to disks per file and device",
	  "SELECT dev, path, op, count(*) AS requests, sum(bytes)::BIGINT AS bytes, "
	  "sum(dur) / 1e6 AS time_ms, quantile_cont(dur, 0.5) / 1e3 AS p50_us, "
	  "quantile_cont(dur, 0.99) / 1e3 AS p99_us, avg(queued) / 1e3 AS mean_queued_us, "
	  "count(*) FILTER (ahead) AS readahead, run, node "
	  "FROM block GROUP BY dev, path, op, run, node ORDER BY bytes DESC" },
	{ "cache_miss", "Reads that missed the page cache, per file",
	  "SELECT path, count(*) AS reads, count(*) FILTER (missed > 0) AS reads_missed, "
	  "sum(returned) FILTER (returned > 0)::BIGINT AS bytes_read, sum(missed)::BIGINT AS "
	  "bytes_missed, "
	  "sum(dur) FILTER (missed > 0) / 1e6 AS time_missed_ms, "
	  "avg(dur) FILTER (missed > 0) / 1e3 AS mean_missed_us, avg(dur) FILTER (missed = 0) / "
	  "1e3 AS "
	  "mean_hit_us, run, node FROM io WHERE missed IS NOT NULL GROUP BY path, run, node "
	  "HAVING bytes_missed > 0 ORDER BY bytes_missed DESC" },
	{ "runq", "Time on the run queue and on the CPU per thread",
	  "SELECT tid, max_by(comm, ts) AS comm, any_value(pid) AS pid, count(*) AS stays, "
	  "sum(dur) / 1e6 AS on_cpu_ms, sum(wait) / 1e6 AS wait_ms, "
	  "quantile_cont(wait, 0.5) / 1e3 AS wait_p50_us, quantile_cont(wait, 0.99) / 1e3 AS "
	  "wait_p99_us, "
	  "max(wait) / 1e3 AS wait_max_us, count(*) FILTER (end_state = 'R') AS preempted, run, "
	  "node "
	  "FROM sched WHERE tid <> 0 GROUP BY tid, run, node ORDER BY wait_ms DESC" },
	{ "sleep", "Time asleep per thread, by the call it slept in and what woke it",
	  "SELECT tid, max_by(comm, ts) AS comm, slept_in AS syscall, for_storage AS iowait, "
	  "waker_kind, waker_tid, waker_syscall, count(*) AS times, "
	  "sum(greatest(wake_ts - left_ts, 0)) / 1e6 AS asleep_ms, "
	  "max(wake_ts - left_ts) / 1e6 AS longest_ms, run, node "
	  "FROM (SELECT *, lag(ts + dur) OVER stays AS left_ts, lag(syscall) OVER stays AS "
	  "slept_in, lag(iowait) OVER stays AS for_storage FROM sched WHERE tid <> 0 "
	  "WINDOW stays AS (PARTITION BY tid, run, node ORDER BY ts)) "
	  "WHERE wake_ts IS NOT NULL AND left_ts IS NOT NULL "
	  "GROUP BY tid, slept_in, for_storage, waker_kind, waker_tid, waker_syscall, run, node "
	  "ORDER BY asleep_ms DESC" },
	{ "wait_time", "Calls of table wait that slept, per call and file",
	  "SELECT op, path, count(*) AS waits, count(*) FILTER (returned < 0) AS failed, "
	  "count(*) FILTER (timeout <= dur) AS timed_out, sum(dur) / 1e6 AS time_ms, "
	  "sum(blocked) / 1e6 AS blocked_ms, quantile_cont(blocked, 0.5) / 1e3 AS p50_us, "
	  "max(blocked) / 1e3 AS max_us, count(DISTINCT tid) AS threads, run, node "
	  "FROM wait GROUP BY op, path, run, node ORDER BY blocked_ms DESC" },
	{ "stall_time", "What the kernel made the job wait for, per kind, file and disk",
	  "SELECT kind, path, dev, count(*) AS stalls, sum(dur) / 1e6 AS time_ms, "
	  "quantile_cont(dur, 0.5) / 1e3 AS p50_us, max(dur) / 1e3 AS max_us, "
	  "sum(value)::BIGINT AS bytes, count(DISTINCT tid) AS threads, run, node "
	  "FROM stall GROUP BY kind, path, dev, run, node ORDER BY time_ms DESC" },
	{ "ledger", "Every piece of the time of the thread that trains, and what it went to",
	  "SELECT ts, dur, cause, says, name, file, path, context, tid, t, run, node "
	  "FROM strata_ledger() ORDER BY run, ts" },
	{ "ledger_sum", "The same time per cause and what explains it",
	  "SELECT cause, says, name, sum(dur)::BIGINT AS ns, sum(dur) / sum(sum(dur)) OVER "
	  "(PARTITION BY run, node) AS share, count(*) AS pieces, max(dur) AS longest_ns, run, "
	  "node FROM ledger GROUP BY cause, says, name, run, node ORDER BY run, ns DESC" },
	{ "levels",
	  "Calls, bytes and time at each level below an operation, its own time and with what is "
	  "below",
	  LEVELS_WITH
	  "SELECT l.operation, l.level, l.calls::BIGINT AS calls, l.bytes::BIGINT AS bytes, "
	  "l.bytes / l.calls AS bytes_a_call, l.time / 1e6 AS time_ms, (CASE l.number WHEN 1 THEN "
	  "l.time - coalesce(s.time, 0) WHEN 2 THEN CASE WHEN k.time IS NULL THEN l.own ELSE "
	  "l.time - k.time END WHEN 3 THEN l.time - coalesce(w.waited, 0) WHEN 5 THEN w.waited "
	  "END) / 1e6 AS own_ms, l.run, l.node FROM level l LEFT JOIN level s ON l.number = 1 AND "
	  "s.number = 2 AND l.run = s.run AND l.node = s.node AND l.operation = s.operation LEFT "
	  "JOIN level k ON k.number = 3 AND l.run = k.run AND l.node = k.node AND l.operation = "
	  "k.operation LEFT JOIN waiting w ON l.run = w.run AND l.node = w.node AND l.operation = "
	  "w.operation ORDER BY max(l.time) OVER (PARTITION BY l.run, l.node, l.operation) DESC, "
	  "l.operation, l.number" },
};

const unsigned view_count = sizeof(views) / sizeof(*views);

static int append_calls(struct buf *out, enum syscall_family family)
{
	const char *comma = "";
	int err = 0;

	for (unsigned i = 0; i < SYSCALL_COUNT && !err; i++)
		if (schema_syscalls[i].name && schema_syscalls[i].family == family) {
			err = buf_printf(out, "%s'%s'", comma, schema_syscalls[i].name);
			comma = ", ";
		}
	return err;
}

int view_append_sql(const struct view *view, struct buf *out)
{
	const char *rest = view->sql, *at = strstr(rest, OPENS);
	int err = 0;

	if (at) {
		err = buf_append(out, rest, (size_t)(at - rest));
		if (!err)
			err = append_calls(out, FAMILY_open);
		rest = at + strlen(OPENS);
	}
	return err ? err : buf_append(out, rest, strlen(rest));
}
