#!/usr/bin/python3
"""Counts (see counts.py) of the calls in a trace.

    strata_counts.py RUN [LEAVE-OUT]
"""
import sys

from counts import Counts
from rows import merged_rows


def main():
    counts = Counts(sys.argv[2] if len(sys.argv) > 2 else None)
    for row in merged_rows(sys.argv[1], ("io", "fs", "mem")):
        names = [row[n] for n in ("arg_path", "arg_path2") if row.get(n)]
        path = row["path"] if row.get("file") is not None else None
        counts.add(row["op"], row["returned"], path, names, row.get("dir"))
    counts.show()


if __name__ == "__main__":
    main()
