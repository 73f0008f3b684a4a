#!/usr/bin/env python3
# Covers: backend/cpu/ahead EntryPoints EntrySteps ParallelTasks BundleLayout
"""Compiled bundles and their callers under valgrind, and with the sanitizers of addresses and of undefined behaviour."""
import re
import subprocess
from pathlib import Path

import BundleHarness as harness
from CompileTest import BRANCH, LOOP, LSTM
from SinterCommand import DONE, main

GLYPHS = Path(__file__).resolve().parents[2] / "examples" / "glyphs"
# valgrind knows no AVX-512.
CPU = ("--cpu", "x86-64-v3")


class CompileSanitizers(harness.BundleTest):
    def models(self):
        """Models by name, with inputs."""
        quantised = self.path("quantised.onnx")
        done = self.sinter("quantize", str(GLYPHS / "glyphs.onnx"), "--calibration", str(GLYPHS / "images"), "-o", quantised)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return {"glyphs": (str(GLYPHS / "glyphs.onnx"), {}), "quantised": (quantised, {}), "lstm": (self.write("lstm.mlir", LSTM), {}),
                "branch": (self.write("branch.mlir", BRANCH), {"p": True}), "loop": (self.write("loop.mlir", LOOP), {"n": 3})}

    def test_valgrind(self):
        """No access outside of memory, no value that nobody has written decides anything, no system call gets one."""
        for name, (model, fixed) in self.models().items():
            for option in "--parallel", "--weights=file":
                with self.subTest(name, option=option):
                    folder = name + option[2:10]
                    description = self.compile(model, folder, option, *CPU)
                    done = self.expect_same(model, folder, description, self.random_inputs(description, **fixed), runs=2, also=CPU,
                                            launcher=("valgrind", "-q", "--error-exitcode=9", "--track-origins=no"), stack="given", threads=3)
                    self.assertNotIn("==", done.stderr)

    def test_addresses_and_undefined_behaviour(self):
        """The caller is checked, and so is what the code itself reads and writes."""
        for name, (model, fixed) in self.models().items():
            with self.subTest(name):
                description = self.compile(model, name, "--parallel", "--emit-llvm", *CPU)
                code = Path(self.path(f"{name}/net.ll")).read_text()
                code, count = re.subn(r"^(attributes #\d+ = \{ )(?=.*target-cpu)", r"\1sanitize_address ", code, flags=re.M)
                self.assertGreater(count, 0)
                self.write(f"{name}/checked.ll", code)
                made = self.path(f"{name}/checked.o")
                compiler = ("clang-19", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
                subprocess.run([*compiler, "-Wno-override-module", "-fPIC", "-O1", "-c", self.path(f"{name}/checked.ll"), "-o", made], check=True)
                program = harness.build(self.path(name), [description], [made], compiler=compiler)
                done = self.expect_same(model, name, description, self.random_inputs(description, **fixed), program=program, also=CPU, stack="given", threads=3)
                self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    main()
