#!/usr/bin/env python3
# Covers: formats/onnx/ops ClassicalScores FeatureTransforms KeyTables
"""Classical models (ai.onnx.ml) of strings, by values that Python computes, on both backends.

  ClassicalStrings.py --sinter build/bin/sinter

Needs Python's onnx and numpy; without them it says so and ends with 77.
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
DOMAIN = "ai.onnx.ml"
WORDS = np.array([["cat", "dog", "cow"], ["", "cat", "Kuh 牛"]])
NUMBERS = np.array([[1, 7, 3], [0, 1, -2]], np.int64)
ROWS = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.0]], np.float32)
TYPES = {"U": TensorProto.STRING, "i": TensorProto.INT64, "f": TensorProto.FLOAT}


def mapped(x, table, otherwise):
    return np.vectorize(lambda each: table.get(each, otherwise))(x)


KEYS, VALUES = ["cat", "dog", "cat", "牛"], [1, 2, 3, 4]
FIRST = {"cat": 1, "dog": 2, "牛": 4}
NAMES = {1: "cat", 2: "dog", 7: "Kuh 牛"}
COEFFICIENTS = np.array([[1.0, 0.5], [-1.0, 2.0], [0.25, -1.0]], np.float32)
CHOSEN = (ROWS @ COEFFICIENTS.T).argmax(1)
TREE = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
            nodes_values=[0.0, 0.0, 0.0], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], class_treeids=[0, 0],
            class_nodeids=[1, 2], class_ids=[0, 2], class_weights=[1.0, 1.0])

# Operator, version, attributes ("constants" are further inputs), input, first output.
CASES = [
    ("LabelEncoder", 2, dict(keys_strings=KEYS, values_int64s=VALUES, default_int64=-5), WORDS, mapped(WORDS, FIRST, -5)),
    ("LabelEncoder", 4, dict(keys_strings=KEYS, values_floats=[0.5, 1.5, 2.5, 3.5]), WORDS,
     mapped(WORDS, {"cat": 0.5, "dog": 1.5, "牛": 3.5}, -0.0).astype(np.float32)),
    ("LabelEncoder", 2, dict(keys_int64s=list(NAMES), values_strings=list(NAMES.values())), NUMBERS, mapped(NUMBERS, NAMES, "_Unused")),
    ("LabelEncoder", 2, dict(keys_strings=["cat", "dog"], values_strings=["Katze", "Hund"], default_string="?"), WORDS,
     mapped(WORDS, {"cat": "Katze", "dog": "Hund"}, "?")),
    ("LabelEncoder", 1, dict(classes_strings=["cow", "cat"], default_int64=9), WORDS, mapped(WORDS, {"cow": 0, "cat": 1}, 9)),
    ("LabelEncoder", 1, dict(classes_strings=["cow", "cat"], default_string="none"), NUMBERS, mapped(NUMBERS, {0: "cow", 1: "cat"}, "none")),
    ("CategoryMapper", 1, dict(cats_strings=["cow", "cat"], cats_int64s=[5, 7]), WORDS, mapped(WORDS, {"cow": 5, "cat": 7}, -1)),
    ("CategoryMapper", 1, dict(cats_strings=["cow", "cat"], cats_int64s=[7, 1], default_string="none"), NUMBERS,
     mapped(NUMBERS, {7: "cow", 1: "cat"}, "none")),
    ("OneHotEncoder", 1, dict(cats_strings=["cow", "cat", "cow"], zeros=1), WORDS,
     (WORDS[..., None] == np.array(["-", "cat", "cow"])).astype(np.float32)),
    ("LinearClassifier", 1, dict(coefficients=[float(each) for each in COEFFICIENTS.flatten()], intercepts=[0.0] * 3,
                                 classlabels_strings=["red", "green", "blue"]), ROWS, np.array(["red", "green", "blue"])[CHOSEN]),
    ("ArrayFeatureExtractor", 1, dict(constants=[np.array([2, 0, 2])]), WORDS, WORDS[:, [2, 0, 2]]),
    ("TreeEnsembleClassifier", 1, dict(TREE, classlabels_strings=["red", "green", "blue"]), ROWS, np.array(["red", "blue", "red"])),
]

# Operator, version, attributes, input, what the error says.
REFUSED = [
    ("LabelEncoder", 2, dict(keys_int64s=[1], values_strings=["a"]), WORDS, "the keys are not of the input's type"),
    ("LabelEncoder", 2, dict(keys_strings=["a", "b"], values_strings=["a"]), WORDS, "there are 2 keys and 1 values"),
    ("CategoryMapper", 1, dict(cats_strings=["a"], cats_int64s=[1, 2]), WORDS, "there are 1 keys and 2 values"),
    ("OneHotEncoder", 1, dict(cats_int64s=[1]), WORDS, "there are no categories of the input's type"),
    ("ArrayFeatureExtractor", 1, dict(constants=[np.array([1.0])]), NUMBERS, "the indices are no integers"),
    ("Scaler", 1, dict(offset=[0.0], scale=[1.0]), WORDS, "strings"),
]


class ClassicalStrings(unittest.TestCase):
    def run_node(self, operator, version, attributes, x, backend, is_dynamic, folder):
        path, file, target = (os.path.join(folder, name) for name in ("m.onnx", "x.npy", f"out-{backend}-{is_dynamic}"))
        outputs = ["y", "scores"] if "Classifier" in operator else ["y"]
        constants = [numpy_helper.from_array(each, f"c{i}") for i, each in enumerate(attributes.get("constants", ()))]
        attributes = {key: value for key, value in attributes.items() if key != "constants"}
        node = helper.make_node(operator, ["x", *(each.name for each in constants)], outputs, name="node", domain=DOMAIN, **attributes)
        sizes = ["N", *x.shape[1:]] if is_dynamic else x.shape
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TYPES[x.dtype.kind], sizes)],
                                  [onnx.ValueInfoProto(name=name) for name in outputs], constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, version)]
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), path)
        np.save(file, x)
        return subprocess.run([SINTER, "run", path, "--input", file, "--backend", backend, "--no-cache", "--output-dir", target],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def output(self, operator, version, attributes, x, backend, is_dynamic, folder):
        done = self.run_node(operator, version, attributes, x, backend, is_dynamic, folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(os.path.join(folder, f"out-{backend}-{is_dynamic}", "y.npy"))

    def test_cases(self):
        for operator, version, attributes, x, expected in CASES:
            for backend in ("interpreter", "cpu"):
                for is_dynamic in (False, True):
                    with self.subTest(operator=operator, attributes=attributes, backend=backend, is_dynamic=is_dynamic), \
                            tempfile.TemporaryDirectory() as folder:
                        got = self.output(operator, version, attributes, x, backend, is_dynamic, folder)
                        self.assertEqual(got.dtype.kind, expected.dtype.kind)
                        np.testing.assert_array_equal(got, expected)

    def test_refused(self):
        for operator, version, attributes, x, says in REFUSED:
            with self.subTest(operator=operator, attributes=attributes), tempfile.TemporaryDirectory() as folder:
                done = self.run_node(operator, version, attributes, x, "cpu", False, folder)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
