#!/usr/bin/python3
"""Random ONNX graphs with symbolic sizes, judged by ONNX Runtime.

  RandomGraphs.py --sinter build/bin/sinter [--count 200] [--seed 1] [--first 0] [--backend cpu --backend interpreter] [--keep DIR]

Graph i depends on the seed and i alone. Each is run by onnxruntime-node (npm install in bench/) on random inputs; what
that refuses is left out. `sinter test` must give the same values on every backend, and with --optimize what
`sinter optimize` writes (sizes open still) must do so in the runtime, too. The last line says how many did. Needs
Python's onnx and numpy.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from GraphGenerator import Generator
from judge import OnnxRuntime
from onnx import numpy_helper


def write_case(number, folder):
    """A graph in ONNX test form, without its outputs yet, as a task for the runtime."""
    generator = Generator(number)
    made = generator.model()
    if made is None:
        return None
    os.makedirs(os.path.join(folder, "test_data_set_0"))
    onnx.save(made, os.path.join(folder, "model.onnx"))
    feeds = {name: array for name, (_, array) in generator.feeds.items()}
    for i, (name, array) in enumerate(feeds.items()):
        with open(os.path.join(folder, "test_data_set_0", f"input_{i}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())
    return OnnxRuntime.Task(os.path.join(folder, "model.onnx"), feeds, folder)


def run_sinter(sinter, backend, folder):
    """The reasons of the cases that fail, by folder."""
    done = subprocess.run([sinter, "test", folder, "--backend", backend, "--json", "--rtol", "2e-3", "--atol", "2e-3",
                           "--range-atol", "2e-3"], capture_output=True, text=True)
    failed, seen = {}, set()
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if "case" not in answer:
            continue
        case = os.path.basename(os.path.normpath(answer["case"]))
        seen.add(case)
        if answer["status"] != "passed":
            failed[case] = re.sub(r"\S*model\.onnx: ", "", answer.get("reason", ""))
    return failed, seen, done


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
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first graph")
    parser.add_argument("--backend", action="append")
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--keep", help="where the graphs stay")
    arguments = parser.parse_args()
    folder = arguments.keep or tempfile.mkdtemp()
    cases, tasks = os.path.join(folder, "cases"), []
    shutil.rmtree(cases, ignore_errors=True)
    for number in range(arguments.first, arguments.first + arguments.count):
        seed = arguments.seed * 1_000_003 + number
        task = write_case(seed, os.path.join(cases, f"g{seed}"))
        if task:
            tasks.append(task)
    OnnxRuntime.run(tasks)
    refused = collections.Counter()
    for task in tasks:
        if task.error:
            refused[re.sub(r"'[^']*'|\d+", "_", task.error)[:110]] += 1
            shutil.rmtree(task.folder)
            continue
        for i, (name, array) in enumerate(task.outputs.items()):
            with open(os.path.join(task.folder, "test_data_set_0", f"output_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(array, name).SerializeToString())
    tasks = [task for task in tasks if not task.error]
    print(f"{len(tasks)} graphs; the runtime refused {sum(refused.values())}")
    for reason, times in refused.most_common(8):
        print(f"    {times} x {reason}")
    bad = 0
    for backend in arguments.backend or ["cpu", "interpreter"]:
        failed, seen, done = run_sinter(arguments.sinter, backend, cases)
        missing = len(tasks) - len(seen)
        if missing:
            print(f"{backend}: {missing} cases without an answer: {done.stderr.strip()[-300:]}")
        for case, reason in sorted(failed.items()):
            print(f"FAILED {backend} {case}: {reason}")
        print(f"{backend}: {len(seen) - len(failed)} passed, {len(failed) + missing} failed")
        bad += len(failed) + missing
    if arguments.optimize:
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
