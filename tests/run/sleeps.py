#!/usr/bin/python3
"""sleeps.py RUN WORD: of the process that was started with WORD among its arguments, fails unless at least 99 % of what its
first thread slept has a thread, a device or a timer behind it."""
import collections
import csv
import os
import subprocess
import sys

DEVICES = ("hardirq", "block", "irq_poll", "net_rx", "net_tx", "tasklet", "hi")


def dump(table, columns):
    out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], table, "--columns", columns], check=True,
                         capture_output=True, text=True).stdout
    return csv.DictReader(out.splitlines())


def behind(row, iowait):
    if row["waker_tid"]:
        return "thread"
    if iowait or row["waker_kind"] in DEVICES:
        return "device"
    return "timer" if row["waker_kind"] == "timer" else f"unknown ({row['waker_kind'] or 'not seen'})"


def main():
    first = next(row for row in dump("process", "ts,event,tid,args") if row["event"] == "exec" and sys.argv[2] in row["args"])
    slept, left = collections.Counter(), None
    for row in dump("sched", "ts,dur,tid,wake_ts,waker_tid,waker_kind,end_state,iowait"):
        if row["tid"] != first["tid"] or int(row["ts"]) < int(first["ts"]) or not row["dur"]:
            continue
        if left and left[1] != "R":
            woken = int(row["wake_ts"] or row["ts"])
            slept[behind(row, left[2] == "true")] += max(0, woken - left[0])
        left = (int(row["ts"]) + int(row["dur"]), row["end_state"], row["iowait"])
    total = sum(slept.values())
    known = total - sum(ns for who, ns in slept.items() if who.startswith("unknown"))
    print(f"{total / 1e6:.1f} ms asleep, {100 * known / total:.2f} % known:",
          {who: round(ns / 1e6, 2) for who, ns in slept.items()})
    assert total > 20e6, "it hardly slept"
    assert known >= 0.99 * total


if __name__ == "__main__":
    main()
