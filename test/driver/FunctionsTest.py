#!/usr/bin/env python3
# Covers: engine/compiler CheckModel DescribeModel Functions
"""Files of several functions."""
import json

from SinterCommand import CommandTest, DONE, INVALID, USAGE, main


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

    def test_inspect_lists_them(self):
        done = self.sinter("inspect", self.library)
        self.assertEqual(done.returncode, DONE, done.stderr)
        for text in "function @twice, 1 operation", "function @same, 2 operations", "f32 [2]":
            self.assertIn(text, done.stdout)
        self.assertNotIn("@sum", done.stdout, "nobody outside calls it")
        self.assertIn("--function", done.stderr)
        done = self.sinter("inspect", self.library, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        functions = json.loads(done.stdout)["functions"]
        self.assertEqual([each["name"] for each in functions], ["twice", "same"])
        self.assertEqual(functions[1]["operations"], {"stablehlo.negate": 2})
        self.assertEqual(functions[0]["inputs"], [{"name": "arg0", "type": "f32 [2]"}])
        # Of one of them, all is shown; of all of them, less than is asked.
        done = self.sinter("inspect", self.library, "--function", "same")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("stablehlo.negate", done.stdout)
        for more in ["--tensors"], ["--steps"], ["--shape", "x:2"]:
            self.expect_error(INVALID, "inspect", self.library, *more, mentions=["there is no @main", "--function"])

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


if __name__ == "__main__":
    main()
