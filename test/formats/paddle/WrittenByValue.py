#!/usr/bin/env python3
# Covers: formats/import InOtherOps
# Covers: formats/paddle/write Activations Convolutions Elementwise Indexing Movement Names Normalization OperatorWriter
# Covers: formats/paddle/write Pooling Products ProgramWriter Reductions SizesAndIndices WindowReductions WriterRules
"""Writes every operator anew and compares what the written program gives.

  WrittenByValue.py --sinter build/bin/sinter [--only NAME] [--each] [--every N] [--start K]
  WrittenByValue.py --sinter build/bin/sinter --onnx FOLDER [--only NAME]

The cases of OperatorCases.py become StableHLO, which keeps nothing of the program, and that becomes a program of either era and
ONNX, in f32 of known and unknown sizes, f64, f16 and bf16. With --onnx the models below FOLDER become programs, which run on the models' own
test data; models that are refused, and data that is no tensor, are left out. With --each every case is a program of its own; --every N takes every Nth,
from number K on.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle
from OperatorCases import CASES
from OperatorsByValue import DECIDED, build, judge

# What is not written, by file and by whether sizes are unknown: places of a pool's greatest element in windows of unknown number.
REFUSED = {("pdmodel", False): set(), ("pdmodel", True): {"pool-index"}, ("onnx", False): set(),
           ("onnx", True): {"pool-index", "set-value-numbers", "set-value-nothing", "set-value-two"}}
REFUSED |= {("json", is_open): REFUSED["pdmodel", is_open] for is_open in (False, True)}
# Logarithms of few bits at the edge between two levels.
ROUNDED = {"distribute", "distribute-edges"}
# What test data is that no input or output of a program is.
NO_TENSORS = ["is stored in segments", "has no data type", "numbers of data, its shape"]
# Sizes of 0 that are computed at run time: to Paddle they are those of the operand.
NOT_BY_PADDLE = {"test_reshape_allowzero_reordered"}


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def convert(sinter, folder, cases, is_open, element):
    """(the cases as StableHLO, options that give their inputs, expected results, what went wrong)"""
    program, inputs, expected = build(cases, is_open, element)
    model = program.save(os.path.join(folder, "model"))
    given = []
    for name, value in inputs.items():
        paddle.write(os.path.join(folder, name + ".npy"), paddle.npy(value.dims, value.values, value.element))
        given += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
    target = os.path.join(folder, "all.mlir")
    done = run([sinter, "convert", os.path.join(model, "inference.pdmodel"), "-o", target])
    return target, given, expected, done.stderr.strip()


def check(sinter, cases, form, is_open, element):
    """What is wrong with these cases written anew, a line each."""
    label = cases[0].name if len(cases) == 1 else "some case"
    with tempfile.TemporaryDirectory() as folder:
        model, given, expected, error = convert(sinter, folder, cases, is_open, element)
        if error:
            return [f"{label}: {error}"]
        written = os.path.join(folder, "written." + form)
        done = run([sinter, "convert", model, "-o", written])
        if not done.returncode:
            done = run([sinter, "run", written, *given, "--backend", "interpreter", "--no-cache", "--output-dir", folder])
        return [f"{label}: {done.stderr.strip()}"] if done.returncode else judge(folder, expected)


def check_refused(sinter, case, form, is_open):
    with tempfile.TemporaryDirectory() as folder:
        model, _, _, error = convert(sinter, folder, [case], is_open, paddle.FP32)
        if error:
            return [f"{case.name}: {error}"]
        written = os.path.join(folder, "written." + form)
        done = run([sinter, "convert", model, "-o", written])
        if done.returncode != 4 or "has no form for" not in done.stderr:
            return [f"{case.name}: expected to be refused, got exit code {done.returncode} {done.stderr.strip()}"]
        return [f"{case.name}: it left something behind"] if os.path.exists(written) else []


def check_cases(options):
    wrong = []
    cases = [each for each in CASES if options.only in each.name][options.start % options.every :: options.every]
    unknown = set().union(*REFUSED.values()) - {each.name for each in CASES}
    wrong += [f"{name} is refused, and no case" for name in sorted(unknown)]
    for label, is_open, element in (("f32", False, paddle.FP32), ("unknown sizes", True, paddle.FP32), ("f64", False, paddle.FP64),
                                    ("f16", False, paddle.FP16), ("bf16", False, paddle.BF16)):
        fitting = [each for each in cases if not (is_open and each.needs_sizes or element != paddle.FP32 and each.names_type())]
        for form in ("pdmodel", "json", "onnx"):
            refused = REFUSED[form, is_open]
            chosen = [each for each in fitting if each.name not in refused and each.name not in DECIDED.get(element, ())
                      and not (element in (paddle.FP16, paddle.BF16) and each.name in ROUNDED)]
            for group in [[each] for each in chosen] if options.each else [chosen] if chosen else []:
                wrong += [f"{label}, {form}: {line}" for line in check(options.sinter, group, form, is_open, element)]
            if element == paddle.FP32 and form != "json":
                for each in fitting:
                    if each.name in refused:
                        wrong += [f"{label}, {form}: {line}" for line in check_refused(options.sinter, each, form, is_open)]
    return len(cases), wrong


def check_model(sinter, folder):
    """What is wrong with the model of FOLDER as a program; None where it does not become one."""
    with tempfile.TemporaryDirectory() as target:
        done = run([sinter, "convert", os.path.join(folder, "model.onnx"), "-o", os.path.join(target, "inference.pdmodel")])
        if done.returncode:
            return None if done.returncode in (3, 4) else f"exit code {done.returncode}: {done.stderr.strip()}"
        for name in os.listdir(folder):
            if name.startswith("test_data"):
                os.symlink(os.path.join(folder, name), os.path.join(target, name))
        done = run([sinter, "test", target, "--backend", "interpreter"])
        text = (done.stdout + done.stderr).strip()
        if done.returncode == 0 or any(each in text for each in NO_TENSORS):
            return ""
        # What the model itself fails is not the program's doing.
        return "" if run([sinter, "test", folder, "--backend", "interpreter"]).returncode else text


def check_models(options):
    folders = sorted(os.path.join(options.onnx, each) for each in os.listdir(options.onnx)
                     if options.only in each and each not in NOT_BY_PADDLE and os.path.exists(os.path.join(options.onnx, each, "model.onnx")))[options.start % options.every :: options.every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda folder: check_model(options.sinter, folder), folders))
    wrong = [f"{os.path.basename(folder)}: {result}" for folder, result in zip(folders, results) if result]
    written = sum(result is not None for result in results)
    print(f"{written} of {len(folders)} models are written")
    # A writer that refuses everything is not right.
    if not options.only and written < 0.8 * len(folders):
        wrong.append("too few models are written")
    return len(folders), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--onnx")
    parser.add_argument("--only", default="")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    if options.onnx and not os.path.isdir(options.onnx):
        print(f"skipped: {options.onnx} is not there (Debian: libonnx-testdata)")
        return 77
    count, wrong = check_models(options) if options.onnx else check_cases(options)
    print("\n".join(wrong + [f"{count} cases, {len(wrong)} defects"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
