#!/usr/bin/env python3
# Covers: engine/compiler Reduce
"""`sinter reduce`."""
import json

from SinterCommand import CommandTest, DONE, USAGE, main


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
    main()
