"""The PyTorch job, of two kinds: one that learns from tensors as they lie in memory and so does little else than load
them, and one that learns from photographs, which is nearer to how people train. Each in whole runs side by side, and as one long run that
strata is attached to and detached from in turn."""
import os
import re
import subprocess
import threading
import time

from commands import ROOT, STRATA, Failed, in_turn, kill_group, run, say, strata_info

TRAIN = ["/usr/bin/python3", os.path.join(ROOT, "tests", "workloads", "train.py")]
JOBS = {"photographs": ["--jpeg"], "tensors": []}
SETTLE_NS = 100_000_000  # after strata's end, until it is wholly gone
START_SECONDS = 60  # far more than the job takes to its first epochs


def job_command(folder, job, epochs):
    """Makes the job's data when it is first asked for."""
    data, options = os.path.join(folder, job), JOBS[job]
    if not os.path.exists(data):
        run([*TRAIN, "--prepare", data, *options])
    return [*TRAIN, data, *options, "--epochs", str(epochs)]


# ---- whole runs ----


def clocked(folder, job, epochs):
    """The job with a clock of its own, which leaves out what the tracer does before and after it."""
    script = os.path.join(folder, f"{job}.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write("TIMEFORMAT='%R %U %S'\n"
                   f"time {' '.join(job_command(folder, job, epochs))} >/dev/null 2>&1 || exit\n")
    return ["/bin/bash", script]


def time_whole(tracer, folder, command):
    out = os.path.join(folder, "out")
    done = run(tracer.command(out, command))
    times = re.search(r"^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$", done.stderr, re.MULTILINE)
    if not times:
        raise Failed(f"the training job printed no time: {done.stderr.strip()}")
    result = {"job_s": float(times[1]), "job_cpu_s": float(times[2]) + float(times[3]),
              "command_s": done.wall, "file_bytes": None}
    if tracer.name == "strata":
        info = strata_info(out)
        result.update(rows=info["rows"], lost=info["lost"], cpu_ns=info["cpu_ns"], tables=info["tables"])
    if os.path.exists(out):
        result["file_bytes"] = os.path.getsize(out)
        os.remove(out)
    return result


def whole_runs(folder, job, epochs, rounds, each, others):
    """`each` round by round, in each place equally often, and `others` once."""
    result = {"unavailable": {}, "rounds": {}}
    try:
        command = clocked(folder, job, epochs)
        time_whole(each[0], folder, command)  # files and libraries into the page cache
    except Failed as error:
        result["unavailable"][each[0].name] = str(error)
        return result
    for number in range(rounds):
        turn = number % len(each)
        for tracer in [*in_turn(each[turn:] + each[:turn], number), *(others if number == 0 else [])]:
            try:
                result["rounds"].setdefault(tracer.name, []).append(time_whole(tracer, folder, command))
            except Failed as error:
                if tracer in each:
                    raise
                result["rounds"].pop(tracer.name, None)
                result["unavailable"][tracer.name] = str(error)
        say(f"training on {job}: round {number + 1} of {rounds}")
    return result


# ---- one long run ----


def boottime():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class LongRun:
    """The job, without an end, and when each of its epochs ended."""

    def __init__(self, command):
        self.ends = []
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        for _ in self.process.stdout:
            self.ends.append(boottime())

    def await_epochs(self, count):
        deadline = time.monotonic() + START_SECONDS
        while len(self.ends) < count:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the training job made no epochs")
            time.sleep(0.05)

    def epochs_within(self, start, end):
        """Seconds of the epochs that lie wholly in a stretch of time."""
        return [(after - before) / 1e9 for before, after in zip(self.ends, self.ends[1:])
                if before >= start and after <= end]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_group(self.process)
        self.process.wait()


def attached_epochs(folder, job, turns, seconds):
    """Epochs of one run of the job while strata records it and while it does not, turn by turn: what makes one
    process slower than the next, where its memory lies above all, is the same for both."""
    out = os.path.join(folder, "out")
    attach = [STRATA, "record", "-q", "--force", "-o", out, "-d", f"{seconds}s", "-p"]
    with LongRun(job_command(folder, job, epochs=10**9)) as long_run:
        long_run.await_epochs(3)
        recorded, free = [], [boottime()]
        time.sleep(seconds)
        for number in range(turns):
            free.append(boottime())
            run([*attach, str(long_run.process.pid)])
            free.append(boottime() + SETTLE_NS)
            info = strata_info(out)
            recorded.append((info["start_ts"], info["end_ts"]))
            os.remove(out)
            time.sleep(seconds)
            say(f"attached to training on {job}: turn {number + 1} of {turns}")
        free.append(boottime())
        return {"recorded": [long_run.epochs_within(*stretch) for stretch in recorded],
                "free": [long_run.epochs_within(*stretch) for stretch in zip(free[::2], free[1::2])]}
