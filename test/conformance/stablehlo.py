#!/usr/bin/env python3
# Covers: formats/stablehlo Programs StablehloFormat StablehloReader
# Covers: interpreter BatchNorm Checks Conversions Interpreter InterpreterExecutor Strided Tuples
"""Runs the public StableHLO programs through `sinter test` and holds the result against a list.

    test/conformance/stablehlo.py --sinter build/bin/sinter [--backend cpu] [--precision P] [--update]

The programs are those below $SINTER_SHARED/data/stablehlo, or in ../shared beside the checkout; without them the run
is skipped with a message. A case outside stablehlo-missing-<backend>.txt must pass, and one on the list must not.
"""
import argparse
import json
import os
import subprocess
import sys

from run import HERE, ROOT, add_precision, judge

DATA = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(ROOT, "..", "shared"), "data", "stablehlo")
SUITES = ["interpret", "math", "testdata"]


def run_suite(sinter, backend, options):
    """{case below the data folder: (status, reason)}"""
    folders = [os.path.join(DATA, suite) for suite in SUITES]
    # The suite looks at denormal numbers, of its own in inputs and in what is expected.
    done = subprocess.run([sinter, "test", "--backend", backend, "--denormals", "--sizes", "1", "--json", *options, *folders], capture_output=True, text=True, errors="replace")
    answers = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        reason = " ".join(answer.get("reason", "").replace(DATA + os.sep, "").split())
        answers[os.path.relpath(answer["case"], DATA)] = answer["status"], reason
    if not answers:
        sys.exit(f"stablehlo.py: no answer: {done.stderr.strip()[-300:]}")
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True, help="the program")
    parser.add_argument("--backend", action="append", help="cpu or interpreter; may be repeated (default: cpu)")
    parser.add_argument("--update", action="store_true", help="rewrite the list of missing cases")
    add_precision(parser)
    arguments = parser.parse_args()
    if not os.path.isdir(DATA):
        print("skipped: set SINTER_SHARED to the folder whose data/stablehlo has the public programs")
        return
    bad = 0
    for backend in arguments.backend or ["cpu"]:
        missing = os.path.join(HERE, f"stablehlo-missing-{backend}.txt")
        bad += judge(backend, run_suite(arguments.sinter, backend, arguments.precision), missing, arguments.update)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
