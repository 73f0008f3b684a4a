#!/usr/bin/env python3
# Covers: formats/paddle ImportRecords WritePaddle
# Covers: formats/paddle/write Activations Convolutions Elementwise Indexing Movement Names Normalization OperatorWriter
# Covers: formats/paddle/write Pooling Products ProgramWriter Reductions SizesAndIndices WindowReductions WriterRules
"""Paddle programs that are written: untouched ones byte for byte, folded ones by value, and what the InferenceTranspiler of old did wrong, a test each."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import Arrays
import PaddleBytes as paddle

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
USAGE, UNSUPPORTED, SYSTEM = 2, 4, 5


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

    def check(self, program, shape, norms=0, fused=None, declares=True):
        """With DECLARES the program's sizes are those that it declares. Untouched bytes; folding leaves the original alone, gives the same within 1e-5 and leaves `norms` batch norms."""
        source = program.save(self.path("source"))
        before = self.content(source)
        self.sinter("convert", source, "-o", self.path("same/"))
        self.assertEqual(self.content(self.path("same")), before)
        self.sinter("optimize", source, "-o", self.path("folded/"))
        self.assertEqual(self.content(source), before)
        folded = self.content(self.path("folded"))
        self.sinter("convert", self.path("folded"), "-o", self.path("again/"))
        self.assertEqual(self.content(self.path("again")), folded)
        self.check_twice(source, "twice.pdmodel")
        if declares:
            self.sinter("convert", source, "-o", self.path("pir.json"))
            self.check_twice(self.path("pir.json"), "twice.json")
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

    def check_twice(self, source, name, *options):
        """What is folded does not change any more."""
        self.sinter("optimize", source, "-o", self.path("first-" + name), *options)
        self.sinter("optimize", self.path("first-" + name), "-o", self.path("second-" + name))
        first, second = (read(self.folder, each + name) for each in ("first-", "second-"))
        self.assertEqual(first, second, f"{source} as {name}")

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
        self.check(program, (2, 3, 5, 5), fused=["wa", "ba", "wd"], declares=False)

    def test_residual_that_is_no_bias(self):
        program = self.program()
        conv(program, "x", "a", [3, 3, 1, 1], "wa")
        program.op("elementwise_add", {"X": "a", "Y": "x"}, {"Out": "b"}, axis=-1)
        norm(program, "n", "b", "y", 3)
        program.output("y")
        # The scale of what no product computes is a multiplication.
        self.check(program, (2, 3, 5, 5), norms=0)

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

    def test_random_draws_stay_operators(self):
        program = self.program()
        conv(program, "x", "a", [4, 3, 1, 1], "wa")
        norm(program, "n", "a", "b", 4)
        program.variable("r", [4, 1, 1])
        program.op("uniform_random", {}, {"Out": "r"}, shape=paddle.longs(4, 1, 1), min=0.0, max=1.0, seed=0, dtype=5)
        program.op("elementwise_mul", {"X": "b", "Y": "r"}, {"Out": "y"}, axis=-1)
        program.output("y")
        self.check(program, (2, 3, 5, 5))
        self.assertIn(b"\x1a\x0euniform_random", self.content(self.path("folded"))["inference.pdmodel"])

    def test_operators_are_called_by_their_results(self):
        program = self.program()
        norm(program, "n", "x", "y", 3)
        program.output("y")
        shown = json.loads(self.sinter("inspect", program.save(self.path("source")), "--shape", "x:1x3x5x5", "--json").stdout)
        self.assertEqual([step["layer"] for step in shown["plan"]["program"]], ["y"])

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

    def test_folding_twice_gives_the_same(self):
        models = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(ROOT, "..", "shared")), "data", "paddle")
        names = [("ppocr_v3_det", "pdmodel"), ("ppocr_v2_rec_es", "pdmodel"), ("pir_ppocr_v5_mobile_det", "json"), ("pir_ppocr_v5_mobile_rec", "json")]
        names = [(name, form) for name, form in names if os.path.isdir(os.path.join(models, name))]
        if not names:
            self.skipTest(f"no programs in {models}")
        for name, form in names:
            source = os.path.join(models, name)
            options = [] if os.path.exists(os.path.join(source, "inference.pdiparams")) else ["--random-parameters"]
            self.check_twice(source, f"{name}.{form}", *options)

    #===--- Places ----------------------------------------------------------===#

    def folded(self):
        """A folder with a program that changes when it is optimised, and what is in it."""
        program = self.program()
        conv(program, "x", "c", [64, 3, 3, 3], "wa", paddings=paddle.ints(1, 1))
        norm(program, "n", "c", "y", 64)
        program.output("y")
        source = program.save(self.path("source"))
        paddle.write(os.path.join(source, "README.md"), b"mine")
        return source, self.content(source)

    def content_if_any(self, folder):
        return self.content(folder) if os.path.exists(folder) else None

    def test_the_original_is_not_overwritten(self):
        source, before = self.folded()
        program = os.path.join(source, "inference.pdmodel")
        os.symlink(source, self.path("link"))
        for given, outputs in (source, (source, source + "/", program, os.path.join(source, "inference.json"), self.path("link"), self.path("link/"), self.path("source/../source"))), \
                              (program, (source + "/", self.path("link/"))):
            for output in outputs:
                for command in ("convert", "optimize"):
                    for options in (), ("--force",):
                        self.assertIn("--in-place", self.sinter(command, given, "-o", output, *options, code=USAGE).stderr)
        # The files of a model that was named by its file: --force is enough.
        for output in program, os.path.join(source, "inference.json"):
            self.assertIn("--force", self.sinter("optimize", program, "-o", output, code=USAGE).stderr)
        self.assertEqual(self.content(source), before)
        self.sinter("convert", program, "-o", program, "--force")
        self.assertEqual(self.content(source), before)
        self.sinter("convert", source, "-o", source + "/", "--in-place")
        self.assertEqual(self.content(source), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["link", "source"])

    def test_in_place(self):
        """The folded program takes the original's place; what else is in the folder stays."""
        source, before = self.folded()
        x = Arrays.drawn(1, 3, 5, 5, seed=3)
        expected = self.results(source, x, "before")
        self.sinter("optimize", source, "-o", self.path("other"))
        folded = self.content(self.path("other"))
        self.assertNotEqual(folded, before)
        for count, options in enumerate((("--in-place",), ("-o", source, "--in-place"), ("-o", source + "/", "--in-place"), ("--in-place", "--force"))):
            with self.subTest(options=options):
                shutil.rmtree(source)
                self.folded()
                self.sinter("optimize", source, *options)
                self.assertEqual(self.content(source), folded)
                self.assertEqual(read(source, "README.md"), b"mine")
                for name, (dims, values) in self.results(source, x, f"after{count}").items():
                    self.assertEqual(dims, expected[name][0])
                    for one, other in zip(values, expected[name][1], strict=True):
                        self.assertAlmostEqual(one, other, delta=1e-5)
        shutil.rmtree(source)
        self.folded()
        self.sinter("optimize", os.path.join(source, "inference.pdmodel"), "--in-place")
        self.assertEqual(self.content(source), folded)
        self.assertEqual([name for name in os.listdir(self.folder) if "tmp" in name], [])

    def test_a_folder_needs_no_slash(self):
        """Of a folder comes a folder, whatever it is called."""
        source, before = self.folded()
        self.sinter("optimize", source + "/", "-o", self.path("with/"))
        folded = self.content(self.path("with"))
        for name in "folded", "folded.v2":
            for _ in range(2):
                self.sinter("optimize", source + "/", "-o", self.path(name))
                self.assertEqual(self.content(self.path(name)), folded)
        self.sinter("convert", source, "-o", self.path("same"))
        self.assertEqual(self.content(self.path("same")), before)
        # A folder that is there, even if it is called like a file.
        os.mkdir(self.path("made.onnx"))
        self.sinter("optimize", source, "-o", self.path("made.onnx"))
        self.assertEqual(self.content(self.path("made.onnx")), folded)
        # A name with an extension says what is wanted; a model that is a file does not say that a folder is.
        self.sinter("convert", source, "-o", self.path("net.onnx"))
        self.assertTrue(os.path.isfile(self.path("net.onnx")))
        for given in os.path.join(source, "inference.pdmodel"), self.path("net.onnx"):
            self.assertIn("extension", self.sinter("convert", given, "-o", self.path("nothing"), code=USAGE).stderr)
        self.assertFalse(os.path.exists(self.path("nothing")))
        paddle.write(self.path("file"), b"mine")
        self.assertIn("file", self.sinter("optimize", source, "-o", self.path("file"), code=USAGE).stderr)
        self.assertEqual(read(self.path("file")), b"mine")
        self.sinter("optimize", source, "-o", self.path("no/such"), code=SYSTEM)
        self.assertEqual(self.content(source), before)

    def test_the_oldest_name(self):
        """A program called __model__ has its parameters in __params__, and takes its own place."""
        source, before = self.folded()
        os.mkdir(self.path("old"))
        program = self.path("old/__model__")
        self.sinter("convert", source, "-o", program)
        self.assertEqual([read(self.path("old"), name) for name in ("__model__", "__params__")], list(before.values()))
        self.sinter("optimize", program, "-o", program, code=USAGE)
        self.sinter("optimize", program, "--in-place")
        self.sinter("optimize", source, "--in-place")
        self.assertEqual([read(self.path("old"), name) for name in ("__model__", "__params__")], list(self.content(source).values()))

    def test_an_interrupted_write(self):
        """A disk that is full, as a limit for files: the command ends with an error, or by a signal in the middle of it. Folders and pairs of files appear whole or not at all."""
        source, before = self.folded()
        program = os.path.join(source, "inference.pdmodel")
        self.sinter("convert", source, "-o", self.path("old"))
        self.sinter("convert", source, "-o", self.path("pair.pdmodel"))
        pair = [read(self.path(name)) for name in ("pair.pdmodel", "pair.pdiparams")]
        self.assertGreater(len(pair[1]), 6000)
        for limit in 0, 1000, 6000:
            for is_killed in True, False:
                for given, *arguments in (source, "-o", self.path("new")), (source, "-o", self.path("old")), (source, "--in-place"), (program, "-o", self.path("pair.pdmodel")):
                    done = subprocess.run([SINTER, "optimize", given, *arguments], capture_output=True, text=True, restore_signals=is_killed,
                                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                    self.assertEqual(done.returncode, -signal.SIGXFSZ if is_killed else SYSTEM, done.stderr)
                    if not is_killed:
                        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                        self.assertEqual([name for name in os.listdir(self.folder) if "tmp" in name], [])
                    self.assertFalse(os.path.exists(self.path("new")))
                    self.assertEqual([self.content(source), self.content(self.path("old"))], [before, before])
                    self.assertEqual([read(self.path(name)) for name in ("pair.pdmodel", "pair.pdiparams")], pair)
                    for name in os.listdir(self.folder):
                        if "tmp" in name:
                            (shutil.rmtree if os.path.isdir(self.path(name)) else os.remove)(self.path(name))
        self.sinter("optimize", source, "--in-place")
        self.assertNotEqual(self.content(source), before)

    def test_a_missing_parameter_that_nobody_reads(self):
        """What is there is written as it was, and what is not is said once."""
        program = self.program()
        conv(program, "x", "y", [4, 3, 1, 1], "wa")
        program.parameter("unread", [2], [1, 2])
        program.output("y")
        source = program.save_separate(self.path("source"))
        os.remove(os.path.join(source, "unread"))
        done = self.sinter("convert", source, "-o", self.path("out"))
        self.assertRegex(done.stderr, "^note: .*'unread'")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        written = self.content(self.path("out"))
        self.assertNotIn(b"unread", written["inference.pdmodel"])
        # The operator's own bytes, and the input's place.
        self.assertIn(b"padding_algorithm", written["inference.pdmodel"])
        x = Arrays.drawn(1, 3, 5, 5, seed=3)
        self.assertEqual(self.results(source, x, "before"), self.results(self.path("out"), x, "after"))

    def sort_by(self, comparator):
        """A file that sorts two tensors of f32 by COMPARATOR of a, b of the first, c, d of the second."""
        path = self.path("sort.mlir")
        paddle.write(path, f"""func.func @main(%x: tensor<6xf32> {{sinter.name = "x"}}, %y: tensor<6xf32> {{sinter.name = "y"}})
            -> (tensor<6xf32> {{sinter.name = "p"}}, tensor<6xf32> {{sinter.name = "q"}}) {{
          %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = 0 : i64, is_stable = true}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
            %first = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %second = stablehlo.compare GT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
            {comparator}
            stablehlo.return %less : tensor<i1>
          }}) : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
          return %0#0, %0#1 : tensor<6xf32>, tensor<6xf32>
        }}""".encode())
        return path

    def test_sort_by_several_keys(self):
        model = self.sort_by("%both = stablehlo.and %same, %second : tensor<i1>\n %less = stablehlo.or %first, %both : tensor<i1>")
        x, y = [2, 1, 2, 1, 3, 2], [5, 1, 7, 4, 0, 6]
        pairs = sorted(zip(x, y), key=lambda pair: (pair[0], -pair[1]))
        options = []
        for name, values in (("x", x), ("y", y)):
            paddle.write(self.path(name + ".npy"), paddle.npy([6], values))
            options += ["--input", f"{name}={self.path(name)}.npy"]
        for form in ("pdmodel", "json", "onnx"):
            written = self.path("sort." + form)
            self.sinter("convert", model, "-o", written)
            self.sinter("run", written, *options, "--backend", "interpreter", "--no-cache", "--output-dir", self.path(form))
            got = [list(paddle.read_npy(read(self.path(form), name + ".npy"))[1]) for name in ("p", "q")]
            self.assertEqual(got, [list(each) for each in zip(*pairs)], form)

    def test_sort_by_no_keys(self):
        for comparator in ("%less = stablehlo.and %first, %second : tensor<i1>", "%less = stablehlo.or %first, %second : tensor<i1>",
                           "%less = stablehlo.and %same, %first : tensor<i1>"):
            for form in ("pdmodel", "onnx"):
                done = self.sinter("convert", self.sort_by(comparator), "-o", self.path("none." + form), code=UNSUPPORTED)
                self.assertIn("stablehlo.sort (by this comparator)", done.stderr)

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
