"""Random variants of ONNX Runtime's quantised layers and experts, for RuntimeOperators.py."""
import numpy as np
from RuntimeVariants import Draw, Given, Variant, padding_mask


def byte_limits(dtype):
    limits = np.iinfo(dtype)
    return limits.min, limits.max + 1


def of_bytes(d, dtype, *shape, axes=None, constant=False):
    return d.integers(*byte_limits(dtype), *shape, dtype=dtype, axes=axes, constant=constant)


def number(value, dtype=np.float32, constant=True):
    return Given(np.array(value, dtype), None, constant)


def zero_of(d, dtype):
    low, high = byte_limits(dtype)
    return number(d.size(low + 100, high - 100), dtype)


def quantized_attention(random):
    d = Draw(random)
    d.dtype = np.float32
    batch, rows, heads, width, inputs = d.size(1, 3), d.size(1, 4), d.size(1, 3), d.one_of(4, 8), d.size(2, 6)
    past = d.one_of(None, d.size(0, 3))
    # It has no kernel for i8.
    left, right = np.uint8, d.one_of(np.uint8, np.int8)
    columns = 3 * heads * width
    per_column = d.flag()
    scale = d.f32(columns, low=0.002, high=0.01, constant=True) if per_column else number(0.005)
    zero = of_bytes(d, right, columns, constant=True) if per_column else zero_of(d, right)
    if right == np.int8 and per_column:
        zero.array[:] = 0
    attributes = {"num_heads": heads}
    if d.flag(0.3):
        attributes["unidirectional"] = 1
    return Variant("QAttention",
                   [of_bytes(d, left, batch, rows, inputs, axes=("B", "S", None)), of_bytes(d, right, inputs, columns, constant=True),
                    d.f32(columns, constant=True), number(0.02), scale, padding_mask(d, batch, rows, rows + (past or 0)),
                    zero_of(d, left), zero, None if past is None else d.floats(2, batch, heads, past, width, axes=(None, "B", None, "P", None))],
                   attributes, (True, past is not None), is_open=d.is_open, tolerance=1e-3)


def quantized_embed(random):
    d = Draw(random)
    batch, rows, width, words, places, parts = d.size(1, 3), d.size(1, 4), d.size(2, 7), 9, 6, 3
    dtype, has_segments, has_mask = d.one_of(np.uint8, np.int8), d.flag(), d.flag()
    table = lambda *shape: of_bytes(d, dtype, *shape, constant=True)
    ids = lambda most: d.integers(0, most, batch, rows, axes=("B", "S"))
    scales = [number(value) for value in (0.01, 0.02, 0.015, 0.012, 0.017)]
    zeros = [zero_of(d, dtype) for _ in range(5)]
    if not has_segments:
        scales[2] = zeros[2] = None
    return Variant("QEmbedLayerNormalization",
                   [ids(words), ids(parts) if has_segments else None, table(words, width), table(places, width),
                    table(parts, width) if has_segments else None, table(width), table(width), ids(2) if has_mask else None,
                    *scales, *zeros], {"epsilon": 1e-3}, (True, True), is_open=d.is_open, tolerance=1e-3)


def quantized_conv(random):
    d = Draw(random)
    dtype, last = d.one_of(np.uint8, np.int8), int(d.flag())
    group = d.one_of(1, 1, 2)
    batch, inputs, outputs, size, kernel = d.size(1, 2), group * d.size(1, 3), group * d.size(1, 3), d.size(4, 6), d.size(1, 3)
    per_channel = d.flag()
    scale = d.f32(outputs, low=0.002, high=0.008, constant=True) if per_channel else number(0.005)
    zero = Given(np.zeros(outputs if per_channel else (), np.int8), None, True)
    shape = (batch, size, size, inputs) if last else (batch, inputs, size, size)
    return Variant("QLinearConv",
                   [of_bytes(d, dtype, *shape, axes=("B", None, None, None)), number(0.03), zero_of(d, dtype),
                    of_bytes(d, np.int8, outputs, inputs // group, kernel, kernel, constant=True), scale, zero, number(0.05),
                    zero_of(d, dtype), d.integers(-500, 500, outputs, constant=True) if d.flag() else None],
                   {"channels_last": last, "group": group, "pads": [1, 0, 1, 0], "strides": [1, 2]}, is_open=d.is_open, steps=1)


def quantized_others(random):
    d = Draw(random)
    kind, dtype = d.one_of("QLinearReduceMean", "QLinearWhere", "NhwcMaxPool", "MatMulInteger16"), d.one_of(np.uint8, np.int8)
    if kind == "QLinearWhere":
        shapes = [(3, 1, 4), (2, 4), (3, 2, 1)]
        condition = Given(d.random.integers(0, 2, shapes[0]).astype(bool))
        return Variant(kind, [condition, of_bytes(d, dtype, *shapes[1]), number(0.02), zero_of(d, dtype), of_bytes(d, dtype, *shapes[2]),
                              number(0.03), zero_of(d, dtype), number(0.025), zero_of(d, dtype)], steps=1)
    if kind == "NhwcMaxPool":
        return Variant(kind, [of_bytes(d, dtype, d.size(1, 2), 6, 5, 3, axes=("B", None, None, None))],
                       {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [0, 1, 1, 1], "ceil_mode": int(d.flag())}, is_open=d.is_open)
    if kind == "MatMulInteger16":
        return Variant(kind, [d.integers(-3000, 3000, 2, 3, 4, dtype=np.int16, axes=("B", None, None)),
                              d.integers(-3000, 3000, 4, 5, dtype=np.int16)], is_open=d.is_open)
    zeros, axes, keeps = [zero_of(d, dtype) for _ in range(2)], d.one_of([1], [0, 2], [-1]), int(d.flag())

    def expected(x, s, z, t, v):
        mean = (x.astype(np.float32) - np.float32(z)).mean(tuple(axes), keepdims=bool(keeps)) * s / t
        return [np.clip(np.rint(mean) + v, *(limit for limit in (np.iinfo(dtype).min, np.iinfo(dtype).max))).astype(dtype)]

    return Variant(kind, [of_bytes(d, dtype, 2, 3, 4, axes=("B", None, None)), number(0.02), zeros[0], number(0.01), zeros[1]],
                   {"axes": axes, "keepdims": keeps}, is_open=d.is_open, steps=1, expected=expected)


def quantized_lstm(random):
    """ONNX Runtime rounds the hidden state to 8 bits at each step."""
    d = Draw(random)
    d.dtype = np.float32
    steps, batch, inputs, hidden, both = d.size(1, 4), d.size(1, 3), d.size(1, 5), d.size(1, 4), d.flag()
    directions, dtype, per_column = 1 + both, d.one_of(np.uint8, np.int8), d.flag()
    shape = (directions, 4 * hidden) if per_column else (directions,)

    def parameters():
        zero = (np.zeros(shape) if dtype == np.int8 else np.full(shape, 128)).astype(dtype)
        return [d.f32(*shape, low=0.002, high=0.006, constant=True), Given(zero, None, True)]

    w, r = parameters(), parameters()
    state = lambda: d.f32(directions, batch, hidden, axes=(None, "B", None)) if d.flag() else None
    return Variant("DynamicQuantizeLSTM",
                   [d.f32(steps, batch, inputs, axes=("T", "B", None)), of_bytes(d, dtype, directions, inputs, 4 * hidden, constant=True),
                    of_bytes(d, dtype, directions, hidden, 4 * hidden, constant=True),
                    d.f32(directions, 8 * hidden, constant=True) if d.flag() else None, None, state(), state(), None, *w, *r],
                   {"hidden_size": hidden, "direction": "bidirectional" if both else d.one_of("forward", "reverse")}, (True, True, True),
                   is_open=d.is_open, tolerance=2e-2)


def gathered_blocks(random):
    d = Draw(random)
    rows, block, bits = d.size(2, 6), d.one_of(16, 32), d.one_of(4, 8)
    count = d.size(1, 3)
    width = block * count
    has_zero = d.flag()
    zeros = of_bytes(d, np.uint8, rows, -(-count * bits // 8), constant=True) if has_zero else None
    data = of_bytes(d, np.uint8, rows, width * bits // 8, constant=True)
    indices = d.integers(0, rows, d.size(1, 3), d.size(1, 4), dtype=d.one_of(np.int32, np.int64), axes=("B", "S"))
    return Variant("GatherBlockQuantized", [data, indices, d.floats(rows, count, constant=True), zeros],
                   {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}, is_open=d.is_open)


def low_bit_matmul(random):
    d = Draw(random)
    columns, sums, block, bits = d.size(1, 6), d.size(5, 80), d.one_of(16, 32, 64), d.one_of(2, 4, 8)
    count = -(-sums // block)
    zero = d.one_of("none", "packed", "floats")
    given = [d.floats(d.size(1, 3), d.size(1, 3), sums, axes=("B", "S", None)),
             of_bytes(d, np.uint8, columns, count, block * bits // 8, constant=True), d.floats(columns * count, constant=True)]
    given.append({"none": None, "packed": of_bytes(d, np.uint8, columns, -(-count * bits // 8), constant=True),
                  "floats": Given(d.random.uniform(0, 2**bits, columns * count).astype(d.dtype), None, True)}[zero])
    given += [None, d.floats(columns, constant=True) if d.flag(0.4) else None]

    def expected(x, b, scales, zeros, _, bias=None):
        def unpack(bytes, length):
            pieces = [(bytes >> shift) & (2**bits - 1) for shift in range(0, 8, bits)]
            return np.stack(pieces, -1).reshape(columns, -1)[:, :length].astype(np.float32)

        point = np.full((columns, count), 2 ** (bits - 1), np.float32) if zeros is None else (
            unpack(zeros, count) if zeros.dtype == np.uint8 else zeros.reshape(columns, count))
        over = lambda v: np.repeat(v.reshape(columns, count), block, 1)
        w = ((unpack(b.reshape(columns, -1), count * block) - over(point)) * over(scales))[:, :sums]
        return [x @ w.T + (0 if bias is None else bias)]

    return Variant("MatMulNBits", given, {"K": sums, "N": columns, "bits": bits, "block_size": block}, is_open=d.is_open,
                   expected=expected, tolerance=1e-4)


def experts(random):
    d = Draw(random)
    d.dtype = np.float32
    tokens, experts, hidden, inner = d.size(1, 5), d.size(2, 5), d.one_of(16, 32), d.one_of(16, 32)
    name = d.one_of("relu", "gelu", "silu", "identity", "swiglu")
    fused = 2 if name == "swiglu" else 1
    top, normal = d.size(1, 2), int(d.flag())
    attributes = {"k": top, "normalize_routing_weights": normal, "activation_type": name}
    if fused == 2:
        attributes.update(swiglu_fusion=1, activation_alpha=1.5, activation_beta=0.5, swiglu_limit=3.0)
    is_low = d.flag()
    bits, has_bias = d.one_of(4, 8), d.flag()
    rows = d.f32(tokens, hidden, axes=("T", None))
    scores = d.f32(tokens, experts, axes=("T", None), low=-2, high=2)
    if is_low:
        attributes["expert_weight_bits"] = bits
        layer = lambda out, width: [of_bytes(d, np.uint8, experts, out, width * bits // 8, constant=True),
                                    d.f32(experts, out, low=0.002, high=0.02, constant=True)]
    else:
        layer = lambda out, width: [d.f32(experts, out, width, constant=True)]
    bias = lambda out: d.f32(experts, out, constant=True) if has_bias else None
    given = [rows, scores, *layer(fused * inner, hidden), bias(fused * inner), *layer(hidden, inner), bias(hidden)]

    def expected(x, scores, *rest):
        def weights(packed, scale=None):
            if scale is None:
                return packed
            pieces = [(packed >> shift) & (2**bits - 1) for shift in range(0, 8, bits)]
            whole = np.stack(pieces, -1).reshape(*packed.shape[:2], -1).astype(np.float32)
            return (whole - 2 ** (bits - 1)) * scale[..., None]

        step = 3 if is_low else 2
        w1, b1 = weights(*rest[: step - 1]), rest[step - 1]
        w2, b2 = weights(*rest[step : 2 * step - 1]), rest[2 * step - 1] if len(rest) > 2 * step - 1 else None
        mix = np.exp(scores - scores.max(-1, keepdims=True))
        mix /= mix.sum(-1, keepdims=True)
        taken = np.argsort(-mix, -1, kind="stable")[:, :top]
        result = np.zeros_like(x)
        for t in range(tokens):
            chosen = mix[t, taken[t]]
            if normal:
                chosen = chosen / chosen.sum()
            for weight, e in zip(chosen, taken[t]):
                y = w1[e] @ x[t] + (0 if b1 is None else b1[e])
                if name == "swiglu":
                    g, l = np.minimum(y[0::2], 3), np.clip(y[1::2], -3, 3)
                    y = g / (1 + np.exp(-1.5 * g)) * (l + 0.5)
                elif name == "relu":
                    y = np.maximum(y, 0)
                elif name == "gelu":
                    from LayerVariants import gelu

                    y = gelu(y)
                elif name == "silu":
                    y = y / (1 + np.exp(-y))
                result[t] += weight * (w2[e] @ y + (0 if b2 is None else b2[e]))
        return [result]

    return Variant("QMoE" if is_low else "MoE", given, attributes, is_open=d.is_open, expected=expected, tolerance=1e-3)


FAMILIES = {each.__name__: each for each in (quantized_attention, quantized_embed, quantized_conv, quantized_others, quantized_lstm,
                                             gathered_blocks, low_bit_matmul, experts)}
