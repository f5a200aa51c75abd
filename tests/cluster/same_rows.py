#!/usr/bin/python3
"""Compares every row of a trace in ClickHouse with what DuckDB says of the same trace.

    same_rows.py STRATA RUN URL NODE RUN_NAME [TABLE...]

Prints the tables and how many rows each has; fails with the first rows that differ, are missing, or are there twice. What DuckDB
said is kept in the folder $SAME_ROWS, if that is set, for the next comparison with the same trace.
"""
import collections
import hashlib
import json
import os
import pickle
import subprocess
import sys
import urllib.request

strata, run, url, node, name, *tables = sys.argv[1:]


def ask(sql):
    request = urllib.request.Request(url + "/?database=strata&output_format_json_quote_64bit_integers=0", sql.encode())
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def local(sql):
    out = subprocess.run([strata, "sql", "-q", "-f", "jsonl", run, sql], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def kept(what, make):
    """make(), or what it gave when it was called for the same before."""
    folder = os.environ.get("SAME_ROWS")
    path = folder and f"{folder}/{hashlib.sha256(f'{strata} {run} {what}'.encode()).hexdigest()}.rows"
    if path and os.path.exists(path):
        return pickle.load(open(path, "rb"))
    value = make()
    if path:
        pickle.dump(value, open(path, "wb"))
    return value


def plain(value):
    if isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, float) else value


def key(row, columns):
    return tuple(plain(row[c]) for c in columns)


if not tables:
    listed = ("select distinct table_name from duckdb_columns() where column_name = 'node' and table_name not in "
              "(select view_name from duckdb_views() where sql like '%GROUP BY%' or sql like '%ORDER BY%')")
    tables = kept(listed, lambda: sorted(row["table_name"] for row in local(listed) if not row["table_name"].startswith("_")))

failed = False
for table in tables:
    there = [json.loads(line) for line in ask(
        f"SELECT * FROM {table} WHERE node = '{node}' AND run = '{name}' FORMAT JSONEachRow").splitlines()]
    columns = [line.split("\t")[0] for line in ask(f"DESCRIBE TABLE {table}").splitlines()]
    columns = [c for c in columns if c not in ("run", "node", "job", "job_rank", "batch", "day")]
    shown = ", ".join(f'epoch_ns(utc) AS utc' if c == "utc" else f'"{c}"' for c in columns)
    asked = f"SELECT {shown} FROM {table}"
    left = kept(asked, lambda: collections.Counter(key(row, columns) for row in local(asked)))
    right = collections.Counter(key(row, columns) for row in there)
    if left != right:
        failed = True
        print(f"{table}: {left.total()} rows in the trace, {len(there)} in ClickHouse")
        print("  only in the trace:", list((left - right).items())[:2])
        print("  only in ClickHouse:", list((right - left).items())[:2])
    else:
        print(f"{table}: {left.total()} rows are the same")
sys.exit(failed)
