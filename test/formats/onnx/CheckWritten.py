#!/usr/bin/env python3
"""Writes the models of a folder back to ONNX and has others judge them.

  CheckWritten.py EXPORT_CASES FOLDER [--runtime-script bench/ort_bench.js]

Every model.onnx below FOLDER that can be read must be written, as it was read
and by the rules alone, and pass onnx.checker where Python's onnx is installed.
With onnxruntime-node (npm install in bench/) the written models of the folder
must also give the outputs of their test data; models that the runtime refuses
in their original form, too, are skipped.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# The newest operator set and file format that a checker is asked about are its
# own: newer ones are not wrong.
try:
    import onnx
except ImportError:
    onnx = None


# What the rules alone cannot write, though it is given back as it was read: no
# operator of ONNX sorts by several keys.
NOT_BY_RULES = ["test_unique_"]


def export(tool, folder, target, generic):
    """The pairs (written file, original), and the lines about failures."""
    command = [tool] + (["--generic"] if generic else []) + [target, folder]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    pairs = [line.split("\t") for line in lines if "\t" in line]
    return pairs, [line for line in lines if line.startswith("not written")]


def check(path):
    """What onnx.checker says against a model, or None."""
    if not onnx:
        return None
    model = onnx.load(path)
    newest = onnx.defs.onnx_opset_version()
    if model.ir_version > onnx.IR_VERSION or any(
            each.domain == "" and each.version > newest for each in model.opset_import):
        return None
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:  # The checker raises errors of several kinds.
        return str(error).splitlines()[0]
    return None


def run(script, model, data):
    """The largest error on the test data, or None if the runtime refuses."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(model), os.path.join(folder, "model.onnx"))
        os.symlink(os.path.abspath(data), os.path.join(folder, "test_data_set_0"))
        done = subprocess.run(["node", script, folder, "--seconds", "0", "--warmup", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["max_error"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folder")
    parser.add_argument("--runtime-script")
    options = parser.parse_args()
    if not os.path.isdir(options.folder):
        print(f"skipped: {options.folder} is not there (Debian: libonnx-testdata)")
        return 0
    if not onnx:
        print("not checked: Python's onnx is not installed (Debian: python3-onnx)")
    script = options.runtime_script
    if script and not os.path.isdir(os.path.join(os.path.dirname(script), "node_modules")):
        print("not run: onnxruntime-node is not installed (npm install --ignore-scripts in bench/)")
        script = None
    failures = []
    count = 0
    with tempfile.TemporaryDirectory() as target:
        for generic in (False, True):
            pairs, refused = export(options.tool, options.folder,
                                    os.path.join(target, str(generic)), generic)
            failures += [line for line in refused if not (generic and any(name in line for name in NOT_BY_RULES))]
            count += len(pairs)
            for written, original in pairs:
                reason = check(written)
                data = os.path.join(os.path.dirname(original), "test_data_set_0")
                if not reason and script and os.path.isdir(data):
                    error = run(script, written, data)
                    if error is None or not error < 1e-3:
                        before = run(script, original, data)
                        if before is not None and before < 1e-3:
                            reason = f"the runtime's error is {error}"
                if reason:
                    failures.append(f"{original}{' (by rules)' if generic else ''}: {reason}")
    for line in failures:
        print(line)
    print(f"{count} written, {len(failures)} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
