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

NEAR = 200_000  # ns between the two programs' readings of the clock: they may be interrupted in between
MARGIN = 100_000_000  # ns at either end


def load(path):
    cpus = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.fullmatch(r"(.*) (\d+|-) (\d+) (\d+)\n?", line)
            if match:
                cpus[int(match[3])].append((int(match[4]), match[1].replace(" ", r"\x20"), match[2]))
    return {cpu: sorted(lines) for cpu, lines in cpus.items()}


def main():
    theirs, ours = load(sys.argv[1]), load(sys.argv[3])
    with open(sys.argv[2], encoding="utf-8") as file:
        lost = sum(map(int, re.findall(r"[Ll]ost (\d+) events", file.read())))
    first = max(lines[0][0] for cpus in (theirs, ours) for lines in cpus.values()) + MARGIN
    last = min(lines[-1][0] for cpus in (theirs, ours) for lines in cpus.values()) - MARGIN
    names = {(pid, comm) for lines in ours.values() for _, comm, pid in lines}
    compared = missing = extra = 0
    for cpu in sorted(set(theirs) | set(ours)):
        mine = ours.get(cpu, [])
        used = set()
        for ts, comm, pid in theirs.get(cpu, []):
            if not first <= ts <= last:
                continue
            compared += 1
            place = bisect.bisect_left(mine, (ts - NEAR,))
            while place < len(mine) and mine[place][0] <= ts + NEAR and \
                    (place in used or mine[place][2] != pid or
                     mine[place][1] not in (comm, "-") and (pid, comm) not in names):
                place += 1
            if place < len(mine) and mine[place][0] <= ts + NEAR:
                used.add(place)
            else:
                missing += 1
                print(f"only bpftrace: {comm} {pid} {cpu} {ts}")
        extra += sum(first <= line[0] <= last and place not in used and line[1] != "-"
                     for place, line in enumerate(mine))
    print(f"{compared} lines of bpftrace compared, {missing} not in switches; {extra} more there, {lost} lost by bpftrace")
    sys.exit(bool(missing or extra > lost + compared / 100 or compared < 100))


if __name__ == "__main__":
    main()
