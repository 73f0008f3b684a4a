#!/usr/bin/env python3
# Covers: autodiff WeightUses
# Covers: graph WeightConstants
"""What is trained and what decays is the same for a network in ONNX, StableHLO and Paddle, whatever shapes its biases have there."""
import json
import os
import re
import struct
import unittest

import OnnxBytes as onnx
from SinterCommand import DONE, main
from TrainFormatsTest import stablehlo
from TrainTest import FEATURES, Network, TrainCase, npy, npz, numbers

SAMPLES, INPUTS, CHANNELS, SIDE, CLASSES = 6, 2, 4, 4, 3
FOUND = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")), "data/defects/found-2026-11-29/train/paddle-trains-constant")
FORMS = ["onnx", "mlir", "mlirbc", "pdmodel", "json"]
# By name: the shape in ONNX, and whether it decays.
WEIGHTS = {"kernel": ([CHANNELS, INPUTS, 3, 3], True), "kernel_bias": ([CHANNELS], False), "slope": ([CHANNELS, 1, 1], False),
           "scale": ([CHANNELS], False), "offset": ([CHANNELS], False), "place": ([1, CHANNELS, SIDE, SIDE], True), "gain": ([CHANNELS, 1, 1], False),
           "plane": ([SIDE, SIDE], True), "plane_bias": ([SIDE, SIDE], True), "point": ([CHANNELS, CHANNELS, 1, 1], True), "zero_bias": ([CHANNELS], False),
           "mixing": ([CHANNELS, CHANNELS], True), "last": ([CLASSES, CHANNELS], True), "last_bias": ([CLASSES], False)}


def integers(name, *values):
    return onnx.data(5, onnx.data(1, name) + b"".join(onnx.number(8, each) for each in values) + onnx.number(20, 7))


def integer(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


def given(value, shape=()):
    """The attribute of a Constant node."""
    content = value if isinstance(value, list) else [value]
    return onnx.data(5, onnx.data(1, "value") + onnx.data(5, onnx.tensor("", list(shape), onnx.floats(*content))) + onnx.number(20, 4))


def network():
    """Convolutions, slopes, norms over channels and over planes, a GELU that is spelt out, an average over planes, products."""
    values = {name: numbers(1 if not shape else eval("*".join(map(str, shape))), seed, 0.2, 1.0) for seed, (name, (shape, _)) in enumerate(WEIGHTS.items())}
    values["zero_bias"] = [0.0] * CHANNELS
    tensors = [onnx.tensor(name, WEIGHTS[name][0], onnx.floats(*each)) for name, each in values.items()]
    for seed, name in enumerate(["mean", "variance"]):
        tensors.append(onnx.tensor(name, [CHANNELS], onnx.floats(*numbers(CHANNELS, 60 + seed, 0.5, 1.5))))
    nodes = [onnx.node("Constant", [], ["root"], "root", attributes=given(2 ** 0.5)), onnx.node("Constant", [], ["one"], "one", attributes=given(1.0)),
             onnx.node("Constant", [], ["half"], "half", attributes=given([0.5], [1])), onnx.node("Constant", [], ["mask"], "mask", attributes=given([0.5, 1.5, 1.0, 2.0], [CHANNELS])),
             onnx.node("Conv", ["x", "kernel", "kernel_bias"], ["c"], "conv", attributes=integers("pads", 1, 1, 1, 1)),
             onnx.node("PRelu", ["c", "slope"], ["p"], "prelu"),
             onnx.node("BatchNormalization", ["p", "scale", "offset", "mean", "variance"], ["n"], "norm"),
             onnx.node("Add", ["n", "place"], ["placed"], "add place"), onnx.node("Mul", ["placed", "gain"], ["gained"], "mul gain"),
             onnx.node("LayerNormalization", ["gained", "plane", "plane_bias"], ["l"], "layer norm", attributes=integer("axis", 2)),
             onnx.node("Div", ["l", "root"], ["d"], "gelu div"), onnx.node("Erf", ["d"], ["e"], "gelu erf"), onnx.node("Add", ["e", "one"], ["a"], "gelu add"),
             onnx.node("Mul", ["l", "a"], ["m"], "gelu mul"), onnx.node("Mul", ["m", "half"], ["g"], "gelu half"),
             onnx.node("Conv", ["g", "point", "zero_bias"], ["q"], "point conv"),
             onnx.node("GlobalAveragePool", ["q"], ["v"], "pool"), onnx.node("Flatten", ["v"], ["f"], "flatten"),
             onnx.node("Mul", ["f", "mask"], ["k"], "masked"),
             onnx.node("MatMul", ["k", "mixing"], ["h"], "mix"),
             onnx.node("Gemm", ["h", "last", "last_bias"], ["y"], "gemm", attributes=integer("transB", 1))]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", INPUTS, SIDE, SIDE])], [onnx.value_info("y", ["N", CLASSES])], tensors), 17)


class TrainDecay(TrainCase):
    def forms(self, model):
        """MODEL as it is and as each other form."""
        paths = {"onnx": model}
        for form in FORMS[1:]:
            paths[form] = self.path(f"as.{form}")
            done = self.sinter("convert", model, "-o", paths[form])
            self.assertEqual(done.returncode, DONE, done.stderr)
        return paths

    def trained(self, model, data, batch):
        """The names of what the optimiser moves, by name."""
        step = self.path("step.mlir")
        done = self.sinter("train", model, "--data", data, "--batch", str(batch), "--momentum", "0.9", "--write-step", step, "--step-states")
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("inspect", step, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        names = [each["name"] for each in json.loads(done.stdout)["tensors"] if each["role"] == "state"]
        return sorted({name for name in names if name + ".momentum" in names})

    def file(self, *parts):
        with open(os.path.join(*parts), "rb") as file:
            return file.read()

    def values(self, model, data, batch, *options):
        """The weights of MODEL, after training, by name: from the states of a step that begins with them."""
        out = self.path("trained." + model.rsplit(".", 1)[1])
        done = self.sinter("train", model, "--data", data, "--batch", str(batch), "--no-shuffle", "-o", out, "--force", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return out

    def scores(self, model, x, shape):
        done = self.sinter("run", model, "--input", self.write("x.npy", npy(shape, x)), "--no-cache", "--output-dir", self.path("scores"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        name = os.listdir(self.path("scores"))[0]
        raw = self.file(self.path("scores"), name)
        return struct.unpack(f"<{SAMPLES * CLASSES}f", raw[-4 * SAMPLES * CLASSES:])

    def samples(self):
        x = numbers(SAMPLES * INPUTS * SIDE * SIDE, 70)
        shape = [SAMPLES, INPUTS, SIDE, SIDE]
        return x, shape, self.write("d.npz", npz(x=npy(shape, x), target=npy([SAMPLES], [0, 2, 1, 1, 0, 2], "i8")))

    def test_what_is_trained(self):
        x, shape, data = self.samples()
        for form, path in self.forms(self.write("net.onnx", network())).items():
            with self.subTest(form):
                # A weight that is written turned round, or as a part of another shape, has a number behind its name.
                names = [re.sub(r"_\d+$", "", name) for name in self.trained(path, data, SAMPLES)]
                self.assertEqual(sorted(names), sorted(WEIGHTS))

    def test_what_decays(self):
        """With a rate of next to nothing, only what decays moves."""
        x, shape, data = self.samples()
        for form, path in self.forms(self.write("net.onnx", network())).items():
            with self.subTest(form):
                names = self.trained(path, data, SAMPLES)
                kept = {}
                for decay in "0", "1e7":
                    kept[decay] = self.path(f"kept-{form}-{decay}")
                    done = self.sinter("train", path, "--data", data, "--batch", str(SAMPLES), "--no-shuffle", "--lr", "1e-8", "--weight-decay", decay, "-o", self.path("out." + form), "--force",
                                       "--checkpoint-dir", kept[decay])
                    self.assertEqual(done.returncode, DONE, done.stderr)
                folder = "step-0000000001"
                states = [each["name"] for each in json.loads(self.file(kept["0"], folder, "checkpoint.json"))["states"]]
                decayed = {re.sub(r"_\d+$", "", name) for i, name in enumerate(states)
                           if name in names and self.file(kept["0"], folder, f"{i}.npy") != self.file(kept["1e7"], folder, f"{i}.npy")}
                self.assertEqual(decayed, {name for name, (_, decays) in WEIGHTS.items() if decays})

    def test_same_results(self):
        """After some steps that decay a lot every form gives the same."""
        x, shape, data = self.samples()
        wanted = None
        for form, path in self.forms(self.write("net.onnx", network())).items():
            with self.subTest(form):
                got = self.scores(self.values(path, data, 3, "--epochs", "3", "--optimizer", "adamw", "--lr", "0.02", "--weight-decay", "2", "--batch-norm-momentum", "0.9"), x, shape)
                wanted = wanted or got
                for a, b in zip(got, wanted):
                    self.assertAlmostEqual(a, b, delta=2e-4 * max(1, abs(b)))

    def test_constants_without_names(self):
        """A StableHLO file lists no weights: those that training takes for such are weights where it is converted to, and no others."""
        network = Network()
        model = self.write("net.mlir", stablehlo(network))
        data = self.write("d.npz", npz(x=npy([SAMPLES, FEATURES], numbers(SAMPLES * FEATURES, 9)), target=npy([SAMPLES], [0, 3, 1, 2, 0, 2], "i8")))
        wanted = self.trained(model, data, SAMPLES)
        self.assertEqual(wanted, ["constant.1", "constant.2"])
        for form in "onnx", "pdmodel", "json":
            with self.subTest(form):
                path = self.path("as." + form)
                self.assertEqual(self.sinter("convert", model, "-o", path).returncode, DONE)
                self.assertEqual([re.sub(r"_\d+$", "", name) for name in self.trained(path, data, SAMPLES)], wanted)

    @unittest.skipUnless(os.path.isdir(FOUND), "the shared files are not there")
    def test_network_of_pytorch(self):
        lists = {form: len(self.trained(path, f"{FOUND}/d.npz", 8)) for form, path in self.forms(f"{FOUND}/n.onnx").items()}
        self.assertEqual(set(lists.values()), {10}, lists)


if __name__ == "__main__":
    main()
