#!/usr/bin/env python3
# Covers: autodiff SamplePositions TrainDropouts
"""`sinter train` of models with dropouts: what is dropped follows from counters alone, written here from their definition."""
import json
import os
import shutil
import struct

import OnnxBytes as onnx
from SinterCommand import DONE, main
from TrainTest import CLASSES, FEATURES, SAMPLES, Optimizers, Network, TrainCase, cross_entropy, initializers, npy, npz, numbers

WORD, LONG = 2 ** 32 - 1, 2 ** 64 - 1


def split_mix(seed, index):
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & LONG
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & LONG
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & LONG
    return z ^ (z >> 31)


def key(seed, epoch, sample):
    return split_mix(split_mix(split_mix(seed, LONG), epoch), sample)


def mix(x):
    x = (x ^ (x >> 16)) * 0x7FEB352D & WORD
    x = (x ^ (x >> 15)) * 0x846CA68B & WORD
    return x ^ (x >> 16)


def bits(key, number, place):
    a = mix((key & WORD) + number * 0x9E3779B9 & WORD)
    b = mix((key >> 32) ^ a)
    return mix(mix(place ^ a) + b & WORD)


def kept(key, number, place, ratio):
    return bits(key, number, place) >= round(ratio * 2 ** 32)


def attribute_of_float(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.varint(2 << 3 | 5) + onnx.floats(value) + onnx.number(20, 1))


def attribute_of_int(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


class Dropped(Network):
    """z = dropout(x) w + b, in the form of a version of ONNX."""

    def __init__(self, ratio=0.4, version=15, training=None, seed=0, epoch=0):
        super().__init__()
        self.ratio, self.version, self.training_mode, self.keys = ratio, version, training, [key(seed, epoch, i) for i in range(SAMPLES)]

    def onnx(self):
        tensors = [onnx.tensor(name, self.shapes()[name], onnx.floats(*values)) for name, values in self.weights.items()]
        inputs, attributes = ["x"], b""
        if self.version >= 12:
            tensors.append(onnx.tensor("ratio", [], onnx.floats(self.ratio)))
            inputs.append("ratio")
            if self.training_mode is not None:
                tensors.append(onnx.tensor("mode", [], bytes([self.training_mode]), data_type=9))
                inputs.append("mode")
        else:
            attributes = attribute_of_float("ratio", self.ratio) + (attribute_of_int("is_test", 1) if self.version < 7 else b"")
        nodes = [onnx.node("Dropout", inputs, ["d"], "drop", attributes=attributes), onnx.node("Gemm", ["d", "w", "b"], ["z"], "gemm", attributes=attribute_of_int("broadcast", 1) if self.version < 7 else b"")]
        return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("z", ["N", CLASSES])], tensors), self.version)

    def scores(self, weights, x):
        masked = [value / (1 - self.ratio) if kept(self.keys[i // FEATURES], 0, i % FEATURES, self.ratio) else 0.0 for i, value in enumerate(x)]
        return super().scores(weights, masked)


class Layouts:
    """y = sum over s of dropout(h), h = x[:, s] w: what the samples' dimension is when elements are dropped."""
    LENGTH, WIDTH = 5, 4

    def __init__(self, kind):
        self.kind = kind

    def onnx(self):
        nodes = [onnx.node("MatMul", ["x", "w"], ["h"], "in")]
        perm = lambda *order: onnx.data(5, onnx.data(1, "perm") + b"".join(onnx.number(8, each) for each in order) + onnx.number(20, 7))
        ratio = ["ratio"]
        if self.kind == "plain":
            nodes += [onnx.node("Dropout", ["h", *ratio], ["k"], "drop")]
        elif self.kind == "second":  # [S, N, W]
            nodes += [onnx.node("Transpose", ["h"], ["t"], "there", attributes=perm(1, 0, 2)), onnx.node("Dropout", ["t", *ratio], ["u"], "drop"),
                      onnx.node("Transpose", ["u"], ["k"], "back", attributes=perm(1, 0, 2))]
        elif self.kind == "merged":  # [N * S, W]
            nodes += [onnx.node("Reshape", ["h", "flat"], ["t"], "there"), onnx.node("Dropout", ["t", *ratio], ["u"], "drop"), onnx.node("Reshape", ["u", "back"], ["k"], "again")]
        elif self.kind == "inner":  # [S * N, W]
            nodes += [onnx.node("Transpose", ["h"], ["a"], "there", attributes=perm(1, 0, 2)), onnx.node("Reshape", ["a", "flat"], ["t"], "flatten"),
                      onnx.node("Dropout", ["t", *ratio], ["u"], "drop"), onnx.node("Reshape", ["u", "turned"], ["c"], "again"), onnx.node("Transpose", ["c"], ["k"], "back", attributes=perm(1, 0, 2))]
        nodes += [onnx.node("ReduceMean", ["k"], ["y"], "mean", attributes=onnx.data(5, onnx.data(1, "axes") + onnx.number(8, 1) + onnx.number(20, 7)) + attribute_of_int("keepdims", 0))]
        integers = lambda *values: struct.pack(f"<{len(values)}q", *values)
        tensors = [onnx.tensor("w", [FEATURES, self.WIDTH], onnx.floats(*numbers(FEATURES * self.WIDTH, 1))), onnx.tensor("ratio", [], onnx.floats(0.5)),
                   onnx.tensor("flat", [2], integers(-1, self.WIDTH), data_type=7), onnx.tensor("back", [3], integers(-1, self.LENGTH, self.WIDTH), data_type=7),
                   onnx.tensor("turned", [3], integers(self.LENGTH, -1, self.WIDTH), data_type=7)]
        return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", self.LENGTH, FEATURES])], [onnx.value_info("y", ["N", self.WIDTH])], tensors), 15)


class TrainDropout(TrainCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_done(self, *command):
        done = self.sinter(*command)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def test_what_is_dropped(self):
        """The mask by its definition, in each form of the operator, and of a ratio of 1."""
        loss = lambda scores: cross_entropy(scores, self.labels)
        for version, training, ratio, seed in (15, None, 0.4, 0), (15, 0, 0.25, 0), (15, 1, 0.4, 0), (11, None, 0.4, 0), (7, None, 0.4, 0), (6, None, 0.4, 0), (15, None, 0.4, 7), (13, None, 1.0, 0):
            with self.subTest(f"{version} {training} {ratio} {seed}"):
                network = Dropped(ratio, version, training, seed)
                if ratio == 1:
                    network.scores = lambda weights, x: [weights["b"]] * SAMPLES
                options = ["--seed", str(seed)] if seed else []
                got = self.train(network, "--lr", "0.5", "--batch", "6", *options)
                got = {name: got[name] for name in network.weights}
                self.close(got, self.stepped(network, loss, Optimizers.sgd, 0.5))
        self.assertEqual({kept(key(0, 0, i), 0, j, 0.4) for i in range(SAMPLES) for j in range(FEATURES)}, {True, False})

    def test_nothing_at_inference(self):
        """Run, optimised and judged as if it were not there; the written file has its nodes."""
        network = Dropped()
        model, x = self.write("net.onnx", network.onnx()), self.write("x.npy", npy([SAMPLES, FEATURES], self.x))
        plain = Network().scores(network.weights, self.x)
        for backend in "cpu", "interpreter":
            self.run_done("run", model, "--input", x, "--output-dir", self.path(backend), "--backend", backend)
            raw = self.read(f"{backend}/z.npy")[-4 * SAMPLES * CLASSES:]
            for got, wanted in zip(struct.unpack(f"<{SAMPLES * CLASSES}f", raw), [each for row in plain for each in row]):
                self.assertAlmostEqual(got, wanted, places=5)
        self.run_done("optimize", model, "-o", self.path("small.onnx"))
        self.assertEqual(onnx.node_types(self.read("small.onnx")), ["Gemm"])
        self.assertIn("remove-dropout", self.run_done("optimize", model, "--list-patterns").stdout)
        done = self.run_done("train", model, "--data", self.data(), "--validate", self.data(), "-o", self.path("out.onnx"), "--lr", "0.1", "--json")
        self.assertEqual(onnx.node_types(self.read("out.onnx")), ["Dropout", "Gemm"])
        weights = initializers(self.read("out.onnx"))
        judged = json.loads(done.stdout)["epochs"][0]["validation_loss"]
        self.assertAlmostEqual(judged, cross_entropy(Network().scores(weights, self.x), self.labels), places=5)

    def test_same_again(self):
        """The same bits with any number of threads and after a checkpoint; the interpreter, and batches in parts, nearly so."""
        model, data = self.write("net.onnx", Dropped().onnx()), self.data()
        command = ["train", model, "--data", data, "--epochs", "4", "--lr", "0.1", "--no-cache", "--force", "-o"]
        run = lambda name, *options: self.run_done(*command, self.path(name), *options) and self.read(name)
        whole = run("a.onnx", "--batch", "4", "--threads", "1")
        self.assertEqual(run("b.onnx", "--batch", "4", "--threads", "2"), whole)
        self.assertNotEqual(run("c.onnx", "--batch", "4", "--seed", "1"), whole)
        self.close(initializers(run("d.onnx", "--batch", "4", "--backend", "interpreter")), initializers(whole))
        self.close(initializers(run("e.onnx", "--batch", "2", "--replicas", "2")), initializers(whole))
        self.close(initializers(run("e.onnx", "--batch", "2", "--accumulate", "3")), initializers(run("f.onnx", "--batch", "6")))
        kept_ones = ["--batch", "4", "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--keep-checkpoints", "9"]
        run("g.onnx", *kept_ones)
        for name in sorted(os.listdir(self.path("kept")))[3:]:
            shutil.rmtree(self.path("kept/" + name))
        self.assertEqual(run("g.onnx", *kept_ones, "--resume"), whole)

    def test_samples_in_any_dimension(self):
        """A sample's bits are its own wherever it lies: two processes do what one does."""
        count = 8
        samples = numbers(count * Layouts.LENGTH * FEATURES, 30)
        target = [i % Layouts.WIDTH for i in range(count)]
        data = self.write("d.npz", npz(x=npy([count, Layouts.LENGTH, FEATURES], samples), target=npy([count], target, "i8")))
        results = set()
        for kind in "plain", "second", "merged", "inner":
            with self.subTest(kind):
                model = self.write(kind + ".onnx", Layouts(kind).onnx())
                weights = []
                for options in ["--batch", "8"], ["--batch", "4", "--replicas", "2"], ["--batch", "2", "--accumulate", "4"]:
                    self.run_done("train", model, "--data", data, "-o", self.path("out.onnx"), "--force", "--lr", "0.5", "--epochs", "2", "--no-cache", *options)
                    weights.append({"w": initializers(self.read("out.onnx"))["w"]})
                self.close(weights[1], weights[0])
                self.close(weights[2], weights[0])
                results.add(round(weights[0]["w"][0], 4))
        # Places within a sample are in the order of the operand's elements: only a transposition within samples changes them.
        self.assertEqual(len(results), 1, results)

    def test_written_step(self):
        """Public StableHLO that takes the keys, and gives what a step of training gives."""
        network, step = Dropped(), self.path("step.mlir")
        model = self.write("net.onnx", network.onnx())
        self.run_done("train", model, "--data", self.data(), "--batch", "6", "--no-shuffle", "--lr", "0.1", "--write-step", step)
        text = self.read("step.mlir").decode()
        self.assertNotIn("nn.", text)
        self.assertIn("tensor<6xui64>", text)
        keys = struct.pack(f"<{SAMPLES}Q", *network.keys)
        header = npy([SAMPLES], [0] * SAMPLES, "i8")[:-8 * SAMPLES].replace(b"i8", b"u8")
        inputs = [("x", npy([SAMPLES, FEATURES], self.x)), ("w", npy([FEATURES, CLASSES], network.weights["w"])), ("b", npy([CLASSES], network.weights["b"])), ("random", header + keys),
                  ("target", npy([SAMPLES], self.labels, "i8")), ("rate", npy([], [0.1]))]
        self.run_done("run", step, *(word for name, content in inputs for word in ("--input", self.write(name + ".npy", content))), "--output-dir", self.path("results"))
        wanted = self.stepped(network, lambda scores: cross_entropy(scores, self.labels), Optimizers.sgd, 0.1)
        for number, name in (4, "w"), (5, "b"):
            raw = self.read(f"results/result{number}.npy")[-4 * len(wanted[name]):]
            for a, b in zip(struct.unpack(f"<{len(wanted[name])}f", raw), wanted[name]):
                self.assertAlmostEqual(a, b, places=5)

    def test_shares(self):
        """As many are kept as the ratio says, by sample, by place, by epoch and by dropout; neighbours do not depend on each other."""
        for ratio in 0.1, 0.5, 0.8:
            table = [[[kept(key(0, epoch, sample), number, place, ratio) for place in range(200)] for sample in range(20)] for epoch in range(3) for number in range(2)]
            flat = [each for layer in table for row in layer for each in row]
            deviation = (ratio * (1 - ratio)) ** 0.5
            self.assertAlmostEqual(sum(flat) / len(flat), 1 - ratio, delta=4 * deviation / len(flat) ** 0.5)
            for other in (1, 200, 4000):
                both = sum(a and b for a, b in zip(flat, flat[other:])) / (len(flat) - other)
                self.assertAlmostEqual(both, (1 - ratio) ** 2, delta=0.02)

    def test_other_formats(self):
        """Paddle's operator and ours, from one to the other."""
        model = self.write("net.onnx", Dropped().onnx())
        results = []
        for name in "net.onnx", "net.pdmodel", "net.json":
            if name != "net.onnx":
                self.run_done("convert", model, "-o", self.path(name))
            back = self.path("back-" + name + ".onnx")
            out = self.path("out-" + name)
            self.run_done("train", self.path(name), "--data", self.data(), "--lr", "0.5", "--batch", "6", "-o", out)
            self.run_done("convert", out, "-o", back)
            self.assertIn("Dropout", onnx.node_types(self.read("back-" + name + ".onnx")))
            results.append(initializers(self.read("back-" + name + ".onnx")))
        for each in results[1:]:
            self.close({name: each[name] for name in ("w", "b")}, {name: results[0][name] for name in ("w", "b")})


if __name__ == "__main__":
    main()
