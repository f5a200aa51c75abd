#!/usr/bin/python3
"""Talks with a command on a terminal of its own.

    dialogue.py CMD... -- EXPECT TYPE [EXPECT TYPE]...

Types each TYPE (^C and ^Z mean the keys that interrupt and stop, \\n and \\t those keys) once its EXPECT, a regular expression, has appeared after
what was typed before. Prints all that the terminal showed and exits as the command did; 1 when an EXPECT never came.
"""
import os
import pty
import re
import select
import sys
import time


def main():
    split = sys.argv.index("--")
    command, steps = sys.argv[1:split], sys.argv[split + 1:]
    steps = list(zip(steps[::2], steps[1::2]))
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    shown, seen, end = "", 0, time.monotonic() + 30
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:  # all of the terminal's users are gone
            break
        if not part:
            break
        shown += part.decode(errors="replace")
        if steps and re.search(steps[0][0], shown[seen:]):
            seen = len(shown)
            keys = steps.pop(0)[1].replace("^C", "\x03").replace("^Z", "\x1a").replace("\\n", "\n").replace("\\t", "\t")
            os.write(terminal, keys.encode())
    else:
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    print(shown)
    if steps:
        print(f"NEVER CAME: {steps[0][0]}")
        sys.exit(1)
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


if __name__ == "__main__":
    main()
