#!/usr/bin/env python3
"""What other processors programs are compiled for: --cpu and --features."""
import subprocess
import sys
import unittest

from SinterCommand import DONE, UNSUPPORTED, USAGE, CommandTest, main

# Processors without 64-bit code or vectors, and processors that have them.
WITHOUT_64_BITS = ["pentium", "i686", "pentium4", "prescott", "yonah", "k6", "athlon", "geode", "lakemont", "c3"]
WITH_64_BITS = ["x86-64", "x86-64-v2", "x86-64-v3", "core2", "znver3"]
REFUSED = ["-64bit", "-64bit-mode", "-sse2", "-sse", "+16bit-mode", "+32bit-mode", "+soft-float"]
TAKEN = ["-avx512f", "-avx2", "-avx", "-fma", "-sse4.1", "-ssse3", "-sse3", "-cmov", "+prefer-256-bit"]
# Instructions of machines to come, which compiled code has of its own accord.
FUTURE = ["+egpr", "+ndd", "+ppx", "+push2pop2", "+zu", "+avx10.1-256", "+avx10.1-512"]
# Instructions of which no machine has all.
SCARCE = ["sapphirerapids", "bdver4", "knm", "grandridge"]


class ProcessorsTest(CommandTest):
    def run_for(self, *options):
        return self.sinter("run", self.good_model(), "--input", "random", *options, "--cache-dir", self.path("cache"))

    def test_without_64_bits(self):
        for cpu in WITHOUT_64_BITS:
            self.expect_error(USAGE, "run", self.good_model(), "--input", "random", "--cpu", cpu, mentions=["64bit", cpu])
            self.assertIn("64bit", self.sinter("inspect", self.good_model(), "--steps", "--cpu", cpu).stderr)

    def test_with_64_bits(self):
        for cpu in WITH_64_BITS:
            self.assertIn(self.run_for("--cpu", cpu).returncode, (DONE, UNSUPPORTED), cpu)

    def test_features(self):
        for feature in REFUSED:
            self.expect_error(USAGE, "run", self.good_model(), "--input", "random", "--features=" + feature)
        for feature in TAKEN:
            done = self.run_for("--features=" + feature)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_features_that_are_not_here(self):
        for feature in FUTURE:
            done = self.run_for("--features=" + feature)
            self.assertIn(done.returncode, (DONE, UNSUPPORTED), feature + done.stderr)

    def test_what_is_not_here_is_refused_at_once(self):
        refused = 0
        for cpu in SCARCE:
            lines = [done.stderr for done in (self.run_for("--cpu", cpu) for _ in range(3)) if done.returncode == UNSUPPORTED]
            self.assertIn(len(lines), (0, 3), cpu)
            self.assertLessEqual(len(set(lines)), 1, lines)
            refused += bool(lines)
            for line in lines:
                self.assertIn("processor features that this machine does not have", line)
            # What is only looked at may be for any machine.
            self.assertEqual(self.sinter("inspect", self.good_model(), "--steps", "--cpu", cpu).returncode, DONE)
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    if subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() != "x86_64":
        print("the processors are x86-64")
        sys.exit(77)
    main()
