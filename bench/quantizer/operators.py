"""What is written with 8-bit operators: QLinearConv and QLinearMatMul, and dynamic quantisation."""
import numpy as np
from onnx import helper

from . import numbers
from .around import PASSING, PRODUCTS, weight_axis
from .graph import attribute, is_plain_gemm

# ONNX Runtime's operators of com.microsoft for what the standard has no 8-bit form of.
MICROSOFT = {"Add": "QLinearAdd", "Mul": "QLinearMul", "AveragePool": "QLinearAveragePool",
             "GlobalAveragePool": "QLinearGlobalAveragePool", "Concat": "QLinearConcat", "Gemm": "QGemm"}


def qlinear(graph, microsoft=False):
    """DequantizeLinear -> operation -> QuantizeLinear  =>  the 8-bit operator, in a graph quantised around its operations."""
    producers, consumers, outputs = graph.producers(), graph.consumers(), graph.output_names()

    def source(name):
        node = producers.get(name)
        return node if node is not None and node.op_type == "DequantizeLinear" else None

    for number, node in enumerate(graph.nodes):
        readers = consumers[node.output[0]] if node.output else []
        if len(readers) != 1 or readers[0].op_type != "QuantizeLinear" or node.output[0] in outputs:
            continue
        given = [source(name) for name in node.input if name]
        made = fused(graph, node, given, readers[0], microsoft)
        if made is not None:
            graph.nodes[number] = made
            readers[0].op_type = ""
    graph.nodes = [node for node in graph.nodes if node.op_type]
    drop_unused(graph)


def fused(graph, node, given, result, microsoft):
    """The 8-bit node for node between the DequantizeLinear nodes given and the QuantizeLinear result, or None."""
    kind, output = node.op_type, list(result.output)
    if kind in PASSING and given and given[0] is not None:
        if list(given[0].input[1:]) != list(result.input[1:]):
            return None
        made = type(node)()
        made.CopyFrom(node)
        made.input[0], made.output[0] = given[0].input[0], output[0]
        return made
    if not given or any(each is None for each in given):
        return None
    operands = [name for each in given[:2] for name in each.input]
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    parameters = list(result.input[1:])
    if kind == "Conv":
        return helper.make_node("QLinearConv", operands + parameters + [each.input[0] for each in given[2:]], output,
                                name=node.name, **attributes)
    if kind == "MatMul":
        return helper.make_node("QLinearMatMul", operands + parameters, output, name=node.name)
    if not microsoft or kind not in MICROSOFT:
        return None
    graph.opsets["com.microsoft"] = 1
    if kind == "Gemm":
        rest = [given[2].input[0] if len(given) > 2 else ""]
        return helper.make_node("QGemm", operands + rest + parameters, output, name=node.name, domain="com.microsoft",
                                alpha=1.0, transB=attributes.get("transB", 0))
    if kind == "Concat":
        operands = parameters + [name for each in given for name in each.input]
        parameters = []
    return helper.make_node(MICROSOFT[kind], operands + parameters, output, name=node.name, domain="com.microsoft", **attributes)


def drop_unused(graph):
    """Removes DequantizeLinear nodes that nothing reads any more."""
    used = {name for node in graph.nodes for name in node.input} | graph.output_names()
    graph.nodes = [node for node in graph.nodes if node.op_type != "DequantizeLinear" or node.output[0] in used]


def dynamic(graph):
    """Products with constant weights  =>  DynamicQuantizeLinear, ConvInteger or MatMulInteger, and the scales after that."""
    nodes, quantised = [], {}

    def add(op, operands, outputs, **attributes):
        nodes.append(helper.make_node(op, operands, outputs, name=graph.fresh(outputs[0] + "_" + op), **attributes))
        return outputs[0]

    for node in graph.nodes:
        plain = node.op_type in ("Conv", "MatMul") and node.input[1] in graph.constants or is_plain_gemm(graph, node)
        if not plain or node.input[0] in graph.constants:
            nodes.append(node)
            continue
        value, result = node.input[0], node.output[0]
        if value not in quantised:
            quantised[value] = [graph.fresh(value + suffix) for suffix in ("_quantized", "_scale", "_zero_point")]
            add("DynamicQuantizeLinear", [value], quantised[value])
        array, axis = graph.constants[node.input[1]], weight_axis(graph, node, 1)
        if node.op_type == "Gemm" and axis == 0:
            array, axis = np.ascontiguousarray(array.T), 1
        values, scale = numbers.weight(array, axis)
        spread = scale.reshape(-1, *[1] * (array.ndim - 2)) if node.op_type == "Conv" else scale
        operands = [quantised[value][0], graph.constant(node.input[1] + "_quantized", values), quantised[value][2]]
        is_conv = node.op_type == "Conv"
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute} if is_conv else {}
        total = add("ConvInteger" if is_conv else "MatMulInteger", operands, [graph.fresh(result + "_s32")], **attributes)
        total = add("Cast", [total], [graph.fresh(result + "_cast")], to=1)
        factor = add("Mul", [quantised[value][1], graph.constant(node.input[1] + "_scale", spread)], [graph.fresh(result + "_scales")])
        bias = node.input[2] if node.op_type != "MatMul" and len(node.input) > 2 else ""
        scaled = add("Mul", [total, factor], [graph.fresh(result + "_scaled") if bias else result])
        if bias:
            if is_conv:
                bias = graph.constant(bias + "_spread", graph.constants[bias].reshape(-1, *[1] * (array.ndim - 2)))
            add("Add", [scaled, bias], [result])
    graph.nodes = nodes
