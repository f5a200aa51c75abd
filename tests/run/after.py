#!/usr/bin/python3
"""after.py RUN SYSCALL COMM: what ended each sleep in a call, by threads of a name: kind, waker, the waker's call; - is null."""
import csv
import os
import subprocess
import sys

out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns",
                      "ts,tid,comm,end_state,syscall,waker_kind,waker_tid,waker_syscall"], check=True, capture_output=True,
                     text=True).stdout
left = {}
for row in csv.DictReader(out.splitlines()):
    if left.get(row["tid"]) == ("S", sys.argv[2]) and row["comm"] == sys.argv[3]:
        print(row["waker_kind"] or "-", row["waker_tid"] or "-", row["waker_syscall"] or "-")
    left[row["tid"]] = (row["end_state"], row["syscall"])
