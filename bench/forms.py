#!/usr/bin/python3
"""Tells whether the two files that `sinter quantize` writes of a model, ONNX and StableHLO, compute the same, and whether ONNX Runtime computes it, too.

  forms.py FOLDER... [--sinter build/bin/sinter] [--samples 10] [--held-out 24] [--for CPU] [--out OUT] [--around]

A FOLDER holds a model in ONNX test form, or several such folders. Inputs are generated as accuracy.py does it. Columns, each over --held-out inputs:

  ONNX Runtime   Sinter on the ONNX form against ONNX Runtime on it
  by itself      ONNX Runtime on the ONNX form as it is against as it rewrites it: how far apart two ways to round the same file come
  StableHLO      Sinter on the StableHLO form against Sinter on the ONNX form
  rescales       how many `sinter optimize --allow=requantize` finds in the ONNX form, and how many it leaves; with --around in the file of
                 quantized.py's style around, too

A cell of the first three is the cosine over all inputs, the least of all outputs, and for how many of a hundred rows of the first output the most probable class is
the same. --out keeps the files. The exit code is 1 if a model fails, a cosine is below 0.999, fewer than 99 % of the rows agree, or a rescale is left.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test"))
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
from quantized import cosine, models_in, read_set
from quantizer import graph, samples
from quantizer.evaluation import add_options, call, outputs_of, prepare, progress, tabulate, write_around
from quantizer.evaluation import parse as parse_options

LEAST_COSINE, LEAST_AGREEMENT = 0.999, 99.0


def run_all(sinter, path, folders, scratch, names):
    """What Sinter gives for each sample, whose inputs are in a folder, in the outputs' order."""
    results = []
    for number, (folder, count) in enumerate(folders):
        given = os.path.join(scratch, f"{os.path.basename(path)}_{number}")
        words = [sinter, "run", path, "--output-dir", given, "--cache-dir", os.path.join(scratch, "cache")]
        for i in range(count):
            words += ["--input", os.path.join(folder, f"input_{i}.pb")]
        call(words)
        results.append({name: np.load(os.path.join(given, f"{name}.npy")) for name in names})
        shutil.rmtree(given)
    return results


def compare(expected, got, names):
    """(cosine, agreement in percent)."""
    joined = [{name: np.concatenate([each[name].ravel() for each in side]) for name in names} for side in (expected, got)]
    rows = [(a[names[0]], b[names[0]]) for a, b in zip(expected, got)]
    same = [np.argmax(a, -1).ravel() == np.argmax(b, -1).ravel() for a, b in rows if a.ndim and a.shape[-1] > 1]
    return cosine(*joined), 100.0 * float(np.mean(np.concatenate(same))) if same else 100.0


def rescales(sinter, path):
    told = json.loads(call([sinter, "optimize", path, "--allow=requantize", "--stats", "--json"]))["rescales"]
    return told["before"], told["after"]


def judge(folder, options):
    """A row; `errors` says what failed."""
    row = {"model": os.path.basename(folder), "errors": []}
    path = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        model, calibration, held_out = prepare(folder, read_set, options, scratch)
        names = [each.name for each in model.graph.output]
        folders = []
        for number, sample in enumerate(held_out):
            place = os.path.join(scratch, "held_out", f"{number:03}")
            os.makedirs(place)
            samples.write(sample, place)
            folders.append((place, len(sample)))
        files = {form: os.path.join(options.out or scratch, f"{row['model']}.{form}") for form in ("onnx", "mlir")}
        for form, file in files.items():
            progress(f"{row['model']}: quantize to {form}")
            call([options.sinter, "quantize", path, "--calibration", os.path.join(scratch, "calibration"), "--for", options.target, "-o", file, "--force"])
        progress(f"{row['model']}: run")
        ours = run_all(options.sinter, files["onnx"], folders, scratch, names)
        runtime = outputs_of(files["onnx"], held_out, scratch)
        row["runtime"] = compare(runtime, ours, names)
        row["itself"] = compare(runtime, outputs_of(files["onnx"], held_out, scratch, level="disabled"), names)
        row["stablehlo"] = compare(ours, run_all(options.sinter, files["mlir"], folders, scratch, names), names)
        row["rescales"] = rescales(options.sinter, files["onnx"])
        if options.around:
            try:
                file = os.path.join(scratch, "around.onnx")
                write_around(model, calibration, file)
                row["around"] = rescales(options.sinter, file)
            except graph.Unsupported as error:
                row["errors"].append(f"around: {error}")
    return row


def holds(row):
    agree = all(row[key][0] >= LEAST_COSINE and row[key][1] >= LEAST_AGREEMENT for key in ("runtime", "stablehlo") if key in row)
    return agree and not row["errors"] and not any(row[key][1] for key in ("rescales", "around") if key in row)


def line(row, with_around):
    pairs = [f"{row[key][0]:.5f}, {row[key][1]:.1f} %" if key in row else "-" for key in ("runtime", "itself", "stablehlo")]
    counts = [f"{row[key][0]} -> {row[key][1]}" if key in row else "-" for key in ["rescales", *(["around"] if with_around else [])]]
    return f"| {' | '.join([row['model'], *pairs, *counts])} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, samples=10)
    parser.add_argument("--for", dest="target", default="native", metavar="CPU",
                        help="as `sinter quantize` has it (default: native); any: no layer stays float because that is faster")
    parser.add_argument("--around", action="store_true", help="count the rescales of quantized.py's style around, too")
    options = parse_options(parser, models_in)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    return options


def main():
    options = parse()
    columns = ["model", "ONNX Runtime", "by itself", "StableHLO", "rescales"] + (["rescales (around)"] if options.around else [])
    rows, table = tabulate(options, columns, lambda folder: judge(folder, options), lambda row: line(row, options.around))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(table) + "\n")
    sys.exit(0 if all(holds(row) for row in rows) else 1)


if __name__ == "__main__":
    main()
