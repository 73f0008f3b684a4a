#!/usr/bin/env python3
"""What `sinter convert` and `sinter optimize` write holds operations that every tool knows: StableHLO, or ONNX's own.

    test/driver/PortableOutputTest.py build/bin/sinter docs/onnx-operators.md [unittest options]
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import OnnxBytes as onnx

SINTER = PAGE = ""
TIMEOUT_S = 120
PORTABLE = {"stablehlo", "chlo", "func", "builtin"}
# At the start of a line, after the results: `%0:2 = "stablehlo.sort"(` or `return`.
OPERATION = re.compile(r'^\s*(?:%[\w:]+(?:, %[\w:]+)* = )?"?([a-z]\w*)(?:\.([a-z]\w*))?"?[ (<@]', re.MULTILINE)
SHORT = {"module", "return", "call", "cond", "do", "case"}


def dialects(text):
    """The dialects of the operations of a program."""
    return {name if inner else "func" if name in SHORT else name for name, inner in OPERATION.findall(text)}


def integers(name, *values):
    """An attribute of a node."""
    return onnx.data(5, onnx.data(1, name) + b"".join(onnx.number(8, each) for each in values) + onnx.number(20, 7))


def weights(name, *shape):
    count = 1
    for size in shape:
        count *= size
    return onnx.tensor(name, shape, onnx.floats(*(0.01 * (i % 17) + 0.1 for i in range(count))))


def network(nodes, shape, result, initializers, version=18):
    inputs, outputs = [onnx.value_info("x", shape)], [onnx.value_info("y", result)]
    return onnx.model(onnx.graph(nodes, inputs, outputs, initializers), version=version)


def encoder():
    """Attention, layer norm and activations."""
    node = onnx.node
    nodes = [
        node("MatMul", ["x", "wq"], ["q"]),
        node("MatMul", ["x", "wk"], ["k"]),
        node("MatMul", ["x", "wv"], ["v"]),
        node("Transpose", ["k"], ["kt"], attributes=integers("perm", 0, 2, 1)),
        node("MatMul", ["q", "kt"], ["s"]),
        node("Softmax", ["s"], ["p"]),
        node("MatMul", ["p", "v"], ["a"]),
        node("Add", ["a", "x"], ["r"]),
        node("LayerNormalization", ["r", "g", "b"], ["n"]),
        node("HardSwish", ["n"], ["h"]),
        node("Mish", ["h"], ["m"]),
        node("Erf", ["m"], ["e"]),
        node("LogSoftmax", ["e"], ["y"]),
    ]
    initializers = [weights(name, 16, 16) for name in ("wq", "wk", "wv")] + [weights(name, 16) for name in "gb"]
    return network(nodes, [1, 32, 16], [1, 32, 16], initializers)


def convolutions():
    node = onnx.node
    nodes = [
        node("Conv", ["x", "w"], ["c"], attributes=integers("pads", 1, 1, 1, 1)),
        node("BatchNormalization", ["c", "g", "b", "g", "g"], ["n"]),
        node("Relu", ["n"], ["r"]),
        node("MaxPool", ["r"], ["m"], attributes=integers("kernel_shape", 2, 2) + integers("strides", 2, 2)),
        node("AveragePool", ["m"], ["a"], attributes=integers("kernel_shape", 2, 2)),
        node("GlobalAveragePool", ["a"], ["p"]),
        node("Flatten", ["p"], ["f"]),
        node("Softmax", ["f"], ["y"]),
    ]
    return network(nodes, [1, 3, 8, 8], [1, 16], [weights("w", 16, 3, 3, 3), weights("g", 16), weights("b", 16)])


ATTENTION = """
func.func @main(%q: tensor<1x2x32x16xf32>, %k: tensor<1x2x32x16xf32>, %v: tensor<1x2x32x16xf32>) -> tensor<1x2x32x16xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %quarter = stablehlo.constant dense<0.25> : tensor<1x2x32x32xf32>
  %d = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x32x16xf32>, tensor<1x2x32x16xf32>) -> tensor<1x2x32x32xf32>
  %s = stablehlo.multiply %d, %quarter : tensor<1x2x32x32xf32>
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x32x32xf32>, tensor<f32>) -> tensor<1x2x32xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<1x2x32xf32>) -> tensor<1x2x32x32xf32>
  %t = stablehlo.subtract %s, %mb : tensor<1x2x32x32xf32>
  %e = stablehlo.exponential %t : tensor<1x2x32x32xf32>
  %n = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x32x32xf32>, tensor<f32>) -> tensor<1x2x32xf32>
  %nb = stablehlo.broadcast_in_dim %n, dims = [0, 1, 2] : (tensor<1x2x32xf32>) -> tensor<1x2x32x32xf32>
  %p = stablehlo.divide %e, %nb : tensor<1x2x32x32xf32>
  %r = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x32x32xf32>, tensor<1x2x32x16xf32>) -> tensor<1x2x32x16xf32>
  return %r : tensor<1x2x32x16xf32>
}
"""
POOLS = """
func.func @main(%x: tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %four = stablehlo.constant dense<4.0> : tensor<1x4x4x3xf32>
  %m = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 1, 3, 3, 1>, padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x8x8x3xf32>, tensor<f32>) -> tensor<1x8x8x3xf32>
  %s = "stablehlo.reduce_window"(%m, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1x8x8x3xf32>, tensor<f32>) -> tensor<1x4x4x3xf32>
  %r = stablehlo.divide %s, %four : tensor<1x4x4x3xf32>
  return %r : tensor<1x4x4x3xf32>
}
"""
NETWORKS = {"encoder.onnx": encoder(), "convolutions.onnx": convolutions(), "attention.mlir": ATTENTION.encode(), "pools.mlir": POOLS.encode()}


def standard_operators():
    """Those of ONNX itself, by the page that a test keeps up to date."""
    with open(PAGE) as page:
        return set(re.findall(r"^\| ai\.onnx \| (\w+) \|", page.read(), re.MULTILINE))


class PortableOutput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @staticmethod
    def cases(extension):
        """All networks are converted; what has the extension already is optimised."""
        return [("convert", name) for name in NETWORKS] + [("optimize", name) for name in NETWORKS if name.endswith(extension)]

    def written(self, command, name, extension):
        """What COMMAND makes of the network NAME."""
        source, target = (os.path.join(self.folder, each) for each in (name, "out" + extension))
        with open(source, "wb") as file:
            file.write(NETWORKS[name])
        done = subprocess.run([SINTER, command, source, "-o", target], capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(target, "rb") as file:
            return file.read()

    def test_dialects_are_told(self):
        text = 'module {\n  %0:2 = "nn.lstm"(%a)\n  %1, %2 = cpu.pack %a\n  return %1\n'
        self.assertEqual(dialects(text), {"func", "nn", "cpu"})

    def test_stablehlo(self):
        for command, name in self.cases(".mlir"):
            with self.subTest(command=command, network=name):
                found = dialects(self.written(command, name, ".mlir").decode())
                self.assertIn("stablehlo", found)
                self.assertLessEqual(found, PORTABLE)

    def test_onnx(self):
        known = standard_operators()
        self.assertIn("Conv", known)
        for command, name in self.cases(".onnx"):
            with self.subTest(command=command, network=name):
                content = self.written(command, name, ".onnx")
                self.assertLessEqual(set(onnx.node_types(content)), known)
                domains = [value for key, value in onnx.fields(content) if key == 8]
                self.assertEqual([value for each in domains for key, value in onnx.fields(each) if key == 1 and value], [])


if __name__ == "__main__":
    SINTER, PAGE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
