#!/usr/bin/python3
"""Trains a network of QuantizeLinear and DequantizeLinear in Sinter, and the same one of fake_quantize in PyTorch.

    /usr/bin/python3 bench/quantized_training.py [--sinter PATH] [--seeds 5]

Two products with a rectifier between them, of which inputs, weights (one scale, or one for each column) and activations are rounded to 8 bits, some of them cut. 16 steps in f32 from
the same weights, on the same samples in the same order, by descent with momentum. Prints the loss of the last step of both, by how much their losses differ at most, and the
same of weights, by the norm of each tensor. Fails where that is more than 1e-5.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS, HIDDEN, CLASSES, BATCH, STEPS = 24, 32, 5, 16, 16
# The tensor, its scales, its zero point and the bounds of its elements.
X, H = (0.02, 128, 0, 255), (0.01, 0, 0, 255)


def scales_of(weight, is_by_column):
    """So that the greatest weights are cut."""
    most = np.abs(weight).max(0) if is_by_column else np.abs(weight).max()
    return (0.8 * most / 127).astype(np.float32)


def model_of(weights, scales):
    nodes, tensors = [], [numpy_helper.from_array(value, name) for name, value in weights.items()]

    def through(source, scale, zero_point):
        name = source + "_rounded"
        tensors.extend([numpy_helper.from_array(np.asarray(scale, np.float32), name + "_scale"), numpy_helper.from_array(zero_point, name + "_zero")])
        parts = [name + "_scale", name + "_zero"]
        nodes.append(helper.make_node("QuantizeLinear", [source, *parts], [name + "_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_q", *parts], [name]))
        return name

    def weight(name):
        return through(name, scales[name], np.zeros(np.shape(scales[name]), np.int8))

    nodes.append(helper.make_node("MatMul", [through("x", X[0], np.uint8(X[1])), weight("w")], ["m"]))
    nodes.append(helper.make_node("Add", ["m", "b"], ["s"]))
    nodes.append(helper.make_node("Relu", ["s"], ["h"]))
    nodes.append(helper.make_node("MatMul", [through("h", H[0], np.uint8(H[1])), weight("v")], ["y"]))
    order = {name: i for i, name in enumerate(["x_rounded", "w_rounded", "m", "s", "h", "h_rounded", "v_rounded", "y"])}
    nodes.sort(key=lambda node: order[node.output[0].removesuffix("_q")])
    graph = helper.make_graph(nodes, "rounded", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", INPUTS])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", CLASSES])], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def train_pytorch(weights, scales, x, target):
    parameters = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}

    def weight(name):
        if np.ndim(scales[name]) == 0:
            return torch.fake_quantize_per_tensor_affine(parameters[name], float(scales[name]), 0, -128, 127)
        return torch.fake_quantize_per_channel_affine(parameters[name], torch.from_numpy(scales[name]), torch.zeros(len(scales[name]), dtype=torch.int32), 1, -128, 127)

    optimizer, losses = torch.optim.SGD(parameters.values(), 0.05, momentum=0.9), []
    for samples, labels in zip(torch.from_numpy(x).split(BATCH), torch.from_numpy(target).split(BATCH)):
        optimizer.zero_grad()
        hidden = torch.relu(torch.fake_quantize_per_tensor_affine(samples, *X) @ weight("w") + parameters["b"])
        loss = torch.nn.functional.cross_entropy(torch.fake_quantize_per_tensor_affine(hidden, *H) @ weight("v"), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses, {name: value.detach().numpy() for name, value in parameters.items()}


def train_sinter(sinter, weights, scales, x, target):
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model_of(weights, scales), f"{folder}/net.onnx")
        np.savez(f"{folder}/data.npz", x=x, target=target)
        subprocess.run([sinter, "train", f"{folder}/net.onnx", "--data", f"{folder}/data.npz", "--batch", str(BATCH), "--epochs", "1", "--no-shuffle", "--lr", "0.05", "--momentum", "0.9",
                        "--log", f"{folder}/log.jsonl", "-o", f"{folder}/out.onnx"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/log.jsonl") as file:
            losses = [json.loads(line)["loss"] for line in file]
        return losses, {each.name: numpy_helper.to_array(each) for each in onnx.load(f"{folder}/out.onnx").graph.initializer}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../build/bin/sinter"))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    failed = False
    for is_by_column in False, True:
        for seed in range(arguments.seeds):
            draw = np.random.default_rng(seed)
            weights = {"w": draw.standard_normal((INPUTS, HIDDEN)) / 5, "v": draw.standard_normal((HIDDEN, CLASSES)) / 5, "b": draw.standard_normal(HIDDEN) / 5}
            weights = {name: value.astype(np.float32) for name, value in weights.items()}
            scales = {name: scales_of(weights[name], is_by_column) for name in "wv"}
            x = draw.standard_normal((STEPS * BATCH, INPUTS)).astype(np.float32)
            target = np.argmax(x @ draw.standard_normal((INPUTS, CLASSES)), 1).astype(np.int64)
            losses, values = train_sinter(arguments.sinter, weights, scales, x, target)
            peer_losses, peer_values = train_pytorch(weights, scales, x, target)
            off = max(float(np.linalg.norm(values[name] - value) / np.linalg.norm(value)) for name, value in peer_values.items())
            apart = max(abs(a - b) for a, b in zip(losses, peer_losses))
            failed |= off > 1e-5 or apart > 1e-5
            print(f"{'a scale a column' if is_by_column else 'one scale':16} seed {seed}: loss {losses[-1]:.4f}, {peer_losses[-1]:.4f} in PyTorch; losses {apart:.1e}, weights {off:.1e} apart")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
