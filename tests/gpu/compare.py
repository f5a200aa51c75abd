#!/usr/bin/env python3
"""Compares what strata recorded of a GPU with what others tell; see tests/gpu/run.

    strata dump RUN gpu_op | compare.py PROFILE         kernels by name, copies, memsets and time, of torch.profiler
    strata dump RUN gpu_op | compare.py --launches      each kernel has a thread, and a launch before its start
    compare.py --dmon THEIRS OURS; --pmon THEIRS OURS   nvidia-smi's output and the classic layouts
    compare.py --busy REPORT                            the union of gpu_op, and NVML's samples
    compare.py --same PROFILE PROFILE                   two of torch.profiler
    compare.py --cost ROUNDS NAME...                    step times of NAME.1 to NAME.ROUNDS; the first is bare
"""
import collections
import csv
import json
import statistics
import sys

wrong = []


def expect(true, words):
    if not true:
        wrong.append(words)


def load(path):
    with open(path) as file:
        return json.load(file)


def without_blanks(name):
    """Demanglers differ in blanks only."""
    return name.replace(" ", "")


def compare_ops(profile):
    kernels, copies, memsets, ns = collections.Counter(), 0, 0, 0
    for row in csv.DictReader(sys.stdin):
        if row["kind"] == "kernel":
            kernels[without_blanks(row["name"])] += 1
            ns += int(row["dur"])
        elif row["kind"] == "copy":
            copies += int(row["bytes"])
        elif row["kind"] == "memset":
            memsets += 1
    theirs = collections.Counter()
    for name, count in profile["kernels"].items():
        theirs[without_blanks(name)] += count
    expect(kernels == theirs, f"kernels: {(kernels - theirs).most_common(3)} more, {(theirs - kernels).most_common(3)} fewer")
    expect(copies == profile["copy_bytes"], f"bytes copied: {copies}, not {profile['copy_bytes']}")
    expect(memsets == profile["memsets"], f"memsets: {memsets}, not {profile['memsets']}")
    expect(abs(ns / 1000 - profile["kernel_us"]) <= 0.01 * profile["kernel_us"],
           f"time: {ns / 1000:.0f} us, not {profile['kernel_us']:.0f}")
    print(f"      {sum(kernels.values())} kernels of {len(kernels)} names, {copies} bytes, {memsets} memsets, {ns / 1e6:.2f} ms")


def compare_launches():
    rows = [row for row in csv.DictReader(sys.stdin) if row["kind"] == "kernel"]
    bare = [row for row in rows if not row["tid"] or not row["launch"]]
    early = [row for row in rows if row["launch"] and int(row["launch"]) > int(row["ts"])]
    expect(rows and not bare, f"{len(bare)} of {len(rows)} kernels without thread or launch")
    expect(not early, f"{len(early)} of {len(rows)} kernels began before their launch: the clocks differ")


def columns(path):
    """Lines of nvidia-smi as dictionaries; those of GPU 0."""
    names, rows = None, []
    for line in open(path):
        words = line.split()
        if line.startswith("#"):
            names = names or [word.lstrip("#") for word in words]
        elif names and len(words) >= len(names):
            rows.append(dict(zip(names, words)))
    return [row for row in rows if row["gpu"] == "0"]


def mean(rows, name):
    values = [float(row[name]) for row in rows if row.get(name, "-") != "-"]
    return statistics.mean(values) if values else None


def compare_dmon(theirs, ours):
    theirs, ours = columns(theirs), columns(ours)
    for name, within in (("sm", 10), ("mem", 10), ("pwr", 40), ("gtemp", 4), ("fb", 300), ("pclk", 150), ("mclk", 50)):
        a, b = mean(theirs, name), mean(ours, name)
        print(f"      {name}: dmon {a}, strata {b}")
        expect(a is not None and b is not None and abs(a - b) <= within, f"{name}: {b}, and dmon has {a}")


def compare_pmon(theirs, ours):
    theirs, ours = columns(theirs), columns(ours)
    pids = [{row["pid"] for row in rows if row["pid"] != "-"} for rows in (theirs, ours)]
    expect(pids[1] and pids[0] & pids[1], f"processes: {pids[1]}, and pmon has {pids[0]}")
    most = [max((float(row["fb"]) for row in rows if row["fb"] != "-"), default=0) for rows in (theirs, ours)]
    expect(abs(most[0] - most[1]) <= 64, f"most memory: {most[1]}, and pmon has {most[0]}")
    print(f"      processes {sorted(pids[1])}, most memory {most[1]} MB")


def compare_busy(report):
    device = report["gpu_work"]["devices"][0]
    sampled = report["usage"]["gpus"][0]["sm"]
    print(f"      busy {100 * device['share']:.1f} %, by NVML {sampled:.1f} %")
    expect(abs(100 * device["share"] - sampled) <= 10, "they differ by more than 10 points")


def compare_same(left, right):
    for key in ("kernels", "copy_bytes", "memsets"):
        expect(left[key] == right[key], f"{key} differ")
    expect(abs(left["kernel_us"] - right["kernel_us"]) <= 0.02 * left["kernel_us"], "time differs by more than 2 %")


def compare_cost(rounds, names):
    medians = {}
    for name in names:
        times = []
        for number in range(1, rounds + 1):
            try:
                times.append(statistics.median(load(f"{name}.{number}")))
            except OSError:
                pass
        if times:
            medians[name] = statistics.median(times)
            print(f"      {name:10} {medians[name]:8.2f}   {' '.join(f'{t:.1f}' for t in times)}   "
                  f"{100 * (medians[name] / medians[names[0]] - 1):+.1f} %")
    bare = medians[names[0]]
    expect(medians["default"] <= 1.01 * bare, "default layers cost more than 1 %")
    expect(medians["gpu_op"] <= 1.02 * bare, "gpu_op costs more than 2 %")
    expect(medians["gpu_op"] < medians["profiler"], "gpu_op costs more than torch.profiler")


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "--launches":
        compare_launches()
    elif what == "--dmon":
        compare_dmon(*rest)
    elif what == "--pmon":
        compare_pmon(*rest)
    elif what == "--busy":
        compare_busy(load(rest[0]))
    elif what == "--same":
        compare_same(load(rest[0]), load(rest[1]))
    elif what == "--cost":
        compare_cost(int(rest[0]), rest[1:])
    else:
        compare_ops(load(what))
    for words in wrong:
        print("      " + words)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
