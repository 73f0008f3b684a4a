"""Random quantised ONNX graphs, inputs for them, and how far two right answers may lie apart.

Each operator has a method that takes a value of the graph and adds what comes of it, or returns False where the value does
not suit it. A value knows by how much two implementations that round as the operators say may differ in it: where a
number lies half way between two integers but for the last bit of a float, they may differ by one unit, which what is
computed from it passes on, times the sum of the weights' magnitudes.
"""
import random

import numpy as np
from judge.Storage import STORAGE
from onnx import helper
from QuantizedValues import FLOAT, FLOAT_ERROR, Quantiser, Real, Stored


class Generator(Quantiser):
    # ---- Products -----------------------------------------------------------

    def product_kinds(self):
        return ["i8", "i8", "u8"] + (["i16", "i4", "u4"] if self.opset >= 21 and self.chance(0.3) else [])

    def after_product(self, name, shape, x, rows, extra=0):
        """The value of a product with constant rows (outputs first): slack and bound follow from the sums of magnitudes."""
        rows = np.abs(rows).reshape(len(rows), -1)
        most, norm = rows.sum(1).max(), np.sqrt((rows ** 2).sum(1)).max()
        bound = x.bound * most + extra
        return self.real(name, shape, bound, x.spread * norm + extra / 2, x.slack * most)

    def bias(self, x, w, count):
        """A bias: (name of a float, largest magnitude); in s32 on the product's scales where these are known."""
        if x.stored is not None and self.chance(0.7):
            scale = np.float32(np.broadcast_to(np.float32(x.stored.scale) * w.scales, (count,)))
            values = self.numpy.randint(-3000, 3001, count)
            operands = [self.stored_constant("i32", values), self.constant(scale)]
            if self.chance(0.3):
                operands.append(self.stored_constant("i32", np.zeros(count)))
            return self.node("DequantizeLinear", operands, axis=0), float(np.abs(values * scale).max())
        values = np.float32(self.numpy.randn(count) * x.spread)
        return self.constant(values), float(np.abs(values).max())

    def geometry(self, x):
        """(attributes, spatial sizes, channels out, channels in a group) of a convolution that suits a value, or None."""
        channels, sizes = x.shape[1], x.shape[2:]
        groups = self.random.choice([1, 1, 1, channels] + [g for g in (2, 3) if channels % g == 0])
        out = groups * self.random.randint(1, max(1, (70 if self.chance(0.15) else 20) // groups))
        kernel = [self.random.choice([1, 2, 3, 3]) for _ in sizes]
        strides, dilations = ([self.random.choice([1, 1, 2]) for _ in sizes] for _ in range(2))
        pads = [self.random.randint(0, k - 1) for k in kernel * 2]
        result = [(s + pads[i] + pads[i + len(sizes)] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i, s in enumerate(sizes)]
        if min(result) < 1:
            return None
        return dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, group=groups), result, out, channels // groups

    def convolution(self, x):
        shape = self.geometry(x) if len(x.shape) == 4 else None
        if not shape:
            return False
        attributes, sizes, out, inner = shape
        wanted = [out, inner, *attributes["kernel_shape"]]
        result = [x.shape[0], out, *sizes]
        if self.picks("qlinear"):
            return self.qlinear_convolution(x, attributes, wanted, result)
        if self.picks("integer"):
            return self.integer_product(x, "ConvInteger", wanted, 0, result, **attributes)
        if not self.picks("weights"):
            x = self.operand(x)
        w = self.weights(wanted, 0, self.product_kinds())
        operands, extra = [x.name, self.dequantised(w)], 0
        if self.chance(0.6):
            name, extra = self.bias(x, w, out)
            operands.append(name)
        self.finish(self.after_product(self.node("Conv", operands, **attributes), result, x, w.real, extra))

    def eight_bits(self, x):
        """A value in eight bits."""
        return x.stored if x.stored is not None and x.stored.kind in ("u8", "i8") else self.quantise(x, self.random.choice(["u8", "u8", "i8"]))

    def rounded(self, name, kind, shape, product, scale, zero):
        """What an 8-bit product gives, from the float value that it stands for."""
        slack = self.units(product.slack + FLOAT_ERROR * product.bound, scale, product.slack)
        self.values.remove(product)
        return self.dequantise(Stored(name, kind, shape, scale, zero, slack, product.spread))

    def qlinear_convolution(self, x, attributes, wanted, shape):
        q = self.eight_bits(x)
        w = self.weights(wanted, 0, ["i8"] if q.kind == "i8" else ["i8", "u8"])
        zero_w = w.zero or self.stored_constant(w.kind, np.zeros(w.scales.shape))
        extra, rest = 0, []
        if self.chance(0.6):
            values = self.numpy.randint(-3000, 3001, wanted[0])
            rest, extra = [self.stored_constant("i32", values)], float(np.abs(values * (np.float32(q.scale) * w.scales)).max())
        product = self.after_product("", shape, Real("", q.shape, q.bound, q.spread, q.slack * float(q.scale)), w.real, extra)
        scale, zero = self.scale_for(product.spread, q.kind), self.zero_point(q.kind)
        name = self.node("QLinearConv", [q.name, self.constant(q.scale), self.stored_constant(q.kind, q.zero), w.values, w.scale, zero_w,
                                         self.constant(scale), self.stored_constant(q.kind, zero), *rest], **attributes)
        self.rounded(name, q.kind, shape, product, scale, zero)

    def integer_product(self, x, op, wanted, axis, shape, **attributes):
        """DynamicQuantizeLinear or a known scale, the sums in s32, and the scales after that."""
        w = self.weights(wanted, axis, ["i8", "u8"], one_zero=op == "ConvInteger")
        if self.chance(0.6):
            name, scale, zero = self.node("DynamicQuantizeLinear", [x.name], 3)
            step = 2 * x.bound / 255
            bound, slack = x.bound, x.slack + step
        else:
            q = self.eight_bits(x)
            name, scale, zero = q.name, self.constant(q.scale), self.stored_constant(q.kind, q.zero)
            step = float(q.scale)
            bound, slack = q.bound, q.slack * step
        operands = [name, w.values]
        if w.zero or self.chance(0.8):
            operands += [zero] + ([w.zero] if w.zero else [])
        else:
            # The integers themselves are added up, whatever they stood for.
            bound, slack = 255 * step, slack + step
        total = self.node("Cast", [self.node(op, operands, **attributes)], to=FLOAT)
        scales = w.scales.reshape(-1, *[1] * (len(wanted) - 2)) if op == "ConvInteger" and w.axis is not None else w.scales
        result = self.node("Mul", [total, self.node("Mul", [scale, self.constant(scales)])])
        rows = np.moveaxis(w.real, axis, 0)
        value = self.after_product(result, shape, Real("", x.shape, bound, x.spread, slack), rows)
        if self.chance(0.4):
            side = [-1] + [1] * (len(wanted) - 2) if op == "ConvInteger" else [-1]
            values = np.float32(self.numpy.randn(len(rows)) * value.spread).reshape(side)
            value = self.real(self.node("Add", [result, self.constant(values)]), shape, value.bound + np.abs(values).max(), value.spread, value.slack)
        self.finish(value)

    def matmul(self, x):
        if len(x.shape) == 4 and self.chance(0.7) or len(x.shape) < 2:
            return False
        inner, outer = x.shape[-1], self.random.choice([1, 3, 8, 16, 17, 33, 64, 100])
        shape = [*x.shape[:-1], outer]
        if self.picks("qlinear"):
            return self.qlinear_matmul(x, [inner, outer], shape)
        if self.picks("integer"):
            return self.integer_product(x, "MatMulInteger", [inner, outer], 1, shape)
        weights_only = self.picks("weights")
        if not weights_only:
            x = self.operand(x)
        gemm, turned = len(x.shape) == 2 and self.chance(0.5), self.chance(0.5)
        turned = gemm and turned
        wanted, axis = ([outer, inner], 0) if turned else ([inner, outer], 1)
        if weights_only and self.opset >= 21 and self.chance(0.6):
            name, real = self.blocks(wanted, 1 - axis)
            w = None
        else:
            w = self.weights(wanted, axis, self.product_kinds())
            name, real = self.dequantised(w), w.real
        operands, extra = [x.name, name], 0
        if gemm and self.chance(0.6) and w is not None:
            bias, extra = self.bias(x, w, outer)
            operands.append(bias)
        result = self.node("Gemm", operands, transB=int(turned)) if gemm else self.node("MatMul", operands)
        self.finish(self.after_product(result, shape, x, np.moveaxis(real, axis, 0), extra))

    def qlinear_matmul(self, x, wanted, shape):
        q = self.eight_bits(x)
        w = self.weights(wanted, 1, ["i8"] if q.kind == "i8" else ["i8", "u8"])
        product = self.after_product("", shape, Real("", q.shape, q.bound, q.spread, q.slack * float(q.scale)), w.real.T)
        scale, zero = self.scale_for(product.spread, q.kind), self.zero_point(q.kind)
        name = self.node("QLinearMatMul", [q.name, self.constant(q.scale), self.stored_constant(q.kind, q.zero), w.values, w.scale,
                                           w.zero or self.stored_constant(w.kind, np.zeros(w.scales.shape)),
                                           self.constant(scale), self.stored_constant(q.kind, zero)])
        self.rounded(name, q.kind, shape, product, scale, zero)

    def gram(self, x):
        """x times x transposed: a product of two activations."""
        if len(x.shape) not in (3, 4):
            return False
        x = self.operand(x)
        order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
        shape, inner = [*x.shape[:-1], x.shape[-2]], x.shape[-1]
        bound, slack = inner * x.bound ** 2, 2 * inner * x.slack * x.bound
        spread = inner * x.spread ** 2
        if x.stored is not None and x.stored.kind in ("u8", "i8") and self.picks("qlinear"):
            q = x.stored
            other = self.node("Transpose", [q.name], perm=order)
            scale, zero = self.scale_for(spread, q.kind), self.zero_point(q.kind)
            side = [self.constant(q.scale), self.stored_constant(q.kind, q.zero)]
            name = self.node("QLinearMatMul", [q.name, *side, other, *side, self.constant(scale), self.stored_constant(q.kind, zero)])
            return self.rounded(name, q.kind, shape, self.real("", shape, bound, spread, slack), scale, zero)
        other = self.node("Transpose", [x.name], perm=order)
        self.finish(self.real(self.node("MatMul", [x.name, other]), shape, bound, spread, slack))

    # ---- ONNX Runtime's own operators ---------------------------------------

    def own(self, op, operands, outputs=1, **attributes):
        return self.node(op, operands, outputs, domain="com.microsoft", **attributes)

    def side(self, q):
        """What an operator is told of a tensor: itself, its scale, its zero point."""
        return [q.name, self.constant(q.scale), self.stored_constant(q.kind, q.zero)]

    def rounded_own(self, op, q, operands, product, late=(), first=False, **attributes):
        """An operator of com.microsoft that gives integers like q, which stand for the product."""
        scale, zero = self.scale_for(product.spread, q.kind), self.zero_point(q.kind)
        result = [self.constant(scale), self.stored_constant(q.kind, zero)]
        name = self.own(op, [*result, *operands] if first else [*operands, *late, *result], **attributes)
        self.rounded(name, q.kind, product.shape, product, scale, zero)

    def microsoft(self, x):
        if not self.picks("microsoft"):
            return False
        q = self.eight_bits(x)
        maker = self.random.choice([self.own_pair, self.own_pair, self.own_function, self.own_function, self.own_pool, self.own_concat,
                                    self.own_gemm, self.own_matmul])
        return maker(x, q)

    def own_pair(self, x, q):
        p = self.eight_bits(self.random.choice([y for y in self.values if y.shape == x.shape]))
        if p.kind != q.kind:
            p = self.quantise(x, q.kind)
        a, b = q.slack * float(q.scale), p.slack * float(p.scale)
        if self.chance(0.6):
            op, product = "QLinearAdd", self.real("", x.shape, q.bound + p.bound, q.spread + p.spread, a + b)
        else:
            op, product = "QLinearMul", self.real("", x.shape, q.bound * p.bound, q.spread * p.spread, a * p.bound + b * q.bound)
        self.rounded_own(op, q, self.side(q) + self.side(p), product)

    def own_function(self, x, q):
        slack = q.slack * float(q.scale)
        op = self.random.choice(["QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"])
        if op == "QLinearLeakyRelu":
            return self.rounded_own(op, q, self.side(q), self.real("", x.shape, q.bound, q.spread, slack), alpha=0.1)
        if op == "QLinearSigmoid":
            return self.rounded_own(op, q, self.side(q), self.real("", x.shape, 1, 0.5, slack / 4))
        self.rounded_own(op, q, self.side(q), self.real("", x.shape, 1, 1 / x.shape[-1], 2 * slack), axis=-1, opset=13)

    def own_pool(self, x, q):
        if len(x.shape) != 4:
            return False
        slack = q.slack * float(q.scale)
        if self.chance(0.5):
            product = self.real("", [*x.shape[:2], 1, 1], q.bound, q.spread, slack)
            return self.rounded_own("QLinearGlobalAveragePool", q, self.side(q), product, channels_last=0)
        kernel = [self.random.randint(1, min(3, size)) for size in x.shape[2:]]
        pads = [self.random.randint(0, k - 1) for k in kernel * 2]
        sizes = [s + pads[i] + pads[i + 2] - kernel[i] + 1 for i, s in enumerate(x.shape[2:])]
        product = self.real("", [*x.shape[:2], *sizes], q.bound, q.spread, slack)
        self.rounded_own("QLinearAveragePool", q, self.side(q), product, kernel_shape=kernel, pads=pads, count_include_pad=self.random.choice([0, 1]))

    def own_concat(self, x, q):
        p = self.quantise(x, q.kind)
        shape = [x.shape[0], 2 * x.shape[1], *x.shape[2:]]
        slack = max(q.slack * float(q.scale), p.slack * float(p.scale))
        product = self.real("", shape, max(q.bound, p.bound), max(q.spread, p.spread), slack)
        self.rounded_own("QLinearConcat", q, self.side(q) + self.side(p), product, first=True, axis=1)

    def own_gemm(self, x, q):
        if len(x.shape) != 2:
            return False
        inner, outer, turned = x.shape[1], self.random.choice([1, 5, 16, 33]), self.chance(0.5)
        axis = 0 if turned else 1
        w = self.weights([outer, inner] if turned else [inner, outer], axis, ["i8"] if q.kind == "i8" else ["i8", "u8"])
        zero = w.zero or self.stored_constant(w.kind, np.zeros(w.scales.shape))
        extra, bias = 0, ""
        if self.chance(0.6):
            values = self.numpy.randint(-3000, 3001, outer)
            bias, extra = self.stored_constant("i32", values), float(np.abs(values * (np.float32(q.scale) * w.scales)).max())
        product = self.after_product("", [x.shape[0], outer], Real("", x.shape, q.bound, q.spread, q.slack * float(q.scale)),
                                     np.moveaxis(w.real, axis, 0), extra)
        self.rounded_own("QGemm", q, self.side(q) + [w.values, w.scale, zero], product, [bias], transB=int(turned))

    def own_matmul(self, x, q):
        if len(x.shape) not in (2, 3):
            return False
        inner, outer = x.shape[-1], self.random.choice([1, 5, 16, 33])
        w = self.weights([inner, outer], 1, ["i8", "u8"])
        bias = self.constant(np.float32(self.numpy.randn(outer) * x.spread)) if self.chance(0.5) else ""
        if self.chance(0.5):
            name = self.own("DynamicQuantizeMatMul", [x.name, w.values, w.scale, w.zero, bias])
            base = Real("", x.shape, x.bound, x.spread, x.slack + 2 * x.bound / 255)
        else:
            name = self.own("MatMulIntegerToFloat", [q.name, w.values, self.constant(q.scale), w.scale, self.stored_constant(q.kind, q.zero), w.zero, bias])
            base = Real("", x.shape, q.bound, q.spread, q.slack * float(q.scale))
        self.finish(self.after_product(name, [*x.shape[:-1], outer], base, w.real.T, 4 * x.spread if bias else 0))

    # ---- Between products ---------------------------------------------------

    def combine(self, x):
        others = [y for y in self.values if y.shape == x.shape]
        y, x = self.operand(self.random.choice(others)), self.operand(x)
        if self.chance(0.7):
            return self.finish(self.real(self.node("Add", [x.name, y.name]), x.shape, x.bound + y.bound, x.spread + y.spread, x.slack + y.slack))
        slack = x.slack * y.bound + y.slack * x.bound
        self.finish(self.real(self.node("Mul", [x.name, y.name]), x.shape, x.bound * y.bound, x.spread * y.spread, slack))

    def with_constant(self, x):
        """A sum or a product with a constant of one number a channel, in few bits or not."""
        shape = [x.shape[1]] + [1] * (len(x.shape) - 2) if len(x.shape) > 2 else [x.shape[-1]]
        if self.chance(0.6):
            x = self.operand(x)
            w = self.weights(shape, None, ["u8", "i8"])
            name, most = self.dequantised(w), np.abs(w.real).max()
        else:
            values = np.float32(self.numpy.randn(*shape))
            name, most = self.constant(values), np.abs(values).max()
        if self.chance(0.5):
            return self.finish(self.real(self.node("Add", [name, x.name]), x.shape, x.bound + most, x.spread + most / 2, x.slack))
        self.finish(self.real(self.node("Mul", [x.name, name]), x.shape, x.bound * most, x.spread * most / 2, x.slack * most))

    def pool(self, x):
        if len(x.shape) != 4:
            return False
        x = self.operand(x)
        if self.chance(0.25):
            return self.finish(self.real(self.node("GlobalAveragePool", [x.name]), [*x.shape[:2], 1, 1], x.bound, x.spread, x.slack))
        kernel = [self.random.choice([1, 2, 3]) for _ in range(2)]
        pads = [self.random.randint(0, k - 1) for k in kernel * 2]
        strides = [self.random.choice([1, 2]) for _ in range(2)]
        sizes = [(s + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i, s in enumerate(x.shape[2:])]
        if min(sizes) < 1:
            return False
        attributes = dict(kernel_shape=kernel, strides=strides, pads=pads)
        shape = [*x.shape[:2], *sizes]
        if self.chance(0.5):
            return self.finish(self.real(self.node("AveragePool", [x.name], count_include_pad=self.random.choice([0, 1]), **attributes),
                                         shape, x.bound, x.spread, x.slack))
        self.passed(x, "MaxPool", [], shape, **attributes)

    def passed(self, x, op, operands, shape, **attributes):
        """An operation that moves or picks values: on floats, or on the integers themselves."""
        if x.stored is not None and self.chance(0.5) and not (op in ("MaxPool", "Pad", "Resize") and x.stored.kind not in ("u8", "i8")):
            q = x.stored
            name = self.node(op, [q.name, *operands], **attributes)
            return self.dequantise(Stored(name, q.kind, shape, q.scale, q.zero, q.slack, q.spread))
        y = self.real(self.node(op, [x.name, *operands], **attributes), shape, x.bound, x.spread, x.slack)
        if x.stored is not None and self.chance(0.6):
            # As quantisers write it: the same scale again.
            q = x.stored
            rest = [self.constant(q.scale), self.stored_constant(q.kind, q.zero)]
            self.dequantise(Stored(self.node("QuantizeLinear", [y.name, *rest]), q.kind, shape, q.scale, q.zero,
                                   self.units(y.slack, q.scale, y.slack), y.spread))

    def transpose(self, x):
        rest = list(range(1, len(x.shape)))
        self.random.shuffle(rest)
        self.passed(x, "Transpose", [], [x.shape[0]] + [x.shape[i] for i in rest], perm=[0, *rest])

    def slice(self, x):
        axis = self.random.randrange(1, len(x.shape))
        if x.shape[axis] < 2:
            return False
        start = self.random.randrange(x.shape[axis] - 1)
        end, step = self.random.randint(start + 1, x.shape[axis]), self.random.choice([1, 1, 2])
        shape = list(x.shape)
        shape[axis] = -(-(end - start) // step)
        self.passed(x, "Slice", [self.ints([start]), self.ints([end]), self.ints([axis]), self.ints([step])], shape)

    def reshape(self, x):
        total = int(np.prod(x.shape[1:]))
        if len(x.shape) == 4 and self.chance(0.5):
            return self.passed(x, "Reshape", [self.ints([0, x.shape[1], -1])], [x.shape[0], x.shape[1], x.shape[2] * x.shape[3]])
        if len(x.shape) == 2:
            side = self.random.choice([s for s in range(1, total + 1) if total % s == 0])
            return self.passed(x, "Reshape", [self.ints([0, side, -1])], [x.shape[0], side, total // side])
        self.passed(x, "Flatten", [], [x.shape[0], total])

    def pad(self, x):
        if len(x.shape) < 3:
            return False
        pads = [0, 0] + [self.random.randint(0, 2) for _ in x.shape[2:]]
        after = [0, 0] + [self.random.randint(0, 2) for _ in x.shape[2:]]
        shape = [s + a + b for s, a, b in zip(x.shape, pads, after)]
        operands = [self.ints(pads + after)]
        if x.stored is not None and x.stored.kind in ("u8", "i8") and self.chance(0.6):
            q = x.stored
            _, _, least, most = STORAGE[q.kind]
            value = q.zero if self.chance(0.7) else self.random.randint(least, most)
            name = self.node("Pad", [q.name, *operands, self.stored_constant(q.kind, value)])
            return self.dequantise(Stored(name, q.kind, shape, q.scale, q.zero, q.slack, q.spread))
        value = np.float32(self.random.choice([0, 0, x.spread]))
        self.finish(self.real(self.node("Pad", [x.name, *operands, self.constant(value)]), shape, max(x.bound, value), x.spread, x.slack))

    def resize(self, x):
        if len(x.shape) != 4 or max(x.shape[2:]) > 9:
            return False
        factors = [self.random.choice([1, 2]), self.random.choice([1, 2, 3])]
        shape = [*x.shape[:2], *(s * f for s, f in zip(x.shape[2:], factors))]
        scales = self.constant(np.float32([1, 1, *factors]))
        if self.chance(0.6):
            return self.passed(x, "Resize", ["", scales], shape, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
        x = self.operand(x)
        way = self.random.choice(["half_pixel", "align_corners", "asymmetric"])
        self.finish(self.real(self.node("Resize", [x.name, "", scales], mode="linear", coordinate_transformation_mode=way),
                              shape, x.bound, x.spread, x.slack))

    def concat(self, x):
        others = [y for y in self.values if len(y.shape) == len(x.shape) and y.shape[:1] + y.shape[2:] == x.shape[:1] + x.shape[2:]]
        y = self.random.choice(others)
        shape = [x.shape[0], x.shape[1] + y.shape[1], *x.shape[2:]]
        if x.stored is not None and y.stored is not None and self.chance(0.4) and x.stored.kind == y.stored.kind:
            a, b = x.stored, y.stored
            if a.scale == b.scale and a.zero == b.zero:
                name = self.node("Concat", [a.name, b.name], axis=1)
                return self.dequantise(Stored(name, a.kind, shape, a.scale, a.zero, max(a.slack, b.slack), max(a.spread, b.spread)))
        x, y = self.operand(x), self.operand(y)
        self.finish(self.real(self.node("Concat", [x.name, y.name], axis=1), shape, max(x.bound, y.bound), max(x.spread, y.spread), max(x.slack, y.slack)))

    def activation(self, x):
        """A function of one value, alone or as exporters spell it out, between roundings."""
        x = self.operand(x)
        op = self.random.choice(["Sigmoid", "HardSigmoid", "Tanh", "LeakyRelu", "Relu", "swish", "hard swish"])
        if op == "swish":
            y = self.real(self.node("Sigmoid", [x.name]), x.shape, 1, 0.5, x.slack / 4)
            y = self.finish(y) if self.chance(0.5) else y
            self.finish(self.real(self.node("Mul", [x.name, y.name]), x.shape, x.bound * y.bound, x.spread / 2, x.slack * y.bound + y.slack * x.bound))
        elif op == "hard swish":
            three = self.node("Add", [x.name, self.constant(np.float32(3))])
            six = self.node("Clip", [three, self.constant(np.float32(0)), self.constant(np.float32(6))])
            y = self.real(self.node("Div", [six, self.constant(np.float32(6))]), x.shape, 1, 0.5, x.slack / 6)
            y = self.finish(y) if self.chance(0.5) else y
            self.finish(self.real(self.node("Mul", [x.name, y.name]), x.shape, x.bound * y.bound, x.spread / 2, x.slack * y.bound + y.slack * x.bound))
        else:
            bound = 1 if op in ("Sigmoid", "HardSigmoid", "Tanh") else x.bound
            self.finish(self.real(self.node(op, [x.name]), x.shape, bound, min(bound, x.spread), x.slack))

    def softmax(self, x):
        x = self.operand(x)
        self.finish(self.real(self.node("Softmax", [x.name], axis=-1), x.shape, 1, 1 / x.shape[-1], 2 * x.slack))

    def again(self, x):
        """Another rounding, to any type."""
        self.dequantise(self.quantise(x))

    def channels(self, x):
        """A rounding with a scale for each channel."""
        kind, count = self.random.choice(["u8", "i8"]), x.shape[1]
        base = self.scale_for(x.spread, kind)
        scales = np.float32(base * self.numpy.uniform(0.5, 2, count))
        _, _, least, most = STORAGE[kind]
        zeros = self.numpy.randint(least, most + 1, count)
        operands = [self.constant(scales), self.stored_constant(kind, zeros)]
        q = self.node("QuantizeLinear", [x.name, *operands], axis=1)
        slack = float(scales.max()) * self.units(x.slack, scales.min(), x.slack)
        self.real(self.node("DequantizeLinear", [q, *operands], axis=1), x.shape, float(scales.max()) * 255, x.spread, slack)

    # ---- The whole ----------------------------------------------------------

    def input(self):
        shape = self.random.choice([[self.batch, self.random.choice([1, 3, 4, 8, 17, 32, 40]), self.random.randint(3, 9), self.random.randint(3, 9)]] * 2
                                   + [[self.batch, self.random.randint(1, 9), self.random.choice([4, 16, 33, 64, 130])]])
        name = self.fresh("x")
        dims = ["batch" if self.is_dynamic else shape[0], *shape[1:]]
        if self.is_spatial:
            first = 2 if len(shape) == 4 else 1
            dims[first:] = [f"{name}_{place}" for place in range(first, len(shape))]
        self.dims[name] = dims
        if self.chance(0.25):
            kind = self.random.choice(["u8", "i8"])
            _, _, least, most = STORAGE[kind]
            self.inputs.append(helper.make_tensor_value_info(name, STORAGE[kind][0], dims))
            self.feeds[name] = self.numpy.randint(least, most + 1, shape).astype(np.uint8 if kind == "u8" else np.int8)
            zero = self.zero_point(kind)
            return self.dequantise(Stored(name, kind, shape, np.float32(0.02), zero, 0, 1.5))
        self.inputs.append(helper.make_tensor_value_info(name, FLOAT, dims))
        array = np.float32(np.clip(self.numpy.randn(*shape), -4, 4))
        self.feeds[name] = array
        return self.real(name, shape, np.abs(array).max(), 1, 0)

    def odd_feeds(self):
        """Inputs of other sizes, no larger ones but for some that may not fit."""
        chance, sizes = random.Random(f"odd {self.number}"), {"batch": self.batch}
        chosen = {}
        for name, dims in self.dims.items():
            for dim, own in zip(dims, self.feeds[name].shape):
                if isinstance(dim, str):
                    # What was the same stays so, as a rule.
                    chosen.setdefault(own, chance.choice([1, 2, 3, own - 1, own]) if chance.random() < 0.7 else own)
                    sizes[dim] = max(chosen[own], 1) if chance.random() < 0.85 else own + chance.choice([-1, 1])
        state, feeds = np.random.RandomState(self.number % 2**32), {}
        for name, dims in self.dims.items():
            shape, was = [sizes.get(dim, dim) for dim in dims], self.feeds[name]
            values = state.choice(was.ravel(), size=shape)
            feeds[name] = np.ascontiguousarray(values.astype(was.dtype)).reshape(shape)
        return feeds

    def model(self):
        for _ in range(self.random.choice([1, 1, 2])):
            self.input()
        makers = [self.convolution] * 5 + [self.matmul] * 4 + [self.microsoft] * (9 if self.form == "microsoft" else 1) + [self.combine, self.combine, self.with_constant, self.gram, self.pool, self.pool,
                  self.transpose, self.slice, self.reshape, self.pad, self.resize, self.concat, self.activation, self.activation,
                  self.softmax, self.again, self.channels]
        wanted, tried, first = self.random.randint(2, 8), 0, True
        while wanted and tried < 60 and len(self.nodes) < 40:
            tried += 1
            x = self.random.choice(self.values[-3:] if self.chance(0.75) else self.values)
            if int(np.prod(x.shape)) > 8000 or x.slack > 3 * x.spread or not 1e-4 < x.spread < 1e4:
                continue
            maker = self.random.choice(makers[:9] if first and self.chance(0.7) else makers)
            if maker(x) is not False:
                wanted, first = wanted - 1, False
        used = {name for node in self.nodes for name in node.input}
        results = [v for v in self.values if v.name not in used and v.name not in self.feeds]
        if self.chance(0.4):
            # The integers themselves, too.
            results += [v.stored for v in results if v.stored is not None and v.stored.name not in self.feeds][:1]
        if not results:
            return None
        self.results = {v.name: v for v in results}
        outputs = [helper.make_tensor_value_info(v.name, v.code, None) for v in self.results.values()]
        graph = helper.make_graph(self.nodes, "random", self.inputs, outputs, self.initializers)
        domains = sorted({node.domain for node in self.nodes} - {""})
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), *(helper.make_opsetid(each, 1) for each in domains)])
        made.ir_version = {13: 7, 19: 9, 21: 10}[self.opset]
        return made
