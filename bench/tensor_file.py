"""Reads tensors from ONNX's TensorProto files and from .npy, with nothing but Python's own library."""
import array
import ast
import math
import os
import struct

# Of onnx.TensorProto.DataType: number -> (letter of `array` for raw bytes, field with the values if they are not raw).
TYPES = {1: ("f", 4), 2: ("B", 5), 3: ("b", 5), 4: ("H", 5), 5: ("h", 5), 6: ("i", 5), 7: ("q", 7), 9: ("B", 5), 10: ("e", 5),
         11: ("d", 10), 12: ("I", 11), 13: ("Q", 11), 16: ("bf16", 5)}
NPY = {"f4": "f", "f8": "d", "f2": "e", "V2": "bf16", "i1": "b", "u1": "B", "b1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
       "i8": "q", "u8": "Q"}


def numbers(letter, raw):
    """The values in little-endian bytes."""
    if letter == "bf16":
        halves = array.array("H", raw)
        wide = array.array("I", (each << 16 for each in halves))
        return array.array("f", wide.tobytes())
    if letter == "e":
        return struct.unpack(f"<{len(raw) // 2}e", raw)
    return array.array(letter, raw)


def fields(message):
    """The fields of a protobuf message: (number, integer or bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        field, kind = key >> 3, key & 7
        if kind == 0:
            yield field, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        yield field, message[at : at + size]
        at += size


def varints(value):
    """The signed numbers of a packed field, or the one of a field that is not."""
    if isinstance(value, int):
        found = [value]
    else:
        found, item, shift = [], 0, 0
        for byte in value:
            item |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                found.append(item)
                item = shift = 0
    return [each - (1 << 64) if each >> 63 else each for each in found]


def name_in(path):
    """The name in a TensorProto file, or ''."""
    with open(path, "rb") as file:
        return next((value.decode() for field, value in fields(file.read()) if field == 8), "")


def read_proto(path):
    """(name, values) of a TensorProto file."""
    name, kind, raw, loose, floats = "", 0, None, [], b""
    with open(path, "rb") as file:
        message = file.read()
    for field, value in fields(message):
        if field == 2:
            kind = value
        elif field == 8:
            name = value.decode()
        elif field == 9:
            raw = value
        elif field in (5, 7, 11):
            loose += varints(value)
        elif field in (4, 10):
            floats += value
    if kind not in TYPES:
        raise ValueError(f"{path}: element type {kind} is not read here")
    letter = TYPES[kind][0]
    if raw is not None or floats:
        return name, numbers(letter, raw if raw is not None else floats)
    if letter in ("e", "bf16"):
        return name, numbers(letter, struct.pack(f"<{len(loose)}H", *loose))
    return name, loose


def read_npy(path):
    """The values of a .npy file."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise ValueError(f"{path} is no .npy file")
        major = file.read(2)[0]
        size = struct.unpack("<H", file.read(2))[0] if major == 1 else struct.unpack("<I", file.read(4))[0]
        header = ast.literal_eval(file.read(size).decode())
        letter = NPY.get(header["descr"][1:])
        if letter is None or header["fortran_order"] or header["descr"][0] == ">":
            raise ValueError(f"{path}: {header['descr']} is not read here")
        return numbers(letter, file.read())


def numbered(folder, kind):
    """The files KIND_0.pb, KIND_1.pb ... in a data set."""
    found = []
    while os.path.exists(path := os.path.join(folder, f"{kind}_{len(found)}.pb")):
        found.append(path)
    return found


def written_name(name):
    """The file, without its ending, into which `sinter run --output-dir` writes an output."""
    name = "".join("_" if letter == "/" or letter < " " else letter for letter in name[:150])
    return "_" + name if not name or name[0] == "." else name


def cosine(expected, got):
    """The cosine of the angle between two lists of numbers; NaN where they do not have as many."""
    if len(expected) != len(got):
        return math.nan
    product = math.sumprod(expected, got) if hasattr(math, "sumprod") else math.fsum(a * b for a, b in zip(expected, got))
    norms = math.sqrt(math.fsum(a * a for a in expected) * math.fsum(b * b for b in got))
    return product / norms if norms else float(all(a == b for a, b in zip(expected, got)))
