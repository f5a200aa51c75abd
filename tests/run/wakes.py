#!/usr/bin/python3
"""wakes.py RUN LINES: compares wake_ts of sched rows with the lines of wake.bt, of one run.

Both programs run at the same tracepoints, one after the other. A thread that left its CPU asleep must have been woken by the
first sched_waking after that, as bpftrace saw it, and one that left in state R by none. One row in a hundred may differ: by
what bpftrace lost, and where the waker came while the thread was leaving, in which order only one clock can tell.
"""
import bisect
import collections
import csv
import os
import subprocess
import sys

NEAR = 1_000_000  # ns between the two programs' readings, when another machine has the CPU
PREEMPTED = 0x100


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        words = [line.split() for line in file]
    return sorted((int(word[2]), word[0], int(word[1]), *map(int, word[3:])) for word in words
                  if len(word) == (4 if word[:1] == ["L"] else 3) and word[0] in "WNLC")


def stays(lines):
    """When each thread came to a CPU, and when it was woken for that (None: it was not), as the lines say."""
    found, left, woken = collections.defaultdict(list), {}, {}
    for ts, kind, tid, *more in lines:
        if kind == "W":
            woken.setdefault(tid, []).append(ts)
        elif kind == "N":
            woken[tid], left[tid] = [ts], (ts, False)
        elif kind == "L":
            left[tid] = (ts, more[0] in (0, PREEMPTED))
        else:
            at, ready = left.pop(tid, (None, False))
            wakes = woken.pop(tid, [])
            if at and (ready or wakes):
                after = [wake for wake in wakes if wake >= at] or wakes[-1:]
                found[tid].append((ts, None if ready else after[0]))
    return found


def main():
    theirs = stays(read_lines(sys.argv[2]))
    out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns", "ts,tid,wait,wake_ts"], check=True,
                         capture_output=True, text=True).stdout
    counts, apart = collections.Counter(), []
    for row in csv.DictReader(out.splitlines()):
        ts, known = int(row["ts"]), theirs.get(int(row["tid"] or 0), [])
        place = bisect.bisect_left(known, (ts,))
        nearest = min(known[max(place - 1, 0):place + 1], key=lambda stay: abs(stay[0] - ts), default=None)
        if not nearest or abs(nearest[0] - ts) > NEAR or not row["wait"]:
            continue
        wake = int(row["wake_ts"]) if row["wake_ts"] else None
        if wake and nearest[1]:
            apart.append(abs(wake - nearest[1]))
        if (wake is None) != (nearest[1] is None):
            counts["woken here and not there" if wake else "woken there and not here"] += 1
        elif wake and abs(wake - nearest[1]) > NEAR:
            counts["by another wake"] += 1
        else:
            counts["alike"] += 1
    apart.sort()
    print(dict(counts), f"wake_ts apart by {apart[len(apart) // 2]} ns (median), {apart[len(apart) * 99 // 100]} ns (p99)")
    assert len(apart) >= 100, "too few to be a test"
    assert counts["alike"] >= 0.99 * sum(counts.values())


if __name__ == "__main__":
    main()
