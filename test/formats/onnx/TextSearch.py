#!/usr/bin/env python3
# Covers: formats/onnx/ops RuntimeBeamSearch RuntimeSearch SearchModels TextSearch TokenScores
"""ONNX Runtime's searches for text over small models, judged by it.

  TextSearch.py --sinter build/bin/sinter [--count N] [--seed S]

The searches are those of SearchVariants.py. Both backends give the tokens and scores that
ONNX Runtime does. What a Sampling draws is its own; it keeps to the tokens and probabilities that it should draw from.

Needs Python's onnx and numpy, and ONNX Runtime (npm install in bench/); without them it says so and ends with 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from SearchGraphs import TOKENS, decoder, encoder_and_decoder
from SearchVariants import F32, beams, greedy, one, search
from judge import OnnxRuntime
from onnx import helper

SINTER = None
BACKENDS = ("interpreter", "cpu")


def take_argument(name, otherwise):
    if name not in sys.argv:
        return otherwise
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


COUNT, SEED = int(take_argument("--count", 8)), int(take_argument("--seed", 1))


def written_until(tokens, length, padding):
    """How many columns there are up to the first padding after the longest sequence."""
    there = np.nonzero((tokens != padding).any(0))[0]
    return max(int(there[-1]) + 2 if there.size else 0, length + 1)


class TextSearch(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def save(self, proto, name="in.onnx"):
        path = os.path.join(self.folder, name)
        onnx.save(proto, path)
        return path

    def run_it(self, path, feeds, backend="cpu"):
        got = Command.outputs(SINTER, path, feeds, self.folder, backend)
        self.assertIsInstance(got, dict, got)
        return got

    def judged(self, models):
        """What ONNX Runtime gives for pairs of a model and its feeds."""
        tasks = []
        for i, (proto, feeds) in enumerate(models):
            path = self.save(proto, f"{i}.onnx")
            tasks.append(OnnxRuntime.Task(path, feeds, path + ".run", level="disabled"))
        for task in OnnxRuntime.run(tasks):
            self.assertIsNone(task.error, task.model)
        return tasks

    def test_tokens(self):
        drawn = [greedy([SEED, seed]) for seed in range(COUNT)]
        # With a share of nothing a Sampling takes the greatest score, too.
        drawn += [greedy([SEED, seed], "Sampling", top_p=0.0, temperature=0.7, filter_value=-1e20, min_tokens_to_keep=1) for seed in range(COUNT // 2)]
        models = [search("Sampling" if "top_p" in attributes else "GreedySearch", arrays, **attributes) for arrays, attributes in drawn]
        for task, (arrays, attributes) in zip(self.judged(models), drawn):
            for backend in BACKENDS:
                with self.subTest(task.model, backend=backend):
                    got = self.run_it(task.model, task.feeds, backend)
                    # What is behind the end of the longest sequence the runtime leaves as it was.
                    last = written_until(got["y"], arrays[0].shape[1], attributes["pad_token_id"])
                    np.testing.assert_array_equal(got["y"][:, :last], task.outputs["y"][:, :last])
                    self.assertTrue((got["y"][:, last:] == attributes["pad_token_id"]).all())

    def test_beams(self):
        """Each prompt by itself, since the runtime takes the scores of others for when it needs no more tokens."""
        drawn = [beams([SEED, seed]) for seed in range(COUNT)]
        alone = [search("BeamSearch", [each[row : row + 1] if i in (0, 8, 9) and each is not None else each for i, each in enumerate(arrays)], **attributes)
                 for arrays, attributes in drawn for row in range(len(arrays[0]))]
        tasks = iter(self.judged(alone))
        for seed, (arrays, attributes) in enumerate(drawn):
            proto, feeds = search("BeamSearch", arrays, **attributes)
            path = self.save(proto)
            wanted = [next(tasks).outputs for _ in arrays[0]]
            for backend in BACKENDS:
                with self.subTest(seed, backend=backend):
                    got = self.run_it(path, feeds, backend)
                    np.testing.assert_array_equal(got["y"], np.concatenate([each["y"] for each in wanted]))
                    np.testing.assert_allclose(got["best"], np.concatenate([each["best"] for each in wanted]), rtol=1e-3, atol=1e-3)
                    # Behind the last token of a prompt there is anything.
                    steps = 1 if len(wanted) > 1 else int(got["all"].any((1, 2, 3)).sum())
                    np.testing.assert_allclose(got["all"][:steps], np.concatenate([each["all"] for each in wanted], axis=1)[:steps], rtol=1e-3, atol=1e-3)

    def test_any_sizes(self):
        """Prompts of any number and length, and a length and number of results that are given when the model runs; the graph with
        its loop as StableHLO."""
        for seed, operator in [(1, "GreedySearch"), (0, "BeamSearch"), (1, "BeamSearch"), (3, "BeamSearch")]:
            is_greedy = operator == "GreedySearch"
            arrays, attributes = greedy([SEED, seed]) if is_greedy else beams([SEED, seed])
            given = (0, 1, 5, 6) if is_greedy else (0, 1, 3, 4, 5, 8, 9)
            # The prompts and their mask, and the mask of first tokens.
            shapes = {"x0": ["B", "S"], **({"x5": ["B", TOKENS], "x6": ["B", "S"]} if is_greedy else {"x8": ["B", TOKENS], "x9": ["B", "S"]})}
            proto, feeds = search(operator, arrays, **attributes)
            wanted = self.run_it(self.save(proto), feeds)
            models = [search(operator, arrays, shapes=shapes, **attributes), search(operator, arrays, given=given, shapes=shapes, **attributes)]
            paths = [self.save(each, f"any{i}.onnx") for i, (each, _) in enumerate(models)] + [os.path.join(self.folder, "any.mlir")]
            subprocess.run([SINTER, "convert", paths[0], "-o", paths[2], "--force"], check=True, capture_output=True)
            for path, values in zip(paths, [models[0][1], models[1][1], models[0][1]]):
                for backend in BACKENDS:
                    with self.subTest(path, operator=operator, seed=seed, backend=backend):
                        got = self.run_it(path, values, backend)
                        np.testing.assert_array_equal(got["y"], wanted["y"])
                        if not is_greedy:
                            np.testing.assert_allclose(got["best"], wanted["best"], rtol=1e-4, atol=1e-4)

    def test_half_precision(self):
        arrays, attributes = greedy([SEED, 1])
        tokens = []
        for element in (np.float32, np.float16):
            attributes.update(decoder=decoder(np.random.default_rng(1), element=element))
            attributes.pop("init_decoder", None)
            proto, feeds = search("GreedySearch", arrays, **attributes)
            tokens += [self.run_it(self.save(proto), feeds, backend)["y"] for backend in BACKENDS]
        for each in tokens[1:]:
            np.testing.assert_array_equal(each, tokens[0])

    def test_vocabulary(self):
        """Scores behind the vocabulary are padding."""
        arrays, attributes = [np.array([[4, 5], [6, 7]], np.int32), one(9), None, one(2), one(2)], {"eos_token_id": 3, "pad_token_id": 0}
        best = []
        for more in [{"decoder": decoder(np.random.default_rng(1), tokens=9)}, {"decoder": decoder(np.random.default_rng(1)), "vocab_size": 9}]:
            proto, feeds = search("BeamSearch", arrays, **attributes, **more)
            best.append(self.run_it(self.save(proto), feeds))
        np.testing.assert_array_equal(best[0]["y"], best[1]["y"])
        np.testing.assert_array_equal(best[0]["all"], best[1]["all"])

    def sampled(self, row, seed=1, mask=None, **attributes):
        """The tokens behind prompts, where the scores are always those of `row`."""
        prompts = np.full((64, 1), 5, np.int32)
        graph = decoder(np.random.default_rng(1), row=row)
        proto, feeds = search("Sampling", [prompts, one(17), None, None, None, None, None, mask, one(seed)], eos_token_id=-1, pad_token_id=0,
                              decoder=graph, **attributes)
        return self.run_it(self.save(proto), feeds)["y"][:, 1:].reshape(-1)

    def test_drawn(self):
        row = np.log(np.array([30, 1, 20, 1, 15, 10, 8, 5, 4, 3, 1, 1, 1]) / 100)

        def agree(tokens, probabilities):
            probabilities = np.array(probabilities) / np.sum(probabilities)
            shares = np.bincount(tokens, minlength=TOKENS) / len(tokens)
            self.assertTrue((shares[probabilities == 0] == 0).all(), shares)
            # Five times the deviation of a mean.
            self.assertTrue((np.abs(shares - probabilities) <= 5 * np.sqrt(probabilities / len(tokens))).all(), shares)

        exact = np.exp(row)
        agree(self.sampled(row, top_p=1.0), exact)
        agree(self.sampled(row, top_p=0.6), exact * (exact > 0.12))
        agree(self.sampled(row, top_p=0.6, custom=1), exact * (exact > 0.12))
        agree(self.sampled(row, top_p=0.2, min_tokens_to_keep=4), exact * (exact > 0.09))
        agree(self.sampled(row, top_p=1.0, temperature=2.0), np.sqrt(exact))
        names = np.zeros((64, TOKENS), np.int32)
        names[:, 0] = 1
        agree(self.sampled(row, mask=names, top_p=1.0, presence_penalty=50.0), exact * (np.arange(TOKENS) > 0))
        self.assertTrue((self.sampled(row, top_p=1.0) == self.sampled(row, top_p=1.0)).all())
        self.assertFalse((self.sampled(row, top_p=1.0) == self.sampled(row, seed=2, top_p=1.0)).all())

    def test_comes_back(self):
        """`sinter optimize` gives the node back, or with standard operators what it consists of."""
        for operator, (arrays, attributes) in [("GreedySearch", greedy([SEED, 1])), ("BeamSearch", beams([SEED, 0])), ("BeamSearch", beams([SEED, 3]))]:
            with self.subTest(operator):
                proto, feeds = search(operator, arrays, **attributes)
                source, kept, parts = self.save(proto), *(os.path.join(self.folder, name) for name in ("kept.onnx", "parts.onnx"))
                self.assertIsNone(Command.optimize(SINTER, source, kept, "--force"))
                self.assertEqual(list(onnx.load(kept).graph.node), list(proto.graph.node))
                self.assertIsNone(Command.optimize(SINTER, source, parts, "--standard-operators", "--force"))
                self.assertEqual({each.domain for each in onnx.load(parts).graph.node}, {""})
                self.assertIn("Loop", [each.op_type for each in onnx.load(parts).graph.node])
                # A loop in a file does not say that keys are as many as values, which only the interpreter finds out.
                backend = "interpreter" if "encoder" in attributes else "cpu"
                tokens = [self.run_it(path, feeds, backend)["y"] for path in (source, kept, parts)]
                np.testing.assert_array_equal(tokens[0], tokens[1])
                np.testing.assert_array_equal(tokens[0], tokens[2])

    def refused(self, operator, reason, code, arrays, **attributes):
        proto, _ = search(operator, arrays, **attributes)
        with self.subTest(reason):
            path = self.save(proto)
            done = subprocess.run([SINTER, "convert", path, "-o", os.path.join(self.folder, "out.mlir"), "--force"], stderr=subprocess.PIPE, text=True)
            self.assertIn(reason, done.stderr)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_restrictions(self):
        graph = decoder(np.random.default_rng(1))
        prompts, most = np.ones((2, 3), np.int32), one(5)
        usual = {"decoder": graph, "eos_token_id": 3, "pad_token_id": 0}

        def no(reason, code, *arrays, operator="GreedySearch", **attributes):
            self.refused(operator, reason, code, list(arrays) or [prompts, most], **{**usual, **attributes})

        self.refused("GreedySearch", "'eos_token_id' is missing", 3, [prompts, most], decoder=graph, pad_token_id=0)
        self.refused("GreedySearch", "'decoder' is not there", 3, [prompts, most], eos_token_id=3, pad_token_id=0)
        no("is no token", 3, eos_token_id=1 << 40)
        no("max_length, 3, is not more than", 3, prompts, most - 2)
        no("[batch, length] of i32", 3, prompts[0], most)
        no("the prompts are empty", 3, prompts[:, :0], most)
        no("an encoder and a decoder", 4, model_type=1)
        no("no_repeat_ngram_size", 4, no_repeat_ngram_size=65)
        no("scores of 13 tokens", 3, vocab_size=14)
        other = onnx.GraphProto()
        other.CopyFrom(graph)
        del other.output[-1]
        no("a decoder that does not read tokens", 4, decoder=other)
        other.CopyFrom(graph)
        del other.input[-1].type.tensor_type.shape.dim[-1]
        no("is not [2, batch, heads, length, head size]", 4, decoder=other)
        no("the two decoders differ", 3, init_decoder=decoder(np.random.default_rng(1), layers=1))

    def test_restrictions_of_beams(self):
        prompts, most = np.ones((2, 3), np.int32), one(5)
        usual = {"decoder": decoder(np.random.default_rng(1)), "eos_token_id": 3, "pad_token_id": 0}

        def no(reason, code, *arrays, **attributes):
            self.refused("BeamSearch", reason, code, [prompts, most, None, *arrays], **{**usual, **attributes})

        no("num_beams is not from 1 to", 3, one(0))
        no("num_return_sequences is not from 1 to 2", 3, one(2), one(3))
        no("length_penalty is no floating-point number", 3, one(2), one(1), one(1))
        no("'decoder_input_ids'", 4, *[None] * 7, prompts)
        no("'logits_processor' that is not 0", 4, *[None] * 8, one(1))
        no("'model_type' that is not 0 or 1", 4, one(2), model_type=2)
        no("scores of 1 tokens", 3, one(2), vocab_size=1)
        both = encoder_and_decoder(1)
        no("'decoder_start_token_id' is missing", 3, one(2), **both, model_type=1)
        del both["encoder"].output[-1]
        no("do not read and give the same layers", 4, one(2), **both, model_type=1, decoder_start_token_id=1)
        both = encoder_and_decoder(1)
        del both["decoder"].input[-5].type.tensor_type.shape.dim[-1]
        no("is not [batch, heads, length, head size]", 4, one(2), **both, model_type=1, decoder_start_token_id=1)

    def test_restrictions_of_samples(self):
        usual = {"decoder": decoder(np.random.default_rng(1)), "eos_token_id": 3, "pad_token_id": 0}
        arrays = [np.ones((2, 3), np.int32), one(5)]
        self.refused("Sampling", "'temperature' is negative", 3, arrays, temperature=-1.0, **usual)
        self.refused("Sampling", "is not a number", 3, arrays, top_p=float("nan"), **usual)
        proto, _ = search("Sampling", arrays, **usual)
        proto.graph.node[0].output.append("logits")
        proto.graph.output.append(helper.make_tensor_value_info("logits", F32, ["B", "V"]))
        done = subprocess.run([SINTER, "convert", self.save(proto), "-o", os.path.join(self.folder, "out.mlir")], stderr=subprocess.PIPE, text=True)
        self.assertIn("'filtered_logits'", done.stderr)


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
