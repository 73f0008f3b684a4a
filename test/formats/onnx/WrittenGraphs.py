# Covers: formats/onnx/write Activations ControlFlow Elementwise NodeWriter GraphWriter Initializers Movement
# Covers: formats/onnx/write Normalization Plan Pooling Products Recurrence Reductions Signature WriterRules
"""Random ONNX graphs that hold what passes rewrite: operators from a broad table, many with constants beside them.

In a third of them the first dimension is unknown, and some compute in f16, i64 or i32. (GraphGenerator.py makes graphs
whose sizes are symbols throughout.)
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH = 2


class Graph:
    """A random graph under construction. Shapes are those for a batch of BATCH."""

    def __init__(self, number):
        self.random = np.random.default_rng(number)
        self.nodes, self.weights, self.inputs = [], [], []
        self.tensors = {}
        self.read = set()
        self.open = self.pick([False, False, True])
        self.float = self.pick([np.float32] * 5 + [np.float16])
        self.counter = 0

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def name(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def input(self, shape, dtype):
        name = self.name("in")
        self.inputs.append((name, dtype, tuple(shape)))
        self.tensors[name] = (dtype, tuple(shape))
        return name

    def weight(self, array, stem="w"):
        name = self.name(stem)
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def numbers(self, shape, dtype=None, low=-1.0, high=1.0):
        dtype = dtype or self.float
        if np.issubdtype(dtype, np.integer):
            return self.random.integers(-3, 4, size=shape).astype(dtype)
        return self.random.uniform(low, high, size=shape).astype(dtype)

    def ints(self, *values):
        return self.weight(np.array(values, np.int64), "axes")

    def add(self, op, inputs, shapes, dtype=None, **attributes):
        """Adds a node; the name of its first output."""
        first = next((each for each in inputs if each in self.tensors), None)
        dtype = dtype or (self.tensors[first][0] if first else self.float)
        outputs = [self.name("t") for _ in shapes]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=self.name("node_" + op), **attributes))
        self.read.update(inputs)
        for output, shape in zip(outputs, shapes):
            self.tensors[output] = (dtype, tuple(int(each) for each in shape))
        return outputs[0]

    def some(self, rank=None, dtype=None, lowest=0):
        """A tensor of the graph, rather a late one, or None."""
        names = [name for name, (kind, shape) in self.tensors.items()
                 if (rank is None or len(shape) == rank) and kind == (dtype or self.float) and len(shape) >= lowest and
                 0 < np.prod(shape, dtype=np.int64) <= 20000]
        if not names:
            return None
        return names[-1 - min(int(self.random.exponential(1.5)), len(names) - 1)]

    def shape(self, name):
        return self.tensors[name][1]

    # Steps: each adds a few nodes, or none where nothing fits.

    def unary(self):
        x = self.some()
        op = self.pick(["Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "Floor", "Identity", "LeakyRelu", "HardSwish",
                        "Softplus", "Elu", "HardSigmoid", "Sign", "Ceil", "Reciprocal"])
        if self.float == np.float16 and op in ("Erf", "HardSwish", "Softplus", "Elu", "HardSigmoid", "Sign", "LeakyRelu"):
            op = "Relu"
        if op == "Reciprocal":
            x = self.add("Add", [self.add("Abs", [x], [self.shape(x)]), self.weight(np.array(1, self.float))], [self.shape(x)])
        self.add(op, [x], [self.shape(x)])

    def clip(self):
        x = self.some()
        low, high = sorted(self.numbers(2).tolist())
        self.add("Clip", [x, self.weight(np.array(low, self.float)), self.weight(np.array(high, self.float))], [self.shape(x)])

    def constant_binary(self):
        x = self.some()
        shape = list(self.shape(x))[self.size(0, len(self.shape(x))):]
        shape = [each if self.size(0, 2) else 1 for each in shape]
        # A constant of the batch's size would fix the batch.
        if self.open and len(shape) == len(self.shape(x)) and shape:
            shape[0] = 1
        op = self.pick(["Add", "Sub", "Mul", "Div"])
        c = self.numbers(shape, low=0.5, high=2.0) if op == "Div" else self.numbers(shape)
        operands = [x, self.weight(c)]
        if op in ("Add", "Mul", "Sub") and self.size(0, 2) == 0:
            operands.reverse()
        self.add(op, operands, [self.shape(x)])

    def binary(self):
        x = self.some()
        others = [name for name, (dtype, shape) in self.tensors.items() if dtype == self.float and shape == self.shape(x)]
        y = self.pick(others)
        op = self.pick(["Add", "Sub", "Mul", "Max", "Min"])
        self.add(op, [x, y] + ([self.pick(others)] if op in ("Max", "Min") and self.size(0, 1) else []), [self.shape(x)])

    def power(self):
        x = self.some()
        self.add("Pow", [x, self.weight(np.array(self.pick([1, 2, 3]), self.float))], [self.shape(x)])

    def choose(self):
        x = self.some()
        flag = self.add(self.pick(["Greater", "Less", "GreaterOrEqual"]), [x, self.weight(np.array(0, self.float))],
                        [self.shape(x)], dtype=np.bool_)
        if self.size(0, 1):
            flag = self.add("Not", [flag], [self.shape(x)], dtype=np.bool_)
        self.add("Where", [flag, x, self.weight(np.array(0.5, self.float))], [self.shape(x)], dtype=self.float)

    def transpose(self):
        x = self.some(lowest=2)
        if not x:
            return
        # The batch stays in front where its size is unknown.
        rank = len(self.shape(x))
        order = [0] + (1 + self.random.permutation(rank - 1)).tolist() if self.open else self.random.permutation(rank).tolist()
        self.add("Transpose", [x], [[self.shape(x)[i] for i in order]], perm=order)

    def reshape(self):
        x = self.some(lowest=2)
        if not x:
            return
        shape = self.shape(x)
        kind = self.size(0, 3)
        if kind == 0:
            self.add("Flatten", [x], [[shape[0], np.prod(shape[1:], dtype=np.int64)]])
        elif kind == 1 or self.open:
            self.add("Reshape", [x, self.ints(0, -1)], [[shape[0], np.prod(shape[1:], dtype=np.int64)]])
        else:
            total = int(np.prod(shape))
            parts = [d for d in range(1, 9) if total % d == 0]
            first = self.pick(parts)
            self.add("Reshape", [x, self.ints(first, -1)], [[first, total // first]])

    def units(self):
        x = self.some()
        if len(self.shape(x)) > 4:
            return
        axis = self.size(1 if self.shape(x) else 0, len(self.shape(x)))
        shape = list(self.shape(x))
        shape.insert(axis, 1)
        y = self.add("Unsqueeze", [x, self.ints(axis)], [shape])
        if self.size(0, 1):
            y = self.add(self.pick(["Relu", "Neg"]), [y], [shape])
            self.add("Squeeze", [y, self.ints(axis)], [self.shape(x)])

    def cut(self):
        x = self.some(lowest=2)
        if not x:
            return
        axis = self.size(1, len(self.shape(x)) - 1)
        size = self.shape(x)[axis]
        shape = list(self.shape(x))
        kind = self.size(0, 3)
        if kind == 0:
            start, end = sorted((self.size(0, size), self.size(0, size)))
            end += start == end
            start = min(start, size - 1)
            end = min(max(end, start + 1), size)
            step = self.pick([1, 1, 2])
            shape[axis] = len(range(start, end, step))
            self.add("Slice", [x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step)], [shape])
        elif kind == 1:
            index = np.array(self.size(0, size - 1), np.int64)
            del shape[axis]
            self.add("Gather", [x, self.weight(index, "i")], [shape], axis=axis)
        elif kind == 2:
            index = self.random.integers(0, size, size=self.size(1, 4))
            shape[axis] = len(index)
            self.add("Gather", [x, self.weight(index.astype(np.int64), "i")], [shape], axis=axis)
        elif size > 1:
            first = self.size(1, size - 1)
            pieces = [list(shape), list(shape)]
            pieces[0][axis], pieces[1][axis] = first, size - first
            self.add("Split", [x, self.ints(first, size - first)], pieces, axis=axis)

    def join(self):
        x = self.some(lowest=2)
        if not x:
            return
        axis = self.size(1, len(self.shape(x)) - 1)
        fits = [name for name, (dtype, shape) in self.tensors.items()
                if dtype == self.float and len(shape) == len(self.shape(x)) and
                all(a == b for i, (a, b) in enumerate(zip(shape, self.shape(x))) if i != axis)]
        names = [x] + [self.pick(fits) for _ in range(self.size(0, 2))]
        shape = list(self.shape(x))
        shape[axis] = sum(self.shape(name)[axis] for name in names)
        self.add("Concat", names, [shape], axis=axis)

    def pad(self):
        x = self.some(lowest=2)
        if not x:
            return
        rank = len(self.shape(x))
        low = [0] + [self.size(0, 2) for _ in range(rank - 1)]
        high = [0] + [self.size(0, 2) for _ in range(rank - 1)]
        shape = [a + b + c for a, b, c in zip(low, self.shape(x), high)]
        self.add("Pad", [x, self.ints(*low, *high)], [shape], mode=self.pick(["constant", "edge"]))

    def tile(self):
        x = self.some(lowest=2)
        if x and np.prod(self.shape(x)) < 2000:
            times = [1] + [self.size(1, 2) for _ in self.shape(x)[1:]]
            self.add("Tile", [x, self.ints(*times)], [[a * b for a, b in zip(self.shape(x), times)]])

    def reduce(self):
        x = self.some(lowest=2)
        if not x:
            return
        rank = len(self.shape(x))
        axes = sorted(set(self.size(1, rank - 1) for _ in range(2)))
        keep = self.size(0, 1)
        shape = [1 if i in axes else each for i, each in enumerate(self.shape(x)) if keep or i not in axes]
        op = self.pick(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceSumSquare"])
        if op == "ReduceSum":
            self.add(op, [x, self.ints(*axes)], [shape], keepdims=keep)
        else:
            self.add(op, [x], [shape], axes=axes, keepdims=keep)

    def softmax(self):
        x = self.some(lowest=1)
        if x:
            self.add(self.pick(["Softmax", "LogSoftmax"]), [x], [self.shape(x)], axis=-1)

    def largest(self):
        x = self.some(lowest=2)
        if not x or self.float == np.float16:
            return
        axis = self.size(1, len(self.shape(x)) - 1)
        shape = list(self.shape(x))
        shape[axis] = 1
        self.add("ArgMax", [x], [shape], dtype=np.int64, axis=axis)

    def matmul(self):
        x = self.some(lowest=2)
        if not x:
            return
        inner, outer = self.shape(x)[-1], self.size(1, 6)
        y = self.add("MatMul", [x, self.weight(self.numbers((inner, outer)))], [self.shape(x)[:-1] + (outer,)])
        if self.size(0, 1):
            self.add("Add", [y, self.weight(self.numbers((outer,)), "b")], [self.shape(y)])

    def gemm(self):
        x = self.some(rank=2)
        if not x:
            return
        inner, outer = self.shape(x)[1], self.size(1, 6)
        turned = self.size(0, 1)
        inputs = [x, self.weight(self.numbers((outer, inner) if turned else (inner, outer)))]
        if self.size(0, 1):
            inputs.append(self.weight(self.numbers((outer,)), "b"))
        self.add("Gemm", inputs, [(self.shape(x)[0], outer)], transB=turned, alpha=self.pick([1.0, 0.5]))

    def image(self):
        return self.some(rank=4)

    def conv(self):
        x = self.image()
        if not x or min(self.shape(x)[2:]) < 3 or self.float == np.float16:
            return
        n, c, h, w = self.shape(x)
        groups = c if self.size(0, 3) == 0 else 1
        k, p, s = self.pick([1, 3]), self.size(0, 1), self.size(1, 2)
        o = c if groups > 1 else self.size(1, 5)
        inputs = [x, self.weight(self.numbers((o, c // groups, k, k)))]
        if self.size(0, 1):
            inputs.append(self.weight(self.numbers((o,)), "b"))
        y = self.add("Conv", inputs, [(n, o, (h + 2 * p - k) // s + 1, (w + 2 * p - k) // s + 1)], kernel_shape=[k, k],
                     pads=[p] * 4, strides=[s, s], group=groups)
        if self.size(0, 1):
            self.batch_norm(y)

    def transposed_conv(self):
        x = self.image()
        if not x or self.float == np.float16 or np.prod(self.shape(x)) > 4000:
            return
        n, c, h, w = self.shape(x)
        groups = c if self.size(0, 2) == 0 else 1
        o = self.size(1, 3)
        inputs = [x, self.weight(self.numbers((c, o, 2, 3)))]
        y = self.add("ConvTranspose", inputs, [(n, o * groups, (h - 1) * 2 + 2, (w - 1) * 2 + 3)], strides=[2, 2],
                     group=groups)
        if self.size(0, 1):
            self.batch_norm(y)

    def batch_norm(self, x=None):
        x = x or self.some(lowest=3)
        if not x or self.float == np.float16:
            return
        c = self.shape(x)[1]
        stats = [self.numbers((c,), low=0.5, high=1.5), self.numbers((c,)), self.numbers((c,)),
                 self.numbers((c,), low=0.5, high=1.5)]
        self.add("BatchNormalization", [x] + [self.weight(each, "bn") for each in stats], [self.shape(x)])

    def pool(self):
        x = self.image()
        if not x or min(self.shape(x)[2:]) < 2 or self.float == np.float16:
            return
        n, c, h, w = self.shape(x)
        kind = self.pick(["MaxPool", "AveragePool", "GlobalAveragePool", "InstanceNormalization"])
        if kind == "GlobalAveragePool":
            self.add(kind, [x], [(n, c, 1, 1)])
        elif kind == "InstanceNormalization":
            self.add(kind, [x, self.weight(self.numbers((c,))), self.weight(self.numbers((c,)))], [self.shape(x)])
        else:
            self.add(kind, [x], [(n, c, (h - 2) // 2 + 1, (w - 2) // 2 + 1)], kernel_shape=[2, 2], strides=[2, 2])

    def layer_norm(self):
        x = self.some(lowest=2)
        if not x or self.float == np.float16:
            return
        shape, rows = self.shape(x), self.shape(x)[:-1] + (1,)
        centred = self.add("Sub", [x, self.add("ReduceMean", [x], [rows], axes=[-1])], [shape])
        square = self.add("Pow", [centred, self.weight(np.array(2, self.float))], [shape])
        variance = self.add("ReduceMean", [square], [rows], axes=[-1])
        deviation = self.add("Sqrt", [self.add("Add", [variance, self.weight(np.array(1e-5, self.float))], [rows])], [rows])
        y = self.add("Div", [centred, deviation], [shape])
        y = self.add("Mul", [y, self.weight(self.numbers(shape[-1:]))], [shape])
        self.add("Add", [y, self.weight(self.numbers(shape[-1:]))], [shape])

    def gelu(self):
        x = self.some()
        if self.float == np.float16:
            return
        shape = self.shape(x)
        y = self.add("Erf", [self.add("Div", [x, self.weight(np.array(2 ** 0.5, self.float))], [shape])], [shape])
        y = self.add("Add", [y, self.weight(np.array(1, self.float))], [shape])
        y = self.add("Mul", [x, y], [shape])
        self.add("Mul", [y, self.weight(np.array(0.5, self.float))], [shape])

    def integers(self):
        dtype = self.pick([np.int64, np.int32])
        x = self.some(dtype=dtype)
        if not x:
            y = self.some()
            x = self.add("Cast", [self.add("Floor", [y], [self.shape(y)])], [self.shape(y)], dtype=dtype,
                         to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) if hasattr(helper, "np_dtype_to_tensor_dtype")
                         else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(dtype)])
        op = self.pick(["Add", "Sub", "Mul"])
        y = self.add(op, [x, self.weight(self.numbers((), dtype))], [self.shape(x)])
        if self.size(0, 1):
            to = TensorProto.FLOAT16 if self.float == np.float16 else TensorProto.FLOAT
            self.add("Cast", [y], [self.shape(y)], dtype=self.float, to=to)

    STEPS = [unary, unary, clip, constant_binary, constant_binary, constant_binary, binary, power, choose, transpose, reshape,
             units, cut, cut, join, pad, tile, reduce, reduce, softmax, largest, matmul, gemm, conv, conv, transposed_conv,
             batch_norm, pool, layer_norm, gelu, integers]

    def build(self):
        rank = self.pick([2, 3, 4, 4])
        for _ in range(self.size(1, 2)):
            self.input([BATCH] + [self.size(1, 7) for _ in range(rank - 1)], self.float)
        for _ in range(self.size(3, 14)):
            self.pick(self.STEPS)(self)
        if not self.nodes:
            self.unary()
        ends = [each for node in self.nodes for each in node.output if each not in self.read]
        kind = {np.float32: TensorProto.FLOAT, np.float16: TensorProto.FLOAT16, np.int64: TensorProto.INT64,
                np.int32: TensorProto.INT32, np.bool_: TensorProto.BOOL}

        def info(name, dtype, shape):
            sizes = ["N"] + list(shape[1:]) if self.open and shape else list(shape)
            return helper.make_tensor_value_info(name, kind[dtype], sizes)
        used = [each for each in self.inputs if each[0] in self.read]
        graph = helper.make_graph(self.nodes, "random", [info(*each) for each in used],
                                  [info(name, *self.tensors[name]) for name in ends], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], producer_name="RandomWritten")
        model.ir_version = 8
        return model, [(name, self.numbers(shape, dtype)) for name, dtype, shape in used]
