#!/usr/bin/env python3
# Covers: formats/onnx/ops Decoding
# Covers: formats/import DeformedConvolution
"""Operators that came to ONNX with opsets 19 to 28, and a few of its first, against their definitions in NumPy, over their options.

  OperatorValues.py --sinter build/bin/sinter [--filter TEXT]
"""
import itertools
import sys

import ValueCases
from ValueCases import TYPES, Case

import numpy as np

RANDOM = np.random.default_rng(11)
N = 2


def draw(*shape, dtype=np.float32):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def linear_attention(q, k, v, past, decay, beta, rule, heads, scale):
    """The recurrence of LinearAttention in double: the output and the last state."""
    queries, keys = heads
    apart = lambda x, count: x.astype(np.float64).reshape(*x.shape[:2], count, -1)
    q, k, v = apart(q, queries), apart(k, keys), apart(v, keys)
    state = np.zeros((q.shape[0], keys, k.shape[-1], v.shape[-1])) if past is None else past.astype(np.float64)
    outputs = []
    for t in range(q.shape[1]):
        now = v[:, t]
        if "gated" in rule:
            state = state * np.exp(apart(decay, keys)[:, t])[..., None]
        if "delta" in rule:
            b = beta.astype(np.float64).reshape(*beta.shape[:2], -1, 1)[:, t]
            now = b * (now - np.einsum("nhkv,nhk->nhv", state, k[:, t]))
        state = state + k[:, t][..., :, None] * now[..., None, :]
        read = np.repeat(state, queries // keys, axis=1)
        outputs.append(scale * np.einsum("nhk,nhkv->nhv", q[:, t], read).reshape(q.shape[0], -1))
    return np.stack(outputs, 1), state


def linear():
    rules = ("linear", "gated", "delta", "gated_delta")
    for rule, heads, length, given in itertools.product(rules, ((2, 2), (4, 2)), (1, 5), (False, True)):
        for dtype in (np.float32,) if length == 1 else (np.float32, np.float16):
            size, wide = 3, 4
            q, k, v = (draw(N, length, h * d, dtype=dtype) for h, d in ((heads[0], size), (heads[1], size), (heads[1], wide)))
            past = draw(N, heads[1], size, wide) if given else None
            each = heads[1] * (size if given else 1)
            decay = -np.abs(draw(N, length, each, dtype=dtype)) if "gated" in rule else None
            beta = np.abs(draw(N, length, heads[1] if given else 1, dtype=dtype)) if "delta" in rule else None
            scale = {"scale": 0.3} if given else {}
            y, state = linear_attention(q, k, v, past, decay, beta, rule, heads, scale.get("scale", 1 / np.sqrt(size)))
            inputs = [q, k, v, past, decay, beta]
            while inputs[-1] is None:
                inputs.pop()
            known = [(i, 2) for i in range(6)] + [(3, 1), (3, 3)]
            yield Case("LinearAttention", inputs, [y.astype(dtype), state.astype(np.float32 if given else dtype)], 27,
                       known=known, update_rule=rule, q_num_heads=heads[0], kv_num_heads=heads[1], **scale)
    q = draw(N, 3, 6)
    for text, inputs, attributes in (
            ("update_rule", [q, q, q], {"update_rule": "none"}), ("multiple", [q, q, q], {"q_num_heads": 2, "kv_num_heads": 3}),
            ("'decay' is missing", [q, q, q], {}), ("delta rules only", [q, q, q, None, None, q], {"update_rule": "linear"}),
            ("[N, heads, Dk, Dv]", [q, q, q, draw(N, 2, 3, 4)], {"update_rule": "linear"}),
            ("elements a head", [q, q, q, None, draw(N, 3, 4)], {"update_rule": "gated"})):
        yield Case("LinearAttention", inputs, [q], 27, refused=text, **{"q_num_heads": 2, "kv_num_heads": 2, **attributes})


def convolutions():
    for size, length, bias, past, activation in itertools.product((1, 2, 4), (1, 6), (0, 1), (0, 1), ("none", "silu")):
        for dtype in (np.float32, np.float16):
            x, w = draw(N, 3, length, dtype=dtype), draw(3, 1, size, dtype=dtype)
            b = draw(3, dtype=dtype) if bias else None
            before = draw(N, 3, size - 1, dtype=dtype) if past and size > 1 else None
            whole = np.concatenate([np.zeros((N, 3, size - 1), dtype) if before is None else before, x], 2).astype(np.float64)
            y = sum(whole[:, :, i:i + length] * w[:, 0, i, None].astype(np.float64) for i in range(size))
            y = y + (0 if b is None else b[:, None])
            if activation == "silu":
                y = y / (1 + np.exp(-y))
            inputs = [x, w, b, before]
            while inputs[-1] is None:
                inputs.pop()
            known = [(1, 0), (1, 1), (1, 2), (0, 1), (3, 1), (3, 2), (2, 0)]
            yield Case("CausalConvWithState", inputs, [y.astype(dtype), whole[:, :, length:].astype(dtype)], 27, known=known,
                       activation=activation)
    x, w = draw(N, 3, 4), draw(3, 1, 2)
    yield Case("CausalConvWithState", [x, w], [x, x], 27, refused="activation", activation="gelu")
    yield Case("CausalConvWithState", [x, draw(2, 1, 2)], [x, x], 27, refused="[channels, 1, size]")
    yield Case("CausalConvWithState", [x, w, None, draw(N, 3, 2)], [x, x], 27, refused="size - 1")


def scatters():
    shapes = (((N, 3, 6, 4), 2), ((N, 6, 4), 1), ((1, 3, 6, 4), 2), ((N, 3, 6), -1))
    for (shape, axis), mode, given, length in itertools.product(shapes, ("linear", "circular"), (False, True), (1, 3)):
        cache, update = draw(*shape), None
        at = axis % len(shape)
        update = draw(*shape[:at], length, *shape[at + 1:])
        limit = shape[at] if mode == "circular" else shape[at] - length + 1
        places = RANDOM.integers(0, limit, shape[0]) if given else None
        y = cache.copy()
        for n, i in itertools.product(range(shape[0]), range(length)):
            place = ((places[n] if given else 0) + i) % shape[at]
            np.moveaxis(y[n], at - 1, 0)[place] = np.moveaxis(update[n], at - 1, 0)[i]
        inputs = [cache, update] + ([places] if given else [])
        yield Case("TensorScatter", inputs, [y], 24, axis=axis, mode=mode)
    cache = draw(N, 3, 6, 4)
    yield Case("TensorScatter", [cache, draw(N, 3, 7, 4)], [cache], 24, refused="larger than")
    yield Case("TensorScatter", [cache, draw(N, 2, 3, 4)], [cache], 24, refused="is not")
    yield Case("TensorScatter", [cache, cache], [cache], 24, refused="first dimension", axis=0)
    yield Case("TensorScatter", [cache, cache], [cache], 24, refused="linear or circular", mode="random")


def gates():
    for dtype, alpha in itertools.product((np.float32, np.float16, np.float64), (None, 0.5)):
        a, b = draw(N, 3, 5, dtype=dtype), draw(N, 3, 5, dtype=dtype)
        wide = a.astype(np.float64)
        y = (wide / (1 + np.exp(-(alpha or 1) * wide)) * b).astype(dtype)
        yield Case("SwiGLU", [a, b], [y], 28, **({} if alpha is None else {"alpha": alpha}))
    yield Case("SwiGLU", [draw(2, 3), draw(2, 1)], [draw(2, 3)], 28, refused="is not")


def bits():
    kinds = {1: "bool int8 uint8", 2: "int16 uint16 float16", 4: "int32 uint32 float32", 8: "int64 uint64 float64"}
    for names in kinds.values():
        for a, b in itertools.product(names.split(), repeat=2):
            x = RANDOM.integers(0, 2 if a == "bool" else 100, (3, 4)).astype(a)
            # Any byte but 0 is true.
            y = (x != 0) if b == "bool" else x.view(b)
            yield Case("BitCast", [x], [y], 26, whole=a != b, to=TYPES[np.dtype(b)])
    yield Case("BitCast", [draw(3)], [draw(3)], 26, refused="differ in width", to=10)
    yield Case("BitCast", [draw(3)], [draw(3)], 26, refused="strings have no bits", to=8)


def kinds_of_numbers():
    """Operators that make numbers make no strings."""
    yield Case("ConstantFill", [], [draw(2)], 1, refused="strings, not numbers", shape=[2], dtype=8)
    yield Case("EyeLike", [draw(2, 2)], [draw(2, 2)], 9, refused="strings, not numbers", dtype=8)
    yield Case("HannWindow", [np.array(4)], [draw(4)], 17, static=(0,), refused="strings, not numbers", output_datatype=8)


def products():
    for shape, axis in (((7,), 0), ((3, 5), 1), ((3, 5), -2), ((2, 3, 4), 1)):
        for exclusive, reverse, dtype in itertools.product((0, 1), (0, 1), (np.float32, np.float64, np.int32)):
            x = RANDOM.uniform(0.5, 1.5, shape).astype(dtype) if dtype is not np.int32 else RANDOM.integers(-3, 4, shape, dtype)
            order = np.flip(x, axis) if reverse else x
            y = np.cumprod(order, axis=axis, dtype=dtype)
            if exclusive:
                y = np.concatenate([np.ones_like(np.take(y, [0], axis)), np.delete(y, -1, axis)], axis)
            y = np.flip(y, axis) if reverse else y
            yield Case("CumProd", [x, np.array(axis, np.int64)], [np.ascontiguousarray(y)], 26, static=(1,),
                       exclusive=exclusive, reverse=reverse)
    yield Case("CumProd", [draw(3), np.array(1, np.int64)], [draw(3)], 26, static=(1,), refused="axis")


def grids():
    for sizes, aligned, dtype in itertools.product(((3, 4), (1, 5), (2, 3, 4)), (0, 1), (np.float32, np.float64, np.float16)):
        count = len(sizes)
        theta = draw(N, count, count + 1, dtype=dtype)
        lines = [np.array([-1 + 2 * i / max(size - 1, 1) if aligned else (2 * i + 1) / size - 1 for i in range(size)])
                 for size in sizes]
        points = np.stack([*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(sizes)], -1)
        y = np.einsum("ndc,...c->n...d", theta.astype(np.float64), points).astype(dtype)
        size = np.array([N, 1, *sizes], np.int64)
        known = [(0, 1), (0, 2)]
        yield Case("AffineGrid", [theta, size], [y], 20, static=(1,), known=known, align_corners=aligned)
    yield Case("AffineGrid", [draw(N, 2, 4), np.array([N, 1, 3, 4])], [draw(1)], 20, refused="[N, 2, 3]")
    yield Case("AffineGrid", [draw(N, 2, 3), np.array([N, 1, 3])], [draw(1)], 20, refused="4 elements")
    yield Case("AffineGrid", [draw(N, 2, 3), np.array([N, 1, -3, 2])], [draw(1)], 20, static=(1,), refused="negative")


def deformed(x, w, offset, bias, mask, group, groups, strides, pads, dilations):
    """DeformConv of two spatial dimensions in double, element by element."""
    images, channels, height, width = x.shape
    outputs, inner, rows, columns = w.shape
    y = np.zeros((images, outputs, *offset.shape[2:]))

    def pixel(n, c, row, column):
        total = 0
        for i, j in itertools.product((0, 1), repeat=2):
            r, s = int(np.floor(row)) + i, int(np.floor(column)) + j
            if 0 <= r < height and 0 <= s < width:
                total += x[n, c, r, s] * (1 - abs(row - r)) * (1 - abs(column - s))
        return total

    for n, o, r, s in np.ndindex(*y.shape):
        for c, i, j in np.ndindex(inner, rows, columns):
            channel = o // (outputs // group) * inner + c
            tap = (channel // (channels // groups) * rows + i) * columns + j
            row = r * strides[0] - pads[0] + i * dilations[0] + offset[n, 2 * tap, r, s]
            column = s * strides[1] - pads[1] + j * dilations[1] + offset[n, 2 * tap + 1, r, s]
            y[n, o, r, s] += pixel(n, channel, row, column) * w[o, c, i, j] * (1 if mask is None else mask[n, tap, r, s])
    return y + (0 if bias is None else bias[:, None, None])


def bends():
    for group, groups, masked, (strides, pads, dilations) in itertools.product(
            (1, 2), (1, 2), (False, True), (([1, 1], [0, 0, 0, 0], [1, 1]), ([2, 1], [1, 0, 1, 2], [1, 2]))):
        x, w = draw(N, 4, 6, 5), draw(2, 4 // group, 2, 3)
        rows, columns = ((x.shape[2 + d] + pads[d] + pads[2 + d] - (w.shape[2 + d] - 1) * dilations[d] - 1) // strides[d] + 1
                         for d in range(2))
        offset = 2 * draw(N, 2 * groups * 6, rows, columns)
        bias, mask = (draw(2), draw(N, groups * 6, rows, columns)) if masked else (None, None)
        y = deformed(x, w, offset, bias, mask, group, groups, strides, pads, dilations).astype(np.float32)
        inputs = [x, w, offset] + ([bias, mask] if masked else [])
        known = [(1, i) for i in range(4)] + [(0, 1), (2, 1), (3, 0), (4, 1)]
        yield Case("DeformConv", inputs, [y], 19, known=known, group=group, offset_group=groups, strides=strides, pads=pads,
                   dilations=dilations)
    x, w = draw(1, 2, 4, 4), draw(1, 2, 2, 2)
    yield Case("DeformConv", [x, w, draw(1, 7, 3, 3)], [x], 19, refused="of the offset is 7, not 8")
    yield Case("DeformConv", [x, w, draw(1, 8, 3, 3)], [x], 19, refused="go together", offset_group=3)


def pooled_regions():
    for shape, bins, scale in itertools.product(((N, 3, 7, 9), (1, 2, 4, 4)), ([2, 3], [1, 1], [5, 4]), (1.0, 0.5)):
        x = draw(*shape)
        corners = np.sort(RANDOM.uniform(-2, 12, (5, 2, 2)), axis=1).reshape(5, 4)
        regions = np.concatenate([RANDOM.integers(0, shape[0], (5, 1)), corners], 1).astype(np.float32)
        y = np.zeros((5, shape[1], *bins), np.float32)
        for r, (n, *box) in enumerate(regions):
            # Halves are rounded away from zero.
            left, top, right, bottom = (int(np.trunc(v + np.copysign(0.5, v))) for v in np.float32(box) * np.float32(scale))
            spans = []
            for first, last, size, count in ((top, bottom, shape[2], bins[0]), (left, right, shape[3], bins[1])):
                step = np.float32(max(last - first + 1, 1)) / np.float32(count)
                spans.append([[min(max(int(f(np.float32(p + i) * step)) + first, 0), size) for i, f in ((0, np.floor), (1, np.ceil))]
                              for p in range(count)])
            for i, j in itertools.product(range(bins[0]), range(bins[1])):
                part = x[int(n), :, slice(*spans[0][i]), slice(*spans[1][j])]
                y[r, :, i, j] = part.max(axis=(1, 2)) if part.size else 0
        yield Case("MaxRoiPool", [x, regions], [y], 1, known=[(0, 1), (1, 1)], pooled_shape=bins, spatial_scale=scale)
    yield Case("MaxRoiPool", [draw(1, 1, 2, 2), draw(3, 4)], [draw(1)], 1, refused="five elements", pooled_shape=[1, 1])
    yield Case("MaxRoiPool", [draw(1, 1, 2, 2), draw(3, 5)], [draw(1)], 1, refused="pooled_shape", pooled_shape=[0, 1])


def first_versions():
    x = draw(1, 2, 3, 4)
    y = np.repeat(np.repeat(x, 2, axis=2), 3, axis=3)
    yield Case("Upsample", [x], [y], 1, known=[(0, i) for i in range(4)], height_scale=2.0, width_scale=3.0)


if __name__ == "__main__":
    sys.exit(ValueCases.main([*linear(), *convolutions(), *scatters(), *gates(), *bits(), *kinds_of_numbers(), *products(), *grids(), *bends(),
                             *pooled_regions(), *first_versions()],
                             __doc__))
