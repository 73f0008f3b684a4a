#!/usr/bin/python3
"""Writes small networks of the shapes that TinyML benchmarks use, with random weights, for ahead.py.

    bench/tiny_models.py OUT [--sinter build/bin/sinter]

    kws          49 x 10 features, a convolution and four depthwise separable ones of 64 channels, 12 classes
    resnet8      32 x 32 x 3, three residual blocks of 16, 32 and 64 channels, 10 classes
    mobilenet    96 x 96 x 3, MobileNet V1 of a quarter of the width, 2 classes
    autoencoder  640 features, nine layers of 128 and 8 units, 640 features
    digits       28 x 28, two convolutions and a layer, 10 classes, 16 kB

OUT gets NAME.onnx in f32, and with --sinter NAME.qdq.onnx, quantised by `sinter quantize`, and NAME.qlinear.onnx, the same with ONNX's
integer operators.
"""
import argparse
import os
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I8, U8 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8


class Network:
    """Layers one after the other; each function returns the name of its result."""

    def __init__(self, name, seed=1):
        self.name, self.random = name, numpy.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, *inputs, **attributes):
        result = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [result], name=f"{kind.lower()}{len(self.nodes)}", **attributes))
        return result

    def drawn(self, *shape, fan):
        return self.constant((self.random.standard_normal(shape) * numpy.sqrt(2 / fan)).astype(numpy.float32))

    def conv(self, x, channels, filters, kernel, stride=(1, 1), pads=None, group=1, relu=True):
        h, w = kernel
        fan = channels // group * h * w
        x = self.node("Conv", x, self.drawn(filters, channels // group, h, w, fan=fan), self.drawn(filters, fan=200), kernel_shape=[h, w], strides=list(stride),
                      pads=pads or [(h - 1) // 2, (w - 1) // 2, h // 2, w // 2], group=group)
        return self.node("Relu", x) if relu else x

    def dense(self, x, inputs, outputs, relu=False):
        x = self.node("Gemm", x, self.drawn(outputs, inputs, fan=inputs), self.drawn(outputs, fan=200), transB=1)
        return self.node("Relu", x) if relu else x

    def head(self, x, channels, classes):
        x = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Softmax", self.dense(x, channels, classes), axis=1)

    def save(self, folder, shape, result, outputs):
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info("x", F32, shape)],
                                  [helper.make_tensor_value_info("y", F32, outputs)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        path = os.path.join(folder, self.name + ".onnx")
        onnx.save(model, path)
        return path


def keyword_spotting(folder):
    net = Network("kws")
    x = net.conv("x", 1, 64, (10, 4), (2, 2), pads=[4, 1, 5, 1])
    for _ in range(4):
        x = net.conv(x, 64, 64, (3, 3), group=64)
        x = net.conv(x, 64, 64, (1, 1))
    return net.save(folder, [1, 1, 49, 10], net.head(x, 64, 12), [1, 12])


def resnet8(folder):
    net = Network("resnet8")
    x, channels = net.conv("x", 3, 16, (3, 3)), 16
    for filters in 16, 32, 64:
        stride = (1, 1) if filters == channels else (2, 2)
        y = net.conv(x, channels, filters, (3, 3), stride, pads=[1, 1, 1, 1])
        y = net.conv(y, filters, filters, (3, 3), relu=False)
        if filters != channels:
            x = net.conv(x, channels, filters, (1, 1), stride, relu=False)
        x, channels = net.node("Relu", net.node("Add", x, y)), filters
    return net.save(folder, [1, 3, 32, 32], net.head(x, 64, 10), [1, 10])


def mobilenet(folder):
    net = Network("mobilenet")
    x, channels = net.conv("x", 3, 8, (3, 3), (2, 2), pads=[1, 1, 1, 1]), 8
    for filters, stride in (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1):
        x = net.conv(x, channels, channels, (3, 3), (stride, stride), pads=[1, 1, 1, 1], group=channels)
        x, channels = net.conv(x, channels, filters, (1, 1)), filters
    return net.save(folder, [1, 3, 96, 96], net.head(x, 256, 2), [1, 2])


def autoencoder(folder):
    net = Network("autoencoder")
    sizes = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640]
    x = "x"
    for inputs, outputs in zip(sizes, sizes[1:]):
        x = net.dense(x, inputs, outputs, relu=outputs != 640)
    return net.save(folder, [1, 640], x, [1, 640])


def digits(folder):
    net = Network("digits")
    x = net.node("MaxPool", net.conv("x", 1, 8, (3, 3)), kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("MaxPool", net.conv(x, 8, 16, (3, 3)), kernel_shape=[4, 4], strides=[4, 4])
    x = net.dense(net.node("Flatten", x), 16 * 9, 16, relu=True)
    return net.save(folder, [1, 1, 28, 28], net.node("Softmax", net.dense(x, 16, 10), axis=1), [1, 10])


MODELS = keyword_spotting, resnet8, mobilenet, autoencoder, digits


def quantise(path, sinter):
    """NAME.qdq.onnx, by ranges of random inputs."""
    model = onnx.load(path)
    shape = [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
    target = path.replace(".onnx", ".qdq.onnx")
    with tempfile.TemporaryDirectory() as folder:
        samples = os.path.join(folder, "samples.npz")
        numpy.savez(samples, x=numpy.random.default_rng(3).random([32, *shape[1:]], numpy.float32))
        subprocess.run([sinter, "quantize", path, "--calibration", samples, "-o", target, "--force"], check=True, stdout=subprocess.DEVNULL)
    return target


class Integers:
    """A model in the form of QDQ, rewritten with ONNX's integer operators where a node's inputs and output are quantised."""

    def __init__(self, model):
        self.graph = model.graph
        self.constants = {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}
        for node in self.graph.node:
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        self.made_by = {name: node for node in self.graph.node for name in node.output}
        self.users = {}
        for node in self.graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)

    def source(self, name):
        """(quantised value, scale, zero point) of a dequantised value."""
        node = self.made_by.get(name)
        return list(node.input) if node is not None and node.op_type == "DequantizeLinear" else None

    def result(self, node):
        """The node that quantises the output of NODE, and the activation between them."""
        users = self.users.get(node.output[0], [])
        between = None
        if len(users) == 1 and users[0].op_type == "Relu":
            between, users = users[0], self.users.get(users[0].output[0], [])
        return (users[0], between) if len(users) == 1 and users[0].op_type == "QuantizeLinear" else (None, None)

    def convolution(self, node):
        """QLinearConv for a Conv, if it is quantised and a ReLU is that of the range."""
        if node.op_type != "Conv":
            return None
        x, w = self.source(node.input[0]), self.source(node.input[1])
        after, relu = self.result(node)
        if not x or not w or after is None:
            return None
        zero = self.constants.get(after.input[2]) if len(after.input) > 2 else None
        if relu is not None and (zero is None or int(zero) != numpy.iinfo(zero.dtype).min):
            return None
        inputs = [*x, *w, after.input[1], after.input[2]]
        if len(node.input) > 2:
            bias = self.source(node.input[2])
            if not bias:
                return None
            inputs.append(bias[0])
        made = helper.make_node("QLinearConv", inputs, [after.output[0]], name=node.name)
        made.attribute.extend(node.attribute)
        return made, [each.output[0] for each in (node, relu, after) if each is not None]

    def rewrite(self):
        replaced, gone = {}, set()
        for node in self.graph.node:
            found = self.convolution(node)
            if found:
                replaced[found[1][-1]] = found[0]
                gone.update(found[1])
        nodes = [replaced.get(node.output[0], node) for node in self.graph.node if node.output[0] in replaced or node.output[0] not in gone]
        # Dequantised values that nothing reads any more.
        while True:
            read = {name for node in nodes for name in node.input} | {each.name for each in self.graph.output}
            kept = [node for node in nodes if any(name in read for name in node.output)]
            if len(kept) == len(nodes):
                break
            nodes = kept
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        return len(replaced)


def with_integers(path):
    """NAME.qlinear.onnx; nothing if it has no convolution."""
    model = onnx.load(path)
    if not Integers(model).rewrite():
        return None
    target = path.replace(".qdq.", ".qlinear.")
    onnx.save(model, target)
    return target


def write(folder, sinter=None):
    """All of them; the paths."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for make in MODELS:
        paths.append(make(folder))
        if sinter:
            paths.append(quantise(paths[-1], sinter))
            integers = with_integers(paths[-1])
            paths += [integers] if integers else []
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sinter")
    arguments = parser.parse_args()
    for path in write(arguments.out, arguments.sinter):
        print(path, os.path.getsize(path))


if __name__ == "__main__":
    main()
