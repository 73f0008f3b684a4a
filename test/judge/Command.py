"""Sinter's command as tests of written files call it."""
import argparse
import subprocess
import sys
import unittest


def optimize(sinter, model, target, *options):
    """Writes a model anew; the code that the command ended with and the last line that it said, or None where it did."""
    done = subprocess.run([sinter, "optimize", model, "-o", target, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    return f"optimize, exit code {done.returncode}: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def run_tests(module):
    """main() of a module of unit tests that call the command: --sinter FILE sets the module's SINTER, the rest is unittest's."""
    parser = argparse.ArgumentParser(description=module.__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    options, rest = parser.parse_known_args()
    module.SINTER = options.sinter
    unittest.main(module=module, argv=[sys.argv[0]] + rest)
