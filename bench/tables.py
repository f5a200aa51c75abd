"""From the rounds that bench/run measured to figures, and from those to tables."""
import math
import statistics

from programs import program_rows
from start import DEFAULT, summarize_start

# Events that one turn of each loop of bench/calls makes.
CALLS = {"pread": 1, "openclose": 2, "stat": 1}
SWITCHES = {"switch": 2}
REQUESTS = {"direct": 32}
MIXED = {"io": 128 + 4 * 4 + 1, "fs": 4 * 2 + 8, "mem": 4 * 2}  # ... of its loop `mixed`, by table


# ---- from rounds to figures ----


def spread(values):
    """The middle half of the rounds; all of them when they are few."""
    if len(values) < 4:
        return [min(values), max(values)]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return [first, third]


def added(rounds, name, op, figure, events=1):
    """ns that each round added to the bare call of the same round, by events of a call."""
    return [(one["ops"][op][figure] - bare["ops"][op][figure]) / events
            for one, bare in zip(rounds[name], rounds["bare"])]


def compare_added(rounds, least, op, figure="batch_ns", events=1):
    """What strata adds beside what `least` adds; None where that could not run."""
    bare = statistics.median(one["ops"][op][figure] for one in rounds["bare"]) / events
    ours = added(rounds, "strata", op, figure, events)
    result = {"bare_ns": bare, "strata_added_ns": statistics.median(ours), "strata_spread_ns": spread(ours)}
    if rounds.get(least):
        theirs = added(rounds, least, op, figure, events)
        ratio = statistics.median(ours) / statistics.median(theirs) if statistics.median(theirs) > 0 else None
        result.update(least_added_ns=statistics.median(theirs), least_spread_ns=spread(theirs), ratio=ratio,
                      ratio_spread=spread([a / b for a, b in zip(ours, theirs) if b > 0] or [None]))
    return result


def summarize_tracer(calls, name, ops):
    """One line of the comparison of tracers. Those that see the whole machine may keep more than was made."""
    rounds = calls["rounds"]
    idle = {key: statistics.median(one[key] for one in calls["idle"][name])
            for key in ("events", "bytes", "tracer_cpu_ns")}
    made = [sum(one["ops"][op]["calls"] * ops[op] for op in ops) for one in rounds[name]]
    kept = [one["events"] - idle["events"] for one in rounds[name]]
    return {
        "added_ns": {op: statistics.median(added(rounds, name, op, "batch_ns", ops[op])) for op in ops},
        "cpu_ns_per_event": statistics.median((one["tracer_cpu_ns"] - idle["tracer_cpu_ns"]) / count
                                              for one, count in zip(rounds[name], made)),
        "bytes_per_event": statistics.median((one["bytes"] - idle["bytes"]) / max(count, 1)
                                             for one, count in zip(rounds[name], kept)),
        "events": sum(made), "lost": max(round(sum(made) - sum(kept)), 0),
        "lost_told": sum(one["lost_told"] for one in rounds[name]),
    }


def summarize_tracers(part, ops):
    rounds = part["rounds"]
    return {name: summarize_tracer(part, name, ops) for name in rounds if rounds[name][0]["events"] is not None}


def median_limits(values):
    """Between which the median of what the values were drawn from lies, with 95 % of certainty or more: each
    value is above it or below it like a coin."""
    values, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while rank < count // 2 and 2 * (outside + math.comb(count, rank) / 2**count) <= 0.05:
        outside += math.comb(count, rank) / 2**count
        rank += 1
    rank = max(rank - 1, 0)
    return [values[rank], values[count - 1 - rank]]


def compare_pairs(ours, theirs):
    """Round by round, since what disturbs a round disturbs all its runs."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    return {"bare": statistics.median(theirs), "strata": statistics.median(ours),
            "ratio": statistics.median(ratios), "ratio_spread": median_limits(ratios)}


def summarize_training(training):
    rounds = training["rounds"]
    if not (rounds.get("strata") and rounds.get("bare again")):
        return None
    result = {}
    for key in ("job_s", "job_cpu_s", "command_s"):
        first, again, ours = ([one[key] for one in rounds[name]] for name in ("bare", "bare again", "strata"))
        result[key] = compare_pairs(ours, [(a + b) / 2 for a, b in zip(first, again)])
        result[f"{key}_noise"] = compare_pairs(again, first)
    rows, size = ({table: statistics.median(one["tables"][table][what] for one in rounds["strata"])
                   for table in rounds["strata"][0]["tables"]} for what in ("rows", "bytes"))
    result["rows"] = rows
    result["bytes_per_row"] = {table: size[table] / rows[table] for table in rows if rows[table]}
    return result


def summarize_attached(attached):
    """Each stretch under strata beside the mean of the two around it, and those two beside each other."""
    free, recorded = attached["free"], attached["recorded"]
    turns = [tuple(map(statistics.mean, turn)) for turn in zip(free, recorded, free[1:]) if all(turn)]
    if not turns:
        return None
    before, ours, after = zip(*turns)
    return {"turns": len(turns), "epoch_s": compare_pairs(ours, [(a + b) / 2 for a, b in zip(before, after)]),
            "epoch_s_noise": compare_pairs(after, before)}


def summarize_mixed(mixed):
    if "unavailable" in mixed:
        return mixed
    bytes_per_row = {name: table["bytes"] / table["rows"] for name, table in mixed["tables"].items() if table["rows"]}
    return {**mixed, "bytes_per_row": bytes_per_row, "rows_by_table": {
        name: mixed["tables"][name]["rows"] for name in bytes_per_row}}


def summarize(measured):
    """The figures of the parts that were measured."""
    summary = {}
    if "calls" in measured:
        rounds = measured["calls"]["rounds"]
        summary["calls"] = {op: compare_added(rounds, "floor", op) for op in CALLS}
        summary["calls_mean"] = {op: compare_added(rounds, "floor", op, "mean_ns") for op in CALLS}
        summary["tracers"] = summarize_tracers(measured["calls"], CALLS)
    if "bystander" in measured:
        rounds = measured["bystander"]["rounds"]
        summary["bystander"] = {op: compare_added(rounds, "empty", op) for op in ("getppid", "pread")}
    if "start" in measured:
        summary["start"] = summarize_start(measured["start"])
    for part, ops in (("switches", SWITCHES), ("requests", REQUESTS)):
        if measured.get(part, {}).get("rounds"):
            op, events = next(iter(ops.items()))
            summary[part] = compare_added(measured[part]["rounds"], "floor", op, events=events)
            summary[f"{part}_tracers"] = summarize_tracers(measured[part], ops)
    if "waits" in measured:
        summary["waits"] = {op: compare_added(rounds, "floor", op) for op, rounds in measured["waits"].items()}
    if "faults" in measured:
        first, again, ours = ([one["ns"] / 1e6 for one in measured["faults"]["rounds"][name]]
                              for name in ("bare", "bare again", "strata"))
        summary["faults"] = {"cold": compare_pairs(ours, [(a + b) / 2 for a, b in zip(first, again)]),
                             "noise": compare_pairs(again, first), "megabytes": measured["faults"]["megabytes"]}
    if "mixed" in measured:
        summary["mixed"] = summarize_mixed(measured["mixed"])
    if "training" in measured:
        summary["training"] = {job: summarize_training(one) for job, one in measured["training"].items()}
    if "attached" in measured:
        summary["attached"] = {job: summarize_attached(one) for job, one in measured["attached"].items()
                               if job != "unavailable"}
    for part in ("programs", "rates", "store"):
        if part in measured:
            summary[part] = measured[part]
    return summary


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


def target_row(what, bare, least, ours, value, target, form="{:.2f}", limits=None, certain=False):
    """A line of the first table; value is what the target limits. limits: of value, over the rounds; certain:
    whether a target is met or missed only when both are on one side of it."""
    least_value, most_value = limits if certain else (value, value)
    met = ("-" if target is None else "?" if value is None or least_value <= target < most_value
           else "yes" if value <= target else "no")
    between = f"{form.format(limits[0])} to {form.format(limits[1])}" if limits and limits[0] else "-"
    return [what, bare, least, ours, shown(value, form), between,
            "-" if target is None else f"≤ {target:g}", met]


def added_row(what, figures, target):
    return target_row(what, shown(figures["bare_ns"]), shown(figures.get("least_added_ns"), "{:+,.0f}"),
                      shown(figures["strata_added_ns"], "{:+,.0f}"), figures.get("ratio"), target,
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


def mixed_rows(mixed):
    if "unavailable" in mixed:
        return
    lost = max(mixed["lost_told"], sum(mixed["lost"][table] for table in MIXED))
    rate = f"{mixed['rows_per_s'] / 1e6:.2f} M events/s of all kinds, {mixed['seconds']:.0f} s"
    yield target_row(f"lost of {mixed['rows']:,} at {rate}", "-", "-", f"{lost:,}", lost,
                     0 if mixed["rows_per_s"] >= 0.95e6 else None, "{:,d}")
    yield target_row(f"... of {mixed['requests']:,} requests, not seen to end", "-", "-",
                     f"{mixed['lost']['block']:,}", mixed["lost"]["block"], None, "{:,d}")
    yield target_row("... recorder's CPU, ns an event", "-", "-", shown(mixed["cpu_ns_per_event"]),
                     mixed["cpu_ns_per_event"], 150, "{:.0f}")


def pair_rows(figures, names):
    """names: of figures that compare_pairs() made, with what they are and their target."""
    for key, (what, target) in names.items():
        one = figures[key]
        yield target_row(what, f"{one['bare']:.3f}", "-", f"{one['strata']:.3f}", one["ratio"], target, "{:.3f}",
                         one["ratio_spread"], certain=True)


def fault_rows(faults):
    yield from pair_rows(faults, {
        "cold": (f"first touch of a cold mapping of {faults['megabytes']} MiB, ms", 1.05),
        "noise": ("... bare against bare, ms", None)})


def training_rows(job, figures):
    yield from pair_rows(figures, {
        "job_s": (f"PyTorch job on {job}, s", 1.02), "job_s_noise": ("... bare against bare, s", None),
        "job_cpu_s": ("... its CPU time, s", None), "job_cpu_s_noise": ("... CPU time, bare against bare, s", None),
        "command_s": ("... with start and stop of strata, s", None)})
    stored = figures["bytes_per_row"]["io"]
    yield target_row("... bytes a stored io row of it", "-", "-", f"{stored:.2f}", stored, 5)


def attached_rows(job, figures):
    yield from pair_rows(figures, {
        "epoch_s": (f"an epoch on {job}, strata attached in turn, s", 1.02),
        "epoch_s_noise": ("... bare against bare, s", None)})


def part_rows(summary):
    """The lines of the first table, for the parts that there are."""
    if "calls" in summary:
        yield added_row("one traced 4 KiB pread, ns", summary["calls"]["pread"], 1.5)
        yield added_row("... by the mean of all its calls", summary["calls_mean"]["pread"], None)
        yield added_row("openat and close, ns", summary["calls"]["openclose"], None)
        yield added_row("stat, ns", summary["calls"]["stat"], None)
    if "bystander" in summary:
        yield added_row("getppid of a process not traced, ns", summary["bystander"]["getppid"], 1.5)
        yield added_row("pread of a process not traced, ns", summary["bystander"]["pread"], 1.5)
    if "start" in summary:
        taken = summary["start"]["layers"][DEFAULT]["start_ns"] / 1e6
        yield target_row("start of a recording, all default layers, ms", "-", "-", f"{taken:.0f}", taken, 200, "{:.0f}")
    if "switches" in summary:
        yield added_row("a switch of a ping-pong on one CPU, layer sched, ns", summary["switches"], None)
    for what, taken in program_rows(summary.get("programs", {})):
        yield target_row(what, "-", "-", f"{taken:.0f}", taken, None, "{:.0f}")
    if "waits" in summary:
        yield added_row("a call that does not sleep, layer wait beside io and sched, ns", summary["waits"]["getppid"], None)
        yield added_row("a turn of the ping-pong, two rows of wait, beside sched, ns", summary["waits"]["switch"], None)
    if "requests" in summary:
        yield added_row("a 4 KiB O_DIRECT request of 32 at once, layer block, ns", summary["requests"], None)
    if "faults" in summary:
        yield from fault_rows(summary["faults"])
    if "rates" in summary:
        yield from rate_rows(summary["rates"])
    if "mixed" in summary:
        yield from mixed_rows(summary["mixed"])
    if "rows_65536" in summary.get("store", {}):
        stored = summary["store"]["rows_65536"]["bytes_per_row"]
        yield target_row("bytes a stored io row, data loading as modelled", "-", "-", f"{stored:.2f}", stored, 5)
    for part, rows_of in (("training", training_rows), ("attached", attached_rows)):
        for job, figures in summary.get(part, {}).items():
            if figures:
                yield from rows_of(job, figures)


def print_targets(summary):
    print_table(["what", "bare", "floor", "strata", "ratio or value", "spread", "target", "met"],
                list(part_rows(summary)))
    print("floor: a bare BPF program that writes 40 bytes a call or switch; for processes not traced, two\n"
          "empty programs. ratio: strata's added time by the floor's, or by the bare run's; spread: the\n"
          "middle half of the rounds. Of the PyTorch job: the median of the rounds' ratios, each to the\n"
          "mean of the round's two bare runs, or of the epochs before and after it, and between which that\n"
          "median lies with 95 % of certainty. The job on photographs decodes and crops them; the one\n"
          "on tensors does little else than load them.\n"
          "Requests are counted against /sys/block: a kernel that hides a process from tracing does not\n"
          "show the end of a request that is completed in an interrupt of it.\n")


def print_sizes(summary):
    """Bytes a row of every table that has rows, in the mixed run and in the PyTorch jobs'."""
    runs = {"mixed run": summary.get("mixed") or {},
            **{f"job on {job}": one or {} for job, one in summary.get("training", {}).items()}}
    counts = [one.get("rows_by_table", one.get("rows")) if one.get("bytes_per_row") else {} for one in runs.values()]
    tables = list(dict.fromkeys(table for one in runs.values() for table in one.get("bytes_per_row", {})))
    if not tables:
        return
    rows = [[table, *(cell for one, count in zip(runs.values(), counts) for cell in (
        shown(count.get(table)), shown(one.get("bytes_per_row", {}).get(table), "{:.2f}")))] for table in tables]
    print_table(["table", *(head for name in runs for head in (f"rows, {name}", "bytes/row"))], rows)


def print_unavailable(part, reasons):
    for name, reason in reasons.items():
        print(f"{part} {name}: not available: {reason}\n".lstrip())


def print_tracers(summary, unavailable, titles):
    """titles: of the ops, the first of which strata's is compared by."""
    first = next(iter(titles))
    ours = summary["strata"]["added_ns"][first]
    rows = []
    for name, one in summary.items():
        times = [f"{one['added_ns'][op]:+,.0f}" for op in titles]
        ratio = one["added_ns"][first] / ours if ours > 0 else None
        rows.append([name, *times, shown(ratio, "{:.1f} x"), shown(one["cpu_ns_per_event"]),
                     f"{one['bytes_per_event']:.1f}", f"{one['events']:,}", f"{max(one['lost'], one['lost_told']):,}"])
    print_table(["tracer", *titles.values(), f"{first} by strata's", "its CPU, ns/event", "bytes/event", "events",
                 "lost"], rows)
    print_unavailable("", unavailable)


def print_training(job, training):
    rows = []
    for name, rounds in training["rounds"].items():
        taken = statistics.median(one["job_s"] for one in rounds)
        bare = statistics.median(one["job_s"] for one in training["rounds"]["bare"])
        size = rounds[0]["file_bytes"]
        rows.append([name, str(len(rounds)), f"{taken:.3f}", f"{taken / bare:.3f}",
                     shown(size and size / 1024, "{:,.0f}")])
    if rows:
        print_table([f"PyTorch job on {job} under", "rounds", "s", "by bare", "file, KiB"], rows)
    print_unavailable(f"PyTorch job on {job} under", training["unavailable"])


def print_start(start):
    rows = [[name, *(f"{one[key] / 1e6:.0f}" for key in ("start_ns", "least_ns", "cpu_ns"))]
            for name, one in start["layers"].items()]
    print_table(["start with layers", "ms", "least", "CPU, ms"], rows)
    print_table(["BPF object", "CPU to load, ms"],
                [[name, f"{ns / 1e6:.1f}"] for name, ns in sorted(start["objects"].items(), key=lambda one: -one[1])])


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
    summary = measured["summary"]
    print_targets(summary)
    for part, key, titles in (
            ("calls", "tracers", {"pread": "pread, ns", "openclose": "openat or close, ns", "stat": "stat, ns"}),
            ("switches", "switches_tracers", {"switch": "a switch, ns"}),
            ("requests", "requests_tracers", {"direct": "a request, ns"})):
        if key in summary:
            print_tracers(summary[key], measured[part]["unavailable"], titles)
        else:
            print_unavailable(part, measured.get(part, {}).get("unavailable", {}))
    if "training" in measured:
        for job, one in measured["training"].items():
            print_training(job, one)
    if "start" in summary:
        print_start(summary["start"])
    print_sizes(summary)
    if "store" in measured:
        print_store(measured["store"])
    for part, what in (("mixed", "block device"), ("attached", "PyTorch job")):
        if "unavailable" in measured.get(part, {}):
            print_unavailable(part, {what: measured[part]["unavailable"]})
