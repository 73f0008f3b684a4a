#!/usr/bin/env python3
# Covers: autodiff Recompute
# Covers: engine/compiler MemoryLimit
# Covers: runtime ProgramMemory
"""`sinter train --memory-limit`: less memory, the same values."""
import json
import os
import re

from SinterCommand import DONE, USAGE, main
from TrainTest import TrainCase, npy, npz, numbers

WIDTH, LAYERS, BATCH = 16, 10, 512


def network():
    """Products, each with a batch's worth of what is cheap behind it, and a sum past every second one."""
    x = f"tensor<{BATCH}x{WIDTH}xf32>"
    lines = [f"func.func @main(%v0: {x}) -> {x} {{"]
    for layer in range(LAYERS):
        values = numbers(WIDTH * WIDTH, layer, -0.5, 0.5)
        rows = ", ".join("[" + ", ".join(map(str, values[i:i + WIDTH])) + "]" for i in range(0, len(values), WIDTH))
        lines += [f"  %w{layer} = stablehlo.constant dense<[{rows}]> : tensor<{WIDTH}x{WIDTH}xf32>",
                  f"  %p{layer} = stablehlo.dot_general %v{layer}, %w{layer}, contracting_dims = [1] x [0] : ({x}, tensor<{WIDTH}x{WIDTH}xf32>) -> {x}",
                  f"  %s{layer} = stablehlo.sine %p{layer} : {x}",
                  f"  %t{layer} = stablehlo.tanh %s{layer} : {x}",
                  f"  %v{layer + 1} = stablehlo.add %t{layer}, %v{max(0, layer - layer % 2)} : {x}"]
    return "\n".join([*lines, f"  return %v{LAYERS} : {x}", "}"]) + "\n"


class TrainMemory(TrainCase):
    def setUp(self):
        super().setUp()
        self.model = self.write("net.mlir", network())
        x, target = numbers(BATCH * WIDTH, 30), numbers(BATCH * WIDTH, 31)
        self.arrays = self.write("d.npz", npz(v0=npy([BATCH, WIDTH], x), x=npy([BATCH, WIDTH], x), arg0=npy([BATCH, WIDTH], x), target=npy([BATCH, WIDTH], target)))

    def command(self, *options):
        return ["train", self.model, "--data", self.arrays, "--loss", "mean-squared", "--batch", str(BATCH), "--epochs", "3", "--lr", "0.1", "--force", *options]

    def weights(self):
        with open(self.path("out.mlir")) as file:
            return file.read()

    def least(self):
        error = self.expect_error(USAGE, *self.command("-o", self.path("out.mlir"), "--memory-limit", "1"), mentions=["--memory-limit", "a smaller batch needs less"])
        return float(re.search(r"at least ([0-9.]+) MB", error)[1])

    def test_less_memory_and_the_same_bits(self):
        self.assertEqual(self.sinter(*self.command("-o", self.path("out.mlir"))).returncode, DONE)
        wanted = self.weights()
        least, peaks = self.least(), []
        for limit in least + 0.06, least * 1.3, least * 2, least * 100:
            done = self.sinter(*self.command("-o", self.path("out.mlir"), "--memory-limit", f"{limit:.2f}MB"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(self.weights(), wanted)
            told = re.search(r"needs ([0-9.]+) MB at its peak, not ([0-9.]+) MB, and does ([0-9]+) % of its arithmetic again", done.stderr)
            if told:
                self.assertLessEqual(float(told[1]), limit + 0.05)
                self.assertLess(float(told[1]), float(told[2]))
                peaks.append(float(told[2]))
        # What is kept without a limit is several times as much, and needs no plan.
        self.assertGreaterEqual(len(peaks), 2)
        self.assertNotIn("at its peak", done.stderr)
        self.assertLess(least, 0.7 * peaks[0])

    def test_a_limit_between_two_peaks_is_just_missed(self):
        self.expect_error(USAGE, *self.command("-o", self.path("out.mlir"), "--memory-limit", f"{self.least() - 0.1:.2f}MB"), mentions=["at least"])

    def test_written_step(self):
        peaks = []
        for options in [], ["--memory-limit", f"{self.least() * 1.1:.2f}MB"]:
            step = self.path("step.mlir")
            done = self.sinter(*self.command("--write-step", step, *options))
            self.assertEqual(done.returncode, DONE, done.stderr)
            with open(step) as file:
                self.assertEqual("stablehlo.optimization_barrier" in file.read(), bool(options))
            done = self.sinter("inspect", step, "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            plan = json.loads(done.stdout)["plan"]
            self.assertEqual(plan["peak_bytes"], sum(plan[each + "_bytes"] for each in ("arena", "constant", "input", "output", "state")))
            peaks.append(plan["peak_bytes"])
        self.assertLess(peaks[1], peaks[0])

    def test_what_is_refused(self):
        for size in "", "much", "-3MB", "0", "12XB", "1e99", "nan":
            self.expect_error(USAGE, *self.command("-o", self.path("out.mlir"), "--memory-limit", size))
        self.expect_error(USAGE, *self.command("-o", self.path("out.mlir"), "--memory-limit", "1GB", "--backend", "interpreter"), mentions=["plans no memory"])
        for size in "1GB", "0.5 GiB", "1000000000", "900mb":
            self.assertEqual(self.sinter(*self.command("-o", self.path("out.mlir"), "--memory-limit", size)).returncode, DONE)


if __name__ == "__main__":
    main()
