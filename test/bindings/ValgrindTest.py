#!/usr/bin/env python3
"""The examples in C and C++ under valgrind: no access to memory that is not theirs, and nothing lost.

    test/bindings/ValgrindTest.py BUILD [unittest options]

Exits with 77 where there is no valgrind.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
# glibc's dynamic linker reads whole words of strings.
SUPPRESSIONS = """{
   the dynamic linker
   Memcheck:Addr8
   ...
   obj:*/ld-linux*.so*
}
"""
MODEL = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = stablehlo.constant dense<[[1.5, -1.1], [2.3, 0.7], [-3.9, 4.1]]> : tensor<3x2xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
"""
LEAK = """#include <stdlib.h>
int main(void) {
  char *volatile lost = malloc(10);
  int seen = lost[10] != 0;
  lost = 0;
  return seen & 0;
}
"""


class ValgrindTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("suppressions", SUPPRESSIONS)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return path

    def build(self, source, *command):
        program = os.path.join(self.folder, "program")
        libraries = os.path.join(BUILD, "lib")
        subprocess.run([*command, "-g", source, "-I", os.path.join(SOURCE, "include"), "-L", libraries, "-lsinter", "-Wl,-rpath," + libraries, "-lpng", "-pthread",
                        "-o", program], check=True)
        return program

    def run_under(self, *command):
        """The exit code under valgrind, 99 if that finds something, and all that is printed."""
        done = subprocess.run(["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
                               "--suppressions=" + os.path.join(self.folder, "suppressions"), *command],
                              capture_output=True, text=True, errors="replace", timeout=1500, check=False, env={**os.environ, "HOME": self.folder})
        return done.returncode, done.stdout + done.stderr

    def test_the_example_in_c(self):
        program = self.build(os.path.join(SOURCE, "examples", "c", "classify.c"), "cc", "-std=c99")
        glyphs = os.path.join(SOURCE, "examples", "glyphs")
        code, said = self.run_under(program, os.path.join(glyphs, "glyphs.onnx"), os.path.join(glyphs, "images", "R.png"))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\Aclass 27: 0\.9\d+\n\Z")

    def test_the_example_in_cpp(self):
        program = self.build(os.path.join(SOURCE, "examples", "cpp", "pool.cpp"), "c++", "-std=c++20")
        files = [self.write(f"{i}.f32", struct.pack("<6f", *range(i, i + 6))) for i in range(4)]
        code, said = self.run_under(program, self.write("model.mlir", MODEL), "2", *files)
        self.assertEqual((code, said), (0, ""))
        self.assertTrue(all(os.path.getsize(file + ".out") == 16 for file in files))

    def test_that_valgrind_finds_what_is_wrong(self):
        code, said = self.run_under(self.build(self.write("leak.c", LEAK), "cc"))
        self.assertEqual(code, 99)
        self.assertIn("Invalid read of size 1", said)
        self.assertIn("definitely lost", said)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("valgrind"):
        print("there is no valgrind")
        sys.exit(77)
    unittest.main()
