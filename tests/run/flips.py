#!/usr/bin/python3
"""flips.py RUN TRUTH: the waits of threads that were moved between CPUs while they waited add up to what the kernel counted.
Each stay may differ by what the kernel does not count: it looks at its clock only now and then when it wakes a thread."""
import csv
import os
import subprocess
import sys

STAY = 20_000  # ns

out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns", "tid,ts,wait"], check=True,
                     capture_output=True, text=True).stdout
rows = list(csv.DictReader(out.splitlines()))
with open(sys.argv[2], encoding="utf-8") as file:
    for line in file:
        words = line.split()
        truth = {key: int(value) for key, value in zip(words[::2], words[1::2])}
        waits = [int(row["wait"]) for row in rows if row["tid"] == str(truth["tid"]) and row["wait"]
                 and truth["from"] < int(row["ts"]) <= truth["to"]]
        print(f"{truth['tid']}: {len(waits)} stays that waited {sum(waits) / 1e6:.2f} ms, schedstat says {truth['stays']} and "
              f"{truth['wait'] / 1e6:.2f} ms")
        assert abs(len(waits) - truth["stays"]) <= 2
        assert abs(sum(waits) - truth["wait"]) <= 2_000_000 + truth["wait"] / 50 + STAY * len(waits)
