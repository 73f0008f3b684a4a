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
                   attributes, (True, past is not None), is_dynamic=d.is_dynamic, tolerance=1e-3)


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
                    *scales, *zeros], {"epsilon": 1e-3}, (True, True), is_dynamic=d.is_dynamic, tolerance=1e-3)


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
                   {"channels_last": last, "group": group, "pads": [1, 0, 1, 0], "strides": [1, 2]}, is_dynamic=d.is_dynamic, steps=1)


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
                       {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [0, 1, 1, 1], "ceil_mode": int(d.flag())}, is_dynamic=d.is_dynamic)
    if kind == "MatMulInteger16":
        return Variant(kind, [d.integers(-3000, 3000, 2, 3, 4, dtype=np.int16, axes=("B", None, None)),
                              d.integers(-3000, 3000, 4, 5, dtype=np.int16)], is_dynamic=d.is_dynamic)
    zeros, axes, keeps = [zero_of(d, dtype) for _ in range(2)], d.one_of([1], [0, 2], [-1]), int(d.flag())

    def expected(x, s, z, t, v):
        mean = (x.astype(np.float32) - np.float32(z)).mean(tuple(axes), keepdims=bool(keeps)) * s / t
        return [np.clip(np.rint(mean) + v, *(limit for limit in (np.iinfo(dtype).min, np.iinfo(dtype).max))).astype(dtype)]

    return Variant(kind, [of_bytes(d, dtype, 2, 3, 4, axes=("B", None, None)), number(0.02), zeros[0], number(0.01), zeros[1]],
                   {"axes": axes, "keepdims": keeps}, is_dynamic=d.is_dynamic, steps=1, expected=expected)


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
                   is_dynamic=d.is_dynamic, tolerance=2e-2)


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
                   {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}, is_dynamic=d.is_dynamic)


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

    return Variant("MatMulNBits", given, {"K": sums, "N": columns, "bits": bits, "block_size": block}, is_dynamic=d.is_dynamic,
                   expected=expected, tolerance=1e-4)


def experts(random):
    d = Draw(random)
    d.dtype = np.float32
    tokens, experts, hidden, inner = d.size(1, 5), d.size(2, 5), d.one_of(16, 32), d.one_of(16, 32)
    name = d.one_of("relu", "gelu", "silu", "identity", "swiglu")
    # A third layer multiplies what the first one gives, or fused is its columns and those of the first in turn.
    has_third = d.flag(0.3)
    fused = 2 if name == "swiglu" and not has_third else 1
    top, normal = d.size(1, 2), int(d.flag())
    attributes = {"k": top, "normalize_routing_weights": normal, "activation_type": name}
    if name == "swiglu":
        attributes.update(swiglu_fusion=fused - 1, activation_alpha=1.5, activation_beta=0.5, swiglu_limit=3.0)
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
    if has_third:
        given += [*layer(inner, hidden), bias(inner)]

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
        if has_third:
            w3, b3 = weights(*rest[2 * step : 3 * step - 1]), rest[3 * step - 1]
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
                third = w3[e] @ x[t] + (0 if b3 is None else b3[e]) if has_third else None
                if name == "swiglu":
                    gate, linear = (y, third) if has_third else (y[0::2], y[1::2])
                    g, l = np.minimum(gate, 3), np.clip(linear, -3, 3)
                    y = g / (1 + np.exp(-1.5 * g)) * (l + 0.5)
                elif name == "relu":
                    y = np.maximum(y, 0)
                elif name == "gelu":
                    from LayerVariants import gelu

                    y = gelu(y)
                elif name == "silu":
                    y = y / (1 + np.exp(-y))
                if has_third and name != "swiglu":
                    y = y * third
                result[t] += weight * (w2[e] @ y + (0 if b2 is None else b2[e]))
        return [result]

    return Variant("QMoE" if is_low else "MoE", given, attributes, is_dynamic=d.is_dynamic, expected=expected, tolerance=1e-3)


def place_of(order, rows, columns, r, c):
    """Where an element of a matrix lies in an order of cuBLASLt: by columns, by rows, by rows of groups of 32 columns."""
    return {0: c * rows + r, 1: r * columns + c, 2: c // 32 * 32 * rows + r * 32 + c % 32}[order]


def in_order(x, order, is_back=False):
    """The elements of matrices [..., R, C], row by row, put into an order; or back."""
    rows, columns = x.shape[-2:]
    places = [place_of(order, rows, columns, r, c) for r in range(rows) for c in range(columns)]
    flat = x.reshape(*x.shape[:-2], -1)
    if is_back:
        return flat[..., places].reshape(x.shape)
    placed = np.empty_like(flat)
    placed[..., places] = flat
    return placed.reshape(x.shape)


def ordered_matrices(random):
    """What ONNX Runtime computes on GPUs only, of i8 in orders of matrices; by the definition."""
    d = Draw(random)
    d.dtype = np.float32
    kind = d.one_of("QuantizeWithOrder", "DequantizeWithOrder", "QOrderedMatMul", "QOrderedGelu", "QOrderedLayerNormalization")
    batch, rows, columns, inner = d.size(1, 2), d.size(1, 4), 32 * d.size(1, 2), 32 * d.size(1, 2)
    orders = [int(each) for each in random.integers(0, 3, 3)]
    scale, to = np.float32(0.03), np.float32(0.05)
    bytes = lambda *shape: d.integers(-128, 128, *shape, dtype=np.int8)
    shape = (batch, rows, columns)

    def rounded(x, order):
        return [in_order(np.clip(np.rint(x / to), -128, 127).astype(np.int8), order)]

    def numbers(x, order):
        return in_order(x, order, is_back=True).astype(np.float32)

    if kind == "QuantizeWithOrder":
        return Variant(kind, [d.floats(*shape, scale=7), number(to)], {"order_input": orders[0], "order_output": orders[1]}, steps=1,
                       expected=lambda x, _: rounded(in_order(x, orders[0], is_back=True), orders[1]))
    if kind == "DequantizeWithOrder":
        return Variant(kind, [bytes(*shape), number(scale)], {"order_input": orders[0], "order_output": orders[1], "to": 1},
                       expected=lambda x, _: [in_order(numbers(x, orders[0]) * scale, orders[1])])
    if kind == "QOrderedGelu":
        from LayerVariants import gelu
        return Variant(kind, [bytes(*shape), number(scale), number(to)], {"order_X": orders[0], "order_Y": orders[0]}, steps=1,
                       expected=lambda x, *_: rounded(gelu(numbers(x, orders[0]) * scale), orders[0]))
    if kind == "QOrderedLayerNormalization":
        def expected(x, _, gamma, beta, __):
            y = numbers(x, orders[0]) * scale
            y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
            return rounded(y * gamma + (0 if beta is None else beta), orders[0])

        return Variant(kind, [bytes(*shape), number(scale), d.f32(columns), d.f32(columns) if d.flag() else None, number(to)],
                       {"axis": -1, "order_X": orders[0], "order_Y": orders[0]}, steps=1, expected=expected)
    per_column = d.flag()
    scales = d.f32(columns, low=0.002, high=0.008, constant=True) if per_column else number(0.005)
    bias, more = d.f32(columns) if d.flag() else None, d.flag()

    def expected(a, s, b, t, _, bias=None, c=None, u=None):
        y = numbers(a, orders[0]) @ numbers(b, orders[1]) * s * t
        if bias is not None:
            y = y + bias
        if c is not None:
            y = y + numbers(c, orders[2]) * u
        return rounded(y, orders[2])

    return Variant(kind, [bytes(batch, rows, inner), number(scale), bytes(inner, columns), scales, number(to), bias,
                          *([bytes(*shape), number(0.02)] if more else [])],
                   {"order_A": orders[0], "order_B": orders[1], "order_Y": orders[2]}, steps=1, expected=expected)


def ordered_attention(random):
    """Attention of i8 with a rounding at each step, which ONNX Runtime computes on GPUs only; by the definition."""
    d = Draw(random)
    d.dtype = np.float32
    batch, length, heads, size, inner = d.size(1, 2), d.size(1, 5), d.size(1, 3), 32, 32 * d.size(1, 2)
    width, orders = heads * size, [int(each) for each in random.integers(0, 2, 3)]
    bytes = lambda *shape: d.integers(-128, 128, *shape, dtype=np.int8)
    per_column, causal = d.flag(), d.flag()
    weight_scale = lambda: d.f32(width, low=0.0005, high=0.002, constant=True) if per_column else number(0.001)
    scales = [number(each) for each in (0.02, 0.02, 0.02)]
    mask = Given(np.maximum(random.random((batch, length)) < 0.7, np.arange(length) == 0).astype(np.int32)) if d.flag() else None
    rounds = d.flag(0.7)

    def expected(x, xs, qs, ks, vs, wq, wk, wv, sq, sk, sv, bq, bk, bv, t=None, u=None, y=None, hidden=None):
        by = lambda values, scale: values if scale is None else np.clip(np.rint(values / scale), -128, 127) * scale
        rows = in_order(x, orders[0], is_back=True).astype(np.float64) * xs
        q, k, v = (by(rows @ (in_order(w, orders[1], is_back=True) * s) + b, scale).reshape(batch, length, heads, size).transpose(0, 2, 1, 3)
                   for w, s, b, scale in [(wq, sq, bq, qs), (wk, sk, bk, ks), (wv, sv, bv, vs)])
        scores = by(q @ k.transpose(0, 1, 3, 2), t) / np.sqrt(size)
        if hidden is not None:
            scores = np.where(hidden[:, None, None, :] != 0, scores, -np.inf)
        if causal:
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        with np.errstate(invalid="ignore"):
            weights = np.exp(scores - scores.max(-1, keepdims=True))
        result = by(weights / weights.sum(-1, keepdims=True), u) @ v
        result = result.transpose(0, 2, 1, 3).reshape(batch, length, width)
        return [in_order(np.clip(np.rint(result / y), -128, 127).astype(np.int8), orders[2])]

    inputs = [bytes(batch, length, inner), number(0.02), *scales, *[bytes(inner, width) for _ in range(3)], *[weight_scale() for _ in range(3)],
              *[d.f32(width) for _ in range(3)], number(0.05) if rounds else None, number(1 / 127) if rounds else None, number(0.02), mask]
    return Variant("QOrderedAttention", inputs, {"num_heads": heads, "unidirectional": int(causal), "order_input": orders[0], "order_weight": orders[1],
                                                 "order_output": orders[2]}, steps=2, expected=expected)


FAMILIES = {each.__name__: each for each in (quantized_attention, quantized_embed, quantized_conv, quantized_others, quantized_lstm,
                                             gathered_blocks, low_bit_matmul, experts, ordered_matrices,
                                             ordered_attention)}
