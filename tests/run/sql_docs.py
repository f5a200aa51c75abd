#!/usr/bin/python3
"""Runs every query of docs/sql.md on a recording: sql_docs.py DOC RUN. Prints those that fail or give no row."""
import csv
import io
import os
import re
import subprocess
import sys

EXPECTED = 20


def run(query, trace):
    return subprocess.run([os.environ["STRATA"], "sql", "-f", "csv", trace, query], capture_output=True, text=True)


def main():
    doc, trace = sys.argv[1:]
    text = open(doc, encoding="utf-8").read()
    queries = re.findall(r"^(\d+)\. ([^\n]*)\n\n```sql\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    wrong = [] if [int(number) for number, _, _ in queries] == list(range(1, EXPECTED + 1)) else ["not twenty queries"]
    for number, question, query in queries:
        done = run(query, trace)
        rows = list(csv.reader(io.StringIO(done.stdout)))
        if done.returncode or done.stderr or len(rows) < 2:
            wrong.append(f"{number}. {question}: {len(rows) - 1} rows, exit status {done.returncode}\n{done.stderr}")
        print(f"{number}. {question}: {len(rows) - 1} rows")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
