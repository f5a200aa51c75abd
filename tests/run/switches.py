#!/usr/bin/python3
"""Compares the lines `comm pid cpu nsecs` of a bpftrace script with those of `strata export -f switches`.

    switches.py BPFTRACE ITS_STDERR SWITCHES

Both run on one clock, but each reads it at its own moment of the same switch. So the lines of each CPU are compared in
order, in the time that both saw: each of bpftrace's must be there, as near in time as two programs at one tracepoint are.
What it lacks must be no more than it says that it lost, and one in a hundred: the kernel passes over its program, and
tells nobody, where the tracepoint is reached from within another one. Threads that strata has no name for (-) are not
compared, and inside execve a thread has its new name a little before the kernel tells of it.
"""
import bisect
import collections
import re
import sys

NEAR = 200_000, 50_000_000  # ns between the two readings of the clock; the second where an interrupt, or another
# machine on the same processor, came in between
MARGIN = 100_000_000  # ns at either end


def load(path):
    cpus = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.fullmatch(r"(.*) (\d+|-) (\d+) (\d+)\n?", line)
            if match:
                cpus[int(match[3])].append((int(match[4]), match[1].replace(" ", r"\x20"), match[2]))
    return {cpu: sorted(lines) for cpu, lines in cpus.items()}


def find(mine, used, names, line, near):
    """The first line of ours not yet used that is the same switch, or None."""
    ts, comm, pid = line
    for place in range(bisect.bisect_left(mine, (ts - near,)), len(mine)):
        if mine[place][0] > ts + near:
            return None
        if place not in used and mine[place][2] == pid and \
                (mine[place][1] in (comm, "-") or (pid, comm) in names):
            return place
    return None


def compare(theirs, mine, names):
    """The lines of theirs that are not in ours, and the places of those that are."""
    used, left = set(), theirs
    for near in NEAR:
        missing = []
        for line in left:
            place = find(mine, used, names, line, near)
            if place is None:
                missing.append(line)
            else:
                used.add(place)
        left = missing
    return left, used


def main():
    theirs, ours = load(sys.argv[1]), load(sys.argv[3])
    with open(sys.argv[2], encoding="utf-8") as file:
        lost = sum(map(int, re.findall(r"[Ll]ost (\d+) events", file.read())))
    first = max(lines[0][0] for cpus in (theirs, ours) for lines in cpus.values()) + MARGIN
    last = min(lines[-1][0] for cpus in (theirs, ours) for lines in cpus.values()) - MARGIN
    names = {(pid, comm) for lines in ours.values() for _, comm, pid in lines}
    compared = missing = extra = 0
    for cpu in sorted(set(theirs) | set(ours)):
        both_saw = [line for line in theirs.get(cpu, []) if first <= line[0] <= last]
        left, used = compare(both_saw, ours.get(cpu, []), names)
        compared += len(both_saw)
        missing += len(left)
        extra += sum(first <= line[0] <= last and place not in used and line[1] != "-"
                     for place, line in enumerate(ours.get(cpu, [])))
        for ts, comm, pid in left[:10]:
            print(f"only bpftrace: {comm} {pid} {cpu} {ts}")
    print(f"{compared} lines of bpftrace compared, {missing} not in switches; {extra} more there, {lost} lost by bpftrace")
    # One line of 173,716 was once in theirs alone, and why is not known: so many are let pass.
    sys.exit(bool(missing > compared / 10000 or extra > lost + compared / 100 or compared < 100))


if __name__ == "__main__":
    main()
