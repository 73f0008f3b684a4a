#!/usr/bin/env python3
# Covers: formats/onnx ImportHeader ImportRecords ImportSignature Importer KnownForms LoopSize NodeContext NodeGroups
# Covers: formats/onnx OnnxFormat DynamicTypes Operators
"""Optimises every model of one node below a folder: the node must come back.

  SingleNodes.py --sinter build/bin/sinter [FOLDER]

FOLDER is that of ONNX's node tests (Debian: libonnx-testdata). The written model
has to hold the same node - operator, attributes, the names of what it reads and
gives -, the same operator sets, and the same inputs and outputs as they were
declared. What is simplified instead is in the table below, with the reason.

Needs Python's onnx (Debian: python3-onnx); without it, it says so and ends with
77.
"""
import argparse
import concurrent.futures
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without()
import onnx
from judge.OnnxGraphs import without_constants

# The operators that may be written as others, and why.
SIMPLIFIED = {
    "CastLike": (["Cast"], "the type that it takes from its second input is known"),
    "If": (["Where"], "both branches are constants"),
}
# These change nothing or follow from constants and declared sizes: what is left
# of them is a name.
NOTHING_LEFT = ["Clip", "Constant", "ConstantOfShape", "Dropout", "EyeLike", "Identity", "Max", "Mean", "Min", "Shape",
                "Size", "StringNormalizer", "Sum", "Transpose"]


def attributes(graph):
    node = (without_constants(graph).node or graph.node)[0]
    return sorted(each.SerializeToString() for each in node.attribute)


def imports(model):
    return sorted((each.domain, each.version) for each in model.opset_import)


def difference(before, after):
    """What is not as it was, in words, or None."""
    if imports(before) != imports(after):
        return f"operator sets {imports(before)} became {imports(after)}"
    for kind in ("input", "output"):
        mine, other = getattr(before.graph, kind), getattr(after.graph, kind)
        if [each.SerializeToString() for each in mine] != [each.SerializeToString() for each in other]:
            return f"the {kind}s are declared otherwise"
    node = before.graph.node[0]
    # What a Constant of the file gave is given by one again.
    left = [each for each in after.graph.node if each.op_type != "Constant"]
    written = [each.op_type for each in left]
    if len(written) == 1 and written[0] == node.op_type:
        same = left[0]
        if attributes(after.graph) != attributes(before.graph):
            return "the attributes are not what they were"
        if list(same.input) != list(node.input) or list(same.output) != list(node.output):
            return f"reads {list(same.input)} and gives {list(same.output)}"
        return None
    if written == SIMPLIFIED.get(node.op_type, (None,))[0]:
        return None
    if node.op_type in NOTHING_LEFT and all(each == "Identity" for each in written):
        return None
    return f"{node.op_type} became {' '.join(written)[:100]}"


def check(sinter, path, target):
    """None for what has several nodes, else the reason of failure or ""."""
    before = onnx.load(path)
    if len(before.graph.node) != 1:
        return None
    if failure := Command.optimize(sinter, path, target):
        return failure
    after = onnx.load(target)
    return difference(before, after) or ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="/usr/share/libonnx-testdata/data/node")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only cases whose name holds this")
    options = parser.parse_args()
    if not os.path.isdir(options.folder):
        print(f"skipped: {options.folder} is not there (Debian: libonnx-testdata)")
        return Packages.SKIPPED
    names = sorted(name for name in os.listdir(options.folder)
                   if options.filter in name and os.path.exists(os.path.join(options.folder, name, "model.onnx")))
    with tempfile.TemporaryDirectory() as target, concurrent.futures.ThreadPoolExecutor(2) as pool:
        reasons = pool.map(lambda name: check(options.sinter, os.path.join(options.folder, name, "model.onnx"),
                                              os.path.join(target, name + ".onnx")), names)
        results = [(name, reason) for name, reason in zip(names, reasons) if reason is not None]
    failed = [(name, reason) for name, reason in results if reason]
    for name, reason in failed:
        print(f"{name}: {reason}")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
