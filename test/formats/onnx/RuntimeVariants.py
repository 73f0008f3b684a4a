"""Random variants of ONNX Runtime's own operators, family by family, for RuntimeOperators.py."""
import dataclasses
import math

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

MICROSOFT = "com.microsoft"


@dataclasses.dataclass
class Given:
    """An input: its array, which axes have sizes that may be unknown, whether it is a constant."""

    array: np.ndarray
    axes: tuple = None
    is_constant: bool = False


@dataclasses.dataclass
class Variant:
    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: tuple = (True,)
    domain: str = MICROSOFT
    is_dynamic: bool = False
    tolerance: float = 1e-4
    # By how many steps integers may differ.
    steps: int = 0
    # What of an output is defined, by its name.
    valid: object = None
    # Inputs with which the runtime gives the outputs, if it cannot with these.
    judged: list = None
    # The outputs by definition, where the runtime has no kernel.
    expected: object = None
    opset: int = 17
    # Whether it is of constants alone, or gives its input.
    is_folded: bool = False


def model(variants, as_f32):
    """The nodes of all variants side by side, and arrays for their inputs."""
    nodes, inputs, constants, outputs, feeds = [], [], [], [], {}
    for i, variant in enumerate(variants):
        names = []
        for k, each in enumerate(variant.inputs):
            if each is None:
                names.append("")
                continue
            name, array = f"v{i}_x{k}", each.array
            if as_f32 and array.dtype == np.float16:
                array = array.astype(np.float32)
            names.append(name)
            if each.is_constant:
                constants.append(numpy_helper.from_array(array, name))
                continue
            sizes = [f"{axis}_{i}" if axis and variant.is_dynamic else size
                     for axis, size in zip(each.axes or [None] * array.ndim, array.shape)]
            feeds[name] = array
            inputs.append(helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], sizes))
        while names and not names[-1]:
            names.pop()
        given = [f"v{i}_y{k}" if is_wanted else "" for k, is_wanted in enumerate(variant.outputs)]
        nodes.append(helper.make_node(variant.op, names, given, name=f"v{i}", domain=variant.domain, **variant.attributes))
        outputs += [onnx.ValueInfoProto(name=each) for each in given if each]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    opset = variants[0].opset
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]), feeds


class Draw:
    """Arrays of one element type."""

    def __init__(self, random):
        self.random = random
        self.dtype = np.float16 if random.random() < 0.25 else np.float32
        self.is_dynamic = bool(random.random() < 0.5)

    def flag(self, share=0.5):
        return bool(self.random.random() < share)

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def floats(self, *shape, axes=None, constant=False, scale=1.0):
        return Given((self.random.uniform(-scale, scale, shape)).astype(self.dtype), axes, constant)

    def f32(self, *shape, axes=None, constant=False, low=-1.0, high=1.0):
        return Given(self.random.uniform(low, high, shape).astype(np.float32), axes, constant)

    def integers(self, low, high, *shape, dtype=np.int32, axes=None, constant=False):
        return Given(self.random.integers(low, high, shape).astype(dtype), axes, constant)


def padding_mask(d, batch, rows, keys):
    """A mask of each form, with a key at least for each row, or None."""
    form = d.one_of(None, "lengths", "both", "keys", "rows")
    ends = d.random.integers(1, keys + 1, batch).astype(np.int32)
    if form is None:
        return None
    if form == "lengths":
        return Given(ends, ("B",))
    if form == "both":
        starts = d.random.integers(0, ends).astype(np.int32)
        return None if d.is_dynamic else Given(np.concatenate([ends, starts]))
    if form == "keys":
        return Given((np.arange(keys) < ends[:, None]).astype(np.int32), ("B", "T"))
    mask = d.random.integers(0, 2, (batch, rows, keys)).astype(np.int32)
    mask[:, :, 0] = 1
    return Given(mask, ("B", "S", "T"))


def attention(random):
    """Attention: projections by one matrix, with any mask, past and bias of scores."""
    d = Draw(random)
    batch, rows, heads, width = d.size(1, 3), d.size(1, 5), d.size(1, 4), d.one_of(4, 8, 16)
    past = d.one_of(None, d.size(0, 4))
    keys = rows + (past or 0)
    value = width if past is not None or d.flag() else d.one_of(4, 8)
    hidden, value_hidden, inputs = heads * width, heads * value, d.size(2, 9)
    attributes = {"num_heads": heads}
    if value != width or d.flag(0.3):
        attributes["qkv_hidden_sizes"] = [hidden, hidden, value_hidden]
    if d.flag(0.3):
        attributes["unidirectional"] = 1
    if d.flag(0.3):
        attributes["scale"] = 0.3
    if d.flag(0.3):
        attributes["mask_filter_value"] = -500.0
    # With all batches and lengths open, the sum of past and new keys is a third size.
    given = [d.floats(batch, rows, inputs, axes=("B", "S", None)),
             d.floats(inputs, 2 * hidden + value_hidden, constant=d.flag()),
             d.floats(2 * hidden + value_hidden, constant=d.flag()),
             padding_mask(d, batch, rows, keys),
             None if past is None else d.floats(2, batch, heads, past, width, axes=(None, "B", None, "P", None)),
             d.floats(d.one_of(1, batch), d.one_of(1, heads), rows, keys) if d.flag(0.3) and past is None and not d.is_dynamic else None]
    return Variant("Attention", given, attributes, (True, past is not None or (value == width and d.flag(0.2))), is_dynamic=d.is_dynamic,
                   tolerance=1e-3)


def multi_head_attention(random):
    d = Draw(random)
    batch, rows, heads, width = d.size(1, 3), d.size(1, 5), d.size(1, 4), d.one_of(4, 8, 16)
    value = width if d.flag(0.7) else d.one_of(4, 8)
    form = d.one_of("three", "three", "cross", "heads")
    keys = rows if form == "three" else d.size(1, 6)
    past = d.size(0, 4) if form == "three" and d.flag(0.4) and value == width else None
    total = keys + (past or 0)
    attributes = {"num_heads": heads}
    if d.flag(0.3):
        attributes["scale"] = 0.4
    if d.flag(0.3):
        attributes["mask_filter_value"] = -300.0
    if d.flag(0.3) and form == "three":
        attributes["unidirectional"] = 1
    if form == "heads":
        value = width
        key = d.floats(batch, heads, keys, width, axes=("B", None, "L", None))
        values = d.floats(batch, heads, keys, value, axes=("B", None, "L", None))
    else:
        axes = ("B", "S" if form == "three" else "L", None)
        key, values = d.floats(batch, keys, heads * width, axes=axes), d.floats(batch, keys, heads * value, axes=axes)
    bias = d.floats(heads * (2 * width + value), constant=d.flag()) if d.flag() and form != "heads" else None
    mask = padding_mask(d, batch, rows, total) if d.flag(0.6) else None
    if mask is not None and mask.array.shape == (2 * batch,):
        mask = None
    scores = d.floats(d.one_of(1, batch), d.one_of(1, heads), rows, total) if d.flag(0.3) and not d.is_dynamic else None
    pasts = [None, None] if past is None else [
        d.floats(batch, heads, past, size, axes=("B", None, "P", None)) for size in (width, value)]
    present = past is not None or d.flag(0.2)
    return Variant("MultiHeadAttention",
                   [d.floats(batch, rows, heads * width, axes=("B", "S", None)), key, values, bias, mask, scores, *pasts], attributes,
                   (True, present, present), is_dynamic=d.is_dynamic, tolerance=1e-3)


def attend(query, key, value, scale, bias=0.0):
    """[B, N, S, H], [B, N, T, H], [B, N, T, V] -> [B, S, N * V]."""
    scores = np.einsum("bnsh,bnth->bnst", query, key).astype(np.float64) * scale + bias
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    result = np.einsum("bnst,bnth->bsnh", weights, value)
    return result.reshape(*result.shape[:2], -1).astype(np.float32)


def decoder_attention(random):
    """One row of the query after past keys in a buffer, or of a cross attention."""
    d = Draw(random)
    batch, heads, width, past = d.size(1, 3), d.size(1, 4), d.one_of(4, 8, 16), d.size(1, 5)
    is_cross = d.flag(0.4)
    hidden, total, buffer = heads * width, past if is_cross else past + 1, past if is_cross else past + d.size(1, 4)
    mask = padding_mask(d, batch, 1, total)
    if mask is not None and mask.array.ndim != 2:
        mask = None
    query = d.floats(batch, 1, hidden, axes=("B", None, None))
    cache = [d.floats(batch, heads, buffer, width, axes=("B", None, "P", None)) for _ in range(2)]
    rows = [d.floats(batch, 1, hidden, axes=("B", None, None)) for _ in range(2)]
    given = [query, *(cache if is_cross else rows), mask, None]
    if not is_cross:
        given += cache + [Given(np.array([past], np.int32), (None,), d.flag())]
    given += [None] * (10 - len(given)) + [d.floats(3 * hidden) if d.flag(0.3) and not is_cross else None]
    attributes = {"num_heads": heads}
    if not is_cross:
        attributes["past_present_share_buffer"] = 1
    if d.flag(0.3):
        attributes["scale"] = 0.4

    def expected(query, key, value, mask, _, *rest):
        bias = 0.0 if mask is None else np.where(mask > 0, 0, -10000.0)[:, None, None, :]
        scale = attributes.get("scale", 1 / math.sqrt(width))
        split = lambda x: x.reshape(batch, 1, heads, width).transpose(0, 2, 1, 3)
        if is_cross:
            return [attend(split(query), key, value, scale, bias)]
        q, k, v = (split(x + b) for x, b in zip((query, key, value), np.split(rest[5], 3) if rest[5] is not None else (0, 0, 0)))
        keys, values = rest[0].copy(), rest[1].copy()
        keys[:, :, past], values[:, :, past] = k[:, :, 0], v[:, :, 0]
        return [attend(q, keys[:, :, :total], values[:, :, :total], scale, bias), keys, values]

    return Variant("DecoderMaskedMultiHeadAttention", given, attributes, (True, not is_cross, not is_cross), is_dynamic=d.is_dynamic,
                   tolerance=1e-3, expected=expected)


def rotary_caches(d, most, half):
    angles = d.random.uniform(0, 3, (most, half))
    return [Given(f(angles).astype(d.dtype), None, True) for f in (np.cos, np.sin)]


def rotary_embedding(random):
    d = Draw(random)
    batch, rows, heads, half = d.size(1, 3), d.size(1, 5), d.size(1, 3), d.one_of(4, 8)
    is_partial, is_apart, most = d.flag(0.3), d.flag(0.4), 12
    width = 2 * half + (d.one_of(2, 4, 8) if is_partial else 0)
    x = (d.floats(batch, heads, rows, width, axes=("B", None, "S", None)) if is_apart
         else d.floats(batch, rows, heads * width, axes=("B", "S", None)))
    positions = (d.integers(0, most - rows + 1, 1, dtype=np.int64) if d.flag()
                 else d.integers(0, most, batch, rows, dtype=np.int64, axes=("B", "S")))
    attributes = {"interleaved": int(d.flag())}
    if is_partial:
        attributes.update(num_heads=heads, rotary_embedding_dim=2 * half)
    elif d.flag(0.3):
        attributes.update(num_heads=heads)
    return Variant("RotaryEmbedding", [x, positions, *rotary_caches(d, most, half)], attributes, is_dynamic=d.is_dynamic)


def mixed_rotary(random):
    """MRotaryEmbedding: positions in time, height and width."""
    d = Draw(random)
    batch, rows, heads, half, most = d.size(1, 3), d.size(1, 4), d.size(1, 3), d.one_of(6, 8), 9
    first = d.size(0, half)
    second = d.size(0, half - first)
    sections = [first, second, half - first - second]
    in_turn = int(d.flag())
    if in_turn:
        sections = [half - 2 * (half // 3), half // 3, half // 3]
    is_interleaved = int(d.flag())
    x = d.floats(batch, rows, heads * 2 * half, axes=("B", "S", None))
    positions = d.integers(0, most, 3, batch, rows, dtype=np.int64, axes=(None, "B", "S"))
    stream = np.zeros(half, int)
    for i in range(half):
        if in_turn:
            stream[i] = i % 3 if i % 3 and i < 3 * sections[i % 3] else 0
        else:
            stream[i] = int(i >= sections[0]) + int(i >= sections[0] + sections[1])

    def expected(x, positions, cosines, sines):
        cosine, sine = (np.take_along_axis(cache[positions].transpose(1, 2, 3, 0), stream[None, None, :, None], -1)[..., 0][:, :, None]
                        for cache in (cosines, sines))
        y = x.reshape(batch, rows, heads, 2 * half).astype(np.float32)
        a, b = (y[..., 0::2], y[..., 1::2]) if is_interleaved else (y[..., :half], y[..., half:])
        p, q = a * cosine - b * sine, a * sine + b * cosine
        y = np.stack([p, q], -1).reshape(y.shape) if is_interleaved else np.concatenate([p, q], -1)
        return [y.reshape(x.shape)]

    return Variant("MRotaryEmbedding", [x, positions, *rotary_caches(d, most, half)],
                   {"mrope_section": sections, "mrope_layout": in_turn, "interleaved": is_interleaved}, is_dynamic=d.is_dynamic, expected=expected)


def packed_attention(random):
    """Rows of sequences without padding, by the definition."""
    d = Draw(random)
    batch, rows, heads, width = d.size(1, 3), d.size(1, 5), d.size(1, 3), d.one_of(4, 8)
    hidden = heads * width
    lengths = d.random.integers(1, rows + 1, batch)
    places = np.arange(batch * rows).reshape(batch, rows)
    inside = np.arange(rows) < lengths[:, None]
    offsets = np.concatenate([places[inside], places[~inside]]).astype(np.int32).reshape(batch, rows)
    sums = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    tokens = int(sums[-1])
    scale = d.one_of(None, 0.3)
    attributes = {"num_heads": heads, **({"scale": scale} if scale else {})}

    def within(q, k, v):
        out = np.zeros((tokens, hidden), np.float32)
        for first, last in zip(sums, sums[1:]):
            split = lambda x: x[first:last].reshape(1, -1, heads, width).transpose(0, 2, 1, 3)
            out[first:last] = attend(split(q), split(k), split(v), scale or 1 / math.sqrt(width))[0]
        return [out]

    more = [Given(offsets), Given(sums)]
    if d.flag():
        inputs = d.size(2, 6)
        return Variant("PackedAttention", [d.floats(tokens, inputs), d.floats(inputs, 3 * hidden), d.floats(3 * hidden), *more], attributes,
                       expected=lambda x, w, b, *_: within(*np.split(x @ w + b, 3, -1)), tolerance=1e-3)
    bias = d.floats(3 * hidden) if d.flag() else None
    if d.flag():
        def expected(x, _k, _v, b, *_):
            parts = [x[:, :, i].reshape(tokens, hidden) for i in range(3)]
            return within(*(part + add for part, add in zip(parts, np.split(b, 3) if b is not None else (0, 0, 0))))

        return Variant("PackedMultiHeadAttention", [d.floats(tokens, heads, 3, width), None, None, bias, *more], attributes,
                       expected=expected, tolerance=1e-3)
    return Variant("PackedMultiHeadAttention", [*(d.floats(tokens, hidden) for _ in range(3)), bias, *more], attributes, tolerance=1e-3,
                   expected=lambda q, k, v, b, *_: within(*(x + add for x, add in zip((q, k, v), np.split(b, 3) if b is not None else (0, 0, 0)))))


def sparse_attention(random):
    """Blocks of keys by layout; past and present are one buffer in the runtime, so by the definition."""
    d = Draw(random)
    fewer, width, size, blocks = d.size(1, 2), 16, 16, d.size(1, 3)
    heads, batch, most = fewer * d.size(1, 2), d.size(1, 2), 16 * blocks
    is_prompt = d.flag()
    rows = d.size(2, most) if is_prompt else 1
    total = rows if is_prompt else d.size(1, most)
    layouts = d.one_of(1, heads)
    mask = np.tril(d.random.random((layouts, blocks, blocks)) < 0.6)
    mask |= np.eye(blocks, dtype=bool)
    ends = np.concatenate([np.zeros((layouts, 1)), mask.sum(-1).cumsum(-1)], -1).astype(np.int32)
    columns = np.full((layouts, max(int(ends[:, -1].max()), 1)), -1, np.int32)
    for i in range(layouts):
        columns[i, : ends[i, -1]] = np.nonzero(mask[i])[1]
    lengths = np.full(batch, total, np.int32)
    given = [d.floats(batch, rows, heads * width, axes=("B", "S", None)), *(d.floats(batch, rows, fewer * width, axes=("B", "S", None)) for _ in range(2)),
             *(d.floats(batch, fewer, most, width, axes=("B", None, None, None)) for _ in range(2)), Given(ends, None, True),
             Given(columns, None, True), Given(np.array([total], np.int32), None, True), Given(lengths, ("B",))]

    def expected(q, k, v, past_k, past_v, *_):
        split = lambda x, n: x.reshape(batch, rows, n, width).transpose(0, 2, 1, 3)
        keys, values = past_k.copy(), past_v.copy()
        start = total - rows
        keys[:, :, start:total], values[:, :, start:total] = split(k, fewer), split(v, fewer)
        keys[:, :, total:] = values[:, :, total:] = 0
        over = lambda x: np.repeat(x[:, :, :total], heads // fewer, 1)
        at, to = start + np.arange(rows), np.arange(total)
        sees = np.stack([mask[h % layouts][at[:, None] // size, to[None] // size] for h in range(heads)])
        sees = sees & (to[None] <= at[:, None])
        return [attend(split(q, heads), over(keys), over(values), 1 / math.sqrt(width), np.where(sees, 0, -np.inf)[None]), keys, values]

    return Variant("SparseAttention", given, {"num_heads": heads, "kv_num_heads": fewer, "sparse_block_size": size}, (True, True, True),
                   is_dynamic=d.is_dynamic, expected=expected, tolerance=1e-3)


def group_query_attention(random):
    d = Draw(random)
    fewer, width = d.size(1, 3), d.one_of(16, 32)
    heads, batch = fewer * d.size(1, 3), d.size(1, 3)
    kind = d.one_of("prompt", "prompt", "step", "step", "chunk")
    if kind == "chunk":
        batch = 1
    rows = 1 if kind == "step" else d.size(2, 5)
    before = 0 if kind == "prompt" else d.size(1, 5)
    total = rows + before
    # Each sequence's length; the longest has the total.
    lengths = d.random.integers(1 if kind == "prompt" else rows, total + 1, batch)
    lengths[d.random.integers(batch)] = total
    buffer = d.one_of(before, before + d.size(0, 6))
    is_packed = d.flag(0.3)
    sizes = (heads + 2 * fewer) if is_packed else heads
    given = [d.floats(batch, rows, sizes * width, axes=("B", "S", None))]
    given += [None, None] if is_packed else [d.floats(batch, rows, fewer * width, axes=("B", "S", None)) for _ in range(2)]
    has_past = kind != "prompt" or d.flag()
    given += [d.floats(batch, fewer, buffer, width, axes=("B", None, "P", None)) if has_past else None for _ in range(2)]
    given += [Given((lengths - 1).astype(np.int32), ("B",)), Given(np.array(total, np.int32), (), not d.is_dynamic and d.flag())]
    attributes = {"num_heads": heads, "kv_num_heads": fewer}
    caches = [None, None]
    if d.flag():
        attributes["do_rotary"] = 1
        caches = rotary_caches(d, total + d.size(0, 4), d.one_of(8, width // 2))
        if d.flag(0.3):
            attributes["rotary_interleaved"] = 1
    given += caches
    given.append(None)
    given.append(d.floats(d.one_of(1, batch), d.one_of(1, heads), rows, total) if d.flag(0.2) and not d.is_dynamic else None)
    given.append(d.floats(heads, constant=True) if d.flag(0.2) else None)
    if d.flag(0.3):
        attributes["scale"] = 0.2
    if d.flag(0.3):
        attributes["softcap"] = 2.0
    if d.flag(0.3):
        attributes["local_window_size"] = d.size(1, 4)
    if d.flag(0.2) and given[11] is None:
        attributes["smooth_softmax"] = 1
    # Positions other than those that are counted, norms of queries and keys, the scores.
    if "do_rotary" in attributes and d.flag(0.3):
        start = 0 if kind == "prompt" else before
        # The last row's position has to be in the cache, too.
        shift = min(d.size(0, 1), caches[0].array.shape[0] - start - rows)
        given[9] = Given((start + np.arange(rows) + shift)[None].repeat(batch, 0).astype(np.int64), ("B", "S"))
    judged = list(given)
    if d.flag(0.2):
        norms = [d.floats(width, constant=True) for _ in range(2)]
        given += [None, None, *norms]

        def normed(each, first, count, weight):
            """The heads from the first one on, as the norm of queries or keys has them."""
            array = each.array.astype(np.float32).reshape(batch, rows, -1, width).copy()
            part = array[:, :, first : first + count]
            part *= weight.array / np.sqrt((part * part).mean(-1, keepdims=True) + 1e-6)
            return dataclasses.replace(each, array=array.reshape(each.array.shape))

        # The runtime has them on GPUs only.
        judged[0] = normed(given[0], 0, heads, norms[0])
        key = 0 if is_packed else 1
        judged[key] = normed(judged[key], heads if is_packed else 0, fewer, norms[1])
    has_scores = d.flag(0.2)
    if has_scores:
        attributes["qk_output"] = d.size(1, 2)

    def valid(name, value):
        """Rows of padding, those of the cache behind the last, and scores of keys that are not seen may be anything."""
        value = value.copy()
        for b in range(batch):
            if name.endswith("_y3"):
                row = np.arange(rows)[:, None] + (0 if kind == "prompt" else lengths[b] - rows)
                key = np.arange(value.shape[3])
                window = attributes.get("local_window_size", total + 1)
                value[b][:, ~((key <= row) & (key > row - window) & (row < lengths[b]))] = 0
                continue
            if name.endswith("_y0") and kind == "prompt":
                value[b, lengths[b]:] = 0
            if not name.endswith("_y0"):
                value[b, :, lengths[b]:] = 0
        return value

    return Variant("GroupQueryAttention", given, attributes, (True,) * (4 if has_scores else 3), is_dynamic=d.is_dynamic, valid=valid,
                   tolerance=1e-3, judged=judged)


FAMILIES = {each.__name__: each for each in (attention, multi_head_attention, decoder_attention, rotary_embedding,
                                             mixed_rotary, packed_attention, sparse_attention, group_query_attention)}
