#!/usr/bin/env python3
"""Nodes that are not what their operators ask for: each is refused in one line, or read, and nothing crashes.

  BrokenNodes.py --tool build/bin/import-cases --operators build/bin/onnx-operators [--filter TEXT] [--keep DIR]
                 [--runner 'valgrind -q --error-exitcode=9']

For every operator that is known, over inputs of several ranks: inputs that are
absent, one by one and together; inputs that are a sequence, an optional, strings
or truth values; too few and too many inputs and outputs; attributes of another
kind. What is refused must be so as a command would with exit code 3 or 4, and
name the file. Reading to run and reading to write again are both tried.

Needs Python's onnx (Debian: python3-onnx); without it, it says so and ends with
77.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages

Packages.skip_without()
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, I64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
SHAPES = {0: [], 1: [3], 2: [2, 3], 4: [1, 2, 4, 4]}


def operators(tool):
    """(domain, operator, version, least and most inputs) of every operator that is known."""
    page = subprocess.run([tool], stdout=subprocess.PIPE, text=True, check=True).stdout
    for domain, name, version, inputs in re.findall(r"^\| ([\w.]+) \| (\w+) \| (\d+) \| ([^|]+) \|", page, re.M):
        numbers = [int(each) for each in re.findall(r"\d+", inputs)]
        most = numbers[0] + 3 if "or more" in inputs else numbers[-1]
        yield ("" if domain == "ai.onnx" else domain), name, int(version), numbers[0], most


def attributes(domain, name, version):
    """Values for the attributes that the operator has to have."""
    body = helper.make_graph([helper.make_node("Identity", ["gx"], ["gy"])], "body",
                             [helper.make_tensor_value_info("gx", FLOAT, None)],
                             [helper.make_tensor_value_info("gy", FLOAT, None)])
    branch = helper.make_graph([helper.make_node("Constant", [], ["gy"], value_float=1.0)], "branch", [],
                               [helper.make_tensor_value_info("gy", FLOAT, None)])
    kinds = onnx.defs.OpSchema.AttrType
    values = {kinds.INT: 1, kinds.INTS: [1, 1], kinds.FLOAT: 1.0, kinds.FLOATS: [1.0], kinds.STRING: "linear",
              kinds.STRINGS: ["tanh"], kinds.TENSOR: numpy_helper.from_array(np.array([1], np.float32)),
              kinds.GRAPH: branch if name == "If" else body}
    try:
        schema = onnx.defs.get_schema(name, version, domain)
    except onnx.defs.SchemaError:
        return {}
    given = {each.name: values[each.type] for each in schema.attributes.values() if each.required}
    if name == "Cast":
        given["to"] = FLOAT
    if name == "Constant":
        given["value_float"] = 1.0
    return given


def value_info(name, kind, shape):
    if kind == "sequence":
        return helper.make_tensor_sequence_value_info(name, FLOAT, shape)
    if kind == "optional":
        return helper.make_value_info(name, helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, shape)))
    if kind == "unranked":
        return helper.make_tensor_value_info(name, FLOAT, None)
    return helper.make_tensor_value_info(name, kind, shape)


def model(domain, name, version, inputs, outputs, given):
    """A node with `inputs`, each a kind and a shape, or None."""
    names = ["" if each is None else f"in{i}" for i, each in enumerate(inputs)]
    node = helper.make_node(name, names, outputs, name="broken", domain=domain, **given)
    if name == "Cast" and "to" not in given:
        node.attribute.append(helper.make_attribute("to", FLOAT))
    graph = helper.make_graph([node], "g", [value_info(each, *kind) for each, kind in zip(names, inputs) if each],
                              [helper.make_tensor_value_info(each, FLOAT, None) for each in outputs if each])
    imports = [helper.make_opsetid("", version if not domain else 17)]
    if domain:
        imports.append(helper.make_opsetid(domain, version))
    made = helper.make_model(graph, opset_imports=imports)
    made.ir_version = 8
    return made


def cases(least, most):
    """(label, inputs, outputs) of the nodes that are tried."""
    most = min(most, least + 6, 12)
    for rank, shape in SHAPES.items():
        good = [(FLOAT, shape)] * most
        yield f"rank{rank}", good, ["out0"]
        yield f"rank{rank}-least", good[:least], ["out0"]
        for i in range(most):
            yield f"rank{rank}-without{i}", [None if i == k else each for k, each in enumerate(good)], ["out0"]
    for rank in (1, 2):
        good = [(FLOAT, SHAPES[rank])] * most
        yield f"rank{rank}-none", [None] * most, ["out0"]
        for i in range(most):
            for kind in ("sequence", "optional", "unranked", STRING, BOOL, I64):
                yield f"rank{rank}-{kind}{i}", [(kind, SHAPES[rank]) if i == k else each for k, each in enumerate(good)], ["out0"]
        for kind in ("sequence", "optional", STRING, BOOL, I64):
            yield f"rank{rank}-all-{kind}", [(kind, SHAPES[rank])] * most, ["out0"]
    good = [(FLOAT, SHAPES[4])] * most
    yield "open", [(FLOAT, ["a", "b", "c", "d"])] * most, ["out0"]
    for count in range(least):
        yield f"only{count}", good[:count], ["out0"]
    yield "more", good + [(FLOAT, [2])] * 3, ["out0"]
    yield "no-output", good, []
    yield "absent-output", good, ["", "out1"]
    yield "many-outputs", good, [f"out{i}" for i in range(9)]


def write_all(options, folder):
    """How many models there are."""
    count = 0
    for domain, name, since, least, most in operators(options.operators):
        if options.filter not in name:
            continue
        try:
            newest = onnx.defs.get_schema(name, 17, domain).since_version if not domain else since
        except onnx.defs.SchemaError:
            newest = since
        version = max(since, newest)
        given = attributes(domain, name, version)
        variants = [(label, inputs, outputs, given) for label, inputs, outputs in cases(least, most)]
        usual = [(FLOAT, SHAPES[2])] * max(least, 1)
        for each in given:
            variants.append((f"without-{each}", usual, ["out0"], {k: v for k, v in given.items() if k != each}))
            variants.append((f"string-{each}", usual, ["out0"], {**given, each: "nonsense"}))
            variants.append((f"negative-{each}", usual, ["out0"], {**given, each: [-9, 1 << 62]}))
        for label, inputs, outputs, values in variants:
            path = os.path.join(folder, f"{domain}.{name}", label)
            os.makedirs(path)
            onnx.save(model(domain, name, version, inputs, outputs, values), os.path.join(path, "model.onnx"))
            count += 1
    return count


def judge(line, folder):
    """What is wrong with what was said, or None."""
    path, code, message = (line.split("\t") + ["", ""])[:3]
    if code == "0":
        return None
    if code not in ("3", "4"):
        return f"exit code {code}: {message}"
    if not message.startswith(path + ": ") or len(message) <= len(path) + 4:
        return f"says only: {message}"
    return None


def read_all(command, folder):
    """Failures by case, and how many cases were read or refused as they should be."""
    failures, counts = {}, {"0": 0, "3": 0, "4": 0}
    rest = sorted(os.path.join(folder, each) for each in os.listdir(folder))
    while rest:
        done = subprocess.run(command + rest, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [line for line in done.stdout.splitlines() if "\t" in line]
        for line in lines:
            reason = judge(line, folder)
            if reason:
                failures[os.path.relpath(os.path.dirname(line.split("\t")[0]), folder)] = reason
            else:
                counts[line.split("\t")[1]] += 1
        if len(lines) < len(done.stdout.splitlines()):
            failures.setdefault("(all)", "a message has several lines: " +
                                [line for line in done.stdout.splitlines() if "\t" not in line][0])
        if done.returncode == 0:
            break
        # It died: the next one is why. Go on behind it.
        seen = {line.split("\t")[0] for line in lines}
        ahead = [os.path.join(root, "model.onnx") for start in rest for root, _, files in sorted(os.walk(start))
                 if "model.onnx" in files]
        ahead = [each for each in sorted(ahead) if each not in seen]
        if not ahead:
            failures["(all)"] = f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
            break
        where = os.path.relpath(os.path.dirname(ahead[0]), folder)
        failures[where] = f"crashed ({done.returncode}): " + " ".join(done.stderr.split())[:300]
        rest = ahead[1:]
    return failures, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--operators", required=True)
    parser.add_argument("--filter", default="", help="only operators whose name holds this")
    parser.add_argument("--runner", default="", help="what runs the tool")
    parser.add_argument("--keep", help="a folder for the models, which stay there")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        count = write_all(options, folder)
        for extra in ([], ["--to-write"]):
            failures, counts = read_all(shlex.split(options.runner) + [options.tool, "--list"] + extra, folder)
            for name, reason in sorted(failures.items()):
                print(f"{' '.join(extra)} {name}: {reason}".strip())
            print(f"{count} nodes {' '.join(extra)}: {counts['0']} read, {counts['3']} not valid, {counts['4']} not supported, "
                  f"{len(failures)} failed")
            bad += len(failures)
            # All would be refused if the models were not what they are meant to be.
            bad += not (counts["0"] and counts["3"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
