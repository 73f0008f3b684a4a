#!/usr/bin/env python3
# Covers: formats/onnx/write QuantizedProducts
# Covers: passes QuantizedForms RaiseQuantizedProducts
"""What `sinter optimize --raise-quantized` makes of quantised ONNX models of every form, and what it writes of it.

  RaisedQuantized.py --sinter build/bin/sinter

  RaisedQuantized.py --all ...       every case; else so many that any two values of properties meet
  RaisedQuantized.py --every K ...   one in K of those, and so many that each value of each property occurs

Each case is a form (QuantizeLinear and DequantizeLinear around an operation, QLinearConv and QLinearMatMul, ConvInteger and
MatMulInteger) of a storage type, an expressed type, scales for all or for each channel, zero points or none, a bias or none,
a batch that is known or not, and a version of the operator set:

  - the file that is written has the nodes that it had, and the values, to the bit: by both backends, and by ONNX Runtime
    where it is at hand and knows the type; ONNX's checker agrees;
  - as StableHLO the model has quantised types, whose values by both backends are the same to the bit, and at most one step
    of the last scale from the file's (none where nothing but what is exact was raised).

Needs Python's onnx and numpy (Debian: python3-onnx); without them it says so and ends with 77.
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without()
import numpy as np
import onnx
from judge import OnnxRuntime
from judge.Storage import STORAGE, stored, tensor
from onnx import helper, numpy_helper

SINTER = None
PUBLISHED = "/usr/share/libonnx-testdata/data/node"
TAKES_ALL = "--all" in sys.argv
EVERY = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
HAS_RUNTIME = Packages.missing(runtime=True) is None

FLOATS = {"f32": (1, np.float32), "f16": (10, np.float16), "bf16": (16, None)}


def floats(name, kind, values):
    values = np.asarray(values, np.float32)
    code, dtype = FLOATS[kind]
    raw = (np.atleast_1d(values).view(np.uint32) >> 16).astype("<u2").tobytes() if kind == "bf16" else values.astype(dtype).tobytes()
    return tensor(name, code, values.shape, raw)


def rounded(kind, values):
    """Numbers that the type holds."""
    values = np.asarray(values, np.float32)
    if kind == "bf16":
        return (np.atleast_1d(values).view(np.uint32) & 0xffff0000).view(np.float32).reshape(values.shape)
    return values.astype(FLOATS[kind][1]).astype(np.float32)


class Builder:
    """A model of one cell (see cells)."""

    def __init__(self, cell, seed=7):
        self.__dict__.update(cell)
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.step = [], [], 0
        _, bits, least, greatest = STORAGE[self.storage]
        self.scale = float(rounded(self.expressed, 4.0 / 2**bits))
        # Odd, and away from the middle of what has a sign.
        self.zero = least + (greatest - least) // 2 + (0 if (least + (greatest - least) // 2) % 2 else 1)
        if self.is_symmetric:
            self.zero = 0

    def batch(self):
        return "N" if self.is_dynamic else 2

    def node(self, op, inputs, **attributes):
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"n{len(self.nodes)}_{op}", **attributes))
        return output

    def parameters(self, stem, scale, zero, storage):
        self.weights += [floats(stem + "_scale", self.expressed, scale), stored(stem + "_zero", storage, zero)]
        return [stem + "_scale", stem + "_zero"]

    def quantize(self, value, stem, scale=None, zero=None):
        scale, zero = scale or self.scale, self.zero if zero is None else zero
        self.step = scale
        return self.node("QuantizeLinear", [value] + self.parameters(stem, scale, zero, self.storage))

    def dequantize(self, value, stem):
        return self.node("DequantizeLinear", [value, stem + "_scale", stem + "_zero"])

    def constant(self, name, shape, axis):
        """A weight with its scale and zero point."""
        _, bits, least, greatest = STORAGE[self.weight]
        channels = shape[axis]
        scale = self.random.uniform(0.2, 1.0, channels) * 2.0 / 2**bits if self.per_axis else 1.3 / 2**bits
        zero = np.zeros(channels, np.int64) if self.per_axis else np.int64(0)
        if self.weight[0] == "u" and not self.is_symmetric:
            zero = zero + (greatest + 1) // 2
        if self.weight_zero != "middle":
            zero = zero - 2 ** (bits - 3) + 1
        if self.weight_zero == "narrow":
            greatest = int(np.max(zero)) + 2 ** (bits - 1) - 1
        self.weights.append(stored(name, self.weight, self.random.integers(least, greatest + 1, shape)))
        self.weight_scale = rounded(self.expressed, scale)
        return [name] + self.parameters(name, self.weight_scale, zero, self.weight)

    def bias(self, channels):
        """Its tensor, or none."""
        if not self.has_bias:
            return []
        scale = rounded(self.expressed, np.float32(self.scale) * self.weight_scale)
        self.weights.append(stored("bias", "i32", self.random.integers(-500, 500, channels)))
        self.weights.append(floats("bias_scale", self.expressed, scale))
        return [self.node("DequantizeLinear", ["bias", "bias_scale"], **self.axis(0))]

    def axis(self, axis):
        """The attribute of a DequantizeLinear with scales along it."""
        return {"axis": axis} if self.per_axis else {}

    def model(self, inputs, output, shape, code):
        graph = helper.make_graph(self.nodes, "g", inputs, [helper.make_tensor_value_info(output, code, shape)],
                                  self.weights)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        proto.ir_version = 10 if self.opset > 17 else 8
        return proto

    def real(self, name, shape):
        return helper.make_tensor_value_info(name, FLOATS[self.expressed][0], shape)


def qdq_conv(b):
    x = b.dequantize(b.quantize("x", "x"), "x")
    w = b.constant("w", (4, 3, 3, 3), 0)
    wd = b.node("DequantizeLinear", w, **b.axis(0))
    c = b.node("Conv", [x, wd] + b.bias(4), pads=[1, 1, 1, 1])
    y = b.dequantize(b.quantize(b.node("Relu", [c]), "y", b.scale * 4), "y")
    return b.model([b.real("x", [b.batch(), 3, 5, 5])], y, [b.batch(), 4, 5, 5], FLOATS[b.expressed][0])


def qdq_matmul(b):
    x = b.dequantize(b.quantize("x", "x"), "x")
    w = b.node("DequantizeLinear", b.constant("w", (6, 5), 1), **b.axis(1))
    y = b.dequantize(b.quantize(b.node("MatMul", [x, w]), "y", b.scale * 2), "y")
    return b.model([b.real("x", [b.batch(), 4, 6])], y, [b.batch(), 4, 5], FLOATS[b.expressed][0])


def qdq_residual_conv(b):
    """What is dequantised once is read by a product and by a sum of floats."""
    x = b.dequantize(b.quantize("x", "x"), "x")
    wd = b.node("DequantizeLinear", b.constant("w", (3, 3, 3, 3), 0), **b.axis(0))
    c = b.dequantize(b.quantize(b.node("Conv", [x, wd] + b.bias(3), pads=[1, 1, 1, 1]), "c", b.scale * 4), "c")
    y = b.node("Add", [c, x])
    return b.model([b.real("x", [b.batch(), 3, 5, 5])], y, [b.batch(), 3, 5, 5], FLOATS[b.expressed][0])


def qdq_functions(b):
    x = b.dequantize(b.quantize("x", "x"), "x")
    s = b.dequantize(b.quantize(b.node("Sigmoid", [x]), "s", b.scale / 2), "s")
    m = b.dequantize(b.quantize(b.node("Mul", [x, s]), "m", b.scale * 2), "m")
    p = b.dequantize(b.quantize(b.node("LeakyRelu", [m], alpha=0.1), "p"), "p")
    y = b.dequantize(b.quantize(b.node("Add", [p, x]), "y", b.scale * 2), "y")
    return b.model([b.real("x", [b.batch(), 4, 6])], y, [b.batch(), 4, 6], FLOATS[b.expressed][0])


def qdq_moves(b):
    """What only moves elements, with one scale: exact."""
    x = b.dequantize(b.quantize("x", "x"), "x")
    t = b.node("Transpose", [x], perm=[0, 2, 1])
    q = b.node("QuantizeLinear", [t, "x_scale", "x_zero"])
    y = b.dequantize(q, "x")
    return b.model([b.real("x", [b.batch(), 4, 6])], y, [b.batch(), 6, 4], FLOATS[b.expressed][0])


def qdq_alone(b):
    """Quantising, dequantising and what moves elements between them."""
    x = b.node("Transpose", [b.quantize("x", "x")], perm=[0, 2, 1])
    y = b.dequantize(x, "x")
    return b.model([b.real("x", [b.batch(), 4, 6])], y, [b.batch(), 6, 4], FLOATS[b.expressed][0])


def quantize_alone(b):
    """The output is what is stored."""
    return b.model([b.real("x", [b.batch(), 4, 6])], b.quantize("x", "x"), [b.batch(), 4, 6], STORAGE[b.storage][0])


def dequantize_alone(b):
    """The input is what is stored, with a scale for each channel or for all."""
    _, _, least, greatest = STORAGE[b.storage]
    scale = b.random.uniform(0.1, 1, 4) if b.per_axis else 0.3
    zero = b.random.integers(least, greatest + 1, 4) if b.per_axis else b.zero
    if b.is_symmetric:
        zero = zero * 0
    names = b.parameters("x", rounded(b.expressed, scale), zero, b.storage)
    y = b.node("DequantizeLinear", ["x"] + names, **b.axis(1))
    x = helper.make_tensor_value_info("x", STORAGE[b.storage][0], [b.batch(), 4, 6])
    return b.model([x], y, [b.batch(), 4, 6], FLOATS[b.expressed][0])


def qlinear_conv(b):
    q = b.quantize("x", "x")
    w = b.constant("w", (4, 3, 3, 3), 0)
    y = b.parameters("y", b.scale * 4, b.zero, b.storage)
    if b.has_bias:
        b.weights.append(stored("bias", "i32", b.random.integers(-500, 500, 4)))
    c = b.node("QLinearConv", [q, "x_scale", "x_zero"] + w + y + ["bias"] * b.has_bias, pads=[1, 1, 1, 1])
    b.step = b.scale * 4
    return b.model([b.real("x", [b.batch(), 3, 5, 5])], b.dequantize(c, "y"), [b.batch(), 4, 5, 5],
                   FLOATS[b.expressed][0])


def qlinear_matmul(b):
    q = b.quantize("x", "x")
    w = b.constant("w", (6, 5), 1)
    y = b.parameters("y", b.scale * 2, b.zero, b.storage)
    c = b.node("QLinearMatMul", [q, "x_scale", "x_zero"] + w + y)
    b.step = b.scale * 2
    return b.model([b.real("x", [b.batch(), 4, 6])], b.dequantize(c, "y"), [b.batch(), 4, 5], FLOATS[b.expressed][0])


def integers(op, shape, weight, axis, result, attributes):
    def build(b):
        w = b.constant("w", weight, axis)
        b.weights.append(stored("x_zero", b.storage, b.zero))
        y = b.node(op, ["x", "w", "x_zero", "w_zero"], **attributes)
        b.step = 0
        x = helper.make_tensor_value_info("x", STORAGE[b.storage][0], [b.batch()] + shape)
        return b.model([x], y, [b.batch()] + result, 6)

    return build


FORMS = {
    "qdq_conv": qdq_conv,
    "qdq_matmul": qdq_matmul,
    "qdq_residual_conv": qdq_residual_conv,
    "qdq_functions": qdq_functions,
    "qdq_moves": qdq_moves,
    "qdq_alone": qdq_alone,
    "quantize_alone": quantize_alone,
    "dequantize_alone": dequantize_alone,
    "qlinear_conv": qlinear_conv,
    "qlinear_matmul": qlinear_matmul,
    "conv_integer": integers("ConvInteger", [3, 5, 5], (4, 3, 3, 3), 0, [4, 5, 5], {"pads": [1, 1, 1, 1]}),
    "matmul_integer": integers("MatMulInteger", [4, 6], (6, 5), 1, [4, 5], {}),
}
EXACT = {"qdq_moves", "qdq_alone", "quantize_alone", "dequantize_alone", "conv_integer", "matmul_integer"}
OPSETS = (10, 13, 19, 21, 22)
PROPERTIES = ("form", "storage", "weight", "weight_zero", "expressed", "per_axis", "is_symmetric", "has_bias", "is_dynamic", "opset")
# Of a weight: in the middle of its storage, an odd number, or one around which the elements lie within a signed range.
WEIGHT_ZEROS = ("middle", "odd", "narrow")


def is_valid(cell):
    """Whether ONNX has such a model, and the properties say something of it."""
    is_byte_form = not cell["form"].startswith(("qdq", "quantize", "dequantize"))
    has_weight = cell["form"].endswith(("_conv", "_matmul", "_integer"))
    storage, weight = cell["storage"], cell["weight"]
    types = [storage] + [weight] * has_weight
    if not has_weight and (weight != "i8" or (cell["per_axis"] and cell["form"] != "dequantize_alone")):
        return False
    if cell["weight_zero"] != "middle" and (not has_weight or cell["is_symmetric"]):
        return False
    if cell["has_bias"] and not cell["form"].endswith("_conv"):
        return False
    if is_byte_form and (any(each not in ("u8", "i8") for each in types) or cell["expressed"] != "f32"):
        return False
    # Neither bf16 nor f16 holds what lies between 16-bit numbers and a zero point.
    if storage.endswith("16") and cell["expressed"] != "f32":
        return False
    # A weight has the storage of the activation or takes it on.
    if storage.endswith("4") and has_weight and weight != "i4":
        return False
    needed = max([10, 13 * cell["per_axis"], 19 * (cell["expressed"] != "f32")] +
                 [21 for each in types if each not in ("u8", "i8")])
    # The first version in which Conv has bf16, for that alone.
    if cell["expressed"] == "bf16" and cell["form"].endswith("_conv"):
        needed = 22
    return cell["opset"] >= needed and (cell["opset"] < 22 or needed == 22)


def cover(cells, things):
    """So many of the cells that each of their things occurs: things(cell) is a set."""
    seen, chosen = set(), []
    for cell in cells:
        if not things(cell) <= seen:
            seen |= things(cell)
            chosen.append(cell)
    return chosen


def cells(takes_all, every_nth):
    values = (FORMS, list(STORAGE)[:6], ("i8", "u8", "i4"), WEIGHT_ZEROS, FLOATS, (False, True), (False, True), (False, True),
              (False, True), OPSETS)
    every = [dict(zip(PROPERTIES, each)) for each in itertools.product(*values)]
    every = [each for each in every if is_valid(each)]
    if takes_all:
        return every
    random.Random(5).shuffle(every)
    chosen = cover(every, lambda cell: set(itertools.combinations(sorted(cell.items(), key=str), 2)))
    needed = cover(chosen, lambda cell: set(cell.items()))
    return [each for i, each in enumerate(chosen) if i % every_nth == 0 or each in needed]


def described(cell):
    return "-".join(f"{name}={value}" if isinstance(value, bool) else str(value) for name, value in cell.items())


class RaisedQuantized(unittest.TestCase):
    def call(self, *arguments):
        done = subprocess.run([SINTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def values(self, path, folder, backend):
        out = os.path.join(folder, "out")
        self.call("run", path, "--input", os.path.join(folder, "x.npy"), "--backend", backend, "--no-cache",
                  "--output-dir", out)
        files = os.listdir(out)
        self.assertEqual(len(files), 1)
        array = np.load(os.path.join(out, files[0]))
        os.remove(os.path.join(out, files[0]))
        return array

    def input(self, proto, b, folder):
        """Values around the range, and some in the middle between two elements."""
        type = proto.graph.input[0].type.tensor_type
        shape = [each.dim_value or 2 for each in type.shape.dim]
        if type.elem_type not in (1, 10, 16):
            _, bits, least, greatest = STORAGE[b.storage]
            x = b.random.integers(least, greatest + 1, shape)
            x = x.astype(f"{'u' if b.storage[0] == 'u' else ''}int{max(bits, 8)}")
        else:
            x = b.random.uniform(-2.5, 2.5, shape).astype(np.float32)
            ties = (np.round(x / b.scale) + 0.5) * b.scale
            x = np.where(b.random.uniform(size=shape) < 0.2, ties, x).astype(np.float32)
            if b.expressed == "f16":
                x = x.astype(np.float16)
        np.save(os.path.join(folder, "x.npy"), x)
        return x

    def assertNear(self, expected, got, limit):
        self.assertEqual(expected.shape, got.shape)
        self.assertLessEqual(np.abs(expected.astype(np.float64) - got.astype(np.float64)).max(), limit)

    def check(self, cell, folder, tasks):
        b = Builder(cell)
        proto = FORMS[b.form](b)
        source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
        onnx.save(proto, source)
        x = self.input(proto, b, folder)
        report = json.loads(self.call("optimize", source, "-o", target, "--raise-quantized", "--json"))
        self.assertTrue({label for label in report["patterns"] if "raise-" in label}, report["patterns"])
        written = onnx.load(target)
        if written.ir_version <= onnx.IR_VERSION and b.opset <= onnx.defs.onnx_opset_version():
            onnx.checker.check_model(written, full_check=True)
        nodes = sorted(each.op_type for each in written.graph.node)
        same = sorted(each.op_type for each in proto.graph.node)
        if b.form == "qdq_moves":
            # What is quantised again as it was needs no dequantising between; whether it is, depends on the scale in bf16.
            fewer = ["DequantizeLinear", "QuantizeLinear", "Transpose"]
            self.assertIn(nodes, [fewer, same] if b.expressed == "bf16" else [fewer])
        else:
            # A clamp that quantising does anyway may vanish.
            self.assertIn(nodes, [same, [each for each in same if each != "Relu"]])
        # NumPy has no file form for these.
        if b.expressed == "bf16" or any(each.type.tensor_type.elem_type in (21, 22)
                                        for each in (*proto.graph.input, *proto.graph.output)):
            return
        before = self.values(source, folder, "interpreter")
        np.testing.assert_array_equal(before, self.values(target, folder, "interpreter"))
        np.testing.assert_array_equal(self.values(source, folder, "cpu"), self.values(target, folder, "cpu"))
        if HAS_RUNTIME and b.expressed == "f32":
            name = proto.graph.input[0].name
            tasks.append([cell] + [OnnxRuntime.Task(path, {name: x}, os.path.join(folder, f"run{i}"))
                                   for i, path in enumerate((source, target))])
        # The same as StableHLO.
        text, types = os.path.join(folder, "in.mlir"), os.path.join(folder, "types.mlir")
        self.call("convert", source, "-o", text)
        self.call("optimize", text, "-o", types, "--raise-quantized")
        with open(types) as file:
            graph = file.read()
        self.assertIn("!quant.uniform", graph)
        oracle = self.values(types, folder, "interpreter")
        compiled = self.values(types, folder, "cpu")
        # One for each operation that is quantised on the way.
        steps = sum(each.op_type == "QuantizeLinear" for each in proto.graph.node)
        limit = b.step * (1 if steps <= 2 else steps) * 1.01 + 1e-6
        # Sums of floats depend on their order, those of integers do not.
        sums = [line for line in graph.splitlines() if "stablehlo.convolution" in line or "stablehlo.dot_general" in line]
        self.assertNear(oracle, compiled, 0 if all("-> tensor<" in each and "!quant" in each.split("-> tensor<")[1]
                                                   for each in sums) else limit)
        self.assertNear(before, oracle, 0 if b.form in EXACT else limit)

    def test_cells(self):
        chosen, tasks = cells(TAKES_ALL, EVERY), []
        with tempfile.TemporaryDirectory() as folder:
            for i, cell in enumerate(chosen):
                with self.subTest(described(cell)):
                    own = os.path.join(folder, str(i))
                    os.mkdir(own)
                    self.check(cell, own, tasks)
            OnnxRuntime.run([each for _, *both in tasks for each in both])
            judged = 0
            for cell, before, after in tasks:
                if before.error is not None:
                    continue
                judged += 1
                with self.subTest(described(cell)):
                    self.assertIsNone(after.error)
                    for output, theirs in before.outputs.items():
                        np.testing.assert_array_equal(theirs, after.outputs[output])
        print(f"{len(chosen)} cells, {judged} of them judged by ONNX Runtime, too")

    def test_published_nodes(self):
        """ONNX's own cases of nodes, whose two operands are inputs."""
        for name in ("qlinearmatmul_2D", "qlinearmatmul_3D", "qlinearconv", "matmulinteger", "convinteger_without_padding"):
            case = os.path.join(PUBLISHED, "test_" + name)
            if not os.path.isdir(case):
                self.skipTest(f"no {case}; install libonnx-testdata")
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.check_published(case, folder)

    def check_published(self, case, folder):
        proto, data, values = onnx.load(os.path.join(case, "model.onnx")), os.path.join(case, "test_data_set_0"), []
        graph, is_qlinear = proto.graph, proto.graph.node[0].op_type.startswith("QLinear")
        for i, each in enumerate(list(graph.input)):
            value = onnx.load_tensor(os.path.join(data, f"input_{i}.pb"))
            value.name = each.name
            if i == 0 or i == (3 if is_qlinear else 1):
                values += ["--input", f"{each.name}={os.path.join(data, f'input_{i}.pb')}"]
                continue
            graph.initializer.append(value)
            graph.input.remove(each)
        expected = numpy_helper.to_array(onnx.load_tensor(os.path.join(data, "output_0.pb")))
        source, target, text, types = (os.path.join(folder, name) for name in ("a.onnx", "b.onnx", "a.mlir", "b.mlir"))
        onnx.save(proto, source)
        self.call("optimize", source, "-o", target, "--raise-quantized")
        self.assertEqual([each.op_type for each in onnx.load(target).graph.node], [graph.node[0].op_type])
        self.call("convert", source, "-o", text)
        self.call("optimize", text, "-o", types, "--raise-quantized")
        with open(types) as file:
            self.assertRegex(file.read(), r"(dot_general|convolution).*-> tensor<[0-9x]*!quant.uniform<i32")
        for model, backend in itertools.product((source, target, types), ("interpreter", "cpu")):
            out = os.path.join(folder, "out")
            self.call("run", model, *values, "--backend", backend, "--no-cache", "--output-dir", out)
            (file,) = os.listdir(out)
            self.assertNear(expected, np.load(os.path.join(out, file)), 1 if is_qlinear and model == types else 0)

    def test_dynamic_quantisation_stays(self):
        """Its scale is no constant; the node is written as it was."""
        b = Builder(dict(zip(PROPERTIES, ("", "u8", "i8", "middle", "f32", False, False, False, True, 21))))
        b.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], name="dynamic"))
        w = b.constant("w", (6, 5), 1)
        y = b.node("MatMulInteger", ["q", "w", "z", "w_zero"])
        proto = b.model([b.real("x", [b.batch(), 4, 6])], y, [b.batch(), 4, 5], 6)
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
            onnx.save(proto, source)
            self.call("optimize", source, "-o", target, "--raise-quantized")
            self.assertEqual([each.op_type for each in onnx.load(target).graph.node],
                             ["DynamicQuantizeLinear", "MatMulInteger"])


if __name__ == "__main__":
    if "--every" in sys.argv:
        del sys.argv[sys.argv.index("--every") : sys.argv.index("--every") + 2]
    sys.argv = [each for each in sys.argv if each != "--all"]
    Command.run_tests(sys.modules[__name__])
