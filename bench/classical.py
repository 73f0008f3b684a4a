#!/usr/bin/env python3
"""Ensembles of trees with random splits, in ONNX test form, for race.py.

  classical.py OUT [--rows 1 1000]                            one folder an ensemble and number of rows

In the forms in which converters write what XGBoost (balanced), LightGBM (by leaves) and scikit-learn (deep, a weight for
each class in every leaf) grow.
"""
import argparse
import os
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "formats", "onnx"))
from ClassicalGenerator import DOMAIN, Tree, numbered

WIDTH = 30


def grown(random, count, leaves, shape):
    return [Tree(random, WIDTH, leaves, shape) for _ in range(count)]


def xgboost_regressor(random):
    trees = grown(random, 100, 64, "balanced")
    attributes = numbered(random, trees, ["BRANCH_LT"], 0.5, weights=lambda tree: [(0, random.normal() * 0.1)])
    return "TreeEnsembleRegressor", ["y"], dict(attributes, n_targets=1, base_values=[0.5], post_transform="NONE")


def xgboost_classes(random):
    trees = grown(random, 300, 64, "balanced")
    attributes = numbered(random, trees, ["BRANCH_LT"], 0.5, "class", lambda tree: [(tree % 3, random.normal() * 0.1)])
    return "TreeEnsembleClassifier", ["l", "y"], dict(attributes, classlabels_int64s=[0, 1, 2], post_transform="SOFTMAX")


def lightgbm_binary(random):
    trees = grown(random, 500, 31, "any")
    attributes = numbered(random, trees, ["BRANCH_LEQ"], 0.5, "class", lambda tree: [(0, random.normal() * 0.1)])
    return "TreeEnsembleClassifier", ["l", "y"], dict(attributes, classlabels_int64s=[0, 1], post_transform="LOGISTIC")


def forest_classifier(random):
    trees = grown(random, 100, 800, "any")
    def weights(tree):
        shares = random.dirichlet(np.ones(3)) / 100
        return list(enumerate(shares))
    attributes = numbered(random, trees, ["BRANCH_LEQ"], 0.0, "class", weights)
    return "TreeEnsembleClassifier", ["l", "y"], dict(attributes, classlabels_int64s=[0, 1, 2], post_transform="NONE")


def small_regressor(random):
    trees = grown(random, 10, 8, "balanced")
    attributes = numbered(random, trees, ["BRANCH_LEQ"], None, weights=lambda tree: [(0, random.normal())])
    return "TreeEnsembleRegressor", ["y"], dict(attributes, n_targets=1, aggregate_function="AVERAGE", post_transform="NONE")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 1000])
    options = parser.parse_args()
    for make in (small_regressor, xgboost_regressor, xgboost_classes, lightgbm_binary, forest_classifier):
        random = np.random.default_rng(1)
        operator, outputs, attributes = make(random)
        node = helper.make_node(operator, ["x"], outputs, name="trees", domain=DOMAIN, **attributes)
        for rows in options.rows:
            x = random.normal(0, 2, (rows, WIDTH)).astype(np.float32)
            graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [rows, WIDTH])],
                                      [onnx.ValueInfoProto(name=name) for name in outputs])
            opsets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 3)]
            folder = os.path.join(options.out, f"{make.__name__}_{rows}")
            os.makedirs(os.path.join(folder, "test_data_set_0"), exist_ok=True)
            onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), os.path.join(folder, "model.onnx"))
            with open(os.path.join(folder, "test_data_set_0", "input_0.pb"), "wb") as file:
                file.write(numpy_helper.from_array(x, "x").SerializeToString())


if __name__ == "__main__":
    main()
