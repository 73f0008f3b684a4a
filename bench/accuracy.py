#!/usr/bin/python3
"""Tells how much `sinter quantize` loses on a model, and what each of its improvements brings.

  accuracy.py FOLDER... [MODEL ...] [--sinter build/bin/sinter] [--samples 25] [--held-out 24] [--out OUT] [--around]

A FOLDER holds a model in ONNX test form, or several such folders. Inputs are generated (quantizer/samples.py): most models'
weights are random, so what is compared are the outputs with the float model's. Ranges are measured on --samples inputs, from one
seed; the ratio of signal to noise, in dB, is that of ONNX Runtime on the written files over --held-out inputs from another seed,
the least of all outputs. Columns:

  plain     no improvement: whole ranges, nothing moved, no bias corrected
  each      plain and one of the improvements that this build has
  default   as `sinter quantize` does without options
  around    with --around: the file of `quantized.py --styles around`, on the same samples

--out keeps the default's files as OUT/MODEL.quantize/ (and OUT/MODEL.around/) in ONNX test form, for race.py. The exit code is 1 if a model fails, or
if the default is worse than plain by more than 0.2 dB on a model, or not 2 dB better on average.
"""
import argparse
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test"))
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from quantized import models_in, read_set, write
from quantizer import graph
from quantizer.evaluation import Failed, add_options, call, outputs_of, prepare, progress, tabulate, write_around
from quantizer.evaluation import parse as parse_options

# What is improved, and how it is switched off.
IMPROVEMENTS = [
    ("ranges", ["--range", "max"]),
    ("equalised", ["--no-equalize"]),
    ("smoothed", ["--no-smooth"]),
    ("biases", ["--no-bias-correction"]),
]
# What the default must bring over plain on average, and the most that it may lose on one model, in dB.
GAIN, LOSS = 2.0, 0.2
# Above this two files hold the same for all that a float can tell.
EXACT = 140.0


def improvements(sinter):
    """Those that this build has."""
    known = call([sinter, "quantize", "--help"])
    return [(name, off) for name, off in IMPROVEMENTS if off[0] in known]


def ways_of(options):
    """(name, the options of `sinter quantize`) of each column."""
    found = improvements(options.sinter)
    ways = [("plain", [word for _, off in found for word in off])]
    for name, _ in found:
        ways.append((name, [word for other, off in found if other != name for word in off]))
    return [way for way in [*ways, ("default", [])] if not options.ways or way[0] in options.ways]


def decibels(expected, got, is_centred=False):
    """Signal to noise of the worst output, over all samples; centred: of what differs from sample to sample."""
    least = EXACT
    for name in expected[0]:
        want = np.stack([each[name].astype(np.float64) for each in expected])
        have = np.stack([each[name].astype(np.float64) for each in got])
        if is_centred:
            want, have = want - want.mean(0), have - have.mean(0)
        signal, noise = float((want**2).sum()), float(((want - have) ** 2).sum())
        if not np.isfinite(noise):
            return -np.inf
        if noise > 0 and signal > 0:
            least = min(least, 10 * np.log10(signal / noise))
    return float(least)


def keep(path, folder, options, style):
    """A quantised file as OUT/MODEL.STYLE/, with the float model's data."""
    target = os.path.join(options.out, f"{os.path.basename(folder)}.{style}")
    model = onnx.load(path)
    feeds = read_set(folder, "input", [each.name for each in model.graph.input])
    write(model, target, feeds, read_set(folder, "output", [each.name for each in model.graph.output]), style, argparse.Namespace(half_borders=False))


def judge(folder, options):
    """A row: {'model', WAY: dB, WAY + ' centred': dB, 'layers', 'seconds', 'errors'}."""
    row = {"model": os.path.basename(folder), "errors": [], "seconds": {}}
    path = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        model, calibration, held_out = prepare(folder, read_set, options, scratch)
        expected = outputs_of(path, held_out, scratch)

        def tell(way, file):
            got = outputs_of(file, held_out, scratch)
            row[way], row[way + " centred"] = decibels(expected, got), decibels(expected, got, is_centred=True)
            if options.out and way in ("default", "around"):
                keep(file, folder, options, "quantize" if way == "default" else way)

        profiles = {}

        def profile_for(words):
            """The file of ranges: of a graph whose channels were moved there are others."""
            moved = tuple(word for word in words if word in ("--no-equalize", "--no-smooth"))
            if moved not in profiles:
                profiles[moved] = os.path.join(scratch, f"profile_{len(profiles)}.json")
                call([options.sinter, "quantize", path, "--calibration", os.path.join(scratch, "calibration"), *moved,
                      "--profile-out", profiles[moved]])
            return profiles[moved]

        for way, words in options.columns:
            progress(f"{row['model']}: {way}")
            try:
                start, file = time.monotonic(), os.path.join(scratch, f"{way}.onnx")
                told = json.loads(call([options.sinter, "quantize", path, "--profile", profile_for(words), *words, "-o", file, "--json"]))
                row["seconds"][way] = time.monotonic() - start
                row["layers"] = f"{sum(not each['kept_float'] for each in told['layers'])}/{len(told['layers'])}"
                tell(way, file)
                os.remove(file)
            except Failed as error:
                row["errors"].append(f"{way}: {error}")
        if options.around:
            try:
                file = os.path.join(scratch, "around.onnx")
                write_around(model, calibration, file)
                tell("around", file)
            except (graph.Unsupported, Failed) as error:
                row["errors"].append(f"around: {error}")
    return row


def cell(value):
    return "-" if value is None else f"{value:.1f}"


def line(row, ways):
    gain = row["default"] - row["plain"] if row.get("default") is not None and row.get("plain") is not None else None
    cells = [row["model"], row.get("layers", "-"), *(cell(row.get(way)) for way in ways), "-" if gain is None else f"{gain:+.1f}"]
    return f"| {' | '.join(cells)} |"


def verdict(rows):
    """Lines that say whether the goals are met, and whether they are."""
    gains = {row["model"]: row["default"] - row["plain"] for row in rows if row.get("default") is not None and row.get("plain") is not None}
    if not gains:
        return ["no model has both plain and default"], False
    mean, worst = sum(gains.values()) / len(gains), min(gains, key=gains.get)
    worse = [name for name, gain in gains.items() if gain < -LOSS]
    told = [f"The default gains {mean:.1f} dB over plain on average of {len(gains)} models ({GAIN:g} wanted); least {gains[worst]:+.1f} ({worst}).",
            f"Worse by more than {LOSS:g} dB: {', '.join(worse) or 'none'}."]
    return told, mean >= GAIN and not worse


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, samples=25)
    parser.add_argument("--ways", default="", help="only these columns, as in plain,default")
    parser.add_argument("--around", action="store_true", help="make and judge the file of quantized.py's style around, too")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    options = parse_options(parser, models_in)
    options.ways = [each for each in options.ways.split(",") if each]
    options.columns = ways_of(options)
    return options


def main():
    options = parse()

    def write_json(rows):
        if options.json:
            with open(options.json, "w") as file:
                json.dump(rows, file, indent=1)

    ways = [way for way, _ in options.columns] + (["around"] if options.around else [])
    rows, table = tabulate(options, ["model", "layers", *ways, "gain"], lambda folder: judge(folder, options), lambda row: line(row, ways), write_json)
    told, holds = verdict(rows)
    print("\n" + "\n".join(told))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join([*table, "", *told]) + "\n")
    sys.exit(0 if holds and not any(row["errors"] for row in rows) else 1)


if __name__ == "__main__":
    main()
