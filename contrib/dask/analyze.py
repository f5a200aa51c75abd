#!/usr/bin/env python3
"""Where time and bytes went, over many .pfw files, on a Dask cluster.

    analyze.py [--scheduler HOST:PORT | --workers N] [--interval S] [--plot FILE] [--csv FOLDER] FILE...

Without --scheduler a cluster of N processes is started on this machine.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strata_dask as sd  # noqa: E402


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help=".pfw or .pfw.gz, which every worker can read")
    parser.add_argument("--scheduler", metavar="HOST:PORT", help="of a cluster that runs")
    parser.add_argument("--workers", type=int, default=2, help="processes of a cluster of one's own (2)")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds of an interval of bandwidth (1)")
    parser.add_argument("--top", type=int, default=20, help="rows to print of each table (20)")
    parser.add_argument("--plot", metavar="FILE", help="write a figure, such as run.png")
    parser.add_argument("--csv", metavar="FOLDER", help="write whole tables: functions.csv, categories.csv, files.csv, intervals.csv, inside.csv, bandwidth.csv")
    return parser.parse_args()


def connect(args):
    from distributed import Client, LocalCluster

    if args.scheduler:
        return Client(args.scheduler)
    return Client(LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=None))


def main():
    args = options()
    with connect(args) as client:
        # Workers elsewhere need the functions that they are to run.
        client.upload_file(sd.__file__)
        events = sd.load([os.path.abspath(path) for path in args.files]).persist()
        wanted = {"functions": sd.by_function(events), "categories": sd.by_category(events), "files": sd.by_file(events),
                  "intervals": sd.by_interval(events, args.interval), "inside": sd.inside(events)}
        found = client.gather(client.compute([*wanted.values(), sd.bandwidth(events, args.interval)]))
    tables = {name: sd.tidy(table) for name, table in zip(wanted, found)}
    tables["bandwidth"] = sd.tidy_bandwidth(found[-1], args.interval)
    for name, title in (("functions", "functions by time"), ("categories", "categories by time"), ("files", "files by time"),
                        ("inside", "what ran inside what, by time"), ("bandwidth", "bytes a second over time")):
        print(f"\n{title}\n{tables[name].head(args.top).to_string()}")
    if args.csv:
        os.makedirs(args.csv, exist_ok=True)
        for name, table in tables.items():
            table.to_csv(os.path.join(args.csv, f"{name}.csv"))
    if args.plot:
        import matplotlib

        matplotlib.use("Agg")
        sd.plot(tables["functions"], tables["files"], tables["bandwidth"]).savefig(args.plot)


if __name__ == "__main__":
    main()
