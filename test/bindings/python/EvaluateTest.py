#!/usr/bin/env python3
"""Model.evaluate, against the command on the same samples.

    test/bindings/python/EvaluateTest.py BUILD
"""
# Covers: interface EvaluateChoices SampleChoices OnceEach
import json
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

NET = """func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> (tensor<?x12xf32> {sinter.name = "y"}) {
  %w = stablehlo.constant dense<WEIGHTS> : tensor<3x12xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x12xf32>) -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}
"""
COUNT = 41


@unittest.skipIf(numpy is None, "there is no numpy")
class Evaluating(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = numpy.random.default_rng(7)
        self.x = self.random.standard_normal((COUNT, 3), numpy.float32)
        self.target = self.random.integers(0, 12, COUNT)
        self.path, self.other = self.net("net"), self.net("other")
        self.data = os.path.join(self.folder, "data.npz")
        numpy.savez(self.data, x=self.x, target=self.target)

    def net(self, name):
        path = os.path.join(self.folder, name + ".mlir")
        with open(path, "w") as file:
            file.write(NET.replace("WEIGHTS", json.dumps(self.random.standard_normal((3, 12)).round(3).tolist())))
        return path

    def pairs(self):
        return [(self.x[i:i + 1], self.target[i:i + 1]) for i in range(COUNT)]

    def by_command(self, *options):
        done = subprocess.run([os.path.join(BUILD, "bin", "sinter"), "evaluate", self.path, "--data", self.data, "--no-cache", "--json", *options],
                              check=True, capture_output=True, text=True)
        return self.untimed(json.loads(done.stdout))

    def untimed(self, report):
        for side in report, report.get("against", {}):
            for key in "seconds", "samples_per_s", "run_seconds":
                side.pop(key, None)
        return report

    def test_values_are_those_of_the_command(self):
        model, other = sinter.load(self.path), sinter.load(self.other)
        expected = self.by_command()
        self.assertEqual(expected["samples"], COUNT)
        for data in self.data, [self.data], self.pairs(), ((each, int(label[0])) for each, label in self.pairs()):
            self.assertEqual(self.untimed(model.evaluate(data)), expected)
        options = ["--metric", "top1,top3", "--batch", "5", "--ignore-label", "2"]
        expected = self.by_command("--against", self.other, *options)
        for data in self.data, self.pairs():
            self.assertEqual(self.untimed(model.evaluate(data, against=other, metric="top1,top3", batch=5, ignore_label=2)), expected)
        self.assertEqual(self.untimed(model.evaluate(self.pairs(), backend="interpreter"))["metrics"][0], self.by_command()["metrics"][0])

    def test_targets_of_other_kinds(self):
        model = sinter.load(self.path)
        outputs = sinter.compile(model)(self.x)
        # The outputs themselves, a whole batch at a time.
        report = model.evaluate([(self.x[i:i + 4], outputs[i:i + 4]) for i in range(0, 40, 4)])
        self.assertEqual([each["metric"] for each in report["metrics"]], ["mse"])
        self.assertLess(report["metrics"][0]["value"], 1e-10)
        # By the names of inputs, and labels of fewer bits.
        named = [({"x": each}, label.astype("i4")) for each, label in self.pairs()]
        self.assertEqual(self.untimed(model.evaluate(named)), self.by_command())

    def test_notes_are_told_once(self):
        """However many images the pre-processing that a model keeps is for."""
        path, kept, data = (os.path.join(self.folder, name) for name in ("images.mlir", "kept.mlir", "images"))
        with open(path, "w") as file:
            file.write("""func.func @main(%x: tensor<1x3x2x2xf32> {sinter.name = "x"}) -> (tensor<1x12xf32> {sinter.name = "y"}) {
              %0 = stablehlo.reshape %x : (tensor<1x3x2x2xf32>) -> tensor<1x12xf32>
              return %0 : tensor<1x12xf32>
            }""")
        subprocess.run([os.path.join(BUILD, "bin", "sinter"), "optimize", path, "-o", kept, "--preset", "imagenet"], check=True, capture_output=True)
        for label in range(3):
            os.makedirs(os.path.join(data, str(label)))
            for i in range(4):
                with open(os.path.join(data, str(label), f"{i}.ppm"), "wb") as file:
                    file.write(b"P6 2 2 255\n" + bytes(range(12)))
        notes = []
        report = sinter.load(kept).evaluate(data, log=notes.append)
        self.assertEqual(report["samples"], 12)
        self.assertEqual(len([note for note in notes if "pre-processing of the model" in note]), 1, notes)

    def test_errors(self):
        model = sinter.load(self.path)
        with self.assertRaisesRegex(sinter.WrongResultError, "top1"):
            model.evaluate(self.data, at_least="top1=1")
        with self.assertRaisesRegex(sinter.UsageError, "max-loss needs against"):
            model.evaluate(self.data, max_loss=1)
        with self.assertRaisesRegex(sinter.UsageError, "give samples"):
            model.evaluate([])
        with self.assertRaisesRegex(sinter.UsageError, "sample 3"):
            model.evaluate(self.pairs()[:3] + [(self.x[:1, :2], 1)])
        with self.assertRaisesRegex(sinter.UsageError, "12"):
            model.evaluate([(self.x[:1], 12)])
        with self.assertRaises(TypeError):
            model.evaluate([("text", 1)])


if __name__ == "__main__":
    unittest.main()
