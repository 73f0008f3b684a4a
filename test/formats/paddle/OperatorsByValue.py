#!/usr/bin/env python3
# Covers: formats/import Convolutions Products Regions Unsupported WriterRule
# Covers: formats/paddle ImportSignature Importer OperatorContext Operators PaddleFormat PaddleReader
# Covers: formats/paddle/ops Activations Boxes Constants Convolutions DeformableConvolutions Detection Elementwise
# Covers: formats/paddle/ops Indexing LevelsOfDetail Listed Movement NonMaxSuppression Normalization Pixels Pooling
# Covers: formats/paddle/ops Products Proposals Quantization RandomNumbers Recurrent Reductions Repeating Resizing
# Covers: formats/paddle/ops Results Sampling Shapes Slicing Windows
"""Runs each operator of OperatorCases.py and compares what it gives.

  OperatorsByValue.py --sinter build/bin/sinter [--only NAME] [--each]

Many operators stand in one program, so that there are few processes. The program runs with the sizes of its inputs on both
backends, and with floats of other widths; one whose inputs are of unknown size is converted to StableHLO, and that runs. With
--each every case is a program of its own, which says more when one fails.
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle
from Arrays import Array
from OperatorCases import CASES, Parameter

# By type of the floats: some roundings. Attributes are of f32 whatever the operands are.
RELATIVE = {paddle.FP32: 2e-5, paddle.FP64: 1e-6, paddle.FP16: 1e-2, paddle.BF16: 5e-2}
ABSOLUTE = {paddle.FP32: 1e-5, paddle.FP64: 1e-6, paddle.FP16: 2e-2, paddle.BF16: 1e-1}
# What numbers of few bits decide otherwise: whether a box is likely, or large, enough.
DECIDED = {paddle.BF16: {"yolo-box", "matrix-nms-pixels", "generate-proposals"}}


def listed(value):
    return value if isinstance(value, list) else [value]


def in_type(value, element):
    """The same numbers as floats of another type."""
    return Array(value.dims, [float(each) for each in value.values], element) if value.element == paddle.FP32 else value


def build(cases, is_open, element=paddle.FP32):
    """(program, inputs by name, expected results by name), floats of type ELEMENT."""
    program, inputs, expected = paddle.Program(), {}, {}
    for number, each in enumerate(cases):
        slots = {}
        for slot, operands in each.inputs.items():
            slots[slot] = []
            for i, operand in enumerate(listed(operands)):
                name = f"c{number}_{slot}_{i}"
                slots[slot].append(name)
                if isinstance(operand, Parameter):
                    held = in_type(operand.held, element)
                    program.parameter(name, held.dims, held.values, held.element)
                else:
                    operand = in_type(operand, element)
                    program.input(name, each.open_sizes(slot, operand.dims) if is_open else operand.dims, operand.element)
                    inputs[name] = operand
        results = {}
        for slot, values in each.outputs.items():
            results[slot] = []
            for i, value in enumerate(listed(values)):
                name, value = f"r{number}_{slot}_{i}", in_type(value, element)
                program.variable(name, value.dims, value.element)
                results[slot].append(name)
                expected[name] = (each.name, value)
        program.op(each.type, slots, results, **each.attributes)
        for names in results.values():
            for name in names:
                program.output(name)
    return program, inputs, expected


def agrees(got, expected, element):
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(got)
    return got == expected or element in RELATIVE and abs(got - expected) <= ABSOLUTE[element] + RELATIVE[element] * abs(expected)


def judge(folder, expected):
    """What differs, a line each."""
    wrong = []
    for name, (case, value) in expected.items():
        with open(os.path.join(folder, name + ".npy"), "rb") as file:
            dims, values, element = paddle.read_npy(file.read())
        if (dims, element) != (value.dims, value.element):
            wrong.append(f"{case}: {name} is {dims} of type {element}, expected {value.dims} of type {value.element}")
            continue
        bad = [i for i, (a, b) in enumerate(zip(values, value.values)) if not agrees(a, b, element)]
        if bad:
            wrong.append(f"{case}: {len(bad)} of {len(values)} elements of {name} differ, first element {bad[0]}: got {values[bad[0]]}, "
                         f"expected {value.values[bad[0]]}")
    return wrong


def run(sinter, cases, is_open, backend, element):
    """What is wrong with these cases, a line each."""
    program, inputs, expected = build(cases, is_open, element)
    with tempfile.TemporaryDirectory() as folder:
        model = program.save(os.path.join(folder, "model"))
        given = []
        for name, value in inputs.items():
            paddle.write(os.path.join(folder, name + ".npy"), paddle.npy(value.dims, value.values, value.element))
            given += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
        if is_open:
            converted = os.path.join(folder, "open.mlir")
            done = subprocess.run([sinter, "convert", os.path.join(model, "inference.pdmodel"), "-o", converted], capture_output=True, text=True)
            if done.returncode:
                return [f"{cases[0].name if len(cases) == 1 else 'some case'}: with unknown sizes: {done.stderr.strip()}"]
            model = converted
        else:
            model = os.path.join(model, "inference.pdmodel")
        done = subprocess.run([sinter, "run", model, *given, "--backend", backend, "--no-cache", "--output-dir", folder], capture_output=True, text=True)
        if done.returncode:
            return [f"{cases[0].name if len(cases) == 1 else 'some case'}: {done.stderr.strip()}"]
        return judge(folder, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    cases = [each for each in CASES if options.only in each.name]
    wrong = []
    for label, backend, is_open, element in (("interpreter", "interpreter", False, paddle.FP32), ("cpu", "cpu", False, paddle.FP32),
                                             ("unknown sizes", "interpreter", True, paddle.FP32), ("f64", "cpu", False, paddle.FP64),
                                             ("f16", "cpu", False, paddle.FP16), ("bf16", "cpu", False, paddle.BF16)):
        chosen = [each for each in cases if not (is_open and each.needs_sizes or element != paddle.FP32 and each.names_type()
                                                 or backend == "cpu" and each.counts_results or each.name in DECIDED.get(element, ()))]
        groups = [[each] for each in chosen] if options.each else [chosen] if chosen else []
        for group in groups:
            wrong += [f"{label}: {line}" for line in run(options.sinter, group, is_open, backend, element)]
    print("\n".join(wrong + [f"{len(cases)} cases, {len(wrong)} defects"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
