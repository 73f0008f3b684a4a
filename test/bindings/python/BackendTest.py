#!/usr/bin/env python3
"""sinter.backend, ONNX's backend interface, by ONNX's own runner on the cases that its Python package ships.

    test/bindings/python/BackendTest.py BUILD [--every K] [--start N]

Of the cases of single nodes it runs all, or every K-th from the N-th on. A case that is not in backend-exclusions.txt has to
pass, and one that is in it must not.
"""
import argparse
import os
import sys
import tempfile
import unittest

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--start", type=int, default=0)
GIVEN = parser.parse_args()
sys.path.insert(0, os.path.join(GIVEN.build, "python"))
EXCLUSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "backend-exclusions.txt")

try:
    import numpy
    import onnx.backend.test
    from onnx import helper
except ImportError as missing:
    print(f"BackendTest.py: skipped: {missing}")
    sys.exit(77)
# What its runner compares types with, which later releases of numpy lack.
if "object" not in vars(numpy):
    numpy.object = object

import sinter.backend  # noqa: E402


class Interface(unittest.TestCase):
    """What the runner does not call."""

    X = numpy.array([[1, -2, 3]], numpy.float32)

    def model(self):
        node = helper.make_node("Relu", ["x"], ["y"])
        values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 3]) for name in "xy"]
        return helper.make_model(helper.make_graph([node], "relu", values[:1], values[1:]),
                                 opset_imports=[helper.make_opsetid("", 17)])

    def test_results_have_names(self):
        prepared = sinter.backend.prepare(self.model(), threads=1)
        for inputs in ([self.X], {"x": self.X}, self.X, [self.X[:, ::-1][:, ::-1]]):
            result = prepared.run(inputs)
            numpy.testing.assert_array_equal(result.y, numpy.maximum(self.X, 0))
            numpy.testing.assert_array_equal(result["y"], result[0])

    def test_a_node_alone(self):
        node = helper.make_node("Split", ["x", "sizes"], ["a", "b"], axis=1)
        sizes = numpy.array([1, 2], numpy.int64)
        for given in ({}, {"opset_version": 13}, {"outputs_info": [("float32", (1, 1)), ("float32", (1, 2))], "opset_version": 13}):
            a, b = sinter.backend.run_node(node, [self.X, sizes], **given)
            numpy.testing.assert_array_equal(a, self.X[:, :1])
            numpy.testing.assert_array_equal(b, self.X[:, 1:])

    def test_values_decide_what_is_compiled(self):
        # With a step of 0, which nobody gave, it is no model.
        node = helper.make_node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])
        values = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [1]) for name in node.input[1:]]
        x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in (("x", [1, 3]), ("y", None)))
        model = helper.make_model(helper.make_graph([node], "slice", [x, *values], [y]), opset_imports=[helper.make_opsetid("", 13)])
        prepared = sinter.backend.prepare(model)
        for start, end, step in ((0, 3, 2), (2, -9, -1), (1, 2, 1)):
            inputs = [numpy.array([each], numpy.int64) for each in (start, end, 1, step)]
            numpy.testing.assert_array_equal(prepared.run([self.X, *inputs]).y, self.X[:, slice(start, None if end < 0 else end, step)])

    def test_outputs_that_follow_from_values(self):
        # One branch gives a sequence of a tensor, the other nothing.
        folder = os.path.join(os.path.dirname(onnx.backend.test.__file__), "data", "node", "test_if_opt")
        prepared = sinter.backend.prepare(onnx.load(os.path.join(folder, "model.onnx")))
        for condition, count in ((True, 0), (False, 1), (True, 0)):
            self.assertEqual(len(prepared.run([numpy.array(condition)])[0] or ()), count)

    def test_bfloat16_is_as_onnx_has_it(self):
        node = helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
        x = helper.make_tensor_value_info("x", onnx.TensorProto.BFLOAT16, [3])
        y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [3])
        prepared = sinter.backend.prepare(helper.make_model(helper.make_graph([node], "cast", [x], [y]),
                                                            opset_imports=[helper.make_opsetid("", 13)]))
        bits, floats = numpy.array([0x3f80, 0xc000, 0x3f00], numpy.uint16), numpy.array([1, -2, 0.5], numpy.float32)
        for given in (bits, floats, sinter.view(bits, "bf16")):
            numpy.testing.assert_array_equal(prepared.run([given]).y, floats)
        self.assertRaisesRegex(sinter.UsageError, "3xbf16.*3xf32", prepared.run, [floats + numpy.float32(1e-6)])

    def test_devices(self):
        self.assertTrue(sinter.backend.supports_device("CPU"))
        self.assertFalse(sinter.backend.supports_device("CUDA:1"))
        self.assertRaisesRegex(sinter.UsageError, "CUDA", sinter.backend.prepare, self.model(), "CUDA")

    def test_what_is_not_supported(self):
        model = self.model()
        self.assertTrue(sinter.backend.is_compatible(model))
        model.graph.node[0].op_type = "Hessian"
        model.graph.node[0].domain = "ai.onnx.preview.training"
        model.opset_import.append(helper.make_opsetid("ai.onnx.preview.training", 1))
        self.assertFalse(sinter.backend.is_compatible(model))
        self.assertRaises(sinter.UnsupportedError, sinter.backend.prepare, model)

    def test_mistakes_are_errors(self):
        prepared = sinter.backend.prepare(self.model())
        self.assertRaisesRegex(sinter.UsageError, "given: 2", prepared.run, [self.X, self.X])
        self.assertRaisesRegex(sinter.UsageError, "no input 'z'", prepared.run, {"z": self.X})
        self.assertRaisesRegex(sinter.UsageError, "missing: x", prepared.run, [])
        node = helper.make_node("Relu", ["x"], ["y"])
        self.assertRaisesRegex(sinter.UsageError, "given: 0", sinter.backend.run_node, node, [])


def exclusions():
    """{case: why}."""
    with open(EXCLUSIONS) as file:
        return dict(line.strip().split("  ", 1) for line in file if line.strip() and not line.startswith("#"))


class Judge(unittest.TestResult):
    """Why cases did not pass, by name."""

    def __init__(self):
        super().__init__()
        self.why = {}

    def _failed(self, test, error):
        self.why[test._testMethodName] = " ".join(str(error[1]).split())[:200]

    def addError(self, test, err):  # noqa: N802
        self._failed(test, err)

    def addFailure(self, test, err):  # noqa: N802
        self._failed(test, err)

    def addSkip(self, test, reason):  # noqa: N802
        self.why[test._testMethodName] = reason


def run_cases():
    """Runs ONNX's cases; returns how many differ from the list."""
    cases = onnx.backend.test.BackendTest(sinter.backend, __name__).test_cases["OnnxBackendNodeModelTest"]
    loader = unittest.TestLoader()
    names = [name for name in loader.getTestCaseNames(cases) if name.endswith("_cpu")][GIVEN.start % GIVEN.every::GIVEN.every]
    judge = Judge()
    for name in names:
        cases(name).run(judge)
    listed = exclusions()
    bad = [f"{name}: {why}" for name, why in judge.why.items() if name not in listed]
    bad += [f"{name}: passes, but stands in {os.path.basename(EXCLUSIONS)}"
            for name in names if name in listed and name not in judge.why]
    for line in bad:
        print("FAILED", line)
    print(f"{len(names) - len(judge.why)} of {len(names)} cases of ONNX {onnx.__version__} pass, "
          f"{sum(name in listed for name in judge.why)} known not to")
    return len(bad)


def main():
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        done = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Interface))
        bad = run_cases()
    sys.exit(0 if done.wasSuccessful() and not bad else 1)


if __name__ == "__main__":
    main()
