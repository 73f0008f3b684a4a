#!/usr/bin/env python3
"""Paddle programs that are written: untouched ones byte for byte, folded ones by value, and what the InferenceTranspiler of old did wrong, a test each."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import Arrays
import PaddleBytes as paddle

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
UNSUPPORTED, USAGE = 4, 2


def norm(program, name, x, y, channels, epsilon=1e-5, **attributes):
    """A batch norm of statistics of its own."""
    for slot, low, high in [("scale", 0.5, 2), ("bias", -1, 1), ("mean", -1, 1), ("variance", 0.5, 2)]:
        program.parameter(f"{name}.{slot}", [channels], Arrays.drawn(channels, seed=len(slot) + len(name), low=low, high=high).values)
    settings = dict(epsilon=epsilon, is_test=True, use_global_stats=False, trainable_statistics=False, data_layout="NCHW", momentum=0.9)
    settings.update(attributes)
    program.op("batch_norm", {"X": x, "Scale": f"{name}.scale", "Bias": f"{name}.bias", "Mean": f"{name}.mean", "Variance": f"{name}.variance"},
               {"Y": y, "MeanOut": f"{name}.mean", "VarianceOut": f"{name}.variance", "SavedMean": f"{name}.tmp_0", "SavedVariance": f"{name}.tmp_1"}, **settings)


def conv(program, x, y, dims, weight, type_name="conv2d", **attributes):
    if weight not in program.parameters:
        program.parameter(weight, dims, Arrays.drawn(*dims, seed=7).values)
    settings = dict(strides=paddle.ints(1, 1), paddings=paddle.ints(0, 0), dilations=paddle.ints(1, 1), groups=1, padding_algorithm="EXPLICIT", data_format="NCHW")
    settings.update(attributes)
    program.op(type_name, {"Input": x, "Filter": weight}, {"Output": y}, **settings)


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


class WrittenPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def sinter(self, *arguments, code=0):
        done = subprocess.run([SINTER, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done

    def content(self, folder):
        return {name: read(folder, name) for name in ("inference.pdmodel", "inference.pdiparams")}

    def results(self, model, x, name):
        paddle.write(self.path("x.npy"), paddle.npy(x.dims, x.values))
        out = self.path(name)
        self.sinter("run", model, "--input", f"x={self.path('x.npy')}", "--backend", "interpreter", "--no-cache", "--output-dir", out)
        return {each: paddle.read_npy(read(out, each))[:2] for each in sorted(os.listdir(out))}

    def check(self, program, shape, norms=0, fused=None):
        """Untouched bytes; folding leaves the original alone, gives the same within 1e-5 and leaves `norms` batch norms."""
        source = program.save(self.path("source"))
        before = self.content(source)
        self.sinter("convert", source, "-o", self.path("same/"))
        self.assertEqual(self.content(self.path("same")), before)
        self.sinter("optimize", source, "-o", self.path("folded/"))
        self.assertEqual(self.content(source), before)
        folded = self.content(self.path("folded"))
        self.sinter("convert", self.path("folded"), "-o", self.path("again/"))
        self.assertEqual(self.content(self.path("again")), folded)
        self.assertEqual(folded["inference.pdmodel"].count(b"\x1a\x0abatch_norm"), norms)
        for name in fused or []:
            self.assertIn(name.encode() + b"_fuse_bn", folded["inference.pdmodel"])
        x = Arrays.drawn(*shape, seed=3)
        expected, got = self.results(source, x, "expected"), self.results(self.path("folded"), x, "got")
        self.assertEqual(expected.keys(), got.keys())
        for name, (dims, values) in expected.items():
            self.assertEqual(got[name][0], dims)
            for a, b in zip(values, got[name][1]):
                self.assertLessEqual(abs(a - b), 1e-5 * max(1, max(map(abs, values))), name)

    def program(self, shape=(2, 3, 5, 5)):
        program = paddle.Program()
        program.input("x", [-1, *shape[1:]])
        return program

    #===--- The ten defects -------------------------------------------------===#

    def test_operators_that_only_stand_side_by_side(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        norm(program, "n", "x", "b", 3)
        program.output("a")
        program.output("b")
        self.check(program, (2, 3, 5, 5), norms=1)

    def test_second_reader(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        norm(program, "n", "a", "b", 4)
        program.op("elementwise_add", {"X": "a", "Y": "b"}, {"Out": "y"}, axis=-1)
        program.output("y")
        self.check(program, (2, 3, 5, 5), norms=1)

    def test_epsilon(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 3, 3], "wa")
        norm(program, "n", "a", "y", 4, epsilon=0.1)
        program.output("y")
        self.check(program, (2, 3, 5, 5), fused=["wa"])

    def test_in_place_relu(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        program.parameter("ba", [4], [0.1, -0.2, 0.3, 0.4])
        program.op("elementwise_add", {"X": "a", "Y": "ba"}, {"Out": "b"}, axis=1)
        norm(program, "n", "b", "c", 4)
        program.op("relu", {"X": "c"}, {"Out": "c"})
        conv(program, "c", "d", [2, 4, 1, 1], "wd")
        norm(program, "m", "d", "d", 2)
        program.op("relu", {"X": "d"}, {"Out": "d"})
        program.output("d")
        self.check(program, (2, 3, 5, 5), fused=["wa", "ba", "wd"])

    def test_residual_that_is_no_bias(self):
        program = self.program()
        conv(program, "x", "a", [3, 3, 1, 1], "wa")
        program.op("elementwise_add", {"X": "a", "Y": "x"}, {"Out": "b"}, axis=-1)
        norm(program, "n", "b", "y", 3)
        program.output("y")
        self.check(program, (2, 3, 5, 5), norms=1)

    def test_statistics_of_the_batch(self):
        for attributes in [dict(is_test=False), dict(is_test=True, trainable_statistics=True)]:
            program = self.program()
            conv(program, "x", "a", [4, 3, 1, 1], "wa")
            norm(program, "n", "a", "y", 4, **attributes)
            program.output("y")
            source = program.save(self.path("training"))
            done = self.sinter("optimize", source, "-o", self.path("folded/"), code=UNSUPPORTED)
            self.assertIn("statistics of the batch", done.stderr)
            self.assertFalse(os.path.exists(self.path("folded")))

    def test_shared_filter(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        conv(program, "x", "b", [4, 3, 1, 1], "wa")
        norm(program, "n", "a", "c", 4)
        norm(program, "mm", "b", "d", 4)
        program.output("c")
        program.output("d")
        self.check(program, (2, 3, 5, 5), fused=["wa"])

    def test_other_products(self):
        program = self.program((2, 4, 5, 5))
        conv(program, "x", "a", [4, 1, 3, 3], "wa", "depthwise_conv2d", groups=4)
        norm(program, "n", "a", "b", 4)
        conv(program, "b", "c", [4, 3, 2, 2], "wc", "conv2d_transpose", strides=paddle.ints(2, 2))
        norm(program, "mm", "c", "d", 3)
        program.output("d")
        self.check(program, (2, 4, 5, 5), fused=["wa", "wc"])

    def test_norm_that_is_fetched(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        norm(program, "n", "a", "b", 4)
        conv(program, "b", "c", [2, 4, 1, 1], "wc")
        norm(program, "mm", "c", "d", 2)
        program.output("d")
        program.output("b")
        self.check(program, (2, 3, 5, 5))

    def test_weights_that_changed_after_folding(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        norm(program, "n", "a", "y", 4)
        program.output("y")
        self.check(program, (2, 3, 5, 5))
        program.parameters["wa"] = paddle.tensor([4, 3, 1, 1], Arrays.drawn(4, 3, 1, 1, seed=11).values)
        for name in ("same", "folded", "again", "source", "expected", "got"):
            shutil.rmtree(self.path(name))
        self.check(program, (2, 3, 5, 5))

    #===--- Real programs ---------------------------------------------------===#

    def test_no_norm_is_left_in_real_programs(self):
        models = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(ROOT, "..", "shared")), "data", "paddle")
        names = [name for name in ("ppocr_v3_det", "ppocr_v2_rec_es") if os.path.isdir(os.path.join(models, name))]
        if not names:
            self.skipTest(f"no programs in {models}")
        for name in names:
            source = os.path.join(models, name)
            self.sinter("convert", source, "-o", self.path(name + "-same/"))
            self.assertEqual(read(self.path(name + "-same"), "inference.pdiparams"), read(source, "inference.pdiparams"))
            self.sinter("convert", self.path(name + "-same"), "-o", self.path(name + "-again/"))
            self.assertEqual(self.content(self.path(name + "-again")), self.content(self.path(name + "-same")))
            self.sinter("optimize", source, "-o", self.path(name + "/"))
            self.assertEqual(self.content(self.path(name))["inference.pdmodel"].count(b"\x1a\x0abatch_norm"), 0, name)
            for folder in os.listdir(source):
                if folder.startswith("test_data_set_"):
                    shutil.copytree(os.path.join(source, folder), self.path(os.path.join(name, folder)))
            self.sinter("test", self.path(name), "--rtol", "1e-3", "--range-atol", "1e-4")

    #===--- Places ----------------------------------------------------------===#

    def test_the_original_is_not_overwritten(self):
        program = self.program()
        conv(program, "x", "y", [4, 3, 1, 1], "wa")
        program.output("y")
        source = program.save(self.path("source"))
        before = self.content(source)
        for output in (source + "/", os.path.join(source, "inference.pdmodel")):
            for command in ("convert", "optimize"):
                self.assertIn("--force", self.sinter(command, source, "-o", output, code=USAGE).stderr)
        self.assertEqual(self.content(source), before)
        self.sinter("convert", source, "-o", source + "/", "--in-place")
        self.assertEqual(self.content(source), before)

    def test_what_has_no_form_is_listed(self):
        text = self.path("net.mlir")
        paddle.write(text, b"func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {\n"
                           b"  %0 = stablehlo.exponential %x : tensor<4xcomplex<f32>>\n  return %0 : tensor<4xcomplex<f32>>\n}\n")
        done = self.sinter("convert", text, "-o", self.path("out/"), code=UNSUPPORTED)
        self.assertIn("1 x stablehlo.exponential", done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))


if __name__ == "__main__":
    SINTER = sys.argv.pop(1)
    unittest.main()
