#!/usr/bin/python3
"""schedule.py RUN TRUTH: compares the sched rows of a thread with what the workload `schedule` read from
/proc about itself."""
import csv
import os
import subprocess
import sys

words = open(sys.argv[2], encoding="utf-8").read().split()
truth = {key: int(value) for key, value in zip(words[::2], words[1::2])}
dump = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], "sched", "--columns", "tid,ts,dur,wait"], check=True,
                      capture_output=True, text=True).stdout
run = wait = switches = 0
for row in csv.DictReader(dump.splitlines()):
    if row["tid"] != str(truth["tid"]) or not row["dur"]:
        continue
    ts, end = int(row["ts"]), int(row["ts"]) + int(row["dur"])
    run += max(0, min(end, truth["to"]) - max(ts, truth["from"]))
    switches += truth["from"] < end <= truth["to"]
    wait += int(row["wait"] or 0) if truth["from"] < ts <= truth["to"] else 0
tolerance = 1_000_000 + truth["run"] // 1000 + truth["steal"]
assert abs(run - truth["run"]) <= tolerance, f"on the CPU {run} ns, schedstat says {truth['run']}"
tolerance = 1_000_000 + truth["wait"] // 1000 + truth["steal"]
assert abs(wait - truth["wait"]) <= tolerance, f"waited {wait} ns, schedstat says {truth['wait']}"
assert switches == truth["switches"], f"{switches} switches, status says {truth['switches']}"
assert switches >= 60, "too few switches to be a test"
