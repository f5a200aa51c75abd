"""Counts of calls in one form, whichever tracer saw them, so that two tracers are compared with diff(1).

    count OP N                how often OP was called
    error OP -E N             how often it returned error E
    moved OP N                bytes that OP moved
    file DIR PATH N           bytes moved from (R), to (W) or between (C) files, by path of the file
    opened PATH N             how often PATH was opened, by the path the kernel found
    named OP PATH N           how often OP was given PATH, as passed
    mapped PATH N             how often PATH was mapped

What differs in each run by its nature is taken out of names: numbers of pipes, sockets and processes, and
the random part of temporary names (semaphores and shared memory of Python's multiprocessing).
"""
import re
import tempfile
from collections import Counter

from syscalls import syscalls
from rows import visible

LAYERS = syscalls()
OPENS = ("open", "openat", "openat2", "creat")

TEMPORARY = re.escape(tempfile.gettempdir())
RANDOM = (
    (r"^(pipe|socket):\[[0-9]+\]$", r"\1:[]"),
    (r"^/proc/[0-9]+", "/proc/N"),
    (r"^/dev/shm/(sem\.mp-|sem\.|torch_)[a-zA-Z0-9_]+$", r"/dev/shm/\1?"),
    (rf"^{TEMPORARY}/[a-z0-9_]{{8}}$", "/tmp/?"),
    (rf"^{TEMPORARY}/pymp-[a-z0-9_]{{8}}", "/tmp/pymp-?"),
    (r"/listener-[a-z0-9_]{8}$", "/listener-?"),
    (r" \(deleted\)$", ""),
)


def normal_path(path):
    for pattern, replacement in RANDOM:
        path = re.sub(pattern, replacement, path)
    return visible(path)


class Counts:
    def __init__(self, leave_out=None):
        """leave_out: a regular expression; rows on a path, or given a path, that it finds do not count."""
        self.lines = Counter()
        self.leave_out = re.compile(leave_out) if leave_out else None

    def add(self, op, returned, path, names, direction):
        """One call. returned: None when it never did; names: the paths as passed, without empty ones."""
        if self.leave_out and any(self.leave_out.search(p) for p in [path, *names] if p):
            return
        self.lines[f"count {op}"] += 1
        if returned is not None and -4096 < returned < 0:
            self.lines[f"error {op} {returned}"] += 1
            returned = None
        if op in LAYERS["IO"] and returned:
            self.lines[f"moved {op}"] += returned
            self.lines[f"file {direction} {normal_path(path)}"] += returned
        if op in OPENS and returned is not None:
            self.lines[f"opened {normal_path(path)}"] += 1
        if op == "mmap" and path:
            self.lines[f"mapped {normal_path(path)}"] += 1
        for name in names:
            self.lines[f"named {op} {normal_path(name)}"] += 1

    def show(self):
        for line, number in sorted(self.lines.items()):
            print(line, number)
