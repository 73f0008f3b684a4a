#!/usr/bin/env python3
# Covers: data Frames
# Covers: driver RunStream
"""`sinter run` step by step: outputs that are fed back, and windows of an array."""
import json
import os
import struct

import OnnxBytes as onnx
from RunManyTest import stored
from SinterCommand import CommandTest, DONE, npy, SYSTEM, USAGE, main


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
