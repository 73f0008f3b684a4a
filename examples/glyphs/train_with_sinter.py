#!/usr/bin/python3
"""Trains the glyph classifier with `sinter train`, from weights that were never trained.

    /usr/bin/python3 train_with_sinter.py [--sinter PATH] [--out DIR] [--epochs 6] [--count 500] [--threads N]

PyTorch (scripts/deps.sh --python) only writes the untrained network: DIR/untrained.onnx. The pictures are those of train.py, in
DIR/training.npz and DIR/held_out.npz; the faces of the held-out ones are never trained on. The result is DIR/trained.onnx, which ONNX
Runtime is asked for, too, where it is installed (`npm install --ignore-scripts` in bench/).
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np
import torch

import evaluate
import make_images
import train

HERE = os.path.dirname(os.path.abspath(__file__))


def write_data(path, count, faces, seed):
    images, labels = make_images.data_set(count, faces, seed)
    np.savez(path, image=images[:, None].astype(np.float32) / 255, target=labels.astype(np.int64))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../../build/bin/sinter"))
    parser.add_argument("--out", default="glyphs-training")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--count", type=int, default=500, help="training images of each label")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)

    def place(name):
        return os.path.join(arguments.out, name)

    torch.manual_seed(1)
    train.export(train.GlyphNet(len(make_images.LABELS)), place("untrained.onnx"))
    write_data(place("training.npz"), arguments.count, make_images.TRAINING_FACES, seed=1)
    write_data(place("held_out.npz"), 100, make_images.HELD_OUT_FACES, seed=3)
    command = [arguments.sinter, "train", place("untrained.onnx"), "--data", place("training.npz"), "--validate", place("held_out.npz"),
               "--loss", "cross-entropy", "--optimizer", "adamw", "--lr", "4e-3", "--weight-decay", "1e-3", "--schedule", "cosine",
               "--warmup", "200", "--batch", "64", "--epochs", str(arguments.epochs), "--log", place("log.jsonl"), "-o", place("trained.onnx"),
               "--force"]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    print(" ".join(command), flush=True)
    subprocess.run(command, check=True)
    if evaluate.Packages.missing(runtime=True):
        return
    held_out = np.load(place("held_out.npz"))
    with tempfile.TemporaryDirectory() as scratch:
        part, why = evaluate.right(lambda: evaluate.in_runtime(os.path.abspath(place("trained.onnx")), held_out["image"], scratch), held_out["target"])
    if why:
        raise SystemExit(f"ONNX Runtime: {why}")
    print(f"ONNX Runtime: {part:.2%} of {len(held_out['target'])} held-out images are right")


if __name__ == "__main__":
    main()
