#!/usr/bin/env python3
"""Checks that written ONNX is worth as much to others as what came in.

  fusions.py FOLDER --sinter build/bin/sinter [--filter TEXT] [--node-modules bench/node_modules]

FOLDER holds models in ONNX test form (NAME/model.onnx and, if there are any,
NAME/test_data_set_0/input_*.pb). Each is optimised, and ONNX Runtime optimises
both the original and what was written. Of the latter it must find every fusion
as often as of the original (a kind of kernel that only fusions make), have at
most 1.02 times the nodes left, and give the same outputs on the test inputs, up
to 1e-4 of their range.

Needs Python's onnx and numpy (Debian: python3-onnx), node and onnxruntime-node
(npm install in bench/); without them it says so and ends with 77.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError:
    onnx = None

# What fusions make and files rarely hold.
FUSIONS = ["Attention", "BiasDropout", "BiasGelu", "BiasSoftmax", "EmbedLayerNormalization", "FastGelu", "FusedConv",
           "FusedGemm", "FusedMatMul", "Gelu", "GroupQueryAttention", "LayerNormalization", "MultiHeadAttention",
           "NhwcFusedConv", "QAttention", "QGemm", "QLinearAdd", "QLinearConv", "QLinearMatMul", "QuickGelu",
           "RotaryEmbedding", "SimplifiedLayerNormalization", "SkipLayerNormalization",
           "SkipSimplifiedLayerNormalization"]
# One may stand for the other: which of them it becomes depends on what is around.
SAME_KIND = {"BiasGelu": "Gelu", "FastGelu": "Gelu", "SkipLayerNormalization": "LayerNormalization",
             "EmbedLayerNormalization": "LayerNormalization",
             "SkipSimplifiedLayerNormalization": "SimplifiedLayerNormalization"}
MOST_NODES = 1.02
TOLERANCE = 1e-4

SCRIPT = """
const ort = require(process.argv[2] + '/onnxruntime-node');
const fs = require('fs');
(async () => {
  const job = JSON.parse(fs.readFileSync(process.argv[3]));
  const session = await ort.InferenceSession.create(job.model, {graphOptimizationLevel: 'all',
    optimizedModelFilePath: job.optimised, logSeverityLevel: 3, intraOpNumThreads: 1});
  const kinds = {float32: Float32Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array, uint8: Uint8Array,
    int8: Int8Array, float64: Float64Array, float16: Uint16Array, uint16: Uint16Array, int16: Int16Array};
  const outputs = {};
  if (job.inputs) {
    const feeds = {};
    for (const each of job.inputs) {
      const bytes = fs.readFileSync(each.file);
      const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      feeds[each.name] = new ort.Tensor(each.type, new kinds[each.type](buffer), each.dims);
    }
    const results = await session.run(feeds);
    for (const name of session.outputNames) {
      const value = results[name];
      if (!value || !value.data || value.type === 'string') continue;
      const file = job.folder + '/out_' + Object.keys(outputs).length;
      fs.writeFileSync(file, Buffer.from(value.data.buffer, value.data.byteOffset, value.data.byteLength));
      outputs[name] = {type: value.type, dims: value.dims, file};
    }
  }
  fs.writeFileSync(job.folder + '/result.json', JSON.stringify(outputs));
})().catch((error) => { console.error(error.message); process.exit(1); });
"""


class Failed(Exception):
    pass


def test_inputs(folder, model, scratch):
    """The first data set as the script takes it, or None."""
    data = os.path.join(folder, "test_data_set_0")
    given = {each.name for each in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in given]
    inputs = []
    for i, name in enumerate(names):
        path = os.path.join(data, f"input_{i}.pb")
        if not os.path.exists(path):
            return None
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        array = np.ascontiguousarray(numpy_helper.to_array(tensor))
        file = os.path.join(scratch, f"in_{i}")
        array.tofile(file)
        inputs.append({"name": name, "type": str(array.dtype), "dims": list(tensor.dims), "file": file})
    return inputs


def run(options, model, inputs):
    """The counts of the runtime's own graph by operator, and its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        optimised = os.path.join(folder, "optimised.onnx")
        job = os.path.join(folder, "job.json")
        script = os.path.join(folder, "run.js")
        with open(script, "w") as file:
            file.write(SCRIPT)
        with open(job, "w") as file:
            json.dump({"model": model, "optimised": optimised, "inputs": inputs, "folder": folder}, file)
        done = subprocess.run(["node", script, os.path.abspath(options.node_modules), job], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed((done.stderr.strip().splitlines() or ["no reason given"])[0])
        counts = collections.Counter()

        def count(graph):
            for node in graph.node:
                counts[node.op_type] += 1
                for attribute in node.attribute:
                    if attribute.HasField("g"):
                        count(attribute.g)
        count(onnx.load(optimised, load_external_data=False).graph)
        outputs = {}
        with open(os.path.join(folder, "result.json")) as file:
            for name, each in json.load(file).items():
                kind = {"float16": "float16", "bool": "uint8"}.get(each["type"], each["type"])
                outputs[name] = np.fromfile(each["file"], kind).reshape(each["dims"])
        return counts, outputs


def by_kind(counts):
    kinds = collections.Counter()
    for name in FUSIONS:
        kinds[SAME_KIND.get(name, name)] += counts[name]
    return kinds


def difference(before, after):
    """The first output that differs, in words, or None."""
    for name, expected in before.items():
        got = after.get(name)
        if got is None or got.shape != expected.shape or got.dtype != expected.dtype:
            return f"output '{name}' is not what it was"
        a, b = expected.astype(np.float64), got.astype(np.float64)
        span = np.ptp(a[np.isfinite(a)]) if np.isfinite(a).any() else 0.0
        bound = TOLERANCE * max(span, np.abs(a[np.isfinite(a)]).max() if np.isfinite(a).any() else 0.0)
        if not np.allclose(a, b, rtol=0, atol=max(bound, 1e-12), equal_nan=True):
            return f"output '{name}' differs by {np.nanmax(np.abs(a - b)):.3g} (of {span:.3g})"
    return None


def check(options, folder):
    """The table's row; raises Failed."""
    model = os.path.join(folder, "model.onnx")
    with tempfile.TemporaryDirectory() as scratch:
        written = os.path.join(scratch, "written.onnx")
        done = subprocess.run([options.sinter, "optimize", model, "-o", written], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed("not written: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1])
        inputs = test_inputs(folder, onnx.load(model, load_external_data=False), scratch)
        before, expected = run(options, model, inputs)
        after, got = run(options, written, inputs)
    row = [sum(before.values()), sum(after.values())]
    fusions = by_kind(before)
    lost = [f"{name} {count} -> {by_kind(after)[name]}" for name, count in fusions.items()
            if by_kind(after)[name] < count]
    if lost:
        raise Failed(f"{row[0]} -> {row[1]} nodes, fewer fusions: " + ", ".join(lost))
    if row[1] > MOST_NODES * row[0]:
        more = [f"{name} {before[name]} -> {after[name]}" for name in sorted(after) if after[name] > before[name]]
        raise Failed(f"{row[0]} -> {row[1]} nodes: " + ", ".join(more))
    wrong = difference(expected, got)
    if wrong:
        raise Failed(wrong)
    return row + [", ".join(f"{count} {name}" for name, count in sorted(fusions.items()) if count) or "-",
                  "" if inputs is not None else "(not run: no test inputs)"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only models whose name holds this")
    parser.add_argument("--node-modules", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                                                               "bench", "node_modules"))
    options = parser.parse_args()
    missing = ("Python's onnx (Debian: python3-onnx)" if not onnx else
               "node" if not shutil.which("node") else
               "onnxruntime-node (npm install --ignore-scripts in bench/)"
               if not os.path.isdir(os.path.join(options.node_modules, "onnxruntime-node")) else None)
    if missing:
        print(f"skipped: {missing} is not installed")
        return 77
    if not os.path.isdir(options.folder):
        print(f"skipped: {options.folder} is not there")
        return 77
    names = sorted(name for name in os.listdir(options.folder)
                   if options.filter in name and os.path.exists(os.path.join(options.folder, name, "model.onnx")))
    passed = failed = 0
    print(f"{'model':24} {'nodes':>6} {'after':>6}  fusions")
    for name in names:
        try:
            row = check(options, os.path.join(options.folder, name))
            print(f"{name:24} {row[0]:6} {row[1]:6}  {row[2]} {row[3]}".rstrip(), flush=True)
            passed += 1
        except Failed as error:
            print(f"{name:24} FAILED: {error}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
