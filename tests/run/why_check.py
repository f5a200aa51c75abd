#!/usr/bin/python3
"""What `strata why --json` says against what a program knows by its own clock: why_check.py WHY TRUTH CAUSE [SAYS...]

TRUTH is what known.c prints (WAITED_NS TOTAL_NS) or known.py (JSON, of the loop). The lines must add up to the nanosecond; CAUSE
must have the share that the program waited, within 5 points: what it was then merely ready for, or spent in the kernel, may be
missing. SAYS: acts that made up most of the batches' making, or of the cause, whoever had the CPU instead put aside.
"""
import json
import sys

POINTS = 0.05
BESIDE = ("ready", "kernel", "unknown")


def add(causes, more):
    for cause, ns in more.items():
        causes[cause] = causes.get(cause, 0) + ns


def check_sums(why):
    total = why["total_ns"]
    assert sum(line["ns"] for line in why["ledger"]) == total, "the lines do not add up"
    assert sum(context["ns"] for context in why["contexts"]) == total, "nor do the contexts"
    for context in why["contexts"]:
        assert sum(context["causes"].values()) == context["ns"], context
    for window in why["windows"]:
        assert sum(window["causes"].values()) == window["end"] - window["start"], window
    mix = why["mix"]
    assert sum(part["made_ns"] for part in mix["parts"]) == mix["made_ns"] == mix["charged_ns"] + mix["hidden_ns"], mix
    assert sum(part["charged_ns"] for part in mix["parts"]) == mix["charged_ns"], mix
    assert mix["waited_ns"] == mix["charged_ns"] + mix["outside_ns"], mix


def check_share(why, truth, cause):
    causes = {}
    if truth.get("loop"):
        for context in why["contexts"]:
            if context["name"] not in ("start-up", "shut-down"):
                add(causes, context["causes"])
    else:
        for line in why["ledger"]:
            add(causes, {line["cause"]: line["ns"]})
    total = sum(causes.values())
    waited = truth["waited"] / (truth["loop"] or total)
    found, beside = causes.get(cause, 0) / total, sum(causes.get(name, 0) for name in BESIDE) / total
    print(f"{cause}: waited {waited:.3f}, charged {found:.3f}, beside {beside:.3f}; {causes}")
    assert waited - beside - POINTS <= found <= waited + POINTS, cause
    assert causes.get("unknown", 0) / total < POINTS, "unknown"


def check_said(why, cause, says):
    parts = {}
    if why["mix"]["batches"]:
        for part in why["mix"]["parts"]:
            add(parts, {part["says"]: part["made_ns"]})
    else:
        for line in why["ledger"]:
            if line["cause"] == cause:
                add(parts, {line["says"]: line["ns"]})
    for name in [name for name in parts if name.endswith("no CPU")]:
        parts.pop(name)
    most = sorted(parts, key=parts.get, reverse=True)[:len(says)]
    print(f"{parts}")
    assert sorted(most) == sorted(says), f"{most}, not {says}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        why = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    truth = json.loads(text) if text.startswith("{") else {"waited": int(text.split()[0]), "loop": None}
    check_sums(why)
    check_share(why, truth, sys.argv[3])
    if len(sys.argv) > 4:
        check_said(why, sys.argv[3], sys.argv[4:])


if __name__ == "__main__":
    main()
