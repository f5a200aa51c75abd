#!/usr/bin/python3
"""wakers.py RUN FIRST SECOND LEAST: fails unless every stay of the one that follows its sleep in read was
begun by the other, and there are at least LEAST such stays of each."""
import csv
import os
import subprocess
import sys

run, first, second, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
dump = subprocess.run([os.environ["STRATA"], "dump", run, "sched", "--columns", "tid,waker_tid,end_state,syscall"],
                      check=True, capture_output=True, text=True).stdout
asleep, woken = {}, {first: 0, second: 0}
for row in csv.DictReader(dump.splitlines()):
    tid = row["tid"]
    if tid not in woken:
        continue
    if asleep.get(tid):
        other = second if tid == first else first
        assert row["waker_tid"] == other, f"{tid} was woken by {row['waker_tid'] or 'null'}, not by {other}"
        woken[tid] += 1
    asleep[tid] = row["end_state"] == "S" and row["syscall"] == "read"
assert min(woken.values()) >= least, f"woken {woken} times"
