#!/usr/bin/python3
"""wakers.py RUN FIRST SECOND LEAST: fails unless every stay of the one that follows its sleep in read was
begun by the other, and there are at least LEAST such stays of both. One that is preempted by the thread it wakes finds its
answer there, and need not sleep. FIRST is the program itself; before its execve it slept in a read until strata woke it."""
import csv
import os
import subprocess
import sys

run, first, second, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def dump(table, columns):
    out = subprocess.run([os.environ["STRATA"], "dump", run, table, "--columns", columns], check=True, capture_output=True,
                         text=True).stdout
    return csv.DictReader(out.splitlines())


begin = max(int(row["ts"]) for row in dump("process", "ts,event,tid") if row["event"] == "exec" and row["tid"] == first)
asleep, woken = {}, {first: 0, second: 0}
for row in dump("sched", "ts,tid,waker_tid,end_state,syscall"):
    tid = row["tid"]
    if tid not in woken or int(row["ts"]) < begin:
        continue
    if asleep.get(tid):
        other = second if tid == first else first
        assert row["waker_tid"] == other, f"{tid} was woken by {row['waker_tid'] or 'null'}, not by {other}"
        woken[tid] += 1
    asleep[tid] = row["end_state"] == "S" and row["syscall"] == "read"
assert sum(woken.values()) >= least, f"woken {woken} times"
