#!/usr/bin/env python3
# Covers: engine/compiler CheckModel DescribeModel FindFormat Functions
"""Broken models."""
import io
import json
import os
import random
import struct
import tempfile
import time
import zipfile

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, SYSTEM, UNSUPPORTED, WRONG, main


class BadModels(CommandTest):
    """Each is refused by everything that reads models, with the file's name, and nothing is written."""

    def kept_when_written(self, model, *mentions):
        """What cannot be run is refused by who runs it; who writes the file again keeps it, and says so."""
        path = self.write("kept.onnx", model)
        self.expect_error(UNSUPPORTED, "inspect", path, mentions=["kept.onnx", *mentions])
        self.expect_error(UNSUPPORTED, "run", path, "--input", "random", mentions=["kept.onnx", *mentions])
        done = self.sinter("optimize", path, "-o", self.path("out.onnx"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kept.onnx: kept as they are: ", done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def refused(self, code, model, *mentions, name="bad.onnx"):
        path = self.write(name, model) if isinstance(model, bytes) else model
        self.expect_error(code, "inspect", path, mentions=[os.path.basename(path), *mentions])
        self.expect_error(code, "run", path, "--input", "random", mentions=[os.path.basename(path), *mentions])
        before = sorted(os.listdir(self.folder))
        out = self.path("out" + os.path.splitext(path)[1])
        self.expect_error(code, "optimize", path, "-o", out, mentions=[os.path.basename(path)])
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_every_command_agrees(self):
        """What is no model is none for whoever reads it: one exit code, and a message that names the file."""
        function = "func.func @main(%x: {0}) -> {0} {{ return %x : {0} }}"
        huge = 1 << 62
        unsized = onnx.tensor("s", [2], struct.pack("<2q", 1 << 40, -1), onnx.INT64)
        reshape = onnx.graph([onnx.node("Reshape", ["x", "s"], ["y"])], [onnx.value_info("x", (2, 3))], [onnx.value_info("y", (1 << 40, "K"))], [unsized])
        broken = {
            "empty.onnx": b"",
            "empty.mlir": b"",
            "no_function.mlir": b"module {}",
            "declared_only.mlir": b"func.func private @main(tensor<2xf32>) -> tensor<2xf32>",
            "zeros.mlir": bytes(3),
            "zeros.onnx": bytes(3),
            "zeros.mlir.bc": bytes(30),
            "half.mlir": b"func.func @main(",
            "huge.mlir": function.format(f"tensor<{huge}x{huge}xf32>").encode(),
            "huge_bytes.mlir": function.format(f"tensor<{huge}xf32>").encode(),
            "huge_inside.mlir": f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
              %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<{huge}x{huge}xf32>
              return %x : tensor<f32> }}""".encode(),
            "state.mlir": b'func.func @main(%x: tensor<f32> {sinter.state = "s"}) -> tensor<f32> { return %x : tensor<f32> }',
            "text.onnx": b"this is no model",
            "zip.onnx": b"PK\x03\x04" + bytes(100),
            "truncated.onnx": onnx.simple([onnx.node("Relu", ["x"], ["y"])])[:-5],
            "undefined.onnx": onnx.simple([onnx.node("Add", ["x", "w"], ["y"])]),
            "huge.onnx": onnx.simple([onnx.node("Relu", ["x"], ["y"])], shape=(1 << 40, 1 << 40)),
            "reshape.onnx": onnx.model(reshape),
        }
        for name, content in broken.items():
            path = self.write(name, content)
            out = self.path("out" + name[name.index(".") :])
            commands = [("inspect", path), ("optimize", path, "-o", out), ("convert", path, "-o", out), ("run", path, "--input", "random"),
                        ("bench", path, "--backend", "interpreter")]
            for command in commands:
                self.expect_error(INVALID, *command, mentions=[name])
            self.assertFalse(os.path.exists(out), name)
            if name.endswith(".mlir") and content:
                done = self.sinter("test", path)
                self.assertEqual(done.returncode, WRONG, done.stdout)
                self.assertIn(f"FAILED {path}", done.stdout)

    def test_files_of_other_tools(self):
        """They are named, with what to do, by every command, whatever they are called."""
        def archive(*names):
            with zipfile.ZipFile(made := io.BytesIO(), "w") as file:
                for name in names:
                    file.writestr(name, b"")
            return made.getvalue()

        header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        openvino = b'<?xml version="1.0"?>\n<net name="net" version="11">\n\t<layers>\n'
        files = {
            "net.pt": (archive("archive/data.pkl", "archive/version"), "PyTorch checkpoint", "torch.onnx.export"),
            "renamed.onnx": (archive("archive/data.pkl", "archive/version"), "PyTorch checkpoint", "torch.onnx.export"),
            "old.pth": (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "PyTorch checkpoint", "torch.onnx.export"),
            "net.keras": (archive("metadata.json", "config.json", "model.weights.h5"), "Keras model", "format='onnx'"),
            "net.h5": (b"\x89HDF\r\n\x1a\n" + bytes(64) + b"keras_version", "Keras model (HDF5)", "tf2onnx"),
            "net.xml": (openvino, "OpenVINO", "as ONNX"),
            "net.mlir": (openvino, "OpenVINO", "as ONNX"),
            "net.tflite": (bytes(4) + b"TFL3", "TensorFlow Lite", "tf2onnx"),
            "net.safetensors": (struct.pack("<Q", len(header)) + header + bytes(4), "safetensors", "torch.onnx.export"),
            "net.gguf": (b"GGUF\3\0\0\0", "GGUF", "as ONNX"),
            "net.engine": (b"\x01\x02\x03\x04", "TensorRT", "ONNX file"),
            "net.pb": (b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder", "graph of TensorFlow", "tf2onnx"),
        }
        for name, (content, *mentions) in files.items():
            path = self.write(name, content)
            self.expect_error(INVALID, "inspect", path, mentions=[name, "no model that Sinter reads", *mentions])
        os.mkdir(self.path("saved"))
        self.write("saved/saved_model.pb", b"\x08\x01\x12\x00")
        model, saved, good = self.path("net.pt"), self.path("saved"), self.good_model()
        for command in [("run", "MODEL", "--input", "random"), ("bench", "MODEL"), ("optimize", "MODEL", "-o", self.path("out.onnx")),
                        ("convert", "MODEL", "-o", self.path("out.mlir")), ("quantize", "MODEL", "--calibration", "random", "-o", self.path("out.onnx")),
                        ("compare", "MODEL", good), ("compare", good, "MODEL"), ("inspect", "MODEL"),
                        ("train", "MODEL", "--data", "data.npz", "-o", self.path("out.onnx"))]:
            self.expect_error(INVALID, *[model if word == "MODEL" else word for word in command], mentions=["net.pt", "PyTorch checkpoint"])
            self.expect_error(INVALID, *[saved if word == "MODEL" else word for word in command], mentions=["saved", "SavedModel"])

    def test_calls_without_end(self):
        text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n %0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\n return %0 : tensor<2xf32>\n}"
        line = self.expect_error(UNSUPPORTED, "run", self.write("calls.mlir", text), "--input", "random", mentions=["calls.mlir", "deep"])
        self.assertLess(len(line), 1500)

    def test_inputs_too_large(self):
        """More than the machine's memory is said before anything is allocated."""
        path = self.write("large.onnx", onnx.simple([onnx.node("Relu", ["x"], ["y"])], shape=(1 << 24, 1 << 24)))
        for command in "run", "bench":
            for backend in "cpu", "interpreter":
                self.expect_error(SYSTEM, command, path, "--input", "random", "--backend", backend, mentions=["large.onnx", "'x'", "this machine has"])

    def test_no_model_at_all(self):
        self.refused(INVALID, b"", "empty")
        self.refused(INVALID, b"PK\x03\x04" + bytes(100), "zip")
        self.refused(INVALID, b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG")
        generator = random.Random(1)
        for size in [1, 10, 1000, 100000]:
            self.refused(INVALID, generator.randbytes(size))

    def test_truncated(self):
        whole = onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[onnx.tensor("w", [2, 3], onnx.floats(*range(6)))])
        for size in [1, 5, len(whole) // 2, len(whole) - 1]:
            self.refused(INVALID, whole[:size])

    def test_cycle(self):
        nodes = [onnx.node("Add", ["x", "b"], ["a"], "first"), onnx.node("Relu", ["a"], ["b"], "second"), onnx.node("Relu", ["b"], ["y"])]
        self.refused(INVALID, onnx.simple(nodes), "first")

    def test_undefined_name(self):
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "weight"], ["y"], "sum")]), "'weight'", "sum", "Add")

    def test_undefined_output(self):
        self.refused(INVALID, onnx.simple([onnx.node("Relu", ["x"], ["z"])]), "'y'")

    def test_duplicate_names(self):
        nodes = [onnx.node("Relu", ["x"], ["y"], "one"), onnx.node("Abs", ["x"], ["y"], "two")]
        self.refused(INVALID, onnx.simple(nodes), "'y'")
        twice = [onnx.tensor("w", [1], onnx.floats(1))] * 2
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=twice), "'w'")

    def test_short_data(self):
        weight = onnx.tensor("w", [2, 3], onnx.floats(1, 2))
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]), "'w'")

    def test_shapes_that_overflow(self):
        weight = onnx.tensor("w", [1 << 40, 1 << 40], onnx.floats(1))
        self.refused(INVALID, onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight]), "'w'")
        self.refused(INVALID, onnx.simple([onnx.node("Relu", ["x"], ["y"])], shape=(1 << 40, 1 << 40)), "'x'")

    def external(self, location, *more):
        weight = onnx.tensor("w", [2, 3], external=[("location", location), *more])
        return onnx.simple([onnx.node("Add", ["x", "w"], ["y"])], initializers=[weight])

    def test_external_data_outside(self):
        outside = tempfile.NamedTemporaryFile()
        self.addCleanup(outside.close)
        outside.write(bytes(24))
        outside.flush()
        self.refused(INVALID, self.external(outside.name), "'w'")
        self.refused(INVALID, self.external("../" + os.path.basename(outside.name)), "'w'")
        os.symlink(outside.name, self.path("symbolic"))
        self.refused(INVALID, self.external("symbolic"), "'w'")
        os.mkdir(self.path("inner"))
        os.symlink(os.path.dirname(outside.name), self.path("inner/folder"))
        self.refused(INVALID, self.external("inner/folder/" + os.path.basename(outside.name)), "'w'")
        self.write("one", bytes(24))
        os.link(self.path("one"), self.path("other"))
        self.refused(INVALID, self.external("other"), "'w'")

    def test_external_data_that_is_not_there(self):
        self.expect_error(INVALID, "inspect", self.write("a.onnx", self.external("none")), mentions=["none"])
        self.write("weights", bytes(24))
        self.refused(INVALID, self.external("weights", ("offset", "1000")), "'w'")
        self.refused(INVALID, self.external("weights", ("offset", "-4")), "'w'")
        self.refused(INVALID, self.external("weights", ("length", "1000000")), "'w'")

    def test_external_data(self):
        self.write("weights", onnx.floats(*range(6)))
        path = self.write("good.onnx", self.external("weights"))
        done = self.sinter("run", path, "--input", "random", "--backend", "interpreter")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_nested_functions(self):
        count = 10000
        functions = [onnx.function(f"f{i}", [onnx.node(f"f{i + 1}", ["a"], ["b"], domain="local")], ["a"], ["b"]) for i in range(count)]
        functions.append(onnx.function(f"f{count}", [onnx.node("Relu", ["a"], ["b"])], ["a"], ["b"]))
        nested = onnx.simple([onnx.node("f0", ["x"], ["y"], "call", domain="local")], functions=functions, domains=["local"])
        path = self.write("bad.onnx", nested)
        done = self.sinter("inspect", path)
        self.assertIn(done.returncode, [INVALID, UNSUPPORTED], done.stderr)
        self.refused(done.returncode, nested)

    def test_function_that_calls_itself(self):
        loop = [onnx.function("f", [onnx.node("f", ["a"], ["b"], domain="local")], ["a"], ["b"])]
        self.refused(INVALID, onnx.simple([onnx.node("f", ["x"], ["y"], domain="local")], functions=loop, domains=["local"]))

    def test_nested_graphs(self):
        inner = onnx.graph([onnx.node("Relu", ["x"], ["y"])], [], [onnx.value_info("y", (2, 3))])
        for depth in range(2000):
            attribute = onnx.data(5, onnx.data(1, "body") + onnx.data(6, inner) + onnx.number(20, 5))
            inner = onnx.graph([onnx.node("If", ["x"], ["y"], attributes=attribute)], [], [onnx.value_info("y", (2, 3))])
        path = self.write("bad.onnx", onnx.model(inner))
        self.assertIn(self.sinter("inspect", path).returncode, [INVALID, UNSUPPORTED])

    def test_wrong_declaration(self):
        """What the file says of an output is what the graph gives."""
        relu = [onnx.node("Relu", ["x"], ["y"], "relu")]

        def declared(shape, element=onnx.FLOAT):
            return self.write("bad.onnx", onnx.model(onnx.graph(relu, [onnx.value_info("x", ("N", 3))], [onnx.value_info("y", shape, element)])))

        self.expect_error(INVALID, "inspect", declared(("N", 3), onnx.INT64), mentions=["bad.onnx: output 'y'", "i64", "f32"])
        self.expect_error(INVALID, "inspect", declared((2, 4)), mentions=["bad.onnx: output 'y'", "[2, 4]", "[?, 3]"])
        self.expect_error(INVALID, "inspect", declared((2, 3, 1)), mentions=["[2, 3, 1]"])
        # A size that holds for some inputs only is nothing to refuse.
        for shape in (2, 3), ("M", 3), ("N", "K"):
            done = self.sinter("run", declared(shape), "--shape", "x:4x3", "--input", "random")
            self.assertEqual(done.returncode, DONE, done.stderr)

    def loops(self, levels, times):
        """LEVELS loops in each other, of TIMES iterations each, round one addition."""

        def body(level):
            inputs = [onnx.value_info(f"i{level}", (), onnx.INT64), onnx.value_info(f"c{level}", (), 9), onnx.value_info(f"v{level}", ())]
            outputs = [onnx.value_info(f"d{level}", (), 9), onnx.value_info(f"o{level}", ())]
            if level == levels:
                inner = onnx.node("Add", [f"v{level}", "one"], [f"o{level}"], "add")
            else:
                inner = loop(level + 1, f"v{level}", f"o{level}")
            return onnx.graph([inner, onnx.node("Identity", [f"c{level}"], [f"d{level}"], "go on")], inputs, outputs)

        def loop(level, value, result):
            graph = onnx.data(5, onnx.data(1, "body") + onnx.data(6, body(level)) + onnx.number(20, 5))
            return onnx.node("Loop", ["n", "", value], [result], f"loop{level}", attributes=graph)

        constants = [onnx.tensor("n", [], struct.pack("<q", times), onnx.INT64), onnx.tensor("one", [], onnx.floats(1))]
        graph = onnx.graph([loop(1, "x", "y")], [onnx.value_info("x", ())], [onnx.value_info("y", ())], constants)
        return self.write("loops.onnx", onnx.model(graph))

    def test_nested_loops(self):
        """What would run for days is refused at once; what is long runs as a loop."""
        began = time.monotonic()
        self.expect_error(UNSUPPORTED, "run", self.loops(13, 10), "--input", "random", mentions=["loops.onnx", "loop1", "nodes"])
        self.assertLess(time.monotonic() - began, 10)
        start = self.write("start.npy", onnx.npy((), content=onnx.floats(1)))
        for levels, times in (2, 10), (6, 10):
            done = self.sinter("run", self.loops(levels, times), "--input", start, "--json")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["outputs"][0]["max"], 1 + times**levels)

    def test_results_too_large(self):
        """More than the machine's memory is refused with the tensor's name and size."""
        size = 1 << 24
        shape = onnx.tensor("s", [2], struct.pack("<2q", size, size), onnx.INT64)
        expand = onnx.node("Expand", ["x", "s"], ["h"], "huge")
        one, x = onnx.value_info("y", (size, 1)), onnx.value_info("x", (1, 1))
        result = onnx.model(onnx.graph([expand, onnx.node("Relu", ["h"], ["y"], "relu")], [x], [onnx.value_info("y", (size, size))], [shape]))
        inside = [expand, onnx.node("Softmax", ["h"], ["p"], "soft"), onnx.node("MatMul", ["p", "h"], ["q"], "product")]
        inside = onnx.model(onnx.graph([*inside, onnx.node("ReduceSum", ["q", "axes"], ["y"], "sum")], [x], [one], [shape, onnx.tensor("axes", [1], struct.pack("<q", 1), onnx.INT64)]))
        for model, words in (result, ["'y'", "16777216", "this machine has"]), (inside, ["'huge'", "this machine has"]):
            path = self.write("large.onnx", model)
            self.expect_error(SYSTEM, "run", path, "--input", "random", mentions=["large.onnx", "GB", *words])
            self.expect_error(SYSTEM, "run", path, "--input", "random", "--backend", "interpreter", mentions=["large.onnx", "huge", "16777216"])

    def test_unknown_operators(self):
        nodes = [onnx.node("Frobnicate", ["x"], ["a"], "one"), onnx.node("Frobnicate", ["a"], ["b"]), onnx.node("Gronk", ["b"], ["y"])]
        self.kept_when_written(onnx.simple(nodes), "2 x Frobnicate", "1 x Gronk")

    def test_unknown_opset(self):
        self.refused(UNSUPPORTED, onnx.simple([onnx.node("Relu", ["x"], ["y"])], version=9999))
        self.kept_when_written(onnx.simple([onnx.node("F", ["x"], ["y"], domain="com.example")], domains=["com.example"]), "com.example")

    def test_text(self):
        self.refused(INVALID, b"func.func @main(", name="bad.mlir")
        self.refused(INVALID, b"(" * 1000000, name="bad.mlir")
        wrong = b"func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32>\n}"
        self.refused(INVALID, wrong, ":2:", name="bad.mlir")

    def test_records_that_no_reader_made(self):
        """What our readers note in a graph may stand in a text, and be anything there; it is passed over."""
        largest, least = 2**63 - 1, -2**63
        for attribute, operation in [
                ('sinter.source.whole = [1, "a", [2]]', "sinter.source = 0 : i64"),
                (f"sinter.source.whole = [array<i64: {largest}, {least}>]", f"sinter.source = {largest} : i64"),
                (f"sinter.source.lasting = array<i64: {largest}>", f"sinter.source = {least} : i64"),
                ('sinter.source.notes = [1, "a", [2]]', 'sinter.source = "x"'),
                ('sinter.source.records = [{captures = [1, [2]]}, 7]', "sinter.source = 0 : i64"),
                ("sinter.note = 1 : i64", 'sinter.source.stored_as = "x", sinter.source.product_form = 1 : i64')]:
            text = f"""module attributes {{sinter.source.format = "onnx", {attribute}}} {{
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
    %c = stablehlo.constant {{{operation}}} dense<0.0> : tensor<2x3xf32>
    %q = stablehlo.uniform_quantize %x {{{operation}}} : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
    %d = stablehlo.uniform_dequantize %q {{{operation}}} : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3xf32>
    %r = stablehlo.add %d, %c {{{operation}}} : tensor<2x3xf32>
    return %r : tensor<2x3xf32>
  }}
}}"""
            path = self.write("noted.mlir", text.encode())
            for command in (["optimize", path, "-o", self.path("simple.mlir")], ["convert", path, "-o", self.path("n.onnx")],
                            ["compare", path, "--input", "random"]):
                done = self.sinter(*command)
                self.assertEqual(done.returncode, DONE, (attribute, command[0], done.stderr))

    def test_records_of_quantised_forms_that_no_reader_made(self):
        """In which form a product came, and a weight, is believed only where it may be so."""
        i8, per_axis = "!quant.uniform<i8:f32, 0.5>", "!quant.uniform<i8:f32:1, {0.5, 0.25, 0.5}>"
        sums = "!quant.uniform<i32:f32, 0.25>"
        stored = ["7 : i64", "f32", "!quant.uniform<i8:f32, 0.25>", "!quant.uniform<u8:f32, 0.5>", "!quant.uniform<u8:f32, 0.5:128>",
                  "!quant.uniform<u4:f32, 0.5:8>", "!quant.uniform<i2:f32, 0.5>", "!quant.uniform<u8<1:255>:f32, 0.5:128>", per_axis,
                  "!quant.uniform<u8:f32:1, {0.5:1, 0.25:2, 0.5:3}>", "!quant.any<i8:f32>"]
        products = [(i8, i8, sums, form) for form in ('"qlinear"', '"integer"', '"x"', "7 : i64", "[1]")]
        products += [(i8, i8, "!quant.uniform<i32:f32, 0.5>", '"integer"'), (i8, i8, "!quant.uniform<i32:f32, 0.25:3>", '"integer"'),
                     (i8, i8, i8, '"qlinear"'), (i8, i8, i8, '"integer"'), (i8, per_axis, "!quant.uniform<i32:f32:1, {0.25, 0.125, 0.25}>",
                                                                          '"qlinear"')]
        cases = [product + (each,) for product in products for each in stored[:1]] + [(i8, i8, sums, '"qlinear"', each) for each in stored]
        for lhs, rhs, result, form, before in cases:
            attributes = (f'sinter.source.product_form = {form}, onnx.product_form = 1 : i64, onnx.bias = "x", onnx.bias_name = 7 : i64')
            text = f"""func.func @main(%x: tensor<2x4xf32>, %n: tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>) {{
  %q = stablehlo.uniform_quantize %x {{{attributes}}} : (tensor<2x4xf32>) -> tensor<2x4x{lhs}>
  %w = "stablehlo.constant"() {{value = dense<[[1, -2, 3], [4, 5, -128], [7, 127, 9], [0, 1, 2]]> : tensor<4x3xi8>, {attributes},
                               sinter.source.stored_as = {before}}} : () -> tensor<4x3x{rhs}>
  %p = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] {{{attributes}}} : (tensor<2x4x{lhs}>, tensor<4x3x{rhs}>) -> tensor<2x3x{result}>
  %r = stablehlo.uniform_quantize %p {{{attributes}}} : (tensor<2x3x{result}>) -> tensor<2x3x!quant.uniform<i8:f32, 2.0>>
  %y = stablehlo.uniform_dequantize %r {{{attributes}}} : (tensor<2x3x!quant.uniform<i8:f32, 2.0>>) -> tensor<2x3xf32>
  %m = stablehlo.negate %n {{{attributes}}} : tensor<f32>
  return {{{attributes}}} %y, %m : tensor<2x3xf32>, tensor<f32>
}}"""
            with self.subTest(lhs=lhs, rhs=rhs, result=result, form=form, before=before):
                path, written = self.write("noted.mlir", text.encode()), self.path("n.onnx")
                for command in (["optimize", path, "-o", self.path("simple.mlir"), "--raise-quantized"], ["convert", path, "-o", written],
                                ["compare", path, written, "--input", "random"]):
                    done = self.sinter(*command)
                    self.assertEqual(done.returncode, DONE, (command[0], done.stderr))


if __name__ == "__main__":
    main()
