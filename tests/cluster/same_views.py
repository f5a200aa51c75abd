#!/usr/bin/python3
"""Compares the views of ClickHouse with those of `strata sql` over the same trace, cell by cell.

    same_views.py STRATA RUN URL NODE RUN_NAME VIEW...

Numbers may differ by what adding them up in another order does. Prints the views and how many rows each has.
"""
import json
import math
import subprocess
import sys
import urllib.request

strata, run, url, node, name, *views = sys.argv[1:]


def ask(sql):
    request = urllib.request.Request(url + "/?database=strata&output_format_json_quote_64bit_integers=0", sql.encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{sql}: {error.read().decode()}")


def same(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


failed = False
for view in views:
    there = [json.loads(line) for line in ask(
        f"SELECT * FROM {view} WHERE node = '{node}' AND run = '{name}' FORMAT JSONEachRow").splitlines()]
    out = subprocess.run([strata, "sql", "-q", "-f", "jsonl", run, f"from {view}"], capture_output=True, text=True,
                         check=True).stdout
    here = [json.loads(line) for line in out.splitlines()]
    texts = [c for c in (here[0] if here else {}) if c not in ("run", "node") and isinstance(here[0][c], (str, type(None)))]
    order = lambda row: [str(row[c]) for c in texts] + sorted(str(v) for c, v in row.items() if isinstance(v, int))
    here.sort(key=order)
    there.sort(key=order)
    wrong = [(a, b) for a, b in zip(here, there) if any(not same(a[c], b.get(c, "missing")) for c in a if c not in ("run", "node"))]
    if len(here) != len(there) or wrong:
        failed = True
        print(f"{view}: {len(here)} rows of DuckDB, {len(there)} of ClickHouse, {len(wrong)} differ")
        for a, b in wrong[:2]:
            print("  ", {c: (a[c], b.get(c, "missing")) for c in a if not same(a[c], b.get(c, "missing"))})
    else:
        print(f"{view}: {len(here)} rows are the same")
sys.exit(failed)
