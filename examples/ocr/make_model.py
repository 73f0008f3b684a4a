#!/usr/bin/python3
"""Trains a small recogniser of text lines with PyTorch, half a minute on one core, and exports it to ONNX.

    /usr/bin/python3 make_model.py DIR [--steps 220]

Writes DIR/recogniser.onnx, DIR/characters.txt and text lines that training never saw, DIR/lines/TEXT.png. The model has
the form and the interface of PP-OCRv4's: depthwise-separable convolutions, an attention block over the columns, a dense
layer, and a softmax that CTC decodes. Input `x`, f32 [N, 3, 48, W], lines of a height of 48 with values from -1 to 1;
output, f32 [N, W/8, 37], for every 8 columns the probabilities of "no character" and of the characters in
characters.txt, in order. N and W are dynamic. The lines are of digits and capital letters in faces of DejaVu.

Needs numpy, PIL, PyTorch and Debian's fonts-dejavu (scripts/deps.sh --python).
"""
import argparse
import os
import warnings

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont

CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEIGHT, STEP = 48, 8
FONTS = "/usr/share/fonts/truetype/dejavu/"
FACES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSerif.ttf")
_fonts = {}


def draw(text, random):
    """A line: its pixels, (HEIGHT, width, 3) of uint8, and the column at which the centre of each character is."""
    key = FACES[random.integers(len(FACES))], int(random.integers(28, 36))
    font = _fonts.setdefault(key, ImageFont.truetype(FONTS + key[0], key[1]))
    left = int(random.integers(6, 14))
    edges = [left + font.getlength(text[:i]) for i in range(len(text) + 1)]
    width = -(-int(edges[-1] + random.integers(6, 14)) // STEP) * STEP
    paper, ink = int(random.integers(170, 256)), int(random.integers(0, 90))
    image = Image.new("L", (width, HEIGHT), paper)
    ImageDraw.Draw(image).text((left, HEIGHT / 2 + random.uniform(-3, 3)), text, ink, font, anchor="lm")
    pixels = numpy.asarray(image, numpy.float32)[..., None] + random.normal(0, 8, (HEIGHT, width, 3))
    return numpy.clip(pixels, 0, 255).astype(numpy.uint8), [(a + b) / 2 for a, b in zip(edges, edges[1:])]


def text(random):
    return "".join(random.choice(list(CHARACTERS), random.integers(4, 9)))


def batch(count, random):
    """Lines as inputs, padded to one width, and the class of each step: that of the character whose centre lies in it, else 0."""
    lines = []
    for _ in range(count):
        written = text(random)
        lines.append((written, *draw(written, random)))
    width = max(pixels.shape[1] for _, pixels, _ in lines)
    inputs = numpy.zeros((count, 3, HEIGHT, width), numpy.float32)
    classes = numpy.zeros((count, width // STEP), numpy.int64)
    for i, (written, pixels, centres) in enumerate(lines):
        inputs[i, :, :, :pixels.shape[1]] = pixels.transpose(2, 0, 1) / 127.5 - 1
        for character, centre in zip(written, centres):
            classes[i, int(centre) // STEP] = 1 + CHARACTERS.index(character)
    return torch.from_numpy(inputs), torch.from_numpy(classes)


class Separable(nn.Sequential):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__(
            nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False), nn.BatchNorm2d(inputs), nn.Hardswish(),
            nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.Hardswish())


class Attention(nn.Module):
    """A block of self-attention over the columns, as SVTR has it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5, -1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(n, t, c))


class Recogniser(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.backbone = nn.Sequential(Separable(16, 32), Separable(32, 48, 2), Separable(48, 64), Separable(64, 96, 2), Separable(96, 96))
        self.squeeze = nn.Conv2d(96, 96, (HEIGHT // STEP, 3), padding=(0, 1))
        self.mixer = Attention(96, 4)
        self.head = nn.Linear(96, classes)

    def scores(self, x):
        columns = F.hardswish(self.squeeze(self.backbone(self.stem(x))))[:, :, 0].transpose(1, 2)
        return self.head(self.mixer(columns))

    def forward(self, x):
        return torch.softmax(self.scores(x), -1)


def read(probabilities):
    """The text of a line by CTC: repeated classes once, then without class 0."""
    best = probabilities.argmax(-1).tolist()
    return "".join(CHARACTERS[each - 1] for each, before in zip(best, [0] + best) if each not in (0, before))


def train(model, random, steps, count=24):
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    weights = torch.ones(len(CHARACTERS) + 1)
    weights[0] = 0.3
    for step in range(steps):
        inputs, classes = batch(count, random)
        loss = F.cross_entropy(model.scores(inputs).flatten(0, 1), classes.flatten(), weights)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if (step + 1) % (steps // 4) == 0:
            print(f"step {step + 1}/{steps}: loss {loss.item():.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=220)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    model = Recogniser(len(CHARACTERS) + 1)
    train(model, numpy.random.default_rng(1), arguments.steps)
    model.eval()

    os.makedirs(os.path.join(arguments.folder, "lines"), exist_ok=True)
    random, right, count = numpy.random.default_rng(2), 0, 50
    for _ in range(count):
        written = text(random)
        pixels, _ = draw(written, random)
        with torch.no_grad():
            right += read(model(torch.from_numpy(pixels.transpose(2, 0, 1)[None] / numpy.float32(127.5) - 1))[0]) == written
        Image.fromarray(pixels).save(os.path.join(arguments.folder, "lines", written + ".png"))
    print(f"lines that training never saw, read without an error: {right} of {count}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, torch.zeros(1, 3, HEIGHT, 160), os.path.join(arguments.folder, "recogniser.onnx"), opset_version=14,
                          input_names=["x"], output_names=["probabilities"],
                          dynamic_axes={"x": {0: "N", 3: "W"}, "probabilities": {0: "N"}},
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    with open(os.path.join(arguments.folder, "characters.txt"), "w") as file:
        file.writelines(each + "\n" for each in CHARACTERS)


if __name__ == "__main__":
    main()
