#!/usr/bin/env python3
"""`sinter quantize`: scales along the channels of grouped transposed convolutions, and factors between channels across a concatenation."""
import os
import unittest

import OnnxBytes as onnx
import QuantizeModels as models
from OnnxBytes import fields
from QuantizeTest import QuantizeCase
from SinterCommand import DONE, main

FOUND = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")), "data/defects/found-2026-11-29")
FORMS = ["onnx", "mlir", "pdmodel", "json"]


def integer(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


def transposed(groups, inputs, outputs, bias, batch=1, size=6):
    """A transposed convolution in groups, and a rectifier."""
    names = ["x", "w", *(["b"] if bias else [])]
    nodes = [onnx.node("ConvTranspose", names, ["c"], "up", attributes=integer("group", groups) + models.ints("strides", 2, 2)), onnx.node("Relu", ["c"], ["y"], "relu")]
    # Each output channel of a group has a range of its own.
    kernel = [each * 4.0 ** (i // 9 % outputs) for i, each in enumerate(models.draw(inputs * outputs * 9, 1))]
    weights = [onnx.tensor("w", [inputs, outputs, 3, 3], onnx.floats(*kernel)), *([models.weight("b", [outputs * groups], 2)] if bias else [])]
    large = "H" if size == "H" else 2 * size + 1
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [batch, inputs, size, size])], [onnx.value_info("y", [batch, outputs * groups, large if large != "H" else "J", large if large != "H" else "J"])], weights))


def branches(ratio, depth=1, between="Relu", readers=1):
    """Branches of DEPTH convolutions of which every other one gives numbers RATIO times larger, a concatenation, and convolutions that undo that."""
    nodes, weights, parts = [], [], []
    for i in range(2):
        scale = ratio if i else 1
        kernel = [each * scale for each in models.draw(12, 10 + i)]
        weights += [onnx.tensor(f"w{i}", [4, 3, 1, 1], onnx.floats(*kernel)), onnx.tensor(f"b{i}", [4], onnx.floats(*(each * scale for each in models.draw(4, 20 + i))))]
        nodes += [onnx.node("Conv", ["x", f"w{i}", f"b{i}"], [f"c{i}"], f"branch{i}"), onnx.node(between, [f"c{i}"], [f"r{i}"], f"between{i}")]
        parts.append(f"r{i}")
    nodes.append(onnx.node("Concat", parts, ["c"], "joined", attributes=integer("axis", 1)))
    outputs = []
    for i in range(readers):
        kernel = [each / (ratio if k % 8 >= 4 else 1) for k, each in enumerate(models.draw(40, 30 + i))]
        weights.append(onnx.tensor(f"v{i}", [5, 8, 1, 1], onnx.floats(*kernel)))
        nodes.append(onnx.node("Conv", ["c", f"v{i}"], [f"y{i}"], f"reader{i}"))
        outputs.append(onnx.value_info(f"y{i}", [1, 5, 8, 8]))
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [1, 3, 8, 8])], outputs, weights))


class Transposed(QuantizeCase):
    def layer(self, report):
        return next(each for each in report["layers"] if each["op"] == "convolution")

    def test_groups(self):
        """Integers along axis 1, whatever form is written; the file runs as well as the report says."""
        for groups, inputs, outputs in (2, 4, 3), (2, 4, 1), (3, 6, 2), (4, 4, 2), (1, 4, 3):
            for bias in False, True:
                data = self.samples(f"data-{inputs}", 6, (1, inputs, 6, 6))
                model = self.write("up.onnx", transposed(groups, inputs, outputs, bias))
                for form in FORMS:
                    with self.subTest(groups=groups, inputs=inputs, outputs=outputs, bias=bias, form=form):
                        out = self.path("q." + form)
                        report = self.quantize(model, "--calibration", data, "-o", out, "--force")
                        layer = self.layer(report)
                        self.assertFalse(layer["kept_float"], layer["reason"])
                        self.assertIn("by channel", layer["scheme"])
                        self.assertGreater(report["snr_db"], 35)

    def test_scales(self):
        """The scales of DequantizeLinear lie along the second dimension of the weights."""
        model, data = self.write("up.onnx", transposed(2, 4, 3, True)), self.samples("data", 6, (1, 4, 6, 6))
        self.quantize(model, "--calibration", data, "-o", self.path("q.onnx"))
        content = self.bytes_of(self.path("q.onnx"))
        graph = next(value for key, value in fields(content) if key == 7)
        tensors = {bytes(dict(fields(each))[8]).decode(): [value for key, value in fields(each) if key == 1] for key, each in fields(graph) if key == 5}
        nodes = [list(fields(each)) for key, each in fields(graph) if key == 1]
        shapes = [[tensors.get(bytes(value).decode()) for key, value in node if key == 1] for node in nodes if dict(node)[4] == b"DequantizeLinear"]
        self.assertIn([4, 3, 3, 3], [each[0] for each in shapes])
        self.assertIn([3], [each[1] for each in shapes if each[0] == [4, 3, 3, 3]])
        types = onnx.node_types(content)
        self.assertIn("ConvTranspose", types)
        self.assertNotIn("Transpose", types)

    @unittest.skipUnless(os.path.isdir(FOUND), "the shared files are not there")
    def test_shared_file(self):
        report = self.quantize(f"{FOUND}/quantize_ctg_g2_b0/model.onnx", "--calibration", f"{FOUND}/quantize_ctg_g2_b0/calib", "-o", self.path("q.onnx"))
        layer = self.layer(report)
        self.assertFalse(layer["kept_float"], layer["reason"])
        self.assertGreater(report["snr_db"], 30)


class Concatenation(QuantizeCase):
    def test_factors(self):
        """Branches of ranges 100 to 1 in every form, with a function between that factors go through, and one that they do not."""
        data = self.samples("data", 8, (1, 3, 8, 8))
        for between in "Relu", "Identity":
            for readers in 1, 2:
                model = self.write("branches.onnx", branches(100, between=between, readers=readers))
                for form in FORMS:
                    with self.subTest(between=between, readers=readers, form=form):
                        report = self.quantize(model, "--calibration", data, "-o", self.path("q." + form), "--force")
                        self.assertGreater(report["snr_db"], 30)
                        self.assertFalse([note for note in report["notes"] if "unlike ranges" in note])

    def test_where_factors_cannot_move(self):
        """A note names the branches that one scale serves."""
        data = self.samples("data", 8, (1, 3, 8, 8))
        model = self.write("branches.onnx", branches(100))
        report = self.quantize(model, "--calibration", data, "--no-equalize", "--no-smooth", "-o", self.path("q.onnx"))
        notes = [note for note in report["notes"] if "unlike ranges" in note]
        self.assertEqual(len(notes), 1, report["notes"])
        for word in "'c'", "'r0'", "'r1'", "narrower":
            self.assertIn(word, notes[0])
        self.assertLess(report["snr_db"], 20)
        done = self.run_quantize(model, "--calibration", data, "--no-equalize", "--no-smooth", "-o", self.path("q.onnx"), "--force")
        self.assertIn("unlike ranges", done.stderr)
        # Alike ranges are none to tell of.
        report = self.quantize(self.write("alike.onnx", branches(2)), "--calibration", data, "-o", self.path("q.onnx"), "--force", "--no-equalize", "--no-smooth")
        self.assertFalse([note for note in report["notes"] if "unlike ranges" in note])

    def test_profile(self):
        """Factors across a concatenation are in the profile, which gives the same model."""
        data, model = self.samples("data", 8, (1, 3, 8, 8)), self.write("branches.onnx", branches(100))
        self.quantize(model, "--calibration", data, "--profile-out", self.path("p.json"), "-o", self.path("q.onnx"))
        self.quantize(model, "--profile", self.path("p.json"), "-o", self.path("r.onnx"))
        self.assertEqual(*(onnx.without_metadata(self.bytes_of(self.path(name))) for name in ("q.onnx", "r.onnx")))

    @unittest.skipUnless(os.path.isdir(FOUND), "the shared files are not there")
    def test_shared_file(self):
        for form in FORMS:
            report = self.quantize(f"{FOUND}/quantize_concat_eq/model.onnx", "--calibration", f"{FOUND}/quantize_concat_eq/calib", "-o", self.path("q." + form))
            self.assertGreater(report["snr_db"], 28, form)


if __name__ == "__main__":
    main()
