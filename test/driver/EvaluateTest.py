#!/usr/bin/env python3
# Covers: evaluate Evaluation EvaluationData EvaluationText ModelMetrics
# Covers: interface EvaluateChoices
"""`sinter evaluate`: metrics against NumPy and their definitions."""
import json
import math
import os
import sys

import OnnxBytes as onnx
import QuantizeModels as models
from SinterCommand import CommandTest, DONE, SYSTEM, USAGE, WRONG, main

try:
    import numpy as np
except ImportError:
    print("needs NumPy")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
GLYPHS = os.path.join(HERE, "..", "..", "examples", "glyphs")


def cross_entropy(logits, labels):
    """The mean of -log softmax(logits)[label], in f64."""
    shifted = logits.astype("f8") - logits.max(axis=1, keepdims=True)
    return float((np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]).mean())


def wilson(right, count):
    z = 1.959963984540054
    part = right / count
    centre, margin = part + z * z / (2 * count), z * math.sqrt(part * (1 - part) / count + z * z / (4 * count * count))
    return [(centre - margin) / (1 + z * z / count), (centre + margin) / (1 + z * z / count)]


class EvaluateCase(CommandTest):
    def identity(self, name, *shape, kind="Identity"):
        return self.write(name, onnx.simple([onnx.node(kind, ["x"], ["y"], "node")], shape))

    def archive(self, name, **arrays):
        np.savez(self.path(name), **arrays)
        return self.path(name)

    def evaluate(self, *arguments):
        done = self.sinter("evaluate", *arguments, "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        report = json.loads(done.stdout)
        return report, {each["metric"]: each for each in report["metrics"]}

    def refused(self, code, *arguments, mentions=()):
        return self.expect_error(code, "evaluate", *arguments, "--no-cache", mentions=mentions)


class Classes(EvaluateCase):
    def setUp(self):
        super().setUp()
        drawn = np.random.default_rng(1)
        self.scores = drawn.normal(size=(37, 12)).astype("f4")
        self.labels = drawn.integers(0, 12, 37)
        # Some answers are right.
        self.scores[np.arange(0, 37, 2), self.labels[::2]] += 2
        self.data = self.archive("data.npz", x=self.scores, target=self.labels)

    def rank(self, scores):
        own = scores[np.arange(37), self.labels][:, None]
        return ((scores > own) | ((scores == own) & (np.arange(12)[None] < self.labels[:, None]))).sum(axis=1)

    def test_values_and_intervals(self):
        report, metrics = self.evaluate(self.identity("net.onnx", "N", 12), "--data", self.data)
        self.assertEqual(list(metrics), ["top1", "top5", "cross-entropy"])
        self.assertTrue(report["chosen"])
        self.assertEqual(report["samples"], 37)
        for name, most in (("top1", 1), ("top5", 5)):
            right = int((self.rank(self.scores) < most).sum())
            self.assertAlmostEqual(metrics[name]["value"], right / 37, places=12)
            np.testing.assert_allclose(metrics[name]["interval"], wilson(right, 37), atol=1e-12)
            self.assertEqual(metrics[name]["method"], "Wilson")
        self.assertAlmostEqual(metrics["cross-entropy"]["value"], cross_entropy(self.scores, self.labels), places=9)
        self.assertEqual(metrics["cross-entropy"]["scores"], "logits")
        self.assertEqual(metrics["cross-entropy"]["method"], "Student")
        self.assertEqual(metrics["top1"]["output"], "y")

    def test_batches_change_nothing(self):
        """A batch of one, of eight (the last one is not full), and a dynamic one."""
        expected = None
        for name, size, words, runs in (("one", 1, [], 37), ("eight", 8, [], 5), ("dynamic", "N", ["--batch", "5"], 8), ("usual", "N", [], 5)):
            with self.subTest(model=name):
                report, metrics = self.evaluate(self.identity(name + ".onnx", size, 12), "--data", self.data, *words)
                self.assertEqual(report["runs"], runs)
                values = [each["value"] for each in metrics.values()]
                expected = expected or values
                self.assertEqual(values, expected)

    def test_other_formats_and_the_interpreter(self):
        model = self.identity("net.onnx", "N", 12)
        expected = self.evaluate(model, "--data", self.data)[1]
        for form in ("net.mlir", "net.json"):
            done = self.sinter("convert", model, "-o", self.path(form))
            self.assertEqual(done.returncode, DONE, done.stderr)
            data = self.archive("named.npz", target=self.labels, **{name: self.scores for name in ("x", "arg0")})
            _, metrics = self.evaluate(self.path(form), "--data", data)
            self.assertEqual([each["value"] for each in metrics.values()], [each["value"] for each in expected.values()], form)
        self.assertEqual(self.evaluate(model, "--data", self.data, "--backend", "interpreter")[1], expected)

    def test_some_samples_and_ignored_labels(self):
        model = self.identity("net.onnx", "N", 12)
        chosen = [i * 37 // 10 for i in range(10)]
        report, metrics = self.evaluate(model, "--data", self.data, "--samples", "10", "--metric", "top3")
        self.assertEqual(report["samples"], 10)
        self.assertAlmostEqual(metrics["top3"]["value"], float((self.rank(self.scores)[chosen] < 3).mean()))
        counted = self.labels != 3
        _, metrics = self.evaluate(model, "--data", self.data, "--ignore-label", "3", "--metric", "top1")
        self.assertAlmostEqual(metrics["top1"]["value"], float((self.rank(self.scores)[counted] < 1).mean()))

    def test_probabilities(self):
        parts = np.exp(self.scores) / np.exp(self.scores).sum(axis=1, keepdims=True)
        data = self.archive("parts.npz", x=parts.astype("f4"), target=self.labels)
        _, metrics = self.evaluate(self.identity("net.onnx", "N", 12), "--data", data, "--metric", "cross-entropy")
        self.assertEqual(metrics["cross-entropy"]["scores"], "probabilities")
        self.assertAlmostEqual(metrics["cross-entropy"]["value"], cross_entropy(self.scores, self.labels), places=5)
        _, metrics = self.evaluate(self.identity("net.onnx", "N", 12), "--data", data, "--metric", "cross-entropy", "--logits")
        self.assertAlmostEqual(metrics["cross-entropy"]["value"], cross_entropy(parts.astype("f4"), self.labels), places=6)

    def test_steps_of_sequences(self):
        """Labels of every step: those of a sample stay together in the interval."""
        drawn = np.random.default_rng(2)
        scores, labels = drawn.normal(size=(9, 4, 5)).astype("f4"), drawn.integers(0, 5, (9, 4))
        labels[0, 1:] = -100
        data = self.archive("steps.npz", x=scores, target=labels)
        _, metrics = self.evaluate(self.identity("net.onnx", "N", 4, 5), "--data", data, "--metric", "top1")
        counted = labels != -100
        self.assertAlmostEqual(metrics["top1"]["value"], float((scores.argmax(axis=2) == labels)[counted].mean()))
        self.assertEqual(metrics["top1"]["method"], "percentile bootstrap")

    def test_against_another_model(self):
        other = self.identity("other.onnx", "N", 12, kind="Abs")
        report, _ = self.evaluate(self.identity("net.onnx", "N", 12), "--data", self.data, "--against", other, "--metric", "top1,cross-entropy")
        first, second = self.rank(self.scores) < 1, self.rank(np.abs(self.scores)) < 1
        top, loss = report["differences"]
        only = [int((first & ~second).sum()), int((second & ~first).sum())]
        self.assertAlmostEqual(top["value"], float(first.mean() - second.mean()))
        self.assertEqual([top["only_model_right"], top["only_other_right"]], only)
        tails = sum(math.comb(sum(only), i) for i in range(min(only) + 1)) / 2 ** sum(only)
        self.assertAlmostEqual(top["p"], min(1, 2 * tails))
        self.assertAlmostEqual(loss["value"], cross_entropy(self.scores, self.labels) - cross_entropy(np.abs(self.scores), self.labels), places=9)
        self.assertEqual(loss["method"], "paired Student")
        same = (self.scores.argmax(axis=1) == np.abs(self.scores).argmax(axis=1)).mean()
        self.assertAlmostEqual(report["agreement"]["value"], float(same))
        self.assertEqual(report["against"]["model"], other)

    def test_bounds(self):
        model = self.identity("net.onnx", "N", 12)
        right = float((self.rank(self.scores) < 1).mean())
        self.evaluate(model, "--data", self.data, "--at-least", f"top1={right - 0.001}", "--at-most", "cross-entropy=100")
        self.refused(WRONG, model, "--data", self.data, "--at-least", f"top1={right * 100 + 0.1}%", mentions=["top1 is", "--at-least"])
        self.refused(WRONG, model, "--data", self.data, "--at-most", "cross-entropy=0.001", mentions=["cross-entropy is", "--at-most"])
        self.refused(USAGE, model, "--data", self.data, "--metric", "top1", "--at-most", "mse=1", mentions=["mse was not computed"])
        worse = self.identity("other.onnx", "N", 12, kind="Neg")
        self.evaluate(model, "--data", self.data, "--against", worse, "--max-loss", "0")
        self.refused(WRONG, worse, "--data", self.data, "--against", model, "--max-loss", "1", mentions=["points below", "net.onnx", "--max-loss 1"])

    def test_text(self):
        done = self.sinter("evaluate", self.identity("net.onnx", "N", 12), "--data", self.data, "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        right = float((self.rank(self.scores) < 1).mean())
        self.assertIn("37 samples", done.stdout)
        self.assertRegex(done.stdout, rf"top1 +{right * 100:.2f} %  \(95 %: [\d.]+ \.\. [\d.]+, Wilson\)")

    def test_refusals(self):
        model = self.identity("net.onnx", "N", 12)
        wrong = self.archive("wrong.npz", x=self.scores, target=np.where(np.arange(37) == 30, 12, self.labels))
        self.refused(USAGE, model, "--data", wrong, mentions=["sample 30", "the label 12 is no class", "12"])
        self.refused(USAGE, model, "--data", self.archive("none.npz", x=self.scores), mentions=["no array 'target'"])
        self.refused(USAGE, model, "--data", self.data, "--metric", "top13", mentions=["--metric", "only 12 classes"])
        self.refused(USAGE, model, "--data", self.data, "--metric", "accuracy", mentions=["'accuracy' is no metric", "top1"])
        self.refused(USAGE, model, "--data", self.data, "--metric", "mse", mentions=["mse is not of outputs", "'y'"])
        self.refused(USAGE, model, "--data", self.data, "--output-name", "z", mentions=["no output 'z'", "'y'"])
        self.refused(USAGE, model, "--data", self.data, "--max-loss", "1", mentions=["--max-loss needs --against"])
        self.refused(USAGE, model, "--data", self.data, "--at-least", "top1=75", mentions=["from 0 to 1", "75%"])
        self.refused(USAGE, model, "--data", self.data, "--at-least", "top1", mentions=["--at-least"])
        self.refused(USAGE, model, "--data", self.data, "--logits", "--probabilities", mentions=["--logits", "--probabilities"])
        self.refused(USAGE, self.identity("eight.onnx", 8, 12), "--data", self.data, "--batch", "4", mentions=["--batch", "a batch of 8"])
        self.refused(USAGE, model, mentions=["--data"])
        self.refused(SYSTEM, model, "--data", self.path("nothing"), mentions=["nothing"])
        self.refused(SYSTEM, model, "--data", self.data, "--against", self.path("nothing.onnx"), mentions=["nothing.onnx"])
        unlike = self.identity("unlike.onnx", "N", 7)
        self.refused(USAGE, model, "--data", self.data, "--against", unlike, mentions=["unlike.onnx"])
        os.mkdir(self.path("images"))
        np.save(self.path("images/a.npy"), self.scores[:1])
        self.refused(USAGE, model, "--data", self.path("images"), mentions=["what is right is not known of", "a.npy", "--truth"])


class Values(EvaluateCase):
    def test_errors_of_elements(self):
        drawn = np.random.default_rng(3)
        got, wanted = drawn.normal(size=(11, 2, 3)).astype("f4"), drawn.normal(size=(11, 2, 3)).astype("f4")
        data = self.archive("data.npz", x=got, target=wanted)
        model = self.identity("net.onnx", "N", 2, 3)
        _, metrics = self.evaluate(model, "--data", data)
        self.assertEqual(list(metrics), ["mse"])
        difference = got.astype("f8") - wanted
        self.assertAlmostEqual(metrics["mse"]["value"], float((difference ** 2).mean()), places=12)
        each = (difference ** 2).mean(axis=(1, 2))
        margin = 2.2281388519649385 * each.std(ddof=1) / math.sqrt(11)
        np.testing.assert_allclose(metrics["mse"]["interval"], [each.mean() - margin, each.mean() + margin], rtol=1e-7)
        _, metrics = self.evaluate(model, "--data", data, "--metric", "mae")
        self.assertAlmostEqual(metrics["mae"]["value"], float(np.abs(difference).mean()), places=12)


class States(EvaluateCase):
    def test_each_run_begins_anew(self):
        """A counter is 1 in each run, whatever the order of samples."""
        model = self.write("counter.mlir", """
func.func @main(%x: tensor<1xf32>, %n: tensor<1xf32> {sinter.state = "n", sinter.initial = dense<0.0> : tensor<1xf32>}) -> (tensor<1xf32>, tensor<1xf32> {sinter.state = "n"}) {
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %next = stablehlo.add %n, %one : tensor<1xf32>
  %y = stablehlo.multiply %next, %x : tensor<1xf32>
  return %y, %next : tensor<1xf32>, tensor<1xf32>
}
""")
        values = np.arange(1, 6, dtype="f4")
        _, metrics = self.evaluate(model, "--data", self.archive("data.npz", x=values, arg0=values, target=values))
        self.assertEqual(metrics["mse"]["value"], 0)


class Maps(EvaluateCase):
    def setUp(self):
        super().setUp()
        drawn = np.random.default_rng(4)
        self.scores = drawn.normal(size=(6, 3, 4, 5)).astype("f4")
        self.truth = drawn.integers(0, 3, (6, 4, 5)).astype("u1")
        self.truth[0, :2] = 255

    def overlap(self, predicted, truth):
        ratios = []
        for label in range(3):
            a, b = (predicted == label) & (truth != 255), truth == label
            if (a | b).any():
                ratios.append((a & b).sum() / (a | b).sum())
        return ratios

    def test_overlap(self):
        data = self.archive("data.npz", x=self.scores, target=self.truth)
        report, metrics = self.evaluate(self.identity("net.onnx", "N", 3, 4, 5), "--data", data, "--ignore-label", "255")
        ratios = self.overlap(self.scores.argmax(axis=1), self.truth)
        self.assertEqual(list(metrics), ["iou"])
        self.assertAlmostEqual(metrics["iou"]["value"], float(np.mean(ratios)), places=12)
        np.testing.assert_allclose([each["value"] for each in metrics["iou"]["classes"]], ratios)
        self.assertEqual(metrics["iou"]["method"], "percentile bootstrap")
        self.assertEqual(report["notes"], [])

    def test_files_of_maps(self):
        """Samples and maps in two folders, of which one is larger than the output."""
        os.mkdir(self.path("samples"))
        os.mkdir(self.path("maps"))
        large = self.truth.repeat(2, axis=1).repeat(2, axis=2)
        for i in range(6):
            np.save(self.path(f"samples/s{i}.npy"), self.scores[i:i + 1])
            np.save(self.path(f"maps/s{i}.npy"), large[i] if i == 2 else self.truth[i])
        model = self.identity("net.onnx", 1, 3, 4, 5)
        words = (model, "--data", self.path("samples"), "--truth", self.path("maps"), "--ignore-label", "255")
        report, metrics = self.evaluate(*words)
        self.assertAlmostEqual(metrics["iou"]["value"], float(np.mean(self.overlap(self.scores.argmax(axis=1), self.truth))), places=12)
        self.assertEqual(len(report["notes"]), 1)
        self.refused(USAGE, *words[:-2], mentions=["the label 255 is no class"])
        os.remove(self.path("maps/s3.npy"))
        self.refused(USAGE, *words, mentions=["--truth", "there is no .npy or .png of 's3'"])

    def test_png_maps(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("needs Pillow")
        os.mkdir(self.path("samples"))
        os.mkdir(self.path("maps"))
        for i in range(6):
            np.save(self.path(f"samples/s{i}.npy"), self.scores[i:i + 1])
            image = Image.fromarray(self.truth[i], "P" if i % 2 else "L")
            if i % 2:
                image.putpalette([(7 * j + 3) % 256 for j in range(768)])
            image.save(self.path(f"maps/s{i}.png"))
        words = (self.identity("net.onnx", 1, 3, 4, 5), "--data", self.path("samples"), "--truth", self.path("maps"), "--ignore-label", "255")
        _, metrics = self.evaluate(*words)
        self.assertAlmostEqual(metrics["iou"]["value"], float(np.mean(self.overlap(self.scores.argmax(axis=1), self.truth))), places=12)
        Image.fromarray(np.zeros((4, 5, 3), "u1")).save(self.path("maps/s0.png"))
        self.refused(USAGE, *words, mentions=["s0.png", "palette"])


class Images(EvaluateCase):
    """The example, as a user has it."""
    IMAGES = os.path.join(GLYPHS, "images")

    def test_glyphs(self):
        names = sorted(os.path.splitext(each)[0] for each in os.listdir(self.IMAGES))
        truth = self.write("truth.txt", "".join(f"{each}.png\t{each}\n" for each in names))
        words = ("--data", self.IMAGES, "--truth", truth, "--labels", os.path.join(GLYPHS, "labels.txt"))
        report, metrics = self.evaluate(os.path.join(GLYPHS, "glyphs.onnx"), *words)
        self.assertEqual(report["samples"], len(names))
        self.assertEqual(metrics["top1"]["value"], 1)
        self.assertLess(metrics["cross-entropy"]["value"], 0.1)

    def test_folders_of_classes(self):
        drawn = np.random.default_rng(5)
        right = 0
        for name in ("cat", "dog"):
            os.makedirs(self.path("data/" + name))
            for i in range(4):
                scores = drawn.normal(size=(1, 2)).astype("f4")
                np.save(self.path(f"data/{name}/{i}.npy"), scores)
                right += ["cat", "dog"][scores.argmax()] == name
        _, metrics = self.evaluate(self.identity("net.onnx", "N", 2), "--data", self.path("data"))
        self.assertEqual(list(metrics), ["top1", "cross-entropy"])
        self.assertAlmostEqual(metrics["top1"]["value"], right / 8)
        # A static batch is filled with files.
        report, metrics = self.evaluate(self.identity("five.onnx", 5, 2), "--data", self.path("data"))
        self.assertAlmostEqual(metrics["top1"]["value"], right / 8)
        self.assertEqual(report["runs"], 2)

    def test_post_processing_that_the_model_keeps(self):
        """A softmax behind the outputs: what was logits are probabilities."""
        drawn = np.random.default_rng(8)
        scores, labels = drawn.normal(size=(9, 4)).astype("f4"), drawn.integers(0, 4, 9)
        data = self.archive("data.npz", x=scores, target=labels)
        done = self.sinter("optimize", self.identity("net.onnx", "N", 4), "-o", self.path("kept.onnx"), "--post", "softmax")
        self.assertEqual(done.returncode, DONE, done.stderr)
        report, metrics = self.evaluate(self.path("kept.onnx"), "--data", data)
        self.assertEqual(metrics["cross-entropy"]["scores"], "probabilities")
        self.assertAlmostEqual(metrics["cross-entropy"]["value"], cross_entropy(scores, labels), places=6)
        self.assertEqual(report["notes"], ["post-processing that the model keeps: softmax"])
        report, metrics = self.evaluate(self.path("kept.onnx"), "--data", data, "--post", "none")
        self.assertEqual((metrics["cross-entropy"]["scores"], report["notes"]), ("logits", []))

    def test_as_training_validates(self):
        """The loss and accuracy that `train` reports for its validation are those of the written model."""
        model = self.write("net.onnx", models.perceptron(rows="N"))
        drawn = np.random.default_rng(6)
        for name in ("train", "test"):
            self.archive(name + ".npz", x=drawn.normal(size=(40, 16)).astype("f4"), target=drawn.integers(0, 3, 40))
        done = self.sinter("train", model, "--data", self.path("train.npz"), "--validate", self.path("test.npz"), "--epochs", "1", "--batch", "10",
                           "--log", self.path("log.jsonl"), "-o", self.path("out.onnx"), "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("log.jsonl")) as file:
            told = [each for each in map(json.loads, file) if "validation_loss" in each][-1]
        _, metrics = self.evaluate(self.path("out.onnx"), "--data", self.path("test.npz"))
        self.assertAlmostEqual(metrics["cross-entropy"]["value"], told["validation_loss"], places=5)
        self.assertAlmostEqual(metrics["top1"]["value"], told["accuracy"], places=6)


def overlap_of(a, b):
    """The intersection over the union of two boxes of left, top, right, bottom."""
    both = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def mean_average_precision(found, truth, classes):
    """COCO's, without crowds: FOUND and TRUTH have a list an image of (class, box) and, found, a score."""
    values = []
    for label in range(classes):
        wanted = sum(each[0] == label for image in truth for each in image)
        for least in (0.5 + 0.05 * i for i in range(10)):
            if not wanted:
                continue
            rows = []
            for image, own in enumerate(found):
                boxes = [each[1] for each in truth[image] if each[0] == label]
                free = set(range(len(boxes)))
                for _, box, score in sorted((each for each in own if each[0] == label), key=lambda each: -each[2]):
                    best = max(free, key=lambda i: overlap_of(box, boxes[i]), default=None)
                    hit = best is not None and overlap_of(box, boxes[best]) >= least
                    if hit:
                        free.remove(best)
                    rows.append((-score, image, hit))
            hits = np.array([row[2] for row in sorted(rows, key=lambda row: row[:2])], bool)
            right = hits.cumsum()
            precision, recall = right / np.arange(1, len(hits) + 1), right / wanted
            values.append(np.mean([max(precision[recall >= point], default=0) for point in np.linspace(0, 1, 101)]))
    return float(np.mean(values))


class Boxes(EvaluateCase):
    """A head whose input is its output: [1, 4 + classes, boxes]."""
    IMAGES, CLASSES, COUNT = 8, 2, 9

    def setUp(self):
        super().setUp()
        drawn = np.random.default_rng(7)
        os.mkdir(self.path("heads"))
        self.found, self.truth = [], []
        for image in range(self.IMAGES):
            head = np.zeros((1, 4 + self.CLASSES, self.COUNT), "f4")
            found, truth = [], []
            for i in range(self.COUNT):
                # Apart from each other, so that nothing is suppressed.
                x, y, size = 100 * (i % 3) + 50, 100 * (i // 3) + 50, 40
                label, score = int(drawn.integers(self.CLASSES)), float(np.float32(drawn.uniform(0.05, 1)))
                head[0, :, i] = [x, y, size, size] + [score if label == each else 0 for each in range(self.CLASSES)]
                found.append((label, (x - 20, y - 20, x + 20, y + 20), score))
                if drawn.uniform() < 0.7:
                    shift = float(drawn.integers(0, 25))
                    truth.append((label if drawn.uniform() < 0.8 else 1 - label, (x - 20 + shift, y - 20, x + 20 + shift, y + 20)))
            np.save(self.path(f"heads/s{image}.npy"), head)
            self.found.append(found)
            self.truth.append(truth)
        self.model = self.identity("net.onnx", 1, 4 + self.CLASSES, self.COUNT)

    def coco(self, factor=1, **size):
        images = [{"id": 10 + i, "file_name": f"s{i}.npy", **size} for i in range(self.IMAGES)]
        annotations = [{"image_id": 10 + i, "category_id": label, "bbox": [factor * side for side in (box[0], box[1], box[2] - box[0], box[3] - box[1])]}
                       for i, own in enumerate(self.truth) for label, box in own]
        return self.write("truth.json", json.dumps({"images": images, "annotations": annotations,
                                                    "categories": [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}]}))

    def test_average_precision(self):
        wanted = mean_average_precision(self.found, self.truth, self.CLASSES)
        report, metrics = self.evaluate(self.model, "--data", self.path("heads"), "--truth", self.coco())
        self.assertEqual(list(metrics), ["map"])
        self.assertAlmostEqual(metrics["map"]["value"], wanted, places=9)
        self.assertEqual([each["name"] for each in metrics["map"]["classes"]], ["cat", "dog"])
        self.assertGreater(metrics["map"]["at_0.5"], metrics["map"]["value"])
        # The truth of images twice as large as the input.
        truth = self.coco(2, width=2 * self.COUNT, height=2 * (4 + self.CLASSES))
        _, metrics = self.evaluate(self.model, "--data", self.path("heads"), "--truth", truth, "--post", "boxes:head=yolov8")
        self.assertAlmostEqual(metrics["map"]["value"], wanted, places=9)

    def test_labels_and_settings(self):
        words = (self.model, "--data", self.path("heads"), "--truth", self.coco())
        high = mean_average_precision([[each for each in own if each[2] >= 0.5] for own in self.found], self.truth, self.CLASSES)
        _, metrics = self.evaluate(*words, "--post", "boxes:score=0.5")
        self.assertAlmostEqual(metrics["map"]["value"], high, places=9)
        swapped = [[(1 - label, box, score) for label, box, score in own] for own in self.found]
        _, metrics = self.evaluate(*words, "--labels", self.write("labels.txt", "dog\ncat\n"))
        self.assertAlmostEqual(metrics["map"]["value"], mean_average_precision(swapped, self.truth, self.CLASSES), places=9)
        self.refused(USAGE, *words, "--labels", self.write("labels.txt", "dog\nbird\n"), mentions=["the category 'cat' is no label"])
        self.refused(USAGE, *words, "--metric", "top1", mentions=["top1 is not of outputs", "boxes"])
        self.refused(USAGE, *words, "--post", "boxes:iou=3", mentions=["--post", "from 0 to 1"])
        self.refused(USAGE, *words, "--post", "boxes:head=end2end", mentions=["s0.npy", "head=end2end"])
        self.refused(USAGE, *words[:3], "--truth", self.write("none.json", "[]"), mentions=["none.json", "it has no image", "s0.npy"])
        self.refused(SYSTEM, *words[:3], "--truth", self.write("bad.json", "{"), mentions=["bad.json", "not a JSON file"])


if __name__ == "__main__":
    main()
