#!/usr/bin/env python3
# Covers: formats/import Attention
# Covers: formats/onnx/write Attention RuntimeFusions
# Covers: formats/onnx/ops RuntimeAttention RuntimeCachedAttention RuntimeProducts RuntimeOthers RuntimeExperts RuntimeGates
# Covers: formats/onnx/ops RuntimeLowBit RuntimeQuantizedLayers FormerOperators
"""ONNX Runtime's own operators in random variants, judged by it or by NumPy.

  RuntimeOperators.py --sinter build/bin/sinter
  RuntimeOperators.py --count 1000 --seed 7 --family attention ...   so many variants of each family, or of one

A variant draws which inputs are there, attributes, sizes, whether the batch and lengths are known, and f32 or f16. Both
backends compute what ONNX Runtime does in f32 or, where it has no kernel for CPUs, what NumPy does; `sinter optimize` gives
the nodes back; as StableHLO the values are the same.

Needs Python's onnx and numpy, and ONNX Runtime (npm install in bench/); without them it says so and ends with 77.
"""
import dataclasses
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
from judge import OnnxRuntime
from onnx import helper, numpy_helper
from RuntimeVariants import FAMILIES as ATTENTIONS, Given, Variant, model
from LayerVariants import FAMILIES as LAYERS
from QuantizedVariants import FAMILIES as QUANTIZED

SINTER = None
BACKENDS = ("interpreter", "cpu")
# Variants that share a model.
TOGETHER = 12
# The families of which ONNX's own operators can say all.
AS_STANDARD = ("attention", "multi_head_attention", "rotary_embedding", "group_query_attention", "fused_conv", "fused_gemm",
               "fused_matmul", "matmul_activation", "biases", "skip_norm", "former_norm", "embed_norm", "group_norm",
               "quantized_attention", "quantized_conv", "gathered_blocks", "low_bit_matmul", "experts")
# What ONNX Runtime refuses.
REFUSED = []


def take_argument(name, otherwise):
    if name not in sys.argv:
        return otherwise
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


COUNT, SEED = int(take_argument("--count", 12)), int(take_argument("--seed", 1))
FAMILY = take_argument("--family", None)


class RuntimeOperators(unittest.TestCase):
    def call(self, *arguments):
        done = subprocess.run([SINTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def values(self, path, feeds, folder, backend):
        got = Command.outputs(SINTER, path, feeds, folder, backend)
        self.assertIsInstance(got, dict, got)
        return got

    def expected(self, variants, folder):
        """By the runtime, or by the variant's own definition."""
        judged, own = {}, {}
        for i, variant in enumerate(variants):
            if variant.expected:
                arrays = [each.array.astype(np.float32) if each and each.array.dtype == np.float16 else each and each.array
                          for each in variant.inputs]
                for k, value in enumerate(variant.expected(*arrays)):
                    if variant.outputs[k]:
                        own[f"v{i}_y{k}"] = value
        places = [i for i, each in enumerate(variants) if not each.expected]
        tasks = self.judge(variants, [places] if places else [], folder)
        if tasks and tasks[0][1].error:
            # It refuses some variants that its documentation allows, or dies of them.
            tasks = self.judge(variants, [[i] for i in places], folder)
        for group, task in tasks:
            if task.error:
                REFUSED.append((variants[group[0]].op, variants[group[0]].attributes, task.error))
            for name, value in (task.outputs or {}).items():
                i, k = name[1:].split("_y")
                judged[f"v{group[int(i)]}_y{k}"] = value
        return {**judged, **own}

    def judge(self, variants, groups, folder):
        tasks = []
        for group in groups:
            asked = [dataclasses.replace(each, inputs=each.judged or each.inputs) for each in (variants[i] for i in group)]
            proto, feeds = model(asked, as_f32=True)
            path = os.path.join(folder, f"judged{group[0]}_{len(group)}.onnx")
            onnx.save(proto, path)
            tasks.append((group, OnnxRuntime.Task(path, feeds, path + ".run", level="disabled")))
        OnnxRuntime.run([task for _, task in tasks])
        return tasks

    def check(self, variants):
        with tempfile.TemporaryDirectory() as folder:
            expected = self.expected(variants, folder)
            proto, feeds = model(variants, as_f32=False)
            source, kept, text = (os.path.join(folder, name) for name in ("in.onnx", "kept.onnx", "in.mlir"))
            onnx.save(proto, source)
            self.call("optimize", source, "-o", kept)
            written = [each.SerializeToString() for each in onnx.load(kept).graph.node]
            for node, variant in zip(proto.graph.node, variants):
                self.assertTrue(variant.is_folded or node.SerializeToString() in written, node)
            self.call("convert", source, "-o", text)
            for path, backend in [(source, each) for each in BACKENDS] + [(text, "cpu")]:
                got = self.values(path, feeds, folder, backend)
                for name, value in expected.items():
                    self.compare(variants[int(name[1:].split("_y")[0])], name, value, got[name], (path, backend))

    def check_standard(self, variants):
        """The same values by ONNX's own operators alone, and ONNX Runtime takes them."""
        with tempfile.TemporaryDirectory() as folder:
            expected = self.expected(variants, folder)
            proto, feeds = model(variants, as_f32=True)
            source, written = (os.path.join(folder, name) for name in ("in.onnx", "standard.onnx"))
            onnx.save(proto, source)
            self.call("optimize", source, "-o", written, "--standard-operators")
            self.assertEqual({each.domain for each in onnx.load(written).graph.node}, {""})
            task = OnnxRuntime.Task(written, feeds, os.path.join(folder, "run"), level="disabled")
            OnnxRuntime.run([task])
            self.assertIsNone(task.error, [(each.op, each.attributes) for each in variants])
            for name, value in expected.items():
                self.compare(variants[int(name[1:].split("_y")[0])], name, value, task.outputs[name], "standard operators")

    def compare(self, variant, name, expected, got, where):
        say = (name, variant.op, variant.attributes, [each and (each.array.shape, str(each.array.dtype)) for each in variant.inputs],
               variant.is_dynamic, where)
        self.assertEqual(got.shape, expected.shape, say)
        if variant.valid:
            expected, got = variant.valid(name, expected), variant.valid(name, got)
        if expected.dtype.kind not in "f":
            off = np.abs(expected.astype(np.int64) - got.astype(np.int64)).max(initial=0)
            self.assertLessEqual(off, variant.steps, say)
            return
        a, b = expected.astype(np.float64), got.astype(np.float64)
        limit = max(variant.tolerance, 1e-2 if got.dtype == np.float16 else 0)
        with np.errstate(invalid="ignore"):
            off = np.nan_to_num(np.abs(a - b)).max(initial=0)
        self.assertTrue(np.allclose(a, b, rtol=0, atol=limit * max(1.0, np.abs(a[np.isfinite(a)]).max(initial=0)),
                                    equal_nan=True), (off, say))


    def refused(self, reason, op, arrays, code=3, domain="com.microsoft", opset=17, outputs=(True,), constant=(), **attributes):
        """A node, None for an absent input, must be refused for a reason. The inputs CONSTANT, by index, are constants."""
        given = [each if each is None else Given(np.asarray(each), None, i in constant) for i, each in enumerate(arrays)]
        proto, _ = model([Variant(op, given, attributes, outputs, domain, opset=opset)], as_f32=False)
        with self.subTest(reason), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.onnx")
            onnx.save(proto, path)
            done = subprocess.run([SINTER, "convert", path, "-o", os.path.join(folder, "out.mlir")], stderr=subprocess.PIPE, text=True)
            self.assertIn(reason, done.stderr)
            self.assertEqual(done.returncode, code, done.stderr)

    def network(self, opset):
        """Convolutions, matmuls, gelu, silu and a norm of a sum in ONNX's own operators."""
        random, constants, nodes = np.random.default_rng(5), {}, []

        def weight(name, *shape):
            constants[name] = random.uniform(-1, 1, shape).astype(np.float32)
            return name

        def node(op, inputs, output, **attributes):
            nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

        node("Conv", ["x", weight("w", 6, 3, 3, 3), weight("b", 6)], "conv", pads=[1, 1, 1, 1])
        node("Relu", ["conv"], "relu")
        node("Conv", ["relu", weight("w2", 6, 6, 1, 1)], "conv2")
        node("LeakyRelu", ["conv2"], "leaky", alpha=0.2)
        constants.update(shape=np.array([2, 6, 36], np.int64), half=np.float32(0.5), root=np.float32(2**0.5), one=np.float32(1))
        node("Reshape", ["leaky", "shape"], "flat")
        node("Transpose", ["flat"], "turned", perm=[0, 2, 1])
        node("MatMul", ["flat", "turned"], "scores")
        node("Mul", ["scores", "half"], "scaled")
        node("MatMul", ["scaled", weight("w3", 6, 8)], "wide")
        node("Add", ["wide", weight("b3", 8)], "biased")
        if opset >= 20:
            node("Gelu", ["biased"], "gelu")
        else:
            node("Div", ["biased", "root"], "e0")
            node("Erf", ["e0"], "e1")
            node("Add", ["e1", "one"], "e2")
            node("Mul", ["biased", "e2"], "e3")
            node("Mul", ["e3", "half"], "gelu")
        node("MatMul", ["gelu", weight("w4", 8, 8)], "narrow")
        node("Add", ["narrow", "wide"], "sum")
        node("LayerNormalization", ["sum", weight("g", 8), weight("be", 8)], "norm", axis=-1, epsilon=1e-5)
        # Two heads of four.
        constants.update(apart=np.array([2, 6, 2, 4], np.int64), joined=np.array([2, 6, 8], np.int64), scale=np.float32(0.5))
        for each, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            node("MatMul", ["norm", weight("w" + each, 8, 8)], each + "0")
            node("Reshape", [each + "0", "apart"], each + "1")
            node("Transpose", [each + "1"], each, perm=order)
        node("MatMul", ["q", "k"], "qk")
        node("Mul", ["qk", "scale"], "scaled_qk")
        node("Softmax", ["scaled_qk"], "weights", axis=-1)
        node("MatMul", ["weights", "v"], "mixed")
        node("Transpose", ["mixed"], "back", perm=[0, 2, 1, 3])
        node("Reshape", ["back", "joined"], "rows")
        node("Add", ["rows", "sum"], "y")
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3, 6, 6])],
                                  [onnx.ValueInfoProto(name="y")],
                                  [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
        return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)])

    def test_target(self):
        feeds = {"x": np.random.default_rng(6).uniform(-1, 1, (2, 3, 6, 6)).astype(np.float32)}
        for opset in (17, 20):
            with self.subTest(opset=opset), tempfile.TemporaryDirectory() as folder:
                source, fused, back = (os.path.join(folder, name) for name in ("in.onnx", "fused.onnx", "back.onnx"))
                onnx.save(self.network(opset), source)
                self.call("optimize", source, "-o", fused, "--target", "onnxruntime")
                self.call("optimize", fused, "-o", back, "--standard-operators")
                kinds = [each.op_type for each in onnx.load(fused).graph.node]
                self.assertEqual(kinds.count("FusedConv"), 2, kinds)
                for kind in ("FusedMatMul", "SkipLayerNormalization", "BiasGelu", "MultiHeadAttention"):
                    self.assertIn(kind, kinds)
                # The heads are split and joined by the one node.
                self.assertNotIn("Transpose", kinds)
                self.assertEqual({each.domain for each in onnx.load(back).graph.node}, {""})
                self.assertEqual([each.domain for each in onnx.load(back).opset_import], [""])
                tasks = [OnnxRuntime.Task(path, feeds, path + ".run", level="disabled") for path in (source, fused, back)]
                OnnxRuntime.run(tasks)
                for each in tasks:
                    self.assertIsNone(each.error, each.model)
                for each in tasks[1:]:
                    self.assertIsNone(OnnxRuntime.difference(tasks[0].outputs, each.outputs, tolerance=1e-5), each.model)
                for backend in BACKENDS:
                    self.assertIsNone(OnnxRuntime.difference(tasks[0].outputs, self.values(fused, feeds, folder, backend), tolerance=1e-5))

    def test_target_changes_no_results(self):
        """What looks like a fused operator but is more."""
        f32 = onnx.TensorProto.FLOAT
        node, info = helper.make_node, helper.make_tensor_value_info

        def branch(name, nodes):
            return helper.make_graph(nodes, name, [], [info("b" + name, f32, None)])

        # A graph inside of a node reads the sum before the norm.
        early = [node("Add", ["x", "z"], ["sum"]),
                 node("If", ["c"], ["chosen"], then_branch=branch("t", [node("Neg", ["sum"], ["bt"])]),
                      else_branch=branch("e", [node("Abs", ["sum"], ["be"])])),
                 node("LayerNormalization", ["sum", "gamma", "beta"], ["norm"], axis=-1),
                 node("Add", ["norm", "chosen"], ["y"])]
        # Numbers of more dimensions than x has.
        wide = [node("Div", ["x", "root"], ["e0"]), node("Erf", ["e0"], ["e1"]), node("Add", ["e1", "one"], ["e2"]),
                node("Mul", ["x", "e2"], ["e3"]), node("Mul", ["e3", "half"], ["y"])]
        random = np.random.default_rng(3)
        for nodes, shape in ((early, (2, 3, 4)), (wide, (3, 4))):
            feeds = {"x": random.uniform(-1, 1, shape).astype(np.float32)}
            constants = {"gamma": random.uniform(0, 1, 4), "beta": random.uniform(0, 1, 4), "z": random.uniform(-1, 1, shape),
                         "root": np.full((1, 1, 1), 2**0.5), "one": np.ones((1, 1, 1)), "half": np.full((1, 1, 1), 0.5)}
            inputs = [info("x", f32, shape)]
            if nodes is early:
                del constants["z"]
                feeds.update(z=random.uniform(-1, 1, shape).astype(np.float32), c=np.array(True))
                inputs += [info("z", f32, shape), info("c", onnx.TensorProto.BOOL, [])]
            used = {name for each in nodes for name in each.input}
            graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name="y")],
                                      [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items() if name in used])
            with self.subTest(nodes[0].op_type), tempfile.TemporaryDirectory() as folder:
                source, fused = os.path.join(folder, "in.onnx"), os.path.join(folder, "fused.onnx")
                onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)]), source)
                self.call("optimize", source, "-o", fused, "--target", "onnxruntime")
                tasks = [OnnxRuntime.Task(path, feeds, path + ".run", level="disabled") for path in (source, fused)]
                OnnxRuntime.run(tasks)
                for each in tasks:
                    self.assertIsNone(each.error, each.model)
                self.assertIsNone(OnnxRuntime.difference(tasks[0].outputs, tasks[1].outputs, tolerance=1e-5))

    def test_mistakes_of_options(self):
        with tempfile.TemporaryDirectory() as folder:
            path, target = os.path.join(folder, "in.onnx"), os.path.join(folder, "out.onnx")
            onnx.save(self.network(17), path)
            for options in (["--target", "elsewhere"], ["--target", "onnxruntime", "--standard-operators"]):
                done = subprocess.run([SINTER, "optimize", path, "-o", target, *options], stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("onnxruntime", done.stderr)

    def test_restrictions_of_attention(self):
        def f(*shape):
            return np.zeros(shape, np.float32)

        x, w, i32 = f(2, 3, 8), f(8, 24), np.int32
        self.refused("'num_heads' is missing", "Attention", [x, w])
        self.refused("is not a number of heads", "Attention", [x, w], num_heads=0)
        self.refused("no multiple of the number of heads, 3", "Attention", [x, w], num_heads=3)
        self.refused("the weights are no matrix", "Attention", [x, f(2, 8, 24)], num_heads=2)
        self.refused("25 columns, no multiple of 3", "Attention", [x, f(8, 25)], num_heads=2)
        self.refused("is not the sizes of Q, K and V", "Attention", [x, w], num_heads=2, qkv_hidden_sizes=[8, 8, 9])
        self.refused("is not the sizes of Q, K and V", "Attention", [x, w], num_heads=2, qkv_hidden_sizes=[2**62, 2**62, 2**62])
        self.refused("the mask is not of i32", "Attention", [x, w, None, f(2, 3)], num_heads=2)
        self.refused("the mask has not one element", "Attention", [x, w, None, np.ones(5, i32)], num_heads=2)
        self.refused("a mask with four dimensions", "Attention", [x, w, None, np.ones((2, 1, 3, 3), i32)], 4, num_heads=2)
        self.refused("past is not [2, batch", "Attention", [x, w, None, None, f(2, 2, 2, 4)], num_heads=2)
        self.refused("rotary positions", "Attention", [x, w], 4, num_heads=2, do_rotary=1)
        self.refused("key or value is missing", "MultiHeadAttention", [x, x], num_heads=2)
        self.refused("the bias has not one element", "MultiHeadAttention", [x, x, x, f(9)], num_heads=2)
        self.refused("past keys or values, but not both", "MultiHeadAttention", [x, x, x, None, None, None, f(2, 2, 1, 4)], num_heads=2)
        self.refused("several beams in one cache", "MultiHeadAttention", [x, x, x] + [None] * 6 + [np.ones((2, 1, 9), i32)], 4, num_heads=2)
        self.refused("the query is not [batch, 1, width]", "DecoderMaskedMultiHeadAttention", [x, x, x], num_heads=2)
        self.refused("2 heads, the value 0", "MultiHeadAttention", [x, f(2, 2, 3, 4), f(2, 0, 3, 4)], num_heads=2)
        offset, sums = np.arange(4, dtype=i32).reshape(2, 2), np.array([0, 2, 3], i32)
        self.refused("is not [tokens, heads, 3", "PackedMultiHeadAttention", [f(3, 2, 4, 4), None, None, None, offset, sums], num_heads=2)
        self.refused("has not one element more", "PackedMultiHeadAttention", [f(3, 2, 3, 4), None, None, None, offset, sums[1:]], num_heads=2)

    def test_restrictions_of_caches(self):
        def f(*shape):
            return np.zeros(shape, np.float32)

        q, kv, past, i32 = f(1, 2, 32), f(1, 2, 16), f(1, 1, 4, 16), np.int32
        given = [q, kv, kv, past, past, np.array([1], i32), np.array(2, i32)]
        heads = {"num_heads": 2, "kv_num_heads": 1}
        self.refused("no multiple of kv_num_heads", "GroupQueryAttention", given, num_heads=3, kv_num_heads=2)
        self.refused("key or value is missing", "GroupQueryAttention", [q, kv, None] + given[3:], **heads)
        self.refused("past keys or values, but not both", "GroupQueryAttention", given[:4] + [None] + given[5:], **heads)
        self.refused("not four dimensions", "GroupQueryAttention", given[:3] + [kv, kv] + given[5:], **heads)
        self.refused("do_rotary needs cosines and sines", "GroupQueryAttention", given, do_rotary=1, **heads)
        self.refused("a quantised cache", "GroupQueryAttention", given, 4, k_quant_type="PER_TENSOR", **heads)
        self.refused("a cache that slides", "GroupQueryAttention", given, 4, sliding_window_cache=1, **heads)
        self.refused("a window without 'causal'", "GroupQueryAttention", given, causal=0, local_window_size=2, **heads)
        self.refused("output 3 and attribute 'qk_output'", "GroupQueryAttention", given, qk_output=1, **heads)
        self.refused("seqlens_k or total_sequence_length is missing", "GroupQueryAttention", given[:5] + [None] + given[6:], **heads)
        self.refused("seqlens_k or total_sequence_length is missing", "GroupQueryAttention", given[:6], **heads)
        for length in (-1, 2**62):
            self.refused("is not a length", "GroupQueryAttention", given[:6] + [np.array(length, np.int64)], constant=(6,), **heads)
        sparse = [q, kv, kv, past, f(4), np.array([[0, 1]], i32), np.array([[0]], i32), np.array([2], i32), np.array([2], i32)]
        self.refused("not four dimensions", "SparseAttention", sparse, sparse_block_size=16, **heads)
        positions, cache = np.zeros((1, 2), np.int64), f(4, 8)
        self.refused("more than two dimensions", "RotaryEmbedding", [kv, positions[None], cache, cache])
        self.refused("not three or four dimensions", "RotaryEmbedding", [f(2, 2), positions, cache, cache])
        self.refused("the cosines or sines are no matrix", "RotaryEmbedding", [kv, positions, f(4), f(4)])
        self.refused("no multiple of heads of 16", "RotaryEmbedding", [f(1, 2, 17), positions, cache, cache])
        self.refused("packed batches", "RotaryEmbedding", [kv, positions, cache, cache], 4, is_packed_batching=1)

    def test_restrictions_of_layers(self):
        def f(*shape):
            return np.zeros(shape, np.float32)

        x, w, u8 = f(1, 2, 4, 4), f(3, 2, 1, 1), np.uint8
        self.refused("activation 'Swirl'", "FusedConv", [x, w], 4, activation="Swirl")
        self.refused("has 2 parameters, not 1", "FusedConv", [x, w], activation="Clip", activation_params=[1.0])
        self.refused("the last dimension, 3, is odd", "BiasSplitGelu", [f(2, 3), f(3)])
        self.refused("no multiple of the groups", "GroupNorm", [x, f(4), f(4)], groups=3, activation=0)
        self.refused("activation 2", "GroupNorm", [x, f(4), f(4)], 4, groups=2, activation=2)
        self.refused("segment ids or embeddings, but not both", "EmbedLayerNormalization",
                     [np.zeros((1, 2), np.int32), None, f(3, 4), f(3, 4), f(3, 4), f(4), f(4)])
        self.refused("metric 'cosine'", "CDist", [f(2, 3), f(2, 3)], 4, metric="cosine")
        self.refused("the matrices are not square", "Inverse", [f(2, 3)])
        self.refused("'ngram_size' is not from 1", "NGramRepeatBlock", [np.zeros((1, 3), np.int64), f(1, 5)], ngram_size=0)
        self.refused("elements that are not of 32 or 64 bits", "MurmurHash3", [np.zeros(3, np.int8)], 4)
        self.refused("max_distance or the number", "RelativePositionBias", [f(8, 2), [3], [3]], max_distance=2)
        self.refused("normalized or not onesided", "Rfft", [f(2, 4)], normalized=1)
        self.refused("smaller than what is taken", "Crop", [x], domain="", opset=8, border=[0, 0, 3, 3], scale=[9, 9])
        self.refused("'bias' has 3 elements for 2 channels", "ImageScaler", [x], domain="", opset=8, bias=[1.0, 2.0, 3.0])
        self.refused("block_size is not a power of 2", "GatherBlockQuantized", [np.zeros((3, 16), u8), [0], f(3, 1)], block_size=24)
        self.refused("2 blocks of 32 are not for 32 elements", "GatherBlockQuantized", [np.zeros((3, 16), u8), [0], f(3, 2)], block_size=32)
        self.refused("'k' is not from 1", "MoE", [f(2, 4), f(2, 3), f(3, 4, 4), None, f(3, 4, 4)], k=4)
        self.refused("the weights of a layer are missing", "MoE", [f(2, 4), f(2, 3), f(3, 4, 4)], k=1)
        low = {"k": 1, "expert_weight_bits": 8}
        self.refused("the scales do not fit", "QMoE", [f(2, 4), f(2, 3), np.zeros((3, 4), u8), f(3, 4, 1), None,
                                                       np.zeros((3, 4, 4), u8), f(3, 4)], **low)
        self.refused("packed elements are a scalar", "QMoE", [f(2, 4), f(2, 3), np.zeros((), u8), f(3, 4)], k=1)
        self.refused("have not the dimensions of the data", "GatherBlockQuantized",
                     [np.zeros((3, 16), u8), [0], f(3, 1), np.zeros(3, u8)], block_size=16)
        self.refused("the weight is no matrix", "GatedRelativePositionBias",
                     [f(1, 2, 8), f(8), f(1, 2, 2, 2), f(4), f(2), f(1, 2, 1, 1)], num_heads=2)
        self.refused("is no order of a matrix", "QuantizeWithOrder", [f(2, 4), np.float32(1)], order_input=9, order_output=1)


def case_of(name, draw):
    def test(self):
        random = np.random.default_rng([SEED, sum(name.encode())])
        variants = [draw(random) for _ in range(COUNT)]
        for first in range(0, COUNT, TOGETHER):
            with self.subTest(name, first=first):
                self.check(variants[first : first + TOGETHER])
            if name in AS_STANDARD:
                with self.subTest(name, standard=first):
                    self.check_standard(variants[first : first + TOGETHER])

        refused = [each for each in REFUSED]
        REFUSED.clear()
        for each in refused[: 5 if "--verbose" in sys.argv else 0]:
            print("refused:", *each)
        self.assertLess(len(refused), COUNT / 3 + 1, refused[:3])

    return test


for family, draw in {**ATTENTIONS, **LAYERS, **QUANTIZED}.items():
    if FAMILY in (None, family):
        setattr(RuntimeOperators, f"test_{family}", case_of(family, draw))


if __name__ == "__main__":
    Command.run_tests(sys.modules[__name__])
