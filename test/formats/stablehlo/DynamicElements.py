#!/usr/bin/env python3
"""Structured ONNX nodes of unknown sizes, as StableHLO, in every element type.

  DynamicElements.py --sinter build/bin/sinter [--filter NAME] [--types f32,i32] [--seed 1] [--every K] [--start I]

Each node of the table below is made with symbolic sizes in f64, f32, f16 and bf16 (and i32 where it takes integers),
converted to StableHLO text, and that is optimised once more. For two sets of sizes, one given and one random, what the
oracle computes of the ONNX file itself must come out of all of them, on both backends. With --every only one in K pairs of
a node and a type is taken, from number I on, but each node in some type, for K up to 3. Needs Python's onnx and numpy;
without them, it says so and ends with 77.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

from DynamicNodes import SKIPPED, run

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

TYPES = {"f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
         "i32": TensorProto.INT32}
FLOATS = ("f64", "f32", "f16", "bf16")
TOLERANCE = {"f64": 1e-9, "f32": 1e-4, "f16": 5e-3, "bf16": 3e-2, "i32": 0}
SIDE, CHANNELS = 7, 4


def case(op, types=FLOATS, channels="C", inputs=0, constants=(), opset=18, spatial=2, outputs=1, **attributes):
    """OP of x [N, C, spatial...]; then INPUTS vectors of a number a channel, and CONSTANTS."""
    return dict(op=op, types=types, channels=channels, inputs=inputs, constants=constants, opset=opset, spatial=spatial,
                outputs=outputs, attributes=attributes)


def sizes(*values):
    return numpy.array(values, numpy.int64)


CASES = {
    "max_pool": case("MaxPool", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
    "max_pool_ceil": case("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "max_pool_same": case("MaxPool", kernel_shape=[3, 2], strides=[2, 3], auto_pad="SAME_UPPER"),
    "average_pool": case("AveragePool", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
    "average_pool_counted": case("AveragePool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1),
    "average_pool_ceil": case("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1,
                              count_include_pad=1),
    "average_pool_same": case("AveragePool", kernel_shape=[3, 2], strides=[2, 3], auto_pad="SAME_LOWER"),
    "lp_pool": case("LpPool", kernel_shape=[2, 2], strides=[2, 2], p=2),
    "global_average_pool": case("GlobalAveragePool"),
    "softmax": case("Softmax", axis=1),
    "log_softmax": case("LogSoftmax", axis=-1),
    "hardmax": case("Hardmax", axis=2),
    "lrn": case("LRN", size=3),
    "lp_normalization": case("LpNormalization", axis=1),
    "layer_norm": case("LayerNormalization", types=("f32", "f16", "bf16"), channels=CHANNELS, axis=1, constants=[numpy.ones((CHANNELS, 1, 1))], spatial=2),
    "instance_norm": case("InstanceNormalization", inputs=2),
    "group_norm": case("GroupNormalization", channels=CHANNELS, inputs=2, num_groups=2, opset=21),
    "mean_variance_norm": case("MeanVarianceNormalization"),
    "gelu": case("Gelu", opset=20),
    "mish": case("Mish"),
    "erf": case("Erf"),
    "gather": case("Gather", types=FLOATS + ("i32",), constants=[sizes(0, -1, 1)], axis=2),
    "resize_scales": case("Resize", constants=["", numpy.array([1, 1, 1.6, 2.0], numpy.float32)], mode="linear"),
    "resize_sizes": case("Resize", channels=CHANNELS, constants=["", "", sizes(1, CHANNELS, 5, 9)], mode="nearest"),
    "resize_cubic": case("Resize", constants=["", numpy.array([1, 1, 0.6, 1.7], numpy.float32)], mode="cubic",
                         coordinate_transformation_mode="pytorch_half_pixel"),
    "pad_reflect": case("Pad", types=FLOATS + ("i32",), constants=[sizes(0, 0, 2, 1, 0, 0, 1, 2)], mode="reflect"),
    "pad_edge": case("Pad", types=FLOATS + ("i32",), constants=[sizes(0, 1, 2, 1, 0, 0, 1, 2)], mode="edge"),
    "cumsum": case("CumSum", types=("f64", "f32", "i32"), constants=[sizes(2).reshape(())], reverse=1, exclusive=1),
    "arg_max": case("ArgMax", types=FLOATS + ("i32",), axis=1),
    "top_k": case("TopK", types=FLOATS + ("i32",), constants=[sizes(3)], axis=3, outputs=2),
    "one_hot": case("OneHot", types=("i32",), constants=[sizes(6).reshape(()), sizes(2, 5)], axis=1),
    "depth_to_space": case("DepthToSpace", channels=CHANNELS, blocksize=2),
    "tile": case("Tile", constants=[sizes(1, 2, 1, 3)]),
    "reduce_mean": case("ReduceMean", constants=[sizes(1, 3)]),
    "reduce_l2": case("ReduceL2", constants=[sizes(2)], keepdims=0),
    "conv_same": case("Conv", channels=CHANNELS, constants=[numpy.linspace(-1, 1, 5 * CHANNELS * 9).reshape(5, CHANNELS, 3, 3)],
                      auto_pad="SAME_UPPER", strides=[2, 2]),
    "conv_transpose_shape": case("ConvTranspose", channels=CHANNELS,
                                 constants=[numpy.linspace(-1, 1, 5 * CHANNELS * 9).reshape(CHANNELS, 5, 3, 3)],
                                 auto_pad="SAME_LOWER", strides=[2, 2]),
}


def model_of(each, kind):
    element = TYPES[kind]
    dims = ["N", each["channels"], "H", "W"]
    values = [helper.make_tensor_value_info("x", element, dims)]
    names, initializers = ["x"], []
    for i in range(each["inputs"]):
        values.append(helper.make_tensor_value_info(f"v{i}", element, [each["channels"]]))
        names.append(f"v{i}")
    for i, constant in enumerate(each["constants"]):
        if isinstance(constant, str):
            names.append("")
            continue
        names.append(f"c{i}")
        if constant.dtype == numpy.float64:
            initializers.append(helper.make_tensor(f"c{i}", element, constant.shape, constant.flatten().tolist()))
        else:
            initializers.append(numpy_helper.from_array(constant, f"c{i}"))
    outputs = [f"y{i}" for i in range(each["outputs"])]
    node = helper.make_node(each["op"], names, outputs, name="node", **each["attributes"])
    integers = each["op"] in ("ArgMax", "OneHot")
    results = [helper.make_tensor_value_info(name, TensorProto.INT64 if integers or i else element, None)
               for i, name in enumerate(outputs)]
    return helper.make_model(helper.make_graph([node], "g", values, results, initializers),
                             opset_imports=[helper.make_opsetid("", each["opset"])], ir_version=9)


class Failure(Exception):
    pass


def sinter(options, *arguments):
    done = subprocess.run([options.sinter, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{arguments[0]} {os.path.basename(str(arguments[1]))}: {done.stderr.strip()[-300:]}")


def save_tensor(array, kind, path):
    """Numbers as they are, or the bits of a type that NumPy does not have."""
    element = TYPES[kind] if array.dtype.kind == "V" else NP_TYPE_TO_TENSOR_TYPE[array.dtype]
    tensor = TensorProto(dims=array.shape, data_type=element, raw_data=array.tobytes())
    with open(path, "wb") as file:
        file.write(tensor.SerializeToString())


def write_data(options, each, kind, shape, source, folder):
    """A data set of random inputs, with what the oracle computes of the file."""
    os.makedirs(folder)
    inputs = []
    for i, size in enumerate([shape] + [[shape[1]]] * each["inputs"]):
        numbers = options.numbers.uniform(-1, 1, size)
        if kind == "i32":
            array = numpy.floor(numbers * 5).astype(numpy.int32)
        elif kind == "bf16":
            array = (numbers.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).view("V2")
        else:
            array = numbers.astype(kind.replace("f", "float"))
        path = os.path.join(folder, f"input_{i}.pb")
        save_tensor(array, kind, path)
        inputs += ["--input", path]
    results = os.path.join(folder, "results")
    sinter(options, "run", source, "--backend", "interpreter", *inputs, "--no-cache", "--output-dir", results)
    for i in range(each["outputs"]):
        save_tensor(numpy.load(os.path.join(results, f"y{i}.npy")), kind, os.path.join(folder, f"output_{i}.pb"))


def write(options, name, kind, shapes, folder):
    """What `sinter test` takes, in folders of the case's name: the model as it is converted, and as that is optimised."""
    each = CASES[name]
    own, text, again = (os.path.join(folder, form, f"{name}-{kind}") for form in ("onnx", "text", "again"))
    for place in (own, text, again):
        os.makedirs(place)
    source = os.path.join(own, "net.onnx")
    onnx.save(model_of(each, kind), source)
    for number, shape in enumerate(shapes):
        data = f"test_data_set_{number}"
        write_data(options, each, kind, shape, source, os.path.join(own, data))
        for place in (text, again):
            os.symlink(os.path.join(own, data), os.path.join(place, data))
    sinter(options, "convert", source, "-o", os.path.join(text, "model.mlir"))
    sinter(options, "optimize", os.path.join(text, "model.mlir"), "-o", os.path.join(again, "model.mlir"))
    return [text, again]


def shapes_of(options, name, kind):
    dice = random.Random(f"{options.seed} {name} {kind}")
    fixed = CASES[name]["channels"]
    channels = fixed if isinstance(fixed, int) else dice.randint(2, 6)
    batch = 1 if name == "resize_sizes" else dice.randint(1, 3)
    return [[1, CHANNELS, SIDE, SIDE], [batch, channels, dice.randint(4, 9), dice.randint(4, 9)]]


def check(options, kind, folder):
    """The number of cases of one type, and why some of them failed: {case: reason}."""
    folders, failed = [], {}
    names = [name for name, each in options.pairs if each == kind]
    for name in names:
        try:
            folders += write(options, name, kind, shapes_of(options, name, kind), folder)
        except Failure as failure:
            failed[f"{name}-{kind}"] = str(failure)
    tolerance = ["--rtol", "0", "--atol", str(TOLERANCE[kind]), "--range-atol", str(TOLERANCE[kind])]
    for form in ("text", "again"):
        cases = [each for each in folders if os.path.basename(os.path.dirname(each)) == form]
        for backend in ("interpreter", "cpu"):
            for case, why in run(options.sinter, backend, cases, tolerance).items() if cases else ():
                if why:
                    failed[case] = f"{form} on {backend}: {why}"
    return len(names), failed


def is_only(pair, pairs):
    """Whether the pair's node comes in no other type."""
    return sum(name == pair[0] for name, _ in pairs) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    options.numbers = numpy.random.default_rng(options.seed)
    kinds = options.types.split(",")
    pairs = [(name, kind) for name in CASES for kind in kinds if options.filter in name and kind in CASES[name]["types"]]
    options.pairs = [pair for i, pair in enumerate(pairs) if i % options.every == options.start % options.every or is_only(pair, pairs)]
    count, failed = 0, {}
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            number, reasons = check(options, kind, folder)
        count += number
        failed.update(reasons)
    for case, why in failed.items():
        print(f"FAILED {case}: {why}", flush=True)
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
