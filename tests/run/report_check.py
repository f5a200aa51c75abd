#!/usr/bin/python3
"""Compares `strata report --json RUN` with sums that are made here from `strata dump` alone.

    report_check.py RUN [LOG]

Prints each figure that differs and exits 1; prints the number of figures compared.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys

STRATA = os.environ["STRATA"]
RUN = sys.argv[1]
compared = 0
wrong = 0


def rows(table):
    text = subprocess.run([STRATA, "dump", RUN, table], check=True, capture_output=True).stdout.decode()
    return list(csv.DictReader(io.StringIO(text)))


def number(cell):
    return int(cell) if cell else 0


def same(what, expected, found):
    global compared, wrong
    compared += 1
    if expected != found:
        wrong += 1
        print(f"{what}: dump says {expected}, report says {found}")


def near(what, expected, found):
    same(what, round(expected, 6), round(found, 6))


def quantile(values, q):
    """The same rank as the report's: the report may answer at most 1/32 more."""
    values = sorted(values)
    rank = max(int(q * len(values) + 0.999999999), 1)
    return values[rank - 1]


def check_hist(what, values, found):
    same(f"{what} count", len(values), found["count"])
    same(f"{what} sum", sum(values), found["sum"])
    if not values:
        return
    same(f"{what} most", max(values), found["most"])
    same(f"{what} least", min(values), found["least"])
    for q, key in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
        exact = quantile(values, q)
        same(f"{what} {key} {exact} {found[key]}", True, exact <= found[key] <= exact + exact / 32 + 1)
    bins = collections.Counter(value.bit_length() for value in values)
    same(f"{what} bins", [bins[i] for i in range(max(bins) + 1)], found["bins"])


report = json.loads(subprocess.run([STRATA, "report", "--json", RUN] + (["--log", sys.argv[2]] if sys.argv[2:] else []),
                                   check=True, capture_output=True).stdout)
facts = {row["key"]: row["value"] for row in rows("run")}
start, stop = int(facts["start_ts"]), int(facts["stop_ts"])
recorder = facts["recorder_tids"].split(",")
process = rows("process")
kernel_pids = {row["pid"] for row in process if row["ppid"] == "2"} | {"2"}

# The job: the recorder's child, and what it forked.
root = next(row["pid"] for row in process if row["ppid"] == recorder[0] and row["event"] == "exec")
job = {root}
for row in process:
    if row["event"] == "fork" and row["pid"] == row["tid"] and row["ppid"] in job:
        job.add(row["pid"])


# The stay of its execve began before it.
execed = next(int(row["ts"]) for row in process if row["event"] == "exec" and row["tid"] == root)


def clip(ts):
    return min(max(ts, start), stop)


def task_name(comm, pid):
    if pid in kernel_pids and "/" in comm[1:]:
        return comm.split("/")[0]
    return comm


# ---- sched ----
sched = rows("sched")
cpu_ns, stays, waits, names = collections.Counter(), collections.Counter(), collections.defaultdict(list), {}
by_cpu = collections.Counter()
idle = busy = job_cpu = job_wait = switches = 0
main_cpu = 0
covered = {}
gaps = collections.Counter()
for row in sched:
    ts = int(row["ts"])
    begin = clip(ts)
    end = clip(ts + int(row["dur"])) if row["dur"] else stop
    cpu = row["cpu"]
    if begin > covered.get(cpu, start):
        gaps[cpu] += begin - covered.get(cpu, start)
    covered[cpu] = max(covered.get(cpu, start), end)
    if row["tid"] == "0":
        name = "idle"
        idle += end - begin
    else:
        if row["comm"]:
            names[row["tid"]] = row["comm"]
        name = task_name(names.get(row["tid"], "(unknown)"), row["pid"])
        busy += end - begin
        switches += 1
        by_cpu[int(cpu)] += end - begin
        if row["wait"]:
            waits[name].append(int(row["wait"]))
        if row["pid"] in job:
            job_cpu += end - begin
            job_wait += number(row["wait"])
            if row["tid"] == root:
                main_cpu += max(end - max(begin, execed), 0)
    cpu_ns[name] += end - begin
    stays[name] += 1
tasks = report["tasks"]
if sched:
    same("busy_ns", busy, tasks["busy_ns"])
    same("idle_ns", idle, tasks["idle_ns"])
    same("stays", switches, tasks["stays"])
    same("job_cpu_ns", job_cpu, tasks["job_cpu_ns"])
    same("job_wait_ns", job_wait, tasks["job_wait_ns"])
    same("figure cpu_ns", job_cpu, report["run"]["figures"]["cpu_ns"])
    same("figure main_cpu_ns", main_cpu, report["run"]["figures"]["main_cpu_ns"])
    found = {name["name"]: name for name in tasks["names"]}
    for name in cpu_ns:
        same(f"task {name} cpu_ns", cpu_ns[name], found[name]["cpu_ns"])
        same(f"task {name} stays", stays[name], found[name]["stays"])
        check_hist(f"task {name} wait", waits[name], found[name]["wait"])
    for cpu in tasks["cpus"]:
        same(f"cpu {cpu['cpu']} busy_ns", by_cpu[cpu["cpu"]], cpu["busy_ns"])
        same(f"cpu {cpu['cpu']} gap_ns", gaps[str(cpu["cpu"])] + max(stop - covered[str(cpu["cpu"])], 0), cpu["gap_ns"])

# ---- lives of processes ----
lives = collections.defaultdict(list)
born, named, gone = {}, {}, {}
counts = collections.Counter()


def bury(pid):
    name = task_name(named.get(pid) or "(unknown)", pid)
    counts[name] += 1
    if pid in born and pid in gone:
        lives[name].append(gone[pid] - born[pid])
    for state in (born, named, gone):
        state.pop(pid, None)


seen = set()
for row in process:
    pid, leader = row["pid"], row["pid"] == row["tid"]
    if not pid:
        continue
    if pid in seen and leader and (row["event"] == "fork" or pid in gone):
        if pid not in gone and row["event"] == "fork":
            gone[pid] = int(row["ts"])
        bury(pid)
    seen.add(pid)
    if leader and row["event"] == "fork":
        born[pid] = int(row["ts"])
    if pid == root and row["event"] == "exec" and pid not in born:
        born[pid] = int(row["ts"])
    if leader and row["comm"]:
        named[pid] = row["comm"]
    if row["event"] == "exit" and (leader or pid in gone):
        gone[pid] = int(row["ts"])
for pid in list(seen):
    bury(pid)
found = {name["name"]: name for name in tasks["names"]}
for name in counts:
    same(f"task {name} processes", counts[name], found[name]["processes"])
    same(f"task {name} lives", len(lives[name]), found[name]["lives"])
    same(f"task {name} life_ns", sum(lives[name]), found[name]["life_ns"])

# ---- io, fs ----
kinds = {row["file"]: row["kind"] for row in rows("file")}
files = report["files"]
calls = rows("io")
ops = collections.defaultdict(lambda: collections.defaultdict(list))
op_bytes = collections.Counter()
read, written, latency, sizes = (collections.defaultdict(list) for _ in range(4))
covered = collections.defaultdict(set)
again = collections.Counter()
small = empty = 0
last, sequential, walked = {}, collections.Counter(), collections.Counter()
per_pid = collections.defaultdict(list)
total = collections.Counter()
PAGE = 1
for row in calls:
    returned = number(row["returned"])
    moved = max(returned, 0)
    ops[row["op"]]["calls"].append(1)
    op_bytes[row["op"]] += moved
    if row["dur"]:
        ops[row["op"]]["latency"].append(int(row["dur"]))
    reads = row["dir"] in "RC"
    total["reads" if reads else "writes"] += 1
    total["read_bytes" if reads else "write_bytes"] += moved
    total["read_ns" if reads else "write_ns"] += number(row["dur"])
    per_pid[row["pid"]].append((reads, moved, number(row["dur"])))
    if not row["file"]:
        continue
    path, regular = row["file"], kinds[row["file"]] == "file"
    (read if reads else written)[path].append((moved, number(row["dur"])))
    if row["dur"]:
        latency[path].append(int(row["dur"]))
    if row["returned"] and returned >= 0:
        sizes[path].append(moved)
    if not reads or not regular:
        continue
    small += 0 < moved < 4096
    empty += returned == 0 and row["returned"] != ""
    if row["pos"] and moved:
        begin, end = int(row["pos"]), int(row["pos"]) + moved
        pieces = covered[path]
        hit, rest = 0, set()
        for b, e in pieces:
            hit += max(min(e, end) - max(b, begin), 0)
        again[path] += hit
        merged = sorted(pieces | {(begin, end)})
        whole = [list(merged[0])]
        for b, e in merged[1:]:
            if b <= whole[-1][1]:
                whole[-1][1] = max(whole[-1][1], e)
            else:
                whole.append([b, e])
        covered[path] = {tuple(piece) for piece in whole}
        key = (path, row["tid"])
        if key in last:
            walked[path] += 1
            sequential[path] += last[key] == begin
        last[key] = end
figures = report["run"]["figures"]
for key in ("reads", "read_bytes", "read_ns", "writes", "write_bytes", "write_ns"):
    same(f"figure {key}", total[key], figures[key])
regular = files["regular"]
same("small reads", small, regular["small_reads"])
same("empty reads", empty, regular["empty_reads"])
same("again_bytes", sum(again.values()), regular["again_bytes"])
same("again_files", sum(1 for value in again.values() if value), regular["again_files"])
same("sequential", sum(sequential.values()), regular["sequential_reads"])
same("compared", sum(walked.values()), regular["compared_reads"])
same("regular read bytes", sum(m for f in read for m, _ in read[f] if kinds[f] == "file"), regular["read"]["bytes"])
listed = {str(use["file"]): use for use in files["list"]}
for file in set(read) | set(written):
    use = listed[file]
    same(f"file {file} read bytes", sum(m for m, _ in read[file]), use["read"]["bytes"])
    same(f"file {file} read calls", len(read[file]), use["read"]["calls"])
    same(f"file {file} read time", sum(t for _, t in read[file]), use["read"]["time_ns"])
    same(f"file {file} write bytes", sum(m for m, _ in written[file]), use["written"]["bytes"])
    check_hist(f"file {file} latency", latency[file], use["latency"])
    check_hist(f"file {file} size", sizes[file], use["size"])
    if kinds[file] == "file":
        same(f"file {file} again", again[file], use["again_bytes"])
fs = rows("fs")
opens = stats = failed = 0
opened = collections.Counter()
for row in fs:
    ops[row["op"]]["calls"].append(1)
    if row["dur"]:
        ops[row["op"]]["latency"].append(int(row["dur"]))
    if "open" in row["op"] or row["op"] == "creat":  # io_uring_openat too
        opens += 1
        failed += number(row["returned"]) < 0
        opened[row["file"]] += 1
    elif ("stat" in row["op"] or "access" in row["op"]) and "statfs" not in row["op"]:
        stats += 1
same("opens", opens, files["opens"])
same("failed opens", failed, files["failed_opens"])
same("stats", stats, files["stats"])
for file, count in opened.items():
    if file:
        same(f"file {file} opens", count, listed[file]["opens"])
found = {op["op"]: op for op in files["operations"] if op["table"] != "mem"}
same("operations", sorted(ops), sorted(found))
for op in ops:
    same(f"{op} calls", len(ops[op]["calls"]), found[op]["calls"])
    same(f"{op} bytes", op_bytes[op], found[op]["bytes"])
    check_hist(f"{op} latency", ops[op]["latency"], found[op]["latency"])
by_dir = collections.Counter()
paths = {row["file"]: row["path"] for row in rows("file")}
for file in set(read) | set(written):
    if kinds[file] == "file" and paths[file].startswith("/"):
        by_dir[os.path.dirname(paths[file])] += sum(m for m, _ in read[file])
for directory in files["directories"]:
    same(f"directory {directory['path']}", by_dir[directory["path"]], directory["read"]["bytes"])
for use in files["processes"]:
    same(f"process {use['pid']} read", sum(m for r, m, _ in per_pid[str(use["pid"])] if r), use["read"]["bytes"])
    same(f"process {use['pid']} reads", sum(r for r, _, _ in per_pid[str(use["pid"])]), use["read"]["calls"])

# ---- block, cpu ----
devices = collections.defaultdict(lambda: collections.defaultdict(list))
for row in rows("block"):
    if row["op"] in "RW":
        if row["dur"]:
            devices[row["dev"]][row["op"]].append(number(row["queued"]) + number(row["dur"]))
        devices[row["dev"]][row["op"] + "bytes"].append(number(row["bytes"]))
for device in report["devices"]:
    mine = devices[device["dev"]]
    same(f"{device['dev']} read bytes", sum(mine["Rbytes"]), device["read_bytes"])
    same(f"{device['dev']} write bytes", sum(mine["Wbytes"]), device["write_bytes"])
    check_hist(f"{device['dev']} read", mine["R"], device["read_latency"])
    check_hist(f"{device['dev']} write", mine["W"], device["write_latency"])
weights = collections.Counter()
shares = collections.Counter()
for row in rows("cpu"):
    ts = int(row["ts"])
    weight = clip(ts + int(row["dur"])) - clip(ts)
    weights[int(row["cpu"])] += weight
    shares[int(row["cpu"])] += weight * float(row["idle"])
for cpu in report["usage"]["cpus"]:
    near(f"cpu {cpu['cpu']} idle", shares[cpu["cpu"]] / weights[cpu["cpu"]], cpu["idle"])

# The main thread's parts are its life, up to what cannot be known.
parts = sum(value for key, value in figures.items() if key.startswith("main_"))
end = next((int(r["ts"]) for r in process if r["event"] == "exit" and r["tid"] == root), stop)
# On its way out it may still wait for a CPU, and stay on one.
end = max([end] + [min(int(r["ts"]) + number(r["dur"]), stop) for r in sched if r["tid"] == root])
life = end - execed
if sched:
    same(f"main parts {parts} fill its life {life}", True, abs(parts - life) < 0.02 * life + 2e6)
if report["phases"]["source"] == "none":
    same("one phase has all", figures, report["phases"]["list"][0]["figures"])
print(f"{compared} figures compared, {wrong} differ")
sys.exit(wrong > 0)
