#!/usr/bin/python3
"""on_cpu.py RUN...: whoever wakes a thread is on a CPU at that moment. Fails unless that holds for the waker of every sched row
that has one, as the other rows tell; prints how many there are, and the exceptions by kind. One kind is explained: some kernels
hide a process from tracing, so that its threads are not seen to leave (end_state is null) and when they did is estimated; then
the stay of whoever came after may seem to have begun later than it did."""
import bisect
import collections
import csv
import os
import subprocess
import sys


def dump(run):
    out = subprocess.run([os.environ["STRATA"], "dump", run, "sched", "--columns",
                          "ts,dur,tid,wake_ts,waker_tid,waker_kind,end_state"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(out.splitlines()))


def check(run):
    rows, stays, estimated = dump(run), collections.defaultdict(list), []
    for row in rows:
        end = int(row["ts"]) + int(row["dur"]) if row["dur"] else float("inf")
        stays[row["tid"]].append((int(row["ts"]), end))
        if not row["end_state"]:
            estimated.append((int(row["ts"]), end))
    wakes, kinds = 0, collections.Counter()
    for row in rows:
        if not row["waker_tid"]:
            continue
        wakes += 1
        if not row["wake_ts"]:
            kinds["no time"] += 1
            continue
        wake, known = int(row["wake_ts"]), stays[row["waker_tid"]]
        place = bisect.bisect_right(known, (wake, float("inf"))) - 1
        if place >= 0 and known[place][1] >= wake:
            continue
        if any(begin <= wake <= end for begin, end in estimated):
            kinds["in a stay whose end is estimated"] += 1
        elif not known:
            kinds["the waker has no stays"] += 1
        else:
            late = (wake - known[place][1]) if place >= 0 else 0
            kinds[f"off its CPU ({row['waker_kind']})"] += 1
            print(f"{run}: {row['tid']} woken by {row['waker_tid']} ({row['waker_kind']}) at {wake}, {late} ns after it left")
    print(f"{run}: {wakes} wakes by threads, {sum(kinds.values())} exceptions {dict(kinds)}")
    return wakes, sum(count for kind, count in kinds.items() if "estimated" not in kind)


def main():
    counts = [check(run) for run in sys.argv[1:]]
    assert sum(wakes for wakes, _ in counts) >= 100, "too few to be a test"
    assert not sum(exceptions for _, exceptions in counts)


if __name__ == "__main__":
    main()
