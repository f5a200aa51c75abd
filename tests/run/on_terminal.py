#!/usr/bin/python3
"""Runs a command on a terminal of its own and types at it.

    on_terminal.py READY KEYS CMD...

Types KEYS (^C means the key that interrupts) once READY has appeared, prints all that the terminal showed
and exits as the command did (128 + N after signal N).
"""
import os
import pty
import select
import sys
import time


def main():
    ready, keys, command = sys.argv[1].encode(), sys.argv[2].replace("^C", "\x03").encode(), sys.argv[3:]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    shown, typed, end = b"", False, time.monotonic() + 30
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:  # all of the terminal's users are gone
            break
        if not part:
            break
        shown += part
        if ready in shown and not typed:
            os.write(terminal, keys)
            typed = True
    else:
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    sys.stdout.buffer.write(shown)
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


if __name__ == "__main__":
    main()
