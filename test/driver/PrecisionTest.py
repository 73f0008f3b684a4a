#!/usr/bin/env python3
"""What products are computed with, and on which units: --precision, --features, and what a system lets a process use."""
import ctypes
import json
import platform
import struct
import subprocess
import unittest

import SinterCommand
from SinterCommand import CommandTest, DONE, TIMEOUT_S, UNSUPPORTED, USAGE, main

# A convolution that Winograd's method is gainful for, and a product.
MODEL = """
func.func @main(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64CONFIG}
    : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}
"""
HIGHEST = ", precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]"


def refuse_tiles():
    """Lets arch_prctl(ARCH_REQ_XCOMP_PERM) fail with EPERM in this process, as a sandbox would."""
    def statement(code, value, if_true=0, if_false=0):
        return struct.pack("HBBI", code, if_true, if_false, value)
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    filter_text = b"".join([
        statement(load, 0), statement(jump_if_equal, 158, 0, 3),
        statement(load, 16), statement(jump_if_equal, 0x1023, 0, 1),
        statement(give, 0x00050001), statement(give, 0x7FFF0000)])
    buffer = ctypes.create_string_buffer(filter_text, len(filter_text))
    program = struct.pack("HxxxxxxQ", len(filter_text) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(seccomp, by_filter, program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


class Precision(CommandTest):
    def model(self, config=""):
        return self.write("net.mlir", MODEL.replace("CONFIG", config))

    def answer(self, command, *arguments):
        done = self.sinter(command, *arguments, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def kernels(self, *arguments):
        weights = self.write("w.npy", SinterCommand.npy((64, 64, 3, 3), [0.25] * (64 * 64 * 9)))
        plan = self.answer("inspect", self.model(), "--bind", "w=" + weights, *arguments)
        return plan["precision"], {step.get("kernel") for step in plan["plan"]["program"]}

    def test_exact_is_without_winograd(self):
        precision, kernels = self.kernels("--precision", "f32-exact")
        self.assertEqual(precision, "f32-exact")
        self.assertFalse([kernel for kernel in kernels if (kernel or "").startswith("winograd")])
        for option in [], ["--precision", "f32"], ["--precision", "bf16"]:
            precision, _ = self.kernels(*option)
            self.assertEqual(precision, option[-1] if option else "f32")

    def test_is_told(self):
        model = self.good_model()
        for command in ["run", "--input", "random"], ["bench", "--seconds", "0.01"], ["compare", "--backend", "cpu,interpreter"], ["inspect"]:
            with self.subTest(command[0]):
                for precision in "f32-exact", "f32", "bf16":
                    self.assertEqual(self.answer(command[0], model, *command[1:], "--precision", precision)["precision"], precision)
        done = self.sinter("bench", model, "--seconds", "0.01", "--no-cache", "--precision", "bf16")
        self.assertIn("precision bf16", done.stdout)

    def test_wrong_usage(self):
        model = self.good_model()
        self.expect_error(USAGE, "run", model, "--precision", "f16", mentions=["--precision"])
        self.expect_error(USAGE, "run", model, "--input", "random", "--no-cache", "--features=-amx-tiles", mentions=["unknown feature 'amx-tiles'"])
        self.expect_error(USAGE, "run", model, "--input", "random", "--no-cache", "--features", "amx-tile", mentions=["+ or -"])

    def test_features_that_are_not_there(self):
        if platform.machine() != "x86_64":
            self.skipTest("names features of x86")
        self.expect_error(UNSUPPORTED, "run", self.good_model(), "--input", "random", "--no-cache", "--backend", "cpu", "--features=+xop", mentions=["xop"])


class Refused(CommandTest):
    """What a process computes that must not use matrix units."""
    def test_runs_without(self):
        if platform.machine() != "x86_64":
            self.skipTest("there are no tiles to be refused on this processor")
        model = self.write("net.mlir", MODEL.replace("CONFIG", ""))
        words = [SinterCommand.SINTER, "run", model, "--input", "random", "--json", "--cache-dir", self.path("cache")]
        free = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S)
        try:
            kept = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=refuse_tiles)
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"this process may set no filter of system calls: {error}")
        for done in free, kept:
            self.assertEqual(done.returncode, DONE, done.stderr)
        told = json.loads(kept.stdout)
        self.assertFalse(told["matrix_units"])
        # Where there are units, the programs are two; else one serves both.
        with open("/proc/cpuinfo") as facts:
            has_units = " amx_tile " in facts.read()
        self.assertEqual(told["from_cache"], not has_units)
        for one, other in zip(json.loads(free.stdout)["outputs"], told["outputs"]):
            self.assertAlmostEqual(one["mean"], other["mean"], delta=1e-3 * abs(one["max"]))


if __name__ == "__main__":
    main()
