#!/usr/bin/python3
"""Latencies of rows against those that fio measured of the same operations.

    latencies.py RUN FIO.json TABLE DIRECTION FIGURE CONDITION [equal|most|within]

compares the percentiles of the rows of TABLE for which CONDITION (a Python expression over the columns) holds with FIGURE
(clat or lat) of fio's DIRECTION (read or write), and prints those that disagree: nothing when all agree. Where
ours is a part of what fio measured it must not be longer: within says no more, most that they agree but for the last
percentile, where the rest of what fio measured may be what took long.
"""
import json
import math
import sys

from rows import table_rows

SHARE, FLOOR = 0.05, 5000  # they agree within 5 % and 5 us
BIN = 1 / 64  # the width of fio's bins
PERCENTILES = (50, 90, 99)


def row_time(row):
    return row["dur"] + (row.get("queued") or 0)


def percentile(times, percent):
    """As fio picks it: the least time that is not exceeded by `percent` of all."""
    return times[max(0, math.ceil(len(times) * percent / 100) - 1)]


def main():
    run, result, table, direction, figure, condition, rule = (sys.argv[1:] + ["equal"])[:7]
    condition = compile(condition, "CONDITION", "eval")
    chosen = [row for row in table_rows(run, table) if eval(condition, {}, row)]
    times = sorted(row_time(row) for row in chosen if row["dur"] is not None)
    with open(result, encoding="utf-8") as file:
        measured = [job[direction] for job in json.load(file)["jobs"]]
    if len(measured) != 1:
        sys.exit("percentiles of several jobs cannot be joined: use group_reporting")
    if not times or len(chosen) != measured[0]["total_ios"]:
        print(f"{direction}: {len(chosen)} rows, fio has {measured[0]['total_ios']}")
        return
    for percent in PERCENTILES:
        found = percentile(times, percent)
        expected = measured[0][f"{figure}_ns"]["percentile"][f"{percent:f}"]
        wrong = abs(found - expected) > SHARE * expected + FLOOR
        if rule == "within" or (rule == "most" and percent == PERCENTILES[-1]):
            wrong = found > expected * (1 + BIN)
        if wrong:
            print(f"{direction} p{percent}: {found} ns, fio {figure} {expected} ns")


if __name__ == "__main__":
    main()
