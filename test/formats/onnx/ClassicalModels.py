#!/usr/bin/env python3
# Covers: formats/onnx/ops ClassicalScores FeatureTransforms KeyTables LinearModels Maps PairwiseCoupling TreeEnsembles
# Covers: formats/onnx/ops TreeSource
"""Classical models (ai.onnx.ml), judged by ONNX Runtime.

  ClassicalModels.py --sinter build/bin/sinter [--count N] [--seed S]

Random nodes of every operator, with a number of rows that is known or not: both backends compute what ONNX Runtime does,
and `sinter optimize` gives the nodes back as they were. A model has several nodes, so that it is compiled once for all.

Needs Python's onnx and numpy, and ONNX Runtime (npm install in bench/); without them it says so and ends with 77.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without(runtime=True)
import numpy as np
import onnx
from judge import OnnxRuntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ClassicalGenerator as generator

BACKENDS = ("interpreter", "cpu")
TYPES = {np.dtype(np.float32): 1, np.dtype(np.float64): 11, np.dtype(np.int64): 7, np.dtype(np.int32): 6}


def model_of(cases, is_dynamic):
    """A model of all cases, which are of one version, and its inputs."""
    nodes, inputs, feeds, outputs, constants = [], [], {}, [], []
    for i, case in enumerate(cases):
        names = []
        for name, array in case.feeds.items():
            names.append(f"{name}_{i}")
            feeds[names[-1]] = array
            sizes = [f"N{i}", *array.shape[1:]] if is_dynamic else array.shape
            inputs.append(helper.make_tensor_value_info(names[-1], TYPES[array.dtype], sizes))
        for name, array in case.constants.items():
            names.append(f"{name}_{i}")
            constants.append(numpy_helper.from_array(array, names[-1]))
        own = [f"{name}_{i}" for name in case.outputs]
        outputs += [onnx.ValueInfoProto(name=name) for name in own]
        nodes.append(helper.make_node(case.operator, names, own, name=f"node_{i}", domain=generator.DOMAIN, **case.attributes))
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(generator.DOMAIN, max(case.version for case in cases))]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets), feeds


class Judge:
    def __init__(self, sinter):
        self.sinter, self.failed = sinter, 0

    def fail(self, text):
        self.failed += 1
        print("FAILED", text, flush=True)

    def call(self, *arguments):
        done = subprocess.run([self.sinter, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return None if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr.strip()}"

    def compare(self, cases, expected, got, what):
        if isinstance(got, str):
            return self.fail(f"{what}: {got}\n  {cases}")
        for i, case in enumerate(cases):
            own = {name: expected[f"{name}_{i}"] for name in case.outputs}
            difference = OnnxRuntime.difference(own, {name: got.get(f"{name}_{i}") for name in own}, tolerance=2e-5)
            if difference:
                self.fail(f"{what}: {difference}\n  {case}\n  expected {own}\n  got "
                          f"{ {name: got.get(f'{name}_{i}') for name in own} }")

    def run_pipelines(self, random):
        """Whole models, with 7 rows or N, and with the maps that scikit-learn's classifiers end in."""
        with tempfile.TemporaryDirectory() as folder:
            tasks = []
            for is_dynamic in (False, True):
                for name, nodes, indices, outputs in generator.pipelines(random, 7):
                    own = tempfile.mkdtemp(dir=folder)
                    x = generator.features(random, 7, 6)
                    x[:, :4][random.uniform(size=(7, 4)) < 0.2] = np.nan
                    x[:, 4:] = random.integers(-3, 4, (7, 2))
                    weights = [numpy_helper.from_array(np.array(value, np.int64), key) for key, value in indices.items()]
                    def saved(file, nodes, outputs):
                        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, ["N" if is_dynamic else 7, 6])],
                                                  outputs, weights)
                        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(generator.DOMAIN, 3)]
                        path = os.path.join(own, file)
                        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), path)
                        return path
                    source = saved("in.onnx", nodes, [onnx.ValueInfoProto(name=each) for each in outputs])
                    kept = os.path.join(own, "kept.onnx")
                    if error := self.call("optimize", source, "-o", kept):
                        self.fail(f"optimize: {name}: {error}")
                        continue
                    models = [source, kept]
                    if "probabilities" in outputs:
                        key = onnx.ValueInfoProto(name="maps")
                        maps = key.type.sequence_type.elem_type.map_type
                        maps.key_type = TensorProto.INT64
                        maps.value_type.tensor_type.elem_type = TensorProto.FLOAT
                        count = next(len(each.ints) for node in nodes for each in node.attribute
                                     if each.name.startswith("classlabels_int"))
                        zipped = helper.make_node("ZipMap", ["probabilities"], ["maps"], domain=generator.DOMAIN,
                                                  classlabels_int64s=list(range(count)))
                        models.append(saved("maps.onnx", [*nodes, zipped], [key]))
                    tasks.append((f"{name} {is_dynamic}", own, {"x": x}, models,
                                  OnnxRuntime.Task(source, {"x": x}, os.path.join(own, "run"), level="disabled")))
            OnnxRuntime.run([task[-1] for task in tasks])
            for name, own, feeds, models, judged in tasks:
                if judged.error:
                    self.fail(f"{name}: ONNX Runtime: {judged.error}")
                    continue
                for model in models:
                    for backend in BACKENDS:
                        got = Command.outputs(self.sinter, model, feeds, own, backend)
                        expected = judged.outputs if "maps.onnx" not in model else {"maps": judged.outputs["probabilities"]}
                        wrong = got if isinstance(got, str) else OnnxRuntime.difference(expected, got, tolerance=2e-5)
                        if wrong:
                            self.fail(f"{name} {os.path.basename(model)} {backend}: {wrong}")
            return len(tasks)

    def run(self, groups):
        with tempfile.TemporaryDirectory() as folder:
            tasks = []
            for i, (cases, is_dynamic) in enumerate(groups):
                own = os.path.join(folder, str(i))
                os.mkdir(own)
                source, kept = (os.path.join(own, name) for name in ("in.onnx", "kept.onnx"))
                proto, feeds = model_of(cases, is_dynamic)
                onnx.save(proto, source)
                if error := self.call("optimize", source, "-o", kept):
                    self.fail(f"optimize: {error}\n  {cases}")
                # As bytes: attributes may be NaN.
                elif [node.SerializeToString(deterministic=True) for node in onnx.load(kept).graph.node] != \
                        [node.SerializeToString(deterministic=True) for node in proto.graph.node]:
                    self.fail(f"nodes are not as they were: {cases}")
                tasks.append((cases, own, feeds, source,
                              OnnxRuntime.Task(source, feeds, os.path.join(own, "run"), level="disabled")))
            OnnxRuntime.run([task[-1] for task in tasks])
            for cases, own, feeds, source, judged in tasks:
                if judged.error:
                    self.fail(f"ONNX Runtime: {judged.error}\n  {cases}")
                    continue
                for backend in BACKENDS:
                    self.compare(cases, judged.outputs, Command.outputs(self.sinter, source, feeds, own, backend), backend)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--count", type=int, default=96, help="how many nodes with trees, and how many others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=12, help="how many nodes a model has")
    parser.add_argument("--only", help="the function of ClassicalGenerator that makes all cases")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    groups = []
    for makers in [[getattr(generator, options.only)]] if options.only else [generator.TREES, generator.OTHERS]:
        cases = [makers[i % len(makers)](random) for i in range(options.count)]
        # LabelEncoder has other attributes before version 2, others are the same in all.
        for version in sorted({case.version for case in cases}):
            same = [case for case in cases if case.version == version]
            for i in range(0, len(same), options.together):
                groups.append((same[i:i + options.together], len(groups) % 2 == 1))
    judge = Judge(options.sinter)
    judge.run(groups)
    if not options.only:
        print(f"{judge.run_pipelines(random)} pipelines")
    print(f"{sum(len(cases) for cases, _ in groups)} nodes, {judge.failed} failed")
    sys.exit(judge.failed != 0)


if __name__ == "__main__":
    main()
