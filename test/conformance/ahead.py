#!/usr/bin/env python3
"""Compiles the public cases of ONNX ahead of time, loads each library, and holds the bits of its outputs against what
`sinter run` gives for the same inputs.

    test/conformance/ahead.py --sinter build/bin/sinter [--every K] [--start I] [SUITE_DIR ...]

Where the command refuses a model as unsupported (exit code 4: what needs the library, sizes that depend on values), or since it
needs a shape (2), or NumPy lacks the type of an input, the case counts as refused. The last line is `N passed, N failed, N refused`.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import numpy

from run import ONNX_DATA, ONNX_SUITES, cases

USAGE, UNSUPPORTED = 2, 4
# The types of NumPy; inputs of others have no file that it can write.
NUMPY = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "ui8": "u1", "ui16": "u2", "ui32": "u4", "ui64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}


class Memory:
    """SIZE bytes, all ones at first, that begin at a multiple of 64."""

    def __init__(self, size):
        self.memory = ctypes.create_string_buffer(size + 64)
        self.address = ctypes.addressof(self.memory) + -ctypes.addressof(self.memory) % 64
        self.size = size
        ctypes.memset(self.address, 0xFF, size)

    def bytes(self):
        return ctypes.string_at(self.address, self.size)


def pointers(memories):
    """A struct of pointers to these."""
    return (ctypes.c_void_p * max(1, len(memories)))(*(memory.address for memory in memories))


def call(library, description, inputs):
    """The bytes of the outputs of one run."""
    loaded = ctypes.CDLL(library)
    given, made = ([Memory(tensor["bytes"]) for tensor in description[kind]] for kind in ("inputs", "outputs"))
    for memory, array in zip(given, inputs):
        ctypes.memmove(memory.address, array.tobytes(), memory.size)
    state, workspace = Memory(description["state"]["bytes"]), Memory(description["workspace"]["bytes"])
    pointer = ctypes.c_void_p
    status = loaded.net_state_init(pointer(state.address))
    if status == 0:
        status = loaded.net_run(pointers(given), pointers(made), pointer(state.address), pointer(workspace.address))
    if status != 0:
        raise RuntimeError(f"net_run returned {status}")
    return [memory.bytes() for memory in made]


def check(sinter, case, folder):
    """Whether CASE passed; the reason if it failed, None if it was refused."""
    model, library = os.path.join(case, "model.onnx"), os.path.join(folder, "net.so")
    done = subprocess.run([sinter, "compile", model, "-o", library, "--json"], capture_output=True, text=True)
    if done.returncode in (USAGE, UNSUPPORTED):
        return None
    if done.returncode != 0:
        return done.stderr.strip()
    description = json.loads(done.stdout)
    if any(tensor["type"] not in NUMPY for tensor in description["inputs"]):
        return None
    # Random values are inputs as good as those of the case, which may be of other sizes.
    generator = numpy.random.default_rng(1)
    inputs, arguments = [], []
    for i, tensor in enumerate(description["inputs"]):
        is_float = tensor["type"][0] == "f"
        values = generator.standard_normal(tensor["shape"]) if is_float else generator.integers(0, 2, tensor["shape"])
        inputs.append(numpy.asarray(values).astype(NUMPY[tensor["type"]]))
        path = os.path.join(folder, f"input{i}.npy")
        numpy.save(path, inputs[-1])
        arguments += ["--input", f"{tensor['name']}={path}"]
    out = os.path.join(folder, "out")
    done = subprocess.run([sinter, "run", model, *arguments, "--output-dir", out, "--static", "--no-cache"], capture_output=True, text=True)
    if done.returncode != 0:
        return "sinter run: " + done.stderr.strip()
    for tensor, got in zip(description["outputs"], call(library, description, inputs)):
        expected = numpy.load(os.path.join(out, tensor["name"].replace("/", "_") + ".npy"))
        if expected.tobytes() != got:
            return f"output '{tensor['name']}' has other bits than those of `sinter run`"
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("suites", nargs="*", default=[os.path.join(ONNX_DATA, suite) for suite in ONNX_SUITES])
    options = parser.parse_args()
    found = [case for suite in options.suites for case in cases(suite)]
    if not found:
        sys.exit("there are no cases: scripts/deps.sh installs libonnx-testdata")
    counts = {"passed": 0, "failed": 0, "refused": 0}
    for case in found[options.start % options.every::options.every]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = check(options.sinter, case, folder)
            except (OSError, RuntimeError) as error:
                result = str(error)
        counts["passed" if result is True else "refused" if result is None else "failed"] += 1
        if isinstance(result, str):
            print(f"{case}: {result}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
