"""A model that can be rewritten: nodes in order, constants as arrays, names made once."""
import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# ONNX's 4-bit signed integer: newer than some releases of the onnx package, so its number stands here.
INT4 = 22
# What is left out of a model that is only looked at by shape inference, in elements.
LARGE = 1024
FLOAT_TYPES = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)


class Unsupported(Exception):
    """A model that cannot be brought into a style, with the reason."""


class Packed:
    """A constant that numpy has no type for: its ONNX type, shape and bytes."""

    def __init__(self, data_type, shape, raw):
        self.data_type, self.shape, self.raw = data_type, tuple(shape), raw

    def tensor(self, name):
        return TensorProto(name=name, data_type=self.data_type, dims=self.shape, raw_data=self.raw)


def attribute(node, name, default=None):
    for each in node.attribute:
        if each.name == name:
            return helper.get_attribute_value(each)
    return default


class Graph:
    """The main graph of a model; Constant nodes become constants, and batch norms go into the convolutions before them."""

    def __init__(self, model):
        inner = [node for node in model.graph.node for each in node.attribute if each.HasField("g") or each.graphs]
        if inner:
            raise Unsupported(f"node '{inner[0].name}' ({inner[0].op_type}) has graphs inside, which are not quantised here")
        self.opsets = {each.domain: each.version for each in model.opset_import}
        if "ai.onnx" in self.opsets:
            self.opsets[""] = self.opsets.pop("ai.onnx")
        self.ir_version = max(model.ir_version, 7)
        self.constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        self.inputs = [each for each in model.graph.input if each.name not in self.constants]
        self.outputs = list(model.graph.output)
        self.nodes = []
        for node in model.graph.node:
            if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
                self.constants[node.output[0]] = constant_value(node)
            else:
                self.nodes.append(copy_of(node))
        self.names = set(self.constants) | {each.name for each in self.inputs}
        self.names.update(name for node in self.nodes for name in [node.name, *node.output])
        fold_batch_norms(self)

    def copy(self):
        other = Graph.__new__(Graph)
        other.__dict__.update(self.__dict__)
        other.opsets, other.constants, other.names = dict(self.opsets), dict(self.constants), set(self.names)
        other.inputs = [copy_of(each) for each in self.inputs]
        other.outputs = [copy_of(each) for each in self.outputs]
        other.nodes = [copy_of(node) for node in self.nodes]
        return other

    def fresh(self, base):
        """A name that nothing has yet."""
        name, count = base, 1
        while name in self.names:
            name, count = f"{base}_{count}", count + 1
        self.names.add(name)
        return name

    def constant(self, base, value):
        name = self.fresh(base)
        self.constants[name] = value
        return name

    def producers(self):
        return {name: node for node in self.nodes for name in node.output if name}

    def consumers(self):
        """Name -> nodes that read it, a node once for each time."""
        found = collections.defaultdict(list)
        for node in self.nodes:
            for name in node.input:
                if name:
                    found[name].append(node)
        return found

    def output_names(self):
        return {each.name for each in self.outputs}

    def model(self, with_large=True):
        """The ONNX model. Without large constants, they are inputs, which shape inference takes just as well."""
        used = {name for node in self.nodes for name in node.input} | self.output_names()
        initializers, inputs = [], list(self.inputs)
        for name, value in self.constants.items():
            if name not in used:
                continue
            if isinstance(value, Packed):
                initializers.append(value.tensor(name))
            elif with_large or value.size < LARGE:
                initializers.append(numpy_helper.from_array(value, name))
            else:
                inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype) if hasattr(
                    helper, "np_dtype_to_tensor_dtype") else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[value.dtype], value.shape))
        graph = helper.make_graph(self.nodes, "net", inputs, self.outputs, initializers)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="sinter-bench-quantized")
        made.ir_version = self.ir_version
        return made

    def value_types(self):
        """Name -> (ONNX element type, shape or None) of inputs and of what nodes give, as far as shape inference knows it."""
        inferred = onnx.shape_inference.infer_shapes(self.model(with_large=False)).graph
        known = {}
        for each in [*inferred.input, *inferred.value_info, *inferred.output]:
            kind = each.type.tensor_type
            shape = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim] if kind.HasField("shape") else None
            if each.name not in self.constants:
                known[each.name] = (kind.elem_type, shape)
        return known

    def float_values(self):
        """The names of all f32 values that nodes read or give, constants left out, in the order in which they come."""
        known = self.value_types()
        order = [each.name for each in self.inputs] + [name for node in self.nodes for name in node.output]
        return [name for name in order if known.get(name, (0, None))[0] == TensorProto.FLOAT]

    def raise_opset(self, version):
        """Brings the model to a newer operator set, by what changed in the operators that are there."""
        old = self.opsets[""]
        if old < 13:
            raise Unsupported(f"operator set {old} is older than 13, which is the first with scales per channel")
        if old >= version:
            return
        for node in self.nodes:
            if node.domain not in ("", "ai.onnx"):
                continue
            if node.op_type.startswith("Reduce") and node.op_type != "ReduceSum" and old < 18 <= version:
                axes = attribute(node, "axes")
                if axes is not None:
                    kept = [each for each in node.attribute if each.name != "axes"]
                    del node.attribute[:]
                    node.attribute.extend(kept)
                    node.input.append(self.constant(node.output[0] + "_axes", np.array(axes, np.int64)))
            elif node.op_type == "Split" and old < 18 <= version and len(node.input) < 2:
                node.attribute.append(helper.make_attribute("num_outputs", len(node.output)))
            elif node.op_type == "GridSample" and old < 20 <= version:
                raise Unsupported(f"node '{node.name}': GridSample means something else in operator set {version}")
        self.opsets[""] = version
        self.ir_version = max(self.ir_version, {18: 8, 19: 9, 20: 9, 21: 10, 22: 10}.get(version, 8))


def copy_of(message):
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def constant_value(node):
    for each in node.attribute:
        if each.name == "value":
            return numpy_helper.to_array(each.t)
        if each.name in ("value_float", "value_floats"):
            return np.array(helper.get_attribute_value(each), np.float32)
        if each.name in ("value_int", "value_ints"):
            return np.array(helper.get_attribute_value(each), np.int64)
    raise Unsupported(f"Constant '{node.name}' has no value that is a tensor of numbers")


def fold_batch_norms(graph):
    """Conv -> BatchNormalization  =>  Conv with scaled weights and another bias, where nothing else reads the convolution."""
    consumers, producers = graph.consumers(), graph.producers()
    uses = collections.Counter(name for node in graph.nodes for name in node.input)
    for norm in [node for node in graph.nodes if node.op_type == "BatchNormalization"]:
        conv = producers.get(norm.input[0])
        if (conv is None or conv.op_type != "Conv" or len(consumers[norm.input[0]]) != 1 or norm.input[0] in graph.output_names()
                or any(name not in graph.constants for name in [*norm.input[1:], *conv.input[1:]])
                or len([name for name in norm.output if name]) > 1):
            continue
        scale, shift, mean, variance = (graph.constants[name].astype(np.float64) for name in norm.input[1:5])
        factor = scale / np.sqrt(variance + attribute(norm, "epsilon", 1e-5))
        weight = graph.constants[conv.input[1]]
        bias = graph.constants[conv.input[2]] if len(conv.input) > 2 and conv.input[2] else 0
        scaled = (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.float32)
        if uses[conv.input[1]] == 1:
            del graph.constants[conv.input[1]]
        names = [graph.constant(conv.input[1] + "_folded", scaled),
                 graph.constant(conv.output[0] + "_bias", ((bias - mean) * factor + shift).astype(np.float32))]
        del conv.input[1:]
        conv.input.extend(names)
        conv.output[0] = norm.output[0]
        producers[conv.output[0]] = conv
        graph.nodes.remove(norm)


def expand_gemms(graph):
    """Gemm with constant weights  =>  MatMul, and an Add where there is a bias: the standard has no 8-bit Gemm."""
    nodes = []
    for node in graph.nodes:
        if not is_plain_gemm(graph, node):
            nodes.append(node)
            continue
        weight = graph.constants[node.input[1]]
        if attribute(node, "transB", 0):
            weight = np.ascontiguousarray(weight.T)
        name = graph.constant(node.input[1] + "_matmul", weight)
        has_bias = len(node.input) > 2 and node.input[2]
        product = graph.fresh(node.output[0] + "_product") if has_bias else node.output[0]
        nodes.append(helper.make_node("MatMul", [node.input[0], name], [product], name=graph.fresh(node.name + "_matmul")))
        if has_bias:
            nodes.append(helper.make_node("Add", [product, node.input[2]], [node.output[0]], name=graph.fresh(node.name + "_bias")))
    graph.nodes = nodes


def is_plain_gemm(graph, node):
    """A Gemm that is a product with constant weights and at most a bias."""
    return (node.op_type == "Gemm" and node.input[1] in graph.constants and not attribute(node, "transA", 0)
            and attribute(node, "alpha", 1.0) == 1.0 and attribute(node, "beta", 1.0) == 1.0)
