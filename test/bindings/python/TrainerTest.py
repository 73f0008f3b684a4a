#!/usr/bin/env python3
"""sinter.Trainer, against the command on the same samples.

    test/bindings/python/TrainerTest.py BUILD
"""
# Covers: interface TrainStepOptions
import os
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

import sinter  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

NET = """func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> tensor<?x4xf32> {
  %w = stablehlo.constant dense<[[0.5, -0.25, 0.125, 1.0], [0.75, 0.5, -1.0, 0.25], [-0.5, 1.5, 0.25, -0.75]]> : tensor<3x4xf32>
  %b = stablehlo.constant dense<[0.1, 0.2, -0.3, 0.4]> : tensor<4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %1 = chlo.broadcast_add %0, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""
STEPS, BATCH = 10, 4


@unittest.skipIf(numpy is None, "there is no numpy")
class Training(unittest.TestCase):
    def setUp(self):
        random = numpy.random.default_rng(5)
        self.x = random.standard_normal((STEPS * BATCH, 3), numpy.float32)
        self.target = random.integers(0, 4, STEPS * BATCH)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = os.path.join(self.folder, "net.mlir")
        with open(self.model, "w") as file:
            file.write(NET)

    def batches(self):
        for first in range(0, len(self.x), BATCH):
            yield self.x[first:first + BATCH], self.target[first:first + BATCH]

    def by_command(self, model, *options):
        """What the command makes of MODEL in one epoch, in order: the model's outputs for all samples."""
        data, out = os.path.join(self.folder, "data.npz"), os.path.join(self.folder, "out" + os.path.splitext(model)[1])
        numpy.savez(data, x=self.x, target=self.target)
        subprocess.run([os.path.join(BUILD, "bin", "sinter"), "train", model, "--data", data, "--batch", str(BATCH), "--no-shuffle",
                        "-o", out, "--force", "--threads", "1", *options], check=True, capture_output=True)
        return self.outputs(sinter.load(out, no_cache=True))

    def outputs(self, model):
        return sinter.compile(model, threads=1)(self.x)

    def test_gives_the_bits_of_the_command(self):
        for options in ({"optimizer": "sgd", "momentum": 0.9, "lr": 0.1},
                        {"optimizer": "adam", "lr": 0.01, "ema": 0.5, "seed": 3},
                        {"accumulate": 2, "lr": 0.5, "label_smoothing": 0.1, "clip_norm": 0.5}):
            with self.subTest(**options):
                trainer = sinter.Trainer(self.model, threads=1, no_cache=True, **options)
                for batch in self.batches():
                    trainer.step(batch)
                words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
                expected = self.by_command(self.model, *words)
                numpy.testing.assert_array_equal(self.outputs(trainer.model()), expected)
                self.assertFalse(numpy.array_equal(expected, self.outputs(sinter.load(self.model))))

    def test_dropout_depends_on_the_seed_as_in_the_command(self):
        try:
            import onnx
            import onnx.helper
            import onnx.numpy_helper
        except ImportError:
            self.skipTest("there is no onnx")
        node = onnx.helper.make_node
        float_value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [node("Dropout", ["x", "ratio", "on"], ["d"]), node("Gemm", ["d", "w"], ["y"])], "net",
            [float_value("x", 1, ["N", 3])], [float_value("y", 1, ["N", 4])],
            [onnx.numpy_helper.from_array(numpy.float32(0.5), "ratio"), onnx.numpy_helper.from_array(numpy.bool_(False), "on"),
             onnx.numpy_helper.from_array(numpy.ones((3, 4), numpy.float32), "w")])
        path = os.path.join(self.folder, "dropout.onnx")
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), path)
        results = []
        for seed in (1, 2):
            trainer = sinter.Trainer(path, threads=1, lr=0.5, seed=seed)
            for batch in self.batches():
                trainer.step(batch)
            results.append(self.outputs(trainer.model()))
            numpy.testing.assert_array_equal(results[-1], self.by_command(path, "--lr", "0.5", "--seed", str(seed)))
        self.assertFalse(numpy.array_equal(*results))

    def test_batches_are_sequences_or_dictionaries(self):
        trainer = sinter.Trainer(sinter.load(self.model), lr=0)
        self.assertEqual(trainer.names, ["x", "target"])
        self.assertIn("x, target", repr(trainer))
        x, target = self.x[:6], self.target[:6]
        loss = trainer.evaluate((x, target))
        logits = self.outputs(sinter.load(self.model))[:6].astype(float)
        expected = numpy.mean(numpy.log(numpy.exp(logits).sum(1)) - logits[numpy.arange(6), target])
        self.assertAlmostEqual(loss, expected, 5)
        self.assertEqual(trainer.step({"target": target, "x": x}), trainer.step([x, target]))
        for kind, words, batch in ((sinter.UsageError, "'target' is missing", {"x": x}),
                                   (sinter.UsageError, "there is no 'y'", {"x": x, "y": target}),
                                   (sinter.UsageError, "2 arrays", [x]),
                                   (sinter.UsageError, "6 samples and 5 targets", [x, target[:5]]),
                                   (sinter.UsageError, "label|class", [x, target + 4]),
                                   (TypeError, "expected an array", [x, 3])):
            with self.subTest(words=words):
                self.assertRaisesRegex(kind, words, trainer.step, batch)

    def test_the_learning_rate_may_change_between_steps(self):
        trainer = sinter.Trainer(self.model, lr=0.5)
        self.assertEqual(trainer.lr, 0.5)
        batch = (self.x, self.target)
        trainer.lr = 0
        self.assertEqual(trainer.step(batch), trainer.step(batch))
        trainer.lr = 0.25
        before = trainer.step(batch)
        self.assertLess(trainer.evaluate(batch), before)
        with self.assertRaisesRegex(sinter.UsageError, "learning rate"):
            trainer.lr = -1
        with self.assertRaises(TypeError):
            trainer.lr = "fast"
        self.assertEqual(trainer.lr, 0.25)

    def test_the_trained_model_is_saved(self):
        trainer = sinter.Trainer(self.model, format=".onnx", lr=1)
        trainer.step((self.x, self.target))
        model = trainer.model()
        path = os.path.join(self.folder, "trained.onnx")
        model.save(path)
        numpy.testing.assert_array_equal(self.outputs(sinter.load(path)), self.outputs(model))
        self.assertFalse(numpy.array_equal(self.outputs(model), self.outputs(sinter.load(self.model))))

    def test_a_step_that_is_not_finite_is_an_error(self):
        trainer = sinter.Trainer(self.model)
        x = self.x.copy()
        x[3, 1] = numpy.inf
        self.assertRaisesRegex(sinter.WrongResultError, "holds infinity", trainer.step, (x, self.target))
        self.assertRaisesRegex(sinter.UsageError, "no step can follow", trainer.step, (self.x, self.target))
        numpy.testing.assert_array_equal(self.outputs(trainer.model()), self.outputs(sinter.load(self.model)))


if __name__ == "__main__":
    unittest.main()
