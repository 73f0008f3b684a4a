#!/usr/bin/python3
"""What `sinter run` on many samples or steps takes beside as many runs of `sinter bench`.

  bench/streams.py [--sinter FILE] [--model FILE.onnx --input 1x3x224x224] [--samples N] [--steps N] [--rounds N]

A stream: a network of the size of a voice-activity detector, with a recurrent state, on N windows of an array; at most 1.5
times the time of the runs. Pictures: N JPEG files through FILE (default: a small network); at most 1.2 times the time of the
runs and of decoding (by Pillow, one after the other). The least of the rounds counts on both sides. Needs numpy, onnx and Pillow.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from PIL import Image
except ImportError as missing:
    print(f"streams.py: skipped: {missing}")
    sys.exit(77)

WINDOW, HIDDEN = 512, 128


def weight(generator, name, *shape):
    return numpy_helper.from_array(generator.normal(0, 0.05, shape).astype(numpy.float32), name)


def detector(path):
    """Windows of sound to a probability: a filter bank, two convolutions and a recurrent cell with a state."""
    generator = numpy.random.default_rng(1)
    constants = [weight(generator, "bank", 130, 1, 256), weight(generator, "k1", 64, 130, 3), weight(generator, "k2", HIDDEN, 64, 3),
                 weight(generator, "w", 1, 4 * HIDDEN, HIDDEN), weight(generator, "r", 1, 4 * HIDDEN, HIDDEN), weight(generator, "d", HIDDEN, 1),
                 numpy_helper.from_array(numpy.array([0], numpy.int64), "zero"), numpy_helper.from_array(numpy.array([1], numpy.int64), "one")]
    nodes = [
        helper.make_node("Unsqueeze", ["x", "one"], ["sound"]),
        helper.make_node("Conv", ["sound", "bank"], ["spectrum"], strides=[64]),
        helper.make_node("Relu", ["spectrum"], ["s"]),
        helper.make_node("Conv", ["s", "k1"], ["c1"], pads=[1, 1]), helper.make_node("Relu", ["c1"], ["a1"]),
        helper.make_node("Conv", ["a1", "k2"], ["c2"], pads=[1, 1]), helper.make_node("Relu", ["c2"], ["a2"]),
        helper.make_node("ReduceMean", ["a2"], ["m"], axes=[2], keepdims=0),
        helper.make_node("Unsqueeze", ["m", "zero"], ["step"]),
        helper.make_node("Split", ["state"], ["h", "c"], axis=0),
        helper.make_node("LSTM", ["step", "w", "r", "", "", "h", "c"], ["", "hN", "cN"], hidden_size=HIDDEN),
        helper.make_node("Concat", ["hN", "cN"], ["stateN"], axis=0),
        helper.make_node("Squeeze", ["hN", "zero"], ["last"]),
        helper.make_node("MatMul", ["last", "d"], ["score"]), helper.make_node("Sigmoid", ["score"], ["y"])]
    f32 = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "detector", [helper.make_tensor_value_info("x", f32, [1, WINDOW]), helper.make_tensor_value_info("state", f32, [2, 1, HIDDEN])],
        [helper.make_tensor_value_info("y", f32, [1, 1]), helper.make_tensor_value_info("stateN", f32, [2, 1, HIDDEN])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def classifier(path):
    """A small network for images, where none is given."""
    generator = numpy.random.default_rng(2)
    nodes, constants, last, channels = [], [], "x", 3
    for i, wider in enumerate([32, 64, 128, 256]):
        constants.append(weight(generator, f"k{i}", wider, channels, 3, 3))
        nodes += [helper.make_node("Conv", [last, f"k{i}"], [f"c{i}"], strides=[2, 2], pads=[1, 1, 1, 1]), helper.make_node("Relu", [f"c{i}"], [f"a{i}"])]
        last, channels = f"a{i}", wider
    constants.append(weight(generator, "d", channels, 1000))
    nodes += [helper.make_node("GlobalAveragePool", [last], ["p"]), helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("MatMul", ["f", "d"], ["y"])]
    graph = helper.make_graph(nodes, "classifier", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 224, 224])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1000])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class Measured:
    def __init__(self, sinter, folder, rounds):
        self.sinter, self.folder, self.rounds = sinter, folder, rounds

    def call(self, *arguments):
        done = subprocess.run([self.sinter, *arguments, "--cache-dir", os.path.join(self.folder, "cache")], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"streams.py: {done.stderr}")
        return done.stdout

    def run_ms(self, model):
        """The mean time of a run: a command has no median of many runs."""
        return min(json.loads(self.call("bench", model, "--seconds", "1", "--json"))["latency_ms"]["mean"] for _ in range(self.rounds))

    def command_ms(self, *arguments):
        """All of a command, but for its start: what its last line says."""
        times = []
        for _ in range(self.rounds + 1):  # The first one compiles.
            last = self.call("run", *arguments).splitlines()[-1]
            [number, unit] = re.search(r" in ([0-9.]+) (ms|s)\b", last).groups()
            times.append(float(number) * (1000 if unit == "s" else 1))
        return min(times[1:])


def stream(measured, steps):
    model, sound = os.path.join(measured.folder, "detector.onnx"), os.path.join(measured.folder, "sound.npy")
    detector(model)
    numpy.save(sound, numpy.random.default_rng(3).normal(0, 0.1, steps * WINDOW).astype(numpy.float32))
    runs = measured.run_ms(model) * steps
    taken = measured.command_ms(model, "--feed", "stateN=state", "--frames", sound)
    return f"{steps} windows", runs, 0, taken, 1.5


def pictures(measured, model, shape, count):
    folder = os.path.join(measured.folder, "pictures")
    os.mkdir(folder)
    generator = numpy.random.default_rng(4)
    for i in range(count):
        rough = Image.fromarray(generator.integers(0, 256, (16, 16, 3), dtype=numpy.uint8))
        rough.resize((320, 240), Image.BICUBIC).save(os.path.join(folder, f"{i:05}.jpg"), quality=90)
    if not model:
        model = os.path.join(measured.folder, "classifier.onnx")
        classifier(model)
    size = [int(each) for each in shape.split("x")][-2:]
    times = []
    for _ in range(measured.rounds):
        begin = time.perf_counter()
        for name in os.listdir(folder):
            numpy.asarray(Image.open(os.path.join(folder, name)).resize(size[::-1], Image.BILINEAR), numpy.float32)
        times.append((time.perf_counter() - begin) * 1000)
    taken = measured.command_ms(model, "--input", folder)
    return f"{count} pictures", measured.run_ms(model) * count, min(times), taken, 1.2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--sinter", default=os.path.join(here, "../build/bin/sinter"))
    parser.add_argument("--model")
    parser.add_argument("--input", default="1x3x224x224")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = Measured(options.sinter, folder, options.rounds)
        rows = [stream(measured, options.steps), pictures(measured, options.model, options.input, options.samples)]
    print("| what | runs ms | decoding ms | command ms | ratio | at most |\n|---|---:|---:|---:|---:|---:|")
    is_good = True
    for what, runs, decoding, taken, bound in rows:
        ratio = taken / (runs + decoding)
        is_good &= ratio <= bound
        print(f"| {what} | {runs:.1f} | {decoding:.1f} | {taken:.1f} | {ratio:.2f} | {bound} |")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
