"""What the tests of the command share: running it in a folder of its own, its exit codes, its errors of one line.

Each file NameTest.py here is started as

    test/driver/NameTest.py build/bin/sinter [unittest options]
"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import JsonSchemas
import OnnxBytes as onnx

SINTER = ""
DONE, WRONG, USAGE, INVALID, UNSUPPORTED, SYSTEM = range(6)
# Broken models must be refused within seconds, also under the sanitizers.
TIMEOUT_S = 60


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self.path(name)

    def sinter(self, *arguments, **environment):
        """Runs sinter, with these variables in its environment. What it prints as JSON must be as its schema says."""
        done = subprocess.run([SINTER, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace", env={**os.environ, **environment})
        if done.returncode in (DONE, WRONG):
            JsonSchemas.check_output(arguments, done.stdout)
        return done

    def expect_error(self, code, *arguments, mentions=()):
        """Runs sinter; it must fail with CODE and say so in one line with all of MENTIONS. Returns the line."""
        done = self.sinter(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        self.assertEqual(len(lines), 1, f"{arguments}: {done.stderr}")
        self.assertTrue(lines[0].startswith("error: "), lines[0])
        for mention in mentions:
            self.assertIn(mention, lines[0])
        return lines[0]

    def good_model(self, name="good.onnx", shape=(2, 3)):
        return self.write(name, onnx.simple([onnx.node("Relu", ["x"], ["y"], "relu")], shape))


def npy(shape, numbers, descr="<f4"):
    """The bytes of a .npy file of f32, or of i64 ("<i8")."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            + struct.pack(f"<{len(numbers)}{ {'<f4': 'f', '<i8': 'q'}[descr] }", *numbers))


def main():
    """Runs the tests of the file that calls this, with the program that its first argument names."""
    global SINTER
    SINTER = os.path.abspath(sys.argv.pop(1))
    unittest.main()


def closed(shape):
    """StableHLO that gives %y of %x of a SHAPE ("?x3"), by an operation that keeps no size open: a window of all of %x and a 1,
    over those with zeros between them."""
    tensor = f"tensor<{shape}xf32>"
    lines = ["%size0 = stablehlo.constant dense<1> : tensor<i32>"]
    for i in range(len(shape.split("x"))):
        lines += [f"%extent{i} = stablehlo.get_dimension_size %x, dim = {i} : ({tensor}) -> tensor<i32>",
                  f"%size{i + 1} = stablehlo.multiply %size{i}, %extent{i} : tensor<i32>"]
    lines += [f"%size = stablehlo.reshape %size{len(shape.split('x'))} : (tensor<i32>) -> tensor<1xi32>",
              "%units = stablehlo.constant dense<1> : tensor<2xi32>",
              "%sizes = stablehlo.concatenate %units, %size, dim = 0 : (tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>",
              f"%elements = stablehlo.dynamic_reshape %x, %sizes : ({tensor}, tensor<3xi32>) -> tensor<1x1x?xf32>",
              "%one = stablehlo.constant dense<1.0> : tensor<1x1x1xf32>",
              "%row = stablehlo.concatenate %elements, %one, dim = 2 : (tensor<1x1x?xf32>, tensor<1x1x1xf32>) -> tensor<1x1x?xf32>",
              "%squares = stablehlo.convolution(%row, %row) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2], rhs_dilate = [2]} "
              "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x?xf32>, tensor<1x1x?xf32>) -> tensor<1x1x1xf32>",
              "%sum = stablehlo.reshape %squares : (tensor<1x1x1xf32>) -> tensor<f32>",
              f"%all = nn.broadcast_like %sum, %x : (tensor<f32>, {tensor}) -> {tensor}",
              f"%y = stablehlo.multiply %x, %all : {tensor}"]
    return "".join(f"  {line}\n" for line in lines)
