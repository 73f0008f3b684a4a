#!/usr/bin/env python3
# Covers: data Inputs WrittenNumbers
# Covers: driver InputOptions
# Covers: formats/onnx/file TensorFile TestData
"""What can be given to a model, and how."""
import json
import os
import struct
import zlib

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, npy, SYSTEM, USAGE, main


INT64 = 7


class Inputs(CommandTest):
    def run_model(self, *arguments):
        return self.sinter("run", *arguments, "--backend", "interpreter", "--json")

    def test_missing(self):
        self.expect_error(USAGE, "run", self.good_model(), mentions=["'x' f32 [2, 3]", "--input"])

    def test_wrong_type_and_shape(self):
        model = self.good_model()
        wrong_shape = self.write("shape.npy", onnx.npy((3, 2)))
        wrong_type = self.write("type.npy", onnx.npy((2, 3), "<i4"))
        self.expect_error(USAGE, "run", model, "--input", wrong_shape, mentions=["'x'", "2x3xf32", "3x2xf32"])
        self.expect_error(USAGE, "run", model, "--input", f"x={wrong_type}", mentions=["'x'", "2x3xi32"])

    def test_wrong_files(self):
        model = self.good_model()
        self.expect_error(SYSTEM, "run", model, "--input", self.write("a.bin", "hello"), mentions=["a.bin"])
        self.expect_error(SYSTEM, "run", model, "--input", self.path("none.npy"), mentions=["none.npy"])
        short = self.write("short.npy", onnx.npy((2, 3))[:-4])
        self.assertIn(self.sinter("run", model, "--input", short).returncode, [USAGE, SYSTEM])
        self.expect_error(SYSTEM, "run", model, "--input", self.write("x.pb", b"\xff\xff"), mentions=["x.pb"])

    def test_forms(self):
        model = self.good_model()
        values = onnx.floats(-1, 2, 3, -4, 5, 6)
        npy = self.write("x.npy", onnx.npy((2, 3), content=values))
        pb = self.write("x.pb", onnx.tensor("x", [2, 3], values))
        for argument in [npy, f"x={npy}", pb]:
            done = self.run_model(model, "--input", argument)
            self.assertEqual(done.returncode, DONE, done.stderr)
            output = json.loads(done.stdout)["outputs"][0]
            self.assertEqual(output["first"], [0, 2, 3, 0, 5, 6])
            self.assertEqual((output["name"], output["type"], output["shape"]), ("y", "f32", [2, 3]))

    def test_numbers(self):
        """A number and a short list can be typed; what they cannot be is refused with the reason."""
        inputs = [onnx.value_info("n", (), onnx.INT64), onnx.value_info("list", ("N",)), onnx.value_info("p", (), onnx.BOOL)]
        outputs = [onnx.value_info("m", (), onnx.INT64), onnx.value_info("same", ("N",)), onnx.value_info("q", (), onnx.BOOL)]
        nodes = [onnx.node("Neg", ["n"], ["m"]), onnx.node("Identity", ["list"], ["same"]), onnx.node("Not", ["p"], ["q"])]
        model = self.write("numbers.onnx", onnx.model(onnx.graph(nodes, inputs, outputs)))
        done = self.run_model(model, "--input", "n=16000", "--input", "list=1,-2.5,3e2", "--input", "p=true")
        self.assertEqual(done.returncode, DONE, done.stderr)
        outputs = json.loads(done.stdout)["outputs"]
        self.assertEqual([each["first"] for each in outputs], [[-16000], [1, -2.5, 300], [0]])
        # Without names: in order.
        self.assertEqual(self.run_model(model, "--input", "7", "--input", "1,2", "--input", "false").returncode, DONE)
        rest = ["--input", "list=1", "--input", "p=0"]
        for wrong, said in ("n=1.5", "i64 holds no such number"), ("n=1,2", "is no"), ("n=9007199254740994", "holds no such number"), ("n=one", "cannot open 'one'"):
            done = self.run_model(model, "--input", wrong, *rest)
            self.assertIn(done.returncode, [USAGE, SYSTEM], done.stderr)
            self.assertIn(said, done.stderr)
        self.expect_error(USAGE, "run", self.good_model(), "--input", "x=1,2,3", mentions=["'x=1,2,3'", "2x3xf32"])
        # A file of that name comes first.
        self.write("12", "no array")
        self.expect_error(SYSTEM, "run", model, "--input", "n=" + self.path("12"), *rest, mentions=["neither .npy"])

    def test_pictures(self):
        """What a picture's pixels become, against the same computed here."""

        def chunk(kind, content):
            return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

        def png(pixels, bits, channels):
            """Rows of numbers as a PNG file."""
            form = {1: 0, 3: 2}[channels]
            rows = b"".join(b"\0" + b"".join(each.to_bytes(bits // 8, "big") for each in row) for row in pixels)
            header = struct.pack(">IIBBBBB", len(pixels[0]) // channels, len(pixels), bits, form, 0, 0, 0)
            return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")

        def first(shape, picture, *options):
            model = onnx.model(onnx.graph([onnx.node("Identity", ["x"], ["y"])], [onnx.value_info("x", shape)], [onnx.value_info("y", shape)]))
            done = self.run_model(self.write("same.onnx", model), "--input", self.write("a.png", picture), *options)
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout)["outputs"][0]["first"]

        rows = [[10, 20, 30, 40, 50, 60], [70, 80, 90, 100, 110, 250]]
        mean, std = (0.5, 0.25, 0.125), (0.5, 2, 4)
        scaled = [[(each / 255 - mean[i % 3]) / std[i % 3] for i, each in enumerate(row)] for row in rows]
        options = ["--mean", "0.5,0.25,0.125", "--std", "0.5,2,4"]
        planes = [row[x + channel] for channel in range(3) for row in scaled for x in (0, 3)]
        got = first((1, 3, 2, 2), png(rows, 8, 3), *options)
        self.assertTrue(all(abs(a - b) < 1e-5 for a, b in zip(got, planes)), got)
        got = first((1, 2, 2, 3), png(rows, 8, 3), *options, "--layout", "nhwc")
        self.assertTrue(all(abs(a - b) < 1e-5 for a, b in zip(got, scaled[0] + scaled[1])), got)
        # 16 bits a channel are 8 bits in more detail.
        got = first((1, 1, 2, 2), png([[0, 257 * 100], [257 * 200, 65535]], 16, 1), "--scale", "1")
        self.assertEqual(got, [0, 100, 200, 255])

    def test_random_is_repeatable(self):
        model = self.good_model()
        runs = [json.loads(self.run_model(model, "--input", seed).stdout)["outputs"] for seed in ["random", "random:0", "random:1"]]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_random_seeds(self):
        model = self.good_model()
        for seed in "abc", "", "-1", "1.5", "99999999999999999999":
            for name in "", "x=":
                self.expect_error(USAGE, "run", model, "--input", f"{name}random:{seed}", mentions=["random:", f"./random:{seed}"])
        self.expect_error(USAGE, "run", model, "--input", "random", "--input", "random:1", mentions=["twice"])
        self.write("random:abc", onnx.npy((2, 3)))
        done = self.run_model(model, "--input", self.path("random:abc"))
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_options_for_pictures(self):
        model = self.good_model()
        for option in ["--mean", "1,2"], ["--std", "1"], ["--scale", "1"], ["--layout", "nhwc"]:
            for given in "random", self.write("x.npy", onnx.npy((2, 3))):
                self.expect_error(USAGE, "run", model, "--input", given, *option, mentions=[option[0], "images"])

    def test_numbers_of_channels(self):
        model = self.good_model()
        for option in "--mean", "--std":
            for text in ",", "1,", ",1", "1,,2", "1;2", "a", "1 2":
                self.expect_error(USAGE, "run", model, "--input", "random", f"{option}={text}",
                                  mentions=[option, "one for each channel", "0.485,0.456,0.406"])

    def test_not_a_number(self):
        """It has no sign, whatever its bits say."""
        nan, minus = struct.pack("<I", 0x7FC00000), struct.pack("<I", 0xFFC00000)
        x = self.write("x.npy", onnx.npy((2, 3), content=(nan + minus) * 3))
        model = onnx.model(onnx.graph([onnx.node("Identity", ["x"], ["y"])], [onnx.value_info("x", (2, 3))], [onnx.value_info("y", (2, 3))]))
        model = self.write("same.onnx", model)
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--input", x, "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertNotIn("-nan", done.stdout)
            self.assertIn("min nan  max nan  mean nan", done.stdout)

    def test_empty_output(self):
        model = self.good_model(shape=(0, 3))
        for backend in ["cpu", "interpreter"]:
            done = self.sinter("run", model, "--input", "random", "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("empty", done.stdout)
        model = self.good_model("flat.onnx", shape=(3, 0))
        done = self.sinter("run", model, "--input", "random")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_output_folder(self):
        name = "../../evil/y"
        model = self.write("m.onnx", onnx.simple([onnx.node("Relu", ["x"], [name])], output=name))
        done = self.run_model(model, "--input", "random", "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(os.listdir(self.path("out")), ["_.._.._evil_y.npy"])

    def test_unknown_ranks(self):
        """The file does not say how many dimensions an input has: what is given does, before the graph is read for it."""
        unknown = [onnx.data(1, name) + onnx.data(2, onnx.data(1, onnx.number(1, element))) for name, element in (("x", onnx.FLOAT), ("s", INT64), ("y", onnx.FLOAT))]
        net = self.write("any.onnx", onnx.model(onnx.graph([onnx.node("Reshape", ["x", "s"], ["y"])], unknown[:2], unknown[2:])))
        for shape, target, expected in (((2, 6), "3,4", [3, 4]), ((2, 3, 2), "3,-1", [3, 4])):
            x = self.write("x.npy", onnx.npy(shape))
            for backend in ("cpu", "interpreter"):
                done = self.sinter("run", net, "--input", f"x={x}", "--input", f"s={target}", "--backend", backend, "--json")
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], expected)
        self.expect_error(USAGE, "run", net, "--input", f"x={x}", "--shape", "x:5x5", "--input", "s=5,5", mentions=["'x'", "5x5"])

    def test_open_dimensions(self):
        model = self.good_model(shape=("N", 3))
        done = self.run_model(model, "--input", "random")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [1, 3])
        self.assertIn("taken as 1", done.stderr)
        done = self.run_model(model, "--input", "random", "--shape", "x:4x3")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [4, 3])
        model = self.good_model("two.onnx", ("N", "length"))
        self.expect_error(USAGE, "run", model, "--input", "random", mentions=["length", "'x'", "--shape"])


if __name__ == "__main__":
    main()
