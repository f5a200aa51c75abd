#!/usr/bin/python3
"""A training loop over a real PyTorch DataLoader of which it is known what it waits for: known.py JOB [BATCHES].

Prints one JSON object: the loop by its own clock (ns since boot), from the end of the first wait for a batch to the end of
the last, what of it was spent waiting for batches, and what the batches were made of by the workers' own clocks.

    decode      one worker decompresses; two: two workers
    half        a worker reads past the page cache ($FILE), then decompresses; the loop computes for two thirds of that
    hidden      the same, but the loop computes for longer: nothing is waited for
    shard       two workers, of which one reads slowly; batches come in order
    small       decodes in Python that never lets go of the interpreter, many small tensors
    relay       a thread takes the batches, works on each with the interpreter let go, and hands it on
    pause       a worker sleeps
    polls       batches that take longer than the loader's polls
    prefetch    each worker may be one batch ahead, of two
    epochs      workers that are started anew for each of three passes, by spawn
"""
import json
import multiprocessing
import os
import queue
import sys
import threading
import time
import zlib

import torch
import torch.utils.data._utils as loader_utils
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
MS = 1_000_000
PACKED = zlib.compress(bytes(range(256)) * 1024)
MADE = ("read", "decode", "slept")


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def compute(ms):
    """By the thread's own CPU clock: what else runs does not count."""
    end = time.thread_time_ns() + ms * MS
    while time.thread_time_ns() < end:
        pass


def unpack(ms):
    """The same, with the interpreter let go most of the time."""
    end = time.thread_time_ns() + ms * MS
    while time.thread_time_ns() < end:
        zlib.decompress(PACKED)


def pause(ms):
    time.sleep(ms / 1000)


def read_for(ms):
    """Reads past the page cache until the time is over."""
    import mmap

    fd = os.open(os.environ["FILE"], os.O_RDONLY | os.O_DIRECT)
    room, end = mmap.mmap(-1, 1 << 17), now() + ms * MS
    while now() < end:
        if os.readv(fd, [room]) < 1 << 17:
            os.lseek(fd, 0, os.SEEK_SET)
    os.close(fd)


class Batches(Dataset):
    """Each item is a whole batch: what it is made of is `plan`, and what that took is added to `made`."""

    def __init__(self, count, job):
        self.count, self.plan, self.shape = count, job.plan, job.shape
        started = multiprocessing.get_context(job.options.get("multiprocessing_context"))
        self.made = {name: started.Value("q") for name in MADE}

    def __len__(self):
        return self.count

    def part(self, name, work, ms):
        begin = now()
        work(ms)
        with self.made[name].get_lock():
            self.made[name].value += now() - begin

    def __getitem__(self, number):
        for name, work, ms in self.plan(number):
            self.part(name, work, ms)
        return [torch.full((64,), float(number)) for _ in range(self.shape)]


def relayed(loader, ms):
    batches = queue.Queue(1)

    def relay():
        for batch in loader:
            unpack(ms)
            batches.put(batch)
        batches.put(None)

    # Not a daemon: one that is in the loader as the interpreter ends aborts it.
    thread = threading.Thread(target=relay)
    thread.start()
    yield from iter(batches.get, None)
    thread.join()


class Get:
    """One batch, from asking for it to having it; what main does itself meanwhile, such as unpickling it, is no wait."""

    def __init__(self):
        self.begin, self.own = now(), time.thread_time_ns()

    def done(self):
        self.end, self.own = now(), time.thread_time_ns() - self.own
        self.waited = self.end - self.begin - self.own
        return self


class Job:
    """plan(number): the parts of a batch; step: ms that the loop computes for each; shape: tensors in a batch."""

    def __init__(self, plan, step=5, workers=1, shape=1, relay=0, passes=1, **options):
        self.plan, self.step, self.workers, self.shape = plan, step, workers, shape
        self.relay, self.passes, self.options = relay, passes, options


def decoding(number):
    return [("decode", unpack, 30)]


def read_first(number):
    return [("read", read_for, 40), ("decode", unpack, 20)]


def slow_shard(number):
    return [("read", read_for, 60)] if number % 2 else [("decode", unpack, 2)]


def in_python(number):
    return [("decode", compute, 20)]


def sleeping(number):
    return [("slept", pause, 30)]


def long_sleep(number):
    return [("slept", pause, 120)]


JOBS = {
    "decode": Job(decoding),
    "two": Job(decoding, workers=2),
    "half": Job(read_first, step=40),
    "hidden": Job(read_first, step=80),
    "shard": Job(slow_shard, workers=2),
    "small": Job(in_python, shape=40),
    "relay": Job(lambda number: [], relay=30),
    "pause": Job(sleeping),
    "polls": Job(long_sleep),
    "prefetch": Job(decoding, step=30, prefetch_factor=1),
    "epochs": Job(decoding, passes=3, multiprocessing_context="spawn"),
}


def main():
    job, count = JOBS[sys.argv[1]], int(sys.argv[2]) if len(sys.argv) > 2 else 30
    if sys.argv[1] == "polls":
        loader_utils.MP_STATUS_CHECK_INTERVAL = 0.05
    data = Batches(count, job)
    loader = DataLoader(data, batch_size=None, num_workers=job.workers, **job.options)
    gets = []
    for _ in range(job.passes):
        more = True
        batches = None
        while more:
            get = Get()
            if batches is None:  # the workers are started here
                batches = relayed(loader, job.relay) if job.relay else iter(loader)
            more = next(batches, None) is not None
            gets.append(get.done())
            if more:
                compute(job.step)
    gets.pop()  # in which the workers ended
    start, end = gets[0].end, gets[-1].end
    print(json.dumps({"start": start, "end": end, "loop": end - start, "waited": sum(get.waited for get in gets[1:]),
                      "made": {name: value.value for name, value in data.made.items()}}))


if __name__ == "__main__":
    main()
