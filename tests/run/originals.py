#!/usr/bin/python3
"""Reads exports as the programs do for which the formats were made, and compares what they find with `strata sql`.

    originals.py classic RUN FOLDER           every classic layout, line by line and field by field
    originals.py trace_visuals RUN FOLDER     the files of trace_visuals, as its scripts take them in, to their counts
    originals.py switches RUN FILE            time on CPUs by process, as a script adds it up from `switches`
    originals.py pfw RUN FILE                 an export with --names libc, as DFAnalyzer sorts and sums calls

The readers are written after what those programs are known to expect: which lines they pass over, by which pattern they
know one, which column they take. STRATA names the program under test; TZ is the zone that the export was made in.
"""
import collections
import csv
import datetime
import gzip
import io
import json
import os
import re
import subprocess
import sys
import zoneinfo

csv.field_size_limit(1 << 24)
NO_PID = "2147483647"
failures = []


def sql(run, query):
    done = subprocess.run([os.environ["STRATA"], "sql", "-f", "csv", run, query], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{query}: {done.stderr.decode()}")
    return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))[1:]


def same(what, expected, found):
    if expected == found:
        return
    failures.append(what)
    print(f"{what} differs")
    if isinstance(expected, collections.Counter):
        print("  only in sql:   ", list((expected - found).items())[:4])
        print("  only in export:", list((found - expected).items())[:4])
    else:
        print("  sql:   ", str(expected)[:400])
        print("  export:", str(found)[:400])


def lines_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read().splitlines()


def word(text):
    """A name as one field: - where there is none, \\xNN for blanks and control characters."""
    if text == "":
        return "-"
    return re.sub(r"[\x00-\x20\x7f]", lambda m: f"\\x{ord(m[0]):02x}", text)


# ---- the classic layouts ----

OPENS = "('open', 'openat', 'openat2', 'creat', 'open_by_handle_at', 'memfd_create', 'io_uring_openat', 'io_uring_openat2')"
ENDED = "dur is not null"
PID = f"coalesce(pid, {NO_PID})"
CALLS = {
    "open": ("TIMESTAMP TIME PID COMM FUNC LAT FILE",
             f"select ts + dur, utc(ts + dur), {PID}, comm, op, dur, arg_path from fs where op in {OPENS} and {ENDED}"),
    "vfs_rw": ("TIMESTAMP TIME PID COMM R/W LAT REQUESTED RETURNED FILE",
               f"select ts + dur, utc(ts + dur), {PID}, comm, dir, dur, requested, returned, path from io "
               f"where op in ('read', 'pread64', 'write', 'pwrite64') and {ENDED}"),
    "read": ("TIMESTAMP PID OFFSET RET LAT FILENAME",
             f"select ts + dur, {PID}, pos, returned, dur, path from io where op in ('read', 'pread64') and {ENDED}"),
    "write": ("TIMESTAMP PID OFFSET SIZE LAT FILENAME",
              f"select ts + dur, {PID}, pos, requested, dur, path from io where op in ('write', 'pwrite64') and {ENDED}"),
    "close": ("TIMESTAMP PID FD LAT FILENAME",
              f"select ts + dur, {PID}, fd, dur, path from fs where op in ('close', 'close_range', 'io_uring_close') "
              f"and {ENDED}"),
    "create_del": ("TIMESTAMP PID FUNCTION MODE LAT FILENAME",
                   f"select ts + dur, {PID}, op, case when mode is not null then printf('0%o', mode) end, dur, arg_path "
                   f"from fs where {ENDED} and (op in ('creat', 'mkdir', 'mkdirat', 'mknod', 'mknodat', 'unlink', "
                   f"'unlinkat', 'rmdir', 'io_uring_unlinkat') or op in {OPENS} and mode is not null and flags & 64 != 0)"),
    "mmap": ("TIMESTAMP PID FD ADDRESS LAT FILENAME",
             f"select ts + dur, {PID}, fd, case when returned < 0 then returned::varchar else printf('0x%x', returned) end,"
             f" dur, path from mem where op = 'mmap' and {ENDED}"),
    "munmap": ("TIMESTAMP PID ADDRESS LEN LAT",
               f"select ts + dur, {PID}, printf('0x%x', addr), length, dur from mem where op = 'munmap' and {ENDED}"),
    "bio": ("TIMESTAMP TIME PID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT",
            f"select ts + coalesce(queued, 0) + dur, utc(ts + coalesce(queued, 0) + dur), {PID}, comm, "
            f"coalesce(done_pid, {NO_PID}), '?', dev, case op when 'R' then '0' when 'W' then '1' else op end, sector, "
            f"bytes, coalesce(queued, 0) + dur from block where {ENDED}"),
}


def bpftrace_lines(what, lines):
    """The lines after bpftrace's banner."""
    if not re.fullmatch(r"Attaching \d+ probes?\.\.\.", lines[0]):
        same(f"first line of {what}", "Attaching N probes...", lines[0])
    return lines[1:]


def local(utc):
    """A time of sql as TIME has it."""
    moment, _, rest = utc.partition(".")
    moment = datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc)
    return moment.astimezone(zone()).strftime("%Y-%m-%dT%H:%M:%S.") + rest.ljust(9, "0")


def zone():
    return zoneinfo.ZoneInfo(os.environ.get("TZ") or "UTC")


def check_calls(run, folder, layout):
    header, query = CALLS[layout]
    lines = bpftrace_lines(layout, lines_of(folder, layout))
    same(f"header of {layout}", header, lines[0])
    columns = header.split()
    found = [line.split(" ") for line in lines[1:]]
    same(f"numbers of columns of {layout}", {len(columns)} if found else set(), set(map(len, found)))
    for row in found:
        for name, field in zip(columns, row):
            if name in ("TIMESTAMP", "PID", "DONEPID", "LAT", "BYTES"):
                int(field)
            if name == "DONECOMM":
                row[columns.index(name)] = "?"
    expected = [[local(field) if name == "TIME" else word(field) for name, field in zip(columns, row)]
                for row in sql(run, query)]
    same(layout, collections.Counter(map(tuple, expected)), collections.Counter(map(tuple, found)))
    times = [int(row[0]) for row in found]
    same(f"order of {layout}", sorted(times), times)
    return len(found)


def check_pids(run, folder):
    """ps aux -T | grep python: fields 1 and 2 are the process and the thread, and the arguments say what it is."""
    lines = lines_of(folder, "pids")
    same("header of pids", "USER PID SPID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND", " ".join(lines[0].split()))
    found = [line.split(None, 11) for line in lines[1:]]
    same("threads", {(pid, tid) for pid, tid in sql(run, """
        with recursive job(pid) as (
            select pid from process where event = 'exec' and ppid = (
                select split_part(value, ',', 1)::bigint from run where key = 'recorder_tids')
            union select p.pid from process p join job j on p.ppid = j.pid where p.event = 'fork' and p.pid = p.tid)
        select distinct pid, tid from process where pid in (select pid from job)""")},
         {(row[1], row[2]) for row in found})
    commands = dict(sql(run, "select pid, arg_max(args, ts) from process where event = 'exec' group by 1"))
    parents = dict(sql(run, "select pid, any_value(ppid) from process where event = 'fork' and pid = tid group by 1"))
    for row in found:
        pid = row[1]
        while pid not in commands and pid in parents:
            pid = parents[pid]
        same(f"command of {row[1]}", commands[pid], row[11])
    return len(found)


def seconds(lines):
    """Pairs of (last reading of a second, first of the next), as the scripts look for."""
    readings = [re.fullmatch(r"(\d+)\s+(\d{2}:\d{2}:\d{2})", line) for line in lines]
    readings = [(int(match[1]), match[2]) for match in readings if match]
    return [(a[0], b[0], b[1]) for a, b in zip(readings, readings[1:]) if a[1] != b[1]]


def check_time_align(run, path):
    lines = bpftrace_lines("time_align", lines_of(path))
    same("header of time_align", "TIMESTAMP HH:MM:SS", lines[0])
    changes = seconds(lines)
    for before, after, clock in changes:
        same("gap at a full second", 1, after - before)
        (shown,) = sql(run, f"select utc({after}), utc({before})")
        same("full second", local(shown[0]).split("T")[1], clock + ".000000000")
        same("before it", "999999999", local(shown[1])[-9:])
    ((expected,),) = sql(run, """select epoch(utc(max(value::bigint)))::bigint - epoch(utc(min(value::bigint)))::bigint
        from run where key in ('start_ts', 'stop_ts')""")
    if not int(expected) <= len(changes) <= int(expected) + 2:
        same("number of full seconds", expected, len(changes))
    return len(changes)


def check_classic(run, folder):
    counts = {layout: check_calls(run, folder, layout) for layout in CALLS}
    counts["pids"] = check_pids(run, folder)
    counts["time_align"] = check_time_align(run, os.path.join(folder, "time_align"))
    counts["switches"] = check_switches(run, os.path.join(folder, "switches"))
    counts["cpu"] = check_cpu(run, os.path.join(folder, "cpu"), True)
    return counts


# ---- switches ----


def check_switches(run, path):
    """Line 0 is passed over; the time since the CPU's last line is that of the thread on this one."""
    first, last, spent, found = {}, {}, collections.Counter(), 0
    for line in bpftrace_lines("switches", lines_of(path)):
        comm, pid, cpu, when = line.split()
        pid, cpu, when = int(pid), int(cpu), int(when)
        if pid == 0:
            same("name of the idle thread", f"swapper/{cpu}", comm)
        spent[pid] += when - last[cpu] if cpu in last else 0
        last[cpu] = when
        first.setdefault(cpu, when)
        found += 1
    scope = sql(run, "select value from run where key = 'scope'")
    if scope != [["all"]]:  # older recordings, of which this reads but those of a job alone, do not say
        # The rest is nobody's but the idle thread's, and every CPU is there from the beginning to the end.
        facts = {key: int(value) for key, value in sql(run, "select key, value from run where key in ('start_ts', 'stop_ts', 'cpus')")}
        same("CPUs", set(range(facts["cpus"])), set(first))
        same("begin of CPUs", {facts["start_ts"]}, set(first.values()))
        same("end of CPUs", True, max(facts["stop_ts"], *last.values()) == min(last.values()))
        expected = collections.Counter({int(pid): int(time) for pid, time in sql(
            run, f"select {PID}, sum(dur) from sched where {ENDED} group by 1")})
        del spent[0]
    else:
        ((lines,),) = sql(run, f"select count(*) from sched where {ENDED}")
        same("number of switches", int(lines), found)
        # Rows of a CPU tile the recording, but for switches that the kernel let no program see.
        expected = collections.Counter({int(pid): int(time) for pid, time in sql(run, f"""
            select {PID}, coalesce(sum(left_at - before), 0)
            from (select *, ts + dur as left_at, lag(ts + dur) over (partition by cpu order by ts + dur) as before
                  from sched where {ENDED}) group by 1""")})
    same("time by process", +expected, +spent)
    return found


# ---- trace_visuals ----

NUMBER = r"\d+"
LINES = {  # as its scripts know them, once the first column is a time
    "bio": rf"{NUMBER}\s+({NUMBER})\s+([\w.+\-:/]+)\s+([a-z]{{3,}}\d*)\s+([RW])\s+({NUMBER})\s+({NUMBER})\s+({NUMBER})",
    "openat": rf"{NUMBER}\s+({NUMBER})\s+(\S+)\s+({NUMBER})\s+(\S+)(?:\s+(\S+))?",
    "read": rf"{NUMBER}\s+({NUMBER})\s+(\w+)\s+({NUMBER})\s+({NUMBER})(?:\s+(\S+))?",
    "write": rf"{NUMBER}\s+({NUMBER})\s+(\w+)\s+({NUMBER})\s+({NUMBER})\s*([\w\[\].\-]*)",
}
COLUMNS = {"bio": (8, 9), "openat": (5, 6), "read": (5, 6), "write": (5, 6)}
ABSURD = 10**15  # bytes: a read that failed


def take_in(folder, trace):
    """The lines that pass: right in their number of columns, beginning with a number, and fitting the pattern."""
    taken = []
    for line in bpftrace_lines(trace, lines_of(folder, f"trace_{trace}.out")):
        if len(line.split()) not in COLUMNS[trace]:
            failures.append(line)
            print(f"trace_{trace}.out: {len(line.split())} columns: {line}")
        if not line[0].isdigit():
            continue
        match = re.fullmatch(LINES[trace], line)
        if match:
            taken.append((int(line.split()[0]), match.groups()))
        elif trace != "write" or " -" not in line:  # of writes that failed the size is negative
            failures.append(line)
            print(f"trace_{trace}.out: no pattern for: {line}")
    return taken


def reference(run, folder):
    """Boot time and UTC of one moment: the midpoint of the smallest gap at a change of second, with gpu.out's date."""
    changes = seconds(lines_of(folder, "trace_time_align.out"))
    before, after, clock = min(changes, key=lambda change: change[1] - change[0])
    dates = [re.match(r"^\s+(\d{8})\s+\d{2}:\d{2}:\d{2}", line) for line in lines_of(folder, "gpu.out")]
    date = next(match[1] for match in dates if match)
    moment = datetime.datetime.strptime(f"{date} {clock}", "%Y%m%d %H:%M:%S").replace(tzinfo=zone())
    ts = after - (after - before) // 2
    ((utc,),) = sql(run, f"select utc({ts})")
    expected = datetime.datetime.fromisoformat(utc.partition(".")[0]).replace(tzinfo=datetime.timezone.utc)
    same("time of the reference", expected, moment.astimezone(datetime.timezone.utc))
    return ts, moment


def check_trace_visuals(run, folder):
    reference(run, folder)
    taken = {trace: take_in(folder, trace) for trace in COLUMNS}
    kinds = collections.Counter(f"BIO{fields[3]}" for _, fields in taken["bio"])
    kinds.update({trace.upper(): len(taken[trace]) for trace in ("openat", "read", "write")})
    expected = sql(run, f"""select 'BIO' || op, count(*) from block where op in ('R', 'W') and {ENDED} group by 1
        union all select upper(op), count(*) from fs where op = 'openat' and {ENDED} group by 1
        union all select case when dir = 'R' then 'READ' else 'WRITE' end, count(*) from io where {ENDED}
            and (op in ('read', 'pread64') or op in ('write', 'pwrite64') and returned >= 0) group by 1""")
    same("counts", {kind: int(count) for kind, count in expected}, dict(kinds))
    fields = {
        "bio": (f"select ts + coalesce(queued, 0) + dur, {PID}, comm, dev, op, bytes, coalesce(sector, 0), dur from block "
                f"where op in ('R', 'W') and {ENDED}", None),
        "openat": (f"select ts + dur, {PID}, comm, dur, arg_path, file from fs where op = 'openat' and {ENDED}", 5),
        "read": (f"select ts + dur, {PID}, pos, case when returned < 0 then (returned::hugeint + 18446744073709551616) "
                 f"else returned end, dur, file from io where op in ('read', 'pread64') and {ENDED}", 5),
        "write": (f"select ts + dur, {PID}, pos, returned, dur, file from io where op in ('write', 'pwrite64') and "
                  f"{ENDED} and returned >= 0", 5),
    }
    names = {"": ""}
    for file, path, kind in sql(run, "select file, path, kind from file"):
        bracket = re.search(r"\[[^]]*\]$", path) if "/" not in path else None
        name = bracket[0] if bracket else path.rsplit("/", 1)[-1]
        names[file] = "" if kind in ("pipe", "socket") else plain(name, "-.[]")
    regular = {file for (file,) in sql(run, "select file from file where kind = 'file'")}
    for trace, (query, file) in fields.items():
        rows = collections.Counter()
        for row in sql(run, query):
            if trace in ("bio", "openat"):
                row[2] = plain(row[2], "-.+:/") or "-"
            if trace in ("read", "write") and not row[2]:
                row[2] = str(2**64 - 1) if row[5] in regular else "0"
            if trace == "openat":
                row[4] = word(row[4])
            if file:
                row[file] = names.get(row[file], "")
            rows[tuple(row)] += 1
        same(trace, rows, collections.Counter((str(ts), *(field or "" for field in fields)) for ts, fields in taken[trace]))
    check_cpu(run, os.path.join(folder, "cpu.out"), False)
    gpu = [line.split() for line in lines_of(folder, "gpu.out") if not line.startswith("#")]
    same("columns of gpu.out", {11}, set(map(len, gpu)))
    sizes = [int(fields[2]) for _, fields in taken["read"] if int(fields[2]) < ABSURD]
    ((bytes_read,),) = sql(run, "select sum(returned) from io where op in ('read', 'pread64') and returned > 0")
    same("bytes read", int(bytes_read), sum(sizes))
    return dict(kinds)


def plain(text, others):
    """A name of the characters of a pattern: _xNN for the bytes of all others."""
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return "".join(chr(c) if chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_" + others) else f"_x{c:02x}" for c in raw)


# ---- mpstat ----


def check_cpu(run, path, each):
    """mpstat: of all CPUs together, or of each too."""
    rows, averages, headers = [], [], 0
    for line in lines_of(path)[1:]:
        fields = line.split()
        if not fields:
            continue
        if fields[1] == "CPU":
            headers += fields[0] != "Average:"
        else:
            same("columns of mpstat", 12, len(fields))
            (averages if fields[0] == "Average:" else rows).append(fields)
    where = "true" if each else "cpu = -1"
    expected = sql(run, f"select case cpu when -1 then 'all' else cpu::varchar end, usr, sys, idle from cpu where {where}")
    same("shares of CPUs", collections.Counter((cpu, *(f"{float(share):.2f}" for share in shares)) for cpu, *shares in expected),
         collections.Counter((row[1], row[2], row[4], row[11]) for row in rows))
    if not each:
        same("headers of mpstat 1", 1, headers)
    same("CPUs that have an average", {row[1] for row in rows}, {row[1] for row in averages})
    return len(rows)


# ---- DFAnalyzer ----

KNOWN = {
    "read": "fread pread preadv read readv",
    "write": "fwrite pwrite pwritev write writev",
    "sync": "fsync fdatasync msync sync",
    "metadata": "__fxstat __fxstat64 __lxstat __lxstat64 __xstat __xstat64 access close closedir fclose fcntl fopen fopen64 "
                "fseek fstat fstatat ftell ftruncate link lseek lseek64 mkdir open open64 opendir readdir readlink remove "
                "rename rmdir seek stat unlink",
}
SORTS = {name: sort for sort, names in KNOWN.items() for name in names.split()}
# The calls of each sort, by their own names: what such a reader must find.
CALLS_OF = {
    "read": "read pread64 readv preadv preadv2 io_uring_read io_uring_read_fixed io_uring_readv aio_pread aio_preadv",
    "write": "write pwrite64 writev pwritev pwritev2 io_uring_write io_uring_write_fixed io_uring_writev aio_pwrite "
             "aio_pwritev",
    "sync": "fsync fdatasync msync sync syncfs io_uring_fsync aio_fsync aio_fdsync",
    "metadata": "open openat openat2 creat close stat lstat fstat newfstatat statx access faccessat faccessat2 unlink "
                "unlinkat rename renameat renameat2 mkdir mkdirat rmdir link linkat readlink readlinkat getdents "
                "getdents64 lseek ftruncate fcntl io_uring_openat io_uring_openat2 io_uring_close io_uring_statx "
                "io_uring_unlinkat",
}


def check_pfw(run, path):
    counts, sizes, times, files = (collections.Counter() for _ in range(4))
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line[0] in "[]":
                continue
            event = json.loads(line)
            if event["ph"] == "M":
                files[event["args"].get("value")] += event["name"] == "FH"
                continue
            if event["ph"] == "C" or event["cat"] != "POSIX":
                continue
            same("phase of a call", "X", event["ph"])
            sort = SORTS.get(event["name"], "other")
            counts[sort] += 1
            if not event["args"].get("unfinished"):
                times[sort] += int(event["dur"])
            if sort in ("read", "write") and int(event["args"].get("ret", 0)) > 0:
                sizes[sort] += int(event["args"]["ret"])
            if "fhash" in event["args"] and not files[event["args"]["fhash"]]:
                same("file hashes that are told", event["args"]["fhash"], None)
    sort_of = "case " + " ".join(
        f"when op in ({', '.join(repr(name) for name in names.split())}) then '{sort}'" for sort, names in CALLS_OF.items())
    query = f"""select {sort_of} else 'other' end, count(*), sum(case when t != 'fs' and returned > 0 then returned end),
        sum(dur) // 1000, sum(case when dur is null then 0 else 1 end) from (
            select 'io' as t, op, returned, dur from io union all select 'fs', op, returned, dur from fs
            union all select 'mem', op, returned, dur from mem) group by 1"""
    rows = {sort: (int(count), int(size or 0), int(time or 0), int(ended)) for sort, count, size, time, ended in sql(run, query)}
    same("calls by sort", {sort: row[0] for sort, row in rows.items()}, dict(counts))
    same("bytes by sort", {sort: rows[sort][1] for sort in ("read", "write") if sort in rows},
         {sort: sizes[sort] for sort in ("read", "write") if sort in rows})
    for sort, row in rows.items():
        if abs(times[sort] - row[2]) > row[3] + 1:  # each is rounded to whole microseconds
            same(f"time of {sort}", row[2], times[sort])
    return dict(counts)


def main():
    kind, run, path = sys.argv[1:]
    checks = {"classic": check_classic, "trace_visuals": check_trace_visuals, "switches": check_switches, "pfw": check_pfw}
    print(checks[kind](run, path))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
