#!/usr/bin/env python3
# Covers: formats/onnx/ops RuntimeQuantized
"""ONNX Runtime's own quantised operators, judged by it.

  RuntimeQuantized.py --sinter build/bin/sinter
  RuntimeQuantized.py --all ...    every case; else so many that any two values of properties meet for each operator
  RuntimeQuantized.py --every K ...   one in K of those, at least one of each case

Each case is a node of the domain com.microsoft, over u8 and i8 (u16 and i16 where they may be), a scale for all or for each column, zero points that are odd
or absent (ONNX Runtime is asked about zeros then: it says that they are optional, but needs most of them), a batch that is
known or not:

  - both backends compute what ONNX Runtime does: products to the bit, what is rounded to one step of the result's scale
    (which adds in another order, or by a table);
  - `sinter optimize` gives the node back, with the same values by ONNX Runtime;
  - with --raise-quantized, what is written has nodes of ONNX's own domain alone, and the same values;
  - as StableHLO, too; where the table says so, with quantised types (with several zero points of one weight, not).

What the operators do not allow is refused with what is wrong. Needs Python's onnx and numpy, and ONNX Runtime (npm install in
bench/); without them it says so and ends with 77.
"""
import itertools
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

SINTER = None
TAKES_ALL = "--all" in sys.argv
EVERY = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
BYTES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16}
DOMAIN = "com.microsoft"
BACKENDS = ("interpreter", "cpu")


class Node:
    """A node while it is put together: inputs of the graph and constants, by position."""

    def __init__(self, bytes="u8_i8", is_dynamic=False, has_zero=True, per_column="no", spells_zero=False):
        self.storage, self.weight = bytes.split("_")
        self.is_dynamic, self.spells_zero = is_dynamic, spells_zero
        self.has_zero, self.per_column = has_zero, per_column
        self.random = np.random.default_rng(3)
        self.names, self.inputs, self.feeds, self.constants, self.attributes = [], [], {}, [], {}

    def input(self, array):
        """An input of the graph, whose first dimension may be unknown."""
        name = f"x{len(self.inputs)}"
        shape = list(array.shape)
        if self.is_dynamic and shape:
            shape[0] = "N"
        self.names.append(name)
        self.feeds[name] = array
        self.inputs.append(helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], shape))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.names.append(name)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))

    def nothing(self):
        self.names.append("")

    def bytes(self, storage, *shape):
        limits = np.iinfo(BYTES[storage])
        return self.random.integers(limits.min, limits.max + 1, shape).astype(BYTES[storage])

    def parameters(self, scale, zero, storage=None):
        """A scale and an odd zero point, which may be absent."""
        self.constant(np.float32(scale))
        self.zero(zero, storage or self.storage)

    def zero(self, zero, storage):
        if self.has_zero:
            self.constant(np.array(zero - (128 if storage == "i8" else 0), BYTES[storage]))
        else:
            self.no_zero(storage)

    def no_zero(self, storage, shape=()):
        """Nothing, or zeros where they have to be spelt out."""
        if self.spells_zero:
            self.constant(np.zeros(shape, BYTES[storage]))
        else:
            self.nothing()

    def columns(self, count):
        """Scales of a weight, one or one for each column."""
        one = self.per_column == "no"
        return np.float32(0.007) if one else self.random.uniform(0.004, 0.01, count).astype(np.float32)

    def column_zeros(self, count):
        """Zero points of a weight, as many as scales: the same, or several."""
        zeros = {"no": np.array(-7), "scales": np.full(count, -7)}.get(self.per_column)
        if zeros is None:
            zeros = self.random.integers(-9, 9, count)
        if not self.has_zero:
            return self.no_zero(self.weight, zeros.shape)
        self.constant((zeros + (128 if self.weight == "u8" else 0)).astype(BYTES[self.weight]))

    def model(self, op, domain=DOMAIN, **attributes):
        while self.names and not self.names[-1]:
            self.names.pop()
        node = helper.make_node(op, self.names, ["y"], domain=domain, name="node", **attributes)
        graph = helper.make_graph([node], "g", self.inputs, [onnx.ValueInfoProto(name="y")], self.constants)
        return helper.make_model(graph, ir_version=9,
                                 opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)])


def binary(op):
    def build(b):
        b.input(b.bytes(b.storage, 2, 3, 5))
        b.parameters(0.02, 117)
        b.constant(b.bytes(b.storage, 3, 1))
        b.parameters(0.013, 131)
        b.parameters(0.027, 119)
        return b.model(op)

    return build


def binary_of_inputs(op):
    def build(b):
        b.input(b.bytes(b.storage, 2, 3, 5))
        b.parameters(0.02, 117)
        b.input(b.bytes(b.storage, 2, 3, 5))
        b.parameters(0.013, 131)
        b.parameters(0.027, 119)
        return b.model(op)

    return build


def unary(op, shape=(2, 3, 4, 5), scale=0.01, **attributes):
    def build(b):
        b.input(b.bytes(b.storage, *shape))
        b.parameters(0.05, 113)
        b.parameters(scale, 3 if scale < 0.01 else 121)
        return b.model(op, **attributes)

    return build


def concat(b):
    b.parameters(0.03, 117)
    b.input(b.bytes(b.storage, 2, 3, 4))
    b.parameters(0.02, 121)
    b.constant(b.bytes(b.storage, 2, 2, 4)) if not b.is_dynamic else b.input(b.bytes(b.storage, 2, 2, 4))
    b.parameters(0.03, 117)
    return b.model("QLinearConcat", axis=1)


def qgemm(is_left, is_right, bias, alpha=1.0, gives_floats=False):
    def build(b):
        b.input(b.bytes(b.storage, *((6, 4) if is_left else (4, 6))))
        b.parameters(0.02, 117)
        b.constant(b.bytes(b.weight, *((5, 6) if is_right else (6, 5))))
        b.constant(b.columns(5))
        b.column_zeros(5)
        b.constant(b.random.integers(-900, 900, bias).astype(np.int32)) if bias else b.nothing()
        if not gives_floats:
            b.constant(np.float32(0.06 * alpha))
            b.constant(np.array(121 - (128 if b.storage == "i8" else 0), BYTES[b.storage]))
        # With A transposed, its first dimension is summed over.
        if b.is_dynamic and is_left:
            b.inputs[0].type.tensor_type.shape.dim[0].dim_value = 6
        return b.model("QGemm", transA=int(is_left), transB=int(is_right), alpha=alpha)

    return build


def integer_to_float(*batch):
    def build(b):
        b.input(b.bytes(b.storage, *batch, 4, 6))
        b.constant(b.bytes(b.weight, 6, 5))
        b.constant(np.float32(0.02))
        b.constant(b.columns(5))
        b.zero(117, b.storage)
        b.column_zeros(5)
        b.constant(b.random.uniform(-1, 1, 5).astype(np.float32))
        return b.model("MatMulIntegerToFloat")

    return build


def dynamic_matmul(b):
    b.input(b.random.uniform(-1, 2, (2, 4, 6)).astype(np.float32))
    # Sums of products of u8 and these do not overflow 16 bits on machines that add two of them there.
    b.constant((b.bytes(b.weight, 6, 5) >> 1).astype(BYTES[b.weight]))
    b.constant(b.columns(5))
    b.column_zeros(5)
    b.constant(b.random.uniform(-1, 1, 5).astype(np.float32))
    return b.model("DynamicQuantizeMatMul")


def quantize(b):
    b.input(b.random.uniform(-3, 3, (2, 3, 4)).astype(np.float32))
    b.constant(np.float32(0.02) if b.per_column == "no" else b.random.uniform(0.01, 0.03, 3).astype(np.float32))
    zero = np.array(113 if b.per_column == "no" else [113, 121, 97]) - (128 if b.storage == "i8" else 0)
    b.constant(zero.astype(BYTES[b.storage]))
    return b.model("QuantizeLinear", axis=1)


def dequantize(b):
    b.input(b.bytes(b.storage, 2, 3, 4))
    b.constant(np.float32(0.02) if b.per_column == "no" else b.random.uniform(0.01, 0.03, 3).astype(np.float32))
    zero = np.array(113 if b.per_column == "no" else [113, 121, 97]) - (128 if b.storage == "i8" else 0)
    b.constant(zero.astype(BYTES[b.storage])) if b.has_zero else b.no_zero(b.storage, zero.shape)
    return b.model("DequantizeLinear", axis=1)


def few_bits(bits, size, sums, zero, has_bias=False, dtype=np.float32, order=None):
    """MatMulNBits; zero points are packed, floats or absent. The order of the blocks: shuffled, uneven, or what it is."""

    def build(b):
        columns, count = 5, -(-sums // size)
        b.input(b.random.uniform(-1, 1, (2, 3, sums)).astype(dtype))
        b.constant(b.random.integers(0, 256, (columns, count, size * bits // 8)).astype(np.uint8))
        b.constant(b.random.uniform(0.01, 0.2, columns * count).astype(dtype))
        if zero == "packed":
            b.constant(b.random.integers(0, 256, columns * -(-count * bits // 8)).astype(np.uint8))
        elif zero == "floats":
            b.constant(b.random.uniform(0, 2**bits, columns * count).astype(dtype))
        else:
            b.nothing()
        if order:
            blocks = np.arange(sums if order == "shuffled" else count * size) // size
            b.constant((b.random.permutation(blocks) if order != "uneven" else blocks * blocks % count).astype(np.int32))
        elif has_bias:
            b.nothing()
        if has_bias:
            b.constant(b.random.uniform(-1, 1, columns).astype(dtype))
        return b.model("MatMulNBits", K=sums, N=columns, bits=bits, block_size=size)

    return build


# By name: what makes it, by how many steps of the result two may differ, whether it gets quantised types.
CASES = {
    "add": (binary("QLinearAdd"), 1, True),
    "mul": (binary("QLinearMul"), 1, True),
    "add_inputs": (binary_of_inputs("QLinearAdd"), 1, True),
    "sigmoid": (unary("QLinearSigmoid", scale=0.0039), 1, True),
    "leaky_relu": (unary("QLinearLeakyRelu", alpha=0.2), 1, True),
    "softmax": (unary("QLinearSoftmax", shape=(2, 3, 7), scale=0.0039, axis=-1, opset=13), 1, True),
    "softmax_old": (unary("QLinearSoftmax", shape=(2, 3, 7), scale=0.0039, axis=1, opset=11), 1, True),
    "global_pool": (unary("QLinearGlobalAveragePool", channels_last=0), 1, True),
    "global_pool_last": (unary("QLinearGlobalAveragePool", channels_last=1), 1, True),
    "pool": (unary("QLinearAveragePool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[1, 2]), 1, True),
    "pool_counted": (unary("QLinearAveragePool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1), 1, True),
    "pool_last": (unary("QLinearAveragePool", shape=(2, 4, 5, 3), kernel_shape=[2, 3], channels_last=1), 1, True),
    "concat": (concat, 1, True),
    "gemm": (qgemm(False, False, (5,)), 1, True),
    "gemm_turned": (qgemm(True, True, (4, 5)), 1, True),
    "gemm_alpha": (qgemm(False, True, (5,), alpha=0.5), 1, True),
    "gemm_floats": (qgemm(False, False, None, gives_floats=True), 1e-6, True),
    "integer_to_float": (integer_to_float(), 1e-6, True),
    "integer_to_float_batch": (integer_to_float(2, 3), 1e-6, True),
    "dynamic_matmul": (dynamic_matmul, 1e-5, False),
    "quantize": (quantize, 0, True),
    "dequantize": (dequantize, 0, True),
    "four_bits": (few_bits(4, 16, 32, None), 1e-5, False),
    "four_bits_zero": (few_bits(4, 32, 96, "packed", has_bias=True), 1e-5, False),
    "four_bits_floats": (few_bits(4, 16, 48, "floats"), 1e-5, False),
    "four_bits_rest": (few_bits(4, 32, 80, "packed"), 1e-5, False),
    "four_bits_half": (few_bits(4, 32, 64, "packed", has_bias=True, dtype=np.float16), 5e-3, False),
    "four_bits_order": (few_bits(4, 16, 64, "floats", order="shuffled"), 1e-5, False),
    "four_bits_order_rest": (few_bits(4, 32, 80, None, order="shuffled", has_bias=True), 1e-5, False),
    "four_bits_order_uneven": (few_bits(4, 16, 64, None, order="uneven"), 1e-5, False),
    "eight_bits": (few_bits(8, 32, 64, "packed"), 1e-5, False),
    # One block is a scale for each column. Written with a DequantizeLinear, ONNX Runtime rounds the activations to 8 bits.
    "eight_bits_middle": (few_bits(8, 16, 16, None, has_bias=True), 5e-3, True),
}
PRODUCTS = ("gemm", "integer", "dynamic")


def properties(name):
    """The values that each property has for a case. ONNX Runtime multiplies no i8 by u8."""
    few_bits, has_axis = "bits" in name, name in ("quantize", "dequantize")
    bytes = ("u8_i8", "i8_i8", "u8_u8")[: 3 if name.startswith(PRODUCTS) else 2]
    if few_bits:
        bytes = ("u8_i8",)
    if name.startswith("dynamic"):
        bytes = ("u8_i8", "u8_u8")
    if has_axis:
        bytes = ("u8_i8", "i8_i8", "u16_i8", "i16_i8")
    columns = ("no", "scales", "zeros") if name.startswith(PRODUCTS) else ("no", "zeros") if has_axis else ("no",)
    # Those of a few operators are not optional.
    is_needed = few_bits or name.startswith(("gemm", "global", "concat")) or name == "quantize"
    return {"bytes": bytes, "is_dynamic": (False, True),
            "has_zero": (True,) if is_needed else (True, False), "per_column": columns}


def cells():
    seen, chosen = set(), []
    for name in CASES:
        values = properties(name)
        for each in itertools.product(*values.values()):
            pairs = {(name, *pair) for pair in itertools.combinations(enumerate(each), 2)}
            if TAKES_ALL or not pairs <= seen:
                seen |= pairs
                chosen.append((name, dict(zip(values, each))))
    first = {name: i for i, (name, _) in reversed(list(enumerate(chosen)))}
    return [each for i, each in enumerate(chosen) if i % EVERY == 0 or i == first[each[0]]]


def is_raised(name, options):
    return CASES[name][2] and not (name.startswith(PRODUCTS) and options["per_column"] == "zeros" and options["has_zero"])


class RuntimeQuantized(unittest.TestCase):
    def call(self, *arguments, code=0):
        done = subprocess.run([SINTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stderr

    def values(self, path, feeds, folder, backend):
        got = Command.outputs(SINTER, path, feeds, folder, backend)
        self.assertIsInstance(got, dict, got)
        (array,) = got.values()
        return array

    def assertNear(self, expected, got, limit):
        self.assertEqual((expected.shape, expected.dtype), (got.shape, got.dtype))
        if expected.dtype.kind == "f":
            limit *= max(1, np.abs(expected).max())
        self.assertLessEqual(np.abs(expected.astype(np.float64) - got.astype(np.float64)).max(), limit)

    def write(self, name, options, folder):
        """The model and what becomes of it."""
        paths = [os.path.join(folder, each) for each in ("in.onnx", "kept.onnx", "raised.onnx", "in.mlir", "types.mlir")]
        source, kept, raised, text, types = paths
        node = Node(**options)
        proto = CASES[name][0](node)
        onnx.save(proto, source)
        self.call("optimize", source, "-o", kept)
        self.assertEqual([(each.domain, each.op_type) for each in onnx.load(kept).graph.node],
                         [(each.domain, each.op_type) for each in proto.graph.node])
        self.call("optimize", source, "-o", raised, "--raise-quantized")
        if is_raised(name, options):
            self.assertEqual({each.domain for each in onnx.load(raised).graph.node}, {""})
        self.call("convert", source, "-o", text)
        self.call("optimize", text, "-o", types, "--raise-quantized")
        with open(types) as file:
            self.assertEqual("!quant.uniform" in file.read(), is_raised(name, options))
        reference = os.path.join(folder, "reference.onnx")
        onnx.save(CASES[name][0](Node(**options, spells_zero=True)), reference)
        # What has no zero points can be asked about only where nothing is left of the operator.
        can_ask = [options["has_zero"], options["has_zero"] or is_raised(name, options)]
        judged = [reference] + [path for path, can in zip((kept, raised), can_ask) if can]
        return node.feeds, paths, judged

    def test_cells(self):
        chosen = cells()
        with tempfile.TemporaryDirectory() as folder:
            tasks = []
            for i, (name, options) in enumerate(chosen):
                own = os.path.join(folder, str(i))
                os.mkdir(own)
                with self.subTest(name, **options):
                    feeds, paths, judged = self.write(name, options, own)
                    tasks.append((name, options, own, feeds, paths,
                                  [OnnxRuntime.Task(path, feeds, os.path.join(own, f"run{k}"))
                                   for k, path in enumerate(judged)]))
            OnnxRuntime.run([each for task in tasks for each in task[-1]])
            for name, options, own, feeds, paths, judged in tasks:
                with self.subTest(name, **options):
                    self.judge(CASES[name][1], own, feeds, paths, judged)
        print(f"{len(chosen)} cells")

    def judge(self, limit, folder, feeds, paths, judged):
        for each in judged:
            self.assertIsNone(each.error, each.model)
        expected = judged[0].outputs["y"]
        for each in judged[1:]:
            self.assertNear(expected, each.outputs["y"], 0 if each.model.endswith("kept.onnx") else limit)
        source, _, raised, text, types = paths
        for path, backends in ((source, BACKENDS), (raised, BACKENDS[1:]), (text, BACKENDS[:1]), (types, BACKENDS)):
            for backend in backends:
                self.assertNear(expected, self.values(path, feeds, folder, backend), limit)

    def test_sums_that_half_floats_do_not_hold(self):
        """ONNX Runtime has no kernel for these; what they are is said by their definition."""
        node = Node()
        a, b = node.bytes("u8", 4, 300), node.bytes("i8", 300, 5)
        scales = np.float16(0.002), np.float16(0.007)
        node.input(a)
        for each in (b, *scales, np.uint8(117), np.int8(-7)):
            node.constant(each)
        sums = (a.astype(np.int64) - 117) @ (b.astype(np.int64) + 7)
        self.assertGreater(np.abs(sums).max(), np.finfo(np.float16).max)
        expected = (sums * float(scales[0]) * float(scales[1])).astype(np.float16)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.onnx")
            onnx.save(node.model("MatMulIntegerToFloat"), path)
            for backend in BACKENDS:
                self.assertNear(expected, self.values(path, node.feeds, folder, backend), 1e-3)

    def test_orders_with_packed_zero_points(self):
        """ONNX Runtime 1.30 reads other zero points than those of g_idx; what they are is said by their definition."""

        def halves(packed, rows):
            return np.stack([packed & 15, packed >> 4], -1).reshape(rows, -1).astype(np.float64)

        for order in ("shuffled", "uneven"):
            with self.subTest(order), tempfile.TemporaryDirectory() as folder:
                node = Node()
                proto = few_bits(4, 16, 80, "packed", order=order)(node)
                b, scales, zero, blocks = map(numpy_helper.to_array, node.constants)
                rows, blocks = len(b), blocks[:80]
                zero = halves(zero.reshape(rows, -1), rows)[:, blocks]
                weights = (halves(b, rows)[:, :80] - zero) * scales.reshape(rows, -1)[:, blocks]
                expected = (node.feeds["x0"] @ weights.T).astype(np.float32)
                path = os.path.join(folder, "in.onnx")
                onnx.save(proto, path)
                for backend in BACKENDS:
                    self.assertNear(expected, self.values(path, node.feeds, folder, backend), 1e-5)

    def network(self, is_dynamic):
        """A residual block and a classifier as ONNX Runtime's quantisation tool writes them."""
        random, constants, nodes = np.random.default_rng(5), {}, []

        def parameters(stem, scale, zero):
            constants.update({stem + "_s": np.float32(scale), stem + "_z": np.array(zero, np.uint8)})
            return [stem + "_s", stem + "_z"]

        def node(op, inputs, output, domain="", **attributes):
            nodes.append(helper.make_node(op, inputs, [output], domain=domain, name=output, **attributes))
            return output

        x = [node("QuantizeLinear", ["x"] + parameters("x", 0.03, 121), "xq"), "x_s", "x_z"]
        constants["w"] = random.integers(-128, 128, (3, 3, 3, 3)).astype(np.int8)
        constants.update({"w_s": random.uniform(0.001, 0.004, 3).astype(np.float32), "w_z": np.zeros(3, np.int8)})
        c = parameters("c", 0.04, 117)
        constants["b"] = random.integers(-500, 500, 3).astype(np.int32)
        conv = node("QLinearConv", x + ["w", "w_s", "w_z"] + c + ["b"], "conv", pads=[1, 1, 1, 1])
        added = [node("QLinearAdd", [conv] + c + x + parameters("a", 0.05, 113), "added", DOMAIN), "a_s", "a_z"]
        pooled = node("QLinearGlobalAveragePool", added + parameters("p", 0.02, 111), "pooled", DOMAIN, channels_last=0)
        flat = node("Flatten", [pooled], "flat")
        constants["v"] = random.integers(-128, 128, (3, 4)).astype(np.int8)
        constants.update({"v_s": np.float32(0.01), "v_z": np.int8(0)})
        product = [node("QGemm", [flat, "p_s", "p_z", "v", "v_s", "v_z", ""] + parameters("y", 0.03, 119), "product",
                        DOMAIN), "y_s", "y_z"]
        node("DequantizeLinear", product, "y")
        value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N" if is_dynamic else 2, 3, 6, 5])
        graph = helper.make_graph(nodes, "g", [value], [onnx.ValueInfoProto(name="y")],
                                  [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()])
        return helper.make_model(graph, ir_version=9,
                                 opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)])

    def test_network(self):
        for is_dynamic in (False, True):
            with self.subTest(is_dynamic=is_dynamic), tempfile.TemporaryDirectory() as folder:
                self.check_network(self.network(is_dynamic), folder)

    def check_network(self, proto, folder):
        source, kept, raised, text, types = (os.path.join(folder, each) for each in
                                             ("in.onnx", "kept.onnx", "raised.onnx", "in.mlir", "types.mlir"))
        onnx.save(proto, source)
        self.call("optimize", source, "-o", kept)
        self.assertEqual([each.op_type for each in onnx.load(kept).graph.node],
                         [each.op_type for each in proto.graph.node])
        self.call("optimize", source, "-o", raised, "--raise-quantized")
        written = onnx.load(raised).graph
        self.assertEqual({each.domain for each in written.node}, {""})
        self.assertIn("QLinearConv", [each.op_type for each in written.node])
        self.call("convert", source, "-o", text)
        self.call("optimize", text, "-o", types, "--raise-quantized")
        with open(types) as file:
            graph = file.read()
        for op in ("convolution", "dot_general", "add"):
            self.assertRegex(graph, rf"stablehlo.{op}.*-> tensor<.*!quant.uniform<|stablehlo.{op} .*: tensor<.*!quant.uniform<")
        feeds = {"x": np.random.default_rng(9).uniform(-3, 3, (2, 3, 6, 5)).astype(np.float32)}
        judged = [OnnxRuntime.Task(path, feeds, os.path.join(folder, f"run{k}"))
                  for k, path in enumerate((source, kept, raised))]
        OnnxRuntime.run(judged)
        for each in judged:
            self.assertIsNone(each.error, each.model)
        expected = judged[0].outputs["y"]
        np.testing.assert_array_equal(expected, judged[1].outputs["y"])
        # Each of three roundings on the way may go to the other side.
        got = [judged[2].outputs["y"]] + [self.values(path, feeds, folder, backend)
                                          for path in (source, raised, text, types) for backend in BACKENDS]
        for each in got:
            self.assertEqual(each.shape, expected.shape)
            self.assertLessEqual(np.abs(each - expected).max(), 3 * 0.03 + 1e-6)

    def refuse(self, reason, model, code=3):
        with self.subTest(reason), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.onnx")
            onnx.save(model, path)
            self.assertIn(reason, self.call("convert", path, "-o", os.path.join(folder, "out.mlir"), code=code))


    def broken(self, reason, op, arrays, code=3, **attributes):
        """A node of constants, None for an absent one, must be refused for a reason."""
        node = Node()
        for i, each in enumerate(arrays):
            node.nothing() if each is None else node.input(each) if i == 0 else node.constant(each)
        self.refuse(reason, node.model(op, **attributes), code)

    def test_elementwise_restrictions(self):
        u8, i8, scale, zero = np.zeros((2, 3), np.uint8), np.zeros((2, 3), np.int8), np.float32(0.5), np.uint8(3)
        a = [u8, scale, zero]
        self.broken("different types", "QLinearAdd", a + [i8, scale, np.int8(3), scale, zero])
        self.broken("input 3 is missing", "QLinearMul", a)
        self.broken("input 6 is missing", "QLinearMul", a + [u8, scale, zero])
        self.broken("input 1, a scale or zero point, is not one number", "QLinearAdd",
                    [u8, np.ones(3, np.float32), zero, u8, scale, zero, scale, zero])
        self.broken("another type than what it is the zero of", "QLinearSigmoid", [u8, scale, np.int8(3), scale, zero])
        self.broken("another type than what it is the zero of", "QLinearSigmoid", [u8, scale, zero, scale, np.int8(3)])
        self.broken("input 0 is not of u8 or i8", "QLinearLeakyRelu", [np.ones((2, 3), np.float32), scale, None, scale])
        self.broken("do not broadcast", "QLinearAdd", a + [np.zeros((2, 4), np.uint8), scale, zero, scale, zero])
        self.broken("'opset' is missing", "QLinearSoftmax", a + [scale, zero])
        self.broken("axis", "QLinearSoftmax", a + [scale, zero], axis=2, opset=13)
        self.broken("not of a batch, channels and spatial", "QLinearGlobalAveragePool", a + [scale, zero])
        self.broken("'axis' is missing", "QLinearConcat", [scale, zero] + a)
        self.broken("not two, and three for each part", "QLinearConcat", [scale, zero] + a + [u8], axis=0)

    def test_product_restrictions(self):
        a, b, scale, zero = np.zeros((2, 3), np.uint8), np.zeros((3, 4), np.uint8), np.float32(0.5), np.uint8(3)
        given = [a, scale, zero, b, scale, zero]
        self.broken("not both", "QGemm", given + [None, scale])
        self.broken("C is not of i32", "QGemm", given + [np.zeros(4, np.float32)])
        self.broken("is not a matrix", "QGemm", [np.zeros((1, 2, 3), np.uint8)] + given[1:])
        self.broken("is not one number", "QGemm", [a, np.ones(2, np.float32)] + given[2:])
        self.broken("inner dimensions", "MatMulIntegerToFloat", [a, np.zeros((4, 3), np.uint8), scale, scale])
        self.broken("input 0 is not of u8 or i8", "MatMulIntegerToFloat", [np.ones((2, 3), np.float32), b, scale, scale])
        self.broken("is not one number", "MatMulIntegerToFloat", [a, b, np.ones(2, np.float32), scale])
        self.broken("more than one dimension", "MatMulIntegerToFloat", [a, b, scale, np.ones((1, 4), np.float32)])
        self.broken("input 1 is not of u8 or i8", "DynamicQuantizeMatMul",
                    [np.ones((2, 3), np.float32), np.ones((3, 4), np.float32), scale])

    def test_ordered_attention_restrictions(self):
        one, bytes = np.array(0.1, np.float32), np.ones((32, 32), np.int8)
        arrays = [np.ones((1, 2, 32), np.int8)] + [one] * 4 + [bytes] * 3 + [one] * 3 + [np.ones(32, np.float32)] * 3 + [one] * 3

        def no(reason, code, arrays, **attributes):
            self.broken(reason, "QOrderedAttention", arrays, code, **{"num_heads": 1, **attributes})

        no("past keys or a bias of the scores", 4, arrays + [None, np.ones((2, 1, 1, 3, 32), np.int8)])
        no("past keys or a bias of the scores", 4, arrays + [None, None, np.ones((1, 1, 2, 2), np.float32)])
        no("matrices in order 3", 4, arrays, order_weight=3)
        no("is not [batch, length, width]", 3, [arrays[0][0]] + arrays[1:])
        no("'num_heads' is not a number of heads", 3, arrays, num_heads=0)

    def test_few_bits_restrictions(self):
        def node(reason, code=3, x=np.ones((2, 32), np.float32), b=np.zeros((5, 2, 8), np.uint8), scales=np.ones(10, np.float32),
                 rest=(), **changes):
            attributes = {"K": 32, "N": 5, "bits": 4, "block_size": 16, **changes}
            self.broken(reason, "MatMulNBits", [x, b, scales, *rest], code,
                        **{name: value for name, value in attributes.items() if value is not None})

        node("weights of 3 bits", 4, bits=3)
        node("block_size is not a power of 2", block_size=24)
        node("'K' is missing", K=None)
        node("K or N is not a size", N=0)
        node("B has 80 elements instead of 160", bits=8)
        node("scales has 9 elements instead of 10", scales=np.ones(9, np.float32))
        node("scales are not of A's type", scales=np.ones(10, np.float16))
        node("B is not of u8", b=np.zeros((5, 2, 8), np.int8))
        node("zero_points has 4 elements instead of 5", rest=[np.zeros(4, np.uint8)])
        node("zero_points are neither", rest=[np.zeros(5, np.int32)])
        node("g_idx is not of i32", rest=[None, np.zeros(32, np.int64)])
        node("g_idx is not one number for each of K", rest=[None, np.zeros(31, np.int32)])
        node("g_idx names a block that there is not: 2", rest=[None, np.full(32, 2, np.int32)])
        node("g_idx names a block that there is not: -1", rest=[None, np.full(32, -1, np.int32)])
        node("inner dimensions", x=np.ones((2, 31), np.float32))


if __name__ == "__main__":
    if "--every" in sys.argv:
        del sys.argv[sys.argv.index("--every") : sys.argv.index("--every") + 2]
    sys.argv = [each for each in sys.argv if each != "--all"]
    Command.run_tests(sys.modules[__name__])
