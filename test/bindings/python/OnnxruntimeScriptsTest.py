#!/usr/bin/env python3
"""The programs for ONNX Runtime in scripts/, with nothing but their import of it replaced, judged by ONNX Runtime itself: what
each run of a session gave is what it gives (npm install in bench/).

    test/bindings/python/OnnxruntimeScriptsTest.py BUILD
"""
import contextlib
import glob
import io
import os
import re
import sys
import tempfile
import unittest
import warnings

BUILD = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(BUILD, "python"), os.path.join(HERE, "..", "..", "judge")]

import Packages  # noqa: E402

Packages.skip_without(runtime=True)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import OnnxRuntime as judge  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
import sinter.onnxruntime as onnxruntime  # noqa: E402
from sinter.onnxruntime import _session  # noqa: E402

RANDOM = np.random.default_rng(5)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def weights(*shape, dtype=np.float32):
    return (RANDOM.standard_normal(shape) / max(1, shape[0]) ** 0.5).astype(dtype)


def value(name, shape, element=FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes, inputs, outputs, constants, **given):
    """NODES: (operator, inputs, outputs, attributes) by words."""
    made = [helper.make_node(operator, taken.split(), results.split(), **attributes) for operator, taken, results, attributes in nodes]
    graph = helper.make_graph(made, "graph", inputs, outputs, [numpy_helper.from_array(np.asarray(array), name)
                                                               for name, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, **given)


def classify_image():
    return model([("Conv", "input w b", "c", {"strides": [2, 2], "pads": [1] * 4}), ("Relu", "c", "r", {}),
                  ("GlobalAveragePool", "r", "p", {}), ("Flatten", "p", "f", {}), ("Gemm", "f v", "logits", {})],
                 [value("input", ["N", 3, 32, 32])], [value("logits", ["N", 10])],
                 {"w": weights(8, 3, 3, 3), "b": weights(8), "v": weights(8, 10)})


def detect_objects():
    return model([("Conv", "images w", "c", {"strides": [16, 16]}), ("Reshape", "c shape", "cells", {}),
                  ("Split", "cells sizes", "corner size score", {"axis": 2}), ("Sigmoid", "corner", "low", {}), ("Exp", "size", "extent", {}),
                  ("Add", "low extent", "high", {}), ("Concat", "low high", "boxes", {"axis": 2}),
                  ("Sigmoid", "score", "s", {}), ("Squeeze", "s last", "scores", {})],
                 [value("images", [1, 3, 64, 64])], [value("boxes", [1, 16, 4]), value("scores", [1, 16])],
                 {"w": weights(5, 3, 16, 16), "shape": [1, 16, 5], "sizes": [2, 2, 1], "last": [2]})


def embed_sentences():
    return model([("Gather", "table input_ids", "e", {}), ("Cast", "attention_mask", "m", {"to": FLOAT}), ("Unsqueeze", "m last", "m3", {}),
                  ("Mul", "e m3", "masked", {}), ("MatMul", "masked w", "h", {}), ("Tanh", "h", "last_hidden_state", {})],
                 [value(name, ["batch", "sequence"], INT64) for name in ("input_ids", "attention_mask")],
                 [value("last_hidden_state", ["batch", "sequence", 8])], {"table": weights(20, 8), "w": weights(8, 8), "last": [2]})


def generate_text():
    """The mean of what was seen says what comes."""
    return model([("Gather", "table input_ids", "e", {}), ("Concat", "past_0 e", "present_0", {"axis": 1}),
                  ("ReduceMean", "present_0", "mean", {"axes": [1], "keepdims": 1}), ("Add", "e mean", "both", {}),
                  ("MatMul", "both w", "logits", {})],
                 [value("input_ids", [1, "sequence"], INT64), value("past_0", [1, "past", 6])],
                 [value("logits", [1, "sequence", 12]), value("present_0", [1, "total", 6])], {"table": weights(12, 6), "w": weights(6, 12)})


def stream_audio():
    return model([("Cast", "sr", "rate", {"to": FLOAT}), ("Div", "rate full", "scale", {}), ("Mul", "input scale", "x", {}),
                  ("MatMul", "x w", "i", {}), ("MatMul", "h u", "r", {}), ("Add", "i r", "s", {}), ("Tanh", "s", "hn", {}),
                  ("ReduceMean", "hn", "m", {"axes": [0, 2], "keepdims": 0}), ("Sigmoid", "m", "output", {})],
                 [value("input", [1, "samples"]), value("h", [2, 1, 8]), value("sr", [], INT64)],
                 [value("output", [1]), value("hn", [2, 1, 8])], {"full": np.float32(16000), "w": weights(160, 8), "u": weights(8, 8)})


def predict_table():
    return model([("Gemm", "float_input w b", "scores", {}), ("ArgMax", "scores", "label", {"axis": 1, "keepdims": 0}),
                  ("Softmax", "scores", "probabilities", {"axis": 1})],
                 [value("float_input", [None, 4])], [value("label", [None], INT64), value("probabilities", [None, 3])],
                 {"w": weights(4, 3), "b": weights(3)})


def measure_latency():
    return model([("MatMul", "x w", "h", {}), ("Relu", "h", "y", {})], [value("x", ["batch", 16])], [value("y", ["batch", 16])],
                 {"w": weights(16, 16)})


def serve_requests():
    return model([("Gemm", "rows w", "h", {}), ("Tanh", "h", "t", {}), ("Gemm", "t v", "back", {})],
                 [value("rows", ["N", 8])], [value("back", ["N", 8])], {"w": weights(8, 3), "v": weights(3, 8)})


def upscale_image():
    half = TensorProto.FLOAT16
    return model([("Resize", "low none scales", "large", {"mode": "nearest"}), ("Conv", "large w", "high", {"pads": [1] * 4})],
                 [value("low", [1, 1, "height", "width"], half)], [value("high", [1, 1, "H", "W"], half)],
                 {"none": np.zeros(0, np.float32), "scales": np.array([1, 1, 2, 2], np.float32), "w": weights(1, 1, 3, 3, dtype=np.float16)})


def describe_model():
    made = model([("DequantizeLinear", "pixels scale zero", "x", {}), ("Conv", "x w", "c", {}), ("QuantizeLinear", "c scale2 zero2", "q", {})],
                 [value("pixels", ["N", 3, 8, 8], TensorProto.UINT8)], [value("q", ["N", 4, 6, 6], TensorProto.UINT8)],
                 {"scale": np.float32(1 / 255), "zero": np.uint8(0), "w": weights(4, 3, 3, 3), "scale2": np.float32(0.05), "zero2": np.uint8(128)},
                 producer_name="test", model_version=3)
    helper.set_model_props(made, {"author": "somebody"})
    return made


class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["XDG_CACHE_HOME"] = cls.folder.name
        cls.runs = []

        def recorded(self, inputs, outputs, options, results_of=_session.InferenceSession._results):
            results = results_of(self, inputs, outputs, options)
            own = {name: np.array(each.numpy() if isinstance(each, onnxruntime.OrtValue) else each) for name, each in inputs.items()}
            cls.runs.append((cls.script, own, {name: np.array(each) for name, each in results.items()}))
            return results
        _session.InferenceSession._results = recorded

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_script(self, path):
        """Its output."""
        with open(path) as file:
            text = file.read()
        text, first = re.subn(r"^import onnxruntime$", "import sinter.onnxruntime as onnxruntime", text, flags=re.M)
        text, second = re.subn(r"^(import|from) onnxruntime(?=[ .])", r"\1 sinter.onnxruntime", text, flags=re.M)
        self.assertGreater(first + second, 0)
        printed = io.StringIO()
        arguments, sys.argv = sys.argv, [path, self.path(f"{type(self).script}.onnx")]
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(text, path, "exec"), {"__name__": "__main__"})  # noqa: S102
        finally:
            sys.argv = arguments
        return printed.getvalue()

    def test_scripts(self):
        paths = sorted(glob.glob(os.path.join(HERE, "scripts", "*.py")))
        self.assertEqual(len(paths), 10)
        for path in paths:
            type(self).script = name = os.path.basename(path)[:-3]
            onnx.save(globals()[name](), self.path(f"{name}.onnx"))
            with self.subTest(script=name):
                self.assertTrue(self.run_script(path).strip())
        self.assertEqual({script for script, _, _ in self.runs}, {os.path.basename(path)[:-3] for path in paths})
        tasks = [judge.Task(self.path(f"{script}.onnx"), feeds, self.path(f"judge{i}")) for i, (script, feeds, _) in enumerate(self.runs)]
        judge.run(tasks)
        for (script, _, results), task in zip(self.runs, tasks):
            with self.subTest(script=script):
                self.assertIsNone(task.error)
                # A value in the middle of two integers may become either.
                tolerance = 1 / 128 if script == "describe_model" else 1e-4
                self.assertIsNone(judge.difference({name: task.outputs[name] for name in results}, results, tolerance))


if __name__ == "__main__":
    unittest.main()
