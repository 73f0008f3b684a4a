#!/usr/bin/env python3
# Covers: formats/onnx/write KeptGraphs
"""What `sinter optimize` keeps of branches and of the bodies of loops: small models, one a case.

  WrittenBodies.py --sinter build/bin/sinter

What was not touched must come back as it was, names and documentation included,
and ONNX Runtime must compute the same of both files, on several inputs where
the number of rounds or the branch is known only then.

Needs Python's onnx and numpy (Debian: python3-onnx), node and onnxruntime-node
(npm install in bench/); without them it says so and ends with 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from judge.OnnxGraphs import bodies, without_constants
from onnx import TensorProto, helper, numpy_helper

SINTER = None
I64, BOOL = TensorProto.INT64, TensorProto.BOOL


def info(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def node(op, inputs, outputs, **attributes):
    made = helper.make_node(op, [each if each != "_" else "" for each in inputs.split()], outputs.split(),
                            name="node_" + outputs.split()[0], **attributes)
    made.doc_string = f"makes {outputs}"
    return made


def graph(name, nodes, inputs, outputs, weights=()):
    made = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    made.doc_string = f"about {name}"
    return made


def model(nodes, inputs, outputs, weights=(), opset=15):
    result = helper.make_model(graph("g", nodes, inputs, outputs, weights), opset_imports=[helper.make_opsetid("", opset)])
    result.ir_version = 8
    return result


def body(nodes, carried, gathered=(), weights=()):
    """A loop's body: round i and condition go come in, condition goes_on out."""
    return graph("body", [node("Identity", "go", "goes_on")] + nodes,
                 [info("i", [], I64), info("go", [], BOOL)] + [info(name, shape) for name, _, shape in carried],
                 [info("goes_on", [], BOOL)] + [info(name, shape) for _, name, shape in carried] + list(gathered), weights)


class WrittenBodies(unittest.TestCase):
    maxDiff = None

    def optimize(self, proto, *feeds):
        """The written model; ONNX Runtime has computed the same of both on each of the feeds."""
        onnx.checker.check_model(proto, full_check=True)
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
            onnx.save(proto, source)
            done = subprocess.run([SINTER, "optimize", source, "-o", target], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            written = onnx.load(target)
            # Given a path, it would write what it infers into the file.
            onnx.checker.check_model(written, full_check=True)
            tasks = [OnnxRuntime.Task(path, feed, os.path.join(folder, f"{kind}{i}"))
                     for i, feed in enumerate(feeds) for kind, path in (("in", source), ("out", target))]
            OnnxRuntime.run(tasks)
            for before, after in zip(tasks[::2], tasks[1::2]):
                self.assertIsNone(before.error)
                self.assertIsNone(after.error)
                self.assertIsNone(OnnxRuntime.difference(before.outputs, after.outputs))
            again = os.path.join(folder, "again.onnx")
            subprocess.run([SINTER, "optimize", target, "-o", again], check=True)
            self.assertEqual(str(onnx.load(again)), str(written))
            return written

    def assertUntouched(self, proto, *feeds):
        written = self.optimize(proto, *feeds)
        self.assertEqual(list(written.opset_import), list(proto.opset_import))
        # As texts, of which unittest shows the lines that differ.
        self.assertEqual(str(without_constants(written.graph)), str(without_constants(proto.graph)))
        return written

    def rounds(self, *counts, **others):
        return [dict(n=np.array(count, np.int64), x=np.array([1.5, -2, 3], np.float32), **others) for count in counts]

    def test_branches(self):
        yes = graph("yes", [node("Mul", "x two", "t"), node("Sigmoid", "t", "a")], [], [info("a", [3])])
        no = graph("no", [node("Add", "x two", "t"), node("Tanh", "t", "b")], [], [info("b", [3])])
        yes.value_info.add().CopyFrom(info("t", [3]))
        proto = model([node("If", "p", "y", then_branch=yes, else_branch=no)],
                      [info("p", [], BOOL), info("x", [3])], [info("y", [3])], [weight("two", 2)])
        x = np.array([1, 2, 3], np.float32)
        written = self.assertUntouched(proto, *(dict(p=np.array(p), x=x) for p in (True, False)))
        # Both branches call a tensor t, and one says something of it.
        self.assertEqual([each.name for each in bodies(written.graph)["node_y", "then_branch"].value_info], ["t"])

    def test_loops_of_each_kind(self):
        step = [node("Add", "s x", "t"), node("Mul", "t half", "s2")]
        for gathers in (False, True):
            inner = body(step + ([node("Neg", "s2", "g")] if gathers else []), [("s", "s2", [3])],
                         [info("g", [3])] if gathers else [])
            outputs = [info("y", [3])] + ([info("z", ["rounds", 3])] if gathers else [])
            for inputs in ("n _ x", "n go0 x", "_ go0 x"):
                if inputs.startswith("_"):
                    # Ends by itself.
                    inner.node[0].CopyFrom(node("Less", "i most", "goes_on"))
                proto = model([node("Loop", inputs, "y z" if gathers else "y", body=inner)],
                              [info("x", [3])] + ([info("n", [], I64)] if "n" in inputs.split() else []) +
                              ([info("go0", [], BOOL)] if "go0" in inputs else []), outputs,
                              [weight("half", 0.5), weight("most", 3, np.int64)])
                feeds = [{name: feed[name] for name in feed if name in [each.name for each in proto.graph.input]}
                         for go in (True, False) for feed in self.rounds(0, 1, 4, go0=np.array(go))]
                # The runtime gathers nothing of the right shape in no round only where it knows that shape.
                with self.subTest(inputs=inputs, gathers=gathers):
                    self.assertUntouched(proto, *feeds)

    def test_a_known_number_of_rounds(self):
        inner = body([node("Add", "s x", "s2"), node("Neg", "s2", "g")], [("s", "s2", [3])], [info("g", [3])])
        proto = model([node("Loop", "n _ x", "y z", body=inner)], [info("x", [3])], [info("y", [3]), info("z", [5, 3])],
                      [weight("n", 5, np.int64)])
        self.assertUntouched(proto, {"x": np.array([1, 2, 3], np.float32)})

    def test_branches_in_loops_in_branches(self):
        yes = graph("yes", [node("Mul", "s x", "a")], [], [info("a", [3])])
        no = graph("no", [node("Sub", "s outer", "b")], [], [info("b", [3])])
        inner = body([node("ReduceSum", "s zero", "sum", keepdims=0), node("Greater", "sum limit", "p"),
                      node("If", "p", "s2", then_branch=yes, else_branch=no)], [("s", "s2", [3])])
        loop = graph("loops", [node("Relu", "x", "outer"), node("Loop", "n _ outer", "c", body=inner)], [], [info("c", [3])])
        other = graph("other", [node("Exp", "x", "d")], [], [info("d", [3])])
        proto = model([node("If", "q", "y", then_branch=loop, else_branch=other)],
                      [info("q", [], BOOL), info("n", [], I64), info("x", [3])], [info("y", [3])],
                      [weight("zero", [0], np.int64), weight("limit", 0)], opset=13)
        self.assertUntouched(proto, *(dict(q=np.array(q), **feed) for q in (True, False) for feed in self.rounds(0, 1, 5)))

    def test_initializers_of_bodies(self):
        # Two bodies with an initializer of the same name, but not of the same value.
        yes = graph("yes", [node("Add", "x w", "a")], [], [info("a", [3])], [weight("w", [1, 2, 3])])
        no = graph("no", [node("Add", "x w", "b")], [], [info("b", [3])], [weight("w", [4, 5, 6])])
        inner = body([node("Mul", "s k", "s2")], [("s", "s2", [3])], weights=[weight("k", [2, 2, 0.5])])
        proto = model([node("If", "p", "t", then_branch=yes, else_branch=no), node("Loop", "n _ t", "y", body=inner)],
                      [info("p", [], BOOL), info("x", [3]), info("n", [], I64)], [info("y", [3])])
        written = self.optimize(proto, *(dict(p=np.array(p), **feed) for p in (True, False) for feed in self.rounds(0, 3)))
        self.assertEqual([each.op_type for each in written.graph.node], ["If", "Loop"])

    def test_outer_values_have_their_new_names(self):
        yes = graph("yes", [node("Neg", "t", "a")], [], [info("a", [3])])
        no = graph("no", [node("Identity", "t", "b")], [], [info("b", [3])])
        proto = model([node("Identity", "x", "t"), node("If", "p", "y", then_branch=yes, else_branch=no)],
                      [info("p", [], BOOL), info("x", [3])], [info("y", [3])])
        written = self.optimize(proto, *(dict(p=np.array(p), x=np.array([1, 2, 3], np.float32)) for p in (True, False)))
        inner = bodies(written.graph)
        self.assertEqual(list(inner["node_y", "then_branch"].node[0].input), ["x"])
        self.assertEqual([each.name for each in inner["node_y", "else_branch"].output], ["b"])

    def test_what_can_be_simplified_inside_is(self):
        inner = body([node("Mul", "s ones", "t"), node("Neg", "t", "u"), node("Neg", "u", "v"), node("Exp", "v", "w"),
                      node("Neg", "w", "s2")], [("s", "s2", [3])])
        proto = model([node("Loop", "n _ x", "y", body=inner)], [info("n", [], I64), info("x", [3])], [info("y", [3])],
                      [weight("ones", [1, 1, 1])])
        written = self.optimize(proto, *self.rounds(0, 1, 2))
        inside = bodies(written.graph)["node_y", "body"]
        self.assertEqual([each.op_type for each in inside.node if each.op_type != "Identity"], ["Exp", "Neg"])
        self.assertEqual([each.name for each in inside.input], ["i", "go", "s"])
        self.assertEqual([each.name for each in inside.output], ["goes_on", "s2"])

    def test_bounds_that_are_computed(self):
        # One node for a Slice that moves, in a body as outside of one.
        step = [node("Unsqueeze", "i zero", "from"), node("Add", "i one", "next"), node("Unsqueeze", "next zero", "to"),
                node("Slice", "table from to", "row"), node("Add", "s row", "s2")]
        weights = [weight("zero", [0], np.int64), weight("one", 1, np.int64), weight("table", [1, 2, 4, 8])]
        inner = body(step, [("s", "s2", [1])])
        proto = model([node("Loop", "n _ x", "y", body=inner)], [info("n", [], I64), info("x", [1])], [info("y", [1])],
                      weights)
        self.assertUntouched(proto, *(dict(n=np.array(n, np.int64), x=np.array([0.5], np.float32)) for n in (0, 1, 4)))
        outside = model(step, [info("i", [], I64), info("s", [1])], [info("s2", ["m"])], weights)
        self.assertUntouched(outside, *(dict(i=np.array(i, np.int64), s=np.array([0.5], np.float32)) for i in (0, 3)))

    def test_carried_values_that_nobody_needs_stay_beside_the_others(self):
        inner = body([node("Add", "s x", "s2"), node("Identity", "r", "r2")], [("s", "s2", [3]), ("r", "r2", [3])])
        proto = model([node("Loop", "n _ x x", "y z", body=inner)], [info("n", [], I64), info("x", [3])], [info("y", [3])])
        self.assertUntouched(proto, *self.rounds(0, 2))

    def test_sizes_that_a_body_changes(self):
        inner = body([node("Concat", "s x", "s2", axis=0)], [("s", "s2", ["m"])])
        inner.output[1].type.tensor_type.shape.dim[0].dim_param = "k"
        proto = model([node("Loop", "n _ x", "y", body=inner)], [info("n", [], I64), info("x", [3])], [info("y", ["k"])])
        self.assertUntouched(proto, *self.rounds(0, 1, 3))

    def test_old_operator_sets_stay(self):
        inner = body([node("Unsqueeze", "s", "t", axes=[0]), node("Squeeze", "t", "u", axes=[0]), node("Relu", "u", "s2")],
                     [("s", "s2", [3])])
        for opset in (9, 11):
            proto = model([node("Loop", "n _ x", "y", body=inner)], [info("n", [], I64), info("x", [3])], [info("y", [3])],
                          opset=opset)
            written = self.optimize(proto, *self.rounds(0, 1, 3))
            self.assertEqual(written.opset_import[0].version, opset)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
