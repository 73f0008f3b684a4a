#!/usr/bin/python3
"""Tells whether a bound of accuracy (`sinter quantize --max-loss` with classes) holds on images that were not seen.

  bench/accuracy_bounds.py [--sinter build/bin/sinter] [--calibration 100] [--count 200] [--bounds 2,1,0.5] [--seeds 3]

examples/glyphs is a trained network. For each of --seeds draws, --calibration pictures of each of its 36 labels are drawn in the faces of
training, a fifth of which `sinter quantize` judges by, and --count others in the same faces. It is quantised more coarsely than anybody would, so
that there is something to lose. Columns: the way, the seed and the bound in points; what all layers lose of the others; how many samples were
judged and of how many of these the answer became wrong and right; how many layers stayed float; what the report says of others at most, and what
they lose. The exit code is 1 if more than one in ten of the models that were written loses more than its bound.
"""
import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GLYPHS = os.path.join(HERE, "..", "examples", "glyphs")
sys.path[:0] = [os.path.join(HERE, "..", "test"), GLYPHS]
import evaluate
import make_images
import numpy as np

WAYS = [["--weights", "int4", "--per-tensor", "--no-bias-correction"], ["--range", "percentile:97", "--per-tensor", "--no-bias-correction"],
        ["--weights", "int4", "--range", "percentile:98"]]


def drawn(count, seed):
    """(images [n, 1, side, side] from 0 to 1, labels [n]) in the faces of training."""
    images, labels = make_images.data_set(count, make_images.TRAINING_FACES, seed)
    return images[:, None].astype(np.float32) / 255, labels


def write_calibration(folder, count, seed):
    images, labels = make_images.data_set(count, make_images.TRAINING_FACES, seed)
    for number, (pixels, label) in enumerate(zip(images, labels)):
        place = os.path.join(folder, make_images.LABELS[label])
        os.makedirs(place, exist_ok=True)
        evaluate.Image.fromarray(pixels).save(os.path.join(place, f"{number % count}.png"))


def right(options, model, images, labels):
    with tempfile.TemporaryDirectory() as scratch:
        return evaluate.in_sinter(options, model, images, scratch).argmax(1) == labels


def quantised(options, calibration, words, path):
    """The report; None where the bound could not be held."""
    try:
        return json.loads(evaluate.call([options.sinter, "quantize", os.path.join(GLYPHS, "glyphs.onnx"), "--calibration", calibration, "--labels",
                                         os.path.join(GLYPHS, "labels.txt"), "--for", "x86-64-v3", "--threads", "1", *words, "-o", path, "--force", "--json"]))
    except evaluate.Failed as error:
        if "cannot be held" not in str(error):
            raise
        print(f"note: {error}", file=sys.stderr)
        return None


def judge(options, seed, folder):
    """Rows: (way, bound, report or None, what all layers lose, what is lost)."""
    write_calibration(folder, options.calibration, 100 + seed)
    images, labels = drawn(options.count, 200 + seed)
    before = right(options, os.path.join(GLYPHS, "glyphs.onnx"), images, labels).mean()
    path = os.path.join(folder, "q.onnx")
    for way in WAYS:
        quantised(options, folder, way, path)
        all_lose = before - right(options, path, images, labels).mean()
        for bound in options.bounds.split(","):
            report = quantised(options, folder, [*way, "--max-loss", bound], path)
            lost = report and before - right(options, path, images, labels).mean()
            yield way, bound, report, all_lose, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--calibration", type=int, default=100, help="calibration images of each label (default: 100)")
    parser.add_argument("--count", type=int, default=200, help="other images of each label (default: 200)")
    parser.add_argument("--bounds", default="2,1,0.5", help="points, one after the other (default: 2,1,0.5)")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws (default: 3)")
    options = parser.parse_args()
    print("| way | seed | bound | all layers lose | judged: wrong, right | float | at most | others lose |\n|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    written = missed = 0
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            for way, bound, report, all_lose, lost in judge(options, seed, folder):
                cells = [f"`{' '.join(way)}`", f"{seed}", bound, f"{100 * all_lose:.2f}"]
                if report:
                    written += 1
                    missed += 100 * lost > float(bound)
                    left = sum(each["reason"] == "--max-loss" for each in report["layers"])
                    cells += [f"{report['judged']}: {report['became_wrong']}, {report['became_right']}", f"{left} of {len(report['layers'])}",
                              f"{100 * report['accuracy_loss_of_others']:.2f}", f"{100 * lost:.2f}"]
                else:
                    cells += ["refused", "-", "-", "-"]
                print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{written - missed} of {written} bounds hold on other images.")
    sys.exit(1 if 10 * missed > written else 0)


if __name__ == "__main__":
    main()
