#!/usr/bin/python3
"""Two ranks on one host that meet at a barrier (gloo) in each of STEPS steps; rank 1 computes for longer: ranks.py [STEPS]

Prints by rank 0's own clock: what it waited in barriers, and how long the loop took, WAITED_NS TOTAL_NS. Each rank is a program of its
own, as torchrun starts them.
"""
import os
import subprocess
import sys
import time

MS = 1_000_000
SHORT, LONG = 5, 40


def compute(ms):
    end = time.thread_time_ns() + ms * MS
    while time.thread_time_ns() < end:
        pass


def rank(number, steps, folder):
    import torch.distributed as group

    group.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=number, world_size=2)
    group.barrier()
    waited, start = 0, time.monotonic_ns()
    for _ in range(steps):
        compute(LONG if number else SHORT)
        before = time.monotonic_ns()
        group.barrier()
        waited += time.monotonic_ns() - before
    if not number:
        print(waited, time.monotonic_ns() - start)


def main():
    if len(sys.argv) > 3:
        rank(int(sys.argv[2]), int(sys.argv[1]), sys.argv[3])
        return
    import tempfile

    steps = sys.argv[1] if len(sys.argv) > 1 else "30"
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, os.path.abspath(__file__), steps, number, folder]) for number in "01"]
        sys.exit(max(child.wait() for child in ranks))


if __name__ == "__main__":
    main()
