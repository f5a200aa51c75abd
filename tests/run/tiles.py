#!/usr/bin/python3
"""tiles.py RUN: fails unless each CPU's sched rows follow each other from the start of the recording, the
last one without an end."""
import csv
import json
import os
import subprocess
import sys

strata, run = os.environ["STRATA"], sys.argv[1]
info = json.loads(subprocess.run([strata, "info", "--json", run], check=True, capture_output=True).stdout)
dump = subprocess.run([strata, "dump", run, "sched", "--columns", "cpu,ts,dur"], check=True, capture_output=True,
                      text=True).stdout
rows = {}
for row in csv.DictReader(dump.splitlines()):
    rows.setdefault(int(row["cpu"]), []).append((int(row["ts"]), int(row["dur"]) if row["dur"] else None))
assert len(rows) == info["cpus"], f"{len(rows)} CPUs have rows, of {info['cpus']}"
for cpu, stays in rows.items():
    at = stays[0][0]
    assert at == info["start_ts"], f"CPU {cpu} begins at {at}, the recording at {info['start_ts']}"
    for number, (ts, dur) in enumerate(stays):
        assert ts == at, f"CPU {cpu}: a row begins at {ts}, the one before it ended at {at}"
        assert (dur is None) == (number == len(stays) - 1), f"CPU {cpu}: row {number} of {len(stays)} has dur {dur}"
        at = ts + (dur or 0)
