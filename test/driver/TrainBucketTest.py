#!/usr/bin/env python3
# Covers: data BatchOrder Buckets
"""`sinter train` on sequences of several lengths."""
import json
import os
import random
import shutil
import struct

import OnnxBytes as onnx
from SinterCommand import DONE, USAGE, main
from TrainTest import CLASSES, FEATURES, TrainCase, initializers, npy, npz, numbers

LENGTHS, PADDED = [2, 5, 1, 3, 6, 2, 4, 6, 3], 6


class Tokens:
    """A class for each place of a sequence: y = x w; and of a whole sequence, the mean of what a mask leaves over."""

    def __init__(self, pooled=False, dims=("N", "S")):
        self.pooled, self.dims = pooled, list(dims)

    def onnx(self):
        weight = onnx.tensor("w", [FEATURES, CLASSES], onnx.floats(*numbers(FEATURES * CLASSES, 1)))
        nodes, inputs = [onnx.node("MatMul", ["x", "w"], ["h"], "in")], [onnx.value_info("x", [*self.dims, FEATURES])]
        output = onnx.value_info("h", [*self.dims, CLASSES])
        if self.pooled:
            nodes += [onnx.node("Mul", ["h", "mask"], ["m"], "masked"), onnx.node("ReduceSum", ["m", "axes"], ["y"], "sum", attributes=onnx.data(5, onnx.data(1, "keepdims") + onnx.number(3, 0) + onnx.number(20, 2)))]
            inputs.append(onnx.value_info("mask", [*self.dims, 1]))
            output = onnx.value_info("y", [self.dims[0], CLASSES])
            return onnx.model(onnx.graph(nodes, inputs, [output], [weight, onnx.tensor("axes", [1], struct.pack("<q", 1), data_type=7)]), 15)
        return onnx.model(onnx.graph(nodes, inputs, [output], [weight]), 15)


class TrainBucket(TrainCase):
    def setUp(self):
        super().setUp()
        count = len(LENGTHS)
        chooser = random.Random(5)
        self.samples = numbers(count * PADDED * FEATURES, 40)
        self.tokens = [chooser.randrange(CLASSES) if place < length else -100 for length in LENGTHS for place in range(PADDED)]
        self.mask = [float(place < length) for length in LENGTHS for place in range(PADDED)]
        self.classes = [chooser.randrange(CLASSES) for _ in LENGTHS]

    def archive(self, name="s.npz", lengths=LENGTHS, **others):
        count = len(LENGTHS)
        arrays = {"x": npy([count, PADDED, FEATURES], self.samples), **others}
        if lengths:
            arrays["length"] = npy([count], lengths, "i8")
        return self.write(name, npz(**arrays))

    def per_token(self, **others):
        return self.archive(target=npy([len(LENGTHS), PADDED], self.tokens, "i8"), **others)

    def weights(self, model, data, *options):
        out = self.path("out.onnx")
        done = self.sinter("train", model, "--data", data, "-o", out, "--force", "--lr", "0.5", "--no-cache", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            return {"w": initializers(file.read())["w"]}

    def test_as_without(self):
        """What is cut off has no part in the loss, so all batches together give what one of whole sequences gives."""
        pooled = self.archive("p.npz", mask=npy([len(LENGTHS), PADDED, 1], self.mask), target=npy([len(LENGTHS)], self.classes, "i8"))
        for model, data in (Tokens(), self.per_token()), (Tokens(pooled=True), pooled):
            path = self.write("net.onnx", model.onnx())
            whole = self.weights(path, data, "--batch", "9", "--epochs", "2")
            for options in ["--bucket", "2,4,8"], ["--bucket", "S=3,6"], ["--bucket", "2,4,6", "--replicas", "2"]:
                with self.subTest(f"{model.pooled} {options}"):
                    # Of each bucket a batch: all of them are a step.
                    self.close(self.weights(path, data, *options, "--batch", "9", "--accumulate", "9", "--epochs", "2"), whole)

    def test_batches(self):
        """Those of one bucket go together; the step that is written is of the first."""
        model = self.write("net.onnx", Tokens().onnx())
        for options, steps in ([], 6), (["--drop-last"], 3):
            # 2, 1, 2 | 3, 4, 3 | 5, 6, 6 in batches of 2, or of those only that are full.
            done = self.sinter("train", model, "--data", self.per_token(), "--validate", self.per_token(), "-o", self.path("o.onnx"), "--batch", "2", "--bucket", "2,4,6", "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["steps"], steps)
        step = self.path("step.mlir")
        self.assertEqual(self.sinter("train", model, "--data", self.per_token(), "--batch", "2", "--bucket", "2,4,6", "--no-shuffle", "--write-step", step).returncode, DONE)
        with open(step) as file:
            text = file.read()
        self.assertIn("tensor<2x2x3xf32>", text)
        self.assertNotIn("x6x", text)

    def test_same_again(self):
        model, data = self.write("net.onnx", Tokens().onnx()), self.per_token()
        runs = [self.weights(model, data, "--batch", "2", "--bucket", "2,4,6", "--epochs", "3", *options) for options in (["--threads", "1"], ["--threads", "2"], ["--seed", "1"])]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])
        kept = ["--batch", "2", "--bucket", "2,4,6", "--epochs", "3", "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--keep-checkpoints", "99"]
        self.assertEqual(self.weights(model, data, *kept), runs[0])
        for name in sorted(os.listdir(self.path("kept")))[8:]:
            shutil.rmtree(self.path("kept/" + name))
        self.assertEqual(self.weights(model, data, *kept, "--resume"), runs[0])
        other = [each.replace("2,4,6", "3,6") for each in kept]
        self.expect_error(USAGE, "train", model, "--data", data, "-o", self.path("out.onnx"), "--force", "--lr", "0.5", *other, "--resume", mentions=["another choice of buckets"])

    def test_refused(self):
        model, out = self.write("net.onnx", Tokens().onnx()), self.path("out.onnx")
        command = ["train", model, "-o", out, "--data"]
        for text in "4,2", "0", "a", "S=", "=3", "4,", "4;8":
            self.assertIn("--bucket", self.sinter(*command, self.per_token(), "--bucket", text).stderr)
        self.expect_error(USAGE, *command, self.per_token(), "--bucket", "T=4", mentions=["'T'", "have S"])
        self.expect_error(USAGE, *command, self.per_token(), "--bucket", "2,4", mentions=["sample 1 has the length 5", "largest bucket 4"])
        self.expect_error(USAGE, *command, self.per_token(lengths=[7, *LENGTHS[1:]]), "--bucket", "8", mentions=["sample 0 has the length 7", "arrays hold 6"])
        self.expect_error(USAGE, *command, self.per_token(lengths=None), "--bucket", "8", mentions=["'length'"])
        real = self.archive("r.npz", lengths=None, target=npy([9, PADDED], self.tokens, "i8"), length=npy([9], [1.0] * 9))
        self.expect_error(USAGE, *command, real, "--bucket", "8", mentions=["'length' is a 9xf32"])
        fixed = self.write("fixed.onnx", Tokens(dims=("N", PADDED)).onnx())
        self.expect_error(USAGE, "train", fixed, "-o", out, "--data", self.per_token(), "--bucket", "8", mentions=["--bucket", "unknown dimension"])
        folder = self.path("folder")
        os.makedirs(folder + "/a")
        self.assertIn("--bucket is for", self.sinter(*command, folder, "--bucket", "8").stderr)


if __name__ == "__main__":
    main()
