"""From the rounds that bench/run measured to figures, and from those to tables."""
import statistics

EVENTS = {"pread": 1, "openclose": 2, "stat": 1}  # calls that one turn of each loop of bench/calls makes


# ---- from rounds to figures ----


def spread(values):
    """The middle half of the rounds; all of them when they are few."""
    if len(values) < 4:
        return [min(values), max(values)]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return [first, third]


def added(rounds, name, op, figure):
    """ns that each round added to the bare call of the same round."""
    return [one["ops"][op][figure] - bare["ops"][op][figure]
            for one, bare in zip(rounds[name], rounds["bare"])]


def compare_added(rounds, least, op, figure="batch_ns"):
    """What strata adds beside what `least` adds; None where that could not run."""
    bare = statistics.median(one["ops"][op][figure] for one in rounds["bare"])
    ours = added(rounds, "strata", op, figure)
    result = {"bare_ns": bare, "strata_added_ns": statistics.median(ours), "strata_spread_ns": spread(ours)}
    if rounds.get(least):
        theirs = added(rounds, least, op, figure)
        ratio = statistics.median(ours) / statistics.median(theirs) if statistics.median(theirs) > 0 else None
        result.update(least_added_ns=statistics.median(theirs), least_spread_ns=spread(theirs), ratio=ratio,
                      ratio_spread=spread([a / b for a, b in zip(ours, theirs) if b > 0] or [None]))
    return result


def summarize_tracer(calls, name):
    """One line of the comparison of tracers."""
    rounds = calls["rounds"]
    idle = {key: statistics.median(one[key] for one in calls["idle"][name])
            for key in ("events", "bytes", "tracer_cpu_ns")}
    made = [sum(one["ops"][op]["calls"] * EVENTS[op] for op in EVENTS) for one in rounds[name]]
    kept = [one["events"] - idle["events"] for one in rounds[name]]
    return {
        "added_ns": {op: statistics.median(added(rounds, name, op, "batch_ns")) for op in EVENTS},
        "cpu_ns_per_event": statistics.median((one["tracer_cpu_ns"] - idle["tracer_cpu_ns"]) / count
                                              for one, count in zip(rounds[name], made)),
        "bytes_per_event": statistics.median((one["bytes"] - idle["bytes"]) / max(count, 1)
                                             for one, count in zip(rounds[name], kept)),
        "events": sum(made), "lost": round(sum(made) - sum(kept)),
        "lost_told": sum(one["lost_told"] for one in rounds[name]),
    }


def summarize_training(training):
    rounds = training["rounds"]
    if not (rounds.get("strata") and rounds.get("bare")):
        return None
    result = {}
    for key in ("job_s", "job_cpu_s", "command_s"):
        bare, ours = ([one[key] for one in rounds[name]] for name in ("bare", "strata"))
        result[key] = {"bare": statistics.median(bare), "strata": statistics.median(ours),
                       "ratio": statistics.median(ours) / statistics.median(bare),
                       "ratio_spread": spread([a / b for a, b in zip(ours, bare)])}
    result["io_bytes_per_row"] = statistics.median(one["io"]["bytes"] / one["io"]["rows"] for one in rounds["strata"])
    return result


def summarize(measured):
    calls, bystander = measured["calls"]["rounds"], measured["bystander"]["rounds"]
    return {
        "calls": {op: compare_added(calls, "floor", op) for op in EVENTS},
        "calls_mean": {op: compare_added(calls, "floor", op, "mean_ns") for op in EVENTS},
        "bystander": {op: compare_added(bystander, "empty", op) for op in ("getppid", "pread")},
        "tracers": {name: summarize_tracer(measured["calls"], name)
                    for name in calls if calls[name][0]["events"] is not None},
        "rates": measured["rates"],
        "training": summarize_training(measured["training"]),
        "store": measured["store"],
    }


# ---- tables ----


def print_table(head, rows):
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rows.insert(1, ["-" * width for width in widths])
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
    print()


def shown(value, form="{:,.0f}"):
    return "-" if value is None else form.format(value)


def target_row(what, bare, least, ours, value, target, form="{:.2f}", limits=None):
    """A line of the first table; value is what the target limits. limits: of value, over the rounds."""
    met = "-" if target is None else "?" if value is None else "yes" if value <= target else "no"
    between = f"{form.format(limits[0])} to {form.format(limits[1])}" if limits and limits[0] else "-"
    return [what, bare, least, ours, shown(value, form), between,
            "-" if target is None else f"≤ {target:g}", met]


def added_row(what, figures, target):
    return target_row(what, shown(figures["bare_ns"]), shown(figures.get("least_added_ns"), "+{:,.0f}"),
                      shown(figures["strata_added_ns"], "+{:,.0f}"), figures.get("ratio"), target,
                      limits=figures.get("ratio_spread"))


def rate_rows(rates):
    """The targets hold at a million events a second; where the machine was too busy to make them, the
    loss says nothing about that."""
    for key, one in rates.items():
        if key == "idle_cpu_ns":
            continue
        rate = f"{one['calls_per_s'] / 1e6:.2f} M events/s"
        reached = one["calls_per_s"] >= 0.95e6
        yield target_row(f"lost of {one['calls']:,} at {rate}", "-", "-", f"{one['lost']:,}", one["lost"],
                         0 if reached else None, "{:,d}")
        yield target_row("... recorder's CPU, ns an event", "-", "-", shown(one["cpu_ns_per_event"]),
                         one["cpu_ns_per_event"], 150, "{:.0f}")
        yield target_row("... bytes a stored row of this loop", "-", "-",
                         shown(one["bytes_per_row"], "{:.2f}"), one["bytes_per_row"], None)


def training_rows(figures):
    names = {"job_s": ("PyTorch job, s", 1.02), "job_cpu_s": ("... its CPU time, s", None),
             "command_s": ("... with start and stop of strata, s", None)}
    for key, (what, target) in names.items():
        one = figures[key]
        yield target_row(what, f"{one['bare']:.3f}", "-", f"{one['strata']:.3f}", one["ratio"], target,
                         "{:.3f}", one["ratio_spread"])
    stored = figures["io_bytes_per_row"]
    yield target_row("... bytes a stored io row of it", "-", "-", f"{stored:.2f}", stored, 5)


def print_targets(summary):
    rows = [
        added_row("one traced 4 KiB pread, ns", summary["calls"]["pread"], 1.5),
        added_row("... by the mean of all its calls", summary["calls_mean"]["pread"], None),
        added_row("openat and close, ns", summary["calls"]["openclose"], None),
        added_row("stat, ns", summary["calls"]["stat"], None),
        added_row("getppid of a process not traced, ns", summary["bystander"]["getppid"], 1.5),
        added_row("pread of a process not traced, ns", summary["bystander"]["pread"], 1.5),
        *rate_rows(summary["rates"]),
    ]
    if "rows_65536" in summary["store"]:
        stored = summary["store"]["rows_65536"]["bytes_per_row"]
        rows.append(target_row("bytes a stored io row, data loading as modelled", "-", "-", f"{stored:.2f}",
                               stored, 5))
    if summary["training"]:
        rows += training_rows(summary["training"])
    print_table(["what", "bare", "floor", "strata", "ratio or value", "spread", "target", "met"], rows)
    print("floor: a bare BPF program that writes 40 bytes a call; for processes not traced, two empty\n"
          "programs. ratio: strata's added time by the floor's, or by the bare run's; spread: the\n"
          "middle half of the rounds.\n")


def print_tracers(summary, unavailable):
    ours = summary["strata"]["added_ns"]["pread"]
    rows = []
    for name, one in summary.items():
        times = [f"+{one['added_ns'][op]:,.0f}" for op in EVENTS]
        ratio = one["added_ns"]["pread"] / ours if ours > 0 else None
        rows.append([name, *times, shown(ratio, "{:.1f} x"), shown(one["cpu_ns_per_event"]),
                     f"{one['bytes_per_event']:.1f}", f"{one['events']:,}", f"{one['lost']:,}"])
    print_table(["tracer", "pread, ns", "openat+close, ns", "stat, ns", "pread by strata's",
                 "its CPU, ns/event", "bytes/event", "events", "lost"], rows)
    for name, reason in unavailable.items():
        print(f"{name}: not available: {reason}\n")


def print_training(training):
    rows = []
    for name, rounds in training["rounds"].items():
        job = statistics.median(one["job_s"] for one in rounds)
        bare = statistics.median(one["job_s"] for one in training["rounds"]["bare"])
        size = rounds[0]["file_bytes"]
        rows.append([name, str(len(rounds)), f"{job:.3f}", f"{job / bare:.3f}",
                     shown(size and size / 1024, "{:,.0f}")])
    if rows:
        print_table(["PyTorch job under", "rounds", "s", "by bare", "file, KiB"], rows)
    for name, reason in training["unavailable"].items():
        print(f"PyTorch job, {name}: not available: {reason}\n")


def print_store(store):
    if "unavailable" in store:
        print(f"trace file alone: not available: {store['unavailable']}\n")
        return
    rows = [[name.removeprefix("rows_"), f"{one['bytes_per_row']:.2f}", f"{one['encode_ns_per_row']:.0f}",
             f"{one['decode_ts_dur_tid_ns_per_row']:.1f}", f"{one['decode_all_ns_per_row']:.1f}"]
            for name, one in store.items() if name.startswith("rows_")]
    print_table(["rows a chunk, trace file alone", "bytes/row", "encode, ns/row", "decode 3 columns, ns/row",
                 "decode all, ns/row"], rows)


def print_all(measured):
    machine = measured["machine"]
    print(f"{machine['strata']}, Linux {machine['kernel']}, {machine['cpus']} CPUs, load at start "
          f"{' '.join(machine['load'])}{', QUICK: figures mean nothing' if machine['quick'] else ''}\n")
    print_targets(measured["summary"])
    print_tracers(measured["summary"]["tracers"], measured["calls"]["unavailable"])
    print_training(measured["training"])
    print_store(measured["store"])
