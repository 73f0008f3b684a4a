"""Random ONNX graphs with symbolic sizes, and inputs for them.

Each operator has a method that takes a value of the graph and adds what comes of it, knowing every size for this run and
which of them the file leaves open; or returns False where the value does not suit it.
OperatorRows.py has the operators beyond these.
"""
import random

import BfloatGraphs
import numpy as np
import onnx
import OperatorRows
from GraphPieces import Pieces, TYPES
from onnx import TensorProto, helper, numpy_helper

FAR = 2**63 - 1


class Generator(Pieces):
    def __init__(self, number):
        super().__init__(number)
        self.opset = self.random.choice([13, 15, 17, 18, 19, 20, 21, 22, 23, 24, 26])
        self.kind = self.random.choice(["f32", "f32", "f32", "f16", "f64", "i64", "i32"])
        chance = random.Random(f"forms {number}")
        self.is_bfloat, self.is_static = chance.random() < 0.12, chance.random() < 0.2
        if self.is_bfloat:
            self.opset, self.kind = 23, "f32"
        # What the runtime computes in place of a model in bf16.
        self.judged = None
        # Whether sizes that must agree have symbols of their own in each input, so that they may be others.
        self.apart = random.Random(f"apart {number}").random() < 0.3

    # ---- Operators: each takes a value and adds what comes of it, or returns False ----

    def unary(self, x):
        if x.kind == "bool":
            return False
        op = self.random.choice(["Abs", "Neg", "Identity"] + (["Relu", "Sigmoid", "Tanh", "Erf"] + ["LeakyRelu"] * (x.kind != "f64") + ["Floor"] * (x.kind != "f16" and not self.is_bfloat)
                                                            if self.is_float(x) else []))
        if op == "Erf" and x.kind != "f32":
            op = "Tanh"
        self.add(self.node(op, [x.name]), x.kind, x.shape, x.is_dynamic)

    def binary(self, x):
        if x.kind == "bool":
            return False
        op = self.random.choice(["Add", "Sub", "Mul", "Max"])
        self.add(self.node(op, [x.name, self.beside(x)]), x.kind, x.shape, x.is_dynamic)

    def join(self, x, y):
        """Two inputs of one shape, whose symbols are their own."""
        axis = self.random.randrange(x.rank)
        is_dynamic = [p or q for p, q in zip(x.is_dynamic, y.is_dynamic)]
        if self.random.random() < 0.3:
            shape = [2 * s if i == axis else s for i, s in enumerate(x.shape)]
            self.add(self.node("Concat", [x.name, y.name], axis=axis), x.kind, shape, is_dynamic)
        else:
            self.add(self.node(self.random.choice(["Add", "Mul", "Sub", "Max"]), [x.name, y.name]), x.kind, x.shape, is_dynamic)

    def combine(self, x):
        if x.kind == "bool":
            return False
        for y in self.random.sample(self.values, len(self.values)):
            if y.kind != x.kind:
                continue
            rank = max(x.rank, y.rank)
            a, b = [1] * (rank - x.rank) + x.shape, [1] * (rank - y.rank) + y.shape
            oa, ob = [False] * (rank - x.rank) + x.is_dynamic, [False] * (rank - y.rank) + y.is_dynamic
            if all(i == j or (i == 1 and not p) or (j == 1 and not q) for i, j, p, q in zip(a, b, oa, ob)):
                name = self.node(self.random.choice(["Add", "Mul", "Sub"]), [x.name, y.name])
                return self.add(name, x.kind, [max(i, j) if 0 not in (i, j) else 0 for i, j in zip(a, b)],
                                [p or q for p, q in zip(oa, ob)])
        return False

    def transpose(self, x):
        order = self.random.sample(range(x.rank), x.rank)
        self.add(self.node("Transpose", [x.name], perm=order), x.kind, [x.shape[i] for i in order],
                 [x.is_dynamic[i] for i in order])

    def slice(self, x):
        if not x.rank:
            return False
        axes = self.random.sample(range(x.rank), self.random.randint(1, min(2, x.rank)))
        starts, ends, steps = [], [], []
        shape, is_dynamic = list(x.shape), list(x.is_dynamic)
        for axis in axes:
            size = x.shape[axis]
            step = self.random.choice([1, 1, 2, -1, -1, -2])
            bounds = [0, 1, -1, -2, 2, size, FAR, -FAR]
            start, end = self.random.choice(bounds), self.random.choice(bounds)
            if self.random.random() < 0.6:
                start, end = (0, FAR) if step > 0 else (-1, -FAR)
            shape[axis] = len(range(*slice(start, end, step).indices(size)))
            if shape[axis] == 0:
                start, end = (0, FAR) if step > 0 else (FAR, -FAR)
                shape[axis] = len(range(*slice(start, end, step).indices(size)))
            starts.append(start), ends.append(end), steps.append(step)
        listed = [a - x.rank if self.random.random() < 0.3 else a for a in axes]
        self.add(self.node("Slice", [x.name, self.ints(starts), self.ints(ends), self.ints(listed), self.ints(steps)]),
                 x.kind, shape, is_dynamic)

    def slice_by_size(self, x):
        """Up to half of a size, or from it on."""
        if not x.rank:
            return False
        axis = self.random.randrange(x.rank)
        if x.shape[axis] < 2:
            return False
        half = self.node("Div", [self.size_of(x, axis), self.ints([2])])
        shape = list(x.shape)
        if self.random.random() < 0.5:
            name = self.node("Slice", [x.name, self.ints([0]), half, self.ints([axis])])
            shape[axis] = shape[axis] // 2
        else:
            name = self.node("Slice", [x.name, half, self.ints([FAR]), self.ints([axis])])
            shape[axis] -= shape[axis] // 2
        self.add(name, x.kind, shape, x.is_dynamic)

    def split(self, x):
        if not x.rank:
            return False
        axis = self.random.randrange(x.rank)
        size = x.shape[axis]
        parts = self.random.choice([p for p in (1, 2, 3) if p <= size])
        shape = list(x.shape)
        if x.is_dynamic[axis] or self.random.random() < 0.5:
            if size % parts and self.opset < 18:
                return False
            more = {"num_outputs": parts} if self.opset >= 18 else {}
            each = -(-size // parts)
            sizes = [min(each, size - i * each) for i in range(parts)]
            if min(sizes) <= 0:
                return False
            names = self.node("Split", [x.name], parts, axis=axis, **more)
        else:
            sizes = [size - parts + 1] + [1] * (parts - 1)
            names = self.node("Split", [x.name, self.ints(sizes)], parts, axis=axis)
        for name, part in zip([names] if parts == 1 else names, sizes):
            shape[axis] = part
            self.add(name, x.kind, shape, x.is_dynamic)

    def reshape(self, x):
        way = self.random.randrange(4)
        count = int(np.prod(x.shape))
        if way == 0 and x.rank >= 2:
            self.add(self.node("Reshape", [x.name, self.ints([0, -1])]), x.kind,
                     [x.shape[0], int(np.prod(x.shape[1:]))], [x.is_dynamic[0], any(x.is_dynamic[1:])])
        elif way == 1:
            self.add(self.node("Reshape", [x.name, self.ints([-1])]), x.kind, [count], [any(x.is_dynamic)])
        elif way == 2 and x.rank >= 2:
            first = self.size_of(x, 0)
            target = self.node("Concat", [first, self.ints([1, -1])], axis=0)
            self.add(self.node("Reshape", [x.name, target]), x.kind, [x.shape[0], 1, int(np.prod(x.shape[1:]))],
                     [x.is_dynamic[0], False, any(x.is_dynamic[1:])])
        elif x.rank >= 2:
            sizes = [self.size_of(x, i) for i in range(x.rank)]
            joined = self.node("Mul", sizes[:2])
            target = self.node("Concat", [joined] + sizes[2:], axis=0)
            self.add(self.node("Reshape", [x.name, target]), x.kind, [x.shape[0] * x.shape[1]] + x.shape[2:],
                     [x.is_dynamic[0] or x.is_dynamic[1]] + x.is_dynamic[2:])
        else:
            return False

    def flatten(self, x):
        axis = self.random.randint(0, x.rank)
        self.add(self.node("Flatten", [x.name], axis=axis), x.kind,
                 [int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))],
                 [any(x.is_dynamic[:axis]), any(x.is_dynamic[axis:])])

    def unsqueeze(self, x):
        axis = self.random.randint(0, x.rank)
        name = self.node("Unsqueeze", [x.name, self.ints([axis])])
        shape, is_dynamic = list(x.shape), list(x.is_dynamic)
        shape.insert(axis, 1), is_dynamic.insert(axis, False)
        value = self.add(name, x.kind, shape, is_dynamic)
        if self.random.random() < 0.5:
            self.add(self.node("Squeeze", [value.name, self.ints([axis])]), x.kind, x.shape, x.is_dynamic)

    def concat(self, x):
        if not x.rank:
            return False
        axis = self.random.randrange(x.rank)
        shape = list(x.shape)
        shape[axis] *= 2
        self.add(self.node("Concat", [x.name, x.name], axis=axis), x.kind, shape, x.is_dynamic)

    def expand(self, x):
        shape = self.shape_of(x)
        target = self.node("Concat", [self.ints([2]), shape], axis=0)
        self.add(self.node("Expand", [x.name, target]), x.kind, [2] + x.shape, [False] + x.is_dynamic)

    def tile(self, x):
        if not x.rank:
            return False
        repeats = [self.random.choice([1, 1, 2]) for _ in x.shape]
        self.add(self.node("Tile", [x.name, self.ints(repeats)]), x.kind, [s * r for s, r in zip(x.shape, repeats)],
                 x.is_dynamic)

    def reduce(self, x):
        if not x.rank or x.kind == "bool":
            return False
        op = self.random.choice(["ReduceSum", "ReduceMax", "ReduceMin"] + (["ReduceMean", "ReduceL2"]
                                                                          if self.is_float(x) else []))
        axes = sorted(self.random.sample(range(x.rank), self.random.randint(1, x.rank)))
        keep = self.random.choice([0, 1])
        name = self.reduced(op, x.name, axes, keep)
        shape = [1 if i in axes else s for i, s in enumerate(x.shape) if keep or i not in axes]
        is_dynamic = [o and i not in axes for i, o in enumerate(x.is_dynamic) if keep or i not in axes]
        self.add(name, x.kind, shape, is_dynamic)

    def reduce_last_by_range(self, x):
        """As exporters expand normalisations: axes from a range up to the rank."""
        if not x.rank or not self.is_float(x) or self.opset < 18:
            return False
        axis = self.random.randrange(x.rank)
        rank = self.node("Size", [self.shape_of(x)])
        axes = self.node("Range", [self.constant(np.int64(axis)), rank, self.constant(np.int64(1))])
        self.add(self.node("ReduceMean", [x.name, axes]), x.kind, x.shape[:axis] + [1] * (x.rank - axis),
                 x.is_dynamic[:axis] + [False] * (x.rank - axis))

    def arg(self, x):
        if not x.rank or x.kind not in ("f32", "f64"):
            return False
        axis = self.random.randrange(x.rank)
        name = self.node(self.random.choice(["ArgMax", "ArgMin"]), [x.name], axis=axis, keepdims=1)
        self.add(name, "i64", [1 if i == axis else s for i, s in enumerate(x.shape)],
                 [o and i != axis for i, o in enumerate(x.is_dynamic)])

    def top_k(self, x):
        if not x.rank or x.kind not in ("f32", "f64", "i64"):
            return False
        axis = self.random.randrange(x.rank)
        if x.shape[axis] < 2:
            return False
        shape, is_dynamic = list(x.shape), list(x.is_dynamic)
        if self.random.random() < 0.5:
            shape[axis], is_dynamic[axis], count = 2, False, self.ints([2])
        else:
            shape[axis] //= 2
            count = self.node("Div", [self.size_of(x, axis), self.ints([2])])
        values, _ = self.node("TopK", [x.name, count], 2, axis=axis)
        self.add(values, x.kind, shape, is_dynamic)

    def cumulate(self, x):
        if not x.rank or x.kind not in ("f32", "f64", "i64", "i32"):
            return False
        axis = self.random.randrange(x.rank)
        self.add(self.node("CumSum", [x.name, self.constant(np.int64(axis))], exclusive=self.random.choice([0, 1]),
                           reverse=self.random.choice([0, 1])), x.kind, x.shape, x.is_dynamic)

    def gather(self, x):
        if not x.rank:
            return False
        axis = self.random.randrange(x.rank)
        if x.shape[axis] < 1:
            return False
        low = -x.shape[axis]
        count = self.random.choice([(), (1,), (3,), (2, 2)])
        indices = np.array([self.random.randrange(low, x.shape[axis]) for _ in range(int(np.prod(count)))]).reshape(count)
        self.add(self.node("Gather", [x.name, self.constant(indices.astype(np.int64))], axis=axis), x.kind,
                 x.shape[:axis] + list(count) + x.shape[axis + 1:],
                 x.is_dynamic[:axis] + [False] * len(count) + x.is_dynamic[axis + 1:])

    def gather_nd(self, x):
        if not x.rank or min(x.shape) < 1:
            return False
        length = self.random.randint(1, x.rank)
        rows = self.random.randint(1, 3)
        indices = np.array([[self.random.randrange(-x.shape[j], x.shape[j]) for j in range(length)] for _ in range(rows)])
        self.add(self.node("GatherND", [x.name, self.constant(indices.astype(np.int64))]), x.kind,
                 [rows] + x.shape[length:], [False] + x.is_dynamic[length:])

    def scatter_nd(self, x):
        if not x.rank or min(x.shape) < 1 or x.is_dynamic[1:] != [False] * (x.rank - 1):
            return False
        row = self.random.randrange(x.shape[0])
        updates = self.constant(self.random_array(x.kind, [1] + x.shape[1:]))
        self.add(self.node("ScatterND", [x.name, self.ints([[row]]), updates]), x.kind, x.shape, x.is_dynamic)

    def gather_elements(self, x):
        if not x.rank or min(x.shape) < 1:
            return False
        axis = self.random.randrange(x.rank)
        zeros = self.node("ConstantOfShape", [self.shape_of(x)], value=numpy_helper.from_array(np.array([0], np.int64)))
        self.add(self.node("GatherElements", [x.name, zeros], axis=axis), x.kind, x.shape, x.is_dynamic)

    def one_hot(self, x):
        if x.kind != "i64":
            return False
        values = self.constant(np.array([0, 1], np.float32))
        self.add(self.node("OneHot", [x.name, self.constant(np.int64(4)), values]), "f32", x.shape + [4],
                 x.is_dynamic + [False])

    def where(self, x):
        if x.kind == "bool":
            return False
        zero = self.constant(np.zeros((), TYPES[x.kind][0]))
        condition = self.node("Greater", [x.name, zero])
        self.add(self.node("Where", [condition, x.name, zero]), x.kind, x.shape, x.is_dynamic)

    def cast(self, x):
        kind = self.random.choice(["f32", "f64", "f16"] + ["i64", "i32"] * (x.kind != "f16"))
        if x.kind in ("f16", "f32", "f64", "i64", "i32"):
            self.add(self.node("Cast", [x.name], to=TYPES[kind][1]), kind, x.shape, x.is_dynamic)
        else:
            return False

    def pad(self, x):
        if not x.rank or min(x.shape) < 1 or x.kind == "bool":
            return False
        mode = self.random.choice(["constant", "constant", "edge", "reflect"])
        pads = [self.random.choice([0, 0, 1, 2]) for _ in range(2 * x.rank)]
        if mode == "reflect":
            pads = [min(p, x.shape[i % x.rank] - 1) for i, p in enumerate(pads)]
        inputs = [x.name, self.ints(pads)]
        self.add(self.node("Pad", inputs, mode=mode), x.kind,
                 [s + pads[i] + pads[i + x.rank] for i, s in enumerate(x.shape)], x.is_dynamic)

    def pad_to_multiple(self, x):
        """Padding that follows from a size: up to a multiple of four."""
        if not x.rank or x.kind == "bool":
            return False
        axis = x.rank - 1
        four = self.ints([4])
        size = self.size_of(x, axis)
        more = self.node("Mod", [self.node("Sub", [four, self.node("Mod", [size, four])]), four])
        zeros = self.ints([0] * (2 * x.rank - 1))
        pads = self.node("Concat", [zeros, more], axis=0)
        shape = list(x.shape)
        shape[axis] = -(-shape[axis] // 4) * 4
        self.add(self.node("Pad", [x.name, pads]), x.kind, shape, x.is_dynamic)

    def range(self, x):
        if not x.rank:
            return False
        axis = self.random.randrange(x.rank)
        start, step = self.random.choice([(0, 1), (0, 1), (1, 1), (0, 2), (-3, 3)])
        name = self.node("Range", [self.constant(np.int64(start)), self.size_of(x, axis, scalar=True),
                                   self.constant(np.int64(step))])
        self.add(name, "i64", [len(range(start, x.shape[axis], step))], [x.is_dynamic[axis]])

    def softmax(self, x):
        if not x.rank or not self.is_float(x):
            return False
        self.add(self.node(self.random.choice(["Softmax", "LogSoftmax"]), [x.name],
                           axis=self.random.randrange(-x.rank, x.rank)), x.kind, x.shape, x.is_dynamic)

    def layer_norm(self, x):
        if x.rank < 2 or x.kind != "f32" or x.is_dynamic[-1] or self.opset < 17:
            return False
        scale = self.constant(self.random_array(x.kind, [x.shape[-1]]))
        self.add(self.node("LayerNormalization", [x.name, scale]), x.kind, x.shape, x.is_dynamic)

    def matmul(self, x):
        if x.rank < 2 or x.is_dynamic[-1] or x.kind not in ("f32", "f64", "f16"):
            return False
        weights = self.constant(self.random_array(x.kind, [x.shape[-1], 3]))
        self.add(self.node("MatMul", [x.name, weights]), x.kind, x.shape[:-1] + [3], x.is_dynamic[:-1] + [False])

    def gram(self, x):
        if x.rank < 2 or x.kind not in ("f32", "f64"):
            return False
        order = list(range(x.rank - 2)) + [x.rank - 1, x.rank - 2]
        turned = self.node("Transpose", [x.name], perm=order)
        self.add(self.node("MatMul", [x.name, turned]), x.kind, x.shape[:-1] + [x.shape[-2]],
                 x.is_dynamic[:-1] + [x.is_dynamic[-2]])

    def quantize(self, x):
        if x.kind != "f32":
            return False
        scale, zero = self.constant(np.float32(0.05)), self.constant(np.uint8(self.random.choice([0, 128])))
        codes = self.node("QuantizeLinear", [x.name, scale, zero])
        self.add(self.node("DequantizeLinear", [codes, scale, zero]), "f32", x.shape, x.is_dynamic)

    def recurrent(self, x):
        if x.rank != 3 or x.kind != "f32" or x.is_dynamic[2]:
            return False
        op, gates = self.random.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        directions = self.random.choice([1, 2])
        weights = self.constant(self.random_array("f32", [directions, gates * 2, x.shape[2]]))
        recurrence = self.constant(self.random_array("f32", [directions, gates * 2, 2]))
        first, last = self.node(op, [x.name, weights, recurrence], 2, hidden_size=2,
                                direction="forward" if directions == 1 else "bidirectional")
        self.add(first, "f32", [x.shape[0], directions, x.shape[1], 2], [x.is_dynamic[0], False, x.is_dynamic[1], False])
        self.add(last, "f32", [directions, x.shape[1], 2], [False, x.is_dynamic[1], False])

    def einsum(self, x):
        if x.rank != 2 or x.kind != "f32":
            return False
        equation, shape, is_dynamic = self.random.choice([
            ("ij,ij->i", x.shape[:1], x.is_dynamic[:1]), ("ij,kj->ik", [x.shape[0]] * 2, [x.is_dynamic[0]] * 2),
            ("ij,ij->ji", x.shape[::-1], x.is_dynamic[::-1])])
        self.add(self.node("Einsum", [x.name, x.name], equation=equation), "f32", shape, is_dynamic)

    def normalize(self, x):
        if x.kind != "f32" or x.rank < 3 or x.rank > 4 or min(x.shape) < 1:
            return False
        if self.random.random() < 0.5:
            name = self.node("MeanVarianceNormalization", [x.name])
        else:
            zeros = self.node("Sub", [x.name, x.name])  # The norm of nothing but zeros.
            axis = self.random.randrange(x.rank)
            half = self.node("Concat", [x.name, zeros], axis=axis)
            other = self.random.choice([i for i in range(x.rank) if i != axis])
            name = self.node("LpNormalization", [half], axis=other, p=self.random.choice([1, 2]))
            shape = list(x.shape)
            shape[axis] *= 2
            return self.add(name, "f32", shape, x.is_dynamic)
        self.add(name, "f32", x.shape, x.is_dynamic)

    def image(self, x):
        return x.rank == 4 and x.kind == "f32" and not x.is_dynamic[1] and min(x.shape) > 0

    def convolution(self, x):
        if not self.image(x):
            return False
        weights = self.constant(self.random_array("f32", [2, x.shape[1], 3, 3]))
        stride = self.random.choice([1, 2])
        way = self.random.choice(["SAME_UPPER", "SAME_LOWER", "pads"])
        more = {"pads": [1, 1, 1, 1]} if way == "pads" else {"auto_pad": way}
        self.add(self.node("Conv", [x.name, weights], strides=[stride, stride], kernel_shape=[3, 3], **more), "f32",
                 [x.shape[0], 2] + [-(-s // stride) for s in x.shape[2:]], [x.is_dynamic[0], False] + x.is_dynamic[2:])

    def transposed_convolution(self, x):
        if not self.image(x):
            return False
        weights = self.constant(self.random_array("f32", [x.shape[1], 2, 2, 2]))
        more = self.random.choice([{}, {"auto_pad": "SAME_UPPER"}])
        self.add(self.node("ConvTranspose", [x.name, weights], strides=[2, 2], **more), "f32",
                 [x.shape[0], 2] + [2 * s for s in x.shape[2:]], [x.is_dynamic[0], False] + x.is_dynamic[2:])

    def pool(self, x):
        if not self.image(x) or min(x.shape[2:]) < 3:
            return False
        op = self.random.choice(["MaxPool", "AveragePool"])
        way = self.random.choice(["ceil", "SAME_UPPER", "plain"])
        if way == "ceil":
            more, sizes = {"ceil_mode": 1}, [-(-(s - 2) // 2) + 1 for s in x.shape[2:]]
        elif way == "plain":
            more, sizes = {}, [(s - 2) // 2 + 1 for s in x.shape[2:]]
        else:
            more, sizes = {"auto_pad": way}, [-(-s // 2) for s in x.shape[2:]]
        self.add(self.node(op, [x.name], kernel_shape=[2, 2], strides=[2, 2], **more), "f32", x.shape[:2] + sizes,
                 x.is_dynamic)

    def resize(self, x):
        if not self.image(x):
            return False
        mode = self.random.choice(["nearest", "linear", "linear", "cubic"])
        places = self.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
        nearest = self.random.choice(["floor", "round_prefer_floor", "ceil"])
        more = {"mode": mode, "coordinate_transformation_mode": places, "nearest_mode": nearest}
        way = self.random.randrange(3)
        if way == 0:
            scales = self.random.choice([[2.0, 2.0], [0.5, 0.5], [1.5, 2.0]])
            sizes = [int(np.floor(s * f)) for s, f in zip(x.shape[2:], scales)]
            if min(sizes) < 1:
                return False
            inputs = [x.name, "", self.constant(np.array([1, 1] + scales, np.float32))]
        elif way == 1:
            sizes = [2 * s for s in x.shape[2:]]
            shape = self.shape_of(x)
            front = self.node("Slice", [shape, self.ints([0]), self.ints([2])])
            back = self.node("Slice", [shape, self.ints([2]), self.ints([4])])
            target = self.node("Concat", [front, self.node("Mul", [back, self.ints([2])])], axis=0)
            inputs = [x.name, "", "", target]
        else:
            sizes = [5, 6]
            front = self.node("Slice", [self.shape_of(x), self.ints([0]), self.ints([2])])
            inputs = [x.name, "", "", self.node("Concat", [front, self.ints(sizes)], axis=0)]
        self.add(self.node("Resize", inputs, **more), "f32", x.shape[:2] + sizes,
                 x.is_dynamic[:2] + ([False, False] if way == 2 else x.is_dynamic[2:]))

    def instance_norm(self, x):
        if not self.image(x):
            return False
        scale, bias = (self.constant(self.random_array("f32", [x.shape[1]])) for _ in range(2))
        self.add(self.node("InstanceNormalization", [x.name, scale, bias]), "f32", x.shape, x.is_dynamic)

    def depth_to_space(self, x):
        if not self.image(x) or x.shape[1] % 4:
            return False
        self.add(self.node("DepthToSpace", [x.name], blocksize=2), "f32",
                 [x.shape[0], x.shape[1] // 4, 2 * x.shape[2], 2 * x.shape[3]], x.is_dynamic)

    # ---- Control flow -------------------------------------------------------

    def inner(self, name, nodes, inputs, outputs):
        return helper.make_graph(nodes, name, inputs, outputs)

    def condition(self, x):
        """A scalar truth value that depends on the values of x, or on one of its sizes."""
        if self.random.random() < 0.5 and x.kind in ("f32", "f64", "i64", "i32"):
            axes = [self.ints(list(range(x.rank)))] if x.rank else []
            total = self.node("ReduceSum", [x.name] + axes, keepdims=0) if x.rank else x.name
            return self.node("Greater", [total, self.constant(np.zeros((), TYPES[x.kind][0]))])
        if not x.rank:
            return None
        return self.node("Greater", [self.size_of(x, 0, scalar=True), self.constant(np.int64(3))])

    def branch(self, x):
        condition = self.condition(x)
        if condition is None or x.kind not in ("f32", "f64"):
            return False
        known = [s if self.random.random() < 0.5 and not o else 1 for s, o in zip(x.shape, x.is_dynamic)]
        yes, no, extra = self.fresh("b"), self.fresh("b"), self.fresh("b")
        addend = numpy_helper.from_array(self.random_array(x.kind, known), extra)
        graphs = [helper.make_graph([helper.make_node("Tanh", [x.name], [yes])], "yes", [],
                                    [self.output_info(yes, x.kind, x.rank)]),
                  helper.make_graph([helper.make_node("Add", [x.name, extra], [no])], "no", [],
                                    [self.output_info(no, x.kind, x.rank)], [addend])]
        self.random.shuffle(graphs)
        self.add(self.node("If", [condition], then_branch=graphs[0], else_branch=graphs[1]), x.kind, x.shape, x.is_dynamic)

    def loop(self, x):
        if x.kind not in ("f32", "f64", "i64", "i32"):
            return False
        number, on, carried, more, after = (self.fresh("l") for _ in range(5))
        one = numpy_helper.from_array(np.ones((), TYPES[x.kind][0]), more)
        nodes = [helper.make_node("Add", [carried, more], [after]), helper.make_node("Identity", [on], [on + "o"])]
        outputs = [self.output_info(on + "o", "bool", 0), self.output_info(after, x.kind, x.rank)]
        gathers = self.random.random() < 0.4
        if gathers:
            nodes.append(helper.make_node("Identity", [after], [after + "s"]))
            outputs.append(self.output_info(after + "s", x.kind, x.rank))
        body = helper.make_graph(nodes, "body", [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(on, TensorProto.BOOL, []), self.output_info(carried, x.kind, x.rank)],
            outputs, [one])
        if x.rank and self.random.random() < 0.6:
            axis = self.random.randrange(x.rank)
            count, times, is_dynamic = self.size_of(x, axis, scalar=True), x.shape[axis], x.is_dynamic[axis]
        else:
            count, times, is_dynamic = self.constant(np.int64(3)), 3, False
        if gathers and times:
            names = self.node("Loop", [count, "", x.name], 2, body=body)
            self.add(names[1], x.kind, [times] + x.shape, [is_dynamic] + x.is_dynamic)
            self.add(names[0], x.kind, x.shape, x.is_dynamic)
        elif not gathers:
            self.add(self.node("Loop", [count, "", x.name], body=body), x.kind, x.shape, x.is_dynamic)
        else:
            return False

    def growing_loop(self, x):
        """What is carried gets longer with each iteration."""
        if not x.rank or x.kind not in ("f32", "f64"):
            return False
        number, on, carried, after = (self.fresh("l") for _ in range(4))
        axis = self.random.randrange(x.rank)
        body = helper.make_graph(
            [helper.make_node("Concat", [carried, x.name], [after], axis=axis),
             helper.make_node("Identity", [on], [on + "o"])], "body",
            [helper.make_tensor_value_info(number, TensorProto.INT64, []),
             helper.make_tensor_value_info(on, TensorProto.BOOL, []), self.output_info(carried, x.kind, x.rank)],
            [self.output_info(on + "o", "bool", 0), self.output_info(after, x.kind, x.rank)])
        times = self.random.choice([1, 2, x.shape[0]])
        count = self.size_of(x, 0, scalar=True) if times == x.shape[0] else self.constant(np.int64(times))
        shape = list(x.shape)
        shape[axis] *= 1 + times
        is_dynamic = list(x.is_dynamic)
        is_dynamic[axis] |= times == x.shape[0] and x.is_dynamic[0]
        self.add(self.node("Loop", [count, "", x.name], body=body), x.kind, shape, is_dynamic)

    def scan(self, x):
        if x.kind not in ("f32", "f64") or x.rank < 1 or x.shape[0] < 1:
            return False
        state, piece, after, given = (self.fresh("s") for _ in range(4))
        body = helper.make_graph(
            [helper.make_node("Add", [state, piece], [after]), helper.make_node("Identity", [after], [given])], "body",
            [self.output_info(state, x.kind, x.rank - 1), self.output_info(piece, x.kind, x.rank - 1)],
            [self.output_info(after, x.kind, x.rank - 1), self.output_info(given, x.kind, x.rank - 1)])
        first = self.node("ReduceSum", [x.name, self.ints([0])], keepdims=0)
        names = self.node("Scan", [first, x.name], 2, body=body, num_scan_inputs=1,
                          scan_input_directions=[self.random.choice([0, 1])])
        self.add(names[0], x.kind, x.shape[1:], x.is_dynamic[1:])
        self.add(names[1], x.kind, x.shape, x.is_dynamic)

    # ---- The whole ----------------------------------------------------------

    def feeds_of(self, sizes):
        """Inputs of other sizes, by symbol."""
        shapes = {name: [sizes.get(d, sizes.get(str(d)[:1], d)) for d in dims] for name, (_, dims) in self.kinds.items()}
        return {name: np.ascontiguousarray(self.random_array(self.kinds[name][0], shape)).reshape(shape)
                for name, shape in shapes.items()}

    def input(self):
        rank = self.random.choice([1, 2, 3, 4, 4])
        kind = self.kind if rank != 4 else self.random.choice([self.kind, "f32"])
        if self.apart and self.kinds:
            kind, rank = [(kind, len(dims)) for kind, dims in self.kinds.values()][0]
        sizes = {"N": 2, "H": self.random.choice([5, 6, 8]), "W": self.random.choice([4, 7]), "T": 6}
        symbols = ["N", "C", "H", "W"] if rank == 4 else ["N", "T", "H"][:rank]
        dims, shape = [], []
        for place, symbol in enumerate(symbols):
            size = self.sizes.setdefault(symbol, sizes.get(symbol, 4))
            is_dynamic = not self.is_static and symbol != "C" and (place == 0 or self.random.random() < 0.6)
            dims.append((symbol + str(len(self.inputs) or "") if self.apart else symbol) if is_dynamic else size)
            shape.append(size)
        name = self.fresh("x")
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind][1], dims))
        self.kinds[name] = kind, dims
        self.feeds[name] = np.ascontiguousarray(self.random_array(kind, shape)).reshape(shape)
        self.add(name, kind, shape, [isinstance(d, str) for d in dims])

    def prune(self, wanted):
        """Takes out what nothing wanted is computed of: the runtime computes it, too, and refuses it."""
        kept = []
        for node in reversed(self.nodes):
            if wanted.isdisjoint(node.output):
                continue
            kept.append(node)
            wanted.update(node.input)
            for attribute in node.attribute:
                wanted.update(name for inner in attribute.g.node for name in inner.input)
        self.nodes = kept[::-1]

    def makers(self):
        smooth = [self.unary, self.binary, self.combine, self.transpose, self.slice, self.slice_by_size, self.split, self.reshape, self.flatten,
                  self.unsqueeze, self.concat, self.expand, self.tile, self.reduce, self.gather, self.gather_nd, self.scatter_nd,
                  self.gather_elements, self.where, self.pad, self.softmax, self.layer_norm, self.matmul, self.gram, self.convolution,
                  self.transposed_convolution, self.pool, self.depth_to_space, self.loop, self.growing_loop, self.scan]
        if self.is_bfloat:
            return smooth
        return [self.unary, self.binary, self.combine, self.transpose, self.slice, self.slice, self.slice_by_size,
                self.split, self.reshape, self.reshape, self.flatten, self.unsqueeze, self.concat, self.expand,
                self.tile, self.reduce, self.reduce_last_by_range, self.arg, self.top_k, self.cumulate, self.gather,
                self.gather_nd, self.scatter_nd, self.gather_elements, self.one_hot, self.where, self.cast, self.pad,
                self.pad_to_multiple, self.range, self.softmax, self.layer_norm, self.matmul, self.gram,
                self.convolution, self.transposed_convolution, self.pool, self.resize, self.resize,
                self.instance_norm, self.depth_to_space, self.branch, self.loop, self.growing_loop, self.scan, self.quantize,
                self.recurrent, self.einsum, self.normalize]

    def further(self, x):
        """An operator of a row."""
        rows = OperatorRows.suited(self, x)
        if self.is_bfloat:
            rows = [each for each in rows if each.operator in BfloatGraphs.SMOOTH]
        return self.random.choice(rows).make(self, x) if rows else False

    def model(self):
        self.sizes = {}
        for _ in range(2 if self.apart else self.random.choice([1, 1, 2])):
            self.input()
        first = len(self.inputs)
        wanted, tried = self.random.randint(2, 7), 0
        if self.apart:
            self.join(*self.values)
        while wanted and tried < 60:
            tried += 1
            value = self.random.choice(self.values[-4:] if self.random.random() < 0.7 else self.values)
            maker = self.further if self.random.random() < 0.5 else self.random.choice(self.makers())
            if maker(value) is not False:
                wanted -= 1
        used = {name for node in self.nodes for name in node.input}
        results = [v for v in self.values[first:] if v.name not in used] or self.values[-1:]
        results = [v for v in results if v.name not in self.feeds]
        if not results and not self.results:
            return None
        self.prune({v.name for v in results} | set(self.results))
        outputs = [helper.make_tensor_value_info(v.name, TYPES[v.kind][1], None) for v in results]
        outputs += [onnx.ValueInfoProto(name=name) for name in self.results]
        graph = helper.make_graph(self.nodes, "random", self.inputs, outputs, self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in {"": self.opset, **self.versions}.items()])
        made.ir_version = 8
        if not self.is_bfloat:
            return made
        self.judged = BfloatGraphs.stored(made, TensorProto.FLOAT)
        return BfloatGraphs.stored(made, TensorProto.BFLOAT16)
