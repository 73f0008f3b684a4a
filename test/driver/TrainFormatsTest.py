#!/usr/bin/env python3
# Covers: autodiff Weights
"""`sinter train` on StableHLO and Paddle models, and on models of every floating-point type: the same weights as from the
definition of a step, and the same graph around them."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats", "paddle"))
import OnnxBytes as onnx
import PaddleBytes as paddle
from SinterCommand import DONE, USAGE, main
from TrainTest import CLASSES, FEATURES, SAMPLES, Network, Optimizers, TrainCase, cross_entropy, npy, npz

TOLERANCE = {"f64": 1e-5, "f32": 2e-5, "f16": 1e-3, "bf16": 8e-3}


def dense(values, columns=None):
    rows = [values] if columns is None else [values[i:i + columns] for i in range(0, len(values), columns)]
    text = ", ".join("[" + ", ".join(f"{each:.9e}" for each in row) + "]" for row in rows)
    return text if columns is None else f"[{text}]"


def stablehlo(network, kind="f32"):
    """x w + b, cut off at zero far below, behind arithmetic that every StableHLO exporter writes."""
    t = lambda *sizes: f"tensor<{'x'.join(map(str, [*sizes, kind]))}>"
    w, b = network.weights["w"], network.weights["b"]
    return f"""func.func @main(%x: {t(SAMPLES, FEATURES)} {{sinter.name = "x"}}) -> {t(SAMPLES, CLASSES)} {{
  %least = stablehlo.constant dense<-100.0> : {t(SAMPLES, CLASSES)}
  %scalar = stablehlo.constant dense<0.0> : {t()}
  %w = stablehlo.constant dense<{dense(w, CLASSES)}> : {t(FEATURES, CLASSES)}
  %b = stablehlo.constant dense<{dense(b)}> : {t(CLASSES)}
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({t(SAMPLES, FEATURES)}, {t(FEATURES, CLASSES)}) -> {t(SAMPLES, CLASSES)}
  %s = stablehlo.broadcast_in_dim %b, dims = [1] : ({t(CLASSES)}) -> {t(SAMPLES, CLASSES)}
  %z = stablehlo.add %p, %s : {t(SAMPLES, CLASSES)}
  %o = stablehlo.broadcast_in_dim %scalar, dims = [] : ({t()}) -> {t(SAMPLES, CLASSES)}
  %q = stablehlo.add %z, %o : {t(SAMPLES, CLASSES)}
  %y = stablehlo.maximum %q, %least : {t(SAMPLES, CLASSES)}
  return %y : {t(SAMPLES, CLASSES)}
}}
"""


class TrainFormats(TrainCase):
    def written(self, model, out, *options, data=None):
        """Trains MODEL into OUT, and returns what was said on standard error."""
        done = self.sinter("train", model, "--data", data or self.data(), "-o", out, "--no-shuffle", "--no-cache", "--batch", str(SAMPLES), *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stderr

    def text(self, model):
        """MODEL as StableHLO text."""
        out = self.path("as.mlir")
        done = self.sinter("convert", model, "-o", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(out) as file:
            return file.read()

    def weights_in(self, text):
        """Constants with a dimension, in the order of the file, and the text without their numbers."""
        pattern = re.compile(r"dense<(\[[^>]*\])> : (tensor<\w+>)")
        values = [[float(each) for each in re.findall(r"[-+.\dEe]+", found[1])] for found in pattern.finditer(text)]
        return values, pattern.sub(r"dense<> : \2", text)

    def wanted(self, network, rule=Optimizers.sgd, rate=0.5, steps=1):
        return self.stepped(network, lambda scores: cross_entropy(scores, self.labels), rule, rate, steps)

    def test_stablehlo(self):
        """Text and artifacts: names by position, and everything but the weights as it was."""
        network = Network()
        model = self.write("net.mlir", stablehlo(network))
        artifact = self.path("net.mlirbc")
        self.assertEqual(self.sinter("convert", model, "-o", artifact).returncode, DONE)
        wanted = self.wanted(network)
        for source, out in (model, "out.mlir"), (artifact, "out.mlirbc"):
            with self.subTest(out):
                said = self.written(source, self.path(out), "--lr", "0.5")
                self.assertIn("constant.0 (--trainable", said)
                got, rest = self.weights_in(self.text(self.path(out)))
                self.close(dict(zip("wb", got)), wanted)
                self.assertEqual(rest, self.weights_in(self.text(source))[1])
        compared = self.sinter("compare", model, self.path("out.mlir"))
        self.assertIn("2 intermediate tensors compared, 2 differ", compared.stdout, compared.stderr)

    def test_stablehlo_names(self):
        network = Network()
        model, out = self.write("net.mlir", stablehlo(network)), self.path("out.mlir")
        self.written(model, out, "--lr", "0.5", "--frozen", "constant.1")
        got, _ = self.weights_in(self.text(out))
        self.close({"w": got[0], "b": got[1]}, {"w": network.weights["w"], "b": self.wanted(network)["b"]}, 1e-6)
        self.expect_error(USAGE, "train", model, "--data", self.data(), "-o", out, "--force", "--frozen", "constant.*", mentions=["no weight to train"])
        # What is all one number is trained if it is asked for. Nothing reaches this one, so its gradient is 0.
        said = self.written(model, out, "--lr", "0.5", "--force", "--trainable", "constant.[01]")
        self.assertNotIn("asks for", said)
        with open(out) as file:
            self.assertIn("dense<-1.000000e+02>", file.read())
        # Names in the file go before positions.
        named = stablehlo(network).replace("%w = stablehlo.constant", '%w = stablehlo.constant {sinter.name = "kernel"}')
        self.expect_error(USAGE, "train", self.write("named.mlir", named), "--data", self.data(), "-o", out, "--force", "--frozen", "kernel", mentions=["no weight to train"])

    def test_types(self):
        """Narrow weights follow a copy in f32: ten steps lose nothing that one does not."""
        for kind in "f64", "f16", "bf16":
            for rule, options in (Optimizers.sgd, []), (Optimizers.adam, ["--optimizer", "adam"]):
                with self.subTest(kind=kind, rule=rule.__name__):
                    network = Network()
                    size = {"f64": "f8", "f16": "f2"}.get(kind)
                    x = npy([SAMPLES, FEATURES], self.x) if size is None else self.reals(size)
                    if kind == "bf16":
                        text = self.bfloat_input(network)
                    else:
                        text = stablehlo(network, kind)
                    data = self.write("typed.npz", npz(x=x, target=npy([SAMPLES], self.labels, "i8")))
                    out = self.path(f"{kind}.mlir")
                    self.written(self.write("typed.mlir", text), out, "--lr", "0.05", "--epochs", "10", "--force", *options, data=data)
                    got, _ = self.weights_in(self.text(out))
                    self.close(dict(zip("wb", got)), self.wanted(network, rule, 0.05, 10), TOLERANCE[kind])

    def reals(self, kind):
        header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({SAMPLES}, {FEATURES}), }}"
        header += " " * (63 - (10 + len(header)) % 64) + "\n"
        letter = {"f8": "d", "f2": "e"}[kind]
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + struct.pack(f"<{len(self.x)}{letter}", *self.x)

    def test_softmax_of_another_width(self):
        """A Gemm with a bias and a softmax within casts: the softmax is seen behind the last of them."""
        to = lambda kind: onnx.data(5, onnx.data(1, "to") + onnx.number(3, kind) + onnx.number(20, 2))
        axis = onnx.data(5, onnx.data(1, "axis") + onnx.number(3, 1) + onnx.number(20, 2))
        for name, kind, letter in ("f16", 10, "e"), ("f64", 11, "d"):
            with self.subTest(name):
                network = Network()
                tensors = [onnx.tensor(each, network.shapes()[each], struct.pack(f"<{len(values)}{letter}", *values), kind) for each, values in network.weights.items()]
                nodes = [onnx.node("Cast", ["x"], ["h"], "narrow", attributes=to(kind)), onnx.node("Gemm", ["h", "w", "b"], ["z"], "gemm"),
                         onnx.node("Softmax", ["z"], ["p"], "softmax", attributes=axis), onnx.node("Cast", ["p"], ["y"], "wide", attributes=to(onnx.FLOAT))]
                model = self.write("net.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("y", ["N", CLASSES])], tensors), 15))
                self.written(model, self.path("out.onnx"), "--lr", "0.5")
                got, _ = self.weights_in(self.text(self.path("out.onnx")))
                self.close(dict(zip("bw", sorted(got, key=len))), self.wanted(network), TOLERANCE[name])

    def bfloat_input(self, network):
        """NumPy has no bf16: the input is converted in the graph."""
        wide, narrow = f"tensor<{SAMPLES}x{FEATURES}xf32>", f"tensor<{SAMPLES}x{FEATURES}xbf16>"
        text = stablehlo(network, "bf16").replace(f'%x: {narrow}', f'%v: {wide}')
        return text.replace("  %least", f"  %x = stablehlo.convert %v : ({wide}) -> {narrow}\n  %least", 1)

    def paddle_program(self, network):
        program = paddle.Program()
        program.input("x", [-1, FEATURES])
        program.parameter("w", [FEATURES, CLASSES], network.weights["w"])
        program.parameter("b", [CLASSES], network.weights["b"])
        program.op("mul", {"X": "x", "Y": "w"}, {"Out": "p"}, x_num_col_dims=1, y_num_col_dims=1)
        program.op("elementwise_add", {"X": "p", "Y": "b"}, {"Out": "z"}, axis=-1)
        program.output("z")
        program.save(self.folder)
        return self.path("inference.pdmodel")

    def scores(self, model):
        """What MODEL gives for the samples."""
        x, out = self.write("x.npy", npy([SAMPLES, FEATURES], self.x)), self.path("scores")
        done = self.sinter("run", model, "--input", x, "--no-cache", "--output-dir", out)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(os.path.join(out, "z.npy"), "rb") as file:
            return struct.unpack(f"<{SAMPLES * CLASSES}f", file.read()[-4 * SAMPLES * CLASSES:])

    def test_paddle_runs(self):
        """What is trained has the form that it had, runs, and is trained on; in both eras."""
        network = Network()
        older = self.paddle_program(network)
        newer = self.path("net.json")
        self.assertEqual(self.sinter("convert", older, "-o", newer).returncode, DONE)
        for model, form in (older, "pdmodel"), (newer, "json"):
            with self.subTest(form):
                first, second = self.path("first." + form), self.path("second." + form)
                self.written(model, first, "--lr", "0.5")
                self.written(first, second, "--lr", "0.5")
                for trained, steps in (first, 1), (second, 2):
                    weights = self.wanted(network, steps=steps)
                    wanted = [sum(self.x[row * FEATURES + i] * weights["w"][i * CLASSES + column] for i in range(FEATURES)) + weights["b"][column]
                              for row in range(SAMPLES) for column in range(CLASSES)]
                    self.close({"z": self.scores(trained)}, {"z": wanted})
                with open(first, "rb") as file:
                    self.assertEqual(file.read(1) == b"{", form == "json")

    def test_paddle_step(self):
        """The step of a program gives the same new weights as that of the network in ONNX."""
        network = Network()
        models = {"paddle": self.paddle_program(network), "onnx": self.write("net.onnx", network.onnx())}
        results = {}
        for name, model in models.items():
            step, out = self.path(name + ".mlir"), self.path(name + "-out")
            done = self.sinter("train", model, "--data", self.data(), "--batch", str(SAMPLES), "--lr", "0.5", "--write-step", step)
            self.assertEqual(done.returncode, DONE, done.stderr)
            arguments = [self.write("x.npy", npy([SAMPLES, FEATURES], self.x)),
                         *(self.write(each + ".npy", npy(network.shapes()[each], network.weights[each])) for each in ("w", "b")),
                         self.write("target.npy", npy([SAMPLES], self.labels, "i8")), self.write("rate.npy", npy([], [0.5]))]
            done = self.sinter("run", step, *(word for each in arguments for word in ("--input", each)), "--output-dir", out)
            self.assertEqual(done.returncode, DONE, done.stderr)
            results[name] = {}
            for number, each in ((4, "w"), (5, "b")):
                with open(f"{out}/result{number}.npy", "rb") as file:
                    count = len(network.weights[each])
                    results[name][each] = struct.unpack(f"<{count}f", file.read()[-4 * count:])
        self.close(results["paddle"], results["onnx"])
        self.close(results["paddle"], self.wanted(network))

    def test_paddle(self):
        network = Network()
        self.paddle_program(network)
        out = self.path("out")
        os.makedirs(out)
        model, trained = self.path("inference.pdmodel"), os.path.join(out, "inference.pdmodel")
        self.written(model, trained, "--lr", "0.5")
        got, rest = self.weights_in(self.text(trained))
        self.close(dict(zip("bw", sorted(got, key=len))), self.wanted(network))
        self.assertEqual(rest, self.weights_in(self.text(model))[1])
        with open(model, "rb") as a, open(trained, "rb") as b:
            self.assertEqual(self.kinds(a.read()), self.kinds(b.read()))

    def test_what_nodes_give_is_no_weight_anywhere(self):
        """A factor that a Constant gives stays what it is, also behind a conversion, and behind training in every form."""
        network, factor = Network(), [1.5, -0.5, 0.75, 2.0]
        given = onnx.data(5, onnx.data(1, "value") + onnx.data(5, onnx.tensor("", [CLASSES], onnx.floats(*factor))) + onnx.number(20, 4))
        tensors = [onnx.tensor(each, network.shapes()[each], onnx.floats(*values)) for each, values in network.weights.items()]
        nodes = [onnx.node("Constant", [], ["f"], "factor", attributes=given), onnx.node("Gemm", ["x", "w", "b"], ["z"], "gemm"), onnx.node("Mul", ["z", "f"], ["y"], "mul")]
        model = self.write("net.onnx", onnx.model(onnx.graph(nodes, [onnx.value_info("x", ["N", FEATURES])], [onnx.value_info("y", ["N", CLASSES])], tensors), 13))
        sources = {form: self.path("as." + form) for form in ("onnx", "pdmodel", "json")}
        for source in sources.values():
            self.assertEqual(self.sinter("convert", model, "-o", source).returncode, DONE)
        results = []
        for form, source in sources.items():
            with self.subTest(form):
                first, second = self.path("first." + form), self.path("second." + form)
                self.assertIn(": f (--trainable", self.written(source, first, "--lr", "0.5"))
                self.written(first, second, "--lr", "0.5")
                values, _ = self.weights_in(self.text(second))
                self.assertEqual([each for each in values if each in (factor, factor * SAMPLES)], [factor], values)
                results.append(sorted((each for each in values if each != factor), key=len))
        for other in results[1:]:
            for got, wanted in zip(other, results[0]):
                self.close({"weight": got}, {"weight": wanted})
        self.assertNotEqual(results[0][0], network.weights["b"])

    def kinds(self, program):
        """The operators of a program, in order."""
        return [bytes(value).decode() for field, block in onnx.fields(program) if field == 1
                for inner, op in onnx.fields(block) if inner == 4 for name, value in onnx.fields(op) if name == 3]


if __name__ == "__main__":
    main()
