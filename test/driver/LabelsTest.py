#!/usr/bin/env python3
# Covers: data Labels
# Covers: driver RunResults
# Covers: graph Metadata
# Covers: interface KeptMetadata
"""Names of classes: what run prints with them, and how a model keeps them."""
import json
import os

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, npy, UNSUPPORTED, USAGE, main


class Labels(CommandTest):
    def setUp(self):
        super().setUp()
        self.labels = self.write("labels.txt", "cat\ndog\nfox\n")
        self.x = self.write("x.npy", npy((2, 3), [3, 1, 2, 0, 5, -1]))

    def model(self, shape=(2, 3), name="m.onnx"):
        return self.write(name, onnx.simple([onnx.node("Identity", ["x"], ["y"])], shape))

    def run_json(self, *arguments):
        done = self.sinter("run", *arguments, "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)["outputs"][0]

    def test_every_row(self):
        model = self.model()
        done = self.sinter("run", model, "--input", self.x, "--labels", self.labels, "--no-cache", "--top", "2")
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], ["y[0]:", "cat", "fox", "y[1]:", "dog", "cat"])
        # exp(3) / (exp(3) + exp(1) + exp(2))
        self.assertEqual(lines[1][1], "0.6652")
        output = self.run_json(model, "--input", self.x, "--labels", self.labels)
        self.assertEqual([row["index"] for row in output["rows"]], [[0], [1]])
        self.assertEqual([[each["label"] for each in row["labels"]] for row in output["rows"]], [["cat", "fox", "dog"], ["dog", "cat", "fox"]])
        self.assertEqual(output["labels"], output["rows"][0]["labels"])

    def test_sequence(self):
        x = self.write("s.npy", npy((1, 2, 3), [3, 1, 2, 0, 5, -1]))
        output = self.run_json(self.model((1, 2, 3)), "--input", x, "--labels", self.labels, "--top", "1")
        self.assertEqual([(row["index"], row["labels"][0]["label"]) for row in output["rows"]], [([0, 0], "cat"), ([0, 1], "dog")])
        self.assertTrue(all(len(row["labels"]) == 1 for row in output["rows"]))

    def test_many_samples(self):
        os.mkdir(self.path("data"))
        self.write("data/a.npy", npy((1, 3), [0, 1, 0]))
        self.write("data/b.npy", npy((1, 3), [0, 0, 1]))
        model = self.model((1, 3))
        done = self.sinter("run", model, "--input", self.path("data"), "--labels", self.labels, "--no-cache", "--top", "1")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[:4]], ["a.npy", "dog", "b.npy", "fox"])
        done = self.sinter("run", model, "--input", self.path("data"), "--labels", self.labels, "--no-cache", "--json")
        self.assertEqual([json.loads(line)["outputs"][0]["labels"][0]["label"] for line in done.stdout.splitlines()], ["dog", "fox"])

    def test_that_do_not_fit(self):
        two = self.write("two.txt", "cat\ndog\n")
        for shape in [(2, 3), ("N", "M")]:
            self.expect_error(USAGE, "run", self.model(shape), "--input", self.x, "--labels", two, "--no-cache", mentions=["--labels", "two.txt' has 2 names", "'y'", "2x3xf32"])
        self.expect_error(USAGE, "run", self.model((1, 3)), "--input", self.x, "--labels", two, "--no-cache", mentions=["two.txt' has 2 names"])
        self.expect_error(USAGE, "run", self.model(), "--input", self.x, "--labels", self.write("none.txt", "\n"), mentions=["empty"])

    def test_kept_with_the_model(self):
        texts = {".onnx": self.model(), ".mlir": self.path("m.mlir"), ".mlir.bc": self.path("m.mlir.bc")}
        for suffix in ".mlir", ".mlir.bc":
            done = self.sinter("convert", texts[".onnx"], "-o", texts[suffix])
            self.assertEqual(done.returncode, DONE, done.stderr)
        swapped = self.write("swapped.txt", "dog\ncat\nfox\n")
        for suffix, model in texts.items():
            kept = self.path("kept" + suffix)
            done = self.sinter("optimize", model, "-o", kept, "--labels", self.labels)
            self.assertEqual(done.returncode, DONE, done.stderr)
            again = self.path("again" + suffix)
            self.assertEqual(self.sinter("optimize", kept, "-o", again).returncode, DONE)
            for each in kept, again:
                output = self.run_json(each, "--input", self.x)
                self.assertEqual([row["labels"][0]["label"] for row in output["rows"]], ["cat", "dog"], suffix)
            self.run_json(kept, "--input", self.x, "--labels", self.labels)
            self.expect_error(USAGE, "run", kept, "--input", self.x, "--labels", swapped, mentions=["line 1 is 'dog'", "'cat'"])
            # Other names in their place.
            self.assertEqual(self.sinter("optimize", kept, "-o", again, "--labels", swapped).returncode, DONE)
            self.assertEqual(self.run_json(again, "--input", self.x)["labels"][0]["label"], "dog")
        # They go on to other formats.
        self.assertEqual(self.sinter("convert", self.path("kept.onnx"), "-o", self.path("converted.mlir")).returncode, DONE)
        self.assertEqual(self.run_json(self.path("converted.mlir"), "--input", self.x)["labels"][0]["label"], "cat")

    def test_detectors(self):
        """The scores of a detector are beside the coordinates of its boxes."""
        def detector(*shape):
            return self.write("detector.onnx", onnx.simple([onnx.node("Identity", ["x"], ["y"])], shape))
        kept = self.path("kept.onnx")
        for shape, more in ((1, 7, 20), []), ((1, 20, 8), []), ((1, 20, 6), ["--post", "boxes:head=end2end"]):
            done = self.sinter("optimize", detector(*shape), "-o", kept, "--labels", self.labels, "--force", *more)
            self.assertEqual(done.returncode, DONE, done.stderr)
        boxes = self.write("boxes.npy", npy((1, 20, 6), [1, 2, 3, 4, 0.9, 1] + [0] * 114))
        done = self.sinter("run", kept, "--input", boxes, "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("dog", done.stdout)
        self.expect_error(USAGE, "optimize", detector(1, 20, 6), "-o", self.path("o.onnx"), "--labels", self.labels, mentions=["--post boxes"])

    def test_kept_ones_that_do_not_fit(self):
        two = self.write("two.txt", "cat\ndog\n")
        self.expect_error(USAGE, "optimize", self.model(), "-o", self.path("o.onnx"), "--labels", two, mentions=["two.txt' has 2 names", "'y'"])
        self.assertFalse(os.path.exists(self.path("o.onnx")))
        program = self.path("paddle/")
        self.assertEqual(self.sinter("convert", self.model(), "-o", program).returncode, DONE)
        self.expect_error(UNSUPPORTED, "optimize", program, "-o", self.path("other/"), "--labels", self.labels, mentions=["PaddlePaddle", "sinter.labels"])


if __name__ == "__main__":
    main()
