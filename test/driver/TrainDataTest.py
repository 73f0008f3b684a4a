#!/usr/bin/env python3
# Covers: data Augmentation BatchQueue TrainingData TrainingDataLoader
# Covers: runtime Idx
"""What `sinter train` trains on: IDX files, pictures of other sizes, augmentation, and what cannot be read."""
import gzip
import json
import os
import shutil
import struct

import OnnxBytes as onnx
from QuantizeModels import png
from SinterCommand import DONE, SYSTEM, USAGE, main
from TrainTest import TrainCase, initializers, npy, npz

SIDE = 4


def idx(shape, content, kind=8):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", each) for each in shape) + bytes(content)


def picture(number, side=SIDE):
    return [(number * 53 + i * 17 + i * i * 3) % 256 for i in range(side * side)]


def picked(shape=("N", 1, SIDE, SIDE)):
    """A linear classifier of pixels, whose loss is another for every picture."""
    pixels = SIDE * SIDE
    matrix = [((i * 7 + j * 5) % 11 - 5) / 10 for i in range(pixels) for j in range(3)]
    tensors = [onnx.tensor("w", [pixels, 3], onnx.floats(*matrix)), onnx.tensor("b", [3], onnx.floats(0.1, 0.2, -0.3))]
    nodes = [onnx.node("Flatten", ["x"], ["f"], "flatten"), onnx.node("Gemm", ["f", "w", "b"], ["y"], "product")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", shape)], [onnx.value_info("y", ["N", 3])], tensors), 15)


class TrainData(TrainCase):
    LABELS = [0, 1, 2, 1, 0, 2, 2]

    def setUp(self):
        super().setUp()
        self.model = self.write("net.onnx", picked())

    def archive(self, pictures, labels=None, name="a.npz"):
        """Pictures, whose numbers are 0 to 1 already."""
        flat = [each for one in pictures for each in one]
        labels = self.LABELS if labels is None else labels
        side = int(len(pictures[0]) ** 0.5)
        return self.write(name, npz(x=npy([len(pictures), 1, side, side], flat), target=npy([len(labels)], labels, "i8")))

    def classes(self, count=7, side=SIDE, name="classes"):
        for i in range(count):
            os.makedirs(self.path(f"{name}/{self.LABELS[i]}"), exist_ok=True)
            self.write(f"{name}/{self.LABELS[i]}/{i}.png", png(side, side, picture(i, side)))
        return self.path(name)

    def run_on(self, data, *options, model=None, rate="0.3"):
        """The weights and the losses of the steps."""
        out, log = self.path("out.onnx"), self.path("log.jsonl")
        done = self.sinter("train", model or self.model, "--data", data, "-o", out, "--force", "--log", log, "--lr", rate, "--batch", "3", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file, open(log) as lines:
            return initializers(file.read()), [step["loss"] for step in map(json.loads, lines) if "step" in step]

    def scaled(self, pixels):
        return [each * (1 / 255) for each in pixels]

    def test_idx(self):
        """The same bits as from arrays; packed or not, with rows, with vectors, with channels last."""
        pictures = [picture(i) for i in range(7)]
        content = idx([7, SIDE, SIDE], [each for one in pictures for each in one])
        labels = idx([7], self.LABELS)
        plain = self.write("train-images-idx3-ubyte", content)
        self.write("train-labels-idx1-ubyte", labels)
        packed = self.write("t10k-images.idx3-ubyte.gz", gzip.compress(content))
        self.write("t10k-labels.idx1-ubyte.gz", gzip.compress(labels))
        wanted = self.run_on(self.archive([self.scaled(one) for one in pictures]), "--epochs", "3")
        for data in plain, packed:
            self.assertEqual(self.run_on(data, "--epochs", "3"), wanted)
        for shape, options in (("N", SIDE, SIDE), []), (("N", SIDE * SIDE), []), (("N", SIDE, SIDE, 1), ["--layout", "nhwc"]):
            with self.subTest(shape):
                model = self.write("other.onnx", picked(shape))
                self.assertEqual(self.run_on(plain, "--epochs", "3", *options, model=model), wanted)

    def test_idx_refused(self):
        command = ["train", self.model, "-o", self.path("out.onnx"), "--data"]
        good = idx([2, SIDE, SIDE], bytes(2 * SIDE * SIDE))
        self.write("a-labels", idx([2], [0, 1]))
        images = lambda content: self.write("a-images", content)
        self.expect_error(SYSTEM, *command, images(good[:-1]), mentions=["a-images", "cut short"])
        self.expect_error(SYSTEM, *command, images(good + b"x"), mentions=["a-images", "more elements"])
        self.expect_error(SYSTEM, *command, images(idx([2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1], b"")), mentions=["sizes make no sense"])
        self.expect_error(SYSTEM, *command, images(idx([2 ** 31, 2, 2], b"12")), mentions=["cut short"])
        self.expect_error(SYSTEM, *command, images(gzip.compress(good)[:-9]), mentions=["a-images"])
        self.expect_error(SYSTEM, *command, images(idx([2], [0, 0], kind=13)), mentions=["elements of the kind 13"])
        self.expect_error(USAGE, *command, images(b"\0\0\x08\x09" + bytes(99)), mentions=["an IDX file of bytes is expected"])
        self.expect_error(USAGE, *command, images(idx([2], [0, 0])), mentions=["images of 2xui8"])
        self.expect_error(USAGE, *command, images(idx([3, 1, 1], [0] * 3)), mentions=["3x1x1xui8", "2xui8"])
        self.expect_error(USAGE, *command, self.write("pixels", good), mentions=["'labels' in place of 'images'"])
        self.expect_error(SYSTEM, *command, self.write("b-images", good), mentions=["b-labels", "not there"])
        self.expect_error(USAGE, *command, images(idx([0, SIDE, SIDE], b"")), mentions=["2xui8"])

    def test_decoded_as_needed(self):
        """The same bits, whether pictures stay in memory or not, with any number of threads."""
        folder = self.classes()
        wanted = self.run_on(folder, "--epochs", "3", "--flip", "--shift", "2")
        for options in ["--data-memory", "0"], ["--data-memory", "0", "--threads", "1"], ["--threads", "2"]:
            self.assertEqual(self.run_on(folder, "--epochs", "3", "--flip", "--shift", "2", *options), wanted)
        self.assertNotEqual(self.run_on(folder, "--epochs", "3"), wanted)

    def windows(self, pixels, side, flip, shift, crop):
        """What augmentation may make of a picture of SIDE x SIDE: all that it can."""
        edge = lambda at: min(max(at, 0), side - 1)
        spare = side - SIDE
        tops = range(spare + 1) if crop else [spare // 2]
        found = []
        for top in sorted({each + by for each in tops for by in range(-shift, shift + 1)}):
            for left in sorted({each + by for each in tops for by in range(-shift, shift + 1)}):
                for mirrored in (False, True) if flip else (False,):
                    found.append([pixels[edge(top + y) * side + edge(left + (SIDE - 1 - x if mirrored else x))] for y in range(SIDE) for x in range(SIDE)])
        return found

    def test_augmentation(self):
        """Each step saw one of the windows that may be, over some epochs many of them, and the same ones again with the same seed."""
        large, side = picture(3, 6), 6
        os.makedirs(self.path("one/0"))
        self.write("one/0/a.png", png(side, side, large))
        # A rate of 0 leaves the weights as they are, so a loss tells the window that a step saw.
        seen_by = lambda *options: self.run_on(self.path("one"), "--resize", str(side), "--epochs", "60", *options, rate="0")[1]
        for options, flip, shift, crop in ([], False, 0, False), (["--flip"], True, 0, False), (["--shift", "1"], False, 1, False), (["--random-crop"], False, 0, True):
            with self.subTest(options):
                may_be = set()
                for window in self.windows(large, side, flip, shift, crop):
                    may_be.update(self.run_on(self.archive([self.scaled(window)], [0], "window.npz"), rate="0")[1])
                seen = seen_by(*options)
                self.assertLessEqual(set(seen), may_be)
                self.assertGreaterEqual(len(set(seen)), len(may_be) - 1)
                self.assertEqual(seen_by(*options), seen)
                if options:
                    self.assertNotEqual(seen_by(*options, "--seed", "1"), seen)
        self.assertGreater(len(set(seen_by("--flip", "--shift", "2", "--random-crop"))), 40)

    def test_goes_on_with_the_same_pictures(self):
        folder, kept = self.classes(), self.path("kept")
        options = ["--flip", "--shift", "1", "--epochs", "4", "--validate", folder]
        whole, _ = self.run_on(folder, *options)
        options += ["--checkpoint-dir", kept, "--checkpoint-every", "2", "--keep-checkpoints", "20"]
        self.run_on(folder, *options)
        for last in sorted(os.listdir(kept))[3:]:
            shutil.rmtree(os.path.join(kept, last))
        self.assertEqual(self.run_on(folder, *options, "--resume")[0], whole)
        command = ["train", self.model, "--data", folder, "-o", self.path("out.onnx"), "--force", "--lr", "0.3", "--batch", "3", *options, "--resume"]
        self.expect_error(USAGE, *command, "--random-crop", "--resize", "6", mentions=["another augmentation"])

    def test_validation_is_not_augmented(self):
        folder = self.classes(side=6)
        losses = set()
        for options in [], ["--flip", "--shift", "2", "--random-crop"]:
            done = self.sinter("train", self.model, "--data", folder, "--validate", folder, "--resize", "6", "--lr", "0", "-o", self.path("out.onnx"), "--force", "--json", *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            losses.add(json.loads(done.stdout)["epochs"][0]["validation_loss"])
        self.assertEqual(len(losses), 1)

    def test_bad_pictures(self):
        folder = self.classes()
        command = ["train", self.model, "-o", self.path("out.onnx"), "--force", "--data", folder]
        whole = png(SIDE, SIDE, picture(1))
        self.write("classes/1/bad.png", whole[:40])
        self.write("classes/2/worse.png", whole[:50])
        self.expect_error(SYSTEM, *command, mentions=["bad.png", "--skip-unreadable"])
        for name, content in ("none.png", b"no picture"), ("empty.JPG", b""), ("other.webp", b"RIFF"):
            other = self.write("classes/0/" + name, content)
            self.expect_error(SYSTEM, *command, mentions=[name, "--skip-unreadable"])
            self.expect_error(SYSTEM, *command, "--skip-unreadable", "2", mentions=["3 of 10 images cannot be read", name])
            os.remove(other)
        self.expect_error(SYSTEM, *command, "--data-memory", "0", "--no-shuffle", mentions=["bad.png", "--skip-unreadable"])
        self.expect_error(SYSTEM, *command, "--skip-unreadable", "1", mentions=["2 of 9 images cannot be read", "bad.png"])
        done = self.sinter(*command, "--skip-unreadable", "2", "--lr", "0.3", "--batch", "3")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for name in "bad.png", "worse.png":
            self.assertIn("note: --data: left out: ", done.stderr)
            self.assertIn(name, done.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            skipped = initializers(file.read())
        for name in "classes/1/bad.png", "classes/2/worse.png":
            os.remove(self.path(name))
        self.assertEqual(skipped, self.run_on(folder)[0])
        os.makedirs(self.path("classes/empty"))
        self.expect_error(USAGE, *command, mentions=["the class 'empty' has no sample"])

    def test_sizes_refused(self):
        folder = self.classes()
        command = ["train", self.model, "-o", self.path("out.onnx"), "--force", "--data", folder]
        self.expect_error(USAGE, *command, "--resize", "3", mentions=["3x3 are smaller", "4x4"])
        self.expect_error(USAGE, *command, "--random-crop", mentions=["--random-crop needs --resize"])
        self.assertEqual(self.sinter(*command, "--resize", "4x").returncode, USAGE)
        self.assertEqual(self.sinter(*command, "--resize", "0x4").returncode, USAGE)
        self.assertEqual(self.sinter(*command, "--shift", "-1").returncode, USAGE)
        archive = self.archive([self.scaled(picture(i)) for i in range(7)])
        self.expect_error(USAGE, *command[:-1], archive, "--resize", "6", mentions=["--resize is for images"])
        flat = self.write("flat.onnx", picked(("N", SIDE * SIDE)))
        data = self.write("flat.npz", npz(x=npy([1, SIDE * SIDE], self.scaled(picture(0))), target=npy([1], [0], "i8")))
        self.expect_error(USAGE, "train", flat, "-o", self.path("out.onnx"), "--data", data, "--flip", mentions=["one input of four dimensions"])


if __name__ == "__main__":
    main()
