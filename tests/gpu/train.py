#!/usr/bin/env python3
"""Trains a small convolution network from files with DataLoader workers, on GPU 0.

    train.py FOLDER [--steps N] [--nvtx] [--graph] [--profile OUT [--cuda-only]] [--times OUT] [--processes 2]

--profile: under torch.profiler, and writes what it counted as JSON. --times: writes the length of each group of 8 steps, ms.
"""
import argparse
import collections
import json
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        os.makedirs(folder, exist_ok=True)
        for i in range(64):
            path = f"{folder}/{i}.bin"
            if not os.path.exists(path):
                with open(path, "wb") as out:
                    out.write(os.urandom(3 * 64 * 64))

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        with open(f"{self.folder}/{i % 64}.bin", "rb") as file:
            data = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
        return data.view(3, 64, 64).float() / 255, i % 10


def network():
    layers = []
    for inputs, outputs in ((3, 64), (64, 128), (128, 128)):
        layers += [torch.nn.Conv2d(inputs, outputs, 3, padding=1), torch.nn.BatchNorm2d(outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(128, 10))


def steps_of(options, model, optimizer, loader):
    group, times = time.perf_counter(), []
    for number, (images, labels) in enumerate(loader, 1):
        if options.nvtx:
            torch.cuda.nvtx.range_push("step")
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if options.nvtx:
            torch.cuda.nvtx.range_pop()
        if number % 8 == 0:
            torch.cuda.synchronize()
            times.append((time.perf_counter() - group) * 1000)
            group = time.perf_counter()
    return times


def graph_steps(steps):
    """The same small graph, launched over and over: three kernels and a memset or so each."""
    x = torch.randn(1024, 1024, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x @ x).relu() + 1
    for _ in range(steps):
        graph.replay()
    torch.cuda.synchronize()
    return float(y[0, 0])


def counted(profiler):
    """What torch.profiler's trace says ran on the device: counts and time by name, bytes of copies."""
    path = f"/tmp/strata-gpu-profile-{os.getpid()}.json"
    profiler.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    os.unlink(path)
    kernels, copies, time_us = collections.Counter(), 0, 0.0
    for event in events:
        if event.get("cat") == "kernel":
            kernels[event["name"]] += 1
            time_us += event["dur"]
        elif event.get("cat") == "gpu_memcpy":
            copies += event["args"].get("bytes", 0)
    memsets = sum(event.get("cat") == "gpu_memset" for event in events)
    return {"kernels": kernels, "kernel_us": time_us, "copy_bytes": copies, "memsets": memsets}


def train(options):
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    loader = DataLoader(Files(options.folder, options.steps * 64), batch_size=64, num_workers=2, pin_memory=True)
    model = network().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if options.graph:
        return graph_steps(options.steps)
    if options.profile:
        activities = [torch.profiler.ProfilerActivity.CUDA]
        if not options.cuda_only:
            activities.append(torch.profiler.ProfilerActivity.CPU)
        with torch.profiler.profile(activities=activities) as profiler:
            times = steps_of(options, model, optimizer, loader)
            torch.cuda.synchronize()
        with open(options.profile, "w") as out:
            json.dump(counted(profiler), out)
    else:
        times = steps_of(options, model, optimizer, loader)
        torch.cuda.synchronize()
    if options.times:
        with open(options.times, "w") as out:
            json.dump(times, out)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--profile")
    parser.add_argument("--times")
    for flag in ("nvtx", "graph", "cuda-only"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = parser.parse_args()
    if options.processes == 1:
        train(options)
        return
    import torch.multiprocessing

    context = torch.multiprocessing.get_context("spawn")
    children = [context.Process(target=train, args=(options,), daemon=False) for _ in range(options.processes)]
    for child in children:
        child.start()
    for child in children:
        child.join()


if __name__ == "__main__":
    main()
