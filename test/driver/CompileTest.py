#!/usr/bin/env python3
# Covers: bundle BundleFiles CTypes ExampleText HeaderText JsonText
# Covers: backend/cpu/ahead BundleCompiler CodeFile EntryPoints EntrySteps FloatModeCode KernelModule MatrixPermission ObjectFacts SharedLibrary
# Covers: driver CompileCommand
# Covers: interface AheadOfTime
"""`sinter compile`: what it writes is compiled and linked by other tools, and run."""
import ctypes
import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import numpy

import BundleHarness as harness
import OnnxBytes as onnx
from SinterCommand import DONE, main, npy, SYSTEM, UNSUPPORTED, USAGE

GLYPHS = Path(__file__).resolve().parents[2] / "examples" / "glyphs"

# Weights that are the sine of their index: no two are the same.
SINES = """
  %{0}i = stablehlo.iota dim = 0 : tensor<{1}xf32>
  %{0}f = stablehlo.constant dense<0.37> : tensor<{1}xf32>
  %{0}m = stablehlo.multiply %{0}i, %{0}f : tensor<{1}xf32>
  %{0}s = stablehlo.sine %{0}m : tensor<{1}xf32>
  %{0} = stablehlo.reshape %{0}s : (tensor<{1}xf32>) -> tensor<{2}xf32>
"""

# A step of an LSTM whose hidden and cell state outlive a run.
LSTM = """
func.func @main(%x: tensor<1x8xf32> {sinter.name = "x"},
    %h: tensor<1x16xf32> {sinter.state = "hidden", sinter.initial = dense<0.25> : tensor<1x16xf32>},
    %c: tensor<1x16xf32> {sinter.state = "cell", sinter.initial = dense<-0.5> : tensor<1x16xf32>})
    -> (tensor<1x16xf32> {sinter.name = "y"}, tensor<1x16xf32> {sinter.state = "hidden"}, tensor<1x16xf32> {sinter.state = "cell"}) {
""" + SINES.format("w", 512, "8x64") + SINES.format("r", 1024, "16x64") + """
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x8xf32>, tensor<8x64xf32>) -> tensor<1x64xf32>
  %b = stablehlo.dot_general %h, %r, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x64xf32>) -> tensor<1x64xf32>
  %g = stablehlo.add %a, %b : tensor<1x64xf32>
  %gi = stablehlo.slice %g [0:1, 0:16] : (tensor<1x64xf32>) -> tensor<1x16xf32>
  %gf = stablehlo.slice %g [0:1, 16:32] : (tensor<1x64xf32>) -> tensor<1x16xf32>
  %go = stablehlo.slice %g [0:1, 32:48] : (tensor<1x64xf32>) -> tensor<1x16xf32>
  %gc = stablehlo.slice %g [0:1, 48:64] : (tensor<1x64xf32>) -> tensor<1x16xf32>
  %i = stablehlo.logistic %gi : tensor<1x16xf32>
  %f = stablehlo.logistic %gf : tensor<1x16xf32>
  %o = stablehlo.logistic %go : tensor<1x16xf32>
  %t = stablehlo.tanh %gc : tensor<1x16xf32>
  %fc = stablehlo.multiply %f, %c : tensor<1x16xf32>
  %it = stablehlo.multiply %i, %t : tensor<1x16xf32>
  %next = stablehlo.add %fc, %it : tensor<1x16xf32>
  %tanh = stablehlo.tanh %next : tensor<1x16xf32>
  %y = stablehlo.multiply %o, %tanh : tensor<1x16xf32>
  return %y, %y, %next : tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>
}
"""

BRANCH = """
func.func @main(%p: tensor<i1> {sinter.name = "p"}, %x: tensor<4x8xf32> {sinter.name = "x"}) -> (tensor<4x8xf32> {sinter.name = "y"}) {
  %y = "stablehlo.if"(%p) ({
    %e = stablehlo.exponential %x : tensor<4x8xf32>
    stablehlo.return %e : tensor<4x8xf32>
  }, {
    stablehlo.return %x : tensor<4x8xf32>
  }) : (tensor<i1>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""

CASE = """
func.func @main(%k: tensor<i32> {sinter.name = "k"}, %x: tensor<4x8xf32> {sinter.name = "x"}) -> (tensor<4x8xf32> {sinter.name = "y"}) {
  %y = "stablehlo.case"(%k) ({
    %e = stablehlo.exponential %x : tensor<4x8xf32>
    stablehlo.return %e : tensor<4x8xf32>
  }, {
    %t = stablehlo.tanh %x : tensor<4x8xf32>
    stablehlo.return %t : tensor<4x8xf32>
  }, {
    %n = stablehlo.negate %x : tensor<4x8xf32>
    stablehlo.return %n : tensor<4x8xf32>
  }) : (tensor<i32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
"""

LOOP = """
func.func @main(%n: tensor<i32> {sinter.name = "n"}, %x: tensor<4x8xf32> {sinter.name = "x"})
    -> (tensor<4x8xf32> {sinter.name = "y"}, tensor<i32> {sinter.name = "count"}) {
""" + SINES.format("w", 64, "8x8") + """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i, %y = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<4x8xf32>
    cond {
      %less = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %a, %one : tensor<i32>
      %m = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %t = stablehlo.tanh %m : tensor<4x8xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<4x8xf32>
    }
  return %y, %i : tensor<4x8xf32>, tensor<i32>
}
"""

# Names that are no identifiers, or end comments, or are words of C; every type of element.
TYPES = "i1 i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 f8E4M3FN f8E5M2 complex<f32> complex<f64>".split()
NAMES = ["for", "FOR", "a*/b", "/*", "", "1", "\\u00e4", "errno", "linux", "a b", "a_b", "A_B", "tensor", "?" + "?/", "main\\\\", "int", "_", "__x", "x.y", "NULL", "class"]


def signature(names):
    """A program whose outputs are its inputs, of all types."""
    names = [name.replace("\\u00e4", "\u00e4") for name in names]
    tensors = [f"tensor<2x3x{element}>" for element in TYPES]
    inputs = ", ".join(f'%x{i}: {tensor} {{sinter.name = "{name}"}}' for i, (tensor, name) in enumerate(zip(tensors, names)))
    outputs = ", ".join(f'{tensor} {{sinter.name = "{name}"}}' for tensor, name in zip(tensors, names))
    return (f"func.func @main({inputs}) -> ({outputs}) {{\n  return {', '.join(f'%x{i}' for i in range(len(tensors)))} : {', '.join(tensors)}\n}}\n")


class Compile(harness.BundleTest):
    def models(self):
        """Models by name, with inputs that take them different ways."""
        quantised = self.path("quantised.onnx")
        done = self.sinter("quantize", str(GLYPHS / "glyphs.onnx"), "--calibration", str(GLYPHS / "images"), "-o", quantised)
        self.assertEqual(done.returncode, DONE, done.stderr)
        # A step of training, whose weights and momenta are states.
        step, data = self.path("step.mlir"), self.path("data.npz")
        generator = numpy.random.default_rng(5)
        numpy.savez(data, image=generator.standard_normal((8, 1, 32, 32)).astype("f4"), target=generator.integers(0, 36, 8))
        done = self.sinter("train", str(GLYPHS / "glyphs.onnx"), "--data", data, "--batch", "2", "--optimizer", "sgd", "--momentum", "0.9", "--lr", "0.01",
                           "--write-step", step, "--step-states")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return {"step": (step, [{"learning_rate": 0.01}]),
                "glyphs": (str(GLYPHS / "glyphs.onnx"), [{}]),
                "quantised": (quantised, [{}]),
                "lstm": (self.write("lstm.mlir", LSTM), [{}]),
                "branch": (self.write("branch.mlir", BRANCH), [{"p": False}, {"p": True}]),
                "case": (self.write("case.mlir", CASE), [{"k": k} for k in (0, 1, 2, 3, -1)]),
                "loop": (self.write("loop.mlir", LOOP), [{"n": n} for n in (0, 1, 5)])}

    def test_same_bits(self):
        """Each model, several runs one after the other, with all memory between pages that nobody may touch, in another rounding
        mode, on a workspace of ones and a stack of its own."""
        for name, (model, cases) in self.models().items():
            with self.subTest(name):
                description = self.compile(model, name, name=name)
                self.expect_symbols(name, description)
                program = None
                for case in cases:
                    inputs = self.random_inputs(description, **case)
                    done = self.expect_same(model, name, description, inputs, runs=3, program=program)
                    program = self.path(f"{name}/harness")
                    # What the harness has on the stack itself, and what the system does there.
                    self.assertLess(done.stack, description["stack_bytes"] + 4096)
                if description["workspace"]["bytes"]:
                    # A workspace that is smaller is left at its end.
                    self.assertNotEqual(harness.run(program, shift=64).returncode, 0)

    def expect_symbols(self, name, description):
        """No symbol is visible but the functions, none is missing but those that the header lists."""
        listed = subprocess.run(["nm", "-P", self.path(f"{name}/{name}.o")], capture_output=True, text=True, check=True).stdout.splitlines()
        symbols = [line.split()[:2] for line in listed]
        self.assertEqual({symbol for symbol, kind in symbols if kind.isupper() and kind != "U"}, set(description["functions"].values()))
        self.assertEqual(sorted(symbol for symbol, kind in symbols if kind == "U"), description["external_symbols"])
        header = Path(self.path(f"{name}/{name}.h")).read_text()
        self.assertIn(f'#define {name.upper()}_EXTERNAL_SYMBOLS "{" ".join(description["external_symbols"])}"', header)

    def test_without_a_c_library(self):
        """Linked with nothing at all, a program runs from its first instruction on."""
        description = self.compile(self.write("lstm.mlir", LSTM))
        self.assertEqual(description["external_symbols"], [])
        source = self.write("net/start.c", """
#include "net.h"
static NET_ALIGNED float x[NET_INPUT_X_ELEMENTS], y[NET_OUTPUT_Y_ELEMENTS];
static NET_ALIGNED unsigned char workspace[NET_WORKSPACE_SIZE + 1];
static net_state state;
static void leave(long status) {
#if defined(__x86_64__)
  __asm__ volatile("syscall" ::"a"(60), "D"(status));
#else
  register long number __asm__("x8") = 93, first __asm__("x0") = status;
  __asm__ volatile("svc 0" ::"r"(number), "r"(first));
#endif
}
__attribute__((used)) static void work(void) {
  const net_inputs inputs = {x};
  const net_outputs outputs = {y};
  int status = net_state_init(&state);
  if (status == NET_DONE)
    status = net_run(&inputs, &outputs, &state, workspace);
  leave(status == NET_DONE && y[0] != 0 ? 42 : 1);
}
#if defined(__x86_64__)
__asm__(".globl _start\\n_start: and $-16, %rsp\\n call work\\n");
#else
__asm__(".globl _start\\n_start: bl work\\n");
#endif
""")
        subprocess.run(["cc", "-O1", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static", source, self.path("net/net.o"), "-o", self.path("net/start")], check=True)
        self.assertEqual(subprocess.run([self.path("net/start")]).returncode, 42)

    def test_header(self):
        """Compilers take it without a warning, whatever tensors are called, and two beside each other."""
        model = self.write("types.mlir", signature(NAMES))
        first = self.compile(model, "all", name="first")
        self.compile(model, "all", "--weights", "file", "--force", name="second")
        fields = [tensor["field"] for tensor in first["inputs"]]
        self.assertEqual(len({field.upper() for field in fields}), len(TYPES))
        text = '#include "first.h"\n#include "second.h"\n#include "first.h"\n'
        for i, tensor in enumerate(first["inputs"]):
            field = tensor["field"]
            macro = f"FIRST_INPUT_{field.upper()}"
            text += (f"long shape_{i}[{macro}_RANK] = {macro}_SHAPE;\n"
                     f"typedef char size_{i}[sizeof(*((first_inputs *)0)->{field}) * {macro}_ELEMENTS == {macro}_SIZE ? 1 : -1];\n"
                     f"typedef char alignment_{i}[{macro}_ALIGNMENT >= sizeof(*((second_outputs *)0)->{field}) ? 1 : -1];\n")
        sources = {"c": self.write("all/all.c", text), "c++": self.write("all/all.cpp", text)}
        for compilers, language, standards in (("gcc", "clang-19"), "c", ("c99", "c11", "c17")), (("g++", "clang++-19"), "c++", ("c++11", "c++14", "c++17", "c++20")):
            for compiler in compilers:
                for standard in standards:
                    done = subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", sources[language]], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, f"{compiler} {standard}: {done.stderr}")

    def test_every_type(self):
        """Elements of every type go from inputs to outputs as they are."""
        model = self.write("types.mlir", signature([f"t{i}" for i in range(len(TYPES))]))
        description = self.compile(model)
        for i, tensor in enumerate(description["inputs"]):
            self.write(f"net/net.in{i}", bytes(k % 2 for k in range(tensor["bytes"])))
        program = harness.build(self.path("net"), [description], [self.path("net/net.o")])
        self.assertEqual(harness.run(program).returncode, 0)
        for i, tensor in enumerate(description["outputs"]):
            self.assertEqual(tensor["type"], TYPES[i])
            self.assertEqual(Path(self.path(f"net/net.out{i}")).read_bytes(), bytes(k % 2 for k in range(tensor["bytes"])), TYPES[i])

    def test_two_in_one_program(self):
        models = {"lstm": self.write("lstm.mlir", LSTM), "other": self.write("lstm2.mlir", LSTM), "loop": self.write("loop.mlir", LOOP)}
        descriptions = [self.compile(model, "all", "--force", name=name) for name, model in models.items()]
        inputs = [self.random_inputs(description, n=3) for description in descriptions]
        for description, arrays in zip(descriptions, inputs):
            self.write_inputs("all", description, arrays)
        program = harness.build(self.path("all"), descriptions, [self.path(f"all/{name}.o") for name in models], standard="c11")
        self.assertEqual(harness.run(program, 2).returncode, 0)
        for (name, model), description, arrays in zip(models.items(), descriptions, inputs):
            expected, _ = self.run_in_command(model, description, arrays, runs=2)
            for want, got in zip(expected, self.read_outputs("all", description)):
                self.assertEqual(want.tobytes(), got.tobytes(), name)

    def test_forms(self):
        """Archive, assembly, LLVM IR and weights in a file compute the same; each file has its header beside it."""
        model = self.write("lstm.mlir", LSTM)
        description = self.compile(model)
        inputs = self.random_inputs(description)
        for suffix, convert in (".a", None), (".s", ["cc", "-c"]), (".ll", ["llc-19", "-filetype=obj", "-relocation-model=pic"]), (".o", None):
            folder = "form" + suffix[1:]
            os.mkdir(self.path(folder))
            done = self.sinter("compile", model, "-o", self.path(f"{folder}/net{suffix}"))
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(sorted(os.listdir(self.path(folder))), sorted(["net.h", "net" + suffix]))
            linked = self.path(f"{folder}/net{suffix}")
            if convert:
                subprocess.run([*convert, linked, "-o", self.path(folder + "/made.o")], check=True)
                linked = self.path(folder + "/made.o")
            self.expect_same(model, folder, description, inputs, runs=2, program=harness.build(self.path(folder), [description], [linked]))

    def test_weights_in_a_file(self):
        model = self.write("lstm.mlir", LSTM)
        description = self.compile(model, "net", "--weights", "file")
        self.assertEqual(description["weights"]["file"], "net.weights")
        self.assertEqual(os.path.getsize(self.path("net/net.weights")), description["weights"]["bytes"])
        self.expect_same(model, "net", description, self.random_inputs(description), runs=2)
        # Those of another model, of the same size, are refused.
        content = bytearray(Path(self.path("net/net.weights")).read_bytes())
        content[9] ^= 1
        self.write("net/net.weights", bytes(content))
        done = harness.run(self.path("net/harness"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("net_state_init", done.stderr)

    def test_example(self):
        """The folder builds with CMake, and its example runs."""
        for weights in "code", "file":
            self.compile(str(GLYPHS / "glyphs.onnx"), weights, "--weights", weights, "--shape", "N=1", name="glyphs")
            folder, build = self.path(weights), self.path(weights + "-build")
            self.assertEqual(sorted(os.listdir(folder)), sorted(["CMakeLists.txt", "glyphs.h", "glyphs.json", "glyphs.o", "main.c"] + (["glyphs.weights"] if weights == "file" else [])))
            subprocess.run(["cmake", "-S", folder, "-B", build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic -std=c99"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
            done = subprocess.run([os.path.join(build, "glyphs_example")], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            values = [float(value) for value in done.stdout.split(":")[1].split()]
            self.assertEqual(len(values), 5)
            self.assertTrue(numpy.isfinite(values).all())
            if weights == "code":
                expected = done.stdout
        self.assertEqual(done.stdout, expected)

    def test_part_of_a_project(self):
        """A project in C++ adds the folder and links the target."""
        self.compile(self.write("lstm.mlir", LSTM))
        self.write("CMakeLists.txt", """
cmake_minimum_required(VERSION 3.13)
project(app C CXX)
add_subdirectory(net)
add_executable(app app.cpp)
target_link_libraries(app PRIVATE net)
""")
        self.write("app.cpp", """
#include "net.h"
static NET_ALIGNED float x[NET_INPUT_X_ELEMENTS], y[NET_OUTPUT_Y_ELEMENTS];
static NET_ALIGNED unsigned char workspace[NET_WORKSPACE_SIZE];
static net_state state;
int main() {
  const net_inputs inputs = {x};
  const net_outputs outputs = {y};
  return net_state_init(&state) || net_run(&inputs, &outputs, &state, workspace) || y[0] == 0;
}
""")
        build = self.path("build")
        subprocess.run(["cmake", "-S", self.folder, "-B", build], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(subprocess.run([os.path.join(build, "app")]).returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(build, "net", "net_example")))

    def shared_library(self, model, *arguments):
        path = self.path("libnet.so")
        done = self.sinter("compile", model, "-o", path, "--name", "net", "--json", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return ctypes.CDLL(path), json.loads(done.stdout)

    @staticmethod
    def aligned(size, alignment=64):
        """Memory of that alignment, with what keeps it alive."""
        memory = ctypes.create_string_buffer(size + alignment)
        return memory, ctypes.addressof(memory) + -ctypes.addressof(memory) % alignment

    def test_shared_library(self):
        """Loaded by another language; threads run it at the same time."""
        model = self.write("loop.mlir", LOOP)
        library, description = self.shared_library(model)
        self.assertEqual(self.needed_libraries(self.path("libnet.so")), [])
        inputs = self.random_inputs(description, n=4)
        expected, _ = self.run_in_command(model, description, inputs)
        failures = []

        def work():
            for _ in range(200):
                outputs = [numpy.zeros(tensor["shape"], harness.NUMPY[tensor["type"]]) for tensor in description["outputs"]]
                pointers = lambda arrays: (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
                memory, workspace = self.aligned(description["workspace"]["bytes"])
                status = library.net_run(pointers(inputs), pointers(outputs), None, ctypes.c_void_p(workspace))
                if status != 0 or any(got.tobytes() != want.tobytes() for got, want in zip(outputs, expected)):
                    failures.append((status, outputs))
                del memory

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def needed_libraries(self, path):
        listed = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
        return [line.split("[")[1].rstrip("]") for line in listed.splitlines() if "(NEEDED)" in line]

    def test_external_functions(self):
        """They are listed, and a shared library names the libraries that have them."""
        sine = self.write("sine.mlir", """
func.func @main(%x: tensor<33xf64> {sinter.name = "x"}) -> (tensor<33xf64> {sinter.name = "y"}) {
  %y = stablehlo.sine %x : tensor<33xf64>
  return %y : tensor<33xf64>
}
""")
        half = self.write("half.mlir", """
func.func @main(%x: tensor<33xf32> {sinter.name = "x"}) -> (tensor<33xf16> {sinter.name = "y"}) {
  %y = stablehlo.convert %x : (tensor<33xf32>) -> tensor<33xf16>
  return %y : tensor<33xf16>
}
""")
        # Conversions that the CPU lacks are the bundle's own.
        for name, model, symbols, libraries in ("sine", sine, ["sin"], ["libm.so.6"]), ("half", half, [], []):
            cpu = ("--cpu", "x86-64")
            description = self.compile(model, name, *cpu, name=name)
            self.assertEqual(description["external_symbols"], symbols)
            self.expect_same(model, name, description, self.random_inputs(description), also=cpu)
            path = self.path(f"lib{name}.so")
            # By whichever linker there is.
            linkers = self.path("linkers-" + name)
            os.mkdir(linkers)
            for linker in "ld.lld-19", "x86_64-linux-gnu-ld":
                os.symlink(shutil.which(linker), os.path.join(linkers, linker))
                done = self.sinter("compile", model, "-o", path, "--force", *cpu, PATH=linkers)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertEqual(self.needed_libraries(path), libraries, linker)
                ctypes.CDLL(path)
                os.unlink(os.path.join(linkers, linker))
            done = self.sinter("compile", model, "-o", path, "--force", *cpu, PATH=linkers)
            self.assertEqual(done.returncode, SYSTEM)
            self.assertIn("there is no linker", done.stderr)

    def test_functions_of_f32(self):
        """They are code of the bundle."""
        unary = ["stablehlo." + name for name in ("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "sine", "tan", "tanh")]
        unary += ["nn." + name for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh")]
        lines = [f"{name} %x" for name in unary] + [f"stablehlo.{name} %x, %z" for name in ("atan2", "power", "remainder")]
        names = [f"y{i}" for i in range(len(lines))]
        tensor = "tensor<21xf32>"
        newline = "\n"
        model = self.write("functions.mlir", f"""
func.func @main(%x: {tensor} {{sinter.name = "x"}}, %z: {tensor} {{sinter.name = "z"}})
    -> ({", ".join(f'{tensor} {{sinter.name = "{name}"}}' for name in names)}) {{
{newline.join(f"  %{name} = {line} : {tensor}" for name, line in zip(names, lines))}
  return {", ".join("%" + name for name in names)} : {", ".join([tensor] * len(names))}
}}
""")
        for cpu in "x86-64", "x86-64-v3", "x86-64-v4":
            description = self.compile(model, "functions-" + cpu, "--cpu", cpu, name="functions")
            self.assertEqual(description["external_symbols"], [], cpu)

    def test_wrong_pointers(self):
        library, description = self.shared_library(self.write("lstm.mlir", LSTM))
        x, y = numpy.zeros((1, 8), "f4"), numpy.zeros((1, 16), "f4")
        keep, workspace = self.aligned(description["workspace"]["bytes"] + 64)
        keep_state, state = self.aligned(description["state"]["bytes"] + 64)
        pointer = ctypes.c_void_p

        def run(x=x.ctypes.data, y=y.ctypes.data, state=state, workspace=workspace, inputs=True):
            given = ctypes.byref(pointer(x)) if inputs else None
            return library.net_run(given, ctypes.byref(pointer(y)), pointer(state), pointer(workspace))

        self.assertEqual(library.net_state_init(pointer(state)), 0)
        self.assertEqual(run(), 0)
        null, misaligned = 1, 2
        for arguments in {"x": None}, {"y": None}, {"state": None}, {"workspace": None}, {"inputs": False}:
            self.assertEqual(run(**arguments), null, arguments)
        for arguments in {"x": x.ctypes.data + 1}, {"y": y.ctypes.data + 2}, {"state": state + 32}, {"workspace": workspace + 16}:
            self.assertEqual(run(**arguments), misaligned, arguments)
        self.assertEqual(library.net_state_init(None), null)
        self.assertEqual(library.net_state_init(pointer(state + 8)), misaligned)
        del keep, keep_state

    def test_valgrind(self):
        """No access outside of memory, and no value that nobody has written decides anything."""
        model = self.write("lstm.mlir", LSTM)
        description = self.compile(model, "net", "--cpu", "x86-64-v3")
        self.expect_same(model, "net", description, self.random_inputs(description), runs=2, also=("--cpu", "x86-64-v3"),
                         launcher=("valgrind", "-q", "--error-exitcode=9"), stack="given")

    def test_levels_of_x86(self):
        model = str(GLYPHS / "glyphs.onnx")
        for cpu in "x86-64", "x86-64-v2", "x86-64-v3":
            description = self.compile(model, cpu, "--cpu", cpu)
            self.assertEqual(description["cpu"], cpu)
            self.expect_same(model, cpu, description, self.random_inputs(description), also=("--cpu", cpu))

    def test_aarch64(self):
        """Under an emulator, with another C compiler, close to what the interpreter gives."""
        for name, (model, cases) in self.models().items():
            description = self.compile(model, name, "--target", "aarch64-linux-gnu", "--cpu", "cortex-a76", name=name)
            self.assertIn("aarch64", description["target"])
            program = harness.build(self.path(name), [description], [self.path(f"{name}/{name}.o")], compiler=("aarch64-linux-gnu-gcc", "-static"))
            for case in cases:
                inputs = self.random_inputs(description, **case)
                self.write_inputs(name, description, inputs)
                done = harness.run(program, 2, launcher=("qemu-aarch64",))
                self.assertEqual(done.returncode, 0, done.stderr)
                expected, _ = self.run_in_command(model, description, inputs, "--backend", "interpreter", runs=2)
                for want, got in zip(expected, self.read_outputs(name, description)):
                    numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-2 if name == "quantised" else 1e-5)

    def test_denormals(self):
        """They are flushed, or kept, as the command does."""
        model = self.write("half.mlir", """
func.func @main(%x: tensor<16xf32> {sinter.name = "x"}) -> (tensor<16xf32> {sinter.name = "y"}) {
  %h = stablehlo.constant dense<0.5> : tensor<16xf32>
  %y = stablehlo.multiply %x, %h : tensor<16xf32>
  return %y : tensor<16xf32>
}
""")
        tiny = numpy.full(16, 2e-38, "f4")
        for folder, also, expected in ("flushed", (), 0), ("kept", ("--denormals",), numpy.float32(1e-38)):
            description = self.compile(model, folder, *also)
            self.expect_same(model, folder, description, [tiny], also=also)
            self.assertEqual(self.read_outputs(folder, description)[0][0], expected)

    def test_empty_tensors_and_no_inputs(self):
        model = self.write("empty.mlir", """
func.func @main(%x: tensor<0x3xf32> {sinter.name = "x"}) -> (tensor<0x3xf32> {sinter.name = "y"}, tensor<2xf32> {sinter.name = "z"}) {
  %z = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.negate %x : tensor<0x3xf32>
  return %y, %z : tensor<0x3xf32>, tensor<2xf32>
}
""")
        description = self.compile(model)
        self.expect_same(model, "net", description, self.random_inputs(description))
        model = self.write("none.mlir", """
func.func @main() -> (tensor<2xf32> {sinter.name = "z"}) {
  %z = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %z : tensor<2xf32>
}
""")
        description = self.compile(model, "none", name="none")
        self.expect_same(model, "none", description, [])

    def test_same_every_time(self):
        """The files of one model are the same from call to call, and on any number of threads."""
        model = str(GLYPHS / "glyphs.onnx")
        first, second = self.compile(model, "first", "--threads", "1"), self.compile(model, "second", "--threads", "2")
        self.assertEqual(first, second)
        for file in os.listdir(self.path("first")):
            self.assertEqual(Path(self.path("first/" + file)).read_bytes(), Path(self.path("second/" + file)).read_bytes(), file)

    def test_names(self):
        model = self.good_model("1 net-v2.onnx")
        done = self.sinter("compile", model, "-o", self.path("folder"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("model_1_net_v2.o", os.listdir(self.path("folder")))
        self.assertEqual(self.sinter("compile", model, "-o", self.path("my-net.o")).returncode, DONE)
        self.assertIn("int my_net_run(", Path(self.path("my-net.h")).read_text())

    def test_what_needs_the_library(self):
        """All of it is listed, and nothing is written."""
        model = self.write("fft.mlir", """
func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %a = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %b = stablehlo.fft %a, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %c = stablehlo.cosine %b : tensor<8xcomplex<f32>>
  return %c : tensor<8xcomplex<f32>>
}
""")
        for output in "net", "net.o":
            self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path(output), mentions=["fft", "(2)"])
        self.assertEqual(os.listdir(self.folder), ["fft.mlir"])

    def test_sizes_that_depend_on_values(self):
        model = self.write("nonzero.onnx", onnx.model(onnx.graph([onnx.node("NonZero", ["x"], ["y"], "find")], [onnx.value_info("x", (2, 3))],
                                                                  [onnx.value_info("y", (2, "K"), onnx.INT64)])))
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), mentions=["sinter.non_zero (1)"])
        model = self.write("ones.onnx", onnx.model(onnx.graph([onnx.node("ConstantOfShape", ["x"], ["y"], "ones")], [onnx.value_info("x", (2,), onnx.INT64)],
                                                              [onnx.value_info("y", ("A", "B"))])))
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), mentions=["sizes depend on values"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["nonzero.onnx", "ones.onnx"])
        # Those of an input that is bound do not.
        description = self.compile(model, "net", "--bind", f"x={self.write('x.npy', npy((2,), (3, 4), '<i8'))}")
        self.assertEqual(description["outputs"][0]["shape"], [3, 4])

    def test_wrong_usage(self):
        model = self.good_model()
        for arguments, mentions in (
                (["-o", self.path("net.exe")], [".exe", ".so"]),
                (["-o", self.path("net"), "--name", "1net"], ["--name", "1net"]),
                (["-o", self.path("net"), "--name", "a-b"], ["--name", "a-b"]),
                (["-o", self.path("net"), "--name", "a" * 101], ["--name"]),
                (["-o", self.path("net"), "--target", "no-such-machine"], ["no-such-machine"]),
                (["-o", self.path("net"), "--cpu", "no-such-cpu"], ["no-such-cpu"]),
                (["-o", self.path("net"), "--features", "+nosuch"], ["nosuch"]),
                (["-o", self.path("net"), "--target", "aarch64-linux-gnu", "--cpu", "znver4"], ["znver4", "aarch64"]),
                ([], ["--output"])):
            self.expect_error(USAGE, "compile", model, *arguments, mentions=mentions)
        for triple in "mips-linux-gnu", "x86_64-pc-windows-msvc", "aarch64_be-linux-gnu":
            self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), "--target", triple, mentions=[triple.split("-")[0]])
        self.assertEqual(os.listdir(self.folder), ["good.onnx"])

    def test_existing_files(self):
        model = self.good_model("net.onnx")
        self.write("net.h", "mine")
        self.expect_error(USAGE, "compile", model, "-o", self.path("net.o"), mentions=["net.h", "--force"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["net.h", "net.onnx"])
        self.assertEqual(self.sinter("compile", model, "-o", self.path("net.o"), "--force").returncode, DONE)
        self.assertIn("net_run", Path(self.path("net.h")).read_text())
        os.mkdir(self.path("folder"))
        self.write("folder/main.c", "mine")
        self.write("folder/other.c", "mine, too")
        self.expect_error(USAGE, "compile", model, "-o", self.path("folder"), mentions=["main.c", "--force"])
        self.assertEqual(self.sinter("compile", model, "-o", self.path("folder"), "--force").returncode, DONE)
        self.assertEqual(Path(self.path("folder/other.c")).read_text(), "mine, too")
        # Never a file of the model.
        os.symlink(model, self.path("link.o"))
        self.expect_error(USAGE, "compile", model, "-o", self.path("link.o"), "--force", mentions=["the model itself"])
        self.expect_error(USAGE, "compile", model, "-o", model + "/", mentions=["no folder"])


if __name__ == "__main__":
    main()
