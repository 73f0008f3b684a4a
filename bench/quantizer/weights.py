"""Weights stored in few bits, computed with in float."""
import numpy as np
from onnx import helper

from . import numbers
from .around import PRODUCTS, Rewriter, weight_axis
from .graph import Unsupported, attribute

BLOCKS_OPSET = 21


def weights8(graph):
    """s8 weights of products behind DequantizeLinear per channel; activations stay float."""
    writer = Rewriter(graph, {})
    for node in graph.nodes:
        if node.op_type in PRODUCTS and node.domain in ("", "ai.onnx"):
            for i, name in enumerate(node.input[:2]):
                if name in graph.constants:
                    node.input[i] = writer.weight(name, weight_axis(graph, node, i))[0]
        writer.nodes.append(node)
    graph.nodes = writer.nodes


def weights4(graph, block=32):
    """int4 weights of MatMul and Gemm behind DequantizeLinear, a scale for each block along what is added up."""
    graph.raise_opset(BLOCKS_OPSET)
    nodes, made = [], {}
    for node in graph.nodes:
        name = node.input[1] if node.op_type in ("MatMul", "Gemm") else None
        if name in graph.constants and graph.constants[name].ndim == 2:
            axis = 1 if attribute(node, "transB", 0) else 0
            if (name, axis) not in made:
                values, scale = numbers.blocks4(graph.constants[name], axis, block)
                made[name, axis] = graph.fresh(name + "_dequantized")
                nodes.append(helper.make_node(
                    "DequantizeLinear", [graph.constant(name + "_int4", values), graph.constant(name + "_scale", scale)],
                    [made[name, axis]], name=graph.fresh(name + "_DequantizeLinear"), axis=axis, block_size=block))
            node.input[1] = made[name, axis]
        nodes.append(node)
    if not made:
        raise Unsupported("no MatMul or Gemm has a constant matrix")
    graph.nodes = nodes
