#!/usr/bin/python3
"""Compares positions of reads or writes through one shared description with what the bytes themselves told.

    shared_positions.py RUN OP LEAST TRUTH

TRUTH has `TID POS` for each call, in the order of its thread's. A position is that one or null; LEAST per cent must be known.
"""
import collections
import sys

from rows import merged_rows


def main():
    run, op, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
    told = collections.defaultdict(list)
    with open(sys.argv[4], encoding="utf-8") as file:
        for line in file:
            tid, pos = map(int, line.split())
            told[tid].append(pos)
    found = collections.defaultdict(list)
    for row in merged_rows(run, ("io",)):
        if row["op"] == op and row["returned"] == 16 and (row["path"] or "").endswith("/shared"):
            found[row["tid"]].append(row["pos"])
    calls = sum(map(len, told.values()))
    counts = {tid: len(found[tid]) - len(places) for tid, places in told.items() if len(found[tid]) != len(places)}
    wrong = sum(pos is not None and pos != place for tid in told for pos, place in zip(found[tid], told[tid]))
    known = sum(pos is not None for tid in told for pos in found[tid])
    print(f"{calls} calls, {known} positions known, {wrong} wrong, {len(counts)} threads with other counts: {counts}")
    sys.exit(bool(wrong or counts or known < calls * least / 100))


if __name__ == "__main__":
    main()
