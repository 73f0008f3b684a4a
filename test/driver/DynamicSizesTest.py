#!/usr/bin/env python3
# Covers: engine/compiler BranchSearch ModelSource
# Covers: formats/import BranchChoice
"""Models with unknown dimensions: what each command makes of a node that has no form before they are known."""
import json
import struct

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, npy, USAGE, UNSUPPORTED, main


def integers(name, *values):
    return onnx.tensor(name, (len(values),), struct.pack(f"<{len(values)}q", *values), onnx.INT64)


class DynamicSizes(CommandTest):
    def setUp(self):
        super().setUp()
        nodes = [onnx.node("Relu", ["x"], ["r"], "relu"), onnx.node("Resize", ["r", "", "", "sizes"], ["y"], "grow")]
        graph = onnx.graph(nodes, [onnx.value_info("x", ("N", 1, "H", "W"))], [onnx.value_info("y", ("N", 1, 4, 6))],
                           [integers("sizes", 1, 1, 4, 6)])
        self.model = self.write("resize.onnx", onnx.model(graph))
        self.x = self.write("x.npy", npy((1, 1, 2, 3), (1, 2, 3, 4, 5, 6)))

    def test_run_takes_the_sizes_of_the_input(self):
        for backend in "cpu", "interpreter":
            done = self.sinter("run", self.model, "--input", self.x, "--json", "--no-cache", "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            output = json.loads(done.stdout)["outputs"][0]
            self.assertEqual((output["shape"], output["min"], output["max"]), ([1, 1, 4, 6], 1, 6))

    def test_a_static_operand_resized_to_the_sizes_of_another(self):
        """What pyramids of pooled features do: the mean of the image, spread over it again."""
        nodes = [onnx.node("GlobalAveragePool", ["x"], ["mean"]), onnx.node("Shape", ["x"], ["sizes"]),
                 onnx.node("Resize", ["mean", "", "", "sizes"], ["y"], "grow", attributes=onnx.data(5, onnx.data(1, b"mode") + onnx.data(4, b"linear") + onnx.number(20, 3)))]
        graph = onnx.graph(nodes, [onnx.value_info("x", (1, 1, "H", "W"))], [onnx.value_info("y", (1, 1, "H", "W"))])
        model = self.write("pyramid.onnx", onnx.model(graph))
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--input", self.x, "--json", "--no-cache", "--dynamic", "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            output = json.loads(done.stdout)["outputs"][0]
            self.assertEqual(output["shape"], [1, 1, 2, 3])
            for bound in "min", "max":
                self.assertAlmostEqual(output[bound], 3.5, places=5)

    def test_branches_of_other_sizes(self):
        """The condition says which branch, and so how large its result is: one program is for either."""
        def branch(name, count):
            part = onnx.graph([onnx.node("Slice", ["x", "zero", name + "_end"], [name])], [], [onnx.value_info(name, ("M",))],
                              [integers("zero", 0), integers(name + "_end", count)])
            return onnx.data(5, onnx.data(1, name.encode() + b"_branch") + onnx.data(6, part) + onnx.number(20, 5))
        nodes = [onnx.node("If", ["p"], ["y"], "pick", attributes=branch("then", 2) + branch("else", 4))]
        graph = onnx.graph(nodes, [onnx.value_info("x", (6,)), onnx.value_info("p", (), onnx.BOOL)], [onnx.value_info("y", ("M",))])
        model = self.write("pick.onnx", onnx.model(graph))
        x = self.write("x.npy", npy((6,), (1, 2, 3, 4, 5, 6)))
        for value, size in (1, 2), (0, 4):
            p = self.write(f"p{value}.npy", onnx.npy((), "|b1", bytes([value])))
            for backend in "cpu", "interpreter":
                done = self.sinter("run", model, "--input", "x=" + x, "--input", "p=" + p, "--json", "--backend", backend)
                self.assertEqual(done.returncode, DONE, done.stderr)
                output = json.loads(done.stdout)["outputs"][0]
                self.assertEqual((output["shape"], output["max"]), ([size], size))
        done = self.sinter("inspect", model, "-v")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("stablehlo.if", done.stdout)
        out = self.path("picked.onnx")
        done = self.sinter("optimize", model, "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("1 x If", done.stderr)
        done = self.sinter("run", out, "--input", "x=" + x, "--input", "p=" + p)
        self.assertIn("y: f32 [4]", done.stdout)
        # StableHLO has no node that waits: sizes are unknown there.
        text = self.path("picked.mlir")
        done = self.sinter("convert", model, "-o", text)
        self.assertEqual(done.returncode, DONE, done.stderr)
        cache = self.path("cache")
        for number, (value, size) in enumerate(((1, 2), (0, 4))):
            for path in model, text:
                done = self.sinter("run", path, "--input", "x=" + x, "--input", f"p={self.path(f'p{value}.npy')}", "--json", "--cache-dir", cache)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertNotIn("note", done.stderr)
                self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [size])
                self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)

    def test_scans_of_any_length(self):
        """Sums so far, from either end, along either axis: one program, and text with a loop."""
        def scan(name, inputs, outputs, **lists):
            parts = [onnx.value_info("s", ("K",)), onnx.value_info("e", ("K",))]
            body = onnx.graph([onnx.node("Add", ["s", "e"], ["t"]), onnx.node("Identity", ["t"], ["g"])], parts,
                              [onnx.value_info("t", ("K",)), onnx.value_info("g", ("K",))])
            attributes = onnx.data(5, onnx.data(1, b"body") + onnx.data(6, body) + onnx.number(20, 5)) + onnx.data(
                5, onnx.data(1, b"num_scan_inputs") + onnx.number(3, 1) + onnx.number(20, 2))
            for key, value in lists.items():
                attributes += onnx.data(5, onnx.data(1, key.encode()) + onnx.number(8, value) + onnx.number(20, 7))
            return onnx.node("Scan", inputs, outputs, name, attributes=attributes)

        nodes = [scan("down", ["s", "x"], ["last", "sums"]),
                 scan("up", ["s", "x"], ["", "back"], scan_input_directions=1, scan_output_directions=1, scan_output_axes=1)]
        graph = onnx.graph(nodes, [onnx.value_info("s", ("N",)), onnx.value_info("x", ("T", "N"))],
                           [onnx.value_info("last", ("N",)), onnx.value_info("sums", ("T", "N")), onnx.value_info("back", ("N", "T"))])
        model, text, cache = self.write("scan.onnx", onnx.model(graph)), self.path("scan.mlir"), self.path("cache")
        self.assertEqual(self.sinter("convert", model, "-o", text).returncode, DONE)
        for number, (length, count) in enumerate(((3, 2), (1, 4), (5, 1), (40, 3))):
            start = [float(10 * k) for k in range(count)]
            rows = [[float(i + k) for k in range(count)] for i in range(length)]
            down = [[start[k] + sum(row[k] for row in rows[:i + 1]) for k in range(count)] for i in range(length)]
            back = [[start[k] + sum(row[k] for row in rows[i:]) for i in range(length)] for k in range(count)]
            wanted = {"last": down[-1] if down else start, "sums": sum(down, []), "back": sum(back, [])}
            s = self.write("s.npy", npy((count,), start))
            x = self.write("x.npy", npy((length, count), sum(rows, [])))
            for path, backend in (model, "cpu"), (text, "cpu"), (text, "interpreter"):
                folder = self.path("out")
                done = self.sinter("run", path, "--input", "s=" + s, "--input", "x=" + x, "--backend", backend, "--cache-dir", cache,
                                   "--json", "--output-dir", folder)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertNotIn("note", done.stderr)
                if backend == "cpu":
                    self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)
                for name, values in wanted.items():
                    with open(f"{folder}/{name}.npy", "rb") as file:
                        data = file.read()
                    numbers = struct.unpack(f"<{len(values)}f", data[len(data) - 4 * len(values):])
                    self.assertEqual(list(numbers), values, (path, backend, name, length, count))

    def test_branch_that_is_not_valid(self):
        """A branch for other sizes than the inputs have is an error where it is taken, and none where it is not."""
        def branch(name, operator, axes):
            part = onnx.graph([onnx.node(operator, ["x", name + "_axes"], [name])], [], [onnx.value_info(name, ("N", "M"))], [integers(name + "_axes", axes)])
            return onnx.data(5, onnx.data(1, name.encode() + b"_branch") + onnx.data(6, part) + onnx.number(20, 5))
        nodes = [onnx.node("If", ["p"], ["y"], "pick", attributes=branch("then", "Unsqueeze", 0) + branch("else", "Squeeze", 2))]
        graph = onnx.graph(nodes, [onnx.value_info("x", (6,)), onnx.value_info("p", (), onnx.BOOL)], [onnx.value_info("y", ("N", "M"))])
        model = self.write("pick.onnx", onnx.model(graph))
        x = self.write("x.npy", npy((6,), (1, 2, 3, 4, 5, 6)))
        wrong, right = (self.write(f"p{value}.npy", onnx.npy((), "|b1", bytes([value]))) for value in (0, 1))
        for backend in "cpu", "interpreter":
            done = self.sinter("run", model, "--input", "x=" + x, "--input", "p=" + right, "--backend", backend)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("y: f32 [1, 6]", done.stdout)
        done = self.sinter("run", model, "--input", "x=" + x, "--input", "p=" + wrong)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("pick/", done.stderr)
        done = self.sinter("inspect", model, "-v")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("nn.assume", done.stdout)
        # As a constant the condition is known while the file is read; there is one branch then.
        for name in "p=", "1=":
            done = self.sinter("inspect", model, "--bind", name + right)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        out = self.path("picked.onnx")
        done = self.sinter("optimize", model, "-o", out, "--bind", "p=" + right)
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.sinter("run", out, "--input", "x=" + x)
        self.assertIn("y: f32 [1, 6]", done.stdout)

    def squeezed(self, condition):
        """relu of x [N, 2, S] as exporters squeeze what may have one element: without the last dimension if that is 1."""
        def branch(name, node):
            part = onnx.graph([node], [], [onnx.value_info(name, ("N", 2))], [integers("last", 2)] if name == "then" else [])
            return onnx.data(5, onnx.data(1, name.encode() + b"_branch") + onnx.data(6, part) + onnx.number(20, 5))
        branches = branch("then", onnx.node("Squeeze", ["r", "last"], ["then"])) + branch("else", onnx.node("Identity", ["r"], ["else"]))
        nodes = [onnx.node("Relu", ["x"], ["r"]), *condition, onnx.node("If", ["c"], ["s"], "squeeze", attributes=branches),
                 onnx.node("Flatten", ["s"], ["y"])]
        values = [integers("two", 2), onnx.tensor("one", [], struct.pack("<q", 1), onnx.INT64)]
        inputs = [onnx.value_info("x", ("N", 2, "S")), onnx.value_info("k", (), onnx.INT64)]
        return onnx.model(onnx.graph(nodes, inputs, [onnx.value_info("y", ("N", "M"))], values))

    def run_squeezed(self, model, shape, k, *options):
        count = shape[0] * shape[1] * shape[2]
        x = self.write("x.npy", npy(shape, [i - 3.0 for i in range(count)]))
        number = self.write("k.npy", onnx.npy((), "<i8", struct.pack("<q", k)))
        folder = self.path("out")
        done = self.sinter("run", model, "--input", "x=" + x, "--input", "k=" + number, "--json", "--output-dir", folder, *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(folder + "/y.npy", "rb") as file:
            data = file.read()
        numbers = struct.unpack(f"<{count}f", data[len(data) - 4 * count:])
        self.assertEqual(list(numbers), [max(0.0, i - 3.0) for i in range(count)])
        told = json.loads(done.stdout)
        self.assertEqual(told["outputs"][0]["shape"], [shape[0], shape[1] * shape[2]])
        return told, done.stderr

    def test_branch_that_sizes_choose(self):
        """Branches of other ranks: one program is for all sizes that choose the same, another one for the rest."""
        model = self.write("squeeze.onnx", self.squeezed([
            onnx.node("Shape", ["r"], ["shape"]), onnx.node("Gather", ["shape", "two"], ["size"]),
            onnx.node("Equal", ["size", "one"], ["equal"]), onnx.node("Squeeze", ["equal"], ["c"])]))
        for first, other in (1, 4), (4, 1):
            cache = ["--cache-dir", self.path(f"cache{first}")]
            for number, (count, size) in enumerate(((2, first), (5, first), (1, first if first == 1 else 7))):
                told, notes = self.run_squeezed(model, (count, 2, size), 0, *cache)
                self.assertEqual((told["from_cache"], notes), (number > 0, ""))
            told, notes = self.run_squeezed(model, (3, 2, other), 0, *cache)
            self.assertFalse(told["from_cache"])
            self.assertIn("one more program for all sizes, since these take other branches", notes)
            for size in other, first:
                told, notes = self.run_squeezed(model, (6, 2, size if size == 1 else 9), 0, *cache)
                self.assertEqual((told["from_cache"], notes), (True, ""))
            # In one process, whatever comes first.
            done = self.sinter("bench", model, "--sweep", f"S={first},{other},8,1,11", "--no-cache", "--seconds", "0", "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stderr.count("one more program for all sizes"), 1)
            compiled = [each["compile_ms"] > 0 for each in json.loads(done.stdout)]
            self.assertEqual(compiled, [True, True, False, False, False])
        for options in ["--static", "--no-cache"], ["--backend", "interpreter"]:
            for size in 1, 3:
                self.assertEqual(self.run_squeezed(model, (2, 2, size), 0, *options)[1], "")
        # Nobody has said which: the first branch with which the rest can be read.
        done = self.sinter("inspect", model, "-v")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("1  nn.assume", done.stdout)
        self.assertIn("as long as 2 shape guards hold", done.stdout)
        # A file keeps both; StableHLO has no such node.
        out = self.path("squeezed.onnx")
        self.assertEqual(self.sinter("optimize", model, "-o", out).returncode, DONE)
        for size in 1, 3:
            self.run_squeezed(out, (2, 2, size), 0)
        self.expect_error(UNSUPPORTED, "convert", model, "-o", self.path("squeezed.mlir"), mentions=["1 x If", "another rank"])

    def test_branch_that_a_value_chooses(self):
        """The program finds out that it is for the other branch; one for the values takes its place."""
        model = self.write("choose.onnx", self.squeezed([onnx.node("Equal", ["k", "one"], ["c"])]))
        cache = ["--cache-dir", self.path("cache")]
        self.assertEqual(self.run_squeezed(model, (2, 2, 1), 1, *cache)[1], "")
        told, notes = self.run_squeezed(model, (7, 2, 1), 1, *cache)
        self.assertEqual((told["from_cache"], notes), (True, ""))
        # By the size it shows before the run, by the value alone in the run.
        self.assertIn("one more program for all sizes", self.run_squeezed(model, (2, 2, 5), 0, *cache)[1])
        self.assertIn("the program for all values is not for these", self.run_squeezed(model, (2, 2, 1), 0, *cache)[1])
        for options in ["--static", *cache], ["--backend", "interpreter"]:
            for size, k in (1, 1), (5, 0), (1, 0):
                self.run_squeezed(model, (3, 2, size), k, *options)

    def test_from_the_cache(self):
        cache = self.path("cache")
        for _ in range(2):
            done = self.sinter("run", self.model, "--input", self.x, "--cache-dir", cache)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_optimize_gives_the_node_back(self):
        out = self.path("out.onnx")
        done = self.sinter("optimize", self.model, "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out, "rb") as file:
            self.assertIn(b"Resize", file.read())
        done = self.sinter("run", out, "--input", self.x)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("y: f32 [1, 1, 4, 6]", done.stdout)

    def test_inspect(self):
        done = self.sinter("inspect", self.model, "--no-plan")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_some_sizes_stay_open(self):
        done = self.sinter("inspect", self.model, "--no-plan", "--shape", "x:?x1x2x?")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("[N, 1, 2, W]", done.stdout)

    def test_convert_computes_the_sizes(self):
        out = self.path("out.mlir")
        for shape in [], ["--shape", "x:1x1x2x3"]:
            done = self.sinter("convert", self.model, "-o", out, "--force", *shape)
            self.assertEqual(done.returncode, DONE, done.stderr)
            for backend in "cpu", "interpreter":
                done = self.sinter("run", out, "--input", self.x, "--json", "--no-cache", "--backend", backend)
                self.assertEqual(done.returncode, DONE, done.stderr)
                output = json.loads(done.stdout)["outputs"][0]
                self.assertEqual((output["shape"], output["min"], output["max"]), ([1, 1, 4, 6], 1, 6))

    def test_convert_says_what_must_be_known(self):
        node = onnx.node("Unsqueeze", ["x", "a"], ["y"], "more")
        graph = onnx.graph([node], [onnx.value_info("x", ("N", 3)), onnx.value_info("a", (1,), onnx.INT64)],
                           [onnx.value_info("y", ("N", 3, 1))])
        model = self.write("axes.onnx", onnx.model(graph))
        self.expect_error(UNSUPPORTED, "convert", model, "-o", self.path("out.mlir"),
                          mentions=["axes.onnx", "1 x Unsqueeze", "'axes'", "--shape"])


class Bounds(CommandTest):
    """Sizes and places beyond all bounds: refused in one line with the file's name, before anything is planned."""

    def refused(self, code, op, inputs, initializers, shape=(2, 3), attributes=b"", mentions=()):
        node = onnx.node(op, ["x", *inputs], ["y"], "node7", attributes=attributes)
        graph = onnx.graph([node], [onnx.value_info("x", shape)], [onnx.value_info("y", ("K",) * 2)], initializers)
        model = self.write("bad.onnx", onnx.model(graph))
        for command in (["inspect", model], ["run", model, "--input", "random:1", "--no-cache"]):
            self.expect_error(code, *command, mentions=["bad.onnx", "node7", *mentions])

    def test_indices(self):
        self.refused(INVALID, "Gather", ["i"], [integers("i", 1, 5)], mentions=["index 5", "[-2, 2)", "dimension 0"])
        self.refused(INVALID, "Gather", ["i"], [integers("i", -3)], mentions=["index -3"])

    def test_shapes(self):
        self.refused(INVALID, "Reshape", ["s"], [integers("s", 2**62, 8)])
        self.refused(INVALID, "Reshape", ["s"], [integers("s", -2, 3)])
        self.refused(INVALID, "Expand", ["s"], [integers("s", 2**62, 2, 3)])
        self.refused(INVALID, "Expand", ["s"], [integers("s", -(2**63), 2, 3)])
        self.refused(INVALID, "Tile", ["s"], [integers("s", 2**61, 2**61)])
        self.refused(INVALID, "Pad", ["s"], [integers("s", 2**62, 0, 2**62, 2**62)])
        self.refused(INVALID, "Unsqueeze", ["s"], [integers("s", 9)])
        self.refused(INVALID, "Squeeze", ["s"], [integers("s", 0)])
        self.refused(INVALID, "Split", ["s"], [integers("s", 5)])


if __name__ == "__main__":
    main()
