#!/usr/bin/env python3
# Covers: formats/onnx TrainingMode
# Covers: formats/onnx/ops Normalization
"""What PyTorch exports with TrainingMode.TRAINING (training-mode/export.py): read, run, optimised and trained."""
import json
import os
import pathlib
import shutil

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, main
from TrainTest import floats_of, initializers, npy, npz, numbers

FOLDER = pathlib.Path(__file__).resolve().parent / "training-mode"
VERSIONS = "9", "13", "17"
NOTE = "is in training mode"


def elements(path):
    """Of an .npy file of f32 without numpy."""
    with open(path, "rb") as file:
        content = file.read()
    start = 10 + int.from_bytes(content[8:10], "little")
    return floats_of(onnx.tensor("", [1], content[start:]))


class TrainingMode(CommandTest):
    def model(self, name):
        path = self.path(name + ".onnx")
        shutil.copy(FOLDER / name / "model.onnx", path)
        return path

    def run_with(self, path, x, *more):
        """The first output, of an input x of four images."""
        folder = self.path("results")
        shutil.rmtree(folder, ignore_errors=True)
        done = self.sinter("run", path, "--no-cache", "--input", x, "--output-dir", folder, *more)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return elements(os.path.join(folder, "y.npy")), done.stderr

    def test_runs_as_pytorch_did(self):
        for version in VERSIONS:
            for backend in "cpu", "interpreter":
                done = self.sinter("test", str(FOLDER / f"norms-{version}"), "--backend", backend)
                self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)

    def test_says_so_from_the_cache_too(self):
        """A program from the cache runs without the file being read again."""
        model, x = self.model(f"dropout-{VERSIONS[-1]}"), self.write("x.npy", npy([4, 1, 5, 5], numbers(100, 3)))
        for cached in False, True:
            done = self.sinter("run", model, "--input", x, "--cache-dir", self.path("cache"), "-v")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual("from the cache" in done.stderr, cached)
            self.assertEqual(done.stderr.count(NOTE), 1, done.stderr)
        # It is compiled anew, for other sizes, and says so once.
        self.assertEqual(self.sinter("run", model, "--input", x, "--cache-dir", self.path("cache"), "--static", "-v").stderr.count(NOTE), 1)

    def test_says_so(self):
        for version in VERSIONS:
            model = self.model(f"dropout-{version}")
            done = self.sinter("optimize", model, "-o", self.path("out.onnx"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            # Before version 12, a dropout does not drop where a model runs.
            what = "2 batch norms normalise by the batch" + (", 1 dropout drops elements" if version != "9" else ";")
            self.assertEqual(done.stderr.count(NOTE), 1, done.stderr)
            self.assertIn(what, done.stderr)
            self.assertIn("model.eval()", done.stderr)

    def test_a_dropout_of_nothing_is_not_counted(self):
        """Exporters write the ratio 0 with the training mode of a function that nobody told to evaluate."""
        for ratio, count in (b"\0\0\0\0", 0), (b"\0\0\0\x3f", 1):
            constants = [onnx.tensor("ratio", (), ratio), onnx.tensor("training", (), b"\1", onnx.BOOL)]
            graph = onnx.graph([onnx.node("Dropout", ["x", "ratio", "training"], ["y"])], [onnx.value_info("x", (4,))],
                               [onnx.value_info("y", (4,))], constants)
            done = self.sinter("optimize", self.write("drop.onnx", onnx.model(graph)), "-o", self.path("out.onnx"), "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stderr.count(NOTE), count, done.stderr)

    def test_stays_in_training_mode(self):
        x = self.write("x.npy", npy([4, 1, 5, 5], numbers(100, 3)))
        for version in VERSIONS:
            model, out = self.model(f"norms-{version}"), self.path("out.onnx")
            self.assertEqual(self.sinter("optimize", model, "-o", out).returncode, DONE)
            before, note = self.run_with(model, x)
            self.assertIn(NOTE, note)
            after, note = self.run_with(out, x)
            self.assertIn(NOTE, note)
            for one, other in zip(before, after):
                self.assertAlmostEqual(one, other, 5)
            # A sample's result depends on its batch.
            half, _ = self.run_with(model, self.write("half.npy", npy([2, 1, 5, 5], numbers(100, 3)[:50])))
            self.assertGreater(max(abs(one - other) for one, other in zip(before, half)), 1e-3)

    def test_is_trained(self):
        data = self.write("data.npz", npz(x=npy([8, 1, 5, 5], numbers(200, 4)), target=npy([8], [i % 4 for i in range(8)], "i8")))
        for kind in "norms", "dropout":
            for version in VERSIONS:
                with self.subTest(kind, version=version):
                    model, out = self.model(f"{kind}-{version}"), self.path("out.onnx")
                    log = self.path("log.jsonl")
                    done = self.sinter("train", model, "--data", data, "--batch", "4", "--epochs", "20", "--lr", "0.1", "--log", log, "-o", out)
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertEqual(done.stderr.count(NOTE), 1, done.stderr)
                    with open(log, encoding="utf-8") as file:
                        losses = [json.loads(line)["loss"] for line in file]
                    self.assertLess(sum(losses[-4:]), sum(losses[:4]))
                    with open(model, "rb") as file:
                        old = initializers(file.read())
                    with open(out, "rb") as file:
                        new = initializers(file.read())
                    self.assertLessEqual(set(old), set(new))
                    # Weights and running statistics move.
                    for name in "conv.weight", "norm.weight", "fc.weight", "norm.running_mean", "norm.running_var":
                        self.assertNotEqual(old[name], new[name])
                    done = self.sinter("compare", model, out)
                    self.assertIn("'conv.weight'", done.stdout)

    def test_all_outputs_of_a_norm(self):
        """Before version 14: result, running mean and variance, mean and variance of the batch."""
        scale, bias, mean, variance, momentum, epsilon = 1.5, 0.25, 0.5, 2.0, 0.75, 0.125
        attributes = b"".join(onnx.data(5, onnx.data(1, name) + onnx.varint(2 << 3 | 5) + onnx.floats(value) + onnx.number(20, 1)) for name, value in (("momentum", momentum), ("epsilon", epsilon)))
        names = ["y", "running_mean", "running_variance", "batch_mean", "batch_variance"]
        node = onnx.node("BatchNormalization", ["x", "scale", "bias", "mean", "variance"], names, "norm", attributes=attributes)
        weights = [onnx.tensor(name, [1], onnx.floats(value)) for name, value in (("scale", scale), ("bias", bias), ("mean", mean), ("variance", variance))]
        outputs = [onnx.value_info(name, [4, 1, 1] if name == "y" else [1]) for name in names]
        values = [1.0, 2.0, 4.0, 9.0]
        batch_mean = sum(values) / 4
        batch_variance = sum((each - batch_mean) ** 2 for each in values) / 4
        expected = {"y": [scale * (each - batch_mean) / (batch_variance + epsilon) ** 0.5 + bias for each in values],
                    "running_mean": [momentum * mean + (1 - momentum) * batch_mean], "running_variance": [momentum * variance + (1 - momentum) * batch_variance],
                    "batch_mean": [batch_mean], "batch_variance": [batch_variance]}
        x = self.write("x.npy", npy([4, 1, 1], values))
        for version in 9, 13:
            model = self.write("norm.onnx", onnx.model(onnx.graph([node], [onnx.value_info("x", [4, 1, 1])], outputs, weights), version))
            for backend in "cpu", "interpreter":
                self.run_with(model, x, "--backend", backend)
                for name, wanted in expected.items():
                    for one, other in zip(elements(os.path.join(self.path("results"), name + ".npy")), wanted):
                        self.assertAlmostEqual(one, other, 5, name)


if __name__ == "__main__":
    main()
