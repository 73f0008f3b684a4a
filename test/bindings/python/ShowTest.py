#!/usr/bin/env python3
"""Model.show: the page of a model, in a file or in a browser.

    test/bindings/python/ShowTest.py BUILD
"""
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

import sinter  # noqa: E402

MODEL = b"""func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = stablehlo.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""


class Show(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = sinter.load(MODEL, name="tanh.mlir", no_cache=True)

    def test_to_a_file(self):
        path = self.folder / "page.html"
        with unittest.mock.patch("webbrowser.open") as opened:
            self.assertEqual(self.model.show(path), str(path))
        opened.assert_not_called()
        page = path.read_text()
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertIn("stablehlo.tanh", page)

    def test_in_a_browser(self):
        with unittest.mock.patch("webbrowser.open") as opened:
            path = self.model.show()
        self.addCleanup(os.remove, path)
        opened.assert_called_once_with("file://" + path)
        self.assertIn("stablehlo.tanh", pathlib.Path(path).read_text())

    def test_options(self):
        page = pathlib.Path(self.model.show(self.folder / "page.html", shapes={"arg0": (5, 3)}, measure=True, threads=1)).read_text()
        self.assertIn("f32 [5, 3]", page)
        self.assertIn('"measured":true', page)
        with self.assertRaises(sinter.UsageError):
            self.model.show(self.folder / "page.html", mesure=True)


if __name__ == "__main__":
    unittest.main()
