"""What each BPF program of layer sched takes, by the kernel's own accounts (kernel.bpf_stats_enabled). Those read the clock twice a
run, which is in the figures; an empty program shows how much that is. They compare two versions of a program, not two hooks."""
import contextlib
import json

from commands import Failed, held, run

SWITCH = "/proc/sys/kernel/bpf_stats_enabled"


@contextlib.contextmanager
def accounts_kept():
    try:
        with open(SWITCH, encoding="ascii") as file:
            before = file.read()
        with open(SWITCH, "w", encoding="ascii") as file:
            file.write("1")
    except OSError as error:
        raise Failed(f"{SWITCH}: {error.strerror}") from error
    try:
        yield
    finally:
        with open(SWITCH, "w", encoding="ascii") as file:
            file.write(before)


def loaded():
    return {one["id"]: one for one in json.loads(run(["bpftool", "-j", "prog", "show"]).stdout)}


def measure_programs(recording, load):
    """Runs `load` while a sleeping command is recorded: of each program its runs, and the ns that they took."""
    try:
        with accounts_kept():
            before = loaded()
            with held(recording):
                run(load)
                after = loaded()
    except Failed as error:
        return {"unavailable": str(error)}
    programs = {one["name"]: {"runs": one["run_cnt"], "ns": one["run_time_ns"]} for number, one in after.items()
                if number not in before and one["name"].startswith("sched_") and one.get("run_cnt")}
    return {"programs": programs}


def program_rows(measured):
    """(what, ns): all of them together by switch, then each by run."""
    programs = measured.get("programs", {})
    switches = programs.get("sched_switch", {}).get("runs")
    if not switches:
        return
    yield "BPF programs of layer sched, by a switch, ns", sum(one["ns"] for one in programs.values()) / switches
    for name, one in sorted(programs.items()):
        yield f"... {name}, {one['runs'] / switches:.3f} runs a switch, ns a run", one["ns"] / one["runs"]
