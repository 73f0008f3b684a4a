#!/usr/bin/env python3
# Covers: formats/import KnownValues
"""As much is folded with unknown sizes as with known ones: small models as exporters write them, one a case.

  FoldDynamicSizes.py --sinter build/bin/sinter [--filter NAME] [--every K] [--keep DIR]

Each case is made twice, with its sizes and with symbols for them. What `sinter optimize` writes of the second holds no
more nodes than what it writes of the first (what only finds out sizes does not count), and no more than the case says;
the same of what `sinter convert` makes StableHLO of. Every written file computes what the oracle makes of the model as it
was, for the sizes of the case and for others. With --every only each K-th case is run; with --keep, what failed stays in
DIR.

Needs Python's onnx and numpy (Debian: python3-onnx); without them it says so and ends with 77.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    onnx = None

SKIPPED = 77
SIZES = [{"N": 2, "D": 5, "H": 6, "W": 7}, {"N": 3, "D": 4, "H": 8, "W": 5}]


def kinds():
    return {"f32": (TensorProto.FLOAT, np.float32, 2e-5), "f64": (TensorProto.DOUBLE, np.float64, 1e-12),
            "f16": (TensorProto.FLOAT16, np.float16, 2e-2)}


class Graph:
    """One model while it is made. Constants are random, and the same for all sizes."""

    def __init__(self, kind="f32", opset=15):
        self.kind, self.opset = kind, opset
        self.data_type, self.numpy, self.tolerance = kinds()[kind]
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.RandomState(7)
        self.count = 0
        self.title = ""

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def input(self, *shape, kind=None):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, shape, kind or self.kind))
        return name

    def array(self, *shape, low=-1.0, high=1.0):
        return self.random.uniform(low, high, shape)

    def const(self, array, name=None, dtype=None):
        name = name or self.name("w")
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype or self.numpy), name))
        return name

    def random_const(self, *shape, **options):
        return self.const(self.array(*shape, **options))

    def ints(self, *values):
        return self.const(np.array(values, np.int64), dtype=np.int64)

    def node(self, op, *inputs, outputs=1, domain="", **attributes):
        names = [self.name(op.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"node_{names[0]}", domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def output(self, value, kind=None):
        self.outputs.append((value, kind or self.kind))
        return value

    def norm(self, value, channels, kind=None, **attributes):
        dtype = kinds()[kind][1] if kind else None
        inputs = [self.const(self.array(channels), dtype=dtype), self.const(self.array(channels), dtype=dtype),
                  self.const(self.array(channels), dtype=dtype),
                  self.const(self.array(channels, low=0.5, high=1.5), dtype=dtype)]
        return self.node("BatchNormalization", value, *inputs, epsilon=1e-3, **attributes)

    def conv(self, value, out, inner, *kernel, bias=True, op="Conv", **attributes):
        shape = (out, inner) + kernel
        group = attributes.get("group", 1)
        features = inner * group if op == "ConvTranspose" else out
        inputs = [value, self.random_const(*shape)] + ([self.random_const(features)] if bias else [])
        return self.node(op, *inputs, **attributes)

    def model(self, sizes):
        """With numbers for the symbols in sizes."""
        def info(name, shape, kind):
            dims = None if shape is None else [sizes.get(each, each) if isinstance(each, str) else each for each in shape]
            return helper.make_tensor_value_info(name, kinds()[kind][0], dims)
        graph = helper.make_graph(self.nodes, "g", [info(*each) for each in self.inputs],
                                  [helper.make_tensor_value_info(name, kinds()[kind][0], None)
                                   for name, kind in self.outputs], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8)

    def feeds(self, sizes):
        made = {}
        for i, (name, shape, kind) in enumerate(self.inputs):
            dims = [sizes.get(each, each) if isinstance(each, str) else each for each in shape]
            made[name] = np.random.RandomState(50 + i).uniform(-1, 1, dims).astype(kinds()[kind][1])
        return made


CASES = []


def case(most=None, counts=True, converts=True, **options):
    """A function that fills a graph and gives its result: at most so many nodes are left, or as many as with sizes.

    counts is False where a number of elements is part of the result, converts where StableHLO has no form."""
    def register(function):
        CASES.append((function.__name__, function, most, counts, converts, options))
        return function
    return register


def scaled(g, x, *shape):
    """x * a + b with constants of a shape."""
    return g.node("Add", g.node("Mul", x, g.random_const(*shape)), g.random_const(*shape))


# --- Behind a convolution ----------------------------------------------------------------------------------------------
IMAGE = ("N", 3, "H", "W")


def register_convolutions():
    plain = {
        "conv_bias": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3), 4),
        "conv": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3, bias=False, pads=[1, 1, 1, 1]), 4),
        "strided": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3, strides=[2, 2], pads=[1, 1, 1, 1]), 4),
        "dilated": (IMAGE, lambda g, x: g.conv(x, 4, 3, 2, 2, dilations=[2, 2]), 4),
        "grouped": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 6, 2, 3, 3, group=2), 6),
        "depthwise": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 4, 1, 3, 3, group=4, pads=[1, 1, 1, 1]), 4),
        "conv1d": (("N", 3, "W"), lambda g, x: g.conv(x, 4, 3, 3), 4),
        "conv3d": (("N", 2, "D", "H", "W"), lambda g, x: g.conv(x, 3, 2, 2, 2, 2), 3),
        "transposed": (IMAGE, lambda g, x: g.conv(x, 3, 4, 3, 3, op="ConvTranspose", strides=[2, 2],
                                                  pads=[1, 1, 1, 1], output_padding=[1, 1]), 4),
        "transposed_grouped": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 4, 3, 3, 3, op="ConvTranspose", group=2), 6),
        "transposed_depthwise": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 4, 1, 2, 2, op="ConvTranspose", group=4,
                                                                         strides=[2, 2]), 4),
        "transposed1d": (("N", 3, "W"), lambda g, x: g.conv(x, 3, 4, 3, op="ConvTranspose", bias=False), 4),
    }
    chains = {
        "norm": lambda g, y, c, ones: g.norm(y, c),
        "mul_add": lambda g, y, c, ones: scaled(g, y, c, *ones),
        "div_sub": lambda g, y, c, ones: g.node("Sub", g.node("Div", y, g.random_const(1, c, *ones, low=0.5)),
                                                g.random_const(1, c, *ones)),
        "from_constant": lambda g, y, c, ones: g.node("Sub", g.random_const(c, *ones), y),
        "scalar": lambda g, y, c, ones: g.node("Add", g.node("Mul", y, g.random_const()), g.random_const(1)),
        "two_norms": lambda g, y, c, ones: g.norm(g.norm(y, c), c),
        "add": lambda g, y, c, ones: g.node("Add", y, g.random_const(c, *ones)),
        "negated": lambda g, y, c, ones: g.node("Neg", g.node("Mul", y, g.random_const(c, *ones))),
    }
    for product, (shape, build, channels) in plain.items():
        for chain, apply in chains.items():
            for kind in ("f32", "f16", "f64"):
                if kind != "f32" and (chain not in ("norm", "div_sub") or product not in
                                      ("conv_bias", "conv1d", "grouped", "transposed_grouped")):
                    continue

                def fill(g, shape=shape, build=build, channels=channels, apply=apply):
                    ones = [1] * (len(shape) - 2)
                    return apply(g, build(g, g.input(*shape)), channels, ones)
                fill.__name__ = f"{product}_{chain}" + ("" if kind == "f32" else "_" + kind)
                case(most=1, kind=kind)(fill)


@case(most=1)
def gemm_without_bias(g):
    return g.node("Add", g.node("Gemm", g.input("N", 4), g.random_const(6, 4), transB=1), g.random_const(6))


@case(most=2)
def gemm_that_scales_its_bias(g):
    return g.node("Add", g.node("Gemm", g.input("N", 4), g.random_const(4, 6), beta=0.5), g.random_const(6))


@case()
def blocked_by_relu(g):
    return g.norm(g.node("Relu", g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4)), 4)


@case(most=3)
def relu_between_two(g):
    y = g.node("Relu", g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4))
    return g.norm(g.conv(y, 4, 4, 1, 1, bias=False), 4)


@case()
def two_readers(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    return g.node("Mul", g.norm(y, 4), y)


@case(most=3)
def shared_weights(g):
    x, w = g.input(*IMAGE), g.random_const(4, 3, 3, 3)
    one, other = (g.norm(g.node("Conv", x, w), 4) for _ in range(2))
    return g.node("Mul", one, other)


@case(most=3)
def shared_weight_and_bias(g):
    x, z, w, b = g.input(*IMAGE), g.input(*IMAGE), g.random_const(4, 3, 3, 3), g.random_const(4)
    return g.node("Mul", g.norm(g.node("Conv", x, w, b), 4), scaled(g, g.node("Conv", z, w, b), 4, 1, 1))


@case()
def weight_is_an_output(g):
    w = g.random_const(4, 3, 3, 3)
    g.output(w)
    return g.norm(g.node("Conv", g.input(*IMAGE), w), 4)


@case(most=2)
def chain_in_the_middle_is_an_output(g):
    y = g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4)
    g.output(y)
    return g.node("Relu", y)


@case()
def product_is_an_output(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    g.output(y)
    return g.norm(y, 4)


@case()
def training_mode(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    made = g.node("BatchNormalization", y, *[g.random_const(4) for _ in range(3)], g.random_const(4, low=0.5),
                  outputs=3, training_mode=1)
    return made[0]


@case(most=1, opset=9)
def old_norm(g):
    return g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4, momentum=0.8)


@case(most=1, opset=7)
def older_norm(g):
    return g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4)


@case(most=1)
def made_by_unsqueeze(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    one = g.node("Unsqueeze", g.random_const(4), g.ints(1, 2))
    other = g.node("Unsqueeze", g.random_const(4), g.ints(0, 2, 3))
    return g.node("Sub", g.node("Mul", y, one), other)


@case(most=1)
def made_by_reshape(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    one = g.node("Reshape", g.random_const(4), g.ints(1, -1, 1, 1))
    return g.node("Add", g.node("Div", y, g.node("Sqrt", g.random_const(4, 1, 1, low=0.5))), one)


@case(most=1)
def made_by_constant_nodes(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    one = g.node("Constant", value=numpy_helper.from_array(g.array(4, 1, 1).astype(np.float32)))
    other = g.node("Constant", value_float=0.5)
    return g.node("Add", g.node("Mul", y, one), other)


@case(most=1)
def made_by_others(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    filled = g.node("ConstantOfShape", g.ints(4, 1, 1), value=numpy_helper.from_array(np.array([0.7], np.float32)))
    spread = g.node("Expand", g.random_const(1), g.ints(1, 4, 1, 1))
    cast = g.node("Cast", g.const(g.array(4, 1, 1), dtype=np.float64), to=TensorProto.FLOAT)
    same = g.node("Identity", g.random_const(4, 1, 1))
    y = g.node("Mul", g.node("Add", y, filled), spread)
    return g.node("Add", g.node("Mul", y, cast), same)


@case(most=1)
def weights_are_computed(g):
    w = g.node("Mul", g.node("Identity", g.random_const(4, 3, 3, 3)), g.random_const(4, 1, 1, 1))
    b = g.node("Squeeze", g.random_const(1, 4), g.ints(0))
    return g.norm(g.node("Conv", g.input(*IMAGE), w, b), 4)


@case(most=1)
def transposed_weight(g):
    w = g.node("Transpose", g.random_const(3, 4, 3, 3), perm=[1, 0, 2, 3])
    return g.norm(g.node("Conv", g.input(*IMAGE), w), 4)


@case(most=1)
def full_constants(g):
    """Constants of the whole shape that vary by channel alone."""
    y = g.conv(g.input("N", 3, 6, 6), 4, 3, 3, 3)
    one = np.broadcast_to(g.array(1, 4, 1, 1), (1, 4, 4, 4))
    return g.node("Add", g.node("Mul", y, g.const(one)), g.const(np.broadcast_to(g.array(4, 1, 1), (4, 4, 4))))


@case(most=1)
def sum_node(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    return g.node("Mul", g.node("Sum", y, g.random_const(4, 1, 1), g.random_const(1, 4, 1, 1)), g.random_const(4, 1, 1))


@case(most=1)
def identity_and_dropout(g):
    y = g.node("Identity", g.conv(g.input(*IMAGE), 4, 3, 3, 3))
    return g.norm(g.node("Dropout", y), 4)


@case()
def sigmoid_gate(g):
    y = g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4)
    return g.node("Mul", y, g.node("Sigmoid", y))


@case()
def residual(g):
    x = g.input("N", 4, "H", "W")
    y = g.norm(g.conv(x, 4, 4, 3, 3, pads=[1, 1, 1, 1]), 4)
    return g.node("Relu", g.node("Add", y, x))


@case(most=1)
def auto_pad(g):
    return g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3, auto_pad="SAME_UPPER"), 4)


@case(most=1)
def mul_by_one_and_add_zero(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    return g.node("Add", g.node("Mul", y, g.const(np.ones((4, 1, 1)))), g.const(np.zeros((4, 1, 1))))


@case()
def not_along_channels(g):
    y = g.conv(g.input("N", 3, "H", 6), 4, 3, 3, 3)
    return g.node("Mul", y, g.random_const(4))


# --- Before a product --------------------------------------------------------------------------------------------------
def register_before():
    shapes = {
        "conv": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3)),
        "conv_bias_free": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3, bias=False)),
        "grouped": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 6, 2, 3, 3, group=2)),
        "depthwise": (("N", 4, "H", "W"), lambda g, x: g.conv(x, 4, 1, 3, 3, group=4)),
        "conv1d": (("N", 3, "W"), lambda g, x: g.conv(x, 4, 3, 3)),
        "conv3d": (("N", 2, "D", "H", "W"), lambda g, x: g.conv(x, 3, 2, 2, 2, 2)),
    }
    padded = {
        "padded": (IMAGE, lambda g, x: g.conv(x, 4, 3, 3, 3, pads=[1, 0, 1, 0])),
        "transposed": (IMAGE, lambda g, x: g.conv(x, 3, 4, 3, 3, op="ConvTranspose", strides=[2, 2])),
    }
    chains = {
        "norm": lambda g, x, c, ones: g.norm(x, c),
        "mul": lambda g, x, c, ones: g.node("Mul", x, g.random_const(c, *ones)),
        "sub_div": lambda g, x, c, ones: g.node("Div", g.node("Sub", x, g.random_const(1, c, *ones)),
                                                g.random_const(c, *ones, low=0.5)),
        "add_scalar": lambda g, x, c, ones: g.node("Add", x, g.random_const()),
    }
    for names, most in ((shapes, 1), (padded, None)):
        for product, (shape, build) in names.items():
            for chain, apply in chains.items():
                def fill(g, shape=shape, build=build, apply=apply):
                    return build(g, apply(g, g.input(*shape), shape[1], [1] * (len(shape) - 2)))
                fill.__name__ = f"{chain}_before_{product}"
                case(most=1 if chain == "mul" else most)(fill)


@case(most=1)
def norm_before_and_after(g):
    return g.norm(g.conv(g.norm(g.input(*IMAGE), 3), 4, 3, 3, 3), 4)


@case(most=1)
def shift_past_a_border_of_zero_shift(g):
    """A norm that shifts nothing goes into a padded convolution."""
    x = g.input(*IMAGE)
    zeros = np.zeros(3)
    y = g.node("BatchNormalization", x, g.random_const(3), g.const(zeros), g.const(zeros), g.random_const(3, low=0.5))
    return g.conv(y, 4, 3, 3, 3, pads=[1, 1, 1, 1])


@case()
def explicit_pad_between(g):
    y = g.node("Pad", g.norm(g.input(*IMAGE), 3), g.ints(0, 0, 1, 1, 0, 0, 1, 1))
    return g.conv(y, 4, 3, 3, 3)


@case(most=2)
def scale_before_explicit_pad(g):
    x = g.node("Mul", g.input(*IMAGE), g.random_const(3, 1, 1))
    return g.conv(g.node("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 1, 1)), 4, 3, 3, 3)


# --- Products of matrices ----------------------------------------------------------------------------------------------
@case(most=1)
def gemm_norm(g):
    return g.norm(g.node("Gemm", g.input("N", 6), g.random_const(5, 6), g.random_const(5), transB=1), 5)


@case(most=1)
def gemm_factors(g):
    y = g.node("Gemm", g.input("N", 6), g.random_const(5, 6), g.random_const(1, 5), transB=1, alpha=0.5, beta=0.3)
    return scaled(g, y, 5)


@case(most=1)
def gemm_scalar_c(g):
    return scaled(g, g.node("Gemm", g.input("N", 6), g.random_const(6, 5), g.random_const(), beta=2.0), 5)


@case(most=1)
def gemm_trans_a(g):
    return scaled(g, g.node("Gemm", g.input(6, "N"), g.random_const(6, 5), transA=1, alpha=1.5), 1, 5)


@case(most=1)
def gemm_factor_alone(g):
    return g.node("Gemm", g.input("N", 6), g.random_const(6, 5), alpha=1.5)


@case()
def gemm_column_c(g):
    """C varies by row: no bias of the product."""
    return scaled(g, g.node("Gemm", g.random_const(5, 3), g.input(3, "N"), g.random_const(5, 1)), 5, 1)


@case(most=1)
def gemm_before(g):
    return g.node("Gemm", g.norm(g.input("N", 6), 6), g.random_const(6, 5), g.random_const(5))


@case(most=2)
def matmul_3d(g):
    return scaled(g, g.node("MatMul", g.input("N", "W", 6), g.random_const(6, 5)), 5)


@case(most=2)
def matmul_bias_and_chain(g):
    y = g.node("Add", g.node("MatMul", g.input("N", "W", 6), g.random_const(6, 5)), g.random_const(5))
    return g.node("Mul", g.node("Sub", y, g.random_const(5)), g.random_const(1, 1, 5))


@case(most=1)
def matmul_2d(g):
    return scaled(g, g.node("MatMul", g.input("N", 6), g.random_const(6, 5)), 5)


@case(most=2)
def matmul_4d(g):
    return scaled(g, g.node("MatMul", g.input("N", "H", "W", 6), g.random_const(6, 5)), 5)


@case(most=2)
def matmul_weight_left(g):
    return scaled(g, g.node("MatMul", g.random_const(5, 6), g.input(6, "N")), 5, 1)


@case(most=2)
def matmul_of_batches(g):
    return scaled(g, g.node("MatMul", g.input("N", 2, "W", 6), g.random_const(2, 6, 5)), 5)


@case(most=2)
def matmul_of_known_batches(g):
    return scaled(g, g.node("MatMul", g.input(2, "W", 6), g.random_const(2, 6, 5)), 5)


@case(most=2)
def matmul_of_repeated_batches(g):
    return scaled(g, g.node("MatMul", g.input("N", 2, "W", 6), g.random_const(1, 6, 5)), 1, 5)


@case()
def matmul_chain_of_batches(g):
    return scaled(g, g.node("MatMul", g.input("N", 2, "W", 6), g.random_const(2, 6, 5)), 2, 1, 1)


@case(most=2)
def matmul_before(g):
    return g.node("MatMul", scaled(g, g.input("N", "W", 6), 6), g.random_const(6, 5))


@case(most=2)
def einsum(g):
    return scaled(g, g.node("Einsum", g.input("N", "W", 6), g.random_const(6, 5), equation="bij,jk->bik"), 5)


@case()
def einsum_heads(g):
    return scaled(g, g.node("Einsum", g.input("N", "W", 6), g.random_const(6, 2, 5), equation="bij,jhk->bhik"), 5)


@case(most=2)
def flatten_gemm_norm(g):
    return g.norm(g.node("Gemm", g.node("Flatten", g.input("N", 2, 3)), g.random_const(6, 5)), 5)


# --- Through what moves ------------------------------------------------------------------------------------------------
@case(most=2)
def through_transpose(g):
    return scaled(g, g.node("Transpose", g.conv(g.input(*IMAGE), 4, 3, 3, 3), perm=[0, 2, 3, 1]), 4)


@case(most=3)
def through_transposes(g):
    y = g.conv(g.node("Transpose", g.input("N", "H", "W", 3), perm=[0, 3, 1, 2]), 4, 3, 3, 3)
    return scaled(g, g.node("Transpose", y, perm=[0, 2, 3, 1]), 4)


@case(most=3)
def matmul_transpose_scaled(g):
    y = g.node("Transpose", g.node("MatMul", g.input("N", "W", 6), g.random_const(6, 5)), perm=[0, 2, 1])
    return scaled(g, y, 5, 1)


@case()
def matmul_transpose_batch_norm(g):
    y = g.node("Transpose", g.node("MatMul", g.input("N", "W", 6), g.random_const(6, 5)), perm=[0, 2, 1])
    return g.norm(y, 5)


@case(most=2)
def through_reshape(g):
    y = g.node("Reshape", g.conv(g.input("N", 3, 6, 6), 4, 3, 3, 3), g.ints(0, 4, -1))
    return g.norm(y, 4)


@case()
def through_reshape_to_rows(g):
    y = g.node("Reshape", g.node("MatMul", g.input("N", "W", 6), g.random_const(6, 5)), g.ints(-1, 5))
    return g.norm(y, 5)


@case(most=2)
def through_squeeze(g):
    y = g.node("Squeeze", g.conv(g.input("N", 3, 1, "W"), 4, 3, 1, 3), g.ints(2))
    return g.norm(y, 4)


@case(most=2)
def through_unsqueeze(g):
    y = g.node("Unsqueeze", g.conv(g.input("N", 3, "W"), 4, 3, 3), g.ints(2))
    return g.norm(y, 4)


@case()
def through_slice(g):
    y = g.node("Slice", g.conv(g.input(*IMAGE), 4, 3, 3, 3), g.ints(1), g.ints(3), g.ints(2))
    return g.norm(y, 4)


@case()
def through_slice_to_the_end(g):
    y = g.node("Slice", g.conv(g.input(*IMAGE), 4, 3, 3, 3), g.ints(1, 1), g.ints(2**31, -1), g.ints(2, 3))
    return g.node("Mul", y, g.random_const(4, 1, 1))


@case()
def through_pad(g):
    y = g.node("Pad", g.conv(g.input(*IMAGE), 4, 3, 3, 3), g.ints(0, 0, 1, 1, 0, 0, 1, 1))
    return g.node("Mul", y, g.random_const(4, 1, 1))


@case()
def through_concat(g):
    x = g.input(*IMAGE)
    return g.norm(g.node("Concat", g.conv(x, 4, 3, 3, 3), g.conv(x, 2, 3, 3, 3), axis=1), 6)


@case()
def through_concat_of_images(g):
    x = g.input(*IMAGE)
    return g.norm(g.node("Concat", g.conv(x, 4, 3, 3, 3), g.conv(x, 4, 3, 3, 3), axis=0), 4)


@case()
def through_split(g):
    one, other = g.node("Split", g.conv(g.input(*IMAGE), 4, 3, 3, 3), axis=1, outputs=2)
    return g.node("Add", g.norm(one, 2), g.node("Mul", other, g.random_const(2, 1, 1)))


@case()
def through_gather(g):
    y = g.node("Gather", g.conv(g.input(*IMAGE), 4, 3, 3, 3), g.ints(2, 0), axis=2)
    return g.norm(y, 4)


@case()
def through_average_pool(g):
    y = g.node("AveragePool", g.conv(g.input(*IMAGE), 4, 3, 3, 3), kernel_shape=[2, 2])
    return g.norm(y, 4)


@case()
def through_max_pool(g):
    y = g.node("MaxPool", g.conv(g.input(*IMAGE), 4, 3, 3, 3), kernel_shape=[2, 2])
    return g.norm(y, 4)


@case(counts=False)
def through_global_pool(g):
    y = g.node("GlobalAveragePool", g.conv(g.input(*IMAGE), 4, 3, 3, 3))
    return g.norm(g.node("Flatten", y), 4)


@case()
def norm_flatten_gemm(g):
    y = g.node("Flatten", g.norm(g.input("N", 2, 3, 3), 2))
    return g.node("Gemm", y, g.random_const(18, 5), g.random_const(5))


@case(most=3, counts=False)
def pool_norm_flatten_gemm(g):
    y = g.norm(g.node("GlobalAveragePool", g.input(*IMAGE)), 3)
    return g.node("Gemm", g.node("Flatten", y), g.random_const(3, 5), g.random_const(5))


@case(converts=False)
def through_resize(g):
    y = g.node("Resize", g.conv(g.input(*IMAGE), 4, 3, 3, 3), "", g.const(np.array([1, 1, 2, 2])), mode="nearest")
    return g.norm(y, 4)


@case()
def two_products(g):
    """What stands between two products goes into the first."""
    y = g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4)
    return g.norm(g.conv(y, 2, 4, 3, 3), 2)


@case(most=3)
def two_inputs(g):
    return g.node("Add", g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, 3), 4),
                  scaled(g, g.conv(g.input(*IMAGE), 4, 3, 3, 3, bias=False), 4, 1, 1))


# --- Types -------------------------------------------------------------------------------------------------------------
@case(kind="f16")
def statistics_in_f32(g):
    y = g.conv(g.input(*IMAGE), 4, 3, 3, 3)
    inputs = [g.random_const(4), g.random_const(4), g.const(g.array(4), dtype=np.float32),
              g.const(g.array(4, low=0.5, high=1.5), dtype=np.float32)]
    return g.node("BatchNormalization", y, *inputs)


@case(kind="f16")
def normalised_in_f32(g):
    y = g.node("Cast", g.conv(g.input(*IMAGE), 4, 3, 3, 3), to=TensorProto.FLOAT)
    return g.node("Cast", g.norm(y, 4, kind="f32"), to=TensorProto.FLOAT16)


def dequantised_weight(g, count):
    w = g.const(g.random.randint(-100, 100, (4, 3, 3, 3)), dtype=np.int8)
    zero = np.zeros(count) if count else np.array(0)
    scale = g.array(count, low=0.01, high=0.02) if count else np.array(0.01)
    attributes = {"axis": 0} if count else {}
    return g.node("DequantizeLinear", w, g.const(scale), g.const(zero, dtype=np.int8), **attributes)


def positive_norm(g, value):
    inputs = [g.random_const(4, low=0.5, high=1.5), g.random_const(4), g.random_const(4), g.random_const(4, low=0.5, high=1.5)]
    return g.node("BatchNormalization", value, *inputs)


@case(most=2)
def quantised_weight(g):
    """The scales of the weight take up the norm's."""
    return positive_norm(g, g.node("Conv", g.input(*IMAGE), dequantised_weight(g, 4)))


@case(most=3)
def quantised_weight_and_negative_scales(g):
    return g.norm(g.node("Conv", g.input(*IMAGE), dequantised_weight(g, 4)), 4)


@case(most=3)
def quantised_weight_of_one_scale(g):
    return positive_norm(g, g.node("Conv", g.input(*IMAGE), dequantised_weight(g, 0)))


@case(most=2)
def scale_before_quantised_weight(g):
    return g.node("Conv", g.node("Add", g.input(*IMAGE), g.random_const(3, 1, 1)), dequantised_weight(g, 4))


@case(most=7)
def quantised_convolution(g):
    """A convolution between dequantised and quantised numbers."""
    scale, zero = g.const(np.array(0.03)), g.const(np.array(3), dtype=np.int8)
    x = g.node("DequantizeLinear", g.node("QuantizeLinear", g.input(*IMAGE), scale, zero), scale, zero)
    y = g.node("Relu", positive_norm(g, g.node("Conv", x, dequantised_weight(g, 4))))
    return g.node("DequantizeLinear", g.node("QuantizeLinear", y, scale, zero), scale, zero)


# --- How they are judged -----------------------------------------------------------------------------------------------
def node_count(path):
    """The nodes, without those that only find out sizes."""
    graph = onnx.load(path).graph
    sizes, constants, count = set(), {each.name for each in graph.initializer}, 0
    for node in graph.node:
        is_of_sizes = node.op_type == "Shape" or (
            any(name in sizes for name in node.input) and all(name in sizes or name in constants for name in node.input))
        if is_of_sizes:
            sizes.update(node.output)
        count += not is_of_sizes
    return count, [node.op_type for node in graph.node]


def operation_count(path):
    """The operations whose results are tensors of floats, without constants and what repeats them."""
    count = 0
    with open(path) as file:
        for line in file:
            made = re.match(r"\s*%\S+(?::\d+)? = \"?([a-z]+\.[a-z0-9_]+)", line)
            if made and not re.search("constant$|broadcast_in_dim$", made.group(1)):
                count += re.search(r"x(b?f\d+)>\s*$", line.split("->")[-1]) is not None
    return count


class Failure(Exception):
    pass


class Judge:
    def __init__(self, sinter, folder, graph, most, counts, converts):
        self.sinter, self.folder, self.graph = sinter, folder, graph
        self.most, self.counts, self.converts = most, counts, converts

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        done = subprocess.run([self.sinter, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(os.path.basename(each) for each in arguments)}: {done.returncode} "
                          f"{done.stderr.strip()}")
        return done.stdout

    def values(self, model, which, backend):
        out = self.path(f"out_{os.path.basename(model)}_{which}_{backend}")
        inputs = []
        for name, array in self.graph.feeds(SIZES[which]).items():
            file = self.path(f"{name}_{which}.npy")
            np.save(file, array)
            inputs += ["--input", file]
        self.command("run", model, *inputs, "--backend", backend, "--no-cache", "--threads", "1", "--output-dir", out)
        arrays = [np.load(os.path.join(out, each)) for each in sorted(os.listdir(out))]
        return [each.astype(np.float64) for each in arrays]

    def check_values(self, model, expected, which, backend):
        got = self.values(model, which, backend)
        if len(got) != len(expected):
            raise Failure(f"{os.path.basename(model)} has {len(got)} outputs")
        for one, other in zip(got, expected):
            largest = np.max(np.abs(other)) if other.size else 0
            if one.shape != other.shape or not np.allclose(one, other, rtol=0, atol=self.graph.tolerance * (largest + 1e-30),
                                                           equal_nan=True):
                difference = np.max(np.abs(one - other)) / largest if one.shape == other.shape else one.shape
                raise Failure(f"{os.path.basename(model)} differs on {backend} with sizes {which}: {difference}")

    def run(self):
        for which, sizes in (("fixed", SIZES[0]), ("open", {})):
            onnx.save(self.graph.model(sizes), self.path(which + ".onnx"))
            self.command("optimize", self.path(which + ".onnx"), "-o", self.path(which + "_out.onnx"))
            if self.converts:
                self.command("convert", self.path(which + "_out.onnx"), "-o", self.path(which + ".mlir"))
                self.command("optimize", self.path(which + ".mlir"), "-o", self.path(which + "_out.mlir"))
        if "quantised" in self.graph.title and "DequantizeLinear" not in node_count(self.path("open_out.onnx"))[1]:
            raise Failure("the weight is not quantised any more")
        (fixed, fixed_nodes), (unknown, nodes) = (node_count(self.path(each + "_out.onnx")) for each in ("fixed", "open"))
        if unknown > fixed:
            raise Failure(f"{unknown} nodes with unknown sizes, {fixed} with known ones: {nodes}, {fixed_nodes}")
        if self.most is not None and unknown > self.most:
            raise Failure(f"{unknown} nodes, not {self.most}: {nodes}")
        for suffix in (".mlir", "_out.mlir") if self.counts and self.converts else ():
            known, unknown = (operation_count(self.path(each + suffix)) for each in ("fixed", "open"))
            if unknown > known:
                raise Failure(f"{unknown} operations in open{suffix}, {known} in fixed{suffix}")
        for which in range(len(SIZES)):
            expected = self.values(self.path("open.onnx"), which, "interpreter")
            for model in ("open_out.onnx", "open.mlir", "open_out.mlir") if self.converts else ("open_out.onnx",):
                self.check_values(self.path(model), expected, which, "interpreter")
            self.check_values(self.path("open_out.onnx"), expected, which, "cpu")
        self.check_values(self.path("fixed_out.onnx"), self.values(self.path("fixed.onnx"), 0, "interpreter"), 0, "cpu")


def judge(sinter, entry, keep):
    name, fill, most, counts, converts, options = entry
    folder = tempfile.mkdtemp()
    graph = Graph(**options)
    graph.title = name
    graph.output(fill(graph))
    try:
        Judge(sinter, folder, graph, most, counts, converts).run()
    except Failure as failure:
        if keep:
            shutil.copytree(folder, os.path.join(keep, name), dirs_exist_ok=True)
        return f"{name}: {failure}"
    finally:
        shutil.rmtree(folder)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep")
    given = parser.parse_args()
    if onnx is None:
        print("skipped: Python's onnx is missing")
        return SKIPPED
    register_convolutions()
    register_before()
    cases = [each for each in CASES if given.filter in each[0]][::given.every]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        failures = [each for each in pool.map(lambda entry: judge(given.sinter, entry, given.keep), cases) if each]
    for each in failures:
        print(each)
    print(f"{len(cases) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
