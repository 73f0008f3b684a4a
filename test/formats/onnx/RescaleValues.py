#!/usr/bin/env python3
"""All 8-bit values through DequantizeLinear, an operation that is computed element by element, and QuantizeLinear: natively and on
the interpreter what the definitions give in f32, to the unit.

  RescaleValues.py --sinter build/bin/sinter [--models N] [--seed S]

Scales are drawn at random, half of them of small ratios, where many numbers lie in the middle of two; zero points are of either
sign, odd and even, for all elements or one a channel; sizes are known or not.

Needs Python's onnx and numpy (Debian: python3-onnx); without them it says so and ends with 77.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages

Packages.skip_without()
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STORAGE = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}
CHANNELS = 3
# How many rescales a model has.
BRANCHES = 24


def clip(x):
    return np.clip(x, np.float32(-0.75), np.float32(1.5))


# What is computed of one operand: the node's type and attributes, and its definition in f32.
FUNCTIONS = [
    (None, {}, lambda x: x),
    ("Relu", {}, lambda x: np.maximum(x, np.float32(0))),
    ("Clip", {}, clip),
    ("Neg", {}, lambda x: -x),
    ("Abs", {}, np.abs),
    ("LeakyRelu", {"alpha": 0.125}, lambda x: np.where(x < 0, x * np.float32(0.125), x)),
    ("Transpose", {"perm": [1, 0]}, np.transpose),
]
PAIRS = [("Add", {}, np.add), ("Sub", {}, np.subtract), ("Mul", {}, np.multiply), ("Max", {}, np.maximum), ("Min", {}, np.minimum),
         ("Concat", {"axis": 1}, lambda a, b: np.concatenate([a, b], 1))]


def dequantized(q, scale, zero):
    return (q.astype(np.int32) - zero.astype(np.int32)).astype(np.float32) * scale


def quantized(x, scale, zero):
    limits = np.iinfo(zero.dtype)
    return np.clip(np.rint(x / scale) + zero.astype(np.float32), limits.min, limits.max).astype(zero.dtype)


class Model:
    """Rescales of one tensor of all bytes, and of pairs of bytes."""

    def __init__(self, random, isDynamic):
        self.random = random
        self.nodes, self.constants, self.inputs, self.outputs, self.tensors = [], [], [], [], []
        self.isDynamic = isDynamic
        for storage in STORAGE:
            values = np.tile(np.arange(256).astype(np.uint8).view(storage), (CHANNELS, 1))
            self.add_input(storage.__name__, values)
            # Each byte beside each.
            for place, values in enumerate(np.meshgrid(values[0], values[0])):
                self.add_input(f"{storage.__name__}_{place}", values)

    def add_input(self, name, values):
        shape = [f"N{len(values)}" if self.isDynamic else len(values), values.shape[1]]
        self.inputs.append(helper.make_tensor_value_info(name, STORAGE[values.dtype.type], shape))
        self.tensors.append((name, values))

    def values(self, name):
        return dict(self.tensors)[name]

    def scale(self):
        if self.random.random() < 0.5:
            return np.float32(self.random.choice([0.1, 0.05, 0.025, 1 / 255, 0.3, 1.0, 0.5]) * self.random.integers(1, 5))
        return np.float32(2 ** self.random.uniform(-6, 1))

    def parameters(self, prefix, storage, perChannel):
        count = CHANNELS if perChannel else 1
        limits = np.iinfo(storage)
        scale = np.array([self.scale() for _ in range(count)], np.float32)
        zero = self.random.integers(limits.min, limits.max + 1, count).astype(storage)
        if self.random.random() < 0.3:
            zero[:] = self.random.choice([0, limits.min, limits.max, 128 & limits.max])
        if not perChannel:
            scale, zero = scale[0], zero[0]
        for name, value in ((prefix + "_s", scale), (prefix + "_z", zero)):
            self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        shape = (-1, 1) if perChannel else ()
        return [prefix + "_s", prefix + "_z"], np.reshape(scale, shape), np.reshape(zero, shape)

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    def branch(self, number):
        random = self.random
        prefix = f"b{number}"
        storage, after = random.choice(list(STORAGE)), random.choice(list(STORAGE))
        name = storage.__name__
        isPair = random.random() < 0.3
        perChannel = not isPair and random.random() < 0.3
        reals, last = [], [f"{prefix}_x0", f"{prefix}_x1"]
        for place in range(2 if isPair else 1):
            source = f"{name}_{place}" if isPair else name
            names, scale, zero = self.parameters(f"{prefix}_{place}", storage, perChannel)
            self.node("DequantizeLinear", [source, *names], f"{prefix}_x{place}", **({"axis": 0} if perChannel else {}))
            reals.append(dequantized(self.values(source), scale, zero))
            # Another rescale before the operation.
            if random.random() < 0.3:
                between = random.choice(list(STORAGE))
                names, scale, zero = self.parameters(f"{prefix}_{place}_more", between, False)
                self.node("QuantizeLinear", [f"{prefix}_x{place}", *names], f"{prefix}_q{place}")
                self.node("DequantizeLinear", [f"{prefix}_q{place}", *names], f"{prefix}_more{place}")
                reals[-1] = dequantized(quantized(reals[-1], scale, zero), scale, zero)
                last[place] = f"{prefix}_more{place}"
        if isPair:
            kind, attributes, function = PAIRS[random.integers(len(PAIRS))]
            self.node(kind, last, f"{prefix}_f", **attributes)
            last = f"{prefix}_f"
            x = function(*reals)
        else:
            last = last[0]
            kind, attributes, function = FUNCTIONS[random.integers(len(FUNCTIONS))]
            if kind == "Clip":
                self.constants += [numpy_helper.from_array(np.float32(each), f"{prefix}_{each}") for each in (-0.75, 1.5)]
                self.node(kind, [last, f"{prefix}_-0.75", f"{prefix}_1.5"], f"{prefix}_f")
            elif kind:
                self.node(kind, [last], f"{prefix}_f", **attributes)
            last = f"{prefix}_f" if kind else last
            x = function(reals[0])
            perChannel &= kind != "Transpose"
        names, scale, zero = self.parameters(f"{prefix}_r", after, perChannel)
        self.node("QuantizeLinear", [last, *names], prefix, **({"axis": 0} if perChannel else {}))
        self.outputs.append((prefix, quantized(x, scale, zero)))

    def write(self, folder):
        outputs = [helper.make_tensor_value_info(name, STORAGE[value.dtype.type], [None, None]) for name, value in self.outputs]
        graph = helper.make_graph(self.nodes, "rescales", self.inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, os.path.join(folder, "model.onnx"))
        data = os.path.join(folder, "test_data_set_0")
        os.mkdir(data)
        for kind, tensors in (("input", self.tensors), ("output", self.outputs)):
            for number, (name, value) in enumerate(tensors):
                with open(os.path.join(data, f"{kind}_{number}.pb"), "wb") as file:
                    file.write(numpy_helper.from_array(value, name).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the models")
    options = parser.parse_args()
    failed = 0
    for number in range(options.models):
        model = Model(np.random.default_rng([options.seed, number]), isDynamic=number % 3 == 2)
        for branch in range(BRANCHES):
            model.branch(branch)
        with tempfile.TemporaryDirectory() as folder:
            if options.keep:
                folder = os.path.join(options.keep, str(number))
                os.makedirs(folder)
            model.write(folder)
            for backend in ("cpu", "interpreter"):
                done = subprocess.run([options.sinter, "test", folder, "--rtol", "0", "--atol", "0", "--backend", backend,
                                       "--cache-dir", os.path.join(folder, "cache")], capture_output=True, text=True)
                if done.returncode:
                    failed += 1
                    print(f"model {number} of seed {options.seed}, {backend}: {done.stdout}{done.stderr}")
    print(f"{options.models} models of {BRANCHES} rescales, {failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
