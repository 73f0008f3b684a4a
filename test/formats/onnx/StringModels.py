#!/usr/bin/env python3
# Covers: formats/onnx/ops Strings Casts Constants NGrams Unique
# Covers: formats/import TextBuilding Unique
# Covers: interpreter Text
# Covers: backend/cpu/legalize LowerStrings
# Covers: runtime StringFunctions StringNumbers RegularExpressions Strings
# Covers: runtime/host Strings
# Covers: data SampleRows WrittenStrings
# Covers: formats/onnx/write Strings
# Covers: graph/text TextDialect
# Covers: graph/axes Text
"""Models of strings against Python's own: by value on both backends, with known and unknown sizes, as read and written again.

  StringModels.py --sinter build/bin/sinter

Needs Python's onnx (Debian: python3-onnx); without it, it says so and ends with 77.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages

Packages.skip_without()
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

STRING, FLOAT, INT64, BOOL = TensorProto.STRING, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def strings(values):
    return numpy.array(values, dtype=object)


def proto(array, name=""):
    if array.dtype == object:
        return helper.make_tensor(name, STRING, array.shape, [each if isinstance(each, bytes) else each.encode() for each in array.flatten()])
    return numpy_helper.from_array(array, name)


def element(array):
    return STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype) \
        if hasattr(helper, "np_dtype_to_tensor_dtype") else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]


def model(nodes, inputs, outputs, dynamic, constants=(), opset=20):
    def info(name, array, is_input):
        shape = [f"{name}{i}" if dynamic else size for i, size in enumerate(array.shape)]
        return helper.make_tensor_value_info(name, element(array), shape if is_input or not dynamic else [None] * array.ndim)
    graph = helper.make_graph(nodes, "g", [info(name, each, True) for name, each in inputs.items()],
                              [info(name, each, False) for name, each in outputs.items()],
                              [proto(array, name) for name, array in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def split(array, delimiter, most):
    parts = [each.split(delimiter or None, most) for each in array.flatten()]
    width = max((len(each) for each in parts), default=0)
    texts = numpy.empty((len(parts), width), object)
    for i, each in enumerate(parts):
        texts[i, :] = each + [""] * (width - len(each))
    return texts.reshape(array.shape + (width,)), numpy.array([len(each) for each in parts], numpy.int64).reshape(array.shape)


def cases():
    """(name, nodes, inputs, outputs, constants)"""
    node = helper.make_node
    words = strings([["a", "", "Straße"], ["été", "x\0y", "a"]])
    other = strings(["1", "2", "é"])
    yield "identity", [node("Identity", ["x"], ["y"])], {"x": words}, {"y": words}, ()
    yield "transpose", [node("Transpose", ["x"], ["y"])], {"x": words}, {"y": words.T}, ()
    yield "reshape", [node("Reshape", ["x", "s"], ["y"])], {"x": words}, {"y": words.reshape(3, 2)}, [("s", numpy.array([3, 2]))]
    yield "concat", [node("Concat", ["x", "c"], ["y"], axis=1)], {"x": words}, {"y": numpy.concatenate([words, words], 1)}, [("c", words)]
    yield "gather", [node("Gather", ["c", "i"], ["y"])], {"i": numpy.array([2, 0, 2])}, {"y": strings(["é", "1", "é"])}, [("c", other)]
    yield "slice", [node("Slice", ["x", "b", "e", "a"], ["y"])], {"x": words}, {"y": words[:, 1:3]}, \
        [("b", numpy.array([1])), ("e", numpy.array([3])), ("a", numpy.array([1]))]
    yield "expand", [node("Expand", ["x", "s"], ["y"])], {"x": other}, {"y": numpy.broadcast_to(other, (2, 3))}, [("s", numpy.array([2, 3]))]
    yield "tile", [node("Tile", ["x", "s"], ["y"])], {"x": other}, {"y": numpy.tile(other, 2)}, [("s", numpy.array([2]))]
    yield "pad", [node("Pad", ["x", "p", "v"], ["y"])], {"x": other}, {"y": strings(["-", "1", "2", "é", "-"])}, \
        [("p", numpy.array([1, 1])), ("v", strings("-"))]
    yield "where", [node("Where", ["c", "x", "z"], ["y"])], {"c": numpy.array([True, False, True]), "x": other}, \
        {"y": strings(["1", "no", "é"])}, [("z", strings("no"))]
    yield "equal", [node("Equal", ["x", "z"], ["y"])], {"x": words}, {"y": words == "a"}, [("z", strings(["a"]))]
    yield "equal_both", [node("Equal", ["x", "z"], ["y"])], {"x": words, "z": words[:1]}, {"y": words == words[:1]}, ()
    yield "stringconcat", [node("StringConcat", ["x", "z"], ["y"])], {"x": words, "z": other}, {"y": words + other}, ()
    yield "match", [node("RegexFullMatch", ["x"], ["y"], pattern=r"(\w|é)+")], {"x": other}, {"y": numpy.array([True, True, True])}, ()
    yield "match_all", [node("RegexFullMatch", ["x"], ["y"], pattern="a.*")], {"x": strings(["a", "ba", "abc", ""])}, \
        {"y": numpy.array([True, False, True, False])}, ()
    texts = strings(["a,b,,c", "", ",", "d"])
    for name, delimiter, most in (("comma", ",", -1), ("most", ",", 1), ("none", ",", 0)):
        parts, counts = split(texts, delimiter, most)
        yield f"split_{name}", [node("StringSplit", ["x"], ["y", "n"], delimiter=delimiter, **({} if most < 0 else {"maxsplit": most}))], \
            {"x": texts}, {"y": parts, "n": counts}, ()
    texts = strings([["  one  two\tthree ", ""], ["four\u2003five", " "]])
    for most in (-1, 1):
        parts, counts = split(texts, "", most)
        yield f"split_space{most}", [node("StringSplit", ["x"], ["y", "n"], **({} if most < 0 else {"maxsplit": most}))], \
            {"x": texts}, {"y": parts, "n": counts}, ()
    floats = numpy.array([0.1, 1.0, -2.5e-7, 1e16, 123456.789, 0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 3.0e38], numpy.float32)
    yield "format_f32", [node("Cast", ["x"], ["y"], to=STRING)], {"x": floats}, {"y": strings([str(each) for each in floats])}, ()
    doubles = numpy.array([0.1, 1 / 3, 1e-5, 1e300, 12345678901234567.0], numpy.float64)
    yield "format_f64", [node("Cast", ["x"], ["y"], to=STRING)], {"x": doubles}, {"y": strings([str(each) for each in doubles])}, ()
    halves = numpy.array([0.1, 1.0, 65504, 6e-8, 1 / 3], numpy.float16)
    yield "format_f16", [node("Cast", ["x"], ["y"], to=STRING)], {"x": halves}, {"y": strings([repr(float(str(each))) for each in halves])}, ()
    integers = numpy.array([0, -5, 2**63 - 1, -2**63], numpy.int64)
    yield "format_i64", [node("Cast", ["x"], ["y"], to=STRING)], {"x": integers}, {"y": strings([str(each) for each in integers])}, ()
    yield "parse_i64", [node("Cast", ["x"], ["y"], to=INT64)], {"x": strings([" 12", "-9223372036854775808", "+7 "])}, \
        {"y": numpy.array([12, -2**63, 7])}, ()
    yield "parse_f32", [node("Cast", ["x"], ["y"], to=FLOAT)], {"x": strings(["1e-5", "3.14", "NaN", "+INF", "-inf", "1E8", "1e99", "-.5"])}, \
        {"y": numpy.array([1e-5, 3.14, numpy.nan, numpy.inf, -numpy.inf, 1e8, numpy.inf, -0.5], numpy.float32)}, ()
    yield "parse_format", [node("Cast", ["x"], ["t"], to=STRING), node("StringConcat", ["t", "c"], ["y"])], {"x": numpy.arange(4)}, \
        {"y": strings(["0!", "1!", "2!", "3!"])}, [("c", strings(["!"]))]
    week = strings(["monday", "Tuesday", "ÄRGER", "monday", "Tuesday"])

    def normal(name, x, y, **attributes):
        return f"normal_{name}", [node("StringNormalizer", ["x"], ["y"], **attributes)], {"x": x}, {"y": y}, ()
    yield normal("lower", week, strings([each.lower() for each in week]), case_change_action="LOWER")
    yield normal("upper", week, strings([each.upper() for each in week]), case_change_action="UPPER")
    yield normal("stops", week, strings(["Tuesday", "ÄRGER", "Tuesday"]), stopwords=["MONDAY"])
    yield normal("sensitive", week, strings(["monday", "ÄRGER", "monday"]), stopwords=["MONDAY", "Tuesday"], is_case_sensitive=1)
    yield normal("all", week, strings([""]), stopwords=["monday", "tuesday", "ärger"])
    yield normal("two", week[None], strings([["TUESDAY", "TUESDAY"]]), stopwords=["monday", "ärger"], case_change_action="UPPER")
    some = strings(["b", "a", "b", "é", "", "a"])
    order, first, inverse, counts = numpy.unique(some.astype(str), return_index=True, return_inverse=True, return_counts=True)
    yield "unique", [node("Unique", ["x"], ["y", "f", "i", "c"])], {"x": some}, \
        {"y": order.astype(object), "f": first, "i": inverse, "c": counts}, ()
    yield "unique_order", [node("Unique", ["x"], ["y"], sorted=0)], {"x": some}, {"y": strings(["b", "a", "é", ""])}, ()
    branch = lambda name, text: helper.make_graph(
        [node("StringConcat", ["x", f"c{name}"], [f"y{name}"])], name, [], [helper.make_tensor_value_info(f"y{name}", STRING, None)],
        [proto(strings([text]), f"c{name}")])
    for flag in (True, False):
        yield f"if_{flag}", [node("If", ["b"], ["y"], then_branch=branch("t", "+"), else_branch=branch("e", "-"))], \
            {"b": numpy.array(flag), "x": other}, {"y": other + ("+" if flag else "-")}, ()
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("StringConcat", ["s", "x"], ["t"]), node("Identity", ["t"], ["u"])], "body",
        [helper.make_tensor_value_info("k", INT64, []), helper.make_tensor_value_info("go", BOOL, []),
         helper.make_tensor_value_info("s", STRING, [3])],
        [helper.make_tensor_value_info("on", BOOL, []), helper.make_tensor_value_info("t", STRING, [3]),
         helper.make_tensor_value_info("u", STRING, [3])])
    grown = numpy.stack([other, other + other, other + other + other])
    yield "loop", [node("Loop", ["n", "", "e"], ["y", "all"], body=body)], {"n": numpy.array(3), "x": other}, \
        {"y": grown[2], "all": grown}, [("e", strings(["", "", ""]))]


def case_folder(path, made, inputs, outputs):
    os.makedirs(os.path.join(path, "test_data_set_0"))
    onnx.save(made, os.path.join(path, "model.onnx"))
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, (name, array) in enumerate(arrays.items()):
            with open(os.path.join(path, "test_data_set_0", f"{kind}_{i}.pb"), "wb") as file:
                file.write(proto(numpy.asarray(array), name).SerializeToString())


def test_values(sinter, folder):
    paths = []
    for name, nodes, inputs, outputs, constants in cases():
        inputs = {key: numpy.asarray(each) for key, each in inputs.items()}
        for dynamic in (False, True):
            path = os.path.join(folder, f"{name}{'_dynamic' if dynamic else ''}")
            case_folder(path, model(nodes, inputs, outputs, dynamic, constants), inputs, outputs)
            paths.append(path)
            written = path + "_written"
            os.makedirs(written)
            os.symlink(os.path.join(path, "test_data_set_0"), os.path.join(written, "test_data_set_0"))
            done = subprocess.run([sinter, "optimize", os.path.join(path, "model.onnx"), "-o", os.path.join(written, "model.onnx")],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
            paths.append(written)
    for backend in ("interpreter", "cpu"):
        done = subprocess.run([sinter, "test", "--backend", backend, *paths], capture_output=True, text=True)
        assert done.returncode == 0, f"{backend}:\n" + "\n".join(
            line for line in (done.stdout + done.stderr).splitlines() if "pass" not in line.lower()[:8])
    print(f"{len(paths)} models")


def run(sinter, path, *arguments):
    return subprocess.run([sinter, "run", path, *arguments], capture_output=True, text=True)


def test_written_anew(sinter, folder):
    """The index of a text among others has no operator of its own in ONNX."""
    source, target = os.path.join(folder, "find.mlir"), os.path.join(folder, "find.onnx")
    with open(source, "w") as file:
        file.write("""func.func @main(%x: tensor<?x2x!text.string>) -> tensor<?x2xi64> {
  %keys = stablehlo.constant dense<["c", "a", "c"]> : tensor<3x!text.string>
  %found = text.find %x in %keys : (tensor<?x2x!text.string>, tensor<3x!text.string>) -> tensor<?x2xi64>
  return %found : tensor<?x2xi64>
}
""")
    done = subprocess.run([sinter, "convert", source, "-o", target], capture_output=True, text=True)
    assert done.returncode == 0, done
    for backend in ("interpreter", "cpu"):
        done = run(sinter, target, "--backend", backend, "--input", 'arg0=[["a", "c"], ["b", ""], ["c", "a"]]')
        assert done.stdout.split()[-6:] == ["1", "0", "-1", "-1", "0", "1"], done


def test_refused(sinter, folder):
    """(nodes, what is run, what the error says)"""
    node = helper.make_node
    x = strings(["a", "b"])
    for i, (nodes, output, given, says) in enumerate([
            ([node("Relu", ["x"], ["y"])], x, "x=a,b", "strings"),
            ([node("Less", ["x", "x"], ["y"])], numpy.array([True, True]), "x=a,b", "strings"),
            ([node("RegexFullMatch", ["x"], ["y"], pattern="(a")], numpy.array([True, True]), "x=a,b", "no regular expression"),
            ([node("Cast", ["x"], ["y"], to=FLOAT)], numpy.zeros(2, numpy.float32), "x=1,b", "'b' is no f32"),
            ([node("Cast", ["x"], ["y"], to=TensorProto.INT8)], numpy.zeros(2, numpy.int8), "x=1,300", "'300' is no i8"),
            ([node("StringNormalizer", ["x"], ["y"], case_change_action="LOUD")], x, "x=a,b", "case_change_action"),
    ]):
        path = os.path.join(folder, f"refused{i}.onnx")
        onnx.save(model(nodes, {"x": x}, {"y": output}, False), path)
        for backend in ("interpreter", "cpu"):
            done = run(sinter, path, "--backend", backend, "--input", given)
            assert done.returncode not in (0, 134, 139) and says in done.stderr, (i, backend, done)


def test_inputs(sinter, folder):
    path = os.path.join(folder, "inputs.onnx")
    x = strings([["a", "b"]])
    onnx.save(model([helper.make_node("StringConcat", ["x", "x"], ["y"])], {"x": x}, {"y": x}, False), path)
    done = run(sinter, path, "--input", 'x=[["one, two", "é"]]', "--json")
    assert done.returncode == 0 and "one, twoone, two" in done.stdout, done
    numpy.save(os.path.join(folder, "x.npy"), x.astype("U"))
    done = run(sinter, path, "--input", f"x={folder}/x.npy", "--output-dir", folder)
    assert done.returncode == 0, done
    assert (numpy.load(os.path.join(folder, "y.npy")) == [["aa", "bb"]]).all()
    done = run(sinter, path, "--input", "x=a,b,c")
    assert done.returncode != 0 and "1x2xstring" in done.stderr, done


def test_samples(sinter, folder):
    """Rows of an array as samples, one at a time and stacked."""
    path, source, target = (os.path.join(folder, name) for name in ("samples.onnx", "rows.npy", "samples"))
    rows = [["a", "b"], ["cccc", "d"], ["", "é"]]
    numpy.save(source, numpy.array(rows))
    x = strings(rows)
    for made, options in ((model([helper.make_node("StringConcat", ["x", "x"], ["y"])], {"x": x[:1]}, {"y": x[:1]}, False), ()),
                          (model([helper.make_node("StringConcat", ["x", "x"], ["y"])], {"x": x[:2]}, {"y": x[:2]}, False), ()),
                          (model([helper.make_node("StringConcat", ["x", "x"], ["y"])], {"x": x}, {"y": x}, True), ("--batch", "2"))):
        onnx.save(made, path)
        done = run(sinter, path, "--input", f"x={source}", "--output-dir", target, *options)
        assert done.returncode == 0, done
        for i, row in enumerate(rows):
            got = numpy.load(os.path.join(target, f"rows_{i}_y.npy")).tolist()
            assert got == [[each + each for each in row]], (options, i, got)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", default="build/bin/sinter")
    sinter = parser.parse_args().sinter
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_values, test_written_anew, test_refused, test_inputs, test_samples):
            test(sinter, folder)


if __name__ == "__main__":
    main()
