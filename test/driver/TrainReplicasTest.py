#!/usr/bin/env python3
# Covers: autodiff Replicas
# Covers: engine Replica
"""`sinter train` by several processes, as threads and under mpirun: what one process gives that has the whole batch."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import SinterCommand
from SinterCommand import DONE, USAGE, WRONG, main
from TrainTest import CLASSES, FEATURES, Network, TrainCase, initializers, numbers


def mpirun(count):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(count), SinterCommand.SINTER]


class TrainReplicas(TrainCase):
    COUNT = 18

    def setUp(self):
        super().setUp()
        self.samples = numbers(self.COUNT * FEATURES, 20)
        self.targets = [random.Random(21).randrange(CLASSES) for _ in range(self.COUNT)]
        self.model = self.write("net.onnx", Network(norm=True).onnx())

    def command(self, name, batch, *options, targets=None, samples=None, epochs=3):
        data = self.data("many.npz", samples or self.samples, targets or self.targets)
        return ["train", self.model, "--data", data, "--validate", data, "-o", self.path(name), "--batch", str(batch), "--epochs", str(epochs), "--lr", "0.1", "--json",
                "--log", self.path(name + ".jsonl"), "--force", *options]

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def losses(self, name):
        with open(self.path(name + ".jsonl")) as file:
            return [{key: value for key, value in json.loads(line).items() if key not in ("ms", "samples_per_s")} for line in file]

    def run_done(self, *command):
        done = self.sinter(*command)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def run_mpi(self, count, *command):
        # Open MPI's plugins keep memory until the process ends.
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        return subprocess.run([*mpirun(count), *command], capture_output=True, text=True, timeout=120, errors="replace", env=environment)

    def same(self, options, targets=None):
        """2, 3 and 4 processes against one; the epoch's last batch has 2 samples, for 4 processes."""
        for count, batch in (2, 8), (3, 5), (4, 4):
            with self.subTest(f"{count} {options}"):
                self.run_done(*self.command("one.onnx", count * batch, *options, targets=targets))
                self.run_done(*self.command("many.onnx", batch, "--replicas", str(count), *options, targets=targets))
                self.close(initializers(self.read("many.onnx")), initializers(self.read("one.onnx")))
                for one, many in zip(self.losses("one.onnx"), self.losses("many.onnx"), strict=True):
                    self.assertEqual(sorted(one), sorted(many))
                    for key, value in one.items():
                        self.assertAlmostEqual(value, many[key], places=5, msg=key)

    def test_the_same_as_one(self):
        for options in [], ["--optimizer", "adam", "--weight-decay", "0.1"], ["--clip-norm", "0.05"], ["--freeze-batch-norm"], ["--accumulate", "2"], ["--ema", "0.8"]:
            self.same(options)

    def test_ignored_labels(self):
        """Processes compare different numbers of labels, some none."""
        targets = [-100 if number % 4 < 2 or number < 6 else label for number, label in enumerate(self.targets)]
        self.same(["--no-shuffle"], targets)

    def test_interpreter(self):
        self.run_done(*self.command("one.onnx", 16, "--backend", "interpreter"))
        self.run_done(*self.command("many.onnx", 4, "--backend", "interpreter", "--replicas", "4"))
        self.close(initializers(self.read("many.onnx")), initializers(self.read("one.onnx")))

    def test_local_statistics(self):
        """Each process norms by its own samples; running statistics move by the mean of theirs."""
        network = Network(norm=True)
        got = {}
        for kind in "local", "all":
            self.run_done(*self.command("net_" + kind + ".onnx", 9, "--replicas", "2", "--no-shuffle", "--batch-norm-statistics", kind, epochs=1))
            got[kind] = initializers(self.read("net_" + kind + ".onnx"))
        half = len(self.samples) // 2
        parts = [network.moments(part) for part in (self.samples[:half], self.samples[half:])]
        whole = network.moments(self.samples)
        for kind, variances, factor in ("local", [sum(pair) / 2 for pair in zip(parts[0][1], parts[1][1])], 9 / 8), ("all", whole[1], 18 / 17):
            for new, old, variance, mean in zip(got[kind]["variance"], network.statistics["variance"], variances, whole[0]):
                self.assertAlmostEqual(new, 0.9 * old + 0.1 * variance * factor, places=5)
            for new, old, mean in zip(got[kind]["mean"], network.statistics["mean"], whole[0]):
                self.assertAlmostEqual(new, 0.9 * old + 0.1 * mean, places=5)
        self.assertNotEqual(got["local"]["w"], got["all"]["w"])

    def test_goes_on_with_the_same_bits(self):
        options = ["--replicas", "4"]
        self.run_done(*self.command("whole.onnx", 4, *options))
        kept = self.command("out.onnx", 4, *options, "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--keep-checkpoints", "99")
        self.run_done(*kept)
        steps = sorted(os.listdir(self.path("kept")))
        for last in reversed(range(len(steps) - 1)):
            for name in steps[last + 1:]:
                shutil.rmtree(self.path("kept/" + name), ignore_errors=True)
            self.run_done(*kept, "--resume")
            self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
        self.expect_error(USAGE, *self.command("out.onnx", 8, "--replicas", "2", "--checkpoint-dir", self.path("kept")), "--resume", mentions=["number of processes"])

    def test_what_is_not_a_number(self):
        samples = list(self.samples)
        samples[-1] = float("inf")
        done = self.sinter(*self.command("out.onnx", 6, "--replicas", "3", "--no-shuffle", samples=samples))
        self.assertEqual(done.returncode, WRONG)
        self.assertIn("in process 2, the input 'x' holds infinity", done.stderr)
        self.assertFalse(os.path.exists(self.path("out.onnx")))

    def test_too_few_samples(self):
        self.expect_error(USAGE, *self.command("out.onnx", 1, "--replicas", "19"), mentions=["18 samples for 19 processes"])

    def test_written_step(self):
        """Runs as a grid: the sums are in the file."""
        step = self.path("step.mlir")
        self.run_done("train", self.model, "--data", self.data("many.npz", self.samples, self.targets), "--batch", "9", "--replicas", "2", "--write-step", step)
        self.assertIn("stablehlo.all_reduce", self.read("step.mlir").decode())


@unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
class TrainUnderMpi(TrainReplicas):
    def test_the_same_bits_as_threads(self):
        for count, batch in (2, 8), (4, 4):
            self.run_done(*self.command("threads.onnx", batch, "--replicas", str(count)))
            done = self.run_mpi(count, *self.command("mpi.onnx", batch))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(self.read("mpi.onnx"), self.read("threads.onnx"))
            self.assertEqual(self.losses("mpi.onnx"), self.losses("threads.onnx"))
            # One of them reports.
            self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)

    def test_another_number_is_refused(self):
        done = self.run_mpi(2, *self.command("mpi.onnx", 4, "--replicas", "3"))
        self.assertNotEqual(done.returncode, DONE)
        self.assertIn("mpirun started 2 processes", done.stderr)

    def test_one_that_dies(self):
        """The others end, and what was kept goes on to the same bits."""
        self.run_done(*self.command("whole.onnx", 4, "--replicas", "2", epochs=100))
        kept = self.command("out.onnx", 4, "--checkpoint-dir", self.path("kept"), epochs=100)
        run = subprocess.Popen([*mpirun(2), *kept], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + 50
            while time.monotonic() < end and len(os.listdir(self.path("kept")) if os.path.isdir(self.path("kept")) else []) < 3:
                time.sleep(0.01)
            with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
                children = [int(each) for each in file.read().split()]
            os.kill(children[-1], signal.SIGKILL)
            _, errors = run.communicate(timeout=60)
        finally:
            run.kill()
        self.assertNotEqual(run.returncode, DONE)
        self.assertTrue(errors)
        self.assertFalse(os.path.exists(self.path("out.onnx")))
        done = self.run_mpi(2, *kept, "--resume")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))


# Its tests are those of threads, which ran already.
for name in [name for name in dir(TrainReplicas) if name.startswith("test_")]:
    setattr(TrainUnderMpi, name, None)


if __name__ == "__main__":
    main()
