#!/usr/bin/python3
"""Measures runs on arrays that are not aligned to a cache line, beside those that are.

    /usr/bin/python3 bench/unaligned.py [--build build] [--rounds 15] [--threads 1] [--markdown FILE]

Each model runs on bound arrays whose first elements are 0, 4 and 32 bytes behind a multiple of 64, which are used as they are, and 1 byte behind, which are
copied, in turn. Prints the time of each in its fastest round in microseconds, which other work on the machine disturbs least, and the median of its rounds'
ratios to the aligned one. Fails where bits differ, where something is copied that need not be, or where nothing is that must be.
"""
import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

OFFSETS = 0, 4, 32, 1
FLOATS = "tensor<{}xf32>".format


def elementwise(count):
    t = FLOATS(count)
    return f"func.func @main(%x: {t}) -> {t} {{\n  %0 = stablehlo.add %x, %x : {t}\n  return %0 : {t}\n}}\n", (count,), (count,)


def transcendental(count):
    t = FLOATS(count)
    return f"func.func @main(%x: {t}) -> {t} {{\n  %0 = stablehlo.tanh %x : {t}\n  return %0 : {t}\n}}\n", (count,), (count,)


def matmul(rows, inner, columns):
    x, w, y = FLOATS(f"{rows}x{inner}"), FLOATS(f"{inner}x{columns}"), FLOATS(f"{rows}x{columns}")
    return (f"func.func @main(%x: {x}) -> {y} {{\n  %w = stablehlo.constant dense<0.01> : {w}\n"
            f"  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {y}\n  return %0 : {y}\n}}\n", (rows, inner), (rows, columns))


def convolution(channels, side):
    x, w = FLOATS(f"1x{channels}x{side}x{side}"), FLOATS(f"{channels}x{channels}x3x3")
    return (f"func.func @main(%x: {x}) -> {x} {{\n  %w = stablehlo.constant dense<0.01> : {w}\n"
            "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} "
            f"{{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({x}, {w}) -> {x}\n  return %0 : {x}\n}}\n",
            (1, channels, side, side), (1, channels, side, side))


MODELS = {
    "add 1000": elementwise(1000), "add 100000": elementwise(100000), "add 4000000": elementwise(4000000),
    "tanh 1000": transcendental(1000), "tanh 100000": transcendental(100000),
    "matmul 1x256x256": matmul(1, 256, 256), "matmul 64x512x512": matmul(64, 512, 512),
    "convolution 64x56x56": convolution(64, 56),
}


def placed(shape, offset):
    """Zeros that begin OFFSET bytes behind a multiple of 64."""
    size = int(np.prod(shape)) * 4
    block = np.zeros(size + 128, np.uint8)
    first = -block.ctypes.data % 64 + offset
    return block[first:first + size].view(np.float32).reshape(shape)


class Bound:
    """A binding on arrays at an offset."""

    def __init__(self, session, x, shape, offset):
        self.x, self.y = placed(x.shape, offset), placed(shape, offset)
        self.x[...] = x
        self.binding = session.bind([self.x], [self.y])

    def time(self, seconds):
        """The time of a run in microseconds."""
        runs, begin = 0, time.perf_counter()
        while True:
            for _ in range(8):
                self.binding()
            runs += 8
            passed = time.perf_counter() - begin
            if passed >= seconds:
                return passed / runs * 1e6


def measure(sinter, name, rounds, threads):
    text, shape, result = MODELS[name]
    session = sinter.compile(sinter.load(text.encode(), name="model.mlir"), threads=threads)
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    bound = {offset: Bound(session, x, result, offset) for offset in OFFSETS}
    for offset, each in bound.items():
        each.time(0.02)
        if each.y.tobytes() != bound[0].y.tobytes():
            raise SystemExit(f"{name}: other bits at an offset of {offset} bytes")
        if any(each.binding.copies) != bool(offset % 4):
            raise SystemExit(f"{name}: at an offset of {offset} bytes copies are {each.binding.copies}")
    times = [[each.time(0.02) for each in bound.values()] for _ in range(rounds)]
    fastest = [min(each) for each in zip(*times)]
    return fastest + [statistics.median(each[i] / each[0] for each in times) for i in range(1, len(OFFSETS))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=Path(__file__).resolve().parent.parent / "build", type=Path)
    parser.add_argument("--rounds", default=15, type=int)
    parser.add_argument("--threads", default=1, type=int)
    parser.add_argument("--markdown", type=Path, help="also write the table there")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    import sinter  # noqa: PLC0415
    lines = ["| model | aligned, us | 4 bytes behind | 32 bytes behind | 1 byte behind, copied | ratio to aligned, 4 bytes | ratio to aligned, 32 bytes | copied, by aligned |", "|---|" + "---:|" * 7]
    for name in MODELS:
        row = measure(sinter, name, options.rounds, options.threads)
        lines.append(f"| {name} | " + " | ".join([f"{each:.2f}" for each in row]) + " |")
        print("\n".join(lines if len(lines) == 3 else lines[-1:]), flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
