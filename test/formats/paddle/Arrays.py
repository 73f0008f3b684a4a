"""Small arrays in plain Python, and operators of Paddle on them as its kernels define them, loop by loop."""
import itertools
import math
import random

import PaddleBytes as paddle


class Array:
    """Sizes, elements in row-major order, and the number of their type."""

    def __init__(self, dims, values, element=paddle.FP32):
        self.dims, self.values, self.element = list(dims), list(values), element
        assert math.prod(self.dims) == len(self.values), (self.dims, len(self.values))

    def at(self, *place):
        index = 0
        for size, each in zip(self.dims, place):
            assert 0 <= each < size
            index = index * size + each
        return self.values[index]

    def places(self):
        return itertools.product(*(range(size) for size in self.dims))

    def map(self, function, element=None):
        return Array(self.dims, [function(each) for each in self.values], self.element if element is None else element)

    def reshape(self, *dims):
        return Array(dims, self.values, self.element)

    def transpose(self, *order):
        return made([self.dims[each] for each in order], lambda *place: self.at(*(place[order.index(i)] for i in range(len(order)))), self.element)


def array(nested, element=None):
    """Of nested lists."""
    dims = shape_of(nested)
    flat = nested if dims else [nested]
    for _ in dims[1:]:
        flat = [each for inner in flat for each in inner]
    if element is None:
        kinds = {type(each) for each in flat}
        element = paddle.BOOL if kinds == {bool} else paddle.INT64 if kinds == {int} else paddle.FP32
    return Array(dims, flat, element)


def shape_of(nested):
    return [len(nested)] + (shape_of(nested[0]) if nested else []) if isinstance(nested, list) else []


def made(dims, function, element=paddle.FP32):
    """The array whose element at each place is what FUNCTION gives for it."""
    return Array(dims, [function(*place) for place in itertools.product(*(range(size) for size in dims))], element)


def drawn(*dims, seed=0, low=-2.0, high=2.0):
    """Numbers with few digits, which f32 holds exactly."""
    source = random.Random(str((dims, seed)))
    return Array(dims, [round(source.uniform(low, high) * 64) / 64 for _ in range(math.prod(dims))])


def counted(*dims, element=paddle.FP32):
    return Array(dims, range(math.prod(dims)), element)


def channels_last(x):
    return x.transpose(0, *range(2, len(x.dims)), 1)


#===--- Pools ---------------------------------------------------------------===#

def pool(x, kind, size, strides=None, pads=None, ceil=False, exclusive=True, algorithm="EXPLICIT"):
    """A window at each place; PADS two a dimension, the first dimension first."""
    spatial = len(x.dims) - 2
    strides, pads = strides or [1] * spatial, pads or [0] * 2 * spatial
    if algorithm == "VALID":
        pads = [0] * 2 * spatial
    if algorithm == "SAME":
        pads = []
        for n, k, s in zip(x.dims[2:], size, strides):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            pads += [total // 2, total - total // 2]
    out = []
    for i in range(spatial):
        free = x.dims[2 + i] - size[i] + pads[2 * i] + pads[2 * i + 1]
        out.append((free + (strides[i] - 1 if ceil else 0)) // strides[i] + 1)

    def one(n, c, *place):
        ranges, count = [], 1
        for i, p in enumerate(place):
            start = p * strides[i] - pads[2 * i]
            # The kernel knows the padding at the beginning only.
            end = min(start + size[i], x.dims[2 + i] + pads[2 * i])
            count *= end - start
            start, end = max(start, 0), min(end, x.dims[2 + i])
            ranges.append(range(start, end))
        values = [x.at(n, c, *each) for each in itertools.product(*ranges)]
        if kind == "max":
            return max(values)
        return sum(values) / (len(values) if exclusive else count)
    return made(x.dims[:2] + out, one)


def adaptive_pool(x, kind, out):
    def one(n, c, *place):
        ranges = [range(p * size // o, -(-(p + 1) * size // o)) for p, size, o in zip(place, x.dims[2:], out)]
        values = [x.at(n, c, *each) for each in itertools.product(*ranges)]
        return max(values) if kind == "max" else sum(values) / len(values)
    return made(x.dims[:2] + list(out), one)


#===--- Convolutions --------------------------------------------------------===#

def convolution(x, w, strides, pads, dilations, groups=1):
    """PADS two a dimension."""
    spatial = len(x.dims) - 2
    out = [(x.dims[2 + i] + pads[2 * i] + pads[2 * i + 1] - dilations[i] * (w.dims[2 + i] - 1) - 1) // strides[i] + 1 for i in range(spatial)]
    per_group = w.dims[0] // groups

    def one(n, o, *place):
        total = 0.0
        for each in itertools.product(*(range(size) for size in w.dims[1:])):
            at = [p * s - pads[2 * i] + k * d for i, (p, s, k, d) in enumerate(zip(place, strides, each[1:], dilations))]
            if all(0 <= a < size for a, size in zip(at, x.dims[2:])):
                total += w.at(o, *each) * x.at(n, o // per_group * w.dims[1] + each[0], *at)
        return total
    return made([x.dims[0], w.dims[0]] + out, one)


def transposed_convolution(x, w, strides, pads, dilations, groups=1, more=None):
    """Each element of x adds the filter, times itself, to the result."""
    spatial = len(x.dims) - 2
    more = more or [0] * spatial
    out = [(x.dims[2 + i] - 1) * strides[i] - pads[2 * i] - pads[2 * i + 1] + dilations[i] * (w.dims[2 + i] - 1) + 1 + more[i] for i in range(spatial)]
    result = Array([x.dims[0], w.dims[1] * groups] + out, [0.0] * (x.dims[0] * w.dims[1] * groups * math.prod(out)))
    in_group = x.dims[1] // groups
    for place in x.places():
        n, c, at = place[0], place[1], place[2:]
        for each in itertools.product(*(range(size) for size in w.dims[1:])):
            to = [a * s - pads[2 * i] + k * d for i, (a, s, k, d) in enumerate(zip(at, strides, each[1:], dilations))]
            if all(0 <= t < size for t, size in zip(to, out)):
                index = 0
                for size, t in zip(result.dims, (n, c // in_group * w.dims[1] + each[0], *to)):
                    index = index * size + t
                result.values[index] += x.at(*place) * w.at(c, *each)
    return result


#===--- Interpolation -------------------------------------------------------===#

def taps(mode, count, out, ratio, i, align_corners, align_mode):
    """What result i of OUT is made of: (element of COUNT, weight)."""
    if mode == "nearest":
        return [(min(int(math.floor(ratio * i + 0.5)) if align_corners else int(ratio * i), count - 1), 1.0)]
    if mode == "cubic":
        x = ratio * i if align_corners else ratio * (i + 0.5) - 0.5
        base, a = math.floor(x), -0.75
        t = x - base

        def near(d):
            return ((a + 2) * d - (a + 3)) * d * d + 1

        def far(d):
            return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        weights = [far(t + 1), near(t), near(1 - t), far(2 - t)]
        return [(min(max(base + k - 1, 0), count - 1), weight) for k, weight in enumerate(weights)]
    x = max(ratio * (i + 0.5) - 0.5, 0) if align_mode == 0 and not align_corners else ratio * i
    low = min(int(x), count - 1)
    return [(low, 1 - (x - low)), (min(low + 1, count - 1), x - low)]


def interpolate(x, mode, out, align_corners=False, align_mode=1, scales=None):
    """With SCALES the ratio is 1 / scale (the second generation), else that of the sizes."""
    lines = []
    for i, (count, size) in enumerate(zip(x.dims[2:], out)):
        if align_corners:
            ratio = (count - 1) / (size - 1) if size > 1 else 0.0
        else:
            ratio = (1 / scales[i] if scales else count / size) if size > 1 else 0.0
        lines.append([taps(mode, count, size, ratio, k, align_corners, align_mode) for k in range(size)])

    def one(n, c, *place):
        return sum(math.prod(weight for _, weight in each) * x.at(n, c, *(at for at, _ in each))
                   for each in itertools.product(*(line[p] for line, p in zip(lines, place))))
    return made(x.dims[:2] + list(out), one)


#===--- Others --------------------------------------------------------------===#

def matmul(a, b):
    """Of matrices."""
    return made([a.dims[0], b.dims[1]], lambda i, j: sum(a.at(i, k) * b.at(k, j) for k in range(a.dims[1])))


def broadcast(function, a, b, element=None):
    """An elementwise function; shapes are aligned at their last dimension."""
    rank = max(len(a.dims), len(b.dims))
    one = [1] * (rank - len(a.dims)) + a.dims
    other = [1] * (rank - len(b.dims)) + b.dims
    a, b = a.reshape(*one), b.reshape(*other)
    dims = [max(x, y) for x, y in zip(one, other)]
    return made(dims, lambda *place: function(a.at(*(p if size > 1 else 0 for p, size in zip(place, one))),
                                              b.at(*(p if size > 1 else 0 for p, size in zip(place, other)))),
                a.element if element is None else element)


def reduced(x, axes, function, keep=False):
    axes = [axis % len(x.dims) for axis in axes]
    dims = [1 if i in axes else size for i, size in enumerate(x.dims)]

    def one(*place):
        ranges = [range(x.dims[i]) if i in axes else [p] for i, p in enumerate(place)]
        return function([x.at(*each) for each in itertools.product(*ranges)])
    result = made(dims, one, x.element)
    return result if keep else result.reshape(*(size for i, size in enumerate(dims) if i not in axes))
