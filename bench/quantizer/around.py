"""Static quantisation: QuantizeLinear and DequantizeLinear around operations, or the standard's 8-bit operators."""
import numpy as np
from onnx import helper

from . import numbers
from .graph import attribute, is_plain_gemm

PRODUCTS = {"Conv", "MatMul", "Gemm"}
# What computes on two 8-bit values or gives other values than it reads, and so has a scale of its own.
COMPUTING = PRODUCTS | {"Add", "Mul", "AveragePool", "GlobalAveragePool", "Concat"}
# What passes values on: the scale of its first input is that of its output.
PASSING = {"MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Expand", "Identity"}


class Quantisation:
    """A scale and a zero point as constants of a graph, under names shared by all who use the value."""

    def __init__(self, graph, name, scale, zero, axis=None):
        self.scale_value, self.axis = scale, axis
        self.scale = graph.constant(name + "_scale", np.asarray(scale))
        self.zero = graph.constant(name + "_zero_point", np.asarray(zero))


def weight_axis(graph, node, number):
    """The axis of a product's constant operand along which its outputs lie, or None: one scale for all."""
    shape = graph.constants[node.input[number]].shape
    if node.op_type == "Conv":
        return 0
    if node.op_type == "Gemm":
        return 0 if attribute(node, "transB", 0) else 1
    return 1 if number == 1 and len(shape) == 2 else None


class Rewriter:
    """Puts QuantizeLinear and DequantizeLinear into a graph."""

    def __init__(self, graph, ranges):
        self.graph, self.ranges = graph, ranges
        self.of = {}       # activation -> Quantisation
        self.weights = {}  # (constant, axis) -> (dequantised name, Quantisation)
        self.nodes = []

    def activation(self, name):
        if name not in self.of:
            self.of[name] = Quantisation(self.graph, name, *numbers.activation(*self.ranges[name]))
        return self.of[name]

    def pair(self, source, target, value):
        """source -> QuantizeLinear -> DequantizeLinear -> target, on the scale of a value."""
        how = self.activation(value)
        middle = self.graph.fresh(source + "_quantized")
        self.nodes.append(helper.make_node("QuantizeLinear", [source, how.scale, how.zero], [middle],
                                           name=self.graph.fresh(source + "_QuantizeLinear")))
        self.nodes.append(helper.make_node("DequantizeLinear", [middle, how.scale, how.zero], [target],
                                           name=self.graph.fresh(source + "_DequantizeLinear")))

    def dequantised(self, name, values, how):
        stored = self.graph.constant(name + "_quantized", values)
        target = self.graph.fresh(name + "_dequantized")
        attributes = {} if how.axis is None else {"axis": how.axis}
        self.nodes.append(helper.make_node("DequantizeLinear", [stored, how.scale, how.zero], [target],
                                           name=self.graph.fresh(name + "_DequantizeLinear"), **attributes))
        return target

    def weight(self, name, axis):
        """A constant as s8 behind DequantizeLinear: (its name, how it is quantised)."""
        if (name, axis) not in self.weights:
            values, scale = numbers.weight(self.graph.constants[name], axis)
            how = Quantisation(self.graph, name, scale, np.zeros(scale.shape, np.int8), axis)
            self.weights[name, axis] = self.dequantised(name, values, how), how
        return self.weights[name, axis]

    def operand(self, name):
        """A constant beside an activation, in the activations' type behind DequantizeLinear: (its name, how it is quantised)."""
        if (name, "u8") not in self.weights:
            array = self.graph.constants[name]
            scale, zero = numbers.activation(float(array.min()), float(array.max()))
            how = Quantisation(self.graph, name, scale, zero)
            values = np.clip(np.rint(array / scale) + zero, 0, 255).astype(np.uint8)
            self.weights[name, "u8"] = self.dequantised(name, values, how), how
        return self.weights[name, "u8"]

    def bias(self, name, factor, scale):
        """A bias as s32 behind DequantizeLinear, on the scales of what is added up: (its name)."""
        values = self.graph.constants[name].reshape(-1)
        scale = np.broadcast_to(np.float32(factor) * scale, values.shape).astype(np.float32)
        how = Quantisation(self.graph, name, scale, np.zeros(values.shape, np.int32), 0)
        return self.dequantised(name, numbers.bias(values, scale), how)


def fold_clamps(graph, ranges):
    """Conv -> Relu or Clip(0, ..)  =>  Conv, whose range is then that of the clamp: a zero point at the lower end clamps."""
    consumers, producers, outputs = graph.consumers(), graph.producers(), graph.output_names()
    for clamp in [node for node in graph.nodes if node.op_type in ("Relu", "Clip")]:
        before, value = producers.get(clamp.input[0]), clamp.input[0]
        if (before is None or before.op_type not in PRODUCTS | {"Add", "Mul", "AveragePool", "GlobalAveragePool"}
                or len(consumers[value]) != 1 or value in outputs or clamp.output[0] not in ranges):
            continue
        if clamp.op_type == "Clip":
            low = graph.constants.get(clamp.input[1]) if len(clamp.input) > 1 else None
            high = clamp.input[2] if len(clamp.input) > 2 else ""
            if low is None or low.item() != 0 or (high and high not in graph.constants):
                continue
        before.output[0] = clamp.output[0]
        producers[clamp.output[0]] = before
        graph.nodes.remove(clamp)


def is_computing(graph, node, ranges, shapes):
    """Whether the style quantises a node: all its activations are measured, and it is not a mere scalar's effect."""
    if node.domain not in ("", "ai.onnx") or node.op_type not in COMPUTING or node.output[0] not in ranges:
        return False
    if any(name not in graph.constants and name not in ranges for name in node.input if name):
        return False
    if node.op_type == "Gemm":
        return is_plain_gemm(graph, node)
    if node.op_type == "Conv":
        return node.input[1] in graph.constants and all(name in graph.constants for name in node.input[2:])
    if node.op_type in ("Add", "Mul"):
        # A scalar's addition and the columns of statistics in a norm gain nothing from eight bits.
        sizes = [graph.constants[name].size if name in graph.constants else None for name in node.input]
        result = shapes.get(node.output[0], (0, None))[1]
        return 1 not in sizes and not (result and result[-1:] == [1] and len(result) < 4)
    return True


def around(graph, ranges, left=frozenset()):
    """u8 activations (per tensor, asymmetric), s8 weights (per channel, symmetric) and s32 biases around every operation
    that has an 8-bit form; clamps go into the ranges, and what passes values on keeps their scale. Operators that are left stay float."""
    fold_clamps(graph, ranges)
    shapes = graph.value_types()
    writer, outputs = Rewriter(graph, ranges), graph.output_names()
    computing = {id(node) for node in graph.nodes if node.op_type not in left and is_computing(graph, node, ranges, shapes)}
    chosen = {name for node in graph.nodes if id(node) in computing for name in [*node.input, *node.output] if name in ranges}
    for node in graph.nodes:
        if node.op_type in PASSING and node.input[0] in chosen and node.output[0] in ranges:
            chosen.add(node.output[0])
            writer.of[node.output[0]] = writer.activation(node.input[0])
    replaced, given = {}, []
    for each in graph.inputs:
        if each.name in chosen:
            replaced[each.name] = graph.fresh(each.name + "_dequantized")
            writer.pair(each.name, replaced[each.name], each.name)
    for node in graph.nodes:
        if id(node) in computing:
            quantise_operands(writer, node)
        for i, name in enumerate(node.input):
            node.input[i] = replaced.get(name, name)
        given.append(node)
        writer.nodes.append(node)
        for i, name in enumerate(node.output):
            if name in chosen and name in outputs:
                node.output[i] = graph.fresh(name + "_float")
                writer.pair(node.output[i], name, name)
            elif name in chosen:
                replaced[name] = graph.fresh(name + "_dequantized")
                writer.pair(name, replaced[name], name)
    graph.nodes = writer.nodes


def quantise_operands(writer, node):
    """Constant operands of a computing node in eight bits, biases in 32."""
    graph, kind = writer.graph, node.op_type
    scales = []
    for i, name in enumerate(node.input):
        if not name:
            continue
        if kind in ("Conv", "Gemm") and i == 2:
            continue
        if name not in graph.constants:
            scales.append(writer.activation(name).scale_value)
            continue
        node.input[i], how = writer.weight(name, weight_axis(graph, node, i)) if kind in PRODUCTS else writer.operand(name)
        scales.append(how.scale_value)
    if kind in ("Conv", "Gemm") and len(node.input) > 2 and node.input[2] in graph.constants:
        channels = np.size(scales[1])
        if graph.constants[node.input[2]].size == channels:
            node.input[2] = writer.bias(node.input[2], scales[0], scales[1])


def inputs(graph, ranges):
    """QuantizeLinear and DequantizeLinear on what products read, weights in s8: their results stay float."""
    writer, replaced = Rewriter(graph, ranges), {}
    for node in graph.nodes:
        if node.op_type in PRODUCTS and node.domain in ("", "ai.onnx"):
            for i, name in enumerate(node.input[:2]):
                if name in graph.constants:
                    node.input[i] = writer.weight(name, weight_axis(graph, node, i))[0]
                elif name in ranges:
                    if name not in replaced:
                        replaced[name] = graph.fresh(name + "_dequantized")
                        writer.pair(name, replaced[name], name)
                    node.input[i] = replaced[name]
        writer.nodes.append(node)
    graph.nodes = writer.nodes
