"""What BPF programs take, by the kernel's own accounts (kernel.bpf_stats_enabled). Those read the clock twice a run, which is in the
figures; an empty program shows how much that is. They compare two versions of a program, not two hooks."""
import contextlib
import json
import os

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


def programs_of(pid):
    """The ids of the BPF programs that a process holds: others may trace the machine, too."""
    folder, found = f"/proc/{pid}/fdinfo", set()
    for name in os.listdir(folder):
        with contextlib.suppress(OSError), open(os.path.join(folder, name), encoding="ascii") as file:
            found.update(int(line.split()[1]) for line in file if line.startswith("prog_id:"))
    return found


def accounted(wrapper, command):
    """Runs a command under strata: what it printed, and the accounts of strata's programs at its end."""
    with accounts_kept(), held(wrapper, command) as (printed, pid):
        ours = programs_of(pid)
        shown = json.loads(run(["bpftool", "-j", "prog", "show"]).stdout)
    return printed, [one for one in shown if one["id"] in ours and one.get("run_cnt")]


def measure_programs(recording, load):
    """Of each program of layer sched its runs during a load, and the ns that they took."""
    try:
        _, accounts = accounted(recording, load)
    except Failed as error:
        return {"unavailable": str(error)}
    return {"programs": {one["name"]: {"runs": one["run_cnt"], "ns": one["run_time_ns"]} for one in accounts
                         if one["name"].startswith("sched_")}}


def program_rows(measured):
    """(what, ns): all of them together by switch, then each by run."""
    programs = measured.get("programs", {})
    switches = programs.get("sched_switch", {}).get("runs")
    if not switches:
        return
    yield "BPF programs of layer sched, by a switch, ns", sum(one["ns"] for one in programs.values()) / switches
    for name, one in sorted(programs.items()):
        yield f"... {name}, {one['runs'] / switches:.3f} runs a switch, ns a run", one["ns"] / one["runs"]
