#!/usr/bin/python3
"""Compares what `strata stat` says with a witness.

    stat_check.py bpftrace STAT.json BPFTRACE.json     per-bucket counts within 2 % of all events
    stat_check.py bcc TEXT                             the text is what bcc's own printer makes of its counts
"""
import contextlib
import io
import json
import re
import sys


def objects(path):
    decoder, text, at = json.JSONDecoder(), open(path).read(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def ours(path, name):
    counts = {}
    for interval in objects(path):
        for histogram in interval["histograms"]:
            if histogram["name"] == name:
                for slot in histogram["slots"]:
                    counts[slot["from"]] = counts.get(slot["from"], 0) + slot["count"]
    return {k: v for k, v in counts.items() if v}


def theirs(path, name):
    """bpftrace has slots of their own for 0 and 1."""
    counts = {}
    for line in open(path):
        line = json.loads(line) if line.strip() else {"type": ""}
        if line["type"] == "hist" and "@" + name in line["data"]:
            for slot in line["data"]["@" + name]:
                low = slot.get("min", 0)
                low = 0 if low <= 1 else low
                counts[low] = counts.get(low, 0) + slot["count"]
    return {k: v for k, v in counts.items() if v}


def compare(stat, witness):
    for name in "cpudist", "runqlat":
        a, b = ours(stat, name), theirs(witness, name)
        total = sum(b.values())
        print(name, a, b)
        assert total > 500, "the witness saw too little"
        assert abs(sum(a.values()) - total) <= 0.02 * total, "totals"
        for low in set(a) | set(b):
            assert abs(a.get(low, 0) - b.get(low, 0)) <= 0.02 * total, (name, low)


def bcc(path):
    from bcc.table import _print_log2_hist

    body = re.compile(r"^ *(\d+) -> (\d+) +: (\d+) +\|")
    text = open(path).read()
    counts = [int(m.group(3)) for m in map(body.match, text.splitlines()) if m]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _print_log2_hist([0] + counts, "usecs", False)
    assert counts and sum(counts) > 0
    assert printed.getvalue().strip("\n") == text.strip("\n"), printed.getvalue()


compare(*sys.argv[2:]) if sys.argv[1] == "bpftrace" else bcc(sys.argv[2])
