#!/usr/bin/python3
"""Compares a .pfw export with `strata dump` of the run, line by line and in Perfetto's trace processor.

    check_pfw.py RUN FILE     exits 1 and says what differs
"""
import collections
import gzip
import json
import sys

from check_perfetto import ask, dump, failures, row_end, same

CATEGORIES = {"io": "POSIX", "fs": "POSIX", "mem": "POSIX", "call": "CALL", "wait": "WAIT", "stall": "STALL", "block": "BLOCK", "fault": "FAULT",
              "mark": "MARK", "gpu_op": "GPU"}
TIMES = tuple(CATEGORIES) + ("process", "sched", "counter", "cpu", "disk", "gpu", "gpu_process", "clock", "loss", "job")


def lines_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    same("first line", "[", lines[0])
    return [json.loads(line) for line in lines if line and line[0] not in "[]"]


def main():
    run, path = sys.argv[1:]
    events = lines_of(path)
    clock = dump(run, "clock")[0]
    files = {row["args"]["value"]: row["args"]["name"] for row in events if row["name"] == "FH"}
    facts = {row["key"]: row["value"] for row in dump(run, "run")}
    same("host", [facts["host"]], [row["args"]["name"] for row in events if row["name"] == "HH"])

    # A call that never ended lasts to the end of the recording, one of which only the result was seen takes no time.
    rows = {table: dump(run, table) for table in CATEGORIES}
    stop = int(facts.get("stop_ts") or max(row_end(row, table) or int(row["ts"]) for table in TIMES
                                           for row in dump(run, table)))
    expected, totals = collections.Counter(), collections.Counter()
    shift = int(clock["realtime"]) - int(clock["ts"])
    for table, category in CATEGORIES.items():
        for row in rows[table]:
            name = row.get("op") or (row.get("kind") if table == "stall" else None) or row.get("func") or row.get("name") or table
            end = row_end(row, table)
            word = None
            if end is None and table not in ("fault", "stall", "mark"):
                word = "untimed" if row.get("returned") else "unfinished"
                end = int(row["ts"]) if row.get("returned") else max(stop, int(row["ts"]))
            start = (int(row["ts"]) + shift) // 1000
            dur = None if end is None else (end + shift) // 1000 - start
            expected[(category, name, start, dur, word, int(row["pid"] or 0), int(row["tid"] or 0), row.get("path") or None,
                      row.get("returned") or None)] += 1
            totals[(category, name)] += 1
    found = collections.Counter()
    for row in events:
        if row["ph"] not in "MC":
            args = row["args"]
            returned = args.get("ret")
            same("phase", "i" if row.get("dur") is None else "X", row["ph"])
            found[(row["cat"], row["name"], row["ts"], row.get("dur"),
                   next((word for word in ("untimed", "unfinished") if args.get(word)), None), row["pid"],
                   args.get("tid", 0 if row["tid"] >= 10**9 else row["tid"]),
                   files.get(args.get("fhash")), None if returned is None else str(returned))] += 1
    same("events", expected, found)

    stats, slices = ask(path, [
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
        "select category, name, count(*) from slice group by 1, 2"])
    same("errors and losses that the trace processor counts", [], stats)
    same("slices", totals, collections.Counter({(category, name): count for category, name, count in slices}))
    print(f"{len(events)} lines, {sum(found.values())} events, {len(files)} files")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
