#!/usr/bin/env python3
# Covers: formats/onnx/ops Attention
# Covers: formats/import Attention
"""Attention, FlexAttention and RotaryEmbedding against their definitions in NumPy, over their options.

  AttentionValues.py --sinter build/bin/sinter [--filter TEXT]
"""
import itertools
import sys

import ValueCases
from ValueCases import Case

import numpy as np
import onnx
from onnx import helper

RANDOM = np.random.default_rng(5)
N, D, DV = 2, 4, 6


def draw(*shape, dtype=np.float32):
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def heads_apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def scores_of(q, k, scale):
    k = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    return np.einsum("nhqd,nhkd->nhqk", q, k) * scale


def softmax(x):
    with np.errstate(invalid="ignore"):
        weights = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)


def weighted(weights, v):
    return np.einsum("nhqk,nhkd->nhqd", weights, np.repeat(v, weights.shape[1] // v.shape[1], axis=1))


def attention(q, k, v, mask=None, past_k=None, past_v=None, counts=None, mode=0, heads=None, is_causal=0, scale=None,
              softcap=0.0, left=-1, right=-1):
    """Y, present key and value, and the scores, by the text of the operator, in double."""
    kind, joined = q.dtype, heads is not None
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    if joined:
        q, k, v = heads_apart(q, heads[0]), heads_apart(k, heads[1]), heads_apart(v, heads[1])
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k, v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    rows, columns = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    offset = np.full((q.shape[0], 1, 1, 1), past)
    if counts is not None:
        offset = (counts - q.shape[2]).reshape(-1, 1, 1, 1)
    position = rows + offset
    seen = np.ones((q.shape[0], 1, q.shape[2], k.shape[2]), bool)
    if is_causal:
        seen &= columns <= position
    if left >= 0:
        seen &= columns >= position - left
    if right >= 0:
        seen &= columns <= position + right
    if counts is not None:
        seen &= columns < counts.reshape(-1, 1, 1, 1)
    bias = np.zeros(seen.shape)
    if mask is not None:
        short = k.shape[2] - mask.shape[-1]
        fill = False if mask.dtype == bool else -np.inf
        mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, short)], constant_values=fill)
        bias = bias + (np.where(mask, 0, -np.inf) if mask.dtype == bool else mask.astype(np.float64))
    bias = np.where(seen, bias, -np.inf)
    stages = [scores_of(q, k, 1 / np.sqrt(q.shape[-1]) if scale is None else scale)]
    stages.append(softcap * np.tanh(stages[0] / softcap) if softcap else stages[0])
    stages.append(stages[1] + bias)
    blank = np.isneginf(bias.max(axis=-1, keepdims=True))
    stages.append(np.where(blank, 0, softmax(stages[2])))
    y = weighted(stages[3], v)
    if joined:
        y = y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)
    return [each.astype(kind) for each in (y, k, v, np.broadcast_to(stages[mode], stages[0].shape))]


def case(rows=3, columns=5, heads=(4, 2), joined=False, mask=None, past=0, counts=None, present=False, mode=None,
         dtype=np.float32, version=24, precision=None, refused=None, **options):
    """A case of Attention. MASK: its shape and type; COUNTS: the keys that are no padding; MODE: of output 3."""
    if joined:
        q, k, v = draw(N, rows, heads[0] * D, dtype=dtype), draw(N, columns, heads[1] * D, dtype=dtype), draw(
            N, columns, heads[1] * DV, dtype=dtype)
    else:
        q, k, v = draw(N, heads[0], rows, D, dtype=dtype), draw(N, heads[1], columns, D, dtype=dtype), draw(
            N, heads[1], columns, DV, dtype=dtype)
    bias = None
    if mask is not None:
        shape, kind = mask
        bias = RANDOM.random(shape) < 0.6 if kind is bool else draw(*shape, dtype=dtype)
        # A query that sees no key.
        if kind is bool and len(shape) > 1:
            bias[..., 0, :] = False
    past_k = draw(N, heads[1], past, D, dtype=dtype) if past else None
    past_v = draw(N, heads[1], past, DV, dtype=dtype) if past else None
    counts = None if counts is None else np.array(counts, np.int64)
    y, new_k, new_v, scores = attention(q, k, v, bias, past_k, past_v, counts, mode or 0, heads if joined else None,
                                        **options)
    attributes = {{"left": "left_window_size", "right": "right_window_size"}.get(key, key): value
                  for key, value in options.items()}
    if joined:
        attributes.update(q_num_heads=heads[0], kv_num_heads=heads[1])
    if mode is not None:
        attributes["qk_matmul_output_mode"] = mode
    if precision is not None:
        attributes["softmax_precision"] = precision
    inputs = [q, k, v, bias, past_k, past_v, counts]
    while inputs[-1] is None:
        inputs.pop()
    # The sizes of heads and their number are known.
    known = [(i, 2 if joined else axis) for i in range(3) for axis in (1, 3)] + [(i, a) for i in (4, 5) for a in (1, 3)]
    outputs = [y, new_k if past or present else None, new_v if past or present else None,
               scores if mode is not None else None]
    return Case("Attention", inputs, outputs, version, known=known, refused=refused, **attributes)


def attentions():
    for joined, heads in itertools.product((False, True), ((4, 4), (4, 2), (4, 1))):
        yield case(joined=joined, heads=heads)
        yield case(joined=joined, heads=heads, is_causal=1, rows=5)
        yield case(joined=joined, heads=heads, past=3, is_causal=1, columns=3)
        yield case(joined=joined, heads=heads, past=7, is_causal=1, rows=1, columns=1, scale=0.3)
    for shape in ((5,), (3, 5), (1, 5), (4, 3, 5), (N, 1, 3, 5), (1, 4, 1, 5), (3, 3)):
        for kind, is_causal in itertools.product((bool, float), (0, 1)):
            yield case(mask=(shape, kind), is_causal=is_causal)
    for mode, softcap in itertools.product(range(4), (0.0, 1.5)):
        yield case(mode=mode, softcap=softcap, mask=((3, 8), bool), past=3, is_causal=1)
        yield case(mode=mode, softcap=softcap, heads=(3, 3), joined=True, present=True)
    for counts, is_causal in itertools.product(([5, 2], [1, 4], [3, 0]), (0, 1)):
        yield case(counts=counts, is_causal=is_causal)
        yield case(counts=counts, is_causal=is_causal, mask=((3, 5), float), joined=True)
    for left, right in ((2, -1), (-1, 1), (1, 1), (0, 0), (2, 0)):
        for extra in ({}, {"past": 2}, {"counts": [5, 4]}, {"is_causal": 1, "mask": ((3, 5), bool)}):
            yield case(version=25, left=left, right=right, **extra)
    for dtype in (np.float16, np.float64):
        yield case(dtype=dtype, is_causal=1, rows=5)
        yield case(dtype=dtype, mask=((3, 5), bool), softcap=2.0)
        yield case(dtype=dtype, mode=3, past=2, precision=1)
        yield case(dtype=dtype, precision=11, heads=(6, 2))
    yield case(version=23, mask=((3, 5), float), scale=0.25)
    yield case(rows=1, columns=1, heads=(1, 1))
    yield case(rows=33, columns=65, heads=(8, 2), is_causal=1, joined=True)


def refusals():
    yield case(heads=(4, 3), refused="no multiple") if False else Case(
        "Attention", [draw(N, 4, 3, D), draw(N, 3, 5, D), draw(N, 3, 5, DV)], [draw(1)], 24, refused="no multiple")
    for domain, operator in (("", "Attention"), ("ai.onnx.preview", "FlexAttention")):
        yield Case(operator, [draw(N, 4, 3, D), draw(N, 2, 5, D), draw(N, 0, 5, D)], [draw(1)], 1 if domain else 24, domain=domain,
                   refused="the value 0")
    yield Case("Attention", [draw(N, 3, 8), draw(N, 5, 8), draw(N, 5, 8)], [draw(1)], 24, refused="not positive")
    yield Case("Attention", [draw(N, 3, 8), draw(N, 5, 8), draw(N, 5, 8)], [draw(1)], 24, refused="no multiple",
               q_num_heads=3, kv_num_heads=1)
    four = [draw(N, 4, 3, D), draw(N, 4, 5, D), draw(N, 4, 5, DV)]
    yield Case("Attention", four, [draw(1)], 25, refused="four dimensions", q_num_heads=4)
    yield Case("Attention", four, [draw(1)], 25, refused="smaller than -1", left_window_size=-2)
    yield Case("Attention", four + [None, draw(N, 4, 2, D)], [draw(1)], 24, refused="only one of")
    yield Case("Attention", four + [None, draw(N, 4, 2, D), draw(N, 4, 2, DV), np.array([1, 1])], [draw(1)], 24,
               refused="beside")
    yield Case("Attention", four, [draw(1), None, None, draw(1)], 24, refused="not 0 to 3", qk_matmul_output_mode=4)
    yield Case("Attention", four + [draw(3, 9)], [draw(1)], 24, refused="longer than the keys")
    yield Case("Attention", four + [draw(3, 4)], [draw(1)], 23, refused="does not broadcast")
    yield Case("Attention", four, [draw(1)], 24, refused="no floating-point type", softmax_precision=7)
    x, table = draw(N, 4, 3, 8), draw(9, 4)
    places = np.zeros((N, 3), np.int64)
    yield Case("RotaryEmbedding", [x, table, table], [draw(1)], 23, refused="3 dimensions")
    yield Case("RotaryEmbedding", [x, draw(9, 3), draw(9, 3), places], [draw(1)], 23, refused="fewer than 4")
    yield Case("RotaryEmbedding", [x, table, table, places], [draw(1)], 23, refused="not even", rotary_embedding_dim=3)
    yield Case("RotaryEmbedding", [x, table, table, places + 9], [draw(1)], 23, static=(3,), refused="index 9")
    yield Case("RotaryEmbedding", [draw(N, 3, 8), table, table, places], [draw(1)], 23, refused="not positive")


def rotated(x, cosines, sines, size, interleaved):
    """X [..., D] with its first SIZE elements turned, in double."""
    x = x.astype(np.float64)
    turned = x[..., :size]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else np.split(turned, 2, axis=-1)
    real, imaginary = a * cosines - b * sines, a * sines + b * cosines
    both = np.stack([real, imaginary], -1).reshape(turned.shape) if interleaved else np.concatenate([real, imaginary], -1)
    return np.concatenate([both, x[..., size:]], -1)


def rotations():
    for joined, interleaved, size, by_position in itertools.product((False, True), (0, 1), (0, 4), (False, True)):
        for dtype in (np.float32, np.float16):
            length, heads, width = 3, 2, 8
            half = (size or width) // 2
            shape = (9, half) if by_position else (N, length, half)
            angles = RANDOM.uniform(0, 6, shape)
            cosines, sines = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
            places = RANDOM.integers(0, 9, (N, length)) if by_position else None
            c, s = (cosines[places], sines[places]) if by_position else (cosines, sines)
            x = draw(N, length, heads, width, dtype=dtype)
            y = rotated(x, c[:, :, None], s[:, :, None], size or width, interleaved).astype(dtype)
            if joined:
                x, y = (each.reshape(N, length, -1) for each in (x, y))
            else:
                x, y = (each.transpose(0, 2, 1, 3) for each in (x, y))
            attributes = {"interleaved": interleaved, "rotary_embedding_dim": size}
            if joined:
                attributes["num_heads"] = heads
            known = [(0, 2 if joined else 3), (0, 1)] + [(i, k) for i in (1, 2) for k in (1, 2)]
            yield Case("RotaryEmbedding", [x, cosines, sines, places], [y], 23, known=known, **attributes)


def change(operator, number, kind):
    """A graph that combines its input with a number."""
    constant = onnx.numpy_helper.from_array(np.array(number, {1: np.float32, 10: np.float16, 11: np.float64}[kind]), "c")
    ends = [helper.make_tensor_value_info(name, kind, [None] * 4) for name in ("s", "t")]
    return helper.make_graph([helper.make_node(operator, ["s", "c"], ["t"])], "change", ends[:1], ends[1:], [constant])


def flexible():
    for heads, (score, prob), scale in itertools.product(((4, 4), (4, 2)), ((0, 0), (1, 0), (0, 1), (1, 1)), (None, 0.4)):
        for dtype in (np.float32, np.float16, np.float64):
            kind = 11 if dtype is np.float64 else 1
            q, k, v = draw(N, heads[0], 3, D, dtype=dtype), draw(N, heads[1], 5, D, dtype=dtype), draw(
                N, heads[1], 5, DV, dtype=dtype)
            x = scores_of(q.astype(np.float64), k.astype(np.float64), scale or 1 / np.sqrt(D))
            attributes = {} if scale is None else {"scale": scale}
            if score:
                attributes["score_mod"], x = change("Mul", 0.5, kind), x * 0.5
            x = softmax(x)
            if prob:
                attributes["prob_mod"], x = change("Add", 0.25, kind), x + 0.25
            known = [(i, axis) for i in range(3) for axis in (1, 3)]
            yield Case("FlexAttention", [q, k, v], [weighted(x, v.astype(np.float64)).astype(dtype)], 1,
                       "ai.onnx.preview", known=known,
                       whole=not score and not prob, **attributes)


if __name__ == "__main__":
    sys.exit(ValueCases.main([*attentions(), *refusals(), *rotations(), *flexible()], __doc__))
