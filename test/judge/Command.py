"""Sinter's command as tests of written files call it."""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest


def optimize(sinter, model, target, *options):
    """Writes a model anew; the code that the command ended with and the last line that it said, or None where it did."""
    done = subprocess.run([sinter, "optimize", model, "-o", target, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    return f"optimize, exit code {done.returncode}: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def outputs(sinter, model, feeds, folder, backend):
    """What a model gives for arrays by name, also by name; a string with the reason where the command fails."""
    # Some users of this module do without NumPy.
    import numpy as np
    arguments = []
    for i, (name, array) in enumerate(feeds.items()):
        file = os.path.join(folder, f"{i}.npy")
        np.save(file, array)
        arguments += ["--input", f"{name}={file}"]
    target = tempfile.mkdtemp(dir=folder)
    done = subprocess.run([sinter, "run", model, *arguments, "--backend", backend, "--no-cache", "--output-dir", target],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return f"run, exit code {done.returncode}: {done.stderr.strip()}"
    return {os.path.splitext(file)[0]: np.load(os.path.join(target, file)) for file in os.listdir(target)}


def run_tests(module):
    """main() of a module of unit tests that call the command: --sinter FILE sets the module's SINTER, the rest is unittest's."""
    parser = argparse.ArgumentParser(description=module.__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    options, rest = parser.parse_known_args()
    module.SINTER = options.sinter
    unittest.main(module=module, argv=[sys.argv[0]] + rest)
