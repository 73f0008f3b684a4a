#!/usr/bin/env python3
# Covers: autodiff Reinitialize
"""What a step of `sinter train` keeps beside the weights: gradients of several batches, averages of weights; and what weights begin with."""
import json
import math
import os
import shutil

import OnnxBytes as onnx
from SinterCommand import DONE, USAGE, WRONG, main
from TrainTest import CLASSES, FEATURES, SAMPLES, Network, Optimizers, TrainCase, cross_entropy, initializers, npy, npz


class TrainStates(TrainCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_accumulation(self):
        """Batches of 2, three a step, give what one of 6 gives; those with fewer labels count for less; so does the rest of an epoch."""
        for rule, kind, options in ("adam", "adam", []), ("momentum", "sgd", ["--momentum", "0.9"]), ("sgd", "sgd", ["--clip-norm", "1e9"]):
            for labels in self.labels, [self.labels[0], -100, *self.labels[2:]], [-100, -100, *self.labels[2:]]:
                with self.subTest(f"{rule} {labels}"):
                    data = self.data(target=labels)
                    got = self.train(Network(), "--optimizer", kind, "--lr", "0.1", "--batch", "2", "--accumulate", "3", "--epochs", "3", *options, "--force", data=data)
                    wanted = self.stepped(Network(), lambda scores: cross_entropy(scores, labels), getattr(Optimizers, rule), 0.1, 3)
                    self.close(got, wanted)
        # 4 + 2 samples a batch, all of them a step, and steps are fewer than asked for.
        for batch, number in ("4", "2"), ("4", "9"), ("1", "6"):
            got = self.train(Network(), "--lr", "0.1", "--batch", batch, "--accumulate", number, "--epochs", "2", "--force", "--log", self.path("log.jsonl"))
            wanted = self.stepped(Network(), lambda scores: cross_entropy(scores, self.labels), Optimizers.sgd, 0.1, 2)
            self.close(got, wanted)
            lines = [json.loads(line) for line in self.read("log.jsonl").splitlines()]
            self.assertEqual([line["step"] for line in lines], [1, 2])
            self.assertAlmostEqual(lines[0]["loss"], cross_entropy(Network().scores(Network().weights, self.x), self.labels), places=5)

    def test_schedule_counts_steps(self):
        """The rate follows steps of the optimiser, not batches."""
        self.train(Network(), "--lr", "0.4", "--schedule", "linear", "--batch", "1", "--accumulate", "3", "--epochs", "2", "--log", self.path("log.jsonl"))
        rates = [json.loads(line)["lr"] for line in self.read("log.jsonl").splitlines()]
        for rate, wanted in zip(rates, [0.4, 0.3, 0.2, 0.1], strict=True):
            self.assertAlmostEqual(rate, wanted)

    def averages(self, decay, steps):
        """The average of the weights before the first step and after each."""
        average = {name: list(values) for name, values in Network().weights.items()}
        for step in range(1, steps + 1):
            weights = self.stepped(Network(), lambda scores: cross_entropy(scores, self.labels), Optimizers.sgd, 0.5, step)
            average = {name: [decay * a + (1 - decay) * w for a, w in zip(average[name], weights[name])] for name in weights}
        return average

    def test_average(self):
        wanted = self.averages(0.7, 4)
        model, out, data = self.write("net.onnx", Network().onnx()), self.path("out.onnx"), self.data()
        for options in [], ["--backend", "interpreter"], ["--batch", "2", "--accumulate", "3"]:
            done = self.sinter("train", model, "--data", data, "--validate", data, "-o", out, "--no-shuffle", "--lr", "0.5", "--epochs", "4", "--ema", "0.7", "--force", "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            got = initializers(self.read("out.onnx"))
            self.close(got, wanted)
            loss = json.loads(done.stdout)["epochs"][-1]["validation_loss"]
            self.assertAlmostEqual(loss, cross_entropy(Network().scores(got, self.x), self.labels), places=5)

    def test_average_of_a_narrow_weight(self):
        """It is kept in f32, and rounded where it is written and judged."""
        network = Network()
        w = ", ".join("[" + ", ".join(str(network.weights["w"][k * CLASSES + c]) for c in range(CLASSES)) + "]" for k in range(FEATURES))
        narrow, wide = f"tensor<{SAMPLES}x{CLASSES}xbf16>", f"tensor<{SAMPLES}x{CLASSES}xf32>"
        model = self.write("net.mlir", f"""func.func @main(%x: tensor<{SAMPLES}x{FEATURES}xf32>) -> {wide} {{
  %w = stablehlo.constant dense<[{w}]> : tensor<{FEATURES}x{CLASSES}xbf16>
  %v = stablehlo.convert %x : (tensor<{SAMPLES}x{FEATURES}xf32>) -> tensor<{SAMPLES}x{FEATURES}xbf16>
  %y = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<{SAMPLES}x{FEATURES}xbf16>, tensor<{FEATURES}x{CLASSES}xbf16>) -> {narrow}
  %z = stablehlo.convert %y : ({narrow}) -> {wide}
  return %z : {wide}
}}
""".encode())
        losses = []
        data = self.data()
        for name, options in ("moved", []), ("averaged", ["--ema", "0.999"]):
            done = self.sinter("train", model, "--data", data, "--validate", data, "-o", self.path(name + ".mlir"), "--lr", "0.5", "--epochs", "20", "--batch", str(SAMPLES), "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            losses.append([each["validation_loss"] for each in json.loads(done.stdout)["epochs"]])
        # An average that keeps so much hardly moves, and each of its moves is less than bf16 can tell.
        self.assertLess(losses[0][-1], losses[0][0] - 0.05)
        self.assertLess(abs(losses[1][-1] - losses[1][0]), 0.05)
        self.assertNotEqual(losses[1][-1], losses[1][0])
        self.assertNotEqual(self.read("moved.mlir"), self.read("averaged.mlir"))

    def test_goes_on_with_the_same_bits(self):
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        for options in ["--accumulate", "2"], ["--ema", "0.9"], ["--reinitialize", "w", "--accumulate", "3", "--ema", "0.5"]:
            with self.subTest(options):
                command = ["train", model, "--data", data, "--validate", data, "--batch", "1", "--epochs", "3", "--optimizer", "adam", "--lr", "0.1", *options]
                self.assertEqual(self.sinter(*command, "-o", self.path("whole.onnx"), "--force").returncode, DONE)
                kept = [*command, "-o", self.path("out.onnx"), "--force", "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--keep-checkpoints", "99"]
                self.assertEqual(self.sinter(*kept).returncode, DONE)
                steps = sorted(os.listdir(self.path("kept")))
                for last in reversed(range(1, len(steps) - 1)):
                    for name in os.listdir(self.path("kept")):
                        if name > steps[last]:
                            shutil.rmtree(self.path("kept/" + name))
                    done = self.sinter(*kept, "--resume")
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
                    self.assertNotIn("afresh", done.stderr)
                other = [{"2": "4", "3": "4", "0.9": "0.8"}.get(each, each) for each in options]
                self.expect_error(USAGE, *kept[:kept.index(options[0])], *other, *kept[kept.index(options[0]) + len(options):], "--resume", mentions=["had another"])
                shutil.rmtree(self.path("kept"))

    def test_written_step_accumulates(self):
        """The new inputs and states are in the file as documented."""
        step = self.path("step.mlir")
        done = self.sinter("train", self.write("net.onnx", Network().onnx()), "--data", self.data(), "--write-step", step, "--accumulate", "2", "--ema", "0.9", "--batch", "6")
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("inspect", step, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        described = json.loads(done.stdout)
        shapes = lambda which: [[each["type"], each["shape"]] for each in described[which]]
        w, b, scalar = ["f32", [FEATURES, CLASSES]], ["f32", [CLASSES]], ["f32", []]
        # x, w, b, target, learning_rate, update, accumulated, w.gradient, b.gradient, w.average, b.average
        self.assertEqual(shapes("inputs"), [["f32", [SAMPLES, FEATURES]], w, b, ["i64", [SAMPLES]], scalar, ["i1", []], scalar, w, b, w, b])
        self.assertEqual(shapes("outputs"), [scalar] * 4 + [w, b, scalar, w, b, w, b])

    def test_fresh_weights(self):
        network = Network(norm=True)
        done = None

        def begun(*options):
            out = self.path("out.onnx")
            nonlocal done
            done = self.sinter("train", self.write("net.onnx", network.onnx()), "--data", self.data(), "-o", out, "--force", "--lr", "0", "--batch-norm-momentum", "1", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            return initializers(self.read("out.onnx"))

        old, fresh = begun(), begun("--reinitialize", "*")
        self.assertIn("these begin afresh: scale, offset, w, b, mean, variance", done.stderr)
        self.assertEqual(fresh["scale"], [1.0] * FEATURES)
        self.assertEqual(fresh["variance"], [1.0] * FEATURES)
        for name, size in ("offset", FEATURES), ("mean", FEATURES), ("b", CLASSES):
            self.assertEqual(fresh[name], [0.0] * size)
        bound = 1 / math.sqrt(FEATURES)
        self.assertLess(max(map(abs, fresh["w"])), bound)
        self.assertGreater(max(map(abs, fresh["w"])), bound / 2)
        self.assertEqual(len(set(fresh["w"])), FEATURES * CLASSES)
        self.assertEqual(begun("--reinitialize", "*"), fresh)
        self.assertEqual(begun("--reinitialize", "*", "--threads", "1"), fresh)
        self.assertNotEqual(begun("--reinitialize", "*", "--seed", "1")["w"], fresh["w"])
        some = begun("--reinitialize", "w", "--reinitialize", "me*")
        self.assertIn("these begin afresh: w, mean\n", done.stderr)
        self.assertEqual(some, {**old, "w": fresh["w"], "mean": fresh["mean"]})

    def test_fresh_weights_by_what_reads_them(self):
        """Kernels by what a window sums up, whichever group it is in; a slope; factors and addends of one dimension."""
        weights = {"kernel": ([6, 2, 3, 3], 18), "slope": ([6, 1, 1], None), "factor": ([1, 6, 1, 1], None), "addend": ([6, 1, 1], None), "table": ([24, 5], 24)}
        tensors = [onnx.tensor(name, shape, onnx.floats(*([0.5] * math.prod(shape)))) for name, (shape, _) in weights.items()]
        group = onnx.data(5, onnx.data(1, "group") + onnx.number(3, 2) + onnx.number(20, 2))
        nodes = [onnx.node("Conv", ["x", "kernel"], ["c"], "c", attributes=group), onnx.node("PRelu", ["c", "slope"], ["p"], "p"),
                 onnx.node("Mul", ["p", "factor"], ["m"], "m"), onnx.node("Add", ["m", "addend"], ["a"], "a"),
                 onnx.node("Flatten", ["a"], ["f"], "f"), onnx.node("MatMul", ["f", "table"], ["y"], "y")]
        model = self.write("net.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 4, 4, 4])], [onnx.value_info("y", [2, 5])], tensors), 15))
        data = self.write("d.npz", npz(x=npy([2, 4, 4, 4], [0.5] * 128), target=npy([2], [0, 1], "i8")))
        done = self.sinter("train", model, "--data", data, "-o", self.path("out.onnx"), "--lr", "0", "--batch", "2", "--reinitialize", "*")
        self.assertEqual(done.returncode, DONE, done.stderr)
        got = initializers(self.read("out.onnx"))
        self.assertEqual({name: set(got[name]) for name in ("slope", "factor", "addend")}, {"slope": {0.25}, "factor": {1.0}, "addend": {0.0}})
        for name, (shape, products) in weights.items():
            if products:
                bound = 1 / math.sqrt(products)
                self.assertLess(max(map(abs, got[name])), bound)
                self.assertGreater(max(map(abs, got[name])), bound * 0.9)

    def test_refused(self):
        command = ["train", self.write("net.onnx", Network(norm=True).onnx()), "--data", self.data(), "-o", self.path("out.onnx")]
        self.expect_error(USAGE, *command, "--reinitialize", "w", "--reinitialize", "nowhere*", mentions=["nowhere*", "no weight"])
        self.expect_error(USAGE, *command, "--reinitialize", "b", "--frozen", "b", mentions=["--reinitialize", "trained"])
        self.expect_error(USAGE, *command, "--reinitialize", "mean", "--freeze-batch-norm", mentions=["--reinitialize", "trained"])
        self.expect_error(USAGE, *command, "--reinitialize", "[", mentions=["'['"])
        for given in "1", "-0.1", "nan":
            self.assertEqual(self.sinter(*command, "--ema", given).returncode, USAGE)
        self.assertEqual(self.sinter(*command, "--accumulate", "0").returncode, USAGE)

    def test_infinite_gradient(self):
        """The root of 0 is finite, and its slope is not: nothing is written, and the message names the place."""
        nodes = [onnx.node("Mul", ["x", "w"], ["m"], "times"), onnx.node("Sqrt", ["m"], ["r"], "root"), onnx.node("Add", ["r", "b"], ["z"], "plus")]
        model = self.write("net.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", 3])], [onnx.value_info("z", ["N", 3])],
                                                             [onnx.tensor("w", [3], onnx.floats(1, 2, 3)), onnx.tensor("b", [3], onnx.floats(0, 0, 0))]), 15))
        rows = lambda numbers: npy([len(numbers) // 3, 3], numbers)
        good = [1.0, 2.0, 3.0]
        for first in good, [1.0, 0.0, 3.0], [0.0] * 3:
            is_good = first is good
            data = self.write("d.npz", npz(x=rows([*good, *first]), target=rows([1.0] * 6)))
            for options in [], ["--accumulate", "2"], ["--clip-norm", "1"], ["--optimizer", "adam"], ["--backend", "interpreter"], ["--ema", "0.5"]:
                with self.subTest(f"{first} {options}"):
                    out = self.path("out.onnx")
                    if os.path.exists(out):
                        os.remove(out)
                    done = self.sinter("train", model, "--data", data, "-o", out, "--loss", "mean-squared", "--lr", "0.1", "--batch", "1", "--no-shuffle", *options)
                    self.assertEqual(done.returncode, DONE if is_good else WRONG, done.stderr)
                    self.assertEqual(os.path.exists(out), is_good)
                    if not is_good:
                        step = 1 if "--accumulate" in options else 2
                        self.assertIn(f"a gradient of step {step} is not finite", done.stderr)
                        self.assertIn("'root'", done.stderr)
                        self.assertIn("in the backward pass", done.stderr)


if __name__ == "__main__":
    main()
