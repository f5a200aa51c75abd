"""Analysis of .pfw files on a Dask cluster: what analyze.py and analyze.ipynb share.

    events = load(["host1.pfw.gz", "host2.pfw.gz"])      # a Dask dataframe, one partition or more a file
    by_function(events).compute()

Each file is what `strata export RUN -f pfw -o RUN.pfw.gz` writes; files of many hosts load together, because times are UTC
and files are named by the hash of their path. DFTracer's own files load as well.
"""
import gzip
import json

import dask
import dask.dataframe as dd
import pandas as pd

COLUMNS = {"name": "object", "cat": "object", "pid": "int64", "tid": "int64", "ts": "int64", "dur": "int64",
           "size": "int64", "path": "object", "host": "object"}
MOVES = ("read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "recvfrom",
         "sendto", "recvmsg", "sendmsg", "sendfile", "copy_file_range", "splice")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg")
ASYNC = ("io_uring_", "aio_")


def bytes_moved(name, category, args):
    """What an event moved: a request's length, or what a call that moves data returned, if it did not fail."""
    if category == "BLOCK":
        return int(args.get("size", 0))
    if category in ("POSIX", "STDIO") and (name in MOVES or name.startswith(ASYNC)):
        return max(int(args.get("ret", 0)), 0)
    return 0


def read_lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        for line in file:
            if line[0] not in "[]\n":
                yield json.loads(line)


def read_file(path):
    """The complete events of one file, as a dataframe."""
    files, hosts, rows = {}, {}, []
    for event in read_lines(path):
        args = event.get("args", {})
        if event["ph"] == "M":
            kind = {"FH": files, "HH": hosts}.get(event["name"])
            if kind is not None:
                kind[args["value"]] = args["name"]
        elif event["ph"] == "X" and not args.get("unfinished"):
            rows.append((event["name"], event["cat"], event["pid"], args.get("tid", event["tid"]), event["ts"],
                         event["dur"], bytes_moved(event["name"], event["cat"], args), args.get("fhash"),
                         args.get("hhash")))
    frame = pd.DataFrame(rows, columns=["name", "cat", "pid", "tid", "ts", "dur", "size", "path", "host"])
    frame["path"] = frame["path"].map(files)
    frame["host"] = frame["host"].map(hosts)
    return frame.astype(COLUMNS)


def load(paths):
    """Events of many files, each read by whichever worker is free."""
    parts = [dask.delayed(read_file)(path) for path in paths]
    return dd.from_delayed(parts, meta=pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()}))


def total(events, keys):
    grouped = events.groupby(keys, dropna=False)
    return grouped.agg({"dur": ["count", "sum"], "size": "sum"})


def tidy(table):
    """Columns count, seconds, bytes; the longest first."""
    table = table.copy()
    table.columns = ["count", "seconds", "bytes"]
    table["seconds"] = table["seconds"] / 1e6
    return table.sort_values(["seconds", "count"], ascending=False)


def by_function(events):
    """Calls, time and bytes of each function."""
    return total(events, ["cat", "name"])


def by_file(events):
    """Calls, time and bytes of each file, of calls only: a request moves the same bytes once more."""
    return total(events[events["cat"] != "BLOCK"], ["path"])


def bandwidth(events, interval=1.0):
    """Bytes read and written by calls in each interval of seconds, by when they began; a Dask series by (time, way)."""
    step = int(interval * 1e6)
    moved = events[(events["size"] > 0) & (events["cat"] != "BLOCK")]
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
    names.index = ["no file" if pd.isna(name) else str(name)[-40:] for name in names.index]
    names.plot.barh(ax=middle, title="seconds by file")
    (rates / 2**20).plot(ax=right, drawstyle="steps-post", title="MiB/s moved by calls")
    right.set_xlabel("seconds")
    for axes in (left, middle):
        axes.set_ylabel("")
    figure.tight_layout()
    return figure
