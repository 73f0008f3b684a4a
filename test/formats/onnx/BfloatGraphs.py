"""Graphs of f32 with all that is between their inputs and outputs in bf16, and the same in f32 on the same constants.

ONNX Runtime has next to no kernels for bf16, so it judges by the latter.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Rows of operators that ONNX has for bf16 and whose results have no jumps, where one rounding would be another result.
SMOOTH = {"Acos", "Asin", "Atanh", "Sinh", "Cosh", "Tan", "Asinh", "Atan", "Softplus", "Softsign", "Sin", "Cos", "Acosh", "Exp", "Log", "Sqrt",
          "Reciprocal", "Elu", "Celu", "Selu", "HardSigmoid", "HardSwish", "Mish", "Swish", "Dropout", "Clip", "PRelu", "Div", "Pow", "Min", "Max",
          "Mean", "Sum", "ReduceL1", "ReduceLogSum", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare", "Trilu", "CenterCropPad", "ReverseSequence",
          "ScatterElements", "GlobalAveragePool", "GlobalMaxPool", "LRN", "BatchNormalization", "GroupNormalization", "SpaceToDepth", "Gemm",
          "RMSNormalization", "Attention", "RotaryEmbedding", "SplitToSequence", "SequenceConstruct", "Optional"}


def rounded(tensor):
    """The values of a tensor of f32, rounded to bf16, as codes."""
    codes = np.frombuffer(numpy_helper.to_array(tensor).astype(np.float32).tobytes(), np.uint32).astype(np.uint64)
    return ((codes + 0x7FFF + (codes >> 16 & 1)) >> 16).astype(np.uint16)


def restore(tensor, kind):
    if tensor.data_type != TensorProto.FLOAT:
        return
    codes = rounded(tensor)
    raw = codes.tobytes() if kind == TensorProto.BFLOAT16 else (codes.astype(np.uint32) << 16).tobytes()
    tensor.CopyFrom(TensorProto(name=tensor.name, dims=tensor.dims, data_type=kind, raw_data=raw))


def change(graph, kind, names):
    for tensor in graph.initializer:
        restore(tensor, kind)
    for info in [*graph.input, *graph.output, *graph.value_info]:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = kind
    for node in graph.node:
        node.input[:] = [names.get(each, each) for each in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                change(attribute.g, kind, names)
            if attribute.HasField("t"):
                restore(attribute.t, kind)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = kind


def stored(model, kind):
    """The model with its inner values in bf16 or, on the same numbers, in f32. Inputs and outputs are of f32."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph, before = made.graph, []
    names = {each.name: each.name + "_inner" for each in graph.input if each.type.tensor_type.elem_type == TensorProto.FLOAT}
    inputs = [onnx.ValueInfoProto.FromString(each.SerializeToString()) for each in graph.input]
    change(graph, kind, names)
    del graph.input[:]
    graph.input.extend(inputs)
    for name, inner in names.items():
        before += [helper.make_node("Cast", [name], [inner + "_b"], to=TensorProto.BFLOAT16), helper.make_node("Cast", [inner + "_b"], [inner], to=kind)]
    after = [helper.make_node("Cast", [each.name], [each.name + "_f32"], to=TensorProto.FLOAT) for each in graph.output]
    nodes = before + list(graph.node) + after
    del graph.node[:], graph.output[:]
    graph.node.extend(nodes)
    graph.output.extend(onnx.ValueInfoProto(name=each.output[0]) for each in after)
    return made
