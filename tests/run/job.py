#!/usr/bin/python3
"""What table job says of build/workloads/usage, against what the kernel told that program and its parent.

    job.py RUN LAYERS USAGE ARGS...

starts `USAGE ARGS...`, attaches strata to it when it has a past, lets it go, and compares the sums of the
rows with two bounds: what the program read of its own counters between its first and its last moment under
the recording, and what its parent learns when it has ended less what it had used before. Prints what is
wrong, and fails.
"""
import os
import subprocess
import sys
import time

from rows import table_rows

COLUMNS = ("cpu", "minor_faults", "major_faults", "voluntary", "involuntary", "rchar", "wchar", "read_bytes",
           "write_bytes")
LAST = 512  # bytes of the program's last reading and of printing it, which it cannot tell itself


def reading(process):
    return dict(zip(COLUMNS, map(int, process.stdout.readline().split()), strict=True))


def after_exit(process, last):
    """What the parent learns; of bytes that is nothing."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the workload ended with {process.returncode}")
    return {"cpu": round((usage.ru_utime + usage.ru_stime) * 1e9), "minor_faults": usage.ru_minflt,
            "major_faults": usage.ru_majflt, "voluntary": usage.ru_nvcsw, "involuntary": usage.ru_nivcsw,
            **{name: last[name] + LAST for name in COLUMNS[5:]}}


def armed(run):
    return len(table_rows(run, "clock")) > 0 if os.path.exists(run) else False


def record(run, layers, command):
    """The readings before, at the start of and at the end of the recorded part, and after the exit."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    before = reading(process)
    strata = subprocess.Popen([os.environ["STRATA"], "record", "-q", "-o", run, "-e", layers, "--interval", "50ms",
                               "--scope", "job", "-p", str(process.pid)])
    while not armed(run):
        time.sleep(0.05)
    process.stdin.write(b"x")
    first, last = reading(process), reading(process)
    after = after_exit(process, last)
    if strata.wait():
        sys.exit("strata failed")
    return before, first, last, after


def compare(run, before, first, last, after):
    rows = table_rows(run, "job")
    exits = len([row for row in table_rows(run, "process") if row["event"] == "exit"])
    # A thread that its parent has reaped may still have to leave its CPU, once.
    slack = {"cpu": exits * 10_000, "voluntary": exits, "involuntary": exits // 10 + 10}
    wrong = [] if len(rows) > 2 else [f"{len(rows)} rows"]
    for name in COLUMNS:
        ours = sum(row["usr"] + row["sys"] if name == "cpu" else row[name] for row in rows)
        least, most = last[name] - first[name], after[name] - before[name]
        words = f"{name}: {least:,} <= {ours:,} <= {most:,} + {slack.get(name, 0):,}"
        print(words)
        if not least <= ours <= most + slack.get(name, 0):
            wrong.append(f"{words} does not hold")
    if (rows[-1]["processes"], rows[-1]["threads"], rows[-1]["rss"]) != (0, 0, 0):
        wrong.append(f"something lives after the end: {rows[-1]}")
    return wrong


if __name__ == "__main__":
    found = compare(sys.argv[1], *record(sys.argv[1], sys.argv[2], sys.argv[3:]))
    print("\n".join(found))
    sys.exit(bool(found))
