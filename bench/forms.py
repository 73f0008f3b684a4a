#!/usr/bin/python3
"""Tells whether the two files that `sinter quantize` writes of a model, ONNX and StableHLO, compute the same, and whether ONNX Runtime computes it, too.

  forms.py FOLDER... [--sinter build/bin/sinter] [--samples 10] [--held-out 24] [--for CPU] [--out OUT] [--around]

A FOLDER holds a model in ONNX test form, or several such folders. Inputs are generated as accuracy.py does it. Columns, each over --held-out inputs:

  ONNX Runtime   Sinter on the ONNX form against ONNX Runtime on it
  StableHLO      Sinter on the StableHLO form against Sinter on the ONNX form
  rescales       how many `sinter optimize --allow=requantize` finds in the ONNX form, and how many it leaves; with --around in the file of
                 quantized.py's style around, too

A cell of the first two is the cosine over all inputs, the least of all outputs, and for how many of a hundred rows of the first output the most probable class is
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
import onnx
from accuracy import Failed, call, outputs_of, prepare
from quantized import models_in
from quantizer import around, graph, ranges, samples

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
    cosine = 1.0
    for name in names:
        a = np.concatenate([each[name].astype(np.float64).ravel() for each in expected])
        b = np.concatenate([each[name].astype(np.float64).ravel() for each in got])
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        cosine = min(cosine, float(a @ b / lengths) if lengths > 0 else float(np.array_equal(a, b)))
    rows = [(a[names[0]], b[names[0]]) for a, b in zip(expected, got)]
    same = [np.argmax(a, -1).ravel() == np.argmax(b, -1).ravel() for a, b in rows if a.ndim and a.shape[-1] > 1]
    return cosine, 100.0 * float(np.mean(np.concatenate(same))) if same else 100.0


def rescales(sinter, path):
    told = json.loads(call([sinter, "optimize", path, "--allow=requantize", "--stats", "--json"]))["rescales"]
    return told["before"], told["after"]


def judge(folder, options, progress):
    """A row; `errors` says what failed."""
    row = {"model": os.path.basename(folder), "errors": []}
    path = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        model, calibration, held_out = prepare(folder, options, scratch)
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
        row["runtime"] = compare(outputs_of(files["onnx"], held_out, scratch), ours, names)
        row["stablehlo"] = compare(ours, run_all(options.sinter, files["mlir"], folders, scratch, names), names)
        row["rescales"] = rescales(options.sinter, files["onnx"])
        if options.around:
            try:
                made = graph.Graph(model)
                around.around(made, ranges.measure(made, *calibration), set())
                file = os.path.join(scratch, "around.onnx")
                onnx.save(made.model(), file)
                row["around"] = rescales(options.sinter, file)
            except graph.Unsupported as error:
                row["errors"].append(f"around: {error}")
    return row


def holds(row):
    agree = all(row[key][0] >= LEAST_COSINE and row[key][1] >= LEAST_AGREEMENT for key in ("runtime", "stablehlo") if key in row)
    return agree and not row["errors"] and not any(row[key][1] for key in ("rescales", "around") if key in row)


def line(row, with_around):
    pairs = [f"{row[key][0]:.5f}, {row[key][1]:.1f} %" if key in row else "-" for key in ("runtime", "stablehlo")]
    counts = [f"{row[key][0]} -> {row[key][1]}" if key in row else "-" for key in ["rescales", *(["around"] if with_around else [])]]
    return f"| {' | '.join([row['model'], *pairs, *counts])} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--sinter", default=os.path.join(HERE, "..", "build", "bin", "sinter"))
    parser.add_argument("--samples", type=int, default=10, help="generated inputs to calibrate with (default: 10)")
    parser.add_argument("--held-out", type=int, default=24, help="generated inputs to compare on (default: 24)")
    parser.add_argument("--for", dest="target", default="native", metavar="CPU",
                        help="as `sinter quantize` has it (default: native); any: no layer stays float because that is faster")
    parser.add_argument("--around", action="store_true", help="count the rescales of quantized.py's style around, too")
    parser.add_argument("--out", metavar="OUT", help="where the files stay")
    parser.add_argument("--scratch", metavar="DIR", help="where files lie meanwhile (default: that of the system)")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    options.models = models_in(options.folders)
    if not options.models:
        parser.error("no model.onnx in " + ", ".join(options.folders))
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    return options


def main():
    options = parse()

    def progress(text):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K" + text + "\r")
            sys.stderr.flush()

    columns = ["model", "ONNX Runtime", "StableHLO", "rescales"] + (["rescales (around)"] if options.around else [])
    table = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    print("\n".join(table), flush=True)
    good = True
    for folder in options.models:
        try:
            row = judge(folder, options, progress)
        except (Failed, FileNotFoundError) as error:
            row = {"model": os.path.basename(folder), "errors": [str(error)]}
        good &= holds(row)
        table.append(line(row, options.around))
        progress("")
        print(table[-1], "; ".join(row["errors"]), flush=True)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write("\n".join(table) + "\n")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
