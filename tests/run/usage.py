#!/usr/bin/python3
"""Checks of the tables cpu and disk, which hold one row an interval.

    usage.py tiles RUN TABLE KEY     each KEY's intervals follow one another without gap, inside the recording
    usage.py mpstat RUN OUT          whole-run means of cpu are within a point of mpstat's averages in OUT
    usage.py iostat RUN OUT DEV      those of disk within a point of iostat -x's one report in OUT: its %util

Prints what is wrong, and fails.
"""
import sys

from rows import table_rows

COLUMNS = ["usr", "nice", "sys", "iowait", "irq", "soft", "steal", "guest", "gnice", "idle"]


def mean(rows, column):
    """The mean of a column over the whole run: an interval counts by its length."""
    return sum(float(row[column]) * row["dur"] for row in rows) / sum(row["dur"] for row in rows)


def by_key(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def tiles(run, table, key):
    facts = {row["key"]: row["value"] for row in table_rows(run, "run")}
    groups = by_key(table_rows(run, table), key)
    wrong = [] if groups else ["no rows"]
    for name, rows in groups.items():
        for row, after in zip(rows, rows[1:]):
            if row["ts"] + row["dur"] != after["ts"]:
                wrong.append(f"{name}: {row['ts']} + {row['dur']} is not {after['ts']}")
        if rows[0]["ts"] < facts["start_ts"] or rows[-1]["ts"] + rows[-1]["dur"] > facts["stop_ts"]:
            wrong.append(f"{name}: outside {facts['start_ts']} to {facts['stop_ts']}")
    return wrong


def mpstat(run, out):
    groups = by_key(table_rows(run, "cpu"), "cpu")
    wrong, seen = [], set()
    for line in open(out, encoding="ascii"):
        words = line.split()
        if len(words) != 12 or words[0] != "Average:" or words[1] == "CPU":
            continue
        cpu = -1 if words[1] == "all" else int(words[1])
        seen.add(cpu)
        for column, theirs in zip(COLUMNS, words[2:]):
            ours = mean(groups[cpu], column)
            if abs(ours - float(theirs)) > 1:
                wrong.append(f"CPU {cpu} {column}: {ours:.2f}, mpstat {theirs}")
    if seen != set(groups) or len(seen) < 2:
        wrong.append(f"mpstat's CPUs {sorted(seen)}, ours {sorted(groups)}")
    return wrong


def iostat(run, out, dev):
    ours = mean(by_key(table_rows(run, "disk"), "dev")[dev], "util")
    lines = [line.split() for line in open(out, encoding="ascii") if line.startswith(dev + " ")]
    if len(lines) != 1:
        return [f"{len(lines)} lines of {dev} in iostat's report"]
    theirs = float(lines[0][-1])
    print(f"util {ours:.2f}, iostat {theirs}")
    if not 5 < theirs < 95:
        return ["the load was no load, or too much to tell"]
    return [f"util {ours:.2f}, iostat {theirs}"] if abs(ours - theirs) > 1 else []


if __name__ == "__main__":
    found = {"tiles": tiles, "mpstat": mpstat, "iostat": iostat}[sys.argv[1]](*sys.argv[2:])
    print("\n".join(found))
    sys.exit(bool(found))
