#!/usr/bin/env python3
"""Models of dynamic dimensions compute the same on both backends at every size.

    dynamic_sizes.py FOLDER --sinter build/bin/sinter [--filter NAME] [--sizes 5]
                     [--no-float | --no-quantized] [--break-for-test NAME] [--seconds 60]

FOLDER holds models in ONNX's test form (NAME/model.onnx, test_data_set_0). In
each, the batch becomes dynamic, and height and width of images or the length
of sequences where the model allows other ones. It is run as it is, and as
`sinter quantize` makes it, by `sinter run` on the CPU backend, which compiles
one program for all sizes, and on the interpreter, at several sizes: the test
data repeated or cut. Results in float must agree to 1e-3 of an output's range,
those of a quantised model to 25 dB, or else twice as near as they are to the
float model's: a value on the border of two integers may fall to either side.

What `quantize` says of the signal to noise ratio must be what `sinter run`
gives for the file that it wrote, to 0.5 dB. Sizes that both backends refuse
with exit code 3 do not count. A note of the command that a program is for its
sizes only is told with -v: the dynamic program is what is to be checked.

A model is left out whose run on the interpreter takes longer than --seconds.
Needs the Python packages onnx and numpy. The last line is
`N passed, N failed[, N skipped]`; the exit code is 1 if something failed.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

from symbolic_batch import Failure, set_symbolic

REFUSED = 3
STATIC = "the program is for these sizes only"
LEAST_DECIBELS = 25
# Half of the error.
NEARER_DECIBELS = 6
FLOAT_LIMIT = 1e-3


class TooSlow(Exception):
    pass


class Unsupported(Failure):
    """Such a model cannot be run at all."""


def sinter(arguments, options, seconds=None):
    """The exit code, and what was printed to either stream."""
    environment = dict(os.environ)
    if options.break_for_test:
        environment["SINTER_BREAK_FOR_TEST"] = options.break_for_test
    try:
        done = subprocess.run(
            [options.sinter, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise TooSlow(f"sinter {arguments[0]} takes longer than {seconds} s")
    if done.returncode not in (0, REFUSED):
        kind = Unsupported if done.returncode in (2, 4) else Failure
        raise kind(f"sinter {arguments[0]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.returncode, done.stdout, done.stderr


def dynamic_names(graph):
    """For each input, the names of its dimensions but the first that may be
    dynamic: of an image, or of a sequence."""
    constants = {each.name for each in graph.initializer}
    found = {}
    for each in graph.input:
        shape = [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        if each.name in constants:
            continue
        if len(shape) == 4 and shape[1] in (1, 3):
            found[each.name] = {2: "height", 3: "width"}
        elif len(shape) == 4 and shape[3] in (1, 3):
            found[each.name] = {1: "height", 2: "width"}
        elif len(shape) == 3:
            found[each.name] = {2: "length"}
        elif len(shape) == 2 and each.type.tensor_type.elem_type in (6, 7):
            found[each.name] = {1: "sequence"}
    return found


def candidates(symbols, base):
    """Sizes by symbol, smallest, odd and large ones among them."""
    if "height" in symbols:
        rows = [(1, 32, 32), (2, 33, 47), (1, 97, 65), (3, 64, 40), (1, 1, 1),
                (1, 128, 96), (2, 96, 64), (1, 160, 192), (1, 224, 256),
                (1, 200, 232), (2, 129, 161), (1, 256, 320)]
        return [dict(zip(("batch", "height", "width"), row)) for row in rows]
    length = "sequence" if "sequence" in symbols else "length"
    if length in symbols:
        rows = [(1, 1), (2, 7), (3, 16), (1, 33), (5, 5), (1, 64), (2, 128)]
        return [dict(zip(("batch", length), row)) for row in rows]
    return [{"batch": size} for size in (1, 3, 2, 4, 7)]


def resized(value, shape):
    """The elements of `value` repeated, or the first of them."""
    for axis, size in enumerate(shape):
        value = numpy.take(value, numpy.arange(size) % value.shape[axis], axis)
    return numpy.ascontiguousarray(value)


class Model:
    """A model whose dimensions are dynamic, and data for it."""

    def __init__(self, path, folder, withInner):
        self.folder = folder
        model = onnx.load(str(path))
        inner = dynamic_names(model.graph) if withInner else {}
        self.base = set_symbolic(model)
        constants = {each.name for each in model.graph.initializer}
        self.symbols, self.data = {}, {}
        index = 0
        for each in model.graph.input:
            if each.name in constants:
                continue
            dims = each.type.tensor_type.shape.dim
            for axis, name in inner.get(each.name, {}).items():
                dims[axis].dim_param = name
            self.symbols[each.name] = [dim.dim_param for dim in dims]
            data = path.parent / "test_data_set_0" / f"input_{index}.pb"
            self.data[each.name] = numpy_helper.to_array(onnx.load_tensor(str(data)))
            index += 1
        self.path = folder / ("inner.onnx" if withInner else "batch.onnx")
        onnx.save(model, str(self.path), save_as_external_data=model.ByteSize() > 1 << 30)

    def names(self):
        return {name for each in self.symbols.values() for name in each if name}

    def inputs(self, sizes):
        """Arguments with the data at `sizes`."""
        arguments = []
        for index, (name, value) in enumerate(self.data.items()):
            shape = [
                sizes.get(symbol, value.shape[axis]) if symbol else value.shape[axis]
                for axis, symbol in enumerate(self.symbols[name])
            ]
            path = self.folder / f"in{index}.npy"
            numpy.save(path, resized(value, shape))
            arguments += ["--input", f"{name}={path}"]
        return arguments


def outputs_of(path, inputs, backend, folder, options):
    """The outputs, or nothing where the sizes are refused; and the notes."""
    where = folder / f"out-{backend}"
    for old in where.glob("*.npy"):
        old.unlink()
    code, _, notes = sinter(
        ["run", path, "--backend", backend, "--output-dir", where,
         "--cache-dir", folder / "cache", *inputs],
        options,
        options.seconds if backend == "interpreter" else None,
    )
    if code == REFUSED:
        return None, notes
    return [numpy.load(each) for each in sorted(where.glob("*.npy"))], notes


def decibels(expected, got):
    signal = noise = 0.0
    for a, b in zip(expected, got):
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        known = ~(numpy.isnan(a) & numpy.isnan(b))
        a, b = a[known], b[known]
        signal += float((a * a).sum())
        noise += float(((a - b) ** 2).sum())
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def difference(expected, got, isQuantized, limit=LEAST_DECIBELS):
    """What is wrong, or an empty text."""
    if [each.shape for each in expected] != [each.shape for each in got]:
        return f"shapes {[each.shape for each in got]}, not {[each.shape for each in expected]}"
    if isQuantized:
        ratio = decibels(expected, got)
        return "" if ratio >= limit else f"{ratio:.1f} dB, {limit:.1f} are wanted"
    for index, (a, b) in enumerate(zip(expected, got)):
        if a.size == 0:
            continue
        if a.dtype.kind != "f":
            if not numpy.array_equal(a, b):
                return f"output {index} differs"
            continue
        # The mean of no pixels is no number on either.
        neither = numpy.isnan(a) & numpy.isnan(b)
        a, b = numpy.where(neither, 0, a), numpy.where(neither, 0, b)
        scale = max(float(numpy.abs(a).max()), 1e-6)
        distance = float(numpy.abs(a.astype(numpy.float64) - b).max())
        if not distance <= FLOAT_LIMIT * scale:
            return f"output {index} differs by {distance / scale:.2g} of its range"
    return ""


def text_of(sizes):
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


def check_sizes(path, model, isQuantized, options):
    """At how many sizes both backends agree, and how many had a program of
    their own."""
    agreed = static = 0
    for sizes in candidates(model.names(), model.base):
        if agreed == options.sizes:
            break
        inputs = model.inputs(sizes)
        got, notes = outputs_of(path, inputs, "cpu", model.folder, options)
        if got is None and agreed == 0 and "height" in sizes and sizes["height"] < 64:
            continue
        expected, _ = outputs_of(path, inputs, "interpreter", model.folder, options)
        if got is None and expected is None:
            continue
        if got is None or expected is None:
            raise Failure(f"at {text_of(sizes)}: only the {'CPU backend' if got is None else 'interpreter'} refuses: {notes.strip()[-200:]}")
        limit = LEAST_DECIBELS
        if isQuantized:
            floats, _ = outputs_of(model.path, inputs, "cpu", model.folder, options)
            limit = min(limit, decibels(floats, expected) + NEARER_DECIBELS)
        wrong = difference(expected, got, isQuantized, limit)
        if wrong:
            raise Failure(f"at {text_of(sizes)}: {wrong}")
        agreed += 1
        static += STATIC in notes
    if agreed < options.sizes:
        raise Failure(f"only {agreed} sizes are allowed, {options.sizes} are wanted")
    return f"{agreed} sizes agree" + (f", {static} with a program of their own" if static else "")


def quantized(model, options):
    """The quantised model, once its report was held against what runs."""
    samples = model.folder / "samples"
    first = samples / "0"
    first.mkdir(parents=True, exist_ok=True)
    for name, value in model.data.items():
        numpy.save(first / (name.replace("/", "_") + ".npy"), value)
    result, report = model.folder / "quantized.onnx", model.folder / "report.json"
    code, _, said = sinter(
        ["quantize", model.path, "--calibration", samples, "-o", result, "--for", "any",
         "--report", report, "--force"],
        options,
    )
    if code:
        raise Failure(f"quantize refuses: {said.strip()[-300:]}")
    inputs = model.inputs({})
    expected, _ = outputs_of(model.path, inputs, "cpu", model.folder, options)
    got, _ = outputs_of(result, inputs, "cpu", model.folder, options)
    runs, told = decibels(expected, got), json.loads(report.read_text())["snr_db"]
    if isinstance(told, (int, float)) and math.isfinite(told) and abs(runs - told) > 0.5:
        raise Failure(f"quantize says {told:.1f} dB, and the file has {runs:.1f} dB")
    return result, f"{runs:.1f} dB"


def allows_others(model, options):
    """Whether as many sizes are taken as are to be checked."""
    taken = 0
    for sizes in candidates(model.names(), model.base):
        got, _ = outputs_of(model.path, model.inputs(sizes), "cpu", model.folder, options)
        taken += got is not None
        if taken == options.sizes:
            return True
    return False


def check(path, options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = Model(path, folder, withInner=True)
        try:
            isInner = model.names() - {"batch"} and allows_others(model, options)
        except Unsupported:
            isInner = False
        if not isInner:
            model = Model(path, folder, withInner=False)
        if not model.names():
            raise Failure("no input has a first dimension of known size")
        said = [", ".join(sorted(model.names()))]
        if not options.no_float:
            said.append(check_sizes(model.path, model, False, options))
        if not options.no_quantized:
            result, ratio = quantized(model, options)
            said.append(f"quantised ({ratio}): {check_sizes(result, model, True, options)}")
        return "; ".join(said)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__,
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only models of such a name")
    parser.add_argument("--sizes", type=int, default=5, help="so many of each")
    parser.add_argument("--seconds", type=float, default=60, help="for a run on the interpreter")
    parser.add_argument("--no-float", action="store_true")
    parser.add_argument("--no-quantized", action="store_true")
    parser.add_argument("--break-for-test", default="", help="of the compiler: what must be found")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    models = [
        path
        for path in sorted(options.folder.glob("*/model.onnx"))
        if options.filter in path.parent.name
    ]
    if not models:
        print(f"{options.folder}: no NAME/model.onnx here", file=sys.stderr)
        return 2
    failed = skipped = 0
    for path in models:
        try:
            said = check(path, options)
            if options.verbose:
                print(f"{path.parent.name}: {said}", flush=True)
        except TooSlow as slow:
            skipped += 1
            print(f"skipped {path.parent.name}: {slow}", flush=True)
        except Failure as failure:
            failed += 1
            print(f"FAILED {path.parent.name}: {failure}", flush=True)
    passed = len(models) - failed - skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
