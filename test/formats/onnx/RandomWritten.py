#!/usr/bin/env python3
"""Optimises random ONNX graphs and has ONNX Runtime judge what was written.

  RandomWritten.py --sinter build/bin/sinter [--count 200] [--first 0] [--keep DIR]

Each number makes the same graph, of operators from a broad table over random
shapes; in a third of them the first dimension is unknown, and some compute in
f16, i64 or i32. What `sinter optimize` writes must pass onnx.checker, hold no
more nodes than the original and no initializer that nothing reads, have the
same inputs and outputs, and give the same outputs. Graphs that the runtime
refuses as they are count as skipped. With --keep, what failed stays in DIR.

Needs Python's onnx and numpy (Debian: python3-onnx), node and onnxruntime-node
(npm install in bench/); without them it says so and ends with 77.
"""
import argparse
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import onnx
from WrittenGraphs import Graph
from judge import OnnxRuntime

# Graphs that come back with more nodes, and why. Each must, so that the list stays true.
KNOWN = {
    120: "a piece of a Split that lies in one part of a Concat is sliced from that part, and the other pieces become slices, too",
}


def all_nodes(graph):
    return sum(1 + sum(all_nodes(a.g) for a in node.attribute if a.HasField("g")) for node in graph.node
               if node.op_type != "Constant")


def judge_file(model, path):
    """What is wrong with the written file itself, or None."""
    written = onnx.load(path)
    try:
        # Given a path, it would write what it infers into the file.
        onnx.checker.check_model(written, full_check=True)
    except Exception as error:  # The checker raises errors of several kinds.
        return "onnx.checker: " + str(error).splitlines()[0]
    before, after = all_nodes(model.graph), all_nodes(written.graph)
    if after > before:
        return (f"{before} -> {after} nodes: " + " ".join(node.op_type for node in model.graph.node) + " -> " +
                " ".join(node.op_type for node in written.graph.node))
    read = {name for node in written.graph.node for name in node.input} | {each.name for each in written.graph.output}
    for each in written.graph.initializer:
        if each.name not in read:
            return f"initializer '{each.name}' is not used"
    for mine, other in ((model.graph.input, written.graph.input), (model.graph.output, written.graph.output)):
        if [each.SerializeToString() for each in mine] != [each.SerializeToString() for each in other]:
            names = [(a.name, b.name) for a, b in zip(mine, other) if a != b]
            return f"inputs or outputs are declared otherwise: {names[:3]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", help="a folder for what failed")
    options = parser.parse_args()
    failures, skipped = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        jobs, models = {}, {}
        for number in range(options.first, options.first + options.count):
            model, values = Graph(number).build()
            path = os.path.join(folder, f"{number}.onnx")
            written = os.path.join(folder, f"{number}.written.onnx")
            onnx.save(model, path)
            models[number] = model
            reason = Command.optimize(options.sinter, path, written) or judge_file(model, written)
            if reason:
                failures[number] = reason
            for kind in ["onnx", "written.onnx"]:
                file = os.path.join(folder, f"{number}.{kind}")
                if os.path.exists(file):
                    jobs[number, kind] = OnnxRuntime.Task(file, dict(values), file + ".run")
        OnnxRuntime.run(jobs.values())
        for number in models:
            before, after = jobs[number, "onnx"], jobs.get((number, "written.onnx"))
            if before.error:
                skipped += 1
                failures.pop(number, None)
                continue
            if not after:
                continue
            reason = (f"the runtime refuses it: {after.error}" if after.error else
                      OnnxRuntime.difference(before.outputs, after.outputs))
            if reason:
                failures[number] = reason
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
            for number in failures:
                for kind in ["onnx", "written.onnx"]:
                    if os.path.exists(os.path.join(folder, f"{number}.{kind}")):
                        shutil.copy(os.path.join(folder, f"{number}.{kind}"), options.keep)
    for number in sorted(KNOWN.keys() & models.keys()):
        if failures.pop(number, None) is None:
            failures[number] = "is what it should be now: take it off the list of known ones"
    for number, reason in sorted(failures.items()):
        print(f"graph {number}: {reason}")
    print(f"{options.count - skipped - len(failures)} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures or skipped > options.count // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
