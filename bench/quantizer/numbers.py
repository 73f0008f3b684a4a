"""Scales, zero points and rounded weights."""
import numpy as np

from .graph import INT4, Packed, Unsupported


def activation(least, greatest):
    """(scale, zero point) of an asymmetric u8 range, which always has zero in it."""
    least, greatest = min(least, 0.0), max(greatest, 0.0)
    if not np.isfinite([least, greatest]).all():
        raise Unsupported(f"a range of {least:g} to {greatest:g} cannot be quantised")
    scale = np.float32((greatest - least) / 255)
    if not scale > np.finfo(np.float32).tiny:
        return np.float32(1), np.uint8(0)
    return scale, np.uint8(np.clip(np.rint(-least / scale), 0, 255))


def weight(array, axis=None):
    """(s8 values, scales) of symmetric weights: per slice along the axis, or one scale for all."""
    array = np.asarray(array, np.float32)
    others = tuple(i for i in range(array.ndim) if i != axis) if axis is not None else None
    most = np.abs(array).max(axis=others, initial=0)
    scale = np.where(most > 0, most / 127, 1).astype(np.float32)
    spread = scale.reshape([-1 if i == axis else 1 for i in range(array.ndim)]) if axis is not None else scale
    return np.clip(np.rint(array / spread), -127, 127).astype(np.int8), scale


def bias(array, scale):
    """s32 values of a bias under given scales."""
    return np.clip(np.rint(np.asarray(array, np.float64) / scale), -2**31, 2**31 - 1).astype(np.int32)


def blocks4(array, axis, block):
    """(int4 values, scales) of symmetric weights with a scale for each block along the axis; the last may be shorter."""
    moved = np.moveaxis(np.asarray(array, np.float32), axis, -1)
    count = -(-moved.shape[-1] // block)
    padded = np.pad(moved, [(0, 0)] * (moved.ndim - 1) + [(0, count * block - moved.shape[-1])])
    padded = padded.reshape(*moved.shape[:-1], count, block)
    most = np.abs(padded).max(axis=-1)
    scale = np.where(most > 0, most / 7, 1).astype(np.float32)
    values = np.clip(np.rint(padded / scale[..., None]), -8, 7).astype(np.int8)
    values = values.reshape(*moved.shape[:-1], -1)[..., : moved.shape[-1]]
    return pack4(np.moveaxis(values, -1, axis)), np.ascontiguousarray(np.moveaxis(scale, -1, axis))


def pack4(values):
    """Two int4 numbers a byte, the first in the low half."""
    flat = values.reshape(-1).astype(np.uint8) & 15
    flat = np.pad(flat, (0, flat.size % 2))
    return Packed(INT4, values.shape, (flat[0::2] | flat[1::2] << 4).astype(np.uint8).tobytes())
