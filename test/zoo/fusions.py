#!/usr/bin/env python3
"""Checks that written ONNX is worth as much to others as what came in.

  fusions.py FOLDER --sinter build/bin/sinter [--filter TEXT]

FOLDER holds models in ONNX test form (NAME/model.onnx and, if there are any,
NAME/test_data_set_0/input_*.pb). Each is optimised, and ONNX Runtime optimises
both the original and what was written. Of the latter it must find every fusion
as often as of the original (a kind of kernel that only fusions make), have at
most 1.02 times the nodes left, and give the same outputs on the test inputs, up
to 1e-4 of their range.

Needs Python's onnx and numpy (Debian: python3-onnx), node and onnxruntime-node
(npm install in bench/); without them it says so and ends with 77.
"""
import argparse
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import numpy_helper

# What fusions make and files rarely hold.
FUSIONS = ["Attention", "BiasDropout", "BiasGelu", "BiasSoftmax", "EmbedLayerNormalization", "FastGelu", "FusedConv",
           "FusedGemm", "FusedMatMul", "Gelu", "GroupQueryAttention", "LayerNormalization", "MultiHeadAttention",
           "NhwcFusedConv", "QAttention", "QGemm", "QLinearAdd", "QLinearConv", "QLinearMatMul", "QuickGelu",
           "RotaryEmbedding", "SimplifiedLayerNormalization", "SkipLayerNormalization",
           "SkipSimplifiedLayerNormalization"]
# One may stand for the other: which of them it becomes depends on what is around.
SAME_KIND = {"BiasGelu": "Gelu", "FastGelu": "Gelu", "SkipLayerNormalization": "LayerNormalization",
             "EmbedLayerNormalization": "LayerNormalization",
             "SkipSimplifiedLayerNormalization": "SimplifiedLayerNormalization"}
MOST_NODES = 1.02
TOLERANCE = 1e-4


class Failed(Exception):
    pass


def test_inputs(folder, model):
    """The first data set by name, or None."""
    data = os.path.join(folder, "test_data_set_0")
    given = {each.name for each in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in given]
    feeds = {}
    for i, name in enumerate(names):
        path = os.path.join(data, f"input_{i}.pb")
        if not os.path.exists(path):
            return None
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        feeds[name] = numpy_helper.to_array(tensor)
    return feeds


def run(model, feeds):
    """The counts of the runtime's own graph by operator, and its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        optimised = os.path.join(folder, "optimised.onnx")
        task, = OnnxRuntime.run([OnnxRuntime.Task(model, feeds, folder, optimised)])
        if task.error:
            raise Failed(task.error)
        return OnnxRuntime.operators(optimised), task.outputs


def by_kind(counts):
    kinds = collections.Counter()
    for name in FUSIONS:
        kinds[SAME_KIND.get(name, name)] += counts[name]
    return kinds


def difference(before, after):
    """The first output that differs, in words, or None."""
    for name, expected in before.items():
        got = after.get(name)
        if got is None or got.shape != expected.shape or got.dtype != expected.dtype:
            return f"output '{name}' is not what it was"
        a, b = expected.astype(np.float64), got.astype(np.float64)
        span = np.ptp(a[np.isfinite(a)]) if np.isfinite(a).any() else 0.0
        bound = TOLERANCE * max(span, np.abs(a[np.isfinite(a)]).max() if np.isfinite(a).any() else 0.0)
        if not np.allclose(a, b, rtol=0, atol=max(bound, 1e-12), equal_nan=True):
            return f"output '{name}' differs by {np.nanmax(np.abs(a - b)):.3g} (of {span:.3g})"
    return None


def check(options, folder):
    """The table's row; raises Failed."""
    model = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory() as scratch:
        written = os.path.join(scratch, "written.onnx")
        if failure := Command.optimize(options.sinter, model, written):
            raise Failed(failure)
        inputs = test_inputs(folder, onnx.load(model, load_external_data=False))
        before, expected = run(model, inputs)
        after, got = run(written, inputs)
    row = [sum(before.values()), sum(after.values())]
    fusions = by_kind(before)
    lost = [f"{name} {count} -> {by_kind(after)[name]}" for name, count in fusions.items()
            if by_kind(after)[name] < count]
    if lost:
        raise Failed(f"{row[0]} -> {row[1]} nodes, fewer fusions: " + ", ".join(lost))
    if row[1] > MOST_NODES * row[0]:
        more = [f"{name} {before[name]} -> {after[name]}" for name in sorted(after) if after[name] > before[name]]
        raise Failed(f"{row[0]} -> {row[1]} nodes: " + ", ".join(more))
    wrong = difference(expected, got)
    if wrong:
        raise Failed(wrong)
    return row + [", ".join(f"{count} {name}" for name, count in sorted(fusions.items()) if count) or "-",
                  "" if inputs is not None else "(not run: no test inputs)"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only models whose name holds this")
    options = parser.parse_args()
    if not os.path.isdir(options.folder):
        print(f"skipped: {options.folder} is not there")
        return Packages.SKIPPED
    names = sorted(name for name in os.listdir(options.folder)
                   if options.filter in name and os.path.exists(os.path.join(options.folder, name, "model.onnx")))
    passed = failed = 0
    print(f"{'model':24} {'nodes':>6} {'after':>6}  fusions")
    for name in names:
        try:
            row = check(options, os.path.join(options.folder, name))
            print(f"{name:24} {row[0]:6} {row[1]:6}  {row[2]} {row[3]}".rstrip(), flush=True)
            passed += 1
        except Failed as error:
            print(f"{name:24} FAILED: {error}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
