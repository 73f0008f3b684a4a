"""Quantised values of random graphs: scales, zero points, constants in few bits, and how far two right answers may lie apart."""
import math
import random

import numpy as np
from GraphPieces import Pieces
from judge.Storage import STORAGE, stored
from onnx import TensorProto

# Of a float computation, relative to the largest it can give: rounding in any order.
FLOAT_ERROR = 1e-5
FLOAT = TensorProto.FLOAT


class Real:
    """A float tensor: the largest magnitude it may have, the usual one, and the slack between two right answers."""

    def __init__(self, name, shape, bound, spread, slack, stored=None):
        self.name, self.shape, self.bound, self.slack, self.stored = name, list(shape), float(bound), float(slack), stored
        self.spread = max(float(min(spread, bound)), 1e-6)
        self.code = FLOAT


class Stored:
    """A tensor of integers with a scale and a zero point; its slack is in units."""

    def __init__(self, name, kind, shape, scale, zero, slack, spread):
        self.name, self.kind, self.shape, self.scale, self.zero, self.slack, self.spread = name, kind, list(shape), scale, zero, slack, spread
        self.code = STORAGE[kind][0]

    @property
    def bound(self):
        _, _, least, most = STORAGE[self.kind]
        return float(self.scale) * max(abs(least - self.zero), abs(most - self.zero))


class Weights:
    """Constant integers: what they stand for, and the names of the values, scales and zero points ('' where there are none)."""

    def __init__(self, values, scale, zero, real, kind, axis, scales):
        self.values, self.scale, self.zero, self.real, self.kind, self.axis, self.scales = values, scale, zero, real, kind, axis, scales


class Quantiser(Pieces):
    """A graph under construction, with what stands between floats and integers in it."""

    def __init__(self, number, narrow_weights=False):
        super().__init__(number)
        self.numpy = np.random.RandomState(self.random.randrange(2**31))
        self.opset = self.random.choice([13, 13, 19, 21, 21])
        self.narrow_weights = narrow_weights
        self.is_dynamic = self.random.random() < 0.4
        # Whether all sizes but those of channels are dynamic, and which dimensions the inputs have.
        self.is_spatial = self.is_dynamic and random.Random(f"spatial {number}").random() < 0.7
        self.dims = {}
        self.batch = self.random.choice([1, 2, 3])
        self.form = self.random.choice(["around", "qlinear", "integer", "weights", "microsoft", "mixed", "mixed"])
        self.values, self.results = [], {}

    # ---- Quantising and its opposite ----------------------------------------

    def chance(self, part):
        return self.random.random() < part

    def picks(self, form):
        """Whether a node is to be in this form."""
        return self.form == form or self.form == "mixed" and self.chance(0.3)

    def stored_constant(self, kind, values):
        name = self.fresh("c")
        self.initializers.append(stored(name, kind, values))
        return name

    def zero_point(self, kind):
        _, _, least, most = STORAGE[kind]
        middle, part = (least + most + 1) // 2, (most - least) // 6
        near = [self.random.randint(middle - part, middle + part) for _ in range(4)]
        return self.random.choice([middle, middle, *near, least, self.random.randint(least, most), self.random.choice([0, most])])

    def scale_for(self, spread, kind):
        """A scale that makes good use of a type, at times too small or too large, or a power of two, which makes ties."""
        units = 2 ** (STORAGE[kind][1] - 1)
        scale = 3 * spread / units * self.random.choice([0.3, 0.7, 1, 1, 1.5, 4])
        return np.float32(2.0 ** round(math.log2(scale)) if self.chance(0.3) else scale)

    def activation_kind(self):
        return self.random.choice(["u8", "u8", "i8"] + (["u16", "i16"] if self.opset >= 21 and self.chance(0.4) else []))

    def quantise(self, x, kind=None):
        kind = kind or self.activation_kind()
        scale, zero = self.scale_for(x.spread, kind), self.zero_point(kind)
        if kind == "u8" and self.chance(0.1):
            zero = 0
            name = self.node("QuantizeLinear", [x.name, self.constant(scale)])
        else:
            name = self.node("QuantizeLinear", [x.name, self.constant(scale), self.stored_constant(kind, zero)])
        return Stored(name, kind, x.shape, scale, zero, self.units(x.slack + FLOAT_ERROR * x.bound, scale, x.slack), x.spread)

    @staticmethod
    def units(slack, scale, known):
        """How many units may lie between two results of rounding."""
        return math.floor(slack / float(scale) + 1) if known else 1

    def dequantise(self, q):
        operands = [q.name, self.constant(q.scale)]
        if q.zero or q.kind != "u8" or self.chance(0.5):
            operands.append(self.stored_constant(q.kind, q.zero))
        return self.real(self.node("DequantizeLinear", operands), q.shape, q.bound, q.spread, q.slack * float(q.scale), q)

    def real(self, name, shape, bound, spread, slack, of=None):
        value = Real(name, shape, bound, spread, slack, of)
        self.values.append(value)
        return value

    def operand(self, x, kind=None):
        """A value as what an operation between QuantizeLinear and DequantizeLinear reads."""
        if x.stored is not None and (kind is None or x.stored.kind == kind):
            return x
        return self.dequantise(self.quantise(x, kind)) if self.chance(0.95) or kind else x

    def finish(self, x):
        """What follows an operation: a clamp at times, and a rounding mostly."""
        if self.chance(0.3):
            x = self.clamp(x)
        if self.chance(0.8 if self.form != "weights" else 0.1):
            x = self.dequantise(self.quantise(x))
        return x

    def clamp(self, x):
        if self.chance(0.5):
            name = self.node("Relu", [x.name])
        else:
            least, most = (np.float32(self.random.choice(each) * x.spread) for each in ([-1, 0, 0], [0.5, 1, 6]))
            name = self.node("Clip", [x.name, self.constant(least), self.constant(most)])
        return self.real(name, x.shape, x.bound + x.spread, x.spread, x.slack)

    def weights(self, shape, axis, kinds, one_zero=False):
        """Random constants; along the axis each slice may have its own scale and, unless all have one, zero point."""
        kind = self.random.choice(kinds)
        _, bits, least, most = STORAGE[kind]
        per_axis = axis is not None and self.chance(0.6)
        scales = np.float32(self.numpy.uniform(0.3, 1.7, shape[axis] if per_axis else ()) * 2.0 ** self.random.randint(-9, -4) * 2 ** (8 - min(bits, 9)))
        zero = 0
        if kind[0] == "u" or self.chance(0.15):
            middle = (least + most + 1) // 2
            any_zero = self.numpy.randint(middle - most // 4, middle + most // 4 + 1, () if one_zero else scales.shape)
            zero = any_zero if self.chance(0.5) else np.full(any_zero.shape, middle)
        low, high = least, most
        if self.narrow_weights and bits == 8:
            low, high = (least + most + 1) // 2 - 32, (least + most + 1) // 2 + 32
        values = self.numpy.randint(low, high + 1, shape)
        spread = [-1 if per_axis and i == axis else 1 for i in range(len(shape))]
        real = (values - np.reshape(zero, spread if np.ndim(zero) else ())) * scales.astype(np.float64).reshape(spread if per_axis else ())
        has_zero = np.any(zero) or self.chance(0.5)
        return Weights(self.stored_constant(kind, values), self.constant(scales),
                       self.stored_constant(kind, np.broadcast_to(zero, () if one_zero else scales.shape)) if has_zero else "",
                       real, kind, axis if per_axis else None, scales)

    def dequantised(self, w):
        attributes = {} if w.axis is None else {"axis": w.axis}
        return self.node("DequantizeLinear", [w.values, w.scale] + ([w.zero] if w.zero else []), **attributes)

    def blocks(self, shape, axis):
        """Constants with a scale for each block along an axis; the last block may be shorter: (name, what they stand for)."""
        kind, size = self.random.choice(["i4", "i4", "u4", "i8", "u8"]), self.random.choice([16, 32])
        _, bits, least, most = STORAGE[kind]
        counts = [-(-each // size) if i == axis else each for i, each in enumerate(shape)]
        scales = np.float32(self.numpy.uniform(0.3, 1.7, counts) * 2.0 ** (self.random.randint(-9, -6) + 8 - bits))
        zeros = self.numpy.randint(least, most + 1, counts) if self.chance(0.5) else np.zeros(counts, np.int64)
        values = self.numpy.randint(least, most + 1, shape)
        spread = [np.take(np.repeat(each, size, axis), np.arange(shape[axis]), axis) for each in (zeros, scales.astype(np.float64))]
        operands = [self.stored_constant(kind, values), self.constant(scales)]
        if zeros.any() or self.chance(0.5):
            operands.append(self.stored_constant(kind, zeros))
        return self.node("DequantizeLinear", operands, axis=axis, block_size=size), (values - spread[0]) * spread[1]
