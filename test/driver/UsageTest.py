#!/usr/bin/env python3
# Covers: driver CommonOptions Sinter Sweep Text
# Covers: interface CommonOptions OutputFiles
# Covers: runtime Text
"""What `sinter` says of wrong arguments, and its help."""
import json
import os
import re

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, SYSTEM, USAGE, main


class Usage(CommandTest):
    def test_help(self):
        done = self.sinter("--help")
        self.assertEqual(done.returncode, DONE)
        self.assertLess(done.stdout.index("sinter run resnet50.onnx"), done.stdout.index("Usage"))
        for command in ["run", "bench", "optimize", "convert", "test", "inspect"]:
            done = self.sinter(command, "--help")
            self.assertEqual(done.returncode, DONE)
            self.assertIn(f"  sinter {command} ", done.stdout)

    def test_help_lists_the_formats(self):
        """The help of those who take models has what the table of formats lists, each with what it is."""
        listed = self.sinter("convert", self.good_model(), "-o", self.path("a.what")).stderr.strip().split("in which format to write: ")[1]
        self.assertIn(f"in which format: {listed}", " ".join(self.sinter("convert", "--help").stdout.split()))
        for suffix in re.findall(r"\.[a-z.]+", listed):
            for command in ["run", "bench", "optimize", "convert", "compare", "inspect"]:
                self.assertRegex(" ".join(self.sinter(command, "--help").stdout.split()), rf"model.*: .*{re.escape(suffix)},", command)

    def test_old_names_are_taken_but_not_listed(self):
        text = self.sinter("run", "--help").stdout
        self.assertIn("--dynamic", text)
        self.assertIn("--static", text)
        for old in ("--open", "--closed"):
            self.assertNotIn(old, text)
        for pair in (("--open", "--static"), ("--dynamic", "--closed"), ("--open", "--closed")):
            self.expect_error(USAGE, "run", self.good_model(), *pair, mentions=["--dynamic", "--static"])

    def test_help_as_a_command(self):
        self.assertEqual(self.sinter("help").stdout, self.sinter("--help").stdout)
        for command in ["run", "bench", "optimize", "convert", "test", "inspect", "reduce"]:
            done = self.sinter("help", command)
            self.assertEqual((done.returncode, done.stdout), (DONE, self.sinter(command, "--help").stdout))
        self.expect_error(USAGE, "help", "rnu", mentions=["did you mean 'run'?"])
        self.expect_error(USAGE, "help", "run", "bench", mentions=["'bench'", "too many"])

    def test_nothing_is_overwritten(self):
        """The model and what belongs to it are replaced only when that is asked for, whatever they are called."""
        model = self.good_model()
        text = self.write("net.mlir", "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
        os.symlink(model, self.path("symbolic.onnx"))
        os.link(model, self.path("hard.onnx"))
        for command, source, outputs in [("optimize", model, [model, "symbolic.onnx", "hard.onnx"]), ("convert", model, [model, "hard.onnx"]),
                                         ("optimize", text, [text]), ("convert", text, [text])]:
            with open(source, "rb") as file:
                before = file.read()
            # What replaced the model has left the link behind.
            os.remove(self.path("hard.onnx"))
            os.link(model, self.path("hard.onnx"))
            for output in outputs:
                self.expect_error(USAGE, command, source, "-o", self.path(output), mentions=["--force", os.path.basename(source)])
            with open(source, "rb") as file:
                self.assertEqual(file.read(), before)
            done = self.sinter(command, source, "-o", source, "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(self.sinter("inspect", source, "--no-plan").returncode, DONE)
        weight = onnx.tensor("w", [2, 3], external=[("location", "inner.onnx")])
        outer = self.write("outer.onnx", onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]))
        self.write("inner.onnx", onnx.floats(*range(6)))
        self.expect_error(USAGE, "optimize", outer, "-o", self.path("inner.onnx"), mentions=["a part of", "--force"])
        self.expect_error(USAGE, "run", model, "--input", "random", "--trace", model, mentions=["--trace", "the model itself"])
        self.expect_error(USAGE, "reduce", text, "-o", text, "--command", "false", mentions=["net.mlir"])

    def test_output_is_checked_first(self):
        """Where results cannot go, nothing is compiled or run for them."""
        model, file = self.good_model(), self.write("file", "")
        for options in (["--output-dir", file], ["--output-dir", file + "/out"], ["--trace", self.path("none/trace.json")], ["--trace", self.folder]):
            self.expect_error(SYSTEM, "run", model, "--input", "random", "-v", "--no-cache", *options, mentions=[options[0], options[1]])
        for command in "optimize", "convert":
            self.expect_error(SYSTEM, command, model, "-o", self.path("none/out.onnx"), mentions=["none/out.onnx"])

    def test_verify_numerics_says_what_it_saw(self):
        weight = onnx.tensor("w", [2, 3], onnx.floats(*[0] * 6))
        nodes = [onnx.node("Add", ["x", "w"], ["sum"]), onnx.node("Relu", ["sum"], ["y"])]
        model = self.write("in.onnx", onnx.simple(nodes, initializers=[weight]))
        for command in ("run", model, "--input", "random"), ("bench", model, "--seconds", "0.01"), ("optimize", model), ("inspect", model):
            done = self.sinter(*command, "--verify-numerics")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertRegex(done.stderr, r"note: --verify-numerics: simplification: all agree: [1-9]\d* comparisons of graphs, [1-9]\d* of tensors; largest difference \d")
        self.expect_error(USAGE, "run", model, "--input", "random", "--verify-numerics=often", mentions=["often"])

    def test_sizes_by_name(self):
        """--shape takes sizes of dynamic dimensions by their names, in every command that takes shapes, for all inputs that have them."""
        net = self.write("net.mlir", """
func.func @main(%x: tensor<?x4x?xf32> {sinter.dims = ["N", "", "L"]}, %y: tensor<?xf32> {sinter.dims = ["L"]}) -> tensor<?x4x?xf32> {
  %0 = stablehlo.tanh %x : tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}
""")
        for shapes in (["--shape", "N=2,L=3"], ["--shape", "N=2", "--shape", "L=3"], ["--shape", "x:?x4x3", "--shape", "N=2"],
                       ["--shape", "x:Nx4x3", "--shape", "N=2"]):
            for more in ([], ["--dynamic"], ["--static"], ["--backend", "interpreter"]):
                done = self.sinter("run", net, "--input", "random", "--no-cache", "--json", *shapes, *more)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [2, 4, 3])
                self.assertEqual(done.stderr, "")
        for command in (["bench", net, "--seconds", "0.01", "--json"], ["compare", net, "--json"], ["inspect", net, "--json"],
                        ["quantize", net, "--calibration", "random", "--json"], ["optimize", net, "-o", self.path("o.mlir")],
                        ["convert", net, "-o", self.path("c.onnx")], ["optimize", self.path("c.onnx"), "-o", self.path("d.onnx")]):
            done = self.sinter(*command, *([] if command[0] == "convert" else ["--shape", "N=2,L=3"]))
            self.assertEqual(done.returncode, DONE, (command, done.stderr))
        self.assertEqual(json.loads(self.sinter("inspect", self.path("d.onnx"), "--json").stdout)["inputs"][0]["shape"], [2, 4, 3])
        for given, message in (("M=2", "--shape: no dynamic dimension is called 'M'; there are 'N' and 'L'"), ("N=2,N=3", "'N' is given twice"),
                               ("N=-2", "expected sizes of dimensions"), ("N=2,", "expected sizes"), ("x[1]=3", "no dynamic dimension")):
            self.expect_error(USAGE, "run", net, "--input", "random", "--shape", given, mentions=[message])
        self.expect_error(USAGE, "run", net, "--input", "random", "--shape", "x:2x4x3", "--shape", "L=5", mentions=["no other size", "'L'"])
        # A dimension without a name is called by its input and place.
        bare = self.write("bare.mlir", "func.func @main(%x: tensor<2x?xf32>) -> tensor<2x?xf32> { return %x : tensor<2x?xf32> }")
        done = self.sinter("run", bare, "--input", "random", "--no-cache", "--json", "--shape", "arg0[1]=5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(json.loads(done.stdout)["outputs"][0]["shape"], [2, 5])
        self.expect_error(USAGE, "run", bare, "--input", "random", mentions=["--shape arg0[1]=SIZE"])
        self.expect_error(USAGE, "run", self.good_model(), "--shape", "N=2", mentions=["no dynamic dimension", "the model has none"])

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

    def test_values_of_options(self):
        """Wrong, missing, doubled, empty: in words that say what is wanted."""
        model = self.good_model()
        for arguments, mentions in [
            (("run", model, "--threads", "-1"), ["--threads: '-1' is not a number from 0 to 4096"]),
            (("run", model, "--threads", "1", "--threads", "2"), ["--threads is given more than once"]),
            (("run", model, "--threads"), ["--threads needs a value"]),
            (("run", model, "--backend", "CPU"), ["--backend: 'CPU' is none of cpu, interpreter"]),
            (("run", model, "--scale", "abc", "--input", "random"), ["--scale: 'abc' is no number"]),
            (("run", model, "--trace", "", "--input", "random"), ["--trace is empty"]),
            (("run", model, "--input", ""), ["--input is empty"]),
            (("run", ""), ["MODEL is empty"]),
            (("optimize", model, "-o", ""), ["--output is empty"]),
            (("optimize", model, "-o", "a.onnx", "-o", "b.onnx"), ["--output is given more than once"]),
            (("bench", model, "--seconds", "nan"), ["--seconds: ", "nan"]),
            (("bench", model, "--seconds", "-1"), ["--seconds: '-1' is not a number from 0 to 1000000"]),
            (("test", self.folder, "--rtol", "-1"), ["--rtol: '-1' is not a number from 0 on"]),
            (("test", self.folder, "--atol", "nan"), ["--atol: ", "nan"]),
            (("reduce", model, "-o", "b.onnx", "--timeout", "0"), ["--timeout: '0' is not a number from 0.001 to 1000000"]),
            (("convert", model, "-o", self.path("a.mlir.bc"), "--target-version", "99.0.0"), ["99.0.0"]),
            (("--jsn",), ["no option '--jsn'"]),
        ]:
            self.expect_error(USAGE, *arguments, mentions=mentions)
        labels = self.write("labels.txt", "one\ntwo\n")
        self.expect_error(USAGE, "run", model, "--input", "random", "--labels", labels, mentions=["--labels", "has 2 names", "'y' 2x3xf32"])

    def test_files_that_are_not_there(self):
        for command in ["run", "bench", "inspect"]:
            self.expect_error(SYSTEM, command, self.path("none.onnx"), mentions=["none.onnx"])
        self.expect_error(SYSTEM, "run", self.folder, mentions=[self.folder])
        self.expect_error(SYSTEM, "test", self.path("none"), mentions=["none"])
        self.expect_error(USAGE, "test", self.folder, mentions=["no tests"])


if __name__ == "__main__":
    main()
