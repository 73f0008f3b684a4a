#!/usr/bin/python3
"""Detectors, whose sizes values decide, run natively and as ONNX Runtime runs them.

    detectors.py FOLDER --sinter build/bin/sinter [--interpreter] [--peer] [NAME ...]

Makes torchvision's detectors in FOLDER where they are not there
(bench/detectors.py) and compares each result with PyTorch's and, with --peer,
with ONNX Runtime's, to 1e-3 of its range (masks to 1e-2). A program that is for the values of
one image only is a failure. Without torchvision it ends with 77. The last line
is `N passed, N failed`.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(ROOT, "bench")]
SKIPPED = 77
if not all(importlib.util.find_spec(name) for name in ("numpy", "onnx", "torchvision")):
    print("skipped: there is no torchvision here")
    sys.exit(SKIPPED)

import detectors
import numpy as np
import onnx
from onnx import numpy_helper
from judge import OnnxRuntime


def tensor(path):
    return numpy_helper.to_array(onnx.load_tensor(path))


def natively(folder, backend, options):
    """The outputs by name, or what is wrong in words."""
    with tempfile.TemporaryDirectory() as scratch:
        data = os.path.join(folder, "test_data_set_0", "input_0.pb")
        done = subprocess.run(
            [options.sinter, "run", os.path.join(folder, "model.onnx"), "--backend", backend, "--input", data,
             "--output-dir", scratch, "--cache-dir", os.path.join(options.folder, "cache")], capture_output=True, text=True)
        if done.returncode:
            return None, f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
        if done.stderr.strip():
            return None, done.stderr.strip()[-300:]
        return {name: np.load(os.path.join(scratch, name + ".npy")) for name in options.outputs}, None


def difference(expected, got):
    """The first output that differs, in words, or None."""
    # Masks are read between the pixels, at places that follow from boxes.
    masks = {name for name, value in expected.items() if value.ndim == 4}
    return (OnnxRuntime.difference({name: value for name, value in expected.items() if name not in masks}, got, 1e-3)
            or OnnxRuntime.difference({name: expected[name] for name in masks}, got, 1e-2))


def check(name, options):
    folder = os.path.join(options.folder, name)
    if not os.path.exists(os.path.join(folder, "test_data_set_0", "output_0.pb")):
        detectors.write(name, folder, options.size, dynamic=False)
    graph = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False).graph
    options.outputs = [each.name for each in graph.output]
    data = os.path.join(folder, "test_data_set_0")
    expected = {"PyTorch": {output: tensor(os.path.join(data, f"output_{i}.pb")) for i, output in enumerate(options.outputs)}}
    if options.peer:
        with tempfile.TemporaryDirectory() as scratch:
            feeds = {graph.input[0].name: tensor(os.path.join(data, "input_0.pb"))}
            [task] = OnnxRuntime.run([OnnxRuntime.Task(os.path.join(folder, "model.onnx"), feeds, scratch)])
            if task.error:
                return f"ONNX Runtime: {task.error}"
            expected["ONNX Runtime"] = task.outputs
    for backend in ["cpu"] + (["interpreter"] if options.interpreter else []):
        got, wrong = natively(folder, backend, options)
        for judge, outputs in expected.items():
            wrong = wrong or difference(outputs, got)
            if wrong:
                return f"{backend}, beside {judge}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--size", type=int, default=320, help="of the image")
    parser.add_argument("--interpreter", action="store_true", help="both backends")
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_intermixed_args()
    names = options.names or list(detectors.MODELS)
    failed = 0
    for name in names:
        wrong = check(name, options)
        if wrong:
            failed += 1
            print(f"FAILED {name}: {wrong}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
