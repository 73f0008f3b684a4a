#!/usr/bin/env python3
"""The blocks of docs/python.md and the examples of docstrings run, on a small model.

    test/bindings/python/PageTest.py BUILD
"""
import doctest
import importlib
import os
import re
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "python.md")

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"PageTest.py: skipped: {missing}")
    sys.exit(77)

import sinter  # noqa: E402


def model():
    """y = relu(x @ w) of [N, 3]."""
    weights = numpy_helper.from_array(numpy.array([[1, -1], [2, 0.5], [-3, 4]], numpy.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size]) for name, size in (("x", 3), ("y", 2))]
    return helper.make_model(helper.make_graph(nodes, "layer", values[:1], values[1:], [weights]),
                             opset_imports=[helper.make_opsetid("", 17)])


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.environ["XDG_CACHE_HOME"] = self.folder.name
        os.chdir(self.folder.name)
        onnx.save(model(), "model.onnx")

    def test_page(self):
        with open(PAGE) as file:
            text = file.read()
        blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
        self.assertGreater(len(blocks), 10)
        names = {}
        for block in blocks:
            line = text.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block[1], "docs/python.md", "exec"), names)  # noqa: S102

    def test_docstrings(self):
        runner, finder = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), doctest.DocTestFinder()
        documented = [(name, getattr(sinter, name), sinter) for name in sinter.__all__]
        for name in ("", "torch", "backend", "onnxruntime"):
            try:
                module = importlib.import_module(f"sinter.{name}".rstrip("."))
            except ImportError as missing:
                print(f"sinter.{name}: skipped: {missing}")
                continue
            # Not those of what it imports.
            documented.append((module.__name__, module, module))
        run = 0
        for name, value, module in documented:
            names = {**vars(module), "sinter": sinter, "numpy": numpy, "x": numpy.array([[1, 2, 3]], numpy.float32)}
            for test in finder.find(value, name, module=module if value is module else False, globs=names):
                run += runner.run(test).attempted
        self.assertEqual(runner.failures, 0)
        self.assertGreater(run, 60)

    def test_notebooks_show_models(self):
        shown = sinter.load("model.onnx")._repr_html_()
        self.assertIn("<td>x</td><td>f32</td><td>[N, 3]</td>", shown)
        odd = model()
        odd.graph.input[0].name = odd.graph.node[0].input[0] = "<x>"
        self.assertIn("&lt;x&gt;", sinter.load(odd)._repr_html_())


if __name__ == "__main__":
    unittest.main()
