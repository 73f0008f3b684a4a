#!/usr/bin/env python3
# Covers: backend/cpu/ahead StepLines CodeFile
# Covers: bundle BundleFiles WeightsText
"""`sinter compile -g`, --emit-llvm and --save-temps: other tools find a model's nodes in its code."""
import json
import os
import re
import subprocess
from pathlib import Path

import BundleHarness as harness
from SinterCommand import DONE, main

GLYPHS = Path(__file__).resolve().parents[2] / "examples" / "glyphs" / "glyphs.onnx"

BRANCH = """
func.func @main(%p: tensor<i1> {sinter.name = "p"}, %x: tensor<4x8xf32> {sinter.name = "x"}) -> (tensor<4x8xf32> {sinter.name = "y"}) {
  %y = "stablehlo.if"(%p) ({
    %e = stablehlo.exponential %x : tensor<4x8xf32> loc("the exponential")
    stablehlo.return %e : tensor<4x8xf32>
  }, {
    %t = stablehlo.tanh %x : tensor<4x8xf32> loc("the tangent")
    stablehlo.return %t : tensor<4x8xf32>
  }) : (tensor<i1>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""


def output_of(*command, cwd=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


class CompileDebug(harness.BundleTest):
    def listing(self, folder="net"):
        return Path(self.path(f"{folder}/net.steps")).read_text().splitlines()

    def test_lines(self):
        """Each kernel's code has the line with its nodes' names, and each call that of its node."""
        description = self.compile(str(GLYPHS), "net", "-g")
        lines = self.listing()
        library = self.path("net/net.so")
        self.assertEqual(self.sinter("compile", str(GLYPHS), "-o", library, "-g", "--force").returncode, DONE)
        symbols = [line.split(maxsplit=2) for line in output_of("nm", "--defined-only", library).splitlines()]
        kernels = {name: address for address, kind, name in symbols if kind == "t" and name.startswith("net.") and name not in ("net.copy", "net.plan")}
        self.assertGreater(len(kernels), 5)
        convolutions = 0
        for name, address in kernels.items():
            where = output_of("addr2line", "-e", library, address).strip()
            self.assertIn("/net.steps:", where)
            node = re.sub(r" \+\d+$", "", name.removeprefix("net.").removesuffix(".body"))
            node = re.sub(r"\.\d+$", "", node)
            line = lines[int(where.split(":")[-1].split()[0]) - 1]
            self.assertIn(node.removesuffix(".body").split(" +")[0], line)
            convolutions += "conv" in line.lower()
        self.assertGreater(convolutions, 0)
        # The calls are inlined functions of the nodes' names.
        dump = output_of("llvm-dwarfdump-19", "--debug-info", "--name=net_run", "--show-children", "--show-form", library)
        self.assertIn("DW_TAG_inlined_subroutine", dump)
        self.assertIn("net.steps", output_of("llvm-dwarfdump-19", "--debug-line", library))
        self.expect_same(str(GLYPHS), "net", description, self.random_inputs(description))

    def test_debugger(self):
        """A breakpoint at a node's line stops in a frame of its name."""
        model = self.write("branch.mlir", BRANCH)
        description = self.compile(model, "net", "-g")
        lines = self.listing()
        number = next(i for i, line in enumerate(lines, 1) if "the tangent" in line)
        self.write_inputs("net", description, self.random_inputs(description, p=False))
        program = harness.build(self.path("net"), [description], [self.path("net/net.o")])
        done = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"break net.steps:{number}", "-ex", f"run 1 0 given", "-ex", "backtrace", "-ex", "list", program],
                              capture_output=True, text=True, timeout=60, cwd=self.path("net"))
        if "ptrace" in done.stderr or "personality" in done.stderr and "Breakpoint 1," not in done.stdout:
            self.skipTest("a debugger may not run here")
        self.assertRegex(done.stdout, r"#0 .*the tangent", done.stderr)
        self.assertRegex(done.stdout, r"#1 .*net_run", done.stderr)
        self.assertIn(lines[number - 1].strip(), done.stdout)

    def test_same_code(self):
        """With debug information, the code and the hash are those without."""
        plain, debug = (self.compile(str(GLYPHS), *arguments, "--shape", "N=1") for arguments in (("plain",), ("debug", "-g")))
        self.assertEqual(plain, debug)
        texts = []
        for folder in "plain", "debug":
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.text", self.path(f"{folder}/net.o"), self.path(folder + ".text")], check=True)
            texts.append(Path(self.path(folder + ".text")).read_bytes())
        self.assertEqual(len(texts[0]), len(texts[1]))
        self.assertNotIn("net.steps", os.listdir(self.path("plain")))

    def test_threads(self):
        """The functions that threads run have lines, too."""
        description = self.compile(str(GLYPHS), "net", "-g", "--parallel", "--shape", "image:8x1x32x32")
        self.expect_same(str(GLYPHS), "net", description, self.random_inputs(description), also=("--shape", "image:8x1x32x32"), threads=3)

    def test_other_forms_as_well(self):
        model = self.good_model()
        for option, also in ("--emit-llvm", [".ll"]), ("--save-temps", [".ll", ".s"]):
            for debug in (), ("-g",):
                folder = option[2:] + "".join(debug)
                description = self.compile(model, folder, option, *debug)
                files = ["CMakeLists.txt", "main.c", *("net" + suffix for suffix in [".h", ".json", ".o", *also]), *(["net.steps"] if debug else [])]
                self.assertEqual(sorted(os.listdir(self.path(folder))), sorted(files))
                made = {".ll": ["llc-19", "-filetype=obj", "-relocation-model=pic"], ".s": ["cc", "-c"]}
                for suffix in also:
                    subprocess.run([*made[suffix], self.path(f"{folder}/net{suffix}"), "-o", self.path(folder + "/made.o")], check=True)
                    program = harness.build(self.path(folder), [description], [self.path(folder + "/made.o")])
                    self.expect_same(model, folder, description, self.random_inputs(description), program=program)
        # The form of the output is not written twice.
        os.mkdir(self.path("text"))
        self.assertEqual(self.sinter("compile", model, "-o", self.path("text/net.s"), "--save-temps").returncode, DONE)
        self.assertEqual(sorted(os.listdir(self.path("text"))), ["net.h", "net.ll", "net.s"])

    def test_weights_in_an_array(self):
        """NAME_weights.c is compiled beside the object; other weights are refused."""
        for name, model in ("glyphs", str(GLYPHS)), ("good", self.good_model()):
            description = self.compile(model, name, "--weights", "c-array")
            self.assertEqual(description["weights"]["c_array"], "net_weights.c")
            source = self.path(f"{name}/net_weights.c")
            for compiler, standard in ("gcc", "c99"), ("g++", "c++11"):
                made = self.path(f"{name}/weights-{standard}.o")
                language = "c++" if compiler == "g++" else "c"
                subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-x", language, "-c", source, "-o", made], check=True)
                program = harness.build(self.path(name), [description], [self.path(f"{name}/net.o"), made])
                self.expect_same(model, name, description, self.random_inputs(description), program=program)
            self.assertEqual(int(output_of("nm", self.path(f"{name}/net.o")).count(" U net_weights")), 1)
        text = Path(self.path("glyphs/net_weights.c")).read_text()
        first = re.search(r"\{\n(0x\w+),(0x\w+),(0x\w+)", text)
        self.write("glyphs/net_weights.c", text.replace(first[0], f"{{\n{first[1]},{first[2]},0x1", 1))
        made = self.path("glyphs/other.o")
        subprocess.run(["cc", "-c", self.path("glyphs/net_weights.c"), "-o", made], check=True)
        program = harness.build(self.path("glyphs"), [self.read_description("glyphs")], [self.path("glyphs/net.o"), made])
        done = harness.run(program)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("net_state_init", done.stderr)

    def read_description(self, folder):
        return json.loads(Path(self.path(f"{folder}/net.json")).read_text())

    def test_array_in_a_project(self):
        self.compile(str(GLYPHS), "net", "--weights", "c-array")
        build = self.path("build")
        subprocess.run(["cmake", "-S", self.path("net"), "-B", build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic -std=c99"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(len(output_of(os.path.join(build, "net_example")).split()), 6)

    def test_no_array_in_a_shared_library(self):
        self.expect_error(2, "compile", self.good_model(), "-o", self.path("net.so"), "--weights", "c-array", mentions=["--weights", "shared library"])
        self.assertEqual(os.listdir(self.folder), ["good.onnx"])


if __name__ == "__main__":
    main()
