"""What operators of Paddle are asked in tests: operands, attributes, and what comes out, worked out by hand or by Arrays.py."""
import math

import PaddleBytes as paddle
from Arrays import (Array, adaptive_pool, array, broadcast, channels_last, convolution, counted, drawn, interpolate, made, matmul, pool,
                    reduced, transposed_convolution)

CASES = []


class Case:
    """Operands by slot: an Array, a list of them, or Parameter(Array). Results by slot likewise.

    `needs_sizes`: with unknown sizes the operator waits for them. `known`: by slot the dimensions that are known all the same.
    `counts_results`: how many results there are follows from values, so that only the interpreter runs it."""

    def __init__(self, name, type_name, inputs, outputs, attributes, needs_sizes=False, counts_results=False, known=None):
        self.name, self.type, self.inputs, self.outputs = name, type_name, inputs, outputs
        self.attributes, self.needs_sizes, self.counts_results, self.known = attributes, needs_sizes, counts_results, known or {}

    def open_sizes(self, slot, dims):
        """Unknown ones but for those that are known."""
        return [size if i in self.known.get(slot, []) else -1 for i, size in enumerate(dims)]

    def names_type(self):
        """Whether an attribute says what type the results are of."""
        return bool({"dtype", "out_dtype", "fp32_values"} & set(self.attributes)) or self.type in ("dequantize_linear",)


class Parameter:
    def __init__(self, held):
        self.held = held


def case(name, type_name, inputs, outputs, needs_sizes=False, counts_results=False, known=None, **attributes):
    assert name not in {each.name for each in CASES}, name
    CASES.append(Case(name, type_name, inputs, outputs, attributes, needs_sizes, counts_results, known))


def ints(*values):
    return Array([len(values)], values, paddle.INT32)


def longs(*values):
    return Array([len(values)], values, paddle.INT64)


def fixed(*values):
    """A tensor of integers that is a parameter, so that it is known."""
    return Parameter(ints(*values))


def bools(nested):
    return array(nested, paddle.BOOL)


#===--- Activations ---------------------------------------------------------===#

def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def clamp(x, low, high):
    return min(max(x, low), high)


X = array([-30.0, -7.0, -3.0, -1.5, -0.6, -0.25, 0.0, 0.25, 0.75, 1.5, 3.0, 7.0, 24.5, 30.0])
SMALL = array([0.125, 0.25, 0.5, 0.75, 0.875])


def activation(name, function, x=X, attributes=None, suffix=""):
    case(name + suffix, name, {"X": x}, {"Out": x.map(function)}, **(attributes or {}))


def softplus(x, beta=1, threshold=20):
    return x if x * beta > threshold else math.log1p(math.exp(x * beta)) / beta


activation("relu", lambda x: max(x, 0.0))
activation("relu6", lambda x: clamp(x, 0, 6))
activation("relu6", lambda x: clamp(x, 0, 4), attributes={"threshold": 4.0}, suffix="-threshold")
activation("brelu", lambda x: clamp(x, 0, 24))
activation("brelu", lambda x: clamp(x, -1, 2), attributes={"t_min": -1.0, "t_max": 2.0}, suffix="-bounds")
activation("leaky_relu", lambda x: x if x >= 0 else 0.02 * x)
activation("leaky_relu", lambda x: x if x >= 0 else 0.01 * x, attributes={"alpha": 0.01}, suffix="-layer")
activation("elu", lambda x: x if x > 0 else math.expm1(x))
activation("elu", lambda x: x if x > 0 else 0.5 * math.expm1(x), attributes={"alpha": 0.5}, suffix="-alpha")
activation("celu", lambda x: max(x, 0) + min(0, 2 * math.expm1(x / 2)), attributes={"alpha": 2.0})
activation("selu", lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)))
activation("thresholded_relu", lambda x: x if x > 1 else 0.0)
activation("hard_shrink", lambda x: x if abs(x) > 0.5 else 0.0)
activation("softshrink", lambda x: x - 0.5 if x > 0.5 else x + 0.5 if x < -0.5 else 0.0)
activation("softshrink", lambda x: x - 2 if x > 2 else x + 2 if x < -2 else 0.0, attributes={"lambda": 2.0}, suffix="-lambda")
activation("hard_sigmoid", lambda x: clamp(0.2 * x + 0.5, 0, 1))
activation("hard_sigmoid", lambda x: clamp(0.1666667 * x + 0.5, 0, 1), attributes={"slope": 0.1666667, "offset": 0.5}, suffix="-layer")
activation("hard_swish", lambda x: x * clamp(x + 3, 0, 6) / 6)
activation("hard_swish", lambda x: x * clamp(x + 1, 0, 4) / 5, attributes={"threshold": 4.0, "scale": 5.0, "offset": 1.0}, suffix="-numbers")
activation("swish", lambda x: x * sigmoid(x))
activation("swish", lambda x: x * sigmoid(2 * x), attributes={"beta": 2.0}, suffix="-beta")
activation("silu", lambda x: x * sigmoid(x))
activation("sigmoid", sigmoid)
activation("logsigmoid", lambda x: -math.log1p(math.exp(-x)))
activation("tanh", math.tanh)
activation("stanh", lambda x: 1.7159 * math.tanh(0.67 * x))
activation("tanh_shrink", lambda x: x - math.tanh(x), x=array([-7.0, -2.0, 1.5, 3.0]))
activation("softsign", lambda x: x / (1 + abs(x)))
activation("softplus", softplus)
activation("softplus", lambda x: softplus(x, 2, 5), attributes={"beta": 2.0, "threshold": 5.0}, suffix="-beta")
activation("soft_relu", lambda x: math.log1p(math.exp(clamp(x, -3, 3))), attributes={"threshold": 3.0})
activation("mish", lambda x: x * math.tanh(softplus(x)))
activation("gelu", lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))
activation("gelu", lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), attributes={"approximate": True}, suffix="-tanh")
activation("logit", lambda x: math.log(x / (1 - x)), x=SMALL)
activation("logit", lambda x: math.log(clamp(x, 0.2, 0.8) / (1 - clamp(x, 0.2, 0.8))), x=SMALL, attributes={"eps": 0.2}, suffix="-eps")

IMAGE = drawn(2, 4, 3, 5)
case("maxout", "maxout", {"X": IMAGE}, {"Out": made([2, 2, 3, 5], lambda n, c, h, w: max(IMAGE.at(n, 2 * c, h, w), IMAGE.at(n, 2 * c + 1, h, w)))},
     groups=2, axis=1, known={"X": [1]})

SLOPES = array([0.5, 0.25, 2.0, -1.0])


def rectified(slope):
    return made(IMAGE.dims, lambda *at: IMAGE.at(*at) if IMAGE.at(*at) >= 0 else slope(*at) * IMAGE.at(*at))


case("prelu-all", "prelu", {"X": IMAGE, "Alpha": Parameter(array([0.5]))}, {"Out": rectified(lambda *at: 0.5)}, mode="all")
case("prelu-channel", "prelu", {"X": IMAGE, "Alpha": Parameter(SLOPES)}, {"Out": rectified(lambda n, c, h, w: SLOPES.at(c))}, mode="channel")
case("prelu-channel-4d", "prelu", {"X": IMAGE, "Alpha": Parameter(SLOPES.reshape(1, 4, 1, 1))},
     {"Out": rectified(lambda n, c, h, w: SLOPES.at(c))}, mode="channel", data_format="NCHW")
case("prelu-channel-last", "prelu", {"X": channels_last(IMAGE), "Alpha": Parameter(SLOPES)},
     {"Out": channels_last(rectified(lambda n, c, h, w: SLOPES.at(c)))}, mode="channel", data_format="NHWC")
ELEMENTS = drawn(1, 4, 3, 5, seed=1)
case("prelu-element", "prelu", {"X": IMAGE, "Alpha": Parameter(ELEMENTS)}, {"Out": rectified(lambda n, c, h, w: ELEMENTS.at(0, c, h, w))}, mode="element")

#===--- Functions -----------------------------------------------------------===#

POSITIVE = array([0.25, 0.5, 1.0, 2.0, 7.5, 100.0])
SIGNED = array([-2.5, -1.5, -0.75, -0.5, 0.0, 0.5, 1.25, 1.5, 2.5])
WITHIN = array([-0.875, -0.5, 0.0, 0.25, 0.75])
for name, function in (("log", math.log), ("log2", math.log2), ("log10", math.log10), ("log1p", math.log1p), ("sqrt", math.sqrt),
                       ("rsqrt", lambda x: 1 / math.sqrt(x)), ("reciprocal", lambda x: 1 / x)):
    activation(name, function, x=POSITIVE)
for name, function in (("exp", math.exp), ("expm1", math.expm1), ("abs", abs), ("ceil", math.ceil), ("floor", math.floor), ("square", lambda x: x * x),
                       ("sin", math.sin), ("cos", math.cos), ("tan", math.tan), ("sinh", math.sinh), ("cosh", math.cosh), ("erf", math.erf),
                       ("asinh", math.asinh), ("atan", math.atan), ("sign", lambda x: (x > 0) - (x < 0)),
                       ("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x))):
    activation(name, lambda x, function=function: float(function(x)), x=SIGNED)
for name, function in (("acos", math.acos), ("asin", math.asin), ("atanh", math.atanh)):
    activation(name, function, x=WITHIN)
activation("acosh", math.acosh, x=array([1.0, 1.5, 8.0]))
activation("pow", lambda x: x ** 3, x=SIGNED, attributes={"factor": 3.0})
activation("pow", lambda x: x * x, x=SIGNED, attributes={"factor": 2.0}, suffix="-square")
case("pow-tensor", "pow", {"X": POSITIVE, "FactorTensor": array([0.5])}, {"Out": POSITIVE.map(math.sqrt)}, factor=1.0)
activation("scale", lambda x: 2 * x + 0.5, x=SIGNED, attributes={"scale": 2.0, "bias": 0.5})
activation("scale", lambda x: 2 * (x + 0.5), x=SIGNED, attributes={"scale": 2.0, "bias": 0.5, "bias_after_scale": False}, suffix="-before")
case("scale-tensor", "scale", {"X": SIGNED, "ScaleTensor": array([3.0])}, {"Out": SIGNED.map(lambda x: 3 * x + 1)}, scale=7.0, bias=1.0)
case("scale-integers", "scale", {"X": longs(-3, 0, 5)}, {"Out": longs(-5, 1, 11)}, scale=2.0, bias=1.0)
activation("increment", lambda x: x + 2, x=array([1.5]), attributes={"step": 2.0})
activation("clip", lambda x: clamp(x, -1, 1.25), x=SIGNED, attributes={"min": -1.0, "max": 1.25})
case("clip-tensors", "clip", {"X": SIGNED, "Min": array([-0.5]), "Max": array([0.5])}, {"Out": SIGNED.map(lambda x: clamp(x, -0.5, 0.5))}, min=-9.0, max=9.0)
NUMBERS = array([1.0, math.inf, -math.inf, math.nan])
case("isnan", "isnan_v2", {"X": NUMBERS}, {"Out": bools([False, False, False, True])})
case("isinf", "isinf_v2", {"X": NUMBERS}, {"Out": bools([False, True, True, False])})
case("isfinite", "isfinite_v2", {"X": NUMBERS}, {"Out": bools([True, False, False, False])})
case("isfinite-integers", "isfinite_v2", {"X": longs(1, 2)}, {"Out": bools([True, True])})
case("atan2", "atan2", {"X1": array([1.0, -1.0]), "X2": array([-2.0, 0.5])}, {"Out": array([math.atan2(1, -2), math.atan2(-1, 0.5)])})
case("dropout-default", "dropout", {"X": SIGNED}, {"Out": SIGNED.map(lambda x: x * 0.8)}, dropout_prob=0.2, is_test=True)
case("dropout-kept", "dropout", {"X": SIGNED}, {"Out": SIGNED}, dropout_prob=0.2, is_test=True, dropout_implementation="upscale_in_train")
case("dropout-integer-flag", "dropout", {"X": SIGNED}, {"Out": SIGNED.map(lambda x: x * 0.5)}, is_test=paddle.integer(1),
     dropout_implementation="downgrade_in_infer")

#===--- Two operands --------------------------------------------------------===#

A, B = drawn(2, 3, 4, seed=1), drawn(2, 3, 4, seed=2, low=0.5, high=3)
for name, function in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b), ("div", lambda a, b: a / b),
                       ("max", max), ("min", min), ("fmax", max), ("fmin", min), ("mod", lambda a, b: a % b), ("floordiv", lambda a, b: float(a // b))):
    case("elementwise-" + name, "elementwise_" + name, {"X": A, "Y": B}, {"Out": broadcast(function, A, B)}, axis=-1)
case("elementwise-pow", "elementwise_pow", {"X": B, "Y": A}, {"Out": broadcast(lambda a, b: a ** b, B, A)})
P, Q = longs(7, -7, 7, -7, 6, -6), longs(3, 3, -3, -3, 3, -3)
case("mod-integers", "elementwise_mod", {"X": P, "Y": Q}, {"Out": broadcast(lambda a, b: a % b, P, Q)})
case("floordiv-integers", "elementwise_floordiv", {"X": P, "Y": Q}, {"Out": broadcast(lambda a, b: a // b, P, Q)})
case("div-integers", "elementwise_div", {"X": P, "Y": Q}, {"Out": longs(2, -2, -2, 2, 2, 2)})
case("fmax-nan", "elementwise_fmax", {"X": array([math.nan, 1.0, math.nan]), "Y": array([2.0, math.nan, math.nan])}, {"Out": array([2.0, 1.0, math.nan])})
case("axis-1", "elementwise_add", {"X": IMAGE, "Y": Parameter(SLOPES)}, {"Out": broadcast(lambda a, b: a + b, IMAGE, SLOPES.reshape(4, 1, 1))}, axis=1)
case("axis-trimmed", "elementwise_mul", {"X": IMAGE, "Y": SLOPES.reshape(4, 1, 1)},
     {"Out": broadcast(lambda a, b: a * b, IMAGE, SLOPES.reshape(4, 1, 1))}, axis=1)
case("axis-trimmed-far", "elementwise_add", {"X": IMAGE, "Y": array([[[1.0]], [[2.0]]])},
     {"Out": broadcast(lambda a, b: a + b, IMAGE, array([1.0, 2.0]).reshape(2, 1, 1, 1))}, axis=0)
case("axis-middle", "elementwise_sub", {"X": IMAGE, "Y": drawn(4, 3, seed=3)},
     {"Out": broadcast(lambda a, b: a - b, IMAGE, drawn(4, 3, seed=3).reshape(4, 3, 1))}, axis=1)
case("axis-smaller-x", "elementwise_sub", {"X": SLOPES, "Y": IMAGE}, {"Out": broadcast(lambda a, b: a - b, SLOPES.reshape(4, 1, 1), IMAGE)}, axis=1)
case("axis-right", "elementwise_add", {"X": IMAGE, "Y": drawn(5, seed=4)}, {"Out": broadcast(lambda a, b: a + b, IMAGE, drawn(5, seed=4))}, axis=-1)
case("axis-right-smaller-x", "elementwise_sub", {"X": drawn(5, seed=4), "Y": IMAGE}, {"Out": broadcast(lambda a, b: a - b, drawn(5, seed=4), IMAGE)})
case("axis-one", "elementwise_add", {"X": IMAGE, "Y": Parameter(array([0.5]))}, {"Out": IMAGE.map(lambda x: x + 0.5)}, axis=-1)
C, D = longs(1, 2, 3), longs(3, 2, 1)
for name, function in (("equal", lambda a, b: a == b), ("not_equal", lambda a, b: a != b), ("less_than", lambda a, b: a < b),
                       ("less_equal", lambda a, b: a <= b), ("greater_than", lambda a, b: a > b), ("greater_equal", lambda a, b: a >= b)):
    case(name, name, {"X": C, "Y": D}, {"Out": broadcast(function, C, D, paddle.BOOL)}, axis=-1)
case("equal-all", "equal_all", {"X": C, "Y": D}, {"Out": array(False)})
YES, NO = bools([True, True, False, False]), bools([True, False, True, False])
for name, function in (("and", lambda a, b: a and b), ("or", lambda a, b: a or b), ("xor", lambda a, b: a != b)):
    case("logical-" + name, "logical_" + name, {"X": YES, "Y": NO}, {"Out": broadcast(function, YES, NO)})
case("logical-not", "logical_not", {"X": NO}, {"Out": NO.map(lambda a: not a)})
case("bitwise-and", "bitwise_and", {"X": longs(6, 5), "Y": longs(3, 4)}, {"Out": longs(2, 4)})
case("bitwise-not", "bitwise_not", {"X": longs(6, -1)}, {"Out": longs(-7, 0)})
case("where", "where", {"Condition": YES, "X": array([1.0, 2.0, 3.0, 4.0]), "Y": array([-1.0, -2.0, -3.0, -4.0])}, {"Out": array([1.0, 2.0, -3.0, -4.0])})
case("sum", "sum", {"X": [A, B, A]}, {"Out": broadcast(lambda a, b: 2 * a + b, A, B)})
case("minus", "minus", {"X": A, "Y": B}, {"Out": broadcast(lambda a, b: a - b, A, B)})

#===--- Products ------------------------------------------------------------===#

M, N = drawn(3, 4, seed=5), drawn(4, 5, seed=6)
MN = matmul(M, N)
case("mul", "mul", {"X": M, "Y": Parameter(N)}, {"Out": MN}, x_num_col_dims=1, y_num_col_dims=1)
R3, R4 = drawn(2, 3, 2, 2, seed=7), drawn(2, 2, 5, seed=8)
case("mul-flattened", "mul", {"X": R3, "Y": R4}, {"Out": matmul(R3.reshape(6, 4), R4.reshape(4, 5)).reshape(2, 3, 5)}, x_num_col_dims=2, y_num_col_dims=2)
case("matmul", "matmul", {"X": M.transpose(1, 0), "Y": N}, {"Out": MN.map(lambda x: 0.5 * x)}, transpose_X=True, alpha=0.5)
case("matmul-y", "matmul", {"X": M, "Y": N.transpose(1, 0)}, {"Out": MN}, transpose_Y=True)
case("matmul-v2", "matmul_v2", {"X": M.transpose(1, 0), "Y": N.transpose(1, 0)}, {"Out": MN}, trans_x=True, trans_y=True)
S, T = drawn(2, 1, 3, 4, seed=9), drawn(3, 4, 2, seed=10)
case("matmul-v2-batch", "matmul_v2", {"X": S, "Y": T},
     {"Out": made([2, 3, 3, 2], lambda a, b, i, j: sum(S.at(a, 0, i, k) * T.at(b, k, j) for k in range(4)))})
case("matmul-v2-vector", "matmul_v2", {"X": M, "Y": drawn(4, seed=11)}, {"Out": matmul(M, drawn(4, seed=11).reshape(4, 1)).reshape(3)})
U, V = drawn(2, 3, 4, seed=12), drawn(2, 4, 2, seed=13)
case("bmm", "bmm", {"X": U, "Y": V}, {"Out": made([2, 3, 2], lambda n, i, j: sum(U.at(n, i, k) * V.at(n, k, j) for k in range(4)))})
case("mv", "mv", {"X": M, "Vec": drawn(4, seed=11)}, {"Out": matmul(M, drawn(4, seed=11).reshape(4, 1)).reshape(3)})
case("dot", "dot", {"X": M, "Y": drawn(3, 4, seed=14)}, {"Out": made([3], lambda i: sum(M.at(i, k) * drawn(3, 4, seed=14).at(i, k) for k in range(4)))})
BIAS = drawn(5, seed=15)
case("addmm", "addmm", {"Input": BIAS, "X": M, "Y": N}, {"Out": broadcast(lambda a, b: 2 * a + 0.5 * b, MN, BIAS)}, Alpha=2.0, Beta=0.5)
case("fc", "fc", {"Input": M, "W": Parameter(N), "Bias": Parameter(BIAS)}, {"Out": broadcast(lambda a, b: max(a + b, 0), MN, BIAS)},
     in_num_col_dims=1, activation_type="relu")
PADDED = made([8, 9], lambda i, j: N.at(i, j) if i < 4 and j < 5 else 99.0)
case("fc-padded", "fc", {"Input": M, "W": Parameter(PADDED), "Bias": Parameter(BIAS.reshape(1, 5))}, {"Out": broadcast(lambda a, b: a + b, MN, BIAS)},
     in_num_col_dims=1, activation_type="", padding_weights=True)

UV = made([2, 3, 2], lambda n, i, j: sum(U.at(n, i, k) * V.at(n, k, j) for k in range(4)))
case("einsum", "einsum", {"Operands": [U, V]}, {"Out": UV}, equation="bij,bjk->bik")
case("einsum-implicit", "einsum", {"Operands": [N.transpose(1, 0), M]}, {"Out": MN}, equation="ka, ba")
case("einsum-ellipsis", "einsum", {"Operands": [U, V]}, {"Out": UV.transpose(0, 2, 1)}, equation="...ij,...jk->...ki")
case("einsum-sum", "einsum", {"Operands": [M]}, {"Out": made([4], lambda j: sum(M.at(i, j) for i in range(3)))}, equation="ij->j")
case("einsum-three", "einsum", {"Operands": [M, drawn(4, seed=11), drawn(3, seed=16)]},
     {"Out": made([4], lambda j: sum(M.at(i, j) * drawn(4, seed=11).at(j) * drawn(3, seed=16).at(i) for i in range(3)))}, equation="ij,j,i->j")

#===--- Convolutions --------------------------------------------------------===#

PICTURE, FILTER = drawn(2, 4, 7, 6, seed=20), drawn(6, 4, 3, 3, seed=21)


def conv(name, type_name, x, w, expected, last=False, needs_sizes=False, **attributes):
    if last:
        x, expected, attributes["data_format"] = channels_last(x), channels_last(expected), "NHWC"
    case(name, type_name, {"Input": x, "Filter": Parameter(w)}, {"Output": expected}, needs_sizes=needs_sizes, **attributes)


conv("conv2d", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [2, 1], [1, 1, 0, 0], [1, 2]), strides=[2, 1], paddings=[1, 0], dilations=[1, 2], groups=1)
conv("conv2d-four-pads", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [1, 1], [0, 1, 2, 0], [1, 1]), paddings=[0, 1, 2, 0])
# SAME takes no dilation: the result is that of dilation 1.
conv("conv2d-same", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [2, 2], [1, 1, 0, 1], [1, 1]), strides=[2, 2], paddings=[5, 5],
     dilations=[2, 2], padding_algorithm="SAME")
conv("conv2d-same-stride-1", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [1, 1], [1, 1, 1, 1], [1, 1]), dilations=[3, 3], padding_algorithm="SAME")
conv("conv2d-valid", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [1, 1], [0, 0, 0, 0], [2, 2]), paddings=[1, 1], dilations=[2, 2], padding_algorithm="VALID")
conv("conv2d-last", "conv2d", PICTURE, FILTER, convolution(PICTURE, FILTER, [1, 2], [1, 1, 1, 1], [1, 1]), last=True, strides=[1, 2], paddings=[1, 1])
GROUPED = drawn(6, 2, 3, 3, seed=22)
conv("conv2d-groups", "conv2d", PICTURE, GROUPED, convolution(PICTURE, GROUPED, [1, 1], [1, 1, 1, 1], [1, 1], 2), paddings=[1, 1], groups=2)
DEPTHWISE = drawn(8, 1, 3, 3, seed=23)
conv("depthwise", "depthwise_conv2d", PICTURE, DEPTHWISE, convolution(PICTURE, DEPTHWISE, [1, 1], [1, 1, 1, 1], [1, 1], 4), paddings=[1, 1], groups=4)
case("conv2d-bias", "conv2d", {"Input": PICTURE, "Filter": Parameter(FILTER), "Bias": Parameter(drawn(6, seed=24))},
     {"Output": broadcast(lambda a, b: a + b, convolution(PICTURE, FILTER, [1, 1], [0, 0, 0, 0], [1, 1]), drawn(6, seed=24).reshape(6, 1, 1))})
VOLUME, CUBES = drawn(1, 2, 4, 3, 4, seed=25), drawn(3, 2, 2, 2, 2, seed=26)
conv("conv3d", "conv3d", VOLUME, CUBES, convolution(VOLUME, CUBES, [1, 2, 1], [1, 1, 0, 0, 1, 1], [1, 1, 1]), strides=[1, 2, 1], paddings=[1, 0, 1],
     dilations=[1, 1, 1], data_format="NCDHW")
SMALLER, UP = drawn(2, 4, 3, 4, seed=27), drawn(4, 3, 3, 2, seed=28)
conv("transposed", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [2, 2], [1, 1, 0, 0], [1, 1]), strides=[2, 2], paddings=[1, 0])
conv("transposed-groups", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [2, 1], [0, 0, 0, 0], [1, 2], 2), strides=[2, 1],
     paddings=[0, 0], dilations=[1, 2], groups=2)
conv("transposed-output-padding", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [2, 2], [1, 1, 1, 1], [1, 1], 1, [1, 0]),
     strides=[2, 2], paddings=[1, 1], output_padding=[1, 0])
conv("transposed-output-size", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [2, 2], [1, 1, 0, 0], [1, 1], 1, [1, 1]),
     strides=[2, 2], paddings=[1, 0], output_size=[6, 9])
conv("transposed-last", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [1, 2], [0, 0, 0, 0], [1, 1]), last=True, strides=[1, 2])
UP_EACH = drawn(4, 1, 2, 2, seed=29)
conv("transposed-depthwise", "depthwise_conv2d_transpose", SMALLER, UP_EACH, transposed_convolution(SMALLER, UP_EACH, [2, 2], [0, 0, 0, 0], [1, 1], 4),
     strides=[2, 2], groups=4)

#===--- Pools ---------------------------------------------------------------===#


def pooled(name, expected, x=PICTURE, last=False, needs_sizes=False, type_name="pool2d", **attributes):
    if last:
        x, expected, attributes["data_format"] = channels_last(x), channels_last(expected), "NHWC"
    case(name, type_name, {"X": x}, {"Out": expected}, needs_sizes=needs_sizes, **attributes)


for kind in ("max", "avg"):
    pooled(f"pool-{kind}", pool(PICTURE, kind, [3, 2], [2, 2], [1, 1, 0, 0]), pooling_type=kind, ksize=[3, 2], strides=[2, 2], paddings=[1, 0])
    pooled(f"pool-{kind}-ceil", pool(PICTURE, kind, [2, 3], [2, 2], ceil=True), pooling_type=kind, ksize=[2, 3], strides=[2, 2], paddings=[0, 0], ceil_mode=True)
    pooled(f"pool-{kind}-same", pool(PICTURE, kind, [3, 3], [2, 2], algorithm="SAME"), pooling_type=kind, ksize=[3, 3], strides=[2, 2], padding_algorithm="SAME")
    pooled(f"pool-{kind}-valid", pool(PICTURE, kind, [3, 3], [2, 2]), pooling_type=kind, ksize=[3, 3], strides=[2, 2], paddings=[1, 1], padding_algorithm="VALID")
    pooled(f"pool-{kind}-last", pool(PICTURE, kind, [2, 2], [2, 2]), last=True, pooling_type=kind, ksize=[2, 2], strides=[2, 2])
    pooled(f"pool-{kind}-global", adaptive_pool(PICTURE, kind, [1, 1]), pooling_type=kind, ksize=[3, 3], paddings=[1, 1], global_pooling=True)
    pooled(f"pool-{kind}-adaptive-1", adaptive_pool(PICTURE, kind, [1, 1]), pooling_type=kind, ksize=[1, 1], adaptive=True)
    pooled(f"pool-{kind}-adaptive", adaptive_pool(PICTURE, kind, [3, 4]), pooling_type=kind, ksize=[3, 4], adaptive=True, paddings=[1, 1])
    pooled(f"pool-{kind}-adaptive-even", adaptive_pool(PICTURE, kind, [7, 2]), pooling_type=kind, ksize=[7, 2], adaptive=True)
pooled("pool-inclusive", pool(PICTURE, "avg", [3, 3], [2, 2], [1, 1, 1, 1], exclusive=False), pooling_type="avg", ksize=[3, 3], strides=[2, 2],
       paddings=[1, 1], exclusive=False)
pooled("pool-inclusive-ceil", pool(PICTURE, "avg", [3, 3], [2, 2], [1, 1, 1, 1], ceil=True, exclusive=False), pooling_type="avg", ksize=[3, 3],
       strides=[2, 2], paddings=[1, 1], exclusive=False, ceil_mode=True)
pooled("pool-inclusive-begin", pool(PICTURE, "avg", [3, 3], [1, 1], [0, 2, 1, 0], exclusive=False), pooling_type="avg", ksize=[3, 3], paddings=[0, 2, 1, 0],
       exclusive=False)
pooled("pool3d", pool(VOLUME, "max", [2, 2, 2], [2, 1, 2]), x=VOLUME, type_name="pool3d", pooling_type="max", ksize=[2, 2, 2], strides=[2, 1, 2],
       paddings=[0, 0, 0], data_format="NCDHW")
PLANES = drawn(1, 2, 4, 4, seed=30)
case("pool-index", "max_pool2d_with_index", {"X": PLANES}, {"Out": pool(PLANES, "max", [2, 2], [2, 2]), "Mask": made(
    [1, 2, 2, 2], lambda n, c, h, w: max(((PLANES.at(n, c, 2 * h + i, 2 * w + j), (2 * h + i) * 4 + 2 * w + j) for i in range(2) for j in range(2)))[1], paddle.INT32)},
     ksize=[2, 2], strides=[2, 2], paddings=[0, 0])
case("pool-index-adaptive", "max_pool2d_with_index", {"X": PICTURE}, {"Out": adaptive_pool(PICTURE, "max", [3, 3])}, ksize=[3, 3], adaptive=True)

#===--- Interpolation -------------------------------------------------------===#

VIEW = drawn(1, 2, 4, 5, seed=31)


def resized(name, type_name, mode, out, inputs=None, last=False, needs_sizes=False, align_corners=False, align_mode=1, scales=None, x=VIEW, **attributes):
    expected = interpolate(x, mode, out, align_corners, align_mode, scales)
    if last:
        x, expected, attributes["data_layout"] = channels_last(x), channels_last(expected), "NHWC"
    case(name, type_name, {"X": x, **(inputs or {})}, {"Out": expected}, needs_sizes=needs_sizes, align_corners=align_corners, align_mode=align_mode, **attributes)


for mode, name in (("nearest", "nearest_interp"), ("linear", "bilinear_interp"), ("cubic", "bicubic_interp")):
    short = mode
    resized(f"{short}-v2-scale", name + "_v2", mode, [8, 10], scales=[2, 2], scale=[2.0, 2.0], out_h=-1, out_w=-1)
    resized(f"{short}-v2-fraction", name + "_v2", mode, [6, 12], scales=[1.625, 2.4375], scale=[1.625, 2.4375])
    resized(f"{short}-v2-one-scale", name + "_v2", mode, [6, 7], scales=[1.5, 1.5], scale=1.5, align_mode=0)
    resized(f"{short}-v2-sizes", name + "_v2", mode, [7, 3], out_h=7, out_w=3)
    resized(f"{short}-v2-corners", name + "_v2", mode, [7, 9], align_corners=True, out_h=7, out_w=9)
    resized(f"{short}-v2-corners-one", name + "_v2", mode, [1, 9], align_corners=True, out_h=1, out_w=9)
    resized(f"{short}-v2-half", name + "_v2", mode, [9, 3], align_mode=0, out_h=9, out_w=3)
    resized(f"{short}-v2-tensor", name + "_v2", mode, [6, 9], inputs={"SizeTensor": [fixed(6), fixed(9)], "OutSize": fixed(5, 5)}, out_h=2, out_w=2, scale=[3.0, 3.0])
    resized(f"{short}-v2-out-size", name + "_v2", mode, [6, 9], inputs={"OutSize": fixed(6, 9)}, out_h=2, out_w=2)
    resized(f"{short}-v2-last", name + "_v2", mode, [8, 10], last=True, scales=[2, 2], scale=[2.0, 2.0])
    resized(f"{short}-v2-scale-wins", name + "_v2", mode, [8, 15], scales=[2, 3], scale=[2.0, 3.0], out_h=5, out_w=5)
    resized(f"{short}-v1-corners", name, mode, [8, 10], align_corners=True, scale=2.0, out_h=0, out_w=0)
    resized(f"{short}-v1-scale", name, mode, [6, 8], scale=1.6875, out_h=3, out_w=3)
    resized(f"{short}-v1-sizes", name, mode, [3, 10], out_h=3, out_w=10, scale=0.0)
    resized(f"{short}-v1-half", name, mode, [3, 10], align_mode=0, out_h=3, out_w=10)
case("interp-defaults", "bilinear_interp", {"X": VIEW}, {"Out": interpolate(VIEW, "linear", [7, 9], True)}, out_h=7, out_w=9)
case("interp-scale-tensor", "nearest_interp_v2", {"X": VIEW, "Scale": Parameter(array([2.0]))}, {"Out": interpolate(VIEW, "nearest", [8, 10], scales=[2, 2])},
     align_corners=False, scale=[3.0, 3.0])
LINE = drawn(1, 2, 5, seed=32)
case("linear-1d", "linear_interp_v2", {"X": LINE}, {"Out": interpolate(LINE, "linear", [8], align_mode=0)}, align_corners=False, align_mode=0, out_w=8, data_layout="NCHW")
case("trilinear", "trilinear_interp_v2", {"X": VOLUME}, {"Out": interpolate(VOLUME, "linear", [2, 5, 6], align_mode=1)}, align_corners=False, align_mode=1,
     out_d=2, out_h=5, out_w=6, data_layout="NCDHW")

#===--- Normalisation -------------------------------------------------------===#

CHANNELS = {"Scale": Parameter(drawn(4, seed=40)), "Bias": Parameter(drawn(4, seed=41)), "Mean": Parameter(drawn(4, seed=42)),
            "Variance": Parameter(drawn(4, seed=43, low=0.5, high=2))}


def normal(epsilon, x=PICTURE, channel=lambda n, c, *at: c):
    scale, bias, mean, variance = (CHANNELS[slot].held for slot in ("Scale", "Bias", "Mean", "Variance"))
    return made(x.dims, lambda *at: (x.at(*at) - mean.at(channel(*at))) / math.sqrt(variance.at(channel(*at)) + epsilon) * scale.at(channel(*at)) + bias.at(channel(*at)))


case("batch-norm", "batch_norm", {"X": PICTURE, **CHANNELS}, {"Y": normal(1e-3)}, epsilon=0.001, is_test=True, data_layout="NCHW")
case("batch-norm-global", "batch_norm", {"X": PICTURE, **CHANNELS}, {"Y": normal(1e-5)}, use_global_stats=True, is_test=False)
case("batch-norm-both", "sync_batch_norm", {"X": PICTURE, **CHANNELS}, {"Y": normal(1e-5)}, use_global_stats=True, trainable_statistics=True)
case("batch-norm-flag", "batch_norm", {"X": PICTURE, **CHANNELS}, {"Y": normal(1e-5)}, is_test=paddle.integer(1), use_global_stats=paddle.integer(0))
case("batch-norm-last", "batch_norm", {"X": channels_last(PICTURE), **CHANNELS}, {"Y": channels_last(normal(1e-5))}, is_test=True, data_layout="NHWC")
ROWS = drawn(3, 4, seed=44)
case("batch-norm-rows", "batch_norm", {"X": ROWS, **CHANNELS}, {"Y": normal(1e-5, ROWS)}, is_test=True)
case("batch-norm-relu", "batch_norm", {"X": PICTURE, **CHANNELS}, {"Y": normal(1e-5).map(lambda x: max(x, 0))}, is_test=True, fuse_with_relu=True)
case("affine-channel", "affine_channel", {"X": PICTURE, "Scale": CHANNELS["Scale"], "Bias": CHANNELS["Bias"]}, {"Out": broadcast(
    lambda a, b: a + b, broadcast(lambda a, b: a * b, PICTURE, CHANNELS["Scale"].held.reshape(4, 1, 1)), CHANNELS["Bias"].held.reshape(4, 1, 1))})


def normalized(x, key, epsilon=1e-5):
    """Over all elements of the same key."""
    groups = {}
    for place in x.places():
        groups.setdefault(key(*place), []).append(x.at(*place))
    means = {each: sum(values) / len(values) for each, values in groups.items()}
    spreads = {each: math.sqrt(sum((v - means[each]) ** 2 for v in values) / len(values) + epsilon) for each, values in groups.items()}
    return made(x.dims, lambda *at: (x.at(*at) - means[key(*at)]) / spreads[key(*at)])


TOKENS, TAIL, SHIFT = drawn(2, 3, 4, seed=45), drawn(4, seed=46), drawn(4, seed=47)
LAYER = normalized(TOKENS, lambda a, b, c: (a, b))
case("layer-norm", "layer_norm", {"X": TOKENS, "Scale": Parameter(TAIL), "Bias": Parameter(SHIFT)},
     {"Y": broadcast(lambda a, b: a + b, broadcast(lambda a, b: a * b, LAYER, TAIL), SHIFT)}, begin_norm_axis=2, epsilon=1e-5)
case("layer-norm-plain", "layer_norm", {"X": TOKENS}, {"Y": LAYER}, begin_norm_axis=2)
FLAT = drawn(12, seed=48)
case("layer-norm-tail", "layer_norm", {"X": TOKENS, "Scale": Parameter(FLAT)},
     {"Y": broadcast(lambda a, b: a * b, normalized(TOKENS, lambda a, b, c: a), FLAT.reshape(3, 4))})
GROUPS = normalized(PICTURE, lambda n, c, h, w: (n, c // 2))
case("group-norm", "group_norm", {"X": PICTURE, "Scale": CHANNELS["Scale"], "Bias": CHANNELS["Bias"]}, {"Y": broadcast(
    lambda a, b: a + b, broadcast(lambda a, b: a * b, GROUPS, CHANNELS["Scale"].held.reshape(4, 1, 1)), CHANNELS["Bias"].held.reshape(4, 1, 1))}, groups=2, known={"X": [1]})
case("group-norm-last", "group_norm", {"X": channels_last(PICTURE)}, {"Y": channels_last(GROUPS)}, groups=2, data_layout="NHWC", known={"X": [3]})
case("instance-norm", "instance_norm", {"X": PICTURE}, {"Y": normalized(PICTURE, lambda n, c, h, w: (n, c), 1e-3)}, epsilon=0.001, known={"X": [1]})
case("lrn", "lrn", {"X": PICTURE}, {"Out": made(PICTURE.dims, lambda n, c, h, w: PICTURE.at(n, c, h, w) / (1.0 + 0.125 * sum(
    PICTURE.at(n, k, h, w) ** 2 for k in range(max(c - 1, 0), min(c + 2, 4)))) ** 0.75)}, n=3, k=1.0, alpha=0.125, beta=0.75)
case("norm", "norm", {"X": TOKENS}, {"Out": made(TOKENS.dims, lambda a, b, c: TOKENS.at(a, b, c) / math.sqrt(sum(TOKENS.at(a, k, c) ** 2 for k in range(3)) + 0.5))},
     axis=1, epsilon=0.5)


def softmaxed(x, axis, log=False):
    def one(*place):
        line = [x.at(*place[:axis], k, *place[axis + 1:]) for k in range(x.dims[axis])]
        total = sum(math.exp(each) for each in line)
        return x.at(*place) - math.log(total) if log else math.exp(x.at(*place)) / total
    return made(x.dims, one)


case("softmax", "softmax", {"X": TOKENS}, {"Out": softmaxed(TOKENS, 2)})
case("softmax-axis", "softmax", {"X": TOKENS}, {"Out": softmaxed(TOKENS, 1)}, axis=1)
case("log-softmax", "log_softmax", {"X": TOKENS}, {"Out": softmaxed(TOKENS, 1, True)}, axis=-2)

#===--- Shapes --------------------------------------------------------------===#

G = counted(2, 3, 4)
case("reshape", "reshape", {"X": G}, {"Out": G.reshape(2, 12)}, shape=[0, -1])
case("reshape-longs", "reshape2", {"X": G}, {"Out": G.reshape(4, 6)}, shape=paddle.longs(4, 6))
case("reshape-tensor", "reshape2", {"X": G, "Shape": fixed(3, 8)}, {"Out": G.reshape(3, 8)}, shape=[24])
case("reshape-list", "reshape2", {"X": G, "ShapeTensor": [fixed(6), fixed(-1)], "Shape": fixed(3, 8)}, {"Out": G.reshape(6, 4)}, shape=[24])
case("flatten", "flatten2", {"X": G}, {"Out": G.reshape(6, 4)}, axis=2)
case("flatten-0", "flatten", {"X": G}, {"Out": G.reshape(1, 24)}, axis=0)
case("flatten-range", "flatten_contiguous_range", {"X": IMAGE}, {"Out": IMAGE.reshape(2, 12, 5)}, start_axis=1, stop_axis=2)
case("flatten-range-last", "flatten_contiguous_range", {"X": IMAGE}, {"Out": IMAGE.reshape(2, 60)}, start_axis=1, stop_axis=-1)
case("squeeze", "squeeze2", {"X": G.reshape(1, 6, 1, 4)}, {"Out": G.reshape(6, 1, 4)}, axes=[0])
case("squeeze-not-one", "squeeze2", {"X": G.reshape(1, 6, 1, 4)}, {"Out": G.reshape(1, 6, 4)}, axes=[1, -2], needs_sizes=True)
case("squeeze-all", "squeeze", {"X": G.reshape(1, 6, 1, 4)}, {"Out": G.reshape(6, 4)}, axes=paddle.ints(), needs_sizes=True)
case("unsqueeze", "unsqueeze2", {"X": G}, {"Out": G.reshape(2, 1, 1, 3, 4)}, axes=[1, 1])
case("unsqueeze-end", "unsqueeze", {"X": G}, {"Out": G.reshape(1, 2, 3, 4, 1)}, axes=[0, -1])
case("transpose", "transpose2", {"X": G}, {"Out": G.transpose(2, 0, 1)}, axis=[2, 0, 1])
case("transpose-v1", "transpose", {"X": G}, {"Out": G.transpose(0, 2, 1)}, axis=[0, 2, 1])
case("shape", "shape", {"Input": G}, {"Out": ints(2, 3, 4)})
case("size", "size", {"Input": G}, {"Out": array(24)})

#===--- Movement ------------------------------------------------------------===#

H = counted(2, 2, 4).map(lambda x: x + 100)
JOINED = made([2, 5, 4], lambda a, b, c: G.at(a, b, c) if b < 3 else H.at(a, b - 3, c))
case("concat", "concat", {"X": [G, H]}, {"Out": JOINED}, axis=1)
case("concat-tensor", "concat", {"X": [G, H], "AxisTensor": fixed(-2)}, {"Out": JOINED}, axis=0)
case("concat-empty", "concat", {"X": [Parameter(Array([0], [])), G]}, {"Out": G}, axis=0)
case("stack", "stack", {"X": [G, G]}, {"Y": made([2, 3, 2, 4], lambda a, b, n, c: G.at(a, b, c))}, axis=-2)
case("unstack", "unstack", {"X": G}, {"Y": [made([2, 4], lambda a, c, b=b: G.at(a, b, c)) for b in range(3)]}, axis=1, num=3)
case("unbind", "unbind", {"X": G}, {"Out": [made([3, 4], lambda b, c, a=a: G.at(a, b, c)) for a in range(2)]}, axis=0)


def part(x, axis, start, end, step=1):
    places = list(range(start, end, step))
    dims = [len(places) if i == axis else size for i, size in enumerate(x.dims)]
    return made(dims, lambda *at: x.at(*(places[p] if i == axis else p for i, p in enumerate(at))), x.element)


case("split", "split", {"X": G}, {"Out": [part(G, 2, 0, 2), part(G, 2, 2, 4)]}, axis=2, num=2)
case("split-sections", "split", {"X": G}, {"Out": [part(G, 2, 0, 1), part(G, 2, 1, 4)]}, axis=-1, num=0, sections=[1, 3])
case("split-rest", "split", {"X": G, "AxisTensor": fixed(2)}, {"Out": [part(G, 2, 0, 1), part(G, 2, 1, 4)]}, sections=[1, -1])
case("split-middle", "split", {"X": G}, {"Out": [part(G, 2, 0, 1), part(G, 2, 1, 3), part(G, 2, 3, 4)]}, axis=2, sections=[1, -1, 1])
case("split-nothing", "split", {"X": G}, {"Out": [G, Array([2, 3, 0], [])]}, axis=2, sections=[-1, 0])
case("flip", "flip", {"X": G}, {"Out": part(part(G, 0, 1, -1, -1), 2, 3, -1, -1)}, axis=[0, 2])
case("roll", "roll", {"X": G}, {"Out": made(G.dims, lambda a, b, c: G.at(a, (b - 1) % 3, (c + 1) % 4))}, shifts=paddle.longs(1, -1), axis=paddle.longs(1, 2))
case("roll-far", "roll", {"X": G}, {"Out": made(G.dims, lambda a, b, c: G.at(a, (b - 8) % 3, (c + 9) % 4))}, shifts=paddle.longs(8, -9), axis=paddle.longs(1, -1))
case("roll-flat", "roll", {"X": G}, {"Out": Array([2, 3, 4], [(i - 5) % 24 for i in range(24)])}, shifts=paddle.longs(5))
case("shuffle-channel", "shuffle_channel", {"X": IMAGE}, {"Out": made(IMAGE.dims, lambda n, c, h, w: IMAGE.at(n, [0, 2, 1, 3][c], h, w))}, group=2, known={"X": [1]})
BLOCKS = drawn(1, 8, 2, 3, seed=50)
SHUFFLED = made([1, 2, 4, 6], lambda n, c, h, w: BLOCKS.at(n, c * 4 + h % 2 * 2 + w % 2, h // 2, w // 2))
case("pixel-shuffle", "pixel_shuffle", {"X": BLOCKS}, {"Out": SHUFFLED}, upscale_factor=2, data_format="NCHW")
case("pixel-shuffle-last", "pixel_shuffle", {"X": channels_last(BLOCKS)}, {"Out": channels_last(SHUFFLED)}, upscale_factor=2, data_format="NHWC")
case("pixel-unshuffle", "pixel_unshuffle", {"X": SHUFFLED}, {"Out": BLOCKS}, downscale_factor=2)
DEEP = drawn(1, 8, 2, 4, seed=52)
# The elements are those of [1, 2, 4, 8], into which each block of 2 x 2 channels went.
case("space-to-depth", "space_to_depth", {"X": DEEP},
     {"Out": made([1, 2, 4, 8], lambda n, c, y, x: DEEP.at(n, (y % 2 * 2 + x % 2) * 2 + c, y // 2, x // 2)).reshape(1, 32, 1, 2)}, blocksize=paddle.long(2))
case("tile", "tile", {"X": G}, {"Out": made([2, 6, 4], lambda a, b, c: G.at(a, b % 3, c))}, repeat_times=[2, 1])
case("tile-longer", "tile", {"X": part(G, 0, 0, 1).reshape(3, 4), "RepeatTimes": fixed(2, 1, 2)}, {"Out": made([2, 3, 8], lambda a, b, c: G.at(0, b, c % 4))})
case("expand-v1", "expand", {"X": G}, {"Out": made([4, 3, 8], lambda a, b, c: G.at(a % 2, b, c % 4))}, expand_times=[2, 1, 2])
ONE = drawn(3, 1, seed=51)
case("expand-v2", "expand_v2", {"X": ONE}, {"Out": made([2, 3, 4], lambda a, b, c: ONE.at(b, 0))}, shape=[2, -1, 4])
case("expand-v2-tensor", "expand_v2", {"X": ONE, "expand_shapes_tensor": [fixed(3), fixed(5)]}, {"Out": made([3, 5], lambda b, c: ONE.at(b, 0))}, shape=[-1])
case("expand-as", "expand_as_v2", {"X": ONE, "Y": G}, {"Out": made([2, 3, 4], lambda a, b, c: ONE.at(b, 0))}, target_shape=[2, 3, 4])
PAIRS = drawn(2, 3, seed=53)
case("expand-as-v1", "expand_as", {"X": PAIRS, "target_tensor": drawn(4, 9, seed=54)}, {"Out": made([4, 9], lambda a, b: PAIRS.at(a % 2, b % 3))})
case("expand-as-v1-one", "expand_as", {"X": ONE, "target_tensor": drawn(3, 4, seed=54)}, {"Out": made([3, 4], lambda a, b: ONE.at(a, 0))})
case("expand-as-target", "expand_as_v2", {"X": ONE, "target_tensor": G}, {"Out": made([2, 3, 4], lambda a, b, c: ONE.at(b, 0))}, target_shape=[2, 3, 4])
case("meshgrid", "meshgrid", {"X": [array([1.0, 2.0]), array([3.0, 4.0, 5.0])]}, {"Out": [made([2, 3], lambda a, b: a + 1), made([2, 3], lambda a, b: b + 3)]})
case("tril", "tril_triu", {"X": G}, {"Out": made(G.dims, lambda a, b, c: G.at(a, b, c) if c - b <= 1 else 0)}, diagonal=1, lower=True)
case("triu", "tril_triu", {"X": G}, {"Out": made(G.dims, lambda a, b, c: G.at(a, b, c) if c - b >= 0 else 0)}, lower=False)


def padded(x, low, high, pick):
    dims = [size + a + b for size, a, b in zip(x.dims, low, high)]

    def one(*at):
        places = [pick(p - a, size) for p, a, size in zip(at, low, x.dims)]
        return 0.5 if None in places else x.at(*places)
    return made(dims, one)


def inside(p, size):
    return p if 0 <= p < size else None


case("pad", "pad", {"X": G}, {"Out": padded(G, [0, 1, 0], [1, 0, 2], inside)}, paddings=[0, 1, 1, 0, 0, 2], pad_value=0.5)
case("pad2d", "pad2d", {"X": VIEW}, {"Out": padded(VIEW, [0, 0, 1, 0], [0, 0, 0, 2], inside)}, paddings=[1, 0, 0, 2], mode="constant", pad_value=0.5)
case("pad2d-reflect", "pad2d", {"X": VIEW}, {"Out": padded(VIEW, [0, 0, 1, 2], [0, 0, 2, 1], lambda p, n: n - 1 - abs(n - 1 - abs(p)))}, paddings=[1, 2, 2, 1], mode="reflect")
case("pad2d-edge", "pad2d", {"X": VIEW, "Paddings": fixed(1, 2, 2, 1)}, {"Out": padded(VIEW, [0, 0, 1, 2], [0, 0, 2, 1], lambda p, n: min(max(p, 0), n - 1))}, mode="edge")
# The last dimension first.
case("pad3d", "pad3d", {"X": VOLUME}, {"Out": padded(VOLUME, [0, 0, 2, 0, 1], [0, 0, 0, 1, 0], inside)}, paddings=[1, 0, 0, 1, 2, 0], mode="constant", value=0.5)
case("pad3d-replicate", "pad3d", {"X": VOLUME}, {"Out": padded(VOLUME, [0, 0, 0, 1, 2], [0, 0, 1, 0, 0], lambda p, n: min(max(p, 0), n - 1))},
     paddings=[2, 0, 1, 0, 0, 1], mode="replicate", data_format="NCDHW")
case("pad3d-circular", "pad3d", {"X": VOLUME}, {"Out": padded(VOLUME, [0, 0, 0, 1, 2], [0, 0, 1, 0, 0], lambda p, n: p % n)},
     paddings=[2, 0, 1, 0, 0, 1], mode="circular")

#===--- Slices --------------------------------------------------------------===#

case("slice", "slice", {"Input": G}, {"Out": part(part(G, 1, 1, 3), 2, 1, 3)}, axes=[1, 2], starts=[1, -3], ends=[100, -1])
case("slice-decrease", "slice", {"Input": G}, {"Out": part(G, 1, 2, 3).reshape(2, 4)}, axes=[1], starts=[-1], ends=[2147483647], decrease_axis=[1])
case("slice-tensors", "slice", {"Input": G, "StartsTensor": fixed(1), "EndsTensorList": [fixed(3)]}, {"Out": part(G, 2, 1, 3)}, axes=[2], starts=[0], ends=[1])
case("slice-run-time", "slice", {"Input": G, "StartsTensor": ints(1), "EndsTensor": ints(3)}, {"Out": part(G, 2, 1, 3)}, axes=[2], starts=[0], ends=[1])
case("strided-slice", "strided_slice", {"Input": G}, {"Out": part(G, 2, 0, 4, 2)}, axes=[2], starts=[0], ends=[4], strides=[2])
case("strided-slice-back", "strided_slice", {"Input": G}, {"Out": part(G, 2, 3, 0, -2)}, axes=[2], starts=[-1], ends=[0], strides=[-2])
case("strided-slice-whole-back", "strided_slice", {"Input": G}, {"Out": part(G, 2, 3, -1, -1)}, axes=[2], starts=[3], ends=[-1], strides=[-1])
case("crop", "crop_tensor", {"X": G}, {"Out": part(part(G, 1, 1, 3), 2, 1, 3)}, offsets=[0, 1, 1], shape=[-1, 2, 2])

case("crop-rest", "crop_tensor", {"X": G, "Offsets": fixed(1, 2, 0)}, {"Out": part(part(G, 0, 1, 2), 1, 2, 3)}, shape=[-1, 1, -1])
case("crop-v1", "crop", {"X": G}, {"Out": part(part(G, 1, 1, 3), 2, 1, 3)}, offsets=[0, 1, 1], shape=[2, 2, 2])
case("crop-like", "crop", {"X": G, "Y": drawn(1, 2, 3, seed=55), "Offsets": fixed(1, 0, 1)}, {"Out": part(part(part(G, 0, 1, 2), 1, 0, 2), 2, 1, 4)})

#===--- Indices -------------------------------------------------------------===#

TABLE = drawn(5, 3, seed=60)
case("gather", "gather", {"X": TABLE, "Index": ints(4, 0, 4)}, {"Out": made([3, 3], lambda i, j: TABLE.at([4, 0, 4][i], j))})
case("gather-column", "gather", {"X": TABLE, "Index": longs(4, 0).reshape(2, 1)}, {"Out": made([2, 3], lambda i, j: TABLE.at([4, 0][i], j))})
case("gather-axis", "gather", {"X": TABLE, "Index": longs(2, 0), "Axis": fixed(1)}, {"Out": made([5, 2], lambda i, j: TABLE.at(i, [2, 0][j]))}, axis=0)
case("gather-nd", "gather_nd", {"X": G, "Index": array([[1, 2], [0, 1]])}, {"Out": made([2, 4], lambda i, c: G.at([1, 0][i], [2, 1][i], c))}, known={"Index": [1]})
case("index-select", "index_select", {"X": TABLE, "Index": longs(2, 2)}, {"Out": made([5, 2], lambda i, j: TABLE.at(i, 2))}, dim=1)
case("index-sample", "index_sample", {"X": TABLE, "Index": counted(5, 2, element=paddle.INT64).map(lambda x: x % 3)},
     {"Out": made([5, 2], lambda i, j: TABLE.at(i, (2 * i + j) % 3))})
case("take-along-axis", "take_along_axis", {"Input": TABLE, "Index": array([[3, 1, 4]])}, {"Result": made([1, 3], lambda i, j: TABLE.at([3, 1, 4][j], j))}, Axis=0)
UPDATES = drawn(3, 3, seed=61)
case("scatter", "scatter", {"X": TABLE, "Ids": longs(4, 1, 0), "Updates": UPDATES},
     {"Out": made([5, 3], lambda i, j: UPDATES.at([4, 1, 0].index(i), j) if i in (4, 1, 0) else TABLE.at(i, j))}, overwrite=True)
case("scatter-add", "scatter", {"X": TABLE, "Ids": longs(4, 1, 4), "Updates": UPDATES},
     {"Out": made([5, 3], lambda i, j: UPDATES.at(0, j) + UPDATES.at(2, j) if i == 4 else UPDATES.at(1, j) if i == 1 else TABLE.at(i, j))}, overwrite=False)
case("scatter-nd-add", "scatter_nd_add", {"X": TABLE, "Index": array([[0, 1], [4, 2], [0, 1]]), "Updates": array([1.0, 2.0, 4.0])},
     {"Out": made([5, 3], lambda i, j: TABLE.at(i, j) + (5 if (i, j) == (0, 1) else 2 if (i, j) == (4, 2) else 0))}, known={"Index": [1]})
case("put-along-axis", "put_along_axis", {"Input": TABLE, "Index": array([[3, 1, 4]]), "Value": array([[7.0, 8.0, 9.0]])},
     {"Result": made([5, 3], lambda i, j: [7.0, 8.0, 9.0][j] if i == [3, 1, 4][j] else TABLE.at(i, j))}, Axis=0, Reduce="assign")
case("lookup-table", "lookup_table", {"W": Parameter(TABLE), "Ids": array([[[1], [4]]])}, {"Out": made([1, 2, 3], lambda a, i, j: TABLE.at([1, 4][i], j))}, padding_idx=-1)
case("lookup-table-v2", "lookup_table_v2", {"W": Parameter(TABLE), "Ids": array([[1, 4], [0, 1]])},
     {"Out": made([2, 2, 3], lambda a, i, j: 0.0 if [[1, 4], [0, 1]][a][i] == 1 else TABLE.at([[1, 4], [0, 1]][a][i], j))}, padding_idx=1)
case("one-hot", "one_hot", {"X": array([[1], [3], [9]])}, {"Out": made([3, 4], lambda i, j: float([1, 3, 9][i] == j))}, depth=4, dtype=5, allow_out_of_range=True)
case("one-hot-v2", "one_hot_v2", {"X": longs(1, 3), "depth_tensor": fixed(4)}, {"Out": made([2, 4], lambda i, j: float([1, 3][i] == j))}, depth=1, dtype=5)
case("sequence-mask", "sequence_mask", {"X": longs(1, 3)}, {"Y": array([[1, 0, 0, 0], [1, 1, 1, 0]])}, maxlen=4, out_dtype=3)

SEEN = longs(3, 1, 3, 2)
case("unique", "unique", {"X": SEEN}, {"Out": longs(1, 2, 3), "Indices": longs(1, 3, 0), "Index": longs(2, 0, 2, 1), "Counts": longs(1, 1, 2)}, is_sorted=True, return_index=True,
     return_inverse=True, return_counts=True, axis=paddle.ints(), dtype=3, needs_sizes=True, counts_results=True)
case("unique-places-int32", "unique", {"X": SEEN}, {"Out": longs(1, 2, 3), "Index": ints(2, 0, 2, 1)}, is_sorted=True, return_inverse=True, axis=paddle.ints(), dtype=2,
     needs_sizes=True, counts_results=True)
case("unique-v1", "unique", {"X": SEEN}, {"Out": longs(3, 1, 2), "Index": ints(0, 1, 0, 2)}, dtype=2, needs_sizes=True, counts_results=True)
case("unique-slices", "unique", {"X": array([[2, 1, 2], [1, 5, 1]])}, {"Out": array([[1, 2], [5, 1]]), "Counts": longs(1, 2)}, is_sorted=True, return_counts=True, axis=[-1], dtype=3,
     needs_sizes=True, counts_results=True)
case("where-index", "where_index", {"Condition": bools([[True, False], [False, True]])}, {"Out": array([[0, 0], [1, 1]])}, counts_results=True)
case("masked-select", "masked_select", {"X": array([1.0, 2.0, 3.0]), "Mask": bools([True, False, True])}, {"Y": array([1.0, 3.0])}, counts_results=True)

#===--- Reductions ----------------------------------------------------------===#

for name, function in (("sum", sum), ("mean", lambda v: sum(v) / len(v)), ("max", max), ("min", min), ("prod", math.prod)):
    case("reduce-" + name, "reduce_" + name, {"X": TOKENS}, {"Out": reduced(TOKENS, [1], function)}, dim=[1], keep_dim=False)
    case(f"reduce-{name}-keep", "reduce_" + name, {"X": TOKENS}, {"Out": reduced(TOKENS, [0, -1], function, True)}, dim=[0, -1], keep_dim=True)
case("reduce-all-axes", "reduce_sum", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], sum)}, dim=[0], reduce_all=True)
case("reduce-sum-integers", "reduce_sum", {"X": longs(1, 2, 3)}, {"Out": array(6)}, dim=[0], reduce_all=False)
case("reduce-all", "reduce_all", {"X": bools([[True, True], [True, False]])}, {"Out": bools([True, False])}, dim=[1])
case("reduce-any", "reduce_any", {"X": bools([[True, False], [False, False]])}, {"Out": bools([True, False])}, dim=[1])
case("mean", "mean", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], lambda v: sum(v) / len(v))})
case("logsumexp", "logsumexp", {"X": TOKENS}, {"Out": reduced(TOKENS, [1], lambda v: math.log(sum(map(math.exp, v))))}, axis=[1], keepdim=False)
case("p-norm", "p_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [1], lambda v: math.sqrt(sum(x * x for x in v)))}, axis=1, porder=2.0)
case("p-norm-3", "p_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [2], lambda v: sum(abs(x) ** 3 for x in v) ** (1 / 3), True)}, axis=-1, porder=3.0, keepdim=True)
case("p-norm-infinite", "p_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [1], lambda v: max(map(abs, v)))}, axis=1, porder=math.inf)
case("p-norm-whole", "p_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], lambda v: sum(map(abs, v)))}, axis=-1, porder=1.0, asvector=True)
case("frobenius-norm", "frobenius_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [1, 2], lambda v: math.sqrt(sum(x * x for x in v)))}, dim=[1, 2])
case("squared-norm", "squared_l2_norm", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], lambda v: sum(x * x for x in v))})
LINES = array([[3.0, 1.0, 3.0, 2.0], [0.0, 5.0, 4.0, -1.0]])
case("arg-max", "arg_max", {"X": LINES}, {"Out": longs(0, 1)}, axis=1, keepdims=False, flatten=False, dtype=3)
case("arg-max-int32", "arg_max", {"X": LINES}, {"Out": ints(0, 1).reshape(2, 1)}, axis=-1, keepdims=True, dtype=2)
case("arg-max-flat", "arg_max", {"X": LINES}, {"Out": array(5)}, axis=0, flatten=True, dtype=-1)
case("arg-min", "arg_min", {"X": LINES}, {"Out": longs(1, 3)}, axis=paddle.long(1), dtype=3)
case("top-k", "top_k", {"X": LINES}, {"Out": array([[3.0, 3.0], [5.0, 4.0]]), "Indices": array([[0, 2], [1, 2]])}, k=2)
case("top-k-tensor", "top_k_v2", {"X": LINES, "K": fixed(1)}, {"Out": array([[1.0], [-1.0]]), "Indices": array([[1], [3]])}, k=3, axis=-1, largest=False, sorted=True)
case("argsort", "argsort", {"X": LINES}, {"Out": array([[1.0, 2.0, 3.0, 3.0], [-1.0, 0.0, 4.0, 5.0]]), "Indices": array([[1, 3, 0, 2], [3, 0, 2, 1]])}, axis=-1)
case("argsort-down", "argsort", {"X": LINES}, {"Out": array([[3.0, 3.0, 2.0, 1.0], [5.0, 4.0, 0.0, -1.0]])}, axis=1, descending=True)
case("cumsum", "cumsum", {"X": LINES}, {"Out": array([[3.0, 4.0, 7.0, 9.0], [0.0, 5.0, 9.0, 8.0]])}, axis=1)
case("cumsum-back", "cumsum", {"X": LINES}, {"Out": array([[6.0, 5.0, 2.0, 0.0], [8.0, 3.0, -1.0, 0.0]])}, axis=1, exclusive=True, reverse=True)
case("cumsum-flat", "cumsum", {"X": longs(1, 2, 3, 4).reshape(2, 2)}, {"Out": longs(1, 3, 6, 10)}, flatten=True)

#===--- Constants -----------------------------------------------------------===#

case("fill-constant", "fill_constant", {}, {"Out": Array([2, 2], [0.5] * 4)}, shape=paddle.longs(2, 2), dtype=5, value=0.5)
case("fill-constant-text", "fill_constant", {}, {"Out": Array([1], [9007199254740993], paddle.INT64)}, shape=paddle.longs(1), dtype=3, value=0.5, str_value="9007199254740993")
case("fill-constant-scalar", "fill_constant", {}, {"Out": Array([2], [7, 7], paddle.INT32)}, shape=[2], dtype=2, value=paddle.scalar(7))
case("fill-constant-tensors", "fill_constant", {"ShapeTensorList": [fixed(2), fixed(1)], "ValueTensor": array([3.0])}, {"Out": Array([2, 1], [3.0, 3.0])}, shape=[9], dtype=5, value=1.0)
case("fill-batch", "fill_constant_batch_size_like", {"Input": G}, {"Out": Array([4, 3], [1.5] * 12)}, shape=[4, -1], input_dim_idx=1, output_dim_idx=1, value=1.5, dtype=5)
case("fill-like", "fill_any_like", {"X": G}, {"Out": G.map(lambda x: 2, paddle.INT32)}, value=2.0, dtype=2)
case("fill-zeros-like", "fill_zeros_like", {"X": G}, {"Out": G.map(lambda x: 0.0)})
case("assign", "assign", {"X": G}, {"Out": G})
case("assign-value", "assign_value", {}, {"Out": array([[1.0, 2.5]])}, shape=[1, 2], dtype=5, fp32_values=[1.0, 2.5])
case("assign-value-int", "assign_value", {}, {"Out": longs(1, 2)}, shape=[2], dtype=3, int64_values=paddle.longs(1, 2), fp32_values=paddle.floats())
case("assign-value-scalars", "assign_value", {}, {"Out": ints(1, 2)}, shape=[2], dtype=2, values=paddle.scalars(1, 2))
case("cast", "cast", {"X": SIGNED}, {"Out": SIGNED.map(lambda x: int(x), paddle.INT32)}, in_dtype=5, out_dtype=2)
case("cast-bool", "cast", {"X": SIGNED}, {"Out": SIGNED.map(lambda x: x != 0, paddle.BOOL)}, in_dtype=5, out_dtype=0)
case("range", "range", {"Start": fixed(1), "End": fixed(8), "Step": fixed(3)}, {"Out": ints(1, 4, 7)})
case("linspace", "linspace", {"Start": array([1.0]), "Stop": array([2.0]), "Num": fixed(5)}, {"Out": array([1.0, 1.25, 1.5, 1.75, 2.0])}, dtype=5)
case("eye", "eye", {}, {"Out": made([2, 3], lambda i, j: float(i == j))}, num_rows=paddle.long(2), num_columns=paddle.long(3), dtype=5)

# With seed 1 NumPy's RandomState gives these.
EVEN, NORMAL = [0.417022004702574, 0.7203244934421581, 0.00011437481734488664, 0.30233257263183977], [1.6243453636632417, -0.6117564136500754, -0.5281717522634557, -1.0729686221561705]
case("uniform", "uniform_random", {}, {"Out": Array([2, 2], [2 * x - 1 for x in EVEN])}, shape=paddle.longs(2, 2), seed=1, dtype=5, diag_num=0, diag_step=0, diag_val=1.0)
case("uniform-bounds", "uniform_random", {"ShapeTensorList": [fixed(4), fixed(1)]}, {"Out": Array([4, 1], [3 + 2 * x for x in EVEN])}, shape=paddle.longs(1), min=3.0, max=5.0,
     seed=1, dtype=5)
case("uniform-batch", "uniform_random_batch_size_like", {"Input": array([[1.0], [2.0]])}, {"Out": Array([2, 2], EVEN)}, shape=[-1, 2], min=0.0, max=1.0, seed=1, dtype=5,
     needs_sizes=True)
case("gaussian", "gaussian_random", {}, {"Out": Array([4], NORMAL)}, shape=paddle.longs(4), seed=1, dtype=5)
case("gaussian-spread", "gaussian_random", {"ShapeTensor": fixed(2, 2)}, {"Out": Array([2, 2], [0.5 * x + 2 for x in NORMAL])}, shape=paddle.longs(1), mean=2.0, std=0.5, seed=1, dtype=5)
case("gaussian-batch", "gaussian_random_batch_size_like", {"Input": array([[1.0, 2.0]])}, {"Out": Array([2, 2], NORMAL)}, shape=[2, 9], mean=0.0, std=1.0, input_dim_idx=1,
     output_dim_idx=1, seed=1, dtype=5, needs_sizes=True)

#===--- Quantisation --------------------------------------------------------===#

RAW = array([-3.0, -1.0, -0.984375, -0.0078125, 0.0, 0.00390625, 0.01171875, 0.5, 0.9921875, 2.0])
STEP = 1 / 128  # Of a scale of 127/128: ties occur.
SCALE = array([127 / 128])


def to_even(x):
    return float(round(x))


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


QUANTISED = RAW.map(lambda x: clamp(to_even(x / STEP), -128, 127))
AWAY = RAW.map(lambda x: clamp(half_away(x / STEP), -127, 127))
case("quantize-linear", "quantize_linear", {"X": RAW, "Scale": Parameter(SCALE), "ZeroPoint": Parameter(array([0.0]))}, {"Y": QUANTISED}, quant_axis=-1, bit_length=8,
     round_type=0)
case("quantize-linear-away", "quantize_linear", {"X": RAW, "Scale": Parameter(SCALE)}, {"Y": AWAY}, quant_axis=-1, bit_length=8, round_type=1)
case("quantize-linear-4", "quantize_linear", {"X": array([-9.0, -2.5, 3.5, 9.0]), "Scale": Parameter(array([7.0]))}, {"Y": array([-8.0, -2.0, 4.0, 7.0])}, bit_length=4)
BYTES = Array([3, 2], [-128, 127, 5, -7, 100, 0], paddle.INT8)
case("dequantize-linear", "dequantize_linear", {"X": Parameter(BYTES), "Scale": Parameter(array([127.0, 254.0, 63.5]))},
     {"Y": made([3, 2], lambda i, j: BYTES.at(i, j) * [1, 2, 0.5][i])}, quant_axis=0, bit_length=8)
case("dequantize-linear-run-time", "dequantize_linear", {"X": BYTES, "Scale": array([254.0])}, {"Y": BYTES.map(lambda x: x * 2.0, paddle.FP32)}, quant_axis=-1)
case("quantize-observer", "quantize_linear", {"X": RAW, "Scale": Parameter(SCALE)}, {"Y": RAW}, only_observer=True)
GREATEST = array([-127 / 64, 0.5, 1.0, 0.0078125])
case("fake-abs-max", "fake_quantize_abs_max", {"X": GREATEST}, {"Out": array([-127.0, 32.0, 64.0, 1.0]), "OutScale": array([127 / 64])}, bit_length=8)
case("fake-abs-max-back", "fake_quantize_dequantize_abs_max", {"X": GREATEST}, {"Out": array([-127 / 64, 0.5, 1.0, 1 / 64])}, bit_length=8)
for name in ("range_abs_max", "moving_average_abs_max"):
    case("fake-" + name, "fake_quantize_" + name, {"X": RAW, "InScale": Parameter(SCALE)}, {"Out": AWAY}, is_test=True, bit_length=8)
case("fake-moving-back", "fake_quantize_dequantize_moving_average_abs_max", {"X": RAW, "InScale": Parameter(SCALE)}, {"Out": AWAY.map(lambda x: x * STEP)}, is_test=True)
MATRIX = array([[127.0, 64.5, -3.0], [-63.5, 1.0, 0.25]])
case("fake-channels", "fake_channel_wise_quantize_abs_max", {"X": MATRIX}, {"Out": array([[127.0, 65.0, -3.0], [-127.0, 2.0, 1.0]]), "OutScale": array([127.0, 63.5])},
     quant_axis=0)
case("fake-channels-back", "fake_channel_wise_quantize_dequantize_abs_max", {"X": MATRIX.transpose(1, 0)}, {"Out": array([[127.0, -63.5], [65.0, 1.0], [-3.0, 0.5]])},
     quant_axis=1)
case("fake-dequantize", "fake_dequantize_max_abs", {"X": GREATEST, "Scale": Parameter(array([254.0]))}, {"Out": GREATEST.map(lambda x: 2 * x)}, max_range=127.0)
case("fake-dequantize-channels", "fake_channel_wise_dequantize_max_abs", {"X": MATRIX, "Scales": [Parameter(array([127.0, 254.0]))]},
     {"Out": made([2, 3], lambda i, j: MATRIX.at(i, j) * (i + 1))}, quant_bits=[8], quant_axis=0)
case("fake-dequantize-product", "fake_channel_wise_dequantize_max_abs", {"X": MATRIX, "Scales": [Parameter(array([127.0, 254.0, 381.0])), Parameter(array([63.5]))]},
     {"Out": made([2, 3], lambda i, j: MATRIX.at(i, j) * (j + 1) * 0.5)}, quant_bits=[8, 8], x_num_col_dims=1)
case("observe", "moving_average_abs_max_scale", {"X": RAW}, {"Out": RAW}, is_test=True)

#===--- Grids and regions ---------------------------------------------------===#

LOOK = drawn(1, 2, 4, 5, seed=70)
PLACES = drawn(1, 3, 3, 2, seed=71, low=-1.25, high=1.25)


def sampled(pick, align):
    def one(n, c, h, w):
        x, y = (((PLACES.at(n, h, w, k) + 1) / 2 * (size - 1)) if align else ((PLACES.at(n, h, w, k) + 1) * size - 1) / 2 for k, size in ((0, 5), (1, 4)))
        return pick(lambda i, j: LOOK.at(n, c, i, j) if 0 <= i < 4 and 0 <= j < 5 else 0.0, y, x)
    return made([1, 2, 3, 3], one)


def bilinear(at, y, x):
    i, j = math.floor(y), math.floor(x)
    return sum(at(i + a, j + b) * (1 - abs(y - i - a)) * (1 - abs(x - j - b)) for a in (0, 1) for b in (0, 1))


case("grid", "grid_sampler", {"X": LOOK, "Grid": PLACES}, {"Output": sampled(bilinear, True)})
case("grid-edges", "grid_sampler", {"X": LOOK, "Grid": PLACES}, {"Output": sampled(bilinear, False)}, align_corners=False, mode="bilinear", padding_mode="zeros")
case("grid-border", "grid_sampler", {"X": LOOK, "Grid": PLACES}, {"Output": sampled(lambda at, y, x: bilinear(at, clamp(y, 0, 3), clamp(x, 0, 4)), True)}, padding_mode="border")
case("grid-nearest", "grid_sampler", {"X": LOOK, "Grid": PLACES}, {"Output": sampled(lambda at, y, x: at(int(half_away(y)), int(half_away(x))), True)}, mode="nearest")
# Half a pixel: 0.5, 1.5 and 2.5 of 4 round to 1, 2 and 3.
case("grid-nearest-ties", "grid_sampler", {"X": counted(1, 1, 1, 5), "Grid": Array([1, 1, 3, 2], [-0.75, 0.0, -0.25, 0.0, 0.25, 0.0])},
     {"Output": array([[[[1.0, 2.0, 3.0]]]])}, mode="nearest")
THETA = drawn(2, 2, 3, seed=72)
for align in (True, False):
    def moved(n, h, w, k, align=align):
        x, y = ((-1 + 2 * w / 4, -1 + 2 * h / 2) if align else ((2 * w + 1) / 5 - 1, (2 * h + 1) / 3 - 1))
        return THETA.at(n, k, 0) * x + THETA.at(n, k, 1) * y + THETA.at(n, k, 2)
    case(f"affine-grid-{align}", "affine_grid", {"Theta": THETA}, {"Output": made([2, 3, 5, 2], moved)}, align_corners=align, output_shape=[2, 4, 3, 5])
SCENES, REGIONS = drawn(2, 2, 6, 6, seed=73), array([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 3.0], [2.0, 0.5, 5.5, 4.0]])


def aligned(r, c, h, w, shift=0.0, bins=2, samples=2):
    left, top, right, bottom = (REGIONS.at(r, k) - shift for k in range(4))
    image, total = [0, 1, 1][r], 0.0
    tall, wide = bottom - top, right - left
    rows, columns = (samples or math.ceil(extent / bins) for extent in (tall, wide))
    for a in range(rows):
        for b in range(columns):
            y, x = top + (h + (a + 0.5) / rows) * tall / bins, left + (w + (b + 0.5) / columns) * wide / bins
            total += bilinear(lambda i, j: SCENES.at(image, c, min(i, 5), min(j, 5)), clamp(y, 0, 5), clamp(x, 0, 5))
    return total / (rows * columns)


case("roi-align", "roi_align", {"X": SCENES, "ROIs": REGIONS, "RoisNum": ints(1, 2)}, {"Out": made([3, 2, 2, 2], aligned)}, pooled_height=2, pooled_width=2, sampling_ratio=2,
     spatial_scale=1.0)
case("roi-align-half", "roi_align", {"X": SCENES, "ROIs": REGIONS, "RoisNum": ints(1, 2)}, {"Out": made([3, 2, 2, 2], lambda *at: aligned(*at, shift=0.5))}, pooled_height=2,
     pooled_width=2, sampling_ratio=2, spatial_scale=1.0, aligned=True)

case("roi-align-adaptive", "roi_align", {"X": SCENES, "ROIs": REGIONS, "RoisNum": ints(1, 2)}, {"Out": made([3, 2, 2, 2], lambda *at: aligned(*at, samples=0))}, pooled_height=2,
     pooled_width=2, spatial_scale=1.0)
case("roi-align-adaptive-half", "roi_align", {"X": SCENES, "ROIs": REGIONS, "RoisNum": ints(1, 2)},
     {"Out": made([3, 2, 1, 1], lambda *at: aligned(*at, shift=0.5, bins=1, samples=0))}, sampling_ratio=-1, aligned=True)

PANE, SHIFTS, WEIGHTS = drawn(2, 4, 5, 6, seed=74), drawn(2, 2 * 2 * 6, 3, 5, seed=75, low=-1.5, high=1.5), drawn(2, 2 * 6, 3, 5, seed=76, low=0, high=1)
KERNEL = drawn(6, 2, 3, 2, seed=77)


def deformed(x, offset, mask, w, strides, pads, dilations, groups, parts):
    """Each element of a window is read where an offset, two rows and columns, says; each part of the channels has offsets of its own."""
    (count, inner, tall, wide), size = w.dims, x.dims

    def one(n, o, h, v):
        total = 0.0
        for c in range(inner):
            channel = o // (count // groups) * inner + c
            for tap in range(tall * wide):
                at = channel // (size[1] // parts) * tall * wide + tap
                y = h * strides[0] - pads[0] + tap // wide * dilations[0] + offset.at(n, 2 * at, h, v)
                z = v * strides[1] - pads[1] + tap % wide * dilations[1] + offset.at(n, 2 * at + 1, h, v)
                read = bilinear(lambda i, j: x.at(n, channel, i, j) if 0 <= i < size[2] and 0 <= j < size[3] else 0.0, y, z)
                total += w.at(o, c, tap // wide, tap % wide) * read * (mask.at(n, at, h, v) if mask else 1.0)
        return total
    return made([size[0], count, *offset.dims[2:]], one)


WINDOWS = {"strides": [2, 1], "paddings": [1, 0], "dilations": [1, 1], "groups": 2, "deformable_groups": 2, "im2col_step": 64}
case("deformable", "deformable_conv", {"Input": PANE, "Offset": SHIFTS, "Mask": WEIGHTS, "Filter": Parameter(KERNEL)},
     {"Output": deformed(PANE, SHIFTS, WEIGHTS, KERNEL, [2, 1], [1, 0], [1, 1], 2, 2)}, known={"Input": [1]}, **WINDOWS)
case("deformable-v1", "deformable_conv_v1", {"Input": PANE, "Offset": SHIFTS, "Filter": Parameter(KERNEL)},
     {"Output": deformed(PANE, SHIFTS, None, KERNEL, [2, 1], [1, 0], [1, 1], 2, 2)}, known={"Input": [1]}, **WINDOWS)
BENT, WHOLE_KERNEL = drawn(2, 2 * 4, 3, 4, seed=78, low=-2, high=2), drawn(3, 4, 2, 2, seed=79)
case("deformable-dilated", "deformable_conv", {"Input": PANE, "Offset": BENT, "Filter": Parameter(WHOLE_KERNEL)},
     {"Output": deformed(PANE, BENT, None, WHOLE_KERNEL, [1, 1], [0, 0], [2, 2], 1, 1)}, known={"Input": [1]}, strides=[1, 1], paddings=[0, 0], dilations=[2, 2], groups=1,
     deformable_groups=1, im2col_step=1)

#===--- Recurrent networks --------------------------------------------------===#


def cell(mode, x, states, w, r, b, c, hidden):
    """One step of Paddle's cells: gates i, f, c, o of an LSTM, r, z, c of a GRU."""
    def rows(gate):
        return range(gate * hidden, (gate + 1) * hidden)
    ours = [sum(w.at(k, i) * x[i] for i in range(len(x))) + b.at(k) for k in range(w.dims[0])]
    past = [sum(r.at(k, i) * states[0][i] for i in range(hidden)) + c.at(k) for k in range(w.dims[0])]
    if mode == "LSTM":
        i, f, g, o = ([ours[k] + past[k] for k in rows(gate)] for gate in range(4))
        kept = [sigmoid(f[k]) * states[1][k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(hidden)]
        return [[sigmoid(o[k]) * math.tanh(kept[k]) for k in range(hidden)], kept]
    if mode == "GRU":
        reset, update = ([sigmoid(ours[k] + past[k]) for k in rows(gate)] for gate in range(2))
        new = [math.tanh(ours[2 * hidden + k] + reset[k] * past[2 * hidden + k]) for k in range(hidden)]
        return [[update[k] * states[0][k] + (1 - update[k]) * new[k] for k in range(hidden)]]
    return [[(math.tanh if mode == "RNN_TANH" else lambda x: max(x, 0.0))(ours[k] + past[k]) for k in range(hidden)]]


def network(name, mode, gates, layers, directions, time=3, batch=2, features=3, hidden=2):
    count = 2 if mode == "LSTM" else 1
    states = [drawn(layers * directions, batch, hidden, seed=f"{name} state {k}", low=-1, high=1) for k in range(count)]
    x = drawn(time, batch, features, seed=name, low=-1, high=1)
    matrices, biases = [], []
    for layer in range(layers):
        for direction in range(directions):
            width = features if layer == 0 else hidden * directions
            matrices += [drawn(gates * hidden, width, seed=f"{name} w {layer} {direction}", low=-1, high=1),
                         drawn(gates * hidden, hidden, seed=f"{name} r {layer} {direction}", low=-1, high=1)]
            biases += [drawn(gates * hidden, seed=f"{name} {k} {layer} {direction}", low=-1, high=1) for k in "bc"]
    sequence = [[[x.at(t, n, i) for i in range(features)] for n in range(batch)] for t in range(time)]
    last = [[] for _ in range(count)]
    for layer in range(layers):
        out = [[[] for _ in range(batch)] for _ in range(time)]
        for direction in range(directions):
            at = layer * directions + direction
            w, r, b, c = matrices[2 * at], matrices[2 * at + 1], biases[2 * at], biases[2 * at + 1]
            ends = []
            for n in range(batch):
                held = [[state.at(at, n, k) for k in range(hidden)] for state in states]
                steps = {}
                for t in (reversed(range(time)) if direction else range(time)):
                    held = cell(mode, sequence[t][n], held, w, r, b, c, hidden)
                    steps[t] = held[0]
                for t in range(time):
                    out[t][n] += steps[t]
                ends.append(held)
            for k in range(count):
                last[k] += [number for held in ends for number in held[k]]
        sequence = out
    case(name, "rnn", {"Input": x, "PreState": states, "WeightList": [Parameter(each) for each in matrices + biases]},
         {"Out": array(sequence), "State": [Array([layers * directions, batch, hidden], each) for each in last]},
         mode=mode, hidden_size=hidden, input_size=features, num_layers=layers, is_bidirec=directions == 2, is_test=True, dropout_prob=0.0)


for mode, gates in (("LSTM", 4), ("GRU", 3), ("RNN_TANH", 1), ("RNN_RELU", 1)):
    network(f"rnn-{mode}", mode, gates, 1, 1)
    network(f"rnn-{mode}-deep", mode, gates, 2, 2)

#===--- Defaults ------------------------------------------------------------===#

activation("trunc", lambda x: float(math.trunc(x)), x=SIGNED)
case("reduce-amax", "reduce_amax", {"X": TOKENS}, {"Out": reduced(TOKENS, [1], max)}, dim=[1], keep_dim=False)
case("reduce-default", "reduce_sum", {"X": TOKENS}, {"Out": reduced(TOKENS, [0], sum)})
case("reduce-empty", "reduce_sum", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], sum)}, dim=paddle.ints())
case("assign-list", "assign_value", {}, {"Out": longs(3, 1, 4)}, value=paddle.longs(3, 1, 4), dtype=3)

#===--- Boxes ---------------------------------------------------------------===#


def yolo(x, sizes, anchors, classes, threshold, ratio=32, clips=True, scale=1.0, iou=None):
    """(boxes, scores), as the kernel computes them cell by cell."""
    count, (n, _, h, w) = len(anchors) // 2, x.dims
    boxes, scores = [], []
    for b in range(n):
        tall, wide = sizes.at(b, 0), sizes.at(b, 1)
        for a in range(count):
            for i in range(h):
                for j in range(w):
                    first = (count if iou else 0) + a * (5 + classes)
                    t = [x.at(b, first + k, i, j) for k in range(5 + classes)]
                    sure = sigmoid(t[4])
                    if iou:
                        sure = sure ** (1 - iou) * sigmoid(x.at(b, a, i, j)) ** iou
                    if sure < threshold:
                        boxes += [0.0] * 4
                        scores += [0.0] * classes
                        continue
                    cx = (j + sigmoid(t[0]) * scale - 0.5 * (scale - 1)) * wide / w
                    cy = (i + sigmoid(t[1]) * scale - 0.5 * (scale - 1)) * tall / h
                    bw, bh = math.exp(t[2]) * anchors[2 * a] * wide / (ratio * w), math.exp(t[3]) * anchors[2 * a + 1] * tall / (ratio * h)
                    box = [cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2]
                    boxes += [max(box[0], 0), max(box[1], 0), min(box[2], wide - 1), min(box[3], tall - 1)] if clips else box
                    scores += [sure * sigmoid(each) for each in t[5:]]
    return {"Boxes": Array([n, count * h * w, 4], boxes), "Scores": Array([n, count * h * w, classes], scores)}


HEADS, SIZES, ANCHORS = drawn(2, 14, 3, 2, seed=80), Array([2, 2], [100, 80, 60, 90], paddle.INT32), [10, 13, 33, 23]
case("yolo-box", "yolo_box", {"X": HEADS, "ImgSize": SIZES}, yolo(HEADS, SIZES, ANCHORS, 2, 0.5), anchors=ANCHORS, class_num=2, conf_thresh=0.5, downsample_ratio=32,
     clip_bbox=True, scale_x_y=1.0)
case("yolo-box-scaled", "yolo_box", {"X": HEADS, "ImgSize": SIZES}, yolo(HEADS, SIZES, ANCHORS, 2, 0.25, 16, False, 1.05), anchors=ANCHORS, class_num=2, conf_thresh=0.25,
     downsample_ratio=16, clip_bbox=False, scale_x_y=1.05)
AWARE = drawn(1, 16, 2, 2, seed=81)
case("yolo-box-iou", "yolo_box", {"X": AWARE, "ImgSize": Array([1, 2], [64, 64], paddle.INT32)}, yolo(AWARE, Array([1, 2], [64, 64]), ANCHORS, 2, 0.5, iou=0.25), anchors=ANCHORS,
     class_num=2, conf_thresh=0.5, downsample_ratio=32, iou_aware=True, iou_aware_factor=0.25)


def priors(grid, pixels, extents, steps, offset, clips):
    """Boxes [H, W, boxes a cell, 4] from half extents."""
    def one(h, w, k, c):
        middle = ((w + offset) * steps[1], (h + offset) * steps[0])[c % 2]
        part = (middle + (-1 if c < 2 else 1) * extents[k][c % 2]) / pixels[1 - c % 2]
        return clamp(part, 0, 1) if clips else part
    return made([*grid, len(extents), 4], one)


def half(size, ratio):
    return (size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)


SQUARE = math.sqrt(4 * 9) / 2
case("prior-box", "prior_box", {"Input": drawn(1, 1, 2, 3), "Image": drawn(1, 1, 12, 18)},
     {"Boxes": priors([2, 3], [12, 18], [half(4, 1), half(4, 2), half(4, 0.5), (SQUARE, SQUARE)], [6, 6], 0.5, True),
      "Variances": made([2, 3, 4, 4], lambda h, w, k, c: [0.1, 0.1, 0.2, 0.2][c])},
     min_sizes=[4.0], max_sizes=[9.0], aspect_ratios=[1.0, 2.0], flip=True, clip=True, variances=[0.1, 0.1, 0.2, 0.2], step_w=0.0, step_h=0.0, offset=0.5)
case("prior-box-order", "prior_box", {"Input": drawn(1, 1, 2, 3), "Image": drawn(1, 1, 12, 18)},
     {"Boxes": priors([2, 3], [12, 18], [half(4, 1), (SQUARE, SQUARE), half(4, 2)], [5, 7], 0.25, False)},
     min_sizes=[4.0], max_sizes=[9.0], aspect_ratios=[2.0], flip=False, clip=False, step_w=7.0, step_h=5.0, offset=0.25, min_max_aspect_ratios_order=True)

PRIORS = array([[0.0, 0.0, 4.0, 2.0], [1.0, 1.0, 3.0, 5.0], [2.0, 0.5, 5.5, 4.0]])
SPREADS = array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.25, 1.0, 0.125], [1.0, 1.0, 0.5, 0.5]])
CODES, TARGETS = drawn(2, 3, 4, seed=82), array([[0.5, 0.5, 2.5, 3.0], [1.0, 0.0, 6.0, 2.0]])


def decoded(n, m, c, prior, spread, more=0.0):
    axis = c % 2
    extent = PRIORS.at(prior, axis + 2) - PRIORS.at(prior, axis) + more
    middle = PRIORS.at(prior, axis) + extent / 2 + spread(axis) * CODES.at(n, m, axis) * extent
    size = math.exp(spread(axis + 2) * CODES.at(n, m, axis + 2)) * extent
    return middle - size / 2 if c < 2 else middle + size / 2 - more


def encoded(n, m, c, more=0.0):
    axis = c % 2
    extent = PRIORS.at(m, axis + 2) - PRIORS.at(m, axis) + more
    if c < 2:
        middle = PRIORS.at(m, axis) + extent / 2
        return ((TARGETS.at(n, axis) + TARGETS.at(n, axis + 2)) / 2 - middle) / extent / SPREADS.at(m, c)
    return math.log(abs((TARGETS.at(n, axis + 2) - TARGETS.at(n, axis) + more) / extent)) / SPREADS.at(m, c)


case("box-decode", "box_coder", {"PriorBox": PRIORS, "PriorBoxVar": SPREADS, "TargetBox": CODES},
     {"OutputBox": made([2, 3, 4], lambda n, m, c: decoded(n, m, c, m, lambda k: SPREADS.at(m, k)))}, code_type="decode_center_size", box_normalized=True, axis=0)
case("box-decode-pixels", "box_coder", {"PriorBox": PRIORS, "TargetBox": CODES},
     {"OutputBox": made([2, 3, 4], lambda n, m, c: decoded(n, m, c, m, lambda k: [0.1, 0.1, 0.2, 0.2][k], 1.0))}, code_type="decode_center_size", box_normalized=False,
     variance=[0.1, 0.1, 0.2, 0.2])
case("box-decode-rows", "box_coder", {"PriorBox": part(PRIORS, 0, 0, 2), "TargetBox": CODES},
     {"OutputBox": made([2, 3, 4], lambda n, m, c: decoded(n, m, c, n, lambda k: 1.0))}, code_type="decode_center_size", axis=1)
case("box-encode", "box_coder", {"PriorBox": PRIORS, "PriorBoxVar": SPREADS, "TargetBox": TARGETS}, {"OutputBox": made([2, 3, 4], encoded)}, code_type="encode_center_size")

#===--- The best boxes ------------------------------------------------------===#


def overlap(one, other, more):
    """Intersection over union; None for no number."""
    if other[0] > one[2] or other[2] < one[0] or other[1] > one[3] or other[3] < one[1]:
        return 0.0
    wide, tall = min(one[2], other[2]) - max(one[0], other[0]) + more, min(one[3], other[3]) - max(one[1], other[1]) + more
    areas = [0.0 if box[2] < box[0] or box[3] < box[1] else (box[2] - box[0] + more) * (box[3] - box[1] + more) for box in (one, other)]
    union = sum(areas) - wide * tall
    return wide * tall / union if union else None


def best_of_class(boxes, scores, least, most):
    """Numbers of boxes, best first."""
    order = sorted((i for i in range(len(scores)) if scores[i] > least), key=lambda i: -scores[i])
    return order if most < 0 else order[:most]


def kept(boxes, scores, least, most, threshold, more):
    """Those that no better one that is kept itself overlaps."""
    chosen = []
    for i in best_of_class(boxes, scores, least, most):
        shares = [overlap(boxes[i], boxes[j], more) for j in chosen]
        if all(share is not None and share <= threshold for share in shares):
            chosen.append(i)
    return chosen


def decayed(boxes, scores, least, most, more, gaussian=None):
    """(number, score) of each, best first."""
    order, greatest, result = best_of_class(boxes, scores, least, most), [], []
    for k, i in enumerate(order):
        shares = [overlap(boxes[i], boxes[j], more) for j in order[:k]]
        factors = [math.exp((m * m - s * s) * gaussian) if gaussian else (1 - s) / (1 - m) for s, m in zip(shares, greatest)]
        greatest.append(max([0.0, *shares]))
        result.append((i, min([1.0, *factors]) * scores[i]))
    return result


def detections(found, boxes_of, number_of):
    """Results by slot, from (class, score, box) by image."""
    rows = [[float(c), score, *boxes_of(n, c, i)] for n, image in enumerate(found) for c, score, i in image]
    numbers = [number_of(n, c, i) for n, image in enumerate(found) for c, _, i in image]
    return {"Out": Array([len(rows), 6], [x for row in rows for x in row]), "Index": Array([len(rows), 1], numbers, paddle.INT32),
            "NmsRoisNum": ints(*map(len, found))}


def multiclass(boxes, scores, least=0.1, class_most=-1, image_most=-1, threshold=0.5, more=0.0, background=-1):
    """Boxes [B, M, 4] of scores [B, C, M]."""
    found, (images, classes, count) = [], scores.dims
    for n in range(images):
        own = [[boxes.at(n, i, k) for k in range(4)] for i in range(count)]
        image = []
        for c in range(classes):
            if c != background:
                values = [scores.at(n, c, i) for i in range(count)]
                image += [(c, values[i], i) for i in kept(own, values, least, class_most, threshold, more)]
        if image_most >= 0:
            image = sorted(sorted(image, key=lambda row: -row[1])[:image_most], key=lambda row: row[0])
        found.append(image)
    return detections(found, lambda n, c, i: [boxes.at(n, i, k) for k in range(4)], lambda n, c, i: n * count + i)


def corners(*dims, seed, size=1.0):
    """Boxes [*dims, 4] of which many overlap."""
    at, extent = drawn(*dims, 2, seed=f"{seed} at", low=0, high=0.6 * size), drawn(*dims, 2, seed=f"{seed} size", low=0.1 * size, high=0.4 * size)
    return made([*dims, 4], lambda *place: at.at(*place[:-1], place[-1] % 2) + (extent.at(*place[:-1], place[-1] % 2) if place[-1] > 1 else 0.0))


SPOTS, SURE = corners(2, 12, seed="spots"), drawn(2, 3, 12, seed="sure", low=0, high=1)
for name, type_name, slots, attributes, how in (
        ("multiclass-nms", "multiclass_nms", ["Out"], {}, {}),
        ("multiclass-nms2", "multiclass_nms2", ["Out", "Index"], {"background_label": 0}, {"background": 0}),
        ("multiclass-nms3", "multiclass_nms3", ["Out", "Index", "NmsRoisNum"], {"nms_threshold": 0.25}, {"threshold": 0.25}),
        ("multiclass-nms3-top", "multiclass_nms3", ["Out", "Index", "NmsRoisNum"], {"nms_top_k": 5, "keep_top_k": 7}, {"class_most": 5, "image_most": 7}),
        ("multiclass-nms3-pixels", "multiclass_nms3", ["Out", "Index"], {"normalized": False}, {"more": 1.0})):
    expected = multiclass(SPOTS, SURE, **how)
    case(name, type_name, {"BBoxes": SPOTS, "Scores": SURE}, {slot: expected[slot] for slot in slots}, counts_results=True,
         **{"background_label": -1, "score_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1, "nms_threshold": 0.5, "normalized": True, "nms_eta": 1.0, **attributes})
# Boxes without an area that are the same: their overlap is no number.
POINTS = made([1, 2, 4], lambda n, i, k: 0.5)
case("multiclass-nms-points", "multiclass_nms3", {"BBoxes": POINTS, "Scores": array([[[0.5, 0.75]]])}, {"Out": array([[0.0, 0.75, 0.5, 0.5, 0.5, 0.5]])},
     counts_results=True, background_label=-1, score_threshold=0.1, nms_top_k=-1, keep_top_k=-1, nms_threshold=0.5)
LITTLE = {"counts_results": True, "background_label": -1, "score_threshold": 2.0, "nms_top_k": -1, "keep_top_k": -1}
case("multiclass-nms-none", "multiclass_nms", {"BBoxes": SPOTS, "Scores": SURE}, {"Out": array([[-1.0]])}, **LITTLE)
case("multiclass-nms3-none", "multiclass_nms3", {"BBoxes": SPOTS, "Scores": SURE}, {"Out": Array([0, 6], []), "Index": Array([0, 1], [], paddle.INT32), "NmsRoisNum": ints(0, 0)}, **LITTLE)
# Boxes of each class, [M, C, 4], and how many of them are of the first and the second image: listed by number in each class.
OWN, TRUST, SHARES = corners(12, 3, seed="own"), drawn(12, 3, seed="trust", low=0, high=1), [7, 5]


def by_class(image_most):
    found = []
    for start, size in ((0, 7), (7, 5)):
        image = []
        for c in range(1, 3):
            own = {i: [OWN.at(i, c, k) for k in range(4)] for i in range(start, start + size)}
            values = {i: TRUST.at(i, c) for i in own}
            chosen = kept([own[i] for i in own], [values[i] for i in own], 0.2, 4, 0.3, 0.0)
            image += [(c, values[start + i], start + i) for i in sorted(chosen)]
        found.append(sorted(sorted(image, key=lambda row: -row[1])[:image_most], key=lambda row: (row[0], row[2])))
    return detections(found, lambda n, c, i: [OWN.at(i, c, k) for k in range(4)], lambda n, c, i: i * 3 + c)


for image_most in (4, 20):
    case(f"multiclass-nms3-own-{image_most}", "multiclass_nms3", {"BBoxes": OWN, "Scores": TRUST, "RoisNum": ints(*SHARES)}, by_class(image_most),
         counts_results=True, background_label=0, score_threshold=0.2, nms_top_k=4, keep_top_k=image_most, nms_threshold=0.3)


def matrix(most, image_most, gaussian=None, more=0.0, least=0.1, post=0.15):
    found = []
    for n in range(2):
        own = [[SPOTS.at(n, i, k) for k in range(4)] for i in range(12)]
        image = [(c, score, i) for c in range(1, 3) for i, score in decayed(own, [SURE.at(n, c, i) for i in range(12)], least, most, more, gaussian) if score > post]
        image = sorted(image, key=lambda row: -row[1])
        found.append(image if image_most < 0 else image[:image_most])
    return detections(found, lambda n, c, i: [SPOTS.at(n, i, k) for k in range(4)], lambda n, c, i: n * 12 + i)


for name, attributes, how in (("", {}, (-1, -1)), ("-top", {"nms_top_k": 6, "keep_top_k": 5}, (6, 5)), ("-gaussian", {"use_gaussian": True, "gaussian_sigma": 1.5}, (-1, -1, 1.5)),
                              ("-pixels", {"normalized": False}, (-1, -1, None, 1.0))):
    expected = matrix(*how)
    case("matrix-nms" + name, "matrix_nms", {"BBoxes": SPOTS, "Scores": SURE}, {"Out": expected["Out"], "Index": expected["Index"], "RoisNum": expected["NmsRoisNum"]},
         counts_results=True, **{"background_label": 0, "score_threshold": 0.1, "post_threshold": 0.15, "nms_top_k": -1, "keep_top_k": -1, "normalized": True, **attributes})

#===--- Regions by level ----------------------------------------------------===#


def proposals(scores, deltas, sizes, anchors, variances, before, after, threshold, least, more):
    """RpnRois, RpnRoiProbs and how many each image has. RootKernels [H, W, A, 4]."""
    (images, a, h, w), found = scores.dims, []
    for n in range(images):
        tall, wide = sizes.at(n, 0), sizes.at(n, 1)
        regions = []
        for i, j, k in sorted(((i, j, k) for i in range(h) for j in range(w) for k in range(a)), key=lambda at: -scores.at(n, at[2], at[0], at[1]))[:before]:
            box, scaled = [anchors.at(i, j, k, d) for d in range(4)], [variances.at(i, j, k, d) * deltas.at(n, 4 * k + d, i, j) for d in range(4)]
            extents = [box[d + 2] - box[d] + more for d in range(2)]
            middles = [box[d] + extents[d] / 2 + scaled[d] * extents[d] for d in range(2)]
            halves = [math.exp(min(scaled[d + 2], math.log(1000 / 16))) * extents[d] / 2 for d in range(2)]
            edges = [middles[0] - halves[0], middles[1] - halves[1], middles[0] + halves[0] - more, middles[1] + halves[1] - more]
            box = [clamp(edge, 0, (tall if d % 2 else wide) - more) for d, edge in enumerate(edges)]
            spans = [box[2] - box[0] + more, box[3] - box[1] + more]
            if min(spans) >= max(least, 1) and (not more or box[0] + spans[0] / 2 <= wide and box[1] + spans[1] / 2 <= tall):
                regions.append((scores.at(n, k, i, j), box))
        chosen = []
        for score, box in regions:
            if threshold <= 0 or all((overlap(box, other, more) or 0) <= threshold for _, other in chosen):
                chosen.append((score, box))
        found.append(chosen[:after] if threshold > 0 and regions else chosen if regions else [(0.0, [0.0] * 4)])
    rows = [row for image in found for row in image]
    return {"RpnRois": Array([len(rows), 4], [x for _, box in rows for x in box]), "RpnRoiProbs": Array([len(rows), 1], [score for score, _ in rows]),
            "RpnRoisNum": ints(*map(len, found))}


ANCHORED, MOVES, STRETCH = drawn(2, 3, 4, 5, seed="likely", low=0, high=1), drawn(2, 12, 4, 5, seed="moves", low=-1, high=1), drawn(4, 5, 3, 4, seed="stretch", low=0.1, high=0.5)
FRAMES = made([4, 5, 3, 4], lambda i, j, k, d: 8 * (i if d % 2 else j) + (-1 if d < 2 else 1) * (4 + 3 * k + 2 * (d % 2)))
VIEWS = array([[30.0, 40.0], [26.5, 33.0]])
for name, before, after, threshold, least, more in (("", 6000, 1000, 0.5, 0.1, 1.0), ("-top", 30, 8, 0.3, 6.0, 1.0), ("-edges", 40, 10, 0.4, 2.0, 0.0), ("-all", 0, 3, 0.0, 20.0, 1.0),
                                                     ("-none", 0, 5, 0.5, 300.0, 1.0)):
    case("generate-proposals" + name, "generate_proposals_v2", {"Scores": ANCHORED, "BboxDeltas": MOVES, "ImShape": VIEWS, "RootKernels": FRAMES, "Variances": STRETCH},
         proposals(ANCHORED, MOVES, VIEWS, FRAMES, STRETCH, before or 60, after, threshold, least, more), counts_results=True, pre_nms_topN=before,
         post_nms_topN=after, nms_thresh=threshold, min_size=least, eta=1.0, pixel_offset=more == 1)


def collected(regions, scores, counts, most):
    """Results by slot, of levels of regions [R, 4]."""
    rows = [(scores[level].at(r, 0), n, level, r) for level, own in enumerate(counts) for r, n in enumerate(n for n, count in enumerate(own) for _ in range(count))]
    rows = sorted(sorted(rows, key=lambda row: -row[0])[:most], key=lambda row: row[1])
    return {"FpnRois": Array([len(rows), 4], [regions[level].at(r, k) for _, _, level, r in rows for k in range(4)]),
            "RoisNum": ints(*(sum(row[1] == n for row in rows) for n in range(len(counts[0]))))}


FLOORS, SHARED_BY = [corners(size, seed=f"floor {size}") for size in (5, 3, 4)], [[2, 3], [3, 0], [1, 3]]
RATED = [drawn(floor.dims[0], 1, seed=f"rated {floor.dims[0]}", low=0, high=1) for floor in FLOORS]
for most in (7, 100):
    case(f"collect-proposals-{most}", "collect_fpn_proposals", {"MultiLevelRois": FLOORS, "MultiLevelScores": RATED, "MultiLevelRoIsNum": [ints(*own) for own in SHARED_BY]},
         collected(FLOORS, RATED, SHARED_BY, most), post_nms_topN=most)


def distributed(regions, counts, least, most, reference, size, more):
    """Results by slot."""
    levels, images = [], [n for n, count in enumerate(counts) for _ in range(count)]
    for r in range(regions.dims[0]):
        wide, tall = regions.at(r, 2) - regions.at(r, 0), regions.at(r, 3) - regions.at(r, 1)
        area = 0.0 if min(wide, tall) < 0 else (wide + more) * (tall + more)
        levels.append(clamp(math.floor(math.log2(math.sqrt(area) / size + 1e-6) + reference), least, most))
    rows = [[r for r, level in enumerate(levels) if level == each] for each in range(least, most + 1)]
    order = [r for level in rows for r in level]
    return {"MultiFpnRois": [Array([len(level), 4], [regions.at(r, k) for r in level for k in range(4)]) for level in rows],
            "MultiLevelRoIsNum": [ints(*(sum(images[r] == n for r in level) for n in range(len(counts)))) for level in rows],
            "RestoreIndex": Array([len(order), 1], [order.index(r) for r in range(len(order))], paddle.INT32)}


PATCHES = corners(9, seed="patches", size=900.0)
# Just the size of a level, and the wrong way round.
PATCHES = Array([11, 4], [*PATCHES.values, 0.0, 0.0, 447.0, 447.0, 5.0, 5.0, 4.0, 90.0])
LEVELS = {"min_level": 2, "max_level": 5, "refer_level": 4, "refer_scale": 224}
case("distribute", "distribute_fpn_proposals", {"FpnRois": PATCHES, "RoisNum": ints(4, 7)}, distributed(PATCHES, [4, 7], 2, 5, 4, 224, 1.0), counts_results=True, pixel_offset=True, **LEVELS)
WHOLE = distributed(PATCHES, [11], 2, 5, 4, 224, 0.0)
case("distribute-edges", "distribute_fpn_proposals", {"FpnRois": PATCHES}, {slot: WHOLE[slot] for slot in ("MultiFpnRois", "RestoreIndex")}, counts_results=True, pixel_offset=False,
     **LEVELS)

#===--- Films, columns, parts -----------------------------------------------===#

FILM = drawn(4, 4, 2, 3, seed=90)


def shifted(x):
    def one(n, c, h, w):
        t = n % 2 + (-1 if c < 1 else 1 if c < 2 else 0)
        return x.at(n // 2 * 2 + t, c, h, w) if 0 <= t < 2 else 0.0
    return made(x.dims, one)


case("temporal-shift", "temporal_shift", {"X": FILM}, {"Out": shifted(FILM)}, seg_num=2, shift_ratio=0.25, data_format="NCHW", known={"X": [1]})
case("temporal-shift-last", "temporal_shift", {"X": channels_last(FILM)}, {"Out": channels_last(shifted(FILM))}, seg_num=2, shift_ratio=0.25, data_format="NHWC", known={"X": [3]})
SHEET = drawn(1, 2, 4, 5, seed=91)


def column(n, row, window):
    c, i, j = row // 6, row % 6 // 3, row % 3
    h, w = window // 4 * 2 + i * 2 - 1, window % 4 + j - 1
    return SHEET.at(n, c, h, w) if 0 <= h < 4 and 0 <= w < 5 else 0.0


# Windows of 2x3 with dilation [2, 1]; padding is top, left, bottom, right.
case("unfold", "unfold", {"X": SHEET}, {"Y": made([1, 12, 8], column)}, kernel_sizes=[2, 3], strides=[2, 1], paddings=[1, 1, 0, 0], dilations=[2, 1])


def written(value, low, high, step=1, axis=1):
    return made(G.dims, lambda *at: value(*at) if low <= at[axis] < high and (at[axis] - low) % step == 0 else G.at(*at))


case("set-value", "set_value", {"Input": G, "ValueTensor": array([9.0])}, {"Out": written(lambda *at: 9.0, 1, 3)}, axes=paddle.longs(1), starts=paddle.longs(1),
     ends=paddle.longs(2147483647), steps=paddle.longs(1), shape=[1])
case("set-value-numbers", "set_value", {"Input": G}, {"Out": written(lambda a, b, c: c + 0.5, 0, 3, 2)}, axes=[1], starts=[0], ends=[3], steps=[2], shape=[4], dtype=5,
     fp32_values=[0.5, 1.5, 2.5, 3.5])
case("set-value-slice", "set_value", {"Input": G, "ValueTensor": drawn(2, 4, seed=92)}, {"Out": written(lambda a, b, c: drawn(2, 4, seed=92).at(a, c), 2, 3)}, axes=[1],
     starts=[-1], ends=[3], steps=[1], decrease_axes=[1], shape=[1])

case("set-value-end", "set_value", {"Input": G, "ValueTensor": array([9.0])}, {"Out": written(lambda *at: 9.0, 1, 2)}, axes=paddle.longs(1), starts=paddle.longs(-2),
     ends=paddle.longs(-1), steps=paddle.longs(1), shape=[1])
case("set-value-nothing", "set_value", {"Input": G, "ValueTensor": array([9.0])}, {"Out": G}, axes=paddle.longs(1), starts=paddle.longs(2), ends=paddle.longs(1), steps=paddle.longs(2),
     shape=[1])
case("set-value-two", "set_value", {"Input": G, "ValueTensor": array([9.0])}, {"Out": made(G.dims, lambda a, b, c: 9.0 if b > 0 and c % 3 == 1 else G.at(a, b, c))},
     axes=paddle.longs(1, 2), starts=paddle.longs(1, 1), ends=paddle.longs(9, 9), steps=paddle.longs(1, 3), shape=[1])

#===--- Before tensors without dimensions -----------------------------------===#

# What the program declares as [1] is so.
case("whole-sum", "reduce_sum", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], sum).reshape(1)}, reduce_all=True, dim=[0])
case("whole-mean", "mean", {"X": TOKENS}, {"Out": reduced(TOKENS, [0, 1, 2], lambda v: sum(v) / len(v)).reshape(1)})
case("whole-arg-max", "arg_max", {"X": LINES}, {"Out": longs(5)}, flatten=True, axis=0, dtype=3)
case("whole-slice", "slice", {"Input": SIGNED}, {"Out": array([-0.75])}, axes=[0], starts=[2], ends=[3], decrease_axis=[0])
case("whole-product", "matmul", {"X": array([1.0, 2.0]), "Y": array([3.0, 4.0])}, {"Out": array([11.0])})
conv("transposed-same", "conv2d_transpose", SMALLER, UP, transposed_convolution(SMALLER, UP, [2, 2], [1, 1, 0, 0], [1, 1]), strides=[2, 2], dilations=[2, 2],
     padding_algorithm="SAME")
