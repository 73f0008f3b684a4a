#!/usr/bin/env python3
"""`sinter train` that is killed (SIGKILL) at any moment and goes on: the same bits as a run that never was.

    test/driver/TrainKilledTest.py build/bin/sinter [--kills N] [unittest options]

kills N times in each test (8).
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import OnnxBytes as onnx
import SinterCommand
from QuantizeModels import png
from SinterCommand import DONE, SYSTEM, USAGE, main
from TrainDataTest import SIDE, picture
from TrainTest import Network, TrainCase, numbers

KILLS = 8
HIDDEN, CLASSES = 6, 3


def network():
    """Pixels, a product, a batch norm, a rectifier, a dropout and a product."""
    tensors = [onnx.tensor("w", [SIDE * SIDE, HIDDEN], onnx.floats(*numbers(SIDE * SIDE * HIDDEN, 1))), onnx.tensor("v", [HIDDEN, CLASSES], onnx.floats(*numbers(HIDDEN * CLASSES, 2))),
               onnx.tensor("ratio", [], onnx.floats(0.3))]
    for seed, name in enumerate(["scale", "offset", "mean", "variance"]):
        tensors.append(onnx.tensor(name, [HIDDEN], onnx.floats(*numbers(HIDDEN, 3 + seed, 0.5, 1.5))))
    nodes = [onnx.node("Flatten", ["x"], ["f"], "flatten"), onnx.node("MatMul", ["f", "w"], ["h"], "first"), onnx.node("BatchNormalization", ["h", "scale", "offset", "mean", "variance"], ["n"], "norm"),
             onnx.node("Relu", ["n"], ["r"], "relu"), onnx.node("Dropout", ["r", "ratio"], ["d"], "drop"), onnx.node("MatMul", ["d", "v"], ["y"], "last")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", 1, SIDE, SIDE])], [onnx.value_info("y", ["N", CLASSES])], tensors), 15)


class TrainKilled(TrainCase):
    def classes(self):
        """A folder of pictures, by class."""
        for number in range(20):
            os.makedirs(self.path(f"classes/{number % CLASSES}"), exist_ok=True)
            self.write(f"classes/{number % CLASSES}/{number}.png", png(SIDE + 2, SIDE + 2, picture(number, SIDE + 2)))
        return self.path("classes")

    def newest(self):
        """The number of the last step that was kept."""
        names = os.listdir(self.path("kept")) if os.path.isdir(self.path("kept")) else []
        return max([int(name[5:]) for name in names if not name.endswith(".part")], default=0)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def log(self, name):
        return [{key: value for key, value in json.loads(line).items() if key not in ("ms", "samples_per_s")} for line in self.read(name).splitlines()]

    def start(self, command, most_bytes=None):
        """A run that goes on if there is a checkpoint. One with MOST_BYTES dies as it makes a file larger than that."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return subprocess.Popen([SinterCommand.SINTER, *command, *(["--resume"] if self.newest() else [])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                preexec_fn=limit if most_bytes is not None else None)

    def finish(self, command):
        """Goes on to the end; returns what was said."""
        run = self.start(command)
        errors = run.communicate(timeout=50)[1]
        self.assertEqual(run.returncode, DONE, errors)
        return errors

    def check(self, command, every, wait):
        """A whole run, and one with a checkpoint EVERY so many steps that is killed KILLS times: when WAIT, of a running process and the step kept before it, returns."""
        self.assertEqual(self.sinter(*command, "-o", self.path("whole.onnx"), "--log", self.path("whole.jsonl")).returncode, DONE)
        kept = [*command, "-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--checkpoint-every", str(every), "--log", self.path("log.jsonl")]
        killed, resumed = 0, 0
        while killed < KILLS:
            before = self.newest()
            run = self.start(kept)
            wait(run, before)
            run.kill()
            errors = run.communicate(timeout=50)[1]
            if run.returncode >= 0:
                self.assertEqual(run.returncode, DONE, errors)
                break
            killed += 1
            resumed += before > 0
        if killed == KILLS:
            self.finish(kept)
        self.assertGreater(resumed, 1)
        self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
        self.assertEqual(self.log("log.jsonl"), self.log("whole.jsonl"))
        # The last three, the best, and nothing of what was cut off.
        left = os.listdir(self.path("kept"))
        self.assertLessEqual(len(left), 4)
        for name in left:
            self.assertTrue(os.path.exists(self.path(f"kept/{name}/checkpoint.json")), name)

    def test_what_a_killed_run_left(self):
        """A folder that was being written, and one that was being taken away."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        for name in "step-0000000007.part", "step-0000000001.old.part":
            os.makedirs(self.path(f"kept/{name}"))
            self.write(f"kept/{name}/0.npy", b"x")
        self.assertEqual(self.sinter("train", model, "--data", data, "--batch", "4", "-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1").returncode, DONE)
        self.assertEqual(sorted(os.listdir(self.path("kept"))), ["step-0000000001", "step-0000000002"])

    def test_where_the_log_cannot_be_written_anew(self):
        """A run that goes on and has no room for the lines of the steps before leaves the log as it was."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        command = ["train", model, "--data", data, "--batch", "4", "-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--log", self.path("log.jsonl")]
        self.assertEqual(self.sinter(*command, "--epochs", "3").returncode, DONE)
        before = self.read("log.jsonl")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, len(before) // 2))
        run = subprocess.run([SinterCommand.SINTER, *command, "--epochs", "3", "--resume"], capture_output=True, text=True, preexec_fn=limit)
        self.assertEqual(run.returncode, SYSTEM, run.stderr)
        self.assertIn("--log: cannot write", run.stderr)
        self.assertEqual(self.read("log.jsonl"), before)

    def progress(self, chooser, steps):
        """Waits for so many steps more that are kept, and a moment."""
        def wait(run, before):
            end = time.monotonic() + 50
            while run.poll() is None and time.monotonic() < end and self.newest() < before + steps:
                time.sleep(0.001)
            time.sleep(chooser.random() * 0.01)
        return wait

    def test_before_the_result_is_written(self):
        """A run that died behind its last checkpoint: the result is written from that, also with more epochs, and no other settings."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        command = ["train", model, "--data", data, "--validate", data, "--batch", "4", "--optimizer", "adam", "--lr", "0.1", "--ema", "0.9"]
        for best in [], ["--best"]:
            for replicas in [], ["--replicas", "2"]:
                with self.subTest(best=best, replicas=replicas):
                    def files(name):
                        return [*best, *replicas, "-o", self.path(name + ".onnx"), "--checkpoint-dir", self.path(name), "--log", self.path(name + ".jsonl"), "--json"]
                    folder = "-".join(["kept", *best, *replicas])
                    whole = [self.sinter(*command, "--epochs", epochs, *files(f"{folder}-{epochs}")) for epochs in ("3", "5")]
                    self.assertEqual([each.returncode for each in whole], [DONE, DONE], whole)
                    kept = [*command, *files(folder)]
                    self.assertEqual(self.sinter(*kept, "--epochs", "3").returncode, DONE)
                    os.remove(self.path(folder + ".onnx"))
                    done = self.sinter(*kept, "--epochs", "3", "--resume")
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertIn("is written from its last checkpoint", done.stderr)
                    self.assertEqual(self.read(folder + ".onnx"), self.read(folder + "-3.onnx"))
                    self.assertEqual(self.log(folder + ".jsonl"), self.log(folder + "-3.jsonl"))
                    self.assertEqual(json.loads(done.stdout)["steps"], json.loads(whole[0].stdout)["steps"])
                    self.expect_error(USAGE, *kept, "--epochs", "2", "--resume", mentions=["another number of epochs"])
                    done = self.sinter(*kept, "--epochs", "5", "--resume")
                    self.assertEqual(done.returncode, DONE, done.stderr)
                    self.assertIn("3 epochs become 5", done.stderr)
                    self.assertEqual(self.read(folder + ".onnx"), self.read(folder + "-5.onnx"))
                    self.assertEqual(self.log(folder + ".jsonl"), self.log(folder + "-5.jsonl"))

    def test_within_files(self):
        """A run that dies within a file of a checkpoint, of the log, or of the result leaves nothing that looks whole."""
        model, data = self.write("net.onnx", network()), self.classes()
        command = ["train", model, "--data", data, "--batch", "5", "--epochs", "3", "--optimizer", "adam", "--lr", "0.01", "--no-cache"]
        self.assertEqual(self.sinter(*command, "-o", self.path("whole.onnx"), "--log", self.path("whole.jsonl")).returncode, DONE)
        kept = [*command, "-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--log", self.path("log.jsonl")]
        size, chooser, died = len(self.read("whole.onnx")), random.Random(4), 0
        for _ in range(KILLS):
            run = self.start(kept, most_bytes=chooser.randrange(size))
            errors = run.communicate(timeout=50)[1]
            if run.returncode != -signal.SIGXFSZ:
                self.assertEqual(run.returncode, DONE, errors)
            else:
                died += 1
                self.assertFalse(os.path.exists(self.path("out.onnx")))
            self.finish(kept)
            self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
            self.assertEqual(self.log("log.jsonl"), self.log("whole.jsonl"))
            for name in "kept", "out.onnx", "log.jsonl":
                (shutil.rmtree if name == "kept" else os.remove)(self.path(name))
        self.assertGreater(died, 0)

    def test_at_any_moment(self):
        """Runs that are killed once, from their start to behind their end."""
        model, data = self.write("net.onnx", network()), self.classes()
        command = ["train", model, "--data", data, "--validate", data, "--batch", "5", "--epochs", "6", "--optimizer", "adamw", "--lr", "0.01", "--ema", "0.9", "--best"]
        files = ["-o", self.path("out.onnx"), "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "2", "--log", self.path("log.jsonl")]
        self.assertEqual(self.sinter(*command, "-o", self.path("whole.onnx"), "--log", self.path("whole.jsonl")).returncode, DONE)
        chooser, length, resumed = random.Random(5), 0.0, 0
        for number in range(KILLS + 1):
            begin = time.monotonic()
            run = self.start([*command, *files])
            # The first one tells how long a run takes.
            if number == 0:
                run.wait(timeout=50)
                length = time.monotonic() - begin
            else:
                time.sleep(chooser.random() * 1.1 * length)
                run.kill()
            run.communicate(timeout=50)
            resumed += self.newest() > 0
            if os.path.exists(self.path("out.onnx")):
                self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
            self.finish([*command, *files])
            self.assertEqual(self.read("out.onnx"), self.read("whole.onnx"))
            self.assertEqual(self.log("log.jsonl"), self.log("whole.jsonl"))
            for name in "kept", "out.onnx", "log.jsonl":
                (shutil.rmtree if name == "kept" else os.remove)(self.path(name))
        print(f"{KILLS} kills, {resumed - 1} of them behind a checkpoint", file=sys.stderr)

    def test_between_steps(self):
        """Between steps, within one, while a checkpoint is written."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        self.check(["train", model, "--data", data, "--batch", "4", "--epochs", str(80 * KILLS // 8), "--optimizer", "adam", "--lr", "0.01"], 1, self.progress(random.Random(1), 15))

    def test_all_that_has_a_state(self):
        """Dropout, averages, gradients of several batches, augmented pictures that are decoded on their thread, validation and the best weights."""
        model, data = self.write("net.onnx", network()), self.classes()
        self.check(["train", model, "--data", data, "--validate", data, "--resize", str(SIDE + 2), "--random-crop", "--flip", "--shift", "1", "--data-memory", "0", "--batch", "3", "--accumulate", "2",
                    "--epochs", str(60 * KILLS // 8), "--optimizer", "adamw", "--lr", "0.01", "--ema", "0.9", "--best", "--seed", "5"], 2, self.progress(random.Random(2), 12))

    def test_while_it_starts(self):
        """After times that know nothing of what it does: also before there is a checkpoint, and while one is read."""
        model, data = self.write("net.onnx", Network(norm=True).onnx()), self.data()
        chooser = random.Random(3)
        begin = time.monotonic()
        self.assertEqual(self.sinter("train", model, "--data", data, "--batch", "4", "--epochs", "1", "-o", self.path("once.onnx")).returncode, DONE)
        once = time.monotonic() - begin

        def wait(run, before):
            # At first it comes to a checkpoint.
            if before == 0:
                self.progress(chooser, 1)(run, before)
            else:
                time.sleep(chooser.random() * 2 * once)
        self.check(["train", model, "--data", data, "--batch", "4", "--epochs", str(80 * KILLS // 8), "--optimizer", "adam", "--lr", "0.01"], 1, wait)


if __name__ == "__main__":
    if "--kills" in sys.argv:
        place = sys.argv.index("--kills")
        KILLS = int(sys.argv[place + 1])
        del sys.argv[place:place + 2]
    main()
