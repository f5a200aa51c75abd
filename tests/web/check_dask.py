#!/usr/bin/python3
"""Compares the tables of contrib/dask, made on a cluster, with `strata dump`: check_dask.py RUN COPIES FOLDER"""
import collections
import csv
import os
import sys

from check_perfetto import dump, failures, row_end, same


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    run, copies, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    clock = dump(run, "clock")[0]
    shift = int(clock["realtime"]) - int(clock["ts"])
    functions, files = (collections.defaultdict(lambda: [0, 0, 0]) for _ in range(2))
    rates = collections.Counter()
    for table, category in (("io", "POSIX"), ("fs", "POSIX"), ("mem", "POSIX"), ("block", "BLOCK"), ("fault", "FAULT")):
        for row in dump(run, table):
            end = row_end(row, table)
            if end is None:
                continue
            start = (int(row["ts"]) + shift) // 1000
            size = int(row["bytes"] or 0) if table == "block" else 0
            if table == "io":
                size = max(int(row["returned"] or 0), 0)
            for total in (functions[(category, row.get("op", table))], files[(row["path"], category)]):
                total[0] += copies
                total[1] += copies * ((end + shift) // 1000 - start)
                total[2] += copies * size
            if table == "io" and size:
                rates[(start // 10**5, row["dir"] == "W")] += copies * size
    numbers = lambda row: [int(row["count"]), round(float(row["seconds"]) * 1e6), int(row["bytes"])]  # noqa: E731
    same("functions", dict(functions),
         {(row["cat"], row["name"]): numbers(row) for row in read(folder, "functions.csv")})
    same("files", dict(files), {(row["path"], row["cat"]): numbers(row) for row in read(folder, "files.csv")})
    categories = collections.defaultdict(lambda: [0, 0, 0])
    for (category, _), figures in functions.items():
        categories[category] = [a + b for a, b in zip(categories[category], figures)]
    same("categories", dict(categories), {row["cat"]: numbers(row) for row in read(folder, "categories.csv")})
    intervals = collections.Counter()
    for row in read(folder, "intervals.csv"):
        intervals[(row["cat"], row["name"])] += int(row["count"])
    same("intervals", {key: figures[0] for key, figures in functions.items()}, dict(intervals))
    found = collections.Counter()
    first = min(interval for interval, _ in rates)
    for row in read(folder, "bandwidth.csv"):
        for write, way in enumerate(("read", "write")):
            if float(row[way]):
                found[(first + round(float(row["time"]) * 10), bool(write))] += round(float(row[way]) / 10)
    same("bandwidth", rates, found)
    print(f"{len(functions)} functions, {len(files)} files, {len(rates)} rates")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
