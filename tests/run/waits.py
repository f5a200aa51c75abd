#!/usr/bin/python3
"""Compares table wait with what tests/workloads/waits.c tells of its calls.

    waits.py RUN TRUTH [STRACE]

The rows of the telling thread between its two marks, in order of ts, must be the truth's lines: as many, in that order, equal in
every column that a line states. A row lies inside the clocks that were read around its call; blocked is, to the
nanosecond, what the rows of sched leave between them and, summed over all, what passed on those clocks less the thread's CPU time. Of a timeout that is a moment
on a clock ('?') the row's is what was left of at most a second, give or take what lies between two looks at clocks in an
emulated machine. STRACE is the log of another run of the program under strace -f
-T: there each of these calls was made as often, with the same result, and those that timed out took no less than their timeout.
"""
import collections
import errno
import re
import sys

from rows import merged_rows, table_rows, text

COLUMNS = ("arg0", "fd", "path", "timeout", "returned", "restarted")
SLACK = 0.1  # a hypervisor that takes the CPU away between two looks at clocks


def told_rows(run):
    rows = merged_rows(run, ("fs", "wait"))
    marks = {row["arg_path"]: i for i, row in enumerate(rows) if (row.get("arg_path") or "").startswith("TRUTH")}
    first, last = marks["TRUTH BEGINS"], marks["TRUTH ENDS"]
    tid = rows[first]["tid"]
    return tid, [row for row in rows[first:last] if row["table"] == "wait" and row["tid"] == tid]


def off_cpu(stays, row):
    """What the stays of the thread leave of a row."""
    begin, end = row["ts"], row["ts"] + row["dur"]
    on = sum(max(0, min(end, stay["ts"] + stay["dur"]) - max(begin, stay["ts"])) for stay in stays)
    return end - begin - on


def problems(stated, row, stays):
    found = {key: text(row[key]).lower() if isinstance(row[key], bool) else text(row[key]) for key in COLUMNS}
    if stated.get("path", "-").startswith("/") and (found["path"] or "").startswith(stated["path"]):
        found["path"] = stated["path"]  # (deleted) follows it
    for key in COLUMNS:
        if key in stated and stated[key] == "?":
            if row[key] is None or not 0 < row[key] <= 1_020_000_000:
                yield f"{key}={found[key]}"
        elif key in stated and found[key] != stated[key]:
            yield f"{key}={found[key]}"
    if row["blocked"] is None:
        return
    # With --scope job the stay in which a thread exits has no row.
    seen = any(stay["ts"] <= row["ts"] + row["dur"] <= stay["ts"] + stay["dur"] for stay in stays)
    if seen and off_cpu(stays, row) != row["blocked"]:
        yield f"blocked={row['blocked']}, but by sched {off_cpu(stays, row)}"
    if "began" in stated:
        if not int(stated["began"]) <= row["ts"] <= row["ts"] + row["dur"] <= int(stated["ended"]):
            yield f"from {row['ts']} for {row['dur']}"


def outcome(returned):
    """A result, or only that there was one where it is a number that another run has not: of a process, of a descriptor."""
    return min(int(returned), 1)


def strace_outcome(number, rest):
    name = rest.split(None, 1)[0] if rest.strip() else ""
    if name.startswith("ERESTART"):
        return -errno.EINTR
    if name.startswith("E") and hasattr(errno, name):
        return -getattr(errno, name)
    return outcome(number) if number != "?" else None


def check_strace(log, told):
    made = collections.defaultdict(collections.Counter)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    teller = next(line.split()[0] for line in lines if "TRUTH BEGINS" in line)
    pattern = re.compile(r"(?:<\.\.\. )?(\w+)(?:\(| resumed).* = (-?\d+|\?)(.*) <([0-9.]+)>$")
    inside = False
    for line in lines:
        pid, rest = line.split(None, 1)
        inside = (inside or "TRUTH BEGINS" in rest) and "TRUTH ENDS" not in rest
        match = pattern.match(rest.strip()) if inside and pid == teller else None
        if match:
            made[match[1]][strace_outcome(match[2], match[3])] += 1
            if "Timeout" in match[3] and float(match[4]) < 0.0149:
                yield f"strace: {line}"
    stated = collections.defaultdict(collections.Counter)
    for line in told:
        stated[line["op"]][outcome(line["returned"])] += 1
    for op, outcomes in stated.items():
        # Calls that did not sleep are in the log too: those that wrote the truth of children, and of queues.
        more = op in ("io_uring_enter", "futex", "wait4")
        if outcomes - made[op] or (not more and made[op] != outcomes):
            yield f"strace: calls of {op} had the results {dict(made[op])}, not {dict(outcomes)}"


def main():
    run = sys.argv[1]
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = [line.split() for line in file.read().splitlines()]
    if lines[0] != ["begin"]:
        sys.exit("no truth was told")
    told = [dict([("op", line[0])] + [word.split("=", 1) for word in line[1:]]) for line in lines[1:]]
    tid, rows = told_rows(run)
    stays = [row for row in table_rows(run, "sched") if row["tid"] == tid and row["dur"] is not None]
    wrong = 0
    for number, (stated, row) in enumerate(zip(told, rows), 1):
        differ = [f"op={row['op']}"] if row["op"] != stated["op"] else list(problems(stated, row, stays))
        if differ:
            print(f"call {number}: truth: {' '.join(lines[number])}\n          row: {', '.join(differ)}")
            wrong += 1
    off = [(row["blocked"], int(stated["off"])) for stated, row in zip(told, rows)
           if "off" in stated and stated["op"] != "wait4" and row["blocked"] is not None]
    if abs(sum(ours for ours, _ in off) / sum(theirs for _, theirs in off) - 1) > SLACK:
        print(f"off the CPU for {sum(ours for ours, _ in off)} ns, by the program's clocks {sum(theirs for _, theirs in off)}")
        wrong += 1
    # Where the kernel hides a process from tracing a thread may not be seen to come back.
    unknown = sum(row["blocked"] is None for row in rows)
    if unknown > len(rows) // 10:
        print(f"{unknown} rows do not know how long they were off the CPU")
        wrong += 1
    if len(rows) != len(told):
        print(f"{len(told)} calls slept, {len(rows)} rows recorded")
        wrong += 1
    for problem in check_strace(sys.argv[3], told) if len(sys.argv) > 3 else ():
        print(problem)
        wrong += 1
    if wrong:
        sys.exit(1)
    print(f"{len(rows)} rows of {len({row['op'] for row in rows})} calls are true, {unknown} without blocked")


if __name__ == "__main__":
    main()
