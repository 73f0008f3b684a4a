#!/usr/bin/env python3
# Covers: formats/onnx/ops JoinedBranches PackedSequence WhileLoop
"""Graphs whose sizes values decide in loops and branches, beside ONNX Runtime.

  ValueSizes.py --sinter build/bin/sinter [--filter NAME]

Each graph is run with inputs that decide otherwise, as it is, as `sinter optimize` writes it, as StableHLO and as
PaddlePaddle, on both backends. Inputs that it is not valid for are refused. It is one program for
all values and sizes on the CPU backend: a note that it is not is a failure. `compare` agrees on the tensors on the way.

Needs Python's onnx and numpy (Debian: python3-onnx) and ONNX Runtime (npm install in bench/); without them it says so and
ends with 77.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages  # noqa: E402

Packages.skip_without(runtime=True)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from judge import OnnxRuntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, info, sequence_info = helper.make_node, helper.make_tensor_value_info, helper.make_tensor_sequence_value_info
random = np.random.default_rng(5)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integer(value):
    return np.array(value, np.int64)


def model(nodes, inputs, outputs, constants):
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    onnx.checker.check_model(made)
    return made


def loop_body(nodes, states, results):
    """A body that goes on as the loop says; states and results are value infos."""
    nodes = [*nodes, node("Identity", ["goes_on"], ["goes_on_out"])]
    return helper.make_graph(nodes, "body", [info("i", INT64, []), info("goes_on", BOOL, []), *states],
                             [info("goes_on_out", BOOL, []), *results])


def suppression_of_classes():
    """The boxes of each class that are left, one class after the other."""
    body = loop_body(
        [node("Unsqueeze", ["i", "zero"], ["class"]), node("Gather", ["scores", "class"], ["own"], axis=1),
         node("NonMaxSuppression", ["boxes", "own", "most", "overlap", "threshold"], ["left"]),
         node("Concat", ["all", "left"], ["more"], axis=0)],
        [info("all", INT64, ["k", 3])], [info("more", INT64, ["l", 3])])
    constants = {"zero": integer([0]), "most": integer(5), "overlap": np.float32(0.5), "threshold": np.float32(0.3),
                 "none": np.zeros((0, 3), np.int64)}

    def feeds(boxes, classes):
        corners = random.random((1, boxes, 4)).astype(np.float32)
        corners[..., 2:] += corners[..., :2]
        return {"boxes": corners, "scores": random.random((1, 3, boxes)).astype(np.float32), "n": integer(classes)}
    return model([node("Loop", ["n", "", "none"], ["y"], body=body)],
                 [info("boxes", FLOAT, [1, "B", 4]), info("scores", FLOAT, [1, 3, "B"]), info("n", INT64, [])],
                 [info("y", INT64, ["R", 3])], constants), [feeds(6, 3), feeds(20, 2), feeds(1, 0)]


def greedy_decoding():
    """Ids that grow by what all of them say."""
    body = loop_body(
        [node("Gather", ["table", "ids"], ["embedded"], axis=0), node("ReduceMean", ["embedded"], ["mean"], axes=[1], keepdims=0),
         node("MatMul", ["mean", "head"], ["logits"]), node("ArgMax", ["logits"], ["next"], axis=1, keepdims=1),
         node("Concat", ["ids", "next"], ["longer"], axis=1)],
        [info("ids", INT64, [1, "k"])], [info("longer", INT64, [1, "l"])])
    return model([node("Loop", ["n", "", "start"], ["y"], body=body)],
                 [info("start", INT64, [1, "S"]), info("n", INT64, [])], [info("y", INT64, [1, "T"])],
                 {"table": floats(17, 6), "head": floats(6, 17)}), [
        {"start": integer([[3, 5]]), "n": integer(5)}, {"start": integer([[1]]), "n": integer(9)},
        {"start": integer([[2, 2, 2, 9]]), "n": integer(0)}]


def lstm_loop():
    """A recurrent layer as tf2onnx spells it: a loop over steps that ends by a condition."""
    hidden, inputs = 4, 3
    body = helper.make_graph(
        [node("Gather", ["x", "i"], ["step"], axis=0), node("Concat", ["step", "h"], ["both"], axis=1),
         node("MatMul", ["both", "w"], ["product"]), node("Add", ["product", "b"], ["gates"]),
         node("Split", ["gates"], ["in", "new", "forget", "out"], axis=1),
         *(node(op, [name], [name + "_"]) for op, name in (("Sigmoid", "in"), ("Tanh", "new"), ("Sigmoid", "forget"), ("Sigmoid", "out"))),
         node("Mul", ["c", "forget_"], ["kept"]), node("Mul", ["in_", "new_"], ["added"]), node("Add", ["kept", "added"], ["c_next"]),
         node("Tanh", ["c_next"], ["squashed"]), node("Mul", ["squashed", "out_"], ["h_next"]), node("Identity", ["h_next"], ["y"]),
         node("Add", ["i", "one"], ["j"]), node("Less", ["j", "steps"], ["goes_on_out"])],
        "body", [info("i", INT64, []), info("goes_on", BOOL, []), info("c", FLOAT, ["N", hidden]), info("h", FLOAT, ["N", hidden])],
        [info("goes_on_out", BOOL, []), info("c_next", FLOAT, ["N", hidden]), info("h_next", FLOAT, ["N", hidden]), info("y", FLOAT, ["N", hidden])])
    nodes = [node("Transpose", ["given"], ["x"], perm=[1, 0, 2]), node("Shape", ["given"], ["sizes"]),
             node("Gather", ["sizes", "one"], ["steps"], axis=0), node("Gather", ["sizes", "first"], ["batch"], axis=0),
             node("Concat", ["batch", "width"], ["state"], axis=0), node("ConstantOfShape", ["state"], ["empty"]),
             node("Less", ["zero", "steps"], ["begins"]),
             node("Loop", ["most", "begins", "empty", "empty"], ["c_last", "h_last", "all"], body=body),
             node("Transpose", ["all"], ["outputs"], perm=[1, 0, 2])]
    constants = {"one": integer(1), "zero": integer(0), "first": integer([0]), "width": integer([hidden]), "most": integer(2**31 - 1),
                 "w": floats(inputs + hidden, 4 * hidden), "b": floats(4 * hidden)}
    return model(nodes, [info("given", FLOAT, ["N", "T", inputs])],
                 [info("outputs", FLOAT, ["N", "T", hidden]), info("h_last", FLOAT, ["N", hidden])], constants), [
        {"given": floats(2, 5, inputs)}, {"given": floats(1, 1, inputs)}, {"given": floats(3, 17, inputs)}]


def best_of_computed_number():
    """TopK of as many as another tensor has that are not zero."""
    nodes = [node("NonZero", ["x"], ["places"]), node("Shape", ["places"], ["sizes"]), node("Gather", ["sizes", "one"], ["k"], axis=0),
             node("TopK", ["y", "k"], ["values", "at"], axis=-1)]
    return model(nodes, [info("x", FLOAT, ["A"]), info("y", FLOAT, [2, 9])],
                 [info("values", FLOAT, [2, "K"]), info("at", INT64, [2, "K"])], {"one": integer([1])}), [
        {"x": np.array(x, np.float32), "y": floats(2, 9)} for x in ([1, 0, 2, 3], [0, 0], [1] * 9)]


def branch_of_computed_size():
    """What is positive, or a row of ones."""
    def branch(nodes):
        return helper.make_graph(nodes, "branch", [], [info(nodes[-1].output[0], FLOAT, ["k"])])
    taken = branch([node("Greater", ["x", "zero"], ["above"]), node("Compress", ["x", "above"], ["positive"]), node("Sqrt", ["positive"], ["roots"])])
    other = branch([node("Expand", ["half", "three"], ["row"])])
    return model([node("If", ["take"], ["chosen"], then_branch=taken, else_branch=other), node("Exp", ["chosen"], ["y"])],
                 [info("take", BOOL, []), info("x", FLOAT, ["N"])], [info("y", FLOAT, ["M"])],
                 {"zero": np.float32(0), "half": np.float32(0.5), "three": integer([3])}), [
        {"take": np.array(take), "x": floats(size)} for take, size in ((True, 12), (False, 12), (True, 1), (True, 40))]


def convolution_of_batched_images():
    """As detectors batch images: padded by computed amounts along every dimension, the channels, too."""
    nodes = [node("Shape", ["x"], ["own"]), node("Max", ["own", "wanted"], ["largest"]), node("Sub", ["largest", "own"], ["more"]),
             node("Concat", ["none", "more"], ["amounts"], axis=0), node("Pad", ["x", "amounts"], ["padded"]),
             node("Unsqueeze", ["padded", "first"], ["batch"]), node("Conv", ["batch", "w"], ["c"], strides=[2, 2], pads=[3, 3, 3, 3]),
             node("Relu", ["c"], ["y"])]
    return model(nodes, [info("x", FLOAT, ["C", "H", "W"]), info("wanted", INT64, [3])], [info("y", FLOAT, [1, 16, "I", "J"])],
                 {"none": integer([0, 0, 0]), "first": integer([0]), "w": floats(16, 3, 7, 7)}), [
        {"x": floats(*sizes), "wanted": integer(wanted)}
        for sizes, wanted in (((3, 20, 31), [3, 32, 32]), ((3, 33, 9), [1, 16, 16]), ((3, 8, 8), [3, 8, 8]))]


def sequence_of_equal_tensors():
    """What each iteration gives, stacked along a dimension in the middle."""
    body = loop_body(
        [node("Cast", ["i"], ["number"], to=FLOAT), node("Add", ["x", "number"], ["next"]), node("SequenceInsert", ["all", "next"], ["more"])],
        [sequence_info("all", FLOAT, [2, "C"])], [sequence_info("more", FLOAT, [2, "C"])])
    return model([node("SequenceEmpty", [], ["none"]), node("Loop", ["n", "", "none"], ["found"], body=body), node("SequenceLength", ["found"], ["count"]),
                  node("ConcatFromSequence", ["found"], ["y"], axis=1, new_axis=1), node("SequenceAt", ["found", "last"], ["z"])],
                 [info("x", FLOAT, [2, "C"]), info("n", INT64, [])],
                 [info("y", FLOAT, [2, "R", "C"]), info("count", INT64, []), info("z", FLOAT, [2, "C"])], {"last": integer(-1)}), [
        {"x": floats(2, 3), "n": integer(4)}, {"x": floats(2, 1), "n": integer(1)}, {"x": floats(2, 17), "n": integer(9)}], [
        {"x": floats(2, 3), "n": integer(0)}]


def sequence_of_growing_tensors():
    """Tensors of other sizes in each iteration, concatenated along the first and a later dimension."""
    body = loop_body(
        [node("Add", ["i", "one"], ["length"]), node("Unsqueeze", ["length", "zero"], ["limit"]), node("Slice", ["x", "zero", "limit"], ["head"]),
         node("SequenceInsert", ["all", "head", "first"], ["more"]), node("Transpose", ["head"], ["turned"], perm=[1, 0]),
         node("SequenceInsert", ["rows", "turned"], ["more_rows"])],
        [sequence_info("all", FLOAT, ["K", 2]), sequence_info("rows", FLOAT, [2, "K"])],
        [sequence_info("more", FLOAT, ["L", 2]), sequence_info("more_rows", FLOAT, [2, "L"])])
    return model([node("SequenceEmpty", [], ["none"]), node("SequenceEmpty", [], ["no_rows"]),
                  node("Loop", ["n", "", "none", "no_rows"], ["found", "found_rows"], body=body),
                  node("ConcatFromSequence", ["found"], ["y"], axis=0), node("ConcatFromSequence", ["found_rows"], ["z"], axis=-1),
                  node("SequenceAt", ["found_rows", "k"], ["one_of"])],
                 [info("x", FLOAT, ["N", 2]), info("n", INT64, []), info("k", INT64, [])],
                 [info("y", FLOAT, ["R", 2]), info("z", FLOAT, [2, "R"]), info("one_of", FLOAT, [2, "S"])],
                 {"one": integer(1), "zero": integer([0]), "first": integer(0)}), [
        {"x": floats(rows, 2), "n": integer(n), "k": integer(k)} for rows, n, k in ((5, 4, 2), (3, 6, -1), (1, 1, 0))], [
        {"x": floats(5, 2), "n": integer(4), "k": integer(k)} for k in (4, -5)]


def sequence_until_a_value():
    """What each iteration gives until one of its values is large: all inputs are of static shapes."""
    body = helper.make_graph(
        [node("Add", ["own", "half"], ["next"]), node("SequenceInsert", ["all", "next"], ["more"]), node("ReduceMax", ["next"], ["largest"], keepdims=0),
         node("Less", ["largest", "limit"], ["goes_on_out"])],
        "body", [info("i", INT64, []), info("goes_on", BOOL, []), info("own", FLOAT, [2, 3]), sequence_info("all", FLOAT, [2, 3])],
        [info("goes_on_out", BOOL, []), info("next", FLOAT, [2, 3]), sequence_info("more", FLOAT, [2, 3])])
    return model([node("SequenceEmpty", [], ["none"]), node("Loop", ["most", "begins", "x", "none"], ["last", "found"], body=body),
                  node("ConcatFromSequence", ["found"], ["y"], axis=1)],
                 [info("x", FLOAT, [2, 3])], [info("y", FLOAT, [2, "R"])],
                 {"half": np.float32(0.5), "limit": np.float32(4), "most": integer(9), "begins": np.array(True)}), [
        {"x": floats(2, 3)}, {"x": np.full((2, 3), 3.5, np.float32)}, {"x": np.full((2, 3), -9, np.float32)}]


def split_of_computed_size():
    """The sum of every few rows, the last of fewer."""
    body = loop_body([node("SequenceAt", ["rows", "i"], ["own"]), node("ReduceSum", ["own", "axes"], ["sum"], keepdims=0)],
                     [], [info("sum", FLOAT, [3])])
    return model([node("SplitToSequence", ["x", "size"], ["rows"], axis=0), node("SequenceLength", ["rows"], ["count"]),
                  node("Loop", ["count", ""], ["y"], body=body)],
                 [info("x", FLOAT, ["N", 3]), info("size", INT64, [])], [info("y", FLOAT, ["R", 3]), info("count", INT64, [])], {"axes": integer([0])}), [
        {"x": floats(rows, 3), "size": integer(size)} for rows, size in ((10, 3), (4, 9), (6, 2), (1, 1))], [
        {"x": floats(4, 3), "size": integer(0)}]


def split_by_computed_sizes():
    """Columns in tensors of sizes that are given; one is taken out and put to the front, and all but the last are joined again."""
    nodes = [node("SplitToSequence", ["x", "sizes"], ["given"], axis=1), node("SequenceAt", ["given", "k"], ["own"]),
             node("SequenceErase", ["given", "k"], ["others"]), node("SequenceInsert", ["others", "own", "first"], ["turned"]),
             node("SequenceErase", ["turned"], ["left"]), node("ConcatFromSequence", ["left"], ["y"], axis=1)]
    return model(nodes, [info("x", FLOAT, [2, "N", 3]), info("sizes", INT64, ["P"]), info("k", INT64, [])], [info("y", FLOAT, [2, "R", 3])],
                 {"first": integer(0)}), [
        {"x": floats(2, sum(sizes), 3), "sizes": integer(sizes), "k": integer(k)} for sizes, k in (([2, 3, 1], 1), ([4, 1], -1), ([1, 2, 3, 4], 0))], [
        {"x": floats(2, 6, 3), "sizes": integer(sizes), "k": integer(k)} for sizes, k in (([2, 3], 0), ([7, -1], 0), ([2, 4], 2))]


def sequence_in_branches():
    """One tensor or two, known only at run time; twice what is at the end, and each of a split with an offset."""
    def branch(*names):
        return helper.make_graph([node("SequenceConstruct", list(names), ["list"])], "branch", [], [sequence_info("list", FLOAT, ["K", 2])])
    offset = helper.make_graph([node("Add", ["own", "half"], ["more"])], "offset", [info("own", FLOAT, [2])], [info("more", FLOAT, [2])])
    nodes = [node("If", ["take"], ["chosen"], then_branch=branch("x", "x2"), else_branch=branch("x2")), node("ConcatFromSequence", ["chosen"], ["y"], axis=0),
             node("Mul", ["x", "half"], ["x2"]), node("SplitToSequence", ["y"], ["each"], axis=0, keepdims=0),
             node("SequenceMap", ["each"], ["mapped"], body=offset), node("ConcatFromSequence", ["mapped"], ["z"], axis=0, new_axis=1)]
    nodes.insert(0, nodes.pop(2))
    return model(nodes, [info("take", BOOL, []), info("x", FLOAT, ["N", 2])], [info("y", FLOAT, ["M", 2]), info("z", FLOAT, ["M", 2])], {"half": np.float32(0.5)}), [
        {"take": np.array(take), "x": floats(rows, 2)} for take, rows in ((True, 3), (False, 3), (True, 1), (False, 8))]


GRAPHS = [convolution_of_batched_images, suppression_of_classes, greedy_decoding, lstm_loop, best_of_computed_number, branch_of_computed_size,
          sequence_of_equal_tensors, sequence_of_growing_tensors, sequence_until_a_value, split_of_computed_size, split_by_computed_sizes, sequence_in_branches]


class Failure(Exception):
    pass


def command(sinter, *arguments):
    done = subprocess.run([sinter, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure(f"{arguments[0]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stderr


def given(folder, feeds):
    """The options that give these inputs."""
    inputs = []
    for name, value in feeds.items():
        file = os.path.join(folder, name + ".npy")
        np.save(file, value)
        inputs += ["--input", f"{name}={file}"]
    return inputs


def with_floats(made, onnx_type, numpy_type):
    """The model with all f32 tensors of another type."""
    other = onnx.ModelProto()
    other.CopyFrom(made)

    def convert(graph):
        for tensor in graph.initializer:
            if tensor.data_type == FLOAT:
                tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy_type), tensor.name))
        for value in (*graph.input, *graph.output):
            sequence = value.type.HasField("sequence_type")
            tensor = value.type.sequence_type.elem_type.tensor_type if sequence else value.type.tensor_type
            if tensor.elem_type == FLOAT:
                tensor.elem_type = onnx_type
        for each in graph.node:
            if each.op_type == "SequenceEmpty":
                each.attribute.append(helper.make_attribute("dtype", onnx_type))
            if each.op_type == "ConstantOfShape":
                each.attribute.append(helper.make_attribute("value", numpy_helper.from_array(np.zeros(1, numpy_type))))
            for attribute in each.attribute:
                if attribute.HasField("g"):
                    convert(attribute.g)
                if each.op_type == "Cast" and attribute.i == FLOAT:
                    attribute.i = onnx_type
    convert(other.graph)
    return other


def check_types(sinter, folder, made, feeds):
    """The backends agree on f64 and f16, too."""
    # NonMaxSuppression is of f32 only.
    if any(each.op_type == "NonMaxSuppression" for loop in made.graph.node for body in loop.attribute for each in body.g.node):
        return
    for onnx_type, numpy_type in ((TensorProto.DOUBLE, np.float64), (TensorProto.FLOAT16, np.float16)):
        path = os.path.join(folder, f"{np.dtype(numpy_type)}.onnx")
        onnx.save(with_floats(made, onnx_type, numpy_type), path)
        own = {name: value.astype(numpy_type) if value.dtype == np.float32 else value for name, value in feeds.items()}
        command(sinter, "compare", path, *given(folder, own))


def check_refused(sinter, path, folder, feeds):
    """Inputs that the model is not valid for end with 3."""
    for backend in "cpu", "interpreter":
        arguments = ["run", path, *given(folder, feeds), "--backend", backend, "--output-dir", os.path.join(folder, "refused")]
        done = subprocess.run([sinter, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (2, 3) or "error: " not in done.stderr:
            raise Failure(f"{backend}: exit code {done.returncode}, not 3, for {feeds}: {done.stderr.strip()[-300:]}")


def check(sinter, folder, made, all_feeds, refused=()):
    path = os.path.join(folder, "given.onnx")
    onnx.save(made, path)
    files = {"given": path}
    for form, verb, suffix in (("optimised", "optimize", "onnx"), ("StableHLO", "convert", "mlir"), ("PaddlePaddle", "convert", "json")):
        files[form] = os.path.join(folder, f"{form}.{suffix}")
        command(sinter, verb, path, "-o", files[form])
    tasks = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, os.path.join(folder, f"runtime{i}")) for i, feeds in enumerate(all_feeds)])
    for number, (task, feeds) in enumerate(zip(tasks, all_feeds)):
        if task.error:
            raise Failure(f"ONNX Runtime: {task.error}")
        inputs = given(folder, feeds)
        for form, file in files.items():
            for backend in "cpu", "interpreter":
                out = os.path.join(folder, f"out-{number}-{form}-{backend}")
                notes = command(sinter, "run", file, *inputs, "--backend", backend, "--output-dir", out, "--cache-dir", os.path.join(folder, "cache"))
                where = f"{form}, {backend}, inputs {number}"
                if " only: " in notes or "not for these" in notes:
                    raise Failure(f"{where}: {notes.strip()}")
                got = {name: np.load(os.path.join(out, name + ".npy")) for name in task.outputs}
                if wrong := OnnxRuntime.difference(task.outputs, got, tolerance=1e-5):
                    raise Failure(f"{where}: {wrong}")
    command(sinter, "compare", path, *given(folder, all_feeds[0]))
    check_types(sinter, folder, made, all_feeds[0])
    for feeds in refused:
        check_refused(sinter, path, folder, feeds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    graphs = [each for each in GRAPHS if options.filter in each.__name__]
    failed = 0
    for graph in graphs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.sinter, folder, *graph())
            except Failure as failure:
                failed += 1
                print(f"{graph.__name__}: {failure}")
    print(f"{len(graphs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
