"""Integers as ONNX stores them, 4 bits included, which numpy and some releases of the onnx package do not know."""
import numpy as np
import onnx

# Number in the file, bits, least, greatest.
STORAGE = {"u8": (2, 8, 0, 255), "i8": (3, 8, -128, 127), "u16": (4, 16, 0, 65535), "i16": (5, 16, -32768, 32767),
           "u4": (21, 4, 0, 15), "i4": (22, 4, -8, 7), "i32": (6, 32, -2**31, 2**31 - 1)}


def tensor(name, code, shape, raw):
    """A tensor of a type with that number in the file, of bytes."""
    made = onnx.TensorProto()
    made.name, made.data_type, made.raw_data = name, code, raw
    made.dims.extend(shape)
    return made


def stored(name, storage, values):
    """Integers of a storage type; two of 4 bits share a byte."""
    code, bits, _, _ = STORAGE[storage]
    values = np.asarray(values, np.int64)
    flat = values.reshape(-1)
    if bits == 4:
        flat = np.append(flat & 15, [0] * (flat.size % 2)).astype(np.uint8)
        raw = (flat[::2] | flat[1::2] << 4).tobytes()
    else:
        raw = flat.astype(f"<{'u' if storage[0] == 'u' else 'i'}{bits // 8}").tobytes()
    return tensor(name, code, values.shape, raw)
