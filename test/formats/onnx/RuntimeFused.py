#!/usr/bin/env python3
# Covers: formats/onnx/ops RuntimeFused
"""What ONNX Runtime's optimiser fuses, judged by it.

  RuntimeFused.py --sinter build/bin/sinter

Each case is one such node, with a batch that is known or not: both backends compute what ONNX Runtime does, from the
file and from what `sinter convert` makes StableHLO of, and `sinter optimize` gives the node back with the same values.

Needs Python's onnx and numpy, and ONNX Runtime (npm install in bench/); without them it says so and ends with 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import helper

SINTER = None
BACKENDS = ("interpreter", "cpu")
X, V = (2, 3, 5), (5,)

# Operator, shapes of its inputs (None: absent), outputs, attributes.
CASES = [
    ("Gelu", [X], ["y"], {}),
    ("BiasGelu", [X, V], ["y"], {}),
    ("FastGelu", [X], ["y"], {}),
    ("FastGelu", [X, V], ["y"], {}),
    ("QuickGelu", [X], ["y"], {}),
    ("QuickGelu", [X], ["y"], {"alpha": 0.7}),
    ("FusedMatMul", [X, (5, 4)], ["y"], {}),
    ("FusedMatMul", [X, (2, 4, 5)], ["y"], {"transB": 1, "alpha": 0.25}),
    ("FusedMatMul", [X, (2, 3, 4)], ["y"], {"transA": 1}),
    ("FusedMatMul", [(2, 2, 3, 5), (4, 3)], ["y"], {"transA": 1, "transB": 1, "alpha": -2.0}),
    ("SimplifiedLayerNormalization", [X, V], ["y"], {"axis": -1, "epsilon": 1e-3}),
    ("SkipLayerNormalization", [X, X, V], ["y"], {}),
    ("SkipLayerNormalization", [X, (3, 5), V, V], ["y", "", "", "sum"], {"epsilon": 1e-3}),
    ("SkipLayerNormalization", [X, (1, 3, 5), V, None, V], ["y", "", "", "sum"], {"epsilon": 1e-3}),
    ("SkipLayerNormalization", [X, X, V, V, V], ["y"], {}),
    ("SkipSimplifiedLayerNormalization", [X, X, V], ["y"], {}),
    ("SkipSimplifiedLayerNormalization", [X, (3, 5), V, V], ["y", "", "", "sum"], {"epsilon": 1e-3}),
]


def model(case, is_dynamic):
    """A model of the case's node, and arrays for its inputs."""
    operator, shapes, outputs, attributes = case
    random, feeds, inputs = np.random.default_rng(7), {}, []
    for i, shape in enumerate(shapes):
        if shape is None:
            continue
        name = f"x{i}"
        feeds[name] = random.uniform(-2, 2, shape).astype(np.float32)
        sizes = ["N", *shape[1:]] if is_dynamic and shape[0] == 2 else shape
        inputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes))
    domain = "" if operator == "SimplifiedLayerNormalization" else "com.microsoft"
    node = helper.make_node(operator, [f"x{i}" if shape else "" for i, shape in enumerate(shapes)], outputs, name="node",
                            domain=domain, **attributes)
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=each) for each in outputs if each])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets), feeds


class RuntimeFused(unittest.TestCase):
    def call(self, *arguments):
        done = subprocess.run([SINTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def outputs(self, path, feeds, folder, backend):
        got = Command.outputs(SINTER, path, feeds, folder, backend)
        self.assertIsInstance(got, dict, got)
        return got

    def test_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            tasks = []
            for i, (case, is_dynamic) in enumerate((case, is_dynamic) for case in CASES for is_dynamic in (False, True)):
                own = os.path.join(folder, str(i))
                os.mkdir(own)
                source, kept, text = (os.path.join(own, name) for name in ("in.onnx", "kept.onnx", "in.mlir"))
                with self.subTest(case=case, is_dynamic=is_dynamic):
                    proto, feeds = model(case, is_dynamic)
                    onnx.save(proto, source)
                    self.call("optimize", source, "-o", kept)
                    self.assertEqual(list(onnx.load(kept).graph.node), list(proto.graph.node))
                    self.call("convert", source, "-o", text)
                    tasks.append((case, is_dynamic, own, feeds, (source, text),
                                  [OnnxRuntime.Task(path, feeds, os.path.join(own, f"run{k}"), level="disabled")
                                   for k, path in enumerate((source, kept))]))
            OnnxRuntime.run([each for task in tasks for each in task[-1]])
            for case, is_dynamic, own, feeds, paths, judged in tasks:
                with self.subTest(case=case, is_dynamic=is_dynamic):
                    self.judge(own, feeds, paths, judged)

    def judge(self, folder, feeds, paths, judged):
        for each in judged:
            self.assertIsNone(each.error, each.model)
        expected = judged[0].outputs
        self.assertIsNone(OnnxRuntime.difference(expected, judged[1].outputs, tolerance=0))
        for path in paths:
            for backend in BACKENDS:
                self.assertIsNone(OnnxRuntime.difference(expected, self.outputs(path, feeds, folder, backend),
                                                         tolerance=1e-5), f"{path} {backend}")


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
