#!/usr/bin/python3
"""bench/quantized.py and bench/race.py on small networks: every style is valid, near the float model, and has its operators.

  QuantizedTest.py --sinter build/bin/sinter
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "test"))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import TensorProto, helper, numpy_helper

SINTER = None
BENCH = os.path.join(ROOT, "bench")
# Operators that a style must have in it, and how many at least, for the network below.
WANTED = {"around": {"QuantizeLinear": 9, "Conv": 3, "Gemm": 1}, "inputs": {"QuantizeLinear": 4, "Conv": 3},
          "qlinear": {"QLinearConv": 3, "QLinearMatMul": 1},
          "microsoft": {each: 1 for each in ("QLinearConv", "QLinearAdd", "QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearConcat", "QGemm")},
          "dynamic": {"ConvInteger": 3, "MatMulInteger": 1, "DynamicQuantizeLinear": 3},
          "weights8": {"DequantizeLinear": 4}, "weights4": {"DequantizeLinear": 1}, "f16": {"Cast": 2}, "bf16": {"Cast": 2}}
# What is gone: clamps in the ranges, batch norms in the convolutions.
GONE = {"around": {"Relu", "BatchNormalization"}, "qlinear": {"Relu", "BatchNormalization", "Conv", "Gemm"},
        "microsoft": {"Relu", "Conv", "Gemm", "Add", "Concat", "AveragePool"}, "inputs": {"BatchNormalization"}, "dynamic": {"Conv", "Gemm"}}


def network():
    """Convolutions with batch norms, a residual, a branch, pools and a product at the end."""
    random, nodes, weights = np.random.RandomState(3), [], []

    def constant(name, *shape):
        array = random.randn(*shape) * (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else np.abs(random.randn(*shape)) + 0.5
        weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def convolution(x, name, inner, outer):
        y = node("Conv", [x, constant(name + "_w", outer, inner, 3, 3)], name, pads=[1, 1, 1, 1])
        y = node("BatchNormalization", [y, *(constant(f"{name}_{i}", outer) for i in range(4))], name + "_norm")
        return y

    x = node("Relu", [convolution("image", "a", 3, 16)], "a_relu")
    y = node("Relu", [node("Add", [convolution(x, "b", 16, 16), x], "sum")], "sum_relu")
    z = node("Clip", [convolution(y, "c", 16, 8), constant_of(weights, "low", 0.0), constant_of(weights, "high", 6.0)], "c_clip")
    x = node("Concat", [node("MaxPool", [y], "most", kernel_shape=[2, 2], strides=[2, 2]),
                        node("AveragePool", [z], "mean", kernel_shape=[2, 2], strides=[2, 2])], "both", axis=1)
    x = node("Flatten", [node("GlobalAveragePool", [x], "all")], "flat")
    node("Gemm", [x, constant("w", 10, 24), constant("v", 10)], "scores", transB=1)
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 7
    return made, {"image": random.randn(1, 3, 16, 16).astype(np.float32)}


def constant_of(weights, name, value):
    weights.append(numpy_helper.from_array(np.float32(value), name))
    return name


def run(program, *words):
    return subprocess.run([sys.executable, os.path.join(BENCH, program), *words], capture_output=True, text=True)


class Quantized(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.float = os.path.join(cls.scratch.name, "float", "net")
        cls.out = os.path.join(cls.scratch.name, "out")
        data = os.path.join(cls.float, "test_data_set_0")
        os.makedirs(data)
        model, cls.feeds = network()
        onnx.save(model, os.path.join(cls.float, "model.onnx"))
        with open(os.path.join(data, "input_0.pb"), "wb") as file:
            file.write(numpy_helper.from_array(cls.feeds["image"], "image").SerializeToString())
        cls.made = run("quantized.py", cls.float, "--styles", "all", "--out", cls.out, "--sinter", SINTER)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_styles(self):
        self.assertEqual(self.made.returncode, 0, self.made.stdout + self.made.stderr)
        rows = {line.split()[0]: line.split() for line in self.made.stdout.splitlines()[1:]}
        self.assertEqual(sorted(rows), sorted(f"net.{style}" for style in WANTED))
        for style, wanted in WANTED.items():
            with self.subTest(style):
                cosines = [float(each) for each in rows[f"net.{style}"][-2:] if each != "-"]
                self.assertEqual(len(cosines), 1 if style == "bf16" else 2)
                self.assertGreater(min(cosines), 0.98 if style == "weights4" else 0.999)
                found = OnnxRuntime.operators(os.path.join(self.out, f"net.{style}", "model.onnx"))
                for op, count in wanted.items():
                    self.assertGreaterEqual(found[op], count, op)
                self.assertFalse(GONE.get(style, set()) & set(found))

    def test_left_float(self):
        done = run("quantized.py", self.float, "--styles", "qlinear", "--float", "Conv", "--out", self.out + "_left")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = OnnxRuntime.operators(os.path.join(self.out + "_left", "net.qlinear", "model.onnx"))
        self.assertEqual((found["Conv"], found["QLinearConv"]), (3, 0))

    def test_half_borders(self):
        done = run("quantized.py", self.float, "--styles", "f16", "--half-borders", "--out", self.out + "_half")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        model = onnx.load(os.path.join(self.out + "_half", "net.f16", "model.onnx"))
        self.assertEqual(model.graph.input[0].type.tensor_type.elem_type, TensorProto.FLOAT16)

    def test_race(self):
        told = os.path.join(self.scratch.name, "race.json")
        done = run("race.py", self.out, "net.around", "--baseline", os.path.dirname(self.float), "--onnxruntime", "--sinter", SINTER,
                   "--rounds", "2", "--seconds", "0.05", "--json", told)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(told) as file:
            [row] = json.load(file)["summary"]
        for key in ("sinter", "baseline", "onnxruntime", "baseline_ratio", "onnxruntime_ratio"):
            self.assertGreater(row[key], 0, key)
        self.assertGreater(row["sinter_cosine"], 0.999)
        # As it is raced, its sums of two products saturate where there is no VNNI.
        self.assertGreater(row["onnxruntime_cosine"], 0.99)

    def test_errors(self):
        done = run("quantized.py", self.float, "--styles", "aroun", "--out", self.out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("aroun is not one of", done.stderr)
        done = run("quantized.py", self.scratch.name + "/none", "--out", self.out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no model.onnx", done.stderr)
        bare = os.path.join(self.scratch.name, "bare")
        os.makedirs(bare, exist_ok=True)
        onnx.save(network()[0], os.path.join(bare, "model.onnx"))
        done = run("quantized.py", bare, "--out", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has inputs for 0 of 1", done.stdout)
        done = run("race.py", self.out, "nothing*", "--sinter", SINTER, "--only", "sinter")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no model nothing*", done.stderr)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
