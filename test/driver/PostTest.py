#!/usr/bin/env python3
# Covers: driver PostOptions
# Covers: interface PostChoices
"""Post-processing in `sinter run`: steps from outputs to answers."""
import json
import os
import shutil
import sys

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, SYSTEM, USAGE, main

try:
    import numpy as np
except ImportError:
    print("skipped: needs NumPy")
    sys.exit(77)


class Post(CommandTest):
    def identity(self, *shape, name="net.onnx"):
        return self.write(name, onnx.simple([onnx.node("Identity", ["x"], ["y"], "node")], shape))

    def array(self, values, name="x.npy"):
        np.save(self.path(name), np.asarray(values, "f4"))
        return self.path(name)

    def run_json(self, *arguments):
        done = self.sinter("run", *arguments, "--no-cache", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def refused(self, code, *arguments, mentions=()):
        return self.expect_error(code, "run", *arguments, "--no-cache", mentions=mentions)

    def test_softmax_and_top(self):
        scores = np.random.default_rng(1).normal(size=(2, 5)).astype("f4")
        parts = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        words = (self.identity(2, 5), "--input", self.array(scores), "--post", "softmax", "--post", "top-k=2", "--output-dir", self.path("out"))
        report = self.run_json(*words)
        rows = report["post"][0]["rows"]
        for row, own in zip(rows, parts):
            self.assertEqual([each["class"] for each in row], list(np.argsort(-own)[:2]))
            np.testing.assert_allclose([each["score"] for each in row], np.sort(own)[::-1][:2], rtol=1e-6)
        # What is written and summarised is what the steps made.
        np.testing.assert_allclose(np.load(self.path("out/y.npy")), parts, rtol=1e-6)
        done = self.sinter("run", *words, "--no-cache")
        self.assertIn(f"0: class {parts[0].argmax()}", done.stdout)

    def test_maps(self):
        scores = np.random.default_rng(2).normal(size=(1, 4, 3, 6)).astype("f4")
        report = self.run_json(self.identity(1, 4, 3, 6), "--input", self.array(scores), "--post", "argmax-map", "--output-dir", self.path("out"))
        classes = scores.argmax(axis=1)[0]
        found = {each["class"]: each["share"] for each in report["post"][0]["maps"][0]["classes"]}
        self.assertEqual(found, {int(label): float((classes == label).mean()) for label in np.unique(classes)})
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("needs Pillow")
        image = Image.open(self.path("out/y_map.png"))
        self.assertEqual(image.mode, "P")
        np.testing.assert_array_equal(np.asarray(image), classes)
        self.assertEqual(image.getpalette()[3:9], [128, 0, 0, 0, 128, 0])

    def test_texts(self):
        chars = self.write("chars.txt", "a\nb\nä\n")
        steps = [0, 3, 3, 0, 1, 2, 2, 0, 2]
        words = (self.identity(1, 9, 4), "--input", self.array(np.eye(4)[steps][None]), "--post", f"ctc={chars}")
        self.assertEqual(self.run_json(*words)["post"][0]["texts"], [{"text": "äabb", "confidence": 1.0}])
        self.assertIn("äabb  1.0000\n", self.sinter("run", *words, "--no-cache").stdout)
        self.refused(USAGE, self.identity(1, 9, 5), "--input", self.array(np.zeros((1, 9, 5))), "--post", f"ctc={chars}", mentions=["3 characters", "5", ":space"])

    def boxes_model(self):
        """An image, and beside it the boxes that are found in it."""
        nodes = [onnx.node("Relu", ["image"], ["features"], "relu"), onnx.node("Identity", ["head"], ["y"], "node")]
        inputs = [onnx.value_info("image", [1, 3, 16, 20]), onnx.value_info("head", [1, 6, 7])]
        outputs = [onnx.value_info("features", [1, 3, 16, 20]), onnx.value_info("y", [1, 6, 7])]
        return self.write("boxes.onnx", onnx.model(onnx.graph(nodes, inputs, outputs)))

    def test_boxes_in_the_image(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("needs Pillow")
        # Twice as wide and three times as high as the input.
        Image.fromarray(np.full((48, 40, 3), 50, "u1")).save(self.path("photo.png"))
        head = np.zeros((1, 6, 7), "f4")
        head[0, :, 2] = [10, 8, 8, 4, 0.1, 0.9]
        words = (self.boxes_model(), "--input", "image=" + self.path("photo.png"), "--input", "head=" + self.array(head))
        labels = self.write("labels.txt", "cat\ndog\n")
        report = self.run_json(*words, "--post", "boxes", "--draw", self.path("drawn"))
        (found,), = report["post"][0]["boxes"]
        self.assertEqual((found["class"], found["box"]), (1, [12, 18, 28, 30]))
        self.assertAlmostEqual(found["score"], 0.9, places=6)
        drawn = np.asarray(Image.open(self.path("drawn/photo.png")))
        self.assertEqual(drawn.shape, (48, 40, 3))
        self.assertEqual(drawn[18, 12].tolist(), [0, 128, 0])
        self.assertEqual(drawn[29, 27].tolist(), [0, 128, 0])
        self.assertEqual(drawn[24, 20].tolist(), [50, 50, 50])
        self.assertEqual(drawn[10, 20].tolist(), [50, 50, 50])
        del labels
        self.refused(USAGE, *words, "--draw", self.path("drawn"), mentions=["--draw needs", "--post boxes"])
        plain = ("--input", "image=random", "--input", "head=" + self.array(head))
        self.assertEqual(self.run_json(words[0], *plain, "--post", "boxes")["post"][0]["boxes"][0][0]["box"], [6, 6, 14, 10])
        self.refused(USAGE, words[0], *plain, "--post", "boxes", "--draw", self.path("drawn"), mentions=["--draw"])

    def test_boxes_where_the_image_was_padded_or_cropped(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("needs Pillow")
        Image.fromarray(np.full((32, 20, 3), 50, "u1")).save(self.path("tall.png"))
        os.mkdir(self.path("folder"))
        shutil.copy(self.path("tall.png"), self.path("folder/tall.png"))
        head = np.zeros((1, 6, 7), "f4")
        head[0, :, 2] = [10, 8, 8, 4, 0.1, 0.9]
        # The input is 16 x 20. Padded, it has the image at half its size from column 5 on; cropped, its rows from 8 on.
        for fit, box in ("pad", [2, 12, 18, 20]), ("cover", [6, 14, 14, 18]), ("stretch", [6, 12, 14, 20]):
            for source in "tall.png", "folder":
                report = self.run_json(self.boxes_model(), "--input", "image=" + self.path(source), "--input", "head=" + self.array(head),
                                       "--fit", fit, "--post", "boxes")
                self.assertEqual(report["post"][0]["boxes"][0][0]["box"], box, (fit, source))

    def test_many_samples(self):
        os.mkdir(self.path("samples"))
        scores = np.random.default_rng(3).normal(size=(5, 1, 4)).astype("f4")
        for i, each in enumerate(scores):
            np.save(self.path(f"samples/s{i}.npy"), each)
        done = self.sinter("run", self.identity("N", 4), "--input", self.path("samples"), "--post", "top-k=1", "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["post"][0]["rows"][0][0]["class"] for line in lines], scores.argmax(axis=2)[:, 0].tolist())

    def test_maps_of_samples_have_files_of_their_own(self):
        for folder in "one", "two":
            os.makedirs(self.path(f"samples/{folder}"))
            np.save(self.path(f"samples/{folder}/a.npy"), np.zeros((1, 3, 2, 2), "f4"))
        words = ("run", self.identity("N", 3, 2, 2), "--post", "argmax-map", "--no-cache", "--input")
        listed = self.write("list.txt", "samples/one/a.npy\nsamples/two/a.npy\n")
        for source, names in (listed, ["a_1_map.png", "a_1_y.npy", "a_map.png", "a_y.npy"]), (self.path("samples"), ["one_a_map.png", "one_a_y.npy", "two_a_map.png", "two_a_y.npy"]):
            out = self.path("out-" + os.path.basename(source))
            done = self.sinter(*words, source, "--output-dir", out)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(sorted(os.listdir(out)), names)

    def test_kept_in_the_model(self):
        scores = np.random.default_rng(4).normal(size=(1, 4)).astype("f4")
        model = self.identity(1, 4)
        done = self.sinter("optimize", model, "-o", self.path("kept.onnx"), "--post", "softmax", "--post", "top-k=1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        words = (self.path("kept.onnx"), "--input", self.array(scores))
        done = self.sinter("run", *words, "--no-cache")
        self.assertIn("post-processing that the model keeps: softmax, top-k=1", done.stderr)
        self.assertIn(f"class {scores.argmax()}", done.stdout)
        self.assertEqual(self.run_json(*words)["post"][0]["rows"][0][0]["class"], scores.argmax())
        self.assertNotIn("post", self.run_json(*words, "--post", "none"))
        self.assertEqual(len(self.run_json(*words, "--post", "top-k=3")["post"][0]["rows"][0]), 3)
        self.expect_error(USAGE, "optimize", model, "-o", self.path("bad.onnx"), "--post", "top-k=x", mentions=["--post", "top-k=x"])
        # A file whose metadata somebody else has changed.
        with open(self.path("kept.onnx"), "rb") as file:
            content = file.read()
        self.assertIn(b'"softmax"', content)
        bad = self.write("bad.onnx", content.replace(b'"softmax"', b'"sofmaxx"'))
        self.refused(INVALID, bad, "--input", self.array(scores), mentions=["bad.onnx", "metadata"])

    def test_refusals(self):
        words = (self.identity(1, 4), "--input", self.array(np.zeros((1, 4))))
        self.refused(USAGE, *words, "--post", "sofmax", mentions=["--post", "no step 'sofmax'", "argmax-map"])
        self.refused(USAGE, *words, "--post", "argmax-map", mentions=["argmax-map is not of 'y'"])
        self.refused(USAGE, *words, "--post", "top-k=2:output=z", mentions=["no output 'z'"])
        self.refused(USAGE, *words, "--post", "boxes", mentions=["boxes", "'y'"])
        self.refused(USAGE, *words, "--post", "boxes:score=2", mentions=["from 0 to 1"])
        self.refused(SYSTEM, *words, "--post", "ctc=" + self.path("none.txt"), mentions=["none.txt"])


if __name__ == "__main__":
    main()
