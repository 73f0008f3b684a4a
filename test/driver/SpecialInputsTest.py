#!/usr/bin/env python3
"""Models that compute on nothing, or on numbers that are special: small copies, and the shared files of their kind where these are at hand.

    test/driver/SpecialInputsTest.py build/bin/sinter [unittest options]

The shared files are those of $SINTER_SHARED/data/defects or of ../shared/data/defects; without them their tests are skipped.
"""
import os
import struct
import unittest

import OnnxBytes as onnx
from SinterCommand import DONE, INVALID, UNSUPPORTED, CommandTest, main
from SharedDefectsTest import read_npy

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SHARED = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(SOURCE, "..", "shared"), "data", "defects", "found-2026-11-29")
BACKENDS = ("cpu", "interpreter")
NAN, INFINITY = float("nan"), float("inf")


def integer(name, value):
    """An attribute of a node."""
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


def floats(name, numbers):
    return onnx.tensor(name, [len(numbers)], onnx.floats(*numbers))


class SpecialInputsTest(CommandTest):
    def run_both(self, model, *options):
        """The outputs of a run by either backend, each as (name, numbers)."""
        results = []
        for backend in BACKENDS:
            folder = self.path(backend)
            done = self.sinter("run", model, "--backend", backend, "--output-dir", folder, "--no-cache", *options)
            self.assertEqual(done.returncode, DONE, f"{backend}: {done.stderr}")
            results.append({name[:-4]: read_npy(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".npy")})
        return results

    def expect(self, model, expected, *options):
        for got in self.run_both(model, *options):
            for name, numbers in expected.items():
                # Compared as texts, since NaN equals nothing.
                self.assertEqual(str([float(each) for each in got[name]]), str([float(each) for each in numbers]), name)

    def unary(self, kind, numbers, attributes=b"", output="y", element=onnx.FLOAT, shape=None, version=17):
        """A model of one node on x, and the option that gives it these numbers."""
        size = len(numbers)
        node = onnx.node(kind, ["x"], [output], attributes=attributes)
        graph = onnx.graph([node], [onnx.value_info("x", [size])], [onnx.value_info(output, [size] if shape is None else shape, element)])
        path = self.write(kind + ".onnx", onnx.model(graph, version))
        self.write("x.npy", onnx.npy([size], content=struct.pack(f"<{size}f", *numbers)))
        return path, "--input", "x=" + self.path("x.npy")

    def recurrent(self, kind, steps):
        gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
        weights = [onnx.tensor("w", [1, gates * 2, 3], onnx.floats(*[0.5] * gates * 6)), onnx.tensor("r", [1, gates * 2, 2], onnx.floats(*[0.25] * gates * 4)),
                   onnx.tensor("h", [1, 2, 2], onnx.floats(1, 2, 3, 4))]
        outputs = ["y", "yh"] + (["yc"] if kind == "LSTM" else [])
        node = onnx.node(kind, ["x", "w", "r", "", "", "h"], outputs, attributes=integer("hidden_size", 2))
        values = [onnx.value_info("y", [steps, 1, 2, 2])] + [onnx.value_info(each, [1, 2, 2]) for each in outputs[1:]]
        return self.write(kind + ".onnx", onnx.model(onnx.graph([node], [onnx.value_info("x", [steps, 2, 3])], values, weights)))

    def test_recurrent_layers_of_no_steps(self):
        for kind in ("RNN", "GRU", "LSTM"):
            for steps, shape in ((0, []), ("T", ["--shape", "x:0x2x3"])):
                model = self.recurrent(kind, steps)
                self.expect(model, {"y": [], "yh": [1, 2, 3, 4]}, "--input", "random", *shape)
            for arguments in (["inspect", self.recurrent(kind, 0), "--steps"], ["optimize", self.recurrent(kind, 0), "-o", self.path("o.onnx")],
                              ["convert", self.recurrent(kind, 0), "-o", self.path("c.mlir")]):
                self.assertEqual(self.sinter(*arguments).returncode, DONE, arguments)
            self.expect(self.path("c.mlir"), {"yh": [1, 2, 3, 4]}, "--input", "random")

    def test_suppression_of_no_boxes(self):
        inputs = [onnx.value_info("boxes", [1, 0, 4]), onnx.value_info("scores", [1, 2, 0])]
        node = onnx.node("NonMaxSuppression", ["boxes", "scores", "most"], ["y"])
        most = onnx.tensor("most", [1], struct.pack("<q", 3), onnx.INT64)
        model = self.write("nms.onnx", onnx.model(onnx.graph([node], inputs, [onnx.value_info("y", ["n", 3], onnx.INT64)], [most])))
        self.expect(model, {"y": []}, "--input", "random")
        self.assertEqual(self.sinter("convert", model, "-o", self.path("c.mlir")).returncode, DONE)
        done = self.sinter("run", self.path("c.mlir"), "--input", "random", "--backend", "interpreter")
        self.assertIn("i64 [0, 3]", done.stdout + done.stderr)

    def test_arg_extremes_of_nothing_are_no_model(self):
        for kind in ("ArgMax", "ArgMin"):
            path, *options = self.unary(kind, [], integer("keepdims", 0), element=onnx.INT64, shape=[])
            for backend in BACKENDS:
                self.expect_error(INVALID, "run", path, "--backend", backend, "--input", "random", mentions=["no elements"])

    def test_nan_wins_a_search(self):
        numbers = [1, NAN, 3, NAN, -INFINITY, INFINITY]
        for kind in ("ArgMax", "ArgMin"):
            for last, place in ((0, 1), (1, 3)):
                attributes = integer("keepdims", 0) + integer("select_last_index", last)
                path, *options = self.unary(kind, numbers, attributes, element=onnx.INT64, shape=[])
                self.expect(path, {"y": [place]}, *options)
        path, *options = self.unary("Hardmax", numbers)
        self.expect(path, {"y": [0, 1, 0, 0, 0, 0]}, *options)

    def test_nan_is_the_greatest_of_all(self):
        self.write("x.npy", onnx.npy([6], content=struct.pack("<6f", 1, NAN, 3, NAN, -INFINITY, INFINITY)))
        for largest, places in ((1, [1, 3, 5, 2]), (0, [4, 0, 2, 5])):
            node = onnx.node("TopK", ["x", "k"], ["v", "i"], attributes=integer("largest", largest))
            graph = onnx.graph([node], [onnx.value_info("x", [6])], [onnx.value_info("v", [4]), onnx.value_info("i", [4], onnx.INT64)],
                               [onnx.tensor("k", [1], struct.pack("<q", 4), onnx.INT64)])
            self.expect(self.write("top.onnx", onnx.model(graph)), {"i": places}, "--input", "x=" + self.path("x.npy"))

    def test_nan_stays(self):
        for kind in ("HardSigmoid", "HardSwish", "Celu", "Elu", "Selu", "Relu", "LeakyRelu", "Softsign", "Softplus", "Sigmoid", "Tanh", "Sign", "Round", "Mish"):
            path, *options = self.unary(kind, [NAN, 0], version=18)
            for got in self.run_both(path, *options):
                self.assertEqual(str(got["y"][0]).lstrip("-"), "nan", kind)

    def test_sorts_keep_the_order_of_zeros(self):
        text = """func.func @main(%x: tensor<6xf32>, %i: tensor<6xi32>) -> tensor<6xi32> {
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
  return %s#1 : tensor<6xi32>
}"""
        options = []
        for number, (kind, content) in enumerate((("<f4", struct.pack("<6f", 0.0, -0.0, 2, -3, 0.0, -0.0)), ("<i4", struct.pack("<6i", *range(6))))):
            options += ["--input", f"arg{number}=" + self.write(f"{number}.npy", onnx.npy([6], kind, content))]
        model = self.write("sort.mlir", text.replace("%x", "%arg0").replace("%i:", "%arg1:").replace("%i)", "%arg1)"))
        self.assertEqual(self.sinter("convert", model, "-o", self.path("sort.onnx")).returncode, DONE)
        self.expect(self.path("sort.onnx"), {"result0": [3, 1, 5, 0, 4, 2]}, *options)

    def test_unique_of_floats_is_written_back(self):
        for outputs in (["y"], ["y", "", "inverse"], ["y", "first", "inverse", "counts"]):
            values = [onnx.value_info(each, ["m"], onnx.FLOAT if each == "y" else onnx.INT64) for each in outputs if each]
            graph = onnx.graph([onnx.node("Unique", ["x"], outputs)], [onnx.value_info("x", ["n"])], values)
            done = self.sinter("optimize", self.write("u.onnx", onnx.model(graph)), "-o", self.path("o.onnx"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(self.path("o.onnx"), "rb") as file:
                self.assertEqual(onnx.node_types(file.read()), ["Unique"])


@unittest.skipUnless(os.path.isdir(SHARED), f"there is no folder {SHARED}")
class SharedFilesTest(CommandTest):
    def shared(self, *parts):
        return os.path.join(SHARED, *parts)

    def test_expected_outputs(self):
        exact = ["--rtol", "0", "--atol", "0"]
        for name, options in (("r7_gru_fo_s0", []), ("r7_lstm_bi_s0", []), ("argmax_nan", exact), ("hardsigmoid_nan", []),
                              ("rs_dq_q_0.1_0.2_5_0", exact), ("rs_relu_0.1_0.04_5_-3", exact)):
            for backend in BACKENDS:
                done = self.sinter("test", self.shared(name), "--backend", backend, "--cache-dir", self.path("cache"), *options)
                self.assertEqual(done.returncode, DONE, f"{name}: {done.stdout}")

    def test_written(self):
        for command, model, output in (("convert", "convert_empty_nms", "c.mlir"), ("optimize", "unique_float_write", "o.onnx")):
            done = self.sinter(command, self.shared(model, "model.onnx"), "-o", self.path(output))
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_sort_of_zeros(self):
        folder = self.shared("convert_sort_zeros")
        done = self.sinter("convert", os.path.join(folder, "model.mlir"), "-o", self.path("s.onnx"))
        self.assertIn(done.returncode, (DONE, UNSUPPORTED), done.stderr)
        done = self.sinter("run", self.path("s.onnx"), "--input", os.path.join(folder, "x.npy"), "--input", os.path.join(folder, "i.npy"), "--no-cache")
        self.assertIn("3 1 5 0 4 2", done.stdout)

    def test_narrow_weights_keep_their_digits(self):
        model = self.shared("fold", "mixed_f16_to_f32_conv_bn.mlir")
        done = self.sinter("compare", model, "--passes", "--range-atol", "1e-6", "--input", "random")
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
