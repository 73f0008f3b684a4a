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
        """Runs sinter, with these variables in its environment."""
        return subprocess.run([SINTER, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace", env={**os.environ, **environment})

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


def npy(shape, numbers):
    """The bytes of a .npy file of f32."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            + struct.pack(f"<{len(numbers)}f", *numbers))


def main():
    """Runs the tests of the file that calls this, with the program that its first argument names."""
    global SINTER
    SINTER = os.path.abspath(sys.argv.pop(1))
    unittest.main()


def chosen(shape):
    """StableHLO that gives %y of %x of a SHAPE ("?x3"), by an operation that keeps no size open."""
    tensor = f"tensor<{shape}xf32>"
    window = ", ".join("1" for _ in shape.split("x"))
    return f"""  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.select_and_scatter"(%x, %x, %v) <{{window_dimensions = array<i64: {window}>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) : ({tensor}, {tensor}, tensor<f32>) -> {tensor}
"""
