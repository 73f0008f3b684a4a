#!/usr/bin/env python3
"""The wheel of scripts/wheel.sh, installed without the network into an environment of its own.

    test/bindings/python/WheelTest.py BUILD
"""
import base64
import csv
import glob
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

PROGRAM = """
import array, os, sinter
assert sinter.__file__.startswith(os.environ["HOME"]), sinter.__file__
with open("/proc/self/maps") as maps:
    libraries = {line.split()[-1] for line in maps if "libsinter" in line}
assert libraries and all(each.startswith(os.environ["HOME"]) for each in libraries), libraries
model = sinter.load(b'''func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
''', name="model.mlir")
print(memoryview(sinter.compile(model)(array.array("f", [1, 2.5, -3]))).tolist())
model.optimize().save("small.onnx")
print(sinter.load("small.onnx").inputs[0].name)
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = cls.folder.name
        cls.wheel = cls.make("first")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def make(cls, name):
        folder = os.path.join(cls.home, name)
        os.mkdir(folder)
        done = subprocess.run([os.path.join(SOURCE, "scripts", "wheel.sh"), BUILD, folder], check=True, capture_output=True, text=True)
        path = done.stdout.splitlines()[-1]
        assert os.listdir(folder) == [os.path.basename(path)]
        return path

    def run_in(self, *command):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_CACHE_HOME": os.path.join(self.home, "cache")}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.home, env=environment)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def test_the_record_is_true(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            self.assertIsNone(wheel.testzip())
            [record] = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
            rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
            self.assertEqual(sorted(rows), sorted(wheel.namelist()))
            for name, (digest, size) in rows.items():
                if name != record:
                    data = wheel.read(name)
                    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, int(size)), (f"sha256={expected}", len(data)), name)
            for name in ("sinter/__init__.py", "sinter/__init__.pyi", "sinter/py.typed", "sinter/_sinter.abi3.so",
                         "sinter/lib/libsinter.so.0", "sinter/lib/libsinter-compiler.so", "sinter/onnxruntime/capi/__init__.py"):
                self.assertIn(name, rows)

    def test_the_same_build_makes_the_same_bytes(self):
        with open(self.wheel, "rb") as first, open(self.make("second"), "rb") as second:
            self.assertEqual(hashlib.sha256(first.read()).digest(), hashlib.sha256(second.read()).digest())

    def test_it_installs_and_runs(self):
        python = os.path.join(self.home, "environment", "bin", "python")
        made = subprocess.run([sys.executable, "-m", "venv", os.path.join(self.home, "environment")], capture_output=True, text=True)
        if made.returncode:
            self.skipTest(f"there is no venv: {made.stdout.strip().splitlines()[:1]}")
        self.run_in(python, "-m", "pip", "install", "--no-index", "--quiet", self.wheel)
        self.run_in(python, "-m", "pip", "check")
        self.assertEqual(self.run_in(python, "-c", PROGRAM), "[2.0, 5.0, -6.0]\narg0\n")
        self.run_in(python, "-m", "pip", "uninstall", "--yes", "--quiet", "sinter")
        self.assertEqual(glob.glob(os.path.join(self.home, "environment", "lib", "*", "site-packages", "sinter*")), [])


if __name__ == "__main__":
    unittest.main()
