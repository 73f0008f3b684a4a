#!/usr/bin/env python3
"""bench/figures.py: what it adds, writes and finds wrong, in a folder of its own.

  FiguresTest.py
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import figures

RACE = {"machine": "a CPU", "date": "2000-01-01", "threads": 2, "rounds": 3, "seconds": 0.25, "statistic": "median", "runs": [],
        "summary": [{"model": "a.x", "errors": [], "sinter": 1.0, "onnxruntime": 2.0, "onnxruntime_ratio": 0.5, "sinter_cosine": None},
                    {"model": "b.y", "errors": ["onnxruntime: no"], "sinter": 123.456, "onnxruntime": None, "onnxruntime_ratio": None},
                    {"model": "c.y", "errors": [], "sinter": 0.0123, "onnxruntime": 0.00615, "onnxruntime_ratio": 2.0}]}


class FiguresTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.readme = os.path.join(folder.name, "figures"), os.path.join(folder.name, "README.md")
        os.mkdir(self.folder)
        self.write(self.readme, f"above\n{figures.BEGIN}\nold\n{figures.END}\nbelow\n")
        for name, value in (("FOLDER", self.folder), ("README", self.readme)):
            patch = mock.patch.object(figures, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def run_main(self, *arguments):
        """The exit code and what is printed."""
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", ["figures.py", *arguments]), contextlib.redirect_stdout(printed):
            return figures.main(), printed.getvalue()

    def add_race(self):
        path = os.path.join(self.folder, "..", "race.json")
        self.write(path, json.dumps(RACE))
        self.assertEqual(self.run_main("--add", path, "--to", "here", "--table", "f32", "--title", "Floats", "--name", "Here")[0], 0)

    def test_a_race_becomes_a_page_and_a_line_of_the_summary(self):
        self.add_race()
        page = self.read("here.md")
        self.assertIn("# Here\n", page)
        self.assertIn("## Floats\n\nHow: `race.py --threads 2 --rounds 3 --seconds 0.25`, median of each round, 2000-01-01.\n", page)
        self.assertIn("| model | Sinter ms | ONNX Runtime ms | ratio to ONNX Runtime |\n|---|---:|---:|---:|\n"
                      "| a.x | 1.00 | 2.00 | 0.50 |\n| b.y | 123 | - | - |\n| c.y | 0.012 | 0.006 | 2.00 |\n", page)
        self.assertIn("geometric mean 1.00 of 2 rows, worst 2.00 (c.y). By style: x 0.50 (to 0.50), y 2.00 (to 2.00).", page)
        summary = self.read("../README.md")
        self.assertTrue(summary.startswith("above\n") and summary.endswith("\nbelow\n") and "old" not in summary, summary)
        self.assertIn("| Here | [Floats](figures/here.md#floats) | ONNX Runtime | 2 | 1.00 | 2.00 | c.y |", summary)

    def test_a_table_in_markdown_takes_the_place_of_the_one_before(self):
        self.add_race()
        path = os.path.join(self.folder, "..", "race.md")
        self.write(path, "a CPU\n\n| model | sizes | ms | ratio |\n|---|---|---:|---:|\n| m | batch 3 | 1.0 | 1.250 |\n\nGeometric mean: 1.25.\n")
        self.run_main("--add", path, "--to", "here", "--table", "f32", "--how", "so")
        page = self.read("here.md")
        self.assertIn("## Floats\n\nHow: so.\n\n| model | sizes | ms | ratio |\n|---|---|---:|---:|\n| m | batch 3 | 1.0 | 1.250 |\n", page)
        self.assertIn("worst 1.25 (m, batch 3).", page)
        self.assertEqual(len(json.loads(self.read("here.json"))["tables"]), 1)

    def test_check_finds_what_the_json_does_not_give(self):
        self.add_race()
        self.assertEqual(self.run_main("--check"), (0, ""))
        self.write(os.path.join(self.folder, "here.md"), self.read("here.md").replace("123", "124"))
        code, printed = self.run_main("--check")
        self.assertEqual(code, 1)
        self.assertIn("-| b.y | 124 |", printed)
        self.run_main()
        self.write(os.path.join(self.folder, "stray.md"), "")
        code, printed = self.run_main("--check")
        self.assertEqual(code, 1)
        self.assertIn("there is no JSON file of that name", printed)


if __name__ == "__main__":
    unittest.main()
