"""ONNX models as bytes, field by field: good ones and ones that no library would write."""
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from tensor_file import fields  # The fields of a message: (number, value), where a value is a number or bytes.

FLOAT, INT64, BOOL = 1, 7, 9


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, content):
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, shape, raw=None, data_type=FLOAT, external=None):
    """A TensorProto; external is a list of (key, value)."""
    out = b"".join(number(1, size) for size in shape) + number(2, data_type) + data(8, name)
    if raw is not None:
        out += data(9, raw)
    for key, value in external or []:
        out += data(13, data(1, key) + data(2, value))
    return out + (number(14, 1) if external else b"")


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def value_info(name, shape, element=FLOAT):
    dims = b"".join(data(1, data(2, size) if isinstance(size, str) else number(1, size)) for size in shape)
    return data(1, name) + data(2, data(1, number(1, element) + data(2, dims)))


def node(op_type, inputs, outputs, name="", domain="", attributes=b""):
    out = b"".join(data(1, each) for each in inputs) + b"".join(data(2, each) for each in outputs)
    return out + data(3, name) + data(4, op_type) + attributes + (data(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, initializers=()):
    out = b"".join(data(1, each) for each in nodes) + data(2, "graph")
    out += b"".join(data(5, each) for each in initializers)
    return out + b"".join(data(11, each) for each in inputs) + b"".join(data(12, each) for each in outputs)


def function(name, nodes, inputs, outputs, domain="local"):
    out = data(1, name) + b"".join(data(4, each) for each in inputs) + b"".join(data(5, each) for each in outputs)
    return out + b"".join(data(7, each) for each in nodes) + data(9, opset(17)) + data(9, opset(1, domain)) + data(10, domain)


def opset(version, domain=""):
    return data(1, domain) + number(2, version)


def model(graph_bytes, version=17, functions=(), domains=()):
    out = number(1, 8) + data(8, opset(version)) + b"".join(data(8, opset(1, each)) for each in domains)
    return out + data(7, graph_bytes) + b"".join(data(25, each) for each in functions)


def simple(nodes, shape=(2, 3), initializers=(), output="y", **options):
    """A model of one f32 input x and one output."""
    return model(graph(nodes, [value_info("x", shape)], [value_info(output, shape)], initializers), **options)


def without_metadata(content):
    """The fields of a model but for the entries of its metadata."""
    return [(key, value) for key, value in fields(content) if key != 14]


def node_types(content):
    """The operators of the nodes of a model's graph, in order."""
    graph_bytes = next(value for key, value in fields(content) if key == 7)
    return [next(value for key, value in fields(each) if key == 4).decode() for field, each in fields(graph_bytes) if field == 1]


def npy(shape, kind="<f4", content=b""):
    """A .npy file of zeros, or of CONTENT."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    count = 1
    for size in shape:
        count *= size
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + (content or bytes(count * int(kind[2:])))
