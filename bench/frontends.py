#!/usr/bin/env python3
"""Two networks, each as ONNX (channels first) and as the StableHLO that JAX
exports (channels last, everything spelt out), with the same weights: the results
must agree, and so should the times.

    bench/frontends.py --sinter build/bin/sinter [--folder DIR] [--rounds N]

Writes NAME.onnx and NAME.mlir into the folder (a temporary one if none is given)
and prints a row a network; with --rounds 0 it only compares the results. Needs numpy and onnx (else the
exit code is 77).
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    raise SystemExit(77)


class Onnx:
    """An ONNX graph under construction."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, *inputs, **attributes):
        output = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def write(self, path, shape, result, result_shape):
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, result_shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, path)


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Hlo:
    """A StableHLO function under construction; a value is (name, shape)."""

    def __init__(self, shape):
        self.lines, self.count = [], 0
        self.x = ("%arg0", tuple(shape))

    def line(self, text, shape, element="f32"):
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"    {name} = stablehlo.{text}")
        return (name, tuple(shape))

    def constant(self, array):
        array = np.ascontiguousarray(array, dtype=np.float32)
        if array.size == 1:
            return self.line(f"constant dense<{float(array.flat[0]):.9e}> : {tensor(array.shape)}", array.shape)
        return self.line(f'constant dense<"0x{array.tobytes().hex().upper()}"> : {tensor(array.shape)}', array.shape)

    def scalar(self, text):
        return self.line(f"constant dense<{text}> : tensor<f32>", ())

    def broadcast(self, value, dims, shape):
        return self.line(f"broadcast_in_dim {value[0]}, dims = {list(dims)} : "
                         f"({tensor(value[1])}) -> {tensor(shape)}", shape)

    def splat(self, text, shape):
        return self.broadcast(self.scalar(text), [], shape)

    def unary(self, op, value):
        return self.line(f"{op} {value[0]} : {tensor(value[1])}", value[1])

    def binary(self, op, a, b):
        return self.line(f"{op} {a[0]}, {b[0]} : {tensor(a[1])}", a[1])

    def reshape(self, value, shape):
        return self.line(f"reshape {value[0]} : ({tensor(value[1])}) -> {tensor(shape)}", shape)

    def transpose(self, value, dims):
        shape = [value[1][d] for d in dims]
        return self.line(f"transpose {value[0]}, dims = {list(dims)} : ({tensor(value[1])}) -> {tensor(shape)}", shape)

    def reduce(self, op, start, value, dims):
        shape = [size for i, size in enumerate(value[1]) if i not in dims]
        init = self.scalar(start)
        return self.line(f"reduce({value[0]} init: {init[0]}) applies stablehlo.{op} across dimensions = {list(dims)} : "
                         f"({tensor(value[1])}, tensor<f32>) -> {tensor(shape)}", shape)

    def window(self, op, start, value, window, strides, padding):
        shape = [(size + low + high - w) // s + 1
                 for size, w, s, (low, high) in zip(value[1], window, strides, padding)]
        init = self.scalar(start)
        pads = str([list(pair) for pair in padding])
        return self.line(
            f'reduce_window"({value[0]}, {init[0]}) <{{padding = dense<{pads}> : tensor<{len(window)}x2xi64>, '
            f"window_dimensions = array<i64: {', '.join(map(str, window))}>, "
            f"window_strides = array<i64: {', '.join(map(str, strides))}>}}> ({{\n"
            f"    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n      %c = stablehlo.{op} %a, %b : tensor<f32>\n"
            f"      stablehlo.return %c : tensor<f32>\n    }}) : ({tensor(value[1])}, tensor<f32>) -> {tensor(shape)}",
            shape)

    def dot(self, a, b, batch, contract):
        (ab, bb), (ac, bc) = batch, contract
        shape = ([a[1][d] for d in ab] + [size for d, size in enumerate(a[1]) if d not in ab + ac]
                 + [size for d, size in enumerate(b[1]) if d not in bb + bc])
        batching = f"batching_dims = {ab} x {bb}, " if ab else ""
        return self.line(f"dot_general {a[0]}, {b[0]}, {batching}contracting_dims = {ac} x {bc}, "
                         f"precision = [DEFAULT, DEFAULT] : ({tensor(a[1])}, {tensor(b[1])}) -> {tensor(shape)}", shape)

    def write(self, path, result):
        body = "\n".join(line.replace("stablehlo.reduce_window\"", "\"stablehlo.reduce_window\"") for line in self.lines)
        path.write_text(
            'module @jit_net attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n'
            f'  func.func public @main(%arg0: {tensor(self.x[1])}) -> ({tensor(result[1])} {{jax.result_info = ""}}) {{\n'
            f"{body}\n    return {result[0]} : {tensor(result[1])}\n  }}\n}}\n")


class Convolutional:
    """A small residual network with batch norms."""
    name = "convolutional"
    size, widths, classes = 112, (32, 64, 128), 100

    def __init__(self):
        self.random = np.random.default_rng(1)

    def normal(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def plan(self):
        """(channels in, channels out, stride) of each residual block."""
        blocks, last = [], self.widths[0]
        for width in self.widths:
            stride = 1 if width == last else 2
            blocks.append((last, width, stride))
            last = width
        return blocks

    def draw(self, channels_in, channels_out, taps):
        kernel = self.normal(channels_out, channels_in, taps, taps, scale=(channels_in * taps * taps) ** -0.5)
        return (kernel, 1 + self.normal(channels_out, scale=0.1), self.normal(channels_out, scale=0.1),
                self.normal(channels_out, scale=0.1), 1 + np.abs(self.normal(channels_out, scale=0.1)))

    def onnx(self, path):
        self.random, net = np.random.default_rng(1), Onnx()

        def block(x, channels_in, channels_out, taps, stride):
            kernel, *norm = self.draw(channels_in, channels_out, taps)
            pad = taps // 2
            x = net.op("Conv", x, net.weight(kernel), strides=[stride] * 2, pads=[pad] * 4)
            return net.op("BatchNormalization", x, *map(net.weight, norm), epsilon=1e-5)

        x = net.op("Relu", block("x", 3, self.widths[0], 7, 2))
        x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        for channels_in, channels_out, stride in self.plan():
            y = net.op("Relu", block(x, channels_in, channels_out, 3, stride))
            y = block(y, channels_out, channels_out, 3, 1)
            short = x if stride == 1 else block(x, channels_in, channels_out, 1, stride)
            x = net.op("Relu", net.op("Add", y, short))
        x = net.op("Flatten", net.op("GlobalAveragePool", x))
        last = self.normal(self.widths[-1], self.classes, scale=self.widths[-1] ** -0.5)
        x = net.op("Gemm", x, net.weight(last), net.weight(self.normal(self.classes)))
        net.write(path, [1, 3, self.size, self.size], net.op("Softmax", x, axis=-1), [1, self.classes])

    def hlo(self, path):
        self.random, net = np.random.default_rng(1), Hlo((1, self.size, self.size, 3))

        def block(x, channels_in, channels_out, taps, stride):
            kernel, scale, offset, mean, variance = self.draw(channels_in, channels_out, taps)
            pad = taps // 2
            k = net.constant(kernel.transpose(2, 3, 1, 0))
            side = (x[1][1] + 2 * pad - taps) // stride + 1
            shape = (1, side, side, channels_out)
            x = net.line(
                f"convolution({x[0]}, {k[0]}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
                f"{{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}} "
                f"{{batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
                f"precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}} : "
                f"({tensor(x[1])}, {tensor(k[1])}) -> {tensor(shape)}", shape)
            # flax.linen.BatchNorm with running statistics.
            wide = lambda value: net.broadcast(net.reshape(value, (1, 1, 1, channels_out)), [0, 1, 2, 3], shape)
            centred = net.binary("subtract", x, wide(net.constant(mean)))
            spread = net.binary("add", net.constant(variance), net.splat("1.000000e-05", (channels_out,)))
            factor = net.binary("multiply", net.reshape(net.unary("rsqrt", spread), (1, 1, 1, channels_out)),
                                net.reshape(net.constant(scale), (1, 1, 1, channels_out)))
            scaled = net.binary("multiply", centred, net.broadcast(factor, [0, 1, 2, 3], shape))
            return net.binary("add", scaled, wide(net.constant(offset)))

        relu = lambda x: net.binary("maximum", x, net.splat("0.000000e+00", x[1]))
        x = relu(block(net.x, 3, self.widths[0], 7, 2))
        x = net.window("maximum", "0xFF800000", x, [1, 3, 3, 1], [1, 2, 2, 1], [(0, 0), (1, 1), (1, 1), (0, 0)])
        for channels_in, channels_out, stride in self.plan():
            y = relu(block(x, channels_in, channels_out, 3, stride))
            y = block(y, channels_out, channels_out, 3, 1)
            short = x if stride == 1 else block(x, channels_in, channels_out, 1, stride)
            x = relu(net.binary("add", y, short))
        count = x[1][1] * x[1][2]
        x = net.reduce("add", "0.000000e+00", x, [1, 2])
        x = net.binary("divide", x, net.splat(f"{count:.6e}", x[1]))
        last = self.normal(self.widths[-1], self.classes, scale=self.widths[-1] ** -0.5)
        bias = self.normal(self.classes)
        x = net.dot(x, net.constant(last), ([], []), ([1], [0]))
        x = net.binary("add", x, net.broadcast(net.reshape(net.constant(bias), (1, self.classes)), [0, 1], x[1]))
        net.write(path, softmax(net, x))

    def inputs(self):
        x = np.random.default_rng(2).standard_normal((1, 3, self.size, self.size)).astype(np.float32)
        return x, np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def softmax(net, x):
    """jax.nn.softmax over the last dimension."""
    kept = x[1][:-1] + (1,)
    rank = len(x[1])
    largest = net.reduce("maximum", "0xFF800000", x, [rank - 1])
    largest = net.binary("maximum", net.splat("0xFF800000", largest[1]), largest)
    largest = net.broadcast(largest, range(rank - 1), kept)
    powers = net.unary("exponential", net.binary("subtract", x, net.broadcast(largest, range(rank), x[1])))
    total = net.broadcast(net.reduce("add", "0.000000e+00", powers, [rank - 1]), range(rank - 1), kept)
    return net.binary("divide", powers, net.broadcast(total, range(rank), x[1]))


class Encoder:
    """A transformer's encoder block."""
    name = "encoder"
    length, width, heads, hidden = 128, 256, 8, 1024

    def draw(self):
        random = np.random.default_rng(3)
        normal = lambda *shape, scale=1.0: (random.standard_normal(shape) * scale).astype(np.float32)
        w, h = self.width, self.hidden
        return {
            **{name: normal(w, w, scale=w ** -0.5) for name in ("q", "k", "v", "o")},
            **{name + "b": normal(w, scale=0.1) for name in ("q", "k", "v", "o")},
            "up": normal(w, h, scale=w ** -0.5), "upb": normal(h, scale=0.1),
            "down": normal(h, w, scale=h ** -0.5), "downb": normal(w, scale=0.1),
            **{name: 1 + normal(w, scale=0.1) for name in ("s1", "s2")},
            **{name: normal(w, scale=0.1) for name in ("b1", "b2")},
        }

    def onnx(self, path):
        net, w = Onnx(), self.draw()
        deep = self.width // self.heads
        dense = lambda x, name: net.op("Add", net.op("MatMul", x, net.weight(w[name])), net.weight(w[name + "b"]))
        split = net.weight(np.array([1, self.length, self.heads, deep], dtype=np.int64))
        head = lambda x, order: net.op("Transpose", net.op("Reshape", x, split), perm=order)
        norm = lambda x, i: net.op("LayerNormalization", x, net.weight(w["s" + i]), net.weight(w["b" + i]),
                                   axis=-1, epsilon=1e-6)
        q, k, v = (head(dense("x", name), order)
                   for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])))
        scale = net.weight(np.array(deep ** -0.5, dtype=np.float32))
        scores = net.op("Softmax", net.op("MatMul", net.op("Mul", q, scale), k), axis=-1)
        mixed = net.op("Transpose", net.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        joined = net.op("Reshape", mixed, net.weight(np.array([1, self.length, self.width], dtype=np.int64)))
        x = norm(net.op("Add", "x", dense(joined, "o")), "1")
        y = dense(x, "up")
        number = lambda value: net.weight(np.array(value, dtype=np.float32))
        cubed = net.op("Mul", net.op("Mul", y, y), y)
        inner = net.op("Mul", number((2 / np.pi) ** 0.5), net.op("Add", y, net.op("Mul", number(0.044715), cubed)))
        y = net.op("Mul", y, net.op("Mul", number(0.5), net.op("Add", number(1.0), net.op("Tanh", inner))))
        x = norm(net.op("Add", x, dense(y, "down")), "2")
        shape = [1, self.length, self.width]
        net.write(path, shape, x, shape)

    def hlo(self, path):
        net, w = Hlo((1, self.length, self.width)), self.draw()
        deep, rows = self.width // self.heads, (1, self.length)

        def wide(array, shape):
            ones = (1,) * (len(shape) - array.ndim)
            value = net.reshape(net.constant(array), ones + array.shape)
            return net.broadcast(value, range(len(shape)), shape)

        def dense(x, kernel, bias, contract):
            y = net.dot(x, net.constant(kernel), ([], []), (contract, list(range(len(contract)))))
            return net.binary("add", y, wide(bias, y[1]))

        def norm(x, i):
            # flax.linen.LayerNorm: the variance is the mean of squares less the square of the mean.
            count = lambda value: net.binary("divide", value, net.splat(f"{self.width:.6e}", value[1]))
            mean = count(net.reduce("add", "0.000000e+00", x, [2]))
            squares = count(net.reduce("add", "0.000000e+00", net.binary("multiply", x, x), [2]))
            variance = net.binary("subtract", squares, net.binary("multiply", mean, mean))
            variance = net.binary("maximum", net.splat("0.000000e+00", variance[1]), variance)
            kept = lambda value: net.reshape(value, rows + (1,))
            centred = net.binary("subtract", x, net.broadcast(kept(mean), [0, 1, 2], x[1]))
            spread = kept(variance)
            factor = net.unary("rsqrt", net.binary("add", spread, net.splat("1.000000e-06", spread[1])))
            scale = wide(w["s" + i], x[1])
            factor = net.binary("multiply", net.broadcast(factor, [0, 1, 2], x[1]), scale)
            return net.binary("add", net.binary("multiply", centred, factor), wide(w["b" + i], x[1]))

        heads = lambda array: array.reshape(array.shape[:-1] + (self.heads, deep))
        q, k, v = (dense(net.x, heads(w[name]), heads(w[name + "b"]), [2]) for name in "qkv")
        q = net.binary("divide", q, net.splat(f"{deep ** 0.5:.9e}", q[1]))
        scores = net.dot(q, k, ([0, 2], [0, 2]), ([3], [3]))
        scores = softmax(net, scores)
        # einsum('...hqk,...khd->...qhd') of flax.linen.dot_product_attention
        mixed = net.transpose(net.dot(v, scores, ([0, 2], [0, 1]), ([1], [3])), [0, 3, 1, 2])
        out = dense(mixed, w["o"].reshape(self.heads, deep, self.width), w["ob"], [2, 3])
        x = norm(net.binary("add", net.x, out), "1")
        y = dense(x, w["up"], w["upb"], [2])
        # jax.nn.gelu(approximate=True)
        cubed = net.binary("multiply", net.binary("multiply", y, y), y)
        inner = net.binary("add", y, net.binary("multiply", net.splat("4.471500e-02", y[1]), cubed))
        inner = net.unary("tanh", net.binary("multiply", net.splat("0.797884583", y[1]), inner))
        half = net.binary("multiply", net.splat("5.000000e-01", y[1]),
                          net.binary("add", net.splat("1.000000e+00", y[1]), inner))
        x = norm(net.binary("add", x, dense(net.binary("multiply", y, half), w["down"], w["downb"], [2])), "2")
        net.write(path, x)

    def inputs(self):
        x = np.random.default_rng(4).standard_normal((1, self.length, self.width)).astype(np.float32)
        return x, x


NETWORKS = (Convolutional, Encoder)


def write(network, folder):
    """The two files and their inputs."""
    forms = {}
    for form, array in zip(("onnx", "mlir"), network.inputs()):
        model, inputs = folder / f"{network.name}.{form}", folder / f"{network.name}-{form}.npy"
        (network.onnx if form == "onnx" else network.hlo)(model)
        np.save(inputs, array)
        forms[form] = (model, inputs)
    return forms


def outputs(sinter, model, inputs, folder):
    target = folder / (model.name + "-out")
    subprocess.run([sinter, "run", model, "--input", inputs, "--output-dir", target], check=True,
                   stdout=subprocess.DEVNULL)
    return [np.load(path) for path in sorted(target.glob("*.npy"))]


def least(sinter, model, seconds, threads):
    done = subprocess.run([sinter, "bench", model, "--seconds", str(seconds), "--threads", str(threads), "--json"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["latency_ms"]["min"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default="build/bin/sinter")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print("| network | ONNX, ms | StableHLO, ms | ratio | largest difference |\n|---|---|---|---|---|")
        for network in NETWORKS:
            forms = write(network(), folder)
            onnx_out, hlo_out = (outputs(options.sinter, *forms[form], folder)[0] for form in ("onnx", "mlir"))
            difference = np.max(np.abs(onnx_out - hlo_out)) / np.max(np.abs(onnx_out))
            if difference > 1e-4:
                raise SystemExit(f"{network.name}: the results differ by {difference:.1e} of the largest")
            if options.rounds == 0:
                continue
            # In turn, so that a change of the machine's speed meets both; the least is what the code can do.
            times = {form: [] for form in forms}
            for _ in range(options.rounds):
                for form, (model, _) in forms.items():
                    times[form].append(least(options.sinter, model, options.seconds, options.threads))
            a, b = min(times["onnx"]), min(times["mlir"])
            print(f"| {network.name} | {a:.3f} | {b:.3f} | {b / a:.3f} | {difference:.1e} |")


if __name__ == "__main__":
    main()
