#!/usr/bin/env python3
"""What `cmake --install` puts in a folder, moved elsewhere, without anything of the build folder.

    test/bindings/InstalledTest.py BUILD [unittest options]
"""
import filecmp
import glob
import importlib.util
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(SOURCE, "test", "driver"))
import OnnxBytes as onnx  # noqa: E402
from SinterCommand import npy  # noqa: E402

BUILD = ""
FOLDER = tempfile.TemporaryDirectory()
PREFIX = os.path.join(FOLDER.name, "moved")
DENSE = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = stablehlo.constant dense<[[1.5, -1.1], [2.3, 0.7], [-3.9, 4.1]]> : tensor<3x2xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
"""
HEADER = """#include <sinter.{0}>
int main(void) {{ return sinter_api_version() != SINTER_API_VERSION; }}
"""


def setUpModule():
    prefix = os.path.join(FOLDER.name, "prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    os.rename(prefix, PREFIX)


def tearDownModule():
    FOLDER.cleanup()


def installed(*parts):
    return os.path.join(PREFIX, *parts)


class InstalledTest(unittest.TestCase):
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

    def run_in(self, *command, **environment):
        """Runs COMMAND, which must end well, and gives what it prints."""
        base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.folder, "PKG_CONFIG_PATH": installed("lib", "pkgconfig")}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, cwd=self.folder, env={**base, **environment})
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def flags(self):
        """What pkg-config says, and where a program finds the library when it runs."""
        return [*self.run_in("pkg-config", "--cflags", "--libs", "sinter").split(), "-Wl,-rpath," + installed("lib")]

    def test_the_command(self):
        self.write("dense.mlir", DENSE)
        self.assertIn("[2, 2]", self.run_in(installed("bin", "sinter"), "run", "dense.mlir", "--input", "random:7", "--no-cache"))
        for each in ("man/man1/sinter.1", "man/man1/sinter-quantize.1", "bash-completion/completions/sinter", "zsh/vendor-completions/_sinter"):
            self.assertTrue(os.path.isfile(installed("share", *each.split("/"))), each)
        if shutil.which("man"):
            self.assertIn("SYNOPSIS", self.run_in("man", installed("share", "man", "man1", "sinter-run.1")))

    def test_the_python_package(self):
        self.write("dense.mlir", DENSE)
        text = """
import array, sinter
tensor = sinter.compile(sinter.load("dense.mlir", no_cache=True))._handle.run([memoryview(array.array("f", [1] * 6)).cast("B").cast("f", (2, 3))])
print(sinter.__file__)
print(sinter.__version__)
print(tensor[0].shape)
"""
        file, version, shape = self.run_in(sys.executable, "-c", text, PYTHONPATH=installed("lib", "python3", "dist-packages")).splitlines()
        self.assertEqual(os.path.realpath(file), os.path.realpath(installed("lib", "python3", "dist-packages", "sinter", "__init__.py")))
        self.assertEqual((version, shape), (self.run_in("pkg-config", "--modversion", "sinter").strip(), "(2, 2)"))

    def test_the_headers_compile_alone(self):
        for name, compiler, *options in [("h", "cc", "-std=c99", "-x", "c"), ("h", "c++", "-std=c++20", "-x", "c++"), ("hpp", "c++", "-std=c++20", "-x", "c++")]:
            with self.subTest(f"{compiler} sinter.{name}"):
                source = self.write("program", HEADER.format(name))
                self.run_in(compiler, *options, "-pedantic", "-Wall", "-Wextra", "-Werror", source, "-x", "none", *self.flags(), "-o", self.path("program.out"))
                self.run_in(self.path("program.out"))

    def test_nothing_names_the_build_folder(self):
        for folder, _, files in os.walk(PREFIX):
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    content = file.read()
                if content.startswith(b"\x7fELF"):
                    for each in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", self.run_in("readelf", "-d", path)):
                        for place in each.split(":"):
                            self.assertTrue(place.startswith(("$ORIGIN", "/usr/")), (path, place))
                else:
                    self.assertNotIn(BUILD.encode(), content, path)

    def test_the_licence(self):
        with open(os.path.join(SOURCE, "LICENSE")) as ours, open(installed("share", "doc", "libsinter0", "copyright")) as theirs:
            self.assertEqual(theirs.read(), ours.read())

    def built(self, example, name, *command, libraries=()):
        """The program of an example: by CMake, and by COMMAND and pkg-config."""
        source = shutil.copytree(os.path.join(SOURCE, "examples", example), self.path(example))
        build = self.path(f"{example}-build")
        self.run_in("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_PREFIX_PATH=" + PREFIX)
        self.run_in("cmake", "--build", build)
        file, = glob.glob(os.path.join(source, name + ".c*"))
        self.run_in(*command, file, *self.flags(), *libraries, "-o", self.path(name))
        return os.path.join(build, name), self.path(name)

    def command_output(self, model, given):
        """The elements of the only output of MODEL, as the command says."""
        self.run_in(installed("bin", "sinter"), "run", model, "--input", given, "--threads", "1", "--cache-dir", self.path("kept"), "--output-dir", self.path("results"))
        file, = glob.glob(os.path.join(self.path("results"), "*.npy"))
        with open(file, "rb") as opened:
            content = opened.read()
        return content[10 + int.from_bytes(content[8:10], "little"):]

    def test_the_example_in_c(self):
        png = self.run_in("pkg-config", "--cflags", "--libs", "libpng").split()
        glyphs = os.path.join(SOURCE, "examples", "glyphs")
        model, image = os.path.join(glyphs, "glyphs.onnx"), os.path.join(glyphs, "images", "R.png")
        raw = self.command_output(model, image)
        scores = struct.unpack(f"<{len(raw) // 4}f", raw)
        best = scores.index(max(scores))
        with open(os.path.join(glyphs, "labels.txt")) as file:
            self.assertEqual(file.read().splitlines()[best], "R")
        for program in self.built("c", "classify", "cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", libraries=png):
            # Nine digits tell every float from its neighbours.
            self.assertEqual(self.run_in(program, model, image), f"class {best}: {scores[best]:.9g}\n")

    def test_the_example_in_cpp(self):
        model = self.write("dense.mlir", DENSE)
        draw = random.Random(5)
        inputs = [[draw.uniform(-1, 1) for _ in range(6)] for _ in range(8)]
        files = [self.write(f"{i}.f32", struct.pack("<6f", *each)) for i, each in enumerate(inputs)]
        expected = [self.command_output(model, self.write("x.npy", npy([2, 3], each))) for each in inputs]
        self.assertEqual(len(set(expected)), len(inputs))
        for program in self.built("cpp", "pool", "c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread"):
            self.run_in(program, model, "3", *files)
            for file, each in zip(files, expected):
                with open(file + ".out", "rb") as opened:
                    self.assertEqual(opened.read(), each)
                os.remove(file + ".out")

    def workflow_of_the_command(self, model, folder):
        """What the examples called "workflow" write, by the command."""
        batches = []
        for index in range(10):
            state, pixels = index + 1, []
            for _ in range(8 * 32 * 32):
                state = (state * 1664525 + 1013904223) % 2**32
                pixels.append((state >> 8) / 2**24)
            batches.append((pixels, [(i + index) % 36 for i in range(8)]))
        os.mkdir(self.path("samples"))
        for index, (pixels, _) in enumerate(batches[:4]):
            self.write(f"samples/{index}.npy", npy([8, 1, 32, 32], pixels))
        with zipfile.ZipFile(self.path("train.npz"), "w") as archive:
            archive.writestr("image.npy", npy([80, 1, 32, 32], [each for pixels, _ in batches for each in pixels]))
            archive.writestr("target.npy", npy([80], [each for _, classes in batches for each in classes], "<i8"))
        sinter = installed("bin", "sinter")
        self.run_in(sinter, "optimize", model, "-o", os.path.join(folder, "simple.onnx"))
        self.run_in(sinter, "quantize", model, "--calibration", "samples", "-o", os.path.join(folder, "int8.onnx"))
        self.run_in(sinter, "train", model, "--data", "train.npz", "--batch", "8", "--epochs", "1", "--no-shuffle", "--loss", "cross-entropy",
                    "--optimizer", "adamw", "--lr", "1e-3", "-o", os.path.join(folder, "trained.onnx"))

    @staticmethod
    def int8_without_metadata(folder):
        with open(os.path.join(folder, "int8.onnx"), "rb") as file:
            return onnx.without_metadata(file.read())

    def test_the_workflow_writes_what_the_command_does(self):
        model = os.path.join(SOURCE, "examples", "glyphs", "glyphs.onnx")
        expected = self.path("expected")
        os.mkdir(expected)
        self.workflow_of_the_command(model, expected)
        programs = {"c": [self.built("c", "workflow", "cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")[0]],
                    "cpp": [self.built("cpp", "workflow", "c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread")[0]]}
        if importlib.util.find_spec("numpy"):
            programs["python"] = [sys.executable, os.path.join(SOURCE, "examples", "python", "workflow.py")]
        printed = set()
        for language, program in programs.items():
            with self.subTest(language):
                os.mkdir(self.path(language + "-made"))
                printed.add(self.run_in(*program, model, self.path(language + "-made"), PYTHONPATH=installed("lib", "python3", "dist-packages")))
                same, _, _ = filecmp.cmpfiles(expected, self.path(language + "-made"), ["simple.onnx", "trained.onnx"], shallow=False)
                self.assertEqual(same, ["simple.onnx", "trained.onnx"])
                # Its metadata name the folder of the samples, which a callback has not.
                self.assertEqual(*(self.int8_without_metadata(folder) for folder in (expected, self.path(language + "-made"))))
        self.assertEqual(len(printed), 1)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
