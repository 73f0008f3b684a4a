"""Models in f16 and bf16, and in f64 to judge by."""
import numpy
import onnx
import onnx.numpy_helper
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "f64": TensorProto.DOUBLE}
# What is f32 in whatever type the operator computes: its inputs, by number.
KEPT_INPUTS = {
    "Resize": {2},
    "Upsample": {1},
    "QuantizeLinear": {1},
    "DequantizeLinear": {1},
}


def rounded(array, kind):
    """The bytes of an array of f32 in f16 or bf16, rounded to nearest even, or in f64."""
    if kind == "f64":
        return numpy.ascontiguousarray(array, dtype=numpy.float64).tobytes()
    array = numpy.ascontiguousarray(array, dtype=numpy.float32)
    if kind == "f16":
        most = numpy.finfo(numpy.float16).max
        finite = numpy.where(numpy.isfinite(array), numpy.clip(array, -most, most), array)
        return finite.astype(numpy.float16).tobytes()
    bits = array.view(numpy.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    nearest = numpy.where(numpy.isnan(array), (bits >> 16) | 0x40, nearest)
    return nearest.astype(numpy.uint16).tobytes()


def convert_tensor(tensor, kind):
    """A tensor of f32 becomes one of f16, bf16 or f64; others stay."""
    if tensor.data_type != FLOAT:
        return
    array = onnx.numpy_helper.to_array(tensor)
    name = tensor.name
    tensor.Clear()
    tensor.name = name
    tensor.data_type = TYPES[kind]
    tensor.dims.extend(array.shape)
    tensor.raw_data = rounded(array, kind)


def convert_type(type_proto, kind):
    if type_proto.HasField("tensor_type"):
        if type_proto.tensor_type.elem_type == FLOAT:
            type_proto.tensor_type.elem_type = TYPES[kind]
    elif type_proto.HasField("sequence_type"):
        convert_type(type_proto.sequence_type.elem_type, kind)
    elif type_proto.HasField("optional_type"):
        convert_type(type_proto.optional_type.elem_type, kind)


def kept_names(graph):
    """Values that stay f32 because an operator wants them so."""
    kept = {
        node.input[i]
        for node in graph.node
        for i in KEPT_INPUTS.get(node.op_type, ())
        if i < len(node.input)
    }
    # So does what they are computed from.
    for node in reversed(graph.node):
        if kept.intersection(node.output):
            kept.update(node.input)
    return kept


def convert_graph(graph, kind):
    """All that is f32 in a graph becomes f16, bf16 or f64, inputs and outputs too."""
    kept = kept_names(graph)
    for tensor in graph.initializer:
        if tensor.name not in kept:
            convert_tensor(tensor, kind)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.name not in kept:
            convert_type(value.type, kind)
    for node in graph.node:
        if kept.intersection(node.output):
            continue
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype") and attribute.i == FLOAT:
                attribute.i = TYPES[kind]
            elif attribute.type == onnx.AttributeProto.TENSOR:
                convert_tensor(attribute.t, kind)
            elif attribute.type == onnx.AttributeProto.GRAPH:
                convert_graph(attribute.g, kind)
            elif attribute.name in ("value_float", "value_floats") and node.op_type == "Constant":
                values = attribute.f if attribute.name == "value_float" else list(attribute.floats)
                tensor = onnx.numpy_helper.from_array(numpy.array(values, numpy.float32))
                convert_tensor(tensor, kind)
                attribute.CopyFrom(onnx.helper.make_attribute("value", tensor))


def cast_borders(graph):
    """Inputs and outputs become f32, with a Cast next to each."""
    for each in graph.input:
        kind = each.type.tensor_type.elem_type
        if kind in TYPES.values():
            rename(graph, each.name, each.name + "_half")
            each.type.tensor_type.elem_type = FLOAT
            graph.node.insert(0, helper.make_node("Cast", [each.name], [each.name + "_half"], name=each.name + "_Cast", to=kind))
    for each in graph.output:
        kind = each.type.tensor_type.elem_type
        if kind in TYPES.values():
            rename(graph, each.name, each.name + "_half")
            each.type.tensor_type.elem_type = FLOAT
            graph.node.append(helper.make_node("Cast", [each.name + "_half"], [each.name], name=each.name + "_Cast", to=FLOAT))


def rename(graph, old, new):
    """Gives a value of the nodes another name."""
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
