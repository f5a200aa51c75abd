#!/usr/bin/python3
"""runqlat.py RUN COMM HISTOGRAM: puts the waits of the threads of a name into buckets and compares them with what runqlat.bt
counted (bpftrace -f json): each must agree within 2 % of all."""
import collections
import csv
import json
import os
import subprocess
import sys

def main():
    out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns", "wait,comm"], check=True,
                         capture_output=True, text=True).stdout
    ours = collections.Counter((int(row["wait"]) // 1000).bit_length() - 1 for row in csv.DictReader(out.splitlines())
                               if row["comm"] == sys.argv[2] and row["wait"])
    theirs = {}
    with open(sys.argv[3], encoding="utf-8") as file:
        for line in file:
            if '"hist"' in line:
                for name, buckets in json.loads(line)["data"].items():
                    theirs[name] = collections.Counter({b.get("min", 0).bit_length() - 1: b["count"] for b in buckets})
    for number in sorted(ours | theirs["@us"]):
        print(f"from {1 << number if number >= 0 else 0} us: {ours[number]} here, {theirs['@us'][number]} there, "
              f"{theirs['@late'][number]} from sched_wakeup on")
    total = sum(theirs["@us"].values())
    allowed = 2 + total * 2 / 100
    assert total >= 200, "too few to be a test"
    assert abs(sum(ours.values()) - total) <= allowed
    for number in ours | theirs["@us"]:
        assert abs(ours[number] - theirs["@us"][number]) <= allowed, f"bucket {number}"


if __name__ == "__main__":
    main()
