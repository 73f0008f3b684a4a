"""Small networks as ONNX files, of the shapes that microcontrollers run; their weights are random and always the same."""
import numpy

import OnnxBytes as onnx


def ints(name, values):
    return onnx.data(5, onnx.data(1, name) + b"".join(onnx.number(8, value) for value in values) + onnx.number(20, 7))


def integer(name, value):
    return onnx.data(5, onnx.data(1, name) + onnx.number(3, value) + onnx.number(20, 2))


class Layers:
    """Nodes one after the other, from `features`."""

    def __init__(self, seed):
        self.generator = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.last = [], [], "features"

    def weight(self, shape, fan_in):
        name = f"w{len(self.weights)}"
        values = (self.generator.standard_normal(shape) * (2 / fan_in) ** 0.5).astype("<f4")
        self.weights.append(onnx.tensor(name, shape, values.tobytes()))
        return name

    def add(self, kind, *more, attributes=b""):
        output = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(onnx.node(kind, [self.last, *more], [output], output, attributes=attributes))
        self.last = output

    def convolution(self, channels, outputs, kernel, strides=(1, 1), pads=(1, 1, 1, 1), groups=1):
        fan_in = channels // groups * kernel[0] * kernel[1]
        self.add("Conv", self.weight((outputs, channels // groups, *kernel), fan_in), self.weight((outputs,), 200),
                 attributes=ints("kernel_shape", kernel) + ints("strides", strides) + ints("pads", pads) + integer("group", groups))
        self.add("Relu")

    def dense(self, inputs, outputs):
        self.add("Gemm", self.weight((inputs, outputs), inputs), self.weight((outputs,), 200))

    def file(self, shape, classes):
        self.nodes.append(onnx.node("Softmax", [self.last], ["scores"], "softmax", attributes=integer("axis", -1)))
        graph = onnx.graph(self.nodes, [onnx.value_info("features", shape)], [onnx.value_info("scores", (shape[0], classes))], self.weights)
        return onnx.model(graph)


def keyword_spotting(channels=64):
    """A depthwise-separable network on a second of speech, 49 frames of ten coefficients, for twelve words: the one of "Hello Edge:
    Keyword Spotting on Microcontrollers" (Zhang et al., 2017)."""
    layers = Layers(1)
    layers.convolution(1, channels, (10, 4), (2, 2), (4, 1, 5, 1))
    for _ in range(4):
        layers.convolution(channels, channels, (3, 3), groups=channels)
        layers.convolution(channels, channels, (1, 1), pads=(0, 0, 0, 0))
    layers.add("GlobalAveragePool")
    layers.add("Flatten")
    layers.dense(channels, 12)
    return layers.file((1, 1, 49, 10), 12)


def perceptron():
    """Two dense layers, for the smallest chips."""
    layers = Layers(2)
    layers.dense(16, 24)
    layers.add("Relu")
    layers.dense(24, 6)
    return layers.file((1, 16), 6)
