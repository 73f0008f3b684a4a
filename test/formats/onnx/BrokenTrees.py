#!/usr/bin/env python3
# Covers: formats/onnx/ops TreeSource
"""Classical models (ai.onnx.ml) that are not what their operators ask for: each is refused with exit code 3 or 4 and a line.

  BrokenTrees.py --sinter build/bin/sinter

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
from onnx import TensorProto, helper

SINTER = None
DOMAIN = "ai.onnx.ml"


def tensor(kind, values):
    return helper.make_tensor("t", kind, [len(values)], values)


NUMBERED = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.5, 0.0, 0.0], nodes_truenodeids=[1, 0, 0],
                nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
                target_weights=[1.0, 2.0], n_targets=1)
INDEXED = dict(nodes_featureids=[1, 0], nodes_modes=tensor(TensorProto.UINT8, [0, 0]),
               nodes_splits=tensor(TensorProto.FLOAT, [0.5, 0.0]), nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1],
               nodes_falsenodeids=[0, 1], nodes_falseleafs=[1, 1], leaf_targetids=[0, 0],
               leaf_weights=tensor(TensorProto.FLOAT, [1.0, 2.0]), tree_roots=[0], n_targets=1)
CLASSES = {key.replace("target_", "class_"): value for key, value in NUMBERED.items() if key != "n_targets"}
CLASSES["classlabels_int64s"] = [0, 1]
SVM = dict(classlabels_ints=[0, 1, 2], vectors_per_class=[1, 1, 1], coefficients=[1.0] * 6, rho=[0.0] * 3,
           support_vectors=[1.0] * 6, kernel_type="LINEAR")

# Operator, version, what is valid, what is changed, what is said of it.
CASES = [
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_values": [0.5]}, "the lists of nodes differ in length"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_modes": ["BRANCH_LEQ", "LEAF", "TWIG"], "nodes_truenodeids": [1, 0, 0]},
     "has 'TWIG'"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_featureids": [2, 0, 0]}, "a tree tests feature 2, but the input has 2 features"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_featureids": [-1, 0, 0]}, "'nodes_featureids' is out of range"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_nodeids": [0, 1, 1]}, "node 1 of tree 0 is there twice"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_truenodeids": [7, 0, 0]}, "names node 7 of tree 0"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_falsenodeids": [-1, 0, 0]}, "names node -1 of tree 0"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_truenodeids": [0, 0, 0]}, "tree 0 has a cycle"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_missing_value_tracks_true": [1]}, "needs one entry per node, 3, and has 1"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"target_ids": [0, 1]}, "'target_ids' has 1, of 1"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"target_nodeids": [1, 5]}, "a weight is of node 5 of tree 0"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"target_weights": [1.0]}, "the lists of weights differ in length"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"n_targets": 0}, "there are 0 targets"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"n_targets": (1 << 16) + 1}, "65537 targets, more than 65536"),
    ("TreeEnsemble", 5, INDEXED, {"n_targets": 1 << 40}, "targets, more than 65536"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"base_values": [1.0, 2.0]}, "'base_values' needs one entry per target, 1, and has 2"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"aggregate_function": "MODE"}, "'aggregate_function' is not"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"post_transform": "TANH"}, "'post_transform' is not"),
    ("TreeEnsembleRegressor", 1, NUMBERED, {"nodes_treeids": [1 << 40, 0, 0]}, "is out of range"),
    ("TreeEnsembleRegressor", 3, NUMBERED, {"nodes_values_as_tensor": tensor(TensorProto.DOUBLE, [0.5, 0.0, 0.0])},
     "are both given"),
    ("TreeEnsembleClassifier", 1, CLASSES, {"classlabels_int64s": []}, "there are no class labels"),
    ("TreeEnsembleClassifier", 1, CLASSES, {"base_values": [0.0] * 3}, "'base_values' has 3 elements for 2 classes"),
    ("TreeEnsembleClassifier", 1, CLASSES, {"class_ids": [0, 2]}, "'class_ids' has 2, of 2"),
    ("TreeEnsemble", 5, INDEXED, {"tree_roots": [2]}, "'tree_roots' has 2, of 2"),
    ("TreeEnsemble", 5, INDEXED, {"tree_roots": []}, "'tree_roots' is empty"),
    ("TreeEnsemble", 5, INDEXED, {"nodes_truenodeids": [0, 0]}, "tree 0 has a cycle"),
    ("TreeEnsemble", 5, INDEXED, {"nodes_truenodeids": [1, 2]}, "'nodes_truenodeids' has 2, of 2"),
    ("TreeEnsemble", 5, INDEXED, {"nodes_modes": tensor(TensorProto.UINT8, [0, 9])}, "'nodes_modes' has 9"),
    ("TreeEnsemble", 5, INDEXED, {"leaf_targetids": [0, 4]}, "'leaf_targetids' has 4, of 1"),
    ("TreeEnsemble", 5, INDEXED, {"leaf_targetids": [0]}, "differ in length"),
    ("TreeEnsemble", 5, INDEXED, {"membership_values": tensor(TensorProto.FLOAT, [1.0])}, "more sets than"),
    ("TreeEnsemble", 5, INDEXED, {"aggregate_function": 4}, "'aggregate_function' is not 0 to 3"),
    ("SVMClassifier", 1, SVM, {"coefficients": [1.0] * 5}, "'coefficients' needs 2 rows"),
    ("SVMClassifier", 1, SVM, {"rho": [0.0]}, "need one entry per pair of classes, 3"),
    ("SVMClassifier", 1, SVM, {"vectors_per_class": [1, 2]}, "'vectors_per_class' needs one entry per label, 3, and has 2"),
    ("SVMClassifier", 1, SVM, {"vectors_per_class": [-1, 2, 2]}, "'vectors_per_class' is out of range"),
    ("SVMClassifier", 1, SVM, {"prob_a": [1.0] * 3}, "differ in length"),
    ("SVMClassifier", 1, SVM, {"kernel_type": "RBF", "kernel_params": [1.0]}, "'kernel_params' is not"),
    ("SVMClassifier", 1, SVM, {"support_vectors": [1.0] * 9}, "the input has 2 features"),
    ("LinearRegressor", 1, {"coefficients": [1.0, 2.0]}, {"coefficients": [1.0] * 3}, "the input has 2 features"),
    ("LinearRegressor", 1, {"coefficients": [1.0, 2.0]}, {"targets": 3}, "has 2 coefficients"),
    ("LinearClassifier", 1, dict(coefficients=[1.0] * 6, intercepts=[0.0] * 3, classlabels_ints=[0, 1, 2]),
     {"classlabels_ints": [0, 1]}, "there are 2 labels for 3 classes"),
    ("Scaler", 1, dict(offset=[0.0], scale=[1.0]), {"offset": [0.0] * 3, "scale": [1.0] * 3}, "neither one nor one for each"),
    ("Scaler", 1, dict(offset=[0.0], scale=[1.0]), {"offset": [0.0, 0.0]}, "differ in length"),
    ("Normalizer", 1, {}, {"norm": "L3"}, "'norm' is not"),
    ("Imputer", 1, dict(imputed_value_floats=[1.0]), {"imputed_value_int64s": [1]}, "not one of"),
    ("OneHotEncoder", 1, dict(cats_int64s=[1]), {"cats_int64s": []}, "there are no categories"),
    ("FeatureVectorizer", 1, dict(inputdimensions=[2]), {"inputdimensions": [2, 2]}, "needs one entry per input, 1, and has 2"),
    ("LabelEncoder", 2, dict(keys_floats=[1.0], values_int64s=[1]), {"values_int64s": [1, 2]}, "there are 1 keys and 2 values"),
]


class BrokenTrees(unittest.TestCase):
    def run_of(self, operator, version, attributes, folder):
        path = os.path.join(folder, "m.onnx")
        outputs = ["l", "y"] if "Classifier" in operator else ["y"]
        # An empty list would have no type.
        kept = {key: value for key, value in attributes.items() if not (isinstance(value, list) and not value)}
        node = helper.make_node(operator, ["x"], outputs, name="node", domain=DOMAIN, **kept)
        for key in attributes.keys() - kept.keys():
            node.attribute.append(onnx.AttributeProto(name=key, type=onnx.AttributeProto.INTS))
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])],
                                  [onnx.ValueInfoProto(name=name) for name in outputs])
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, version)]
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), path)
        x = os.path.join(folder, "x.npy")
        np.save(x, np.zeros((3, 2), np.float32))
        return subprocess.run([SINTER, "run", path, "--input", x, "--backend", "interpreter", "--no-cache"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            for operator, version, valid, change, message in CASES:
                with self.subTest(operator=operator, change=change):
                    done = self.run_of(operator, version, {**valid, **change}, folder)
                    self.assertIn(done.returncode, (3, 4), done.stderr)
                    self.assertIn(message, done.stderr)

    def test_valid(self):
        """What the cases change is accepted as it is."""
        with tempfile.TemporaryDirectory() as folder:
            for operator, version, valid in {case[0]: case[:3] for case in CASES}.values():
                with self.subTest(operator=operator):
                    self.assertEqual(self.run_of(operator, version, valid, folder).returncode, 0)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
