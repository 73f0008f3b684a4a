#!/usr/bin/python3
"""Writes a decoder of GPT-2's form that takes one token and what it keeps of those before, in ONNX test form.

  decoder.py FOLDER [--layers 12] [--hidden 768] [--heads 12] [--words 50257] [--past 127] [--dynamic]

One step of text generation: every weight is read once for a single row, so that the bandwidth of memory decides.
Inputs are input_ids and position_ids (batch x 1) and past_key_I and past_value_I (batch x heads x past x size of a head)
for each layer; outputs are logits, present_key_I and present_value_I. Weights are random, the same every time; the outputs
are what ONNX Runtime gives. `quantized.py FOLDER --styles weights8,weights4,dynamic,f16` makes the smaller forms.
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "test"), os.path.join(HERE, "..", "test", "zoo")]
from judge import Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import TensorProto, numpy_helper
from transformers import Builder


def build(options):
    """The model, and the names of the outputs of the caches."""
    b = Builder(options.dynamic, options.hidden, options.heads, 0.02, {"batch": options.batch, "past": options.past, "total": options.past + 1})
    hidden, heads, head = options.hidden, options.heads, b.head
    ids = b.input("input_ids", TensorProto.INT64, "batch", 1)
    places = b.input("position_ids", TensorProto.INT64, "batch", 1)
    x = b.add("Add", b.add("Gather", b.weight(options.words, hidden), ids), b.add("Gather", b.weight(options.past + 1, hidden), places))
    for layer in range(options.layers):
        past = [b.input(f"past_{kind}_{layer}", TensorProto.FLOAT, "batch", heads, "past", head) for kind in ("key", "value")]
        y = b.linear(b.layer_norm(x), hidden, 3 * hidden)
        q, k, v = b.add("Split", y, b.ints(hidden, hidden, hidden), outputs=3, axis=2)
        present = []
        for kind, old, new in zip(("key", "value"), past, (k, v)):
            b.add("Concat", old, b.heads(new), axis=2)
            present.append(f"present_{kind}_{layer}")
            b.output(present[-1], "batch", heads, "total", head)
        scores = b.add("MatMul", b.heads(q), b.add("Transpose", present[0], perm=[0, 1, 3, 2]))
        scores = b.add("Div", scores, b.number(head ** 0.5))
        y = b.join(b.add("MatMul", b.add("Softmax", scores, axis=-1), present[1]))
        x = b.add("Add", x, b.linear(y, hidden, hidden))
        y = b.linear(b.gelu_tanh(b.linear(b.layer_norm(x), hidden, 4 * hidden)), 4 * hidden, hidden)
        x = b.add("Add", x, y)
    b.add("MatMul", b.layer_norm(x), b.weight(hidden, options.words))
    return b.model("logits", ("batch", 1, options.words))


def test_data(model, options):
    random = np.random.default_rng(1)
    symbols = {"batch": options.batch, "past": options.past}
    for each in model.graph.input:
        shape = [symbols.get(dim.dim_param, dim.dim_value) for dim in each.type.tensor_type.shape.dim]
        if each.name == "input_ids":
            yield each.name, random.integers(0, options.words, shape)
        elif each.name == "position_ids":
            yield each.name, np.full(shape, options.past, np.int64)
        else:
            yield each.name, random.normal(size=shape).astype(np.float32)


def write(options):
    model = build(options)
    data = os.path.join(options.folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    path = os.path.join(options.folder, "model.onnx")
    onnx.save(model, path)
    onnx.checker.check_model(path, full_check=True)
    feeds = dict(test_data(model, options))
    with tempfile.TemporaryDirectory() as scratch:
        [task] = OnnxRuntime.run([OnnxRuntime.Task(path, feeds, scratch)])
    if task.error:
        sys.exit(f"decoder.py: ONNX Runtime does not run {path}: {task.error}")
    expected = {each.name: task.outputs[each.name] for each in model.graph.output}
    for kind, arrays in (("input", feeds), ("output", expected)):
        for i, (name, array) in enumerate(arrays.items()):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(array, name).SerializeToString())
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--dynamic", action="store_true", help="the batch and the number of tokens before are dynamic dimensions")
    parser.add_argument("--open", dest="dynamic", action="store_true", help=argparse.SUPPRESS)
    for name, default, text in [("layers", 12, "layers"), ("hidden", 768, "size of a token's vector"), ("heads", 12, "attention heads"),
                                ("words", 50257, "size of the vocabulary"), ("past", 127, "tokens before"), ("batch", 1, "texts at once")]:
        parser.add_argument("--" + name, type=int, default=default, help=f"{text} (default: {default})")
    options = parser.parse_args()
    for name in ("layers", "hidden", "heads", "words", "past", "batch"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: at least 1")
    if options.hidden % options.heads:
        parser.error(f"--hidden: {options.hidden} is not a multiple of {options.heads} heads")
    if 8 * options.words * options.hidden + 48 * options.layers * options.hidden ** 2 > 1.9e9:
        parser.error("this would be more than the 2 GB that a file of this format holds")
    write(options)


if __name__ == "__main__":
    main()
