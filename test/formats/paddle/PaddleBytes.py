"""PaddlePaddle programs and parameters as bytes, field by field, of every era: no library, and no code of the reader, has a part in them.

A program is described once, in the older vocabulary:

    program = Program()
    program.input("x", [-1, 3])
    program.parameter("w", [3, 2], numbers)
    program.op("mul", {"X": "x", "Y": "w"}, {"Out": "y"}, x_num_col_dims=1)
    program.output("y")
    program.save_separate(folder)          # fluid 1.x: __model__ and a file a parameter
    program.save_combined(folder)          # fluid 1.x: __model__ and __params__
    program.save(folder, "inference")      # 2.x: inference.pdmodel and inference.pdiparams

PIR has a vocabulary of its own, so what it says is described in that: see Pir.
"""
import json
import os
import struct

# VarType.Type
BOOL, INT16, INT32, INT64, FP16, FP32, FP64, LOD_TENSOR = range(8)
SELECTED_ROWS, FEED_MINIBATCH, FETCH_LIST, STEP_SCOPES = 8, 9, 10, 11
LOD_TENSOR_ARRAY, READER, RAW, SIZE_T, UINT8, INT8, BF16 = 13, 15, 17, 19, 20, 21, 22
STRING = 25

# How struct packs one element. bf16 has no letter: its elements are the bits of an integer, or a float that is rounded.
PACKED = {BOOL: "?", INT16: "h", INT32: "i", INT64: "q", FP16: "e", FP32: "f", FP64: "d", UINT8: "B", INT8: "b", BF16: "H"}
# What NumPy calls it in a .npy file.
DESCRIBED = {BOOL: "|b1", INT16: "<i2", INT32: "<i4", INT64: "<i8", FP16: "<f2", FP32: "<f4", FP64: "<f8", UINT8: "|u1", INT8: "|i1", BF16: "<V2"}


#===--- Wire format ---------------------------------------------------------===#

def varint(value):
    """A negative number takes ten bytes, as protobuf has it."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(int(value))


def float32(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def float64(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def data(field, content):
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


#===--- Attributes ----------------------------------------------------------===#

class Attribute:
    """The value of an attribute of a kind of its own; plain values of Python have the kind that Paddle 2 gives them."""

    def __init__(self, kind, content):
        self.kind, self.content = kind, content


def integer(value):
    return Attribute(0, number(3, value))


def long(value):
    return Attribute(9, number(13, value))


def longs(*values):
    return Attribute(11, b"".join(number(15, each) for each in values))


def packed_ints(*values):
    """The same numbers as `ints`, as later versions of protobuf may write them."""
    return Attribute(3, data(6, b"".join(varint(each) for each in values)))


def double(value):
    return Attribute(15, float64(19, value))


def doubles(*values):
    return Attribute(12, b"".join(float64(16, each) for each in values))


def block(index):
    return Attribute(8, number(12, index))


def variables(*names):
    """An attribute that tensors hold."""
    return Attribute(13, data(17, names[0])) if len(names) == 1 else Attribute(14, b"".join(data(18, each) for each in names))


def scalar_message(value):
    if isinstance(value, bool):
        return number(1, 1) + number(2, value)
    if isinstance(value, int):
        return number(1, 2) + number(3, value)
    return number(1, 3) + float64(4, value)


def scalar(value):
    return Attribute(16, data(20, scalar_message(value)))


def scalars(*values):
    return Attribute(17, b"".join(data(21, scalar_message(each)) for each in values))


def floats(*values):
    return Attribute(4, b"".join(float32(7, each) for each in values))


def ints(*values):
    return Attribute(3, b"".join(number(6, each) for each in values))


def attribute(name, value):
    """An OpDesc.Attr. Of an empty list nobody knows the kind: give it by ints() or floats()."""
    if isinstance(value, Attribute):
        kind, content = value.kind, value.content
    elif isinstance(value, bool):
        kind, content = 6, number(10, value)
    elif isinstance(value, int):
        kind, content = (0, number(3, value)) if -1 << 31 <= value < 1 << 31 else (9, number(13, value))
    elif isinstance(value, float):
        kind, content = 1, float32(4, value)
    elif isinstance(value, str):
        kind, content = 2, data(5, value)
    elif isinstance(value[0], bool):
        kind, content = 7, b"".join(number(11, each) for each in value)
    elif isinstance(value[0], int):
        kind, content = 3, b"".join(number(6, each) for each in value)
    elif isinstance(value[0], float):
        kind, content = 4, b"".join(float32(7, each) for each in value)
    else:
        kind, content = 5, b"".join(data(8, each) for each in value)
    return data(1, name) + number(2, kind) + content


#===--- ProgramDesc ---------------------------------------------------------===#

def tensor_desc(element, dims):
    return number(1, element) + b"".join(number(2, each) for each in dims)


def var_type(kind, element=FP32, dims=(), lod_level=0):
    if kind in (LOD_TENSOR, LOD_TENSOR_ARRAY):
        tensor = data(1, tensor_desc(element, dims)) + number(2, lod_level)
        return number(1, kind) + data(3 if kind == LOD_TENSOR else 4, tensor)
    return number(1, kind)


def var_desc(name, type_bytes, persistable=False, more=b""):
    return data(1, name) + data(2, type_bytes) + number(3, persistable) + more


def op_desc(type_name, inputs, outputs, attributes=()):
    """Slots are lists of (name, arguments), attributes of (name, value)."""
    def slot(field, name, arguments):
        return data(field, data(1, name) + b"".join(data(2, each) for each in arguments))
    out = b"".join(slot(1, *each) for each in inputs) + b"".join(slot(2, *each) for each in outputs) + data(3, type_name)
    return out + b"".join(data(4, attribute(*each)) for each in attributes)


def names(value):
    return [value] if isinstance(value, str) else list(value)


class Block:
    def __init__(self, index, parent):
        self.index, self.parent = index, parent
        self.variables, self.ops = [], []

    def variable(self, name, dims=(), element=FP32, kind=LOD_TENSOR, persistable=False, lod_level=0):
        """Declares a variable, once."""
        self.variables.append((name, var_desc(name, var_type(kind, element, dims, lod_level), persistable)))

    def op(self, type_name, inputs, outputs, /, **attributes):
        """Outputs that nothing declared yet are declared as tensors without sizes, as hints that say nothing."""
        inputs = [(slot, names(each)) for slot, each in inputs.items()]
        outputs = [(slot, names(each)) for slot, each in outputs.items()]
        self.ops.append(op_desc(type_name, inputs, outputs, sorted(attributes.items())))
        declared = {name for name, _ in self.variables}
        for name in (name for _, arguments in outputs for name in arguments):
            if name not in declared:
                self.variable(name)
                declared.add(name)

    def encode(self, before=(), after=()):
        out = number(1, self.index) + number(2, self.parent)
        out += b"".join(data(3, each) for _, each in self.variables)
        return out + b"".join(data(4, each) for each in [*before, *self.ops, *after])


class Program(Block):
    """The main block, and those inside."""

    def __init__(self, version=2004002):
        super().__init__(0, -1)
        self.version, self.blocks = version, [self]
        self.inputs, self.outputs, self.parameters = [], [], {}

    def block(self, parent=0):
        self.blocks.append(Block(len(self.blocks), parent))
        return self.blocks[-1]

    def input(self, name, dims, element=FP32, lod_level=0):
        self.variable(name, dims, element, lod_level=lod_level)
        self.inputs.append(name)

    def parameter(self, name, dims, values, element=FP32):
        self.variable(name, dims, element, persistable=True)
        self.parameters[name] = tensor(dims, values, element)

    def output(self, name):
        self.outputs.append(name)

    def encode_program(self, operator_versions=()):
        feed = [op_desc("feed", [("X", ["feed"])], [("Out", [name])], [("col", i)]) for i, name in enumerate(self.inputs)]
        fetch = [op_desc("fetch", [("X", [name])], [("Out", ["fetch"])], [("col", i)]) for i, name in enumerate(self.outputs)]
        lists = Block(0, -1)
        lists.variables = [("feed", var_desc("feed", var_type(FEED_MINIBATCH), True)),
                           ("fetch", var_desc("fetch", var_type(FETCH_LIST), True)), *self.variables]
        lists.ops = self.ops
        out = data(1, lists.encode(reversed(feed), fetch)) + b"".join(data(1, each.encode()) for each in self.blocks[1:])
        if self.version:
            out += data(4, number(1, self.version))
        if operator_versions:
            out += data(5, b"".join(data(1, data(1, name) + data(2, number(1, version))) for name, version in operator_versions))
        return out

    def combined(self):
        """The bytes of a combined file: parameters by name, byte by byte."""
        return b"".join(content for _, content in sorted(self.parameters.items(), key=lambda each: each[0].encode()))

    def save_separate(self, folder, name="__model__"):
        write(os.path.join(folder, name), self.encode_program())
        for parameter, content in self.parameters.items():
            write(os.path.join(folder, parameter), content)
        return folder

    def save_combined(self, folder, name="__model__", parameters="__params__"):
        write(os.path.join(folder, name), self.encode_program())
        write(os.path.join(folder, parameters), self.combined())
        return folder

    def save(self, folder, name="inference"):
        return self.save_combined(folder, name + ".pdmodel", name + ".pdiparams")


#===--- Tensors -------------------------------------------------------------===#

def bits_of_bf16(value):
    """To the nearest, ties to even."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    return 0x7FC0 if value != value else min(bits + 0x7FFF + (bits >> 16 & 1), 0xFFFFFFFF) >> 16


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def raw(values, element=FP32):
    if element == BF16:
        values = [bits_of_bf16(each) if isinstance(each, float) else each for each in values]
    return struct.pack(f"<{len(values)}{PACKED[element]}", *values)


def tensor(dims, values, element=FP32):
    """A parameter as it stands in a file of its own or in a combined one."""
    desc = tensor_desc(element, dims)
    return struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc + raw(values, element)


def npy(dims, values, element=FP32):
    """The bytes of a .npy file."""
    header = f"{{'descr': '{DESCRIBED[element]}', 'fortran_order': False, 'shape': {tuple(dims)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + raw(values, element)


def read_npy(content):
    """(dims, values, element) of the bytes of a .npy file."""
    size, = struct.unpack_from("<H", content, 8)
    header = content[10:10 + size].decode()
    described = header.split("'descr': '")[1].split("'")[0]
    dims = [int(each) for each in header.split("'shape': (")[1].split(")")[0].split(",") if each.strip()]
    element = next(each for each, name in DESCRIBED.items() if name == described)
    count = 1
    for each in dims:
        count *= each
    values = list(struct.unpack_from(f"<{count}{PACKED[element]}", content, 10 + size))
    return dims, [from_bf16(each) for each in values] if element == BF16 else values, element


def write(path, content):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


#===--- PIR -----------------------------------------------------------------===#

PIR_TYPES = {BOOL: "0.t_bool", INT16: "0.t_i16", INT32: "0.t_i32", INT64: "0.t_i64", FP16: "0.t_f16", FP32: "0.t_f32",
             FP64: "0.t_f64", UINT8: "0.t_ui8", INT8: "0.t_i8", BF16: "0.t_bf16"}
PIR_NAMES = {BOOL: "bool", INT16: "int16", INT32: "int32", INT64: "int64", FP16: "float16", FP32: "float32", FP64: "float64",
             UINT8: "uint8", INT8: "int8", BF16: "bfloat16"}


def pir_type(dims, element=FP32):
    return {"#": "0.t_dtensor", "D": [{"#": PIR_TYPES[element]}, list(dims), "NCHW", [], 0]}


def a(kind, value):
    """An attribute by the short name of its kind: a("i32", 3), a("dtype", FP32)."""
    if kind == "dtype":
        return {"#": "1.a_dtype", "D": PIR_NAMES[value]}
    if kind == "place":
        return {"#": "1.a_place", "D": [0, 0, ""]}
    if kind in ("intarray", "scalar", "layout"):
        return {"#": "1.a_" + kind, "D": value}
    if kind == "array":
        return {"#": "0.a_array", "D": value}
    if isinstance(value, float) and value != value or value in (float("inf"), float("-inf")):
        return {"#": "0.a_" + kind, "VD": "NaN" if value != value else "INF" if value > 0 else "-INF"}
    return {"#": "0.a_" + kind, "D": value}


def i32s(*values):
    return a("array", [a("i32", each) for each in values])


def i64s(*values):
    return a("array", [a("i64", each) for each in values])


class PirBlock:
    """The operators of a block. A value is the number that an operator's method gives."""

    def __init__(self, pir):
        self.pir, self.ops, self.args = pir, [], []

    def op(self, name, operands, results, regions=(), /, **attributes):
        """NAME with its dialect's number ("1.conv2d"); RESULTS are types, and numbers of values come back, one alone."""
        numbers = [self.pir.number() for _ in results]
        op = {"#": name, "I": [{"%": each} for each in operands],
              "O": [{"%": each, "TT": type_} for each, type_ in zip(numbers, results)],
              "A": [{"N": key, "AT": value} for key, value in attributes.items()]}
        if regions:
            op["regions"] = [{"#": f"region_{i}", "blocks": [each.encode()]} for i, each in enumerate(regions)]
        self.ops.append(op)
        return numbers[0] if len(numbers) == 1 else numbers

    def ints(self, *values):
        return self.op("1.full_int_array", [], [pir_type([len(values)], INT64)],
                       value=a("array", [a("i64", each) for each in values]), dtype=a("dtype", INT64), place=a("place", 0))

    def full(self, value, dims=(1,), element=FP32):
        return self.op("1.full", [], [pir_type(dims, element)], shape=a("intarray", list(dims)), value=a("f64", float(value)),
                       dtype=a("dtype", element), place=a("place", 0))

    def argument(self, dims, element=FP32):
        """A value that the block is given; its number is negative."""
        self.pir.lowest -= 1
        self.args.append({"#": self.pir.lowest, "TT": pir_type(dims, element)})
        return self.pir.lowest

    def encode(self):
        self.pir.blocks += 1
        return {"#": f"block_{self.pir.blocks - 1}", "args": self.args, "ops": self.ops}


class Pir(PirBlock):
    """A program of Paddle 3: its operators by the names and with the operands they have there."""

    def __init__(self):
        super().__init__(self)
        self.last, self.lowest, self.blocks, self.parameters = 0, 0, 0, {}

    def number(self):
        self.last += 1
        return self.last

    def block(self):
        return PirBlock(self)

    def input(self, name, dims, element=FP32):
        return self.op("1.data", [], [pir_type(dims, element)], name=a("str", name), shape=a("intarray", list(dims)),
                       dtype=a("dtype", element), place=a("place", 0))

    def parameter(self, name, dims, values, element=FP32):
        self.parameters[name] = tensor(dims, values, element)
        value = self.number()
        self.ops.append({"#": "p", "A": [0, 1, 1, name], "DA": [], "QA": [], "O": {"%": value, "TT": pir_type(dims, element)}, "OA": [1, 0, 1]})
        return value

    def output(self, value, name, dims=(), element=FP32):
        return self.op("1.fetch", [value], [pir_type(dims, element)], name=a("str", name),
                       col=a("i32", sum(op["#"] == "1.fetch" for op in self.ops)))

    def encode_program(self, trainable=False, version=1):
        self.blocks = 0
        program = {"regions": [{"#": "region_0", "blocks": [self.encode()]}]}
        return json.dumps({"base_code": {"magic": "pir", "trainable": trainable, "version": version}, "program": program},
                          separators=(",", ":")).encode()

    combined = Program.combined

    def save(self, folder, name="inference"):
        write(os.path.join(folder, name + ".json"), self.encode_program())
        write(os.path.join(folder, name + ".pdiparams"), self.combined())
        return folder
