#!/usr/bin/python3
"""Draws images of shapes, 32x32 RGB, into a folder for each class.

    /usr/bin/python3 make_images.py DIR [--classes circle,square,triangle] [--count 40] [--seed 1]

A shape has a random place, size, rotation and colour, on a background of another colour, with noise. Needs numpy and PIL
(scripts/deps.sh --python).
"""
import argparse
import math
import os

import numpy
from PIL import Image, ImageDraw

SIDE = 32
#: Of the model that train.py makes.
CLASSES = ("circle", "cross", "square", "triangle")
#: What the model has never seen, for fine-tuning.
NEW_CLASSES = ("arrow", "ring", "star")
#: The corners of each, around the centre; circle and ring have none.
CORNERS = {
    "cross": [(-3, -1), (-1, -1), (-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1)],
    "square": [(-2.4, -2.4), (2.4, -2.4), (2.4, 2.4), (-2.4, 2.4)],
    "triangle": [(0, -3), (2.6, 1.5), (-2.6, 1.5)],
    "arrow": [(0, -3), (2.4, 0), (0.8, 0), (0.8, 3), (-0.8, 3), (-0.8, 0), (-2.4, 0)],
    "star": [(r * math.sin(i * math.pi / 5), -r * math.cos(i * math.pi / 5)) for i in range(10) for r in [3 if i % 2 == 0 else 1.2]],
}
#: Images are drawn so many times as large, and made smaller, for smooth edges.
FINE = 4


def draw(shape, random):
    """An image of a shape, (SIDE, SIDE, 3) of uint8."""
    background = random.integers(0, 256, 3)
    colour = (background + random.integers(90, 167, 3)) % 256
    image = Image.new("RGB", (SIDE * FINE, SIDE * FINE), tuple(int(each) for each in background))
    pen = ImageDraw.Draw(image)
    fill = tuple(int(each) for each in colour)
    unit = random.uniform(2.4, 4.2) * FINE
    x, y = random.uniform(12, 20, 2) * FINE
    angle = random.uniform(-0.35, 0.35)
    if shape in ("circle", "ring"):
        pen.ellipse((x - 2.7 * unit, y - 2.7 * unit, x + 2.7 * unit, y + 2.7 * unit), fill=fill)
        if shape == "ring":
            pen.ellipse((x - 1.6 * unit, y - 1.6 * unit, x + 1.6 * unit, y + 1.6 * unit), fill=image.getpixel((0, 0)))
    else:
        turn = numpy.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        pen.polygon([tuple(turn @ (u * unit, v * unit) + (x, y)) for u, v in CORNERS[shape]], fill=fill)
    pixels = numpy.asarray(image.resize((SIDE, SIDE), Image.BOX), numpy.float32)
    return numpy.clip(pixels + random.normal(0, 12, pixels.shape), 0, 255).astype(numpy.uint8)


def data_set(classes, count, seed):
    """COUNT images of each class and their labels, mixed: (n, SIDE, SIDE, 3) of uint8, (n,) of int64."""
    random = numpy.random.default_rng(seed)
    labels = random.permutation(numpy.repeat(numpy.arange(len(classes)), count))
    return numpy.stack([draw(classes[label], random) for label in labels]), labels


def write(folder, classes, count, seed):
    """COUNT images of each class in FOLDER/CLASS."""
    random = numpy.random.default_rng(seed)
    for name in classes:
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        for i in range(count):
            Image.fromarray(draw(name, random)).save(os.path.join(folder, name, f"{i:03}.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--classes", default=",".join(CLASSES), help="some of " + ", ".join(CLASSES + NEW_CLASSES))
    parser.add_argument("--count", type=int, default=40, help="images of each class")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    classes = arguments.classes.split(",")
    unknown = [each for each in classes if each not in CLASSES + NEW_CLASSES]
    if unknown:
        parser.error(f"there is no class {unknown[0]!r}")
    write(arguments.folder, classes, arguments.count, arguments.seed)
    print(f"{arguments.folder}: {arguments.count} images each of {', '.join(classes)}")


if __name__ == "__main__":
    main()
