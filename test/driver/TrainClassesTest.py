#!/usr/bin/env python3
# Covers: autodiff ReplaceHead
# Covers: train Classes
# Covers: engine/compiler Trainer
# Covers: interface TrainStepOptions
"""`sinter train --classes`: the last layer gets another number of classes."""
import json
import os
import struct

import OnnxBytes as onnx
from QuantizeModels import ints, packed, draw, png
from SinterCommand import CommandTest, DONE, UNSUPPORTED, USAGE, main
from TrainTest import initializers, npy, npz, numbers

BEFORE, FEATURES, SAMPLES = 7, 3, 6


def weight(name, shape, seed):
    count = 1
    for size in shape:
        count *= size
    return onnx.tensor(name, shape, packed(draw(count, seed)))


def text(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


def network(nodes, weights, x, y, opset=15, infos=()):
    graph = onnx.graph(nodes, [onnx.value_info("x", x)], [onnx.value_info("y", y)], weights) + b"".join(onnx.data(13, each) for each in infos)
    return onnx.model(graph, opset)


def perceptron():
    """Two layers and a softmax; the scores are declared, too."""
    nodes = [onnx.node("Gemm", ["x", "w1", "b1"], ["h"], "hidden"), onnx.node("Relu", ["h"], ["r"], "relu"),
             onnx.node("Gemm", ["r", "w2", "b2"], ["z"], "head", attributes=text("transB", 1)),
             onnx.node("Softmax", ["z"], ["y"], "softmax")]
    weights = [weight("w1", [FEATURES, 5], 1), weight("b1", [5], 2), weight("w2", [BEFORE, 5], 3), weight("b2", [BEFORE], 4)]
    return network(nodes, weights, ["N", FEATURES], ["N", BEFORE], infos=[onnx.value_info("z", ["N", BEFORE])])


def convolutional():
    """As SqueezeNet ends: a 1x1 convolution, a rectifier, the mean."""
    nodes = [onnx.node("Conv", ["x", "w1", "b1"], ["c"], "conv"), onnx.node("Relu", ["c"], ["r"], "relu"),
             onnx.node("Conv", ["r", "w2", "b2"], ["z"], "head"), onnx.node("Relu", ["z"], ["q"], "relu2"),
             onnx.node("GlobalAveragePool", ["q"], ["p"], "pool"), onnx.node("Flatten", ["p"], ["y"], "flat")]
    weights = [weight("w1", [4, 1, 3, 3], 1), weight("b1", [4], 2), weight("w2", [BEFORE, 4, 1, 1], 3), weight("b2", [BEFORE], 4)]
    return network(nodes, weights, ["N", 1, 8, 8], ["N", BEFORE])


def product():
    """MatMul and Add."""
    nodes = [onnx.node("MatMul", ["x", "w2"], ["z"], "head"), onnx.node("Add", ["z", "b2"], ["y"], "bias")]
    return network(nodes, [weight("w2", [FEATURES, BEFORE], 3), weight("b2", [BEFORE], 4)], ["N", FEATURES], ["N", BEFORE])


def shapes(content):
    """The shapes of the weights of an ONNX model, by name."""
    found = {}
    for graph in (value for field, value in onnx.fields(content) if field == 7):
        for tensor in (value for field, value in onnx.fields(graph) if field == 5):
            name = bytes(dict(onnx.fields(tensor))[8]).decode()
            sizes = []
            for field, value in onnx.fields(tensor):
                if field == 1:
                    sizes += [value] if isinstance(value, int) else list(bytes(value))
            found[name] = sizes
    return found


def metadata(content):
    entries = [dict(onnx.fields(value)) for field, value in onnx.fields(content) if field == 14]
    return {bytes(each[1]).decode(): bytes(each[2]).decode() for each in entries}


class TrainClasses(CommandTest):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def archive(self, classes, shape=(FEATURES,), name="data.npz"):
        count = SAMPLES
        for size in shape:
            count *= size
        labels = [i % classes for i in range(SAMPLES)]
        return self.write(name, npz(x=npy([SAMPLES, *shape], numbers(count, 9)), target=npy([SAMPLES], labels, "i8")))

    def folders(self, *names):
        for number, name in enumerate(names):
            os.makedirs(self.path(f"images/{name}"))
            for i in range(2):
                self.write(f"images/{name}/{i}.png", png(8, 8, [(37 * number + 11 * i + k) % 256 for k in range(64)]))
        return self.path("images")

    def train(self, model, data, *more, code=DONE, output="trained.onnx"):
        done = self.sinter("train", model, "--data", data, "-o", self.path(output), *more)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stderr

    def test_forms_of_the_last_layer(self):
        for make, shape, kernel in (perceptron, (FEATURES,), [3, 5]), (convolutional, (1, 8, 8), [3, 4, 1, 1]), (product, (FEATURES,), [FEATURES, 3]):
            model = self.write("net.onnx", make())
            data = self.archive(3, shape)
            for how in "auto", "3":
                with self.subTest(make.__name__, classes=how):
                    notes = self.train(model, data, "--classes", how)
                    self.assertIn(f"the last layer 'head' gets 3 classes in place of {BEFORE}: ", notes)
                    self.assertRegex(notes, r"w2 \[[\d, ]+\] -> \[[\d, ]+\]")
                    self.assertIn(f"b2 [{BEFORE}] -> [3]", notes)
                    found = shapes(self.read("trained.onnx"))
                    self.assertEqual((found["w2"], found["b2"]), (kernel, [3]))
                    # What was there before the head was trained on, not replaced.
                    self.assertLessEqual(set(shapes(self.read("net.onnx"))), set(found))
                    done = self.sinter("inspect", self.path("trained.onnx"))
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    size = "x".join(str(each) for each in (2, *shape))
                    done = self.sinter("run", self.path("trained.onnx"), "--shape", f"x:{size}", "--input", "random", "--json")
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertEqual(self.sinter("compare", self.path("trained.onnx")).returncode, DONE)

    def test_begins_by_the_seed(self):
        model, data = self.write("net.onnx", perceptron()), self.archive(3)
        found = []
        for seed in "1", "1", "2":
            self.train(model, data, "--classes", "3", "--lr", "0", "--seed", seed)
            found.append(initializers(self.read("trained.onnx")))
        self.assertEqual(found[0], found[1])
        self.assertNotEqual(found[0]["w2"], found[2]["w2"])
        # Uniform up to 1 / sqrt(5), the bias 0, all others as they were.
        self.assertLessEqual(max(abs(each) for each in found[0]["w2"]), 5 ** -0.5)
        self.assertGreater(len(set(found[0]["w2"])), 10)
        self.assertEqual(found[0]["b2"], [0, 0, 0])
        self.assertEqual(found[0]["w1"], initializers(self.read("net.onnx"))["w1"])

    def test_more_classes(self):
        model, data = self.write("net.onnx", perceptron()), self.archive(6)
        self.train(model, data, "--classes", "12")
        self.assertEqual(shapes(self.read("trained.onnx"))["w2"], [12, 5])
        # As many as before: nothing changes.
        notes = self.train(model, data, "--classes", str(BEFORE))
        self.assertNotIn("the last layer", notes)

    def test_other_formats(self):
        model, data = self.write("net.onnx", perceptron()), self.archive(3)
        for output in "net.mlir", "net.pdmodel":
            with self.subTest(output):
                self.assertEqual(self.sinter("convert", model, "-o", self.path(output)).returncode, DONE)
                notes = self.train(self.path(output), data, "--classes", "auto", output="trained-" + output)
                self.assertIn(f"3 classes in place of {BEFORE}", notes)
                done = self.sinter("inspect", self.path("trained-" + output), "--json")
                self.assertEqual(done.returncode, DONE, done.stderr)
                done = self.sinter("run", self.path("trained-" + output), "--shape", "x:2x3" if output.endswith("mlir") else "x:2x3", "--input", "random", "--output-dir", self.path("out-" + output))
                self.assertEqual(done.returncode, DONE, done.stderr)
                (result,) = os.listdir(self.path("out-" + output))
                with open(os.path.join(self.path("out-" + output), result), "rb") as file:
                    self.assertIn(b"(2, 3)", file.read())

    def test_names_of_classes(self):
        model, data = self.write("net.onnx", convolutional()), self.folders("cat", "dog", "owl")
        notes = self.train(model, data, "--classes", "auto")
        self.assertIn("gets 3 classes", notes)
        self.assertEqual(metadata(self.read("trained.onnx"))["sinter.labels"], "cat\ndog\nowl")
        labels = self.write("labels.txt", b"owl\ndog\ncat\nfox\n")
        notes = self.train(model, data, "--classes", "auto", "--labels", labels)
        self.assertIn("gets 4 classes", notes)
        self.assertEqual(metadata(self.read("trained.onnx"))["sinter.labels"], "owl\ndog\ncat\nfox")

    def test_without_the_option(self):
        model, data = self.write("net.onnx", convolutional()), self.folders("cat", "dog")
        notes = self.train(model, data)
        self.assertIn(f"has 2 classes, and the model's output 'y' {BEFORE}", notes)
        self.assertIn("--classes auto replaces the last layer", notes)
        self.assertNotIn("sinter.labels", metadata(self.read("trained.onnx")))
        small = self.write("small.onnx", convolutional())
        # Without names, which would be kept.
        self.train(small, self.archive(2, (1, 8, 8), name="two.npz"), "--classes", "2", output="two.onnx")
        os.makedirs(self.path("images/owl"))
        self.write("images/owl/0.png", png(8, 8, list(range(64))))
        self.expect_error(USAGE, "train", self.path("two.onnx"), "--data", data, "-o", self.path("out.onnx"), mentions=["has 3 classes", "--classes auto"])
        self.expect_error(USAGE, "train", model, "--data", data, "--classes", "2", "-o", self.path("out.onnx"), mentions=["has 3 classes", "--classes is 2"])
        # Labels of an archive.
        self.expect_error(USAGE, "train", self.write("net2.onnx", perceptron()), "--data", self.archive(6, name="six.npz"), "--classes", "4", "-o", self.path("out.onnx"), mentions=["has 6 classes", "--classes is 4"])

    def test_usage(self):
        model, data = self.write("net.onnx", perceptron()), self.archive(3)
        for given in "0", "-1", "many", "1.5", "":
            self.expect_error(USAGE, "train", model, "--data", data, "-o", self.path("out.onnx"), "--classes", given, mentions=["--classes"])
        self.write("real.npz", npz(x=npy([SAMPLES, FEATURES], numbers(SAMPLES * FEATURES, 9)), target=npy([SAMPLES, BEFORE], numbers(SAMPLES * BEFORE, 8))))
        self.expect_error(USAGE, "train", model, "--data", self.path("real.npz"), "--loss", "mean-squared", "-o", self.path("out.onnx"), "--classes", "3", mentions=["--classes", "cross-entropy"])

    def test_what_cannot_be_changed(self):
        data = self.archive(3)
        cases = {
            "the scores feed another layer": (
                [onnx.node("MatMul", ["x", "w2"], ["y"], "head"), onnx.node("MatMul", ["y", "v"], ["u"], "next")],
                [weight("w2", [FEATURES, BEFORE], 3), weight("v", [BEFORE, 2], 4)], [onnx.value_info("u", ["N", 2])]),
            "is used by another layer, too": (
                [onnx.node("MatMul", ["x", "w2"], ["y"], "head"), onnx.node("ReduceSum", ["w2", "axes"], ["u"], "sum")],
                [weight("w2", [FEATURES, BEFORE], 3), onnx.tensor("axes", [1], struct.pack("<q", 1), onnx.INT64)], [onnx.value_info("u", [FEATURES, 1])]),
        }
        for why, (nodes, weights, outputs) in cases.items():
            with self.subTest(why):
                graph = onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("y", ["N", BEFORE])] + outputs, weights)
                model = self.write("odd.onnx", onnx.model(graph, 15))
                self.expect_error(UNSUPPORTED, "train", model, "--data", data, "--classes", "3", "-o", self.path("out.onnx"), mentions=["the number of classes cannot be changed", why])

    def test_resumes(self):
        model, data = self.write("net.onnx", perceptron()), self.archive(3)
        more = ["--classes", "auto", "--checkpoint-dir", self.path("points")]
        self.train(model, data, *more, "--epochs", "2", output="once.onnx")
        os.rename(self.path("points"), self.path("all"))
        self.train(model, data, *more, "--epochs", "1", output="half.onnx")
        self.train(model, data, *more, "--epochs", "2", "--resume", output="twice.onnx")
        self.assertEqual(self.read("once.onnx"), self.read("twice.onnx"))
        self.expect_error(USAGE, "train", model, "--data", data, "--classes", "4", "--checkpoint-dir", self.path("points"), "--epochs", "3", "--resume", "-o", self.path("out.onnx"), mentions=["number of classes"])


if __name__ == "__main__":
    main()
