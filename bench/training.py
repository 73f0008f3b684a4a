#!/usr/bin/python3
"""Trains six small networks with `sinter train` and with PyTorch: the same first weights, samples and order.

    /usr/bin/python3 bench/training.py [--sinter PATH] [--threads 1] [--steps 8] [NETWORK ...]

Prints, for each, the loss of the last step in both, how far the tensor that differs most is from what PyTorch gives in f64 (by its norm),
for Sinter and for PyTorch in f32, and the median milliseconds of a step behind the first. Fails if Sinter is farther off than 1e-2 and
three times as far as PyTorch, or a loss differs by more than 1e-3. Needs Debian's PyTorch (scripts/deps.sh --python).
"""
import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES, BATCH, TOKENS = 10, 16, 32


def norm_conv(inputs, outputs, stride=1, groups=1, side=3):
    return nn.Sequential(nn.Conv2d(inputs, outputs, side, stride, side // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.second = norm_conv(inputs, outputs, stride), norm_conv(outputs, outputs)
        self.past = norm_conv(inputs, outputs, stride, side=1) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.past(x))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        wide = 4 * inputs
        self.adds = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(norm_conv(inputs, wide, side=1), nn.ReLU6(), norm_conv(wide, wide, stride, groups=wide), nn.ReLU6(),
                                    norm_conv(wide, outputs, side=1))

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class Classifier(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.last = nn.Linear(channels, CLASSES)

    def forward(self, x):
        return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        width = x.shape[-1]
        split = lambda y: y.reshape(-1, TOKENS, self.heads, width // self.heads).transpose(1, 2)
        scores = split(self.query(x)) @ split(self.key(x)).transpose(-1, -2) / (width // self.heads) ** 0.5
        mixed = (scores.softmax(-1) @ split(self.value(x))).transpose(1, 2).reshape(-1, TOKENS, width)
        x = self.first(x + self.output(mixed))
        return self.second(x + self.narrow(F.gelu(self.wide(x))))


class Encoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words, self.places = nn.Embedding(100, width), nn.Parameter(0.1 * torch.randn(1, TOKENS, width))
        self.layers = nn.Sequential(*(EncoderLayer(width, 4) for _ in range(2)))
        self.last = nn.Linear(width, CLASSES)

    def forward(self, words):
        return self.last(self.layers(self.words(words) + self.places)[:, 0].tanh())


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = nn.LSTM(16, 32, bidirectional=True, batch_first=True), nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.last(self.layer(x)[0].mean(1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep, self.joined = norm_conv(3, 16), norm_conv(16, 32), norm_conv(32, 16)
        self.up, self.last = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(16, CLASSES, 1)

    def forward(self, x):
        a = F.relu(self.down(x))
        b = F.relu(self.deep(F.max_pool2d(a, 2)))
        return self.last(F.relu(self.joined(torch.cat([a, self.up(b)], 1))))


def pictures(count):
    return torch.randn(count, 3, 32, 32)


# The network, its inputs, and the shape of a sample's labels.
NETWORKS = {
    "resnet": (lambda: nn.Sequential(norm_conv(3, 32), nn.ReLU(), Residual(32, 32, 1), Residual(32, 64, 2), Residual(64, 64, 1), Classifier(64)), pictures, ()),
    "mobilenet": (lambda: nn.Sequential(norm_conv(3, 16, 2), nn.ReLU6(), Inverted(16, 24, 2), Inverted(24, 24, 1), Inverted(24, 32, 2), Classifier(32)), pictures, ()),
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, CLASSES)), pictures, ()),
    "bert": (Encoder, lambda count: torch.randint(0, 100, (count, TOKENS)), ()),
    "lstm": (Recurrent, lambda count: torch.randn(count, 20, 16), ()),
    "unet": (UNet, pictures, (32, 32)),
}


def prepare(name, folder, steps):
    """The network, its samples and labels, and the files of both."""
    make, samples, labels = NETWORKS[name]
    torch.manual_seed(0)
    network = make().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.01 * torch.randn_like(parameter))
    x, target = samples(steps * BATCH), torch.randint(0, CLASSES, (steps * BATCH, *labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, x[:2], f"{folder}/{name}.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}},
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, opset_version=14)
    np.savez(f"{folder}/{name}.npz", x=x.numpy(), target=target.numpy())
    return network, x, target


def train_pytorch(network, x, target):
    network.train()
    optimizer, losses, times = torch.optim.SGD(network.parameters(), 0.02, momentum=0.9), [], []
    for samples, labels in zip(x.split(BATCH), target.split(BATCH)):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(network(samples), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        times.append((time.perf_counter() - start) * 1e3)
    return losses, statistics.median(times[1:])


def train_sinter(name, folder, arguments):
    log, out = f"{folder}/{name}.jsonl", f"{folder}/{name}_trained.onnx"
    subprocess.run([arguments.sinter, "train", f"{folder}/{name}.onnx", "--data", f"{folder}/{name}.npz", "--lr", "0.02", "--momentum", "0.9", "--batch", str(BATCH),
                    "--no-shuffle", "--threads", str(arguments.threads), "--log", log, "-o", out], check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    weights = {each.name: numpy_helper.to_array(each) for each in onnx.load(out).graph.initializer}
    return [line["loss"] for line in lines], statistics.median(line["ms"] for line in lines[1:]), weights


def farthest(network, weights):
    """The name of the tensor that differs most, and by how much of its norm."""
    worst = "", 0.0
    for name, value in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        wanted = value.numpy()
        difference = float(np.linalg.norm(weights[name] - wanted) / max(np.linalg.norm(wanted), 1e-12))
        worst = max(worst, (name, difference), key=lambda each: each[1])
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../build/bin/sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    failed = False
    print(f"{'network':10} {'loss':>9} {'PyTorch':>9} {'differs':>8} {'PyTorch':>8}  {'most in':24} {'ms':>8} {'PyTorch':>8} {'ratio':>6}")
    for name in arguments.networks:
        with tempfile.TemporaryDirectory() as folder:
            network, x, target = prepare(name, folder, arguments.steps)
            exact = copy.deepcopy(network).double()
            losses, ms, weights = train_sinter(name, folder, arguments)
            wanted, peer_ms = train_pytorch(network, x, target)
            train_pytorch(exact, x.double() if x.is_floating_point() else x, target)
        tensor, difference = farthest(exact, weights)
        _, peer = farthest(exact, {name: value.numpy() for name, value in network.state_dict().items()})
        failed |= difference > max(1e-2, 3 * peer) or abs(losses[-1] - wanted[-1]) > 1e-3
        print(f"{name:10} {losses[-1]:9.5f} {wanted[-1]:9.5f} {difference:8.1e} {peer:8.1e}  {tensor:24} {ms:8.2f} {peer_ms:8.2f} {peer_ms / ms:6.2f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
