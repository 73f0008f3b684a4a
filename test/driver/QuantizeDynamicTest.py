#!/usr/bin/env python3
"""`sinter quantize` of models with dynamic sizes that `sinter run` takes: in their dynamic form, with samples of different sizes."""
import json
import math
import os
import struct
import unittest

import OnnxBytes as onnx
import QuantizeModels as models
from QuantizeTest import QuantizeCase, floats_of
from SinterCommand import DONE, main, npy

FOUND = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")), "data/defects/found-2026-11-29")
FORMS = ["onnx", "mlir", "pdmodel"]


def integer(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


def numbers(name, *values):
    return onnx.tensor(name, [len(values)], struct.pack(f"<{len(values)}q", *values), onnx.INT64)


def node(op, inputs, output, attributes=b""):
    return onnx.node(op, inputs, [output], output, attributes=attributes)


def heads():
    """A product that is reshaped to (B, S, 3, 4, -1)."""
    nodes = [node("MatMul", ["x", "w"], "m"), node("Shape", ["x"], "s"), node("Slice", ["s", "i0", "i2"], "bs"), node("Concat", ["bs", "rest"], "shape", integer("axis", 0)), node("Reshape", ["m", "shape"], "y")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["B", "S", 16])], [onnx.value_info("y", ["B", "S", 3, 4, "D"])],
                                 [models.weight("w", [16, 48], 1), numbers("i0", 0), numbers("i2", 2), numbers("rest", 3, 4, -1)]))


def recogniser():
    """A recogniser of lines of text: convolutions, a pool of the height, attention whose heads are a Reshape, a product."""
    nodes = [node("Conv", ["x", "w0", "b0"], "c0", models.ints("strides", 2, 2) + models.ints("pads", 1, 1, 1, 1)), node("HardSwish", ["c0"], "h0"),
             node("Conv", ["h0", "w1", "b1"], "c1", models.ints("strides", 2, 1) + models.ints("pads", 1, 1, 1, 1) + integer("group", 8)), node("Relu", ["c1"], "h1"),
             node("AveragePool", ["h1"], "p", models.ints("kernel_shape", 4, 2) + models.ints("strides", 4, 2)),
             node("Squeeze", ["p", "i2"], "q"), node("Transpose", ["q"], "t", models.ints("perm", 0, 2, 1)),
             node("MatMul", ["t", "wq"], "u"), node("Add", ["u", "bq"], "v"),
             node("Shape", ["v"], "s"), node("Slice", ["s", "i0", "i2"], "bs"), node("Concat", ["bs", "rest"], "shape", integer("axis", 0)), node("Reshape", ["v", "shape"], "r"),
             node("Transpose", ["r"], "all", models.ints("perm", 2, 0, 3, 1, 4))]
    for i, name in enumerate(["query", "key", "value"]):
        nodes += [node("Slice", ["all", f"i{i}", f"i{i + 1}", "i0"], name + "1"), node("Squeeze", [name + "1", "i0"], name)]
    nodes += [node("Transpose", ["key"], "keys", models.ints("perm", 0, 1, 3, 2)), node("MatMul", ["query", "keys"], "scores"), node("Softmax", ["scores"], "soft", integer("axis", -1)),
              node("MatMul", ["soft", "value"], "o"), node("Transpose", ["o"], "ot", models.ints("perm", 0, 2, 1, 3)),
              node("Concat", ["bs", "minus"], "flat", integer("axis", 0)), node("Reshape", ["ot", "flat"], "l"), node("MatMul", ["l", "wo"], "y")]
    weights = [models.weight("w0", [8, 3, 3, 3], 1), models.weight("b0", [8], 2), models.weight("w1", [8, 1, 3, 3], 3), models.weight("b1", [8], 4), models.weight("wq", [8, 48], 5),
               models.weight("bq", [48], 6), models.weight("wo", [16, 10], 7), *(numbers(f"i{i}", i) for i in range(4)), numbers("rest", 3, 4, -1), numbers("minus", -1)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["B", 3, 16, "W"])], [onnx.value_info("y", ["B", "S", 10])], weights))


def choice(by_size):
    """A product, an If with a product in each branch, a product; the condition is an input, or whether there are more than 6 rows."""
    def branch(name, weight, op):
        return onnx.graph([node("MatMul", ["r", weight], name + "m"), node(op, [name + "m"], name)], [], [onnx.value_info(name, ["B", "S", 8])])
    graphs = b"".join(onnx.data(5, onnx.data(1, field) + onnx.data(6, branch(name, weight, op)) + onnx.number(20, 5)) for field, name, weight, op in (("then_branch", "a", "wa", "Relu"), ("else_branch", "b", "wb", "Neg")))
    nodes = [node("MatMul", ["x", "w"], "m"), node("Relu", ["m"], "r")]
    inputs = [onnx.value_info("x", ["B", "S", 16])]
    if by_size:
        nodes += [node("Shape", ["x"], "s"), node("Gather", ["s", "one"], "n"), node("Greater", ["n", "six"], "take")]
    else:
        inputs.append(onnx.value_info("take", [], onnx.BOOL))
    nodes += [onnx.node("If", ["take"], ["c"], "if", attributes=graphs), node("MatMul", ["c", "wz"], "y")]
    scalars = [onnx.tensor(name, [], struct.pack("<q", value), onnx.INT64) for name, value in (("one", 1), ("six", 6))]
    weights = [models.weight("w", [16, 12], 1), models.weight("wa", [12, 8], 2), models.weight("wb", [12, 8], 3), models.weight("wz", [8, 5], 4), *(scalars if by_size else [])]
    return onnx.model(onnx.graph(nodes, inputs, [onnx.value_info("y", ["B", "S", 5])], weights))


def residual():
    """A convolution whose channels differ in range, read by another one and by the sum behind that."""
    kernel = [each * 4.0 ** (i // 3) for i, each in enumerate(models.draw(12, 1))]
    second = [each / 4.0 ** (i % 4) for i, each in enumerate(models.draw(16, 2))]
    nodes = [node("Conv", ["x", "w0"], "c0"), node("Conv", ["c0", "w1"], "c1"), node("Add", ["c0", "c1"], "s"), node("Conv", ["s", "w2"], "y")]
    weights = [onnx.tensor("w0", [4, 3, 1, 1], onnx.floats(*kernel)), onnx.tensor("w1", [4, 4, 1, 1], onnx.floats(*second)), models.weight("w2", [5, 4, 1, 1], 3)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["B", 3, "H", "W"])], [onnx.value_info("y", ["B", 5, "H", "W"])], weights))


def decibels(wanted, got):
    noise = sum((a - b) ** 2 for a, b in zip(wanted, got, strict=True))
    return 10 * math.log10(sum(each * each for each in wanted) / noise) if noise else math.inf


class Dynamic(QuantizeCase):
    def sizes(self, name, shape, count=7):
        """Samples whose dynamic dimensions grow; returns the folder."""
        for i in range(count):
            os.makedirs(self.path(f"{name}/s{i}"), exist_ok=True)
            for tensor, content in shape(i).items():
                self.write(f"{name}/s{i}/{tensor}.npy", content)
        return self.path(name)

    def floats(self, sizes, seed):
        return npy(tuple(sizes), models.draw(math.prod(sizes), seed, 1.0))

    def quantised(self, model, shape, unseen, dimensions, forms=FORMS, least=25):
        """Quantises MODEL in each form; the file has dynamic DIMENSIONS, and gives about the same as the float model for sizes that are UNSEEN."""
        data = self.sizes("data", shape)
        for form in forms:
            with self.subTest(form):
                out = self.path("q." + form)
                report = self.quantize(model, "--calibration", data, "-o", out, "--force")
                self.assertTrue(any(not layer["kept_float"] and layer["op"] in ("dot_general", "convolution") for layer in report["layers"]), report["layers"])
                self.assertGreater(report["snr_db"], least)
                done = self.sinter("inspect", out, "--json")
                self.assertEqual(done.returncode, DONE, done.stderr)
                shapes = {each["name"]: each["shape"] for each in json.loads(done.stdout)["inputs"]}
                for name, axes in dimensions.items():
                    self.assertEqual([axis for axis, size in enumerate(shapes[name]) if size < 0], axes, shapes)
                for i, sample in enumerate(unseen):
                    inputs = [f"{name}={self.write(f'{name}-{i}.npy', content)}" for name, content in sample.items()]
                    wanted = floats_of(self.run_model(model, *inputs))
                    for backend in "cpu", "interpreter":
                        self.assertGreater(decibels(wanted, floats_of(self.run_model(out, *inputs, "--backend", backend))), least - 5, (backend, i))

    def run_model(self, model, *inputs):
        if "--backend" not in inputs:
            return super().run_model(model, *inputs)
        out = self.path("backend")
        given = inputs[:inputs.index("--backend")]
        done = self.sinter("run", model, *(word for each in given for word in ("--input", each)), "--output-dir", out, *inputs[len(given):])
        self.assertEqual(done.returncode, DONE, done.stderr)
        return self.bytes_of(os.path.join(out, sorted(os.listdir(out))[0]))

    def test_residual(self):
        """What a sum reads, too, keeps its channels as they are."""
        sizes = lambda i: (1 + i % 2, 3, 6 + i, 9 - i)
        self.quantised(self.write("residual.onnx", residual()), lambda i: {"x": self.floats(sizes(i), i)}, [{"x": self.floats((2, 3, 5, 7), 50)}], {"x": [0, 2, 3]})

    def test_reshape(self):
        model = self.write("heads.onnx", heads())
        self.quantised(model, lambda i: {"x": self.floats([1 + i % 3, 2 + 3 * i, 16], i)}, [{"x": self.floats([2, 5, 16], 90)}, {"x": self.floats([1, 1, 16], 91)}], {"x": [0, 1]})

    def test_recogniser(self):
        model = self.write("rec.onnx", recogniser())
        self.quantised(model, lambda i: {"x": self.floats([1 + i % 2, 3, 16, 16 + 8 * i], i)}, [{"x": self.floats([2, 3, 16, 21], 90)}, {"x": self.floats([1, 3, 16, 64], 91)}], {"x": [0, 3]}, least=20)

    def test_branches(self):
        model = self.write("if.onnx", choice(False))
        self.quantised(model, lambda i: {"x": self.floats([1 + i % 2, 3 + 2 * i, 16], i), "take": onnx.npy((), "|b1", bytes([i % 2]))},
                       [{"x": self.floats([2, 4, 16], 90), "take": onnx.npy((), "|b1", bytes([i]))} for i in range(2)], {"x": [0, 1]})

    def test_branches_by_size(self):
        model = self.write("if.onnx", choice(True))
        self.quantised(model, lambda i: {"x": self.floats([1 + i % 2, 3 + 2 * i, 16], i)}, [{"x": self.floats([2, 4, 16], 90)}, {"x": self.floats([1, 9, 16], 91)}], {"x": [0, 1]})

    @unittest.skipUnless(os.path.isdir(FOUND), "the shared files are not there")
    def test_shared_file(self):
        self.quantised(f"{FOUND}/quantize_reshape_open.onnx", lambda i: {"x": self.floats([1 + i % 3, 2 + 3 * i, 16], i)}, [{"x": self.floats([2, 5, 16], 90)}], {"x": [0, 1]})


if __name__ == "__main__":
    main()
