#!/usr/bin/python3
"""delays.py RUN TID TICKS: the sleeps with iowait of a thread take together what the kernel's account of delays says, in ticks of
10 ms: within a tick and 2 %."""
import csv
import os
import subprocess
import sys


def dump(run, table, columns, tid):
    out = subprocess.run([os.environ["STRATA"], "dump", run, table, "--columns", columns], check=True,
                         capture_output=True, text=True).stdout
    return [row for row in csv.DictReader(out.splitlines()) if row["tid"] == tid]


def storage_sleeps(run, tid):
    """(from, to) of each sleep of a thread with iowait, until it was woken."""
    sleeps, left = [], None
    for row in dump(run, "sched", "ts,dur,tid,wake_ts,iowait", tid):
        if left and left[1] and row["wake_ts"]:
            sleeps.append((left[0], int(row["wake_ts"])))
        left = (int(row["ts"]) + int(row["dur"] or 0), row["iowait"] == "true")
    return sleeps


def main():
    sleeps = storage_sleeps(sys.argv[1], sys.argv[2])
    ours, theirs = sum(end - begin for begin, end in sleeps) / 1e6, int(sys.argv[3]) * 10
    print(f"{len(sleeps)} sleeps with iowait, {ours:.2f} ms; {theirs} ms by the kernel's account")
    assert len(sleeps) >= 20 and theirs >= 500, "too few to be a test"
    assert abs(ours - theirs) <= 10 + theirs / 50


if __name__ == "__main__":
    main()
