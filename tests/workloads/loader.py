#!/usr/bin/python3
"""A loop that consumes batches of a PyTorch DataLoader, as training does: two epochs, two workers.

    loader.py fork|spawn|persistent|relay

fork, spawn: how the workers are started, anew for each epoch; persistent: they stay; relay: a thread takes the batches and
hands them on by a queue, as pin_memory's does.
"""
import queue
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, number):
        time.sleep(0.002)  # as if it came from far away
        return torch.full((64, 64), float(number)).sin()


def relayed(loader):
    batches = queue.Queue(2)

    def relay():
        for batch in loader:
            batches.put(batch)
        batches.put(None)

    thread = threading.Thread(target=relay)
    thread.start()
    yield from iter(batches.get, None)
    thread.join()


def main():
    mode = sys.argv[1]
    loader = DataLoader(Samples(), batch_size=4, num_workers=2, persistent_workers=mode == "persistent",
                        multiprocessing_context="spawn" if mode == "spawn" else "fork")
    total = 0.0
    for _ in range(2):
        for batch in relayed(loader) if mode == "relay" else loader:
            total += float((batch @ batch).sum())
    return total


if __name__ == "__main__":
    main()
