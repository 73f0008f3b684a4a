#!/usr/bin/python3
"""Tells whether `sinter quantize --max-loss` holds on inputs that were not seen.

  bounds.py FOLDER... [--sinter build/bin/sinter] [--samples 25] [--held-out 64] [--more 3,8]

A FOLDER holds a model in ONNX test form, or several such folders. Inputs are generated (quantizer/samples.py). The bounds that are asked
for lie --more dB above what the model with all layers quantised has on the samples that `sinter quantize` sets aside. Columns: the bound, what
the samples that were set aside have and what the report says of others at least, how many layers stayed float or read 16 bits, and what ONNX Runtime has on
--held-out other inputs, together and the worst of them. The exit code is 1 if a model that was written does not hold its bound there.
"""
import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test"))
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
from quantized import models_in, read_set
from quantizer.evaluation import Failed, add_options, call, outputs_of, parse, prepare, tabulate


def decibels(expected, got):
    """Signal to noise of all outputs: of all samples together, and of the worst one."""
    powers = np.array([(sum(float((want[name].astype(np.float64)**2).sum()) for name in want),
                        sum(float(((want[name].astype(np.float64) - have[name])**2).sum()) for name in want)) for want, have in zip(expected, got)])
    signal, noise = powers[:, 0], np.maximum(powers[:, 1], 1e-30)
    return 10 * np.log10(signal.sum() / noise.sum()), float((10 * np.log10(np.maximum(signal, 1e-30) / noise)).min())


def judge(folder, options):
    """A row: {'model', 'errors', 'bounds': [(bound, report, all others, the worst one)]}."""
    row = {"model": os.path.basename(folder), "errors": [], "bounds": []}
    path = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        _, _, held_out = prepare(folder, read_set, options, scratch)
        expected = outputs_of(path, held_out, scratch)
        words = [options.sinter, "quantize", path, "--calibration", os.path.join(scratch, "calibration"), "--for", "any", "--json"]
        whole = json.loads(call(words))["snr_db"]
        for more in options.more.split(","):
            bound, file = round(whole + float(more)), os.path.join(scratch, f"bound_{more}.onnx")
            try:
                report = json.loads(call([*words, "--max-loss", str(bound), "-o", file]))
                row["bounds"].append((bound, report, *decibels(expected, outputs_of(file, held_out, scratch))))
            except Failed as error:
                row["errors"].append(f"{bound}: {error}")
    return row


def line(row):
    lines = []
    for bound, report, others, worst in row.get("bounds", []):
        layers = report["layers"]
        left = sum(each["reason"] == "--max-loss" for each in layers)
        wide = sum(each["scheme"].startswith("i16") for each in layers)
        of_others = report["snr_db_of_others"]
        cells = [row["model"], f"{bound}", f"{report['snr_db']:.1f}", "-" if of_others is None else f"{of_others:.1f}", f"{left}, {wide} of {len(layers)}",
                 f"{others:.1f}", f"{worst:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, samples=25)
    parser.set_defaults(held_out=64)
    parser.add_argument("--more", default="3,8", help="how many dB above what all layers have, one after the other (default: 3,8)")
    options = parse(parser, models_in)
    rows, _ = tabulate(options, ["model", "bound", "set aside", "others, at least", "float, 16 bits", "others", "worst"], lambda folder: judge(folder, options), line)
    missed = [row["model"] for row in rows for bound, _, others, _ in row.get("bounds", []) if others < bound]
    held = sum(len(row.get("bounds", [])) for row in rows)
    print(f"\n{held - len(missed)} of {held} bounds hold on other inputs; missed: {', '.join(missed) or 'none'}.")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
