#!/usr/bin/env python3
# Covers: engine CompilerLibrary
# Covers: engine/compiler Compile CompilerEntry Facts MlirCompiler ModelSource
"""The command refuses a compiler library that is not of its own build.

    test/driver/CompilerLibraryTest.py build/bin/sinter [unittest options]
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SINTER = LIBRARIES = ""
CONTRACT = re.compile(rb"\d+\.\d+\.\d+\+[0-9a-f]{12}(?=\0)")
MODEL = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"


class CompilerLibrary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for each in ("bin", "lib"):
            os.mkdir(os.path.join(self.folder, each))
        shutil.copy(SINTER, self.path("bin/sinter"))
        for runtime in glob.glob(os.path.join(LIBRARIES, "libsinter-runtime.so.*")):
            shutil.copy(runtime, self.path("lib"))
        with open(self.path("model.mlir"), "w") as file:
            file.write(MODEL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def library(self, change):
        with open(os.path.join(LIBRARIES, "libsinter-compiler.so"), "rb") as file:
            content = file.read()
        with open(self.path("lib/libsinter-compiler.so"), "wb") as file:
            file.write(change(content))

    def optimize(self):
        command = [self.path("bin/sinter"), "optimize", self.path("model.mlir"), "-o", self.path("out.mlir")]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def test_its_own_serves(self):
        self.library(lambda content: content)
        done = self.optimize()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("out.mlir")))

    def test_another_is_refused_with_both_versions(self):
        other = b"9.8.7+0123456789ab"
        mine = []

        def change(content):
            mine.extend(CONTRACT.findall(content))
            self.assertTrue(mine)
            return CONTRACT.sub(lambda found: other.ljust(len(found.group()), b"\0"), content)

        self.library(change)
        done = self.optimize()
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        for version in (other, mine[0]):
            self.assertIn(version.decode(), done.stderr)
        self.assertFalse(os.path.exists(self.path("out.mlir")))

    def test_one_that_does_not_say_is_refused(self):
        self.library(lambda content: content.replace(b"sinterCompilerContract\0", b"sinterCompilerUntracct\0"))
        done = self.optimize()
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)


if __name__ == "__main__":
    SINTER = sys.argv[1]
    LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(SINTER))), "lib")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
