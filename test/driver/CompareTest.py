#!/usr/bin/env python3
# Covers: compare CompareMatch CompareReport CompareSide CompareWeights ModelComparison
# Covers: data TensorFiles
# Covers: driver ComparePage CompareText
# Covers: engine/compiler ModelWeights ObservedValues TensorNames ValueFlow
# Covers: interface CompareOptions
"""`sinter compare`."""
import html.parser
import json
import os
import random
import shutil
import struct
import subprocess
import unittest
import zipfile

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, SYSTEM, USAGE, WRONG, main, npy

FLOAT16 = 10


def halves(*values):
    return struct.pack(f"<{len(values)}e", *values)


def layers(weight=0.5, names=("x", "y"), data_type=onnx.FLOAT, keep_relu=True, size=4):
    """y = tanh(relu(x w) + x), with a weight of WEIGHT on the diagonal."""
    numbers = [weight if row == column else 0.25 for row in range(size) for column in range(size)]
    pack = onnx.floats if data_type == onnx.FLOAT else halves
    x, y = names
    nodes = [onnx.node("MatMul", [x, "w"], ["product"], "matmul")]
    if keep_relu:
        nodes.append(onnx.node("Relu", ["product"], ["active"], "relu"))
    nodes += [onnx.node("Add", ["active" if keep_relu else "product", x], ["sum"], "add"), onnx.node("Tanh", ["sum"], [y], "tanh")]
    weights = [onnx.tensor("w", [size, size], pack(*numbers), data_type)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info(x, [3, size], data_type)], [onnx.value_info(y, [3, size], data_type)], weights))


def normed(change=None, by=0.5):
    """Two convolutions, a norm behind each, and a matmul; BY is added to the first element of the weight CHANGE."""
    shapes = {"w1": [3, 2, 3, 3], "w2": [4, 3, 1, 1], "w3": [4, 5], "b3": [5]}
    for norm, channels in ("n1", 3), ("n2", 4):
        shapes.update({f"{norm}.{each}": [channels] for each in ("scale", "bias", "mean", "var")})
    weights = []
    for seed, (name, shape) in enumerate(shapes.items()):
        chooser, count = random.Random(seed), 1
        for size in shape:
            count *= size
        values = [abs(chooser.gauss(0, 1)) + 0.5 if name.endswith(("var", "scale")) else chooser.gauss(0, 0.5) for _ in range(count)]
        if name == change:
            values[0] += by
        weights.append(onnx.tensor(name, shape, onnx.floats(*values)))
    norm = lambda name, x, y: onnx.node("BatchNormalization", [x] + [f"{name}.{each}" for each in ("scale", "bias", "mean", "var")], [y], name)
    nodes = [onnx.node("Conv", ["x", "w1"], ["c1"], "conv1"), norm("n1", "c1", "m1"), onnx.node("Relu", ["m1"], ["r1"], "relu1"),
             onnx.node("Conv", ["r1", "w2"], ["c2"], "conv2"), norm("n2", "c2", "m2"), onnx.node("Relu", ["m2"], ["r2"], "relu2"),
             onnx.node("GlobalAveragePool", ["r2"], ["p"], "pool"), onnx.node("Flatten", ["p"], ["f"], "flat"),
             onnx.node("Gemm", ["f", "w3", "b3"], ["y"], "gemm")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [1, 2, 9, 9])], [onnx.value_info("y", [1, 5])], weights))


class Page(html.parser.HTMLParser):
    """Checks that elements nest and that nothing is taken from elsewhere."""

    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.wrong = [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag in ("script", "link", "img", "iframe", "object") or {name for name, _ in attributes} & {"src", "href"}:
            self.wrong.append(f"<{tag}> may take something from elsewhere")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else")


class Compare(CommandTest):
    def compare(self, code, *arguments):
        """Compares; the report."""
        done = self.sinter("compare", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        report = json.loads(done.stdout)
        self.assertEqual(report["agrees"], code == DONE)
        self.notes = report["notes"]
        return report

    def parting(self, *arguments):
        report = self.compare(WRONG, *arguments)
        return report["first_parting"]["name"], report

    def test_a_model_and_itself(self):
        model = self.write("net.onnx", layers())
        for backends in ("cpu", "interpreter", "interpreter,cpu", "cpu,interpreter"):
            report = self.compare(DONE, model, model, "--backend", backends)
            self.assertEqual([each["name"] for each in report["outputs"]], ["y"])
            self.assertIsNone(report["first_parting"])
        # Of one model, the backends are compared.
        report = self.compare(DONE, model)
        self.assertIn("interpreter", report["first"])
        self.assertIn("cpu", report["second"])
        self.assertEqual([each["name"] for each in report["tensors"] if each["compared"]][0], "product")

    def test_a_changed_weight(self):
        old, new = self.write("old.onnx", layers()), self.write("new.onnx", layers(weight=0.75))
        for backends in ("cpu", "interpreter", "interpreter,cpu"):
            name, report = self.parting(old, new, "--backend", backends)
            self.assertEqual(name, "product")
            first = report["first_parting"]
            self.assertEqual((first["matched_by"], first["op"]), ("name", "stablehlo.dot_general"))
            self.assertEqual(first["wrong"], 12)
            self.assertGreater(first["difference"], 0.01)
            self.assertRegex(first["furthest"][0]["place"], r"^\[\d, \d\]$")
        text = self.sinter("compare", old, new)
        self.assertEqual(text.returncode, WRONG)
        self.assertIn("the first that differs: 'product' (stablehlo.dot_general): by ", text.stdout)
        # The tolerances are those of `test`.
        self.compare(DONE, old, new, "--atol", "10")
        self.compare(DONE, old, new, "--range-atol", "10")
        only = self.compare(WRONG, old, new, "--outputs-only")
        self.assertEqual((only["tensors"], only["first_parting"]["name"]), ([], "y"))

    def test_a_node_that_is_gone(self):
        old, new = self.write("old.onnx", layers()), self.write("new.onnx", layers(keep_relu=False))
        name, report = self.parting(old, new)
        self.assertEqual(name, "sum")
        product = next(each for each in report["tensors"] if each["name"] == "product")
        self.assertFalse(product["parts"])
        self.assertGreater(report["only_first"], 0)

    def folded(self, model, name="folded.onnx"):
        """The model after its norms were folded."""
        path = self.path(name)
        self.assertEqual(self.sinter("optimize", model, "-o", path).returncode, DONE)
        return path

    def test_the_weight_that_was_changed(self):
        old = self.write("old.onnx", normed())
        sides = {"as it is": old, "folded": self.folded(old)}
        layers_of = {"w1": "conv1", "w2": "conv2", "w3": "gemm", "b3": "gemm"}
        for weight, layer in layers_of.items():
            new = self.write("new.onnx", normed(change=weight))
            for what, first in sides.items():
                for side, second in {"as it is": new, "folded": self.folded(new, "new-folded.onnx")}.items():
                    with self.subTest(weight=weight, first=what, second=side):
                        report = self.compare(WRONG, first, second)
                        found = report["weights"]
                        self.assertEqual(len(found), 1, found)
                        self.assertTrue(found[0]["name"].startswith(weight) or found[0]["other_name"].startswith(weight), found)
                        self.assertEqual(found[0]["layer"], layer)
                        self.assertTrue(report["verdict"].startswith("DIFFER: weight '"), report["verdict"])
                        if what == "as it is":
                            self.assertEqual(found[0]["name"], weight)
                        if what == side == "as it is":
                            self.assertAlmostEqual(found[0]["difference"], 0.5, 5)
                        text = self.sinter("compare", first, second)
                        self.assertRegex(text.stdout.splitlines()[-1], f"^DIFFER: weight '{found[0]['name']}.* of layer '{layer}' differs ")

    def test_a_changed_norm(self):
        old, new = self.write("old.onnx", normed()), self.write("new.onnx", normed(change="n1.scale"))
        report = self.compare(WRONG, old, new)
        self.assertEqual([(each["name"], each["layer"]) for each in report["weights"]], [("n1.scale", "n1")])
        # Folded, it is the layer before that has it.
        report = self.compare(WRONG, self.folded(old), new)
        self.assertEqual({each["layer"] for each in report["weights"]}, {"conv1"})

    def test_norms_that_one_model_has_folded(self):
        old = self.write("old.onnx", normed())
        for first, second in (old, self.folded(old)), (self.folded(old), old):
            for backends in "cpu", "interpreter":
                report = self.compare(DONE, first, second, "--backend", backends)
                self.assertEqual(report["weights"], [])
                self.assertEqual([each["name"] for each in report["tensors"] if each.get("parts")], [])
                # What the norms yield is compared, and what is before them is not.
                names = {each["name"] for each in report["tensors"]}
                self.assertNotIn("c1", names)
                self.assertNotIn("c2", names)
                self.assertIn("r1", names)

    def test_a_quantised_model(self):
        old, new = self.write("old.onnx", normed()), self.path("new.onnx")
        done = self.sinter("quantize", old, "--calibration", "random:1", "-o", new)
        self.assertEqual(done.returncode, DONE, done.stderr)
        for first, second in (old, new), (new, old):
            report = self.compare(DONE, first, second)
            self.assertEqual((report["min_snr"], report["by_tolerance"]), (20, False))
            self.assertTrue(any("one model is quantised" in note for note in report["notes"]), report["notes"])
            output = report["outputs"][0]
            self.assertGreater(output["snr_db"], 20)
            self.assertGreater(output["cosine"], 0.99)
            self.assertGreater(output["difference"], 0)
            self.assertIn("r2", {each["name"] for each in report["tensors"]})
            self.assertEqual(report["weights"], [])
            decibels = output["snr_db"]
        self.compare(WRONG, old, new, "--min-snr", "90")
        self.compare(DONE, old, new, "--min-snr", "10", "--min-cosine", "0.9")
        self.compare(WRONG, old, new, "--min-cosine", "1")
        # A tolerance that is given decides.
        report = self.compare(WRONG, old, new, "--rtol", "1e-6")
        self.assertEqual((report["min_snr"], report["by_tolerance"]), (None, True))
        self.compare(WRONG, old, new, "--rtol", "1e-6", "--min-snr", "10")
        changed = self.write("changed.onnx", normed(change="w3", by=20))
        report = self.compare(WRONG, changed, new)
        self.assertEqual([each["name"] for each in report["weights"]], ["w3"])
        self.assertLess(report["outputs"][0]["snr_db"], min(20, decibels))
        # Both are quantised: nothing is chosen.
        self.assertIsNone(self.compare(DONE, new, new)["min_snr"])

    def test_the_last_line_and_the_exit_code(self):
        same, changed = self.write("same.onnx", layers()), self.write("changed.onnx", layers(weight=0.75))
        other = self.write("other.onnx", layers())
        folded = self.folded(self.write("normed.onnx", normed()))
        rows = [(DONE, [same, other]), (DONE, [same]), (DONE, [same, "--passes"]), (WRONG, [same, changed]), (WRONG, [same, changed, "--outputs-only"]),
                (DONE, [same, changed, "--atol", "10"]), (DONE, [same, changed, "--min-snr", "-100"]), (WRONG, [same, changed, "--min-snr", "100"]),
                (WRONG, [same, changed, "--min-cosine", "1"]), (WRONG, [same, changed, "--atol", "10", "--min-snr", "100"]),
                (DONE, [self.path("normed.onnx"), folded]), (DONE, [self.path("normed.onnx"), folded, "-v"]), (WRONG, [same, changed, "-v"])]
        for code, arguments in rows:
            with self.subTest(arguments):
                done = self.sinter("compare", *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                lines = done.stdout.splitlines()
                self.assertRegex(lines[-1], "^ok: " if code == DONE else "^DIFFER: ")
                self.assertEqual([line for line in lines[:-1] if line.split() and line.split()[0].strip(":") in ("ok", "DIFFER")], [])
                self.assertEqual("DIFFERS" in done.stdout, code == WRONG, done.stdout)

    def test_thresholds_that_are_none(self):
        model = self.write("net.onnx", layers())
        for arguments in (["--min-snr", "high"], ["--min-snr", "nan"], ["--min-cosine", "2"], ["--min-cosine", "nan"]):
            self.expect_error(USAGE, "compare", model, model, *arguments, mentions=[arguments[0]])

    def test_half_precision(self):
        old, new = self.write("f32.onnx", layers()), self.write("f16.onnx", layers(data_type=FLOAT16))
        report = self.compare(DONE, old, new, "--range-atol", "2e-3")
        self.assertEqual((report["outputs"][0]["type"], report["outputs"][0]["other_type"]), ("3x4xf32", "3x4xf16"))
        self.assertGreater(report["outputs"][0]["difference"], 0)
        self.compare(DONE, new, old, "--range-atol", "2e-3", "--backend", "interpreter")
        self.compare(WRONG, old, new, "--rtol", "0", "--atol", "0", "--range-atol", "0")

    def test_a_conversion(self):
        model, converted = self.write("net.onnx", layers()), self.path("net.mlir")
        self.assertEqual(self.sinter("convert", model, "-o", converted).returncode, DONE)
        report = self.compare(DONE, model, converted)
        self.assertTrue(any("share no names" in note for note in self.notes), self.notes)
        changed = self.write("changed.onnx", layers(weight=0.75))
        name, report = self.parting(changed, converted)
        self.assertEqual((name, report["first_parting"]["matched_by"]), ("product", "flow"))

    def test_little_memory(self):
        old, new = self.write("old.onnx", layers()), self.write("new.onnx", layers(weight=0.75))
        name, report = self.parting(old, new, "--memory", "0.0001")
        self.assertEqual(name, "product")
        self.assertEqual([each["compared"] for each in report["tensors"]], [True] * 4)
        self.assertTrue(any("in 2 runs" in note for note in report["notes"]), report["notes"])
        report = self.compare(DONE, old, "--memory", "0.000001", "--backend", "interpreter,cpu")
        self.assertTrue(any(" runs" in note for note in report["notes"]), report["notes"])

    def test_names_that_differ(self):
        one, other = self.write("one.onnx", layers()), self.write("other.onnx", layers(names=("in", "out")))
        self.compare(DONE, one, other)
        self.assertTrue(any("matched by their order" in note for note in self.notes), self.notes)

    def test_inputs_that_differ(self):
        one, other = self.write("one.onnx", layers()), self.write("other.onnx", layers(size=5))
        self.expect_error(USAGE, "compare", one, other, mentions=["input 'x'", "3x4xf32", "f32 [3, 5]"])
        two = self.write("two.onnx", onnx.model(onnx.graph([onnx.node("Add", ["a", "b"], ["y"])], [onnx.value_info("a", [2]), onnx.value_info("b", [2])], [onnx.value_info("y", [2])])))
        self.expect_error(USAGE, "compare", one, two, mentions=["different inputs", "'a'", "'x'"])

    def test_usage(self):
        model = self.write("net.onnx", layers())
        self.expect_error(USAGE, "compare", mentions=["MODEL"])
        self.expect_error(USAGE, "compare", model, model, "--passes", mentions=["--passes is about one model"])
        self.expect_error(USAGE, "compare", model, model, "--bisect", mentions=["--bisect is for one model"])
        self.expect_error(USAGE, "compare", model, "--backend", "cpu,cpu", mentions=["the same"])
        self.expect_error(USAGE, "compare", model, "--with", model, mentions=["--with"])
        self.expect_error(SYSTEM, "compare", model, "--html", self.path("no/page.html"), mentions=["--html"])

    def test_unknown_sizes(self):
        open_size = onnx.model(onnx.graph([onnx.node("Relu", ["x"], ["a"], "relu"), onnx.node("Tanh", ["a"], ["y"], "tanh")], [onnx.value_info("x", ["N", 3])], [onnx.value_info("y", ["N", 3])]))
        model = self.write("open.onnx", open_size)
        report = self.compare(DONE, model, "--shape", "x:5x3")
        self.assertEqual(report["outputs"][0]["type"], "5x3xf32")
        self.compare(DONE, model, model, "--shape", "x:4x3")

    def test_tensors_of_another_tool(self):
        model = self.write("net.onnx", layers(weight=0))
        self.write("x.npy", npy([3, 4], range(12)))
        results = self.path("results")
        done = self.sinter("run", model, "--input", self.path("x.npy"), "--output-dir", results, "--backend", "interpreter")
        self.assertEqual(done.returncode, DONE, done.stderr)
        inputs = ["--input", self.path("x.npy")]
        report = self.compare(DONE, model, "--with", results, *inputs)
        self.assertEqual([each["name"] for each in report["outputs"]], ["y"])
        with zipfile.ZipFile(self.path("other.npz"), "w") as archive:
            archive.write(os.path.join(results, "y.npy"), "y.npy")
            archive.writestr("product.npy", npy([3, 4], [9] * 12))
            archive.writestr("stranger.npy", npy([1], [9]))
        name, report = self.parting(model, "--with", self.path("other.npz"), *inputs)
        self.assertEqual(name, "product")
        self.assertTrue(any("stranger" in note for note in report["notes"]), report["notes"])
        os.mkdir(self.path("set"))
        self.write("set/input_0.pb", onnx.tensor("x", [3, 4], onnx.floats(*range(12))))
        self.write("set/output_0.pb", onnx.tensor("y", [3, 4], onnx.floats(*[0.5] * 12)))
        name, report = self.parting(model, "--with", self.path("set"), "--data-set", self.path("set"))
        self.assertEqual(name, "y")
        with zipfile.ZipFile(self.path("strange.npz"), "w") as archive:
            archive.writestr("stranger.npy", npy([1], [9]))
        self.expect_error(USAGE, "compare", model, "--with", self.path("strange.npz"), mentions=["none of the 1 tensors", "'y'"])

    LOOP = """func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xcomplex<f32>>, tensor<8xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %i, %y = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<8xf32>
   cond {
    %less = stablehlo.compare LT, %a, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %next = stablehlo.add %a, %one : tensor<i32>
    %step = stablehlo.SINE %b : tensor<8xf32>
    stablehlo.return %next, %step : tensor<i32>, tensor<8xf32>
  }
  %q = stablehlo.uniform_quantize %y : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.015625>>
  %d = stablehlo.uniform_dequantize %q : (tensor<8x!quant.uniform<i8:f32, 0.015625>>) -> tensor<8xf32>
  %z = stablehlo.complex %y, %d : tensor<8xcomplex<f32>>
  %r = stablehlo.convert %d : (tensor<8xf32>) -> tensor<8xi32>
  return %y, %z, %r : tensor<8xf32>, tensor<8xcomplex<f32>>, tensor<8xi32>
}
"""

    def test_loops_and_many_types(self):
        old, new = self.write("old.mlir", self.LOOP.replace("SINE", "sine")), self.write("new.mlir", self.LOOP.replace("SINE", "tanh"))
        for backends in ("interpreter", "cpu", "interpreter,cpu"):
            report = self.compare(DONE, old, old, "--backend", backends)
            compared = {each["name"] for each in report["tensors"] if each["compared"]}
            self.assertLessEqual({"%next", "%step", "%q", "result1"}, compared)
            name, report = self.parting(old, new, "--backend", backends)
            self.assertEqual(name, "%step")

    def test_loop_of_which_a_value_is_dropped(self):
        text = self.LOOP.replace("%i, %y = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<8xf32>",
                                 "%i, %unread, %y = stablehlo.while(%a = %zero, %c = %yes, %b = %x) : tensor<i32>, tensor<i1>, tensor<8xf32>")
        text = text.replace("return %next, %step : tensor<i32>,", "return %next, %less, %step : tensor<i32>, tensor<i1>,")
        text = text.replace("%next = ", "%less = stablehlo.compare LT, %a, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    %next = ")
        text = text.replace("%zero = ", "%yes = stablehlo.constant dense<true> : tensor<i1>\n  %zero = ")
        model = self.write("unread.mlir", text.replace("SINE", "sine"))
        for how in (("--passes",), ("--backend", "interpreter,cpu")):
            report = self.compare(DONE, model, *how)
            self.assertIn("%step", {each["name"] for each in report["tensors"] if each["compared"]})

    def test_states(self):
        text = """func.func @main(%x: tensor<2xf32>, %s: tensor<2xf32> {sinter.state = "sum", sinter.initial = dense<0.0> : tensor<2xf32>})
    -> (tensor<2xf32>, tensor<2xf32> {sinter.state = "sum"}) {
  %t = stablehlo.OP %s, %x : tensor<2xf32>
  return %x, %t : tensor<2xf32>, tensor<2xf32>
}
"""
        old, new = self.write("old.mlir", text.replace("OP", "add")), self.write("new.mlir", text.replace("OP", "subtract"))
        self.compare(DONE, old)
        name, report = self.parting(old, new, "--outputs-only")
        self.assertEqual(name, "state sum")

    # x * 0 is 0 only where x is finite.
    WRONG_IF_INFINITE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %a = stablehlo.negate %x : tensor<4xf32> loc("turn")
  %b = stablehlo.negate %a : tensor<4xf32> loc("turn back")
  %c = stablehlo.multiply %b, %zero : tensor<4xf32> loc("nothing")
  %d = stablehlo.add %c, %x : tensor<4xf32> loc("sum")
  %e = stablehlo.tanh %d : tensor<4xf32> loc("squash")
  return %e : tensor<4xf32>
}
"""

    def test_the_pass_and_the_rewrite(self):
        model = self.write("net.mlir", self.WRONG_IF_INFINITE)
        self.compare(DONE, model, "--passes")
        self.compare(DONE, model, "--passes", "--allow", "all")
        self.write("x.npy", npy([4], [1, float("inf"), 2, 3]))
        for sides in (["--passes"], ["--backend", "interpreter,cpu"], ["--backend", "cpu,interpreter"]):
            arguments = [model, *sides, "--input", self.path("x.npy")]
            self.compare(DONE, *arguments)
            report = self.compare(WRONG, *arguments, "--allow", "nonan,noinf,nosignedzero", "--bisect")
            rewrite = report["rewrite"]
            self.assertEqual((rewrite["pass"], rewrite["op"], rewrite["location"]), ("simplify-algebra", "stablehlo.multiply", "nothing"))
            self.assertIn("zero", rewrite["pattern"])
            self.assertLessEqual(rewrite["step"], rewrite["steps"])
            # Without that pattern they agree.
            self.compare(DONE, *arguments, "--allow", "nonan,noinf,nosignedzero", "--disable-patterns", rewrite["pattern"])
        report = self.compare(WRONG, model, "--passes", "--input", self.path("x.npy"), "--allow", "all")
        self.assertEqual(report["pass"], "simplify-algebra")

    ROUNDED = """func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<0.1> : tensor<4x6xf32>
  %d = stablehlo.constant dense<0.3> : tensor<4x6xf32>
  %a = stablehlo.add %x, %c : tensor<4x6xf32> loc("first")
  %b = stablehlo.add %a, %d : tensor<4x6xf32> loc("second")
  %e = stablehlo.abs %b : tensor<4x6xf32> loc("abs")
  %f = stablehlo.abs %x : tensor<4x6xf32> loc("other")
  %g = stablehlo.maximum %e, %f : tensor<4x6xf32> loc("greater")
  return %g : tensor<4x6xf32>
}
"""

    def test_the_smallest_model(self):
        model, small = self.write("net.mlir", self.ROUNDED), self.path("small.mlir")
        exactly = ["--rtol", "0", "--atol", "0", "--range-atol", "0"]
        report = self.compare(WRONG, model, "--passes", "--allow", "reassociate", *exactly, "--bisect", "--reduce", small)
        self.assertEqual(report["rewrite"]["location"], "second")
        self.assertLessEqual(report["reduced"]["operations"], 4)
        self.assertEqual(report["reduced"]["output"], small)
        self.compare(WRONG, small, "--passes", "--allow", "reassociate", *exactly)
        self.compare(DONE, small, "--passes", *exactly)
        # Where nothing is rewritten, no rewrite is to blame.
        both = self.compare(DONE, model, "--passes", *exactly, "--bisect")
        self.assertNotIn("rewrite", both)

    def test_the_page(self):
        old, new = self.write("old & <new>.onnx", layers()), self.write("new.onnx", layers(weight=0.75))
        page = self.path("page.html")
        self.assertEqual(self.sinter("compare", old, new, "--html", page).returncode, WRONG)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        parsed = Page(text)
        self.assertEqual(parsed.wrong, [])
        self.assertIn("svg", parsed.seen)
        self.assertGreater(parsed.seen.count("rect"), 3)
        self.assertIn("product", text)
        self.assertIn("old &amp; &lt;new&gt;.onnx", text)
        self.assertNotIn("http", text)

    def test_the_page_in_a_browser(self):
        found = next((path for path in ("chromium", "chromium-browser", "google-chrome") if shutil.which(path)), None)
        if not found:
            raise unittest.SkipTest("there is no chromium to open the page in")
        old, new = self.write("old.onnx", layers()), self.write("new.onnx", layers(weight=0.75))
        page = self.path("page.html")
        self.sinter("compare", old, new, "--html", page)
        done = subprocess.run([found, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", f"--user-data-dir={self.path('profile')}", "--dump-dom", f"file://{page}"], capture_output=True, text=True, timeout=60, errors="replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("The first tensor that differs is", done.stdout)
        self.assertIn("<rect", done.stdout)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])


if __name__ == "__main__":
    main()
