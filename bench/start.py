"""How long a recording takes to start: from strata's execve until rows count, for all default layers and for each alone."""
import csv
import os
import statistics
import time

from commands import STRATA, in_turn, run, say

DEFAULT = "all by default"


def layers():
    """Those that this strata records, in its order."""
    lines = run([STRATA, "record", "-e", "list"]).stdout.splitlines()
    return [line.split()[0] for line in lines if "not yet" not in line]


def start_once(folder, options, strata=STRATA):
    path = os.path.join(folder, "start.strata")
    begun = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    run([strata, "record", "-q", "--force", "-o", path, *options, "--", "/bin/true"])
    facts = dict(csv.reader(run([strata, "dump", path, "run"]).stdout.splitlines()))
    return {"start_ns": int(facts["start_ts"]) - begun, "cpu_ns": int(facts["start_cpu_ns"]),
            "load_cpu_ns": {key.partition(".")[2]: int(value) for key, value in facts.items()
                            if key.startswith("load_cpu_ns.")}}


def measure_start(folder, rounds):
    what = {DEFAULT: [], **{layer: ["-e", layer] for layer in layers() if layer != "call"}}  # that one needs functions
    result = {name: [] for name in what}
    for number in range(rounds):
        for name in in_turn(list(what), number):
            result[name].append(start_once(folder, what[name]))
        say(f"start: round {number + 1} of {rounds}")
    return result


def summarize_start(measured):
    def of(rounds, key):
        return statistics.median(one[key] for one in rounds)

    loads = measured[DEFAULT]
    return {"layers": {name: {"start_ns": of(rounds, "start_ns"), "least_ns": min(one["start_ns"] for one in rounds),
                              "cpu_ns": of(rounds, "cpu_ns")} for name, rounds in measured.items()},
            "objects": {name: statistics.median(one["load_cpu_ns"][name] for one in loads)
                        for name in loads[0]["load_cpu_ns"]}}
