#!/usr/bin/env python3
"""sinter.backend under a newer ONNX's own runner, as ONNX's backend scoreboard runs it.

    test/conformance/scoreboard.py BUILD [--onnx FOLDER] [--filter TEXT] [--reasons FILE] [--at-least N]

FOLDER, or else the environment variable SINTER_ONNX, is where Python finds that release of ONNX: a folder that holds
the package `onnx`, built (build_onnx.py builds a copy of its sources), and `ml_dtypes`. Without one it says so and ends
with 77. The last line is the score, `N passed, N failed, N skipped`; with --at-least, fewer passes are an error.
"""
import argparse
import collections
import os
import re
import sys
import tempfile
import unittest
import warnings

SKIPPED = 77


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build folder, with the Python package")
    parser.add_argument("--onnx", default=os.environ.get("SINTER_ONNX"), help="where the packages onnx and ml_dtypes are")
    parser.add_argument("--filter", default="", help="only cases whose name holds this")
    parser.add_argument("--reasons", help="a file for the reason of each case that does not pass")
    parser.add_argument("--at-least", type=int, default=0, help="how many cases have to pass")
    return parser.parse_args()


class Board(unittest.TestResult):
    """The outcome of each case."""

    def __init__(self):
        super().__init__()
        self.passed, self.failed, self.left_out = [], {}, {}

    def addSuccess(self, test):  # noqa: N802
        self.passed.append(test._testMethodName)

    def addFailure(self, test, error):  # noqa: N802
        self.failed[test._testMethodName] = " ".join(f"{error[0].__name__}: {error[1]}".split())[:400]

    addError = addFailure

    def addSkip(self, test, reason):  # noqa: N802
        self.left_out[test._testMethodName] = reason


def widen_comparisons():
    """Lets numpy.testing compare elements of ml_dtypes, which it cannot before NumPy 2: as f32, which has all of them."""
    import numpy
    if int(numpy.__version__.split(".")[0]) >= 2:
        return
    compare = numpy.testing.assert_allclose

    def wide(array):
        array = numpy.asarray(array)
        return array.astype(numpy.float32) if array.dtype.isbuiltin == 2 else array
    numpy.testing.assert_allclose = lambda given, expected, **named: compare(wide(given), wide(expected), **named)


def run(names):
    """The outcome of ONNX's cases whose name holds NAMES."""
    import onnx.backend.test
    import sinter.backend
    widen_comparisons()
    board = Board()
    for cases in onnx.backend.test.BackendTest(sinter.backend, __name__).test_cases.values():
        for name in unittest.TestLoader().getTestCaseNames(cases):
            # The board runs on the CPU; cases for other devices are not its own.
            if name.endswith("_cpu") and names in name:
                cases(name).run(board)
    return board


def main():
    given = options()
    if not given.onnx or not os.path.isdir(os.path.join(given.onnx, "onnx")):
        print("scoreboard.py: skipped: no copy of a newer ONNX; give it with --onnx or SINTER_ONNX")
        return SKIPPED
    sys.path[:0] = [given.onnx, os.path.join(given.build, "python")]
    warnings.simplefilter("ignore")
    import typing_extensions
    # Older releases of typing_extensions lack what ONNX marks functions with.
    if not hasattr(typing_extensions, "deprecated"):
        typing_extensions.deprecated = lambda *given, **named: lambda function: function
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.environ["ONNX_MODELS"] = folder
        board = run(given.filter)
    if given.reasons:
        with open(given.reasons, "w") as file:
            for name, reason in sorted({**board.failed, **board.left_out}.items()):
                file.write(f"{name}  {reason}\n")
    counts = collections.Counter(re.sub(r"[-+.\d]+|'[^']*'", "*", reason)[:100]
                                 for reason in (*board.failed.values(), *board.left_out.values()))
    for reason, times in counts.most_common(12):
        print(f"    {times:4d} x {reason}")
    print(f"{len(board.passed)} passed, {len(board.failed)} failed, {len(board.left_out)} skipped")
    return 1 if len(board.passed) < given.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
