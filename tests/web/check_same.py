#!/usr/bin/python3
"""Holds the three faces of a report together: what the text and the page of a run print is what its JSON says.

    check_same.py RUN PAGE     PAGE: written by `strata report --html` of the same run

Numbers of the JSON are formatted here, by themselves, as people read them, and looked for in the other two. Prints what
differs and how many were compared; exits 1 when something differs.
"""
import fcntl
import collections
import json
import os
import re
import struct
import subprocess
import sys
import termios

STRATA = os.environ["STRATA"]
RUN, PAGE = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
wrong = compared = 0


def differing(expected, found):
    """Of two lists only the first elements that differ."""
    if not isinstance(expected, list) or not isinstance(found, list):
        return expected, found
    at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
    return expected[at:at + 1], found[at:at + 1]


def same(what, expected, *found):
    global wrong, compared
    compared += 1
    for face in found:
        if face != expected:
            wrong += 1
            print("{}: JSON says {}, another {}".format(what, *differing(expected, face)))


# ---- numbers as people read them ----
def rounded(value, unit):
    """Halves up, in whole numbers."""
    return (2 * value + unit) // (2 * unit)


def three(value, unit, name):
    for digits in (2, 1, 0):
        scaled = rounded(value * 10 ** digits, unit)
        if scaled < 1000:
            return f"{scaled / 10 ** digits:.{digits}f} {name}"
    return None


def duration(ns):
    ns = int(ns)
    seconds, minutes = rounded(ns, 10 ** 9), rounded(rounded(ns, 10 ** 9), 60)
    if ns < 1000:
        return f"{ns} ns"
    if seconds < 60:
        return three(ns, 10 ** 3, "us") or three(ns, 10 ** 6, "ms") or three(ns, 10 ** 9, "s")
    return f"{seconds // 60} min {seconds % 60} s" if seconds < 3600 else f"{minutes // 60} h {minutes % 60} min"


def size(value):
    if value < 1024:
        return f"{value} B"
    units = ("KiB", "MiB", "GiB", "TiB")
    at = next(i for i in range(4) if rounded(value, 1024 ** (i + 1)) < 1024 or i == 3)
    tenths = rounded(value * 10, 1024 ** (at + 1))
    return f"{tenths / 10:.1f} {units[at]}" if tenths < 1000 else f"{rounded(value, 1024 ** (at + 1))} {units[at]}"


def count(value):
    return f"{value:,}"


def share(value, digits=1):
    return f"{value * 100:.{digits}f} %"


def table_share(value):
    return "<0.1 %" if 0 < value < 0.0005 else share(value)


# ---- the three faces ----
def text_of(section):
    """The lines of a section on a terminal that is wide enough for all columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
    with subprocess.Popen([STRATA, "report", "--top", "40", "--section", section, RUN], stdout=theirs) as child:
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            text += more
    if child.returncode:
        sys.exit(f"strata report --section {section} failed")
    os.close(ours)
    return text.decode().replace("\r", "").splitlines()


def rows_of(lines, header):
    """The cells of the first table whose first header is `header`, without it; what follows has fewer columns or headers."""
    at = next(i for i, line in enumerate(lines) if re.split(r" {2,}", line.strip())[0] == header) + 1
    rows = []
    for line in lines[at:]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) < 3 or cells[0] == header:
            break
        rows.append(cells)
    return rows


report = json.loads(subprocess.run([STRATA, "report", "--json", RUN], check=True, capture_output=True).stdout)
page = json.loads(subprocess.run(["node", f"{HERE}/page_figures.js", PAGE], check=True, capture_output=True).stdout)
overview = text_of("overview")
key = page["key"]


def says(what, words, *faces):
    """The words stand in the first screen, and each pair of (words of the page, its text)."""
    same(what, True, any(words in line for line in overview), *(expected == found for expected, found in faces))


# ---- the main thread ----
parts = [part for part in report["main"]["parts"] if not part["slight"]]
same("main parts sum to the life", report["main"]["life_ns"], sum(part["time_ns"] for part in report["main"]["parts"]))
at = next(i for i, line in enumerate(overview) if line.startswith("Main thread")) + 1
expected = [[part["says"], duration(part["time_ns"]), table_share(part["share"])] for part in parts]
same("main thread", expected, [re.split(r" {2,}", overview[at + i].strip())[:3] for i in range(len(parts))])
same("main thread", [[words, f"{time} {share(part['share'])}"] for (words, time, _), part in zip(expected, parts)], page["main"])
says("main thread's life", f"where its {duration(report['main']['life_ns'])} went")

# ---- the first screen, and the key numbers ----
tasks, files, job, steps, cost = (report[name] for name in ("tasks", "files", "job", "steps", "cost"))
regular = files["regular"]
says("length", duration(report["run"]["length_ns"]) + " on", (duration(report["run"]["window_ns"]), key["length"][0]))
says("job on CPUs", f"the job used {tasks['job_cpus']:.2f} CPUs, {duration(tasks['job_cpu_ns'])} in all",
     (duration(tasks["job_cpu_ns"]), key["job_cpu_ns"][0]))
says("waits for a CPU", f"waits for a CPU: {duration(tasks['job_wait_ns'])} in all",
     (f"waited {duration(tasks['job_wait_ns'])} for one", key["job_cpu_ns"][1]))
says("CPU time of the job", f"Job      {duration(job['cpu_ns'])} of CPU time, {share(job['usr_share'], 0)} user",
     (duration(job["cpu_ns"]), key["job_cpu"][0]), (f"{share(job['usr_share'], 0)} user, by the kernel's counters", key["job_cpu"][1]))
says("memory of the job", f"most memory {size(job['most_rss'])};", (size(job["most_rss"]), key["job_memory"][0]))
says("storage of the job", f"storage {size(job['read_bytes'])} in, {size(job['write_bytes'])} out",
     (size(job["read_bytes"]), key["job_storage"][0]), (f"{size(job['write_bytes'])} sent to it", key["job_storage"][1]))
says("faults of the job", f"{count(job['major_faults'])} major faults",
     (count(job["major_faults"]), key["job_faults"][0]))
says("read", f"Read     {size(regular['read']['bytes'])} of {count(regular['read_files'])} files in "
     f"{count(regular['read']['calls'])} calls, {duration(regular['read']['time_ns'])} inside them",
     (size(regular["read"]["bytes"]), key["read_bytes"][0]),
     (f"{count(regular['read']['calls'])} calls, {duration(regular['read']['time_ns'])}", key["read_bytes"][1]))
says("cached", f"{share(regular['cached_share'])} from the page cache; {size(regular['missed_bytes'])} waited for",
     (share(regular["cached_share"]), key["cached"][0]), (f"{size(regular['missed_bytes'])} waited for", key["cached"][1]))
says("again", f"{size(regular['again_bytes'])} of {count(regular['again_files'])} files read again",
     (size(regular["again_bytes"]), key["again_bytes"][0]), (f"of {count(regular['again_files'])} files", key["again_bytes"][1]))
says("shares of reads", f"{share(regular['small_share'], 0)} of calls below 4 KiB, {share(regular['empty_share'], 0)} empty, "
     f"{share(regular['sequential_share'], 0)} sequential")
says("top directory", f" from {files['top_directory']}")
says("written", f"Written  {size(regular['written']['bytes'])} to ", (size(regular["written"]["bytes"]), key["write_bytes"][0]))
says("opens", f"{count(files['opens'])} opens ({share(files['failed_open_share'], 0)} failed), {count(files['stats'])} stats "
     f"({share(files['failed_stat_share'], 0)} failed), {duration(files['metadata_ns'])} inside",
     (f"{count(files['opens'])} / {count(files['stats'])}", key["opens"][0]),
     (f"{duration(files['metadata_ns'])} in metadata calls", key["opens"][1]))
says("opens a read", f"{files['opens_a_read']:.2f} opens and {files['stats_a_read']:.2f} stats for each read")
workers = next(role for role in report["roles"]["list"] if role["role"] == "worker")
says("workers", f"Workers  {workers['processes']}, at most {report['roles']['workers_at_once']} at once; they read "
     f"{size(workers['read']['bytes'])} in {duration(workers['read']['time_ns'])}")
says("steps", f"Steps    {steps['count']}, median {duration(steps['duration']['p50'])}", (count(steps["count"]), key["steps"][0]))
says("confidence", f"confidence {share(steps['confidence'], 0)}",
     (f"median {duration(steps['duration']['p50'])}, guessed, confidence {share(steps['confidence'], 0)}", key["steps"][1]))
says("recorder", f"the recorder used {duration(cost['recording_cpu_ns'])} of CPU ({share(cost['core_share'])} of one core)",
     (f"recorder's CPU {duration(cost['recording_cpu_ns'])}", key["lost"][1]))

# ---- lists ----
listed = [[role["role"], count(role["processes"]), duration(role["cpu_ns"]), duration(role["wait_ns"]), size(role["read"]["bytes"]),
           duration(role["read"]["time_ns"]), size(role["written"]["bytes"]), duration(role["metadata_ns"]),
           count(role["wakes"]["main"])] for role in report["roles"]["list"] if role["processes"]]
same("roles", listed, rows_of(text_of("roles"), "role"))
shown = rows_of(text_of("tasks"), "task")
busy = [name for name in tasks["names"] if name["cpu_ns"] and not name["idle"]]
busy = [name for i, name in enumerate(busy) if i < 15 or name["telling"]]
same("tasks", [[name["name"], f"{duration(name['cpu_ns'])} {share(name['busy_share'])}"] for name in busy], page["tasks"])
same("tasks", [[name["name"], duration(name["cpu_ns"]), table_share(name["share"])] for name in tasks["names"][:10]],
     [row[:3] for row in shown[:10]])
same("CPUs", [[f"CPU {cpu['cpu']}", f"{duration(cpu['busy_ns'])} {share(cpu['busy_share'])}"] for cpu in tasks["cpus"]], page["cpus"],
     [[f"CPU {row[0]}", f"{row[1]} {row[2]}"] for row in rows_of(text_of("cpus"), "CPU")])
most = tasks["most_processes"][:15]
same("processes by name", [[name["name"], count(name["processes"]) +
                            (f", mean life {duration(name['mean_life_ns'])}" if name["mean_life_ns"] is not None else "")]
                           for name in most], page["processes"])
same("most processes first", sorted((name["processes"] for name in tasks["names"] if name["processes"]), reverse=True)[:15],
     [name["processes"] for name in most])
rows = [[size(use["read"]["bytes"]), count(use["read"]["calls"]), duration(use["read"]["time_ns"]), duration(use["latency"]["p99"]),
         size(use["again_bytes"]), size(use["written"]["bytes"]), count(use["opens"]), duration(use["device_ns"]), use["path"]]
        for use in files["list"] if use["regular"]][:40]
same("files", rows, page["files"], rows_of(text_of("files"), "read"))
shown = rows_of(text_of("phases"), "phase")
same("phases", [[phase["name"], duration(phase["length_ns"]), table_share(phase["main_cpu_share"]),
                 table_share(phase["main_data_share"]), f"{phase['cpus']:.2f}", size(phase["figures"]["read_bytes"]),
                 size(int(phase["read_rate"])) + "/s"] for phase in report["phases"]["list"]],
     [[row[0], *row[2:8]] for row in shown])
same("phases", [[phase["name"], duration(phase["length_ns"]), duration(phase["figures"]["cpu_ns"]), size(phase["figures"]["read_bytes"])]
                for phase in report["phases"]["list"]], [[row[0], row[1], row[3], row[4]] for row in page["phases"]])
devices = [device for device in report["devices"] if device["read_latency"]["count"]]
same("devices", [[device["dev"], size(device["read_bytes"]), duration(device["read_latency"]["p50"]),
                  duration(device["read_latency"]["p99"])] for device in devices],
     [[row[0], row[3], row[4], row[6]] for row in rows_of(text_of("devices"), "device") if row[1] == "read"],
     [row[:4] for row in page["devices"] if row[0] in {device["dev"] for device in devices}])
levels = report["levels"]["operations"]
shown, places = [], collections.Counter()  # ten operations, and four inside each
for i, node in enumerate(levels):
    places[node["parent"]] += 1
    if node["parent"] is None and places[None] <= 10 or node["parent"] in shown and places[node["parent"]] <= 4:
        shown.append(i)
same("levels", [[node["name"] + (f" [{node['module']}]" if node["module"] else ""), node["level"], count(node["calls"]),
                 "" if node["bytes"] is None else size(node["bytes"]), "" if node["time_ns"] is None else duration(node["time_ns"]),
                 "" if node["own_ns"] is None else duration(node["own_ns"])] for node in (levels[i] for i in shown)],
     [[*row[:4], *row[6:]] for row in page["levels"]])
print(f"{compared} compared, {wrong} wrong")
sys.exit(bool(wrong))
