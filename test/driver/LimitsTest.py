#!/usr/bin/env python3
"""Small files that ask for much: numbers that need not be written out, loops that never end, many calls."""
import os
import time

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, UNSUPPORTED, main

HOSTILE = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared"),
                       "data", "defects", "found-2026-11-29", "hostile")


class Limits(CommandTest):
    def loop(self, passes_on):
        """A loop without a number of rounds, whose condition is its first one; or is computed, and never false."""
        body = [onnx.node("Add", ["acc", "acc"], ["acc2"]), onnx.node("Identity", ["ci"], ["co"]) if passes_on else onnx.node("Or", ["ci", "c"], ["co"])]
        graph = onnx.graph(body, [onnx.value_info("i", [], onnx.INT64), onnx.value_info("ci", [], onnx.BOOL), onnx.value_info("acc", [2])],
                           [onnx.value_info("co", [], onnx.BOOL), onnx.value_info("acc2", [2])])
        node = onnx.node("Loop", ["", "c", "k"], ["y"], "forever", attributes=onnx.data(5, onnx.data(1, "body") + onnx.data(6, graph) + onnx.number(20, 5)))
        constants = [onnx.tensor("c", [], b"\1", onnx.BOOL), onnx.tensor("k", [2], onnx.floats(1, 2))]
        return self.write("loop.onnx", onnx.model(onnx.graph([node], [], [onnx.value_info("y", [2])], constants)))

    def test_loop_without_end(self):
        files = [self.loop(passes_on=True)] + [os.path.join(HOSTILE, "loop-forever.onnx")] * os.path.isdir(HOSTILE)
        for file in files:
            done = self.sinter("optimize", file, "-o", self.path("o.onnx"), "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertIn("1 x Loop (a loop of more than 4096 iterations)", done.stderr)
            for command in (["inspect", file], ["convert", file, "-o", self.path("o.mlir")], ["run", file]):
                self.expect_error(UNSUPPORTED, *command, mentions=["a loop of more than 4096 iterations"])
        # Constants are not computed for ever, either: the loop stays one.
        done = self.sinter("optimize", self.loop(passes_on=False), "-o", self.path("o.onnx"))
        self.assertIn(done.returncode, (DONE, UNSUPPORTED), done.stderr)
        text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.while(%i = %c) : tensor<f32>
    cond { %t = stablehlo.constant dense<true> : tensor<i1>  stablehlo.return %t : tensor<i1> }
    do { %n = stablehlo.add %i, %i : tensor<f32>  stablehlo.return %n : tensor<f32> }
  %1 = stablehlo.add %0, %x : tensor<f32>
  return %1 : tensor<f32>
}
"""
        file = self.write("while.mlir", text)
        for command in (["inspect", file], ["optimize", file, "-o", self.path("o.mlir")]):
            done = self.sinter(*command)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_loop_of_constants(self):
        """One that ends soon is computed."""
        file = self.write("count.mlir", """func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.while(%i = %zero) : tensor<i64>
    cond { %most = stablehlo.constant dense<5000> : tensor<i64>  %t = stablehlo.compare LT, %i, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>  stablehlo.return %t : tensor<i1> }
    do { %one = stablehlo.constant dense<1> : tensor<i64>  %n = stablehlo.add %i, %one : tensor<i64>  stablehlo.return %n : tensor<i64> }
  %1 = stablehlo.add %0, %x : tensor<i64>
  return %1 : tensor<i64>
}
""")
        self.assertEqual(self.sinter("optimize", file, "-o", self.path("o.mlir")).returncode, DONE)
        with open(self.path("o.mlir")) as text:
            self.assertIn("dense<5000>", text.read())

    def test_counting(self):
        """An iota is written as what counts, whatever its size: to each format, along each dimension."""
        for size in 2 ** 24, 2 ** 40:
            for shape, dimension, kind in (f"{size}", 0, "f32"), (f"2x{size}", 1, "i64"), (f"{size}x3", 0, "i32"):
                rest = shape.replace(str(size), "2")
                places = ", ".join("0:" + ("2" if part == str(size) else part) for part in shape.split("x"))
                file = self.write("iota.mlir", f"""func.func @main(%x: tensor<2xf32>) -> tensor<{rest}x{kind}> {{
  %0 = stablehlo.iota dim = {dimension} : tensor<{shape}x{kind}>
  %1 = stablehlo.slice %0 [{places}] : (tensor<{shape}x{kind}>) -> tensor<{rest}x{kind}>
  return %1 : tensor<{rest}x{kind}>
}}
""")
                for out in "o.onnx", "o/":
                    done = self.sinter("convert", file, "-o", self.path(out), "--force")
                    self.assertIn(done.returncode, (DONE, UNSUPPORTED), done.stderr)
                    if done.returncode == DONE and out == "o.onnx":
                        self.assertLess(os.path.getsize(self.path(out)), 10000)
                    elif out == "o.onnx":
                        self.fail(done.stderr)
        if os.path.isdir(HOSTILE):
            done = self.sinter("convert", os.path.join(HOSTILE, "iota40.mlir"), "-o", self.path("o.onnx"), "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertLess(os.path.getsize(self.path("o.onnx")), 10000)

    def test_counted_values(self):
        """Those that are counted are those that were written."""
        file = self.write("iota.mlir", """func.func @main(%x: tensor<2x5000xf32>) -> tensor<2x5000xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x5000xf32>
  %1 = stablehlo.add %0, %x : tensor<2x5000xf32>
  return %1 : tensor<2x5000xf32>
}
""")
        for out in "o.onnx", "o/":
            self.assertEqual(self.sinter("convert", file, "-o", self.path(out)).returncode, DONE)
            done = self.sinter("compare", file, self.path(out))
            self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)

    def calls(self, count, nested):
        text = "func.func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {\n"
        for i in range(1 if nested else count):
            text += f"  %x{i + 1} = func.call @f{i}(%x{i}) : (tensor<4xf32>) -> tensor<4xf32>\n"
        text += f"  return %x{1 if nested else count} : tensor<4xf32>\n}}\n"
        for i in range(count):
            inner = f"func.call @f{i + 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>" if nested and i + 1 < count else "stablehlo.negate %x : tensor<4xf32>"
            text += f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = {inner}\n  return %0 : tensor<4xf32>\n}}\n"
        return self.write("calls.mlir", text)

    def test_many_calls(self):
        for nested in True, False:
            file = self.calls(20000, nested)
            for command in (["optimize", file, "-o", self.path("o.mlir")], ["inspect", file], ["run", file, "--input", "random", "--no-cache"],
                            ["run", file, "--input", "random", "--no-cache", "--backend", "interpreter"], ["convert", file, "-o", self.path("o.onnx")]):
                began = time.monotonic()
                done = self.sinter(*command)
                # The interpreter calls no deeper than 256 functions, and is asked where a model is converted.
                refused = nested and (command[0] == "convert" or "interpreter" in command) and done.returncode == UNSUPPORTED
                self.assertTrue(done.returncode == DONE or refused, (command, done.stderr))
                self.assertLess(time.monotonic() - began, 30, (command, nested))


if __name__ == "__main__":
    main()
