"""Analysis of .pfw files on a Dask cluster: what analyze.py and analyze.ipynb share.

    events = load(["host1.pfw.gz", "host2.pfw.gz"])      # a Dask dataframe, one partition a file
    by_function(events).compute()

Each file is what `strata export RUN -f pfw -o RUN.pfw.gz` writes; files of many hosts load together, because times are UTC
and files are named by the hash of their path. DFTracer's own files load as well, and counters: those of a recording with
--aggregate, and those of `--dialect datacrumbs`.

A row is a call, or with `calls` above 1 what was counted together; `dur` is in microseconds. Its category is POSIX for system
calls, for functions the library they are of.
"""
import gzip
import json
import re

import dask
import dask.dataframe as dd
import pandas as pd

COLUMNS = {"name": "object", "cat": "object", "pid": "int64", "tid": "int64", "ts": "int64", "dur": "float64",
           "calls": "int64", "size": "int64", "path": "object", "host": "object", "level": "int64"}
MOVES = ("read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "recvfrom",
         "sendto", "recvmsg", "sendmsg", "sendfile", "copy_file_range", "splice")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg")
ASYNC = ("io_uring_", "aio_")
LEVELS = {"POSIX": 1000, "STDIO": 1000, "WAIT": 1000, "FAULT": 2000, "BLOCK": 3000}  # functions: how deep they are, below 1000
COUNTED = re.compile(r"(.*) \[(.*)\]$")


def bytes_moved(name, category, args):
    """What an event moved: a request's length, what a function says, or what a call that moves data returned, if it did not fail."""
    if category in ("BLOCK", "CALL"):
        return int(args.get("size", 0))
    if category in ("POSIX", "STDIO") and (name in MOVES or name.startswith(ASYNC)):
        return max(int(args.get("ret", 0)), 0)
    return 0


def span(event, args):
    """A call, as a row."""
    name, category = event["name"], event["cat"]
    # A function of the kernel is inside a system call.
    level = LEVELS.get(category, int(args.get("depth", 0)) + (1001 if args.get("module") == "kernel" else 0))
    return (name, args.get("module", category) if category == "CALL" else category, event["pid"], args.get("tid", event["tid"]),
            event["ts"], event["dur"], 1, bytes_moved(name, category, args), args.get("fhash"), args.get("hhash"), level)


def counter(event, args):
    """What was counted together, as a row: in the dialect of func [module], or in that of DataCrumbs."""
    name, category, calls, size = event["name"], event["cat"], args.get("freq"), args.get("size_sum")
    named = COUNTED.match(name)
    if calls is None and named:
        name, category, calls, size = named[1], named[2], args.get("count", 0), args.get("size")
    return (name, category, event["pid"], event["tid"], event["ts"], float(args.get("time", 0)) * 1e6, calls or 0, size or 0,
            args.get("fname"), args.get("hhash"), -1)


def read_lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        for line in file:
            if line[0] not in "[]\n":
                yield json.loads(line)


def read_file(path):
    """The complete events and the counters of one file, as a dataframe."""
    files, hosts, rows = {}, {}, []
    for event in read_lines(path):
        args = event.get("args", {})
        if event["ph"] == "M":
            kind = {"FH": files, "HH": hosts}.get(event["name"])
            if kind is not None:
                kind[args["value"]] = args["name"]
        elif event["ph"] == "X" and not args.get("unfinished"):
            rows.append(span(event, args))
        elif event["ph"] == "C":
            rows.append(counter(event, args))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["path"] = frame["path"].map(lambda name: files.get(name, name if str(name).startswith("/") else None))
    frame["host"] = frame["host"].map(hosts)
    return frame.astype(COLUMNS)


def load(paths):
    """Events of many files, each read by whichever worker is free."""
    parts = [dask.delayed(read_file)(path) for path in paths]
    return dd.from_delayed(parts, meta=pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()}))


def total(events, keys):
    grouped = events.groupby(keys, dropna=False)
    return grouped.agg({"calls": "sum", "dur": "sum", "size": "sum"})


def tidy(table):
    """Columns count, seconds, bytes, and bytes a second inside the calls; the longest first."""
    table = table.copy()
    table.columns = ["count", "seconds", "bytes"]
    table["seconds"] = table["seconds"] / 1e6
    table["bandwidth"] = (table["bytes"] / table["seconds"]).where((table["seconds"] > 0) & (table["bytes"] > 0))
    return table.sort_values(["seconds", "count"], ascending=False)


def by_function(events):
    """Calls, time and bytes of each function."""
    return total(events, ["cat", "name"])


def by_category(events):
    """Calls, time and bytes of each category: system calls, each library, requests."""
    return total(events, ["cat"])


def by_file(events):
    """Calls, time and bytes of each file, by category: what a library moves, its system calls and requests move once more."""
    return total(events, ["path", "cat"])


def by_interval(events, interval=1.0):
    """Calls, time and bytes of each function in each interval of seconds, by when they began."""
    step = int(interval * 1e6)
    return total(events.assign(time=events["ts"] // step * step), ["time", "cat", "name"])


# ---- what ran inside what ----

def nested(frame):
    """Pairs (outer, inner) of rows of one file, by their labels: what began on the thread while a call of a level above lasted."""
    pairs = []
    spans = frame[frame["level"] >= 0].sort_values(["tid", "ts", "level"], kind="stable")
    under_way, thread = [], None
    for row in spans[["tid", "ts", "dur", "level"]].itertuples():
        if row.tid != thread:
            under_way, thread = [], row.tid
        under_way = [outer for outer in under_way if outer[1] > row.ts and outer[2] < row.level or
                     outer[1] >= row.ts + row.dur and outer[2] < row.level]
        pairs.extend((outer[0], row.Index) for outer in under_way)
        if row.level < 3000:
            under_way.append((row.Index, row.ts + row.dur, row.level))
    return pd.DataFrame(pairs, columns=["outer", "inner"])


def inside_of(frame):
    """Of one file: calls, time and bytes of what ran inside each function, by the function inside."""
    pairs = nested(frame)
    outer = frame.loc[pairs["outer"], ["cat", "name"]].reset_index(drop=True).rename(columns={"cat": "outer_cat", "name": "outer"})
    inner = frame.loc[pairs["inner"], ["cat", "name", "calls", "dur", "size"]].reset_index(drop=True)
    return pd.concat([outer, inner], axis=1)


def inside(events):
    """Calls, time and bytes of what ran inside each function at the levels below, over all files."""
    meta = pd.DataFrame({"outer_cat": pd.Series(dtype="object"), "outer": pd.Series(dtype="object"),
                         **{name: pd.Series(dtype=COLUMNS[name]) for name in ("cat", "name", "calls", "dur", "size")}})
    return total(events.map_partitions(inside_of, meta=meta), ["outer_cat", "outer", "cat", "name"])


def features(frame, name):
    """Of one file, each call of a function: its time and bytes, and the seconds of each function that ran inside it."""
    pairs = nested(frame)
    chosen = frame[frame["name"] == name]
    pairs = pairs[pairs["outer"].isin(chosen.index)]
    inner = pairs.assign(inner_name=frame.loc[pairs["inner"], "name"].values, seconds=frame.loc[pairs["inner"], "dur"].values / 1e6)
    matrix = inner.pivot_table(index="outer", columns="inner_name", values="seconds", aggfunc="sum", fill_value=0)
    return chosen[["ts", "dur", "size", "path"]].join(matrix).fillna({column: 0 for column in matrix.columns})


def bandwidth(events, interval=1.0):
    """Bytes read and written by calls in each interval of seconds, by when they began; a Dask series by (time, way)."""
    step = int(interval * 1e6)
    moved = events[(events["size"] > 0) & events["cat"].isin(["POSIX", "STDIO", "sys", "syscall"])]
    moved = moved.assign(time=moved["ts"] // step * step,
                         way=moved["name"].isin(WRITES).map({True: "write", False: "read"}, meta=("way", "object")))
    return moved.groupby(["time", "way"])["size"].sum()


def tidy_bandwidth(series, interval=1.0):
    """A table of bytes a second: one row an interval, seconds since the first, columns read and write."""
    table = series.unstack(fill_value=0).reindex(columns=["read", "write"], fill_value=0)
    if not len(table):
        return table
    first, last, step = table.index.min(), table.index.max(), int(interval * 1e6)
    table = table.reindex(range(first, last + step, step), fill_value=0)  # nothing moved is 0, not a gap
    table.index = pd.Index((table.index - first) / 1e6, name="time")
    return table / interval


def plot(functions, files, rates):
    """One figure: the functions and files that take longest, and bandwidth over time."""
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(18, 5))
    functions.head(12)["seconds"].iloc[::-1].plot.barh(ax=left, title="seconds by function")
    names = files.head(12)["seconds"].iloc[::-1]
    names.index = [f"{'no file' if pd.isna(name) else str(name)[-40:]} ({category})" for name, category in names.index]
    names.plot.barh(ax=middle, title="seconds by file")
    (rates / 2**20).plot(ax=right, drawstyle="steps-post", title="MiB/s moved by calls")
    right.set_xlabel("seconds")
    for axes in (left, middle):
        axes.set_ylabel("")
    figure.tight_layout()
    return figure
