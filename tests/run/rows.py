#!/usr/bin/python3
"""Rows of a trace, as `strata dump` prints them, for tests to pick from.

    rows.py RUN TABLE [CONDITION [COLUMN,...]]

prints the chosen columns (default: all) of the rows for which CONDITION holds, separated by tabs, null as
`-`. CONDITION is a Python expression over the columns: "op == 'read' and returned > 0". Several tables,
separated by commas, are merged in order of ts; `table` then names each row's own.
"""
import csv
import io
import os
import re
import subprocess
import sys

csv.field_size_limit(1 << 24)


def unescape(text):
    """The bytes behind a field, as latin-1: `dump` writes \\xNN for a byte that is no UTF-8."""
    if text.isascii() and "\\" not in text:
        return text
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return raw.decode("latin-1")


def visible(text):
    """Text of any bytes on one line of printable ASCII."""
    return "".join(c if 32 < ord(c) < 127 and c != "\\" else f"\\x{ord(c):02x}" for c in text)


def value(text):
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return unescape(text)


def table_rows(run, table):
    """The rows of one table: dictionaries of column to int, bool, text or None."""
    command = [os.environ.get("STRATA", "build/strata"), "dump", run, table]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    reader = csv.DictReader(io.StringIO(done.stdout.decode(), newline=""), strict=True)
    names = ("arg_path", "arg_path2", "path", "comm", "args", "exe")
    rows = []
    for row in reader:
        if None in row or None in row.values():
            sys.exit(f"{table}: a row with more or fewer fields than the header: {row}")
        rows.append({k: (unescape(v) if v else None) if k in names else value(v) for k, v in row.items()})
        rows[-1]["table"] = table
    return rows


def merged_rows(run, tables):
    rows = [row for table in tables for row in table_rows(run, table)]
    if all("ts" in row for row in rows):
        rows.sort(key=lambda row: row["ts"])
    return rows


def text(field):
    return "-" if field is None else visible(field) if isinstance(field, str) else str(field)


def main():
    run, tables = sys.argv[1], sys.argv[2].split(",")
    condition = compile(sys.argv[3] if len(sys.argv) > 3 else "True", "CONDITION", "eval")
    columns = sys.argv[4].split(",") if len(sys.argv) > 4 else None
    for row in merged_rows(run, tables):
        if eval(condition, {}, row):
            print("\t".join(text(row[column]) for column in columns or row))


if __name__ == "__main__":
    main()
