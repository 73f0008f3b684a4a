#!/usr/bin/python3
"""Quantises glyphs.onnx in several ways and tells how many held-out images each model still gets right.

    /usr/bin/python3 evaluate.py [--sinter ../../build/bin/sinter] [--markdown table.md] [--keep DIR]

Calibration images are drawn in the faces of training, a folder a class; the held-out ones are those that train.py judges by, in
faces that training never saw. Both follow from fixed seeds. Each model runs in Sinter and, where it is installed (`npm install
--ignore-scripts` in bench/), in ONNX Runtime, on the same file and as one batch. The exit code is 1 if a model fails, or if the
8-bit one loses more than --most points.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import make_images
import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test"))
from judge import Packages

# The seeds of train.py's sets are 1 to 3; the last is that of the held-out images.
CALIBRATION_SEED, HELD_OUT_SEED = 5, 3
# What the table calls them, and how `sinter quantize` is told; the first is the one that --most is about.
WAYS = [
    ("8 bits (the default)", []),
    ("8 bits, symmetric", ["--scheme", "symmetric"]),
    ("8 bits, symmetric, unsigned where nothing is negative", ["--scheme", "symmetric-u8"]),
    ("8 bits, powers of two", ["--scheme", "power-of-two"]),
    ("8 bits, one scale a weight", ["--per-tensor"]),
    ("8 bits, nothing but the largest ranges", ["--range", "max", "--no-equalize", "--no-smooth", "--no-bias-correction"]),
    ("16-bit activations, 8-bit weights", ["--activations", "int16"]),
    ("weights only, 8 bits", ["--activations", "float", "--weights", "int8"]),
    ("weights only, 4 bits", ["--activations", "float", "--weights", "int4"]),
]


class Failed(Exception):
    """A program refused a model; the text is why."""


def draw_calibration(folder, count):
    """COUNT pictures of each label in the faces of training: FOLDER/LABEL/N.png."""
    images, labels = make_images.data_set(count, make_images.TRAINING_FACES, CALIBRATION_SEED)
    for number, (pixels, label) in enumerate(zip(images, labels)):
        place = os.path.join(folder, make_images.LABELS[label])
        os.makedirs(place, exist_ok=True)
        Image.fromarray(pixels).save(os.path.join(place, f"{number % count}.png"))


def draw_held_out(count):
    """(images [n, 1, side, side] from 0 to 1, label indices [n]) in faces that training never saw."""
    images, labels = make_images.data_set(count, make_images.HELD_OUT_FACES, HELD_OUT_SEED)
    return images[:, None].astype(np.float32) / 255, labels


def call(words):
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return done.stdout


def quantise(options, calibration, words, path):
    """Writes the model to PATH; how many layers compute with integers, or have integer weights."""
    told = json.loads(call([options.sinter, "quantize", os.path.join(HERE, "glyphs.onnx"), "--calibration", calibration,
                            "--labels", os.path.join(HERE, "labels.txt"), *words, "-o", path, "--json"]))
    return sum(not layer["kept_float"] for layer in told["layers"])


def in_sinter(options, model, images, scratch):
    batch = os.path.join(scratch, "held_out.npy")
    np.save(batch, images)
    call([options.sinter, "run", model, "--input", f"image={batch}", "--output-dir", scratch, "--json"])
    return np.load(os.path.join(scratch, "probabilities.npy"))


def in_runtime(model, images, scratch):
    from judge import OnnxRuntime

    [task] = OnnxRuntime.run([OnnxRuntime.Task(model, {"image": images}, os.path.join(scratch, "runtime"))])
    if task.error:
        raise Failed(task.error.splitlines()[0])
    return task.outputs["probabilities"]


def right(run, labels):
    """(the part of images that get their label, or None; why not)."""
    try:
        return float((run().argmax(1) == labels).mean()), None
    except Failed as error:
        return None, str(error)


def evaluate(options, folder):
    """A row a model: {'name', 'layers', 'kilobytes', 'sinter', 'runtime', 'errors'}."""
    calibration = os.path.join(folder, "calibration")
    draw_calibration(calibration, options.calibration)
    images, labels = draw_held_out(options.count)
    for number, (name, words) in enumerate([("float", None), *WAYS]):
        row = {"name": name, "words": words, "layers": None, "errors": []}
        path = os.path.join(HERE, "glyphs.onnx") if words is None else os.path.join(folder, f"glyphs_{number}.onnx")
        try:
            if words is not None:
                row["layers"] = quantise(options, calibration, words, path)
        except Failed as error:
            yield {**row, "errors": [f"sinter quantize: {error}"]}
            continue
        row["kilobytes"] = os.path.getsize(path) / 1e3
        with tempfile.TemporaryDirectory() as scratch:
            row["sinter"], why = right(lambda: in_sinter(options, path, images, scratch), labels)
            row["errors"] += [f"sinter run: {why}"] if why else []
            if not Packages.missing(runtime=True):
                row["runtime"], why = right(lambda: in_runtime(path, images, scratch), labels)
                row["errors"] += [f"ONNX Runtime: {why}"] if why else []
        yield row


def percent(value):
    return "-" if value is None else f"{value:.2%}".replace("%", " %")


def line(row):
    words = "" if not row["words"] else f" (`{' '.join(row['words'])}`)"
    cells = [row["name"] + words, "-" if row["layers"] is None else str(row["layers"]),
             f"{row['kilobytes']:.0f}" if "kilobytes" in row else "-", percent(row.get("sinter")), percent(row.get("runtime"))]
    return f"| {' | '.join(cells)} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "..", "build", "bin", "sinter"))
    parser.add_argument("--count", type=int, default=100, help="held-out images of each label (default: 100, those that train.py judges by)")
    parser.add_argument("--calibration", type=int, default=10, help="calibration images of each label (default: 10)")
    parser.add_argument("--most", type=float, default=0.3, help="points that the 8-bit model may lose (default: 0.3)")
    parser.add_argument("--keep", metavar="DIR", help="where calibration images and models stay")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    if options.count < 1 or options.calibration < 1:
        parser.error("--count, --calibration: at least 1")
    return options


def main():
    options = parse()
    if why := Packages.missing(runtime=True):
        print(f"note: ONNX Runtime is left out: {why} is missing", file=sys.stderr)
    table = ["| model | layers with integers | kB | right in Sinter | right in ONNX Runtime |", "|---|---:|---:|---:|---:|"]
    print("\n".join(table), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for row in evaluate(options, options.keep or scratch):
            rows.append(row)
            table.append(line(row))
            print(table[-1], *row["errors"], flush=True)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(table) + "\n")
    failed = any(row["errors"] for row in rows)
    before, after = (row.get("sinter") for row in rows[:2])
    if before is not None and after is not None:
        lost = (before - after) * 100
        failed |= lost > options.most
        print(f"\nThe 8-bit model loses {lost:.2f} points of {len(make_images.LABELS) * options.count} images; {options.most:g} are allowed.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
