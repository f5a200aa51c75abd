#!/usr/bin/python3
"""cold.py RUN COMM: a program that only reads from a device, past the cache, sleeps for storage alone. Fails unless each of its
sleeps with iowait has a request of its own that ends in it, and lies in its
requests but for the moment from the end of one to the wake."""
import csv
import os
import subprocess
import sys

WAKE = 5_000  # ns by which a wake may seem to come before the end of its request


def dump(table, columns):
    out = subprocess.run([os.environ["STRATA"], "dump", sys.argv[1], table, "--columns", columns], check=True,
                         capture_output=True, text=True).stdout
    return [row for row in csv.DictReader(out.splitlines()) if row["comm"] == sys.argv[2]]


def main():
    requests = [(int(row["ts"]), int(row["ts"]) + int(row["queued"] or 0) + int(row["dur"]))
                for row in dump("block", "ts,queued,dur,comm") if row["dur"]]
    sleeps, left = [], None
    for row in dump("sched", "ts,dur,comm,wake_ts,end_state,iowait"):
        if left and left[1] and row["wake_ts"]:
            sleeps.append((left[0], int(row["wake_ts"])))
        left = (int(row["ts"]) + int(row["dur"] or 0), row["iowait"] == "true")
    ended = [sleep for sleep in sleeps if any(sleep[0] < end <= sleep[1] + WAKE for _, end in requests)]
    asleep = sum(end - begin for begin, end in sleeps)
    inside = sum(max(0, min(sleep[1], request[1]) - max(sleep[0], request[0])) for sleep in sleeps for request in requests)
    print(f"{len(sleeps)} sleeps with iowait, {asleep / 1e6:.2f} ms; {len(ended)} ended by one of {len(requests)} requests, "
          f"{inside / 1e6:.2f} ms inside them")
    assert len(sleeps) >= 100, "too few to be a test"
    assert len(ended) >= 0.99 * len(sleeps)
    assert inside >= asleep / 2


if __name__ == "__main__":
    main()
