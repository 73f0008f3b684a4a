#!/usr/bin/env python3
"""One program for all sizes: compiled once, run for each, with a reason where a model is not compiled so."""
import json
import struct

import OnnxBytes as onnx
from SinterCommand import closed, CommandTest, DONE, main, npy, USAGE

ROWS = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x3xf32> {
  %y = stablehlo.exponential %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
CHOSEN = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x3xf32> {
""" + closed("?x3") + """  return %y : tensor<?x3xf32>
}
"""
PLACES = """
func.func @main(%x: tensor<2x3xf32> {sinter.name = "x"}) -> (tensor<2x?xi64> {sinter.name = "places"}) {
  %y = nn.non_zero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
  return %y : tensor<2x?xi64>
}
"""
# Whose shape an input says; a window of as many elements over dilated ones has no kernel.
SIZED = """
func.func @main(%n: tensor<1xi64> {sinter.name = "n"}) -> tensor<?xf32> {
  %x = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
""" + closed("?") + """  return %y : tensor<?xf32>
}
"""

KNOWN = ROWS.replace("?x3", "2x3").replace('"N"', '""')
COUNTED = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]},
                %s: tensor<f32> {sinter.state = "count", sinter.initial = dense<0.0> : tensor<f32>})
    -> (tensor<?x3xf32>, tensor<f32> {sinter.state = "count"}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.add %s, %one : tensor<f32>
  %y = stablehlo.exponential %x : tensor<?x3xf32>
  return %y, %n : tensor<?x3xf32>, tensor<f32>
}
"""
NOTE = "note: the program is for these sizes only: stablehlo.convolution has no kernel for dynamic shapes"


class DynamicProgram(CommandTest):
    def run_with(self, model, rows, *arguments):
        x = self.write(f"x{rows}.npy", npy((rows, 3), [i / 8 for i in range(3 * rows)]))
        done = self.sinter("run", model, "--input", x, "--json", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def outputs(self, done):
        return json.loads(done.stdout)["outputs"]

    def test_one_program_runs_every_size(self):
        model = self.write("rows.mlir", ROWS)
        cache = self.path("cache")
        for number, rows in enumerate((2, 5, 1, 0)):
            done = self.run_with(model, rows, "--dynamic", "--cache-dir", cache)
            self.assertNotIn("note", done.stderr)
            self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)
            closed = self.run_with(model, rows, "--no-cache")
            self.assertEqual(self.outputs(done)[0]["shape"], [rows, 3])
            self.assertEqual(self.outputs(done), self.outputs(closed))

    def test_what_keeps_no_size_open_says_so(self):
        model = self.write("closed.mlir", CHOSEN)
        cache = self.path("cache")
        done = self.run_with(model, 2, "--dynamic", "--cache-dir", cache)
        self.assertIn(NOTE, done.stderr)
        # The program of these sizes is kept, and opening not tried again.
        done = self.run_with(model, 2, "--dynamic", "--cache-dir", cache)
        self.assertTrue(json.loads(done.stdout)["from_cache"])

    def test_one_program_runs_all_values(self):
        model = self.write("places.mlir", PLACES)
        cache = self.path("cache")
        for number, zeros in enumerate((0, 2, 6)):
            x = self.write(f"x{zeros}.npy", npy((2, 3), [0.0] * zeros + [1.0] * (6 - zeros)))
            done = self.sinter("run", model, "--input", x, "--json", "--cache-dir", cache)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertNotIn("note", done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual(answer["backend"], "cpu")
            self.assertEqual(answer["from_cache"], number > 0)
            self.assertEqual(answer["outputs"][0]["shape"], [2, 6 - zeros])
        done = self.sinter("bench", model, "--json", "--seconds", "0.1", "--cache-dir", cache)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.sinter("inspect", model, "--steps").returncode, DONE)

    def test_a_program_for_each_value_says_why(self):
        model = self.write("sized.mlir", SIZED)
        n = self.write("n.npy", npy((1,), [0]).replace(b"<f4", b"<i8")[:-4] + struct.pack("<q", 3))
        done = self.sinter("run", model, "--input", n, "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("note: the program is for these values only: stablehlo.convolution has no kernel for dynamic shapes", done.stderr)
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [3])

    def test_kernels_as_large_as_values_say(self):
        """A part of the weights, and as many ones as a tensor has elements that are not zero."""
        integers = lambda name, *values: onnx.tensor(name, [len(values)], struct.pack(f"<{len(values)}q", *values), onnx.INT64)
        ones = onnx.data(5, onnx.data(1, "value") + onnx.data(5, onnx.tensor("", [1], onnx.floats(1))) + onnx.number(20, 4))
        part = [onnx.node("Slice", ["w", "zero", "k", "two"], ["part"])]
        count = [onnx.node("NonZero", ["w"], ["places"]), onnx.node("Shape", ["places"], ["shape"]), onnx.node("Gather", ["shape", "one"], ["n"]),
                 onnx.node("Concat", ["units", "n"], ["sizes"], attributes=onnx.data(5, onnx.data(1, "axis") + onnx.number(3, 0) + onnx.number(20, 2))),
                 onnx.node("ConstantOfShape", ["sizes"], ["part"], attributes=ones)]
        numbers = [integers("zero", 0), integers("one", 1), integers("two", 2), integers("units", 1, 1)]
        w = self.write("w.npy", npy((1, 1, 5), [1, 2, 0, 4, 0]))
        sparse = self.write("sparse.npy", npy((1, 1, 5), [0, 0, 0, 0, 7]))
        x = self.write("x.npy", npy((1, 1, 6), [1] * 6))
        for name, nodes, cases in (("part", part, (("2", w, 5, 3), ("4", w, 3, 7))), ("count", count, (("1", w, 4, 3), ("1", sparse, 6, 1)))):
            graph = onnx.graph(nodes + [onnx.node("Conv", ["x", "part"], ["y"], "slide")],
                               [onnx.value_info("x", (1, 1, 6)), onnx.value_info("w", (1, 1, 5)), onnx.value_info("k", (1,), onnx.INT64)],
                               [onnx.value_info("y", (1, 1, "L"))], numbers)
            model, cache = self.write(name + ".onnx", onnx.model(graph)), self.path("cache")
            for at, (k, weights, length, total) in enumerate(cases):
                for backend in "cpu", "interpreter":
                    done = self.sinter("run", model, "--input", "x=" + x, "--input", "w=" + weights, "--input", "k=" + k, "--json",
                                       "--cache-dir", cache, "--backend", backend)
                    self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                    answer = json.loads(done.stdout)
                    self.assertEqual(answer["backend"], backend)
                    self.assertEqual(answer["from_cache"], backend == "cpu" and at > 0)
                    (y,) = answer["outputs"]
                    self.assertEqual((y["shape"], y["min"], y["max"]), ([1, 1, length], total, total))

    def test_symbols_that_stay_open(self):
        model = self.write("rows.mlir", ROWS)
        cache = self.path("cache")
        for number, rows in enumerate((2, 5)):
            done = self.run_with(model, rows, "--dynamic=N", "--cache-dir", cache)
            self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)
            done = self.run_with(model, rows, "--static", "--cache-dir", cache)
            self.assertFalse(json.loads(done.stdout)["from_cache"])
        done = self.sinter("run", model, "--input", "random", "--dynamic=M")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("no dynamic dimension is called 'M'; there are 'N'", done.stderr)

    def test_sizes_are_open_unless_they_are_given(self):
        model = self.write("rows.mlir", ROWS)
        cache = ("--cache-dir", self.path("cache"))

        def is_compiled(rows, *arguments):
            done = self.run_with(model, rows, *arguments, *cache)
            self.assertEqual(done.stderr, "")
            return not json.loads(done.stdout)["from_cache"]

        self.assertEqual([is_compiled(rows) for rows in (2, 5, 0)], [True, False, False])
        self.assertEqual([is_compiled(rows, "--shape", "x:Nx3") for rows in (2, 6)], [True, False])
        # A size that is given is that of the program.
        self.assertEqual([is_compiled(rows, "--shape", f"x:{rows}x3") for rows in (2, 5, 2)], [True, True, False])
        self.assertEqual([is_compiled(rows, "--static") for rows in (2, 5, 2)], [True, True, False])
        # But where it is to stay open: the program of all sizes is there.
        self.assertEqual([is_compiled(rows, "--dynamic", "--shape", f"x:{rows}x3") for rows in (2, 5)], [False, False])

    def test_halves_of_an_unknown_number(self):
        """A number that is no multiple has no halves before opset 18."""
        split = onnx.node("Split", ["x"], ["a", "b"], "halves")
        graph = onnx.graph([split], [onnx.value_info("x", ("N", 3))], [onnx.value_info("a", ("A", 3)), onnx.value_info("b", ("B", 3))])
        model, cache = self.write("halves.onnx", onnx.model(graph)), self.path("cache")
        for number, rows in enumerate((4, 8, 2, 0)):
            done = self.run_with(model, rows, "--cache-dir", cache)
            self.assertEqual([each["shape"] for each in self.outputs(done)], [[(rows + 1) // 2, 3], [rows // 2, 3]])
            self.assertEqual(done.stderr, "")
            self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)

    def test_known_sizes_need_no_note(self):
        model = self.write("known.mlir", KNOWN)
        self.assertEqual(self.run_with(model, 2, "--no-cache").stderr, "")

    def test_the_reason_is_said_once_a_model(self):
        model = self.write("closed.mlir", CHOSEN)
        cache = self.path("cache")
        done = self.sinter("bench", model, "--cache-dir", cache, "--sweep", "N=3,1,64", "--seconds", "0.01")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stderr.count("note"), 1)
        self.assertIn(NOTE, done.stderr)
        # Each has a program, and needs no note any more; another size does.
        self.assertEqual(self.run_with(model, 64, "--cache-dir", cache).stderr, "")
        self.assertEqual(self.run_with(model, 7, "--cache-dir", cache).stderr, NOTE + "\n")
        self.assertEqual(self.run_with(model, 7, "--cache-dir", cache, "--static").stderr, "")

    def test_symbols_of_shapes_are_those_of_the_file(self):
        model = self.write("rows.mlir", ROWS)
        for shape, message in (("x:Mx3", "dimension 0 of input 'x' is not called 'M'; the input is f32 [N, 3]"),
                               ("x:NxN", "dimension 1 of input 'x' is not called 'N'"),
                               ("x:Nx3xN", "dimension 2 of input 'x' is not called 'N'"),
                               ("x:Nx-3", "or an input's name and its shape, as in x:1x3x224x224")):
            done = self.sinter("run", model, "--input", "random", "--shape", shape)
            self.assertEqual(done.returncode, USAGE, (shape, done.stderr))
            self.assertIn(message, done.stderr)

    def test_sizes_keep_to_their_bounds(self):
        for text, name in ((ROWS, "rows.mlir"), (CHOSEN, "closed.mlir")):
            model = self.write(name, text)
            for rows in (4, 0):
                self.run_with(model, rows, "--max", "N=4", "--no-cache")
            x = self.write("five.npy", npy((5, 3), [0] * 15))
            for more in ((), ("--static",), ("--dynamic",), ("--backend", "interpreter")):
                done = self.sinter("run", model, "--input", x, "--max", "N=4", "--no-cache", *more)
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn("dimension N is 5 in input 'x', and at most 4 by --max", done.stderr)
        for bound, message in (("M=4", "no dynamic dimension is called 'M'"), ("N", "expected a dimension's name"),
                               ("N=-1", "expected a dimension's name"), ("N=4,N=5", "'N' is given twice")):
            done = self.sinter("run", model, "--input", x, "--max", bound)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(message, done.stderr)

    def test_sizes_beyond_what_can_be_counted(self):
        model = self.write("rows.mlir", ROWS)
        for shape in ("x:9223372036854775807x3", "x:4611686018427387904x3", "x:18446744073709551616x3"):
            for more in ((), ("--dynamic",), ("--static",)):
                done = self.sinter("run", model, "--input", "random", "--shape", shape, "--no-cache", *more)
                self.assertEqual(done.returncode, USAGE, done.stderr)
        done = self.run_with(model, 2, "--max", f"N={2 ** 33}", "--no-cache")
        self.assertEqual(done.stderr, "")

    def test_states_of_a_shape_generic_program(self):
        model = self.write("counted.mlir", COUNTED)
        for how in ("--dynamic", "--static", "--open", "--closed"):
            done = self.run_with(model, 2, how, "--no-cache", "--repeat", "3")
            self.assertEqual(json.loads(done.stdout)["state"][0]["first"], [3])

    def test_a_sweep_compiles_once(self):
        model = self.write("rows.mlir", ROWS)
        done = self.sinter("bench", model, "--dynamic", "--no-cache", "--sweep", "N=3,1,64", "--json", "--seconds", "0.1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([row["size"] for row in rows], [3, 1, 64])
        self.assertEqual([row["compile_ms"] == 0 for row in rows], [False, True, True])


if __name__ == "__main__":
    main()
