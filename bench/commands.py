"""Runs commands, bare and under a tracer, and counts what the tracer wrote."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
STRATA = os.path.join(BUILD, "strata")
CALLS = os.path.join(BUILD, "bench", "calls")
TIMEOUT = 180  # far more than any single command takes

LINE = re.compile(r"[ ](pread64|openat|close|newfstatat)[ (]")
LOST = re.compile(r"lost (\d+) events", re.IGNORECASE)  # as perf, bpftrace and bench/floor say it


class Failed(Exception):
    """A command that did not do its work; the text says why."""


def say(words):
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


def in_turn(items, number):
    """The order of a round: every second one backwards, so that no place is always after another."""
    return items if number % 2 == 0 else items[::-1]


def become_root(script, **environment):
    """Starts over under sudo if need be; returns whose the results are. What sudo leaves in the environment
    goes: strata would run the workloads as the user, while the other tracers run them as root."""
    if os.geteuid():
        os.execvp("sudo", ["sudo", *(f"{name}={value}" for name, value in environment.items()), os.path.abspath(script),
                           *sys.argv[1:]])
    owner = int(os.environ.get("SUDO_UID", 0)), int(os.environ.get("SUDO_GID", 0))
    for name in ("SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND"):
        os.environ.pop(name, None)
    return owner


# ---- running commands ----


class Done:
    """What a finished command left: output, wall time, and the CPU time of it and its children."""

    def __init__(self, stdout, stderr, wall, usage):
        self.stdout, self.stderr, self.wall = stdout, stderr, wall
        self.cpu_ns = round((usage.ru_utime + usage.ru_stime) * 1e9)


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def run(command):
    """Runs a command to its end, in a session of its own that ends with it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True)
        except OSError as error:
            raise Failed(f"{os.path.basename(command[0])}: {error.strerror}") from error
        timer = threading.Timer(TIMEOUT, kill_group, [process])
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            timer.cancel()
            kill_group(process)
        wall = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        done = Done(out.read().decode(errors="replace"), err.read().decode(errors="replace"), wall, usage)
    if process.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"{' '.join(command[:2])} ended with {process.returncode}: {last}")
    return done


@contextlib.contextmanager
def held(wrapper, command=("echo", "ready")):
    """A command that prints one line and then sleeps, under a tracer, from that line until the block ends. Gives the line and the
    tracer's process id."""
    process = subprocess.Popen([*wrapper, "sh", "-c", '"$@" && exec cat >/dev/null', "sh", *command],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        line = process.stdout.readline().decode(errors="replace")
        if not line:
            raise Failed(f"{wrapper[0]}: {process.communicate()[1].decode(errors='replace').strip()}")
        yield line, process.pid
        process.communicate(timeout=TIMEOUT)  # closes its standard input, which ends it
    finally:
        kill_group(process)
        process.wait()


@contextlib.contextmanager
def loop_device(megabytes):
    """A block device as fast as memory, until the block ends."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="strata-bench-") as image:
        image.truncate(megabytes << 20)
        device = run(["losetup", "-f", "--show", image.name]).stdout.strip()
        try:
            yield device
        finally:
            run(["losetup", "-d", device])


@contextlib.contextmanager
def mounted(device, place):
    """A new ext4 file system on the device, until the block ends."""
    os.mkdir(place)
    run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device])
    run(["mount", device, place])
    try:
        yield place
    finally:
        run(["umount", place])


def calls_command(path, *ops, seconds, threads=1, rate=0, device=None):
    on_device = ["-d", device] if device else []
    return [CALLS, "-f", path, *on_device, "-s", str(seconds), "-t", str(threads), "-r", str(rate), *ops]


def calls_result(printed):
    """bench/calls prints one line of JSON; a tracer may print others around it."""
    for line in printed.splitlines():
        if line.startswith('{"ops"'):
            return json.loads(line)
    raise Failed("bench/calls printed no result")


def strata_info(path):
    return json.loads(run([STRATA, "info", "--json", path]).stdout)


# ---- the tracers ----


def lost_told(text):
    return sum(int(count) for count in LOST.findall(text))


class Tracer:
    """How to run a command under a tracer, and how to count what it wrote."""

    def __init__(self, name, *prefix, rounds, reaps=True, line=LINE, tables=("io", "fs")):
        self.name, self.prefix, self.rounds = name, prefix, rounds
        self.reaps = reaps  # waits for the command, whose CPU time then counts with its own
        self.line = line  # what a line of text that tells of an event looks like
        self.tables = tables  # of a trace of strata's

    def command(self, out, command):
        return [*(out if word == "OUT" else word for word in self.prefix), *command]

    def events(self, out):
        """Events of the kind that is measured, and losses that the tracer tells of itself."""
        events = lost = 0
        with open(out, encoding="utf-8", errors="replace") as file:
            for line in file:
                events += bool(self.line.search(line))
                lost += lost_told(line)
        return events, lost


class Bare(Tracer):
    def events(self, out):
        return None, 0


class Strata(Tracer):
    def events(self, out):
        info = strata_info(out)
        return sum(info["tables"][table]["rows"] for table in self.tables), info["lost"]


class Bpftrace(Tracer):
    def command(self, out, command):
        return [*super().command(out, []), "-c", " ".join(command)]


class PerfSched(Tracer):
    """Writes a binary file, which also holds wake-ups and run times."""

    def events(self, out):
        events = run(["perf", "script", "-i", out, "-F", "event"]).stdout
        return events.count("sched_switch:"), 0


def measure(tracer, folder, command):
    """One run of bench/calls under a tracer: its result, and what the tracer used and wrote."""
    out = os.path.join(folder, "out")
    done = run(tracer.command(out, command))
    result = calls_result(done.stdout)
    events, told = tracer.events(out)
    workload_ns = result["cpu_ns"] if tracer.reaps else 0
    result.update(tracer_cpu_ns=done.cpu_ns - workload_ns, events=events,
                  lost_told=told + lost_told(done.stderr),
                  bytes=os.path.getsize(out) if events is not None else None)
    if os.path.exists(out):
        os.remove(out)
    return result
