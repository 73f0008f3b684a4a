"""Small models and pictures for `sinter quantize`."""
import random
import struct
import zlib

import OnnxBytes as onnx

FLOAT16, BFLOAT16 = 10, 16


def ints(name, *values):
    """An attribute of a node."""
    return onnx.data(5, onnx.data(1, name) + b"".join(onnx.number(8, each) for each in values) + onnx.number(20, 7))


def packed(numbers, element=onnx.FLOAT):
    if element == FLOAT16:
        return struct.pack(f"<{len(numbers)}e", *numbers)
    if element == BFLOAT16:
        return b"".join(struct.pack("<f", each)[2:] for each in numbers)
    return onnx.floats(*numbers)


def draw(count, seed, scale=0.5):
    chooser = random.Random(seed)
    return [chooser.uniform(-scale, scale) for _ in range(count)]


def weight(name, shape, seed, scale=0.5, element=onnx.FLOAT):
    count = 1
    for size in shape:
        count *= size
    return onnx.tensor(name, shape, packed(draw(count, seed, scale), element), element)


def classifier(batch=1, size=8, channels=1, element=onnx.FLOAT, scale=0.5):
    """Convolution, rectifier, mean, matrix product; three classes."""
    nodes = [onnx.node("Conv", ["x", "w", "b"], ["c"], "conv", attributes=ints("pads", 1, 1, 1, 1)),
             onnx.node("Relu", ["c"], ["r"], "relu"), onnx.node("GlobalAveragePool", ["r"], ["p"], "pool"),
             onnx.node("Flatten", ["p"], ["f"], "flat"), onnx.node("Gemm", ["f", "v", "d"], ["y"], "gemm")]
    weights = [weight("w", [4, channels, 3, 3], 1, scale, element), weight("b", [4], 2, scale, element),
               weight("v", [4, 3], 3, scale, element), weight("d", [3], 4, scale, element)]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [batch, channels, size, size], element)],
                                 [onnx.value_info("y", [batch, 3], element)], weights))


def perceptron(rows=1, width=16, hidden=12, classes=3):
    """Product, rectifier, product: which class is the most probable depends on the input."""
    nodes = [onnx.node("MatMul", ["x", "w"], ["h"], "first"), onnx.node("Relu", ["h"], ["r"], "relu"), onnx.node("MatMul", ["r", "v"], ["y"], "second")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [rows, width])], [onnx.value_info("y", [rows, classes])],
                                 [weight("w", [width, hidden], 1), weight("v", [hidden, classes], 2)]))


def two_inputs(names=("a", "b")):
    """y = a w + b v."""
    nodes = [onnx.node("MatMul", [names[0], "w"], ["p"], "left"), onnx.node("MatMul", [names[1], "v"], ["q"], "right"),
             onnx.node("Add", ["p", "q"], ["y"], "sum")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info(each, [2, 4]) for each in names], [onnx.value_info("y", [2, 3])],
                                 [weight("w", [4, 3], 1), weight("v", [4, 3], 2)]))


def weight_that_is_an_input():
    """A product whose weight callers may replace."""
    nodes = [onnx.node("MatMul", ["x", "w"], ["y"], "product")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 4]), onnx.value_info("w", [4, 3])], [onnx.value_info("y", [2, 3])], [weight("w", [4, 3], 1)]))


def resized_as_the_image(size="H"):
    """A product of rows, which a Resize makes as many as the shape of an input says."""
    nodes = [onnx.node("Conv", ["x", "w"], ["c"], "conv"), onnx.node("Shape", ["x"], ["all"], "shape"), onnx.node("Slice", ["all", "two", "four"], ["sizes"], "rest"),
             onnx.node("Concat", ["first", "sizes"], ["wanted"], "wanted", attributes=onnx.data(5, onnx.data(1, "axis") + onnx.number(3, 0) + onnx.number(20, 2))),
             onnx.node("Resize", ["c", "", "", "wanted"], ["y"], "resize")]
    numbers = [onnx.tensor(name, [len(values)], struct.pack(f"<{len(values)}q", *values), onnx.INT64) for name, values in (("two", [2]), ("four", [4]), ("first", [1, 4]))]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [1, 1, size, size])], [onnx.value_info("y", [1, 4, size, size])], [weight("w", [4, 1, 3, 3], 1), *numbers]), 13)


def padded_by_an_input():
    """A product behind a Pad whose widths are an input."""
    nodes = [onnx.node("Pad", ["x", "pads"], ["p"], "pad"), onnx.node("MatMul", ["p", "w"], ["y"], "product")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 3]), onnx.value_info("pads", [4], onnx.INT64)], [onnx.value_info("y", [2, 3])],
                                 [weight("w", [4, 3], 1)]))


def drawn_numbers():
    """A product of what is drawn at random."""
    nodes = [onnx.node("RandomUniformLike", ["x"], ["p"], "drawn"), onnx.node("MatMul", ["p", "w"], ["y"], "product")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 4])], [onnx.value_info("y", [2, 3])], [weight("w", [4, 3], 1)]))


def transformer_block(rows=6, width=8):
    """Product, sum, layer norm, product, GELU, product, softmax, product: each a node."""
    nodes, weights = [], []

    def product(name, given, columns, seed, depth=width):
        weights.append(weight(name + "_w", [depth, columns], seed))
        nodes.append(onnx.node("MatMul", [given, name + "_w"], [name], name))
        return name

    nodes.append(onnx.node("Add", [product("a", "x", width, 1), "x"], ["sum"], "sum"))
    weights.extend([weight("g", [width], 2), weight("h", [width], 3)])
    nodes.append(onnx.node("LayerNormalization", ["sum", "g", "h"], ["norm"], "norm"))
    nodes.append(onnx.node("Gelu", [product("b", "norm", width, 4)], ["gelu"], "gelu"))
    nodes.append(onnx.node("Softmax", [product("c", "gelu", width, 5)], ["soft"], "soft"))
    product("y", "soft", 3, 6)
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [rows, width])], [onnx.value_info("y", [rows, 3])], weights), 20)


def integers_only():
    nodes = [onnx.node("Add", ["x", "x"], ["y"], "add")]
    return onnx.model(onnx.graph(nodes, [onnx.value_info("x", [2, 3], onnx.INT64)], [onnx.value_info("y", [2, 3], onnx.INT64)]))


def png(width, height, numbers):
    """A grey picture."""
    rows = b"".join(b"\0" + bytes(numbers[row * width:(row + 1) * width]) for row in range(height))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


BRANCHES = """
func.func @main(%x: tensor<2x4xf32>, %take: tensor<i1>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<[[0.5,-0.25,0.75],[1.0,0.125,-0.5],[0.3,0.2,0.1],[-0.7,0.6,0.4]]> : tensor<4x3xf32>
  %y = "stablehlo.if"(%take) ({
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %p : tensor<2x3xf32>
  }, {
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %n = stablehlo.negate %p : tensor<2x3xf32>
    stablehlo.return %n : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""

HIDDEN_BRANCH = BRANCHES.replace(
    """    %p = stablehlo.dot_general %x""", """    %a = stablehlo.abs %x : tensor<2x4xf32>
    %p = stablehlo.dot_general %a""", 1)

LOOP = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = stablehlo.constant dense<[[0.5,-0.25,0.75],[1.0,0.125,-0.5],[0.3,0.2,0.1]]> : tensor<3x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n, %y = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2x3xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %p : tensor<i32>, tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}
"""

HALF = """
func.func @main(%x: tensor<2x4xTYPE>) -> tensor<2x3xTYPE> {
  %w = stablehlo.constant dense<[[SCALE,-0.25,0.75],[1.0,0.125,-0.5],[0.3,0.2,0.1],[-0.7,0.6,0.4]]> : tensor<4x3xTYPE>
  %b = stablehlo.constant dense<[0.5,0.25,1.0]> : tensor<3xTYPE>
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xTYPE>) -> tensor<2x3xTYPE>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xTYPE>, tensor<4x3xTYPE>) -> tensor<2x3xTYPE>
  %s = stablehlo.add %p, %r : tensor<2x3xTYPE>
  return %s : tensor<2x3xTYPE>
}
"""

STATE = """
func.func @main(%x: tensor<2x3xf32> {sinter.name = "x"}, %n: tensor<2x3xf32> {sinter.state = "last", sinter.initial = dense<0.5> : tensor<2x3xf32>})
    -> (tensor<2x3xf32> {sinter.name = "y"}, tensor<2x3xf32> {sinter.state = "last"}) {
  %w = stablehlo.constant dense<[[0.5,-0.25,0.75],[1.0,0.125,-0.5],[0.3,0.2,0.1]]> : tensor<3x3xf32>
  %s = stablehlo.add %x, %n : tensor<2x3xf32>
  %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  return %p, %s : tensor<2x3xf32>, tensor<2x3xf32>
}
"""
