#!/usr/bin/env python3
# Covers: engine/compiler StoredWeights
"""`sinter train` of models that quantise and dequantise: rounding lets gradients through, but where numbers are cut."""
import json
import struct

import OnnxBytes as onnx
from SinterCommand import DONE, USAGE, main
from TrainTest import CLASSES, FEATURES, SAMPLES, TrainCase, initializers, npy, npz, numbers

INT8, UINT8 = 3, 2
STEP, RATE = 0.02, 0.5


def rounded(x, scale, least, greatest):
    """What x becomes, and whether it is not cut."""
    element = round(x / scale)
    return scale * min(max(element, least), greatest), least <= element <= greatest


def bytes_of(content, name):
    """Those of the initializer NAME of an ONNX model."""
    for field, value in onnx.fields(content):
        for inner, tensor in onnx.fields(value) if field == 7 else ():
            parts = dict((number, part) for number, part in onnx.fields(tensor) if number in (8, 9)) if inner == 5 else {}
            if 8 in parts and bytes(parts[8]).decode() == name:
                return bytes(parts[9])
    return None


class Quantized:
    """y = quantize(quantize(x) quantize(w) + b), from 0 on: a rectifier, too. A scale for each column of w."""

    def __init__(self):
        self.w = numbers(FEATURES * CLASSES, 1)
        self.w[1] = 3.0  # It is cut.
        self.b = numbers(CLASSES, 2, 0.2, 1.0)
        self.scales = [0.0081, 0.0127, 0.01, 0.009]

    def onnx(self, integers=False, bias=None, casts=False):
        nodes, tensors = [], []

        def add(name, shape, content, kind=onnx.FLOAT):
            tensors.append(onnx.tensor(name, shape, content, kind))

        def through(source, name, scale, zero, kind):
            add(name + ".scale", [len(scale)] if len(scale) > 1 else [], onnx.floats(*scale))
            add(name + ".zero", [len(scale)] if len(scale) > 1 else [], struct.pack(f"{len(scale)}b", *[zero] * len(scale)), kind)
            parts = [name + ".scale", name + ".zero"]
            if source:
                nodes.append(onnx.node("QuantizeLinear", [source, *parts], [name + ".q"], name + "/q"))
            nodes.append(onnx.node("DequantizeLinear", [name + ".q", *parts], [name + ".d"], name + "/d"))
            return name + ".d"

        x = through("x", "a", [0.01], 0, INT8)
        if integers:
            add("v.q", [FEATURES, CLASSES], struct.pack(f"{FEATURES * CLASSES}b", *range(FEATURES * CLASSES)), INT8)
        else:
            add("w", [FEATURES, CLASSES], onnx.floats(*self.w))
        w = through(None if integers else "w", "v", self.scales, 0, INT8)
        nodes.append(onnx.node("MatMul", [x, w], ["m"], "product"))
        source = "m"
        if bias if bias is not None else not integers:
            add("b", [CLASSES], onnx.floats(*self.b))
            nodes.append(onnx.node("Add", ["m", "b"], ["s"], "sum"))
            source = "s"
        y = through(source, "y", [STEP], 0, UINT8)
        outputs = [onnx.value_info(y, ["N", CLASSES])]
        if casts:
            nodes.append(onnx.node("Cast", ["v.q"], ["c"], "cast", attributes=onnx.data(5, onnx.data(1, "to") + onnx.number(3, onnx.FLOAT) + onnx.number(20, 2))))
            outputs.append(onnx.value_info("c", [FEATURES, CLASSES]))
        return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], outputs, tensors), 15)

    def step(self, x, target):
        """The loss, and w and b behind a step of plain descent."""
        rows = [[rounded(each, 0.01, -128, 127)[0] for each in x[i:i + FEATURES]] for i in range(0, len(x), FEATURES)]
        w = [rounded(each, self.scales[i % CLASSES], -128, 127) for i, each in enumerate(self.w)]
        loss, by_w, by_b = 0.0, [0.0] * len(self.w), [0.0] * CLASSES
        for n, row in enumerate(rows):
            for c in range(CLASSES):
                number, is_inside = rounded(sum(row[k] * w[k * CLASSES + c][0] for k in range(FEATURES)) + self.b[c], STEP, 0, 255)
                difference = number - target[n * CLASSES + c]
                loss += difference ** 2 / len(target)
                slope = 2 * difference / len(target) if is_inside else 0.0
                by_b[c] += slope
                for k in range(FEATURES):
                    by_w[k * CLASSES + c] += slope * row[k] * w[k * CLASSES + c][1]
        return loss, {"w": [a - RATE * g for a, g in zip(self.w, by_w)], "b": [a - RATE * g for a, g in zip(self.b, by_b)]}


class TrainQuantized(TrainCase):
    def step(self, model, *options):
        target = numbers(SAMPLES * CLASSES, 20, 0.0, 2.0)
        data = self.write("d.npz", npz(x=npy([SAMPLES, FEATURES], self.x), target=npy([SAMPLES, CLASSES], target)))
        done = self.sinter("train", self.write("net.onnx", model), "--data", data, "--loss", "mean-squared", "--lr", str(RATE), "--epochs", "1", "--batch", str(SAMPLES), "--no-shuffle",
                           "-o", self.path("out.onnx"), "--force", "--log", self.path("log.jsonl"), *options)
        return target, done

    def test_step(self):
        network = Quantized()
        for options in [], ["--backend", "interpreter"]:
            target, done = self.step(network.onnx(), *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            loss, wanted = network.step(self.x, target)
            with open(self.path("log.jsonl")) as file:
                self.assertAlmostEqual(json.loads(file.readline())["loss"], loss, places=5)
            with open(self.path("out.onnx"), "rb") as file:
                got = initializers(file.read())
            for name, values in wanted.items():
                self.assertEqual(len(got[name]), len(values))
                for a, b in zip(got[name], values):
                    self.assertAlmostEqual(a, b, places=5, msg=name)
            self.assertEqual(got["w"][1], 3.0)
            self.assertGreater(sum(a != b for a, b in zip(got["w"], network.w)), 3)
            # Scales belong to the rounding, also where there is one for each column.
            for a, b in zip(got["v.scale"], network.scales):
                self.assertAlmostEqual(a, b, places=8)

    def test_integers(self):
        """Weights that the file holds as integers are trained as the numbers that they stand for, and rounded again."""
        network = Quantized()
        elements = list(range(FEATURES * CLASSES))
        network.w = [each * network.scales[i % CLASSES] for i, each in enumerate(elements)]
        for options in [], ["--backend", "interpreter"]:
            target, done = self.step(network.onnx(integers=True, bias=True), *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("trained as floats, which are rounded to the integers of the file: v.q\n", done.stderr)
            loss, wanted = network.step(self.x, target)
            with open(self.path("log.jsonl")) as file:
                self.assertAlmostEqual(json.loads(file.readline())["loss"], loss, places=5)
            with open(self.path("out.onnx"), "rb") as file:
                content = file.read()
            got = bytes_of(content, "v.q")
            self.assertEqual(len(got), len(elements))
            for i, (a, b) in enumerate(zip(struct.unpack(f"{len(got)}b", got), wanted["w"])):
                quotient = b / network.scales[i % CLASSES]
                self.assertAlmostEqual(a, min(max(quotient, -128), 127), delta=0.501)
            self.assertGreater(sum(a != b for a, b in zip(struct.unpack(f"{len(got)}b", got), elements)), 3)
            for a, b in zip(initializers(content)["b"], wanted["b"]):
                self.assertAlmostEqual(a, b, places=5)
        # Nothing but integers is enough.
        _, done = self.step(network.onnx(integers=True))
        self.assertEqual(done.returncode, DONE, done.stderr)
        _, done = self.step(network.onnx(integers=True), "--frozen", "v.q")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("there is no weight to train", done.stderr)
        # What something else reads, too, stays as it is.
        _, done = self.step(network.onnx(integers=True, bias=True, casts=True))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("not trained, since the file holds them as integers that are not only dequantised to f32: v.q\n", done.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            self.assertEqual(list(bytes_of(file.read(), "v.q")), elements)


if __name__ == "__main__":
    main()
