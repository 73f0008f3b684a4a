#!/usr/bin/env python3
# Covers: formats/import QdqForm
# Covers: formats/paddle/write Quantized
"""Quantised tensors as programs: what is written is computed with the same integers, and what is read reaches integer kernels.

  QuantizedByValue.py --sinter build/bin/sinter

Programs of StableHLO's quantised types, of each kind of storage, scale and float, and the same by way of ONNX, become programs of both eras,
whose results are those of the first within a step of the scale. Programs as Paddle's tools make them are compiled.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle

SINTER = None
# A vector that is quantised and dequantised. By name: the element type, the step, whether the operators alone say it.
# A step is a power of two: nothing is rounded but what is quantised.
CODES = {
    "i8": ("i8:f32, 0.25", 0.25, True), "i8-shifted": ("i8:f32, 0.25:-7", 0.25, False), "u8": ("u8:f32, 0.25:130", 0.25, False),
    "u8-from-0": ("u8:f32, 0.25", 0.25, False), "i16": ("i16:f32, 0.0078125", 0.0078125, True), "u16": ("u16:f32, 0.0078125:32768", 0.0078125, False),
    "i4": ("i4:f32, 4.0", 4.0, True), "u4": ("u4:f32, 4.0:8", 4.0, False), "i32": ("i32:f32, 0.00390625", 0.00390625, False),
    "narrow": ("i8<-127:127>:f32, 0.25", 0.25, False), "channels": ("i8:f32:1, {0.25,0.5,1.0}", 1.0, True),
    "channels-shifted": ("u8:f32:1, {0.25:3,0.5:100,1.0:128}", 1.0, False), "last-channel": ("i8:f32:2, {0.25,0.5,1.0,2.0}", 2.0, False),
    "f64": ("i8:f64, 0.25", 0.25, True), "f16": ("i8:f16, 0.25", 0.25, True), "bf16": ("u8:bf16, 0.5:128", 0.5, False),
}
CHANNELS = 16
# What steps of integers are called: sums that become floats.
INTEGER_STEP = re.compile(r"convolution\+(add\+)?convert\+multiply|int8_product\+|^  \d+ .*convolution by direct$", re.M)


def real_type(code):
    return re.search(r":(f64|f32|f16|bf16)", CODES[code][0]).group(1)


def there_and_back(code, is_open):
    quantized, real = f"!quant.uniform<{CODES[code][0]}>", real_type(code)
    size = "?" if is_open else "2"
    return f"""func.func @main(%x: tensor<{size}x3x4x{real}>) -> (tensor<{size}x3x4x{real}>, tensor<4x3x{size}x{real}>) {{
  %0 = stablehlo.uniform_quantize %x : (tensor<{size}x3x4x{real}>) -> tensor<{size}x3x4x{quantized}>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<{size}x3x4x{quantized}>) -> tensor<{size}x3x4x{real}>
  %2 = stablehlo.transpose %1, dims = [2, 1, 0] : (tensor<{size}x3x4x{real}>) -> tensor<4x3x{size}x{real}>
  return %1, %2 : tensor<{size}x3x4x{real}>, tensor<4x3x{size}x{real}>
}}
"""


def network(activations):
    """A product with weights and a bias, what moves its integers, and a sum; of type ACTIVATIONS."""
    values = [[(i * 7 + j * 3) % 15 - 7 for j in range(3)] for i in range(4)]
    a, w, s = f"!quant.uniform<{activations}>", "!quant.uniform<i8:f32:1, {0.5,0.25,0.5}>", "!quant.uniform<i32:f32:1, {0.125,0.0625,0.125}>"
    b = "!quant.uniform<i32:f32:0, {0.125,0.0625,0.125}>"
    return f"""func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {{
  %w = "stablehlo.constant"() {{value = dense<{values}> : tensor<4x3xi8>}} : () -> tensor<4x3x{w}>
  %b = "stablehlo.constant"() {{value = dense<[10, -20, 30]> : tensor<3xi32>}} : () -> tensor<3x{b}>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> tensor<2x4x{a}>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x4x{a}>, tensor<4x3x{w}>) -> tensor<2x3x{s}>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3x{b}>) -> tensor<2x3x{s}>
  %3 = stablehlo.add %1, %2 : tensor<2x3x{s}>
  %4 = stablehlo.uniform_quantize %3 : (tensor<2x3x{s}>) -> tensor<2x3x{a}>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<2x3x{a}>) -> tensor<3x2x{a}>
  %6 = stablehlo.add %5, %5 : tensor<3x2x{a}>
  %7 = stablehlo.uniform_dequantize %4 : (tensor<2x3x{a}>) -> tensor<2x3xf32>
  %8 = stablehlo.uniform_dequantize %6 : (tensor<3x2x{a}>) -> tensor<3x2xf32>
  return %7, %8 : tensor<2x3xf32>, tensor<3x2xf32>
}}
"""


def convolutions(kind, rounding=0):
    """Two convolutions as Paddle's tools write them: `linear` with quantize_linear, `trained` with operators that quantise and dequantise at once,
    `frozen` with whole numbers as floats and what dequantises behind the products."""
    draw = random.Random(3)
    program, last, size = paddle.Program(), "x", [1, CHANNELS, 12, 12]
    program.input("x", size)

    def single(name, values, element=paddle.FP32):
        program.parameter(name, [len(values)], values, element)

    for i, scale in enumerate((1.0, 4.0)):
        single(f"s{i}", [scale])
        single(f"bias{i}", [draw.uniform(-1, 1) for _ in range(CHANNELS)])
        whole = [draw.randint(-127, 127) for _ in range(CHANNELS * CHANNELS * 9)]
        filters = [CHANNELS, CHANNELS, 3, 3]
        for name in ("q", "a", "c", "e", "d", "r"):
            program.variable(f"{name}{i}", size)
        program.variable(f"w{i}", filters)
        for name in ("as", "ws"):
            program.variable(f"{name}{i}", [1 if name == "as" else CHANNELS])
        single(f"ks{i}", [draw.uniform(0.1, 0.3) for _ in range(CHANNELS)])
        activation, weight, sums = f"a{i}", f"w{i}", f"c{i}"
        if kind == "linear":
            program.parameter(f"k{i}", filters, whole, paddle.INT8)
            single(f"z{i}", [0.0])
            single(f"kz{i}", [0.0] * CHANNELS)
            each = {"bit_length": 8, "round_type": rounding, "is_test": True}
            program.op("quantize_linear", {"X": last, "Scale": f"s{i}", "ZeroPoint": f"z{i}"}, {"Y": f"q{i}"}, quant_axis=-1, **each)
            program.op("dequantize_linear", {"X": f"q{i}", "Scale": f"s{i}", "ZeroPoint": f"z{i}"}, {"Y": activation}, quant_axis=-1, **each)
            program.op("dequantize_linear", {"X": f"k{i}", "Scale": f"ks{i}", "ZeroPoint": f"kz{i}"}, {"Y": weight}, quant_axis=0, **each)
        elif kind == "trained":
            program.parameter(f"k{i}", filters, [each / 500 for each in whole])
            program.op("fake_quantize_dequantize_moving_average_abs_max", {"X": last, "InScale": f"s{i}"}, {"Out": activation, "OutScale": f"as{i}"}, is_test=True,
                       bit_length=8)
            program.op("fake_channel_wise_quantize_dequantize_abs_max", {"X": f"k{i}"}, {"Out": weight, "OutScale": f"ws{i}"}, bit_length=8, quant_axis=0)
        else:
            program.parameter(f"k{i}", filters, whole)
            weight = f"k{i}"
            program.op("fake_quantize_moving_average_abs_max", {"X": last, "InScale": f"s{i}"}, {"Out": activation, "OutScale": f"as{i}"}, is_test=True, bit_length=8)
        program.op("conv2d", {"Input": activation, "Filter": weight}, {"Output": sums}, strides=paddle.ints(1, 1), paddings=paddle.ints(1, 1),
                   dilations=paddle.ints(1, 1), groups=1)
        if kind == "frozen":
            program.op("fake_channel_wise_dequantize_max_abs", {"X": sums, "Scales": [f"ks{i}", f"s{i}"]}, {"Out": f"e{i}"}, quant_bits=paddle.ints(8, 8))
            sums = f"e{i}"
        program.op("elementwise_add", {"X": sums, "Y": f"bias{i}"}, {"Out": f"d{i}"}, axis=1)
        program.op("relu", {"X": f"d{i}"}, {"Out": f"r{i}"})
        last = f"r{i}"
    program.output(last)
    return program


def has_vnni():
    with open("/proc/cpuinfo") as file:
        return "vnni" in file.read()


class QuantizedByValue(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def sinter(self, *arguments, code=0):
        done = subprocess.run([SINTER, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def results(self, model, given, backend):
        """The numbers of all outputs, in their order."""
        folder = self.path("results")
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        self.sinter("run", model, *given, "--backend", backend, "--no-cache", "--output-dir", folder)
        numbers = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                numbers.append(paddle.read_npy(file.read())[1])
        return numbers

    def check(self, label, wanted, model, given, step):
        for backend in ("interpreter", "cpu"):
            got = self.results(model, given, backend)
            self.assertEqual(len(got), len(wanted))
            for ours, theirs in zip(got, wanted):
                self.assertEqual(len(ours), len(theirs), label)
                off = max(abs(a - b) for a, b in zip(ours, theirs))
                self.assertLessEqual(off, step * 1.0001, f"{label} on {backend}")

    def written(self, source, name):
        """The program's text, and where it is; a folder each, since parameters have one name."""
        os.makedirs(self.path(name), exist_ok=True)
        target = os.path.join(self.path(name), "model." + name.rsplit(".", 1)[1])
        self.sinter("convert", source, "-o", target)
        with open(target, "rb") as file:
            return file.read(), target

    def test_each_code(self):
        # In the middle between two numbers, too, and outside of all ranges.
        values = [-400.0, -32.125, -31.75, -1.625, -0.5, -0.375, -0.25, -0.125, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 1.5, 2.5, 3.25, 7.75, 8.5, 24.0, 31.875, 32.0, 63.5, 400.0]
        for code, (_, step, is_plain) in CODES.items():
            element = {"f64": paddle.FP64, "f16": paddle.FP16}.get(real_type(code), paddle.FP32)
            if real_type(code) == "bf16":
                continue  # NumPy has no such type; below.
            paddle.write(self.path("x.npy"), paddle.npy([2, 3, 4], values, element))
            for is_open in (False, True):
                source = self.path(f"{code}.mlir")
                paddle.write(source, there_and_back(code, is_open).encode())
                given = ["--input", self.path("x.npy")]
                wanted = self.results(source, given, "interpreter")
                for form in ("pdmodel", "json"):
                    label = f"{code}, {'unknown' if is_open else 'known'} sizes, {form}"
                    program, target = self.written(source, f"{code}{is_open}.{form}")
                    # Only what rounds before it adds may be another by a step.
                    self.check(label, wanted, target, given, 0 if is_plain else step)
                    self.assertEqual(b"dequantize_linear" in program, is_plain, label)
                    again, _ = self.written(target, f"{code}{is_open}.again.{form}")
                    self.assertEqual(program, again, label)

    def test_half_precision_in_programs(self):
        source = self.path("bf16.mlir")
        paddle.write(source, there_and_back("bf16", False).encode())
        for form in ("pdmodel", "json"):
            _, target = self.written(source, "bf16." + form)
            # By a step of 0.5 where a quotient lies in the middle.
            self.sinter("compare", source, target, "--outputs-only", "--atol", "0.5")

    def test_networks(self):
        paddle.write(self.path("x.npy"), paddle.npy([2, 4], [0.3, -1.7, 2.2, -0.9, 5.0, 0.0, -3.1, 1.4]))
        given = ["--input", self.path("x.npy")]
        for activations in ("i8:f32, 0.25", "i8:f32, 0.25:5"):
            source, onnx = self.path("net.mlir"), self.path("net.onnx")
            paddle.write(source, network(activations).encode())
            wanted = self.results(source, given, "interpreter")
            self.sinter("convert", source, "-o", onnx)
            # Twice a step, what is added at the end.
            for by, model in (("types", source), ("QDQ", onnx)):
                for form in ("pdmodel", "json"):
                    label = f"{activations}, from {by} to {form}"
                    program, target = self.written(model, f"net.{form}")
                    self.check(label, wanted, target, given, 0.5)
                    self.assertIn(b"quantize_linear", program, label)
            # And to ONNX again, as nodes that quantise.
            self.sinter("convert", target, "-o", self.path("back.onnx"))
            with open(self.path("back.onnx"), "rb") as file:
                self.assertIn(b"QuantizeLinear", file.read())
            self.check(f"{activations}, back to ONNX", wanted, self.path("back.onnx"), given, 0.5)

    def steps(self, model):
        return [line for line in self.sinter("inspect", "--steps", model).splitlines() if re.match(r"  \d", line)]

    def test_integer_kernels(self):
        for kind, rounding in (("linear", 0), ("linear", 1), ("trained", 1), ("frozen", 1)):
            with self.subTest(kind=kind, rounding=rounding):
                model = convolutions(kind, rounding).save(self.path(f"{kind}{rounding}"))
                steps = "\n".join(self.steps(model))
                self.assertGreaterEqual(len(INTEGER_STEP.findall(steps)), 2, steps)
                # Pairs of 16 bits, which machines without VNNI multiply, are multiplied so by Winograd's method, too.
                if has_vnni():
                    self.assertNotIn("winograd", steps)
                # Some numbers are another by a step in the middle.
                self.sinter("compare", model, "--outputs-only", "--range-atol", "0.01")

    def test_quantize_command(self):
        """What `sinter quantize` makes of a program is one, of Paddle's own operators, and near the float program."""
        source = convolutions_of_floats().save(self.path("float"))
        for target in ("bytes/", "bytes.pdmodel", "bytes.json"):
            with self.subTest(target=target):
                os.makedirs(self.path("out_" + target.strip("/")), exist_ok=True)
                output = os.path.join(self.path("out_" + target.strip("/")), target)
                self.sinter("quantize", source, "--calibration", "random", "--for", "any", "-o", output)
                program = output if not output.endswith("/") else output + "inference.pdmodel"
                with open(program, "rb") as file:
                    text = file.read()
                self.assertIn(b"dequantize_linear", text)
                # No zero points: nothing has to be spelt out.
                self.assertNotIn(b"@shift", text)
                steps = "\n".join(self.steps(output))
                self.assertGreaterEqual(len(INTEGER_STEP.findall(steps)), 2, steps)


def convolutions_of_floats():
    draw = random.Random(5)
    program, last, size = paddle.Program(), "x", [1, CHANNELS, 12, 12]
    program.input("x", size)
    for i in range(2):
        program.parameter(f"w{i}", [CHANNELS, CHANNELS, 3, 3], [draw.uniform(-0.2, 0.2) for _ in range(CHANNELS * CHANNELS * 9)])
        for name in ("c", "r"):
            program.variable(f"{name}{i}", size)
        program.op("conv2d", {"Input": last, "Filter": f"w{i}"}, {"Output": f"c{i}"}, strides=paddle.ints(1, 1), paddings=paddle.ints(1, 1),
                   dilations=paddle.ints(1, 1), groups=1)
        program.op("relu", {"X": f"c{i}"}, {"Out": f"r{i}"})
        last = f"r{i}"
    program.output(last)
    return program


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sinter", required=True)
    options, rest = parser.parse_known_args()
    SINTER = os.path.abspath(options.sinter)
    unittest.main(argv=[sys.argv[0]] + rest)
