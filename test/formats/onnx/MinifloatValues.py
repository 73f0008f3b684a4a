#!/usr/bin/env python3
# Covers: formats/onnx/ops Minifloats
"""FLOAT4E2M1 and FLOAT8E8M0, and the attributes of quantisation that came with them, against NumPy.

  MinifloatValues.py --sinter build/bin/sinter [--filter TEXT]
"""
import itertools
import sys

import ValueCases
from ValueCases import Case, Coded

import numpy as np

RANDOM = np.random.default_rng(3)
E2M1, E8M0 = 23, 24
SIZES = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
NUMBERS = {E2M1: np.array(SIZES + [-each for each in SIZES], np.float32),
           E8M0: np.array([2.0 ** (e - 127) for e in range(255)] + [np.nan], np.float64).astype(np.float32)}
BITS = {E2M1: 4, E8M0: 8}


def coded(codes, number):
    return Coded(codes, number, BITS[number])


def drawn(number, *shape):
    return coded(RANDOM.integers(0, 16 if number == E2M1 else 256, shape), number)


def nearest_e2m1(x):
    """The code of the nearest number, of two the even one; -0 for NaN."""
    size = np.abs(x.astype(np.float64))
    far = np.abs(np.minimum(size, 6)[..., None] - np.array(SIZES))
    best = np.where(np.isnan(size), 0, np.argmin(far + np.arange(8) % 2 * 1e-12, axis=-1))
    return coded(best + 8 * (np.signbit(x) | np.isnan(x)), E2M1)


def exponent_e8m0(x, mode, saturate):
    """The code of the power of two for each of X."""
    codes = []
    for value in x.astype(np.float64).reshape(-1):
        if np.isnan(value) or (np.isinf(value) and not saturate) or (value < 2.0 ** -127 and not saturate):
            codes.append(255)
            continue
        value = min(max(value, 2.0 ** -127), 2.0 ** 129)
        low = int(np.floor(np.log2(value)))
        up = {"up": value > 2.0 ** low, "down": False, "nearest": value >= 1.5 * 2.0 ** low}[mode]
        codes.append(min(low + up + 127, 254 if saturate else 255))
    return coded(np.reshape(codes, x.shape), E8M0)


def casts():
    kinds = (np.float32, np.float16, np.float64)
    for kind in kinds:
        x = np.array([[0, -0.0, 0.25, 0.26, 0.75, -1.25, 1.75, 2.5, 3.5, -5, 5.1, 9, -1e4, np.nan, np.inf, -np.inf, 1e-7, 3]], kind)
        yield Case("Cast", [x], [nearest_e2m1(x)], 23, to=E2M1)
        y = RANDOM.uniform(-8, 8, (7, 5)).astype(kind)
        yield Case("Cast", [y], [nearest_e2m1(y)], 25, to=E2M1)
        yield Case("CastLike", [y, drawn(E2M1, 1)], [nearest_e2m1(y)], 25, whole=False)
        for number in (E2M1, E8M0):
            codes = coded(np.arange(16 if number == E2M1 else 256)[None], number)
            with np.errstate(over="ignore"):
                expected = NUMBERS[number][codes.codes].astype(kind)
            # Denormal numbers are flushed.
            if number == E8M0:
                codes, expected = coded(codes.codes[:, 16:140], number), expected[:, 16:140]
            if kind is not np.float16 or number == E2M1:
                yield Case("Cast", [codes], [expected], 25, to=ValueCases.TYPES[np.dtype(kind)])
        if kind is np.float16:
            continue
        x = np.array([[0, 0.124, 0.25, 0.5, 1.1, 1.5, 1.49, 2, 8, 3e38, np.inf, np.nan, 1e-30, 2.0 ** -126]], kind)
        for mode, saturate in itertools.product(("up", "down", "nearest"), (0, 1)):
            yield Case("Cast", [x], [exponent_e8m0(x, mode, saturate)], 25, to=E8M0, round_mode=mode, saturate=saturate)
    whole = drawn(E2M1, 3, 4)
    yield Case("Cast", [whole], [np.trunc(NUMBERS[E2M1][whole.codes]).astype(np.int32)], 25, to=6)
    yield Case("Cast", [np.float32([1])], [drawn(E8M0, 1)], 25, refused="round_mode", to=E8M0, round_mode="odd")


def moves():
    for number in (E2M1, E8M0):
        x = drawn(number, 2, 3, 4)
        y = lambda array: coded(array, number)
        ints = lambda *list: np.array(list, np.int64)
        yield Case("Identity", [x], [x], 25, whole=False)
        yield Case("Transpose", [x], [y(x.codes.transpose(2, 0, 1))], 25, perm=[2, 0, 1])
        yield Case("Reshape", [x, ints(4, 6)], [y(x.codes.reshape(4, 6))], 25, static=(1,))
        yield Case("Flatten", [x], [y(x.codes.reshape(2, 12))], 25)
        yield Case("Unsqueeze", [x, ints(0)], [y(x.codes[None])], 25, static=(1,))
        yield Case("Concat", [x, x], [y(np.concatenate([x.codes, x.codes], 1))], 13, axis=1)
        yield Case("Slice", [x, ints(1), ints(3), ints(2)], [y(x.codes[:, :, 1:3])], 13, static=(1, 2, 3))
        yield Case("Gather", [x, ints(1, 0, 1)], [y(x.codes[[1, 0, 1]])], 13, static=(1,))
        yield Case("Split", [x], [y(x.codes[:1]), y(x.codes[1:])], 18, known=[(0, 0)], num_outputs=2)
        yield Case("Shape", [x], [ints(2, 3, 4)], 25, whole=False)
        yield Case("Add", [x, x], [x], 14, refused="FLOAT4E2M1" if number == E2M1 else "FLOAT8E8M0")
    yield Case("Concat", [drawn(E2M1, 2), drawn(E8M0, 2)], [drawn(E2M1, 4)], 13, refused="element type", axis=0)


def quantisations():
    for axis, block in ((0, 0), (1, 0), (1, 2)):
        shape = {(0, 0): (3,), (1, 0): (4,), (1, 2): (3, 2)}[axis, block]
        attributes = {"axis": axis, **({"block_size": block} if block else {})}
        known = [(i, k) for i in range(3) for k in range(2)] if block else []
        x = RANDOM.uniform(-9, 9, (3, 4)).astype(np.float32)
        scale = RANDOM.uniform(0.5, 2, shape).astype(np.float32)
        spread = np.repeat(scale, 2, axis=1) if block else scale[:, None] if axis == 0 else scale
        y, zero = nearest_e2m1(x / spread), coded(np.zeros(shape), E2M1)
        numbers = NUMBERS[E2M1][y.codes]
        yield Case("QuantizeLinear", [x, scale, zero], [y], 25, known=known, **attributes)
        yield Case("QuantizeLinear", [x, scale], [y], 25, known=known, output_dtype=E2M1, **attributes)
        yield Case("DequantizeLinear", [y, scale, zero], [numbers * spread], 25, known=known, **attributes)
        yield Case("DequantizeLinear", [y, scale], [(numbers * spread).astype(np.float16)], 25, known=known, output_dtype=10,
                   **attributes)
        powers = coded(RANDOM.integers(124, 130, shape), E8M0)
        spread = NUMBERS[E8M0][powers.codes]
        spread = np.repeat(spread, 2, axis=1) if block else spread[:, None] if axis == 0 else spread
        yield Case("DequantizeLinear", [y, powers], [numbers * spread], 25, known=known, **attributes)
        yield Case("QuantizeLinear", [x, powers, zero], [nearest_e2m1(x / spread)], 25, known=known, **attributes)
    x, scale = RANDOM.uniform(-9, 9, (3, 4)).astype(np.float16), np.array(0.7, np.float16)
    wide = np.rint(x.astype(np.float32) / np.float32(scale)).astype(np.int8)
    yield Case("QuantizeLinear", [x, scale, np.array(0, np.int8)], [wide], 25, precision=1)
    yield Case("QuantizeLinear", [x, scale], [wide], 25, refused="precision", precision=3)


if __name__ == "__main__":
    sys.exit(ValueCases.main([*casts(), *moves(), *quantisations()], __doc__))
