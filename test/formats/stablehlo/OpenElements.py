#!/usr/bin/env python3
"""Structured ONNX nodes of unknown sizes, as StableHLO, in every element type.

  OpenElements.py --sinter build/bin/sinter [--filter NAME] [--seed 1]

Each node of the table below is made with symbolic sizes in f64, f32, f16 and bf16 (and i32 where it takes integers),
converted to StableHLO text, and that is optimised once more. For two sets of sizes, one given and one random, what the
oracle computes of the ONNX file itself must come out of all of them, on both backends. Needs Python's onnx and numpy;
without them, it says so and ends with 77.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
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


def outputs_of(options, model, backend, shape, vectors, folder):
    arguments = ["--shape", f"x:{'x'.join(map(str, shape))}"]
    for i in range(vectors):
        arguments += ["--shape", f"v{i}:{shape[1]}"]
    sinter(options, "run", model, "--backend", backend, "--input", "random:5", "--no-cache", "--output-dir", folder, *arguments)
    arrays = [numpy.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    return [(each.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32) if each.dtype.kind == "V" else each
            for each in arrays]


def check(options, name, kind, shapes, folder):
    each = CASES[name]
    source, text, again = (os.path.join(folder, f"{stem}") for stem in ("net.onnx", "net.mlir", "again.mlir"))
    onnx.save(model_of(each, kind), source)
    sinter(options, "convert", source, "-o", text)
    sinter(options, "optimize", text, "-o", again)
    for number, shape in enumerate(shapes):
        expected = outputs_of(options, source, "interpreter", shape, each["inputs"], os.path.join(folder, f"e{number}"))
        for model in (text, again):
            for backend in ("interpreter", "cpu"):
                what = f"{os.path.basename(model)} of {shape} on {backend}"
                got = outputs_of(options, model, backend, shape, each["inputs"],
                                 os.path.join(folder, f"{os.path.basename(model)}{number}{backend}"))
                if [a.shape for a in got] != [b.shape for b in expected]:
                    raise Failure(f"{what}: shapes {[a.shape for a in got]}, not {[b.shape for b in expected]}")
                for a, b in zip(got, expected):
                    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
                    scale = max(1.0, float(numpy.abs(b).max(initial=0)))
                    distance = float(numpy.abs(a - b).max(initial=0))
                    if not distance <= TOLERANCE[kind] * scale:
                        raise Failure(f"{what}: differs by {distance:.3g} of {scale:.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    passed = failed = 0
    for name in CASES:
        if options.filter not in name:
            continue
        for kind in CASES[name]["types"]:
            dice = random.Random(f"{options.seed} {name} {kind}")
            fixed = CASES[name]["channels"]
            channels = fixed if isinstance(fixed, int) else dice.randint(2, 6)
            batch = 1 if name == "resize_sizes" else dice.randint(1, 3)
            shapes = [[1, CHANNELS, SIDE, SIDE], [batch, channels, dice.randint(4, 9), dice.randint(4, 9)]]
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(options, name, kind, shapes, folder)
                    passed += 1
                except Failure as failure:
                    failed += 1
                    print(f"FAILED {name} {kind}: {failure}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
