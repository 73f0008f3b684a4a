"""Element types by the names of ONNX Runtime, ONNX and numpy."""
import numpy

from ._errors import InvalidArgument

#: (Sinter's, ONNX Runtime's, the number in ONNX's TensorProto, numpy's or None)
_ROWS = [
    ("f32", "float", 1, "f4"), ("ui8", "uint8", 2, "u1"), ("i8", "int8", 3, "i1"), ("ui16", "uint16", 4, "u2"), ("i16", "int16", 5, "i2"),
    ("i32", "int32", 6, "i4"), ("i64", "int64", 7, "i8"), ("i1", "bool", 9, "?"), ("f16", "float16", 10, "f2"), ("f64", "double", 11, "f8"),
    ("ui32", "uint32", 12, "u4"), ("ui64", "uint64", 13, "u8"), ("complex<f32>", "complex64", 14, "c8"), ("complex<f64>", "complex128", 15, "c16"),
    ("bf16", "bfloat16", 16, None), ("f8E4M3FN", "float8e4m3fn", 17, None), ("f8E4M3FNUZ", "float8e4m3fnuz", 18, None),
    ("f8E5M2", "float8e5m2", 19, None), ("f8E5M2FNUZ", "float8e5m2fnuz", 20, None), ("ui4", "uint4", 21, None), ("i4", "int4", 22, None),
    ("string", "string", 8, None),
]
_BY_NAME = {row[0]: row for row in _ROWS}
_BY_NUMBER = {row[2]: row for row in _ROWS}
_BY_DTYPE = {numpy.dtype(row[3]): row for row in _ROWS if row[3]}


def name_of(element):
    """"tensor(float)" for "f32"."""
    row = _BY_NAME.get(element)
    return f"tensor({row[1] if row else element})"


def element_of(dtype):
    """"f32" for a dtype of numpy."""
    if numpy.dtype(dtype).kind in "USO":
        return "string"
    row = _BY_DTYPE.get(numpy.dtype(dtype))
    if not row:
        raise InvalidArgument(f"elements of type {dtype} are not supported")
    return row[0]


def number_of(element):
    """The number in ONNX's TensorProto; 0 if it has none."""
    row = _BY_NAME.get(element)
    return row[2] if row else 0


def element_of_number(number):
    """"f32" for a number in ONNX's TensorProto."""
    row = _BY_NUMBER.get(number)
    if not row:
        raise InvalidArgument(f"there is no element type {number}")
    return row[0]


def dtype_of(element):
    """The dtype of numpy for an element type: its "f32", its dtype, or its number in ONNX's TensorProto."""
    if isinstance(element, str) and element in _BY_NAME:
        row = _BY_NAME[element]
    elif isinstance(element, int) and not isinstance(element, bool):
        row = _BY_NAME[element_of_number(element)]
    else:
        row = _BY_NAME[element_of(element)]
    if not row[3]:
        raise InvalidArgument(f"numpy has no elements of type {row[1]}")
    return numpy.dtype(row[3])
