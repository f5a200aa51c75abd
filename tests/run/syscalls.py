#!/usr/bin/python3
"""The names of all recorded calls, by layer, from the table that the program itself is built from."""
import os
import re

TABLE = os.path.join(os.path.dirname(__file__), "../../src/schema/syscalls.def")


def syscalls():
    layers = {"IO": [], "FS": [], "MEM": []}
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"(IO|FS|MEM)_SYSCALL\((\w+), *[0-9]", line):
                layers[match.group(1)].append(match.group(2))
    return layers


if __name__ == "__main__":
    # The mark lets an older strace pass over a name that it does not know.
    print(",".join(f"?{name}" for names in syscalls().values() for name in names))
