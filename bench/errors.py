#!/usr/bin/python3
"""Tells how far a model's outputs in f32 are from those in f64, by each of several sets of options.

  errors.py FOLDER... [--options=TEXT]... [--sinter build/bin/sinter] [--markdown FILE]

A FOLDER holds a model in ONNX test form, or several such folders. The model is made one of f64, which Sinter runs by loops and
products of f64, and its outputs are what those of the f32 model are compared with. A figure is the largest error of an element, by
the range of its output (largest minus smallest), the largest of all outputs; --options is a column, as in --options='--precision f32-exact'
or --options=--features=-amx-tile, the first one is what others are compared with. The exit code is 1 if a column is above twice the first
and above 2e-5, or a model fails. Needs Python's onnx and numpy.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test"))
from judge import Packages

Packages.skip_without()
import numpy as np
import onnx
import race
import tensor_file
from quantizer import half

# What no column may be worse than, unless it is less than twice the first.
BOUND = 2e-5


def models_in(folder):
    """The folders of models that a folder is or has."""
    if os.path.exists(os.path.join(folder, "model.onnx")):
        return [folder]
    return sorted(each.path for each in os.scandir(folder) if os.path.exists(os.path.join(each.path, "model.onnx")))


def wide(model, target):
    """Writes a model in f64, with inputs and outputs of f32."""
    made = onnx.load(os.path.join(model, "model.onnx"))
    half.convert_graph(made.graph, "f64")
    half.cast_borders(made.graph)
    onnx.save(made, target)


def outputs(sinter, model, data, options):
    """The outputs of a model on the inputs in a folder, by name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sinter, "run", model, *race.inputs(data), *options, "--json", "--output-dir", folder]
        told = race.measure(command)
        if "error" in told:
            raise RuntimeError(told["error"])
        names = [each["name"] for each in told["outputs"]]
        return {name: tensor_file.read_npy(os.path.join(folder, tensor_file.written_name(name) + ".npy")) for name in names}


def error(expected, got):
    """The largest error by the range of each output, the largest of all."""
    largest = 0.0
    for name, want in expected.items():
        want, have = np.asarray(want, np.float64), np.asarray(got[name], np.float64)
        if want.size == 0 or not np.issubdtype(np.asarray(got[name]).dtype, np.floating):
            continue
        span = float(want.max() - want.min()) or float(np.abs(want).max()) or 1.0
        largest = max(largest, float(np.abs(have - want).max()) / span)
    return largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--options", action="append", metavar="TEXT")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    given = parser.parse_args()
    columns = given.options or [""]
    lines = ["| model | " + " | ".join(f"`{each}`" if each else "default" for each in columns) + " |", "|---|" + "---:|" * len(columns)]
    print("\n".join(lines), flush=True)
    failed = False
    for model in [each for folder in given.folders for each in models_in(folder)]:
        cells = []
        try:
            with tempfile.TemporaryDirectory() as scratch:
                path = os.path.join(scratch, "model.onnx")
                wide(model, path)
                expected = outputs(given.sinter, path, model, [])
            errors = [error(expected, outputs(given.sinter, os.path.join(model, "model.onnx"), model, each.split())) for each in columns]
            for each in errors:
                is_worse = each > max(BOUND, 2 * errors[0])
                failed |= is_worse
                cells.append(f"{each:.1e}" + (" (!)" if is_worse else ""))
        except (RuntimeError, OSError, KeyError, ValueError) as problem:
            failed = True
            cells = [f"failed: {problem}"]
        line = f"| {os.path.basename(model)} | " + " | ".join(cells) + " |"
        lines.append(line)
        print(line, flush=True)
    if given.markdown:
        with open(given.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
