#!/usr/bin/python3
"""A training loop in rows, with every moment known, for build/tools/rows_to_run: why_rows.py JOB

One main process (thread 100, and 101, which sends indices) and one data worker (200, and 201, which sends results). A batch is
read for READ ms, then decoded for DECODE ms; the loop computes for COMPUTE ms. All begin together, and a millisecond is a
million nanoseconds sharp: what `strata why` must say can be written down.

    half      read 100, decode 50, compute 100: each batch is waited for 50 ms, which the walk charges to decoding
    hidden    read 100, decode 50, compute 200: nothing is waited for
    starved   the worker gets the next index only when the loop has computed: it is idle meanwhile
    lost      half, with rows of sched lost
    gpu       half, on a GPU: each step launches a kernel of 60 ms and synchronises, spinning
    saved     half, with a checkpoint of 50 ms in the sixth step, a log that is written in each, a file renamed before the loop; marks of
              an evaluation of 80 ms around the checkpoint, and moments named validation
"""
import sys

MS = 10**6
BATCHES = 10
START = 10**9
rows = []


def row(table, **cells):
    rows.append((table, cells))


def at(ms):
    return START + int(ms * MS)


def stay(tid, begin, end, state="S", waker=None, kind="thread", syscall=None, wake=None, iowait=0, cpu=None):
    """A stay on a CPU in ms; woken when it begins unless told otherwise."""
    row("sched", ts=at(begin), dur=at(end) - at(begin), cpu=tid % 100 + (2 if tid >= 200 else 0) if cpu is None else cpu,
        pid=tid // 100 * 100, tid=tid, wait=0, wake_ts=at(begin if wake is None else wake), waker_tid=waker or 0,
        waker_kind=kind, end_state=state, iowait=iowait, **({"syscall": syscall} if syscall else {}))


def message(op, tid, ts, pipe, size):
    row("io", ts=ts, dur=1000, pid=tid // 100 * 100, tid=tid, op=op, dir="R" if op == "read" else "W", fd=5, file=pipe,
        requested=size, returned=size, blocked=0)


def framed(op, tid, ms, pipe):
    message(op, tid, at(ms) + 10_000, pipe, 4)
    message(op, tid, at(ms) + 20_000, pipe, 20_000)


INDICES, RESULTS, DATA, SAVED, LOG = 1, 2, 3, 4, 5


def head():
    for key, value in (("start_ts", START), ("target", "launch"), ("command", "train"), ("recorder_tids", 900),
                       ("layers", "process,sched,io,fs,wait,block,fault,stall")):
        row("run", key=key, value=value)
    row("file", file=INDICES, path="pipe:[1]", inode=1, kind="pipe")
    row("file", file=RESULTS, path="pipe:[2]", inode=2, kind="pipe")
    row("file", file=DATA, path="/data/shard", inode=3, dev="8:1", fs="ext4", kind="file")
    row("file", file=SAVED, path="/data/saved.tmp", inode=4, dev="8:1", fs="ext4", kind="file")
    row("file", file=LOG, path="/data/log", inode=5, dev="8:1", fs="ext4", kind="file")
    row("process", ts=START, event="exec", pid=100, tid=100, ppid=900, comm="train", args="train")
    row("process", ts=START, event="fork", pid=100, tid=101, ppid=900, comm="feeder", creator_tid=100)
    row("process", ts=START, event="fork", pid=200, tid=200, ppid=100, comm="worker", creator_tid=100)
    row("process", ts=START, event="fork", pid=200, tid=201, ppid=100, comm="sender", creator_tid=200)


def make_batch(begin, read, decode):
    """The worker, from the index to its waking the sender."""
    stay(200, begin, begin + 1, state="D", iowait=1, syscall="read", waker=101, wake=begin)
    row("block", ts=at(begin + 1), queued=0, dur=int((read - 1) * MS), pid=200, tid=200, dev="sdx", op="R", bytes=4096, file=DATA)
    framed("read", 200, begin, INDICES)
    row("io", ts=at(begin + 0.5), dur=int((read - 0.5) * MS), pid=200, tid=200, op="read", dir="R", fd=6, file=DATA,
        requested=4096, returned=4096, blocked=int((read - 1) * MS), missed=4096)
    stay(200, begin + read, begin + read + decode, kind="hardirq", syscall="poll")


def send(when):
    """The sender has a millisecond of its own, in which main is woken at the end."""
    stay(201, when, when + 1, waker=200, syscall="futex")
    framed("write", 201, when + 0.9, RESULTS)


def call(table, op, begin, ms, **cells):
    """Of main, on a file unless told otherwise; a write is of 1,000 bytes."""
    if table == "io":
        cells = {"dir": "W", "requested": 1000, "returned": 1000, **cells}
    row(table, ts=at(begin), dur=int(ms * MS), pid=100, tid=100, op=op, fd=7, **{"file": SAVED, "returned": 0, "blocked": 0, **cells})


def save(begin, done):
    """50 ms from the open on: 2 + 3 ms of writing, 7 of being throttled, 22 of sync, 2 of rename, and what lies between."""
    call("fs", "openat", begin + 5, 1)
    call("io", "write", begin + 12, 2)
    call("io", "write", begin + 18, 10)
    row("stall", ts=at(begin + 20), dur=7 * MS + 1000, pid=100, tid=100, kind="dirty", file=SAVED)
    call("fs", "fsync", begin + 29, 22)
    row("block", ts=at(begin + 30), queued=0, dur=20 * MS, pid=100, tid=100, dev="sdx", op="W", bytes=4096, file=SAVED, sync=1)
    call("fs", "close", begin + 52, 0.5)
    call("fs", "rename", begin + 53, 2, file=None)
    stay(100, begin, begin + 20, state="D", iowait=1, syscall="write", waker=201)
    stay(100, begin + 27, begin + 30, state="D", iowait=1, syscall="fsync", kind="timer")
    stay(100, begin + 50, done, kind="hardirq", syscall="poll")


def loop(read, decode, compute, starved=False, gpu=0, saves=False):
    """Back to back in the worker; main takes batch n when it is there and it has computed."""
    head()
    made = read + decode
    free, asked, done = 2.0, 1.0, 0.0
    stay(100, 0, 1, syscall="poll")
    if saves:
        call("io", "write", 0.1, 0.1)
        call("fs", "rename", 0.3, 0.1, file=None)
    stay(200, 0, 0.5, syscall="poll")
    stay(201, 0, 0.5, syscall="futex")
    stay(101, 1, 1.5, waker=100)
    framed("write", 101, 1, INDICES)
    for number in range(BATCHES):
        begin = max(free, asked)
        make_batch(begin, read, decode)
        free = begin + made
        send(free)
        arrived = free + 1
        taken = max(arrived, done)
        framed("read", 100, taken, RESULTS)
        if not starved:
            framed("write", 101, taken + 0.1, INDICES)
        if gpu:
            row("gpu_op", ts=at(taken + 10), dur=gpu * MS, pid=100, tid=100, gpu=0, stream=7, kind="kernel", name="gemm", correlation=number)
            row("gpu_op", ts=at(taken + 5), dur=int((gpu + 5) * MS), pid=100, tid=100, gpu=0, stream=7, kind="sync", name="cudaStreamSynchronize", correlation=number)
        done = taken + compute
        if starved:
            asked = done
            framed("write", 101, done, INDICES)
        asked = done if starved else taken
        if saves and number == 5:
            save(taken, done)
            row("mark", ts=at(taken + 2), pid=100, tid=100, source="mark", name="eval_start")
            row("mark", ts=at(taken + 82), pid=100, tid=100, source="mark", name="eval_stop")
            row("mark", ts=at(taken + 83), pid=100, tid=100, source="mark", name="validation")
            row("mark", ts=at(taken + 93), pid=100, tid=100, source="mark", name="validation")
        else:
            stay(100, taken, done, waker=201, syscall="poll")
        if saves:
            call("io", "write", done - 1, 0.5, file=LOG)
    row("process", ts=at(done), event="exit", pid=200, tid=200)
    row("process", ts=at(done), event="exit", pid=100, tid=100, exit_code=0)
    row("run", key="stop_ts", value=at(done) + MS)


JOBS = {"half": lambda: loop(100, 50, 100), "hidden": lambda: loop(100, 50, 200), "starved": lambda: loop(60, 40, 100, starved=True),
        "gpu": lambda: loop(100, 50, 100, gpu=60), "saved": lambda: loop(100, 50, 100, saves=True)}


def lost():
    loop(100, 50, 100)
    row("loss", ts=at(300), dur=MS, layer="sched", cpu=0, count=4)


JOBS["lost"] = lost


def main():
    JOBS[sys.argv[1]]()
    for table, cells in sorted(rows, key=lambda made: made[1].get("ts", 0)):
        print(table, *(f"{key}={str(value).replace(' ', '%20')}" for key, value in cells.items() if value is not None))


if __name__ == "__main__":
    main()
