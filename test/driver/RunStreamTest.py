#!/usr/bin/env python3
# Covers: data Feeds FrameFiles Frames StepArrays
# Covers: driver ProcessShare RunStream StepOptions
"""`sinter run` step by step: outputs that are fed back, and windows of an array."""
import json
import os
import shutil
import struct
import subprocess

import OnnxBytes as onnx
from RunManyTest import stored
import SinterCommand
from SinterCommand import CommandTest, DONE, npy, SYSTEM, USAGE, main


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class Stream(CommandTest):
    """y = x + state, and stateN = state + the sum of x."""

    def setUp(self):
        super().setUp()
        self.model = self.network((1, 4), (1, 1), "sums.onnx")
        self.samples = self.write("samples.npy", npy((11,), range(11)))
        # The sums of windows of 4, from one to the next 3.
        self.sums = [sum(range(start, start + 4)) for start in (0, 3, 6)]

    def network(self, shape, state, name, new_state=None):
        axes = onnx.tensor("axes", [1], (1).to_bytes(8, "little"), onnx.INT64)
        nodes = [onnx.node("Add", ["x", "state"], ["y"]), onnx.node("ReduceSum", ["x", "axes"], ["sum"]), onnx.node("Add", ["state", "sum"], ["stateN"])]
        inputs = [onnx.value_info("x", shape), onnx.value_info("state", state)]
        outputs = [onnx.value_info("y", shape), onnx.value_info("stateN", new_state or state)]
        return self.write(name, onnx.model(onnx.graph(nodes, inputs, outputs, [axes])))

    def steps(self, *arguments):
        done = self.sinter("run", self.model, *arguments, "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_windows_and_a_state(self):
        for backend in "cpu", "interpreter":
            steps = self.steps("--feed", "stateN=state", "--frames", self.samples, "--hop", "3", "--backend", backend)
            self.assertEqual([step["step"] for step in steps], [0, 1, 2])
            # Each window's first element, and the sums before it.
            self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [0, 3 + self.sums[0], 6 + self.sums[0] + self.sums[1]])
            self.assertEqual([[each["name"] for each in step["outputs"]] for step in steps], [["y"]] * 3)
            self.assertEqual(steps[0]["outputs"][0]["shape"], [1, 4])

    def test_first_value(self):
        first = self.write("first.npy", npy((1, 1), [100]))
        steps = self.steps("--feed", "stateN=state", "--frames", self.samples, "--hop", "3", "--input", f"state={first}")
        self.assertEqual(steps[0]["outputs"][0]["first"], [100, 101, 102, 103])

    def test_files(self):
        out = self.path("out")
        done = self.sinter("run", self.model, "--feed", "stateN=state", "--frames", "x=" + self.samples, "--hop", "3", "--output-dir", out, "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("note: --frames: 1 elements at the end", done.stderr)
        self.assertRegex(done.stdout, r"y: f32 \[3, 1, 4\]")
        self.assertRegex(done.stdout, r"3 steps in .* ms each\n\Z")
        shape, elements = stored(os.path.join(out, "y.npy"))
        self.assertEqual(shape, (3, 1, 4))
        self.assertEqual(elements, [float(start + i + before) for start, before in zip((0, 3, 6), (0, self.sums[0], sum(self.sums[:2]))) for i in range(4)])
        # The last one.
        self.assertEqual(stored(os.path.join(out, "stateN.npy")), ((1, 1), [sum(self.sums)]))

    def test_without_windows(self):
        x = self.write("x.npy", npy((1, 4), [1, 2, 3, 4]))
        steps = self.steps("--feed", "stateN=state", "--input", f"x={x}", "--repeat", "5")
        self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [1 + 10 * i for i in range(5)])

    def test_without_feeding(self):
        zero = self.write("zero.npy", npy((1, 1), [0]))
        steps = self.steps("--frames", self.samples, "--input", f"state={zero}")
        self.assertEqual([step["outputs"][0]["first"] for step in steps], [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual([step["outputs"][1]["first"] for step in steps], [[6], [22]])

    def test_dynamic_sizes(self):
        self.model = self.network(("N", "T"), ("N", 1), "dynamic.onnx")
        arguments = ["--feed", "stateN=state", "--frames", self.samples, "--hop", "3"]
        self.expect_error(USAGE, "run", self.model, *arguments, "--no-cache", mentions=["--frame N"])
        for more in ["--frame", "4"], ["--shape", "x:1x4"]:
            steps = self.steps(*arguments, *more)
            self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [0, 9, 6 + sum(self.sums[:2])])

    def test_channels(self):
        model = self.write("copy.onnx", onnx.simple([onnx.node("Identity", ["x"], ["y"])], (1, 2, 3)))
        array = self.write("two.npy", npy((2, 6), range(12)))
        done = self.sinter("run", model, "--frames", array, "--json", "--no-cache")
        self.assertEqual([json.loads(line)["outputs"][0]["first"] for line in done.stdout.splitlines()], [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]])
        # Time in front.
        array = self.write("rows.npy", npy((6, 3), range(18)))
        done = self.sinter("run", model, "--frames", array, "--time-axis", "0", "--frame", "2", "--hop", "4", "--json", "--no-cache")
        self.assertEqual([json.loads(line)["outputs"][0]["first"] for line in done.stdout.splitlines()], [[0, 1, 2, 3, 4, 5], [12, 13, 14, 15, 16, 17]])

    def test_audio(self):
        """A WAV file of 16 bits: the mean of its channels, or each of them; and where in time a window begins."""
        def wav(*channels):
            rows = b"".join(struct.pack("<h", value) for row in zip(*channels) for value in row)
            form = struct.pack("<HHIIHH", 1, len(channels), 8000, 16000 * len(channels), 2 * len(channels), 16)
            content = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(rows)) + rows
            return b"RIFF" + struct.pack("<I", len(content)) + content

        sound = self.write("sound.wav", wav([16384] * 8, [0] * 4 + [8192] * 4))
        zero = self.write("zero.npy", npy((1, 1), [0]))
        steps = self.steps("--frames", sound, "--input", f"state={zero}")
        self.assertEqual([step["outputs"][0]["first"] for step in steps], [[0.25] * 4, [0.375] * 4])
        self.assertEqual([step["seconds"] for step in steps], [0, 4 / 8000])
        model = self.write("copy.onnx", onnx.simple([onnx.node("Identity", ["x"], ["y"])], (1, 2, 4)))
        done = self.sinter("run", model, "--frames", sound, "--json", "--no-cache")
        self.assertEqual([json.loads(line)["outputs"][0]["first"] for line in done.stdout.splitlines()], [[0.5] * 4 + [0] * 4, [0.5] * 4 + [0.25] * 4])
        self.expect_error(SYSTEM, "run", model, "--frames", self.write("broken.wav", b"RIFF\0\0\0\0WAVE"), mentions=["broken.wav"])

    def test_labels(self):
        labels = self.write("labels.txt", "a\nb\nc\nd\n")
        steps = self.steps("--feed", "stateN=state", "--frames", self.samples, "--labels", labels, "--top", "1")
        self.assertEqual([step["outputs"][0]["labels"][0]["label"] for step in steps], ["d", "d"])
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", "--frames", self.samples, "--no-cache", "--labels", self.write("l.txt", "a\nb\n"), mentions=["2 names"])

    def test_many_files(self):
        """Each file is a stream of its own: the state begins anew."""
        os.makedirs(self.path("sounds/deep"))
        self.write("sounds/b.npy", npy((11,), range(11)))
        self.write("sounds/deep/a.npy", npy((4,), [5, 5, 5, 5]))
        self.write("sounds/notes.txt", "")
        arguments = ["--feed", "stateN=state", "--hop", "3", "--frames"]
        expected = [("b.npy", 0, 0), ("b.npy", 1, 3 + self.sums[0]), ("b.npy", 2, 6 + sum(self.sums[:2])), ("deep/a.npy", 0, 5)]
        steps = self.steps(*arguments, self.path("sounds"))
        self.assertEqual([(step["sample"], step["step"], step["outputs"][0]["first"][0]) for step in steps], expected)
        listed = self.write("sounds/mine.txt", "deep/a.npy\nb.npy\n")
        self.assertEqual([step["sample"] for step in self.steps(*arguments, listed)], ["deep/a.npy"] + ["b.npy"] * 3)
        self.assertEqual(len(self.steps(*arguments, self.path("sounds/*.npy"))), 3)
        out = self.path("out")
        done = self.sinter("run", self.model, *arguments, self.path("sounds"), "--output-dir", out, "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("note: --frames: b.npy: 1 elements at the end", done.stderr)
        self.assertRegex(done.stdout, r"\Ab.npy\n  y: f32 \[3, 1, 4\].*\n.*\n  stateN: .*\n.*\ndeep/a.npy\n  y: f32 \[1, 1, 4\].*\n.*\n  stateN: .*\n.*\n2 streams, 4 steps in .* ms each\n\Z")
        self.assertEqual(sorted(os.listdir(out)), ["b_stateN.npy", "b_y.npy", "deep_a_stateN.npy", "deep_a_y.npy"])
        self.assertEqual(stored(os.path.join(out, "b_stateN.npy")), ((1, 1), [sum(self.sums)]))
        self.assertEqual(stored(os.path.join(out, "deep_a_stateN.npy")), ((1, 1), [20]))
        for more, words in (["--trace", self.path("t.json")], "--trace"), (["--state-dir", self.path("s")], "--state-dir"):
            self.expect_error(USAGE, "run", self.model, *arguments, self.path("sounds"), *more, mentions=[words])
        os.mkdir(self.path("none"))
        self.expect_error(USAGE, "run", self.model, *arguments, self.path("none"), mentions=["no .npy or .wav"])

    def test_many_samples(self):
        """Each sample is a stream of its own, of as many steps as are said."""
        os.mkdir(self.path("data"))
        for i in range(3):
            self.write(f"data/{i}.npy", npy((1, 4), [i] * 4))
        for backend in "cpu", "interpreter":
            steps = self.steps("--feed", "stateN=state", "--input", self.path("data"), "--repeat", "3", "--backend", backend)
            self.assertEqual([(step["sample"], step["step"], step["outputs"][0]["first"][0]) for step in steps],
                             [(f"{i}.npy", step, i + 4 * i * step) for i in range(3) for step in range(3)])
        rows = self.write("rows.npy", npy((2, 4), [1] * 4 + [2] * 4))
        first = self.write("first.npy", npy((1, 1), [100]))
        steps = self.steps("--feed", "stateN=state", "--input", "x=" + rows, "--input", "state=" + first)
        self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [101, 102])
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", "--input", self.path("data"), "--batch", "2", mentions=["--batch"])

    def test_declared_states_begin_anew(self):
        model = self.path("declared.onnx")
        done = self.sinter("optimize", self.model, "-o", model, "--state", "stateN=state")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.model = model
        os.mkdir(self.path("sounds"))
        for name in "ab":
            self.write(f"sounds/{name}.npy", npy((8,), [1] * 8))
        steps = self.steps("--frames", self.path("sounds"))
        self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [1, 5, 1, 5])

    def piped(self, content, *arguments, model=None):
        done = subprocess.run([SinterCommand.SINTER, "run", model or self.model, "--frames", "-", *arguments, "--no-cache"], input=content, capture_output=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout.decode()

    def test_standard_input(self):
        arguments = ["--feed", "stateN=state", "--hop", "3", "--json"]
        expected = [0, 3 + self.sums[0], 6 + sum(self.sums[:2])]
        wav = b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack("<IHHIIHH", 16, 3, 1, 8000, 32000, 4, 32) + b"data\xff\xff\xff\xff" + floats(*range(11))
        for content in floats(*range(11)), wav, npy((5,), range(5)) + npy((6,), range(5, 11)):
            steps = [json.loads(line) for line in self.piped(content, *arguments).splitlines()]
            self.assertEqual([step["outputs"][0]["first"][0] for step in steps], expected)
        self.assertEqual([step["seconds"] for step in map(json.loads, self.piped(wav, *arguments).splitlines())], [0, 3 / 8000, 6 / 8000])
        raw = struct.pack("<8h", *range(0, 32768, 4096))
        steps = [json.loads(line) for line in self.piped(raw, "--feed", "stateN=state", "--json", "--raw", "i16", "--rate", "8000").splitlines()]
        self.assertEqual(steps[0]["outputs"][0]["first"], [0, 0.125, 0.25, 0.375])
        self.assertEqual(steps[1]["seconds"], 4 / 8000)
        out = self.path("out")
        text = self.piped(floats(*range(11)), "--feed", "stateN=state", "--hop", "3", "--output-dir", out)
        self.assertRegex(text, r"\Astep 0\n  y: f32 \[1, 4\].*\n.*\nstep 1\n.*\n.*\nstep 2\n.*\n.*\n3 steps in .* ms each\n\Z")
        self.assertEqual(stored(os.path.join(out, "y.npy"))[0], (3, 1, 4))
        self.assertEqual(stored(os.path.join(out, "stateN.npy")), ((1, 1), [sum(self.sums)]))

    def test_files_are_read_as_pipes_are(self):
        """Integers become -1..1, doubles floats."""
        for descr, code, values in ("<i2", "h", range(0, 32768, 4096)), ("<f8", "d", [i / 8 for i in range(8)]):
            content = npy((8,), [0] * 4).replace(b"<f4", descr.encode())[:-16] + struct.pack(f"<8{code}", *values)
            steps = self.steps("--feed", "stateN=state", "--frames", self.write("frames.npy", content))
            self.assertEqual(steps[0]["outputs"][0]["first"], [0, 0.125, 0.25, 0.375])
            piped = [json.loads(line) for line in self.piped(content, "--feed", "stateN=state", "--json").splitlines()]
            self.assertEqual(piped, steps)

    def test_shapes_that_change(self):
        """Each step is printed by itself; what all give is one array only where it is shown or written as one."""
        nodes = [onnx.node("NonZero", ["x"], ["y"]), onnx.node("Neg", ["x"], ["z"])]
        outputs = [onnx.value_info("y", ("a", "b"), onnx.INT64), onnx.value_info("z", (1, 4))]
        model = self.write("nonzero.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", (1, 4))], outputs)))
        frames = self.write("zeros.npy", npy((8,), [0, 1, 0, 0, 1, 1, 0, 1]))
        done = self.sinter("run", model, "--frames", frames, "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual([json.loads(line)["outputs"][0]["shape"] for line in done.stdout.splitlines()], [[2, 1], [2, 3]])
        done = self.sinter("run", model, "--frames", frames, "--post", "softmax:output=z", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.expect_error(USAGE, "run", model, "--frames", frames, "--no-cache", mentions=["output 'y'", "step 1"])

    def test_raw_files(self):
        raw = self.write("sound.raw", struct.pack("<8h", *range(0, 32768, 4096)))
        steps = self.steps("--feed", "stateN=state", "--frames", raw, "--raw", "i16")
        self.assertEqual(steps[0]["outputs"][0]["first"], [0, 0.125, 0.25, 0.375])
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", "--frames", raw, "--raw", "s16", mentions=["--raw s16"])
        self.expect_error(SYSTEM, "run", self.model, "--feed", "stateN=state", "--frames", self.path("none.raw"), "--raw", "i16", mentions=["none.raw"])

    def test_results_appear_as_they_come(self):
        """A pipe that does not end: each window's results are there before the next window is."""
        process = subprocess.Popen([SinterCommand.SINTER, "run", self.model, "--feed", "stateN=state", "--frames", "-", "--json", "--no-cache"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for step in range(3):
            process.stdin.write(floats(step, step, step, step))
            process.stdin.flush()
            line = json.loads(process.stdout.readline())
            self.assertEqual((line["step"], line["outputs"][0]["first"][0]), (step, step + sum(4 * i for i in range(step))))
        _, errors = process.communicate()
        self.assertEqual(process.returncode, DONE, errors)

    def test_standard_input_errors(self):
        def refused(code, content, *arguments, mentions):
            done = subprocess.run([SinterCommand.SINTER, "run", self.model, "--feed", "stateN=state", "--frames", "-", *arguments, "--no-cache"], input=content, capture_output=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(mentions, done.stderr.decode())
        refused(USAGE, b"", mentions="is empty")
        refused(USAGE, floats(1, 2), mentions="ends before a whole window, with 2 elements")
        refused(SYSTEM, npy((11,), range(11))[:-4], mentions="cut short")
        refused(USAGE, npy((2, 11), range(22)), mentions="windows of 2x4xf32")
        wav = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 3, 1, 8000, 32000, 4, 32) + b"data\0\0\0\0" + floats(*range(11))
        refused(USAGE, wav, "--rate", "16000", mentions="8000 samples per second, not 16000")

    def test_post_processing(self):
        """Steps of post-processing apply to each step of a stream."""
        arguments = ["--feed", "stateN=state", "--hop", "3", "--post", "top-k=1:output=y"]
        steps = self.steps(*arguments, "--frames", self.samples)
        self.assertEqual([step["post"][0]["rows"][0][0]["class"] for step in steps], [3] * 3)
        # What is fed back is the output itself.
        self.assertEqual([step["outputs"][0]["first"][0] for step in steps], [0, 3 + self.sums[0], 6 + sum(self.sums[:2])])
        text = self.piped(floats(*range(11)), *arguments)
        self.assertRegex(text, r"\Astep 0\n  .*\nstep 1\n  .*\nstep 2\n  .*\n3 steps in .*\n\Z")
        done = self.sinter("run", self.model, *arguments, "--frames", self.samples, "--no-cache")
        self.assertEqual(done.stdout.splitlines()[:-1], text.splitlines()[:-1])
        soft = self.steps("--feed", "stateN=state", "--frames", self.samples, "--post", "softmax:output=y")
        self.assertAlmostEqual(sum(soft[0]["outputs"][0]["first"]), 1, places=5)
        self.expect_error(USAGE, "run", self.model, *arguments, "--frames", self.samples, "--draw", self.path("d"), mentions=["--draw"])

    def test_shared_out(self):
        """Under mpirun each process has its share of the streams."""
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        os.mkdir(self.path("sounds"))
        for i in range(5):
            self.write(f"sounds/{i}.npy", npy((8,), [i] * 8))
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", SinterCommand.SINTER, "run", self.model, "--feed", "stateN=state", "--post", "top-k=1:output=y", "--json", "--no-cache"]
        done = subprocess.run([*command, "--frames", self.path("sounds"), "--output-dir", self.path("out")], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda line: (line["sample"], line["step"]))
        self.assertEqual([(line["sample"], line["step"], line["outputs"][0]["first"][0]) for line in lines],
                         [(f"{i}.npy", step, i + 4 * i * step) for i in range(5) for step in range(2)])
        self.assertEqual(len(os.listdir(self.path("out"))), 10)
        done = subprocess.run([*command, "--input", "-"], capture_output=True, text=True)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--input -: the processes of mpirun cannot share standard input", done.stderr)
        done = subprocess.run([*command, "--frames", self.samples], capture_output=True, text=True)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (DONE, 2), done.stderr)

    def test_errors(self):
        frames = ["--frames", self.samples]
        self.expect_error(USAGE, "run", self.model, "--feed", "state=stateN", *frames, mentions=["--feed 'state=stateN'", "'stateN'"])
        self.expect_error(USAGE, "run", self.model, "--feed", "nothing", *frames, mentions=["OUTPUT=INPUT"])
        self.expect_error(USAGE, "run", self.model, "--feed", "y=state", *frames, mentions=["--feed y=state", "1x4xf32", "1x1xf32"])
        self.expect_error(USAGE, "run", self.model, "--feed", "y=state", "--feed", "stateN=state", *frames, mentions=["twice"])
        self.expect_error(USAGE, "run", self.model, *frames, mentions=["'state'"])
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", mentions=["'x'"])
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", "--frames", "state=" + self.samples, mentions=["given already"])
        self.expect_error(SYSTEM, "run", self.model, "--feed", "stateN=state", "--frames", self.path("none.npy"), mentions=["none.npy"])
        short = self.write("short.npy", npy((3,), range(3)))
        self.expect_error(USAGE, "run", self.model, "--feed", "stateN=state", "--frames", short, mentions=["shorter"])
        self.expect_error(USAGE, "run", self.model, "--hop", "3", mentions=["--frames"])
        self.expect_error(USAGE, "run", self.model, *frames, "--repeat", "2", mentions=["--repeat"])


if __name__ == "__main__":
    main()
