#!/usr/bin/env python3
# Covers: data SampleFiles SampleFinder
# Covers: driver QuantizePage QuantizeText
# Covers: interface QuantizeOptions QuantizeSummary
# Covers: engine/compiler OutputAgreement Quantizer QuantizerJudge QuantizerProfile QuantizerReport SampleRuns
# Covers: quantize Equalize FloatReason WeightChannels
"""`sinter quantize`."""
import io
import itertools
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

import OnnxBytes as onnx
import QuantizeModels as models
from CompareTest import Page
from SinterCommand import CommandTest, DONE, INVALID, SYSTEM, UNSUPPORTED, USAGE, WRONG, main, npy

HERE = os.path.dirname(os.path.abspath(__file__))
GLYPHS = os.path.join(HERE, "..", "..", "examples", "glyphs")
sys.path.insert(0, os.path.join(HERE, "..", "judge"))


def floats_of(content):
    """The numbers of a file of NumPy's that holds f32."""
    begin = 10 + int.from_bytes(content[8:10], "little")
    return struct.unpack(f"<{(len(content) - begin) // 4}f", content[begin:])


class QuantizeCase(CommandTest):
    @classmethod
    def setUpClass(cls):
        # Most tests quantise the same few models: their programs are compiled once.
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)

    def setUp(self):
        super().setUp()
        self.model = self.write("model.onnx", models.classifier())

    def run_quantize(self, model, *options):
        # The same on every machine.
        target = () if "--for" in options else ("--for", "any")
        return self.sinter("quantize", model, "--cache-dir", self.cache.name, *target, *options)

    def quantize(self, model, *options):
        """The report of a run that must succeed."""
        done = self.run_quantize(model, "--json", *options)
        self.assertEqual(done.returncode, DONE, (options, done.stderr))
        return json.loads(done.stdout)

    def refused(self, code, *arguments, mentions=()):
        return self.expect_error(code, "quantize", *arguments, "--cache-dir", self.cache.name, mentions=mentions)

    def samples(self, name, count=6, shape=(1, 1, 8, 8), scale=1.0, kind="npy"):
        """A folder of random inputs."""
        os.makedirs(self.path(name), exist_ok=True)
        size = math.prod(shape)
        for i in range(count):
            self.write(f"{name}/s{i}.{kind}", npy(shape, models.draw(size, 50 + i, scale)))
        return self.path(name)

    def run_model(self, model, *inputs):
        """The numbers of the first output."""
        out = tempfile.mkdtemp(dir=self.folder)
        done = self.sinter("run", model, *itertools.chain(*(("--input", each) for each in inputs)), "--output-dir", out, "--cache-dir", self.cache.name)
        self.assertEqual(done.returncode, DONE, done.stderr)
        first = sorted(os.listdir(out))[0]
        with open(os.path.join(out, first), "rb") as file:
            content = file.read()
        return content

    def bytes_of(self, path):
        with open(path, "rb") as file:
            return file.read()


class Glyphs(QuantizeCase):
    """The example, as a user has it."""
    IMAGES = os.path.join(GLYPHS, "images")

    def setUp(self):
        super().setUp()
        self.model = os.path.join(GLYPHS, "glyphs.onnx")

    def label_of(self, model, image):
        done = self.sinter("run", model, "--input", image, "--labels", os.path.join(GLYPHS, "labels.txt"), "--json", "--cache-dir", self.cache.name)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)["outputs"][0]["labels"][0]["label"]

    def test_both_forms_find_the_labels(self):
        for form in ("q.onnx", "q.mlir"):
            with self.subTest(form=form):
                report = self.quantize(self.model, "--calibration", self.IMAGES, "-o", self.path(form))
                self.assertGreater(report["cosine"], 0.999)
                self.assertEqual(report["agreement"], 1)
                self.assertLess(report["after"]["bytes"], report["before"]["bytes"])
                for name in ("A", "7", "W"):
                    self.assertEqual(self.label_of(self.path(form), os.path.join(self.IMAGES, name + ".png")), name)

    def test_the_bias_of_a_product_with_a_float_result(self):
        """What runtimes want for a product of integers, here of the last layer."""
        self.quantize(self.model, "--calibration", self.IMAGES, "-o", self.path("q.onnx"))
        with open(self.path("q.onnx"), "rb") as file:
            written = file.read()
        self.assertIn(b"classifier.bias_quantized", written)
        self.assertNotIn(b"bias_corrected", written)

    def test_weights_alone(self):
        ratios = []
        for words in ([], ["--no-bias-correction"]):
            with self.subTest(words=words):
                report = self.quantize(self.model, "--calibration", self.IMAGES, "--activations", "float", "--weights", "int4", "-o", self.path("w.onnx"), *words)
                self.assertEqual(self.label_of(self.path("w.onnx"), os.path.join(self.IMAGES, "A.png")), "A")
                ratios.append(report["layers"][0]["snr_db"])
        self.assertGreater(ratios[0], ratios[1] + 1, "a corrected bias takes up the mean error of the weights")

    def test_truth(self):
        labels = os.path.join(GLYPHS, "labels.txt")
        truth = self.write("truth.txt", "".join(f"{name}\t{name[0]}\n" for name in os.listdir(self.IMAGES)))
        report = self.quantize(self.model, "--calibration", self.IMAGES, "--truth", truth, "--labels", labels, "--max-loss", "1", "-o", self.path("q.onnx"))
        self.assertEqual(report["before"]["accuracy"], 1)
        self.assertEqual(report["after"]["accuracy"], 1)


    def test_blocks(self):
        """What no blocks cover has other scales, and the command says so."""
        model = self.write("classifier.onnx", models.classifier())
        for block, scales, others in (("2", ["by channel", "in blocks of 2"], 1), ("3", ["by channel", "by channel"], 2)):
            with self.subTest(block=block):
                done = self.run_quantize(model, "--weights", "int8", "--block", block, "-o", self.path("b.onnx"), "--report", self.path("b.json"))
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertRegex(done.stdout, r"^the convolution and the matrix multiplication have weights that are integers\n2 operations stay float:\n +2  only weights become integers \(")
                self.assertIn(f"the weights of {others} layers are no matrices, or their depth is no multiple of --block {block}", done.stderr)
                layers = json.loads(self.bytes_of(self.path("b.json")))["layers"]
                self.assertEqual([layer["scheme"] for layer in layers if layer["scheme"]], [f"weights i8 {each}" for each in scales])
        done = self.run_quantize(model, "--weights", "int8", "--per-tensor", "-o", self.path("b.onnx"), "--json")
        self.assertEqual({layer["scheme"] for layer in json.loads(done.stdout)["layers"] if layer["scheme"]}, {"weights i8"})


class Report(QuantizeCase):
    def test_keys(self):
        report = self.quantize(self.model, "--calibration", "random", "-o", self.path("q.onnx"))
        self.assertLessEqual({"model", "samples", "before", "after", "agreement", "cosine", "snr_db", "layers", "rescales"}, report.keys())
        self.assertEqual(report["model"], self.model)
        self.assertEqual(report["samples"], 8)
        for side in ("before", "after"):
            self.assertLessEqual({"bytes", "latency_ms", "accuracy"}, report[side].keys())
            self.assertIsNone(report[side]["accuracy"])
            self.assertGreater(report[side]["latency_ms"], 0)
        self.assertEqual(report["before"]["bytes"], os.path.getsize(self.model))
        self.assertEqual(report["after"]["bytes"], os.path.getsize(self.path("q.onnx")))
        self.assertLessEqual({"before", "after"}, report["rescales"].keys())
        for layer in report["layers"]:
            self.assertLessEqual({"name", "op", "kept_float", "reason", "scheme", "snr_db"}, layer.keys())
            self.assertEqual(layer["kept_float"], bool(layer["reason"]), layer)
            self.assertEqual(layer["kept_float"], not layer["scheme"], layer)
        self.assertEqual([layer["name"] for layer in report["layers"]], ["conv", "pool", "flat", "gemm"])
        self.assertGreater(report["cosine"], 0.9999)
        self.assertGreater(report["snr_db"], 30)

    def test_the_page(self):
        shutil.copy(self.model, self.path("a & <b>.onnx"))
        page = self.path("page.html")
        done = self.run_quantize(self.path("a & <b>.onnx"), "--calibration", "random", "--report", page)
        self.assertEqual(done.returncode, DONE, done.stderr)
        text = self.bytes_of(page).decode()
        parsed = Page(text)
        self.assertEqual(parsed.wrong, [])
        self.assertIn("svg", parsed.seen)
        self.assertIn("a &amp; &lt;b&gt;.onnx", text)
        self.assertNotIn("nan", text.lower().replace("name", ""))
        self.assertNotIn("http", text)
        for layer in ("conv", "pool", "flat", "gemm"):
            self.assertIn(f"<td>{layer}</td>", text)

    def test_the_page_in_a_browser(self):
        found = next((path for path in ("chromium", "chromium-browser", "google-chrome") if shutil.which(path)), None)
        if not found:
            raise unittest.SkipTest("there is no chromium to open the page in")
        page = self.path("page.html")
        self.assertEqual(self.run_quantize(self.model, "--calibration", "random", "--report", page).returncode, DONE)
        done = subprocess.run([found, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", f"--user-data-dir={self.path('profile')}", "--dump-dom", f"file://{page}"], capture_output=True, text=True, timeout=60, errors="replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("compute with integers, and so do 2 other operations", done.stdout)
        self.assertIn("<rect", done.stdout)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])

    def test_the_report_as_data_is_what_json_prints(self):
        # A path need not be UTF-8.
        other = self.path(os.fsdecode(b"m\xff.onnx"))
        os.link(self.model, other)
        self.assertEqual(self.run_quantize(other, "--calibration", "random", "--report", self.path("r.json")).returncode, DONE)
        printed = self.quantize(self.model, "--calibration", "random", "--report", self.path("r.json"))
        self.assertEqual(json.loads(self.bytes_of(self.path("r.json"))), printed)

    def test_for_people(self):
        done = self.run_quantize(self.model, "--calibration", "random", "-o", self.path("q.onnx"), "-v")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for words in ("the convolution and the matrix multiplication compute with integers, and so do 2 other operations\n",
                      "ui8 asymmetric, weights i8 by channel, ranges: best; ranges from 8 samples of random, compared with the float model on 2 others\n",
                      "signal to noise", "cosine", "conv", "gemm"):
            self.assertIn(words, done.stdout)

    def test_what_stays_float(self):
        """By reason, the most first, with what would make it integer; each layer has it, too."""
        model = self.write("block.onnx", models.transformer_block())
        data = self.samples("block", 8, (6, 8))
        done = self.run_quantize(model, "--calibration", data, "-o", self.path("q.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^all \d+ matrix multiplications compute with integers")
        self.assertEqual(lines[1], "2 operations stay float:")
        self.assertEqual(sorted(line.strip() for line in lines[2:4]),
                         ["1  layer norms stay float, but for --norms integers (LayerNormalization); would help: --norms integers",
                          "1  only float layers use it (Add); would help: integers in the layers behind it"])
        report = self.quantize(model, "--calibration", data, "--keep-float", "Gelu")
        for layer in report["layers"]:
            self.assertEqual(bool(layer["remedy"]), layer["kept_float"], layer)
        kinds = [report["summary"][kind] for kind in ("convolutions", "matmuls", "others")]
        self.assertEqual(sum(each["all"] for each in kinds), len(report["layers"]))
        groups = report["summary"]["stay_float"]
        self.assertEqual(sum(each["count"] for each in groups), sum(layer["kept_float"] for layer in report["layers"]))
        self.assertEqual(sum(each["all"] - each["integer"] for each in kinds), sum(each["count"] for each in groups))
        self.assertIn({"reason": "--keep-float", "remedy": "leaving out --keep-float", "count": 1, "operations": {"Gelu": 1}}, groups)
        # Nothing would help what has no form with integers.
        nodes = [onnx.node("MatMul", ["x", "w"], ["m"], "mul"), onnx.node("CumSum", ["m", "axis"], ["y"], "sum")]
        graph = onnx.graph(nodes, [onnx.value_info("x", (2, 4))], [onnx.value_info("y", (2, 4))], [models.weight("w", [4, 4], 1), onnx.tensor("axis", [], struct.pack("<q", 1), onnx.INT64)])
        text = self.run_quantize(self.write("sums.onnx", onnx.model(graph)), "--calibration", "random", "--for", "any", "-o", self.path("s.onnx")).stdout
        self.assertRegex(text, r"^the matrix multiplication computes with integers\n1 operation stays float:\n +1  it has no form with integers \(CumSum\); nothing helps\n")

    def test_the_file_keeps_how_it_was_made(self):
        """In its metadata, in formats that have such."""
        data = self.samples("data")
        for form in ("q.onnx", "q.mlir"):
            with self.subTest(form=form):
                out = self.path(form)
                report = self.quantize(self.model, "--calibration", data, "-o", out)
                entries = dict(json.loads(self.sinter("inspect", out, "--no-plan", "--json").stdout)["metadata"]["entries"])
                kept = json.loads(entries["sinter.quantization"])
                self.assertEqual({key: kept[key] for key in ("data", "method", "samples", "judged", "snr_db")},
                                 {key: report[key] for key in ("data", "method", "samples", "judged", "snr_db")})
                self.assertEqual(kept["data"], data)
                self.assertRegex(self.sinter("inspect", out, "--no-plan").stdout, r"metadata    sinter.quantization = ")


class Options(QuantizeCase):
    def test_every_choice_runs_and_is_near(self):
        data = self.samples("data")
        least = {"--weights int4": 10, "--scheme power-of-two": 18}
        for options in ("--scheme asymmetric", "--scheme symmetric", "--scheme symmetric-u8", "--scheme power-of-two",
                        "--activations uint8", "--activations int8", "--activations int16", "--activations float --weights int8",
                        "--activations float --weights int4", "--weights int4", "--per-tensor", "--range max", "--range percentile",
                        "--range percentile:99.5", "--range entropy", "--range mse", "--range best", "--no-bias-correction",
                        "--no-equalize", "--no-smooth", "--samples 3", "--threads 1"):
            for form in ("q.onnx", "q.mlir"):
                with self.subTest(options=options, form=form):
                    report = self.quantize(self.model, "--calibration", data, *options.split(), "-o", self.path(form))
                    self.assertGreater(report["snr_db"], next((limit for key, limit in least.items() if key in options or "int4" in options), 25))
                    self.assertTrue(os.path.exists(self.path(form)))

    def test_both_forms_give_the_same_bits(self):
        data, asked = self.samples("data"), self.samples("asked", 8)
        for options in ((), ("--scheme", "symmetric"), ("--range", "max", "--no-bias-correction")):
            forms = ("q.onnx", "q.mlir")
            for form in forms:
                self.quantize(self.model, "--calibration", data, *options, "-o", self.path(form), "--force")
            for name in sorted(os.listdir(asked)):
                with self.subTest(options=options, input=name):
                    first, second = (self.run_model(self.path(form), os.path.join(asked, name)) for form in forms)
                    self.assertEqual(first, second)

    def test_weights_alone_need_no_data(self):
        report = self.quantize(self.model, "--weights", "int8", "-o", self.path("q.onnx"))
        self.assertEqual(report["samples"], 0)
        quantised = {layer["name"]: layer["scheme"] for layer in report["layers"] if not layer["kept_float"]}
        self.assertEqual(quantised, {"conv": "weights i8 by channel", "gemm": "weights i8 by channel"})
        self.assertTrue(all(layer["reason"] for layer in report["layers"] if layer["kept_float"]))

    def test_layers_that_stay_float(self):
        for options, integers in ((("--keep-float", "conv"), {"flat", "gemm"}), (("--keep-float", "g*"), {"conv"}),
                                  (("--only", "conv"), {"conv"}), (("--keep-float", "convolution"), {"flat", "gemm"}),
                                  (("--keep-float", "Conv"), {"flat", "gemm"}), (("--only", "Conv"), {"conv"}), (("--only", "Ge*"), {"flat", "gemm"})):
            with self.subTest(options=options):
                report = self.quantize(self.model, "--calibration", "random", *options)
                self.assertEqual({layer["name"] for layer in report["layers"] if not layer["kept_float"]}, integers)
        self.refused(USAGE, self.model, "--calibration", "random", "--json", "--keep-float", "nothing*", mentions=["--keep-float 'nothing*'", "no layer", "the operations are Conv, Flatten, Gemm, GlobalAveragePool, or by Sinter's names convolution, "])
        self.refused(USAGE, self.model, "--calibration", "random", "--json", "--only", "zzz", mentions=["--only 'zzz'", "no layer"])
        self.refused(USAGE, self.model, "--calibration", "random", "--json", "--only", "[a", mentions=["--only '[a'"])

    def test_operations_as_each_format_calls_them(self):
        for form, names in (("m/", ("conv2d", "depthwise_conv2d", "matmul_v2")), ("m.json", ("conv2d", "matmul")), ("m.mlir", ("convolution", "dot_general"))):
            model = self.path(form)
            self.assertEqual(self.sinter("convert", self.model, "-o", model).returncode, DONE)
            with self.subTest(form=form):
                done = self.run_quantize(model, "--calibration", "random", "--json", "--keep-float", "none")
                self.assertEqual(done.returncode, USAGE, done.stderr)
                operation = next(each for each in names if each in done.stderr)
                report = self.quantize(model, "--calibration", "random", "--keep-float", operation)
                self.assertEqual([layer["kept_float"] for layer in report["layers"] if layer["op"] == "convolution"], [True], operation)
                report = self.quantize(model, "--calibration", "random", "--only", operation)
                self.assertEqual([layer["kept_float"] for layer in report["layers"] if layer["op"] in ("convolution", "dot_general")], [False, True], operation)

    def test_norms(self):
        """They stay float unless they are asked for; what is between products does not."""
        model = self.write("block.onnx", models.transformer_block())
        data = self.samples("block", 8, (6, 8))

        def kept(*options):
            return {layer["name"]: layer["reason"] for layer in self.quantize(model, "--calibration", data, *options)["layers"] if layer["kept_float"]}

        by_default = kept()
        self.assertEqual(set(by_default), {"sum", "norm"})
        self.assertIn("--norms integers", by_default["norm"])
        self.assertEqual(kept("--norms", "integers"), {})
        report = self.quantize(model, "--calibration", data, "-o", self.path("q.onnx"))
        self.assertEqual(report["rescales"]["after"], 0)

    def test_mistakes(self):
        q = ("-o", self.path("q.onnx"))
        data = ("--calibration", "random")
        for arguments, mentions in (
                (q, "--calibration"), (data, "nothing to do"), ((*q, *data, "--range", "middle"), "'middle' is none of"),
                ((*q, *data, "--range", "max:3"), "is none of"), ((*q, *data, "--range", "percentile:50"), "more than 50"),
                ((*q, *data, "--range", "percentile:101"), "at most 100"), ((*q, *data, "--range", "percentile:"), "percentile"),
                ((*q, *data, "--scheme", "odd"), "--scheme"), ((*q, *data, "--weights", "int3"), "--weights"),
                ((*q, *data, "--activations", "int4"), "--activations"), ((*q, *data, "--samples", "0"), "--samples"),
                ((*q, *data, "--max-loss", "-1"), "--max-loss"), ((*q, "--weights", "int8", "--max-loss", "1"), "--max-loss needs"),
                (("--profile-out", self.path("p.json"), "--weights", "int8"), "--profile-out needs"),
                ((*data, "--profile-out", self.path("p.json"), "--profile", "p.json"), "one of them"),
                ((*data, "--report", self.path("r.txt")), ".html"), ((*data, "-o", self.path("q.xyz")), "q.xyz"),
                ((*q, "--calibration", "random:x"), "random:"), ((*q, "--activations", "uint8"), "--calibration"),
                ((*data, "-o", self.path("no/such/folder/q.onnx")), "no/such/folder"), ((*data, "-o", self.model), "--force")):
            with self.subTest(arguments=arguments):
                done = self.sinter("quantize", self.model, *arguments)
                self.assertIn(done.returncode, (USAGE, SYSTEM), done.stderr)
                self.assertIn(mentions, done.stderr)
                self.assertFalse(os.path.exists(self.path("q.onnx")))
        self.refused(SYSTEM, self.model, *q, "--calibration", self.path("none"), mentions=["none"])
        self.refused(SYSTEM, self.path("none.onnx"), *q, *data, mentions=["none.onnx"])
        self.refused(INVALID, self.write("bad.onnx", b"\x08\x08\x3a\xff"), *q, *data, mentions=["bad.onnx"])

    def test_the_same_bytes_twice(self):
        data = self.samples("data")
        for form in ("q.onnx", "q.mlir"):
            for name in ("one_", "two_"):
                self.quantize(self.model, "--calibration", data, "-o", self.path(name + form), "--threads", "1" if name == "one_" else "2")
            self.assertEqual(self.bytes_of(self.path("one_" + form)), self.bytes_of(self.path("two_" + form)))

    def test_a_bound_that_holds_and_one_that_cannot(self):
        data = self.samples("data")
        report = self.quantize(self.model, "--calibration", data, "--max-loss", "10", "-o", self.path("q.onnx"))
        self.assertGreaterEqual(report["snr_db"], 10)
        page = self.path("r.json")
        done = self.run_quantize(self.model, "--calibration", data, "--max-loss", "400", "-o", self.path("no.onnx"), "--report", page)
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn("--max-loss 400 cannot be held", done.stderr)
        self.assertTrue(json.loads(self.bytes_of(page))["layers"])
        self.assertFalse(os.path.exists(self.path("no.onnx")))

    def test_a_bound_between_leaves_some_layers_float(self):
        data = self.samples("data")
        whole = self.quantize(self.model, "--calibration", data, "--weights", "int4")
        bound = whole["snr_db"] + 1
        done = self.run_quantize(self.model, "--calibration", data, "--weights", "int4", "--max-loss", f"{bound}", "-o", self.path("q.onnx"), "--json")
        report = json.loads(done.stdout)
        if done.returncode == DONE:
            self.assertGreaterEqual(report["snr_db"], bound)
            self.assertIn("--max-loss", {layer["reason"] for layer in report["layers"]})
        else:
            self.assertEqual(done.returncode, WRONG, done.stderr)
            self.assertFalse(os.path.exists(self.path("q.onnx")))


    def test_a_bound_for_inputs_that_were_not_seen(self):
        """What is asked of the outputs holds with a margin from the spread over the samples that were set aside."""
        data = self.samples("data", 40)
        whole = self.quantize(self.model, "--calibration", data)
        self.assertEqual(whole["judged"], 8)
        self.assertLess(whole["snr_db_of_others"], whole["snr_db"])
        # Held by these samples, and not for sure by others: some layers have to be better.
        bound = (whole["snr_db"] + whole["snr_db_of_others"]) / 2
        done = self.run_quantize(self.model, "--calibration", data, "--max-loss", f"{bound}", "-o", self.path("q.onnx"), "--report", self.path("r.json"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("of other inputs at least", done.stdout)
        report = json.loads(self.bytes_of(self.path("r.json")))
        self.assertGreaterEqual(report["snr_db_of_others"], bound)
        self.assertGreater(report["snr_db"], whole["snr_db"])
        # One sample tells nothing of others.
        few = self.quantize(self.model, "--calibration", data, "--samples", "5")
        self.assertEqual((few["judged"], few["snr_db_of_others"]), (1, None))

    def test_a_bound_that_more_samples_may_hold(self):
        data = self.samples("data", 10)
        # The one layer with integers: there is nothing better to find.
        alone = ("--calibration", data, "--activations", "int16", "--keep-float", "gemm")
        report = self.quantize(self.model, *alone)
        bound = (report["snr_db"] + report["snr_db_of_others"]) / 2
        self.assertLess(bound, report["snr_db"])
        done = self.run_quantize(self.model, *alone, "--max-loss", f"{bound}", "-o", self.path("q.onnx"))
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn("cannot be held for other inputs with 90 % confidence, of 2 samples to judge by: give more", done.stderr)
        self.assertFalse(os.path.exists(self.path("q.onnx")))

    def test_accuracy_of_few_samples_moves_in_steps(self):
        images, labels = os.path.join(GLYPHS, "images"), os.path.join(GLYPHS, "labels.txt")
        truth = self.write("truth.txt", "".join(f"{name}\t{name[0]}\n" for name in os.listdir(images)))
        done = self.run_quantize(os.path.join(GLYPHS, "glyphs.onnx"), "--calibration", images, "--truth", truth, "--labels", labels, "--max-loss", "1", "-o", self.path("q.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r"note: .*--max-loss 1 is held on 2 samples, and others may lose up to 70 points with 90 % confidence: it takes at least 240 to judge by, a fifth of those that are given")
        self.assertIn("(of other inputs at most 70.00 points less, with 90 % confidence)", done.stdout)

    def test_a_bound_of_accuracy_for_inputs_that_were_not_seen(self):
        """Where samples are enough to tell, those whose answers change are no reason to hope for others."""
        count, width = 150, 16
        model, folder, wanted = self.write("net.onnx", models.perceptron()), self.samples("data", count, (1, width)), self.path("wanted")
        rows = self.write("rows.npy", npy((count, width), [each for i in range(count) for each in models.draw(width, 50 + i, 1.0)]))
        done = self.sinter("run", self.write("rows.onnx", models.perceptron(rows=count)), "--input", rows, "--output-dir", wanted, "--cache-dir", self.cache.name)
        self.assertEqual(done.returncode, DONE, done.stderr)
        scores = floats_of(self.bytes_of(os.path.join(wanted, os.listdir(wanted)[0])))
        classes = [max(range(3), key=lambda k: scores[3 * i + k]) for i in range(count)]
        truth = self.write("truth.txt", "".join(f"s{i}.npy\t{each}\n" for i, each in enumerate(classes)))
        words = ("--calibration", folder, "--truth", truth)
        # Thirty samples tell of 8 points.
        report = self.quantize(model, *words, "--max-loss", "8", "-o", self.path("q.onnx"))
        self.assertEqual((report["judged"], report["before"]["accuracy"], report["became_wrong"], report["became_right"]), (30, 1, 0, 0))
        self.assertAlmostEqual(report["accuracy_loss_of_others"], 1 - 0.09 ** (1 / 30), 4)
        # Answers that change take more than the samples themselves lose.
        coarse = ("--weights", "int4", "--per-tensor", "--no-bias-correction", "--no-equalize", "--for", "x86-64-v3")
        whole = self.quantize(model, *words, *coarse, "--range", "percentile:90")
        lost = 1 - whole["after"]["accuracy"]
        self.assertGreater(lost, 0, "nothing is lost that a bound could be of")
        self.assertEqual(whole["became_wrong"], round(30 * lost))
        bound = 100 * whole["accuracy_loss_of_others"] - 0.5
        self.assertGreater(bound, 100 * lost)
        report = self.quantize(model, *words, *coarse, "--range", "percentile:90", "--max-loss", f"{bound}", "-o", self.path("c.onnx"))
        self.assertLessEqual(report["accuracy_loss_of_others"], bound / 100)
        self.assertIn("--max-loss", {layer["reason"] for layer in report["layers"]})
        # With one layer there is nothing better to find.
        alone = (*coarse, "--only", "first", "--range", "percentile:60")
        whole = self.quantize(model, *words, *alone)
        self.assertGreater(whole["became_wrong"], 0)
        bound = 100 * whole["accuracy_loss_of_others"] - 0.5
        done = self.run_quantize(model, *words, *alone, "--max-loss", f"{bound}", "-o", self.path("no.onnx"))
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn(f"cannot be held for other inputs with 90 % confidence, of 30 samples to judge by: give more (with all layers as integers {whole['became_wrong']} answers become wrong, 0 right)", done.stderr)
        self.assertFalse(os.path.exists(self.path("no.onnx")))

    def test_16_bits_before_floats_where_speed_does_not_decide(self):
        data = self.samples("data", 10)
        whole = self.quantize(self.model, "--calibration", data)
        bound = f"{whole['snr_db'] + 0.5}"
        report = self.quantize(self.model, "--calibration", data, "--max-loss", bound, "-o", self.path("q.onnx"))
        self.assertGreaterEqual(report["snr_db"], float(bound))
        self.assertTrue(all(not layer["kept_float"] for layer in report["layers"]), report["layers"])
        self.assertTrue(any(layer["scheme"].startswith("i16") for layer in report["layers"]), report["layers"])
        done = self.run_quantize(self.model, "--calibration", data, "--max-loss", bound, "-o", self.path("n.onnx"), "--json", "--for", "x86-64-v3")
        self.assertFalse(any(layer["scheme"].startswith("i16") for layer in json.loads(done.stdout)["layers"]))


class Data(QuantizeCase):
    """Calibration in every form."""

    def samples_of(self, *options, model=None):
        return self.quantize(model or self.model, *options)["samples"]

    def test_arrays(self):
        data = self.samples("data", 3)
        self.assertEqual(self.samples_of("--calibration", data), 3)
        self.assertEqual(self.samples_of("--calibration", data + "/s0.npy"), 1)
        self.assertEqual(self.samples_of("--calibration", data + "/s0.npy", "--calibration", data), 4)
        self.assertEqual(self.samples_of("--calibration", data, "--samples", "2"), 2)
        self.assertEqual(self.samples_of("--calibration", "random:7"), 8)

    def test_tensor_files(self):
        os.mkdir(self.path("pb"))
        for i in range(2):
            self.write(f"pb/{i}.pb", onnx.tensor("x", [1, 1, 8, 8], onnx.floats(*models.draw(64, i))))
        self.assertEqual(self.samples_of("--calibration", self.path("pb")), 2)

    def archive(self, name, arrays):
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for key, content in arrays.items():
                archive.writestr(key + ".npy", content)
        return self.path(name)

    def test_archives(self):
        one = self.archive("one.npz", {"x": npy((1, 1, 8, 8), models.draw(64, 1))})
        self.assertEqual(self.samples_of("--calibration", one), 1)
        self.assertEqual(self.samples_of("--calibration", self.archive("any.npz", {"other": npy((1, 1, 8, 8), models.draw(64, 1))})), 1)
        two = self.write("two.onnx", models.two_inputs())
        both = self.archive("both.npz", {"a": npy((2, 4), models.draw(8, 1)), "b": npy((2, 4), models.draw(8, 2))})
        self.assertEqual(self.samples_of("--calibration", both, model=two), 1)
        half = self.archive("half.npz", {"a": npy((2, 4), models.draw(8, 1))})
        self.refused(USAGE, two, "--calibration", half, "--json", mentions=["half.npz", "no array 'b'"])

    def test_samples_in_one_array(self):
        many = npy((5, 1, 8, 8), models.draw(320, 1))
        # A fifth of them judges.
        self.assertEqual(self.samples_of("--calibration", self.archive("many.npz", {"x": many})), 4)
        self.assertEqual(self.samples_of("--calibration", self.write("many.npy", many)), 4)
        self.assertEqual(self.samples_of("--calibration", self.path("many.npy"), "--samples", "3"), 3)
        two = self.write("two.onnx", models.two_inputs())
        both = self.archive("both.npz", {"a": npy((6, 4), models.draw(24, 1)), "b": npy((6, 4), models.draw(24, 2))})
        self.assertEqual(self.samples_of("--calibration", both, model=two), 3)
        odd = self.archive("odd.npz", {"a": npy((5, 4), models.draw(20, 1)), "b": npy((5, 4), models.draw(20, 2))})
        self.refused(USAGE, two, "--calibration", odd, "--json", mentions=["odd.npz", "batches of 2"])

    def test_patterns_lists_and_fixed_inputs(self):
        data = self.samples("data", 3)
        self.assertEqual(self.samples_of("--calibration", data + "/s[01].npy"), 2)
        self.assertEqual(self.samples_of("--calibration", self.write("list.txt", f"{data}/s2.npy\n{data}/s0.npy\n")), 2)
        two = self.write("two.onnx", models.two_inputs())
        first = self.write("all.npy", npy((6, 4), models.draw(24, 1)))
        second = self.write("b.npy", npy((2, 4), models.draw(8, 2)))
        self.assertEqual(self.samples_of("--calibration", first, "--input", f"b={second}", model=two), 3)
        self.assertEqual(self.samples_of("--calibration", f"a={first}", "--calibration", f"b={first}", model=two), 3)
        self.refused(USAGE, two, "--calibration", f"b={first}", "--input", f"b={second}", "--json", mentions=["'b' is given twice"])

    def test_classes_of_a_list(self):
        data = self.samples("data", 3)
        for classes in ("0", "2", "1"), ("cat", "dog", "cat"):
            listed = self.write("list.txt", "".join(f"{data}/s{i}.npy\t{each}\n" for i, each in enumerate(classes)))
            self.assertIsNotNone(self.quantize(self.model, "--calibration", listed, "-o", self.path("q.onnx"))["before"]["accuracy"])

    def test_folders_of_several_inputs(self):
        two = self.write("two.onnx", models.two_inputs())
        for i in range(3):
            os.makedirs(self.path(f"data/{i}"))
            if i == 0:
                for k in range(2):
                    self.write(f"data/0/input_{k}.pb", onnx.tensor("ab"[k], [2, 4], onnx.floats(*models.draw(8, k))))
            else:
                for name in "ab":
                    self.write(f"data/{i}/{name}.npy", npy((2, 4), models.draw(8, i)))
        self.assertEqual(self.samples_of("--calibration", self.path("data"), model=two), 3)
        self.assertEqual(self.samples_of("--calibration", self.path("data/0"), model=two), 1)
        self.refused(USAGE, two, "--calibration", self.path("data/1/a.npy"), "--json", mentions=["2 inputs"])
        os.mkdir(self.path("empty"))
        self.refused(USAGE, two, "--calibration", self.path("empty"), "--json", mentions=["no sample", "2 inputs"])

    def pictures(self, folder, names, size=(8, 8)):
        os.makedirs(self.path(folder), exist_ok=True)
        for i, name in enumerate(names):
            self.write(f"{folder}/{name}.png", models.png(*size, [(i * 37 + k * 11) % 256 for k in range(size[0] * size[1])]))
        return self.path(folder)

    def test_pictures(self):
        self.assertEqual(self.samples_of("--calibration", self.pictures("p", ["a", "b"]), "--mean", "0.5", "--std", "0.25"), 2)
        # Another size is brought to that of the input, as `run` does.
        self.assertEqual(self.samples_of("--calibration", self.pictures("large", ["a"], (20, 9))), 1)
        whole = models.png(8, 8, list(range(64)))
        self.refused(SYSTEM, self.model, "--json", "--calibration", self.write("cut.png", whole[:40]), mentions=["cut.png"])

    def test_a_folder_a_class(self):
        for name in ("0", "1", "2"):
            self.pictures("classes/" + name, [f"{name}{i}" for i in range(2)])
        report = self.quantize(self.model, "--calibration", self.path("classes"))
        self.assertEqual(report["samples"] + report["judged"], 6)
        self.assertIsNotNone(report["after"]["accuracy"])
        self.refused(USAGE, self.model, "--json", "--calibration", self.path("classes"), "--labels", self.write("l.txt", "cat\ndog\n"),
                     "--truth", self.write("t.txt", "00.png\tbird\n"), mentions=["bird"])

    def test_truth(self):
        data = self.samples("data", 4)
        for truth in ("s0.npy\t1\ns1.npy\t0\n", "any/folder/s2.npy\t2\n", "s3.npy\tdog\n"):
            report = self.quantize(self.model, "--calibration", data, "--truth", self.write("t.txt", truth), "--labels", self.write("l.txt", "cat\ndog\nbird\n"))
            self.assertIsNotNone(report["after"]["accuracy"])
        for truth, mentions in (("other.npy\t1\n", "names none of the samples"), ("s0.npy 1\n", "a tab"), ("s0.npy\tcow\n", "'cow' is no class"),
                                ("s0.npy\t-1\n", "'-1' is no class")):
            self.refused(USAGE, self.model, "--json", "--calibration", data, "--truth", self.write("t.txt", truth), mentions=["t.txt", mentions])
        self.refused(SYSTEM, self.model, "--json", "--calibration", data, "--truth", self.path("none.txt"), mentions=["none.txt"])
        self.refused(USAGE, self.model, "--json", "--calibration", data, "--truth", self.write("t.txt", "s0.npy\t99\n"), mentions=["class 99", "from 0 on"])

    def test_nothing_to_calibrate_with(self):
        os.mkdir(self.path("empty"))
        self.refused(USAGE, self.model, "--json", "--calibration", self.path("empty"), mentions=["no sample"])
        self.write("empty/readme.txt", "nothing")
        self.refused(USAGE, self.model, "--json", "--calibration", self.path("empty"), mentions=["no sample"])

    def test_data_that_does_not_fit(self):
        self.refused(USAGE, self.model, "--json", "--calibration", self.samples("w", 1, (1, 1, 8, 7)), mentions=["s0.npy", "1x1x8x7", "1x1x8x8"])
        self.write("bad.npy", b"\x93NUMPY\x01\x00")
        self.refused(SYSTEM, self.model, "--json", "--calibration", self.path("bad.npy"), mentions=["bad.npy"])

    def test_numbers_that_are_not_finite(self):
        sample = self.write("nan.npy", npy((1, 1, 8, 8), [math.nan] + [1.0] * 63))
        done = self.run_quantize(self.model, "--calibration", sample, "-o", self.path("q.onnx"), "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(all(layer["kept_float"] for layer in report["layers"]))
        self.assertIn("'x' has values that are not finite", report["layers"][0]["reason"])
        self.assertIn("no layer computes with integers", done.stderr)
        self.assertIsNone(report["agreement"])

    def test_constant_data(self):
        for number in (0.0, 3.0, -1e-42):
            report = self.quantize(self.model, "--calibration", self.write("c.npy", npy((1, 1, 8, 8), [number] * 64)), "-o", self.path("q.onnx"))
            self.assertGreater(report["snr_db"], 30)

    def test_models_with_nothing_to_do(self):
        model = self.write("ints.onnx", models.integers_only())
        done = self.run_quantize(model, "--calibration", "random", "-o", self.path("q.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("no layer computes with integers", done.stderr)

    def test_what_cannot_be_run(self):
        """The reason and the way out, in one line; weights alone need no run."""
        model = self.write("held.onnx", models.drawn_numbers())
        self.refused(UNSUPPORTED, model, "--calibration", "random", "-o", self.path("q.onnx"), mentions=["node 'drawn' (onnx.RandomUniformLike) cannot be run", "--activations float"])
        for content in models.drawn_numbers(), models.padded_by_an_input():
            report = self.quantize(self.write("held.onnx", content), "--activations", "float", "-o", self.path("w.onnx"), "--force")
            self.assertEqual([layer["kept_float"] for layer in report["layers"] if layer["op"] == "dot_general"], [False])

    def test_sizes_that_are_an_input(self):
        """A Pad whose widths are an input, as wide as each sample says."""
        model = self.write("padded.onnx", models.padded_by_an_input())
        for i in range(6):
            os.makedirs(self.path(f"data/s{i}"))
            self.write(f"data/s{i}/x.npy", npy((2, 3), models.draw(6, i)))
            self.write(f"data/s{i}/pads.npy", onnx.npy((4,), "<i8", struct.pack("<4q", i, i % 2, 0, 1 - i % 2)))
        report = self.quantize(model, "--calibration", self.path("data"), "-o", self.path("q.onnx"))
        self.assertEqual([layer["kept_float"] for layer in report["layers"] if layer["op"] == "dot_general"], [False])
        self.assertGreater(report["snr_db"], 25)
        pads = self.write("pads.npy", onnx.npy((4,), "<i8", struct.pack("<4q", 3, 0, 1, 1)))
        self.assertEqual(len(floats_of(self.run_model(self.path("q.onnx"), f"x={self.path('data/s0/x.npy')}", f"pads={pads}"))), 6 * 3)

    def test_a_weight_that_callers_may_replace(self):
        """It becomes the constant that it is by default."""
        model = self.write("default.onnx", models.weight_that_is_an_input())
        report = self.quantize(model, "--calibration", "random", "-o", self.path("q.onnx"))
        self.assertFalse(report["layers"][0]["kept_float"])
        self.assertGreater(report["snr_db"], 25)
        self.run_model(self.path("q.onnx"), "random")

    def test_sizes_that_wait_for_values(self):
        """A Resize to the size of the image is computed with, for any size and for that of --shape."""
        model = self.write("resized.onnx", models.resized_as_the_image())
        data = self.samples("data", 6, (1, 1, 9, 9))
        for shape in [], ["--shape", "x:1x1x9x9"]:
            report = self.quantize(model, "--calibration", data, *shape, "-o", self.path("q.onnx"), "--force")
            self.assertFalse(report["layers"][0]["kept_float"])
            self.assertGreater(report["snr_db"], 25)
            sizes = self.run_model(self.path("q.onnx"), f"x={self.write('x.npy', npy((1, 1, 9, 9), models.draw(81, 7)))}")
            self.assertEqual(len(floats_of(sizes)), 4 * 81)
        self.assertEqual(self.quantize(model, "--calibration", data, "-o", self.path("q.onnx"), "--force")["judged"], 1)
        self.assertEqual(len(floats_of(self.run_model(self.path("q.onnx"), f"x={self.write('x.npy', npy((1, 1, 12, 12), models.draw(144, 7)))}"))), 4 * 144)

    def test_a_branch_that_no_sample_takes(self):
        model = self.write("branch.mlir", models.HIDDEN_BRANCH)
        samples = zipfile.ZipFile(self.path("s.npz"), "w")
        with samples:
            samples.writestr("x.npy", npy((2, 4), models.draw(8, 3)))
            samples.writestr("take.npy", onnx.npy((), "|b1", b"\0"))
        report = self.quantize(model, "--calibration", self.path("s.npz"), "-o", self.path("q.mlir"))
        reasons = [layer["reason"] for layer in report["layers"] if layer["op"] == "dot_general"]
        self.assertEqual(len(reasons), 2)
        self.assertIn("was never computed with the calibration data", reasons[0])
        self.assertFalse(reasons[1])

    def test_quantised_already(self):
        self.quantize(self.model, "--calibration", "random", "-o", self.path("q.onnx"))
        self.refused(USAGE, self.path("q.onnx"), "--calibration", "random", "--json", mentions=["quantised already", "--raise-quantized", "--allow=requantize"])
        self.quantize(self.model, "--calibration", "random", "-o", self.path("q.mlir"))
        self.refused(USAGE, self.path("q.mlir"), "--calibration", "random", "--json", mentions=["quantised already"])


class Profiles(QuantizeCase):
    def test_in_place_of_the_data(self):
        profile, data = self.path("p.json"), self.samples("data")
        first = self.quantize(self.model, "--calibration", data, "--profile-out", profile, "-o", self.path("a.onnx"))
        second = self.quantize(self.model, "--profile", profile, "-o", self.path("b.onnx"))
        self.assertEqual(second["samples"], first["samples"])
        # But for what it says of itself: nothing was compared, say.
        self.assertEqual(*(onnx.without_metadata(self.bytes_of(self.path(name))) for name in ("a.onnx", "b.onnx")))
        content = json.loads(self.bytes_of(profile))
        self.assertLessEqual({"x", "y"}, content["tensors"].keys())
        for tensor in content["tensors"].values():
            self.assertLessEqual(tensor["min"], tensor["max"])
            if "histogram" in tensor:
                self.assertEqual(sum(tensor["histogram"]), tensor["elements"])

    def test_of_another_model(self):
        profile = self.path("p.json")
        self.quantize(self.model, "--calibration", "random", "--profile-out", profile)
        two = self.write("two.onnx", models.two_inputs())
        self.refused(USAGE, two, "--profile", profile, "--json", mentions=["p.json", "another model", "no tensor"])

    def test_for_another_shape(self):
        model = self.write("open.onnx", models.classifier(batch="N"))
        profile = self.path("p.json")
        self.quantize(model, "--calibration", self.samples("data", 2, (2, 1, 8, 8)), "--profile-out", profile)
        report = self.quantize(model, "--profile", profile, "--calibration", self.samples("other", 2, (5, 1, 8, 8)), "-o", self.path("q.onnx"))
        self.assertGreater(report["snr_db"], 25)

    def test_edited(self):
        profile = self.path("p.json")
        self.quantize(self.model, "--calibration", "random", "--no-equalize", "--profile-out", profile)
        content = json.loads(self.bytes_of(profile))
        for tensor in content["tensors"].values():
            tensor.pop("histogram", None)
        self.write("p.json", json.dumps(content))
        self.assertTrue(all(not layer["kept_float"] for layer in self.quantize(self.model, "--profile", profile)["layers"]))
        content["tensors"]["x"]["min"] = "none"
        self.write("p.json", json.dumps(content))
        self.refused(SYSTEM, self.model, "--json", "--profile", profile, mentions=["p.json", "tensor 'x'"])

    def test_unreadable(self):
        self.refused(SYSTEM, self.model, "--json", "--profile", self.path("none.json"), mentions=["none.json"])
        self.refused(SYSTEM, self.model, "--json", "--profile", self.write("p.json", "no"), mentions=["p.json", "no JSON"])


class Models(QuantizeCase):
    """Other types, sizes and formats."""

    def test_layers_that_a_target_has_no_faster_in_bytes(self):
        model, images = os.path.join(GLYPHS, "glyphs.onnx"), os.path.join(GLYPHS, "images")
        kept = {}
        for target in ("any", "x86-64-v3", "x86-64"):
            report = self.quantize(model, "--calibration", images, "--for", target, "-o", self.path("q.onnx"))
            kept[target] = {layer["name"] for layer in report["layers"] if "no faster in int8 on " + target in layer["reason"]}
        self.assertFalse(kept["any"])
        # The one channel of an image does not fill pairs; channel by channel, bytes are read as floats.
        self.assertEqual(kept["x86-64-v3"], {"/0/stem/stem.0/Conv"})
        self.assertFalse(kept["x86-64"])
        self.refused(USAGE, model, "--calibration", images, "--for", "z80", "-o", self.path("q.onnx"), mentions=["z80"])

    def test_half_precision(self):
        for element in (models.FLOAT16, models.BFLOAT16):
            for scale in (0.5, 1e-5):
                model = self.write("half.onnx", models.classifier(element=element, scale=scale))
                for form in ("q.onnx", "q.mlir"):
                    with self.subTest(element=element, scale=scale, form=form):
                        report = self.quantize(model, "--calibration", "random", "-o", self.path(form))
                        self.assertGreater(report["cosine"], 0.99)
                        if scale == 0.5:
                            products = [layer for layer in report["layers"] if layer["op"] in ("convolution", "dot_general")]
                            self.assertFalse(any(layer["kept_float"] for layer in products), products)
                        self.run_model(self.path(form), "random")

    def test_half_precision_in_stablehlo(self):
        for element in ("f16", "bf16"):
            for scale in ("0.5", "1.0e-7"):
                model = self.write("half.mlir", models.HALF.replace("TYPE", element).replace("SCALE", scale))
                for form in ("q.onnx", "q.mlir"):
                    for options in ((), ("--activations", "int16")):
                        with self.subTest(element=element, scale=scale, form=form, options=options):
                            report = self.quantize(model, "--calibration", "random", "-o", self.path(form), *options)
                            self.assertFalse(report["layers"][0]["kept_float"])
                            self.assertGreater(report["snr_db"], 25)
                            done = self.sinter("run", self.path(form), "--input", "random", "--cache-dir", self.cache.name)
                            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_states(self):
        model = self.write("state.mlir", models.STATE)
        report = self.quantize(model, "--calibration", "random", "-o", self.path("q.mlir"))
        self.assertGreater(report["snr_db"], 25)
        self.assertIn(False, [layer["kept_float"] for layer in report["layers"]])
        done = self.sinter("run", self.path("q.mlir"), "--input", "random", "--repeat", "2", "--cache-dir", self.cache.name)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("last", done.stdout)

    def test_samples_of_several_sizes(self):
        model = self.write("open.onnx", models.classifier(batch="N"))
        os.mkdir(self.path("data"))
        for i, batch in enumerate((1, 3, 2, 3, 4, 2)):
            self.write(f"data/{i}.npy", npy((batch, 1, 8, 8), models.draw(64 * batch, i)))
        for form in ("q.onnx", "q.mlir"):
            report = self.quantize(model, "--calibration", self.path("data"), "-o", self.path(form))
            self.assertGreater(report["snr_db"], 25)
            self.run_model(self.path(form), self.path("data/1.npy"))
            self.run_model(self.path(form), self.path("data/4.npy"))

    def test_programs(self):
        for name, text in (("branches", models.BRANCHES), ("loop", models.LOOP)):
            model = self.write(name + ".mlir", text)
            for form in ("q.mlir", "q.onnx"):
                with self.subTest(name=name, form=form):
                    report = self.quantize(model, "--calibration", "random", "-o", self.path(form))
                    self.assertGreater(report["cosine"], 0.999)
                    self.assertIn(False, [layer["kept_float"] for layer in report["layers"]])
                    done = self.sinter("run", self.path(form), "--input", "random", "--cache-dir", self.cache.name)
                    self.assertEqual(done.returncode, DONE, done.stderr)


class Judged(QuantizeCase):
    """What is written, by ONNX Runtime and by Sinter in both forms."""

    def setUp(self):
        super().setUp()
        try:
            import numpy
            import OnnxRuntime
        except ImportError as missing:
            raise unittest.SkipTest(f"needs {missing.name}")
        if not shutil.which("node") or not os.path.isdir(os.path.join(HERE, "..", "..", "bench", "node_modules")):
            raise unittest.SkipTest("there is no ONNX Runtime (npm install in bench/)")
        self.numpy, self.runtime = numpy, OnnxRuntime

    def array(self, content):
        return self.numpy.load(io.BytesIO(content))

    def cosine(self, a, b):
        a, b = a.astype("f8").ravel(), b.astype("f8").ravel()
        return a @ b / math.sqrt((a @ a) * (b @ b))

    def test_the_forms_agree(self):
        data = self.samples("data")
        x = self.numpy.load(data + "/s1.npy")
        tasks = []
        for number, options in enumerate(("", "--scheme symmetric", "--scheme symmetric-u8", "--scheme power-of-two", "--per-tensor", "--activations int8", "--activations int16",
                                          "--weights int4", "--activations float --weights int8", "--activations float --weights int4")):
            with self.subTest(options=options):
                onnx_form, text_form = self.path(f"q{number}.onnx"), self.path(f"q{number}.mlir")
                for form in (onnx_form, text_form):
                    self.quantize(self.model, "--calibration", data, *options.split(), "-o", form)
                mine, other = (self.array(self.run_model(form, data + "/s1.npy")) for form in (onnx_form, text_form))
                self.assertGreater(self.cosine(mine, other), 0.999 if "int4" not in options else 0.98)
                tasks.append((options, mine, self.runtime.Task(onnx_form, {"x": x}, self.path(f"ort{number}"))))
        self.runtime.run([task for _, _, task in tasks])
        for options, mine, task in tasks:
            with self.subTest(options=options):
                self.assertIsNone(task.error)
                self.assertGreaterEqual(self.cosine(mine, task.outputs["y"]), 0.999)


if __name__ == "__main__":
    main()
