#!/usr/bin/env python3
# Covers: backend/cpu/ahead DynamicLayout SharedWeights SizeCode SizeFunctions SizePlan
"""`sinter compile` of models with dynamic dimensions, whose sizes are arguments of a call."""
import json
import os
import subprocess
from pathlib import Path

import numpy

import BundleHarness as harness
import OnnxBytes as onnx
import SizedBundle as sized
from SinterCommand import DONE, main, UNSUPPORTED, USAGE

GLYPHS = Path(__file__).resolve().parents[2] / "examples" / "glyphs"


def attribute(name, value):
    """An integer or a list of integers."""
    if isinstance(value, list):
        return onnx.data(5, onnx.data(1, name) + onnx.number(20, 7) + b"".join(onnx.number(8, each) for each in value))
    return onnx.data(5, onnx.data(1, name) + onnx.number(20, 2) + onnx.number(3, value))


def weights(name, *shape, seed=3):
    values = numpy.random.default_rng(seed).standard_normal(shape) / numpy.sqrt(shape[-1])
    return onnx.tensor(name, shape, values.astype("<f4").tobytes())


def integers(name, *values):
    return onnx.tensor(name, [len(values)], numpy.array(values, "<i8").tobytes(), onnx.INT64)


def convolutions():
    pads, kernel = attribute("pads", [1, 1, 1, 1]), attribute("kernel_shape", [3, 3])
    nodes = [onnx.node("Conv", ["x", "a"], ["b"], "first", attributes=pads + kernel + attribute("strides", [2, 2])),
             onnx.node("Relu", ["b"], ["c"], "relu"),
             onnx.node("MaxPool", ["c"], ["d"], "pool", attributes=attribute("kernel_shape", [2, 2]) + attribute("strides", [2, 2])),
             onnx.node("Conv", ["d", "e"], ["features"], "second", attributes=pads + kernel),
             onnx.node("GlobalAveragePool", ["features"], ["y"], "mean")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", (1, 3, "H", "W"))],
                                 [onnx.value_info("y", (1, 8, 1, 1)), onnx.value_info("features", (1, 8, "h", "w"))],
                                 [weights("a", 8, 3, 3, 3), weights("e", 8, 8, 3, 3)]))


def attention():
    """A layer of a transformer: four heads of four, a norm before, a sum behind."""
    nodes = [onnx.node("LayerNormalization", ["x", "scale"], ["n"], "norm", attributes=attribute("axis", -1))]
    for each in "qkv":
        nodes += [onnx.node("MatMul", ["n", f"w{each}"], [f"{each}1"], f"project {each}"),
                  onnx.node("Reshape", [f"{each}1", "split"], [f"{each}2"], f"split {each}"),
                  onnx.node("Transpose", [f"{each}2"], [each], f"turn {each}", attributes=attribute("perm", [0, 2, 3, 1] if each == "k" else [0, 2, 1, 3]))]
    nodes += [onnx.node("MatMul", ["q", "k"], ["s"], "scores"), onnx.node("Softmax", ["s"], ["p"], "softmax", attributes=attribute("axis", -1)),
              onnx.node("MatMul", ["p", "v"], ["o"], "mix"), onnx.node("Transpose", ["o"], ["o1"], "back", attributes=attribute("perm", [0, 2, 1, 3])),
              onnx.node("Reshape", ["o1", "join"], ["o2"], "join"), onnx.node("MatMul", ["o2", "wo"], ["o3"], "project"), onnx.node("Add", ["o3", "x"], ["y"], "sum")]
    constants = [weights(f"w{each}", 16, 16, seed=seed) for seed, each in enumerate("qkvo")]
    constants += [weights("scale", 16), integers("split", 0, 0, 4, 4), integers("join", 0, 0, 16)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ("N", "S", 16))], [onnx.value_info("y", ("N", "S", 16))], constants))


def lstm():
    """Over T steps, from a hidden state that is an input to one that is an output."""
    nodes = [onnx.node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["y", "next_h", "next_c"], "lstm", attributes=attribute("hidden_size", 16))]
    state = (1, 1, 16)
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", ("T", 1, 8)), onnx.value_info("h", state), onnx.value_info("c", state)],
                                 [onnx.value_info("y", ("T", 1, 1, 16)), onnx.value_info("next_h", state), onnx.value_info("next_c", state)],
                                 [weights("w", 1, 64, 8), weights("r", 1, 64, 16)]))


BRANCH = """
func.func @main(%p: tensor<i1> {sinter.name = "p"}, %x: tensor<?x8xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> (tensor<?x8xf32> {sinter.name = "y"}) {
  %y = "stablehlo.if"(%p) ({
    %e = stablehlo.exponential %x : tensor<?x8xf32>
    stablehlo.return %e : tensor<?x8xf32>
  }, {
    stablehlo.return %x : tensor<?x8xf32>
  }) : (tensor<i1>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
"""

LOOP = """
func.func @main(%n: tensor<i32> {sinter.name = "n"}, %x: tensor<?x8xf32> {sinter.name = "x", sinter.dims = ["N", ""]})
    -> (tensor<?x8xf32> {sinter.name = "y"}, tensor<i32> {sinter.name = "count"}) {
  %w = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %v = stablehlo.sine %w : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i, %y = stablehlo.while(%a = %zero, %b = %x) : tensor<i32>, tensor<?x8xf32>
    cond {
      %less = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %a, %one : tensor<i32>
      %m = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
      %t = stablehlo.tanh %m : tensor<?x8xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<?x8xf32>
    }
  return %y, %i : tensor<?x8xf32>, tensor<i32>
}
"""


class CompileSizes(harness.BundleTest):
    def library(self, model, *arguments, name="net"):
        path = self.path(f"lib{name}.so")
        done = self.sinter("compile", model, "-o", path, "--name", name, "--json", "--force", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return sized.SizedBundle(path, json.loads(done.stdout))

    def make_stateful(self, path):
        plain = self.path("plain.mlir")
        for arguments in ("convert", self.write("lstm.onnx", lstm()), "-o", plain), ("optimize", plain, "--state", "next_h=h", "--state", "next_c=c", "-o", path):
            done = self.sinter(*arguments)
            self.assertEqual(done.returncode, DONE, done.stderr)

    def inputs(self, bundle, sizes, **fixed):
        """Random ones."""
        generator = numpy.random.default_rng(7)
        arrays = []
        for i, tensor in enumerate(bundle.description["inputs"]):
            shape, values = bundle.shape("input", i, **sizes), fixed.get(tensor["field"])
            if values is None:
                values = generator.standard_normal(shape) if tensor["type"][0] == "f" else generator.integers(0, 2, shape)
            arrays.append(numpy.ascontiguousarray(values, dtype=sized.NUMPY[tensor["type"]]).reshape(shape))
        return arrays

    def expect_same_as_command(self, model, bundle, sizes, runs=1, fixed={}, how="--dynamic", unused=0):
        """The bits of one program for all sizes; the workspace is not too small, and of its end no more than that part is not
        touched: kernels have scratch, which comes last, of the size that the one has that needs most."""
        inputs = self.inputs(bundle, sizes, **fixed)
        made = bundle.run(inputs, runs=runs, **sizes)
        self.assertIsInstance(made, tuple, f"{model} {sizes}: status {made}")
        cache = ("--cache-dir", self.path("cache"))
        expected, states = self.run_in_command(model, bundle.description, inputs, how, *cache, runs=runs)
        for tensor, want, got in zip(bundle.description["outputs"], expected, made[0]):
            self.assertEqual((got.shape, got.tobytes()), (want.shape, want.tobytes()), f"{model} {sizes}: {tensor['name']}")
        for tensor, want in zip(bundle.description["state"]["tensors"], states):
            self.assertEqual(made[1][tensor["offset"]:][:tensor["bytes"]], want.tobytes(), tensor["name"])
        size = bundle.workspace_size(**sizes)
        self.assertEqual(size % 64, 0)
        shift = max(64, int(size * unused) // 64 * 64)
        if size > shift:
            self.assertTrue(bundle.faults(inputs, shift=shift, **sizes), f"{model} {sizes}: not all of the workspace is used")
        return inputs

    def models(self):
        quantised = self.path("quantised.onnx")
        done = self.sinter("quantize", str(GLYPHS / "glyphs.onnx"), "--calibration", str(GLYPHS / "images"), "-o", quantised)
        self.assertEqual(done.returncode, DONE, done.stderr)
        stateful = self.path("stateful.mlir")
        self.make_stateful(stateful)
        batches = [{"N": n} for n in (1, 2, 3, 7, 16, 33)]
        images = [{"H": h, "W": w} for h, w in ((7, 5), (3, 3), (33, 17), (64, 48), (31, 100), (8, 8))]
        sentences = [{"N": n, "S": s} for n, s in ((1, 1), (2, 7), (3, 33), (1, 65), (5, 16))]
        return {"glyphs": (str(GLYPHS / "glyphs.onnx"), batches, [{}]),
                "quantised": (quantised, batches, [{}]),
                "convolutions": (self.write("convolutions.onnx", convolutions()), images, [{}]),
                "attention": (self.write("attention.onnx", attention()), sentences, [{}]),
                "lstm": (stateful, [{"T": t} for t in (1, 2, 5, 19)], [{}]),
                "branch": (self.write("branch.mlir", BRANCH), batches, [{"p": False}, {"p": True}]),
                "loop": (self.write("loop.mlir", LOOP), batches, [{"n": n} for n in (0, 1, 4)])}

    def test_same_bits(self):
        for name, (model, sweep, cases) in self.models().items():
            with self.subTest(name):
                bundle = self.library(model, name=name)
                for sizes in sweep:
                    for case in cases:
                        # The last case takes all of the model's ways.
                        unused = {"glyphs": 0.05, "quantised": 0.6}.get(name, 0) if case is cases[-1] else 1
                        self.expect_same_as_command(model, bundle, sizes, runs=2, fixed=case, unused=unused)

    def test_sizes_that_are_refused(self):
        """By all functions, before anything is read or written."""
        bundle = self.library(self.write("convolutions.onnx", convolutions()))
        good, pointer = bundle.sizes(H=8, W=8), sized.ctypes.c_void_p
        for sizes in ({"H": 8, "W": -1}, {"H": -(1 << 63), "W": 8}, {"H": (1 << 63) - 1, "W": (1 << 63) - 1}, {"H": 1 << 32, "W": 1 << 32}, {"H": 1 << 62, "W": 1}):
            with self.subTest(sizes):
                self.assertEqual(bundle.workspace_size(**sizes), sized.NO_SIZE)
                for kind in "input", "output":
                    self.assertEqual(bundle.shape(kind, 0, **sizes), sized.BAD_SIZES)
                    self.assertEqual(bundle.size(kind, 0, **sizes), sized.NO_SIZE)
                self.assertEqual(bundle.functions["run"](bundle.sizes(**sizes), None, None, None, None), sized.BAD_SIZES)
        for kind, index in ("input", 1), ("input", -1), ("output", 2), ("output", 1 << 30):
            self.assertEqual(bundle.functions[kind + "_size"](good, index), sized.NO_SIZE)
            self.assertEqual(bundle.functions[kind + "_shape"](good, index, (sized.ctypes.c_int64 * 4)()), sized.BAD_SIZES)
        self.assertEqual(bundle.functions["workspace_size"](None), sized.NO_SIZE)
        self.assertEqual(bundle.functions["input_shape"](None, 0, (sized.ctypes.c_int64 * 4)()), sized.NULL_POINTER)
        self.assertEqual(bundle.functions["input_shape"](good, 0, None), sized.NULL_POINTER)
        for arguments in (None, None), (good, None):
            self.assertEqual(bundle.functions["run"](arguments[0], arguments[1], None, None, None), sized.NULL_POINTER)
        self.assertEqual(bundle.shape("output", 1, H=33, W=17), [1, 8, 8, 4])
        # A pointer that is null, or not aligned.
        x, tables = sized.Guarded(3 * 8 * 8 * 4), lambda *addresses: (pointer * len(addresses))(*addresses)
        outputs = [sized.Guarded(bundle.size("output", i, H=8, W=8)) for i in range(2)]
        workspace = sized.Guarded(bundle.workspace_size(H=8, W=8))
        written = tables(*(output.address for output in outputs))
        run = lambda *arguments: bundle.functions["run"](good, *arguments[:2], None, pointer(arguments[2]))
        self.assertEqual(run(tables(x.address), written, workspace.address), sized.DONE)
        self.assertEqual(run(tables(None), written, workspace.address), sized.NULL_POINTER)
        self.assertEqual(run(tables(x.address), written, None), sized.NULL_POINTER)
        self.assertEqual(run(tables(x.address), written, workspace.address - 32), sized.MISALIGNED)
        self.assertEqual(run(tables(x.address), tables(outputs[0].address, outputs[1].address + 1), workspace.address), sized.MISALIGNED)

    def test_sizes_of_the_command(self):
        """What the code refuses, `sinter run` refuses, and the other way round."""
        model = self.write("convolutions.onnx", convolutions())
        bundle = self.library(model)
        for h, w in (1, 9), (2, 3), (3, 2), (3, 3), (0, 5), (4, 1), (5, 7):
            self.write("x.npy", onnx.npy((1, 3, h, w)))
            done = self.sinter("run", model, "--input", f"x={self.path('x.npy')}", "--dynamic", "--output-dir", self.path("out"))
            self.assertEqual(done.returncode == DONE, bundle.workspace_size(H=h, W=w) != sized.NO_SIZE, f"{h}, {w}: {done.stderr}")

    def test_no_elements(self):
        """A size may be 0."""
        for text, cases in (BRANCH, [{"p": True}, {"p": False}]), (LOOP, [{"n": 2}]):
            model = self.write("net.mlir", text)
            bundle = self.library(model, name=f"net{len(cases)}")
            for case in cases:
                made = bundle.run(self.inputs(bundle, {"N": 0}, **case), N=0)
                self.assertEqual(made[0][0].shape, (0, 8))

    def test_bounds(self):
        model = self.write("attention.onnx", attention())
        bundle = self.library(model, "--max", "N=4,S=33")
        most = bundle.description["workspace"]["bytes"]
        self.assertEqual([size["max"] for size in bundle.description["sizes"]], [4, 33])
        self.assertEqual(most, bundle.workspace_size(N=4, S=33))
        for n in range(6):
            for s in (0, 1, 5, 32, 33, 34):
                size = bundle.workspace_size(N=n, S=s)
                self.assertEqual(size == sized.NO_SIZE, n > 4 or s > 33, (n, s))
                self.assertTrue(size == sized.NO_SIZE or size <= most)
        self.expect_same_as_command(model, bundle, {"N": 4, "S": 33})
        self.expect_same_as_command(model, bundle, {"N": 3, "S": 7})
        # Static memory is enough.
        description = self.described(model, "net", "--max", "N=4,S=33")
        source = self.write("net/static.c", """
#include "net.h"
static NET_ALIGNED float x[NET_INPUT_X_ELEMENTS_MAX], y[NET_OUTPUT_Y_SIZE_MAX / sizeof(float)];
static NET_ALIGNED unsigned char workspace[NET_WORKSPACE_SIZE];
int main(void) {
  const net_inputs inputs = {x};
  const net_outputs outputs = {y};
  const net_sizes good = {NET_MAX_N, NET_MAX_S}, bad = {NET_MAX_N, NET_MAX_S + 1};
  int64_t shape[NET_OUTPUT_Y_RANK];
  x[0] = 1;
  if (net_run(&good, &inputs, &outputs, NULL, workspace) != NET_DONE || y[0] == 0)
    return 1;
  if (net_run(&bad, &inputs, &outputs, NULL, workspace) != NET_BAD_SIZES)
    return 2;
  if (net_output_shape(&good, NET_OUTPUT_Y_INDEX, shape) != NET_DONE || shape[1] != NET_MAX_S)
    return 3;
  return net_workspace_size(&good) != NET_WORKSPACE_SIZE || net_output_size(&good, NET_OUTPUT_Y_INDEX) != NET_OUTPUT_Y_SIZE_MAX;
}
""")
        self.assertEqual(description["outputs"][0]["shape"], ["N", "S", 16])
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", source, self.path("net/net.o"), "-o", self.path("net/static"), "-lm"], check=True)
        self.assertEqual(subprocess.run([self.path("net/static")]).returncode, 0)

    def test_some_sizes_are_given(self):
        model = self.write("attention.onnx", attention())
        bundle = self.library(model, "--shape", "N=2")
        self.assertEqual([size["name"] for size in bundle.description["sizes"]], ["S"])
        self.assertEqual(bundle.description["inputs"][0]["shape"], [2, "S", 16])
        self.assertEqual(bundle.run(self.inputs(bundle, {"S": 5}), S=5)[0][0].shape, (2, 5, 16))

    def test_usage(self):
        model = self.write("attention.onnx", attention())
        for arguments, mentions in ((("--max", "M=3"), ["--max", "'M'"]), (("--max", "N"), ["--max"]), (("--max", "N=9223372036854775807,S=9223372036854775807"), ["--max"]),
                                    (("--max", "N=3", "--shape", "N=4"), ["--max", "'N'"]), (("--entry", "1x:N=2"), ["--entry 1x"]), (("--entry", "state:N=2"), ["--entry state"]),
                                    (("--entry", "a:N=2", "--entry", "A:N=3"), ["--entry A"]), (("--entry", "a:N=2", "--entry", "a_b:N=3"), ["--entry a_b"]),
                                    (("--entry", "a:M=2"), ["'M'"]), (("--entry", "a:N=2", "--shape", "N=3"), ["N"])):
            self.expect_error(USAGE, "compile", model, "-o", self.path("net"), *arguments, mentions=mentions)
        # What needs the library still does; sizes help in neither case.
        model = self.write("nonzero.onnx", onnx.model(onnx.graph([onnx.node("NonZero", ["x"], ["y"], "find")], [onnx.value_info("x", ("N", 3))],
                                                                  [onnx.value_info("y", (2, "K"), onnx.INT64)])))
        self.expect_error(UNSUPPORTED, "compile", model, "-o", self.path("net"), mentions=["sinter.non_zero (1)"])
        self.assertFalse(os.path.exists(self.path("net")))

    def test_header_and_example(self):
        """Compilers take the header without a warning, with sizes whose names are no identifiers; the example runs."""
        model = self.write("net.mlir", """
func.func @main(%x: tensor<?x?x?xf32> {sinter.name = "x", sinter.dims = ["*/", "for", "x-1"]}) -> (tensor<?x?x?xf32> {sinter.name = "y"}) {
  %y = stablehlo.tanh %x : tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
""")
        description = self.described(model, "net", "--cpu", "x86-64-v3")
        self.assertEqual([size["name"] for size in description["sizes"]], ["*/", "for", "x-1"])
        self.described(model, "max", "--max", "for=3,x-1=4,*/=5", name="bounded")
        self.write("all.c", '#include "net/net.h"\n#include "max/bounded.h"\nint bounds[BOUNDED_MAX_X_1];\n')
        self.write("all.cpp", '#include "net/net.h"\n#include "max/bounded.h"\nint bounds[BOUNDED_MAX_X_1];\n')
        for compiler, file, standards in ("gcc", "all.c", ("c99", "c11")), ("g++", "all.cpp", ("c++11", "c++20")):
            for standard in standards:
                done = subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", self.path(file)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
        build = self.path("build")
        subprocess.run(["cmake", "-S", self.path("net"), "-B", build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic -std=c99"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", os.path.join(build, "net_example")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.split(":")[1].split()), 5)

    def test_valgrind(self):
        """No access outside of memory, and no value that nobody has written decides anything."""
        for name, content in ("convolutions", convolutions()), ("attention", attention()):
            model = self.write(name + ".onnx", content)
            self.described(model, name, "--cpu", "x86-64-v3", name=name)
            folder = self.path(name)
            subprocess.run(["cc", os.path.join(folder, "main.c"), os.path.join(folder, name + ".o"), "-I", folder, "-o", os.path.join(folder, "example"), "-lm"], check=True)
            done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", os.path.join(folder, "example")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_threads(self):
        """The threads of the caller, with sizes as arguments, and of one of several entry points."""
        for name, model in ("attention", self.write("attention.onnx", attention())), ("glyphs", str(GLYPHS / "glyphs.onnx")):
            description = self.compile(model, name, "--parallel", name=name)
            for threads in 1, 3:
                self.expect_same(model, name, description, self.random_inputs(description), runs=2, threads=threads)
        self.described(model, "entries", "--parallel", "--entry", "one:N=1", "--entry", "any:", "--cpu", "x86-64-v3")
        folder = self.path("entries")
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror", "-pedantic", os.path.join(folder, "main.c"), os.path.join(folder, "net.o"), "-o",
                        os.path.join(folder, "example"), "-lm"], check=True)
        self.assertEqual(subprocess.run([os.path.join(folder, "example")], stdout=subprocess.DEVNULL).returncode, 0)

    def test_entry_points(self):
        """Several share the weights; each computes what it would alone."""
        model = str(GLYPHS / "glyphs.onnx")
        alone = self.library(model, "--shape", "N=1", name="alone").description
        library = self.library(model, "--entry", "one:N=1", "--entry", "eight:N=8", "--entry", "any")
        description = library.description
        self.assertEqual([entry["name"] for entry in description["entries"]], ["net_one", "net_eight", "net_any"])
        self.assertEqual(description["entries"][1]["inputs"][0]["shape"][0], 8)
        self.assertLess(description["weights"]["bytes"], 3 * alone["weights"]["bytes"])
        for entry, sizes, how in zip(description["entries"], ({}, {}, {"N": 5}), ("--static", "--static", "--dynamic")):
            own = sized.SizedBundle(library.path, {**description, **entry, "functions": {**description["functions"], **entry["functions"]}})
            self.expect_same_as_command(model, own, sizes, how=how, unused=0.05)

    def test_entry_points_with_states(self):
        """One state for all: two steps by one entry point, then one by the other, are three steps."""
        model = self.path("stateful.mlir")
        self.make_stateful(model)
        library = self.library(model, "--entry", "step:T=1", "--entry", "two:T=2", "--entry", "any:")
        alone = self.library(model, name="alone")
        x = numpy.random.default_rng(2).standard_normal((3, 1, 8)).astype("f4")
        expected = alone.run([x], T=3)
        state = sized.Guarded(library.description["state"]["bytes"])
        state.fill(alone.initial_state())
        own = [sized.SizedBundle(library.path, {**library.description, **entry, "functions": {**library.description["functions"], **entry["functions"]}})
               for entry in library.description["entries"]]
        first = own[1].run([x[:2]], state=state)[0][0]
        second = own[0].run([x[2:]], state=state)[0][0]
        numpy.testing.assert_allclose(numpy.concatenate([first, second]), expected[0][0], rtol=1e-5, atol=1e-6)

    def test_example_of_entry_points(self):
        """Of several, and of one that has a name."""
        for name, weights, entries in ("code", "code", ("b2:N=2", "any:")), ("file", "file", ("b2:N=2", "any:")), ("one", "code", ("stateful:N=2",)), ("sized", "file", ("any:",)):
            given = [argument for entry in entries for argument in ("--entry", entry)]
            description = self.described(str(GLYPHS / "glyphs.onnx"), name, *given, "--weights", weights, "--cpu", "x86-64-v3")
            self.assertEqual([entry["name"] for entry in description["entries"]], ["net_" + entry.split(":")[0] for entry in entries])
            folder, build = self.path(name), self.path(name + "-build")
            subprocess.run(["cmake", "-S", folder, "-B", build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic -std=c99"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
            done = subprocess.run([os.path.join(build, "net_example")], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            for compiler, standards in ("gcc", ("c99", "c11")), ("g++", ("c++11", "c++20")):
                for standard in standards:
                    subprocess.run([compiler, "-x", "c++" if compiler == "g++" else "c", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                                    os.path.join(folder, "net.h")], check=True)


if __name__ == "__main__":
    main()
