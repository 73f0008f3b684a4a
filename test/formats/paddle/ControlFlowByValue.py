#!/usr/bin/env python3
# Covers: formats/import BranchChoice
# Covers: formats/paddle/file EncodePirControlFlow
# Covers: formats/paddle/ops ControlFlow
# Covers: formats/paddle/write ControlFlow
"""Loops, branches, arrays of tensors and variables that are written again, by value: on both backends, with unknown sizes, and what is refused.

  ControlFlowByValue.py --sinter build/bin/sinter [unittest options]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import PaddleBytes as paddle
from Arrays import Array, array
from OperatorCases import longs

SINTER = ""
INVALID, UNSUPPORTED = 3, 4


class ControlFlow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program, self.given = paddle.Program(), {}

    def take(self, name, value, dims=None):
        self.program.input(name, value.dims if dims is None else dims, value.element)
        self.given[name] = value

    def sinter(self, *arguments):
        return subprocess.run([SINTER, *arguments], capture_output=True, text=True, timeout=60)

    def run_model(self, model, backend):
        inputs = []
        for name, value in self.given.items():
            path = os.path.join(self.folder, name + ".npy")
            paddle.write(path, paddle.npy(value.dims, value.values, value.element))
            inputs += ["--input", f"{name}={path}"]
        done = self.sinter("run", model, *inputs, "--backend", backend, "--no-cache", "--output-dir", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def write(self, model, name):
        """MODEL written as NAME, which is given back as it is."""
        written, again = os.path.join(self.folder, name), os.path.join(self.folder, "again-" + name)
        for source, target in ((model, written), (written, again)):
            done = self.sinter("convert", source, "-o", target)
            self.assertEqual(done.returncode, 0, done.stderr)
        with open(written, "rb") as first, open(again, "rb") as second:
            self.assertEqual(first.read(), second.read())
        return written

    def expect(self, opens=True, **outputs):
        """The program gives OUTPUTS; with OPENS its conversion to StableHLO does, too, and what is written of that, and of itself as PIR and back."""
        for name in outputs:
            self.program.output(name)
        self.program.save(self.folder)
        model = os.path.join(self.folder, "inference.pdmodel")
        runs = [(model, "interpreter"), (model, "cpu")]
        if opens:
            converted = os.path.join(self.folder, "converted.mlir")
            done = self.sinter("convert", model, "-o", converted)
            self.assertEqual(done.returncode, 0, done.stderr)
            pir = self.write(model, "pir.json")
            written = [converted, pir, self.write(pir, "back.pdmodel"), self.write(converted, "new.pdmodel"), self.write(converted, "new-pir.json")]
            for source, name in ((model, "optimized.pdmodel"), (pir, "optimized-pir.json")):
                written.append(os.path.join(self.folder, name))
                done = self.sinter("optimize", source, "-o", written[-1])
                self.assertEqual(done.returncode, 0, done.stderr)
            runs += [(each, "interpreter") for each in written]
        for model, backend in runs:
            self.run_model(model, backend)
            for name, value in outputs.items():
                with open(os.path.join(self.folder, name + ".npy"), "rb") as file:
                    self.assertEqual(paddle.read_npy(file.read()), (value.dims, value.values, value.element), f"{name} of {model} on {backend}")

    def expect_error(self, code, mention, output):
        """Where inputs have no values."""
        self.program.output(output)
        self.program.save(self.folder)
        done = self.sinter("convert", os.path.join(self.folder, "inference.pdmodel"), "-o", os.path.join(self.folder, "converted.mlir"))
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(mention, done.stderr)

    def count(self, block, limit="n"):
        """i += 1; goes = i < limit."""
        block.op("increment", {"X": "i"}, {"Out": "i"}, step=1.0)
        block.op("less_than", {"X": "i", "Y": limit}, {"Out": "goes"})

    def start(self):
        """i = 0; goes = i < n."""
        self.program.variable("i", [1], paddle.INT64)
        self.program.variable("goes", [1], paddle.BOOL)
        self.program.op("fill_constant", {}, {"Out": "i"}, shape=[1], dtype=3, value=0.0)
        self.program.op("less_than", {"X": "i", "Y": "n"}, {"Out": "goes"})

    def loop(self, block, *written):
        self.program.op("while", {"X": ["i", "n", *written], "Condition": "goes"}, {"Out": ["i", *written], "StepScopes": []},
                        sub_block=paddle.block(block.index), is_test=True)

    def test_loop(self):
        """Rounds that are known only at run time, of a tensor of unknown size."""
        self.take("x", array([[1.0, -2.0, 0.5]]), [-1, 3])
        self.take("n", longs(3))
        self.program.op("assign", {"X": "x"}, {"Out": "y"})
        self.start()
        body = self.program.block()
        body.op("scale", {"X": "y"}, {"Out": "double"}, scale=2.0, bias=1.0)
        body.op("assign", {"X": "double"}, {"Out": "y"})
        self.count(body)
        # What the block declares is its own, and all but one is not.
        body.variables = [each for each in body.variables if each[0] == "double"]
        self.loop(body, "y")
        self.expect(y=array([[15.0, -9.0, 11.0]]), i=longs(3))

    def test_no_round(self):
        self.take("x", array([1.0]))
        self.take("n", longs(0))
        self.program.op("assign", {"X": "x"}, {"Out": "y"})
        self.start()
        body = self.program.block()
        body.op("scale", {"X": "y"}, {"Out": "y"}, scale=2.0)
        self.count(body)
        body.variables = []
        self.loop(body, "y")
        self.expect(y=array([1.0]))

    def test_array(self):
        """Known rounds, each with an element of an array."""
        self.take("x", array([1.0, 2.0]))
        self.program.parameter("n", [1], [3], paddle.INT64)
        self.program.variable("list", kind=paddle.LOD_TENSOR_ARRAY)
        self.start()
        self.program.op("write_to_array", {"X": "x", "I": "i"}, {"Out": "list"})
        body = self.program.block()
        body.op("read_from_array", {"X": "list", "I": "i"}, {"Out": "one"})
        body.op("scale", {"X": "one"}, {"Out": "next"}, scale=3.0)
        self.count(body)
        body.op("write_to_array", {"X": "next", "I": "i"}, {"Out": "list"})
        body.variables = [each for each in body.variables if each[0] in ("one", "next")]
        self.loop(body, "list")
        self.program.variable("length", [1], paddle.INT64)
        self.program.op("lod_array_length", {"X": "list"}, {"Out": "length"})
        self.program.op("tensor_array_to_tensor", {"X": "list"}, {"Out": "all", "OutIndex": "sizes"}, axis=0, use_stack=True)
        self.expect(opens=False, all=array([[1.0, 2.0], [3.0, 6.0], [9.0, 18.0], [27.0, 54.0]]), length=longs(4))

    def test_array_is_not_written_as_pir(self):
        """An array of tensors that a loop writes has no form there."""
        self.test_array()
        done = self.sinter("convert", os.path.join(self.folder, "inference.pdmodel"), "-o", os.path.join(self.folder, "array.json"))
        self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
        self.assertIn("array", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "array.json")))

    def test_parts_that_blocks_read(self):
        """A part of a list that is read first in a block, and after it; two variables that change places."""
        self.take("x", array([[1.0, 2.0], [3.0, 4.0]]))
        self.take("n", longs(3))
        self.program.variable("a", [1, 2])
        self.program.variable("b", [1, 2])
        self.program.op("split", {"X": "x"}, {"Out": ["a", "b"]}, axis=0, num=2, sections=paddle.ints())
        for name in ("p", "q"):
            self.program.variable(name, [1, 2])
        self.program.op("fill_constant", {}, {"Out": "p"}, shape=[1, 2], dtype=paddle.FP32, value=1.0)
        self.program.op("fill_constant", {}, {"Out": "q"}, shape=[1, 2], dtype=paddle.FP32, value=2.0)
        self.start()
        body = self.program.block()
        body.op("elementwise_add", {"X": "p", "Y": "a"}, {"Out": "sum"}, axis=-1)
        body.op("assign", {"X": "q"}, {"Out": "p"})
        body.op("assign", {"X": "sum"}, {"Out": "q"})
        self.count(body)
        body.variables = [each for each in body.variables if each[0] == "sum"]
        self.loop(body, "p", "q")
        self.program.variable("y", [1, 2])
        self.program.op("elementwise_add", {"X": "p", "Y": "b"}, {"Out": "y"}, axis=-1)
        # (1, 2) becomes (2, 1 + a), (1 + a, 2 + a), (2 + a, 1 + 2 a).
        self.expect(y=array([[6.0, 8.0]]), q=array([[3.0, 5.0]]))

    def branches(self, value, ranks=(1, 1)):
        self.take("x", array([1.0, -2.0]))
        self.take("c", Array([1], [value], paddle.BOOL))
        self.program.variable("not_c", [1], paddle.BOOL)
        self.program.op("logical_not", {"X": "c"}, {"Out": "not_c"})
        for condition, result, scale, rank in (("c", "a", 10.0, ranks[0]), ("not_c", "b", 100.0, ranks[1])):
            inside = self.program.block()
            inside.op("scale", {"X": "x"}, {"Out": "scaled"}, scale=scale)
            inside.op("reshape2", {"X": "scaled"}, {"Out": "formed"}, shape=[1] * (rank - 1) + [2])
            inside.op("assign", {"X": "formed"}, {"Out": result})
            inside.variables = [each for each in inside.variables if each[0] in ("scaled", "formed")]
            self.program.variable(result, [1] * (rank - 1) + [2])
            self.program.op("conditional_block", {"Cond": condition, "Input": "x"}, {"Out": result, "Scope": []}, sub_block=paddle.block(inside.index),
                            is_scalar_condition=True)
        self.program.variable("mask", [1], paddle.INT32)
        self.program.op("cast", {"X": "c"}, {"Out": "mask"}, in_dtype=0, out_dtype=2)
        self.program.op("select_input", {"X": ["b", "a"], "Mask": "mask"}, {"Out": "y"})

    def test_branch_taken(self):
        self.branches(True)
        self.expect(y=array([10.0, -20.0]))

    def test_branch_not_taken(self):
        self.branches(False)
        self.expect(y=array([100.0, -200.0]))

    def test_branches_of_other_ranks(self):
        """A program is for the branch that is taken, and finds out if it is another one."""
        for value in True, False:
            self.program, self.given = paddle.Program(), {}
            self.branches(value, ranks=(1, 2))
            self.expect(opens=False, y=array([10.0, -20.0]) if value else array([[100.0, -200.0]]))
            model = os.path.join(self.folder, "inference.pdmodel")
            done = self.sinter("inspect", "--steps", model)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("'y'  0 <= -1 + what is assumed of 'y'", done.stdout)
            cache, x = os.path.join(self.folder, f"cache{value}"), os.path.join(self.folder, "x.npy")
            for number, taken in enumerate((value, value, not value)):
                c = os.path.join(self.folder, "c.npy")
                paddle.write(c, paddle.npy([1], [taken], paddle.BOOL))
                done = self.sinter("run", model, "--input", f"x={x}", "--input", f"c={c}", "--cache-dir", cache, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(done.stdout)
                self.assertEqual(told["outputs"][0]["shape"], [2] if taken else [1, 2])
                self.assertEqual(("is not for these" in done.stderr, told["from_cache"]), (number == 2, number > 0))

    def test_branch_keeps(self):
        """What was written before a block that does not run stays."""
        self.take("x", array([1.0, -2.0]))
        self.take("c", Array([1], [False], paddle.BOOL))
        self.program.op("scale", {"X": "x"}, {"Out": "y"}, scale=5.0)
        inside = self.program.block()
        inside.op("scale", {"X": "y"}, {"Out": "y"}, scale=7.0)
        inside.variables = []
        self.program.op("conditional_block", {"Cond": "c", "Input": "y"}, {"Out": "y", "Scope": []}, sub_block=paddle.block(inside.index), is_scalar_condition=True)
        self.expect(y=array([5.0, -10.0]))

    def test_nested(self):
        """A branch in a loop: y doubles in every round but that of i == 1."""
        self.take("x", array([1.0]))
        self.take("n", longs(4))
        self.program.parameter("one", [1], [1], paddle.INT64)
        self.program.op("assign", {"X": "x"}, {"Out": "y"})
        self.start()
        body = self.program.block()
        body.op("not_equal", {"X": "i", "Y": "one"}, {"Out": "differs"})
        inside = self.program.block(body.index)
        inside.op("scale", {"X": "y"}, {"Out": "y"}, scale=2.0)
        inside.variables = []
        body.op("conditional_block", {"Cond": "differs", "Input": "y"}, {"Out": "y", "Scope": []}, sub_block=paddle.block(inside.index), is_scalar_condition=True)
        self.count(body)
        body.variables = [each for each in body.variables if each[0] == "differs"]
        self.loop(body, "y")
        self.expect(y=array([8.0]))

    def test_written_again(self):
        """relu in place between two readers of the variable."""
        self.take("x", array([1.0, -2.0]))
        self.program.op("scale", {"X": "x"}, {"Out": "v"}, scale=2.0)
        self.program.op("scale", {"X": "v"}, {"Out": "before"}, bias=1.0)
        self.program.op("relu", {"X": "v"}, {"Out": "v"})
        self.program.op("scale", {"X": "v"}, {"Out": "after"}, bias=1.0)
        self.expect(before=array([3.0, -3.0]), after=array([3.0, 1.0]))

    def test_read_before_written(self):
        self.take("x", array([1.0]))
        self.program.variable("v", [1])
        self.program.op("elementwise_add", {"X": "x", "Y": "v"}, {"Out": "y"})
        self.expect_error(INVALID, "'v', is not written before it is read", "y")

    def test_no_block(self):
        self.take("n", longs(3))
        self.start()
        self.program.op("while", {"X": ["i"], "Condition": "goes"}, {"Out": ["i"], "StepScopes": []})
        self.expect_error(INVALID, "'sub_block'", "i")

    def test_array_of_unknown_length(self):
        self.take("x", array([1.0]))
        self.take("n", longs(3))
        self.program.variable("list", kind=paddle.LOD_TENSOR_ARRAY)
        self.start()
        self.program.op("write_to_array", {"X": "x", "I": "i"}, {"Out": "list"})
        body = self.program.block()
        self.count(body)
        body.op("write_to_array", {"X": "x", "I": "i"}, {"Out": "list"})
        body.variables = []
        self.loop(body, "list")
        self.program.op("lod_array_length", {"X": "list"}, {"Out": "length"})
        self.expect_error(UNSUPPORTED, "known only at run time", "length")


if __name__ == "__main__":
    at = sys.argv.index("--sinter")
    SINTER = os.path.abspath(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    unittest.main()
