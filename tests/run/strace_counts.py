#!/usr/bin/python3
"""Counts (see counts.py) of the calls in an strace log.

    strace -f -y -xx -s 0 -e trace=$(syscalls.py) -o LOG CMD...
    strace_counts.py LOG [LEAVE-OUT]

-xx writes every string in hexadecimal, so that no name can be mistaken for strace's own punctuation.
"""
import errno
import re
import sys

from counts import LAYERS, OPENS, Counts

READS = ("read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg")
COPIES = ("sendfile", "copy_file_range", "splice")
SOURCE = {"sendfile": 1}  # which of a copy's descriptors is read from; else the first
DESCRIPTOR = re.compile(r"(?:\b\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


def text(hexadecimal):
    return bytes.fromhex(hexadecimal.replace("\\x", "")).decode("latin-1")


def whole_calls(file):
    """Lines with calls put together again: what another thread interrupted is on two lines."""
    begun = {}
    for line in file:
        pid, _, rest = line.rstrip("\n").partition(" ")
        rest = rest.lstrip()
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest.removesuffix("<unfinished ...>")
        elif match := re.match(r"<\.\.\. \w+ resumed>(.*)", rest):
            yield begun.pop(pid) + match.group(1)
        elif re.match(r"\w+\(", rest):
            yield rest
    yield from (rest + ") = ?" for rest in begun.values())  # never came back


def result(call):
    """(number or None, path behind a returned descriptor)"""
    tail = call[call.rindex(") ") + 1:] if ") = " not in call else call.rsplit(") = ", 1)[1]
    tail = re.sub(r"^\s*= ", "", tail)
    if tail.startswith("? E"):  # ERESTARTSYS and its kin: the call was interrupted
        return -errno.EINTR, None
    if tail.startswith("?"):
        return None, None
    if match := re.match(r"-1 (E\w+)", tail):
        return -getattr(errno, match.group(1)), None
    number = re.match(r"-?(0x[0-9a-f]+|\d+)", tail).group(0)
    found = DESCRIPTOR.match(tail)
    return int(number, 0), text(found.group(1)) if found else None


def add_call(counts, call):
    op, _, rest = call.partition("(")
    returned, opened = result(re.sub(r"\) +=", ") =", call))
    arguments = re.sub(r"\) += [^=]*$", ")", rest)
    # Descriptors given, first to last; the directory of an *at call is none of them.
    behind = [text(d) for d in DESCRIPTOR.findall(arguments)]
    names, path, direction = [], behind[0] if behind else None, "W"
    if op in LAYERS["FS"]:
        names = [text(s) for s, _ in STRING.findall(arguments) if s]  # "" names the descriptor itself
        path = opened if op in OPENS else path if not names else None
    elif op in LAYERS["IO"]:
        path = behind[SOURCE.get(op, 0)] if len(behind) > SOURCE.get(op, 0) else None
        direction = "R" if op in READS else "C" if op in COPIES else "W"
    counts.add(op, returned, path, names, direction)


def main():
    counts = Counts(sys.argv[2] if len(sys.argv) > 2 else None)
    known = {name for names in LAYERS.values() for name in names}
    with open(sys.argv[1], encoding="ascii") as file:
        for call in whole_calls(file):
            if call.partition("(")[0] in known:
                add_call(counts, call)
    counts.show()


if __name__ == "__main__":
    main()
