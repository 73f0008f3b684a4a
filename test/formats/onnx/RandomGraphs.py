#!/usr/bin/python3
# Covers: formats/onnx/ops Activations Bodies Casts Constants ControlFlow Convolutions Detection Determinant Einsum
# Covers: formats/onnx/ops Elementwise Fourier GatherScatter Inputs Losses NGrams Normalization Optimizers Pooling
# Covers: formats/onnx/ops Products Quantization RandomNumbers Rearranging Recurrent Reductions Resizing Sampling
# Covers: formats/onnx/ops ScanLoop Sequences Shapes Slicing Unique Unpooling Window Windows
"""Random ONNX graphs with symbolic sizes, judged by ONNX Runtime.

  RandomGraphs.py --sinter build/bin/sinter [--count 200] [--seed 1] [--first 0] [--backend cpu --backend interpreter] [--keep DIR]

Graph i depends on the seed and i alone. Each is run by onnxruntime-node (npm install in bench/) on random inputs of three
sizes, nothing of it left out (an index may be wrong in a node that only a shape is read of); what it refuses is not counted.
A third of the graphs is run on inputs of a fourth set of sizes, too, which may not fit: two that must agree differ, or there is no
room for a window. What the runtime refuses then Sinter must refuse as an invalid model, on every backend; what it takes must
be the same. Of no elements, or where the runtime alone has a limit, there may be a result (RUNTIME_ONLY).
`sinter test` must give the same values on every backend; on cpu one program for all sizes (--dynamic) computes all,
or a note says why not: these are counted. With --optimize what `sinter optimize` writes (sizes open still) must give the same
in the runtime, too. The last line says how many did. Needs Python's onnx and numpy.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
from GraphGenerator import Generator
from judge import OnnxRuntime, RandomModels


def other_sizes(generator):
    """Two sets of sizes besides those that the graph was made with."""
    for i in range(2):
        yield {"N": generator.random.choice([1, 2, 3, 4]), "H": generator.random.choice([4, 5, 7, 8, 9, 12]),
               "W": generator.random.choice([4, 5, 6, 7, 10]), "T": generator.random.choice([4, 6, 7, 8])}


def odd_sizes(generator):
    """At most one set of sizes that may not fit."""
    chance = random.Random(f"odd {generator.number}")
    if chance.random() < 2 / 3 and not generator.apart:
        return
    sizes = {"N": chance.choice([1, 2, 3]), "H": chance.choice([1, 2, 3, 5]), "W": chance.choice([1, 2, 3, 4]), "T": chance.choice([1, 2, 3, 6])}
    for symbol in "NHWT":
        # Another input's, where it has a symbol of its own.
        sizes[symbol + "1"] = sizes[symbol] if chance.random() < 0.5 else chance.choice([1, sizes[symbol] + 1, 2 * sizes[symbol]])
    kinds = {node.op_type for node in generator.nodes}
    # The runtime's pools have an element where there is no room for a window, against the operators' formula that rounds down,
    # and what its MeanVarianceNormalization makes of one element is NaN.
    if kinds & {"AveragePool", "MaxPool", "MeanVarianceNormalization"}:
        sizes = {symbol: max(size, 2) for symbol, size in sizes.items()}
    # The text leaves open what a mean of nothing is, and how large what a loop of no rounds gathers. The runtime takes what
    # it joins of no elements for fitting.
    elif chance.random() < 0.1 and not kinds & {"ReduceMean", "ReduceMax", "InstanceNormalization", "LayerNormalization", "Loop", "Scan", "Concat"}:
        sizes[chance.choice("NHWT")] = 0
    yield sizes


# How far results may be from the runtime's, by folder: in bf16 each operator rounds.
TOLERANCES = {"cases": "2e-3", "cases-bf16": "6e-2"}
# What the runtime refuses and the operator's text does not.
RUNTIME_ONLY = ("Pad reflect", "zero effective input extent", "Invalid num_outputs value", "exceeds the remaining size of the selected axis",
                "Invalid dim0_offset of 0. Dimension 0 is 0", "Invalid sequence length", "running ConvInteger node. Name:'' Status Message: Invalid input shape")


def check_refused(sinter, backend, refused, cache):
    """What is wrong with how Sinter takes inputs that the runtime refuses, by case, and how many it refuses, too."""
    failed, agreed, tolerated = {}, 0, collections.Counter()
    for number, (task, each) in enumerate(refused):
        words = [sinter, "run", task.model, "--backend", backend, "--cache-dir", cache, "--threads", "1"]
        for name, array in each.feeds.items():
            path = os.path.join(each.folder, f"{name}.npy")
            np.save(path, array)
            words += ["--input", f"{name}={path}"]
        out = os.path.join(each.folder, backend)
        done = subprocess.run([*words, "--output-dir", out], capture_output=True, text=True, errors="replace")
        case = f"{os.path.basename(task.folder)} of " + " ".join(f"{name} {list(array.shape)}" for name, array in each.feeds.items())
        if done.returncode in (2, 3):
            agreed += 1
        elif done.returncode == 0 and all(np.load(os.path.join(out, name)).size == 0 for name in os.listdir(out)):
            tolerated["no elements"] += 1
        elif done.returncode == 0 and any(text in each.error for text in RUNTIME_ONLY):
            tolerated["a limit of the runtime"] += 1
        else:
            failed[f"{case} #{number}"] = f"exit code {done.returncode} {done.stderr.strip()[-200:]}; the runtime: {each.error[-200:]}"
    return failed, agreed, tolerated


def run_sinter(sinter, backend, folder, tolerance):
    """The reasons of the cases that fail, by folder, those that are there, and the notes on each."""
    done = subprocess.run([sinter, "test", folder, "--backend", backend, "--dynamic", "--sizes", "1", "--json", "--rtol", tolerance, "--atol",
                           tolerance, "--range-atol", tolerance], capture_output=True, text=True)
    failed, seen, notes = {}, set(), {}
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if "case" not in answer:
            continue
        case = os.path.basename(os.path.normpath(answer["case"]))
        seen.add(case)
        notes[case] = answer.get("notes", [])
        if answer["status"] != "passed":
            failed[case] = re.sub(r"\S*model\.onnx: ", "", answer.get("reason", ""))
    return failed, seen, notes, done


def tell_forms(generators):
    """Of which element types and with which dimensions graphs are, and how many operators they have among them."""
    forms = collections.Counter((("bf16" if each.is_bfloat else each.kind), "static" if each.is_static else "dynamic") for each in generators)
    operators = {(node.domain, node.op_type) for each in generators for node in each.nodes}
    print(f"{len(operators)} operators; " + ", ".join(f"{times} {kind} {sizes}" for (kind, sizes), times in sorted(forms.items())))


def tell_open(notes):
    """How many graphs one program computed for all sizes, and why the others were compiled for some."""
    why = collections.Counter()
    for each in notes.values():
        if each:
            text = re.sub(r"\S*model\.onnx: ", "", each[0])
            text = re.sub(r"'(.*/)?([A-Za-z]+)_?\d+'", r"\2", text)
            why[re.sub(r"\d+", "_", text)] += 1
    print(f"cpu: {sum(not each for each in notes.values())} of {len(notes)} by one program for all sizes")
    for reason, times in why.most_common():
        print(f"    {times} x {reason}")


def check_optimized(sinter, tasks):
    """Writes each model anew with its sizes open; what the runtime makes of it must be the same."""
    failed, again = {}, []
    for task in tasks:
        target = os.path.join(task.folder, "optimized.onnx")
        if failure := Command.optimize(sinter, task.model, target):
            failed[task.folder] = failure
            continue
        again.append((task, OnnxRuntime.Task(target, task.feeds, os.path.join(task.folder, "again"))))
    OnnxRuntime.run([after for _, after in again])
    for before, after in again:
        reason = (f"the runtime: {after.error}" if after.error else
                  OnnxRuntime.difference(before.outputs, after.outputs, 2e-3, 2e-3))
        if reason:
            failed[before.folder] = "optimized, " + reason
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    RandomModels.add_options(parser, 200)
    arguments = parser.parse_args()
    folder = arguments.keep or tempfile.mkdtemp()
    generators = {seed: Generator(seed) for seed in RandomModels.seeds(arguments)}
    taken = {}
    for name, is_bfloat in ("cases", False), ("cases-bf16", True):
        group = {seed: each for seed, each in generators.items() if each.is_bfloat == is_bfloat}
        taken.update(RandomModels.ask_runtime(RandomModels.write_cases(os.path.join(folder, name), group, level="disabled")))
    tell_forms([generators[seed] for seed in taken])
    more, unfit = RandomModels.add_sets(taken, {seed: [generators[seed].feeds_of(sizes) for sizes in other_sizes(generators[seed])]
                                                + [generators[seed].feeds_of(sizes) for sizes in odd_sizes(generators[seed])]
                                                for seed in taken})
    print(f"{more} more inputs, of other sizes; {len(unfit)} that do not fit")
    tasks = list(taken.values())
    bad = 0
    for backend in arguments.backend or ["cpu", "interpreter"]:
        failed, seen, notes, missing = {}, set(), {}, 0
        for name, tolerance in TOLERANCES.items():
            count = sum(os.path.dirname(task.folder) == os.path.join(folder, name) for task in tasks)
            if not count:
                continue
            *told, done = run_sinter(arguments.sinter, backend, os.path.join(folder, name), tolerance)
            for whole, part in zip((failed, seen, notes), told):
                whole.update(part)
            if len(told[1]) < count:
                missing += count - len(told[1])
                print(f"{backend}: {count - len(told[1])} cases without an answer: {done.stderr.strip()[-300:]}")
        for case, reason in sorted(failed.items()):
            print(f"FAILED {backend} {case}: {reason}")
        if backend == "cpu":
            tell_open(notes)
        print(f"{backend}: {len(seen) - len(failed)} passed, {len(failed) + missing} failed")
        bad += len(failed) + missing
        failed, agreed, tolerated = check_refused(arguments.sinter, backend, unfit, os.path.join(folder, "cache"))
        for case, reason in sorted(failed.items()):
            print(f"FAILED {backend} {case}: {reason}")
        print(f"{backend}: of {len(unfit)} inputs that do not fit {agreed} refused, {len(failed)} failed; "
              + ", ".join(f"{times} with {what}" for what, times in tolerated.items()), flush=True)
        bad += len(failed)
    if arguments.optimize:
        tasks = [task for task in tasks if os.path.dirname(task.model) == task.folder]
        failed = check_optimized(arguments.sinter, tasks)
        for case, reason in sorted(failed.items()):
            print(f"FAILED optimize {os.path.basename(case)}: {reason}")
        print(f"optimize: {len(tasks) - len(failed)} passed, {len(failed)} failed")
        bad += len(failed)
    if not arguments.keep:
        shutil.rmtree(folder)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
