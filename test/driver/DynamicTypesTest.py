#!/usr/bin/env python3
"""Models of open sizes in every type and every format: one program computes what the interpreter does, of each size.

Each model is written as text, and from that to the other formats, whose sizes stay open.
"""
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from SinterCommand import CommandTest, DONE, main, npy

FORMATS = (".mlir", ".onnx", ".pdmodel", ".json")
X, Y = "tensor<?x?x64xf32>", "tensor<?x?x24xf32>"
SIZES = ((2, 3), (1, 40), (17, 1))


def function(body):
    return f"""func.func @main(%x: {X} {{sinter.name = "x", sinter.dims = ["N", "S", ""]}}) -> ({Y} {{sinter.name = "y"}}) {{
{body}  return %y : {Y}
}}
"""


def product(element):
    x, w, y = (each.replace("f32", element) for each in (X, "tensor<64x24xf32>", Y))
    return function(f"""  %c = stablehlo.convert %x : ({X}) -> {x}
  %i = stablehlo.iota dim = 0 : {w}
  %w = stablehlo.sine %i : {w}
  %p = stablehlo.dot_general %c, %w, contracting_dims = [2] x [0] : ({x}, {w}) -> {y}
  %t = stablehlo.tanh %p : {y}
  %y = stablehlo.convert %t : ({y}) -> {Y}
""")


def images(element):
    """Rows as images of one channel, whose width is open."""
    x, w, y = f"tensor<?x64x?x{element}>", f"tensor<24x64x3x{element}>", f"tensor<?x24x?x{element}>"
    return function(f"""  %c = stablehlo.convert %x : ({X}) -> {X.replace("f32", element)}
  %n = stablehlo.transpose %c, dims = [0, 2, 1] : ({X.replace("f32", element)}) -> {x}
  %i = stablehlo.iota dim = 1 : {w}
  %w = stablehlo.sine %i : {w}
  %p = stablehlo.convolution(%n, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {{pad = [[1, 1]]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({x}, {w}) -> {y}
  %t = stablehlo.tanh %p : {y}
  %f = stablehlo.transpose %t, dims = [0, 2, 1] : ({y}) -> {Y.replace("f32", element)}
  %y = stablehlo.convert %f : ({Y.replace("f32", element)}) -> {Y}
""")


def quantised():
    x, w, y = (each.replace("f32", f"!quant.uniform<i8:f32, {scale}>") for each, scale in
               ((X, "0.0625:3"), ("tensor<64x24xf32>", "0.015625"), (Y, "0.125:-7")))
    return function(f"""  %q = stablehlo.uniform_quantize %x : ({X}) -> {x}
  %i = stablehlo.iota dim = 0 : tensor<64x24xf32>
  %s = stablehlo.sine %i : tensor<64x24xf32>
  %w = stablehlo.uniform_quantize %s : (tensor<64x24xf32>) -> {w}
  %p = stablehlo.dot_general %q, %w, contracting_dims = [2] x [0] : ({x}, {w}) -> {y}
  %y = stablehlo.uniform_dequantize %p : ({y}) -> {Y}
""")


def narrow(scale):
    """Weights of bytes by a scale for each column, or for each 32 of them."""
    scales = {"columns": """  %k = stablehlo.iota dim = 0 : tensor<24xf32>
  %l = stablehlo.logistic %k : tensor<24xf32>
  %scale = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<24xf32>) -> tensor<64x24xf32>
""", "blocks": """  %k = stablehlo.iota dim = 1 : tensor<2x24xf32>
  %l = stablehlo.cosine %k : tensor<2x24xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 2] : (tensor<2x24xf32>) -> tensor<2x32x24xf32>
  %scale = stablehlo.reshape %b : (tensor<2x32x24xf32>) -> tensor<64x24xf32>
"""}
    return function("""  %i = stablehlo.iota dim = 0 : tensor<64x24xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x24xi32>
  %m = stablehlo.multiply %i, %j : tensor<64x24xi32>
  %fifteen = stablehlo.constant dense<15> : tensor<64x24xi32>
  %a = stablehlo.and %m, %fifteen : tensor<64x24xi32>
  %w = stablehlo.convert %a : (tensor<64x24xi32>) -> tensor<64x24xi8>
  %f = stablehlo.convert %w : (tensor<64x24xi8>) -> tensor<64x24xf32>
""" + scales[scale] + f"""  %v = stablehlo.multiply %f, %scale : tensor<64x24xf32>
  %y = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] : ({X}, tensor<64x24xf32>) -> {Y}
""")


# How far the backends may be apart. Where nothing may be, formats may be that round what lies between two numbers to another: by a unit.
UNIT = 0.125
MODELS = {"f16": (product("f16"), 2e-3), "bf16": (product("bf16"), 2e-2), "f64": (product("f64"), 1e-6), "images of f16": (images("f16"), 2e-3),
          "images of bf16": (images("bf16"), 2e-2), "images of f64": (images("f64"), 1e-6), "quantised": (quantised(), 0),
          "bytes by columns": (narrow("columns"), 1e-4), "bytes by blocks": (narrow("blocks"), 1e-4)}


class DynamicTypes(CommandTest):
    def outputs(self, model, rows, *arguments):
        """The elements and what is told, of x of that many samples and rows."""
        count = rows[0] * rows[1] * 64
        x = self.write("x.npy", npy((*rows, 64), [(i * 37 % 64) / 64 - 0.5 for i in range(count)]))
        done = self.sinter("run", model, "--input", x, "--json", "--output-dir", self.path("out"), *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("note", done.stderr)
        with open(self.path("out/y.npy"), "rb") as file:
            data = file.read()
        elements = memoryview(data[10 + int.from_bytes(data[8:10], "little"):]).cast("f")
        self.assertEqual(len(elements), rows[0] * rows[1] * 24)
        return elements, json.loads(done.stdout)

    def check(self, name, extension):
        text, tolerance = MODELS[name]
        source, model = self.write("model.mlir", text), self.path("model" + extension)
        if extension != ".mlir":
            done = self.sinter("convert", source, "-o", model)
            self.assertEqual(done.returncode, DONE, done.stderr)
        for number, rows in enumerate(SIZES):
            got, told = self.outputs(model, rows, "--dynamic", "--cache-dir", self.path("cache"))
            self.assertEqual(told["from_cache"], number > 0)
            for of, bound in (model, tolerance), (source, tolerance or UNIT):
                expected = self.outputs(of, rows, "--backend", "interpreter")[0]
                self.assertLessEqual(max(abs(a - b) for a, b in zip(got, expected)), bound)


def add_tests():
    for name, extension in itertools.product(MODELS, FORMATS):
        setattr(DynamicTypes, f"test_{name} as {extension[1:]}".replace(" ", "_"), lambda self, name=name, extension=extension: self.check(name, extension))


add_tests()

if __name__ == "__main__":
    main()
