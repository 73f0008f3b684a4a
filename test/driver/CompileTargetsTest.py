#!/usr/bin/env python3
# Covers: backend/cpu/target KnownCpus NamedTarget TargetDescription
# Covers: backend/cpu/codegen NarrowIndices
# Covers: backend/cpu/ahead HelperFunctions
# Covers: driver TargetsCommand
# Covers: engine/compiler Targets
"""`sinter compile --target`: code for other machines, linked by their compilers and run in emulators of exactly these CPUs."""
import json
import subprocess
from pathlib import Path

import numpy

import BareMetal
import BundleHarness as harness
import SinterCommand
import SmallModels
from BundleHarness import NUMPY
from CompileTest import BRANCH, GLYPHS, LOOP, LSTM
from SinterCommand import DONE, main, UNSUPPORTED, USAGE

# By a name: what the code is for, the C compiler, and the emulator of a CPU that has this and no more.
LINUX = {
    "x86-64": (("--target", "x86_64-linux-gnu", "--cpu", "x86-64"), "x86_64-linux-gnu-gcc", "qemu-x86_64 -cpu qemu64"),
    "x86-64-v2": (("--target", "x86_64-linux-gnu", "--cpu", "x86-64-v2"), "x86_64-linux-gnu-gcc", "qemu-x86_64 -cpu Nehalem"),
    "x86-64-v3": (("--target", "x86_64-linux-gnu", "--cpu", "x86-64-v3"), "x86_64-linux-gnu-gcc", "qemu-x86_64 -cpu Haswell"),
    "cortex-a53": (("--target", "aarch64-linux-gnu", "--cpu", "cortex-a53"), "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu cortex-a53"),
    "neoverse-v1": (("--target", "aarch64-linux-gnu", "--cpu", "neoverse-v1"), "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max"),
    "armv7": (("--target", "armv7-linux-gnueabihf"), "arm-linux-gnueabihf-gcc", "qemu-arm -cpu cortex-a9"),
    "cortex-a7": (("--target", "armv7-linux-gnueabihf", "--cpu", "cortex-a7"), "arm-linux-gnueabihf-gcc", "qemu-arm -cpu cortex-a7"),
    "riscv64": (("--target", "riscv64-linux-gnu"), "riscv64-linux-gnu-gcc", "qemu-riscv64 -cpu rv64"),
    "riscv64-v": (("--target", "riscv64-linux-gnu", "--features", "+v"), "riscv64-linux-gnu-gcc", "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0"),
}


def sizes_of(name):
    """The options for the sizes of that model."""
    return ("--shape", "image:1x1x32x32") if name.startswith("glyphs") else ()


class CompileTargets(harness.BundleTest):
    def quantised(self, model, name, calibration):
        path = self.path(name + "_int8.onnx")
        done = self.sinter("quantize", model, "--calibration", calibration, "-o", path)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return path

    def models(self):
        """Models by name, with inputs that take them different ways."""
        generator = numpy.random.default_rng(3)
        features = self.path("features.npz")
        numpy.savez(features, features=generator.standard_normal((16, 1, 49, 10)).astype("f4"))
        keyword = self.write("keyword.onnx", SmallModels.keyword_spotting())
        glyphs = str(GLYPHS / "glyphs.onnx")
        return {"glyphs": (glyphs, [{}]),
                "glyphs_int8": (self.quantised(glyphs, "glyphs", str(GLYPHS / "images")), [{}]),
                "keyword": (keyword, [{}]),
                "keyword_int8": (self.quantised(keyword, "keyword", features), [{}]),
                "lstm": (self.write("lstm.mlir", LSTM), [{}]),
                "branch": (self.write("branch.mlir", BRANCH), [{"p": False}, {"p": True}]),
                "loop": (self.write("loop.mlir", LOOP), [{"n": n} for n in (0, 1, 5)])}

    def expect_close(self, name, model, description, inputs, runs):
        """What was computed is close to what the interpreter gives."""
        expected, states = self.run_in_command(model, description, inputs, "--backend", "interpreter", runs=runs)
        tolerance = dict(rtol=1e-4, atol=2e-2 if "int8" in name or "bf16" in name else 1e-5)
        for tensor, want, got in zip(description["outputs"], expected, self.read_outputs(name, description)):
            numpy.testing.assert_allclose(got, want, err_msg=f"{name}: {tensor['name']}", **tolerance)
        if states:
            kept = Path(self.path(f"{name}/{description['name']}.state")).read_bytes()
            for tensor, want in zip(description["state"]["tensors"], states):
                got = numpy.frombuffer(kept[tensor["offset"]:][:tensor["bytes"]], NUMPY[tensor["type"]]).reshape(want.shape)
                numpy.testing.assert_allclose(got, want, err_msg=f"{name}: {tensor['name']}", **tolerance)

    def test_linux(self):
        for kind, (options, compiler, emulator) in LINUX.items():
            for name, (model, cases) in self.models().items():
                with self.subTest(kind, model=name):
                    description = self.compile(model, name, *options, *sizes_of(name), "--force", name=name)
                    program = harness.build(self.path(name), [description], [self.path(f"{name}/{name}.o")], compiler=(compiler, "-static"))
                    for case in cases:
                        inputs = self.random_inputs(description, **case)
                        self.write_inputs(name, description, inputs)
                        done = harness.run(program, 2, launcher=emulator.split())
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertLess(done.stack, description["stack_bytes"] + 4096)
                        self.expect_close(name, model, description, inputs, runs=2)

    def test_products_of_matrices(self):
        """Of bytes and of bf16, by a CPU that has instructions for them."""
        layers = SmallModels.Layers(4)
        layers.dense(40, 33)
        layers.add("Relu")
        layers.dense(33, 7)
        dense, samples = self.write("dense.onnx", layers.file((5, 40), 7)), self.path("dense.npz")
        numpy.savez(samples, features=numpy.random.default_rng(3).standard_normal((20, 40)).astype("f4"))
        options, compiler, emulator = LINUX["neoverse-v1"]
        for name, model, also, instruction in (("dense_int8", self.quantised(dense, "dense", samples), (), "smmla"), ("dense_bf16", dense, ("--precision", "bf16"), "bfmmla"),
                                               ("glyphs_bf16", str(GLYPHS / "glyphs.onnx"), ("--precision", "bf16"), "bfmmla")):
            with self.subTest(name):
                description = self.compile(model, name, *options, *sizes_of(name), *also, name=name)
                linked = self.path(f"{name}/{name}.o")
                listed = subprocess.run(["llvm-objdump-19", "-d", linked], capture_output=True, text=True, check=True).stdout
                self.assertIn(f"\t{instruction}\t", listed)
                program = harness.build(self.path(name), [description], [linked], compiler=(compiler, "-static"))
                inputs = self.random_inputs(description)
                self.write_inputs(name, description, inputs)
                done = harness.run(program, 2, launcher=emulator.split())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect_close(name, model, description, inputs, runs=2)

    def run_on_board(self, board, name, model, cases, *also):
        _, target, cpu, _ = BareMetal.BOARDS[board]
        description = self.compile(model, name, "--target", target, "--cpu", cpu, "--force", *sizes_of(name), *also, name=name)
        firmware = BareMetal.build(self.path(name), description, board, runs=2)
        for case in cases:
            inputs = self.random_inputs(description, **case)
            self.write_inputs(name, description, inputs)
            done = BareMetal.run(firmware, board)
            self.assertEqual(done.returncode, 0, f"{board}: {name}: {done.stdout} {done.stderr}")
            # What functions of the C library and of GCC take comes on top.
            self.assertLess(done.stack, description["stack_bytes"] + 512)
            self.expect_close(name, model, description, inputs, runs=2)
        return description

    def test_bare_metal(self):
        """On boards without an operating system; a board with the code of a larger one would fault."""
        for board in "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505":
            for name, (model, cases) in self.models().items():
                with self.subTest(board, model=name):
                    description = self.run_on_board(board, name, model, cases, *(("-Os",) if board == "mps2-an505" else ()))
                    self.assertEqual(description["target"].split("-")[0], BareMetal.BOARDS[board][1].split("-")[0])

    def test_half_precision(self):
        """Conversions have the same bits everywhere, with and without instructions, and no library is needed for them."""
        model = self.write("half.mlir", """
func.func @main(%x: tensor<64xf32> {sinter.name = "x"}, %h: tensor<64xf16> {sinter.name = "h"})
    -> (tensor<64xf16> {sinter.name = "y"}, tensor<64xf32> {sinter.name = "w"}) {
  %y = stablehlo.convert %x : (tensor<64xf32>) -> tensor<64xf16>
  %w = stablehlo.convert %h : (tensor<64xf16>) -> tensor<64xf32>
  return %y, %w : tensor<64xf16>, tensor<64xf32>
}
""")
        inf, nan = float("inf"), float("nan")
        special = [0.0, -0.0, inf, -inf, nan, 65504, 65519.996, 65520, -65520, 1e30, 2 ** -14, 2 ** -15, 1.5 * 2 ** -24, 2 ** -25, 1.0001 * 2 ** -25, 1e-30,
                   2 ** -24, 6.1e-5, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 2049, 2051]
        generator = numpy.random.default_rng(4)
        x = numpy.concatenate([numpy.array(special, "f4"), (generator.standard_normal(64 - len(special)) * 2.0 ** generator.integers(-20, 10, 64 - len(special)))]).astype("f4")
        halves = numpy.concatenate([numpy.array([0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 1, 0x3FF, 0x400, 0x7BFF, 0x8001], "u2"), generator.integers(0, 0x7C00, 54).astype("u2")]).view("f2")

        def expect_bits(name, description):
            self.assertFalse([symbol for symbol in description["external_symbols"] if "h2f" in symbol or "f2h" in symbol or "hf" in symbol])
            expected, _ = self.run_in_command(model, description, [x, halves], "--backend", "interpreter")
            for want, got in zip(expected, self.read_outputs("half", description)):
                numpy.testing.assert_array_equal(numpy.isnan(got), numpy.isnan(want), err_msg=name)
                self.assertEqual(got[~numpy.isnan(want)].tobytes(), want[~numpy.isnan(want)].tobytes(), name)

        for kind, (options, compiler, emulator) in LINUX.items():
            # The emulator makes zeros of small results of vcvtps2ph, which CPUs do not.
            if kind == "x86-64-v3":
                continue
            with self.subTest(kind):
                description = self.compile(model, "half", *options, "--force", name="half")
                program = harness.build(self.path("half"), [description], [self.path("half/half.o")], compiler=(compiler, "-static"))
                self.write_inputs("half", description, [x, halves])
                done = harness.run(program, 1, launcher=emulator.split())
                self.assertEqual(done.returncode, 0, done.stderr)
                expect_bits(kind, description)
        for board in "microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547":
            with self.subTest(board):
                _, target, cpu, _ = BareMetal.BOARDS[board]
                description = self.compile(model, "half", "--target", target, "--cpu", cpu, "--force", name="half")
                self.write_inputs("half", description, [x, halves])
                done = BareMetal.run(BareMetal.build(self.path("half"), description, board), board)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                expect_bits(board, description)

    def test_example(self):
        """examples/cortex-m is built and run as its README says, with the float model and with the quantised one."""
        quantised = self.quantised(str(GLYPHS / "glyphs.onnx"), "glyphs", str(GLYPHS / "images"))
        for board, more in ("mps2-an386", []), ("mps2-an505", [f"MODEL={quantised}"]):
            done = subprocess.run(["make", "-s", "run", f"SINTER={SinterCommand.SINTER}", f"BOARD={board}", f"BUILD={self.path(board)}", *more],
                                  cwd=BareMetal.EXAMPLE, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout + done.stderr, r"K, \d+ %; workspace \d+ bytes, stack \d+ of at most \d+")

    def test_smallest_board(self):
        """An nRF51 has 256 kB of flash and 16 kB of RAM."""
        model = self.write("perceptron.onnx", SmallModels.perceptron())
        self.run_on_board("microbit", "perceptron", model, [{}], "-Os")

    def test_helium(self):
        """A Cortex-M55 has vectors."""
        keyword = self.write("keyword.onnx", SmallModels.keyword_spotting())
        self.run_on_board("mps3-an547", "keyword", keyword, [{}])

    def test_shared_libraries(self):
        """They name the libraries that they need, on other systems too."""
        model = self.write("sine.mlir", """
func.func @main(%x: tensor<33xf64> {sinter.name = "x"}) -> (tensor<33xf64> {sinter.name = "y"}) {
  %y = stablehlo.sine %x : tensor<33xf64>
  return %y : tensor<33xf64>
}
""")
        for target in "aarch64-linux-gnu", "armv7-linux-gnueabihf", "riscv64-linux-gnu":
            done = self.sinter("compile", model, "-o", self.path("net.so"), "--target", target, "--force")
            self.assertEqual(done.returncode, DONE, done.stderr)
            listed = subprocess.run(["readelf", "-dW", self.path("net.so")], capture_output=True, text=True, check=True).stdout
            self.assertIn("[libm.so.6]", listed)
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("bare.so"), "--target", "thumbv7m-none-eabi", mentions=["shared", ".a"])

    def test_indices_of_32_bits(self):
        """Positions far outside of a tensor are clamped as on machines whose indices have 64 bits."""
        model = self.write("slice.mlir", """
func.func @main(%x: tensor<6xf32> {sinter.name = "x"}, %i: tensor<i64> {sinter.name = "i"}) -> (tensor<2xf32> {sinter.name = "y"}) {
  %y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
""")
        positions = [0, 3, 5, -1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, -2 ** 32 + 3, 2 ** 63 - 1, -2 ** 63]
        self.run_on_board("mps2-an385", "slice", model, [{"i": position} for position in positions])

    def test_too_large_for_pointers(self):
        model = self.write("large.mlir", """
func.func @main(%x: tensor<600000000xf32> {sinter.name = "x"}) -> (tensor<600000000xf32> {sinter.name = "y"}) {
  %y = stablehlo.negate %x : tensor<600000000xf32>
  return %y : tensor<600000000xf32>
}
""")
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net.o"), "--target", "armv7-linux-gnueabihf", mentions=["32 bits", "4800000000 bytes"])

    def test_sizes_without_a_bound(self):
        glyphs = str(GLYPHS / "glyphs.onnx")
        target = ("--target", "armv7-linux-gnueabihf")
        self.expect_error(UNSUPPORTED, "compile", glyphs, "-o", self.path("net.o"), *target, mentions=["--max", "32 bits"])
        done = self.sinter("compile", glyphs, "-o", self.path("net.o"), *target, "--max", "N=4")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_wrong_targets(self):
        model = self.good_model()
        for arguments, code, mentions in (
                (["--target", "no-such-machine"], USAGE, ["no-such-machine", "sinter targets"]),
                (["--target", "aarch64_be-linux-gnu"], UNSUPPORTED, ["aarch64_be", "sinter targets"]),
                (["--target", "mips-linux-gnu"], UNSUPPORTED, ["mips", "sinter targets"]),
                (["--target", "x86_64-pc-windows-msvc"], UNSUPPORTED, ["windows"]),
                (["--target", "thumbv7em-none-eabihf", "--cpu", "cortex-m44"], USAGE, ["cortex-m44", "did you mean 'cortex-m4'?"]),
                (["--target", "thumbv7em-none-eabihf", "--cpu", "znver4"], USAGE, ["znver4"]),
                (["--target", "riscv64-linux-gnu", "--features", "+zbbb"], USAGE, ["zbbb", "did you mean 'zbb'?"]),
                (["--target", "thumbv7m-none-eabihf"], USAGE, ["thumbv7m", "vfp2sp"]),
                (["--target", "thumbv7em-none-eabihf", "--features=-vfp2sp"], USAGE, ["vfp2sp"]),
                (["--target", "armv7-linux-gnueabihf", "--denormals"], UNSUPPORTED, ["denormal"]),
                (["--l1", "12"], USAGE, ["--l1"]),
                (["--l2", "many"], USAGE, ["--l2"]),
                (["-O3"], USAGE, ["-O"])):
            self.expect_error(code, "compile", model, "-o", self.path("net"), *arguments, mentions=mentions)

    def test_list(self):
        listed = json.loads(self.sinter("targets", "--json").stdout)["targets"]
        facts = {(each["target"], each["cpu"]): each for each in listed}
        m4 = facts["thumbv7em-none-eabihf", "cortex-m4"]
        self.assertEqual((m4["pointer_bits"], m4["fpu"], m4["fused_multiply_add"], m4["vector_bits"]), (32, True, True, 0))
        self.assertFalse(facts["thumbv7m-none-eabi", "cortex-m3"]["fpu"])
        self.assertEqual(facts["x86_64-linux-gnu", "x86-64-v4"]["vector_bits"], 512)
        self.assertEqual({name for name, each in facts.items() if each["matrix_units"]}, {("x86_64-linux-gnu", cpu) for cpu in ("sapphirerapids", "graniterapids")})
        self.assertIn("dotprod", facts["aarch64-linux-gnu", "cortex-a76"]["cpu_features"])
        self.assertIn("cortex-a76", self.sinter("targets").stdout)
        model = self.good_model()
        for target in {each["target"] for each in listed}:
            done = self.sinter("compile", model, "-o", self.path("net.o"), "--target", target, "--force")
            self.assertEqual(done.returncode, DONE, f"{target}: {done.stderr}")
        more = json.loads(self.sinter("targets", "riscv64-linux-gnu", "--json").stdout)["targets"]
        self.assertIn("sifive-u74", [each["cpu"] for each in more])
        self.assertEqual(more[0]["cpu"], "")
        self.expect_error(USAGE, "targets", "no-such-machine", mentions=["no-such-machine"])
        self.expect_error(UNSUPPORTED, "targets", "mips-linux-gnu", mentions=["mips"])

    def test_sizes_of_caches(self):
        """They decide on blocks, not on results."""
        model = self.write("keyword.onnx", SmallModels.keyword_spotting())
        first = self.compile(model, "first", "--cpu", "x86-64-v3", name="net")
        second = self.compile(model, "second", "--cpu", "x86-64-v3", "--l1", "16K", "--l2", "64K", name="net")
        self.assertNotEqual(first["hash"], second["hash"])
        self.expect_same(model, "second", second, self.random_inputs(second), also=("--cpu", "x86-64-v3"))

    def test_small_code(self):
        for name, model in ("keyword", self.write("keyword.onnx", SmallModels.keyword_spotting())), ("glyphs", str(GLYPHS / "glyphs.onnx")):
            target = ("--target", "thumbv7em-none-eabihf", "--cpu", "cortex-m4")
            fast = self.compile(model, "fast", *target, *sizes_of(name), "--force", name=name)
            small = self.compile(model, "small", *target, *sizes_of(name), "-Os", "--force", name=name)
            self.assertLess(small["code_bytes"], 0.9 * fast["code_bytes"])


if __name__ == "__main__":
    main()
