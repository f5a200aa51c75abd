#!/usr/bin/python3
"""answers.py RUN FIRST SECOND: two processes answer each other over a TCP connection of this machine. Fails unless those of their
sleeps in recvfrom that a softirq ended name the other, in its sendto; one in a hundred may have been delivered by somebody
else's softirq, and names nobody."""
import collections
import csv
import os
import subprocess
import sys

first, second = sys.argv[2:]
out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns",
                      "ts,tid,end_state,syscall,waker_kind,waker_tid,waker_syscall"], check=True, capture_output=True,
                     text=True).stdout
left, found = {}, collections.Counter()
for row in csv.DictReader(out.splitlines()):
    tid = row["tid"]
    if tid in (first, second) and left.get(tid) == ("S", "recvfrom"):
        other = second if tid == first else first
        found[row["waker_kind"], "other" if row["waker_tid"] == other else row["waker_tid"], row["waker_syscall"]] += 1
    left[tid] = (row["end_state"], row["syscall"])
print(dict(found))
right = found["net_rx", "other", "sendto"] + found["thread", "other", "exit_group"]
assert right >= 100, "too few to be a test"
assert right >= 0.99 * sum(found.values())
assert not [key for key in found if key[1] not in ("other", "")], "somebody else"
