#!/usr/bin/env python3
"""Small transformers in the forms in which exporters spell them out, in ONNX test form.

  transformers.py FOLDER

A model a folder, each with known and with symbolic sizes of the batch and the
sequence: bert (mask, position and token type ids as embeddings, attention as
MatMul, Add, Reshape and Transpose), gpt2 (causal mask, one product for query,
key and value, gelu by tanh or by erf, the output tied to the embedding), llama
(norm by the root mean square, rotary positions, a gated product), vit (patches
by a convolution, a class token). Weights are random; the same every time.

Needs Python's onnx and numpy (Debian: python3-onnx); without them, it says so
and ends with 77.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from judge import Packages

Packages.skip_without()
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, LAYERS, WORDS, PLACES = 64, 4, 2, 50, 32
HEAD = HIDDEN // HEADS
BATCH, LENGTH = 2, 8


class Builder:
    """A graph under construction; every method gives the name of a tensor."""

    def __init__(self, is_open, hidden=HIDDEN, heads=HEADS, deviation=0.2, symbols=None):
        self.random = np.random.default_rng(7)
        self.is_open, self.deviation = is_open, deviation
        self.hidden, self.head_count, self.head = hidden, heads, hidden // heads
        # What a symbol of a declaration is in the test data.
        self.symbols = symbols or {"batch": BATCH, "sequence": LENGTH}
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def sizes(self, *shape):
        """Of a declaration: letters are symbols, or the sizes of the test data."""
        return [each if self.is_open or not isinstance(each, str) else self.symbols[each] for each in shape]

    def input(self, name, dtype, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, self.sizes(*shape)))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"{op.lower()}_{self.count}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"{op}_{self.count}", **attributes))
        return names if outputs > 1 else names[0]

    def constant(self, array):
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"c_{self.count}"))
        return self.weights[-1].name

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape):
        self.count += 1
        array = self.random.normal(0, self.deviation, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(array, f"w_{self.count}"))
        return self.weights[-1].name

    def linear(self, x, inner, outer, bias=True):
        y = self.add("MatMul", x, self.weight(inner, outer))
        return self.add("Add", y, self.weight(outer)) if bias else y

    def layer_norm(self, x):
        centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        variance = self.add("ReduceMean", self.add("Pow", centred, self.number(2)), axes=[-1])
        norm = self.add("Div", centred, self.add("Sqrt", self.add("Add", variance, self.number(1e-5))))
        return self.add("Add", self.add("Mul", norm, self.weight(self.hidden)), self.weight(self.hidden))

    def root_norm(self, x):
        square = self.add("ReduceMean", self.add("Pow", x, self.number(2)), axes=[-1])
        root = self.add("Sqrt", self.add("Add", square, self.number(1e-6)))
        return self.add("Mul", self.weight(self.hidden), self.add("Mul", x, self.add("Div", self.number(1), root)))

    def gelu_erf(self, x):
        y = self.add("Add", self.add("Erf", self.add("Div", x, self.number(2 ** 0.5))), self.number(1))
        return self.add("Mul", self.add("Mul", x, y), self.number(0.5))

    def gelu_tanh(self, x):
        cube = self.add("Mul", self.add("Pow", x, self.number(3)), self.number(0.044715))
        y = self.add("Tanh", self.add("Mul", self.add("Add", x, cube), self.number((2 / np.pi) ** 0.5)))
        return self.add("Mul", self.add("Mul", x, self.number(0.5)), self.add("Add", y, self.number(1)))

    def size(self, x, axis):
        return self.add("Gather", self.add("Shape", x), self.constant(np.array(axis, np.int64)), axis=0)

    def heads(self, x, order=(0, 2, 1, 3)):
        shape = self.ints(0, 0, self.head_count, self.head)
        return self.add("Transpose", self.add("Reshape", x, shape), perm=list(order))

    def join(self, x):
        return self.add("Reshape", self.add("Transpose", x, perm=[0, 2, 1, 3]), self.ints(0, 0, self.hidden))

    def output(self, name, *shape):
        """Declares what the last node gives as an output of that name."""
        self.nodes[-1].output[0] = name
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, self.sizes(*shape)))

    def model(self, output, shape, opset=14):
        self.output(output, *shape)
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="transformers")
        made.ir_version = 8
        return made


def bert(b, positions=False):
    """With a mask of the words, as runtimes find an attention in it."""
    ids = b.input("input_ids", TensorProto.INT64, "batch", "sequence")
    mask = b.input("attention_mask", TensorProto.INT64, "batch", "sequence")
    words = b.add("Gather", b.weight(WORDS, HIDDEN), ids)
    if positions:
        # Counted from the words that are there, as RoBERTa does.
        there = b.add("Cast", b.add("Not", b.add("Equal", ids, b.ints(1))), to=TensorProto.INT32)
        counted = b.add("CumSum", there, b.constant(np.array(1, np.int64)))
        places = b.add("Add", b.add("Cast", b.add("Mul", counted, there), to=TensorProto.INT64), b.ints(1))
        x = b.add("Add", words, b.add("Gather", b.weight(PLACES, HIDDEN), places))
    else:
        types = b.input("token_type_ids", TensorProto.INT64, "batch", "sequence")
        places = b.add("Slice", b.constant(np.arange(PLACES, dtype=np.int64)[None]), b.ints(0),
                       b.add("Unsqueeze", b.size(ids, 1), b.ints(0)), b.ints(1))
        x = b.add("Add", words, b.add("Gather", b.weight(2, HIDDEN), types))
        x = b.add("Add", x, b.add("Gather", b.weight(PLACES, HIDDEN), places))
    x = b.layer_norm(x)
    far = b.add("Cast", b.add("Unsqueeze", b.add("Unsqueeze", mask, b.ints(1)), b.ints(2)), to=TensorProto.FLOAT)
    bias = b.add("Mul", b.add("Sub", b.number(1), far), b.number(-10000))
    for _ in range(LAYERS):
        q, k, v = (b.linear(x, HIDDEN, HIDDEN) for _ in range(3))
        scores = b.add("MatMul", b.heads(q), b.heads(k, (0, 2, 3, 1)))
        scores = b.add("Add", b.add("Div", scores, b.number(HEAD ** 0.5)), bias)
        y = b.join(b.add("MatMul", b.add("Softmax", scores, axis=3), b.heads(v)))
        x = b.layer_norm(b.add("Add", b.linear(y, HIDDEN, HIDDEN), x))
        y = b.linear(b.gelu_erf(b.linear(x, HIDDEN, 4 * HIDDEN)), 4 * HIDDEN, HIDDEN)
        x = b.layer_norm(b.add("Add", y, x))
    b.add("Tanh", x)
    return b.model("y", ("batch", "sequence", HIDDEN))


def gpt2(b, gelu):
    ids = b.input("input_ids", TensorProto.INT64, "batch", "sequence")
    table = b.weight(WORDS, HIDDEN)
    length = b.size(ids, 1)
    end = b.add("Unsqueeze", length, b.ints(0))
    places = b.add("Range", b.constant(np.array(0, np.int64)), length, b.constant(np.array(1, np.int64)))
    x = b.add("Add", b.add("Gather", table, ids), b.add("Gather", b.weight(PLACES, HIDDEN), places))
    causal = b.constant(np.tril(np.ones((1, 1, PLACES, PLACES), np.bool_)))
    for _ in range(LAYERS):
        y = b.linear(b.layer_norm(x), HIDDEN, 3 * HIDDEN)
        q, k, v = b.add("Split", y, b.ints(HIDDEN, HIDDEN, HIDDEN), outputs=3, axis=2)
        scores = b.add("Div", b.add("MatMul", b.heads(q), b.heads(k, (0, 2, 3, 1))), b.number(HEAD ** 0.5))
        seen = b.add("Slice", b.add("Slice", causal, b.ints(0), end, b.ints(2)), b.ints(0), end, b.ints(3))
        scores = b.add("Where", seen, scores, b.number(-1e4))
        y = b.join(b.add("MatMul", b.add("Softmax", scores, axis=-1), b.heads(v)))
        x = b.add("Add", x, b.linear(y, HIDDEN, HIDDEN))
        y = b.linear(gelu(b, b.linear(b.layer_norm(x), HIDDEN, 4 * HIDDEN)), 4 * HIDDEN, HIDDEN)
        x = b.add("Add", x, y)
    b.add("MatMul", b.layer_norm(x), b.add("Transpose", table, perm=[1, 0]))
    return b.model("logits", ("batch", "sequence", WORDS))


def llama(b):
    ids = b.input("input_ids", TensorProto.INT64, "batch", "sequence")
    places = b.input("position_ids", TensorProto.INT64, "batch", "sequence")
    x = b.add("Gather", b.weight(WORDS, HIDDEN), ids)
    speed = b.constant((10000.0 ** (-np.arange(0, HEAD, 2) / HEAD)).astype(np.float32)[None, None])
    angle = b.add("Mul", b.add("Unsqueeze", b.add("Cast", places, to=TensorProto.FLOAT), b.ints(2)), speed)
    angle = b.add("Unsqueeze", b.add("Concat", angle, angle, axis=-1), b.ints(1))
    cos, sin = b.add("Cos", angle), b.add("Sin", angle)

    def turn(y):
        first = b.add("Slice", y, b.ints(0), b.ints(HEAD // 2), b.ints(3))
        second = b.add("Slice", y, b.ints(HEAD // 2), b.ints(2 ** 62), b.ints(3))
        half = b.add("Concat", b.add("Neg", second), first, axis=-1)
        return b.add("Add", b.add("Mul", y, cos), b.add("Mul", half, sin))

    length = b.add("Unsqueeze", b.size(ids, 1), b.ints(0))
    far = b.constant(np.triu(np.full((1, 1, PLACES, PLACES), -1e9, np.float32), 1))
    far = b.add("Slice", b.add("Slice", far, b.ints(0), length, b.ints(2)), b.ints(0), length, b.ints(3))
    for _ in range(LAYERS):
        y = b.root_norm(x)
        q, k, v = (b.heads(b.linear(y, HIDDEN, HIDDEN, bias=False)) for _ in range(3))
        scores = b.add("MatMul", turn(q), b.add("Transpose", turn(k), perm=[0, 1, 3, 2]))
        scores = b.add("Add", b.add("Div", scores, b.number(HEAD ** 0.5)), far)
        y = b.join(b.add("MatMul", b.add("Softmax", scores, axis=-1), v))
        x = b.add("Add", x, b.linear(y, HIDDEN, HIDDEN, bias=False))
        y = b.root_norm(x)
        gate = b.linear(y, HIDDEN, 3 * HIDDEN, bias=False)
        gate = b.add("Mul", gate, b.add("Sigmoid", gate))
        y = b.add("Mul", gate, b.linear(y, HIDDEN, 3 * HIDDEN, bias=False))
        x = b.add("Add", x, b.linear(y, 3 * HIDDEN, HIDDEN, bias=False))
    b.add("MatMul", b.root_norm(x), b.weight(HIDDEN, WORDS))
    return b.model("logits", ("batch", "sequence", WORDS))


def vit(b):
    image = b.input("image", TensorProto.FLOAT, "batch", 3, 32, 32)
    patches = b.add("Conv", image, b.weight(HIDDEN, 3, 8, 8), b.weight(HIDDEN), kernel_shape=[8, 8], strides=[8, 8])
    patches = b.add("Transpose", b.add("Reshape", patches, b.ints(0, HIDDEN, -1)), perm=[0, 2, 1])
    size = b.add("Concat", b.add("Unsqueeze", b.size(image, 0), b.ints(0)), b.ints(1, HIDDEN), axis=0)
    token = b.add("Expand", b.weight(1, 1, HIDDEN), size)
    x = b.add("Add", b.add("Concat", token, patches, axis=1), b.weight(1, 17, HIDDEN))
    for _ in range(LAYERS):
        y = b.layer_norm(x)
        q, k, v = (b.heads(b.linear(y, HIDDEN, HIDDEN)) for _ in range(3))
        scores = b.add("MatMul", b.add("Mul", q, b.number(HEAD ** -0.5)), b.add("Transpose", k, perm=[0, 1, 3, 2]))
        y = b.join(b.add("MatMul", b.add("Softmax", scores, axis=-1), v))
        x = b.add("Add", b.linear(y, HIDDEN, HIDDEN), x)
        y = b.linear(b.gelu_erf(b.linear(b.layer_norm(x), HIDDEN, 4 * HIDDEN)), 4 * HIDDEN, HIDDEN)
        x = b.add("Add", y, x)
    first = b.add("Gather", b.layer_norm(x), b.constant(np.array(0, np.int64)), axis=1)
    b.add("Gemm", first, b.weight(HIDDEN, 10), b.weight(10))
    return b.model("scores", ("batch", 10))


MODELS = {"bert": bert, "roberta": lambda b: bert(b, positions=True), "gpt2_erf": lambda b: gpt2(b, Builder.gelu_erf),
          "gpt2_tanh": lambda b: gpt2(b, Builder.gelu_tanh), "llama": llama, "vit": vit}


def test_data(random, name, shape):
    if name == "attention_mask":
        array = np.ones(shape, np.int64)
        array[0, -2:] = 0
        return array
    if name == "position_ids":
        return np.broadcast_to(np.arange(shape[1]), shape).astype(np.int64)
    if name == "image":
        return random.normal(size=shape).astype(np.float32)
    return random.integers(0, 2 if name == "token_type_ids" else WORDS, shape)


def write(folder):
    for name, make in MODELS.items():
        for is_open in (False, True):
            made = make(Builder(is_open))
            onnx.checker.check_model(made, full_check=True)
            path = os.path.join(folder, name + ("_open" if is_open else ""))
            os.makedirs(os.path.join(path, "test_data_set_0"), exist_ok=True)
            onnx.save(made, os.path.join(path, "model.onnx"))
            random = np.random.default_rng(1)
            for i, each in enumerate(made.graph.input):
                shape = [{"batch": BATCH, "sequence": LENGTH}.get(dim.dim_param, dim.dim_value)
                         for dim in each.type.tensor_type.shape.dim]
                with open(os.path.join(path, "test_data_set_0", f"input_{i}.pb"), "wb") as file:
                    file.write(numpy_helper.from_array(test_data(random, each.name, shape), each.name).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
