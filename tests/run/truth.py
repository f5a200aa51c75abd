#!/usr/bin/python3
"""Compares a trace with the truth that a workload told (tests/workloads/workload.h).

    truth.py RUN TRUTH

The rows of io, fs and mem between the two marks, in order of ts, must be the truth's lines: as many, in that
order, and equal in every column that a line states.
"""
import sys

from rows import merged_rows, text


def truth_rows(run):
    rows = merged_rows(run, ("io", "fs", "mem"))
    marks = {row["arg_path"]: i for i, row in enumerate(rows) if (row.get("arg_path") or "").startswith("TRUTH")}
    first, last = marks["TRUTH BEGINS"], marks["TRUTH ENDS"]
    teller = rows[first]

    def told(row):
        """Calls of the thread that tells; requests in a ring may be taken from it by another thread."""
        return row["tid"] == teller["tid"] or (row["pid"] == teller["pid"] and row["op"].startswith("io_uring"))

    return [row for row in rows[first + 1:last] if told(row)]


def out_path(run):
    """Paths by file id, for the second file of a copy."""
    return {row["file"]: row["path"] for row in merged_rows(run, ("file",))}


def main():
    run = sys.argv[1]
    with open(sys.argv[2], encoding="utf-8") as file:
        told = [line.split() for line in file.read().splitlines()]
    if told[0] != ["begin"]:
        sys.exit("no truth was told")
    rows, paths, wrong = truth_rows(run), out_path(run), 0
    for number, (line, row) in enumerate(zip(told[1:], rows), 1):
        row["out_path"] = paths.get(row.get("out_file"))
        stated = dict(word.split("=", 1) for word in line[1:])
        found = {key: text(row.get(key)) for key in stated}
        if row["op"] != line[0] or found != stated:
            differ = [f"{key}={found[key]}" for key in stated if found[key] != stated[key]]
            print(f"call {number}: truth: {' '.join(line)}\n          row: {row['op']} {' '.join(differ)}")
            wrong += 1
    if len(rows) != len(told) - 1:
        print(f"{len(told) - 1} calls were made, {len(rows)} rows recorded")
        wrong += 1
    if wrong:
        sys.exit(1)
    print(f"{len(rows)} rows are true")


if __name__ == "__main__":
    main()
