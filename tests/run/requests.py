#!/usr/bin/python3
"""Block requests of one device in a trace, added up.

    requests.py RUN DEV FROM TO     of those that ended between two readings of the clock: for each operation,
                                    requests and sectors, as disk_delta in block.bats prints /sys/block/DEV/stat
    requests.py RUN DEV times READS WRITES    checks that the time of all reads, and of all writes, from queue to end is
                                    what the kernel accounts to the device, in milliseconds
    requests.py RUN DEV files FOLDER    checks that cold reads of all files in FOLDER carry the right file
"""
import os
import sys

from rows import table_rows

NEVER = 3600 * 10**9  # a time that no request takes: a difference that wrapped is longer


def totals(rows, begin, end):
    """A kernel that hides a process from tracing does not show the end of a request that is completed in an interrupt of
    it. Such requests are rare, and ended before the second reading too: the device was idle then."""
    unseen = [row for row in rows if row["dur"] is None]
    if len(unseen) > 1 + len(rows) // 100:
        sys.exit(f"{len(unseen)} of {len(rows)} requests were not seen to end, one of them {unseen[0]}")
    sums = {op: [0, 0] for op in "RWDF"}
    for row in rows:
        if (row["dur"] or 0) > NEVER or (row["queued"] or 0) > NEVER:
            sys.exit(f"time that cannot be: {row}")
        if begin < row["ts"] + (row["queued"] or 0) + (row["dur"] or 0) <= end:
            sums[row["op"]][0] += 1
            sums[row["op"]][1] += row["bytes"] // 512
    for op, (requests, sectors) in sums.items():
        print(op, requests, *([] if op == "F" else [sectors]))


def times(rows, **accounted):
    """The kernel takes the time of requests that are sent together once, before the first; it rounds down."""
    for op, expected in accounted.items():
        found = sum(row["queued"] + (row["dur"] or 0) for row in rows if row["op"] == op) / 1e6
        if not expected or abs(found - expected) > 0.05 * expected + 2:
            print(f"{op}: {found:.1f} ms in all requests, {expected} ms accounted")


def files(rows, folder):
    """Each file was read once: its bytes in whole blocks, and at least 95 % of all that was read."""
    found, everything, right = {}, 0, 0
    for row in rows:
        if row["op"] == "R":
            everything += row["bytes"]
            found[row["path"]] = found.get(row["path"], 0) + row["bytes"]
    names = [os.path.join(folder, name) for name in os.listdir(folder)]
    for name in names:
        size = (os.stat(name).st_size + 4095) // 4096 * 4096
        if found.get(name) != size:
            print(f"{name}: {found.get(name)} bytes read, {size} expected")
        right += min(found.get(name, 0), size)
    if not names or right < 0.95 * everything:
        print(f"right for {right} of {everything} bytes")


def main():
    run, device, *rest = sys.argv[1:]
    rows = [row for row in table_rows(run, "block") if row["dev"] == device]
    if rest[0] == "files":
        files(rows, rest[1])
    elif rest[0] == "times":
        times(rows, R=int(rest[1]), W=int(rest[2]))
    else:
        totals(rows, int(rest[0]), int(rest[1]))


if __name__ == "__main__":
    main()
