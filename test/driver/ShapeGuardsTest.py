#!/usr/bin/env python3
"""Programs of dynamic dimensions at sizes that fit, broadcast or do not fit: right, or exit code 3 that names the node and both sizes.

Operators with several operands, all of whose dimensions are dynamic, as ONNX and as StableHLO, with floats and with 8-bit integers, on both backends;
and operators whose attributes are inputs, with values that are not valid.
"""
import json
import pathlib
import struct

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, USAGE, main

UINT8, INT8, INT32 = 2, 3, 6
KINDS = {onnx.FLOAT: ("<f4", 4), UINT8: ("|u1", 1), INT8: ("|i1", 1), onnx.INT64: ("<i8", 8)}


def content(shape, element, seed=1):
    count = 1
    for size in shape:
        count *= size
    numbers = [(seed + 7 * i) % 11 - 5 for i in range(count)]
    if element == onnx.FLOAT:
        return struct.pack(f"<{count}f", *(each / 4 for each in numbers))
    return bytes((each + (100 if element == UINT8 else 0)) & 255 for each in numbers)


def scalar(name, value, element=onnx.FLOAT):
    raw = struct.pack("<f", value) if element == onnx.FLOAT else bytes([value & 255])
    return onnx.tensor(name, (), raw, element)



class Case:
    """A node of dynamic dimensions: its inputs as lists of symbols, and sizes of these that fit."""

    def __init__(self, op, inputs, sizes, element=onnx.FLOAT, result=None, constants=(), names=None, version=17, attributes=b"", broadcasts=()):
        self.op, self.inputs, self.sizes, self.element = op, inputs, sizes, element
        self.result = result or element
        self.constants, self.names, self.version, self.attributes = constants, names, version, attributes
        self.broadcasts = broadcasts

    def model(self, rank):
        names = self.names or ["a", "b", "c"][:len(self.inputs)]
        given = [onnx.value_info(name, dims, self.element) for name, dims in zip("abc", self.inputs)]
        output = onnx.value_info("y", [f"y{i}" for i in range(rank)], self.result)
        node = onnx.node(self.op, names, ["y"], "the_node", attributes=self.attributes)
        return onnx.model(onnx.graph([node], given, [output], self.constants), version=self.version)


def ints(name, *values):
    return onnx.data(5, onnx.data(1, name) + b"".join(onnx.number(8, each) for each in values) + onnx.number(20, 7))


def text(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.data(4, value) + onnx.number(20, 3))


def integer(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


QUANTIZED = [scalar("sa", 0.05), scalar("za", 3, UINT8), scalar("sb", 0.02), scalar("zb", 100, UINT8), scalar("sy", 0.1), scalar("zy", 7, UINT8)]

CASES = [
    (Case("MatMul", (("A", "K"), ("L", "M")), dict(A=3, K=5, L=5, M=4)), 2),
    (Case("MatMul", (("B", "A", "K"), ("C", "L", "M")), dict(B=2, C=2, A=3, K=5, L=5, M=4), broadcasts="BC"), 3),
    (Case("MatMul", (("B", "A", "K"), ("L",)), dict(B=2, A=3, K=5, L=5)), 2),
    (Case("Gemm", (("A", "K"), ("L", "M")), dict(A=3, K=5, L=5, M=4)), 2),
    (Case("Gemm", (("A", "K"), ("L", "M"), ("P", "Q")), dict(A=3, K=5, L=5, M=4, P=3, Q=4), broadcasts="PQ"), 2),
    (Case("Conv", (("N", "C", "W"), ("O", "I", "R")), dict(N=2, C=4, W=9, O=5, I=4, R=3)), 3),
    (Case("Conv", (("N", "C", "W"), ("O", "I", "R")), dict(N=2, C=4, W=9, O=6, I=2, R=3), attributes=integer("group", 2)), 3),
    (Case("ConvTranspose", (("N", "C", "W"), ("I", "O", "R")), dict(N=2, C=4, W=5, I=4, O=3, R=2)), 3),
    (Case("Add", (("A", "B"), ("C", "D")), dict(A=3, B=4, C=3, D=4), broadcasts="ABCD"), 2),
    (Case("Mul", (("A", "B"), ("D",)), dict(A=3, B=4, D=4), broadcasts="BD"), 2),
    (Case("Max", (("A", "B"), ("C", "D"), ("E", "F")), dict(A=3, B=4, C=3, D=4, E=3, F=4), broadcasts="ABCDEF"), 2),
    (Case("PRelu", (("A", "B"), ("D",)), dict(A=3, B=4, D=4), broadcasts="D"), 2),
    (Case("Concat", (("A", "B"), ("C", "D")), dict(A=3, B=4, C=3, D=6), attributes=integer("axis", 1)), 2),
    (Case("LayerNormalization", (("A", "B"), ("C",), ("D",)), dict(A=3, B=8, C=8, D=8), broadcasts="CD"), 2),
    (Case("InstanceNormalization", (("A", "B", "W"), ("C",), ("D",)), dict(A=2, B=3, W=8, C=3, D=3)), 3),
    (Case("Einsum", (("A", "K"), ("L", "M")), dict(A=3, K=5, L=5, M=4), attributes=text("equation", "ak,km->am"), broadcasts="KL"), 2),
    (Case("Einsum", (("B", "A", "K"), ("C", "L", "M")), dict(B=2, C=2, A=3, K=5, L=5, M=4), attributes=text("equation", "...ak,...km->...am"),
          broadcasts="BCKL"), 3),
    (Case("MatMulInteger", (("A", "K"), ("L", "M")), dict(A=3, K=5, L=5, M=4), UINT8, INT32), 2),
    (Case("QLinearMatMul", (("A", "K"), ("L", "M")), dict(A=3, K=5, L=5, M=4), UINT8, constants=QUANTIZED,
          names=["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]), 2),
    (Case("QLinearConv", (("N", "C", "H", "W"), ("O", "I", "R", "S")), dict(N=1, C=4, H=6, W=7, O=5, I=4, R=3, S=3), UINT8, constants=QUANTIZED,
          names=["a", "sa", "za", "b", "sb", "zb", "sy", "zy"], attributes=ints("pads", 1, 1, 1, 1)), 4),
]


class ShapeGuards(CommandTest):
    def arrays(self, case, sizes):
        arguments = []
        for number, (name, dims) in enumerate(zip("abc", case.inputs)):
            shape = tuple(sizes[each] for each in dims)
            kind = KINDS[case.element][0]
            array = onnx.npy(shape, kind, content(shape, case.element, number + 1))
            arguments += ["--input", f"{name}=" + self.write(f"{name}.npy", array)]
        return arguments

    def outputs(self, model, arguments, *more):
        folder = self.path("out")
        done = self.sinter("run", model, *arguments, "--output-dir", folder, "--cache-dir", self.path("cache"), *more)
        self.assertIn(done.returncode, (DONE, USAGE), done.stderr)
        if done.returncode == USAGE:
            return None, done.stderr
        return pathlib.Path(folder, "y.npy").read_bytes(), done.stderr

    def numbers(self, array):
        """A .npy file's shape and numbers."""
        length = struct.unpack("<H", array[8:10])[0]
        header = eval(array[10:10 + length])  # pylint: disable=eval-used
        letter = {"<f4": "f", "|u1": "B", "|i1": "b", "<i4": "i"}[header["descr"]]
        body = array[10 + length:]
        return header["shape"], struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body)

    def variations(self, case):
        yield case.sizes
        for name, size in case.sizes.items():
            for other in {1, size + 1} - {size}:
                yield {**case.sizes, name: other}

    def check(self, case, model, label):
        for sizes in self.variations(case):
            with self.subTest(label, op=case.op, sizes=sizes):
                arguments = self.arrays(case, sizes)
                wanted, why = self.outputs(model, arguments, "--backend", "interpreter")
                got, said = self.outputs(model, arguments, "--backend", "cpu")
                self.assertEqual(got is None, wanted is None, f"{said}\ninterpreter: {why}")
                if got is None:
                    self.assertIn("error: ", said)
                    continue
                (shape, values), (wanted_shape, wanted_values) = self.numbers(got), self.numbers(wanted)
                self.assertEqual(shape, wanted_shape)
                for value, expected in zip(values, wanted_values):
                    self.assertLessEqual(abs(value - expected), 1e-4 * max(1, abs(expected)))

    def test_onnx(self):
        for number, (case, rank) in enumerate(CASES):
            self.check(case, self.write(f"{number}.onnx", case.model(rank)), "ONNX")

    def test_stablehlo(self):
        for number, (case, rank) in enumerate(CASES):
            source = self.write(f"{number}.onnx", case.model(rank))
            model = self.path(f"{number}.mlir")
            done = self.sinter("convert", source, "-o", model)
            if done.returncode != DONE:
                continue
            self.check(case, model, "StableHLO")

    def test_the_message_names_node_and_sizes(self):
        case, rank = CASES[0]
        model = self.write("m.onnx", case.model(rank))
        arguments = self.arrays(case, {**case.sizes, "K": 50})
        line = self.expect_error(USAGE, "run", model, *arguments, "--no-cache")
        for mention in ("MatMul", "50", "5"):
            self.assertIn(mention, line)

    def test_inspect_lists_the_guards(self):
        case, rank = CASES[0]
        model = self.write("m.onnx", case.model(rank))
        done = self.sinter("inspect", model, "--steps")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("shape guards\n  'the_node'  dimension 0 of operand 1 (L) == dimension 1 of operand 0 (K)\n", done.stdout)
        plan = json.loads(self.sinter("inspect", model, "--json").stdout)
        self.assertEqual(plan["plan"]["guards"], [{"node": "the_node", "guard": "dimension 0 of operand 1 (L) == dimension 1 of operand 0 (K)"}])


class RunTimeValues(CommandTest):
    def refused(self, nodes, inputs, values, version=17):
        """Both backends refuse VALUES; lists of int64, by input."""
        model = self.write("m.onnx", onnx.model(onnx.graph(nodes, inputs, [onnx.value_info("y", ("Y",))]), version=version))
        arguments = []
        for name, (shape, kind, raw) in values.items():
            arguments += ["--input", f"{name}=" + self.write(f"{name}.npy", onnx.npy(shape, kind, raw))]
        for backend in "cpu", "interpreter":
            self.expect_error(USAGE, "run", model, *arguments, "--no-cache", "--backend", backend)

    def test_range_of_step_zero(self):
        inputs = [onnx.value_info(name, (), onnx.INT64) for name in ("start", "limit", "delta")]
        zero, nine = struct.pack("<q", 0), struct.pack("<q", 9)
        self.refused([onnx.node("Range", ["start", "limit", "delta"], ["r"], "count"),
                      onnx.node("Cast", ["r"], ["y"], "cast", attributes=integer("to", onnx.FLOAT))], inputs,
                     dict(start=((), "<i8", zero), limit=((), "<i8", nine), delta=((), "<i8", zero)))

    def test_split_sizes(self):
        inputs = [onnx.value_info("x", ("N",)), onnx.value_info("s", (2,), onnx.INT64)]
        for sizes in (9, -4), (2, 2), (3, 3), (-1, 6):
            self.refused([onnx.node("Split", ["x", "s"], ["a", "b"], "split"), onnx.node("Relu", ["a"], ["y"], "relu")], inputs,
                         dict(x=((5,), "<f4", onnx.floats(1, 2, 3, 4, 5)), s=((2,), "<i8", struct.pack("<2q", *sizes))))

    def test_constant_sizes_of_a_dynamic_dimension(self):
        model = onnx.model(onnx.graph(
            [onnx.node("Split", ["x", "s"], ["a", "y"], "split")], [onnx.value_info("x", ("N",))], [onnx.value_info("y", ("Y",))],
            [onnx.tensor("s", (2,), struct.pack("<2q", 2, 3), onnx.INT64)]))
        path = self.write("m.onnx", model)
        for count, code in (5, DONE), (7, USAGE):
            x = self.write("x.npy", onnx.npy((count,)))
            for backend in "cpu", "interpreter":
                self.assertEqual(self.sinter("run", path, "--input", x, "--no-cache", "--backend", backend).returncode, code)


FLOATS, COUNTS = onnx.FLOAT, onnx.INT64


def ints64(*values):
    return struct.pack(f"<{len(values)}q", *values)


# Nodes of dynamic dimensions whose inputs say how large the result is, or must be as large as others: node, inputs, and values of these that are not valid.
REQUIRING = [
    (onnx.node("Tile", ["x", "n"], ["y"], "the_node"), dict(x=(FLOATS, 2), n=(COUNTS, 1)), [dict(x=(2, 3), n=(-1, 2)), dict(x=(0, 3), n=(2, -3))]),
    (onnx.node("Expand", ["x", "n"], ["y"], "the_node"), dict(x=(FLOATS, 2), n=(COUNTS, 1)), [dict(x=(2, 3), n=(-1, 3)), dict(x=(2, 3), n=(2, 5))]),
    (onnx.node("Reshape", ["x", "n"], ["y"], "the_node"), dict(x=(FLOATS, 2), n=(COUNTS, 1)),
     [dict(x=(2, 3), n=each) for each in ((4, -1), (5, 2), (-1, -1), (-2, -3))] + [dict(x=(0, 3), n=(-1, -1)), dict(x=(4, 3), n=(2, 5))]),
    (onnx.node("Pad", ["x", "n"], ["y"], "the_node"), dict(x=(FLOATS, 1), n=(COUNTS, 1)), [dict(x=(5,), n=(-3, -3)), dict(x=(0,), n=(-6, 0))]),
    (onnx.node("ConstantOfShape", ["n"], ["y"], "the_node"), dict(n=(COUNTS, 1)), [dict(n=(-1, 3)), dict(n=(-1, -1))]),
    (onnx.node("TopK", ["x", "n"], ["y", "i"], "the_node"), dict(x=(FLOATS, 2), n=(COUNTS, 1)), [dict(x=(2, 3), n=(-1,)), dict(x=(2, 3), n=(4,))]),
    (onnx.node("OneHot", ["i", "n", "v"], ["y"], "the_node"), dict(i=(COUNTS, 1), n=(COUNTS, 1), v=(FLOATS, 1)), [dict(i=(0, 2), n=(-1,), v=(2,))]),
    (onnx.node("GatherElements", ["x", "i"], ["y"], "the_node"), dict(x=(FLOATS, 2), i=(COUNTS, 2)), [dict(x=(2, 3), i=((1, 4), (1, 0, 1, 0)))]),
    (onnx.node("ScatterElements", ["x", "i", "u"], ["y"], "the_node"), dict(x=(FLOATS, 2), i=(COUNTS, 2), u=(FLOATS, 2)),
     [dict(x=(2, 3), i=((1, 4), (0, 1, 0, 0)), u=(1, 4)), dict(x=(2, 3), i=((1, 3), (0, 1, 0)), u=(2, 3)), dict(x=(2, 3), i=((1, 3), (0, 1, 0)), u=(1, 2))]),
    (onnx.node("ScatterND", ["x", "i", "u"], ["y"], "the_node"), dict(x=(FLOATS, 2), i=(COUNTS, (None, 1)), u=(FLOATS, 2)),
     [dict(x=(2, 3), i=((1, 1), (0,)), u=(1, 2)), dict(x=(2, 3), i=((1, 1), (0,)), u=(1, 4)), dict(x=(2, 3), i=((2, 1), (0, 1)), u=(1, 3))]),
    (onnx.node("ReverseSequence", ["x", "i"], ["y"], "the_node", attributes=integer("batch_axis", 0) + integer("time_axis", 1)),
     dict(x=(FLOATS, 2), i=(COUNTS, 1)), [dict(x=(2, 3), i=(1,)), dict(x=(2, 3), i=(1, 1, 1))]),
    (onnx.node("Split", ["x"], ["y", "z"], "the_node"), dict(x=(FLOATS, 1)), [dict(x=(5,)), dict(x=(1,))]),
]


class Required(CommandTest):
    def given(self, inputs, values):
        """Arguments: floats by their shape, integers as a vector or as a shape and the elements."""
        arguments = []
        for name, (element, _) in inputs.items():
            value = values[name]
            if element == FLOATS:
                array = onnx.npy(value, "<f4", content(value, FLOATS))
            else:
                shape, elements = value if value and isinstance(value[0], tuple) else ((len(value),), value)
                array = onnx.npy(shape, "<i8", ints64(*elements))
            arguments += ["--input", f"{name}=" + self.write(f"{name}.npy", array)]
        return arguments

    def model(self, node, inputs, results, version=17):
        def dims(name, rank):
            return tuple(each or f"{name}{i}" for i, each in enumerate(rank if isinstance(rank, tuple) else (None,) * rank))
        given = [onnx.value_info(name, dims(name, rank), element) for name, (element, rank) in inputs.items()]
        return self.write("m.onnx", onnx.model(onnx.graph([node], given, [onnx.value_info("y", ("A", "B")[:results])]), version=version))

    def test_values_that_are_not_valid(self):
        for node, inputs, cases in REQUIRING:
            model = self.model(node, inputs, 1 if inputs.get("x") == (FLOATS, 1) else 2)
            for values in cases:
                for backend in "cpu", "interpreter":
                    with self.subTest(inputs=list(inputs), values=values, backend=backend):
                        line = self.expect_error(USAGE, "run", model, *self.given(inputs, values), "--cache-dir", self.path("cache"), "--backend", backend)
                        self.assertIn("the_node", line)

    def test_what_a_condition_has_too_many_of(self):
        node = onnx.node("Compress", ["x", "b"], ["y"], "the_node", attributes=integer("axis", 0))
        inputs = [onnx.value_info("x", ("N",)), onnx.value_info("b", ("K",), onnx.BOOL)]
        model = self.write("m.onnx", onnx.model(onnx.graph([node], inputs, [onnx.value_info("y", ("Y",))]), version=17))
        x, b = self.write("x.npy", onnx.npy((2,), "<f4", onnx.floats(1, 2))), self.write("b.npy", onnx.npy((4,), "|b1", bytes((0, 1, 1, 1))))
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--input", f"x={x}", "--input", f"b={b}", "--output-dir", self.path("out"), "--no-cache", "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(pathlib.Path(self.path("out"), "y.npy").read_bytes()[-4:], onnx.floats(2))


class Windows(CommandTest):
    def test_a_place_counts_that_lacks_less_than_a_step(self):
        node = onnx.node("MaxPool", ["x"], ["y"], "the_node", attributes=ints("kernel_shape", 3) + ints("strides", 2) + integer("ceil_mode", 1))
        model = self.write("m.onnx", onnx.model(onnx.graph([node], [onnx.value_info("x", (1, 1, "W"))], [onnx.value_info("y", (1, 1, "Y"))]), version=17))
        for size, wanted in (1, ()), (2, (2,)), (3, (3,)), (4, (3, 4)), (6, (3, 5, 6)):
            x = self.write("x.npy", onnx.npy((1, 1, size), "<f4", onnx.floats(*range(1, size + 1))))
            for more in ("--backend", "interpreter"), ("--backend", "cpu"), ("--backend", "cpu", "--static"):
                with self.subTest(size=size, more=more):
                    done = self.sinter("run", model, "--input", x, "--output-dir", self.path("out"), "--cache-dir", self.path("cache"), *more)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    array = pathlib.Path(self.path("out"), "y.npy").read_bytes()
                    self.assertIn(f"(1, 1, {len(wanted)})".encode(), array)
                    self.assertTrue(array.endswith(onnx.floats(*wanted)))


TAKES = {
    "dynamic_slice": """%t = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<?xf32>, tensor<i64>) -> tensor<2xf32>""",
    "gather": """%b = stablehlo.reshape %i : (tensor<i64>) -> tensor<1xi64>
      %t = "stablehlo.gather"(%x, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0], index_vector_dim = 0>,
        slice_sizes = array<i64: 2>, indices_are_sorted = false}> : (tensor<?xf32>, tensor<1xi64>) -> tensor<2xf32>""",
    "dynamic_update_slice": """%u = stablehlo.dynamic_update_slice %x, %acc, %i : (tensor<?xf32>, tensor<2xf32>, tensor<i64>) -> tensor<?xf32>
      %nil = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%u init: %nil) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>""",
    "slice": "%t = stablehlo.slice %x [0:2] : (tensor<?xf32>) -> tensor<2xf32>",
}

LOOP = """func.func @main(%x: tensor<?xf32> {{sinter.dims = ["N"], sinter.name = "x"}}, {argument}) -> (tensor<2xf32> {{sinter.name = "y"}}) {{
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %start = stablehlo.constant dense<1.0> : tensor<2xf32>
  {rounds}
  %y:2 = stablehlo.while(%i = %zero, %acc = %start) : tensor<i64>, tensor<2xf32>
    cond {{
      %c = stablehlo.compare LT, %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      {take}
      %sum = stablehlo.add %acc, %t : tensor<2xf32>
      %n = stablehlo.add %i, %one : tensor<i64>
      stablehlo.return %n, %sum : tensor<i64>, tensor<2xf32>
    }}
  return %y#1 : tensor<2xf32>
}}
"""

BRANCH = """func.func @main(%x: tensor<?xf32> {{sinter.dims = ["N"], sinter.name = "x"}}, {argument}) -> (tensor<2xf32> {{sinter.name = "y"}}) {{
  %i = stablehlo.constant dense<0> : tensor<i64>
  %acc = stablehlo.constant dense<1.0> : tensor<2xf32>
  {rounds}
  %c = stablehlo.compare GT, %m, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = "stablehlo.if"(%c) ({{
      {take}
      %sum = stablehlo.add %acc, %t : tensor<2xf32>
      stablehlo.return %sum : tensor<2xf32>
    }}, {{
      stablehlo.return %acc : tensor<2xf32>
    }}) : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}}
"""

ROUNDS = {
    "a size": ('%z: tensor<?xf32> {sinter.dims = ["M"], sinter.name = "m"}',
               """%d = stablehlo.get_dimension_size %z, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.convert %d : (tensor<i32>) -> tensor<i64>"""),
    "a number": ('%m: tensor<i64> {sinter.name = "m"}', ""),
}


class NotReached(CommandTest):
    """Slices in loops and branches: of what is too small only where these are not entered."""

    def run_model(self, model, size, rounds, by_size, *more):
        x = self.write("x.npy", onnx.npy((size,), "<f4", onnx.floats(*range(1, size + 1))))
        m = self.write("m.npy", onnx.npy((rounds,), "<f4", bytes(4 * rounds)) if by_size else onnx.npy((), "<i8", struct.pack("<q", rounds)))
        folder = self.path("out")
        done = self.sinter("run", model, "--input", f"x={x}", "--input", f"m={m}", "--output-dir", folder, "--cache-dir", self.path("cache"), *more)
        return done, pathlib.Path(folder, "y.npy").read_bytes()[-8:] if done.returncode == DONE else None

    def test_slices_in_loops_and_branches(self):
        for form, text in (("loop", LOOP), ("branch", BRANCH)):
            for by, (argument, rounds) in ROUNDS.items():
                for name, take in TAKES.items():
                    model = self.write("m.mlir", text.format(argument=argument, rounds=rounds, take=take))
                    for size in 0, 1, 2, 5:
                        for times in 0, 3:
                            with self.subTest(form=form, rounds=by, take=name, size=size, times=times):
                                done, y = self.run_model(model, size, times, by == "a size")
                                self.assertEqual(done.returncode, USAGE if times and size < 2 else DONE, done.stderr)
                                if done.returncode == DONE and size < 2:
                                    self.assertEqual(y, onnx.floats(1, 1))
                                    self.assertEqual(done.stderr, "")
                                elif done.returncode == DONE:
                                    self.assertEqual(y, self.run_model(model, size, times, by == "a size", "--backend", "interpreter")[1])


if __name__ == "__main__":
    main()
