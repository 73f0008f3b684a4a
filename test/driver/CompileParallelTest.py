#!/usr/bin/env python3
# Covers: backend/cpu/ahead ParallelTasks EntryPoints EntrySteps
# Covers: bundle ExampleText HeaderText
"""`sinter compile --parallel`: steps run on threads of the caller, with the bits of `sinter run`."""
import os
import re
import subprocess
from pathlib import Path

import BundleHarness as harness
from SinterCommand import main

GLYPHS = Path(__file__).resolve().parents[2] / "examples" / "glyphs"

# A loop whose product is worth several threads, and a branch.
LOOP = """
func.func @main(%n: tensor<i32> {sinter.name = "n"}, %x: tensor<200x256xf32> {sinter.name = "x"}) -> (tensor<200x256xf32> {sinter.name = "y"}) {
  %i = stablehlo.iota dim = 0 : tensor<65536xf32>
  %f = stablehlo.constant dense<0.37> : tensor<65536xf32>
  %m = stablehlo.multiply %i, %f : tensor<65536xf32>
  %s = stablehlo.sine %m : tensor<65536xf32>
  %w = stablehlo.reshape %s : (tensor<65536xf32>) -> tensor<256x256xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %c, %y = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<200x256xf32>
    cond {
      %less = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %a, %one : tensor<i32>
      %p = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<200x256xf32>, tensor<256x256xf32>) -> tensor<200x256xf32>
      %t = stablehlo.tanh %p : tensor<200x256xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<200x256xf32>
    }
  return %y : tensor<200x256xf32>
}
"""


class CompileParallel(harness.BundleTest):
    def models(self):
        """Models by name, with options and inputs."""
        quantised = self.path("quantised.onnx")
        done = self.sinter("quantize", str(GLYPHS / "glyphs.onnx"), "--calibration", str(GLYPHS / "images"), "-o", quantised)
        self.assertEqual(done.returncode, 0, done.stderr)
        shape = ("--shape", "image:8x1x32x32")
        return {"glyphs": (str(GLYPHS / "glyphs.onnx"), shape, {}), "quantised": (quantised, shape, {}), "loop": (self.write("loop.mlir", LOOP), (), {"n": 3})}

    def test_same_bits(self):
        """On one, two and five threads, with memory for just as many, in another rounding mode."""
        for name, (model, shape, fixed) in self.models().items():
            description = self.compile(model, name, "--parallel", *shape, name=name)
            self.assertTrue(description["parallel"])
            inputs = self.random_inputs(description, **fixed)
            program = harness.build(self.path(name), [description], [self.path(f"{name}/{name}.o")])
            for threads in 0, 1, 2, 5:
                with self.subTest(name, threads=threads):
                    done = self.expect_same(model, name, description, inputs, runs=2, program=program, also=shape, threads=threads)
                    called = int(re.search(f"{name} called ([0-9]+)", done.stdout)[1])
                    self.assertEqual(called > 0, threads > 1)
                    self.assertLess(done.stack, description["stack_bytes"] + 8192)
            if description["workspace"]["thread_bytes"]:
                # Room for one thread less is not enough.
                self.assertNotEqual(harness.run(program, shift=description["workspace"]["thread_bytes"], threads=2).returncode, 0)

    def test_weights_in_a_file(self):
        model = self.write("loop.mlir", LOOP)
        description = self.compile(model, "net", "--parallel", "--weights", "file")
        self.expect_same(model, "net", description, self.random_inputs(description, n=2), threads=3)

    def test_small_steps_stay_alone(self):
        """A model that is not worth a second thread has no code for one."""
        description = self.compile(self.good_model(), "net", "--parallel")
        self.assertEqual(description["workspace"]["thread_bytes"], 0)
        symbols = subprocess.run(["nm", self.path("net/net.o")], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("net.task", symbols)
        self.expect_same(self.path("good.onnx"), "net", description, self.random_inputs(description), threads=4)

    def test_no_data_races(self):
        """Under the thread sanitizer, which sees what the compiled code reads and writes, too."""
        name = "glyphs"
        model, shape, _ = self.models()[name]
        description = self.compile(model, name, "--parallel", "--cpu", "x86-64-v3", *shape, name=name)
        done = self.sinter("compile", model, "-o", self.path(f"{name}/{name}.ll"), "--parallel", "--cpu", "x86-64-v3", "--force", *shape)
        self.assertEqual(done.returncode, 0, done.stderr)
        code = Path(self.path(f"{name}/{name}.ll")).read_text()
        code = re.sub(r"^(attributes #\d+ = \{ )(?=.*target-cpu)", r"\1sanitize_thread ", code, flags=re.M)
        self.assertIn("sanitize_thread", code)
        self.write(f"{name}/checked.ll", code)
        source = self.path(f"{name}/checked.o")
        subprocess.run(["clang-19", "-fsanitize=thread", "-Wno-override-module", "-fPIC", "-c", self.path(f"{name}/checked.ll"), "-o", source], check=True)
        program = harness.build(self.path(name), [description], [source], compiler=("clang-19", "-fsanitize=thread"))
        done = self.expect_same(model, name, description, self.random_inputs(description), program=program, also=("--cpu", "x86-64-v3", *shape), stack="given", threads=4)
        self.assertEqual(done.stderr, "")

    def test_header(self):
        self.compile(self.write("loop.mlir", LOOP), "net", "--parallel")
        for compiler, standards, source in ("gcc", ("c99", "c11"), "net.c"), ("g++", ("c++11", "c++20"), "net.cpp"):
            self.write(source, '#include "net/net.h"\n')
            for standard in standards:
                subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", self.path(source)], check=True)

    def test_example(self):
        """The folder's example gives the same with and without OpenMP."""
        self.compile(str(GLYPHS / "glyphs.onnx"), "net", "--parallel", "--shape", "image:8x1x32x32")
        outputs = []
        for also in ["-Wno-unknown-pragmas"], ["-fopenmp"]:
            program = self.path("example" + also[0])
            subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", *also, self.path("net/main.c"), self.path("net/net.o"), "-lm", "-o", program], check=True)
            outputs.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
        self.assertEqual(*outputs)
        self.assertEqual(len(outputs[0].split()), 6)
        build = self.path("build")
        subprocess.run(["cmake", "-S", self.path("net"), "-B", build], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(subprocess.run([os.path.join(build, "net_example")], capture_output=True, text=True, check=True).stdout, outputs[0])


if __name__ == "__main__":
    main()
