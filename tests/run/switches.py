#!/usr/bin/python3
"""Compares the lines `comm pid cpu nsecs` of a bpftrace script with those of `strata export -f switches`.

    switches.py BPFTRACE ITS_STDERR SWITCHES

Both programs run at one tracepoint, one after the other, with interrupts off: so on one CPU both read the clock for a
switch before either reads it for the next, however long another machine took the processor away in between. Put in order
of time, each line of bpftrace stands next to the same line of ours, on the side that the order of the two programs gives;
one that does not is missing from ours. Ours may have more: what bpftrace says that it lost, the threads whose leaving no
program sees (none of their lines is in bpftrace's), and the switches away from a thread inside bpf(), where the kernel
passes over a tracepoint's program and tells nobody.
"""
import collections
import re
import sys

MARGIN = 100_000_000  # ns at either end
PASSED_OVER = 10000  # one line in so many may be ours alone
THEIRS, OURS = 0, 1


def load(path, whose):
    cpus = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.fullmatch(r"(.*) (\d+|-) (\d+) (\d+)\n?", line)
            if match:
                cpus[int(match[3])].append((int(match[4]), whose, match[2], match[1].replace(" ", r"\x20")))
    return cpus


def same(one, other, names):
    """Inside execve a thread has its new name a little before the kernel tells of it."""
    return one[1] != other[1] and one[2] == other[2] and \
        (one[3] == other[3] or "-" in (one[3], other[3]) or {one[2:], other[2:]} <= names)


def alone(lines, names, side):
    """The lines that do not stand next to their like, when bpftrace's come first (side 0) or second (side 1)."""
    left, place = [], 0
    while place < len(lines):
        if place + 1 < len(lines) and lines[place][1] == side and same(lines[place], lines[place + 1], names):
            place += 2
        else:
            left.append(lines[place])
            place += 1
    return left


def main():
    theirs, ours = load(sys.argv[1], THEIRS), load(sys.argv[3], OURS)
    with open(sys.argv[2], encoding="utf-8") as file:
        lost = sum(map(int, re.findall(r"[Ll]ost (\d+) events", file.read())))
    first = max(min(lines)[0] for cpus in (theirs, ours) for lines in cpus.values()) + MARGIN
    last = min(max(lines)[0] for cpus in (theirs, ours) for lines in cpus.values()) - MARGIN
    names = {line[2:] for cpus in (theirs, ours) for lines in cpus.values() for line in lines}
    seen = {line[2] for lines in theirs.values() for line in lines}
    compared, by_side = 0, ([], [])
    for cpu in theirs.keys() | ours.keys():
        lines = sorted(line for line in theirs[cpu] + ours[cpu] if line[2] in seen)
        compared += sum(first <= line[0] <= last for line in theirs[cpu])
        for side in (THEIRS, OURS):
            by_side[side].extend(line for line in alone(lines, names, side) if first <= line[0] <= last)
    left = min(by_side, key=len)
    missing = [line for line in left if line[1] == THEIRS]
    extra = len(left) - len(missing)
    for ts, _, pid, comm in missing[:10]:
        print(f"only bpftrace: {comm} {pid} {ts}")
    print(f"{compared} lines of bpftrace compared, {len(missing)} not in switches; {extra} more there, {lost} lost by bpftrace")
    sys.exit(bool(missing or extra > lost + compared / PASSED_OVER or compared < 100))


if __name__ == "__main__":
    main()
