#!/usr/bin/env python3
"""One program for all sizes (--open): compiled once, run for each, with a reason where a model is not compiled so."""
import json

from SinterCommand import CommandTest, DONE, main, npy

ROWS = """
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x3xf32> {
  %y = stablehlo.exponential %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
TURNED = ROWS.replace("stablehlo.exponential %x", "stablehlo.reverse %x, dims = [1]")


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
        model = self.write("turned.mlir", TURNED)
        cache = self.path("cache")
        done = self.run_with(model, 2, "--open", "--cache-dir", cache)
        self.assertIn("note: the program is for these sizes only: stablehlo.reverse keeps no open sizes", done.stderr)
        # The program of these sizes is kept, and opening not tried again.
        done = self.run_with(model, 2, "--open", "--cache-dir", cache)
        self.assertTrue(json.loads(done.stdout)["from_cache"])

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
