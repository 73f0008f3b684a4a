#!/usr/bin/env python3
# Covers: data BatchRuns InputSources SampleFinder SampleFiles SampleRunner
# Covers: driver RunSamples
# Covers: engine MpiLibrary
"""`sinter run` on many samples: where they come from, and where what they give goes to."""
import json
import os
import shutil
import struct
import subprocess
import unittest
import zipfile

import OnnxBytes as onnx
import SinterCommand
from SinterCommand import CommandTest, DONE, npy, SYSTEM, USAGE, main


def stored(path):
    """The shape and the f32 elements of a .npy file."""
    with open(path, "rb") as file:
        content = file.read()
    length = int.from_bytes(content[8:10], "little")
    header = eval(content[10:10 + length].decode())
    assert header["descr"] == "<f4", header
    return header["shape"], list(struct.unpack(f"<{(len(content) - 10 - length) // 4}f", content[10 + length:]))


class Many(CommandTest):
    """A model that negates, so that each sample's output says whose it is."""

    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")

    def model(self, shape, name="negate.onnx"):
        return self.write(name, onnx.simple([onnx.node("Neg", ["x"], ["y"])], shape))

    def sample(self, number, shape=(1, 3)):
        size = 1
        for each in shape:
            size *= each
        return npy(shape, [number] * size)

    def files(self, count, folder="data"):
        """Samples 0, 1, ... in a folder."""
        os.mkdir(self.path(folder))
        return [self.write(f"{folder}/s{i:02}.npy", self.sample(i)) for i in range(count)]

    def archive(self, name="all.npz", **arrays):
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as file:
            for key, content in arrays.items():
                file.writestr(f"{key}.npy", content)
        return self.path(name)

    def run_many(self, *arguments, text=None):
        """The objects of the lines of JSON."""
        done = subprocess.run([SinterCommand.SINTER, "run", *arguments, "--json", "--cache-dir", self.cache], capture_output=True, text=text is None, input=text)
        errors = done.stderr if text is None else done.stderr.decode()
        self.assertEqual(done.returncode, DONE, errors)
        self.errors = errors
        return [json.loads(line) for line in done.stdout.splitlines()]

    def expect_samples(self, lines, values, shape=(1, 3)):
        self.assertEqual([line["index"] for line in lines], list(range(len(values))))
        self.assertEqual([line["outputs"][0]["first"][0] for line in lines], [-value for value in values])
        for line in lines:
            self.assertEqual(line["outputs"][0]["shape"], list(shape))
            self.assertEqual((line["outputs"][0]["min"], line["outputs"][0]["max"]), (line["outputs"][0]["first"][0],) * 2)

    def test_folder_pattern_list_and_several(self):
        model, files = self.model((1, 3)), self.files(5)
        lines = self.run_many(model, "--input", self.path("data"))
        self.expect_samples(lines, range(5))
        self.assertEqual([line["sample"] for line in lines], [f"s{i:02}.npy" for i in range(5)])
        self.expect_samples(self.run_many(model, "--input", self.path("data/s0[13].npy")), [1, 3])
        listed = self.write("list.txt", "# a comment\ns03.npy\n\n" + files[1] + "\r\n")
        shutil.copy(listed, self.path("data/mine"))
        # The list's folder is where its files are looked for, too.
        self.expect_samples(self.run_many(model, "--input", "@" + self.path("data/mine")), [3, 1])
        self.expect_error(SYSTEM, "run", model, "--input", listed, mentions=["s03.npy"])
        self.expect_samples(self.run_many(model, "--input", files[4], "--input", files[2]), [4, 2])

    def test_standard_input(self):
        model, files = self.model((1, 3)), self.files(3)
        self.expect_samples(self.run_many(model, "--input", "-", text="\n".join(files[::-1]).encode()), [2, 1, 0])
        arrays = b"".join(self.sample(i) for i in (7, 5)) + npy((2, 3), [1, 1, 1, 2, 2, 2])
        self.expect_samples(self.run_many(model, "--input", "-", text=arrays), [7, 5, 1, 2])
        done = subprocess.run([SinterCommand.SINTER, "run", model, "--input", "-"], capture_output=True, input=arrays[:-4])
        self.assertEqual(done.returncode, SYSTEM, done.stderr)
        self.assertIn(b"array 2' is cut short", done.stderr)
        done = subprocess.run([SinterCommand.SINTER, "run", model, "--input", "-"], capture_output=True, input=b"")
        self.assertEqual(done.returncode, USAGE, done.stderr)

    def test_results_appear_as_they_come(self):
        """A pipe that does not end: each sample's results are there before the next sample is."""
        files = self.files(3)
        for samples in [self.sample(i) for i in range(3)], [f"{file}\n".encode() for file in files]:
            process = subprocess.Popen([SinterCommand.SINTER, "run", self.model(("N", 3)), "--input", "-", "--json", "--output-dir", self.path("out"), "--no-cache"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for i, sample in enumerate(samples):
                process.stdin.write(sample)
                process.stdin.flush()
                line = json.loads(process.stdout.readline())
                self.assertEqual((line["index"], line["outputs"][0]["first"][0]), (i, -i))
            _, errors = process.communicate()
            self.assertEqual(process.returncode, DONE, errors)
            self.assertIn(b"3 samples", errors)
        self.assertEqual(sorted(os.listdir(self.path("out"))), [*(f"s{i:02}_y.npy" for i in range(3)), *(f"stdin[{i}]_y.npy" for i in range(3))])

    def test_states_go_on_from_part_to_part(self):
        """More samples than a part has, which may or may not come together."""
        model = self.write("sum.mlir", """
func.func @main(%x: tensor<1x3xf32> {sinter.name = "x"},
    %n: tensor<1x3xf32> {sinter.state = "sum", sinter.initial = dense<0.0> : tensor<1x3xf32>})
    -> (tensor<1x3xf32> {sinter.name = "y"}, tensor<1x3xf32> {sinter.state = "sum"}) {
  %m = stablehlo.add %n, %x : tensor<1x3xf32>
  return %m, %m : tensor<1x3xf32>, tensor<1x3xf32>
}
""")
        lines = self.run_many(model, "--input", "-", "--state-dir", self.path("kept"), text=self.sample(1) * 600)
        self.assertEqual([line["outputs"][0]["max"] for line in lines], list(range(1, 601)))
        self.assertEqual(stored(self.path("kept/state_sum.npy")), ((1, 3), [600, 600, 600]))

    def test_leading_dimension(self):
        values = [i // 3 for i in range(30)]
        array = self.write("all.npy", npy((10, 3), values))
        archive = self.archive(x=npy((10, 3), values))
        for shape in [(1, 3), (4, 3), (3,)]:
            model = self.model(shape)
            wanted = (1, 3) if len(shape) == 2 else shape
            for source in array, archive:
                self.expect_samples(self.run_many(model, "--input", source), range(10), wanted)
        # A dynamic first dimension takes all at once, unless the samples are counted.
        model = self.model(("N", 3))
        whole = self.run_many(model, "--input", array)
        self.assertEqual([each["outputs"][0]["shape"] for each in whole], [[10, 3]])
        self.assertNotIn("sample", whole[0])
        for batch in "1", "3", "64":
            self.expect_samples(self.run_many(model, "--input", array, "--batch", batch), range(10))
        self.expect_samples(self.run_many(model, "--input", archive), range(10))

    def test_batches(self):
        """A static batch is filled, and its last one; a dynamic one is of one size."""
        self.files(10)
        for shape, options, batch in [((1, 3), [], 1), ((4, 3), [], 4), (("N", 3), [], 8), (("N", 3), ["--batch", "3"], 3), (("N", 3), ["--batch", "1"], 1)]:
            self.expect_samples(self.run_many(self.model(shape), "--input", self.path("data"), *options), range(10))
            self.assertEqual(f"batch {batch}" in self.errors, batch > 1, self.errors)
        self.write("data/s11.npy", self.sample(11, (1, 5)))
        self.write("data/s12.npy", self.sample(12, (1, 5)))
        self.write("data/s13.npy", self.sample(13))
        lines = self.run_many(self.model(("N", "M")), "--input", self.path("data"))
        self.assertEqual([line["outputs"][0]["first"][0] for line in lines], [-i for i in [*range(10), 11, 12, 13]])
        self.assertEqual([line["outputs"][0]["shape"][1] for line in lines], [3] * 10 + [5, 5, 3])

    def test_batches_that_cannot_be(self):
        self.files(3)
        data = self.path("data")
        self.expect_error(USAGE, "run", self.model((4, 3)), "--input", data, "--batch", "2", mentions=["--batch 2", "4"])
        self.expect_error(USAGE, "run", self.model((1, 3)), "--input", data, "--batch", "2", mentions=["--batch 2", "1"])
        self.expect_error(USAGE, "run", self.good_model(), "--input", "random", "--batch", "2", mentions=["--batch"])
        # The sum of all rows is nobody's.
        nodes = [onnx.node("ReduceSum", ["x"], ["y"], attributes=onnx.data(5, onnx.data(1, "keepdims") + onnx.number(3, 0) + onnx.number(20, 2)))]
        summed = self.write("sum.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", (2, 3))], [onnx.value_info("y", ())])))
        self.expect_error(USAGE, "run", summed, "--input", data, mentions=["output 'y'", "2 samples"])

    def test_output_files(self):
        os.makedirs(self.path("data/cat"))
        self.write("data/cat/a.npy", self.sample(1))
        self.write("data/b.npy", self.sample(2))
        out = self.path("out")
        done = self.sinter("run", self.model((4, 3)), "--input", self.path("data"), "--output-dir", out, "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stdout, r"\A2 samples in .* per second .*batch 4\)\n\Z")
        self.assertEqual(sorted(os.listdir(out)), ["b_y.npy", "cat_a_y.npy"])
        self.assertEqual(stored(os.path.join(out, "cat_a_y.npy")), ((1, 3), [-1, -1, -1]))
        self.assertEqual(stored(os.path.join(out, "b_y.npy")), ((1, 3), [-2, -2, -2]))
        rows = self.write("rows.npy", npy((2, 3), range(6)))
        self.sinter("run", self.model((1, 3)), "--input", rows, "--output-dir", self.path("rows"), "--no-cache")
        self.assertEqual(sorted(os.listdir(self.path("rows"))), ["rows_0_y.npy", "rows_1_y.npy"])

    def test_array_for_one_of_several_inputs(self):
        """An archive of one array, which no input is called like."""
        inputs = [onnx.value_info(name, (1, 3)) for name in ("a", "b")]
        add = self.write("add.onnx", onnx.model(onnx.graph([onnx.node("Add", ["a", "b"], ["y"])], inputs, [onnx.value_info("y", (1, 3))])))
        given = "b=" + self.write("b.npy", self.sample(1))
        for count, name in (1, "one.npz"), (3, "three.npz"):
            one = self.archive(name, arr_0=self.sample(2, (count, 3)))
            lines = self.run_many(add, "--input", given, "--input", f"a={one}")
            self.assertEqual([line["outputs"][0]["first"][0] for line in lines], [3] * count)
        other = self.archive("other.npz", b=self.sample(2))
        self.expect_error(USAGE, "run", add, "--input", given, "--input", f"a={other}", mentions=["other.npz' has no array 'a'"])

    def test_unreadable(self):
        model, files = self.model((1, 3)), self.files(6)
        self.write("data/s02.npy", b"\x93NUMPY")
        self.write("data/s04.npy", b"")
        data = self.path("data")
        self.expect_error(SYSTEM, "run", model, "--input", data, mentions=["s02.npy", "--skip-unreadable"])
        self.expect_error(SYSTEM, "run", model, "--input", data, "--skip-unreadable", "1", mentions=["s04.npy", "--skip-unreadable"])
        lines = self.run_many(model, "--input", data, "--skip-unreadable", "2")
        self.assertEqual([line["index"] for line in lines], [0, 1, 3, 5])
        self.assertIn("2 left out", self.errors)
        self.assertIn("s02.npy", self.errors)
        # From a pipe, where each line is a group of its own.
        for most, code in ("1", SYSTEM), ("2", DONE):
            process = subprocess.Popen([SinterCommand.SINTER, "run", model, "--input", "-", "--json", "--skip-unreadable", most, "--no-cache"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for i in range(4):
                process.stdin.write(f"{files[i]}\n".encode())
                process.stdin.flush()
                if i != 2:
                    self.assertEqual(json.loads(process.stdout.readline())["index"], i)
            _, errors = process.communicate(f"{files[4]}\n".encode())
            self.assertEqual(process.returncode, code, errors)
            self.assertIn(b"2 left out" if code == DONE else b"s04.npy", errors)
        # One of another shape can be read, and is wrong.
        self.write("data/s02.npy", npy((1, 4), [1] * 4))
        self.expect_error(USAGE, "run", model, "--input", data, "--skip-unreadable", "9", mentions=["s02.npy", "1x4xf32"])

    def test_nothing_there(self):
        model = self.model((1, 3))
        os.mkdir(self.path("empty"))
        self.expect_error(USAGE, "run", model, "--input", self.path("empty"), mentions=["no sample"])
        self.expect_error(USAGE, "run", model, "--input", self.path("*.npy"), mentions=["no file matches"])
        self.expect_error(SYSTEM, "run", model, "--input", "@" + self.path("none"), mentions=["none"])
        self.expect_error(USAGE, "run", model, "--input", self.write("list.txt", "#\n"), mentions=["list", "empty"])
        self.expect_error(USAGE, "run", model, "--input", self.archive(x=npy((0, 3), [])), mentions=["no sample"])
        self.expect_error(SYSTEM, "run", model, "--input", self.write("broken.npz", b"PK"), mentions=["broken.npz"])

    def two_inputs(self, shape=(1, 3)):
        inputs = [onnx.value_info("a", shape), onnx.value_info("b", shape)]
        return self.write("sub.onnx", onnx.model(onnx.graph([onnx.node("Sub", ["b", "a"], ["y"])], inputs, [onnx.value_info("y", shape)])))

    def test_several_inputs(self):
        model, files = self.two_inputs(), self.files(3)
        one = self.write("one.npy", self.sample(10))
        wanted = [i - 10 for i in range(3)]
        # The same for all; a source each; an archive; folders.
        self.expect_samples(self.run_many(model, "--input", "a=" + self.path("data"), "--input", "b=" + one), wanted)
        self.expect_samples(self.run_many(model, "--input", self.path("data"), "--input", one), wanted)
        tens = self.write("tens.npy", npy((3, 3), [10] * 9))
        self.expect_samples(self.run_many(model, "--input", "a=" + self.path("data"), "--input", "b=" + tens), wanted)
        counted = npy((3, 3), [i // 3 for i in range(9)])
        self.expect_samples(self.run_many(model, "--input", self.archive(a=counted, b=npy((3, 3), [10] * 9))), wanted)
        self.expect_samples(self.run_many(model, "--input", self.archive(a=counted, b=npy((1, 3), [10] * 3))), wanted)
        listed = self.write("list.txt", "".join(f"a={each}\tb={one}\n" for each in files))
        self.expect_samples(self.run_many(model, "--input", listed), wanted)
        for i in range(3):
            os.makedirs(self.path(f"folders/{i}"))
            self.write(f"folders/{i}/a.npy", self.sample(i))
            self.write(f"folders/{i}/b.npy", self.sample(10))
        self.expect_samples(self.run_many(model, "--input", self.path("folders")), wanted)
        text = b"".join(self.sample(i) + self.sample(10) for i in range(3))
        self.expect_samples(self.run_many(model, "--input", "-", text=text), wanted)
        # In batches.
        self.expect_samples(self.run_many(self.two_inputs(("N", 3)), "--input", self.path("folders")), wanted)
        self.assertIn("batch 3", self.errors)

    def test_several_inputs_that_do_not_fit(self):
        model = self.two_inputs()
        self.files(3)
        two = self.write("two.npy", npy((2, 3), range(6)))
        self.expect_error(USAGE, "run", model, "--input", "a=" + self.path("data"), "--input", "b=" + two, mentions=["2 samples for input 'b'", "3"])
        self.expect_error(USAGE, "run", model, "--input", self.path("data"), mentions=["no sample"])
        self.expect_error(USAGE, "run", model, "--input", "a=" + self.path("data"), mentions=["'b'"])
        self.expect_error(USAGE, "run", model, "--input", self.archive(a=npy((2, 3), range(6)), b=npy((3, 3), range(9))), mentions=["2 and 3 samples"])
        self.expect_error(USAGE, "run", model, "--input", self.archive(a=npy((2, 3), range(6))), mentions=["no array 'b'"])

    def test_states_go_on(self):
        model = self.write("count.mlir", """
func.func @main(%x: tensor<1x3xf32> {sinter.name = "x"},
    %n: tensor<1x3xf32> {sinter.state = "sum", sinter.initial = dense<0.0> : tensor<1x3xf32>})
    -> (tensor<1x3xf32> {sinter.name = "y"}, tensor<1x3xf32> {sinter.state = "sum"}) {
  %m = stablehlo.add %n, %x : tensor<1x3xf32>
  return %m, %m : tensor<1x3xf32>, tensor<1x3xf32>
}
""")
        self.files(4)
        lines = self.run_many(model, "--input", self.path("data"), "--state-dir", self.path("kept"))
        self.assertEqual([line["outputs"][0]["max"] for line in lines], [0, 1, 3, 6])
        self.assertEqual(stored(self.path("kept/state_sum.npy")), ((1, 3), [6, 6, 6]))
        self.expect_error(USAGE, "run", model, "--input", self.path("data"), "--trace", self.path("t.json"), mentions=["--trace"])
        self.expect_error(USAGE, "run", model, "--input", self.path("data"), "--repeat", "2", mentions=["--repeat"])

    def test_shared_out(self):
        """Under mpirun each process has its share; together they have each sample once."""
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        self.files(7)
        model, out = self.model((1, 3)), self.path("out")
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", SinterCommand.SINTER, "run", model, "--input", self.path("data")]
        done = subprocess.run([*command, "--json", "--no-cache", "--output-dir", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda line: line["index"])
        self.expect_samples(lines, range(7))
        self.assertEqual(sorted(os.listdir(out)), [f"s{i:02}_y.npy" for i in range(7)])
        done = subprocess.run([*command[:-1], "-"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, DONE)
        self.assertIn("standard input", done.stderr)


if __name__ == "__main__":
    main()
