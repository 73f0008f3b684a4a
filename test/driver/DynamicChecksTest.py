#!/usr/bin/env python3
# Covers: engine VerifyDynamic
# Covers: engine/compiler QuantizerSizes
"""What checks a model of dynamic dimensions checks the program that `sinter run` runs.

The compiler is broken on purpose (runtime/BreakForTest.h): every checker must find it, and nothing where nothing is broken.
"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import unittest

import OnnxBytes as onnx
import QuantizeModels as models
import SinterCommand
from SinterCommand import CommandTest, DONE, USAGE, WRONG, main, npy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BORDER = {"SINTER_BREAK_FOR_TEST": "border"}
GUARD = {"SINTER_BREAK_FOR_TEST": "guard"}
# Of what integers cost in these models.
LEAST_DECIBELS = 25


def convolutions(width="W", batch="N"):
    """Two convolutions of N samples of 4 channels, padded along the innermost dimension."""
    nodes = [onnx.node("Conv", ["x", "w"], ["c"], "first", attributes=models.ints("pads", 2, 2)), onnx.node("Relu", ["c"], ["r"], "relu"),
             onnx.node("Conv", ["r", "v"], ["y"], "second", attributes=models.ints("pads", 1, 1))]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [batch, 4, width])], [onnx.value_info("y", [batch, 6, width])],
                                 [models.weight("w", [8, 4, 5], 1), models.weight("v", [6, 8, 3], 2)]))


def floats_of(path):
    content = pathlib.Path(path).read_bytes()
    start = 10 + int.from_bytes(content[8:10], "little")
    return struct.unpack(f"<{(len(content) - start) // 4}f", content[start:])


def decibels(expected, got):
    noise = sum((a - b) ** 2 for a, b in zip(expected, got))
    return math.inf if noise == 0 else 10 * math.log10(sum(a * a for a in expected) / noise)


class DynamicChecks(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("float.onnx", convolutions())
        os.mkdir(self.path("samples"))
        for i in range(6):
            self.write(f"samples/{i}.npy", npy([1, 4, 12], models.draw(48, i, 2)))

    def quantize(self, **environment):
        """The report of quantising the model to quantized.onnx."""
        done = self.sinter("quantize", self.path("float.onnx"), "--calibration", self.path("samples"), "-o", self.path("quantized.onnx"), "--for", "any",
                           "--force", "--json", "--activations", "uint8", **environment)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def compare(self, *arguments, **environment):
        done = self.sinter("compare", *arguments, "--json", **environment)
        self.assertIn(done.returncode, (DONE, WRONG), done.stderr)
        return done.returncode, json.loads(done.stdout)

    def outputs(self, model, sample):
        done = self.sinter("run", self.path(model), "--input", self.path(sample), "--output-dir", self.path("out"), "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return floats_of(self.path("out/y.npy"))

    def test_compare(self):
        self.quantize()
        code, report = self.compare(self.path("quantized.onnx"))
        self.assertEqual(code, DONE, report)
        self.assertEqual(len(report["sizes"]), 3)
        for each in report["sizes"]:
            self.assertEqual(set(each["sizes"]), {"N", "W"})
            self.assertTrue(each["agree"])
        code, report = self.compare(self.path("quantized.onnx"), **BORDER)
        self.assertEqual(code, WRONG)
        self.assertFalse(report["sizes"][-1]["agree"])
        # It is the dynamic program that is wrong.
        self.assertEqual(self.compare(self.path("quantized.onnx"), "--static", **BORDER)[0], DONE)

    def test_compare_at_given_sizes(self):
        self.quantize()
        model, shape = self.path("quantized.onnx"), ["--shape", "x:2x4x9"]
        code, report = self.compare(model, *shape)
        self.assertEqual((code, report["sizes"]), (DONE, []))
        self.assertEqual(report["outputs"][0]["type"], "2x6x9xf32")
        self.assertEqual(self.compare(model, *shape, **BORDER)[0], WRONG)
        self.assertEqual(self.compare(model, "--input", self.path("samples/0.npy"), **BORDER)[0], WRONG)

    def test_sizes_that_do_not_fit(self):
        """Both sides refuse them, unless guards are dropped."""
        nodes = [onnx.node("MatMul", ["x", "z"], ["y"], "product")]
        model = self.write("product.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", "K"]), onnx.value_info("z", ["L", 3])],
                                                                 [onnx.value_info("y", ["N", 3])])))
        code, report = self.compare(model)
        self.assertEqual(code, DONE, report)
        for each in report["sizes"]:
            self.assertEqual(each["sizes"]["K"], each["sizes"]["L"])
        shapes = ["compare", model, "--shape", "x:2x5", "--shape", "z:4x3"]
        self.expect_error(USAGE, *shapes)
        self.assertEqual(self.sinter(*shapes, **GUARD).returncode, WRONG)
        inputs = ["run", model, "--verify-numerics", "--no-cache"]
        for name, shape in (("x", [2, 5]), ("z", [4, 3])):
            inputs += ["--input", f"{name}=" + self.write(name + ".npy", npy(shape, models.draw(math.prod(shape), 1)))]
        self.expect_error(USAGE, *inputs)
        self.assertEqual(self.sinter(*inputs, **GUARD).returncode, WRONG)

    def test_compare_two_models(self):
        self.quantize()
        other = self.path("quantized.onnx")
        self.write("same.onnx", pathlib.Path(other).read_bytes())
        backends = ["--backend", "interpreter,cpu"]
        self.assertEqual(self.compare(other, self.path("same.onnx"), *backends)[0], DONE)
        self.assertEqual(self.compare(other, self.path("same.onnx"), *backends, **BORDER)[0], WRONG)
        # One of a known width takes others nowhere.
        self.write("fixed.onnx", convolutions(7))
        code, report = self.compare(self.path("float.onnx"), self.path("fixed.onnx"))
        self.assertEqual(code, DONE, report)
        self.assertEqual({each["sizes"]["W"] for each in report["sizes"]}, {7})

    def test_compare_passes(self):
        code, report = self.compare(self.path("float.onnx"), "--passes")
        self.assertEqual(code, DONE, report)
        self.assertEqual(len(report["sizes"]), 3)

    def test_verify_numerics(self):
        self.quantize()
        for how in ("", "=each"):
            arguments = ["run", self.path("quantized.onnx"), "--input", self.path("samples/0.npy"), "--verify-numerics" + how, "--no-cache"]
            done = self.sinter(*arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertRegex(done.stderr, "the program for all sizes: all agree with the interpreter at x 1x4x12xf32; x .*; x ")
            self.assertRegex(done.stderr, "simplification: all agree: .* at x 1x4x12; x .*; x ")
            done = self.sinter(*arguments, **BORDER)
            self.assertEqual(done.returncode, WRONG, done.stderr)

    def test_quantize(self):
        report = self.quantize()
        self.assertGreater(report["snr_db"], LEAST_DECIBELS)
        self.assertEqual(report["static_because"], "")
        self.assertEqual(len(report["sizes"]), 3)
        for each in report["sizes"]:
            self.assertGreater(each["snr_db"], LEAST_DECIBELS)
        # Sample 4 is the one that is set aside.
        runs = decibels(self.outputs("float.onnx", "samples/4.npy"), self.outputs("quantized.onnx", "samples/4.npy"))
        self.assertAlmostEqual(report["snr_db"], runs, delta=0.5)
        broken = self.quantize(**BORDER)
        self.assertLess(broken["snr_db"], LEAST_DECIBELS)

    def test_test(self):
        self.quantize()
        os.makedirs(self.path("case/test_data_set_0"))
        os.rename(self.path("quantized.onnx"), self.path("case/model.onnx"))
        done = self.sinter("run", self.path("case/model.onnx"), "--backend", "interpreter", "--input", self.path("samples/0.npy"),
                           "--output-dir", self.path("expected"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.write("case/test_data_set_0/input_x.npy", pathlib.Path(self.path("samples/0.npy")).read_bytes())
        self.write("case/test_data_set_0/output_y.npy", pathlib.Path(self.path("expected/y.npy")).read_bytes())
        done = self.sinter("test", self.path("case"), "--json")
        self.assertEqual(done.returncode, DONE, done.stdout)
        notes = json.loads(done.stdout.splitlines()[0])["notes"]
        self.assertEqual(len([note for note in notes if note.startswith("checked at ")]), 2, notes)
        self.assertEqual(self.sinter("test", self.path("case"), **BORDER).returncode, WRONG)

    def test_zoo_script(self):
        if subprocess.run([sys.executable, "-c", "import numpy, onnx"], capture_output=True, check=False).returncode:
            self.skipTest("needs numpy and onnx")
        os.makedirs(self.path("zoo/model/test_data_set_0"))
        self.write("zoo/model/model.onnx", convolutions(width=12, batch=1))
        tensor = onnx.tensor("x", [1, 4, 12], onnx.floats(*models.draw(48, 1, 2)))
        self.write("zoo/model/test_data_set_0/input_0.pb", tensor)
        script = [sys.executable, ROOT / "test/zoo/dynamic_sizes.py", self.path("zoo"), "--sinter", SinterCommand.SINTER]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        done = subprocess.run([*script, "--no-float", "--break-for-test", "border"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, WRONG, done.stdout + done.stderr)
        self.assertIn("FAILED model", done.stdout)


if __name__ == "__main__":
    main()
