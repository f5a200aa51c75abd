#!/usr/bin/python3
"""Compares what `strata sql` gives with what is computed here from the CSV of `strata dump`.

    sql_check.py rows RUN         every table: the same rows, whatever their order
    sql_check.py totals RUN       every table: count, sum, least, greatest and different values of each column
    sql_check.py groups RUN       sqlite3 over the CSV groups like DuckDB over the trace
    sql_check.py filters RUN      conditions by which chunks are skipped: the same rows as without skipping

Prints what differs, and fails.
"""
import csv
import io
import os
import re
import sqlite3
import subprocess
import sys

STRATA = os.environ["STRATA"]
NUMBERS = {"BIGINT", "UBIGINT"}
EMPTY = "\x02"  # stands for an empty text


def strata(*arguments):
    return subprocess.run([STRATA, *arguments], check=True, capture_output=True, text=True)


def sql(run, query):
    return parse(strata("sql", "-f", "csv", run, query).stdout)


def parse(text):
    """Names and rows of CSV. The csv module does not tell an empty text, "", from null: it is made to differ."""
    text = re.sub(r'(?m)(^|(?<=,))""(?=,|$)', EMPTY, text)
    rows = list(csv.reader(io.StringIO(text.replace('""', "\x01"))))
    return rows[0], rows[1:]


def tables(run):
    lines = strata("sql", run, ".tables").stdout.split("\n\n")[0].splitlines()[1:]
    return [line.split()[0] for line in lines]


def schema(run, table):
    lines = strata("sql", run, f".schema {table}").stdout.splitlines()[3:]
    return {line.split()[0]: line.split()[1] for line in lines}


def dump(run, table):
    return parse(strata("dump", run, table).stdout)


def quoted(names):
    return ", ".join(f'"{name}"' for name in names)


def check_rows(run):
    wrong = []
    for table in tables(run):
        names, rows = dump(run, table)
        sql_names, sql_rows = sql(run, f"select {quoted(names)} from {table}")
        if sql_names != names or sorted(sql_rows) != sorted(rows):
            wrong.append(f"{table}: {len(rows)} rows dumped, {len(sql_rows)} by SQL")
            wrong += [str(row) for row in sorted(set(map(tuple, rows)) ^ set(map(tuple, sql_rows)))[:4]]
        shown = sql(run, f"select * from {table} limit 0")[0]
        if shown[:len(names)] != names or shown[-2:] != ["run", "node"]:
            wrong.append(f"{table}: select * gives {shown}")
        print(f"{table}: {len(rows)} rows")
    return wrong


def totals_of(name, kind, cells):
    """What is expected of a column, and the expressions that ask for it."""
    column = f'"{name}"'
    if kind in NUMBERS:
        values = [int(cell) for cell in cells]
        return ([len(values), sum(values) if values else "", min(values, default=""), max(values, default=""),
                 len(set(values))],
                f"count({column}), sum({column}), min({column}), max({column}), count(distinct {column})")
    text = f"nullif({column}::varchar, '')"
    return [len(cells), len(set(cells))], f"count({text}), count(distinct {text})"


def check_totals(run):
    wrong = []
    for table in tables(run):
        names, rows = dump(run, table)
        types = schema(run, table)
        expected, queries = [], []
        for place, name in enumerate(names):
            cells = [row[place] for row in rows if row[place] not in ("", EMPTY)]
            if any("\x01" in cell for cell in cells):
                continue  # quotes: compared row by row
            values, query = totals_of(name, types[name], cells)
            expected += values
            queries.append(query)
        found = sql(run, f"select {', '.join(queries)} from {table}")[1][0]
        if [str(value) for value in expected] != found:
            wrong.append(f"{table}: {expected}, SQL {found}")
        print(f"{table}: {len(expected)} totals")
    return wrong


GROUPS = [
    ("io", "op, dir, count(*), sum(dur), max(dur), sum(returned)", "op, dir"),
    ("io", "path, count(*), sum(requested), min(ts)", "path"),
    ("io", "comm, tid, count(*), sum(missed), sum(blocked)", "comm, tid"),
    ("fs", "op, count(*), sum(dur), count(path), min(returned)", "op"),
    ("fs", "path, op, count(*)", "path, op"),
    ("mem", "op, count(*), max(length), sum(dur)", "op"),
    ("process", "event, comm, count(*)", "event, comm"),
    ("sched", "comm, end_state, count(*), sum(dur), sum(wait)", "comm, end_state"),
    ("block", "dev, op, path, count(*), sum(bytes), sum(dur)", "dev, op, path"),
    ("file", "fs, kind, count(*)", "fs, kind"),
]


def check_groups(run):
    wrong = []
    base = sqlite3.connect(":memory:")
    for table in {table for table, _, _ in GROUPS}:
        names, rows = dump(run, table)
        types = schema(run, table)
        kinds = ", ".join(f'"{name}" {"INTEGER" if types[name] in NUMBERS else "TEXT"}' for name in names)
        base.execute(f"create table {table} ({kinds})")
        base.executemany(f"insert into {table} values ({','.join('?' * len(names))})",
                         [[None if cell == "" else cell for cell in row] for row in rows])
    for table, columns, keys in GROUPS:
        query = f"select {columns} from {table} group by {keys}"
        theirs = sorted([["" if cell is None else str(cell) for cell in row] for row in base.execute(query)])
        ours = sorted(sql(run, query)[1])
        if ours != theirs:
            wrong.append(f"{query}: {len(ours)} groups, sqlite3 {len(theirs)}")
            wrong += [f"{left} {right}" for left, right in zip(ours, theirs) if left != right][:3]
        print(f"{query}: {len(ours)} groups")
    return wrong


def literals(run):
    """Values that occur, to ask for."""
    tid, path, file = sql(run, "select tid, path, file from io where path is not null group by all "
                               "order by count(*) desc, 1, 2 limit 1 offset 5")[1][0]
    start, end, utc = sql(run, "select quantile_cont(t, 0.4), quantile_cont(t, 0.6), "
                               "max(utc) - interval 1 second from io")[1][0]
    ts = sql(run, "select quantile_disc(ts, 0.5) from io")[1][0][0]
    return {"tid": tid, "path": path.replace("'", "''"), "file": file, "start": start, "end": end, "utc": utc, "ts": ts}


FILTERS = [
    "tid = {tid}", "tid in ({tid}, 1, 2)", "{tid} = tid and op = 'read'", "op = 'pread64' or op = 'writev'",
    "path = '{path}'", "file = {file}", "file in ({file}, 3, 4)", "t between {start} and {end}", "t > {end}",
    "ts <= {ts}", "ts = {ts}", "utc >= '{utc}'", "dur > 1e5", "dur > 100000.5", "dur between 1000 and 2000", "tid <> {tid}",
    "returned < 0", "op in ('read', 'no such call')", "op = 'no such call'", "run = 'no such run'", "not (op = 'read')",
    "op = 'read' or tid = {tid}", "returned is null", "comm = 'python3' and dur >= 50000", "requested = 4096",
]


def check_filters(run):
    """A sum over a volatile condition that is always true cannot be judged before: no chunk is skipped."""
    wrong, saved = [], 0
    values = literals(run)
    for form in FILTERS:
        condition = form.format(**values)
        query = "select count(*), sum(dur), sum(ts), count(distinct tid) from io where "
        done = strata("sql", "-v", "-f", "csv", run, query + condition)
        plain = sql(run, query + f"case when random() < 2 then ({condition}) end")[1]
        read, total = re.search(r"([\d,]+) of ([\d,]+) rows of the tables were read", done.stderr).groups()
        saved += read != total
        print(f"{condition}: {parse(done.stdout)[1][0][0]} rows, {read} of {total} read")
        if parse(done.stdout)[1] != plain:
            wrong.append(f"{condition}: {parse(done.stdout)[1]}, without skipping {plain}")
    if saved < 5:
        wrong.append(f"only {saved} conditions saved reading")
    return wrong


if __name__ == "__main__":
    found = {"rows": check_rows, "totals": check_totals, "groups": check_groups,
             "filters": check_filters}[sys.argv[1]](sys.argv[2])
    print("\n".join(found))
    sys.exit(bool(found))
