#!/usr/bin/env python3
"""Compiles the public cases of ONNX ahead of time, loads each library, and holds the bits of its outputs against what
`sinter run` gives for the same inputs.

    test/conformance/ahead.py --sinter build/bin/sinter [--every K] [--start I] [--dynamic] [SUITE_DIR ...]

With --dynamic the sizes of the inputs become dynamic, those that are equal one size, so that they are arguments of the compiled
function; it is called with those of the file, and with larger ones, which it refuses where `sinter run` does. That needs the
Python package onnx.

Where the command refuses a model as unsupported (exit code 4: what needs the library, sizes that depend on values), or since it
needs a shape (2), or NumPy lacks the type of an input, the case counts as refused. The last line is `N passed, N failed, N refused`.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from run import ONNX_DATA, ONNX_SUITES, cases

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "driver"))
import SizedBundle as sized

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


def compiled(sinter, model, library):
    """The description of the bundle that MODEL became; the reason if that failed, None if it was refused."""
    done = subprocess.run([sinter, "compile", model, "-o", library, "--json"], capture_output=True, text=True)
    if done.returncode in (USAGE, UNSUPPORTED):
        return None
    if done.returncode != 0:
        return done.stderr.strip()
    description = json.loads(done.stdout)
    return None if any(tensor["type"] not in NUMPY for tensor in description["inputs"]) else description


def check(sinter, case, folder):
    """Whether CASE passed; the reason if it failed, None if it was refused."""
    model, library = os.path.join(case, "model.onnx"), os.path.join(folder, "net.so")
    description = compiled(sinter, model, library)
    if not isinstance(description, dict):
        return description
    if description["sizes"]:
        return compare_sized(sinter, model, library, description, [{size["name"]: number for size in description["sizes"]} for number in (1, 3)], folder)
    # Random values are inputs as good as those of the case, which may be of other sizes.
    inputs = random_inputs(description["inputs"], [tensor["shape"] for tensor in description["inputs"]])
    out, done = run_in_command(sinter, model, description["inputs"], inputs, folder, "--static")
    if done.returncode != 0:
        return "sinter run: " + done.stderr.strip()
    for tensor, got in zip(description["outputs"], call(library, description, inputs)):
        expected = numpy.load(os.path.join(out, tensor["name"].replace("/", "_") + ".npy"))
        if expected.tobytes() != got:
            return f"output '{tensor['name']}' has other bits than those of `sinter run`"
    return True


def with_dynamic_sizes(model, folder):
    """Writes MODEL to FOLDER with a symbol for each size of its inputs; the path, or None if they have none."""
    import onnx
    loaded = onnx.load(model)
    constants = {each.name for each in loaded.graph.initializer}
    sizes = {}
    for value in loaded.graph.input:
        if value.name in constants or not value.type.HasField("tensor_type"):
            continue
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value > 1:
                sizes[f"s{dim.dim_value}"] = dim.dim_value
                dim.dim_param = f"s{dim.dim_value}"
    if not sizes:
        return None, sizes
    # What the file says of other tensors held for its sizes.
    del loaded.graph.value_info[:]
    for value in loaded.graph.output:
        if value.type.HasField("tensor_type"):
            for dim in value.type.tensor_type.shape.dim:
                dim.Clear()
    path = os.path.join(folder, "dynamic.onnx")
    onnx.save(loaded, path)
    return path, sizes


def random_inputs(specs, shapes):
    generator = numpy.random.default_rng(1)
    return [numpy.asarray(generator.standard_normal(shape) if spec["type"][0] == "f" else generator.integers(0, 2, shape)).astype(NUMPY[spec["type"]])
            for spec, shape in zip(specs, shapes)]


def run_in_command(sinter, model, specs, inputs, folder, *options):
    """The folder of the outputs of `sinter run`, and what ended."""
    arguments = []
    for i, (spec, values) in enumerate(zip(specs, inputs)):
        path = os.path.join(folder, f"input{i}.npy")
        numpy.save(path, values)
        arguments += ["--input", f"{spec['name']}={path}"]
    out = os.path.join(folder, "out")
    return out, subprocess.run([sinter, "run", model, *arguments, "--output-dir", out, "--cache-dir", os.path.join(folder, "cache"), *options], capture_output=True, text=True)


def check_dynamic(sinter, case, folder):
    """As check(), with sizes as arguments."""
    model, sizes = with_dynamic_sizes(os.path.join(case, "model.onnx"), folder)
    if model is None:
        return None
    library = os.path.join(folder, "net.so")
    description = compiled(sinter, model, library)
    if not isinstance(description, dict):
        return description
    if not description["sizes"]:
        return None
    return compare_sized(sinter, model, library, description, [{name: size + more for name, size in sizes.items()} for more in (0, 1, 3)], folder)


def compare_sized(sinter, model, library, description, choices, folder):
    """Calls LIBRARY with each of CHOICES, as check() says."""
    bundle = sized.SizedBundle(library, description)
    for choice in choices:
        own = {size["name"]: choice[size["name"]] for size in description["sizes"] if size["name"] in choice}
        known = [[size if isinstance(size, int) else own.get(size) for size in tensor["shape"]] for tensor in description["inputs"]]
        if len(own) < len(description["sizes"]) or any(None in shape for shape in known):
            return None
        inputs = random_inputs(description["inputs"], known)
        out, done = run_in_command(sinter, model, description["inputs"], inputs, folder, "--dynamic")
        is_refused = bundle.workspace_size(**own) == sized.NO_SIZE
        if is_refused != (done.returncode != 0):
            return f"sizes {own} are {'refused' if is_refused else 'accepted'}, and `sinter run` returns {done.returncode}: {done.stderr.strip()}"
        if is_refused:
            continue
        made = bundle.run(inputs, **own)
        if not isinstance(made, tuple):
            return f"net_run returned {made} for {own}"
        for tensor, got in zip(description["outputs"], made[0]):
            expected = numpy.load(os.path.join(out, tensor["name"].replace("/", "_") + ".npy"))
            if expected.shape != got.shape or expected.tobytes() != got.tobytes():
                return f"with {own}, output '{tensor['name']}' has other bits than those of `sinter run`"
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--dynamic", action="store_true", help="with sizes as arguments")
    parser.add_argument("suites", nargs="*", default=[os.path.join(ONNX_DATA, suite) for suite in ONNX_SUITES])
    options = parser.parse_args()
    found = [case for suite in options.suites for case in cases(suite)]
    if not found:
        sys.exit("there are no cases: scripts/deps.sh installs libonnx-testdata")
    counts = {"passed": 0, "failed": 0, "refused": 0}
    for case in found[options.start % options.every::options.every]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = (check_dynamic if options.dynamic else check)(options.sinter, case, folder)
            except (AssertionError, KeyError, OSError, RuntimeError) as error:
                result = str(error)
        counts["passed" if result is True else "refused" if result is None else "failed"] += 1
        if isinstance(result, str):
            print(f"{case}: {result}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
