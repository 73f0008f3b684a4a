#!/usr/bin/env python3
"""One program for all sizes (--open): compiled once, run for each, with a reason where a model is not compiled so."""
import json
import struct

from SinterCommand import CommandTest, DONE, main, npy

ROWS = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x3xf32> {
  %y = stablehlo.exponential %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
SORTED = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x3xf32> {
  %y = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
PLACES = """
func.func @main(%x: tensor<2x3xf32> {sinter.name = "x"}) -> (tensor<2x?xi64> {sinter.name = "places"}) {
  %y = nn.non_zero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
  return %y : tensor<2x?xi64>
}
"""
# Whose shape an input says; a sort of as many elements has no kernel.
SIZED = """
func.func @main(%n: tensor<1xi64> {sinter.name = "n"}) -> tensor<?xf32> {
  %x = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  %y = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
"""


class OpenProgram(CommandTest):
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
            done = self.run_with(model, rows, "--open", "--cache-dir", cache)
            self.assertNotIn("note", done.stderr)
            self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)
            closed = self.run_with(model, rows, "--no-cache")
            self.assertEqual(self.outputs(done)[0]["shape"], [rows, 3])
            self.assertEqual(self.outputs(done), self.outputs(closed))

    def test_what_keeps_no_size_open_says_so(self):
        model = self.write("sorted.mlir", SORTED)
        cache = self.path("cache")
        done = self.run_with(model, 2, "--open", "--cache-dir", cache)
        self.assertIn("note: the program is for these sizes only: stablehlo.sort: keeps no open size", done.stderr)
        # The program of these sizes is kept, and opening not tried again.
        done = self.run_with(model, 2, "--open", "--cache-dir", cache)
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
        self.assertIn("note: the program is for these values only: stablehlo.sort: keeps no open size", done.stderr)
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [3])

    def test_symbols_that_stay_open(self):
        model = self.write("rows.mlir", ROWS)
        cache = self.path("cache")
        for number, rows in enumerate((2, 5)):
            done = self.run_with(model, rows, "--open=N", "--cache-dir", cache)
            self.assertEqual(json.loads(done.stdout)["from_cache"], number > 0)
            done = self.run_with(model, rows, "--open=M", "--cache-dir", cache)
            self.assertFalse(json.loads(done.stdout)["from_cache"])

    def test_a_sweep_compiles_once(self):
        model = self.write("rows.mlir", ROWS)
        done = self.sinter("bench", model, "--open", "--no-cache", "--sweep", "N=3,1,64", "--json", "--seconds", "0.1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([row["size"] for row in rows], [3, 1, 64])
        self.assertEqual([row["compile_ms"] == 0 for row in rows], [False, True, True])


if __name__ == "__main__":
    main()
