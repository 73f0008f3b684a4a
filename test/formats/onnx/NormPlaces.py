#!/usr/bin/env python3
"""Batch norms in every place where frameworks put them, in small networks as exporters write them, one a case.

  NormPlaces.py --sinter build/bin/sinter [--filter NAME] [--every K] [--keep DIR]

Each network is made with known sizes and with symbols for batch, height and width, in f32, f16 and f64. What `sinter
optimize` writes of it, as ONNX, as StableHLO after `sinter convert`, and as a program of PaddlePaddle (f32 with known
sizes), computes what ONNX Runtime makes of the network as it was (of f64, which it has no convolutions of, what the oracle
does), and holds as many norms as the case says: batch norms and, in ONNX, what else scales or shifts channels by constants,
but for biases of products. With --every only each K-th case is run; with --keep, what failed stays in DIR.

Needs Python's onnx and numpy (Debian: python3-onnx) and ONNX Runtime (npm install in bench/); without them it says so and
ends with 77.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages  # noqa: E402

Packages.skip_without(runtime=True)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from judge import OnnxRuntime  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from FoldDynamicSizes import Graph  # noqa: E402

SIZES = {"N": 2, "H": 8, "W": 12}
IMAGE = ("N", 3, "H", "W")
PADDED = {"pads": [1, 1, 1, 1]}
HALVED = {"kernel_shape": [2, 2], "strides": [2, 2]}

NETWORKS = []


def network(left=0, left_open=None, left_half=None, one_in_text=False, kinds=("f32", "f16", "f64")):
    """A function that fills a graph and gives its result, of which so many norms are left, or so many with symbols, or in
    f16. With symbols StableHLO's form may keep one: what is resized is reshaped by computed sizes there."""
    def register(function):
        NETWORKS.append((function.__name__, function, left, left_open, left_half, one_in_text, kinds))
        return function
    return register


class Network(Graph):
    def norm(self, value, channels, turned=False, scale_only=False):
        """As training leaves them: with positive scales, or some that turn channels round."""
        scale = self.array(channels, low=0.5, high=1.5)
        if turned:
            scale[::2] *= -1
        zero = np.zeros(channels)
        numbers = [scale, zero if scale_only else self.array(channels), zero if scale_only else self.array(channels),
                   self.array(channels, low=0.5, high=1.5)]
        return self.node("BatchNormalization", value, *map(self.const, numbers), epsilon=1e-3)

    def scalar(self, value):
        name = self.name("w")
        self.weights.append(numpy_helper.from_array(np.array(value, self.numpy), name))
        return name

    def relu(self, value):
        return self.node("Relu", value)

    def conv(self, value, out, inner, size=1, **options):
        """Of values of about the size of its input's."""
        group = options.get("group", 1)
        weight = self.array(out, inner // group, size, size) / np.sqrt(inner // group * size * size) * 1.5
        if size == 3 and "pads" not in options:
            options.update(PADDED)
        bias = [self.random_const(out)] if options.pop("bias", True) else []
        return self.node("Conv", value, self.const(weight), *bias, **options)

    def gemm(self, value, inner, out):
        return self.node("Gemm", value, self.const(self.array(out, inner) / np.sqrt(inner)), self.random_const(out), transB=1)

    def add(self, one, other):
        return self.node("Add", one, other)

    def concat(self, *values, axis=1):
        return self.node("Concat", *values, axis=axis)


# --- SqueezeNet --------------------------------------------------------------------------------------------------------
def fire(g, x, inner, turned):
    """Convolution, relu and norm, as PaddlePaddle's models of 2018 have them."""
    squeezed = g.norm(g.relu(g.conv(x, 4, inner)), 4, turned)
    return g.concat(g.norm(g.relu(g.conv(squeezed, 6, 4)), 6, turned), g.norm(g.relu(g.conv(squeezed, 6, 4, 3)), 6, turned))


@network()
def squeezenet(g):
    x = g.norm(g.relu(g.conv(g.input(*IMAGE), 6, 3, 3)), 6)
    x = fire(g, g.node("MaxPool", x, **HALVED), 6, turned=False)
    x = fire(g, x, 12, turned=True)
    return g.node("GlobalAveragePool", g.relu(g.conv(x, 5, 12)))


@network()
def squeezenet_norm_behind_concat(g):
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3))
    x = g.norm(g.concat(g.relu(g.conv(x, 3, 4)), g.relu(g.conv(x, 5, 4, 3))), 8, turned=True)
    return g.conv(x, 4, 8, 3)


@network()
def norm_behind_pool(g):
    return g.conv(g.norm(g.node("MaxPool", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)), **HALVED), 4), 4, 4, 3)


@network()
def norm_of_any_sign_behind_pool(g):
    """The pool keeps it, the convolution behind takes it up."""
    return g.conv(g.norm(g.node("MaxPool", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)), **HALVED), 4, turned=True), 4, 4)


@network()
def norm_of_any_sign_between_pool_and_padding(g):
    """No way: the largest would be the least above, and below zeros of the padding are not shifted."""
    return g.conv(g.norm(g.node("MaxPool", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)), **HALVED), 4, turned=True), 4, 4, 3)


# --- BottleneckCSP -----------------------------------------------------------------------------------------------------
@network()
def bottleneck_csp(g):
    """YOLOv5: one norm behind the concatenation of two convolutions without."""
    x = g.input(*IMAGE)
    inner = g.node("LeakyRelu", g.norm(g.conv(x, 4, 3, bias=False), 4), alpha=0.1)
    deep = g.node("LeakyRelu", g.norm(g.conv(inner, 4, 4, 3, bias=False), 4), alpha=0.1)
    one = g.conv(g.add(inner, deep), 4, 4, bias=False)
    other = g.conv(x, 4, 3, bias=False)
    y = g.node("LeakyRelu", g.norm(g.concat(one, other), 8), alpha=0.1)
    return g.node("LeakyRelu", g.norm(g.conv(y, 6, 8, bias=False), 6), alpha=0.1)


@network()
def spatial_pyramid(g):
    """Pools of one tensor beside it, and a norm of all in front of a convolution."""
    x = g.relu(g.norm(g.conv(g.input(*IMAGE), 4, 3), 4))
    pools = [g.node("MaxPool", x, kernel_shape=[k, k], pads=[k // 2] * 4, strides=[1, 1]) for k in (3, 5)]
    return g.conv(g.norm(g.concat(x, *pools), 12, turned=True), 4, 12)


# --- ArcFace -----------------------------------------------------------------------------------------------------------
def bottleneck_ir(g, x, inner, out, stride):
    """norm, convolution, norm, prelu, convolution, norm beside a shortcut."""
    y = g.conv(g.norm(x, inner), out, inner, 3, bias=False)
    y = g.node("PRelu", g.norm(y, out), g.const(g.array(out, 1, 1, low=0, high=0.5)))
    y = g.norm(g.conv(y, out, out, 3, bias=False, strides=[stride, stride]), out)
    short = g.norm(g.conv(x, out, inner, bias=False, strides=[stride, stride]), out)
    return g.add(y, short)


@network(left=1)
def arcface(g):
    """The first norm of the first block stays: a PRelu is before it, and its convolution is padded. That of the second goes
    up, and the shortcut takes it back. Those of the end go into the product behind Flatten and that which they follow."""
    x = g.input("N", 3, 8, 8)
    x = g.node("PRelu", g.norm(g.conv(x, 4, 3, 3, bias=False), 4), g.const(g.array(4, 1, 1, low=0, high=0.5)))
    x = bottleneck_ir(g, bottleneck_ir(g, x, 4, 4, 1), 4, 6, 2)
    x = g.node("Flatten", g.norm(x, 6))
    return g.norm(g.gemm(x, 6 * 4 * 4, 8), 8)


@network()
def norm_before_gemm(g):
    return g.gemm(g.node("Flatten", g.norm(g.input("N", 4, 3, 5), 4, turned=True)), 60, 6)


@network()
def norm_before_reshape_and_matmul(g):
    x = g.node("Reshape", g.norm(g.input("N", 4, 3, 5), 4), g.ints(0, -1))
    return g.node("MatMul", x, g.const(g.array(60, 6) / 8))


@network()
def norm_behind_global_pool(g):
    x = g.node("GlobalAveragePool", g.relu(g.conv(g.input(*IMAGE), 6, 3, 3)))
    return g.gemm(g.node("Flatten", g.norm(x, 6, turned=True)), 6, 4)


@network()
def norm_behind_mean_of_places(g):
    x = g.node("ReduceMean", g.relu(g.conv(g.input(*IMAGE), 6, 3, 3)), axes=[2, 3], keepdims=0)
    return g.gemm(g.norm(x, 6, turned=True), 6, 4)


# --- ShuffleNet --------------------------------------------------------------------------------------------------------
def shuffle(g, x, channels, height, width):
    """Channels in two groups, by turns."""
    x = g.node("Reshape", x, g.ints(0, 2, channels // 2, height, width))
    x = g.node("Transpose", x, perm=[0, 2, 1, 3, 4])
    return g.node("Reshape", x, g.ints(0, channels, height, width))


@network()
def shufflenet(g):
    x = g.relu(g.norm(g.conv(g.input("N", 4, 6, 6), 8, 4, group=2), 8))
    x = g.norm(g.conv(shuffle(g, x, 8, 6, 6), 8, 8, 3, group=8), 8)
    return g.norm(g.conv(x, 4, 8, group=2), 4)


@network()
def norm_behind_shuffle(g):
    x = shuffle(g, g.relu(g.conv(g.input("N", 4, 6, 6), 8, 4, group=2)), 8, 6, 6)
    return g.conv(g.norm(x, 8, turned=True), 8, 8, 3, group=8)


@network()
def shufflenet_v2(g):
    """One half passes, the other is computed; then channels are shuffled, and normed before the next split."""
    one, other = g.node("Split", g.relu(g.conv(g.input("N", 3, 6, 6), 8, 3)), axis=1, outputs=2)
    other = g.relu(g.norm(g.conv(other, 4, 4), 4))
    other = g.relu(g.norm(g.conv(g.norm(g.conv(other, 4, 4, 3, group=4), 4), 4, 4), 4))
    x = g.norm(shuffle(g, g.concat(one, other), 8, 6, 6), 8)
    return g.conv(x, 4, 8)


@network()
def norms_behind_split(g):
    one, other = g.node("Split", g.relu(g.conv(g.input(*IMAGE), 8, 3, 3)), axis=1, outputs=2)
    return g.add(g.relu(g.norm(one, 4)), g.relu(g.norm(other, 4, turned=True)))


@network()
def norm_behind_one_part(g):
    one, other = g.node("Split", g.conv(g.input(*IMAGE), 8, 3, 3), axis=1, outputs=2)
    return g.concat(g.norm(one, 4), g.relu(other))


# --- DenseNet ----------------------------------------------------------------------------------------------------------
def dense_layer(g, x, channels):
    """norm, relu, convolution, norm, relu, padded convolution, beside what there was."""
    y = g.conv(g.relu(g.norm(x, channels)), 6, channels, bias=False)
    return g.concat(x, g.conv(g.relu(g.norm(y, 6)), 4, 6, 3, bias=False))


@network()
def densenet(g):
    """The first norm of each layer has the concatenation above, which others read, too; its relu becomes a maximum, and it
    goes into the convolution of 1 x 1 behind. The last goes on across the mean, or up where that would shift sums of
    f16 far."""
    x = g.node("MaxPool", g.relu(g.norm(g.conv(g.input(*IMAGE), 6, 3, 3, bias=False), 6)), **HALVED)
    x = dense_layer(g, dense_layer(g, x, 6), 10)
    x = g.node("AveragePool", g.conv(g.relu(g.norm(x, 14)), 7, 14, bias=False), **HALVED)
    x = dense_layer(g, x, 7)
    x = g.node("GlobalAveragePool", g.relu(g.norm(x, 11)))
    return g.gemm(g.node("Flatten", x), 11, 5)


@network()
def densenet_with_turned_channels(g):
    x = g.relu(g.norm(g.conv(g.input(*IMAGE), 6, 3, 3, bias=False), 6, turned=True))
    for i in range(2):
        y = g.conv(g.relu(g.norm(x, 6 + 4 * i, turned=True)), 6, 6 + 4 * i, bias=False)
        x = g.concat(x, g.conv(g.relu(g.norm(y, 6, turned=True)), 4, 6, 3, bias=False))
    return g.conv(g.relu(g.norm(x, 14, turned=True)), 3, 14)


@network(left_half=1)
def resnet_v2(g):
    """Norms in front. The first convolution of the second block is padded: its scale goes down, its shift up, and what the
    sums add is shifted back. In f16 one stays, whose sums would be shifted far."""
    x = g.conv(g.input(*IMAGE), 4, 3, 3)
    y = g.relu(g.norm(x, 4))
    x = g.add(g.conv(g.relu(g.norm(g.conv(y, 4, 4), 4)), 4, 4, 3), x)
    y = g.relu(g.norm(x, 4))
    x = g.add(g.conv(g.relu(g.norm(g.conv(y, 4, 4, 3), 4)), 4, 4, 3), x)
    return g.gemm(g.node("Flatten", g.node("GlobalAveragePool", g.relu(g.norm(x, 4)))), 4, 3)


# --- Inception ---------------------------------------------------------------------------------------------------------
@network()
def inception(g):
    x = g.relu(g.norm(g.conv(g.input(*IMAGE), 4, 3, 3, bias=False), 4))
    pool = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], count_include_pad=0, **PADDED)
    branches = [g.relu(g.norm(g.conv(x, 3, 4, bias=False), 3)),
                g.relu(g.norm(g.conv(g.relu(g.norm(g.conv(x, 3, 4, bias=False), 3)), 5, 3, 3, bias=False), 5)),
                g.relu(g.norm(g.conv(pool, 2, 4, bias=False), 2))]
    return g.conv(g.concat(*branches), 4, 10)


@network()
def inception_norm_behind_concat(g):
    """A branch is a pool of what all read: the convolution behind takes all up."""
    x = g.conv(g.input(*IMAGE), 4, 3, 3)
    pool = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], **PADDED)
    x = g.norm(g.concat(g.relu(g.conv(x, 3, 4)), g.conv(x, 2, 4, 3), pool), 9)
    return g.conv(x, 4, 9)


@network(left=1)
def inception_norm_before_padding(g):
    """Behind the concatenation is a padded convolution, so the pool's part of the norm stays."""
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    pool = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], **PADDED)
    return g.conv(g.norm(g.concat(g.relu(g.conv(x, 3, 4)), g.conv(x, 2, 4, 3), pool), 9), 4, 9, 3)


@network()
def norm_behind_average_pool(g):
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    return g.conv(g.norm(g.node("AveragePool", x, **HALVED), 4, turned=True), 4, 4, 3)


@network(left=1)
def norm_behind_counted_padding(g):
    """Zeros that are counted are not shifted."""
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    pool = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], count_include_pad=1, **PADDED)
    return g.conv(g.norm(pool, 4), 4, 4, 3)


@network()
def scale_behind_counted_padding(g):
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    pool = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], count_include_pad=1, **PADDED)
    return g.conv(g.norm(pool, 4, scale_only=True), 4, 4, 3)


# --- Several products --------------------------------------------------------------------------------------------------
@network()
def norm_before_two_convolutions(g):
    x = g.norm(g.input(*IMAGE), 3, turned=True)
    return g.concat(g.conv(x, 4, 3), g.relu(g.conv(x, 2, 3)))


@network(left=1)
def norm_before_padding(g):
    """Zeros around the image are not shifted."""
    return g.relu(g.conv(g.norm(g.input(*IMAGE), 3), 4, 3, 3))


@network()
def scale_before_padding(g):
    x = g.norm(g.input(*IMAGE), 3, scale_only=True)
    return g.concat(g.conv(x, 4, 3, 3), g.relu(g.conv(x, 2, 3)))


@network(left=1)
def norm_that_is_read_beside(g):
    """A sum reads it, too, one side of which is no product's."""
    x = g.norm(g.input(*IMAGE), 3)
    return g.add(g.conv(x, 3, 3), x)


# --- Residual sums -----------------------------------------------------------------------------------------------------
@network()
def norm_behind_residual(g):
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    return g.norm(g.add(g.conv(x, 5, 4), g.conv(x, 5, 4, 3)), 5, turned=True)


@network()
def norm_behind_three_sums(g):
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    y = g.add(g.add(g.conv(x, 5, 4), g.conv(x, 5, 4, 3)), g.node("Sub", g.conv(x, 5, 4), g.conv(x, 5, 4)))
    return g.relu(g.norm(y, 5))


@network(left_half=1)
def norm_behind_identity(g):
    """What is added is read by the convolution, too, which takes that back."""
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    return g.relu(g.norm(g.add(g.conv(x, 4, 4), x), 4))


@network()
def norm_behind_maximum(g):
    """Maxout."""
    x = g.input(*IMAGE)
    return g.norm(g.node("Max", g.conv(x, 4, 3), g.conv(x, 4, 3, 3)), 4)


@network()
def norm_behind_gate(g):
    """The product's scale goes up, its shift only down."""
    x = g.relu(g.conv(g.input(*IMAGE), 4, 3, 3))
    gate = g.node("Sigmoid", g.conv(g.node("GlobalAveragePool", x), 4, 4))
    return g.conv(g.norm(g.node("Mul", x, gate), 4, turned=True), 5, 4)


# --- Resize and other places --------------------------------------------------------------------------------------------
@network(one_in_text=True)
def norm_behind_resize(g):
    x = g.node("Resize", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)), "", g.const(np.array([1, 1, 2, 2]), dtype=np.float32),
               mode="nearest")
    return g.relu(g.conv(g.norm(x, 4, turned=True), 3, 4, 3))


@network(one_in_text=True)
def norm_behind_linear_resize(g):
    x = g.node("Resize", g.conv(g.input(*IMAGE), 4, 3, 3), "", g.const(np.array([1, 1, 2, 2]), dtype=np.float32),
               mode="linear")
    return g.relu(g.conv(g.norm(x, 4), 3, 4, 3))


@network(one_in_text=True)
def feature_pyramid(g):
    """A coarse map is enlarged, and added to a fine one."""
    fine = g.relu(g.norm(g.conv(g.input(*IMAGE), 4, 3, 3), 4))
    coarse = g.conv(g.node("MaxPool", fine, **HALVED), 5, 4)
    large = g.node("Resize", coarse, "", g.const(np.array([1, 1, 2, 2]), dtype=np.float32), mode="nearest")
    return g.conv(g.norm(g.add(large, g.conv(fine, 5, 4)), 5), 5, 5, 3)


@network(left=1)
def unet(g):
    """The skipped part has another reader, and the convolution behind is padded."""
    skip = g.relu(g.norm(g.conv(g.input(*IMAGE), 4, 3, 3), 4))
    deep = g.relu(g.conv(g.node("MaxPool", skip, **HALVED), 6, 4, 3))
    up = g.node("ConvTranspose", deep, g.const(g.array(6, 4, 2, 2) / 2), kernel_shape=[2, 2], strides=[2, 2])
    return g.conv(g.relu(g.norm(g.concat(skip, up), 8)), 3, 8, 3)


@network()
def norm_behind_pixel_shuffle(g):
    x = g.node("DepthToSpace", g.relu(g.conv(g.input("N", 3, 4, 6), 16, 3, 3)), blocksize=2)
    return g.conv(g.norm(x, 4, turned=True), 3, 4, 3)


@network()
def norm_behind_transpose(g):
    x = g.node("Transpose", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)), perm=[0, 1, 3, 2])
    return g.conv(g.norm(x, 4), 3, 4, 3)


@network()
def norms_around_relu(g):
    return g.norm(g.relu(g.norm(g.conv(g.input(*IMAGE), 4, 3, 3), 4, turned=True)), 4, turned=True)


@network()
def norm_behind_relu6(g):
    x = g.node("Clip", g.conv(g.input(*IMAGE), 4, 3, 3), g.scalar(0), g.scalar(6))
    return g.conv(g.norm(x, 4, turned=True), 4, 4, 3, group=4)


@network()
def norm_behind_leaky_relu(g):
    """The convolution behind takes up the shift."""
    return g.conv(g.norm(g.node("LeakyRelu", g.conv(g.input(*IMAGE), 4, 3, 3), alpha=0.2), 4), 3, 4)


@network(left=1)
def norm_between_leaky_relu_and_padding(g):
    return g.conv(g.norm(g.node("LeakyRelu", g.conv(g.input(*IMAGE), 4, 3, 3), alpha=0.2), 4), 3, 4, 3)


@network()
def norm_behind_dropout(g):
    x = g.node("Dropout", g.relu(g.conv(g.input(*IMAGE), 4, 3, 3)))
    return g.norm(x, 4)


@network()
def norm_beside_constant_channels(g):
    """Coordinates beside features (CoordConv)."""
    x = g.relu(g.conv(g.input(2, 3, 4, 6), 4, 3, 3))
    return g.conv(g.norm(g.concat(x, g.random_const(2, 2, 4, 6)), 6, turned=True), 3, 6, 3)


@network()
def norm_of_features(g):
    """A perceptron: norms behind relus of products, with a skipped connection."""
    x = g.input("N", 6)
    y = g.norm(g.relu(g.gemm(x, 6, 8)), 8)
    z = g.norm(g.relu(g.gemm(y, 8, 8)), 8, turned=True)
    return g.gemm(g.concat(y, z), 16, 3)


@network()
def ensemble(g):
    """Two networks of one input, averaged, and a norm of that."""
    x = g.input("N", 6)
    ends = [g.gemm(g.relu(g.gemm(x, 6, 5)), 5, 4) for _ in range(2)]
    return g.norm(g.node("Mul", g.add(*ends), g.scalar(0.5)), 4)


# --- Recurrent layers: ONNX Runtime has none of f16 -------------------------------------------------------------------
def recurrent(g, kind, gates, inner, hidden, bidirectional, bias=True):
    """Of features [N, inner, T], as of a spectrogram, behind a norm of each."""
    directions = 2 if bidirectional else 1
    x = g.node("Transpose", g.norm(g.input("N", inner, "W"), inner, turned=True), perm=[2, 0, 1])
    weights = [g.random_const(directions, gates * hidden, inner), g.random_const(directions, gates * hidden, hidden)]
    if bias:
        weights.append(g.random_const(directions, 2 * gates * hidden))
    more = {"direction": "bidirectional"} if bidirectional else {}
    return g.node(kind, x, *weights, hidden_size=hidden, **more)


@network(kinds=("f32", "f64"))
def norm_before_lstm(g):
    return recurrent(g, "LSTM", 4, 5, 3, bidirectional=True)


@network(kinds=("f32", "f64"))
def norm_before_lstm_without_bias(g):
    return recurrent(g, "LSTM", 4, 5, 3, bidirectional=False, bias=False)


@network(kinds=("f32", "f64"))
def norm_before_gru(g):
    return recurrent(g, "GRU", 3, 5, 4, bidirectional=True)


@network(kinds=("f32", "f64"))
def norm_before_rnn(g):
    return recurrent(g, "RNN", 1, 4, 4, bidirectional=False)


# --- How they are judged ------------------------------------------------------------------------------------------------
PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}


def norms_of_onnx(path):
    """Batch norms, and what scales or shifts by constants what is no product."""
    graph = onnx.load(path).graph
    constants = {each.name for each in graph.initializer if numpy_helper.to_array(each).size > 1}
    makers = {node.output[0]: node.op_type for node in graph.node}
    count = 0
    for node in graph.node:
        others = [each for each in node.input if each not in constants]
        if node.op_type == "BatchNormalization":
            count += 1
        elif node.op_type in ("Mul", "Div"):
            count += len(others) == 1
        elif node.op_type in ("Add", "Sub"):
            count += len(others) == 1 and makers.get(others[0]) not in PRODUCTS
    return count


def norms_of_stablehlo(path):
    """Batch norms alone: the decompositions of pools and the like have constants, too."""
    with open(path) as file:
        return len(re.findall("stablehlo.batch_norm_inference", file.read()))


class Failure(Exception):
    pass


class Trial:
    """One network of one kind, with known sizes or without."""

    def __init__(self, sinter, folder, entry, kind, is_dynamic):
        self.sinter, self.folder = sinter, folder
        name, fill, left, left_open, left_half, one_in_text, _ = entry
        self.left = left
        self.left_in_text = 1 if one_in_text and is_dynamic else None
        if is_dynamic and left_open is not None:
            self.left = left_open
        if kind == "f16" and left_half is not None:
            self.left = left_half
        self.name = f"{name}_{kind}{'_open' if is_dynamic else ''}"
        self.graph = Network(kind)
        self.graph.output(fill(self.graph))
        self.is_dynamic = is_dynamic
        os.makedirs(folder)
        onnx.save(self.graph.model({} if is_dynamic else SIZES), self.path("given.onnx"))
        self.feeds = self.graph.feeds(SIZES)
        self.task = OnnxRuntime.Task(self.path("given.onnx"), self.feeds, self.path("runtime"), level="disabled")

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        done = subprocess.run([self.sinter, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(os.path.basename(each) for each in arguments)}: {done.returncode} "
                          f"{done.stderr.strip()}")

    def values(self, model, backend="cpu"):
        out = self.path(f"out_{model}_{backend}")
        inputs = []
        for name, array in self.feeds.items():
            file = self.path(f"{name}.npy")
            np.save(file, array)
            inputs += ["--input", file]
        self.command("run", self.path(model), *inputs, "--backend", backend, "--no-cache", "--threads", "1", "--output-dir", out)
        return [np.load(os.path.join(out, each)).astype(np.float64) for each in sorted(os.listdir(out))]

    def check(self, model, found, expected):
        # StableHLO's pools of f16 sum up in f32, into which no norm goes.
        left = self.left if model == "optimized.onnx" or self.left_in_text is None else self.left_in_text
        # Where a shift alone stays, there is no batch norm.
        is_wrong = found != left if model == "optimized.onnx" else found > left
        if is_wrong and not (self.graph.kind == "f16" and model == "optimized.mlir"):
            raise Failure(f"{found} norms in {model}, not {left}")
        for one, other in zip(self.values(model), expected, strict=True):
            largest = max(1, np.max(np.abs(other)))
            if one.shape != other.shape or not np.allclose(one, other, rtol=0, atol=self.graph.tolerance * largest):
                raise Failure(f"{model} differs by {np.max(np.abs(one - other)) / largest:.3g}")

    def run(self):
        if self.graph.kind == "f64":
            expected = self.values("given.onnx", "interpreter")
        elif self.task.error:
            raise Failure(f"ONNX Runtime: {self.task.error}")
        else:
            expected = [each.astype(np.float64) for each in self.task.outputs.values()]
        self.command("optimize", self.path("given.onnx"), "-o", self.path("optimized.onnx"))
        self.check("optimized.onnx", norms_of_onnx(self.path("optimized.onnx")), expected)
        self.command("convert", self.path("given.onnx"), "-o", self.path("given.mlir"))
        self.command("optimize", self.path("given.mlir"), "-o", self.path("optimized.mlir"))
        self.check("optimized.mlir", norms_of_stablehlo(self.path("optimized.mlir")), expected)
        if self.graph.kind == "f32" and not self.is_dynamic:
            self.command("convert", self.path("given.onnx"), "-o", self.path("given.pdmodel"))
            self.command("optimize", self.path("given.pdmodel"), "-o", self.path("optimized.pdmodel"))
            self.command("convert", self.path("optimized.pdmodel"), "-o", self.path("paddle.mlir"))
            self.check("optimized.pdmodel", norms_of_stablehlo(self.path("paddle.mlir")), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--keep")
    given = parser.parse_args()
    cells = [(entry, kind, is_dynamic) for entry in NETWORKS for kind in entry[-1] for is_dynamic in (False, True)]
    folder = tempfile.mkdtemp()
    try:
        trials = [Trial(given.sinter, os.path.join(folder, str(i)), *cell) for i, cell in enumerate(cells)]
        trials = [each for each in trials if given.filter in each.name][::given.every]
        OnnxRuntime.run([each.task for each in trials if each.graph.kind != "f64"])
        failed = 0
        for trial in trials:
            try:
                trial.run()
            except Failure as failure:
                failed += 1
                print(f"{trial.name}: {failure}")
                if given.keep:
                    shutil.copytree(trial.folder, os.path.join(given.keep, trial.name), dirs_exist_ok=True)
    finally:
        shutil.rmtree(folder)
    print(f"{len(trials) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
