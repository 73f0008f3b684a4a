#!/usr/bin/env python3
"""Races dynamic programs against static ones, and, over many sizes, against ONNX Runtime.

    bench/open_race.py DIR [--threads 1] [--rounds 5] [--seconds 0.5] [--statistic median] [--markdown FILE] [MODEL ...]
    bench/open_race.py DIR --sweep sequence=1..512 [--at batch=1] [--count 100] [--markdown FILE] [MODEL ...]

DIR holds models in ONNX test form whose inputs have symbols (`open_models.py` makes them). At each of a few points, sizes for all of a model's
symbols, the same model is run by one program for all sizes (`--dynamic`) and by one for these (`--static`), in turn, each in a process of its own; a figure is the
median of the rounds' medians, a ratio the median of the rounds' ratios. With --statistic min it is the fastest run of all rounds, and a ratio that
of the fastest: where other work disturbs. *compile* is what making both costs in processes without a cache, in the same way. *first* is by how much the first run of a size took longer than the median there, in a process that met other sizes
before (the median of the rounds, and of all sizes the most); memory that is touched for the first time is part of that.

With --sweep, --count sizes of a dimension are drawn, in random order, and each is run once, in one process of each
program: the figure is the sum over all, loading and compiling included.
"""
import argparse
import fnmatch
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

import race

HERE = os.path.dirname(os.path.abspath(__file__))
# Of the symbols that a model has: the points at which it is run. Beside others a batch is 1 or 3.
POINTS = {"sequence": [(33,), (64,), (128,)], "height,width": [(224, 224), (160, 288)]}


def symbols_of(sinter, model):
    """{input: [size or symbol]} and the symbols in the order in which they occur."""
    told = race.measure([sinter, "inspect", model, "--no-plan", "--json"])
    if "error" in told:
        return None, told["error"]
    inputs = {each["name"]: [symbol or size for symbol, size in zip(each["symbols"], each["shape"])] for each in told["inputs"]}
    return inputs, list(dict.fromkeys(size for shape in inputs.values() for size in shape if isinstance(size, str)))


def points_of(symbols):
    """[{symbol: size}] for a model."""
    others = ",".join(each for each in symbols if each != "batch")
    found = [dict(zip(others.split(","), point)) for point in POINTS[others]] if others else [{}]
    if "batch" not in symbols:
        return found
    return [{"batch": 1, **point} for point in found] + [{"batch": 3, **found[0]}]


def shapes(inputs, point):
    words = []
    for name, shape in inputs.items():
        words += ["--shape", f"{name}:" + "x".join(str(point.get(size, size)) for size in shape)]
    return words


class Runs:
    """What is measured of one model."""

    def __init__(self, sinter, folder, options, cache):
        self.model = os.path.join(folder, "model.onnx")
        self.words = [sinter, "bench", self.model, "--threads", str(options.threads), "--json"]
        self.options, self.cache = options, cache
        self.inputs, self.symbols = symbols_of(sinter, self.model)
        self.error = self.symbols if self.inputs is None else None

    def both(self, point, *more):
        """Measures the dynamic program and the static one in turn: [(dynamic, static)] of all rounds, or None after an error."""
        found = []
        ways = {"dynamic": ["--dynamic"], "static": ["--static"]}
        for number in range(self.options.rounds):
            pair = {}
            for way in list(ways) if number % 2 == 0 else list(ways)[::-1]:
                pair[way] = race.measure([*self.words, *shapes(self.inputs, point), *ways[way], *more])
                if "error" in pair[way]:
                    self.error = f"{way}: {pair[way]['error']}"
                    return None
            found.append((pair["dynamic"], pair["static"]))
        return found

    def times(self, point):
        """One row: times at a point."""
        pairs = self.both(point, "--seconds", str(self.options.seconds), "--cache-dir", self.cache)
        return pairs and [tuple(each["latency_ms"][self.options.statistic] for each in pair) for pair in pairs]

    def compiles(self, point):
        pairs = self.both(point, "--seconds", "0", "--warmup", "0", "--no-cache")
        return pairs and [tuple(each["compile_ms"] for each in pair) for pair in pairs]

    def firsts(self, points):
        """By how much first runs were longer, in one process: a list of milliseconds, without the first size of all."""
        symbol = self.symbols[-1]
        sizes = list(dict.fromkeys(point[symbol] for point in points))
        sizes = [sizes[-1] * 2, *sizes] if len(sizes) > 1 else [8, 1, 3, 2, 5]
        given = {**points[0], symbol: symbol}
        found = []
        for _ in range(self.options.rounds):
            told = race.measure([*self.words, *shapes(self.inputs, given), "--dynamic", "--cache-dir", self.cache, "--seconds", "0.2", "--sweep",
                                 f"{symbol}=" + ",".join(map(str, sizes))])
            if isinstance(told, dict):
                self.error = told.get("error")
                return None
            found.append([each["first_ms"] - each["latency_ms"]["median"] for each in told[1:]])
        return [statistics.median(rounds) for rounds in zip(*found)]


def middle_of(pairs, statistic):
    """The figure of each column."""
    return [(min if statistic == "min" else statistics.median)(column) for column in zip(*pairs)]


def ratio(pairs, statistic):
    found = [a / b for a, b in pairs]
    if statistic == "min":
        ours, theirs = middle_of(pairs, statistic)
        return ours / theirs, race.spread(found)
    return statistics.median(found), race.spread(found)


def named(point):
    return ", ".join(f"{symbol} {size}" for symbol, size in point.items())


def race_model(name, folder, options):
    """The rows of one model: [(name, point, dynamic ms, static ms, ratio, spread, compile, first)], and what went wrong."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        runs = Runs(options.sinter, folder, options, cache)
        if runs.error:
            return rows, runs.error
        points = points_of(runs.symbols)
        for place, point in enumerate(points):
            pairs = runs.times(point)
            if pairs is None:
                return rows, runs.error
            made = runs.compiles(point) if place == 0 else None
            firsts = runs.firsts(points) if place == 0 else None
            statistic = options.statistic
            rows.append((name, named(point), *middle_of(pairs, statistic), *ratio(pairs, statistic), ratio(made, statistic) if made else None, max(firsts) if firsts else None))
    return rows, runs.error


def race_table(chosen, options):
    lines = ["| model | sizes | dynamic ms | static ms | ratio | spread | compile, ratio | spread | first run, ms more |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    ratios, failed = [], 0
    for name in chosen:
        rows, error = race_model(name, os.path.join(options.directory, name), options)
        for model, point, ours, theirs, times, spread, made, first in rows:
            ratios.append(times)
            cells = [model, point, f"{ours:.3f}", f"{theirs:.3f}", f"{times:.3f}", f"{spread:.0%}",
                     f"{made[0]:.2f}" if made else "", f"{made[1]:.0%}" if made else "", "" if first is None else f"{first:.2f}"]
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr)
        if error:
            failed += 1
            print(f"open_race.py: {name}: {error}", file=sys.stderr)
    if ratios:
        lines += ["", f"Geometric mean of {len(ratios)} ratios: {race.geometric_mean(ratios):.3f}; worst: {max(ratios):.3f}."]
    return lines, failed


def sweep_model(folder, symbol, sizes, options):
    """(Sinter's sum, ONNX Runtime's, Sinter's compiling, ONNX Runtime's loading) in ms of all rounds, or an error."""
    listed = f"{symbol}=" + ",".join(map(str, sizes))
    model = os.path.join(folder, "model.onnx")
    inputs, symbols = symbols_of(options.sinter, model)
    if inputs is None:
        return symbols
    given = {each: options.at.get(each, 1) for each in symbols if each != symbol}
    common = ["--threads", str(options.threads), "--seconds", "0", "--warmup", "0", "--sweep", listed]
    ways = {"sinter": [options.sinter, "bench", model, *shapes(inputs, given), "--no-cache", "--json", *common],
            "onnxruntime": ["node", os.path.join(HERE, "ort_bench.js"), folder, *common,
                            "--at", ",".join(f"{each}={size}" for each, size in given.items())]}
    found = []
    for number in range(options.rounds):
        sums = {}
        for way in list(ways) if number % 2 == 0 else list(ways)[::-1]:
            told = race.measure(ways[way])
            if isinstance(told, dict):
                return f"{way}: {told.get('error')}"
            start = max(each["load_ms"] for each in told) + sum(each["compile_ms"] for each in told)
            sums[way] = (start + sum(each["first_ms"] for each in told), start)
        found.append((sums["sinter"][0], sums["onnxruntime"][0], sums["sinter"][1], sums["onnxruntime"][1]))
    return found


def sizes_of(text):
    """{symbol: size} of SYMBOL=SIZE,..."""
    return {symbol: int(size) for symbol, size in (each.split("=") for each in text.split(","))}


def sweep_table(chosen, options):
    symbol, bounds = options.sweep.split("=")
    low, high = map(int, bounds.split(".."))
    draw = random.Random(options.seed)
    step = options.step
    sizes = [draw.randrange(low, high + 1, step) for _ in range(options.count)]
    lines = [f"{options.count} sizes of {symbol}, {low} to {high}" + (f" in steps of {step}" if step > 1 else "") + f", drawn from seed {options.seed}" + (f"; {named(options.at)}" if options.at else "") + ":", "",
             "| model | Sinter, s | of that before the first run | ONNX Runtime, s | of that loading | ratio | spread |", "|---|---:|---:|---:|---:|---:|---:|"]
    failed = 0
    for name in chosen:
        found = sweep_model(os.path.join(options.directory, name), symbol, sizes, options)
        if isinstance(found, str):
            failed += 1
            print(f"open_race.py: {name}: {found}", file=sys.stderr)
            continue
        middle = [each / 1e3 for each in middle_of(found, options.statistic)]
        times, spread = ratio([each[:2] for each in found], options.statistic)
        lines.append(f"| {name} | {middle[0]:.3f} | {middle[2]:.3f} | {middle[1]:.3f} | {middle[3]:.3f} | {times:.2f} | {spread:.0%} |")
        print(lines[-1], file=sys.stderr)
    return lines, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("models", nargs="*", help="names in DIR, or patterns of such (default: all)")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--statistic", choices=["median", "min"], default="median")
    parser.add_argument("--sweep", metavar="SYMBOL=LEAST..MOST", help="sizes in random order against ONNX Runtime")
    parser.add_argument("--count", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--step", type=int, default=1, help="by which sizes differ (default: 1)")
    parser.add_argument("--at", metavar="SYMBOL=SIZE,...", type=sizes_of, default={}, help="what other dimensions have meanwhile (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", metavar="FILE")
    options = parser.parse_intermixed_args()
    there = sorted(each for each in os.listdir(options.directory) if os.path.exists(os.path.join(options.directory, each, "model.onnx")))
    chosen = [each for each in there if not options.models or any(fnmatch.fnmatchcase(each, pattern) for pattern in options.models)]
    if not chosen:
        sys.exit(f"open_race.py: no such model in {options.directory}")
    lines, failed = (sweep_table if options.sweep else race_table)(chosen, options)
    lines.insert(0, f"{race.cpu_name()}, {options.threads} thread{'s' if options.threads > 1 else ''}, {options.rounds} rounds, {options.statistic}.\n")
    print("\n".join(lines))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
