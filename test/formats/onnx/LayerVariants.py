"""Random variants of ONNX Runtime's fused layers and of what fuses nothing, for RuntimeOperators.py."""
import math

import numpy as np
from RuntimeVariants import Draw, Given, Variant


def erf(x):
    return np.vectorize(math.erf)(x.astype(np.float64)).astype(np.float32)


def gelu(x):
    return (x * 0.5 * (1 + erf(x / math.sqrt(2)))).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {"Relu": [], "Tanh": [], "Sigmoid": [], "LeakyRelu": [0.2], "Clip": [-0.4, 0.6], "HardSigmoid": [0.3, 0.4]}


def fused_conv(random):
    d = Draw(random)
    group, batch = d.one_of(1, 1, 2, 3), d.size(1, 3)
    inputs, outputs, size = group * d.size(1, 3), group * d.size(1, 4), d.size(5, 9)
    kernel = [d.size(1, 3), d.size(1, 3)]
    attributes = {"kernel_shape": kernel, "group": group}
    strides, dilations = [d.size(1, 2), d.size(1, 2)], [d.size(1, 2), 1]
    pads = [d.size(0, 1) for _ in range(4)]
    attributes.update(strides=strides, dilations=dilations, pads=pads)
    out = [(size + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    if d.flag(0.8):
        name = d.one_of(*ACTIVATIONS)
        attributes["activation"] = name
        if ACTIVATIONS[name]:
            attributes["activation_params"] = ACTIVATIONS[name]
    third = d.flag(0.4)
    return Variant("FusedConv",
                   [d.floats(batch, inputs, size, size, axes=("B", None, None if third else "H", None)),
                    d.floats(outputs, inputs // group, *kernel, constant=d.flag()),
                    d.floats(outputs, constant=d.flag()) if d.flag() else None,
                    d.floats(batch, outputs, *out, axes=("B", None, None, None)) if third else None], attributes,
                   is_dynamic=d.is_dynamic)


def nhwc_conv(random):
    """Channels last: no kernel for f32, so against the definition of a convolution."""
    d = Draw(random)
    batch, inputs, outputs, size, kernel = d.size(1, 2), d.size(1, 3), d.size(1, 4), d.size(4, 6), d.size(1, 3)
    pad, stride = d.size(0, 1), d.size(1, 2)
    op = d.one_of("NhwcConv", "NhwcFusedConv")
    has_bias, relu = d.flag(), op == "NhwcFusedConv" and d.flag()
    attributes = {"kernel_shape": [kernel, kernel], "pads": [pad] * 4, "strides": [stride, stride]}
    if relu:
        attributes["activation"] = "Relu"

    def expected(x, w, b=None, *_):
        x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        rows = (x.shape[1] - kernel) // stride + 1
        y = np.zeros((batch, rows, rows, outputs), np.float32)
        for i in range(rows):
            for j in range(rows):
                window = x[:, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
                y[:, i, j] = np.einsum("nhwc,ochw->no", window, w)
        y = y + (0 if b is None else b)
        return [np.maximum(y, 0) if relu else y]

    return Variant(op, [d.floats(batch, size, size, inputs, axes=("B", None, None, None)),
                        d.floats(outputs, inputs, kernel, kernel, constant=True), d.floats(outputs) if has_bias else None],
                   attributes, is_dynamic=d.is_dynamic, expected=expected)


def transposed_conv(random):
    d = Draw(random)
    d.dtype = np.float32
    inputs, outputs, size = d.size(1, 3), d.size(1, 3), d.size(2, 5)
    stride = d.size(1, 2)
    pads = Given(np.array([d.size(0, 1) for _ in range(4)], np.int64), None, True)
    return Variant("ConvTransposeWithDynamicPads",
                   [d.floats(d.size(1, 2), inputs, size, size, axes=("B", None, None, None)), d.floats(inputs, outputs, 3, 3, constant=True),
                    pads, d.floats(outputs, constant=True) if d.flag() else None],
                   {"strides": [stride, stride], "kernel_shape": [3, 3]}, is_dynamic=d.is_dynamic)


def fused_gemm(random):
    d = Draw(random)
    rows, sums, columns, left, right = d.size(1, 5), d.size(1, 6), d.size(1, 5), d.flag(), d.flag()
    name = d.one_of("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "HardSigmoid", "Softplus", "Softsign", "ThresholdedRelu", "Selu")
    attributes = {"transA": int(left), "transB": int(right), "activation": name, "alpha": d.one_of(1.0, 0.5), "beta": d.one_of(1.0, 2.0)}
    for parameter, value in {"LeakyRelu": {"alpha": 0.2}, "Elu": {"alpha": 0.7}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
                             "ThresholdedRelu": {"alpha": 0.3}, "Selu": {"alpha": 1.5, "gamma": 1.1}}.get(name, {}).items():
        attributes["activation_" + parameter] = value
    third = d.one_of(None, (columns,), (rows, columns), (1, columns))
    return Variant("FusedGemm",
                   [d.floats(*((sums, rows) if left else (rows, sums)), axes=(None, "M") if left else ("M", None)),
                    d.floats(*((columns, sums) if right else (sums, columns)), constant=d.flag()),
                    d.floats(*third, axes=("M", None) if third == (rows, columns) and rows > 1 else None) if third else None],
                   attributes, is_dynamic=d.is_dynamic)


def fused_matmul(random):
    d = Draw(random)
    batch = [d.size(1, 3) for _ in range(d.size(0, 2))]
    rows, sums, columns = d.size(1, 4), d.size(1, 5), d.size(1, 4)
    attributes = {"alpha": d.one_of(1.0, 0.25, -2.0)}

    def operand(side, a, b):
        shape = [*batch, a, b]
        if d.flag(0.4):
            shape[-2:] = [b, a]
            attributes["trans" + side] = 1
        # The first dimension comes behind the other batches.
        if batch and d.flag(0.3):
            shape = [shape[-2], *shape[:-2], shape[-1]]
            attributes["transBatch" + side] = 1
        return d.floats(*shape)

    op = d.one_of("FusedMatMul", "TransposeMatMul")
    given = [operand("A", rows, sums), operand("B", sums, columns)]
    if op == "TransposeMatMul" and any(each.startswith("transBatch") for each in attributes):
        op = "FusedMatMul"
    return Variant(op, given, attributes)


def matmul_activation(random):
    d = Draw(random)
    batch, rows, sums, columns = d.size(1, 3), d.size(1, 4), d.size(1, 5), d.size(1, 4)
    right, name = d.flag(), d.one_of("Relu", "Tanh", "Sigmoid", "LeakyRelu")
    attributes = {"activation": name, "alpha": d.one_of(1.0, 0.5), "transB": int(right)}
    if name == "LeakyRelu":
        attributes["activation_alpha"] = 0.2

    def expected(a, b):
        x = a @ (b.T if right else b) * attributes["alpha"]
        return [{"Relu": np.maximum(x, 0), "Tanh": np.tanh(x), "Sigmoid": sigmoid(x), "LeakyRelu": np.where(x < 0, 0.2 * x, x)}[name]]

    return Variant("FusedMatMulActivation", [d.floats(batch, rows, sums, axes=("B", "S", None)),
                                             d.floats(*((columns, sums) if right else (sums, columns)), constant=d.flag())],
                   attributes, is_dynamic=d.is_dynamic, expected=expected)


def biases(random):
    d = Draw(random)
    batch, rows, width = d.size(1, 3), d.size(1, 4), 2 * d.size(1, 4)
    x, bias = d.floats(batch, rows, width, axes=("B", "S", None), scale=3), d.floats(width)
    op = d.one_of("BiasSplitGelu", "BiasAdd", "BiasSoftmax", "GemmFastGelu")
    if op == "BiasSplitGelu":
        return Variant(op, [x, bias], is_dynamic=d.is_dynamic,
                       expected=lambda x, b: [(lambda l, r: l * gelu(r))(*np.split(x + b, 2, -1))])
    if op == "BiasAdd":
        return Variant(op, [x, bias, d.floats(batch, rows, width, axes=("B", "S", None))], is_dynamic=d.is_dynamic,
                       expected=lambda x, b, s: [x + b + s])
    if op == "BiasSoftmax":
        axis, shape = d.one_of(1, 2, -1), d.one_of((1, rows, width), (batch, 1, width), (batch, rows, width))

        def expected(x, b):
            y = np.exp(x + b)
            return [y / y.sum(tuple(range(axis % 3, 3)), keepdims=True)]

        return Variant(op, [x, d.floats(*shape)], {"axis": axis, "is_inner_broadcast": 1}, expected=expected)
    w = d.floats(width, 3)

    def expected(x, w, b):
        y = x @ w + b
        return [0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y**3)))]

    return Variant(op, [x, w, d.floats(3)], is_dynamic=d.is_dynamic, expected=expected)


def skip_norm(random):
    d = Draw(random)
    batch, rows, width = d.size(1, 3), d.size(1, 4), d.size(2, 9)
    shape = d.one_of((batch, rows, width), (1, rows, width), (rows, width))
    x = d.floats(batch, rows, width, axes=("B", "S", None))
    skip = d.floats(*shape, axes=("B", "S", None)[-len(shape):] if shape[0] == batch and len(shape) == 3 and batch > 1 else None)
    is_dynamic = d.is_dynamic and skip.axes is not None
    vector = lambda share: d.floats(width, constant=d.flag()) if d.flag(share) else None
    attributes = {"epsilon": 1e-3} if d.flag() else {}
    if d.flag():
        return Variant("SkipLayerNormalization", [x, skip, vector(1), vector(0.5), vector(0.5)], attributes,
                       (True, False, False, d.flag()), is_dynamic=is_dynamic)
    return Variant("SkipSimplifiedLayerNormalization", [x, skip, vector(1), vector(0.5)], attributes, (True, False, False, d.flag()),
                   is_dynamic=is_dynamic)


def former_norm(random):
    """LayerNormalization before version 17, SimplifiedLayerNormalization."""
    d = Draw(random)
    shape, axis = [d.size(1, 3), d.size(1, 4), d.size(2, 6)], d.one_of(-1, 2, 1)
    op = d.one_of("LayerNormalization", "SimplifiedLayerNormalization")
    vectors = [d.floats(*shape[axis:]) for _ in range(2)]
    is_simple = op.startswith("Simplified")
    return Variant(op, [d.floats(*shape, axes=("B", None, None)), *vectors[: 1 if is_simple else 1 + d.flag()]],
                   {"axis": axis, "epsilon": 1e-3}, (True, is_simple and d.flag()), domain="", opset=12, is_dynamic=d.is_dynamic)


def embed_norm(random):
    d = Draw(random)
    batch, rows, width, words, places, parts = d.size(1, 3), d.size(1, 5), d.size(2, 8), 11, 9, 3
    has_segments, has_mask, has_positions = d.flag(), d.flag(), d.flag()
    ids = lambda most, *shape: d.integers(0, most, *shape, axes=("B", "S"))
    return Variant("EmbedLayerNormalization",
                   [ids(words, batch, rows), ids(parts, batch, rows) if has_segments else None, d.floats(words, width, constant=True),
                    d.floats(places, width, constant=True), d.floats(parts, width, constant=True) if has_segments else None,
                    d.floats(width), d.floats(width), ids(2, batch, rows) if has_mask else None,
                    ids(places, batch, rows) if has_positions else None], {"epsilon": 1e-3}, (True, True, d.flag()), is_dynamic=d.is_dynamic)


def group_norm(random):
    d = Draw(random)
    batch, groups, size, last, silu = d.size(1, 3), d.size(1, 3), d.size(1, 4), int(d.flag(0.7)), int(d.flag())
    channels = groups * d.size(1, 3)
    shape = (batch, size, size, channels) if last else (batch, channels, size, size)
    skips, has_bias = d.flag(), d.flag()
    attributes = {"groups": groups, "epsilon": 1e-3, "activation": silu, "channels_last": last}

    def norm(x, gamma, beta):
        y = x if not last else x.transpose(0, 3, 1, 2)
        parts = y.reshape(batch, groups, -1).astype(np.float64)
        parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-3)
        y = parts.reshape(y.shape) * gamma[:, None, None] + beta[:, None, None]
        y = y * sigmoid(y) if silu else y
        return (y.transpose(0, 2, 3, 1) if last else y).astype(np.float32)

    vectors = [d.f32(channels), d.f32(channels)] if d.flag() else [d.floats(channels), d.floats(channels)]
    x = d.floats(*shape, axes=("B", None, None, None))
    if not skips:
        return Variant("GroupNorm", [x, *vectors], attributes, is_dynamic=d.is_dynamic, expected=lambda *a: [norm(*a)])

    def expected(x, gamma, beta, skip, bias=None):
        s = x + skip + (0 if bias is None else bias if last else bias[:, None, None])
        return norm(s, gamma, beta), s

    return Variant("SkipGroupNorm", [x, *vectors, d.floats(*shape, axes=("B", None, None, None)), d.floats(channels) if has_bias else None],
                   attributes, (True, d.flag()), is_dynamic=d.is_dynamic, expected=expected, tolerance=1e-3)


def others(random):
    d = Draw(random)
    kind = d.one_of("Trilu", "Inverse", "CDist", "ExpandDims", "GridSample", "Unique", "NGramRepeatBlock", "MurmurHash3", "GatherND")
    batch = d.size(1, 3)
    if kind == "Trilu":
        k = Given(np.array(d.size(-2, 2), np.int64), (), d.flag())
        return Variant(kind, [d.floats(batch, d.size(1, 4), d.size(1, 5), axes=("B", "S", "T")), k if d.flag() else None],
                       {"upper": int(d.flag())}, is_dynamic=d.is_dynamic)
    if kind == "Inverse":
        n = d.size(1, 6)
        x = d.f32(batch, n, n, axes=("B", None, None))
        x.array += 3 * np.eye(n, dtype=np.float32)[d.random.permutation(n)]
        return Variant(kind, [x], is_dynamic=d.is_dynamic, tolerance=1e-3)
    if kind == "CDist":
        width = d.size(1, 6)
        return Variant(kind, [d.f32(d.size(1, 5), width, axes=("M", None)), d.f32(d.size(1, 4), width, axes=("K", None))],
                       {"metric": d.one_of("euclidean", "sqeuclidean")}, is_dynamic=d.is_dynamic, tolerance=2e-3)
    if kind == "ExpandDims":
        return Variant(kind, [d.f32(batch, 3, axes=("B", None)), Given(np.array(d.size(-3, 2), np.int32), None, True)], is_dynamic=d.is_dynamic)
    if kind == "GridSample":
        return Variant(kind, [d.f32(batch, d.one_of(2, 9), 5, 4, axes=("B", None, "H", "W")),
                              d.f32(batch, 3, 4, 2, low=-1.3, high=1.3, axes=("B", "S", "T", None))],
                       {"mode": d.one_of("bilinear", "nearest", "bicubic"), "padding_mode": d.one_of("zeros", "border", "reflection"),
                        "align_corners": int(d.flag())}, is_dynamic=d.is_dynamic, tolerance=1e-3)
    if kind == "Unique":
        x = Given(d.random.integers(0, 6, d.size(2, 12)).astype(np.float32))
        return Variant(kind, [x], outputs=(True, True, True))
    if kind == "NGramRepeatBlock":
        length, size = d.size(1, 12), d.size(1, 4)
        return Variant(kind, [d.integers(0, 3, batch, length, dtype=np.int64, axes=("B", None)), d.f32(batch, 5, axes=("B", None))],
                       {"ngram_size": size}, is_dynamic=d.is_dynamic, is_folded=length < size)
    if kind == "GatherND":
        return Variant(kind, [d.f32(3, 4, 2), d.integers(0, 3, batch, d.size(1, 2), dtype=np.int64, axes=("B", None))], is_dynamic=d.is_dynamic)
    dtype = d.one_of(np.int32, np.uint32, np.float32, np.int64, np.float64)
    x = Given(d.random.uniform(0, 1e6, (batch, 3)).astype(dtype), ("B", None))
    return Variant(kind, [x], {"seed": d.size(0, 99), "positive": int(dtype != np.int32)}, is_dynamic=d.is_dynamic)


def positions(random):
    """Operators without a kernel for CPUs, by their formulas."""
    d = Draw(random)
    kind = d.one_of("RelativePositionBias", "GatedRelativePositionBias", "Rfft", "Irfft", "IsAllFinite")
    if kind == "RelativePositionBias":
        buckets, heads, rows, keys, both, most = d.one_of(8, 16, 32), d.size(1, 3), d.size(1, 9), d.size(1, 40), int(d.flag()), d.one_of(32, 128)

        def expected(table, *_):
            apart = np.arange(keys)[None] - np.arange(rows)[:, None]
            count, base = buckets, 0
            if both:
                count //= 2
                base = np.where(apart > 0, count, 0)
                away = np.abs(apart)
            else:
                away = np.maximum(-apart, 0)
            near = count // 2
            far = near + (np.log(np.maximum(away, 1).astype(np.float32) / near) / math.log(most / near) * (count - near)).astype(np.int64)
            return [table[base + np.where(away < near, away, np.minimum(far, count - 1))].transpose(2, 0, 1)[None]]

        length = lambda n: Given(np.array([n], np.int64), None, d.flag())
        return Variant(kind, [d.floats(buckets, heads), length(rows), length(keys)], {"max_distance": most, "is_bidirectional": both},
                       expected=expected)
    if kind == "GatedRelativePositionBias":
        batch, rows, heads, width, inner = d.size(1, 2), d.size(1, 4), d.size(1, 3), d.size(1, 4), 2 * d.size(1, 3)

        def expected(query, bias, positions, w, b, eco):
            q = (query + bias).reshape(batch, rows, heads, width).transpose(0, 2, 1, 3)
            u, r = (sigmoid(each.sum(-1, keepdims=True)) for each in np.split(q @ w + b, 2, -1))
            return [(u * (r * eco - 1) + 2) * positions]

        return Variant(kind, [d.floats(batch, rows, heads * width, axes=("B", None, None)), d.floats(heads * width),
                              d.floats(1, heads, rows, rows), d.floats(width, inner), d.floats(inner), d.floats(1, heads, 1, 1)],
                       {"num_heads": heads}, is_dynamic=d.is_dynamic, expected=expected)
    if kind == "IsAllFinite":
        x = d.f32(2, 3)
        x.array[0, 0] = d.one_of(1.0, np.inf, np.nan)
        only = d.one_of({}, {"isinf_only": 1}, {"isnan_only": 1})

        def expected(a, b):
            bad = np.isinf if "isinf_only" in only else np.isnan if "isnan_only" in only else lambda v: ~np.isfinite(v)
            return [np.array(not (bad(a).any() or bad(b).any()))]

        return Variant(kind, [x, d.f32(4)], only, expected=expected)
    size = 2 * d.size(1, 6)
    if kind == "Rfft":
        return Variant(kind, [d.f32(2, size, axes=("B", None))], {"signal_ndim": 1, "normalized": 0, "onesided": 1}, is_dynamic=d.is_dynamic,
                       expected=lambda x: [np.stack([np.fft.rfft(x).real, np.fft.rfft(x).imag], -1).astype(np.float32)])
    x = np.fft.rfft(d.random.uniform(-1, 1, (2, size)))
    return Variant(kind, [Given(np.stack([x.real, x.imag], -1).astype(np.float32), ("B", None, None))],
                   {"signal_ndim": 1, "normalized": 0, "onesided": 1}, is_dynamic=d.is_dynamic,
                   expected=lambda x: [np.fft.irfft(x[..., 0] + 1j * x[..., 1]).astype(np.float32)])


def gates(random):
    """No kernels for CPUs but those of LinearAttention and CausalConvWithState."""
    d = Draw(random)
    batch, rows, width = d.size(1, 3), d.size(1, 4), 2 * d.size(1, 4)
    kind = d.one_of("GatedAdd", "GatedRMSNorm", "LinearAttentionGate", "ComplexMul", "BiasDropout", "RestorePadding", "ReduceSumInteger",
                    "MulInteger")
    x = d.floats(batch, rows, width, axes=("B", "S", None))
    if kind == "GatedAdd":
        return Variant(kind, [x, d.floats(batch, rows, width, axes=("B", "S", None)), d.floats(batch, rows, 1, axes=("B", "S", None))],
                       is_dynamic=d.is_dynamic, expected=lambda x, y, g: [x + y * g])
    if kind == "GatedRMSNorm":
        group = d.one_of(2, width)

        def expected(x, scale, gate):
            apart = x.reshape(batch, rows, -1, group)
            norm = apart / np.sqrt((apart**2).mean(-1, keepdims=True) + 1e-3) * scale
            return [norm.reshape(x.shape) * gate * sigmoid(gate)]

        group = group if width % group == 0 else width
        return Variant(kind, [x, d.floats(group), d.floats(batch, rows, width, axes=("B", "S", None))], {"epsilon": 1e-3},
                       is_dynamic=d.is_dynamic, expected=expected)
    if kind == "LinearAttentionGate":
        return Variant(kind, [x, d.f32(width), d.f32(width), d.floats(batch, rows, width, axes=("B", "S", None))], {}, (True, True),
                       is_dynamic=d.is_dynamic, expected=lambda a, b, s, r: [s * np.log1p(np.exp(a + b)), sigmoid(r)])
    if kind == "ComplexMul":
        kind = d.one_of("ComplexMul", "ComplexMulConj")

        def expected(a, b):
            a, b = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
            y = a * (np.conj(b) if kind.endswith("Conj") else b)
            return [np.stack([y.real, y.imag], -1).astype(np.float32)]

        return Variant(kind, [d.floats(batch, rows, 2, axes=("B", "S", None)), d.floats(1, 2)], is_dynamic=d.is_dynamic, expected=expected)
    if kind == "BiasDropout":
        return Variant(kind, [x, d.floats(width), d.floats(batch, rows, width, axes=("B", "S", None)) if d.flag() else None], {},
                       (True, d.flag()), is_dynamic=d.is_dynamic,
                       expected=lambda x, b, r=None: [x + b + (0 if r is None else r), np.ones(x.shape, bool)])
    if kind == "RestorePadding":
        tokens = d.size(1, batch * rows)
        order = d.random.permutation(batch * rows).astype(np.int32)

        def expected(x, places):
            y = np.zeros((batch * rows, width), np.float32)
            y[order[:tokens]] = x
            return [y.reshape(batch, rows, width)]

        return Variant(kind, [d.floats(tokens, width), Given(order.reshape(batch, rows))], expected=expected)
    dtype = d.one_of(np.uint8, np.int8)
    a, b = (d.integers(0, 100, batch, rows, dtype=dtype, axes=("B", "S")) for _ in range(2))
    if kind == "MulInteger":
        zeros = [Given(np.array(d.size(0, 9), dtype), None, True) for _ in range(2)]
        return Variant(kind, [a, zeros[0], b, zeros[1]], is_dynamic=d.is_dynamic,
                       expected=lambda a, s, b, t: [(a.astype(np.int32) - s) * (b.astype(np.int32) - t)])
    wide, keeps = np.uint32 if dtype == np.uint8 else np.int32, int(d.flag())
    return Variant(kind, [a], {"axes": [1], "keepdims": keeps}, is_dynamic=d.is_dynamic,
                   expected=lambda a: [a.sum(1, keepdims=bool(keeps)).astype(wide)])


def linear(random):
    """Linear attention and its convolution, with a state."""
    d = Draw(random)
    d.dtype = np.float32
    batch, rows = d.size(1, 2), d.size(1, 4)
    if d.flag():
        channels, size = d.size(1, 4), d.size(1, 4)
        return Variant("CausalConvWithState", [d.floats(batch, channels, rows, axes=("B", None, "L")), d.floats(channels, 1, size, constant=True),
                                               d.floats(channels) if d.flag() else None,
                                               d.floats(batch, channels, size - 1, axes=("B", None, None)) if d.flag() else None],
                       {"activation": d.one_of("none", "silu", "swish")}, (True, True), is_dynamic=d.is_dynamic)
    heads, width, values = d.size(1, 3), d.one_of(2, 4), d.one_of(2, 3)
    rule = d.one_of("linear", "gated", "delta", "gated_delta")
    wide = lambda n: d.floats(batch, rows, n, axes=("B", "L", None))
    decay = wide(heads if d.flag() else heads * width) if "gated" in rule else None
    if decay:
        decay.array = -np.abs(decay.array)
    return Variant("LinearAttention", [wide(heads * width), wide(heads * width), wide(heads * values),
                                       d.floats(batch, heads, width, values, axes=("B", None, None, None)) if d.flag() else None, decay,
                                       wide(heads) if "delta" in rule else None],
                   {"q_num_heads": heads, "kv_num_heads": heads, "update_rule": rule}, (True, True), is_dynamic=d.is_dynamic, tolerance=1e-3)


def former(random):
    """The default domain's first days; an opset of 8 has them all in ONNX Runtime."""
    d = Draw(random)
    d.dtype = np.float32
    kind = d.one_of("Affine", "Crop", "ImageScaler", "ParametricSoftplus", "ScaledTanh", "DynamicSlice", "MeanVarianceNormalization")
    x, attributes, more = d.f32(d.size(1, 3), 3, 6, 5, axes=("B", None, None, None)), {}, []
    if kind in ("Affine", "ParametricSoftplus", "ScaledTanh"):
        attributes = {"alpha": d.one_of(1.0, 0.7), "beta": d.one_of(1.0, -0.4)}
    elif kind == "Crop":
        attributes = {"border": [d.size(0, 1) for _ in range(4)]}
        if d.flag():
            attributes["scale"] = [4, 3]
    elif kind == "ImageScaler":
        attributes = {"scale": 0.5, "bias": [0.1, -0.2, 0.3]}
    elif kind == "DynamicSlice":
        x.axes = None
        more = [Given(np.array(each, np.int64)) for each in ([1, -4], [3, 5])]
        more.append(Given(np.array([d.one_of(1, 2), 3], np.int64), None, True))
    else:
        attributes = {"across_channels": int(d.flag()), "normalize_variance": int(d.flag(0.8))}
    return Variant(kind, [x, *more], attributes, domain="", opset=8, is_dynamic=d.is_dynamic)


def fills(random):
    d = Draw(random)
    if d.flag():
        shape = [d.size(1, 3), d.size(1, 4)]
        return Variant("ConstantFill", [Given(np.array(shape, np.int64), None, True)],
                       {"input_as_shape": 1, "value": 0.5, "extra_shape": [2]}, domain="", opset=8, is_folded=True,
                       expected=lambda _: [np.full(shape + [2], 0.5, np.float32)])
    values = d.random.uniform(-1, 1, 6).astype(np.float32)
    return Variant("GivenTensorFill", [], {"shape": [2, 3], "values": values.tolist()}, domain="", opset=8, is_folded=True,
                   expected=lambda: [values.reshape(2, 3)])


FAMILIES = {each.__name__: each for each in (fused_conv, nhwc_conv, transposed_conv, fused_gemm, fused_matmul, matmul_activation, biases, skip_norm,
                                             former_norm, embed_norm, group_norm, others, positions, gates, linear, former, fills)}
