#!/usr/bin/env python3
# Covers: driver LossCurvePicture TrainingReport
# Covers: train Epoch LossCurve TrainingHistory
"""What `sinter train` tells: the line on a terminal, the curve, the best checkpoint, and which tensor was not a number."""
import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import termios
import xml.etree.ElementTree as xml

import OnnxBytes as onnx
import SinterCommand
from SinterCommand import DONE, SYSTEM, USAGE, WRONG, main
from TrainTest import CLASSES, FEATURES, SAMPLES, Network, TrainCase, initializers, numbers

SVG = "{http://www.w3.org/2000/svg}"


class TrainReport(TrainCase):
    def command(self, *options, network=None, data=None):
        model = self.write("net.onnx", (network or Network()).onnx())
        return ["train", model, "--data", data or self.data(), "-o", self.path("out.onnx"), "--force", *options]

    def lines(self, path):
        with open(path) as file:
            return [json.loads(line) for line in file]

    def test_not_a_number_is_named(self):
        infinite, nan = float("inf"), float("nan")
        nodes = [onnx.node("Log", ["x"], ["l"], "logarithm"), onnx.node("MatMul", ["l", "w"], ["y"], "product")]
        weight = onnx.tensor("w", [FEATURES, CLASSES], onnx.floats(*Network().weights["w"]))
        graph = onnx.graph(nodes, [onnx.value_info("x", [SAMPLES, FEATURES])], [onnx.value_info("y", [SAMPLES, CLASSES])], [weight])
        logarithm = onnx.model(graph, 15)
        positive = [abs(each) + 0.1 for each in self.x]
        cases = [("the input holds it", self.x[:-1] + [nan], ["step 1", "the input 'x' holds NaN"]),
                 ("infinite", self.x[:-1] + [infinite], ["step 1", "the input 'x' holds infinity"])]
        for name, x, mentions in cases:
            with self.subTest(name):
                done = self.sinter(*self.command(data=self.data(x=x)))
                self.assertEqual(done.returncode, WRONG, done.stderr)
                for mention in mentions:
                    self.assertIn(mention, done.stderr)
        model = self.write("log.onnx", logarithm)
        for x, wanted in (positive[:-1] + [-1.0], "the first tensor that holds NaN is 'logarithm' (stablehlo.log)"), (
                positive[:-1] + [0.0], "before it, 'logarithm' (stablehlo.log) is the first that holds infinity"):
            for backend in "cpu", "interpreter":
                done = self.sinter("train", model, "--data", self.data(x=x), "-o", self.path("out.onnx"), "--batch", str(SAMPLES), "--backend", backend)
                self.assertEqual(done.returncode, WRONG, done.stderr)
                self.assertIn(wanted, done.stderr)
                self.assertFalse(os.path.exists(self.path("out.onnx")))
        # A step that is too large ruins the weights, which the next one tells.
        done = self.sinter(*self.command("--lr", "1e39", "--batch", "6", "--epochs", "3"))
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn("the loss of step 2 is not a number: the step before left 'w', which holds ", done.stderr)

    def test_best(self):
        """The rate grows too large after the best epoch: that one is kept, and is written if it is asked for."""
        held_out = self.data("held.npz", x=numbers(SAMPLES * FEATURES, 77), target=[0, 1, 2, 3, 1, 2])
        folder, log = self.path("kept"), self.path("log.jsonl")
        options = ["--validate", held_out, "--batch", "3", "--epochs", "9", "--lr", "0.4", "--log", log, "--json"]
        command = self.command(*options, "--checkpoint-dir", folder, "--keep-checkpoints", "2")
        done = self.sinter(*command)
        self.assertEqual(done.returncode, DONE, done.stderr)
        losses = [line["validation_loss"] for line in self.lines(log) if "validation_loss" in line]
        best = losses.index(min(losses)) + 1
        self.assertLess(best, 8, "the test needs a best epoch before the last two")
        self.assertEqual(sorted(os.listdir(folder)), sorted({f"step-{2 * each:010}" for each in (best, 8, 9)}))
        report = json.loads(done.stdout)
        self.assertEqual(report["best"]["step"], 2 * best)
        self.assertAlmostEqual(report["best"]["validation_loss"], min(losses), places=6)
        self.assertEqual(self.weights(), self.after(options, 9))
        # All of it, and all but the last two epochs, which a resumed run does again.
        best_weights = self.after(options, best)
        self.assertEqual(self.sinter(*self.command(*options, "--best")).returncode, DONE)
        self.assertEqual(self.weights(), best_weights)
        for last in "step-0000000016", "step-0000000018":
            shutil.rmtree(os.path.join(folder, last))
        done = self.sinter(*command, "--best", "--resume")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.weights(), best_weights)
        self.expect_error(USAGE, *self.command("--best"), mentions=["--best", "--validate"])

    def after(self, options, epochs):
        """The weights of a run that ends there."""
        place = options.index("--epochs") + 1
        self.assertEqual(self.sinter(*self.command(*options[:place], str(epochs), *options[place + 1:])).returncode, DONE)
        return self.weights()

    def weights(self):
        with open(self.path("out.onnx"), "rb") as file:
            return initializers(file.read())

    def test_curve(self):
        """Points stand where the log's losses are; more than 512 steps are means; a resumed run draws the same."""
        for epochs, width in (20, 1), (600, 4):
            curve, log = self.path("curve.svg"), self.path("log.jsonl")
            done = self.sinter(*self.command("--validate", self.data(), "--batch", "3", "--epochs", str(epochs), "--curve", curve, "--log", log, "--lr", "0.01"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            losses = [line["loss"] for line in self.lines(log) if "step" in line]
            judged = [line["validation_loss"] for line in self.lines(log) if "validation_loss" in line]
            means = [sum(losses[i:i + width]) / width for i in range(0, len(losses), width)]
            root = xml.parse(curve).getroot()
            points = [tuple(map(float, each.split(","))) for each in root.findall(SVG + "polyline")[0].get("points").split()]
            self.assertEqual(len(points), len(means))
            # The place of a loss is linear in it: from the two ends of what is drawn to all others.
            low, high = means.index(min(means)), means.index(max(means))
            slope = (points[high][1] - points[low][1]) / (means[high] - means[low])
            for (x, y), mean in zip(points, means):
                self.assertAlmostEqual(y, points[low][1] + slope * (mean - means[low]), delta=0.02)
            self.assertLess(slope, 0)
            self.assertEqual(sorted(points), points)
            circles = root.findall(SVG + "circle")
            self.assertEqual(len(circles), epochs)
            for circle, loss in zip(circles, judged):
                self.assertAlmostEqual(float(circle.get("cy")), points[low][1] + slope * (loss - means[low]), delta=0.02)

    def test_full_disk(self):
        """What cannot be told ends no run: a note says so once. A folder that is not there is seen before the run begins."""
        model, data = self.write("net.onnx", Network().onnx()), self.data()
        command = ["train", model, "--data", data, "--validate", data, "-o", self.path("out.onnx"), "--force", "--batch", "3", "--epochs", "3"]
        for option in "--log", "--curve":
            done = self.sinter(*command, option, "/dev/full")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stderr.count("the run goes on"), 1, done.stderr)
            self.assertIn("note: " + option, done.stderr)
            self.assertIn("/dev/full", done.stderr)
            os.remove(self.path("out.onnx"))
        self.expect_error(SYSTEM, *command, "--log", self.path("none/log.jsonl"), mentions=["--log", "none/log.jsonl"])

    def test_curve_goes_on(self):
        drawn = []
        for each in "whole", "halves":
            options = ["--validate", self.data(), "--batch", "3", "--epochs", "6", "--lr", "0.01", "--checkpoint-dir", self.path(each), "--keep-checkpoints", "9", "--curve", self.path("curve.svg")]
            self.assertEqual(self.sinter(*self.command(*options)).returncode, DONE)
            if each == "halves":
                for last in (8, 10, 12):
                    shutil.rmtree(os.path.join(self.path(each), f"step-{last:010}"))
                os.remove(self.path("curve.svg"))
                self.assertEqual(self.sinter(*self.command(*options), "--resume").returncode, DONE)
            with open(self.path("curve.svg")) as file:
                drawn.append(file.read())
        self.assertEqual(*drawn)
        self.expect_error(SYSTEM, *self.command("--curve", self.folder), mentions=["--curve"])

    def test_line_on_a_terminal(self):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.addCleanup(os.close, ours)
        network = Network()
        x = self.x * 400
        data = self.data(x=x, target=self.labels * 400)
        process = subprocess.Popen([SinterCommand.SINTER, *self.command("--batch", "1", "--epochs", "100", network=network, data=data)], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = ""
        while "samples/s" not in text:
            try:
                text += os.read(ours, 4096).decode()
            except OSError:
                break
        process.terminate()
        process.wait()
        self.assertRegex(text, r"training \d+ of 240000 steps \[#*-*\] \d+(\.\d)?/s, (\d+ (h|min) )?\d+ (s|min) left; "
                               r"epoch \d+ of 100: loss \d+\.\d{4}, accuracy \d+\.\d\d %, \d+ samples/s")


if __name__ == "__main__":
    main()
