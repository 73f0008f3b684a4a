#!/usr/bin/env python3
# Covers: driver TrainCommandOptions
# Covers: train Checkpoints LearningRate TrainOptions Trainer
# Covers: autodiff ChosenWeights Losses Optimizers StepStates TrainBatchNorms TrainingStep
# Covers: engine TrainingRun
# Covers: engine/compiler Trainer
# Covers: graph Momentum
"""`sinter train`: against losses written from their definitions, differentiated by differences, and optimisers written from
their papers."""
import io
import json
import math
import os
import random
import resource
import shutil
import struct
import subprocess
import zipfile

import OnnxBytes as onnx
import SinterCommand
from SinterCommand import CommandTest, DONE, SYSTEM, UNSUPPORTED, USAGE, WRONG, main

FEATURES, CLASSES, SAMPLES = 3, 4, 6


def npy(shape, numbers, kind="f4"):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    letter = {"f4": "f", "i8": "q"}[kind]
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + struct.pack(f"<{len(numbers)}{letter}", *numbers)


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    return out.getvalue()


def single(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def numbers(count, seed, low=-1.0, high=1.0):
    chooser = random.Random(seed)
    return [single(chooser.uniform(low, high)) for _ in range(count)]


def floats_of(tensor):
    """The elements of a TensorProto of f32; nothing of other types."""
    parts = dict((number, part) for number, part in onnx.fields(tensor) if number in (2, 9))
    raw = bytes(parts[9])
    return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if parts.get(2, 1) == 1 else None


def initializers(content):
    """The weights of an ONNX model, by name: initializers of f32."""
    graphs = [value for field, value in onnx.fields(content) if field == 7]
    tensors = [tensor for graph in graphs for field, tensor in onnx.fields(graph) if field == 5]
    found = {bytes(dict(onnx.fields(each))[8]).decode(): floats_of(each) for each in tensors}
    return {name: values for name, values in found.items() if values is not None}


def constants(content):
    """What the Constant nodes of an ONNX model give, by name: tensors of f32."""
    found = {}
    for graph in (value for field, value in onnx.fields(content) if field == 7):
        for node in (dict(onnx.fields(value)) for field, value in onnx.fields(graph) if field == 1):
            if node[4] == b"Constant":
                found[bytes(node[2]).decode()] = floats_of(dict(onnx.fields(node[5]))[5])
    return found


class Network:
    """y = x w + b, behind a batch norm of x if asked for, with a softmax or a sigmoid behind it if asked for."""

    def __init__(self, norm=False, last=None, training=False, momentum=None):
        self.norm, self.last, self.momentum = norm, last, momentum
        self.weights = {"w": numbers(FEATURES * CLASSES, 1), "b": numbers(CLASSES, 2)}
        if norm:
            self.weights.update(scale=numbers(FEATURES, 3, 0.5, 1.5), offset=numbers(FEATURES, 4))
        self.statistics = {"mean": numbers(FEATURES, 5), "variance": numbers(FEATURES, 6, 0.5, 1.5)} if norm else {}
        self.training = training

    def shapes(self):
        return {"w": [FEATURES, CLASSES], "b": [CLASSES]}

    def onnx(self):
        nodes, source = [], "x"
        if self.norm:
            outputs = ["n", "m1", "v1"] if self.training else ["n"]
            attributes = onnx.data(5, onnx.data(1, "training_mode") + onnx.number(3, 1) + onnx.number(20, 2)) if self.training else b""
            if self.momentum is not None:
                attributes += onnx.data(5, onnx.data(1, "momentum") + onnx.varint(2 << 3 | 5) + onnx.floats(self.momentum) + onnx.number(20, 1))
            nodes.append(onnx.node("BatchNormalization", ["x", "scale", "offset", "mean", "variance"], outputs, "norm", attributes=attributes))
            source = "n"
        nodes.append(onnx.node("Gemm", [source, "w", "b"], ["z"], "gemm"))
        if self.last:
            nodes.append(onnx.node(self.last, ["z"], ["y"], "last", attributes=onnx.data(5, onnx.data(1, "axis") + onnx.number(3, 1) + onnx.number(20, 2)) if self.last == "Softmax" else b""))
        values = {**self.weights, **self.statistics}
        tensors = [onnx.tensor(name, self.shapes().get(name, [FEATURES]), onnx.floats(*values[name])) for name in values]
        return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("y" if self.last else "z", ["N", CLASSES])], tensors), 15)

    def moments(self, x):
        rows = [x[i:i + FEATURES] for i in range(0, len(x), FEATURES)]
        means = [sum(row[k] for row in rows) / len(rows) for k in range(FEATURES)]
        return means, [sum((row[k] - means[k]) ** 2 for row in rows) / len(rows) for k in range(FEATURES)]

    def scores(self, weights, x):
        rows = [x[i:i + FEATURES] for i in range(0, len(x), FEATURES)]
        if self.norm:
            means, variances = self.moments(x)
            rows = [[(row[k] - means[k]) / math.sqrt(variances[k] + 1e-5) * weights["scale"][k] + weights["offset"][k] for k in range(FEATURES)] for row in rows]
        return [[sum(row[k] * weights["w"][k * CLASSES + c] for k in range(FEATURES)) + weights["b"][c] for c in range(CLASSES)] for row in rows]


def log_softmax(row):
    most = max(row)
    total = math.log(sum(math.exp(each - most) for each in row)) + most
    return [each - total for each in row]


def cross_entropy(scores, labels, smoothing=0.0, ignored=-100):
    total, count = 0.0, 0
    for row, label in zip(scores, labels):
        if label == ignored:
            continue
        logs = log_softmax(row)
        total -= (1 - smoothing) * logs[label] + smoothing / CLASSES * sum(logs)
        count += 1
    return total / count


def mean_of(function):
    def loss(scores, target):
        flat = [each for row in scores for each in row]
        return sum(function(a, b) for a, b in zip(flat, target)) / len(flat)
    return loss


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def binary_cross_entropy(x, t):
    p = sigmoid(x)
    return -(t * math.log(p) + (1 - t) * math.log(1 - p))


def gradients(loss, weights):
    """Central differences in double precision."""
    result = {}
    for name, values in weights.items():
        result[name] = []
        for i, value in enumerate(values):
            sides = []
            for step in 1e-5, -1e-5:
                changed = dict(weights)
                changed[name] = values[:i] + [value + step] + values[i + 1:]
                sides.append(loss(changed))
            result[name].append((sides[0] - sides[1]) / 2e-5)
    return result


class Optimizers:
    """One weight's element: from (value, gradient, state, rate, step) to the new value. The state is a dictionary."""

    @staticmethod
    def sgd(w, g, s, rate, step):
        return w - rate * g

    @staticmethod
    def momentum(w, g, s, rate, step):
        s["v"] = 0.9 * s.get("v", 0) + g
        return w - rate * s["v"]

    @staticmethod
    def nesterov(w, g, s, rate, step):
        s["v"] = 0.9 * s.get("v", 0) + g
        return w - rate * (g + 0.9 * s["v"])

    @staticmethod
    def adam(w, g, s, rate, step):
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
        return w - rate * (s["m"] / (1 - 0.9 ** step)) / (math.sqrt(s["v"] / (1 - 0.999 ** step)) + 1e-8)

    @staticmethod
    def adam_without_momentum(w, g, s, rate, step):
        s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
        return w - rate * g / (math.sqrt(s["v"] / (1 - 0.999 ** step)) + 1e-8)

    @staticmethod
    def adamw(w, g, s, rate, step):
        return Optimizers.adam(w, g, s, rate, step) - rate * 0.1 * w

    @staticmethod
    def rmsprop(w, g, s, rate, step):
        s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
        return w - rate * g / (math.sqrt(s["v"]) + 1e-8)

    @staticmethod
    def adagrad(w, g, s, rate, step):
        s["v"] = s.get("v", 0) + g * g
        return w - rate * g / (math.sqrt(s["v"]) + 1e-10)


class TrainCase(CommandTest):
    """What tests of training share: samples, and steps by their definition."""

    def setUp(self):
        super().setUp()
        self.x = numbers(SAMPLES * FEATURES, 10)
        self.labels = [random.Random(11).randrange(CLASSES) for _ in range(SAMPLES)]

    def data(self, name="d.npz", x=None, target=None, shape=None, kind="i8"):
        x = self.x if x is None else x
        target = self.labels if target is None else target
        shape = shape or [len(target)]
        return self.write(name, npz(x=npy([len(x) // FEATURES, FEATURES], x), target=npy(shape, target, kind)))

    def train(self, network, *options, data=None):
        model, out = self.write("net.onnx", network.onnx()), self.path("out.onnx")
        done = self.sinter("train", model, "--data", data or self.data(), "-o", out, "--no-shuffle", "--no-cache", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            return initializers(file.read())

    def close(self, got, wanted, tolerance=2e-5):
        self.assertEqual(sorted(got), sorted(wanted))
        for name, values in wanted.items():
            for a, b in zip(got[name], values):
                self.assertAlmostEqual(a, b, delta=tolerance * max(1, abs(b)), msg=f"{name}: {got[name]} for {values}")

    def stepped(self, network, loss, rule, rate, steps=1):
        """The weights after STEPS steps of the rule on all samples."""
        weights = {name: list(values) for name, values in network.weights.items()}
        states = {name: [{} for _ in values] for name, values in weights.items()}
        for step in range(1, steps + 1):
            slopes = gradients(lambda each: loss(network.scores(each, self.x)), weights)
            weights = {name: [rule(w, g, s, rate, step) for w, g, s in zip(weights[name], slopes[name], states[name])] for name in weights}
        return weights


class Train(TrainCase):
    def test_optimisers(self):
        for rule, options in [("sgd", []), ("momentum", ["--momentum", "0.9"]), ("nesterov", ["--momentum", "0.9", "--nesterov"]), ("adam", []), ("adam_without_momentum", ["--beta1", "0"]),
                              ("adamw", ["--weight-decay", "0.1", "--decay-all"]), ("rmsprop", []), ("adagrad", [])]:
            with self.subTest(rule):
                network = Network()
                kind = rule.split("_")[0] if rule.startswith(("ada", "rmsprop")) else "sgd"
                got = self.train(network, "--optimizer", kind, "--lr", "0.01", "--batch", "6", "--epochs", "3", *options)
                wanted = self.stepped(network, lambda scores: cross_entropy(scores, self.labels), getattr(Optimizers, rule), 0.01, 3)
                self.close(got, wanted)

    def test_losses(self):
        real = numbers(SAMPLES * CLASSES, 12, 0, 1)
        huber = lambda d: 0.5 * d * d if abs(d) <= 0.3 else 0.3 * (abs(d) - 0.15)
        ignored = [self.labels[0], -100, *self.labels[2:]]
        cases = [("cross-entropy", None, self.labels, [], lambda s: cross_entropy(s, self.labels)),
                 ("cross-entropy", "Softmax", self.labels, [], lambda s: cross_entropy(s, self.labels)),
                 ("cross-entropy", None, self.labels, ["--label-smoothing", "0.2"], lambda s: cross_entropy(s, self.labels, 0.2)),
                 ("cross-entropy", None, ignored, [], lambda s: cross_entropy(s, ignored)),
                 ("cross-entropy", None, real, [], lambda s: -sum(p * q for row, i in zip(s, range(SAMPLES)) for p, q in zip(log_softmax(row), real[i * CLASSES:])) / SAMPLES),
                 ("binary-cross-entropy", "Sigmoid", real, [], lambda s: mean_of(binary_cross_entropy)(s, real)),
                 ("binary-cross-entropy", None, real, [], lambda s: mean_of(binary_cross_entropy)(s, real)),
                 ("mean-squared", None, real, [], lambda s: mean_of(lambda a, b: (a - b) ** 2)(s, real)),
                 ("mean-absolute", None, real, [], lambda s: mean_of(lambda a, b: abs(a - b))(s, real)),
                 ("huber", None, real, ["--delta", "0.3"], lambda s: mean_of(lambda a, b: huber(a - b))(s, real))]
        for kind, last, target, options, loss in cases:
            with self.subTest(f"{kind} {last} {options}"):
                network = Network(last=last)
                holds_labels = len(target) == SAMPLES
                data = self.data(target=target, shape=None if holds_labels else [SAMPLES, CLASSES], kind="i8" if holds_labels else "f4")
                log = self.path("log.jsonl")
                got = self.train(network, "--loss", kind, "--lr", "0.5", "--batch", "6", "--log", log, *options, data=data)
                self.close(got, self.stepped(network, loss, Optimizers.sgd, 0.5))
                with open(log) as file:
                    line = json.loads(file.readline())
                self.assertEqual(sorted(line), ["epoch", "loss", "lr", "ms", "samples_per_s", "step"])
                self.assertAlmostEqual(line["loss"], loss(network.scores(network.weights, self.x)), places=5)

    def test_batch_norm(self):
        """Normalises by the batch's biased variance, and keeps the unbiased one; a node in training mode keeps the biased one."""
        for training, factor in (False, SAMPLES / (SAMPLES - 1)), (True, 1):
            network = Network(norm=True, training=training)
            means, variances = network.moments(self.x)
            wanted = self.stepped(network, lambda scores: cross_entropy(scores, self.labels), Optimizers.sgd, 0.1)
            wanted["mean"] = [0.9 * old + 0.1 * new for old, new in zip(network.statistics["mean"], means)]
            wanted["variance"] = [0.9 * old + 0.1 * new * factor for old, new in zip(network.statistics["variance"], variances)]
            self.close(self.train(network, "--lr", "0.1", "--batch", "6"), wanted)

    def test_fixed_batch(self):
        """A model that takes so many samples at a time says so where a batch has others."""
        tensors = [onnx.tensor("w", [FEATURES, CLASSES], onnx.floats(*Network().weights["w"]))]
        graph = onnx.graph([onnx.node("MatMul", ["x", "w"], ["z"], "product")], [onnx.value_info("x", [4, FEATURES])], [onnx.value_info("z", [4, CLASSES])], tensors)
        command = ["train", self.write("net.onnx", onnx.model(graph, 15)), "--data", self.data(), "-o", self.path("out.onnx")]
        self.expect_error(USAGE, *command, "--batch", "4", mentions=["the input 'x' takes 4 samples at a time, and a batch has 2", "--drop-last"])
        self.expect_error(USAGE, *command, "--batch", "3", mentions=["--batch 4"])
        done = self.sinter(*command, "--batch", "4", "--drop-last")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_momentum_of_the_file(self):
        """A norm's own, unless the option says another; it goes from format to format."""
        for options, kept in ([], 0.7), (["--batch-norm-momentum", "0.4"], 0.4):
            network = Network(norm=True, momentum=0.7)
            means, _ = network.moments(self.x)
            got = self.train(network, "--lr", "0.1", "--batch", "6", *options)
            for a, old, new in zip(got["mean"], network.statistics["mean"], means):
                self.assertAlmostEqual(a, kept * old + (1 - kept) * new, places=5)
        model, between, back = self.write("net.onnx", network.onnx()), self.path("net.pdmodel"), self.path("back.onnx")
        self.assertEqual(self.sinter("convert", model, "-o", between).returncode, DONE)
        self.assertEqual(self.sinter("convert", between, "-o", back).returncode, DONE)
        with open(back, "rb") as file:
            self.assertIn(onnx.varint(2 << 3 | 5) + onnx.floats(0.7), file.read())

    def test_frozen(self):
        network = Network(norm=True)
        got = self.train(network, "--lr", "0.1", "--frozen", "b", "--frozen", "sc*", "--freeze-batch-norm")
        for name in "b", "scale", "mean", "variance":
            self.assertEqual(got[name], {**network.weights, **network.statistics}[name])
        self.assertNotEqual(got["w"], network.weights["w"])
        got = self.train(network, "--lr", "0.1", "--trainable", "b")
        self.assertEqual(got["w"], network.weights["w"])
        self.assertNotEqual(got["b"], network.weights["b"])

    def test_same_again(self):
        """The same bits with any number of threads, from either backend nearly so, with a last batch that is short."""
        network = Network(norm=True, last="Softmax")
        model, data, results = self.write("net.onnx", network.onnx()), self.data(), []
        for options in ["--threads", "1"], ["--threads", "2"], ["--seed", "1"], ["--backend", "interpreter"]:
            out = self.path("out.onnx")
            done = self.sinter("train", model, "--data", data, "--validate", data, "-o", out, "--batch", "4", "--epochs", "3", "--lr", "0.1", "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual((report["steps"], len(report["epochs"])), (6, 3))
            self.assertIn("validation_accuracy", report["epochs"][2])
            with open(out, "rb") as file:
                results.append(file.read())
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])
        self.close(initializers(results[3]), initializers(results[0]))

    def test_judges_the_model_that_is_written(self):
        network = Network()
        model, data, out = self.write("net.onnx", network.onnx()), self.data(), self.path("out.onnx")
        done = self.sinter("train", model, "--data", data, "--validate", data, "-o", out, "--lr", "0.3", "--epochs", "4", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            weights = initializers(file.read())
        last = json.loads(done.stdout)["epochs"][-1]
        scores = network.scores(weights, self.x)
        self.assertAlmostEqual(last["validation_loss"], cross_entropy(scores, self.labels), places=4)
        right = sum(row.index(max(row)) == label for row, label in zip(scores, self.labels))
        self.assertAlmostEqual(last["validation_accuracy"], right / SAMPLES, places=6)

    def test_fresh_parameters_are_not_tied(self):
        """PyTorch writes equal parameters once and Identity for the others."""
        nodes = [onnx.node("Identity", ["scale"], ["variance"], "copy"),
                 onnx.node("BatchNormalization", ["x", "scale", "offset", "mean", "variance"], ["n"], "norm"), onnx.node("Gemm", ["n", "w", "b"], ["z"], "gemm")]
        network = Network(norm=True)
        values = {**network.weights, "mean": network.statistics["mean"], "scale": [1.0] * FEATURES}
        tensors = [onnx.tensor(name, network.shapes().get(name, [FEATURES]), onnx.floats(*each)) for name, each in values.items()]
        model = self.write("net.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("z", ["N", CLASSES])], tensors), 15))
        out = self.path("out.onnx")
        done = self.sinter("train", model, "--data", self.data(), "-o", out, "--batch", "6", "--lr", "0.1", "--no-shuffle")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            got = initializers(file.read())
        _, variances = network.moments(self.x)
        for a, b in zip(got["variance"], variances):
            self.assertAlmostEqual(a, 0.9 + 0.1 * b * SAMPLES / (SAMPLES - 1), places=5)
        self.assertNotEqual(got["scale"], [1.0] * FEATURES)

    def test_copied_layers_are_not_tied(self):
        """PyTorch writes one of two equal parameters as Identity, and what it ties as one initializer."""
        square = numbers(FEATURES * FEATURES, 1)
        nodes = [onnx.node("Identity", ["a"], ["b"], "copy"), onnx.node("MatMul", ["x", "a"], ["h"], "first"), onnx.node("MatMul", ["h", "b"], ["z"], "second")]
        graph = onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("z", ["N", FEATURES])], [onnx.tensor("a", [FEATURES, FEATURES], onnx.floats(*square))])
        for producer, names in ("pytorch", ["a", "b"]), ("another", ["a"]):
            model, out = self.write("net.onnx", onnx.model(graph, 15) + onnx.data(2, producer)), self.path("out.onnx")
            labels = self.write("d.npz", npz(x=npy([SAMPLES, FEATURES], self.x), target=npy([SAMPLES], [0, 1, 2, 0, 1, 2], "i8")))
            done = self.sinter("train", model, "--data", labels, "-o", out, "--batch", "6", "--lr", "0.1", "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(out, "rb") as file:
                got = initializers(file.read())
            self.assertEqual(sorted(got), names)
            if len(names) == 2:
                self.assertNotEqual(got["a"], got["b"])

    def test_what_nodes_give_is_no_weight(self):
        """A Constant is part of the computation where there are initializers, and a weight where there are none."""
        factors = numbers(FEATURES, 9, 0.5, 1.5)
        constant = lambda name, shape, values: onnx.node("Constant", [], [name], name, attributes=onnx.data(5, onnx.data(1, "value") + onnx.data(5, onnx.tensor("", shape, onnx.floats(*values))) + onnx.number(20, 4)))
        ends = [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("z", ["N", CLASSES])]
        weight = FEATURES, CLASSES
        values = numbers(FEATURES * CLASSES, 1)
        rest = [onnx.node("Mul", ["x", "factors"], ["n"], "scale"), onnx.node("MatMul", ["n", "w"], ["z"], "product")]
        listed = onnx.graph([constant("factors", [FEATURES], factors), *rest], *ends, [onnx.tensor("w", weight, onnx.floats(*values))])
        alone = onnx.graph([constant("factors", [FEATURES], factors), constant("w", weight, values), *rest], *ends, [])
        out = self.path("out.onnx")

        def trained(graph, *options):
            done = self.sinter("train", self.write("net.onnx", onnx.model(graph, 15)), "--data", self.data(), "-o", out, "--batch", "6", "--lr", "0.1", "--force", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(out, "rb") as file:
                content = file.read()
            self.assertEqual(sorted(constants(content)), sorted(each for each in ("factors", "w") if graph is alone or each == "factors"))
            return done.stderr, initializers(content) | constants(content)

        said, got = trained(listed)
        self.assertIn("factors (--trainable asks for them)", said)
        self.assertNotEqual(got["w"], values)
        self.assertEqual(got["factors"], factors)
        step = self.path("step.mlir")
        trained(listed, "--write-step", step)
        with open(step) as file:
            self.assertNotIn("sinter", file.read())
        said, got = trained(listed, "--trainable", "*")
        self.assertNotIn("asks for", said)
        self.assertNotEqual(got["factors"], factors)
        said, got = trained(alone)
        self.assertNotEqual(got["w"], values)
        self.assertNotEqual(got["factors"], factors)

    def test_written_step(self):
        """Public StableHLO: the results behind the first four are the arguments' new values, in their order."""
        network, step = Network(last="Softmax"), self.path("step.mlir")
        model, data = self.write("net.onnx", network.onnx()), self.data()
        done = self.sinter("train", model, "--data", data, "--batch", "6", "--lr", "0.1", "--write-step", step)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(step) as file:
            text = file.read()
        self.assertNotIn("sinter.", text)
        self.assertNotIn("nn.", text)
        rate = self.write("rate.npy", npy([], [0.1]))
        inputs = [self.write("x.npy", npy([SAMPLES, FEATURES], self.x)), *(self.write(name + ".npy", npy(network.shapes()[name], network.weights[name])) for name in ("w", "b")),
                  self.write("target.npy", npy([SAMPLES], self.labels, "i8")), rate]
        folder = self.path("results")
        done = self.sinter("run", step, *(word for each in inputs for word in ("--input", each)), "--output-dir", folder)
        self.assertEqual(done.returncode, DONE, done.stderr)
        wanted = self.stepped(network, lambda scores: cross_entropy(scores, self.labels), Optimizers.sgd, 0.1)
        for number, name in (4, "w"), (5, "b"):
            with open(f"{folder}/result{number}.npy", "rb") as file:
                raw = file.read()
            values = struct.unpack(f"<{len(wanted[name])}f", raw[-4 * len(wanted[name]):])
            for a, b in zip(values, wanted[name]):
                self.assertAlmostEqual(a, b, places=5)

    def test_step_with_states(self):
        """Weights and what the optimiser keeps are states, data are inputs, the loss is an output; two runs are two steps."""
        network, step, kept = Network(norm=True), self.path("step.mlir"), self.path("kept")
        model, data = self.write("net.onnx", network.onnx()), self.data()
        options = ["--batch", "6", "--lr", "0.1", "--momentum", "0.9", "--no-shuffle"]
        done = self.sinter("train", model, "--data", data, *options, "--write-step", step, "--step-states")
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("inspect", step, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        roles = {each["name"]: each["role"] for each in json.loads(done.stdout)["tensors"]}
        states = [*network.weights, *network.statistics, *(f"{name}.momentum" for name in network.weights)]
        self.assertEqual({name for name, role in roles.items() if role == "state"}, set(states))
        self.assertEqual({name for name, role in roles.items() if role == "input"}, {"x", "target", "learning_rate"})
        os.mkdir(kept)
        inputs = {"x": npy([SAMPLES, FEATURES], self.x), "target": npy([SAMPLES], self.labels, "i8"), "learning_rate": npy([], [0.1])}
        for _ in range(2):
            done = self.sinter("run", step, *(word for name, each in inputs.items() for word in ("--input", f"{name}={self.write(name + '.npy', each)}")), "--state-dir", kept)
            self.assertEqual(done.returncode, DONE, done.stderr)
        out = self.path("out.onnx")
        done = self.sinter("train", model, "--data", data, *options, "--epochs", "2", "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            wanted = initializers(file.read())
        for name in (*network.weights, *network.statistics):
            with open(f"{kept}/state_{name}.npy", "rb") as file:
                got = list(struct.unpack(f"<{len(wanted[name])}f", file.read()[-4 * len(wanted[name]):]))
            self.assertEqual(got, wanted[name], name)
        self.expect_error(USAGE, "train", model, "--data", data, "-o", out, "--force", "--step-states", mentions=["--step-states needs --write-step"])

    def test_goes_on_from_a_checkpoint(self):
        """A run that is ended in the middle and goes on has the bits, and the log, of one that never was."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        command = ["train", model, "--data", data, "--validate", data, "--batch", "4", "--epochs", "4", "--optimizer", "adam", "--lr", "0.1", "--seed", "17"]
        whole, out, folder, log = self.path("whole.onnx"), self.path("out.onnx"), self.path("kept"), self.path("log.jsonl")
        self.assertEqual(self.sinter(*command, "-o", whole, "--log", self.path("whole.jsonl")).returncode, DONE)
        kept = [*command, "-o", out, "--checkpoint-dir", folder, "--checkpoint-every", "3", "--keep-checkpoints", "9", "--log", log]
        self.assertEqual(self.sinter(*kept).returncode, DONE)
        steps = sorted(os.listdir(folder))
        self.assertEqual(steps, [f"step-{each:010}" for each in (2, 3, 4, 6, 8)])
        for last in (0, 1, 3):
            for name in os.listdir(folder):
                if name not in steps[:last + 1]:
                    shutil.rmtree(os.path.join(folder, name))
            os.remove(out)
            done = self.sinter(*kept, "--resume")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("going on after step", done.stderr)
            with open(out, "rb") as a, open(whole, "rb") as b:
                self.assertEqual(a.read(), b.read())
            with open(log) as a, open(self.path("whole.jsonl")) as b:
                strip = lambda lines: [{key: value for key, value in json.loads(line).items() if key not in ("ms", "samples_per_s")} for line in lines]
                self.assertEqual(strip(a), strip(b))
        self.expect_error(USAGE, *kept, mentions=["--resume"])
        self.expect_error(USAGE, *(each.replace("17", "18") for each in kept), "--resume", mentions=["--resume", "another seed"])
        done = self.sinter(*kept, "--resume")
        self.assertIn("is written from its last checkpoint", done.stderr)
        self.expect_error(USAGE, *command, "-o", out, "--resume", mentions=["--checkpoint-dir"])
        self.expect_error(USAGE, *command, "-o", out, "--checkpoint-dir", self.path("none"), "--resume", mentions=["no checkpoint"])

    def test_full_disk(self):
        """What cannot be written is a note, and what was there stays whole: here no file may be larger than the first checkpoint's."""
        model, data = self.write("net.onnx", Network().onnx()), self.data()
        command = ["train", model, "--data", data, "--batch", "6", "--optimizer", "adam", "--lr", "0.01"]
        kept = [*command, "--epochs", "30", "-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--keep-checkpoints", "99"]
        self.assertEqual(self.sinter(*kept).returncode, DONE)
        # Its seconds may be longer by some digits the next time; an epoch more is longer by a line.
        limit = os.path.getsize(self.path("kept/step-0000000002/checkpoint.json")) + 40
        shutil.rmtree(self.path("kept"))
        with open(self.path("out.onnx"), "rb") as file:
            whole = file.read()
        self.assertLess(len(whole), limit)
        os.remove(self.path("out.onnx"))
        done = subprocess.run([SinterCommand.SINTER, *kept, "--no-cache"], capture_output=True, text=True, timeout=60, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("checkpoint.json", done.stderr)
        self.assertIn("the run goes on", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("kept"))), [f"step-{each:010}" for each in (1, 2)])
        resumed = [self.path("resumed.onnx") if each == self.path("out.onnx") else each for each in kept]
        self.assertEqual(self.sinter(*resumed, "--resume").returncode, DONE)
        for name in "out.onnx", "resumed.onnx":
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), whole)
        nowhere = self.sinter(*command, "-o", self.path("other.onnx"), "--checkpoint-dir", model)
        self.assertEqual(nowhere.returncode, DONE, nowhere.stderr)
        self.assertIn("the run goes on", nowhere.stderr)

    def test_refused(self):
        model, out = self.write("net.onnx", Network().onnx()), self.path("out.onnx")
        data = self.data()
        command = ["train", model, "-o", out, "--data"]
        self.expect_error(USAGE, "train", model, "--data", data, mentions=["-o FILE"])
        self.expect_error(SYSTEM, *command, self.path("none.npz"), mentions=["--data", "none.npz"])
        self.expect_error(USAGE, *command, model, mentions=["--data", ".npz"])
        self.expect_error(USAGE, *command, self.write("a.npz", npz(x=npy([6, 3], self.x))), mentions=["'target'", "holds x"])
        self.expect_error(USAGE, *command, self.write("a.npz", npz(target=npy([6], self.labels, "i8"))), mentions=["'x'"])
        self.expect_error(USAGE, *command, self.data("a.npz", target=self.labels[:3]), mentions=["6 samples and 3 targets"])
        self.expect_error(USAGE, *command, self.write("a.npz", npz(x=npy([9, 2], self.x), target=npy([9], [0] * 9, "i8"))), mentions=["'x'", "9x2xf32"])
        self.expect_error(USAGE, *command, self.data("a.npz", target=[0, 1, 2, 3, 4, 0]), mentions=["label 4", "4 classes"])
        self.expect_error(USAGE, *command, self.data("a.npz", target=self.x, shape=[6, 3], kind="f4"), mentions=["6x3xf32", "6x4xf32"])
        self.expect_error(USAGE, *command, data, "--loss", "huber", mentions=["labels", "cross-entropy"])
        self.expect_error(USAGE, *command, data, "--loss-output", "3", mentions=["no output '3'", "outputs are z"])
        self.expect_error(USAGE, *command, data, "--frozen", "*", mentions=["no weight to train"])
        self.expect_error(USAGE, *command, data, "--frozen", "v*", mentions=["--frozen 'v*'", "no weight has such a name"])
        self.expect_error(USAGE, *command, data, "--trainable", "b", "--trainable", "v", mentions=["--trainable 'v'"])
        self.expect_error(USAGE, *command, data, "--validate", self.data("v.npz", target=[0, 1, 2, 3, 4, 0]), mentions=["--validate", "label 4", "4 classes"])
        self.expect_error(USAGE, *command, self.data("late.npz", target=[0, 1, 2, 3, 0, -1]), "--batch", "1", "--no-shuffle", mentions=["--data", "label -1"])
        with open(data, "rb") as file:
            cut = self.write("cut.npz", file.read()[:-30])
        self.expect_error(SYSTEM, *command, cut, mentions=["--data", "cut.npz"])
        state = 'func.func @main(%x: tensor<6x3xf32> {sinter.name = "x"}, %s: tensor<f32> {sinter.state = "count", sinter.initial = dense<0.0> : tensor<f32>}) -> (tensor<6x3xf32>, tensor<f32> {sinter.state = "count"}) {\n' \
                '  return %x, %s : tensor<6x3xf32>, tensor<f32>\n}'
        self.expect_error(UNSUPPORTED, "train", self.write("state.mlir", state), "-o", self.path("out.mlir"), "--data", data, mentions=["the state 'count'", "--freeze"])
        self.expect_error(USAGE, *command, data, "--logits", "--probabilities", mentions=["--logits"])
        self.expect_error(USAGE, *command, data, "--nesterov", mentions=["--momentum"])
        for flag, *values in (("--lr", "-1", "inf"), ("--step-factor", "-2"), ("--momentum", "-1"), ("--beta1", "1", "-0.1"), ("--beta2", "1"), ("--decay", "1"), ("--epsilon", "-1"), ("--weight-decay", "-1"),
                              ("--clip-norm", "-1"), ("--clip-value", "-2"), ("--label-smoothing", "-1", "1.5"), ("--delta", "0"), ("--ema", "1"), ("--batch-norm-momentum", "2", "-1"), ("--warmup", "-1"),
                              ("--seed", "-1"), ("--skip-unreadable", "-1"), ("--data-memory", "-1"), ("--std", "0,1,1", "nan"), ("--scale", "nan")):
            for value in values:
                self.expect_error(USAGE, *command, data, flag, value, mentions=[flag])
        self.expect_error(USAGE, *command, data, "--drop-last", "--batch", "7", mentions=["--drop-last"])
        self.expect_error(USAGE, *command, self.data("a.npz", x=[], target=[]), mentions=["no sample"])
        self.expect_error(USAGE, "train", model, "-o", model, "--data", data, mentions=["--force"])
        rounded = self.write("round.onnx", onnx.simple([onnx.node("Mul", ["x", "w"], ["m"], "times"), onnx.node("NonZero", ["m"], ["i"], "nz"), onnx.node("Cast", ["i"], ["y"], "cast", attributes=onnx.data(5, onnx.data(1, "to") + onnx.number(3, 1) + onnx.number(20, 2)))], (2, 3),
                                                       initializers=[onnx.tensor("w", [2, 3], onnx.floats(*range(6)))]))
        self.assertIn(self.sinter("train", rounded, "-o", out, "--data", data).returncode, (USAGE, UNSUPPORTED))

    def test_not_a_number(self):
        model, out = self.write("net.onnx", Network().onnx()), self.path("out.onnx")
        data = self.data(target=[1e30] * SAMPLES * CLASSES, shape=[SAMPLES, CLASSES], kind="f4")
        self.expect_nothing(out, self.sinter("train", model, "--data", data, "-o", out, "--loss", "mean-squared", "--lr", "1e9", "--epochs", "3"))

    def expect_nothing(self, out, done):
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn("the loss of step 1 is not a number", done.stderr)
        with self.assertRaises(FileNotFoundError):
            open(out, "rb").close()


if __name__ == "__main__":
    main()
