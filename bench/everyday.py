#!/usr/bin/python3
"""Writes networks of every day with random weights in ONNX test form.

    bench/everyday.py --out DIR [--static] [--list] [NAME ...]

Each goes to DIR/NAME: model.onnx, and a test_data_set_0 with one set of inputs and PyTorch's outputs. Dimensions that users
have dynamic (the batch, an image's size, a sequence's length) are dynamic; --static fixes all. torchvision's detectors are
written by detectors.py. The last line is `N written, N failed`.
"""
import argparse
import os
import sys
import time
import warnings

import numpy
import onnx
import torch
from onnx import numpy_helper

from networks import audio, language, vision  # noqa: F401: they fill the table
from networks.registry import NETWORKS

warnings.filterwarnings("ignore")


# Of Swin v2, which clears a part of a bias; the exporter lacks it.
torch.onnx.register_custom_op_symbolic("aten::zero", lambda g, x: g.op("Mul", x, g.op("Constant", value_t=torch.tensor(0.0))), 17)


def save(folder, kind, tensors):
    """Tensors by name, as files of ONNX's tests."""
    for i, (name, tensor) in enumerate(tensors.items()):
        value = numpy_helper.from_array(numpy.ascontiguousarray(tensor.numpy()), name)
        with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as file:
            file.write(value.SerializeToString())


def write(name, folder, static):
    network = NETWORKS[name]
    torch.manual_seed(7)
    start = time.monotonic()
    module, inputs, outputs = network.make()
    data, path = os.path.join(folder, "test_data_set_0"), os.path.join(folder, "model.onnx")
    os.makedirs(data, exist_ok=True)
    with torch.no_grad():
        torch.onnx.export(module, tuple(inputs.values()), path, opset_version=network.opset, input_names=list(inputs), output_names=outputs,
                          dynamic_axes={} if static else network.dynamic)
        results = module(*inputs.values())
    results = dict(zip(outputs, results if isinstance(results, tuple) else (results,)))
    save(data, "input", inputs)
    save(data, "output", results)
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    deviation = float(next(iter(results.values())).std())
    print(f"{name:16s} {os.path.getsize(path) / 1e6:7.1f} MB {nodes:5d} nodes, outputs' deviation {deviation:.3g}, {time.monotonic() - start:.0f} s", flush=True)
    if not all(torch.isfinite(each).all() for each in results.values()):
        raise ValueError("outputs are not finite")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *NETWORKS])
    parser.add_argument("--out")
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(NETWORKS))
        return 0
    if not options.out:
        parser.error("--out is needed")
    failed = 0
    names = options.names or list(NETWORKS)
    for name in names:
        try:
            write(name, os.path.join(options.out, name), options.static)
        except (RuntimeError, ValueError, torch.onnx.errors.OnnxExporterError) as error:
            print(f"{name}: {str(error).strip().splitlines()[0]}", flush=True)
            failed += 1
    print(f"{len(names) - failed} written, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
