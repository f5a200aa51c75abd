"""Photographs for train.py --jpeg: files like those of ImageNet, and what a classifier does to each of them
before it learns from it."""
import numpy
import torch
from PIL import Image

WIDTH, HEIGHT, QUALITY = 500, 375, 95  # about 100 KB
SIDE, CHANNELS = 224, 3
OCTAVES, COARSE = 9, 3  # grids of 2, 4, 8 ... cells; of the coarse ones a class has its own
LEAST_AREA, LEAST_RATIO = 0.08, 3 / 4  # of the part that is looked at
MEAN, DEVIATION = 0.45, 0.23


def grid(noise, octave):
    cells = noise.integers(0, 256, (2 << octave, 2 << octave, CHANNELS), dtype=numpy.uint8)
    return numpy.asarray(Image.fromarray(cells).resize((WIDTH, HEIGHT), Image.BICUBIC), numpy.float32)


def make(path, label, number):
    """Fine grain over coarse shapes, as in a photograph; the shapes tell the label."""
    shapes, grain = numpy.random.default_rng(label), numpy.random.default_rng([label, number])
    pixels = sum(grid(shapes if octave < COARSE else grain, octave) / (octave + 1) ** 0.3 for octave in range(OCTAVES))
    pixels *= 255 / pixels.max()
    Image.fromarray(pixels.astype(numpy.uint8)).save(path, quality=QUALITY)


def crop(width, height):
    """The corners of a part of the picture, of a size, shape and place that chance decides."""
    area, ratio, x, y = torch.rand(4).tolist()
    area = (LEAST_AREA + (1 - LEAST_AREA) * area) * width * height
    ratio = LEAST_RATIO ** (1 - 2 * ratio)
    part_width, part_height = min((area * ratio) ** 0.5, width), min((area / ratio) ** 0.5, height)
    left, top = x * (width - part_width), y * (height - part_height)
    return left, top, left + part_width, top + part_height


def load(path):
    """Decoded, cropped, scaled, in half of the cases turned round, and normalised."""
    with Image.open(path) as file:
        picture = file.convert("RGB")
    picture = picture.resize((SIDE, SIDE), Image.BILINEAR, box=crop(picture.width, picture.height))
    if torch.rand(1) < 0.5:
        picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
    pixels = torch.from_numpy(numpy.array(picture)).permute(2, 0, 1)
    return (pixels.float() / 255 - MEAN) / DEVIATION
