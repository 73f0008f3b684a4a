"""Single nodes with values that NumPy computes, for tests of operators by value.

Each case is a node with inputs and expected outputs. Both backends run it, with sizes that are known, and with dynamic
dimensions as one program for all sizes; `sinter optimize` gives the node back. A refused case is a node that has to be
listed with a text in its reason.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Command, Packages

Packages.skip_without()
import numpy as np
import onnx
from onnx import helper, numpy_helper

TYPES = {np.dtype(np.float16): 10, np.dtype(np.float32): 1, np.dtype(np.float64): 11, np.dtype(np.bool_): 9,
         np.dtype(np.int8): 3, np.dtype(np.uint8): 2, np.dtype(np.int16): 5, np.dtype(np.uint16): 4,
         np.dtype(np.int32): 6, np.dtype(np.uint32): 12, np.dtype(np.int64): 7, np.dtype(np.uint64): 13}
# What f16 results may differ by: the graph rounds once.
TOLERANCE = {np.dtype(np.float16): 4e-3, np.dtype(np.float64): 1e-6}


class Coded:
    """A tensor of an element type that NumPy lacks: its codes, of 4 or 8 bits, and its number in ONNX."""

    def __init__(self, codes, number, bits):
        self.codes, self.number, self.bits = np.asarray(codes, np.uint8), number, bits
        self.shape, self.ndim, self.dtype = self.codes.shape, self.codes.ndim, f"type{number}"

    def proto(self, name=""):
        flat = self.codes.reshape(-1)
        if self.bits == 4:
            flat = np.append(flat, np.zeros(flat.size % 2, np.uint8))
            flat = flat[0::2] | flat[1::2] << 4
        return onnx.TensorProto(name=name, data_type=self.number, dims=self.shape, raw_data=flat.tobytes())


def number_of(array):
    """The element type of an array, by its number in ONNX."""
    return array.number if isinstance(array, Coded) else TYPES[array.dtype]


def proto_of(array, name=""):
    return array.proto(name) if isinstance(array, Coded) else numpy_helper.from_array(array, name)


class Case:
    """A node. INPUTS: arrays by position, None where absent. OUTPUTS: the expected arrays, None where not asked for.
    STATIC: the positions of inputs that are constants, as sizes and axes are."""

    def __init__(self, operator, inputs, outputs, version, domain="", static=(), known=(), refused=None, whole=True,
                 **attributes):
        self.operator, self.inputs, self.outputs = operator, inputs, outputs
        self.version, self.domain, self.attributes = version, domain, attributes
        self.static, self.known, self.refused, self.whole = static, known, refused, whole

    def __str__(self):
        shapes = [None if each is None else f"{each.dtype}{list(each.shape)}" for each in self.inputs]
        words = {key: value for key, value in self.attributes.items() if not isinstance(value, onnx.GraphProto)}
        return f"{self.operator}-{self.version} {shapes} {words}"

    def model(self, is_dynamic):
        """The model; with IS_DYNAMIC all dimensions but those in KNOWN, pairs of input and dimension, are dynamic."""
        names = [f"x{i}" if each is not None else "" for i, each in enumerate(self.inputs)]
        results = [f"y{i}" if each is not None else "" for i, each in enumerate(self.outputs)]
        declared, constants = [], []
        for i, array in enumerate(self.inputs):
            if array is None:
                continue
            if i in self.static:
                constants.append(proto_of(array, names[i]))
                continue
            sizes = [f"d{i}_{k}" if is_dynamic and (i, k) not in self.known else size for k, size in enumerate(array.shape)]
            declared.append(helper.make_tensor_value_info(names[i], number_of(array), sizes))
        given = [helper.make_tensor_value_info(name, number_of(array), [None] * array.ndim)
                 for name, array in zip(results, self.outputs) if array is not None]
        node = helper.make_node(self.operator, names, results, name="node", domain=self.domain, **self.attributes)
        opsets = [helper.make_opsetid("", self.version if not self.domain else 27)]
        if self.domain:
            opsets.append(helper.make_opsetid(self.domain, self.version))
        graph = helper.make_graph([node], "g", declared, given, constants)
        return helper.make_model(graph, ir_version=10, opset_imports=opsets)

    def save(self, folder, is_dynamic):
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data)
        onnx.save(self.model(is_dynamic), os.path.join(folder, "model.onnx"))
        inputs = [each for i, each in enumerate(self.inputs) if each is not None and i not in self.static]
        outputs = [each for each in self.outputs if each is not None]
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for i, array in enumerate(arrays):
                with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                    file.write(proto_of(array).SerializeToString())


def answers(sinter, folders, *options):
    """What `sinter test` says of each folder: None if it passed, else the reason."""
    done = subprocess.run([sinter, "test", "--threads", "1", "--sizes", "1", "--json", *options, *folders],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    told = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if "case" in answer:
            told[os.path.normpath(answer["case"])] = None if answer["status"] == "passed" else answer.get("reason", "?")
    return [told.get(os.path.normpath(each), f"no answer, exit code {done.returncode}") for each in folders]


def given_back(sinter, path):
    """Why `sinter optimize` does not give the node back as it was, or None."""
    target = path + ".kept.onnx"
    if failure := Command.optimize(sinter, path, target):
        return failure
    before, after = onnx.load(path).graph, onnx.load(target).graph
    left = [each for each in after.node if each.op_type != "Constant"]
    if list(left) != list(before.node):
        return f"became {[each.op_type for each in left]}"
    return None


def tolerances(case):
    """The options that say how exact the case's results are."""
    worst = max([TOLERANCE.get(each.dtype, 2e-5) for each in case.outputs if each is not None], default=2e-5)
    return ("--rtol", str(worst), "--atol", "0", "--range-atol", str(worst))


def check(sinter, cases):
    """Runs all cases; the failures, a line each."""
    failures, groups = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(cases):
            for is_dynamic in (False, True):
                if is_dynamic and case.refused is not None:
                    continue
                own = os.path.join(folder, f"{i}-{'open' if is_dynamic else 'static'}")
                case.save(own, is_dynamic)
                groups.setdefault((is_dynamic, tolerances(case)), []).append((case, own))
        for (is_dynamic, exactness), members in groups.items():
            for backend in ("interpreter", "cpu"):
                options = ("--backend", backend, *exactness) + (("--dynamic",) if is_dynamic and backend == "cpu" else ())
                reasons = answers(sinter, [own for _, own in members], *options)
                for (case, _), reason in zip(members, reasons):
                    if case.refused is None and reason is not None:
                        failures.append(f"{case}, {backend}{', dynamic' if is_dynamic else ''}: {reason}")
                    if case.refused is not None and (reason is None or case.refused not in reason):
                        failures.append(f"{case}, {backend}: {reason} instead of '{case.refused}'")
            for case, own in members:
                if case.refused is None and case.whole and (failure := given_back(sinter, os.path.join(own, "model.onnx"))):
                    failures.append(f"{case}: {failure}")
    return failures


def main(cases, documentation):
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="", help="only cases whose text holds this")
    options = parser.parse_args()
    chosen = [case for case in cases if options.filter in str(case)]
    failures = check(options.sinter, chosen)
    for each in failures:
        print(each)
    print(f"{len(chosen) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or not chosen else 0
