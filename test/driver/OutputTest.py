#!/usr/bin/env python3
# Covers: runtime TemporaryFiles
"""What the command writes: lost output is an error, names cannot command a terminal, and nothing half-written stays behind."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import OnnxBytes as onnx
import SinterCommand
from SinterCommand import CommandTest, DONE, SYSTEM, main, npy
from TrainTest import Network, npz
from TrainTest import npy as npy_of

HOSTILE = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared"),
                       "data", "defects", "found-2026-11-29", "hostile")
# An escape, a bell, C1's introducer of commands, and what turns the direction of text.
NAMES = ["a\x1b[31mb", "c\x07d", "e\x9bf", "g‮h⁦", "i\x7fj"]


def is_plain(text):
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f‎‏\u2028-‮⁦-⁩؜]", text)


class Output(CommandTest):
    def full(self, *arguments):
        """Runs sinter with a full disk for its output."""
        with open("/dev/full", "w") as out:
            return subprocess.run([SinterCommand.SINTER, *arguments], stdout=out, stderr=subprocess.PIPE, text=True, timeout=60)

    def chain(self, nodes, name="chain.onnx", names=lambda i: f"n{i}"):
        """A model that prints much."""
        return self.write(name, onnx.simple([onnx.node("Relu", [names(i - 1) if i else "x"], [names(i) if i + 1 < nodes else "y"], names(i)) if i % 2 else
                                             onnx.node("Neg", [names(i - 1) if i else "x"], [names(i) if i + 1 < nodes else "y"], names(i)) for i in range(nodes)]))

    def test_lost_output(self):
        model = self.chain(400)
        data = self.write("data.npz", npz(x=npy_of([6, 3], [0.5] * 18), target=npy_of([6], [0, 1, 2, 3, 0, 1], "i8")))
        network = self.write("net.onnx", Network().onnx())
        commands = [["--help"], ["--version"], ["help"], ["help", "run"], ["run", "--help"], ["optimize", "--list-patterns"],
                    ["inspect", model], ["inspect", model, "--json"], ["inspect", model, "--steps", "--tensors"],
                    ["run", model, "--input", "random", "--no-cache"], ["run", model, "--input", "random", "--no-cache", "--json"],
                    ["bench", model, "--seconds", "0.01", "--no-cache"], ["bench", model, "--seconds", "0.01", "--no-cache", "--json", "--layers"],
                    ["optimize", model, "-o", self.path("o.onnx"), "--stats"], ["compare", model], ["compare", model, "--json"],
                    ["quantize", network, "--calibration", "random", "-o", self.path("q.onnx"), "--json"],
                    ["train", network, "--data", data, "-o", self.path("t.onnx"), "--json"], ["test", self.case()]]
        for command in commands:
            with self.subTest(command):
                done = self.full(*command)
                self.assertEqual(done.returncode, SYSTEM, done.stderr)
                self.assertIn("standard output", done.stderr)

    def case(self):
        folder = self.path("case/test_data_set_0")
        os.makedirs(folder, exist_ok=True)
        self.write("case/model.onnx", onnx.simple([onnx.node("Relu", ["x"], ["y"])]))
        for kind in "input", "output":
            self.write(f"case/test_data_set_0/{kind}_0.pb", onnx.tensor("x", [2, 3], onnx.floats(*[1] * 6)))
        return self.path("case")

    def test_files_that_cannot_be_written(self):
        model = self.good_model()
        for command in (["run", model, "--input", "random", "--no-cache", "--trace", "/dev/full"],
                        ["bench", model, "--seconds", "0.01", "--no-cache", "--trace", "/dev/full"],
                        ["bench", model, "--seconds", "0.01", "--no-cache", "--plot", "/dev/full"],
                        ["compare", model, "--html", "/dev/full"],
                        ["quantize", self.write("net.onnx", Network().onnx()), "--calibration", "random", "--profile-out", "/dev/full"],
                        ["quantize", self.write("net.onnx", Network().onnx()), "--calibration", "random", "--profile-out", "/dev/full"]):
            with self.subTest(command):
                done = self.sinter(*command)
                self.assertEqual(done.returncode, SYSTEM, done.stderr)

    def check_plain(self, model):
        for command in (["inspect", model], ["inspect", model, "--steps", "--tensors"], ["run", model, "--input", "random", "--no-cache"],
                        ["run", model, "--no-cache"], ["bench", model, "--seconds", "0.01", "--layers", "--no-cache", "-v"], ["compare", model, "-v"],
                        ["optimize", model, "-o", self.path("o.onnx"), "--force", "--stats"], ["inspect", model, "--shape", "x\x1b:1"],
                        ["run", model, "--input", "random", "--no-cache", "--json"], ["inspect", model, "--steps", "--json"]):
            with self.subTest(command):
                done = self.sinter(*command)
                self.assertTrue(is_plain(done.stdout), repr(done.stdout))
                self.assertTrue(is_plain(done.stderr), repr(done.stderr))
                if "--json" in command:
                    json.loads(done.stdout)

    def test_names(self):
        nodes = [onnx.node("MatMul", ["x" if i == 0 else NAMES[i - 1], "w"], [name], name) for i, name in enumerate(NAMES)]
        weight = onnx.tensor("w", [3, 3], onnx.floats(*range(9)))
        infos = [onnx.value_info(name, [2, 3]) for name in NAMES]
        model = self.write("names.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 3])], infos, [weight])))
        self.check_plain(model)
        outputs = json.loads(self.sinter("run", model, "--input", "random", "--no-cache", "--json").stdout)["outputs"]
        self.assertEqual([each["name"] for each in outputs], NAMES)

    @unittest.skipUnless(os.path.isdir(HOSTILE), "the shared files are not there")
    def test_shared_names(self):
        self.check_plain(os.path.join(HOSTILE, "names.onnx"))

    def start_writing(self):
        """A process that is writing a file, whose last part waits for a reader of the disk: here, for a signal."""
        weights = onnx.tensor("w", [3000, 3000], bytes(36_000_000))
        model = self.write("large.onnx", onnx.simple([onnx.node("MatMul", ["x", "w"], ["y"])], shape=(1, 3000), initializers=[weights]))
        os.makedirs(self.path("out"), exist_ok=True)
        return subprocess.Popen([SinterCommand.SINTER, "optimize", model, "-o", self.path("out/o.onnx"), "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def caught(self, number):
        """Whether a process was met while its temporary file was there, and ended by signal NUMBER."""
        process = self.start_writing()
        while process.poll() is None:
            if any(".tmp-" in name for name in os.listdir(self.path("out"))):
                process.send_signal(number)
                process.wait()
                return process.returncode == -number
            time.sleep(0.0005)
        return False

    def test_signals(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            with self.subTest(number):
                self.assertTrue(any(self.caught(number) for _ in range(20)))
                self.assertEqual([name for name in os.listdir(self.path("out")) if ".tmp-" in name], [])

    def test_what_was_killed(self):
        self.assertTrue(any(self.caught(signal.SIGKILL) for _ in range(20)))
        # Of a process that lives; what other programs may have called so; what is no leftover.
        others = [f"o.onnx.tmp-{os.getpid()}-0", "o.onnx.tmp-x-0", "o.onnx.tmp-12", "p.onnx.tmp-999999999-0"]
        for name in others:
            self.write(f"out/{name}", b"")
        self.assertEqual(self.start_writing().wait(), DONE)
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(["o.onnx", *others]))

    def test_leftovers_in_folders(self):
        model, cache, out = self.good_model(), self.path("cache"), self.path("out")
        os.makedirs(out)
        os.makedirs(cache, mode=0o700)
        left = [self.write(f"cache/{'0' * 32}-kernel.sinter.tmp-999999999-3", b"x"), self.write("out/y.npy.tmp-999999999-0", b"x")]
        done = self.sinter("run", model, "--input", "random", "--cache-dir", cache, "--output-dir", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual([each for each in left if os.path.exists(each)], [])


if __name__ == "__main__":
    main()
