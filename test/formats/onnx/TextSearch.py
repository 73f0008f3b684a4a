#!/usr/bin/env python3
# Covers: formats/onnx/ops RuntimeSearch
"""ONNX Runtime's GreedySearch over a small decoder, judged by it.

  TextSearch.py --sinter build/bin/sinter [--count N] [--seed S]

The decoder embeds tokens and positions, attends to all tokens so far, and scores all tokens. A search draws prompts with or
without padding, when a sequence may end, a penalty for tokens that were, masks of tokens, a mask of the prompts, and whether
the prompts have a decoder of their own. Both backends give the tokens that ONNX Runtime does.

Needs Python's onnx and numpy, and ONNX Runtime (npm install in bench/); without them it says so and ends with 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import TensorProto, helper, numpy_helper

SINTER = None
BACKENDS = ("interpreter", "cpu")
TOKENS, WIDTH, HEADS, LAYERS, PLACES = 13, 8, 2, 2, 24
I32, F32 = TensorProto.INT32, TensorProto.FLOAT


def take_argument(name, otherwise):
    if name not in sys.argv:
        return otherwise
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


COUNT, SEED = int(take_argument("--count", 12)), int(take_argument("--seed", 1))


def decoder(random, name, layers=LAYERS):
    """A graph of layers of attention without anything between them."""
    constants, nodes = {}, []

    def weight(each, *shape):
        constants[each] = random.uniform(-1.5, 1.5, shape).astype(np.float32)
        return each

    nodes.append(helper.make_node("Gather", [weight("words", TOKENS, WIDTH), "input_ids"], ["e0"]))
    nodes.append(helper.make_node("Gather", [weight("places", PLACES, WIDTH), "position_ids"], ["e1"]))
    nodes.append(helper.make_node("Add", ["e0", "e1"], ["h0"]))
    for i in range(layers):
        nodes.append(helper.make_node("Attention", [f"h{i}", weight(f"w{i}", WIDTH, 3 * WIDTH), weight(f"b{i}", 3 * WIDTH), "attention_mask", f"past_{i}"],
                                      [f"a{i}", f"present_{i}"], domain="com.microsoft", num_heads=HEADS, unidirectional=1))
        nodes.append(helper.make_node("Add", [f"a{i}", f"h{i}"], [f"h{i + 1}"]))
    nodes.append(helper.make_node("MatMul", [f"h{layers}", weight("scores", WIDTH, TOKENS)], ["logits"]))
    info = helper.make_tensor_value_info
    past = [2, "B", HEADS, "P", WIDTH // HEADS]
    inputs = [info("input_ids", I32, ["B", "S"]), info("position_ids", I32, ["B", "S"]), info("attention_mask", I32, ["B", "T"])]
    inputs += [info(f"past_{i}", F32, past) for i in range(layers)]
    outputs = [info("logits", F32, ["B", "S", TOKENS])]
    outputs += [info(f"present_{i}", F32, [2, "B", HEADS, "T", WIDTH // HEADS]) for i in range(layers)]
    return helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(value, each) for each, value in constants.items()])


def search(arrays, opset=17, **attributes):
    """A model of one search: arrays by input, None for an absent one; all but the prompts, and masks of them, are constants."""
    names = [f"x{i}" if each is not None else "" for i, each in enumerate(arrays)]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node("GreedySearch", names, ["y"], name="search", domain="com.microsoft", **attributes)
    feeds = {names[i]: arrays[i] for i in (0, 5, 6) if i < len(names) and names[i]}
    constants = [numpy_helper.from_array(each, names[i]) for i, each in enumerate(arrays) if each is not None and i not in (0, 5, 6)]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(each, I32, value.shape) for each, value in feeds.items()],
                              [helper.make_tensor_value_info("y", I32, ["B", "L"])], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]), feeds


def drawn(seed):
    random = np.random.default_rng([SEED, seed])
    flag = lambda share=0.4: bool(random.random() < share)
    batch, length, end, padding = int(random.integers(1, 4)), int(random.integers(1, 6)), 3, int(random.integers(0, 2))
    most = length + int(random.integers(1, 9))
    prompts = random.integers(2, TOKENS, (batch, length)).astype(np.int32)
    for row in prompts:
        row[: random.integers(0, length)] = padding
    mask = lambda *shape: np.maximum(random.random(shape) < 0.7, np.arange(TOKENS) == 5).astype(np.int32)
    arrays = [prompts, np.array([most], np.int32), np.array([length + int(random.integers(0, 5))], np.int32) if flag() else None,
              np.array([random.uniform(0.8, 2)], np.float32) if flag() else None, mask(TOKENS) if flag() else None,
              mask(batch, TOKENS) if flag() else None, (prompts != padding).astype(np.int32) if flag() else None]
    attributes = {"decoder": decoder(random, "decoder"), "eos_token_id": end, "pad_token_id": padding, "model_type": 0}
    if flag(0.3):
        attributes["init_decoder"] = attributes["decoder"]
    return *search(arrays, **attributes), padding


def written_until(tokens, length, padding):
    """How many columns there are up to the first padding after the longest sequence."""
    there = np.nonzero((tokens != padding).any(0))[0]
    return max(int(there[-1]) + 2 if there.size else 0, length + 1)


class TextSearch(unittest.TestCase):
    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            tasks = []
            for seed in range(COUNT):
                proto, feeds, padding = drawn(seed)
                path = os.path.join(folder, f"{seed}.onnx")
                onnx.save(proto, path)
                tasks.append(OnnxRuntime.Task(path, feeds, path + ".run", level="disabled"))
                tasks[-1].padding = padding
            OnnxRuntime.run(tasks)
            for task in tasks:
                self.assertIsNone(task.error, task.model)
                for backend in BACKENDS:
                    with self.subTest(task.model, backend=backend):
                        got = Command.outputs(SINTER, task.model, task.feeds, folder, backend)
                        self.assertIsInstance(got, dict, got)
                        # What is behind the end of the longest sequence the runtime leaves as it was.
                        last = written_until(got["y"], task.feeds["x0"].shape[1], task.padding)
                        np.testing.assert_array_equal(got["y"][:, :last], task.outputs["y"][:, :last])
                        self.assertTrue((got["y"][:, last:] == task.padding).all())

    def test_comes_back(self):
        """`sinter optimize` gives the node back, or with standard operators what it consists of."""
        proto, feeds, _ = drawn(1)
        with tempfile.TemporaryDirectory() as folder:
            source, kept, parts = (os.path.join(folder, name) for name in ("in.onnx", "kept.onnx", "parts.onnx"))
            onnx.save(proto, source)
            self.assertIsNone(Command.optimize(SINTER, source, kept))
            self.assertEqual(list(onnx.load(kept).graph.node), list(proto.graph.node))
            self.assertIsNone(Command.optimize(SINTER, source, parts, "--standard-operators"))
            self.assertEqual({each.domain for each in onnx.load(parts).graph.node}, {""})
            self.assertIn("Loop", [each.op_type for each in onnx.load(parts).graph.node])
            tokens = [Command.outputs(SINTER, path, feeds, folder, "cpu")["y"] for path in (source, kept, parts)]
            np.testing.assert_array_equal(tokens[0], tokens[1])
            np.testing.assert_array_equal(tokens[0], tokens[2])

    def refused(self, reason, code, arrays, **attributes):
        proto, _ = search(arrays, **attributes)
        with self.subTest(reason), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.onnx")
            onnx.save(proto, path)
            done = subprocess.run([SINTER, "convert", path, "-o", os.path.join(folder, "out.mlir")], stderr=subprocess.PIPE, text=True)
            self.assertIn(reason, done.stderr)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_restrictions(self):
        graph = decoder(np.random.default_rng(1), "decoder")
        prompts, most = np.ones((2, 3), np.int32), np.array([5], np.int32)
        usual = {"decoder": graph, "eos_token_id": 3, "pad_token_id": 0}
        self.refused("'eos_token_id' is missing", 3, [prompts, most], decoder=graph, pad_token_id=0)
        self.refused("'decoder' is not there", 3, [prompts, most], eos_token_id=3, pad_token_id=0)
        self.refused("is no token", 3, [prompts, most], **{**usual, "eos_token_id": 1 << 40})
        self.refused("max_length, 3, is not more than", 3, [prompts, most - 2], **usual)
        self.refused("[batch, length] of i32", 3, [prompts[0], most], **usual)
        self.refused("an encoder and a decoder", 4, [prompts, most], model_type=1, **usual)
        self.refused("no_repeat_ngram_size", 4, [prompts, most], no_repeat_ngram_size=2, **usual)
        other = onnx.GraphProto()
        other.CopyFrom(graph)
        del other.output[-1]
        self.refused("a decoder that does not read tokens", 4, [prompts, most], **{**usual, "decoder": other})
        other.CopyFrom(graph)
        del other.input[-1].type.tensor_type.shape.dim[-1]
        self.refused("is not [2, batch, heads, length, head size]", 4, [prompts, most], **{**usual, "decoder": other})
        other = decoder(np.random.default_rng(1), "decoder", layers=1)
        self.refused("the two decoders differ", 3, [prompts, most], init_decoder=other, **usual)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
