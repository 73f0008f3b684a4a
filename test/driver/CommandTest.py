#!/usr/bin/env python3
"""What `sinter` does with good and bad arguments and files: exit codes, one line of error, nothing left behind.

    test/driver/CommandTest.py build/bin/sinter [unittest options]
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import OnnxBytes as onnx

SINTER = ""
DONE, WRONG, USAGE, INVALID, UNSUPPORTED, SYSTEM = range(6)
# Broken models must be refused within seconds, also under the sanitizers.
TIMEOUT_S = 60


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self.path(name)

    def sinter(self, *arguments):
        return subprocess.run([SINTER, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace")

    def expect_error(self, code, *arguments, mentions=()):
        """Runs sinter; it must fail with CODE and say so in one line with all of MENTIONS. Returns the line."""
        done = self.sinter(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        self.assertEqual(len(lines), 1, f"{arguments}: {done.stderr}")
        self.assertTrue(lines[0].startswith("error: "), lines[0])
        for mention in mentions:
            self.assertIn(mention, lines[0])
        return lines[0]

    def good_model(self, name="good.onnx", shape=(2, 3)):
        return self.write(name, onnx.simple([onnx.node("Relu", ["x"], ["y"], "relu")], shape))


class Usage(CommandTest):
    def test_help(self):
        done = self.sinter("--help")
        self.assertEqual(done.returncode, DONE)
        self.assertLess(done.stdout.index("sinter run resnet50.onnx"), done.stdout.index("Usage"))
        for command in ["run", "bench", "optimize", "convert", "test", "inspect"]:
            done = self.sinter(command, "--help")
            self.assertEqual(done.returncode, DONE)
            self.assertIn(f"  sinter {command} ", done.stdout)

    def test_version(self):
        self.assertRegex(self.sinter("--version").stdout, r"^sinter \d+\.\d+\.\d+$")

    def test_near_misses(self):
        self.expect_error(USAGE, "rnu", mentions=["did you mean 'run'?"])
        self.expect_error(USAGE, "run", "--bakend", "cpu", mentions=["did you mean '--backend'?"])
        model = self.good_model()
        self.expect_error(USAGE, "run", model, "--shape", "xx:1x2", mentions=["no input 'xx'", "'x'"])
        self.expect_error(USAGE, "run", model, "--input", "z=a.npy", mentions=["no input 'z'", "'x'"])

    def test_wrong_values(self):
        model = self.good_model()
        self.expect_error(USAGE, "run", model, "--backend", "gpu", mentions=["--backend"])
        self.expect_error(USAGE, "run", model, "--threads", "none", mentions=["--threads"])
        for shape in ["x", ":1x2", "x:1xx2", "x:-1", "x:1x2x", "x:99999999999999999999"]:
            self.expect_error(USAGE, "run", model, "--shape", shape, mentions=["--shape"])
        self.expect_error(USAGE, "run", mentions=["MODEL"])
        self.expect_error(USAGE, "optimize", model, mentions=["-o FILE"])
        self.expect_error(USAGE, "convert", model, "-o", self.path("net.xyz"), mentions=["extension"])

    def test_files_that_are_not_there(self):
        for command in ["run", "bench", "inspect"]:
            self.expect_error(SYSTEM, command, self.path("none.onnx"), mentions=["none.onnx"])
        self.expect_error(SYSTEM, "run", self.folder, mentions=[self.folder])
        self.expect_error(SYSTEM, "test", self.path("none"), mentions=["none"])
        self.expect_error(USAGE, "test", self.folder, mentions=["no tests"])


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
        self.expect_error(USAGE, "run", model, "--input", self.write("a.txt", "hello"), mentions=["a.txt"])
        self.expect_error(SYSTEM, "run", model, "--input", self.path("none.npy"), mentions=["none.npy"])
        short = self.write("short.npy", onnx.npy((2, 3))[:-4])
        self.assertIn(self.sinter("run", model, "--input", short).returncode, [USAGE, SYSTEM])
        self.expect_error(USAGE, "run", model, "--input", self.write("x.pb", b"\xff\xff"), mentions=["x.pb"])

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

    def test_open_dimensions(self):
        model = self.good_model(shape=("N", 3))
        done = self.run_model(model, "--input", "random")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [1, 3])
        self.assertIn("taken as 1", done.stderr)
        done = self.run_model(model, "--input", "random", "--shape", "x:4x3")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [4, 3])
        model = self.good_model("two.onnx", ("N", "length"))
        self.expect_error(USAGE, "run", model, "--input", "random", mentions=["length", "'x'", "--shape"])


class Fallback(CommandTest):
    """What the CPU backend does not support: results whose size depends on values."""

    def test_interpreter(self):
        nodes = [onnx.node("NonZero", ["x"], ["y"], "find")]
        model = onnx.model(onnx.graph(nodes, [onnx.value_info("x", (2, 3))], [onnx.value_info("y", (2, "K"), onnx.INT64)]))
        model, x = self.write("sizes.onnx", model), self.write("x.npy", onnx.npy((2, 3), content=onnx.floats(1, 0, 0, 0, 2, 3)))
        done = self.sinter("run", model, "--input", x, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertRegex(done.stderr, r"\Anote: .*sizes.onnx: node 'find': .*interpreter, which is slow\n\Z")
        result = json.loads(done.stdout)
        self.assertEqual((result["backend"], result["outputs"][0]["shape"]), ("interpreter", [2, 3]))
        for asked in ("run", "--backend", "cpu"), ("bench",):
            self.expect_error(UNSUPPORTED, asked[0], model, "--input", x, *asked[1:], mentions=["'find'", "the interpreter can run it"])


class BadModels(CommandTest):
    """Each is refused by everything that reads models, with the file's name, and nothing is written."""

    def refused(self, code, model, *mentions, name="bad.onnx"):
        path = self.write(name, model) if isinstance(model, bytes) else model
        self.expect_error(code, "inspect", path, mentions=[os.path.basename(path), *mentions])
        self.expect_error(code, "run", path, "--input", "random", mentions=[os.path.basename(path), *mentions])
        before = sorted(os.listdir(self.folder))
        out = self.path("out" + os.path.splitext(path)[1])
        self.expect_error(code, "optimize", path, "-o", out, mentions=[os.path.basename(path)])
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_no_model_at_all(self):
        self.refused(INVALID, b"", "empty")
        self.refused(INVALID, b"PK\x03\x04" + bytes(100), "zip")
        self.refused(INVALID, b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG")
        generator = random.Random(1)
        for size in [1, 10, 1000, 100000]:
            self.refused(INVALID, generator.randbytes(size))

    def test_truncated(self):
        whole = onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[onnx.tensor("w", [2, 3], onnx.floats(*range(6)))])
        for size in [1, 5, len(whole) // 2, len(whole) - 1]:
            self.refused(INVALID, whole[:size])

    def test_cycle(self):
        nodes = [onnx.node("Add", ["x", "b"], ["a"], "first"), onnx.node("Relu", ["a"], ["b"], "second"), onnx.node("Relu", ["b"], ["y"])]
        self.refused(INVALID, onnx.simple(nodes), "first")

    def test_undefined_name(self):
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "weight"], ["y"], "sum")]), "'weight'", "sum", "Add")

    def test_undefined_output(self):
        self.refused(INVALID, onnx.simple([onnx.node("Relu", ["x"], ["z"])]), "'y'")

    def test_duplicate_names(self):
        nodes = [onnx.node("Relu", ["x"], ["y"], "one"), onnx.node("Abs", ["x"], ["y"], "two")]
        self.refused(INVALID, onnx.simple(nodes), "'y'")
        twice = [onnx.tensor("w", [1], onnx.floats(1))] * 2
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=twice), "'w'")

    def test_short_data(self):
        weight = onnx.tensor("w", [2, 3], onnx.floats(1, 2))
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]), "'w'")

    def test_shapes_that_overflow(self):
        weight = onnx.tensor("w", [1 << 40, 1 << 40], onnx.floats(1))
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]), "'w'")
        self.refused(INVALID, onnx.simple([onnx.node("Relu", ["x"], ["y"])], shape=(1 << 40, 1 << 40)), "'x'")

    def external(self, location, *more):
        weight = onnx.tensor("w", [2, 3], external=[("location", location), *more])
        return onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight])

    def test_external_data_outside(self):
        outside = tempfile.NamedTemporaryFile()
        self.addCleanup(outside.close)
        outside.write(bytes(24))
        outside.flush()
        self.refused(INVALID, self.external(outside.name), "'w'")
        self.refused(INVALID, self.external("../" + os.path.basename(outside.name)), "'w'")
        os.symlink(outside.name, self.path("symbolic"))
        self.refused(INVALID, self.external("symbolic"), "'w'")
        os.mkdir(self.path("inner"))
        os.symlink(os.path.dirname(outside.name), self.path("inner/folder"))
        self.refused(INVALID, self.external("inner/folder/" + os.path.basename(outside.name)), "'w'")
        self.write("one", bytes(24))
        os.link(self.path("one"), self.path("other"))
        self.refused(INVALID, self.external("other"), "'w'")

    def test_external_data_that_is_not_there(self):
        self.expect_error(INVALID, "inspect", self.write("a.onnx", self.external("none")), mentions=["none"])
        self.write("weights", bytes(24))
        self.refused(INVALID, self.external("weights", ("offset", "1000")), "'w'")
        self.refused(INVALID, self.external("weights", ("offset", "-4")), "'w'")
        self.refused(INVALID, self.external("weights", ("length", "1000000")), "'w'")

    def test_external_data(self):
        self.write("weights", onnx.floats(*range(6)))
        path = self.write("good.onnx", self.external("weights"))
        done = self.sinter("run", path, "--input", "random", "--backend", "interpreter")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_nested_functions(self):
        count = 10000
        functions = [onnx.function(f"f{i}", [onnx.node(f"f{i + 1}", ["a"], ["b"], domain="local")], ["a"], ["b"]) for i in range(count)]
        functions.append(onnx.function(f"f{count}", [onnx.node("Relu", ["a"], ["b"])], ["a"], ["b"]))
        nested = onnx.simple([onnx.node("f0", ["x"], ["y"], "call", domain="local")], functions=functions, domains=["local"])
        path = self.write("bad.onnx", nested)
        done = self.sinter("inspect", path)
        self.assertIn(done.returncode, [INVALID, UNSUPPORTED], done.stderr)
        self.refused(done.returncode, nested)

    def test_function_that_calls_itself(self):
        loop = [onnx.function("f", [onnx.node("f", ["a"], ["b"], domain="local")], ["a"], ["b"])]
        self.refused(INVALID, onnx.simple([onnx.node("f", ["x"], ["y"], domain="local")], functions=loop, domains=["local"]))

    def test_nested_graphs(self):
        inner = onnx.graph([onnx.node("Relu", ["x"], ["y"])], [], [onnx.value_info("y", (2, 3))])
        for depth in range(2000):
            attribute = onnx.data(5, onnx.data(1, "body") + onnx.data(6, inner) + onnx.number(20, 5))
            inner = onnx.graph([onnx.node("If", ["x"], ["y"], attributes=attribute)], [], [onnx.value_info("y", (2, 3))])
        path = self.write("bad.onnx", onnx.model(inner))
        self.assertIn(self.sinter("inspect", path).returncode, [INVALID, UNSUPPORTED])

    def test_wrong_declaration(self):
        """What the file says of an output is what the graph gives."""
        relu = [onnx.node("Relu", ["x"], ["y"], "relu")]

        def declared(shape, element=onnx.FLOAT):
            return self.write("bad.onnx", onnx.model(onnx.graph(relu, [onnx.value_info("x", ("N", 3))], [onnx.value_info("y", shape, element)])))

        self.expect_error(INVALID, "inspect", declared(("N", 3), onnx.INT64), mentions=["bad.onnx: output 'y'", "i64", "f32"])
        self.expect_error(INVALID, "inspect", declared((2, 4)), mentions=["bad.onnx: output 'y'", "[2, 4]", "[?, 3]"])
        self.expect_error(INVALID, "inspect", declared((2, 3, 1)), mentions=["[2, 3, 1]"])
        # A size that holds for some inputs only is nothing to refuse.
        for shape in (2, 3), ("M", 3), ("N", "K"):
            done = self.sinter("run", declared(shape), "--shape", "x:4x3", "--input", "random")
            self.assertEqual(done.returncode, DONE, done.stderr)

    def loops(self, levels, times):
        """LEVELS loops in each other, of TIMES iterations each, round one addition."""

        def body(level):
            inputs = [onnx.value_info(f"i{level}", (), onnx.INT64), onnx.value_info(f"c{level}", (), 9), onnx.value_info(f"v{level}", ())]
            outputs = [onnx.value_info(f"d{level}", (), 9), onnx.value_info(f"o{level}", ())]
            if level == levels:
                inner = onnx.node("Add", [f"v{level}", "one"], [f"o{level}"], "add")
            else:
                inner = loop(level + 1, f"v{level}", f"o{level}")
            return onnx.graph([inner, onnx.node("Identity", [f"c{level}"], [f"d{level}"], "go on")], inputs, outputs)

        def loop(level, value, result):
            graph = onnx.data(5, onnx.data(1, "body") + onnx.data(6, body(level)) + onnx.number(20, 5))
            return onnx.node("Loop", ["n", "", value], [result], f"loop{level}", attributes=graph)

        constants = [onnx.tensor("n", [], struct.pack("<q", times), onnx.INT64), onnx.tensor("one", [], onnx.floats(1))]
        graph = onnx.graph([loop(1, "x", "y")], [onnx.value_info("x", ())], [onnx.value_info("y", ())], constants)
        return self.write("loops.onnx", onnx.model(graph))

    def test_nested_loops(self):
        """What would run for days is refused at once; what is long runs as a loop."""
        began = time.monotonic()
        self.expect_error(UNSUPPORTED, "run", self.loops(13, 10), "--input", "random", mentions=["loops.onnx", "loop1", "nodes"])
        self.assertLess(time.monotonic() - began, 10)
        start = self.write("start.npy", onnx.npy((), content=onnx.floats(1)))
        for levels, times in (2, 10), (6, 10):
            done = self.sinter("run", self.loops(levels, times), "--input", start, "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 1 + times**levels)

    def test_results_too_large(self):
        """More than the machine's memory is refused with the tensor's name and size."""
        size = 1 << 24
        shape = onnx.tensor("s", [2], struct.pack("<2q", size, size), onnx.INT64)
        expand = onnx.node("Expand", ["x", "s"], ["h"], "huge")
        one, x = onnx.value_info("y", (size, 1)), onnx.value_info("x", (1, 1))
        result = onnx.model(onnx.graph([expand, onnx.node("Relu", ["h"], ["y"], "relu")], [x], [onnx.value_info("y", (size, size))], [shape]))
        inside = [expand, onnx.node("Softmax", ["h"], ["p"], "soft"), onnx.node("MatMul", ["p", "h"], ["q"], "product")]
        inside = onnx.model(onnx.graph([*inside, onnx.node("ReduceSum", ["q", "axes"], ["y"], "sum")], [x], [one], [shape, onnx.tensor("axes", [1], struct.pack("<q", 1), onnx.INT64)]))
        for model, words in (result, ["'y'", "16777216", "this machine has"]), (inside, ["'huge'", "this machine has"]):
            path = self.write("large.onnx", model)
            self.expect_error(SYSTEM, "run", path, "--input", "random", mentions=["large.onnx", "GB", *words])
            self.expect_error(SYSTEM, "run", path, "--input", "random", "--backend", "interpreter", mentions=["large.onnx", "huge", "16777216"])

    def test_unknown_operators(self):
        nodes = [onnx.node("Frobnicate", ["x"], ["a"], "one"), onnx.node("Frobnicate", ["a"], ["b"]), onnx.node("Gronk", ["b"], ["y"])]
        self.refused(UNSUPPORTED, onnx.simple(nodes), "2 x Frobnicate", "1 x Gronk")

    def test_unknown_opset(self):
        self.refused(UNSUPPORTED, onnx.simple([onnx.node("Relu", ["x"], ["y"])], version=9999))
        self.refused(UNSUPPORTED, onnx.simple([onnx.node("F", ["x"], ["y"], domain="com.example")], domains=["com.example"]), "com.example")

    def test_text(self):
        self.refused(INVALID, b"func.func @main(", name="bad.mlir")
        self.refused(INVALID, b"(" * 1000000, name="bad.mlir")
        wrong = b"func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32>\n}"
        self.refused(INVALID, wrong, ":2:", name="bad.mlir")


class Results(CommandTest):
    def make_case(self, name, expected):
        folder = self.path(name)
        os.makedirs(os.path.join(folder, "test_data_set_0"))
        self.good_model(os.path.join(name, "model.onnx"))
        self.write(f"{name}/test_data_set_0/input_0.pb", onnx.tensor("x", [2, 3], onnx.floats(-1, 2, 3, -4, 5, float("nan"))))
        self.write(f"{name}/test_data_set_0/output_0.pb", onnx.tensor("y", [2, 3], onnx.floats(*expected)))

    def test_test(self):
        self.make_case("cases/good", [0, 2, 3, 0, 5, float("nan")])
        self.make_case("cases/deeper/bad", [0, 2, 3, 0, 5.5, float("nan")])
        arguments = ["test", self.path("cases"), "--backend", "interpreter"]
        done = self.sinter(*arguments)
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("cases/deeper/bad: output 'y': 1 of 6 values differ, most at [1, 1]: got 5, expected 5.5", done.stdout)
        self.assertEqual(self.sinter(*arguments, "--atol", "0.5").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--rtol", "0.1").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--range-atol", "0.1").returncode, DONE)
        self.assertEqual(self.sinter(*arguments, "--filter", "good").stdout, "1 passed, 0 failed\n")
        answers = [json.loads(line) for line in self.sinter(*arguments, "--json").stdout.splitlines()]
        self.assertEqual([(os.path.basename(each["case"]), each["status"]) for each in answers], [("bad", "failed"), ("good", "passed")])

    def test_bench(self):
        done = self.sinter("bench", self.good_model(), "--backend", "interpreter", "--seconds", "0.05", "--layers", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        result = json.loads(done.stdout)
        keys = "model backend threads cpu isa batch latency_ms throughput_per_s gflop_per_inference gflops load_ms compile_ms first_ms peak_rss_mb cv layers"
        self.assertEqual(set(result), set(keys.split()))
        self.assertEqual(set(result["latency_ms"]), set("min median mean p90 p99 max".split()))
        self.assertEqual(set(result["layers"][0]), set("name op kernel ms gflops".split()))
        self.assertEqual(result["batch"], 2)
        self.assertGreater(result["gflop_per_inference"], 0)

    def test_convert(self):
        text = self.path("net.mlir")
        self.assertEqual(self.sinter("convert", self.good_model(), "-o", text).returncode, DONE)
        done = self.sinter("run", text, "--input", "random:3", "--backend", "interpreter", "--json")
        direct = self.sinter("run", self.good_model(), "--input", "random:3", "--backend", "interpreter", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"], json.loads(direct.stdout)["outputs"])


class Cache(CommandTest):
    def run_cached(self, model, *arguments, **environment):
        command = [SINTER, "run", model, "--input", "random", "--json", "--cache-dir", self.path("cache"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, **environment})

    def result(self, *arguments):
        done = self.run_cached(*arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        answer = json.loads(done.stdout)
        return answer["from_cache"], answer["outputs"]

    def test_second_run(self):
        model = self.good_model()
        first, outputs = self.result(model)
        self.assertFalse(first)
        self.assertEqual(self.result(model), (True, outputs))
        self.assertEqual(self.result(model, "--threads", "1"), (True, outputs))
        self.assertFalse(self.result(model, "--no-cache")[0])
        self.assertFalse(self.result(self.good_model(shape=(3, 2)))[0])

    def test_needs_no_compiler(self):
        model = self.good_model()
        self.assertIn("libsinter-compiler", self.run_cached(model, LD_DEBUG="files").stderr)
        self.assertNotIn("libsinter-compiler", self.run_cached(model, LD_DEBUG="files").stderr)

    def test_damage(self):
        model = self.good_model()
        _, outputs = self.result(model)
        for entry in os.listdir(self.path("cache")):
            with open(os.path.join(self.path("cache"), entry), "r+b") as file:
                file.truncate(os.path.getsize(file.name) // 2)
        self.assertEqual(self.result(model), (False, outputs))
        self.assertEqual(self.result(model), (True, outputs))

    def test_external_data_count(self):
        weight = onnx.tensor("w", [2, 3], external=[("location", "weights")])
        model = self.write("m.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]))
        self.write("weights", onnx.floats(*range(6)))
        _, before = self.result(model)
        self.assertTrue(self.result(model)[0])
        self.write("weights", onnx.floats(*range(1, 7)))
        cached, after = self.result(model)
        self.assertFalse(cached)
        self.assertNotEqual(before, after)


def npy(shape, numbers):
    """The bytes of a .npy file of f32."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({''.join(f'{size}, ' for size in shape)}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            + struct.pack(f"<{len(numbers)}f", *numbers))


class Bind(CommandTest):
    TEXT = """module @jit_net {
  func.func public @main(%arg0: tensor<2xf32> {jax.arg_info = "params['w=1']"}, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.multiply %arg1, %arg0 : tensor<2xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""

    def setUp(self):
        super().setUp()
        self.model = self.write("net.mlir", self.TEXT)
        self.w = self.write("w.npy", npy((2,), (2, 3)))
        self.b = self.write("b.npy", npy((2,), (10, 20)))
        self.x = self.write("x.npy", npy((2,), (1, 1)))

    def result(self, *arguments):
        done = self.sinter("run", self.model, "--json", "--no-cache", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        output = json.loads(done.stdout)["outputs"][0]
        return output["min"], output["max"]

    def test_names(self):
        """By an attribute's text, by position, by default name; on both backends."""
        for backend in "cpu", "interpreter":
            for name in "2", "arg2":
                got = self.result("--backend", backend, "--bind", f"params['w=1']={self.w}", "--bind", f"{name}={self.b}",
                                  "--input", self.x)
                self.assertEqual(got, (12, 23))

    def test_folder_and_archive(self):
        os.mkdir(self.path("weights"))
        self.write("weights/arg0.npy", npy((2,), (2, 3)))
        self.write("weights/arg2.npy", npy((2,), (10, 20)))
        self.assertEqual(self.result("--bind", self.path("weights"), "--input", self.x), (12, 23))
        for method in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            with zipfile.ZipFile(self.path("weights.npz"), "w", method) as archive:
                for name in "arg0", "arg2":
                    archive.write(self.path(f"weights/{name}.npy"), f"{name}.npy")
            self.assertEqual(self.result("--bind", self.path("weights.npz"), "--input", self.x), (12, 23))
        with open(self.path("weights.npz"), "rb") as file:
            whole = file.read()
        for end in range(0, len(whole), 7):
            broken = self.write("broken.npz", whole[:end])
            self.assertNotEqual(self.sinter("optimize", self.model, "--stats", "--bind", broken).returncode, DONE)

    def test_optimize(self):
        out = self.path("out.mlir")
        done = self.sinter("optimize", self.model, "-o", out, "--bind", f"0={self.w}")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            text = file.read()
        self.assertIn("[2.000000e+00, 3.000000e+00]", text)
        self.assertIn('sinter.name = "arg1"', text)
        self.assertNotIn("%arg2", text)

    def test_inspect_and_convert(self):
        facts = self.sinter("inspect", self.model, "--json", "--no-plan", "--bind", f"0={self.w}", "--bind", f"2={self.b}")
        self.assertEqual(facts.returncode, DONE, facts.stderr)
        facts = json.loads(facts.stdout)
        self.assertEqual([each["name"] for each in facts["inputs"]], ["arg1"])
        self.assertEqual(facts["parameters"], 4)
        planned = self.sinter("inspect", self.model, "--bind", f"0={self.w}")
        self.assertEqual(planned.returncode, DONE, planned.stderr)
        self.assertIn("memory plan", planned.stdout)
        out = self.path("bound.mlir.bc")
        done = self.sinter("convert", self.model, "-o", out, "--bind", f"0={self.w}", "--bind", f"2={self.b}")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.model = out
        self.assertEqual(self.result("--input", self.x), (12, 23))

    def test_open_shapes(self):
        """The array's sizes become those of arguments with the same symbols, and of what follows."""
        model = self.write("open.mlir", """
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x", sinter.dims = ["N", ""]},
                %w: tensor<?xf32> {sinter.name = "w", sinter.dims = ["N"]}) -> tensor<?x2xf32> {
  %s = nn.shape %x : (tensor<?x2xf32>) -> tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %w, %s, dims = [0] : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %1 = stablehlo.multiply %0, %x : tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
""")
        bound = "--bind", f"w={self.write('three.npy', npy((3,), (1, 2, 3)))}"
        facts = self.sinter("inspect", model, "--json", "--no-plan", *bound)
        self.assertEqual(facts.returncode, DONE, facts.stderr)
        facts = json.loads(facts.stdout)
        self.assertEqual([each["shape"] for each in facts["inputs"]], [[3, 2]])
        x = self.write("x32.npy", npy((3, 2), (1, 1, 1, 1, 1, 1)))
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--json", "--no-cache", "--backend", backend, *bound, "--input", x)
            self.assertEqual(done.returncode, DONE, done.stderr)
            output = json.loads(done.stdout)["outputs"][0]
            self.assertEqual((output["shape"], output["min"], output["max"]), ([3, 2], 1, 3))
        out = self.path("out.mlir")
        done = self.sinter("optimize", model, "-o", out, *bound)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            text = file.read()
        self.assertNotIn("?", text)
        self.assertNotIn("dynamic_broadcast_in_dim", text)
        self.expect_error(USAGE, "inspect", model, *bound, "--bind", f"x={self.write('x22.npy', npy((2, 2), (1, 1, 1, 1)))}",
                          mentions=["N", "3", "2"])
        self.expect_error(USAGE, "inspect", model, "--bind", f"w={x}", mentions=["tensor<?xf32>", "tensor<3x2xf32>"])

    def test_folder_of_torch(self):
        for folder in "net", "net/functions", "net/data":
            os.mkdir(self.path(folder))
        self.write("net/data/arg0", npy((2,), (2, 3)))
        self.write("net/data/arg2", npy((2,), (10, 20)))
        self.assertEqual(self.result("--bind", self.path("net"), "--input", self.x), (12, 23))

    # A batch norm as JAX writes it: every statistic on its way through 1x1x1xC, scale and deviation multiplied there.
    NORM = """
func.func public @main(%k: tensor<1x1x2x3xf32> {jax.arg_info = "params['kernel']"}, %mean: tensor<3xf32> {jax.arg_info = "stats['mean']"},
    %var: tensor<3xf32> {jax.arg_info = "stats['var']"}, %scale: tensor<3xf32> {jax.arg_info = "params['scale']"},
    %bias: tensor<3xf32> {jax.arg_info = "params['bias']"}, %x: tensor<1x4x4x2xf32> {jax.arg_info = "x"}) -> tensor<1x4x4x3xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  %1 = stablehlo.broadcast_in_dim %mean, dims = [3] : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %2 = stablehlo.broadcast_in_dim %var, dims = [3] : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x3xf32>) -> tensor<1x4x4x3xf32>
  %4 = stablehlo.subtract %0, %3 : tensor<1x4x4x3xf32>
  %e = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
  %5 = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> tensor<1x1x1x3xf32>
  %6 = stablehlo.add %2, %5 : tensor<1x1x1x3xf32>
  %7 = stablehlo.rsqrt %6 : tensor<1x1x1x3xf32>
  %8 = stablehlo.reshape %scale : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %9 = stablehlo.multiply %7, %8 : tensor<1x1x1x3xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x1x3xf32>) -> tensor<1x4x4x3xf32>
  %11 = stablehlo.multiply %4, %10 : tensor<1x4x4x3xf32>
  %12 = stablehlo.reshape %bias : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<1x1x1x3xf32>) -> tensor<1x4x4x3xf32>
  %14 = stablehlo.add %11, %13 : tensor<1x4x4x3xf32>
  %15 = call @relu(%14) : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %15 : tensor<1x4x4x3xf32>
}
func.func private @relu(%a: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<1x4x4x3xf32>
  %0 = stablehlo.maximum %a, %z : tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}
"""

    def test_batch_norm_of_jax(self):
        """Bound, it folds into the weights; with one statistic left open, it stays."""
        model = self.write("norm.mlir", self.NORM)
        weights = {"params['kernel']": npy((1, 1, 2, 3), (1, -2, 3, 0.5, 0.25, -1)), "stats['mean']": npy((3,), (0.5, 1, -1)),
                   "stats['var']": npy((3,), (1, 4, 0.25)), "params['scale']": npy((3,), (2, 1, 0.5)),
                   "params['bias']": npy((3,), (0, 1, 2))}
        options = {name: ["--bind", f"{name}={self.write(name + '.npy', array)}"] for name, array in weights.items()}

        def simplified(names):
            done = self.sinter("optimize", model, "--json", "--verify-numerics=each",
                               *(option for name in names for option in options[name]))
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout)["after"]

        self.assertEqual(simplified(options), {"stablehlo.convolution": 1, "stablehlo.broadcast_in_dim": 1,
                                               "stablehlo.add": 1, "stablehlo.maximum": 1})
        for missing in "stats['mean']", "stats['var']", "params['scale']", "params['kernel']":
            after = simplified([name for name in options if name != missing])
            if missing in ("stats['var']", "params['kernel']", "params['scale']"):
                self.assertIn("stablehlo.multiply", after, missing)
            else:
                self.assertEqual(after["stablehlo.subtract"] if "stablehlo.subtract" in after else after["stablehlo.add"], 1)

    def test_errors(self):
        def refused(*bound, mentions):
            options = [option for each in bound for option in ("--bind", each)]
            self.expect_error(USAGE, "optimize", self.model, "--stats", *options, mentions=mentions)

        refused(f"none={self.w}", mentions=["none", "arg1"])
        refused(f"7={self.w}", mentions=["7"])
        refused(f"0={self.w}", f"arg0={self.w}", mentions=["twice"])
        refused(f"0={self.write('long.npy', npy((3,), (1, 2, 3)))}", mentions=["tensor<3xf32>", "tensor<2xf32>"])
        refused("w", mentions=["name"])


class Tuples(CommandTest):
    """Tuples and tokens at the border of a program: who runs it sees their tensors."""

    def setUp(self):
        super().setUp()
        pair = "tuple<tensor<2xf32>, tuple<tensor<2xf32>>>"
        self.model = self.write("pair.mlir", f"""
func.func @main(%t: {pair}, %k: !stablehlo.token) -> (tuple<tensor<2xf32>, {pair}>, !stablehlo.token) {{
  %x = stablehlo.get_tuple_element %t[0] : ({pair}) -> tensor<2xf32>
  %u = stablehlo.get_tuple_element %t[1] : ({pair}) -> tuple<tensor<2xf32>>
  %y = stablehlo.get_tuple_element %u[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  %s = stablehlo.subtract %x, %y : tensor<2xf32>
  %r = stablehlo.tuple %s, %t : tuple<tensor<2xf32>, {pair}>
  return %r, %k : tuple<tensor<2xf32>, {pair}>, !stablehlo.token
}}
""")
        self.x, self.y = self.write("x.npy", npy((2,), (5, 7))), self.write("y.npy", npy((2,), (1, 2)))

    def test_run(self):
        expected = [("result0[0]", 4, 5), ("result0[1][0]", 5, 7), ("result0[1][1][0]", 1, 2)]
        for backend in "cpu", "interpreter":
            for given in (["--input", f"arg0[0]={self.x}"], ["--bind", f"arg0[0]={self.x}"]):
                done = self.sinter("run", self.model, "--json", "--no-cache", "--backend", backend, *given,
                                   "--input", f"arg0[1][0]={self.y}")
                self.assertEqual(done.returncode, DONE, done.stderr)
                outputs = json.loads(done.stdout)["outputs"]
                self.assertEqual([(each["name"], each["min"], each["max"]) for each in outputs], expected)

    def test_inspect_and_convert(self):
        facts = json.loads(self.sinter("inspect", self.model, "--json", "--no-plan").stdout)
        self.assertEqual([each["name"] for each in facts["inputs"]], ["arg0[0]", "arg0[1][0]"])
        out = self.path("again.mlir")
        self.assertEqual(self.sinter("convert", self.model, "-o", out).returncode, DONE)
        with open(out) as file:
            self.assertIn("%arg0: tuple<tensor<2xf32>, tuple<tensor<2xf32>>>, %arg1: !stablehlo.token", file.read())


class State(CommandTest):
    """A model with a tensor that outlives a run."""

    def setUp(self):
        super().setUp()
        self.model = self.write("count.mlir", """
func.func @main(%x: tensor<2xf32> {sinter.name = "x"},
    %n: tensor<f32> {sinter.state = "count", sinter.initial = dense<5.0> : tensor<f32>})
    -> (tensor<2xf32> {sinter.name = "y"}, tensor<f32> {sinter.state = "count"}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %m = stablehlo.add %n, %one : tensor<f32>
  %b = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %s = stablehlo.multiply %x, %z : tensor<2xf32>
  %y = stablehlo.add %s, %b : tensor<2xf32>
  return %y, %m : tensor<2xf32>, tensor<f32>
}
""")

    def test_outlives_a_run(self):
        for backend in ["cpu", "interpreter"]:
            done = self.sinter("run", self.model, "--input", "random", "--backend", backend, "--no-cache", "--json", "--repeat", "3")
            self.assertEqual(done.returncode, DONE, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual([output["max"] for output in answer["outputs"]], [8])
            self.assertEqual([(state["name"], state["max"]) for state in answer["state"]], [("count", 8)])

    def test_cached_program(self):
        for _ in range(2):
            done = self.sinter("run", self.model, "--input", "random", "--cache-dir", self.path("cache"), "--json")
            self.assertEqual(json.loads(done.stdout)["state"][0]["max"], 6, done.stderr)

    def test_inspect(self):
        done = self.sinter("inspect", self.model, "--json")
        self.assertEqual(json.loads(done.stdout)["state"], [{"name": "count", "type": "f32"}], done.stderr)

    def test_freeze(self):
        frozen = self.path("frozen.mlir")
        self.assertEqual(self.sinter("optimize", self.model, "-o", frozen, "--freeze").returncode, DONE)
        done = self.sinter("run", frozen, "--input", "random", "--no-cache", "--json", "--repeat", "3")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 6, done.stderr)
        self.assertEqual(json.loads(done.stdout)["state"], [])

    def test_refusals(self):
        self.expect_error(UNSUPPORTED, "convert", self.model, "-o", self.path("count.onnx"), mentions=["count", "freeze"])
        with open(self.model) as file:
            text = file.read()
        broken = self.write("broken.mlir", text.replace(', sinter.initial = dense<5.0> : tensor<f32>', ""))
        self.expect_error(INVALID, "run", broken, "--input", "random", mentions=["broken.mlir", "count", "no initial value"])


class Optimize(CommandTest):
    TEXT = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %y = stablehlo.multiply %x, %one : tensor<2x3xf32>
  %z = stablehlo.maximum %y, %one : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
"""

    def test_text(self):
        model, out = self.write("in.mlir", self.TEXT), self.path("out.mlir")
        done = self.sinter("optimize", model, "-o", out, "--stats", "--verify-numerics")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            simple = file.read()
        self.assertNotIn("multiply", simple)
        self.assertIn("maximum", simple)
        done = self.sinter("optimize", model, "-o", out, "--disable-patterns", "all")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            self.assertIn("multiply", file.read())

    def test_operations_of_other_dialects(self):
        """Sizes that `arith` and its like compute are read; what has no counterpart is named, with a way out."""
        text = """
func.func @main(%x: tensor<?x4xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = {op} %n, %c4 : index
  %s = tensor.from_elements %m : tensor<1xindex>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""
        model = self.write("in.mlir", text.format(op="arith.muli"))
        done = self.sinter("run", model, "--shape", "arg0:3x4", "--input", "random:1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("result0: f32 [12]", done.stdout)
        model = self.write("in.mlir", text.format(op="arith.ceildivui"))
        self.expect_error(UNSUPPORTED, "inspect", model, mentions=["in.mlir:6", "'arith.ceildivui'", "static shapes"])

    def test_border_of_tuples(self):
        """Tuples, tokens and results to come are numbers at last, and verified as those."""
        model = self.write("in.mlir", """
func.func @main(%t: tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>>, %k: !stablehlo.token)
    -> (tuple<tensor<4xf32>, !stablehlo.token>, !stablehlo.future<tensor<2xf32>>) {
  %x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>>) -> tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %y = stablehlo.multiply %x, %one : tensor<4xf32>
  %r = stablehlo.tuple %y, %k : tuple<tensor<4xf32>, !stablehlo.token>
  %f = "stablehlo.async_start"(%y) ({
  ^bb0(%a: tensor<4xf32>):
    %s = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %r, %f : tuple<tensor<4xf32>, !stablehlo.token>, !stablehlo.future<tensor<2xf32>>
}
""")
        done = self.sinter("optimize", model, "--json", "--verify-numerics=each")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("stablehlo.multiply", json.loads(done.stdout)["after"])
        model = self.write("future.mlir", """
func.func @main(%f: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
""")
        for command in ("optimize", model, "--json", "--verify-numerics"), ("run", model), ("run", model, "--backend", "interpreter"):
            self.expect_error(UNSUPPORTED, *command, mentions=["future"])

    def test_future_that_is_given(self):
        """Whoever runs a program gets what it has begun when that is done."""
        model = self.write("future.mlir", """
func.func @main(%y: tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>> {
  %f = "stablehlo.async_start"(%y) ({
  ^bb0(%a: tensor<4xf32>):
    %s = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %f : !stablehlo.future<tensor<2xf32>>
}
""")
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--backend", backend, "--input", "random:1")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("result0[0]: f32 [2]", done.stdout)

    def test_json(self):
        done = self.sinter("optimize", self.write("in.mlir", self.TEXT), "--json")
        report = json.loads(done.stdout)
        self.assertEqual(report["before"]["stablehlo.multiply"], 1)
        self.assertNotIn("stablehlo.multiply", report["after"])
        self.assertEqual(sum(report["patterns"].values()), 1)

    def test_labels(self):
        labels = [line.split()[0] for line in self.sinter("optimize", "--list-patterns").stdout.splitlines()]
        self.assertGreater(len(labels), 10)
        self.assertEqual(len(labels), len(set(labels)))
        model = self.write("in.mlir", self.TEXT)
        self.expect_error(USAGE, "optimize", model, "--stats", "--disable-patterns", "no-such-label", mentions=["no-such-label"])
        self.expect_error(USAGE, "optimize", model, "--stats", "--print-ir-after", "no-such-pass", mentions=["no-such-pass"])

    def test_allow(self):
        zero = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y = stablehlo.add %x, %zero : tensor<2xf32>
  return %y : tensor<2xf32>
}
"""
        model = self.write("in.mlir", zero)
        for allowed, count in ((), 0), (("--allow=nosignedzero",), 1), (("--allow=reassociate,nonan",), 0), (("--allow=all",), 1):
            report = json.loads(self.sinter("optimize", model, "--json", "--verify-numerics=each", *allowed).stdout)
            self.assertEqual(report["patterns"].get("add-zero-relaxed", 0), count, allowed)
        self.expect_error(USAGE, "optimize", model, "--stats", "--allow", "anything", mentions=["anything", "reassociate"])

    def test_quantized_node_is_left(self):
        """A QLinearMatMul is arithmetic with nothing to simplify: it is written as it was read."""
        uint8 = 2
        weights = [onnx.tensor("w", [3, 2], bytes(range(6)), uint8)]
        for i, name in enumerate("xwy", 1):
            weights += [onnx.tensor(name + "_scale", [], onnx.floats(0.3 * i)), onnx.tensor(name + "_zero", [], bytes([i]), uint8)]
        node = onnx.node("QLinearMatMul", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["y"], "product")
        graph = onnx.graph([node], [onnx.value_info("x", (2, 3), uint8)], [onnx.value_info("y", (2, 2), uint8)], weights)
        done = self.sinter("optimize", self.write("in.onnx", onnx.model(graph)), "-o", self.path("out.onnx"), "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("divide-one", json.loads(done.stdout)["patterns"])
        with open(self.path("out.onnx"), "rb") as file:
            self.assertIn(b"QLinearMatMul", file.read())

    def test_quantized_nodes_stay_whole(self):
        """No pass takes a quantised node apart in a file that is written again, however much it shares with others or with itself."""
        uint8 = 2

        def scale(name, value):
            return onnx.tensor(name, [], onnx.floats(value))

        def convolution(output, weight, scales=("s", "s", "t")):
            inputs = ["x", scales[0], "z", weight, scales[1], "z", scales[2], "z"]
            return onnx.node("QLinearConv", inputs, [output], output)

        x = onnx.value_info("x", (1, 2, 4, 4), uint8)
        weights = [onnx.tensor(name, [3, 2, 3, 3], bytes(range(i, i + 54)), uint8) for i, name in enumerate("wv")]
        zero, scales = onnx.tensor("z", [], b"\x07", uint8), [scale("s", 0.1), scale("t", 2.0), scale("one", 1.0)]
        cases = {
            "one zero point": [convolution("y", "w")],
            "scales of one": [convolution("y", "w", ("one", "one", "t"))],
            "two of one input": [convolution("y", "w"), convolution("other", "v")],
        }
        for what, nodes in cases.items():
            outputs = [onnx.value_info(name, (1, 3, 2, 2), uint8) for name in ("y", "other")[: len(nodes)]]
            model = onnx.model(onnx.graph(nodes, [x], outputs, [*weights, zero, *scales]))
            self.assertEqual(self.node_types(model), ["QLinearConv"] * len(nodes), what)
        # Two that are the same are one.
        outputs = [onnx.value_info(name, (1, 3, 2, 2), uint8) for name in ("y", "other")]
        same = onnx.model(onnx.graph([convolution("y", "w"), convolution("other", "w")], [x], outputs, [*weights, zero, *scales]))
        self.assertEqual(self.node_types(same), ["QLinearConv", "Identity"])
        turned = [
            onnx.node("Transpose", ["x"], ["a"], "first"),
            onnx.node("DequantizeLinear", ["a", "one", "z"], ["b"], "scaled"),
            onnx.node("Transpose", ["b"], ["y"], "second"),
        ]
        model = onnx.model(onnx.graph(turned, [x], [onnx.value_info("y", (1, 2, 4, 4))], [zero, *scales]))
        self.assertEqual(self.node_types(model), ["Transpose", "DequantizeLinear", "Transpose"])

    def node_types(self, model):
        """The operators of the nodes that `optimize` makes of MODEL, in order."""
        done = self.sinter("optimize", self.write("in.onnx", model), "-o", self.path("out.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(self.path("out.onnx"), "rb") as file:
            return onnx.node_types(file.read())

    def test_applied(self):
        """--list-patterns with a model says how often each applied."""
        model = self.write("in.mlir", self.TEXT)
        done = self.sinter("optimize", model, "--list-patterns")
        rows = {row.split()[1]: int(row.split()[0]) for row in done.stdout.splitlines()}
        self.assertEqual(rows["multiply-one"], 1)
        self.assertEqual(rows["add-zero"], 0)
        listed = json.loads(self.sinter("optimize", model, "--list-patterns", "--json").stdout)
        entry = next(each for each in listed if each["label"] == "multiply-one")
        self.assertEqual(entry["applied"], 1)
        self.assertEqual(entry["pass"], "simplify-algebra")

    def test_formats(self):
        self.expect_error(USAGE, "optimize", self.good_model(), "-o", self.path("out.mlir"), mentions=["sinter convert"])

    def test_onnx(self):
        weight = onnx.tensor("w", [2, 3], onnx.floats(*[0] * 6))
        nodes = [onnx.node("Add", ["x", "w"], ["sum"], "nothing"), onnx.node("Relu", ["sum"], ["y"], "relu")]
        model, out = self.write("in.onnx", onnx.simple(nodes, initializers=[weight])), self.path("out.onnx")
        done = self.sinter("optimize", model, "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        runs = [self.sinter("run", path, "--input", "random", "--backend", "interpreter", "--json") for path in [model, out]]
        self.assertEqual(*[json.loads(run.stdout)["outputs"] for run in runs])

    def test_output_that_cannot_be_written(self):
        model = self.write("in.mlir", self.TEXT)
        self.expect_error(SYSTEM, "optimize", model, "-o", self.path("none/out.mlir"), mentions=["none/out.mlir"])


class Functions(CommandTest):
    """A file of functions, none of which is @main."""

    LIBRARY = """
        func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
          %r = call @sum(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          return %r : tensor<2xf32>
        }
        func.func @same(%x: tensor<2xf32>) -> tensor<2xf32> {
          %n = stablehlo.negate %x : tensor<2xf32>
          %r = stablehlo.negate %n : tensor<2xf32>
          return %r : tensor<2xf32>
        }
        func.func private @sum(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
          %r = stablehlo.add %x, %y : tensor<2xf32>
          return %r : tensor<2xf32>
        }"""

    def setUp(self):
        super().setUp()
        self.library = self.write("library.mlir", self.LIBRARY)

    def test_optimize_all(self):
        output = self.path("out.mlir")
        done = self.sinter("optimize", self.library, "-o", output, "--verify-numerics")
        self.assertNotEqual(done.returncode, DONE, "nothing to run was verified")
        self.assertEqual(self.sinter("optimize", self.library, "-o", output).returncode, DONE)
        with open(output) as file:
            text = file.read()
        self.assertIn("@twice", text)
        self.assertIn("@same", text)
        self.assertNotIn("call", text)
        self.assertNotIn("negate", text)

    def test_one_of_several(self):
        for backend in "cpu", "interpreter":
            done = self.sinter("run", self.library, "--function", "twice", "--input", "random:1", "--json",
                               "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
        output = self.path("one.mlir")
        self.assertEqual(self.sinter("optimize", self.library, "--function", "same", "-o", output).returncode, DONE)
        with open(output) as file:
            self.assertNotIn("@twice", file.read())
        # The only public function needs no name.
        done = self.sinter("run", output, "--input", "random:1", "--backend", "interpreter")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_errors(self):
        self.expect_error(INVALID, "run", self.library, "--input", "random", mentions=["@twice", "@same", "--function"])
        empty = self.write("empty.mlir", "func.func private @other() { return }")
        self.expect_error(INVALID, "run", empty, mentions=["no function"])
        self.expect_error(USAGE, "run", self.library, "--function", "thrice", "--input", "random",
                          mentions=["@thrice", "@twice"])
        self.expect_error(USAGE, "run", self.good_model(), "--function", "main", "--input", "random",
                          mentions=["--function"])


class Reduce(CommandTest):
    TEXT = """func.func @main(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %a = stablehlo.tanh %x : tensor<4x6xf32>
  %b = stablehlo.add %a, %x : tensor<4x6xf32>
  %c = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %c : tensor<6x4xf32>
}
"""

    def test_what_makes_a_command_fail_is_left(self):
        model, out = self.write("in.mlir", self.TEXT), self.path("out.mlir")
        done = self.sinter("reduce", model, "-o", out, "--command", "! grep -q stablehlo.tanh {}", "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(json.loads(done.stdout)["after"], 1)
        with open(out) as file:
            text = file.read()
        self.assertIn("stablehlo.tanh", text)
        self.assertIn("tensor<1x1xf32>", text)

    def test_a_program_that_does_not_fail(self):
        model = self.write("in.mlir", self.TEXT)
        self.expect_error(USAGE, "reduce", model, "-o", self.path("out.mlir"), mentions=["the backends agree"])
        self.expect_error(USAGE, "reduce", model, "-o", self.path("out.mlir"), "--command", "true", mentions=["exit code 0"])


if __name__ == "__main__":
    SINTER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
