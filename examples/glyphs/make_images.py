#!/usr/bin/python3
"""Renders the glyphs that the example model reads: digits and capital letters, 32x32 grey.

    /usr/bin/python3 make_images.py DIR [--labels 2A] [--count 1] [--seed 0] [--folders] [--training]

writes COUNT images of each label to DIR, drawn in the faces that train.py never sees, or with --training
in those that it sees; with --folders in a folder for each label. Needs python3-pil
and fonts-dejavu (scripts/deps.sh --python). Everything random follows from the seed.
"""
import argparse
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

LABELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SIDE = 32
FONT_DIR = "/usr/share/fonts/truetype/dejavu"
TRAINING_FACES = [
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "DejaVuSans-ExtraLight.ttf",
    "DejaVuSans-Oblique.ttf",
    "DejaVuSansCondensed-Bold.ttf",
    "DejaVuSansCondensed-BoldOblique.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSansMono-BoldOblique.ttf",
    "DejaVuSerif.ttf",
    "DejaVuSerif-Bold.ttf",
    "DejaVuSerif-Italic.ttf",
    "DejaVuSerifCondensed-BoldItalic.ttf",
]
HELD_OUT_FACES = [
    "DejaVuSans-BoldOblique.ttf",
    "DejaVuSansCondensed.ttf",
    "DejaVuSansMono-Bold.ttf",
    "DejaVuSerif-BoldItalic.ttf",
    "DejaVuSerifCondensed.ttf",
]

# Glyphs are drawn this much larger and then shrunk, so that edges and small shifts stay smooth.
OVERSAMPLING = 3
_fonts = {}


def font(face, size):
    key = face, size
    if key not in _fonts:
        _fonts[key] = ImageFont.truetype(os.path.join(FONT_DIR, face), size)
    return _fonts[key]


def draw_glyph(character, face, rng):
    """A white glyph on black: random size, place and rotation (up to 18 degrees), SIDE x SIDE."""
    canvas = SIDE * OVERSAMPLING
    image = Image.new("L", (canvas, canvas), 0)
    size = int(rng.integers(22, 31)) * OVERSAMPLING
    middle = canvas / 2 + rng.uniform(-2.5, 2.5, 2) * OVERSAMPLING
    ImageDraw.Draw(image).text(tuple(middle), character, 255, font(face, size), anchor="mm")
    image = image.rotate(rng.uniform(-18, 18), Image.Resampling.BILINEAR)
    image = image.resize((SIDE, SIDE), Image.Resampling.BOX)
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0, 1.1)))


def render(character, faces, rng):
    """One image of the character as an array of SIDE x SIDE bytes, light on dark or dark on light, with noise."""
    face = faces[rng.integers(len(faces))]
    coverage = np.asarray(draw_glyph(character, face, rng), np.float32) / 255
    paper, contrast = rng.uniform(0, 0.3), rng.uniform(0.45, 0.7)
    pixels = paper + contrast * coverage
    if rng.random() < 0.5:
        pixels = 1 - pixels
    pixels += rng.normal(0, rng.uniform(0.02, 0.1), pixels.shape)
    return (pixels.clip(0, 1) * 255).round().astype(np.uint8)


def data_set(count, faces, seed):
    """COUNT images of every label, as (images [n, SIDE, SIDE] of bytes, label indices [n])."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(LABELS)), count)
    return np.stack([render(LABELS[i], faces, rng) for i in labels]), labels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--labels", default=LABELS, help="the characters to draw")
    parser.add_argument("--count", type=int, default=1, help="images of each label")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", action="store_true", help="a folder for each label")
    parser.add_argument("--training", action="store_true", help="in the faces that train.py sees")
    arguments = parser.parse_args()
    os.makedirs(arguments.directory, exist_ok=True)
    rng = np.random.default_rng(arguments.seed)
    for character in arguments.labels:
        for number in range(arguments.count):
            name = character if arguments.count == 1 else f"{character}-{number}"
            pixels = render(character, TRAINING_FACES if arguments.training else HELD_OUT_FACES, rng)
            folder = os.path.join(arguments.directory, character) if arguments.folders else arguments.directory
            os.makedirs(folder, exist_ok=True)
            Image.fromarray(pixels).save(os.path.join(folder, name + ".png"))


if __name__ == "__main__":
    main()
