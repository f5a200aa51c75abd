#!/usr/bin/python3
"""runqlat.py RUN COMM HISTOGRAM: puts the waits of the threads of a name into buckets and compares them with what runqlat.bt
counted (bpftrace -f json): each must agree within 2 % of all. Between the two clocks lies what strata's own programs take, of
which the two ends of a wait may differ: one number, of at most a microsecond, may be added to all waits."""
import collections
import csv
import json
import os
import subprocess
import sys


def buckets(waits, added):
    return collections.Counter((max(wait + added, 0) // 1000).bit_length() - 1 for wait in waits)


def main():
    out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns", "wait,comm"], check=True,
                         capture_output=True, text=True).stdout
    waits = [int(row["wait"]) for row in csv.DictReader(out.splitlines()) if row["comm"] == sys.argv[2] and row["wait"]]
    theirs = {}
    with open(sys.argv[3], encoding="utf-8") as file:
        for line in file:
            if '"hist"' in line:
                for name, found in json.loads(line)["data"].items():
                    theirs[name] = collections.Counter({one.get("min", 0).bit_length() - 1: one["count"] for one in found})

    def worst(added):
        ours = buckets(waits, added)
        return max(abs(ours[number] - theirs["@us"][number]) for number in ours | theirs["@us"])

    added = min(range(-1000, 1001, 50), key=lambda one: (worst(one), abs(one)))
    ours, total = buckets(waits, added), sum(theirs["@us"].values())
    for number in sorted(ours | theirs["@us"]):
        print(f"from {1 << number if number >= 0 else 0} us: {ours[number]} here, {theirs['@us'][number]} there, "
              f"{theirs['@late'][number]} from sched_wakeup on")
    print(f"at most {worst(added) / total:.2%} of {total} in one bucket, {added} ns added; {worst(0) / total:.2%} without")
    assert total >= 200, "too few to be a test"
    assert abs(len(waits) - total) <= 2 + total / 50
    assert worst(added) <= 2 + total / 50


if __name__ == "__main__":
    main()
