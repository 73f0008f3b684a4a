"""Rows of operators for random graphs: those of ai.onnx that GraphGenerator has no method for, ONNX Runtime's and ai.onnx.ml's.

A row says from which opset on, and of which element types and rank, a value suits, and adds what comes of it or returns False.
"""
import collections
import functools

import numpy as np
from ClassicalGenerator import OTHERS, TREES
from LayerVariants import FAMILIES as LAYERS
from GraphPieces import Value
from onnx import TensorProto, helper
from QuantizedVariants import FAMILIES as QUANTIZED
from RuntimeVariants import FAMILIES as ATTENTIONS, MICROSOFT

Row = collections.namedtuple("Row", "operator opset kinds ranks until make")
ROWS = []
HALF, FLOATS, INTEGERS = ("f32", "f16"), ("f32", "f16", "f64"), ("i64", "i32")
NUMBERS = FLOATS + INTEGERS
# For results with jumps, where one rounding of an f16 would be another result.
EXACT = ("f32", "f64") + INTEGERS
ANY = range(6)


def row(operator, opset=13, kinds=HALF, ranks=ANY, until=99):
    """`until` is the first opset whose version of the operator ONNX Runtime has no kernel for."""
    def add(make):
        ROWS.append(Row(operator, opset, kinds, ranks, until, make))
        return make

    return add


def suited(g, x):
    return [each for each in ROWS if each.opset <= g.opset < each.until and x.kind in each.kinds and x.rank in each.ranks and 0 not in x.shape]


# ---- Of one value and of its shape ------------------------------------------

def plain(g, x):
    return x.name


def small(g, x):
    return g.node("Tanh", [x.name])


def inside(g, x):
    return g.node("Mul", [small(g, x), g.scalar(x, 0.9)])


def positive(g, x):
    return g.node("Add", [g.node("Abs", [x.name]), g.scalar(x, 0.5)])


def beyond(g, x):
    return g.node("Add", [g.node("Abs", [x.name]), g.scalar(x, 1.25)])


def same(operator, kinds=HALF, prepare=plain, opset=13, to=None, domain="", until=99, **choices):
    """A row of a node of the value's shape; attributes are chosen, None leaves one out."""
    @row(operator, opset, kinds, until=until)
    def make(g, x):
        chosen = {name: g.random.choice(each) for name, each in choices.items()}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        g.add(g.node(operator, [prepare(g, x)], domain=domain, **chosen), to or x.kind, x.shape, x.is_dynamic)


for operator in ("Acos", "Asin", "Atanh"):
    same(operator, prepare=inside)
for operator in ("Sinh", "Cosh", "Tan"):
    same(operator, prepare=small)
for operator in ("Asinh", "Atan", "Softplus", "Softsign"):
    same(operator)
for operator in ("Ceil", "Round"):
    same(operator, ("f32", "f64"))
for operator in ("Sin", "Cos"):
    same(operator, FLOATS)
same("Acosh", prepare=beyond)
same("Exp", FLOATS, small)
for operator in ("Log", "Sqrt", "Reciprocal"):
    same(operator, FLOATS, positive)
same("Sign", EXACT)
same("Elu", alpha=[None, 0.5])
same("Celu", ("f32",), alpha=[None, 0.5])
same("Selu", alpha=[None, 1.5], gamma=[None, 1.1])
same("HardSigmoid", alpha=[None, 0.3], beta=[None, 0.4])
same("HardSwish", opset=14)
same("Mish", opset=18)
same("Gelu", opset=20, approximate=["none", "tanh"])
same("Swish", opset=24, until=26, alpha=[None, 0.7])
same("Shrink", ("f32",), lambd=[0.3], bias=[None, 0.1])
same("ThresholdedRelu", ("f32",), alpha=[None, 0.3])
same("Dropout", FLOATS)
same("IsNaN", FLOATS, to="bool")
same("IsInf", ("f32", "f64"), to="bool", detect_negative=[0, 1])
same("Not", ("bool",))
same("BitwiseNot", INTEGERS, opset=18)
same("Gelu", domain=MICROSOFT)
same("QuickGelu", domain=MICROSOFT, alpha=[None, 1.5])
same("FastGelu", domain=MICROSOFT)


@row("Clip", kinds=NUMBERS)
def clip(g, x):
    bounds = [g.scalar(x, each) if g.random.random() < 0.7 else "" for each in (-1, 2)]
    g.add(g.node("Clip", [x.name, *bounds]), x.kind, x.shape, x.is_dynamic)


@row("PRelu")
def prelu(g, x):
    g.add(g.node("PRelu", [x.name, g.beside(x)]), x.kind, x.shape, x.is_dynamic)


# ---- Of a value and another -------------------------------------------------

def pair(operator, kinds, other, to=None, opset=13, prepare=plain, **attributes):
    @row(operator, opset, kinds)
    def make(g, x):
        g.add(g.node(operator, [prepare(g, x), other(g, x)], **attributes), to or x.kind, x.shape, x.is_dynamic)


def beside(g, x):
    return g.beside(x)


def not_zero(g, x):
    return g.beside(x, lambda array: np.abs(array) + 1)


pair("Div", NUMBERS, not_zero)
pair("Mod", INTEGERS, not_zero)
pair("Mod", ("f32", "f64"), not_zero, fmod=1)
pair("Pow", ("f32", "f64"), beside, prepare=positive)
for operator in ("Min", "Max"):
    pair(operator, NUMBERS, beside)
pair("Mean", ("f32",), beside)
pair("Sum", ("f32", "f64"), beside)
for operator in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
    pair(operator, EXACT, beside, "bool")
for operator in ("And", "Or", "Xor"):
    pair(operator, ("bool",), beside)
for operator in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    pair(operator, INTEGERS, beside, opset=18)


@row("BitShift", kinds=INTEGERS)
def bit_shift(g, x):
    wide = TensorProto.UINT64
    codes = g.node("Cast", [g.node("Abs", [x.name])], to=wide)
    shifted = g.node("BitShift", [codes, g.constant(np.uint64(2))], direction=g.random.choice(["LEFT", "RIGHT"]))
    g.add(g.node("Cast", [shifted], to=TensorProto.INT64), "i64", x.shape, x.is_dynamic)


@row("CastLike", 15, NUMBERS)
def cast_like(g, x):
    kind = g.random.choice(["f32", "f64", "i64"])
    g.add(g.node("CastLike", [x.name, g.constant(g.random_array(kind, [1]))]), kind, x.shape, x.is_dynamic)


# ---- Reductions -------------------------------------------------------------

def reduction(operator, kinds, prepare=plain):
    @row(operator, kinds=kinds, ranks=range(1, 6))
    def make(g, x):
        axes, keep = g.random.sample(range(x.rank), g.random.randint(1, x.rank)), g.random.choice([0, 1])
        g.add(g.reduced(operator, prepare(g, x), axes, keep), x.kind, [1 if i in axes else s for i, s in enumerate(x.shape) if keep or i not in axes],
              [o and i not in axes for i, o in enumerate(x.is_dynamic) if keep or i not in axes])


reduction("ReduceL1", ("f32", "f16", "i32"))
reduction("ReduceLogSum", ("f32", "f64"), positive)
reduction("ReduceLogSumExp", ("f32", "f64"))
reduction("ReduceProd", ("f32",), small)
reduction("ReduceSumSquare", ("f32", "f64", "i32"))


@row("Hardmax", ranks=range(1, 6), kinds=("f32",))
def hardmax(g, x):
    g.add(g.node("Hardmax", [x.name], axis=g.random.randrange(-x.rank, x.rank)), x.kind, x.shape, x.is_dynamic)


@row("CumProd", 26, ("f32", "f64"), range(1, 6))
def cumulated_product(g, x):
    axis = g.constant(np.int64(g.random.randrange(x.rank)))
    g.add(g.node("CumProd", [small(g, x), axis], exclusive=g.random.choice([0, 1]), reverse=g.random.choice([0, 1])), x.kind, x.shape, x.is_dynamic)


# ---- Places and sizes -------------------------------------------------------

@row("Shape", 15, NUMBERS, range(1, 6))
def part_of_shape(g, x):
    start = g.random.randrange(x.rank)
    g.add(g.node("Shape", [x.name], start=start), "i64", [x.rank - start], [False])


@row("Size", kinds=NUMBERS)
def size(g, x):
    g.add(g.node("Size", [x.name]), "i64", [], [])


@row("EyeLike", kinds=("f32", "f64", "i64"), ranks=(2,))
def eye(g, x):
    g.add(g.node("EyeLike", [x.name], k=g.random.choice([-1, 0, 1])), x.kind, x.shape, x.is_dynamic)


@row("Trilu", 14, ("f32", "f64", "i64"), range(2, 6))
def trilu(g, x):
    k = g.constant(np.int64(g.random.choice([-2, -1, 0, 1, 2])))
    g.add(g.node("Trilu", [x.name, k] if g.random.random() < 0.6 else [x.name], upper=g.random.choice([0, 1])), x.kind, x.shape, x.is_dynamic)


@row("CenterCropPad", 18, ("f32", "i64"), range(1, 6))
def center(g, x):
    axis, size = g.random.randrange(x.rank), g.random.choice([3, 9])
    name = g.node("CenterCropPad", [x.name, g.ints([size])], axes=[axis])
    g.add(name, x.kind, [size if i == axis else s for i, s in enumerate(x.shape)], [o and i != axis for i, o in enumerate(x.is_dynamic)])


@row("ReverseSequence", kinds=("f32", "f64", "i64"), ranks=range(2, 6))
def reverse_sequence(g, x):
    batch = g.random.choice([0, 1])
    if x.is_dynamic[batch]:
        lengths = g.node("Expand", [g.ints([min(2, x.shape[1 - batch])]), g.size_of(x, batch)])
    else:
        lengths = g.ints([g.random.randint(1, min(2, x.shape[1 - batch])) for _ in range(x.shape[batch])])
    g.add(g.node("ReverseSequence", [x.name, lengths], batch_axis=batch, time_axis=1 - batch), x.kind, x.shape, x.is_dynamic)


@row("ScatterElements", kinds=("f32", "i64"), ranks=range(1, 5))
def scatter_elements(g, x):
    shape = [1] * x.rank
    axis = g.random.randrange(x.rank)
    shape[axis] = min(2, x.shape[axis])
    places = g.constant(np.arange(shape[axis], dtype=np.int64).reshape(shape))
    way = {"reduction": g.random.choice(["none", "add", "mul"] + ["min", "max"] * (g.opset >= 18))} if g.opset >= 16 else {}
    g.add(g.node("ScatterElements", [x.name, places, g.constant(g.random_array(x.kind, shape))], axis=axis, **way), x.kind, x.shape, x.is_dynamic)


@row("TensorScatter", 24, ("f32",), range(1, 5))
def tensor_scatter(g, x):
    places = g.node("Expand", [g.ints([g.random.choice([0, 2, 3])]), g.size_of(x, 0)])
    mode = g.random.choice(["linear", "circular"])
    g.add(g.node("TensorScatter", [g.block(x, 5, 4), g.block(x, 2, 4), places], axis=1, mode=mode), x.kind, [x.shape[0], 5, 4],
          [x.is_dynamic[0], False, False])


@row("TfIdfVectorizer", kinds=INTEGERS, ranks=(1, 2))
def grams(g, x):
    if x.rank == 2 and x.is_dynamic[1]:
        return False
    shape, is_dynamic = ([], []) if x.rank == 1 else (x.shape[:1], x.is_dynamic[:1])
    more = {"weights": [0.5, 1.0, 1.5, 2.0]} if g.random.random() < 0.5 else {}
    g.add(g.node("TfIdfVectorizer", [x.name], mode=g.random.choice(["TF", "IDF", "TFIDF"]), min_gram_length=1, max_gram_length=2, max_skip_count=1,
                 ngram_counts=[0, 2], ngram_indexes=[0, 1, 2, 3], pool_int64s=[1, -2, 0, 1, 2, 0], **more), "f32", shape + [4], is_dynamic + [False])


def counted(operator, kinds=("f32", "i64"), opset=13):
    """What has as many elements as values say; their sums go on."""
    def wrap(make):
        @row(operator, opset, kinds, range(1, 5))
        def whole(g, x):
            made = make(g, x)
            if not made:
                return False
            name, kind, rank = made
            if rank > 1:
                return g.add(g.reduced("ReduceSum", name, list(range(1, rank)), 0), kind, x.shape[:1], x.is_dynamic[:1])
            g.add(g.reduced("ReduceSum", name, [0], 1), kind, [1], [False])

    return wrap


@counted("NonZero")
def non_zero(g, x):
    return g.node("Reshape", [g.node("NonZero", [x.name]), g.ints([-1])]), "i64", 1


@counted("Compress")
def compress(g, x):
    flat = g.node("Reshape", [x.name, g.ints([-1])])
    return g.node("Compress", [flat, g.node("Greater", [flat, g.scalar(x, 0)])]), x.kind, 1


@counted("Unique")
def unique(g, x):
    """Of inputs and integers: whether computed floats are equal hangs on the last bit."""
    if x.kind == "f32" and x.name not in g.feeds:
        return False
    place = g.random.choice([0, 1, 3])
    return g.node("Unique", [x.name], 4, sorted=g.random.choice([0, 1]))[place], "i64" if place else x.kind, 1


# ---- Images -----------------------------------------------------------------

def images(operator, opset=13, until=99):
    def wrap(make):
        @row(operator, opset, ("f32",), (4,), until)
        def whole(g, x):
            return make(g, x) if g.image(x) else False

    return wrap


for operator, more in (("GlobalAveragePool", {}), ("GlobalMaxPool", {}), ("GlobalLpPool", {"p": 1}), ("GlobalLpPool", {"p": 2})):
    @images(operator, until=22 if operator == "GlobalLpPool" else 99)
    def global_pool(g, x, operator=operator, more=more):
        g.add(g.node(operator, [x.name], **more), x.kind, x.shape[:2] + [1, 1], x.is_dynamic[:2] + [False, False])


@images("LpPool")
def lp_pool(g, x):
    g.add(g.node("LpPool", [x.name], kernel_shape=[2, 2], pads=[0, 1, 1, 0], p=g.random.choice([1, 2])), x.kind, x.shape, x.is_dynamic)


@images("MaxUnpool")
def max_unpool(g, x):
    if min(x.shape[2:]) < 2:
        return False
    values, places = g.node("MaxPool", [x.name], 2, kernel_shape=[2, 2], strides=[2, 2])
    g.add(g.node("MaxUnpool", [values, places], kernel_shape=[2, 2], strides=[2, 2]), x.kind, x.shape[:2] + [s // 2 * 2 for s in x.shape[2:]], x.is_dynamic)


@images("LRN")
def local_norm(g, x):
    g.add(g.node("LRN", [x.name], size=g.random.choice([1, 3, 5]), alpha=0.01, beta=0.6, bias=1.5), x.kind, x.shape, x.is_dynamic)


@images("BatchNormalization", 15)
def batch_norm(g, x):
    scale, bias, mean = (g.constant(g.random_array("f32", [x.shape[1]])) for _ in range(3))
    variance = g.constant(np.abs(g.random_array("f32", [x.shape[1]])) + np.float32(0.5))
    g.add(g.node("BatchNormalization", [x.name, scale, bias, mean, variance]), x.kind, x.shape, x.is_dynamic)


@images("GroupNormalization", 21)
def group_norm(g, x):
    scale, bias = (g.constant(g.random_array("f32", [x.shape[1]])) for _ in range(2))
    g.add(g.node("GroupNormalization", [x.name, scale, bias], num_groups=g.random.choice([1, x.shape[1]])), x.kind, x.shape, x.is_dynamic)


@images("SpaceToDepth")
def space_to_depth(g, x):
    wide = g.node("Concat", [x.name, x.name], axis=2)
    wide = g.node("Concat", [wide, wide], axis=3)
    g.add(g.node("SpaceToDepth", [wide], blocksize=2), x.kind, [x.shape[0], 4 * x.shape[1], *x.shape[2:]], x.is_dynamic)


@images("GridSample", 16)
def grid_sample(g, x):
    modes = ["linear", "nearest", "cubic"] if g.opset >= 20 else ["bilinear", "nearest", "bicubic"]
    grid = g.node("Tanh", [g.block(x, 3, 2, 2)])
    g.add(g.node("GridSample", [x.name, grid], mode=g.random.choice(modes), align_corners=g.random.choice([0, 1]),
                 padding_mode=g.random.choice(["zeros", "border", "reflection"])), x.kind, x.shape[:2] + [3, 2], x.is_dynamic[:2] + [False, False])


@row("AffineGrid", 20, ("f32",), range(1, 5))
def affine_grid(g, x):
    size = g.node("Concat", [g.size_of(x, 0), g.ints([1, 3, 4])], axis=0)
    g.add(g.node("AffineGrid", [g.block(x, 2, 3), size], align_corners=g.random.choice([0, 1])), "f32", [x.shape[0], 3, 4, 2],
          [x.is_dynamic[0], False, False, False])


@images("RoiAlign", 16, 22)
def roi_align(g, x):
    regions = g.constant(np.array([[0, 0, 3, 2], [1, 0.5, 2.2, 3]], np.float32))
    g.add(g.node("RoiAlign", [x.name, regions, g.ints([0, 0])], output_height=2, output_width=3, sampling_ratio=g.random.choice([0, 2]),
                 mode=g.random.choice(["avg", "max"]), coordinate_transformation_mode=g.random.choice(["half_pixel", "output_half_pixel"])),
          x.kind, [2, x.shape[1], 2, 3], [False] * 4)


@images("MaxRoiPool", until=22)
def max_roi_pool(g, x):
    regions = g.constant(np.array([[0, 0, 0, 3, 2], [0, 1, 0, 2, 3]], np.float32))
    g.add(g.node("MaxRoiPool", [x.name, regions], pooled_shape=[2, 2]), x.kind, [2, x.shape[1], 2, 2], [False] * 4)


@row("DeformConv", 19, ("f32",), range(1, 5))
def deform_conv(g, x):
    weights = g.constant(g.random_array("f32", [3, 2, 2, 2]))
    g.add(g.node("DeformConv", [g.block(x, 2, 4, 5), weights, g.block(x, 8, 3, 4)], kernel_shape=[2, 2]), x.kind, [x.shape[0], 3, 3, 4],
          [x.is_dynamic[0], False, False, False])


@row("Col2Im", 18, ("f32",), range(1, 5))
def col2im(g, x):
    g.add(g.node("Col2Im", [g.block(x, 8, 12), g.ints([4, 5]), g.ints([2, 2])]), "f32", [x.shape[0], 2, 4, 5], [x.is_dynamic[0], False, False, False])


@row("NonMaxSuppression", kinds=("f32",), ranks=range(1, 5))
def suppress(g, x):
    corners = g.constant(np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0.5, 0.5, 2, 2]]], np.float32))
    scores = g.node("Slice", [g.block(x, 2, 4), g.ints([0]), g.ints([1]), g.ints([0])])
    g.results.append(g.node("NonMaxSuppression", [corners, scores, g.ints([3]), g.constant(np.float32(0.5)), g.constant(np.float32(0.1))],
                            center_point_box=g.random.choice([0, 1])))


# ---- Products and norms -----------------------------------------------------

@row("Gemm", ranks=(2,), kinds=FLOATS)
def gemm(g, x):
    left = g.random.random() < 0.5
    inner, outer = (0, 1) if left else (1, 0)
    if x.is_dynamic[inner]:
        return False
    right = g.random.random() < 0.5
    weights = g.constant(g.random_array(x.kind, [3, x.shape[inner]] if right else [x.shape[inner], 3]))
    bias = [g.constant(g.random_array(x.kind, g.random.choice([[], [3], [1, 3]])))] if g.random.random() < 0.6 else []
    g.add(g.node("Gemm", [x.name, weights, *bias], transA=int(left), transB=int(right), alpha=g.random.choice([1.0, 0.5]), beta=2.0), x.kind,
          [x.shape[outer], 3], [x.is_dynamic[outer], False])


for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
    @row(operator, ranks=range(1, 5))
    def recurrent(g, x, operator=operator, gates=gates):
        """Of as many steps as x is long, or of as many batches."""
        way, by_batch = g.random.choice(["forward", "reverse", "bidirectional"]), g.random.random() < 0.5
        count = 2 if way == "bidirectional" else 1
        given = [g.constant(g.random_array(x.kind, [count, gates * 3, size])) for size in (4, 3)]
        if g.random.random() < 0.5:
            given.append(g.constant(g.random_array(x.kind, [count, 2 * gates * 3])))
        block = g.block(x, 2, 4)
        if by_batch:
            block = g.node("Transpose", [block], perm=[1, 0, 2])
        more = {"linear_before_reset": g.random.choice([0, 1])} if operator == "GRU" else {}
        names = g.node(operator, [block, *given], 2, hidden_size=3, direction=way, **more)
        size, is_dynamic = x.shape[0], x.is_dynamic[0]
        g.add(names[0], x.kind, *(([2, count, size, 3], [False, False, is_dynamic, False]) if by_batch else
                                  ([size, count, 2, 3], [is_dynamic, False, False, False])))
        g.add(names[1], x.kind, [count, size if by_batch else 2, 3], [False, is_dynamic and by_batch, False])


@row("Det", kinds=("f32",))
def determinant(g, x):
    if not x.rank:
        return False
    g.add(g.node("Det", [g.block(x, 3, 3)]), "f32", x.shape[:1], x.is_dynamic[:1])


def wide(g, x):
    """The value, or what has a last size that is known and comes of it."""
    if x.rank > 1 and not x.is_dynamic[-1]:
        return x
    return Value(g.block(x, 3, 6), x.kind, [x.shape[0], 3, 6], [x.is_dynamic[0], False, False])


@row("RMSNormalization", 23, ranks=range(1, 6))
def rms_norm(g, x):
    x = wide(g, x)
    g.add(g.node("RMSNormalization", [x.name, g.constant(g.random_array(x.kind, x.shape[-1:]))]), x.kind, x.shape, x.is_dynamic)


@row("SimplifiedLayerNormalization", kinds=("f32",), ranks=range(1, 5))
def simplified_norm(g, x):
    x = wide(g, x)
    g.add(g.node("SimplifiedLayerNormalization", [x.name, g.constant(g.random_array(x.kind, x.shape[-1:]))]), x.kind, x.shape, x.is_dynamic)


@row("SkipLayerNormalization", kinds=("f32",), ranks=range(1, 4))
def skip_norm(g, x):
    x = wide(g, x)
    if x.rank != 3:
        return False
    operator, count = g.random.choice([("SkipLayerNormalization", 3), ("SkipSimplifiedLayerNormalization", 2)])
    g.add(g.node(operator, [x.name, small(g, x)] + [g.constant(g.random_array("f32", x.shape[-1:])) for _ in range(count)], domain=MICROSOFT), x.kind,
          x.shape, x.is_dynamic)


@row("BiasGelu", kinds=("f32",), ranks=range(1, 5))
def bias_gelu(g, x):
    x = wide(g, x)
    g.add(g.node(g.random.choice(["BiasGelu", "FastGelu"]), [x.name, g.constant(g.random_array("f32", x.shape[-1:]))], domain=MICROSOFT), x.kind, x.shape,
          x.is_dynamic)


@row("FusedMatMul", kinds=("f32",), ranks=range(2, 5))
def fused_matmul(g, x):
    g.add(g.node("FusedMatMul", [x.name, x.name], transB=1, alpha=0.5, domain=MICROSOFT), x.kind, x.shape[:-1] + [x.shape[-2]],
          x.is_dynamic[:-1] + [x.is_dynamic[-2]])


@row("Inverse", kinds=("f32",), ranks=range(1, 5))
def inverse(g, x):
    ridge = g.constant(4 * np.eye(3, dtype=np.float32))
    g.add(g.node("Inverse", [g.node("Add", [g.node("Tanh", [g.block(x, 3, 3)]), ridge])], domain=MICROSOFT), "f32", [x.shape[0], 3, 3], [x.is_dynamic[0], False, False])


@row("CDist", kinds=("f32",), ranks=range(1, 5))
def distances(g, x):
    other = g.constant(g.random_array("f32", [3, 4]))
    g.add(g.node("CDist", [g.block(x, 4), other], metric="sqeuclidean", domain=MICROSOFT), "f32", [x.shape[0], 3], [x.is_dynamic[0], False])


@row("Attention", 23, HALF, range(1, 5))
def attention(g, x):
    heads, shared, length, width = g.random.choice([(2, 2), (4, 2), (2, 1)]) + (g.random.choice([1, 3, 5]), 4)
    more = {"is_causal": g.random.choice([0, 1]), "softcap": g.random.choice([0.0, 2.0])}
    if g.random.random() < 0.5:
        more["scale"] = 0.4
    mask = [g.constant(g.random_array(g.random.choice([x.kind, "bool"]), [length, 5]))] if g.random.random() < 0.5 else []
    if mask:
        more["is_causal"] = 0
    if g.random.random() < 0.5:
        q, k, v = g.block(x, heads, length, width), g.block(x, shared, 5, width), g.block(x, shared, 5, width)
        shape = [heads, length, width]
    else:
        q, k, v = g.block(x, length, heads * width), g.block(x, 5, shared * width), g.block(x, 5, shared * width)
        more.update(q_num_heads=heads, kv_num_heads=shared)
        shape = [length, heads * width]
    g.add(g.node("Attention", [q, k, v, *mask], **more), x.kind, x.shape[:1] + shape, x.is_dynamic[:1] + [False] * len(shape))


@row("RotaryEmbedding", 23, HALF, range(1, 5))
def rotary(g, x):
    caches = [g.constant(g.random_array(x.kind, [9, 2])) for _ in range(2)]
    places = g.node("Expand", [g.ints([[0, 3, 8]]), g.node("Concat", [g.size_of(x, 0), g.ints([3])], axis=0)])
    shape, more = g.random.choice([([2, 3, 4], {}), ([3, 8], {"num_heads": 2})])
    g.add(g.node("RotaryEmbedding", [g.block(x, *shape), *caches, places], interleaved=g.random.choice([0, 1]), **more), x.kind, x.shape[:1] + shape,
          x.is_dynamic[:1] + [False] * len(shape))


@row("DFT", 17, ("f32",), range(1, 5))
def fourier(g, x):
    inverse, sided = g.random.choice([(0, 0), (1, 0), (0, 1)])
    shape = [6, 1] if sided else [6, 2]
    where = {"axis": 1} if g.opset < 20 else {}
    more = [] if g.opset < 20 else ["", g.constant(np.int64(1))]
    g.add(g.node("DFT", [g.block(x, *shape), *more], inverse=inverse, onesided=sided, **where), "f32", [x.shape[0], 4 if sided else 6, 2],
          [x.is_dynamic[0], False, False])


@row("STFT", 17, ("f32",), range(1, 5))
def short_fourier(g, x):
    window = g.node(g.random.choice(["HannWindow", "HammingWindow", "BlackmanWindow"]), [g.constant(np.int64(4))])
    g.add(g.node("STFT", [g.block(x, 10, 1), g.constant(np.int64(2)), window]), "f32", [x.shape[0], 4, 3, 2], [x.is_dynamic[0], False, False, False])


@row("MelWeightMatrix", 17, ("f32",), range(1, 5))
def mel(g, x):
    weights = g.node("MelWeightMatrix", [g.constant(np.int64(4)), g.constant(np.int64(16)), g.constant(np.int64(8000)), g.constant(np.float32(0)),
                                         g.constant(np.float32(4000))])
    g.add(g.node("MatMul", [g.block(x, 9), weights]), "f32", [x.shape[0], 4], [x.is_dynamic[0], False])


@row("SoftmaxCrossEntropyLoss", kinds=("f32",), ranks=range(1, 5))
def losses(g, x):
    scores, labels = g.block(x, 4), g.node("Expand", [g.ints([2]), g.size_of(x, 0)])
    operator, way = g.random.choice(["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"]), g.random.choice(["none", "sum", "mean"])
    weights = [g.constant(np.abs(g.random_array("f32", [4])) + np.float32(0.5))] if g.random.random() < 0.5 else []
    g.add(g.node(operator, [scores, labels, *weights], reduction=way), "f32", *((x.shape[:1], x.is_dynamic[:1]) if way == "none" else ([], [])))


# ---- Integers ---------------------------------------------------------------

@row("DynamicQuantizeLinear", kinds=("f32",), ranks=range(1, 5))
def dynamic_quantize(g, x):
    g.add(g.node("DequantizeLinear", g.node("DynamicQuantizeLinear", [x.name], 3)), "f32", x.shape, x.is_dynamic)


def codes_of(g, name):
    return g.node("QuantizeLinear", [name, g.constant(np.float32(0.04)), g.constant(np.uint8(120))])


@row("MatMulInteger", kinds=("f32",), ranks=range(2, 5))
def integer_matmul(g, x):
    if x.is_dynamic[-1]:
        return False
    weights = g.constant(np.random.RandomState(g.random.randrange(2**31)).randint(-127, 128, [x.shape[-1], 3]).astype(np.int8))
    product = g.node("MatMulInteger", [codes_of(g, x.name), weights, g.constant(np.uint8(120))])
    g.add(product, "i32", x.shape[:-1] + [3], x.is_dynamic[:-1] + [False])


@images("ConvInteger")
def integer_conv(g, x):
    if min(x.shape[2:]) < 2:
        return False
    weights = g.constant(np.random.RandomState(g.random.randrange(2**31)).randint(0, 256, [3, x.shape[1], 2, 2]).astype(np.uint8))
    g.add(g.node("ConvInteger", [codes_of(g, x.name), weights, g.constant(np.uint8(120)), g.constant(np.uint8(100))]), "i32",
          [x.shape[0], 3] + [s - 1 for s in x.shape[2:]], x.is_dynamic)


for operator in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearAdd", "QLinearMul"):
    @row(operator, kinds=("f32",), ranks=range(1, 5))
    def between_codes(g, x, operator=operator):
        given = [codes_of(g, x.name), g.constant(np.float32(0.04)), g.constant(np.uint8(120))]
        result = [g.constant(np.float32(0.05)), g.constant(np.uint8(100))]
        codes = g.node(operator, given * (2 if operator in ("QLinearAdd", "QLinearMul") else 1) + result, domain=MICROSOFT)
        g.add(g.node("DequantizeLinear", [codes, *result]), "f32", x.shape, x.is_dynamic)


# ---- Sequences and optionals ------------------------------------------------

@row("SequenceConstruct", kinds=NUMBERS, ranks=range(1, 5))
def sequence(g, x):
    first, second = g.node("SequenceConstruct", [x.name, x.name]), g.node("Neg", [x.name])
    grown = g.node("SequenceInsert", [first, second] + g.random.choice([[], [g.constant(np.int64(1))]]))
    if g.random.random() < 0.4:
        grown = g.node("SequenceErase", [grown] + g.random.choice([[], [g.constant(np.int64(0))]]))
    way = g.random.choice(["at", "at", "length", "stack"])
    if way == "at":
        g.add(g.node("SequenceAt", [grown, g.constant(np.int64(g.random.choice([0, 1, -1])))]), x.kind, x.shape, x.is_dynamic)
    elif way == "length":
        g.add(g.node("SequenceLength", [grown]), "i64", [], [])
    else:
        g.add(g.node("ConcatFromSequence", [first], axis=0, new_axis=1), x.kind, [2] + x.shape, [False] + x.is_dynamic)


@row("SequenceEmpty", kinds=("f32",), ranks=range(1, 5))
def empty_sequence(g, x):
    grown = g.node("SequenceInsert", [g.node("SequenceEmpty", []), x.name])
    g.add(g.node("SequenceAt", [grown, g.constant(np.int64(0))]), x.kind, x.shape, x.is_dynamic)


@row("SplitToSequence", kinds=("f32", "i64"), ranks=range(1, 5))
def split_to_sequence(g, x):
    axis = g.random.randrange(x.rank)
    if x.shape[axis] < 2:
        return False
    parts = g.node("SplitToSequence", [x.name], axis=axis, keepdims=1)
    if g.random.random() < 0.5:
        return g.add(g.node("ConcatFromSequence", [parts], axis=axis), x.kind, x.shape, x.is_dynamic)
    g.add(g.node("SequenceAt", [parts, g.constant(np.int64(g.random.choice([0, -1])))]), x.kind, [1 if i == axis else s for i, s in enumerate(x.shape)],
          [o and i != axis for i, o in enumerate(x.is_dynamic)])


@row("SequenceMap", 17, ("f32",), range(1, 5))
def sequence_map(g, x):
    given, made = g.fresh("m"), g.fresh("m")
    body = helper.make_graph([helper.make_node("Tanh", [given], [made])], "body", [g.output_info(given, x.kind, x.rank)], [g.output_info(made, x.kind, x.rank)])
    mapped = g.node("SequenceMap", [g.node("SequenceConstruct", [x.name, x.name])], body=body)
    g.add(g.node("SequenceAt", [mapped, g.constant(np.int64(1))]), x.kind, x.shape, x.is_dynamic)


@row("Optional", 18, ("f32",), range(1, 5))
def optional(g, x):
    held = g.node("Optional", [x.name])
    if g.random.random() < 0.3:
        return g.add(g.node("OptionalHasElement", [held]), "bool", [], [])
    g.add(g.node("OptionalGetElement", [held]), x.kind, x.shape, x.is_dynamic)


@row("Constant", kinds=("f32",))
def constant(g, x):
    value = g.node("Constant", [], value_float=0.5)
    g.add(g.node("Mul", [x.name, value]), x.kind, x.shape, x.is_dynamic)


@row("BitCast", 26, ("f32",))
def bit_cast(g, x):
    g.add(g.node("BitCast", [x.name], to=TensorProto.INT32), "i32", x.shape, x.is_dynamic)


# ---- Chance, of which only the sizes are known ------------------------------

for operator in ("RandomNormalLike", "RandomUniformLike", "Bernoulli"):
    @row(operator, 15 if operator == "Bernoulli" else 13, ("f32",), range(1, 5), 22)
    def chance(g, x, operator=operator):
        drawn = g.node(operator, [g.node("Sigmoid", [x.name])])
        g.add(g.node("Add", [x.name, g.node("Mul", [drawn, g.constant(np.float32(0))])]), x.kind, x.shape, x.is_dynamic)


@row("Multinomial", kinds=("f32",), ranks=range(1, 5), until=22)
def multinomial(g, x):
    g.add(g.node("Shape", [g.node("Multinomial", [g.block(x, 3)], sample_size=4)]), "i64", [2], [False])


for operator in ("RandomNormal", "RandomUniform"):
    @row(operator, kinds=("f32",), until=22)
    def chance_alone(g, x, operator=operator):
        nothing = g.node("Mul", [g.node(operator, [], shape=[1]), g.constant(np.float32(0))])
        g.add(g.node("Add", [x.name, nothing]), x.kind, x.shape if x.rank else [1], x.is_dynamic if x.rank else [False])


# ---- ai.onnx.ml, and ONNX Runtime's own -------------------------------------

for draw in TREES + OTHERS:
    @row(draw.__name__, 13, ("f32",), range(1, 5))
    def classical(g, x, draw=draw):
        case = draw(np.random.default_rng(g.random.randrange(2**31)))
        if any("string" in name for name in case.attributes) or any(each.dtype != np.float32 or each.ndim != 2 for each in case.feeds.values()):
            return False
        if g.versions.get("ai.onnx.ml", case.version) != case.version:
            return False
        names = [g.block(x, each.shape[1]) for each in case.feeds.values()] + [g.constant(each) for each in case.constants.values()]
        g.versions["ai.onnx.ml"] = case.version
        made = g.node(case.operator, names, len(case.outputs), domain="ai.onnx.ml", **case.attributes)
        g.results += made if isinstance(made, list) else [made]


def of_runtime(g, x, draw):
    """A variant of an operator of ONNX Runtime's own that it has a kernel for; its first input is one of the graph's, the others are constants."""
    random = np.random.default_rng(g.random.randrange(2**31))
    for variant in (draw(random) for _ in range(20)):
        is_f16 = any(each and each.array.dtype == np.float16 for each in variant.inputs)
        if not (variant.expected or variant.judged or variant.valid or variant.steps or is_f16) and variant.domain == MICROSOFT:
            break
    else:
        return False
    names = []
    for each in variant.inputs:
        is_given = each and each.array.dtype == np.float32 and not each.is_constant and not any(name in g.feeds for name in names)
        names.append(g.given(each.array) if is_given else g.constant(each.array) if each else "")
    made = [g.fresh() if wanted else "" for wanted in variant.outputs]
    g.versions[MICROSOFT] = 1
    g.nodes.append(helper.make_node(variant.op, names, made, domain=MICROSOFT, **variant.attributes))
    g.results += [name for name in made if name]


for draw in {**ATTENTIONS, **LAYERS, **QUANTIZED}.values():
    row(draw.__name__, kinds=("f32",))(functools.partial(of_runtime, draw=draw))
