#!/usr/bin/env python3
# Covers: formats/onnx KeptNodes
"""What `sinter optimize` keeps of an ONNX file: small models, one a case.

  WrittenFiles.py --sinter build/bin/sinter

Needs Python's onnx (Debian: python3-onnx); without it, it says so and ends with
77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without()
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SINTER = None


def info(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name="node_" + outputs.split()[0], **attributes)


def model(nodes, inputs, outputs, weights=(), opset=15, ir_version=8, imports=(), functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] + list(imports),
                               functions=list(functions))
    result.ir_version = ir_version
    return result


def ops(graph):
    return [each.op_type for each in graph.node]


class WrittenFiles(unittest.TestCase):
    def optimize(self, proto, *options, code=0, check=True):
        """The written model, and what the command said."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
            onnx.save(proto, source)
            done = subprocess.run([SINTER, "optimize", source, "-o", target, *options], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            if code:
                self.assertFalse(os.path.exists(target))
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                return None, done.stderr
            written = onnx.load(target)
            if check:
                # Given a path, it would write what it infers into the file.
                onnx.checker.check_model(written, full_check=True)
            return written, done.stderr

    def test_what_the_file_says_of_itself(self):
        proto = model([node("Relu", "x", "t"), node("Identity", "t", "u"), node("Sigmoid", "u", "y")],
                      [info("x", ["batch", 4])], [info("y", ["batch", 4])])
        proto.producer_name, proto.producer_version, proto.domain = "maker", "1.2", "org.example"
        proto.model_version, proto.doc_string = 7, "about the model"
        proto.graph.doc_string = "about the graph"
        proto.graph.input[0].doc_string = "about x"
        proto.graph.output[0].doc_string = "about y"
        proto.graph.value_info.add().CopyFrom(info("t", ["batch", 4]))
        proto.graph.value_info[0].doc_string = "about t"
        proto.graph.node[0].doc_string = "about the node"
        for key, value in (("b", "2"), ("a", "1")):
            entry = proto.metadata_props.add()
            entry.key, entry.value = key, value
        written, said = self.optimize(proto)
        for field in ("producer_name", "producer_version", "domain", "model_version", "doc_string", "ir_version"):
            self.assertEqual(getattr(written, field), getattr(proto, field))
        self.assertEqual(written.graph.doc_string, "about the graph")
        self.assertEqual(written.graph.input[0], proto.graph.input[0])
        self.assertEqual(written.graph.output[0], proto.graph.output[0])
        self.assertEqual(list(written.graph.value_info), list(proto.graph.value_info))
        self.assertEqual(written.graph.node[0].doc_string, "about the node")
        self.assertEqual(list(written.metadata_props), list(proto.metadata_props))
        self.assertEqual(said, "")
        again, _ = self.optimize(written)
        self.assertEqual(again, written)

    def test_every_field_of_metadata(self):
        # Python's onnx may be older than these fields; it keeps what it does not know.
        numbers = {"ModelProto": 14, "GraphProto": 16, "FunctionProto": 14, "NodeProto": 9, "TensorProto": 16,
                   "ValueInfoProto": 4}

        def append(proto, number, content):
            tag = number << 3 | 2
            proto.MergeFromString(bytes(([tag] if tag < 128 else [tag & 127 | 128, tag >> 7]) + [len(content)]) + content)

        def noted(proto, what):
            """Fills in what a message of any kind has to say of itself."""
            if hasattr(proto, "doc_string"):
                proto.doc_string = f"about {what}"
            kind = type(proto).__name__
            entry = onnx.StringStringEntryProto(key="kind", value=what)
            append(proto, numbers[kind], entry.SerializeToString())
            if kind == "NodeProto":
                append(proto, 10, b"\x0a\x01k")
            if kind == "ModelProto":
                append(proto, 26, b"\x0a\x01k\x10\x02")
            return proto

        branches = [noted(helper.make_graph([noted(node(op, "n", f"{op}_out"), op)], f"{op}_branch", [],
                                            [noted(info(f"{op}_out", [2]), f"{op}_out")]), f"{op} branch")
                    for op in ("Exp", "Neg")]
        nodes = [noted(node("Mul", "x w", "m"), "the product"), noted(node("Add", "m s", "n"), "the sum"),
                 noted(node("If", "p", "c", then_branch=branches[0], else_branch=branches[1]), "the choice"),
                 noted(helper.make_node("Strange", ["c"], ["y"], name="call", domain="own"), "the call")]
        function = noted(helper.make_function(
            "own", "Strange", ["a"], ["b"], [noted(helper.make_node("Unknown", ["a"], ["b"], domain="org.example"), "inside")],
            [helper.make_opsetid("org.example", 1)]), "the function")
        proto = model(nodes, [info("x", [2]), info("p", [], TensorProto.BOOL)], [info("y", [2])],
                      [noted(weight("w", [3, 5]), "the weight"), weight("scale", 0.5), weight("zero", 3, np.int8)],
                      imports=[helper.make_opsetid("own", 1), helper.make_opsetid("org.example", 1)], functions=[function])
        proto.graph.sparse_initializer.add().CopyFrom(helper.make_sparse_tensor(
            noted(weight("s", [7]), "the sparse weight"), weight("", [1], np.int64), [2]))
        # Dense, it would be no larger than what it is now.
        large = np.zeros(100, np.float32)
        large[7] = 1
        proto.graph.sparse_initializer.add().CopyFrom(helper.make_sparse_tensor(
            weight("large", [1]), weight("", [7], np.int64), [100]))
        proto.graph.node.append(noted(node("Add", "z large", "l"), "the large sum"))
        proto.graph.input.append(info("z", [100]))
        proto.graph.output.append(info("l", [100]))
        for each in [*proto.graph.input, *proto.graph.output]:
            noted(each, each.name)
        proto.graph.value_info.extend([noted(info("m", [2]), "m"), noted(info("c", [2]), "c")])
        annotation = proto.graph.quantization_annotation.add()
        annotation.tensor_name = "m"
        for key, value in (("SCALE_TENSOR", "scale"), ("ZERO_POINT_TENSOR", "zero")):
            entry = annotation.quant_parameter_tensor_names.add()
            entry.key, entry.value = key, value
        # Of a tensor that will be gone.
        proto.graph.node.append(node("Identity", "z", "gone"))
        lost = proto.graph.quantization_annotation.add()
        lost.CopyFrom(annotation)
        lost.tensor_name = "gone"
        noted(noted(proto, "the model").graph, "the graph")
        proto.producer_name, proto.producer_version, proto.domain, proto.model_version = "maker", "1.2", "org.example", 7
        training = proto.training_info.add()
        training.algorithm.name = "step"
        written, said = self.optimize(proto, check=False)

        self.assertEqual(len([line for line in said.splitlines() if "training_info" in line]), 1)
        expected = onnx.ModelProto()
        expected.CopyFrom(proto)
        del expected.training_info[:]
        del expected.graph.quantization_annotation[1:]
        del expected.graph.node[-1]
        for kind in ("input", "output", "value_info", "quantization_annotation"):
            mine, other = getattr(written.graph, kind), getattr(expected.graph, kind)
            self.assertEqual([each.SerializeToString() for each in mine], [each.SerializeToString() for each in other], kind)
        for kind in ("initializer", "node"):
            mine, other = ({each.name: each for each in getattr(graph, kind)}
                           for graph in (written.graph, expected.graph))
            if kind == "initializer":
                # Dense, it is smaller.
                self.assertEqual(mine.pop("s").doc_string, "about the sparse weight")
            self.assertEqual(mine.keys(), other.keys())
            for name in mine:
                self.assertEqual(mine[name].SerializeToString(), other[name].SerializeToString(), name)
        self.assertEqual(written.functions[0].SerializeToString(), expected.functions[0].SerializeToString())
        weights = {each.name: each for each in written.graph.initializer}
        self.assertEqual(numpy_helper.to_array(weights["s"]).tolist(), [0, 7])
        self.assertEqual(numpy_helper.to_array(weights["zero"]).tolist(), 3)
        sparse, = written.graph.sparse_initializer
        self.assertEqual((sparse.values.name, list(sparse.dims), numpy_helper.to_array(sparse.values).tolist(),
                          numpy_helper.to_array(sparse.indices).tolist()), ("large", [100], [1], [7]))
        for proto in (written, expected):
            for kind in ("node", "initializer", "sparse_initializer", "input", "output", "value_info",
                         "quantization_annotation"):
                proto.graph.ClearField(kind)
        self.assertEqual(written.SerializeToString(), expected.SerializeToString())

    def test_functions_are_written_out(self):
        function = helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])],
                                        [helper.make_opsetid("", 15)])
        proto = model([helper.make_node("F", ["x"], ["t"], domain="own"), node("Neg", "t", "u"),
                       helper.make_node("F", ["u"], ["y"], domain="own")], [info("x", [2])], [info("y", [2])],
                      imports=[helper.make_opsetid("own", 1)], functions=[function])
        written, said = self.optimize(proto, check=False)
        self.assertEqual((ops(written.graph), list(written.functions)), (["Relu", "Neg", "Relu"], []))
        self.assertIn("own.F (2 x)", said)

    def test_versions_are_not_raised_without_need(self):
        proto = model([node("Relu", "x", "y")], [info("x", [2])], [info("y", [2])], opset=9, ir_version=3)
        written, _ = self.optimize(proto)
        self.assertEqual((written.ir_version, written.opset_import[0].version), (3, 9))

    def test_sizes_that_are_given_replace_those_declared(self):
        proto = model([node("Relu", "x", "y")], [info("x", ["n", "m"])], [info("y", ["n", "m"])])
        written, _ = self.optimize(proto, "--shape", "x:2x3")
        for each in (written.graph.input[0], written.graph.output[0]):
            self.assertEqual([dim.dim_value for dim in each.type.tensor_type.shape.dim], [2, 3])

    def with_default(self, ir_version):
        return model([node("Conv", "x w", "t"), node("BatchNormalization", "t s b m v", "y")],
                     [info("x", [1, 1, 4, 4]), info("w", [2, 1, 1, 1])], [info("y", [1, 2, 4, 4])],
                     [weight("w", np.ones((2, 1, 1, 1)))] + [weight(name, [1.5, 2]) for name in "sbmv"],
                     ir_version=ir_version)

    def test_default_of_an_input_stays(self):
        written, said = self.optimize(self.with_default(8))
        self.assertEqual([each.name for each in written.graph.input], ["x", "w"])
        self.assertEqual(ops(written.graph), ["Conv", "BatchNormalization"])
        self.assertIn("w", [each.name for each in written.graph.initializer])
        self.assertIn("'w' is an initializer and an input", said)

    def test_default_is_frozen_when_asked_for(self):
        written, said = self.optimize(self.with_default(8), "--freeze")
        self.assertEqual([each.name for each in written.graph.input], ["x"])
        self.assertEqual(ops(written.graph), ["Conv"])
        self.assertEqual(said, "")

    def test_old_files_list_constants_as_inputs(self):
        written, _ = self.optimize(self.with_default(3))
        self.assertEqual([each.name for each in written.graph.input], ["x"])
        self.assertEqual(ops(written.graph), ["Conv"])

    def test_random_draws_stay(self):
        for attributes in ({}, {"seed": 3.0}):
            proto = model([node("RandomNormal", "", "r", shape=[2, 3], **attributes),
                           node("RandomNormal", "", "s", shape=[2, 3], **attributes),
                           node("Add", "r s", "t"), node("Identity", "t", "u"), node("Mul", "u x", "y")],
                          [info("x", [2, 3])], [info("y", [2, 3])])
            written, _ = self.optimize(proto)
            self.assertEqual(ops(written.graph), ["RandomNormal", "RandomNormal", "Add", "Mul"])

    def test_draws_in_a_branch_keep_the_whole_node(self):
        branch = helper.make_graph([node("RandomNormalLike", "x", "b")], "yes", [], [info("b", [2])])
        other = helper.make_graph([node("Neg", "x", "c")], "no", [], [info("c", [2])])
        proto = model([node("Identity", "a", "x"), node("If", "p", "y", then_branch=branch, else_branch=other)],
                      [info("a", [2]), info("p", [], TensorProto.BOOL)], [info("y", [2])])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["If"])
        inner = {a.name: a.g for a in written.graph.node[0].attribute}
        self.assertEqual(ops(inner["then_branch"]), ["RandomNormalLike"])
        # What the graphs take from outside is called as it is called now.
        self.assertEqual(list(inner["then_branch"].node[0].input), ["a"])
        self.assertEqual(list(inner["else_branch"].node[0].input), ["a"])

    def test_sequences_stay(self):
        sequence = helper.make_tensor_sequence_value_info
        proto = model([node("Identity", "x", "t"), node("SequenceInsert", "s t", "u"),
                       node("SequenceLength", "u", "n")],
                      [sequence("s", 1, None), info("x", [2])],
                      [sequence("u", 1, None), info("n", [], TensorProto.INT64)])
        written, said = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["SequenceInsert", "SequenceLength"])
        self.assertEqual(list(written.graph.node[0].input), ["s", "x"])
        self.assertEqual([list(written.graph.input), list(written.graph.output)],
                         [list(proto.graph.input), list(proto.graph.output)])
        self.assertIn("kept as they are", said)

    def test_known_sequences_vanish_where_nobody_needs_them(self):
        sequence = helper.make_tensor_sequence_value_info
        nodes = [node("SequenceConstruct", "x x2", "s"), node("SequenceAt", "s i", "y")]
        inputs, at = [info("x", [2]), info("x2", [2])], [weight("i", 1, np.int64)]
        written, _ = self.optimize(model(nodes, inputs, [info("y", [2])], at))
        self.assertEqual(ops(written.graph), ["Identity"])
        written, _ = self.optimize(model(nodes, inputs, [info("y", [2]), sequence("s", 1, None)], at))
        self.assertEqual(sorted(ops(written.graph)), ["Identity", "SequenceConstruct"])

    def test_operators_that_are_not_known_stay(self):
        proto = model([node("Relu", "x", "a"), node("Relu", "a", "b"),
                       helper.make_node("Strange", ["b"], ["c"], domain="org.example", kind=3),
                       node("Neg", "c", "y")],
                      [info("x", [2])], [info("y", [2])], imports=[helper.make_opsetid("org.example", 5)])
        proto.graph.value_info.add().CopyFrom(info("c", [2]))
        written, said = self.optimize(proto, check=False)
        self.assertEqual(ops(written.graph), ["Relu", "Strange", "Neg"])
        strange = written.graph.node[1]
        self.assertEqual((strange.domain, strange.attribute[0].i), ("org.example", 3))
        self.assertIn(("org.example", 5), [(each.domain, each.version) for each in written.opset_import])
        self.assertIn("Strange", said)
        self.assertEqual(len(said.strip().splitlines()), 1)

    def test_functions_that_cannot_be_read_are_called(self):
        function = helper.make_function("own", "F", ["a"], ["b"],
                                        [helper.make_node("Strange", ["a"], ["b"], domain="org.example")],
                                        [helper.make_opsetid("org.example", 1)])
        proto = model([helper.make_node("F", ["x"], ["y"], domain="own")], [info("x", [2])], [info("y", [2])],
                      imports=[helper.make_opsetid("own", 1), helper.make_opsetid("org.example", 1)],
                      functions=[function])
        written, _ = self.optimize(proto, check=False)
        self.assertEqual(ops(written.graph), ["F"])
        self.assertEqual([each.name for each in written.functions], ["F"])

    def test_forms_that_runtimes_look_for_stay(self):
        mean = lambda x, y: node("ReduceMean", x, y, axes=[-1])
        nodes = [mean("x", "m"), node("Sub", "x m", "d"), node("Pow", "d two", "q"), mean("q", "v"),
                 node("Add", "v eps", "e"), node("Sqrt", "e", "s"), node("Div", "d s", "n"), node("Mul", "n g", "ng"),
                 node("Add", "ng b", "l"), node("MatMul", "l w", "h"), node("Div", "h r", "hr"),
                 node("Erf", "hr", "f"), node("Add", "f one", "fo"), node("Mul", "h fo", "hf"),
                 node("Mul", "hf half", "u"), node("MatMul", "u w", "y")]
        weights = [weight("two", 2), weight("eps", 1e-5), weight("r", 2 ** 0.5), weight("one", 1), weight("half", 0.5),
                   weight("g", [1, 2, 3, 4]), weight("b", [4, 3, 2, 1]), weight("w", np.eye(4))]
        for first in (3, "n"):
            proto = model(nodes, [info("x", [first, 4])], [info("y", [first, 4])], weights)
            written, _ = self.optimize(proto)
            self.assertEqual(ops(written.graph), ops(proto.graph))

    def test_scale_that_is_part_of_no_form_is_folded(self):
        proto = model([node("Mul", "x half", "h"), node("MatMul", "h w", "y")], [info("x", [3, 4])], [info("y", [3, 4])],
                      [weight("half", 0.5), weight("w", np.eye(4))])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["MatMul"])

    def test_nodes_that_would_be_several_stay(self):
        proto = model([node("GlobalAveragePool", "x", "p"), node("Flatten", "p", "f"), node("Gemm", "f w", "y")],
                      [info("x", [1, 3, 4, 4])], [info("y", [1, 2])], [weight("w", np.ones((3, 2)))])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["GlobalAveragePool", "Flatten", "Gemm"])

    def test_nodes_with_outputs_that_nothing_uses_stay(self):
        """Also where the operator requires the output."""
        for used, others in ("values", "places inverse counts"), ("counts", "values places inverse"):
            kind = 1 if used == "values" else 7
            proto = model([node("Unique", "x", "values places inverse counts"), node("ReduceSum", f"{used} zero", "y")],
                          [info("x", ["N", 5])], [info("y", [1], kind)], [weight("zero", [0], np.int64)])
            written, _ = self.optimize(proto)
            self.assertEqual(ops(written.graph), ["Unique", "ReduceSum"])
            self.assertIn(used, written.graph.node[0].output)
            self.assertTrue(written.graph.node[0].output[0])
        proto = model([node("Split", "x", "a b", axis=1), node("Abs", "a", "y")], [info("x", ["N", 6, "H", "W"])], [info("y", ["N", 3, "H", "W"])])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["Split", "Abs"])

    def test_whole_nodes_of_constants_fold(self):
        proto = model([node("ReduceMean", "c", "m", axes=[0], keepdims=0), node("Add", "x m", "y")],
                      [info("x", [2])], [info("y", [2])], [weight("c", [[1, 2], [3, 4]])])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["Add"])

    def test_equal_whole_nodes_become_one(self):
        proto = model([node("ReduceMean", "x", "a", axes=[1]), node("ReduceMean", "x", "b", axes=[1]),
                       node("Add", "a b", "y")], [info("x", [2, 3])], [info("y", [2, 1])])
        written, _ = self.optimize(proto)
        self.assertEqual(ops(written.graph), ["ReduceMean", "Add"])

    def test_nodes_that_share_only_arithmetic_of_sizes_stay(self):
        nodes = [node("Slice", "x zero two axis", "a"), node("Slice", "x two far axis", "b"), node("Neg", "b", "c"),
                 node("Concat", "c a", "y", axis=3)]
        weights = [weight(name, [value], np.int64) for name, value in
                   (("zero", 0), ("two", 2), ("far", 2 ** 62), ("axis", 3))]
        proto = model(nodes, [info("x", ["n", 2, "m", 4])], [info("y", ["n", 2, "m", 4])], weights)
        written, _ = self.optimize(proto)
        self.assertEqual(sorted(ops(written.graph)), sorted(ops(proto.graph)))
        # Equal ones become one.
        nodes[1:3] = [node("Slice", "x zero two axis", "c")]
        written, _ = self.optimize(model(nodes, list(proto.graph.input), list(proto.graph.output), weights))
        self.assertEqual(ops(written.graph), ["Slice", "Concat"])

    def test_reductions_of_one_element_of_unknown_sizes(self):
        for op in ("ReduceMax", "ReduceSum"):
            given = {"axes": [1]} if op == "ReduceMax" else {}
            proto = model([node(op, "x" if given else "x one", "y", keepdims=0, **given)], [info("x", ["n", 1])],
                          [info("y", ["n"])], [weight("one", [1], np.int64)])
            written, _ = self.optimize(proto)
            self.assertEqual(len(written.graph.node), 1)

    def test_sizes_that_the_number_of_elements_says_are_not_computed(self):
        take = [node("Shape", "x", "s"), node("Slice", "s zero two", "front")]
        for name, nodes, sizes in (("last", [node("Concat", "front minus", "all", axis=0)], {"minus": [-1]}),
                                   ("none", [node("Concat", "front rest", "all", axis=0)], {"rest": [12]})):
            weights = [weight(key, value, np.int64) for key, value in {"zero": [0], "two": [2], **sizes}.items()]
            nodes = take + nodes + [node("Reshape", "x all", "y")]
            inputs, outputs = [info("x", ["N", 5, 3, 4])], [info("y", ["N", 5, 12])]
            written, _ = self.optimize(model(nodes, inputs, outputs, weights))
            self.assertEqual(ops(written.graph), ["Reshape"], name)
            # Where the sizes are wanted, they are there for the node, too.
            written, _ = self.optimize(model(nodes, inputs, outputs + [info("all", [3], TensorProto.INT64)], weights))
            self.assertEqual(ops(written.graph).count("Reshape"), 1)
            self.assertIn("Concat", ops(written.graph))

    def test_resize_of_an_unknown_batch(self):
        # 5 / 6 and its like are less in f32 than they are, and the scale would make one element less.
        for size, wanted in ((6, 5), (3, 2), (7, 10), (224, 97), (4, 6)):
            sizes = [node("Shape", "x", "s", end=2), node("Concat", "s hw", "all", axis=0)]
            nodes = sizes + [node("Resize", "x none none all", "y", mode="nearest")]
            nodes[-1].input[1] = nodes[-1].input[2] = ""
            written, _ = self.optimize(model(nodes, [info("x", ["N", 1, size, 4])], [info("y", ["N", 1, wanted, 8])],
                                             [weight("hw", [wanted, 8], np.int64)]))
            self.assertEqual(ops(written.graph), ["Resize"])
            scale = numpy_helper.to_array(written.graph.initializer[0])[2]
            self.assertEqual(int(np.floor(size * float(scale))), wanted)
            self.assertEqual(int(np.floor(np.float32(size) * scale)), wanted)

    def test_weights_are_turned_before_they_are_written(self):
        for groups in (1, 2, 4):
            proto = model([node("ConvTranspose", "x w", "t", group=groups, strides=[2, 2]),
                           node("BatchNormalization", "t s b m v", "y")],
                          [info("x", [1, 4, 5, 5])], [info("y", [1, 4, 11, 10])],
                          [weight("w", np.arange(4 * 4 // groups * 6).reshape(4, 4 // groups, 3, 2))] +
                          [weight(name, [1, 2, 3, 4]) for name in "sbmv"])
            written, _ = self.optimize(proto)
            self.assertEqual(ops(written.graph), ["ConvTranspose"])
            self.assertEqual(sorted(each.name for each in written.graph.initializer),
                             sorted(written.graph.node[0].input[1:]))

    def test_an_output_that_cannot_be_said_is_refused(self):
        # The optional is known to be empty, and nobody gives it.
        optional = helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2]))
        proto = model([node("Relu", "x", "y")], [info("x", [2])],
                      [helper.make_value_info("y", optional)])
        _, said = self.optimize(proto, code=4)
        self.assertIn("'y'", said)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
