#!/usr/bin/env python3
# Covers: formats/stablehlo StablehloWriter
"""ONNX nodes whose sizes are unknown, written as StableHLO, must run with the same values.

  DynamicNodes.py --sinter build/bin/sinter [--filter NAME] [--backend interpreter --backend cpu] [--update] [--jobs 2] [--every K] [--start I]

Of each of ONNX's node tests (Debian: libonnx-testdata) every dimension of every input gets a symbol of its own, and the
declared sizes of everything else go. `sinter convert` writes that as text and as a portable artifact. Both may hold
operations of public dialects only, and `sinter test` runs the text on the first backend and the artifact on the second with
the case's inputs against the case's outputs. The length of a list stays where it says the rank of a result (the shape of a
Reshape, the last dimension of GatherND's indices): StableHLO has no tensors of unknown rank. What says which dimensions are
meant, and whether something is done at all, is a constant with the case's value: StableHLO has attributes for it.

What cannot be written stands in open-nodes.txt beside this script, a case a line, with the reason; such a case must still
be refused, so that the list stays true, and `--update` rewrites it. `--every` takes one in K of each operator's cases. A case that does not even run as it is, by
test/conformance/missing-<backend>.txt, is left out. Needs Python's onnx; without it, it says so and ends with 77.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import onnx
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(HERE, "../../conformance")
LIST = os.path.join(HERE, "open-nodes.txt")
CASES = "/usr/share/libonnx-testdata/data/node"
PORTABLE = {"stablehlo", "chlo", "func", "builtin"}
OPERATION = re.compile(r'^\s*(?:%[\w:#]+(?:, %[\w:#]+)* = )?"?([a-z]\w*)\.(?:[a-z]\w*)"?[ (<@]', re.MULTILINE)
CALL = re.compile(r"custom_call @(\S+?)\(")
TIMEOUT_S = 120
BATCH = 40
# Inputs that are of one dimension, and of which the last dimension is how many dimensions something else has.
RANKS = {"GatherND": [1], "ScatterND": [1], "ConstantOfShape": [0]}
# Inputs that StableHLO's operations have as attributes.
ATTRIBUTES = {"Unsqueeze": [1], "Squeeze": [1], "Slice": [3, 4], "CumSum": [1], "Dropout": [2], "DFT": [2], "Pad": [3],
              **{"Reduce" + name: [1] for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum",
                                                   "SumSquare")}}


def open_sizes(model):
    """Every dimension of every input becomes a symbol, in place."""
    graph = model.graph
    ranks = {node.input[i] for node in graph.node for i in RANKS.get(node.op_type, []) if i < len(node.input)}
    for number, each in enumerate(graph.input):
        if not each.type.HasField("tensor_type"):
            continue
        dims = each.type.tensor_type.shape.dim
        is_list = len(dims) == 1 and number > 0
        for place, dim in enumerate(dims):
            if is_list or (each.name in ranks and place == len(dims) - 1):
                continue
            dim.dim_param = f"d{number}_{place}"
    del graph.value_info[:]
    for each in graph.output:
        if each.type.HasField("tensor_type"):
            for dim in each.type.tensor_type.shape.dim:
                dim.Clear()


def bind_attributes(model, case):
    """Makes constants of ATTRIBUTES in place; the numbers of the inputs that are left."""
    graph = model.graph
    bound = {node.input[i] for node in graph.node for i in ATTRIBUTES.get(node.op_type, []) if i < len(node.input)}
    left = []
    for number, each in enumerate(list(graph.input)):
        if each.name not in bound:
            left.append(number)
            continue
        tensor = onnx.load_tensor(os.path.join(CASES, case, "test_data_set_0", f"input_{number}.pb"))
        tensor.name = each.name
        graph.initializer.append(tensor)
        graph.input.remove(each)
    return left


def link_data(case, left, target):
    """The case's data sets in TARGET, with the inputs LEFT."""
    for each in os.listdir(os.path.join(CASES, case)):
        if not each.startswith("test_data_set_"):
            continue
        os.makedirs(os.path.join(target, each))
        for file in os.listdir(os.path.join(CASES, case, each)):
            name = file
            if file.startswith("input_"):
                number = int(file[len("input_") : -len(".pb")])
                if number not in left:
                    continue
                name = f"input_{left.index(number)}.pb"
            os.symlink(os.path.join(CASES, case, each, file), os.path.join(target, each, name))


def of_tensors(case):
    """Whether a case takes and gives nothing but tensors."""
    path = os.path.join(CASES, case, "model.onnx")
    if not os.path.exists(path):
        return False
    graph = onnx.load(path).graph
    return all(each.type.HasField("tensor_type") for each in [*graph.input, *graph.output])


def strange(text):
    """The dialects and calls of a program that other tools do not know."""
    calls = {f"custom_call @{name}" for name in CALL.findall(text)}
    return sorted((set(OPERATION.findall(text)) - PORTABLE) | calls)


def write(sinter, case, folder):
    """Writes a case in both forms below FOLDER; None, or why it could not be."""
    model = onnx.load(os.path.join(CASES, case, "model.onnx"))
    left = bind_attributes(model, case)
    open_sizes(model)
    made = os.path.join(folder, "onnx", case)
    os.makedirs(made)
    source = os.path.join(made, "open.onnx")
    onnx.save(model, source)
    for form, name in (("text", "model.mlir"), ("artifact", "model.mlir.bc")):
        target = os.path.join(folder, form, case)
        os.makedirs(target)
        link_data(case, left, target)
        try:
            done = subprocess.run([sinter, "convert", source, "-o", os.path.join(target, name)], capture_output=True,
                                  text=True, errors="replace", timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"exit code none: {form}: no end after {TIMEOUT_S} s"
        if done.returncode != 0:
            reason = done.stderr.strip().replace(source + ": ", "")
            reason = reason[max(reason.find("error:"), 0) :]  # without the notes
            return reason if done.returncode == 4 else f"exit code {done.returncode}: {reason}"
    with open(os.path.join(folder, "text", case, "model.mlir")) as file:
        found = strange(file.read())
    return "exit code 0, but holds " + ", ".join(found) if found else None


def run(sinter, backend, folders, options=()):
    """The answers of `sinter test`: {case: None or why it failed}."""
    command = [sinter, "test", "--backend", backend, "--threads", "1", "--sizes", "1", "--json", *options, *folders]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10 * TIMEOUT_S)
    answers = {os.path.basename(folder): f"no answer: {done.stderr.strip()[-200:]}" for folder in folders}
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict) and "case" in answer:
            passed = answer["status"] == "passed"
            reason = None if passed else answer.get("reason", "").replace(os.path.normpath(answer["case"]) + os.sep, "")
            answers[os.path.basename(os.path.normpath(answer["case"]))] = reason
    return answers


def listed_in(path):
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        return {os.path.basename(line.split()[0]) for line in file if line.strip() and not line.startswith("#")}


def some_of(cases, every, start):
    """One in EVERY of the cases of each operator, at least one; the first of them is number START, modulo EVERY."""
    of_operator = collections.defaultdict(list)
    for case in cases:
        of_operator[onnx.load(os.path.join(CASES, case, "model.onnx")).graph.node[0].op_type].append(case)
    chosen = set().union(*(each[start % min(every, len(each)) :: every] for each in of_operator.values()))
    return [case for case in cases if case in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--backend", action="append", help="of the text, and of the artifact")
    parser.add_argument("--update", action="store_true", help="rewrite the list")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="where the programs stay")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.update and (arguments.every > 1 or arguments.filter):
        parser.error("--update takes all cases")
    if not os.path.isdir(CASES):
        print(f"skipped: no {CASES}; install libonnx-testdata")
        sys.exit(SKIPPED)
    backends = (arguments.backend or ["interpreter", "cpu"]) * 2
    missing = set().union(*(listed_in(os.path.join(CONFORMANCE, f"missing-{each}.txt")) for each in backends))
    # What a program takes and gives are tensors.
    cases = sorted(case for case in os.listdir(CASES) if arguments.filter in case and case not in missing
                   and of_tensors(case))
    cases = some_of(cases, arguments.every, arguments.start)
    folder = arguments.keep or tempfile.mkdtemp()
    shutil.rmtree(folder, ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        refused = dict(zip(cases, pool.map(lambda case: write(arguments.sinter, case, folder), cases)))
        written = [case for case in cases if refused[case] is None]
        failed = {case: reason for case, reason in refused.items() if reason and reason.startswith("exit code")}
        tasks = [(backend, [os.path.join(folder, form, case) for case in written[i : i + BATCH]])
                 for form, backend in zip(("text", "artifact"), backends) for i in range(0, len(written), BATCH)]
        for (backend, _), answers in zip(tasks, pool.map(lambda task: run(arguments.sinter, *task), tasks)):
            failed.update({case: f"{backend}: {why}" for case, why in answers.items() if why})
    refused = {case: why for case, why in refused.items() if why and case not in failed}
    if arguments.update:
        with open(LIST, "w") as file:
            file.write("# ONNX's node tests that have no StableHLO form while their sizes are unknown: DynamicNodes.py --update.\n")
            file.writelines(f"{case}  {' '.join(why.split())[:160]}\n" for case, why in sorted(refused.items()))
    listed = {case for case in listed_in(LIST) if arguments.filter in case}
    for case in sorted(set(refused) - listed):
        failed[case] = refused[case]
    for case in sorted(listed - set(refused) - set(failed)):
        if case in cases:
            failed[case] = "is written, but stands in the list"
    for case, why in sorted(failed.items()):
        print(f"FAILED {case}: {why}")
    print(f"{len(written)} of {len(cases)} cases are written, {len(refused)} are refused")
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    if not arguments.keep:
        shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
