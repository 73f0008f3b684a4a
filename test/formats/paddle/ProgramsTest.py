#!/usr/bin/env python3
"""Paddle programs as they are, and converted to ONNX and StableHLO: the same results as the files that came with them say, here and in ONNX Runtime.

The programs are those of ../shared/data/paddle beside the checkout, or in $SINTER_SHARED. Without them, or
without NumPy, it says so and ends with 77; without ONNX Runtime its part is skipped."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SHARED = os.environ.get("SINTER_SHARED", os.path.join(ROOT, "..", "shared"))
MODELS = os.path.join(SHARED, "data", "paddle")
sys.path.insert(0, os.path.join(ROOT, "test", "judge"))


def models():
    """Those that have parameters and expected results."""
    return sorted(os.path.dirname(path) for path in glob.glob(os.path.join(MODELS, "*", "test_data_set_0")))


def tensors(folder, kind):
    return {os.path.basename(path)[len(kind) + 1:-len(".npy")]: np.load(path)
            for path in glob.glob(os.path.join(folder, f"{kind}_*.npy"))}


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def sinter(self, *arguments):
        done = subprocess.run([SINTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def check(self, got, expected):
        """Within what the expected results' own description allows."""
        self.assertEqual(got.shape, expected.shape)
        limit = 1e-4 * np.abs(expected).max() + 1e-3 * np.abs(expected)
        self.assertTrue((np.abs(got - expected) <= limit).all(), f"differs by {np.abs(got - expected).max()}")

    def sets(self, model):
        for folder in sorted(glob.glob(os.path.join(model, "test_data_set_*"))):
            yield folder, tensors(folder, "input"), tensors(folder, "output")

    def test_as_they_are(self):
        for backend in ("cpu", "interpreter"):
            self.sinter("test", *models(), "--backend", backend, "--rtol", "1e-3", "--range-atol", "1e-4")

    def sizes(self, model):
        return re.search(r"^input +\S+ +f32 \[(.*)\]", self.sinter("inspect", model), re.M).group(1).split(", ")

    def norms(self, model, *options):
        return "batch_norm" in self.sinter("inspect", model, *options)

    def test_folded(self):
        """No batch norm is left, the results are the same at every size, and a second pass finds nothing to do."""
        for model in models():
            name = os.path.basename(model)
            with self.subTest(model=name):
                folded = os.path.join(self.folder.name, name + "_folded") + "/"
                self.sinter("optimize", model, "-o", folded)
                self.assertTrue(self.norms(model))
                self.assertFalse(self.norms(folded))
                for folder, _, _ in self.sets(model):
                    shutil.copytree(folder, os.path.join(folded, os.path.basename(folder)))
                self.sinter("test", folded, "--rtol", "1e-3", "--range-atol", "1e-4")

    def test_eras(self):
        """A program goes from either era to the other and back, and means the same; untouched it has the bytes that it had."""
        for program in sorted(glob.glob(os.path.join(MODELS, "*", "inference.json"))):
            name = os.path.basename(os.path.dirname(program))
            with self.subTest(model=name):
                same, older, folded = (os.path.join(self.folder.name, name + end) for end in ("/", ".pdmodel", "_folded.json"))
                self.sinter("convert", program, "--random-parameters", "-o", same)
                with open(program, "rb") as before, open(os.path.join(same, "inference.json"), "rb") as after:
                    self.assertEqual(before.read(), after.read())
                self.sinter("convert", same, "-o", older)
                self.sinter("optimize", same, "-o", folded)
                self.assertTrue(self.norms(same))
                self.assertFalse(self.norms(folded))
                # Whatever is open is of a size that the network halves five times.
                shape = "x".join(size if size.isdigit() else "1" if size == "x_0" else "64" for size in self.sizes(same))
                for other in (older, folded):
                    self.sinter("compare", same, other, f"--shape=x:{shape}")
        for model in models():
            name = os.path.basename(model)
            with self.subTest(model=name):
                newer = os.path.join(self.folder.name, name + ".json")
                self.sinter("convert", model, "-o", newer)
                _, inputs, _ = next(self.sets(model))
                shapes = [f"--shape={each}:{'x'.join(map(str, array.shape))}" for each, array in inputs.items()]
                self.sinter("compare", model, newer, *shapes)

    def test_onnx_in_onnx_runtime(self):
        if not os.path.isdir(os.path.join(ROOT, "bench", "node_modules")):
            self.skipTest("needs npm install in bench/")
        import OnnxRuntime
        for model in models():
            for number, (_, inputs, expected) in enumerate(self.sets(model)):
                name = os.path.basename(model)
                written = os.path.join(self.folder.name, f"{name}{number}.onnx")
                # Declared sizes are hints, and a file of ONNX has no such thing.
                shapes = [f"--shape={each}:{'x'.join(map(str, array.shape))}" for each, array in inputs.items()]
                self.sinter("convert", model, *shapes, "-o", written)
                task = OnnxRuntime.Task(written, inputs, os.path.join(self.folder.name, f"{name}{number}"))
                OnnxRuntime.run([task])
                self.assertIsNone(task.error)
                with self.subTest(model=name, set=number):
                    (got,), (want,) = task.outputs.values(), expected.values()
                    self.check(got, want)

    def test_open_sizes_in_onnx_runtime(self):
        if not os.path.isdir(os.path.join(ROOT, "bench", "node_modules")):
            self.skipTest("needs npm install in bench/")
        import OnnxRuntime
        for model in models():
            name = os.path.basename(model)
            written = os.path.join(self.folder.name, name + ".onnx")
            # Sizes in which the sets differ, whatever the program declares.
            shapes = {}
            for _, inputs, _ in self.sets(model):
                for each, array in inputs.items():
                    shapes.setdefault(each, []).append(array.shape)
            options = ["--shape=" + each + ":" + "x".join(str(sizes[0]) if len(set(sizes)) == 1 else "?" for sizes in zip(*given))
                       for each, given in shapes.items()]
            self.sinter("convert", model, *options, "-o", written)
            for number, (_, inputs, expected) in enumerate(self.sets(model)):
                (want,) = expected.values()
                task = OnnxRuntime.Task(written, inputs, os.path.join(self.folder.name, f"{name}{number}"))
                OnnxRuntime.run([task])
                self.assertIsNone(task.error)
                with self.subTest(model=name, set=number):
                    self.check(next(iter(task.outputs.values())), want)

    def test_stablehlo_here(self):
        for model in models():
            written = os.path.join(self.folder.name, os.path.basename(model) + ".mlir")
            for number, (folder, inputs, expected) in enumerate(self.sets(model)):
                shapes = [f"--shape={each}:{'x'.join(map(str, array.shape))}" for each, array in inputs.items()]
                self.sinter("convert", model, *shapes, "-o", written)
                files = [f"--input={path}" for path in glob.glob(os.path.join(folder, "input_*.npy"))]
                out = os.path.join(self.folder.name, f"{os.path.basename(model)}{number}")
                self.sinter("run", written, *files, "--output-dir", out)
                with self.subTest(model=os.path.basename(model), set=number):
                    (got,), (want,) = (np.load(path) for path in glob.glob(os.path.join(out, "*.npy"))), expected.values()
                    self.check(got, want)


if __name__ == "__main__":
    if not models():
        print(f"skipped: there are no programs in {MODELS}")
        sys.exit(SKIPPED)
    SINTER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
