#!/usr/bin/env python3
"""Nodes that are valid but for a thing or two: each is read or refused in one line, and nothing crashes.

  BrokenVariants.py --tool build/bin/import-cases [--count N] [--seed S] [--filter TEXT] [--keep DIR] [--runner RUNNER]

The nodes are the random variants of ONNX Runtime's operators and ONNX's own test cases of one node, N of each. In each, an
input loses or gains a dimension, has one of another size, zero among them, has unknown sizes or no known shape, has another
element type, becomes a constant or an input, or is absent; or an attribute has another value or is absent; or an output is
more or less. What is refused must be so as BrokenNodes.py asks.

Needs Python's onnx (Debian: python3-onnx) and, for ONNX's cases, libonnx-testdata; without onnx, it says so and ends with 77.
"""
import argparse
import os
import shlex
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages

Packages.skip_without()
import numpy as np
import onnx
from BrokenNodes import read_all
from LayerVariants import FAMILIES as LAYERS
from onnx import TensorProto, numpy_helper
from onnx.mapping import TENSOR_TYPE_TO_NP_TYPE
from QuantizedVariants import FAMILIES as QUANTIZED
from RuntimeVariants import FAMILIES as ATTENTIONS
from RuntimeVariants import model
from SearchVariants import FAMILIES as SEARCHES
from SearchVariants import search

CASES = "/usr/share/libonnx-testdata/data/node"
TYPES = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32,
         TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING, TensorProto.COMPLEX64]
SIZES = [0, 1, 2, 3, 5, 16, 1 << 33]
NUMBERS = [0, 1, -1, 2, 3, 8, 17, 1 << 20, 1 << 40, (1 << 63) - 1, -(1 << 63)]
MOST_ELEMENTS = 1 << 16


class Breaker:
    """Changes a model of one node."""

    def __init__(self, proto, random):
        self.graph, self.random = proto.graph, random
        self.node = proto.graph.node[0]

    def one_of(self, values):
        return values[self.random.integers(len(values))]

    def apply(self):
        for _ in range(self.random.integers(1, 3)):
            change = self.one_of([self.change_shape, self.change_shape, self.change_shape, self.change_type, self.change_input,
                                  self.drop_input, self.change_attribute, self.change_attribute, self.change_outputs])
            change()

    def input(self):
        """An input of the node: its index; the graph's input or initializer for it, either of which may be None."""
        if not self.node.input:
            return -1, None, None
        index = int(self.random.integers(len(self.node.input)))
        name = self.node.input[index]
        declared = [each for each in self.graph.input if each.name == name and each.type.HasField("tensor_type")]
        constants = [each for each in self.graph.initializer if each.name == name]
        return index, declared[0] if declared else None, constants[0] if constants else None

    def fill(self, tensor, shape, kind):
        """Makes TENSOR another constant, of random numbers."""
        if kind == TensorProto.STRING:
            array = np.full(shape, "text", object)
        else:
            array = self.random.integers(-2, 5, shape).astype(TENSOR_TYPE_TO_NP_TYPE[kind])
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))

    def other_shape(self, shape):
        shape = list(shape)
        form = self.one_of(["less", "more", "size", "size", "scalar"])
        at = int(self.random.integers(len(shape))) if shape else 0
        if form == "less" and shape:
            del shape[at]
        elif form == "more":
            shape.insert(at, self.one_of([1, 1, 2]))
        elif form == "size" and shape:
            shape[at] = self.one_of(SIZES)
        elif form == "scalar":
            shape = []
        return shape

    def change_shape(self):
        _, declared, constant = self.input()
        if constant is not None:
            shape = self.other_shape(constant.dims)
            if np.prod(shape, dtype=object) <= MOST_ELEMENTS:
                self.fill(constant, shape, constant.data_type)
        elif declared is not None:
            tensor = declared.type.tensor_type
            form = self.one_of(["shape"] * 4 + ["unknown", "unranked"])
            if form == "unranked":
                tensor.ClearField("shape")
            elif form == "unknown":
                for i, dim in enumerate(tensor.shape.dim):
                    dim.dim_param = f"{declared.name}_{i}"
            else:
                shape = self.other_shape([each.dim_value if each.HasField("dim_value") else each.dim_param for each in tensor.shape.dim])
                declared.CopyFrom(onnx.helper.make_tensor_value_info(declared.name, tensor.elem_type, shape))

    def change_type(self):
        _, declared, constant = self.input()
        kind = self.one_of(TYPES)
        if constant is not None:
            self.fill(constant, list(constant.dims), kind)
        elif declared is not None:
            declared.type.tensor_type.elem_type = kind

    def change_input(self):
        """A constant becomes an input, or an input a constant."""
        _, declared, constant = self.input()
        if constant is not None:
            self.graph.input.append(onnx.helper.make_tensor_value_info(constant.name, constant.data_type, list(constant.dims)))
            self.graph.initializer.remove(constant)
        elif declared is not None:
            tensor = declared.type.tensor_type
            shape = [each.dim_value or 1 for each in tensor.shape.dim]
            if tensor.elem_type in TENSOR_TYPE_TO_NP_TYPE and np.prod(shape, dtype=object) <= MOST_ELEMENTS:
                self.fill(self.graph.initializer.add(name=declared.name), shape, tensor.elem_type)

    def drop_input(self):
        index, _, _ = self.input()
        if index >= 0:
            self.node.input[index] = ""

    def change_attribute(self):
        if not self.node.attribute:
            return
        attribute = self.one_of(self.node.attribute)
        kinds = onnx.AttributeProto
        if self.random.random() < 0.2:
            self.node.attribute.remove(attribute)
        elif attribute.type == kinds.INT:
            attribute.i = int(self.one_of([*NUMBERS, max(attribute.i - 1, -9), max(min(attribute.i, 1 << 40), -9) * 2 + 1]))
        elif attribute.type == kinds.INTS and attribute.ints:
            if self.random.random() < 0.4:
                del attribute.ints[-1]
            else:
                attribute.ints[int(self.random.integers(len(attribute.ints)))] = self.one_of(NUMBERS)
        elif attribute.type == kinds.FLOAT:
            attribute.f = self.one_of([0.0, -1.0, 1e30, float("nan"), float("inf")])
        elif attribute.type == kinds.FLOATS and attribute.floats:
            del attribute.floats[-1]
        elif attribute.type == kinds.STRING:
            attribute.s = b"nonsense"
        elif attribute.type == kinds.STRINGS and attribute.strings:
            del attribute.strings[-1]

    def change_outputs(self):
        if self.random.random() < 0.5:
            self.node.output.append("more")
        elif self.node.output:
            self.node.output[0] = ""
            del self.graph.output[:]


def variants(count, seed, text):
    """(label, model) of the valid nodes."""
    for name, family in sorted({**ATTENTIONS, **LAYERS, **QUANTIZED}.items()):
        if text in name:
            for i in range(count):
                yield f"{name}-{i}", model([family(np.random.default_rng([seed, i]))], as_f32=False)[0]
    for name, family in sorted(SEARCHES.items()):
        if text in name:
            for i in range(count):
                arrays, attributes = family([seed, i])
                yield f"{name}-{i}", search(name, arrays, **attributes)[0]
    for name in sorted(os.listdir(CASES)) if os.path.isdir(CASES) else []:
        path = os.path.join(CASES, name, "model.onnx")
        if text in name and os.path.exists(path):
            proto = onnx.load(path)
            if len(proto.graph.node) == 1:
                # The cases of an operator make up for its few forms.
                for i in range(max(1, count // 4)):
                    again = onnx.ModelProto()
                    again.CopyFrom(proto)
                    yield f"{name}-{i}", again


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="", help="only variants whose name holds this")
    parser.add_argument("--runner", default="", help="what runs the tool")
    parser.add_argument("--keep", help="a folder for the models, which stay there")
    options = parser.parse_args()
    bad, count = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        for label, proto in variants(options.count, options.seed, options.filter):
            Breaker(proto, np.random.default_rng([options.seed, count])).apply()
            path = os.path.join(folder, label)
            os.makedirs(path)
            onnx.save(proto, os.path.join(path, "model.onnx"))
            count += 1
        for extra in ([], ["--to-write"]):
            failures, counts = read_all(shlex.split(options.runner) + [options.tool, "--list"] + extra, folder)
            for name, reason in sorted(failures.items()):
                print(f"{' '.join(extra)} {name}: {reason}".strip())
            print(f"{count} nodes {' '.join(extra)}: {counts['0']} read, {counts['3']} not valid, {counts['4']} not supported, "
                  f"{len(failures)} failed")
            # All would be refused if the models were not what they are meant to be.
            bad += len(failures) + (not options.filter and not (counts["0"] and counts["3"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
