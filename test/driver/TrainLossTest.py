#!/usr/bin/env python3
# Covers: train Losses
# Covers: engine/compiler LossFile
"""`sinter train`: losses that a file says, on any output, and several of them."""
import json
import math
import os

import OnnxBytes as onnx
from SinterCommand import DONE, INVALID, SYSTEM, USAGE, main
from TrainTest import CLASSES, FEATURES, SAMPLES, Network, Optimizers, TrainCase, cross_entropy, initializers, mean_of, npy, npz, numbers

# Static: what a tool exports for one size of batch. Per-sample losses.
SQUARES = """
module {
  func.func @main(%x: tensor<6x4xf32>, %t: tensor<6x4xf32>) -> tensor<6xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %d = stablehlo.subtract %x, %t : tensor<6x4xf32>
    %q = stablehlo.multiply %d, %d : tensor<6x4xf32>
    %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
    return %s : tensor<6xf32>
  }
}
"""

# Any size of batch, a scalar; calls another function; takes weights of elements besides.
WEIGHTED = """
module {
  func.func private @square(%d: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %q = stablehlo.multiply %d, %d : tensor<?x4xf32>
    return %q : tensor<?x4xf32>
  }
  func.func @main(%x: tensor<?x4xf32>, %t: tensor<?x4xf32>, %w: tensor<?x4xf32> {sinter.name = "NAME"}) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %d = stablehlo.subtract %x, %t : tensor<?x4xf32>
    %q = call @square(%d) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %v = stablehlo.multiply %q, %w : tensor<?x4xf32>
    %s = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}
"""


class TwoOutputs(Network):
    """z as before, and y = sigmoid(z)."""

    def onnx(self):
        nodes = [onnx.node("Gemm", ["x", "w", "b"], ["z"], "gemm"), onnx.node("Sigmoid", ["z"], ["y"], "sigmoid")]
        tensors = [onnx.tensor(name, self.shapes()[name], onnx.floats(*values)) for name, values in self.weights.items()]
        outputs = [onnx.value_info("z", ["N", CLASSES]), onnx.value_info("y", ["N", CLASSES])]
        return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], outputs, tensors), 15)


class TrainLoss(TrainCase):
    def setUp(self):
        super().setUp()
        self.real = numbers(SAMPLES * CLASSES, 12, 0, 1)
        self.more = numbers(SAMPLES * CLASSES, 13, 0, 1)

    def archive(self, name="many.npz", **arrays):
        return self.write(name, npz(x=npy([SAMPLES, FEATURES], self.x), **arrays))

    def reals(self, values=None):
        return npy([SAMPLES, CLASSES], values or self.real)

    def labelled(self):
        return npy([SAMPLES], self.labels, "i8")

    def squares(self, factors=None):
        return lambda scores: sum((a - t) ** 2 * w for a, t, w in zip((each for row in scores for each in row), self.real, factors or [1.0] * SAMPLES * CLASSES))

    def test_of_a_file(self):
        """Losses of samples, of which the mean is taken; and a number, with what else the function asks for: an array, an input, an output."""
        data = self.archive(target=self.reals(), factors=self.reals(self.more))
        got = self.train(Network(), "--loss", self.write("squares.mlir", SQUARES), "--batch", "6", "--lr", "0.1", data=data)
        self.close(got, self.stepped(Network(), lambda scores: self.squares()(scores) / SAMPLES, Optimizers.sgd, 0.1))
        weighted = self.write("weighted.mlir", WEIGHTED.replace("NAME", "factors"))
        got = self.train(Network(), "--loss", weighted, "--batch", "6", "--lr", "0.1", data=data)
        self.close(got, self.stepped(Network(), self.squares(self.more), Optimizers.sgd, 0.1))
        # Batches that are short, and both backends.
        results = [self.train(Network(), "--loss", weighted, "--batch", "4", "--lr", "0.1", "--force", "--validate", data, *options, data=data) for options in ([], ["--backend", "interpreter"])]
        self.close(results[1], results[0])
        # An output of the model as a factor: gradients go through it, too.
        by_output = self.write("by_output.mlir", WEIGHTED.replace("NAME", "y"))
        got = self.train(TwoOutputs(), "--loss", by_output, "--batch", "6", "--lr", "0.1", "--force", data=data)
        sigmoid = lambda x: 1 / (1 + 2.718281828459045 ** -x)
        loss = lambda scores: sum((a - t) ** 2 * sigmoid(a) for a, t in zip((each for row in scores for each in row), self.real))
        self.close(got, self.stepped(Network(), loss, Optimizers.sgd, 0.1))

    def test_file_whose_name_is_not_utf8(self):
        """Checkpoints keep it as far as JSON can."""
        model, data = self.write("net.onnx", Network().onnx()), self.archive(target=self.reals())
        loss = self.write(os.fsdecode(b"\xff.mlir"), SQUARES)
        command = ["train", model, "--data", data, "--loss", loss, "--batch", "6", "--checkpoint-dir", self.path("kept"), "-o", self.path("trained.onnx"), "--force"]
        for more in [], ["--resume", "--epochs", "2"]:
            done = self.sinter(*command, *more)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_several(self):
        """The weighted sum, each output with a target of its own; accuracy is of the one that has labels."""
        data = self.archive(target_z=self.labelled(), target_y=self.reals())
        flat = lambda scores: [[1 / (1 + 2.718281828459045 ** -each) for each in row] for row in scores]
        loss = lambda scores: cross_entropy(scores, self.labels) + 0.3 * mean_of(lambda a, b: (a - b) ** 2)(flat(scores), self.real)
        log = self.path("log.jsonl")
        options = ["--loss", "z=cross-entropy", "--loss", "y=mean-squared:0.3", "--lr", "0.5", "--log", log]
        got = self.train(TwoOutputs(), "--batch", "6", *options, data=data)
        wanted = self.stepped(Network(), loss, Optimizers.sgd, 0.5)
        self.close(got, wanted)
        scores = Network().scores(Network().weights, self.x)
        apart = cross_entropy(scores, self.labels), mean_of(lambda a, b: (a - b) ** 2)(flat(scores), self.real)
        with open(log) as file:
            line = json.loads(file.readline())
        self.assertAlmostEqual(line["loss"], loss(scores), places=5)
        self.assertEqual(len(line["losses"]), 2)
        for got_one, one in zip(line["losses"], apart):
            self.assertAlmostEqual(got_one, one, places=5)
        for more in ["--batch", "3", "--replicas", "2"], ["--batch", "2", "--accumulate", "3"], ["--batch", "1", "--accumulate", "2", "--replicas", "3"]:
            with self.subTest(str(more)):
                self.close(self.train(TwoOutputs(), *more, *options, "--force", data=data), wanted)
        # By number, and both of one output: they share its target.
        data = self.archive(target=self.reals())
        got = self.train(TwoOutputs(), "--batch", "6", "--loss", "0=mean-squared:2", "--loss", "mean-absolute", "--lr", "0.1", "--force", data=data)
        loss = lambda scores: 2 * mean_of(lambda a, b: (a - b) ** 2)(scores, self.real) + mean_of(lambda a, b: abs(a - b))(scores, self.real)
        self.close(got, self.stepped(Network(), loss, Optimizers.sgd, 0.1))

    def test_each_of_several(self):
        """Each loss by itself, the same in batches of any size and with any number of processes."""
        model, log = self.write("net.onnx", TwoOutputs().onnx()), self.path("log.jsonl")
        data = self.archive(target_z=self.labelled(), target_y=self.reals())
        scores = Network().scores(Network().weights, self.x)
        by_sigmoid = [[1 / (1 + math.exp(-each)) for each in row] for row in scores]
        apart = [mean_of(lambda a, b: (a - b) ** 2)(by_sigmoid, self.real), cross_entropy(scores, self.labels)]
        total = 0.3 * apart[0] + apart[1]
        for more in ["--batch", "6"], ["--batch", "4", "--accumulate", "2"], ["--batch", "2", "--replicas", "4"], ["--batch", "6", "--backend", "interpreter"]:
            with self.subTest(more):
                done = self.sinter("train", model, "--data", data, "--validate", data, "-o", self.path("o.onnx"), "--loss", "y=mean-squared:0.3", "--loss", "z=cross-entropy",
                                   "--lr", "0", "--epochs", "1", "--no-shuffle", "--force", "--log", log, *more)
                self.assertEqual(done.returncode, DONE, done.stderr)
                with open(log) as file:
                    step, judgement = (json.loads(line) for line in file)
                self.assertAlmostEqual(step["loss"], total, places=5)
                for name, line in ("losses", step), ("validation_losses", judgement):
                    for got, wanted in zip(line[name], apart, strict=True):
                        self.assertAlmostEqual(got, wanted, places=5)
                text = f"loss {total:.4f} ({apart[0]:.4f}, {apart[1]:.4f})"
                self.assertIn(text, done.stdout)
                self.assertIn("validation " + text, done.stdout)

    def test_accuracy_of_several(self):
        data = self.archive(target_z=self.labelled(), target_y=self.reals())
        model = self.write("net.onnx", TwoOutputs().onnx())
        done = self.sinter("train", model, "--data", data, "--validate", data, "-o", self.path("o.onnx"), "--json", "--loss", "y=mean-squared:0.3", "--loss", "z=cross-entropy", "--batch", "4", "--lr", "0.1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("o.onnx"), "rb") as file:
            scores = Network().scores(initializers(file.read()), self.x)
        right = sum(row.index(max(row)) == label for row, label in zip(scores, self.labels))
        epoch = json.loads(done.stdout)["epochs"][0]
        self.assertAlmostEqual(epoch["validation_accuracy"], right / SAMPLES, places=6)

    def test_another_output(self):
        data = self.archive(target_y=self.reals())
        wanted = self.stepped(Network(), lambda scores: mean_of(lambda a, b: (1 / (1 + 2.718281828459045 ** -a) - b) ** 2)(scores, self.real), Optimizers.sgd, 0.1)
        for name in "y", "1":
            self.close(self.train(TwoOutputs(), "--loss", "mean-squared", "--loss-output", name, "--batch", "6", "--lr", "0.1", "--force", data=data), wanted)

    def test_written_step(self):
        """With targets by their names' order, and without anything of ours."""
        model = self.write("net.onnx", TwoOutputs().onnx())
        data = self.archive(target_z=self.labelled(), target_y=self.reals(), factors=self.reals(self.more))
        weighted = self.write("weighted.mlir", WEIGHTED.replace("NAME", "factors"))
        done = self.sinter("train", model, "--data", data, "--loss", "z=cross-entropy", "--loss", f"y={weighted}:0.5", "--batch", "6", "--write-step", self.path("step.mlir"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("step.mlir")) as file:
            text = file.read()
        self.assertNotIn("sinter.", text)
        self.assertNotIn("nn.", text)
        self.assertEqual(self.sinter("inspect", self.path("step.mlir")).returncode, DONE)

    def test_refused(self):
        model, out = self.write("net.onnx", TwoOutputs().onnx()), self.path("out.onnx")
        data = self.archive(target=self.reals())
        command = ["train", model, "-o", out, "--data", data, "--loss"]
        self.expect_error(USAGE, *command, "hinge", mentions=["'hinge'", "cross-entropy", "a file"])
        self.expect_error(USAGE, *command, "q=huber", mentions=["no output 'q'", "z, y"])
        self.expect_error(USAGE, *command, "=huber", mentions=["in front of '='"])
        self.expect_error(USAGE, *command, "huber:inf", mentions=["finite"])
        self.expect_error(SYSTEM, *command, self.path("none.mlir"), mentions=["none.mlir"])
        self.expect_error(INVALID, *command, self.write("broken.mlir", "func.func @main("), mentions=["broken.mlir"])
        self.expect_error(USAGE, *command, "z=huber", "--loss", "y=huber", mentions=["'target_z'", "holds x, target"])
        self.expect_error(USAGE, *command, self.write("static.mlir", SQUARES), "--batch", "4", mentions=["static.mlir", "6x4xf32", "4x4xf32", "?"])
        one = "func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> { return %x : tensor<6x4xf32> }"
        self.expect_error(USAGE, *command, self.write("one.mlir", one), mentions=["one.mlir", "takes 1"])
        whole = "func.func @main(%x: tensor<6x4xf32>, %t: tensor<6x4xf32>) -> tensor<6x4xi1> { %r = stablehlo.compare EQ, %x, %t : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>\n return %r : tensor<6x4xi1> }"
        self.expect_error(USAGE, *command, self.write("whole.mlir", whole), "--batch", "6", mentions=["whole.mlir", "floating-point"])
        self.expect_error(USAGE, *command, self.write("factors.mlir", WEIGHTED.replace("NAME", "factors")), mentions=["'factors'", "holds x, target"])
        apart = one.replace("(%x: tensor<6x4xf32>)", "(%x: tensor<6x4xf32>, %t: tensor<6x4xf32>)").replace("return %x", "return %t")
        self.expect_error(USAGE, *command, self.write("apart.mlir", apart), "--batch", "6", mentions=["depends on none of the weights"])


if __name__ == "__main__":
    main()
