#!/usr/bin/env python3
# Covers: engine/compiler Optimize
# Covers: interface OptimizeOptions
"""`sinter optimize`."""
import itertools
import json
import os
import shutil
import struct

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, SYSTEM, UNSUPPORTED, USAGE, main


def number_attribute(name, value):
    """An integer attribute of a node."""
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


class Optimize(CommandTest):
    TEXT = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %y = stablehlo.multiply %x, %one : tensor<2x3xf32>
  %z = stablehlo.maximum %y, %one : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
"""

    def test_text(self):
        model, out = self.write("in.mlir", self.TEXT), self.path("out.mlir")
        done = self.sinter("optimize", model, "-o", out, "--stats", "--verify-numerics")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            simple = file.read()
        self.assertNotIn("multiply", simple)
        self.assertIn("maximum", simple)
        done = self.sinter("optimize", model, "-o", out, "--disable-patterns", "all")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            self.assertIn("multiply", file.read())

    def test_operations_of_other_dialects(self):
        """Sizes that `arith` and its like compute are read; what has no counterpart is named, with a way out."""
        text = """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = {op} %n, %c4 : index
  %s = tensor.from_elements %m : tensor<1xindex>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""
        model = self.write("in.mlir", text.format(op="arith.muli"))
        done = self.sinter("run", model, "--shape", "arg0:3x4", "--input", "random:1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("result0: f32 [12]", done.stdout)
        model = self.write("in.mlir", text.format(op="arith.ceildivui"))
        self.expect_error(UNSUPPORTED, "inspect", model, mentions=["in.mlir:6", "'arith.ceildivui'", "static shapes"])

    def test_border_of_tuples(self):
        """Tuples, tokens and results to come are numbers at last, and verified as those."""
        model = self.write("in.mlir", """
func.func @main(%t: tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>>, %k: !stablehlo.token)
    -> (tuple<tensor<4xf32>, !stablehlo.token>, !stablehlo.future<tensor<2xf32>>) {
  %x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>>) -> tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %y = stablehlo.multiply %x, %one : tensor<4xf32>
  %r = stablehlo.tuple %y, %k : tuple<tensor<4xf32>, !stablehlo.token>
  %f = "stablehlo.async_start"(%y) ({
  ^bb0(%a: tensor<4xf32>):
    %s = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %r, %f : tuple<tensor<4xf32>, !stablehlo.token>, !stablehlo.future<tensor<2xf32>>
}
""")
        done = self.sinter("optimize", model, "--json", "--verify-numerics=each")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("stablehlo.multiply", json.loads(done.stdout)["after"])
        model = self.write("future.mlir", """
func.func @main(%f: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
""")
        for command in ("optimize", model, "--json", "--verify-numerics"), ("run", model), ("run", model, "--backend", "interpreter"):
            self.expect_error(UNSUPPORTED, *command, mentions=["future"])

    def test_future_that_is_given(self):
        """Whoever runs a program gets what it has begun when that is done."""
        model = self.write("future.mlir", """
func.func @main(%y: tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>> {
  %f = "stablehlo.async_start"(%y) ({
  ^bb0(%a: tensor<4xf32>):
    %s = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %f : !stablehlo.future<tensor<2xf32>>
}
""")
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--backend", backend, "--input", "random:1")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("result0[0]: f32 [2]", done.stdout)

    def test_json(self):
        done = self.sinter("optimize", self.write("in.mlir", self.TEXT), "--json")
        report = json.loads(done.stdout)
        self.assertEqual(report["before"]["stablehlo.multiply"], 1)
        self.assertNotIn("stablehlo.multiply", report["after"])
        self.assertEqual(sum(report["patterns"].values()), 1)

    def test_labels(self):
        labels = [line.split()[0] for line in self.sinter("optimize", "--list-patterns").stdout.splitlines()]
        self.assertGreater(len(labels), 10)
        self.assertEqual(len(labels), len(set(labels)))
        model = self.write("in.mlir", self.TEXT)
        self.expect_error(USAGE, "optimize", model, "--stats", "--disable-patterns", "no-such-label", mentions=["no-such-label"])
        self.expect_error(USAGE, "optimize", model, "--stats", "--print-ir-after", "no-such-pass", mentions=["no-such-pass"])

    def test_allow(self):
        zero = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y = stablehlo.add %x, %zero : tensor<2xf32>
  return %y : tensor<2xf32>
}
"""
        model = self.write("in.mlir", zero)
        for allowed, count in ((), 0), (("--allow=nosignedzero",), 1), (("--allow=reassociate,nonan",), 0), (("--allow=all",), 1):
            report = json.loads(self.sinter("optimize", model, "--json", "--verify-numerics=each", *allowed).stdout)
            self.assertEqual(report["patterns"].get("add-zero-relaxed", 0), count, allowed)
        self.expect_error(USAGE, "optimize", model, "--stats", "--allow", "anything", mentions=["anything", "reassociate"])

    RESCALES = """
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25:3>
func.func @main(%x: tensor<4x4x!a>) -> tensor<2x2x!b> {
  %r = stablehlo.uniform_quantize %x : (tensor<4x4x!a>) -> tensor<4x4x!b>
  %m = stablehlo.slice %r [0:2, 1:3] : (tensor<4x4x!b>) -> tensor<2x2x!b>
  %k = stablehlo.uniform_quantize %m : (tensor<2x2x!b>) -> tensor<2x2x!a>
  %l = stablehlo.uniform_quantize %k : (tensor<2x2x!a>) -> tensor<2x2x!b>
  return %l : tensor<2x2x!b>
}
"""

    def test_figures(self):
        """The file's operators and weights before and after, whether the output is written or not, and the FLOPs of the model as it was."""
        weights = [onnx.tensor("w", [4, 2, 3, 3], onnx.floats(*range(72)))]
        weights += [onnx.tensor(name, [4], onnx.floats(1, 2, 3, 4)) for name in ("scale", "offset", "mean", "variance")]
        nodes = [onnx.node("Conv", ["x", "w"], ["c"], "conv"), onnx.node("BatchNormalization", ["c", "scale", "offset", "mean", "variance"], ["b"], "norm"),
                 onnx.node("Relu", ["b"], ["y"], "relu")]
        graph = onnx.graph(nodes, [onnx.value_info("x", ("N", 2, 8, 8))], [onnx.value_info("y", ("N", 4, 6, 6))], weights)
        model, out = self.write("in.onnx", onnx.model(graph)), self.path("out.onnx")
        flops = f"{2 * 4 * 6 * 6 * 2 * 3 * 3}*N"
        for written in ((), ("-o", out)):
            report = json.loads(self.sinter("optimize", model, "--json", *written).stdout)
            self.assertEqual(report["operators"], {"before": {"BatchNormalization": 1, "Conv": 1, "Relu": 1}, "after": {"Conv": 1, "Relu": 1}})
            # The norm becomes a bias.
            self.assertEqual(report["weight_bytes"], {"before": 4 * (72 + 16), "after": 4 * (72 + 4)})
            self.assertEqual(report["flops"], flops)
            self.assertIn("stablehlo.convolution", report["before"])
        with open(out, "rb") as file:
            self.assertEqual(sorted(onnx.node_types(file.read())), ["Conv", "Relu"])
        # Whatever is folded afterwards.
        self.assertEqual(json.loads(self.sinter("optimize", out, "--json").stdout)["flops"], flops)
        text = self.sinter("optimize", model, "--stats").stdout
        self.assertRegex(text, r"before +after  operator\n +1 +0  BatchNormalization\n +1 +1  Conv\n +1 +1  Relu\n +3 +2  all\nweights   352 bytes -> 304 bytes\nFLOPs     5.18 kFLOP \* N\n")
        self.assertNotIn("stablehlo", text)
        self.assertRegex(self.sinter("optimize", model, "--stats", "-v").stdout, r"before +after  operation of the graph\n(.*\n)* +1 +1  stablehlo.convolution\n")
        # In place, too, where the file is another one afterwards.
        report = json.loads(self.sinter("optimize", model, "--in-place", "--json").stdout)
        self.assertEqual((sum(report["operators"]["before"].values()), sum(report["operators"]["after"].values()), report["flops"]), (3, 2, flops))

    def test_rescales(self):
        """They are counted before and after; outputs keep their types, if nothing else is asked for."""
        model = self.write("in.mlir", self.RESCALES)
        for arguments, after in (((), 3), (("--allow=all",), 3), (("--allow=requantize",), 1),
                                 (("--allow=requantize", "--change-outputs"), 0)):
            done = self.sinter("optimize", model, "--json", "--verify-numerics", *arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["rescales"], {"before": 3, "after": after}, arguments)
        lines = self.sinter("optimize", model, "--stats", "--allow=requantize").stdout.splitlines()
        self.assertEqual(lines[-1].split(), ["3", "1", "rescales", "of", "quantised", "tensors"])
        out = self.path("out.mlir")
        self.assertEqual(self.sinter("optimize", model, "-o", out, "--allow=requantize", "--change-outputs").returncode, DONE)
        with open(out, encoding="utf-8") as file:
            self.assertIn("-> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>", file.read().split("{")[1])

    def test_rescales_of_onnx(self):
        """DequantizeLinear and QuantizeLinear of another scale: a rescale, which the first of them takes up."""
        int8 = 3
        weights = []
        for name, scale, zero in ("a", 0.5, 0), ("b", 0.4, 3), ("c", 0.45, 1):
            weights += [onnx.tensor(name + "_scale", [], onnx.floats(scale)), onnx.tensor(name + "_zero", [], bytes([zero]), int8)]
        def q(number, kind, source, to, scale):
            return onnx.node(kind, [source, scale + "_scale", scale + "_zero"], [to], f"{kind}{number}")
        nodes = [q(1, "QuantizeLinear", "x", "q1", "a"), q(1, "DequantizeLinear", "q1", "f1", "a"),
                 q(2, "QuantizeLinear", "f1", "q2", "b"), q(2, "DequantizeLinear", "q2", "f2", "b"),
                 onnx.node("Transpose", ["f2"], ["f3"], "turn"),
                 q(3, "QuantizeLinear", "f3", "q3", "c"), q(3, "DequantizeLinear", "q3", "y", "c")]
        graph = onnx.graph(nodes, [onnx.value_info("x", (2, 3))], [onnx.value_info("y", (3, 2))], weights)
        model, out = self.write("in.onnx", onnx.model(graph)), self.path("out.onnx")
        for also in (("--raise-quantized",), ()):
            done = self.sinter("optimize", model, "-o", out, "--allow=requantize", "--json", "--force", *also)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["rescales"], {"before": 2, "after": 0})
            with open(out, "rb") as file:
                self.assertEqual(sorted(onnx.node_types(file.read())), ["DequantizeLinear", "QuantizeLinear", "Transpose"])
        # Unasked, and where there is no rescale, the nodes stay as they were.
        none = onnx.graph(nodes[:2], [onnx.value_info("x", (2, 3))], [onnx.value_info("f1", (2, 3))], weights)
        for source, words, count in ((model, (), 7), (self.write("none.onnx", onnx.model(none)), ("--allow=requantize",), 2)):
            self.assertEqual(self.sinter("optimize", source, "-o", self.path("same.onnx"), "--force", *words).returncode, DONE)
            with open(self.path("same.onnx"), "rb") as file:
                content = file.read()
            self.assertEqual(len(onnx.node_types(content)), count)
            self.assertIn(b"DequantizeLinear1", content)
        for backend in "cpu", "interpreter":
            done = self.sinter("run", out, "--backend", backend, "--input", "random:1")
            self.assertEqual(done.returncode, DONE, done.stderr)

    def outputs(self, model, seed, *options):
        """The numbers that MODEL gives for random inputs."""
        folder = self.path("given")
        done = self.sinter("run", model, "--input", f"random:{seed}", "--output-dir", folder, "--backend", "interpreter", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        numbers = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            start = 10 + int.from_bytes(content[8:10], "little")
            numbers += struct.unpack(f"<{(len(content) - start) // 4}f", content[start:])
        shutil.rmtree(folder)
        return numbers

    def assert_same_numbers(self, model, other):
        for seed in 1, 2:
            expected, got = self.outputs(model, seed), self.outputs(other, seed)
            self.assertEqual(len(expected), len(got))
            for a, b in zip(expected, got):
                self.assertAlmostEqual(a, b, delta=1e-5 * max(map(abs, expected)))

    def test_a_batch_norm_behind_a_dequantised_weight(self):
        """One scale becomes one a channel, in the operator set that has such; a negative factor turns a channel round."""
        int8 = 3
        integers = bytes((37 * i + 11) % 199 - 99 & 255 for i in range(4 * 2 * 3 * 3))
        parameters = {"g": (1.5, -0.5, 0.25, -2.0), "b": (0.1, 0.2, -0.3, 0.0), "m": (0.5, -0.5, 0.0, 1.0), "v": (1.0, 2.0, 0.5, 0.25)}
        for version, groups, scales in ((10, 1, 1), (13, 1, 1), (13, 2, 1), (13, 1, 4), (13, 2, 4)):
            with self.subTest(version=version, groups=groups, scales=scales):
                shape = [4] if scales == 4 else []
                weights = [onnx.tensor("w", [4, 2, 3, 3], integers, int8),
                           onnx.tensor("s", shape, onnx.floats(*(0.01 * (i + 1) for i in range(scales)))),
                           onnx.tensor("z", shape, bytes(scales), int8),
                           *(onnx.tensor(name, [4], onnx.floats(*numbers)) for name, numbers in parameters.items())]
                axis = number_attribute("axis", 0) if scales == 4 else b""
                nodes = [onnx.node("DequantizeLinear", ["w", "s", "z"], ["f"], "weight", attributes=axis),
                         onnx.node("Conv", ["x", "f"], ["c"], "conv", attributes=number_attribute("group", groups)),
                         onnx.node("BatchNormalization", ["c", *parameters], ["y"], "norm")]
                graph = onnx.graph(nodes, [onnx.value_info("x", (1, 2 * groups, 5, 5))], [onnx.value_info("y", (1, 4, 3, 3))], weights)
                content = onnx.model(graph, version)
                self.assertEqual(self.node_types(content), ["DequantizeLinear", "Conv"])
                self.assert_same_numbers(self.path("in.onnx"), self.path("out.onnx"))

    def test_a_batch_norm_behind_a_dequantised_weight_that_is_transposed(self):
        """By a node of its own: then its scales take the norm up, and it is turned once. A ConvTranspose, which does so itself, stays one node."""
        int8 = 3
        weights = [onnx.tensor("w", [4, 2, 3, 3], bytes(range(72)), int8), onnx.tensor("s", [], onnx.floats(0.25)),
                   *(onnx.tensor(name, [2], onnx.floats(0.5, 2.0)) for name in "gbmv")]
        weight = onnx.node("DequantizeLinear", ["w", "s"], ["f"], "weight")
        norm = onnx.node("BatchNormalization", ["c", *"gbmv"], ["y"], "norm")

        def border(size):
            return [onnx.value_info("x", (1, 4, 5, 5))], [onnx.value_info("y", (1, 2, size, size))]

        turned = onnx.data(5, onnx.data(1, "perm") + b"".join(onnx.number(8, each) for each in (1, 0, 2, 3)) + onnx.number(20, 7))
        nodes = [weight, onnx.node("Transpose", ["f"], ["t"], "turn", attributes=turned), onnx.node("Conv", ["x", "t"], ["c"], "conv"), norm]
        self.assertEqual(sorted(self.node_types(onnx.model(onnx.graph(nodes, *border(3), weights)))), ["Conv", "DequantizeLinear"])
        self.assert_same_numbers(self.path("in.onnx"), self.path("out.onnx"))
        # Of bytes: a product of integers, whose sums take it up.
        bytes_of_x = [onnx.node("QuantizeLinear", ["x", "s", "z"], ["q"], "round"), onnx.node("DequantizeLinear", ["q", "s", "z"], ["r"], "back")]
        product = [*bytes_of_x, weight, nodes[1], onnx.node("Conv", ["r", "t"], ["c"], "conv"), norm]
        content = onnx.model(onnx.graph(product, *border(3), [*weights, onnx.tensor("z", [], bytes([4]), int8)]))
        self.assertEqual(sorted(self.node_types(content, "--raise-quantized")), ["Conv", "DequantizeLinear", "DequantizeLinear", "QuantizeLinear"])
        self.assert_same_numbers(self.path("in.onnx"), self.path("out.onnx"))
        strides = onnx.data(5, onnx.data(1, "strides") + b"".join(onnx.number(8, 2) for _ in range(2)) + onnx.number(20, 7))
        for size, attributes in (7, b""), (11, strides):
            nodes = [weight, onnx.node("ConvTranspose", ["x", "f"], ["c"], "conv", attributes=attributes), norm]
            self.assertEqual(self.node_types(onnx.model(onnx.graph(nodes, *border(size), weights))), ["DequantizeLinear", "ConvTranspose"])
            self.assert_same_numbers(self.path("in.onnx"), self.path("out.onnx"))

    def test_a_batch_norm_behind_a_transposed_convolution_of_each_channel(self):
        """Its kernel is read as it is: its scales take the norm up, also of channels that change their sign."""
        int8 = 3
        gains = [0.5, -2.0, 1.5, 0.25]
        for scales, bytes_of_x in itertools.product((1, 4), (False, True)):
            with self.subTest(scales=scales, bytes_of_x=bytes_of_x):
                weights = [onnx.tensor("w", [4, 1, 3, 3], bytes(range(36)), int8), onnx.tensor("s", [scales] if scales > 1 else [], onnx.floats(*(0.25, 0.5, 0.125, 0.75)[:scales])),
                           onnx.tensor("t", [], onnx.floats(0.02)), onnx.tensor("z", [], bytes([4]), int8), onnx.tensor("g", [4], onnx.floats(*gains)),
                           *(onnx.tensor(name, [4], onnx.floats(0.5, 2.0, 1.0, 0.25)) for name in "bmv")]
                rounded = [onnx.node("QuantizeLinear", ["x", "t", "z"], ["q"], "round"), onnx.node("DequantizeLinear", ["q", "t", "z"], ["r"], "back")] * bytes_of_x
                nodes = [*rounded, onnx.node("DequantizeLinear", ["w", "s"], ["f"], "weight", attributes=number_attribute("axis", 0) if scales > 1 else b""),
                         onnx.node("ConvTranspose", ["r" if bytes_of_x else "x", "f"], ["c"], "conv", attributes=number_attribute("group", 4)),
                         onnx.node("BatchNormalization", ["c", *"gbmv"], ["y"], "norm")]
                content = onnx.model(onnx.graph(nodes, [onnx.value_info("x", (1, 4, 5, 5))], [onnx.value_info("y", (1, 4, 7, 7))], weights), 13)
                kinds = ["QuantizeLinear", "DequantizeLinear"] * bytes_of_x + ["DequantizeLinear", "ConvTranspose"]
                for options in ([], ["--raise-quantized"]):
                    self.assertEqual(sorted(self.node_types(content, *options, "--force")), sorted(kinds), options)
                    self.assert_same_numbers(self.path("in.onnx"), self.path("out.onnx"))

    def test_a_batch_norm_behind_a_quantised_product(self):
        """Sums of integers, with and without numbers added to them, and floats beside a quantised weight."""
        byte, weight = "!quant.uniform<i8:f32, 0.05:3>", "!quant.uniform<i8:f32, 0.02>"
        texts = {
            "sums": """
  %q = stablehlo.uniform_quantize %x : (tensor<5x3xf32>) -> tensor<5x3xBYTE>
  %s = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : (tensor<5x3xBYTE>, tensor<3x2xWEIGHT>) -> tensor<5x2x!quant.uniform<i32:f32, 0.001>>
  %p = stablehlo.uniform_dequantize %s : (tensor<5x2x!quant.uniform<i32:f32, 0.001>>) -> tensor<5x2xf32>""",
            "floats": """
  %f = stablehlo.uniform_dequantize %w : (tensor<3x2xWEIGHT>) -> tensor<3x2xf32>
  %p = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>"""}
        for name, text in texts.items():
            with self.subTest(name):
                model = self.write(name + ".mlir", ("""func.func @main(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %w = stablehlo.constant() {value = dense<[[3, -100], [50, 7], [-20, 90]]> : tensor<3x2xi8>} : () -> tensor<3x2xWEIGHT>""" + text + """
  %g = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf32>
  %o = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %y = "stablehlo.batch_norm_inference"(%p, %g, %o, %o, %o) {epsilon = 0.01 : f32, feature_index = 1 : i64}
      : (tensor<5x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
""").replace("BYTE", byte).replace("WEIGHT", weight))
                out = self.path("out.mlir")
                done = self.sinter("optimize", model, "-o", out, "--force", "--verify-numerics")
                self.assertEqual(done.returncode, DONE, done.stderr)
                with open(out) as file:
                    written = file.read()
                self.assertNotIn("batch_norm", written)
                self.assertNotIn("multiply", written)
                self.assertIn("3x2x!quant.uniform<i8:f32:1", written)
                self.assert_same_numbers(model, out)

    def test_quantized_node_is_left(self):
        """A QLinearMatMul is arithmetic with nothing to simplify: it is written as it was read."""
        uint8 = 2
        weights = [onnx.tensor("w", [3, 2], bytes(range(6)), uint8)]
        for i, name in enumerate("xwy", 1):
            weights += [onnx.tensor(name + "_scale", [], onnx.floats(0.3 * i)), onnx.tensor(name + "_zero", [], bytes([i]), uint8)]
        node = onnx.node("QLinearMatMul", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["y"], "product")
        graph = onnx.graph([node], [onnx.value_info("x", (2, 3), uint8)], [onnx.value_info("y", (2, 2), uint8)], weights)
        done = self.sinter("optimize", self.write("in.onnx", onnx.model(graph)), "-o", self.path("out.onnx"), "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("divide-one", json.loads(done.stdout)["patterns"])
        with open(self.path("out.onnx"), "rb") as file:
            self.assertIn(b"QLinearMatMul", file.read())

    def test_quantized_nodes_stay_whole(self):
        """No pass takes a quantised node apart in a file that is written again, however much it shares with others or with itself."""
        uint8 = 2

        def scale(name, value):
            return onnx.tensor(name, [], onnx.floats(value))

        def convolution(output, weight, scales=("s", "s", "t")):
            inputs = ["x", scales[0], "z", weight, scales[1], "z", scales[2], "z"]
            return onnx.node("QLinearConv", inputs, [output], output)

        x = onnx.value_info("x", (1, 2, 4, 4), uint8)
        weights = [onnx.tensor(name, [3, 2, 3, 3], bytes(range(i, i + 54)), uint8) for i, name in enumerate("wv")]
        zero, scales = onnx.tensor("z", [], b"\x07", uint8), [scale("s", 0.1), scale("t", 2.0), scale("one", 1.0)]
        cases = {
            "one zero point": [convolution("y", "w")],
            "scales of one": [convolution("y", "w", ("one", "one", "t"))],
            "two of one input": [convolution("y", "w"), convolution("other", "v")],
        }
        for what, nodes in cases.items():
            outputs = [onnx.value_info(name, (1, 3, 2, 2), uint8) for name in ("y", "other")[: len(nodes)]]
            model = onnx.model(onnx.graph(nodes, [x], outputs, [*weights, zero, *scales]))
            self.assertEqual(self.node_types(model), ["QLinearConv"] * len(nodes), what)
        # Two that are the same are one.
        outputs = [onnx.value_info(name, (1, 3, 2, 2), uint8) for name in ("y", "other")]
        same = onnx.model(onnx.graph([convolution("y", "w"), convolution("other", "w")], [x], outputs, [*weights, zero, *scales]))
        self.assertEqual(self.node_types(same), ["QLinearConv", "Identity"])
        turned = [
            onnx.node("Transpose", ["x"], ["a"], "first"),
            onnx.node("DequantizeLinear", ["a", "one", "z"], ["b"], "scaled"),
            onnx.node("Transpose", ["b"], ["y"], "second"),
        ]
        model = onnx.model(onnx.graph(turned, [x], [onnx.value_info("y", (1, 2, 4, 4))], [zero, *scales]))
        self.assertEqual(self.node_types(model), ["Transpose", "DequantizeLinear", "Transpose"])

    def node_types(self, model, *options):
        """The operators of the nodes that `optimize` makes of MODEL, in order."""
        done = self.sinter("optimize", self.write("in.onnx", model), "-o", self.path("out.onnx"), *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            return onnx.node_types(file.read())

    def test_applied(self):
        """--list-patterns with a model says how often each applied."""
        model = self.write("in.mlir", self.TEXT)
        done = self.sinter("optimize", model, "--list-patterns")
        rows = {row.split()[1]: int(row.split()[0]) for row in done.stdout.splitlines()}
        self.assertEqual(rows["multiply-one"], 1)
        self.assertEqual(rows["add-zero"], 0)
        listed = json.loads(self.sinter("optimize", model, "--list-patterns", "--json").stdout)
        entry = next(each for each in listed if each["label"] == "multiply-one")
        self.assertEqual(entry["applied"], 1)
        self.assertEqual(entry["pass"], "simplify-algebra")

    def test_formats(self):
        self.expect_error(USAGE, "optimize", self.good_model(), "-o", self.path("out.mlir"), mentions=["sinter convert"])

    def test_onnx(self):
        weight = onnx.tensor("w", [2, 3], onnx.floats(*[0] * 6))
        nodes = [onnx.node("Add", ["x", "w"], ["sum"], "nothing"), onnx.node("Relu", ["sum"], ["y"], "relu")]
        model, out = self.write("in.onnx", onnx.simple(nodes, initializers=[weight])), self.path("out.onnx")
        done = self.sinter("optimize", model, "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        runs = [self.sinter("run", path, "--input", "random", "--backend", "interpreter", "--json") for path in [model, out]]
        self.assertEqual(*[json.loads(run.stdout)["outputs"] for run in runs])

    def test_what_cannot_be_kept(self):
        """Nodes that are kept do not hide one that cannot be, whether its value is used or not."""
        strange = onnx.node("Strange", ["x"], ["a"], "strange", domain="not.imported")
        drawn = onnx.node("RandomNormalLike", ["x"], ["n"], "drawn")
        for used in "x", "a":
            for nodes in [strange, drawn], [drawn, strange]:
                nodes = [*nodes, onnx.node("Add", [used, "n"], ["y"], "sum")]
                model = self.write("in.onnx", onnx.simple(nodes))
                self.expect_error(UNSUPPORTED, "optimize", model, "-o", self.path("out.onnx"), mentions=["1 x Strange", "'strange'"])

    def test_invalid_scan(self):
        """A node that would be kept must be valid all the same."""
        body = onnx.graph([onnx.node("Relu", ["a"], ["b"], "relu")], [onnx.value_info("a", (3,))], [onnx.value_info("b", (3,))])
        for count, code in (1, DONE), (2, INVALID):
            attributes = b"".join(onnx.data(5, each) for each in (
                onnx.data(1, "body") + onnx.data(6, body) + onnx.number(20, 5),
                onnx.data(1, "num_scan_inputs") + onnx.number(3, count) + onnx.number(20, 2)))
            model = self.write("in.onnx", onnx.simple([onnx.node("Scan", ["x"], ["y"], "scan", attributes=attributes)]))
            done = self.sinter("optimize", model, "-o", self.path("out.onnx"))
            self.assertEqual(done.returncode, code, done.stderr)

    def test_output_that_cannot_be_written(self):
        model = self.write("in.mlir", self.TEXT)
        self.expect_error(SYSTEM, "optimize", model, "-o", self.path("none/out.mlir"), mentions=["none/out.mlir"])


if __name__ == "__main__":
    main()
