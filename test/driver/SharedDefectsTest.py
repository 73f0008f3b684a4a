#!/usr/bin/env python3
"""Small files that once showed a defect, and what must hold of each.

    test/driver/SharedDefectsTest.py build/bin/sinter [FILE...] [unittest options]

The files are those of $SINTER_SHARED/data/defects or of ../shared/data/defects; where neither is there, the test is skipped. Every
file there has a row in ROWS, and every row's checks must hold. A FILE is a part of a file's name: only such rows are run.
"""
import ast
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import OnnxBytes as onnx
from SinterCommand import DONE, INVALID, SYSTEM, UNSUPPORTED, USAGE, WRONG

SKIPPED = 77
SINTER = FOLDER = ""
# No command may take more for a file of a few hundred bytes, whatever the file asks for.
MOST_SECONDS, MOST_MEGABYTES = 20, 2000
# Kinds of numbers in .npy files, as `struct` calls them.
CODES = {"<f2": "e", "<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q", "|b1": "?"}


class Done:
    """How a run of the command ended."""

    def __init__(self, arguments):
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            process = subprocess.Popen([SINTER, *arguments], stdout=out, stderr=error)
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - began > 10 * MOST_SECONDS:
                    process.kill()
                time.sleep(0.005)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.arguments, self.code = " ".join(arguments), process.returncode
            self.seconds, self.megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000
            self.out, self.error = (self.text(file) for file in (out, error))

    @staticmethod
    def text(file):
        file.seek(0)
        return file.read().decode(errors="replace")


def read_npy(path):
    """The numbers of a .npy file, in order."""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10 : 10 + size].decode())
    numbers = content[10 + size :]
    code = CODES[header["descr"]]
    return list(struct.unpack(f"<{len(numbers) // struct.calcsize(code)}{code}", numbers))


class Case(unittest.TestCase):
    """A row: a file and its checks."""

    def __init__(self, name, checks):
        super().__init__("run_row")
        self.name, self.checks = name, checks
        self.path = os.path.join(FOLDER, name)
        # Of a folder in ONNX's test form, what can be read.
        self.model = os.path.join(self.path, "model.onnx") if os.path.isdir(self.path) else self.path

    def id(self):
        return self.name

    __str__ = id

    def run_row(self):
        with tempfile.TemporaryDirectory() as self.folder:
            for check in self.checks:
                with self.subTest(check.__name__):
                    check(self)

    def sinter(self, *arguments):
        """Runs a command; it must end by itself, within bounds, and any error is one line that is not too long."""
        done = Done(arguments)
        self.assertGreaterEqual(done.code, 0, f"{done.arguments}: ends with signal {-done.code}")
        self.assertLess(done.seconds, MOST_SECONDS, done.arguments)
        self.assertLess(done.megabytes, MOST_MEGABYTES, done.arguments)
        errors = [line for line in done.error.splitlines() if not line.startswith("note: ")]
        if done.code not in (DONE, WRONG):
            self.assertEqual(len(errors), 1, f"{done.arguments}: {done.error}")
            self.assertLess(len(errors[0]), 2000, done.arguments)
            self.assertIn(os.path.basename(self.model), errors[0], done.arguments)
        return done

    def expect(self, codes, *arguments):
        done = self.sinter(*arguments)
        self.assertIn(done.code, codes, f"{done.arguments}: {done.error}")
        return done

    def optimized(self, *options):
        """The file that `optimize` makes of this one."""
        out = os.path.join(self.folder, "optimized" + os.path.splitext(self.model)[1])
        self.expect([DONE], "optimize", self.model, "-o", out, *options)
        return out

    def outputs(self, path, *arguments):
        """The numbers that a model gives, a list an output."""
        folder = tempfile.mkdtemp(dir=self.folder)
        done = Done(["run", path, "--output-dir", folder, "--json", "--no-cache", *arguments])
        self.assertEqual(done.code, DONE, f"{done.arguments}: {done.error}")
        return [read_npy(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if not name.startswith("state_")]

    def assert_near(self, got, expected, tolerance, what):
        self.assertEqual([len(each) for each in got], [len(each) for each in expected], what)
        for ours, theirs in zip(got, expected):
            allowed = tolerance * max([abs(value) for value in theirs] + [1e-30])
            for a, b in zip(ours, theirs):
                self.assertTrue(abs(a - b) <= allowed or (a != a and b != b), f"{what}: {a} instead of {b}")


# What a row can ask for. Each makes a check: a function of the case.


def named(name):
    def wrap(check):
        check.__name__ = name
        return check

    return wrap


COMMANDS = {
    "inspect": ("inspect", "{}"),
    "optimize": ("optimize", "{}", "--stats"),
    "run": ("run", "{}", "--input", "random", "--no-cache"),
    "run on the oracle": ("run", "{}", "--input", "random", "--backend", "interpreter"),
    "bench": ("bench", "{}", "--seconds", "0.01", "--no-cache"),
}


def exits(codes, *commands):
    """The commands (all, if none is named) end with one of these codes."""

    @named(f"exits with {codes}")
    def check(case):
        for name in commands or COMMANDS:
            case.expect(codes, *(case.model if each == "{}" else each for each in COMMANDS[name]))

    return check


def becomes(*types):
    """The written file has nodes of these types, in order."""

    @named(f"becomes {types}")
    def check(case):
        with open(case.optimized(), "rb") as file:
            case.assertEqual(onnx.node_types(file.read()), list(types))

    return check


def keeps(*operations, at_most, options=()):
    """After `optimize`, at most so many of these operations are left."""

    @named(f"keeps at most {at_most} of {operations}")
    def check(case):
        counts = json.loads(case.expect([DONE], "optimize", case.model, "--json", *options).out)["after"]
        case.assertLessEqual(sum(counts.get(name, 0) for name in operations), at_most, counts)

    return check


def agrees(*arguments, tolerance=1e-4):
    """Both backends give the same, of this file and of what `optimize` makes of it."""

    @named("agrees")
    def check(case):
        expected = case.outputs(case.model, "--backend", "interpreter", "--input", "random:7", *arguments)
        optimized = case.optimized()
        for path in case.model, optimized:
            for backend in "cpu", "interpreter":
                got = case.outputs(path, "--backend", backend, "--input", "random:7", *arguments)
                case.assert_near(got, expected, tolerance, f"{path} on {backend}")

    return check


def gives(shape, pattern, expected, tolerance=0.01):
    """Of an f16 input that repeats PATTERN, every output repeats EXPECTED, on both backends, optimised or not."""

    @named("gives")
    def check(case):
        count = 1
        for size in shape:
            count *= size
        content = struct.pack(f"<{count}e", *(pattern[i % len(pattern)] for i in range(count)))
        given = os.path.join(case.folder, "x.npy")
        with open(given, "wb") as file:
            file.write(onnx.npy(shape, "<f2", content))
        for path in case.model, case.optimized():
            for backend in "cpu", "interpreter":
                got = case.outputs(path, "--backend", backend, "--input", given)
                wanted = [[expected[i % len(expected)] for i in range(len(each))] for each in got]
                case.assert_near(got, wanted, tolerance, f"{path} on {backend}")

    return check


def passes(*backends):
    """The folder's own data are what the model gives."""

    @named(f"passes on {backends}")
    def check(case):
        for backend in backends:
            done = case.sinter("test", case.path, "--backend", backend)
            case.assertEqual(done.code, DONE, f"{backend}: {done.out}")

    return check


def rewritten(*options):
    """What `optimize` writes can be read again, and so can what `convert` makes of it."""

    @named("rewritten")
    def check(case):
        out = case.optimized(*options)
        case.expect([DONE], "inspect", out)
        if out.endswith(".mlir"):
            case.expect([DONE], "convert", out, "-o", out + ".bc")
            case.expect([DONE], "inspect", out + ".bc")

    return check


def keeps_inputs(*names):
    @named("keeps inputs")
    def check(case):
        with open(case.optimized(), "rb") as file:
            graph = dict(onnx.fields(file.read()))[7]
        got = [dict(onnx.fields(value))[1].decode() for key, value in onnx.fields(graph) if key == 11]
        case.assertEqual(got, list(names))

    return check


def initializers(most):
    """The written file has at most so many."""

    @named("initializers")
    def check(case):
        with open(case.optimized(), "rb") as file:
            graph = dict(onnx.fields(file.read()))[7]
        case.assertLessEqual(sum(key == 5 for key, _ in onnx.fields(graph)), most)

    return check


@named("keeps metadata")
def keeps_metadata(case):
    """Producer, domain, version, doc strings, properties, and the symbols of outputs."""

    def facts(path):
        with open(path, "rb") as file:
            model = list(onnx.fields(file.read()))
        graph = list(onnx.fields(dict(model)[7]))
        found = {f"model.{key}": value for key, value in model if key in (2, 3, 4, 5, 6, 14)}
        found.update({f"graph.{key}": value for key, value in graph if key in (2, 10)})
        for place, field in ("input", 11), ("output", 12):
            for key, value in graph:
                if key == field:
                    found[place] = (dict(onnx.fields(value)).get(3), b"batch" in value)
        return found

    case.assertEqual(facts(case.optimized()), facts(case.model))


def refused(case):
    """The folder's own .npy inputs have sizes that do not fit: exit code 2 on both backends."""
    inputs = [f"{name[:-4]}={os.path.join(case.path, name)}" for name in sorted(os.listdir(case.path)) if name.endswith(".npy")]
    for backend in "cpu", "interpreter":
        case.expect([USAGE], "run", case.model, "--no-cache", "--backend", backend, *(each for given in inputs for each in ("--input", given)))


def passes_converted(case):
    """The folder's data are also what the model gives as StableHLO."""
    folder = os.path.join(case.folder, "converted")
    shutil.copytree(case.path, folder, ignore=shutil.ignore_patterns("model.onnx"))
    case.expect([DONE], "convert", case.model, "-o", os.path.join(folder, "model.mlir"))
    for backend in "cpu", "interpreter":
        case.assertEqual(Done(["test", folder, "--backend", backend]).code, DONE, backend)


BOTH = passes("cpu", "interpreter")
INVALID_EVERYWHERE = exits([INVALID])
TOO_LARGE = exits([SYSTEM], "run", "run on the oracle", "bench")
DESCRIBED = exits([DONE], "inspect", "optimize")
FOLDED_IN_TEXT = keeps("stablehlo.batch_norm_inference", "stablehlo.multiply", "stablehlo.subtract", at_most=0)

# Files that other tests beside this one run.
ELSEWHERE = tuple("found-2026-11-29/" + name for name in (
    "argmax_nan", "convert_empty_nms", "convert_sort_zeros", "dynquant_zero", "fold", "hardsigmoid_nan", "hostile/", "onnx/", "quantize_", "rescale/", "rs_",
    "topk_nan_smallest", "train/", "unique_float_write", "unchecked_conv_c/", "unchecked_einsum_k/", "unchecked_matmul_k/"))

ROWS = {
    "found-2026-11-29/chain9_nhw_open": [BOTH],
    "found-2026-11-29/convert_es7_ell_51_open": [BOTH, passes_converted],
    "found-2026-11-29/es7_ell_51_open": [BOTH],
    "found-2026-11-29/es7_ell_scalar_open": [BOTH],
    "found-2026-11-29/es7_k1_open": [BOTH],
    "found-2026-11-29/q7_1d_open": [BOTH],
    "found-2026-11-29/q7_open_w_open": [BOTH],
    "found-2026-11-29/qdq_conv_axis0_g1_open": [BOTH],
    "found-2026-11-29/r7_gru_fo_s0": [BOTH],
    "found-2026-11-29/r7_lstm_bi_s0": [BOTH],
    "found-2026-11-29/unchecked_conv_c": [refused],
    "found-2026-11-29/unchecked_einsum_k": [refused],
    "found-2026-11-29/unchecked_matmul_k": [refused],
    "mlir/m_big.mlir": [TOO_LARGE, DESCRIBED],
    "mlir/m_nofunc.mlir": [INVALID_EVERYWHERE],
    "mlir/m_nul.mlir": [INVALID_EVERYWHERE],
    "mlir/m_ovf2.mlir": [INVALID_EVERYWHERE],
    "mlir/m_reccall.mlir": [exits([UNSUPPORTED], "run", "run on the oracle", "bench"), exits([DONE], "optimize")],
    "mlir/m_splatbig.mlir": [TOO_LARGE, exits([DONE, SYSTEM], "inspect", "optimize")],
    "mlir/open_batch_conv_bn.mlir": [FOLDED_IN_TEXT, agrees("--shape", "arg0:3x6x5x3")],
    "mlir/open_batch_conv_bn_2.mlir": [FOLDED_IN_TEXT, agrees("--shape", "arg0:3x4")],
    "mlir/q_dot_zp.mlir": [agrees(tolerance=0), rewritten()],
    "mlir/q_peraxis_conv.mlir": [agrees(tolerance=0), rewritten()],
    "mlir/q_peraxis_conv_pad.mlir": [agrees(tolerance=0), rewritten()],
    "mlir/quantized_unary_einsum.mlir": [agrees(tolerance=0), rewritten()],
    "mlir/resc.mlir": [agrees(tolerance=0), rewritten()],
    "mlir/text_use_after_free.mlir": [INVALID_EVERYWHERE],
    "mlir/total_f8.mlir": [agrees(tolerance=0), rewritten()],
    "onnx/conv2d.f32.n.after.add.onnx": [becomes("Conv"), agrees()],
    "onnx/convT_dw.f32.n.after.bn.onnx": [becomes("ConvTranspose"), initializers(2), agrees()],
    "onnx/conv_maxpool_f16": [agrees(tolerance=0.01)],
    "onnx/conv_pads_big.onnx": [TOO_LARGE, DESCRIBED],
    "onnx/f16_avgpool64.onnx": [gives((1, 2, 64, 64), [100], [100])],
    "onnx/f16_f32stats.onnx": [becomes("Conv"), agrees(tolerance=0.01)],
    "onnx/f16_fold_scale_before_underflow.onnx": [gives((2, 8), [1000], [8e-5], 0.05)],
    "onnx/f16_fold_scale_before_underflow_conv.onnx": [gives((1, 8, 4, 4), [1000], [8e-5], 0.05)],
    "onnx/f16_gap112_30.onnx": [gives((2, 3, 112, 112), [30], [30])],
    "onnx/f16_instnorm.onnx": [gives((1, 2, 64, 64), [80, 120], [-1, 1])],
    "onnx/f16_reducel2.onnx": [gives((2, 3000), [30], [30 * 3000**0.5])],
    "onnx/f16_rmean100000.onnx": [gives((2, 100000), [1], [1])],
    "onnx/gather_oob.onnx": [INVALID_EVERYWHERE],
    "onnx/if_branch_shapes": [BOTH],
    "onnx/in_2gib.onnx": [TOO_LARGE, DESCRIBED],
    "onnx/init_also_input.onnx": [keeps_inputs("x", "W"), agrees()],
    "onnx/local_function": [BOTH, rewritten()],
    "onnx/meta.onnx": [keeps_metadata],
    "onnx/mvn_default_axes_rank3": [BOTH],
    "onnx/nonzero_cpu": [passes("interpreter"), exits([DONE], "run")],
    "onnx/randlike.onnx": [becomes("RandomUniformLike", "Add"), rewritten()],
    "onnx/reshape_ovf.onnx": [INVALID_EVERYWHERE],
    "onnx/resize_align_corners_scales": [BOTH],
    "onnx/resize_const_sizes_dynbatch": [BOTH],
    "onnx/resize_like_other": [BOTH],
    "onnx/resize_scales_dynamic": [BOTH],
    "onnx/resize_scales_halfpixel_linear_dynamic": [BOTH],
    "onnx/resize_torch_dynbatch": [BOTH],
    "onnx/resize_torch_dynhw": [BOTH],
    "onnx/slice_reverse_dynamic": [BOTH],
    "onnx/split_dynamic": [BOTH],
    "onnx/symbolic_batch_conv_bias_bn.onnx": [becomes("Conv"), agrees("--shape", "x:2x3x6x6")],
    "onnx/symbolic_hw_bn_before.onnx": [becomes("Conv"), agrees("--shape", "x:1x3x7x8")],
    "onnx/symbolic_hw_mul_add.onnx": [becomes("Conv"), agrees("--shape", "x:1x3x7x8")],
    "onnx/test_cast_FLOAT16_to_INT2": [BOTH],
    "onnx/test_l2normalization_axis_0": [BOTH],
    "onnx/test_resize_downsample_sizes_nearest_not_smaller": [BOTH],
    "onnx/test_rms_normalization_2d_axis0_expanded": [BOTH],
}


class EveryFile(unittest.TestCase):
    def test_has_a_row(self):
        there = set()
        for folder, inner, names in os.walk(FOLDER):
            place = os.path.relpath(folder, FOLDER)
            if "model.onnx" in names:
                there.add(place)
                inner.clear()
            else:
                there.update(os.path.join(place, name) for name in names if not name.endswith(".md"))
        there = {name for name in there if not name.startswith(ELSEWHERE)}
        self.assertEqual(there - set(ROWS), set(), "files without a row")
        self.assertEqual(set(ROWS) - there, set(), "rows without a file")


def find_folder():
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    shared = os.environ.get("SINTER_SHARED") or os.path.join(source, "..", "shared")
    return os.path.join(os.path.realpath(shared), "data", "defects")


if __name__ == "__main__":
    SINTER, FOLDER = os.path.abspath(sys.argv[1]), find_folder()
    if not os.path.isdir(FOLDER):
        print(f"skipped: there is no folder {FOLDER}; SINTER_SHARED names the one above data/")
        sys.exit(SKIPPED)
    wanted = [each for each in sys.argv[2:] if not each.startswith("-")]
    suite = unittest.TestSuite()
    if not wanted:
        suite.addTest(EveryFile("test_has_a_row"))
    suite.addTests(Case(name, checks) for name, checks in ROWS.items() if not wanted or any(each in name for each in wanted))
    result = unittest.TextTestRunner(verbosity=2 if "-v" in sys.argv else 1).run(suite)
    sys.exit(not result.wasSuccessful())
