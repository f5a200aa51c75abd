#!/usr/bin/python3
"""A small but real PyTorch training job: a CNN on image files, with DataLoader workers and checkpoints.

    train.py --prepare DIR     make the data set: one file a sample
    train.py DIR               train on it, evaluate, and write one checkpoint an epoch

A sample is a tensor as it lies in memory, so that the job does little else than load data; with --jpeg it is a
photograph, which is decoded, cropped and normalised, as those who train on pictures do.

File access is deterministic: every epoch opens, reads and closes each sample once, in an order that only
the seed decides; a checkpoint is written under a temporary name and renamed.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True  # of photos.py

SIDE, CHANNELS, CLASSES = 92, 3, 10
MARK = 0x53545241  # no descriptor, but what strata knows a mark by
SAMPLE_BYTES = SIDE * SIDE * CHANNELS * 4  # float32: 101,568 bytes


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", metavar="DIR", help="folder of the samples and checkpoints")
    parser.add_argument("--prepare", action="store_true", help="make the samples and exit")
    parser.add_argument("--jpeg", action="store_true", help="photographs instead of tensors")
    parser.add_argument("--samples", type=int, default=256, help="samples in the training set")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="DataLoader worker processes")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mark", action="store_true", help="mark the epochs for strata (docs/marks.md)")
    return parser.parse_args()


def sample_path(args, number):
    return os.path.join(args.dir, f"sample-{number:05d}.{'jpg' if args.jpeg else 'bin'}")


def prepare(args):
    os.makedirs(args.dir, exist_ok=True)
    (prepare_photos if args.jpeg else prepare_tensors)(args)


def prepare_photos(args):
    import multiprocessing
    import photos

    with multiprocessing.Pool() as pool:
        pool.starmap(photos.make, [(sample_path(args, number), number % CLASSES, number) for number in range(args.samples)])


def prepare_tensors(args):
    patterns = [random.Random(label).randbytes(SAMPLE_BYTES) for label in range(CLASSES)]
    noise = random.Random(args.seed)
    for number in range(args.samples):
        label = number % CLASSES
        cut = noise.randrange(1, SAMPLE_BYTES)  # what follows the cut is noise, what precedes it can be learnt
        with open(sample_path(args, number), "wb") as file:
            file.write(bytes([label]) + patterns[label][1:cut] + noise.randbytes(SAMPLE_BYTES - cut))


def load_tensor(path):
    import torch

    fd = os.open(path, os.O_RDONLY)
    data = bytearray()
    while chunk := os.read(fd, 1 << 16):
        data += chunk
    os.close(fd)
    return torch.frombuffer(data, dtype=torch.uint8).view(4 * CHANNELS, SIDE, SIDE).float() / 255


def train(args):
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    if args.jpeg:
        import photos
    load, channels = (photos.load, photos.CHANNELS) if args.jpeg else (load_tensor, 4 * CHANNELS)

    class Samples(Dataset):
        """Each sample is one file, opened, read to its end and closed when it is asked for."""

        def __init__(self, numbers):
            self.numbers = numbers

        def __len__(self):
            return len(self.numbers)

        def __getitem__(self, index):
            number = self.numbers[index]
            return load(sample_path(args, number)), number % CLASSES

    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    held_out = max(args.samples // 8, 1)
    training = DataLoader(Samples(range(args.samples - held_out)), batch_size=args.batch, shuffle=True,
                          num_workers=args.workers, generator=torch.Generator().manual_seed(args.seed))
    evaluation = DataLoader(Samples(range(args.samples - held_out, args.samples)), batch_size=args.batch,
                            num_workers=args.workers)
    model = nn.Sequential(nn.Conv2d(channels, 8, 5, stride=3), nn.ReLU(),
                          nn.Conv2d(8, 16, 5, stride=3), nn.ReLU(), nn.AdaptiveAvgPool2d(9),
                          nn.Flatten(), nn.Linear(16 * 9 * 9, CLASSES))
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    for epoch in range(args.epochs):
        if args.mark:
            os.access(f"epoch\n{epoch}", os.F_OK, dir_fd=MARK)
        model.train()
        for pixels, labels in training:
            optimizer.zero_grad()
            loss = loss_function(model(pixels), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for pixels, labels in evaluation:
                right += (model(pixels).argmax(1) == labels).sum().item()
        path = os.path.join(args.dir, f"checkpoint-{epoch}.pt")
        torch.save({"epoch": epoch, "model": model.state_dict()}, path + ".tmp")
        os.rename(path + ".tmp", path)
        print(f"epoch {epoch}: loss {loss.item():.4f}, {right} of {held_out} right", flush=True)


if __name__ == "__main__":
    arguments = options()
    (prepare if arguments.prepare else train)(arguments)
