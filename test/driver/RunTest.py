#!/usr/bin/env python3
# Covers: data Labels
# Covers: driver Summary
"""What `sinter run` does with models of every kind."""
import json
import os
import platform
import struct
import unittest

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, npy, UNSUPPORTED, USAGE, main


class Fallback(CommandTest):
    """What the CPU backend does not support: a function of the process on matrices of a computed size."""

    MODEL = """func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %n = nn.non_zero %x : (tensor<6xf32>) -> tensor<1x?xi64>
  %s = stablehlo.get_dimension_size %n, dim = 1 : (tensor<1x?xi64>) -> tensor<i32>
  %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %v, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %a = stablehlo.dynamic_broadcast_in_dim %two, %sizes, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %c = stablehlo.cholesky %a, lower = true : tensor<?x?xf32> loc("decompose")
  return %c : tensor<?x?xf32>
}
"""

    def test_interpreter(self):
        model, x = self.write("sizes.mlir", self.MODEL.encode()), self.write("x.npy", onnx.npy((6,), content=onnx.floats(1, 0, 0, 0, 2, 3)))
        done = self.sinter("run", model, "--input", x, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r"\Anote: .*sizes.mlir: .*'decompose'.*interpreter, which is slow\n\Z")
        result = json.loads(done.stdout)
        self.assertEqual((result["backend"], result["outputs"][0]["shape"]), ("interpreter", [3, 3]))
        for asked in ("run", "--backend", "cpu"), ("bench",):
            self.expect_error(UNSUPPORTED, asked[0], model, "--input", x, *asked[1:], mentions=["'decompose'", "the interpreter can run it"])


@unittest.skipUnless(platform.machine() == "x86_64", "the names are of x86's CPUs")
class OtherCpu(CommandTest):
    """Compiled for another CPU than the one here."""

    def test_lesser(self):
        """Other code, kept apart from that for this one; the same results."""
        cache, results = self.path("cache"), []
        for cpu in ([], ["--cpu", "x86-64-v2"], ["--cpu", "x86-64-v2"]):
            done = self.sinter("run", self.good_model(), "--input", "random:1", "--json", "--cache-dir", cache, *cpu)
            self.assertEqual(done.returncode, DONE, done.stderr)
            results.append(json.loads(done.stdout)["outputs"])
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[1], results[2])
        programs = [name for name in os.listdir(cache) if "-" not in name]
        self.assertEqual(len(programs), 2, programs)

    def test_refused(self):
        """One with instructions that are not here (none has XOP and AVX-512), and a name that nobody knows."""
        self.expect_error(UNSUPPORTED, "run", self.good_model(), "--input", "random:1", "--no-cache", "--backend", "cpu", "--cpu", "bdver4", mentions=["xop"])
        self.expect_error(USAGE, "run", self.good_model(), "--input", "random:1", "--no-cache", "--cpu", "nonsense", mentions=["unknown CPU 'nonsense'"])


class Tuples(CommandTest):
    """Tuples and tokens in the signature of a program: who runs it sees their tensors."""

    def setUp(self):
        super().setUp()
        pair = "tuple<tensor<2xf32>, tuple<tensor<2xf32>>>"
        self.model = self.write("pair.mlir", f"""
func.func @main(%t: {pair}, %k: !stablehlo.token) -> (tuple<tensor<2xf32>, {pair}>, !stablehlo.token) {{
  %x = stablehlo.get_tuple_element %t[0] : ({pair}) -> tensor<2xf32>
  %u = stablehlo.get_tuple_element %t[1] : ({pair}) -> tuple<tensor<2xf32>>
  %y = stablehlo.get_tuple_element %u[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  %s = stablehlo.subtract %x, %y : tensor<2xf32>
  %r = stablehlo.tuple %s, %t : tuple<tensor<2xf32>, {pair}>
  return %r, %k : tuple<tensor<2xf32>, {pair}>, !stablehlo.token
}}
""")
        self.x, self.y = self.write("x.npy", npy((2,), (5, 7))), self.write("y.npy", npy((2,), (1, 2)))

    def test_run(self):
        expected = [("result0[0]", 4, 5), ("result0[1][0]", 5, 7), ("result0[1][1][0]", 1, 2)]
        for backend in "cpu", "interpreter":
            for given in (["--input", f"arg0[0]={self.x}"], ["--bind", f"arg0[0]={self.x}"]):
                done = self.sinter("run", self.model, "--json", "--no-cache", "--backend", backend, *given,
                                   "--input", f"arg0[1][0]={self.y}")
                self.assertEqual(done.returncode, DONE, done.stderr)
                outputs = json.loads(done.stdout)["outputs"]
                self.assertEqual([(each["name"], each["min"], each["max"]) for each in outputs], expected)

    def test_inspect_and_convert(self):
        facts = json.loads(self.sinter("inspect", self.model, "--json", "--no-plan").stdout)
        self.assertEqual([each["name"] for each in facts["inputs"]], ["arg0[0]", "arg0[1][0]"])
        out = self.path("again.mlir")
        self.assertEqual(self.sinter("convert", self.model, "-o", out).returncode, DONE)
        with open(out) as file:
            self.assertIn("%arg0: tuple<tensor<2xf32>, tuple<tensor<2xf32>>>, %arg1: !stablehlo.token", file.read())

    def test_parameters_in_files_of_their_own(self):
        model = self.good_model()
        for option in (f"--params={model}", "--random-parameters", "--random-parameters=7"):
            self.expect_error(USAGE, "run", model, option, mentions=["ONNX", "holds its parameters itself", option.split("=")[0]])
        self.expect_error(USAGE, "run", model, "--random-parameters=x", mentions=["'x' is not a seed"])
        self.expect_error(USAGE, "run", model, "--random-parameters", "--params=weights", mentions=["exclude each other"])


if __name__ == "__main__":
    main()
