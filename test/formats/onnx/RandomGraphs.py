#!/usr/bin/python3
"""Random ONNX graphs with symbolic sizes, judged by ONNX Runtime.

  RandomGraphs.py --sinter build/bin/sinter [--count 200] [--seed 1] [--backend cpu --backend interpreter] [--keep DIR]

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

SKIPPED = 77
try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from GraphGenerator import TYPES, Generator
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME_NAMES = {"f32": "float32", "f16": "float16", "f64": "float64", "i64": "int64", "i32": "int32", "bool": "bool"}
NUMPY_OF = {name: TYPES[key][0] for key, name in RUNTIME_NAMES.items()}
NUMPY_OF.update(uint8=np.uint8, int8=np.int8)


def write_case(number, folder):
    generator = Generator(number)
    made = generator.model()
    if made is None:
        return None
    os.makedirs(os.path.join(folder, "test_data_set_0"))
    onnx.save(made, os.path.join(folder, "model.onnx"))
    inputs = []
    for i, (name, (kind, array)) in enumerate(generator.feeds.items()):
        with open(os.path.join(folder, "test_data_set_0", f"input_{i}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())
        raw = os.path.join(folder, f"in_{i}.bin")
        array.tofile(raw)
        inputs.append({"name": name, "type": RUNTIME_NAMES[kind], "dims": list(array.shape), "file": raw})
    return {"model": os.path.join(folder, "model.onnx"), "folder": folder, "inputs": inputs}


def run_runtime(tasks):
    """The answers of ONNX Runtime, one a task."""
    answers = {}
    while tasks:
        text = "".join(json.dumps(task) + "\n" for task in tasks)
        done = subprocess.run(["node", os.path.join(HERE, "RuntimeOutputs.js")], input=text, capture_output=True,
                              text=True)
        for line in done.stdout.splitlines():
            answer = json.loads(line)
            answers[answer["model"]] = answer
        rest = [task for task in tasks if task["model"] not in answers]
        if rest:  # The process died: the first is what killed it.
            answers[rest[0]["model"]] = {"model": rest[0]["model"], "error": "the runtime died"}
        tasks = rest[1:]
    return answers


def read_outputs(answer):
    return [np.fromfile(o["file"], NUMPY_OF[o["type"]]).reshape(o["dims"]) for o in answer["outputs"]]


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


def check_optimized(sinter, tasks, expected):
    """Writes each model anew with its sizes open; what the runtime makes of it must be the same."""
    failed, again = {}, []
    for task in tasks:
        target = os.path.join(task["folder"], "optimized.onnx")
        done = subprocess.run([sinter, "optimize", task["model"], "-o", target], capture_output=True, text=True)
        if done.returncode:
            failed[task["folder"]] = "optimize: " + (done.stderr.strip().splitlines() or ["no word"])[-1]
            continue
        folder = os.path.join(task["folder"], "again")
        os.makedirs(folder, exist_ok=True)
        again.append(dict(task, model=target, folder=folder, origin=task["folder"]))
    answers = run_runtime(again)
    for task in again:
        answer = answers[task["model"]]
        if "error" in answer:
            failed[task["origin"]] = "optimized, the runtime: " + answer["error"]
            continue
        for mine, theirs in zip(read_outputs(answer), expected[task["origin"]]):
            close = mine.shape == theirs.shape and np.allclose(
                mine.astype(np.float64), theirs.astype(np.float64), rtol=2e-3,
                atol=2e-3 * max(1.0, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0))), equal_nan=True)
            if not close:
                failed[task["origin"]] = "optimized: other values"
    return failed, len(again)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", action="append")
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--keep", help="where the graphs stay")
    arguments = parser.parse_args()
    bench = os.environ.get("BENCH") or os.path.join(HERE, "../../../bench")
    if not os.path.isdir(os.path.join(bench, "node_modules", "onnxruntime-node")):
        print("skipped: no onnxruntime-node; npm install in bench/, or say where with BENCH")
        sys.exit(SKIPPED)
    folder = arguments.keep or tempfile.mkdtemp()
    cases, tasks = os.path.join(folder, "cases"), []
    shutil.rmtree(cases, ignore_errors=True)
    for number in range(arguments.count):
        seed = arguments.seed * 1_000_003 + number
        task = write_case(seed, os.path.join(cases, f"g{seed}"))
        if task:
            tasks.append(task)
    answers = run_runtime(tasks)
    refused, expected = collections.Counter(), {}
    for task in tasks:
        answer = answers[task["model"]]
        if "error" in answer:
            refused[re.sub(r"'[^']*'|\d+", "_", answer["error"])[:110]] += 1
            shutil.rmtree(task["folder"])
            continue
        expected[task["folder"]] = read_outputs(answer)
        for i, (array, output) in enumerate(zip(expected[task["folder"]], answer["outputs"])):
            with open(os.path.join(task["folder"], "test_data_set_0", f"output_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(array, output["name"]).SerializeToString())
    tasks = [task for task in tasks if task["folder"] in expected]
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
        failed, count = check_optimized(arguments.sinter, tasks, expected)
        for case, reason in sorted(failed.items()):
            print(f"FAILED optimize {os.path.basename(case)}: {reason}")
        print(f"optimize: {len(tasks) - len(failed)} passed, {len(failed)} failed")
        bad += len(failed)
    if not arguments.keep:
        shutil.rmtree(folder)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
