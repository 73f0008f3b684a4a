#!/usr/bin/env python3
"""The file of `sinter train --write-step --step-states`: whatever weights are called, it can be read, and does what training does."""
import json
import os
import unittest

import OnnxBytes as onnx
from SinterCommand import DONE, main
from TrainTest import TrainCase, initializers, npy, npz, numbers

SIZE, SAMPLES = 12, 4
NAMES = ["0.weight", "onnx::MatMul_3", "with blanks", 'a "quoted" one', "back\\slash", "größe", "-1", "i32", "x_1", "0.weight_1", "a/b.c"]
FOUND = os.path.join(os.environ.get("SINTER_SHARED", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")), "data/defects/found-2026-11-29/train/step-states")


def chain(names):
    """A product by each of the weights, which are too large to stand in the graph."""
    tensors = [onnx.tensor(name, [SIZE, SIZE], onnx.floats(*numbers(SIZE * SIZE, seed, -0.5, 0.5))) for seed, name in enumerate(names)]
    values = ["x", *(f"v{i}" for i in range(len(names)))]
    nodes = [onnx.node("MatMul", [values[i], name], [values[i + 1]], f"product {i}") for i, name in enumerate(names)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", SIZE])], [onnx.value_info(values[-1], ["N", SIZE])], tensors), 15)


class TrainStepFile(TrainCase):
    def states(self, step):
        """The names of the states of the written step."""
        done = self.sinter("inspect", step, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return {each["name"] for each in json.loads(done.stdout)["tensors"] if each["role"] == "state"}

    def test_names(self):
        """Names that are no identifiers: two runs of the step are two steps of training."""
        model = self.write("net.onnx", chain(NAMES))
        arrays = {"x": npy([SAMPLES, SIZE], numbers(SAMPLES * SIZE, 50)), "target": npy([SAMPLES, SIZE], numbers(SAMPLES * SIZE, 51))}
        data, step, kept = self.write("d.npz", npz(**arrays)), self.path("step.mlir"), self.path("kept")
        options = ["--loss", "mean-squared", "--batch", str(SAMPLES), "--lr", "0.1", "--momentum", "0.9", "--no-shuffle"]
        done = self.sinter("train", model, "--data", data, *options, "--write-step", step, "--step-states")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.states(step), {*NAMES, *(f"{name}.momentum" for name in NAMES)})
        os.mkdir(kept)
        arrays["learning_rate"] = npy([], [0.1])
        inputs = [word for name, each in arrays.items() for word in ("--input", f"{name}={self.write(name + '.npy', each)}")]
        for _ in range(2):
            done = self.sinter("run", step, *inputs, "--state-dir", kept)
            self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("train", model, "--data", data, *options, "--epochs", "2", "-o", self.path("out.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            wanted = initializers(file.read())
        got = []
        for name in os.listdir(kept):
            with open(os.path.join(kept, name), "rb") as file:
                got.append(file.read()[-4 * SIZE * SIZE:])
        for name in NAMES:
            self.assertIn(onnx.floats(*wanted[name]), got, name)

    @unittest.skipUnless(os.path.isdir(FOUND), "the shared files are not there")
    def test_network_of_pytorch(self):
        step = self.path("step.mlir")
        done = self.sinter("train", f"{FOUND}/seq.onnx", "--data", f"{FOUND}/d.npz", "--batch", "8", "--write-step", step, "--step-states")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.states(step), {"0.weight", "0.bias", "2.weight", "2.bias"})


if __name__ == "__main__":
    main()
