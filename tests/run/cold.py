#!/usr/bin/python3
"""cold.py RUN TID: a thread that only reads from a device, past the cache, sleeps for storage alone. Fails unless each of its
sleeps with iowait has a request of its own that ends in it, lies in its requests but for the moment from the end of one to the
wake, and all of them together take as long as the requests do, but for the moments in which the thread still runs, or runs
again."""
import sys

from delays import dump, storage_sleeps

WAKE = 5_000  # ns by which a wake may seem to come before the end of its request


def union(spans):
    """How long at least one of them lasts."""
    total = until = 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def main():
    requests = [(int(row["ts"]), int(row["ts"]) + int(row["queued"] or 0) + int(row["dur"]))
                for row in dump(sys.argv[1], "block", "ts,queued,dur,tid", sys.argv[2]) if row["dur"]]
    sleeps = storage_sleeps(sys.argv[1], sys.argv[2])
    ended = [sleep for sleep in sleeps if any(sleep[0] < end <= sleep[1] + WAKE for _, end in requests)]
    asleep = sum(end - begin for begin, end in sleeps)
    inside = sum(max(0, min(sleep[1], request[1]) - max(sleep[0], request[0])) for sleep in sleeps for request in requests)
    print(f"{len(sleeps)} sleeps with iowait, {asleep / 1e6:.2f} ms; {len(ended)} ended by one of {len(requests)} requests, "
          f"{inside / 1e6:.2f} ms inside them, which take {union(requests) / 1e6:.2f} ms")
    assert len(sleeps) >= 100, "too few to be a test"
    assert len(ended) >= 0.99 * len(sleeps)
    assert inside >= asleep / 2
    assert 0.75 <= asleep / union(requests) <= 1.1


if __name__ == "__main__":
    main()
