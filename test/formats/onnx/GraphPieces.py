"""A random ONNX graph while it is made: its values, nodes and constants under names of their own, and chance."""
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": (np.float32, TensorProto.FLOAT), "f16": (np.float16, TensorProto.FLOAT16),
         "f64": (np.float64, TensorProto.DOUBLE), "i64": (np.int64, TensorProto.INT64),
         "i32": (np.int32, TensorProto.INT32), "bool": (np.bool_, TensorProto.BOOL)}


class Value:
    """A tensor of a graph: its sizes for this run, and which of them the file leaves open."""

    def __init__(self, name, kind, shape, is_dynamic):
        self.name, self.kind, self.shape, self.is_dynamic = name, kind, list(shape), list(is_dynamic)

    @property
    def rank(self):
        return len(self.shape)


class Pieces:
    """Nodes and constants under names of their own, and chance."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)
        self.nodes, self.initializers, self.inputs = [], [], []
        self.names, self.feeds = 0, {}
        self.opset, self.versions = 13, {}  # The latter of other domains than ONNX's own.
        self.values = []
        self.results = []  # Names of outputs of which nothing else is computed.
        self.kinds = {}  # Of inputs, and their sizes: symbols or numbers.

    def fresh(self, stem="t"):
        self.names += 1
        return f"{stem}{self.names}"

    def constant(self, array):
        name = self.fresh("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, values):
        return self.constant(np.array(values, np.int64))

    def node(self, op, inputs, outputs=1, **attributes):
        if attributes.get("domain"):
            self.versions.setdefault(attributes["domain"], 1)
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names if outputs > 1 else names[0]

    def add(self, name, kind, shape, is_dynamic):
        value = Value(name, kind, shape, is_dynamic)
        if value.rank <= 5 and int(np.prod(shape)) <= 20000:
            self.values.append(value)
        return value

    def random_array(self, kind, shape):
        dtype = TYPES[kind][0]
        state = np.random.RandomState(self.random.randrange(2**31))
        if kind == "bool":
            return np.asarray(state.rand(*shape) > 0.5)
        if kind in ("i64", "i32"):
            return np.asarray(state.randint(-5, 6, shape), dtype)
        return np.asarray(state.randn(*shape) * 0.7, dtype)

    def shape_of(self, value):
        return self.node("Shape", [value.name])

    def size_of(self, value, axis, scalar=False):
        shape = self.shape_of(value)
        index = self.constant(np.array(axis if scalar else [axis], np.int64))
        return self.node("Gather", [shape, index])

    def is_float(self, value):
        return value.kind in ("f32", "f16", "f64")

    def scalar(self, x, value):
        """A scalar constant of the element type of a value."""
        return self.constant(np.array(value, TYPES[x.kind][0]))

    def beside(self, x, change=lambda array: array):
        """A constant that x may be taken together with, element by element."""
        shape = [s if self.random.random() < 0.5 and not o else 1 for s, o in zip(x.shape, x.is_dynamic)]
        array = self.random_array(x.kind, shape[self.random.randint(0, x.rank):])
        return self.constant(np.asarray(change(array), array.dtype))

    def reduced(self, op, name, axes, keep):
        as_input = op == "ReduceSum" or self.opset >= 18
        return self.node(op, [name] + ([self.ints(axes)] if as_input else []), keepdims=keep, **({} if as_input else {"axes": axes}))

    def block(self, x, *shape):
        """A tensor [first size of x, *shape] that is computed of x."""
        name = self.reduced("ReduceMean", x.name, list(range(1, x.rank)), 0) if x.rank > 1 else x.name
        apart = self.node("Reshape", [name, self.ints([0] + [1] * len(shape))])
        factor, addend = (self.constant(self.random_array(x.kind, [1, *shape])) for _ in range(2))
        return self.node("Add", [self.node("Mul", [apart, factor]), addend])

    def given(self, array):
        """An input of known sizes."""
        name = self.fresh("x")
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape))
        self.kinds[name] = "f32", list(array.shape)
        self.feeds[name] = array
        return name

    def output_info(self, name, kind, rank):
        return helper.make_tensor_value_info(name, TYPES[kind][1], [None] * rank)
