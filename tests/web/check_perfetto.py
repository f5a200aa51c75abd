#!/usr/bin/python3
"""Compares a Perfetto export with `strata dump` of the run, through Perfetto's own trace processor.

    check_perfetto.py RUN TRACE     exits 1 and says what differs

STRATA names the program under test and TRACE_PROCESSOR the folder of the trace processor. Everything is compared
exactly: slices with their times, names, threads and arguments; stays on CPUs; thread states and who woke them;
counters; flows, by the rule of docs/exports.md.
"""
import collections
import csv
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
STRATA = os.environ["STRATA"]
UNKNOWN = 2147483647
CALLS = ("io", "fs", "mem", "wait", "stall", "call")
failures = []


def dump(run, table):
    text = subprocess.run([STRATA, "dump", run, table], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(text.splitlines(keepends=True)))


def number(text):
    return int(text) if text else None


def ask(trace, queries):
    done = subprocess.run(["node", os.path.join(HERE, "trace_processor.mjs"), os.environ["TRACE_PROCESSOR"], trace],
                          input="\n;\n".join(queries), check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the trace processor cannot load {trace}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(what, expected, found):
    if expected == found:
        return
    failures.append(what)
    print(f"{what}: expected {len(expected)}, found {len(found)}")
    if isinstance(expected, collections.Counter):
        print("  only in dump:", list((expected - found).items())[:5])
        print("  only in the trace:", list((found - expected).items())[:5])
    else:
        print("  expected", str(expected)[:600])
        print("  found   ", str(found)[:600])


def row_end(row, table):
    if not row.get("dur"):
        return None if "dur" in row else int(row["ts"])
    return int(row["ts"]) + int(row["dur"]) + (int(row["queued"] or 0) if table == "block" else 0)


QUERIES = {
    "stats": "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "slices": """select s.category, s.name, s.ts, s.dur,
        coalesce((select tid from thread_track tt join thread using (utid) where tt.id = s.track_id),
                 (select tid from thread_track tt join thread using (utid)
                  join track t on t.parent_id = tt.id where t.id = s.track_id))
        from slice s where s.name != 'block request done' and s.category is not 'why'""",
    "args": """select s.category, a.key, sum(a.int_value), count(*) from slice s join args a using (arg_set_id)
        where a.value_type in ('int', 'uint') and a.key like 'debug.%' group by 1, 2""",
    "paths": """select s.category, a.string_value, count(*) from slice s join args a using (arg_set_id)
        where a.key = 'debug.path' group by 1, 2""",
    "sched": """select ts, dur, ucpu, tid, end_state, priority from sched join thread using (utid)""",
    "running": """select tid, count(*), sum(dur) from thread_state join thread using (utid)
        where state = 'Running' and dur >= 0 group by 1""",
    "wakes": """select ts.ts, ts.dur, t.tid, w.tid from thread_state ts join thread t using (utid)
        join thread w on w.utid = ts.waker_utid where ts.state = 'R'""",
    "counters": """select p.name, t.name, c.ts, c.value from counter c join track t on t.id = c.track_id
        left join track p on p.id = t.parent_id""",
    "flows": """select o.ts, o.ts + o.dur, m.ts, c.ts, c.ts + c.dur, c.name from flow join slice o on o.id = slice_out
        join slice m on m.id = slice_in join slice c on c.id = m.parent_id""",
}


def check_slices(tables, found):
    expected = collections.Counter()
    for table in CALLS + ("block", "fault", "mark", "gpu_op", "loss"):
        for row in tables[table]:
            name = row.get("op") or (row.get("kind") if table == "stall" else None) or row.get("func") or row.get("name") or row.get("layer") or table
            end = row_end(row, table)
            moment = 0 if table in ("fault", "stall", "mark", "loss") or row.get("returned") else -1
            dur = moment if end is None else end - int(row["ts"])
            tid = number(row["tid"]) if table in CALLS + ("fault", "mark") else None
            expected[(table, name, int(row["ts"]), dur, tid)] += 1
    same("slices", expected, collections.Counter(map(tuple, found)))
    totals = [collections.Counter(), collections.Counter()]
    for which, slices in enumerate((expected.elements(), map(tuple, found))):
        for table, name, _, dur, _ in slices:
            totals[which][(table, name)] += dur
    same("total duration by name", *totals)


def check_arguments(tables, args, paths):
    expected = {}
    for table in CALLS + ("block", "fault", "gpu_op", "loss"):
        for row in tables[table]:
            for key, value in row.items():
                if key in ("ts", "stream", "dur", "pid", "tid", "file", "dir2", "out_file", "op") or not value:
                    continue
                # The track tells the device.
                if (table, key) in (("fs", "dir"), ("gpu_op", "gpu")) or not value.lstrip("-").isdigit():
                    continue
                if key in ("arg_path", "arg_path2", "comm", "path", "dev"):
                    continue
                total = expected.setdefault((table, "debug." + key), [0, 0])
                total[0] += int(value)
                total[1] += 1
    wrap = lambda value: (int(value) + 2**63) % 2**64 - 2**63  # noqa: E731  SQL sums wrap at 64 bits
    same("arguments", {key: [wrap(total), count] for key, (total, count) in expected.items()},
         {(table, key): [wrap(total), count] for table, key, total, count in args})
    expected = collections.Counter((table, row["path"]) for table in CALLS + ("block", "fault")
                                   for row in tables[table] if row.get("path"))
    same("paths", expected, collections.Counter({(table, path): count for table, path, count in paths}))


def check_sched(sched, found, running):
    expected = collections.Counter()
    on_cpu = collections.Counter(), collections.Counter()
    last = {}
    for row in sched:
        last[row["cpu"]] = row
    for row in sched:
        dur = int(row["dur"]) if row["dur"] else -1
        # Of the last stay of each CPU Perfetto knows no end state unless it was finished.
        state = {"R": "R+", "": "R"}.get(row["end_state"], row["end_state"]) if dur >= 0 else None
        expected[(int(row["ts"]), dur, int(row["cpu"]), int(row["tid"] or UNKNOWN), state, int(row["prio"]))] += 1
        if row["tid"] and int(row["tid"]) and dur >= 0:
            on_cpu[0][int(row["tid"])] += 1
            on_cpu[1][int(row["tid"])] += dur
    without = lambda rows: collections.Counter(  # noqa: E731
        {row: count for row, count in rows.items() if row[3] != UNKNOWN})
    same("stays on CPUs", without(expected),
         without(collections.Counter((ts, dur, cpu, tid, None if dur < 0 else state, prio)
                                     for ts, dur, cpu, tid, state, prio in found)))
    same("Running states", on_cpu[0], collections.Counter({tid: n for tid, n, _ in running if tid != UNKNOWN}))
    same("Running time", on_cpu[1], collections.Counter({tid: dur for tid, _, dur in running if tid != UNKNOWN}))


def check_wakes(sched, found):
    """Each wake that the trace knows is there with its waker. What an interrupt woke has no thread as waker."""
    expected = collections.Counter()
    left = {}
    for row in sched:
        tid = int(row["tid"] or 0)
        if not tid:
            continue
        before = left.get(tid)
        left[tid] = row
        # A wake while the thread is still on its way to sleep leaves it running, for Perfetto as for the kernel.
        if not row["wait"] or (before and int(row["ts"]) - int(row["wait"]) < row_end(before, "sched")):
            continue
        # One of which it is not known why it left its CPU is to Perfetto as if it could still run: nobody wakes it.
        if before and not before["end_state"]:
            continue
        if row["waker_tid"]:
            expected[(int(row["ts"]) - int(row["wait"]), int(row["wait"]), tid, int(row["waker_tid"]))] += 1
    by_threads = collections.Counter((ts, dur, tid, waker) for ts, dur, tid, waker in found if waker)
    same("wakes", expected, by_threads)
    if expected and not by_threads:
        failures.append("no wake at all")


def gpu_of(row):
    return f"gpu {row['gpu']}" + (f" mig {row['mig']}" if row["mig"] else "")


def check_counters(tables, found):
    expected = collections.Counter()
    keys = {"cpu": lambda row: "all CPUs" if row["cpu"] == "-1" else f"cpu {row['cpu']}",
            "disk": lambda row: row["dev"], "gpu": gpu_of,
            "gpu_process": lambda row: f"{gpu_of(row)} pid {row['pid']}",
            "counter": lambda row: f"{row['func']} {row['module']} tid {row['tid']}"}
    groups = {"cpu": "CPU usage", "disk": "Disk usage", "gpu": "GPU usage", "counter": "Functions",
              "gpu_process": "GPU usage of processes"}
    names = ("ts", "dur", "cpu", "dev", "gpu", "mig", "uuid", "pid", "tid", "comm", "func", "module", "type", "command")
    if "job" in tables:
        keys["job"], groups["job"] = lambda row: "", "Job"
    for table, key in keys.items():
        for row in tables[table]:
            for name, value in row.items():
                if name not in names and value:
                    expected[(groups[table], f"{key(row)} {name}".strip(), int(row["ts"]), float(value))] += 1
    rates = collections.defaultdict(lambda: [0, 0])
    for row in tables["io"]:
        if int(row["returned"] or -1) >= 0:
            for way, dirs in enumerate(("RC", "WC")):
                if row["dir"] in dirs:
                    rates[int(row["ts"]) // 10**8][way] += int(row["returned"])
    for way, name in enumerate(("read", "written")):
        for interval, pair in rates.items():
            if pair[way]:
                expected[("Throughput of calls", name, interval * 10**8, pair[way] * 10.0)] += 1
                if not rates.get(interval + 1, (0, 0))[way]:
                    expected[("Throughput of calls", name, (interval + 1) * 10**8, 0.0)] += 1
    same("counters", expected, collections.Counter(map(tuple, found)))


def check_flows(tables, found):
    calls = []
    for table in ("io", "fs", "fault"):
        for row in tables[table]:
            beside = (row.get("op") or "").startswith(("io_uring_", "aio_"))
            waited = row["major"] == "true" if table == "fault" else int(row["blocked"] or 0) > 0
            if row["dur"] and (waited or beside):
                calls.append((int(row["ts"]), row_end(row, table), number(row["tid"]), row["file"],
                              row.get("op") or table))
    calls.sort()
    expected = collections.Counter()
    for row in tables["block"]:
        end = row_end(row, "block")
        if end is None:
            continue
        under_way = [call for call in calls if call[0] < end < call[1]]
        tid, file = number(row["tid"]), row["file"]
        mine = [call for call in under_way if tid is not None and call[2] == tid and
                (row["sync"] == "true" or (file and call[3] == file))]
        same_file = [call for call in under_way if file and call[3] == file]
        chosen = min(mine or same_file, default=None, key=lambda call: (call[0], call[2]))
        if chosen:
            expected[(int(row["ts"]), end, end, chosen[0], chosen[1], chosen[4])] += 1
    same("flows", expected, collections.Counter(map(tuple, found)))


def main():
    run, trace = sys.argv[1:]
    tables = {table: dump(run, table) for table in CALLS + ("block", "fault", "mark", "gpu_op", "loss", "sched", "cpu",
                                                            "disk", "gpu", "gpu_process", "counter")}
    if not subprocess.run([STRATA, "dump", run, "job", "--limit", "0"], check=False, capture_output=True).returncode:
        tables["job"] = dump(run, "job")
    found = dict(zip(QUERIES, ask(trace, QUERIES.values())))
    same("errors and losses that the trace processor counts", [], found["stats"])
    check_slices(tables, found["slices"])
    check_arguments(tables, found["args"], found["paths"])
    check_sched(tables["sched"], found["sched"], found["running"])
    check_wakes(tables["sched"], found["wakes"])
    check_counters(tables, found["counters"])
    check_flows(tables, found["flows"])
    print(", ".join(f"{len(rows)} {what}" for what, rows in found.items()))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
