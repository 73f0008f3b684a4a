#!/usr/bin/env python3
# Covers: data WrittenNumbers
# Covers: interface Bindings
# Covers: engine/compiler DescribeModel ModelSource
# Covers: formats/stablehlo AliasWeights
# Covers: passes BindArguments
# Covers: runtime Npz
"""Inputs that become constants, with --bind."""
import itertools
import json
import os
import zipfile

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, npy, USAGE, main


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

    NAMED = """
func.func @main(%weights: tensor<2xf32>, %x.1: tensor<2xf32> {sinter.name = "data"}, %bias: tensor<2xf32> loc("params['b']"), %3: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %x.1, %weights : tensor<2xf32>
  %1 = stablehlo.add %0, %bias : tensor<2xf32>
  %2 = stablehlo.add %1, %3 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
"""

    def test_names_in_the_text(self):
        """What stands behind the %, a location's name, `sinter.name`, and the place: for --bind, --input and --shape."""
        self.model = self.write("named.mlir", self.NAMED)
        zero = self.write("zero.npy", npy((2,), (0, 0)))
        for weights in "weights", "%weights", "arg0":
            for data in "data", "x.1":
                for bias in "params['b']", "arg2":
                    for flags in itertools.product(("--bind", "--input"), repeat=2):
                        got = self.result("--backend", "interpreter", flags[0], f"{weights}={self.w}", flags[1], f"{data}={self.x}",
                                          "--input", f"{bias}={self.b}", "--input", f"arg3={zero}")
                        self.assertEqual(got, (12, 23))
        given = [option for name in ("weights", "data", "params['b']", "arg3") for option in ("--input", f"{name}={self.x}")]
        for backend in "cpu", "interpreter":
            self.assertEqual(self.result("--backend", backend, *given), (3, 3))
        inputs = json.loads(self.sinter("inspect", self.model, "--json", "--no-plan").stdout)["inputs"]
        self.assertEqual([each["name"] for each in inputs], ["arg0", "data", "arg2", "arg3"])
        self.assertEqual([each["other_names"] for each in inputs], [["weights"], ["x.1"], ["params['b']"], []])
        # The model's description is kept with its program.
        for _ in range(2):
            done = self.sinter("run", self.model, "--cache-dir", self.path("cache"), *given)
            self.assertEqual(done.returncode, DONE, done.stderr)
        open_sizes = self.write("open.mlir", "func.func @main(%weights: tensor<?xf32>) -> tensor<?xf32> { return %weights : tensor<?xf32> }")
        done = self.sinter("run", open_sizes, "--shape", "weights:3", "--input", "random", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [3], done.stderr)
        self.expect_error(USAGE, "run", self.model, "--bind", f"weight={self.w}", mentions=["weight", "arg0 (weights)"])

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

    def test_beside_a_state(self):
        """States stand among the arguments and are none of the inputs, by whatever name or number."""
        self.model = self.write("state.mlir", """
func.func @main(%n: tensor<f32> {sinter.state = "count", sinter.initial = dense<1.0> : tensor<f32>}, %x: tensor<2xf32>, %w: tensor<2xf32>)
    -> (tensor<f32> {sinter.state = "count"}, tensor<2xf32>) {
  %next = stablehlo.add %n, %n : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %next, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<2xf32>
  %2 = stablehlo.add %1, %w : tensor<2xf32>
  return %next, %2 : tensor<f32>, tensor<2xf32>
}
""")
        for name in "x", "arg1", "1":
            for other, flag in ("w", "--bind"), ("2", "--bind"), ("w", "--input"), ("arg2", "--input"):
                got = self.result("--bind", f"{name}={self.w}", flag, f"{other}={self.b}")
                self.assertEqual(got, (14, 26))
        for command in ("run",), ("optimize", "--stats"), ("inspect",), ("convert", "-o", self.path("out.mlir")):
            for name in "count", "0", "n", "arg0", "%n":
                self.expect_error(USAGE, *command, self.model, "--bind", f"{name}={self.w}", mentions=[f"'{name.strip('%')}' is a state", "--freeze"])
            self.expect_error(USAGE, *command, self.model, "--bind", f"none={self.w}", mentions=["'none'", "there are arg1 (x), arg2 (w)"])

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
                # The scale by itself, or with the shift behind it.
                self.assertTrue({"stablehlo.multiply", "stablehlo.batch_norm_inference"} & after.keys(), (missing, after))
            else:
                self.assertEqual(after["stablehlo.subtract"] if "stablehlo.subtract" in after else after["stablehlo.add"], 1)

    def test_typed_numbers(self):
        """As --input takes them, where there is no such file."""
        for backend in "cpu", "interpreter":
            got = self.result("--backend", backend, "--bind", "params['w=1']=2,3", "--bind", f"arg2={self.b}", "--input", self.x)
            self.assertEqual(got, (12, 23))
        self.expect_error(USAGE, "run", self.model, "--bind", "arg2=1,2,3", mentions=["--bind 'arg2=1,2,3'", "2xf32"])
        self.expect_error(USAGE, "run", self.model, "--bind", "none=1", mentions=["no input 'none'"])

    def test_errors(self):
        def refused(*bound, mentions):
            options = [option for each in bound for option in ("--bind", each)]
            self.expect_error(USAGE, "optimize", self.model, "--stats", *options, mentions=mentions)

        refused(f"none={self.w}", mentions=["none", "arg1"])
        refused(f"7={self.w}", mentions=["7"])
        refused(f"0={self.w}", f"arg0={self.w}", mentions=["twice"])
        refused(f"0={self.write('long.npy', npy((3,), (1, 2, 3)))}", mentions=["tensor<3xf32>", "tensor<2xf32>"])
        refused("w", mentions=["name"])


class Defaults(CommandTest):
    """ONNX's initializers that are inputs, too: a constant, unless it is given."""

    def model(self, version=8):
        weight = onnx.tensor("w", [3], onnx.floats(1, 2, 3))
        content = onnx.model(onnx.graph([onnx.node("Mul", ["x", "w"], ["y"])], [onnx.value_info("x", ["N", 3]), onnx.value_info("w", [3])],
                                        [onnx.value_info("y", ["N", 3])], [weight]))
        self.assertEqual(content[:2], onnx.number(1, 8))
        return self.write("default.onnx", onnx.number(1, version) + content[2:])

    def result(self, *arguments):
        done = self.sinter(*arguments, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)["outputs"][0]["first"]

    def test_given(self):
        model = self.model()
        x, w = "x=" + self.write("x.npy", npy((1, 3), (1, 1, 1))), "w=" + self.write("w.npy", npy((3,), (4, 5, 6)))
        cache = "--cache-dir", self.path("cache")
        for backend in "cpu", "interpreter":
            for options in ["--no-cache"], cache, cache, ["--dynamic", *cache], ["--static", *cache]:
                command = "run", model, "--backend", backend, *options
                self.assertEqual(self.result(*command, "--input", x), [1, 2, 3])
                self.assertEqual(self.result(*command, "--input", x, "--input", w), [4, 5, 6])
                self.assertEqual(self.result(*command, "--input", w, "--input", x), [4, 5, 6])
                self.assertEqual(self.result(*command, "--input", x, "--bind", w), [4, 5, 6])
                self.assertEqual(self.result(*command, "--input", x, "--bind", "w=7,8,9"), [7, 8, 9])
                self.assertEqual(self.result(*command, "--input", "x=" + self.path("x.npy"), "--input", "w=7,8,9"), [7, 8, 9])
        self.expect_error(USAGE, "run", model, "--input", x, "--input", "w=" + self.write("long.npy", npy((4,), (1, 2, 3, 4))), mentions=["long.npy", "'w'", "3xf32"])
        for command in (["compare", model, "--input", x, "--input", w], ["bench", model, "--input", x, "--input", w, "--seconds", "0.01", "--no-cache"]):
            done = self.sinter(*command)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_seen(self):
        model = self.model()
        rows = [line.split() for line in self.sinter("inspect", model).stdout.splitlines()]
        self.assertIn(["input", "w", "f32", "[3]", "has", "a", "default,", "which", "--input", "or", "--bind", "replaces"], rows)
        told = json.loads(self.sinter("inspect", model, "--json").stdout)
        self.assertEqual(([each["name"] for each in told["inputs"]], [each["name"] for each in told["defaults"]]), (["x"], ["w"]))

    def test_bound_and_written(self):
        out = self.path("out.onnx")
        done = self.sinter("optimize", self.model(), "--bind", "w=7,8,9", "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.result("run", out, "--no-cache", "--input", self.write("x.npy", npy((1, 3), (1, 1, 1)))), [7, 8, 9])

    def test_old_versions(self):
        """There every initializer had to be an input, which says nothing."""
        model = self.model(version=3)
        self.expect_error(USAGE, "run", model, "--input", "w=1,2,3", mentions=["'w'"])
        self.assertEqual(json.loads(self.sinter("inspect", model, "--json").stdout)["defaults"], [])


if __name__ == "__main__":
    main()
