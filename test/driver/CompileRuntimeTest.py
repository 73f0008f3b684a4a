#!/usr/bin/env python3
# Covers: backend/cpu/ahead RuntimeCalls
# Covers: bindings/c RuntimeCall
"""`sinter compile --with-runtime`: what has no kernel is a call of libsinter."""
import os
import subprocess
from pathlib import Path

import BundleHarness as harness
import SinterCommand
from SinterCommand import DONE, main, UNSUPPORTED

FFT = """
func.func @main(%x: tensor<3x8xf32> {sinter.name = "x"}) -> (tensor<3x8xf32> {sinter.name = "y"}) {
  %a = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  %m = stablehlo.multiply %a, %a : tensor<3x5xcomplex<f32>>
  %b = stablehlo.fft %m, type = IRFFT, length = [8] : (tensor<3x5xcomplex<f32>>) -> tensor<3x8xf32>
  %y = stablehlo.tanh %b : tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
"""

SOLVE = """
func.func @main(%x: tensor<4x4xf64> {sinter.name = "x"}) -> (tensor<4x4xf64> {sinter.name = "y"}) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf64>) -> tensor<4x4xf64>
  %p = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %l = "stablehlo.cholesky"(%p) {lower = true} : (tensor<4x4xf64>) -> tensor<4x4xf64>
  %y = "stablehlo.triangular_solve"(%l, %x) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}
"""

# Random numbers in a loop: each run draws the same ones.
RANDOM = """
func.func @main(%n: tensor<i32> {sinter.name = "n"}) -> (tensor<5xf32> {sinter.name = "y"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.constant dense<0.0> : tensor<5xf32>
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[5]> : tensor<1xi64>
  %i, %y = stablehlo.while(%a = %zero, %b = %sum) : tensor<i32>, tensor<5xf32>
    cond {
      %less = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %a, %one : tensor<i32>
      %r = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<5xf32>
      %s = stablehlo.add %b, %r : tensor<5xf32>
      stablehlo.return %next, %s : tensor<i32>, tensor<5xf32>
    }
  return %y : tensor<5xf32>
}
"""


class CompileRuntime(harness.BundleTest):
    def library(self):
        """What links libsinter."""
        folder = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(SinterCommand.SINTER)), "..", "lib"))
        return ["-L" + folder, "-lsinter", "-Wl,-rpath," + folder]

    def compiler(self):
        """A library with sanitizers needs a program that has their runtime."""
        library = Path(os.path.realpath(SinterCommand.SINTER)).parents[1] / "lib" / "libsinter.so"
        return ("clang-19", "-fsanitize=address,undefined") if b"__asan_init" in library.read_bytes() else ("cc",)

    def test_same_bits(self):
        for name, text, fixed in ("fft", FFT, {}), ("solve", SOLVE, {}), ("random", RANDOM, {"n": 3}):
            for also in (), ("--parallel",):
                with self.subTest(name, also=also):
                    folder = name + "".join(also)
                    model = self.write(name + ".mlir", text)
                    description = self.compile(model, folder, "--with-runtime", *also)
                    self.assertTrue(description["needs_runtime"])
                    self.assertIn("sinter_call_runtime", description["external_symbols"])
                    program = harness.build(self.path(folder), [description], [self.path(f"{folder}/net.o"), *self.library()], compiler=self.compiler())
                    self.expect_same(model, folder, description, self.random_inputs(description, **fixed), runs=2, program=program, stack="given")

    def test_what_needs_nothing_calls_nothing(self):
        description = self.compile(self.good_model(), "net", "--with-runtime")
        self.assertFalse(description["needs_runtime"])
        self.assertEqual(description["external_symbols"], [])

    def test_what_cannot_be_called(self):
        """Refused with and without; the advice is given where it helps."""
        model = self.write("fft.mlir", FFT)
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), mentions=["sinter.fft (2)", "--with-runtime"])
        model = self.write("gather.mlir", """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.custom_call @somewhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
""")
        error = self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), "--with-runtime", mentions=["somewhere"])
        self.assertNotIn("--with-runtime", error)

    def test_shared_library_names_its_own(self):
        model = self.write("fft.mlir", FFT)
        self.assertEqual(self.sinter("compile", model, "-o", self.path("net.so"), "--with-runtime").returncode, DONE)
        dynamic = subprocess.run(["readelf", "-d", self.path("net.so")], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libsinter.so.0]", dynamic)

    def test_failures(self):
        """A call that the library does not know fails, and says why."""
        description = self.compile(self.write("fft.mlir", FFT), "net", "--with-runtime")
        self.assertEqual(description["name"], "net")
        source = self.write("net/other.c", """
#include "net.h"
/* In place of the library's. */
int sinter_call_runtime(const void *call);
int sinter_call_runtime(const void *call) { return call ? 4 : 0; }
static NET_ALIGNED float x[NET_INPUT_X_ELEMENTS], y[NET_OUTPUT_Y_ELEMENTS];
static NET_ALIGNED unsigned char workspace[NET_WORKSPACE_SIZE + 1];
int main(void) {
  const net_inputs inputs = {x};
  const net_outputs outputs = {y};
  return net_run(&inputs, &outputs, NULL, workspace) == NET_FAILED ? 42 : 1;
}
""")
        program = self.path("net/other")
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, self.path("net/net.o"), "-o", program], check=True)
        self.assertEqual(subprocess.run([program]).returncode, 42)


if __name__ == "__main__":
    main()
