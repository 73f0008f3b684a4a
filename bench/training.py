#!/usr/bin/python3
"""Trains six small networks with `sinter train` and with PyTorch: the same first weights, samples and order.

    /usr/bin/python3 bench/training.py [--sinter PATH] [--threads 1] [--steps 8] [NETWORK ...]
    /usr/bin/python3 bench/training.py --memory [NETWORK ...]

Each network is trained from several seeds. Prints, for each, how far the gradients of the first step are from what PyTorch gives in f64 (the
tensor that differs most, by its norm): the median over the seeds, and the most, for Sinter and for PyTorch in f32; the same of the weights behind
the last step, and of its loss the median difference; and the least milliseconds of a step behind the first (what else a machine does only adds to
them). A number within rounding of a rectifier's kink falls on either side of it in either of the two, which costs 1e-3 of a gradient and
grows from step to step, so single seeds say little. Fails if in the median gradients are farther off than 1e-4, weights than 1e-2 or the loss than
1e-3, and three times as far as PyTorch's. With --memory it prints the most memory that either takes, in processes of their own (with PyTorch's the
interpreter's and the libraries'; a second time of Sinter, which knows the kernels then; and of a process of PyTorch that makes the network and no step), and
fails where Sinter takes more. Needs Debian's PyTorch (scripts/deps.sh --python).
"""
import argparse
import copy
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
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


def untrained(make):
    """The network, its biases and norms not quite what they are at first."""
    network = make().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.01 * torch.randn_like(parameter))
    return network


def write_files(network, x, target, name, folder):
    """The network as folder/name.onnx, samples and labels as folder/name.npz."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, x[:2], f"{folder}/{name}.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}},
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, opset_version=14)
    np.savez(f"{folder}/{name}.npz", x=x.numpy(), target=target.numpy())


def initial(name, seed=0):
    """The network with its first weights."""
    torch.manual_seed(seed)
    return untrained(NETWORKS[name][0])


def prepare(name, folder, steps, seed=0):
    """The network, random samples and labels, and the files of both."""
    _, samples, labels = NETWORKS[name]
    network = initial(name, seed)
    x, target = samples(steps * BATCH), torch.randint(0, CLASSES, (steps * BATCH, *labels))
    write_files(network, x, target, name, folder)
    return network, x, target


def set_threads(count):
    """PyTorch's threads, and those of OpenBLAS where that is what multiplies: it has threads of its own."""
    torch.set_num_threads(count)
    for path in blas_files():
        if hasattr(ctypes.CDLL(path), "openblas_set_num_threads"):
            ctypes.CDLL(path).openblas_set_num_threads(count)


def blas_files():
    """The libraries that PyTorch's matrix products are from: Debian's PyTorch calls what libblas.so.3 is."""
    torch.zeros(2, 2) @ torch.zeros(2, 2)
    with open("/proc/self/maps") as file:
        return sorted({line.split()[-1] for line in file if "blas" in line})


def train_pytorch(network, x, target, rate=0.02):
    network.train()
    optimizer, losses, times = torch.optim.SGD(network.parameters(), rate, momentum=0.9), [], []
    for samples, labels in zip(x.split(BATCH), target.split(BATCH)):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(network(samples), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        times.append((time.perf_counter() - start) * 1e3)
    return losses, min(times[1:])


def sinter_command(name, data, folder, arguments, *options, batch=BATCH):
    return [arguments.sinter, "train", f"{folder}/{name}.onnx", "--data", data, "--batch", str(batch), "--no-shuffle", "--threads", str(arguments.threads),
            "--log", f"{folder}/{name}.jsonl", "-o", f"{folder}/{name}_trained.onnx", "--force", *options]


def run_sinter(name, data, folder, arguments, *options, batch=BATCH):
    """The lines of the log, and the weights."""
    import onnx
    from onnx import numpy_helper
    log, out = f"{folder}/{name}.jsonl", f"{folder}/{name}_trained.onnx"
    subprocess.run(sinter_command(name, data, folder, arguments, *options, batch=batch), check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    return lines, {each.name: numpy_helper.to_array(each) for each in onnx.load(out).graph.initializer}


def train_sinter(name, folder, arguments, rate=0.02):
    lines, weights = run_sinter(name, f"{folder}/{name}.npz", folder, arguments, "--lr", str(rate), "--momentum", "0.9")
    return [line["loss"] for line in lines], min(line["ms"] for line in lines[1:]), weights


def gradients_pytorch(network, x, target):
    network.train()
    F.cross_entropy(network(x), target).backward()
    return {name: parameter.grad.numpy() for name, parameter in network.named_parameters()}


def gradients_sinter(network, name, folder, x, target, arguments):
    """From one step with a rate so high that nothing is lost as it is added to the weights."""
    rate = 2.0**20
    np.savez(f"{folder}/first.npz", x=x.numpy(), target=target.numpy())
    _, weights = run_sinter(name, f"{folder}/first.npz", folder, arguments, "--lr", str(rate))
    return {name: (parameter.detach().numpy() - weights[name].astype(np.float64)) / rate for name, parameter in network.named_parameters()}


def worst_gradient(exact, other):
    """By how much of its norm a gradient differs; of those that are zero but for rounding by how much of the largest norm."""
    largest = max(np.linalg.norm(each) for each in exact.values())
    return max(float(np.linalg.norm(other[name] - each) / (np.linalg.norm(each) if np.linalg.norm(each) > 1e-9 * largest else largest)) for name, each in exact.items())


def farthest(network, weights):
    """By how much of its norm the tensor differs that differs most."""
    worst = 0.0
    for name, value in network.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        wanted = value.numpy()
        difference = float(np.linalg.norm(weights[name] - wanted) / max(np.linalg.norm(wanted), 1e-12))
        worst = max(worst, difference)
    return worst


def compare(name, seed, arguments):
    """How far gradients, weights and loss are off in Sinter and in PyTorch, and the milliseconds of both."""
    with tempfile.TemporaryDirectory() as folder:
        network, x, target = prepare(name, folder, arguments.steps, seed)
        exact, exact_x = copy.deepcopy(network).double(), x.double() if x.is_floating_point() else x
        wanted = gradients_pytorch(copy.deepcopy(exact), exact_x[:BATCH], target[:BATCH])
        ours = gradients_sinter(network, name, folder, x[:BATCH], target[:BATCH], arguments)
        theirs = gradients_pytorch(copy.deepcopy(network), x[:BATCH], target[:BATCH])
        losses, ms, weights = train_sinter(name, folder, arguments)
        peer_losses, peer_ms = train_pytorch(network, x, target)
        exact_losses, _ = train_pytorch(exact, exact_x, target)
    return {"gradient": (worst_gradient(wanted, ours), worst_gradient(wanted, theirs)),
            "weights": (farthest(exact, weights), farthest(exact, {name: value.numpy() for name, value in network.state_dict().items()})),
            "loss": (abs(losses[-1] - exact_losses[-1]), abs(peer_losses[-1] - exact_losses[-1])), "ms": (ms, peer_ms)}


# A process counts the memory of the one that it was forked from, so that has to be a small one.
LAUNCHER = """import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))"""


def peak_of(command):
    """The most memory that a process of its own had, in MB."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, *command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return int(done.stdout) * 1024 / 1e6


def compare_memory(name, arguments):
    """Peaks in MB: Sinter with no kernel known, and with all; PyTorch, and PyTorch without a step."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(name, folder, arguments.steps)
        ours = sinter_command(name, f"{folder}/{name}.npz", folder, arguments, "--lr", "0.02", "--momentum", "0.9", "--cache-dir", f"{folder}/cache")
        theirs = [sys.executable, os.path.abspath(__file__), "--threads", str(arguments.threads), "--alone"]
        return peak_of(ours), peak_of(ours), peak_of([*theirs, f"{folder}/{name}.npz", name]), peak_of([*theirs, "", name])


def train_alone(name, data, threads):
    """What a process of PyTorch's does whose memory is measured: nothing but the network if DATA is empty."""
    torch.set_num_threads(threads)
    network = initial(name)
    if data:
        with np.load(data) as arrays:
            train_pytorch(network, torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["target"]))


def print_memory(arguments):
    """Fails if a network takes more than in PyTorch."""
    print(f"{'':10} {'MB':>8} {'again':>8} {'PyTorch':>8} {'ratio':>6} {'no step':>8}")
    failed = False
    for name in arguments.networks:
        first, again, theirs, empty = compare_memory(name, arguments)
        failed |= max(first, again) > theirs
        print(f"{name:10} {first:8.1f} {again:8.1f} {theirs:8.1f} {first / theirs:6.2f} {empty:8.1f}", flush=True)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../build/bin/sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--memory", action="store_true", help="compare the most memory that each takes instead")
    parser.add_argument("--alone", metavar="DATA", help="only train the one network in PyTorch")
    arguments = parser.parse_args()
    if arguments.alone is not None:
        return train_alone(arguments.networks[0], arguments.alone, arguments.threads)
    if arguments.memory:
        return print_memory(arguments)
    set_threads(arguments.threads)
    failed = False
    print(f"PyTorch {torch.__version__}, products by {', '.join(blas_files())}")
    print(f"{'':10} {'gradient':>8} {'most':>8} {'PyTorch':>8} {'most':>8}   {'weights':>8} {'most':>8} {'PyTorch':>8} {'most':>8}   {'loss':>8} {'PyTorch':>8}"
          f" {'ms':>8} {'PyTorch':>8} {'ratio':>6}")
    for name in arguments.networks:
        rows = [compare(name, seed, arguments) for seed in range(arguments.seeds)]
        sides = {key: [[row[key][side] for row in rows] for side in (0, 1)] for key in rows[0]}
        middle = {key: [statistics.median(side) for side in both] for key, both in sides.items()}
        failed |= any(middle[key][0] > max(limit, 3 * middle[key][1]) for key, limit in (("gradient", 1e-4), ("weights", 1e-2), ("loss", 1e-3)))
        spread = "   ".join(" ".join(f"{statistics.median(side):8.1e} {max(side):8.1e}" for side in sides[key]) for key in ("gradient", "weights"))
        ms, peer_ms = (min(side) for side in sides["ms"])
        print(f"{name:10} {spread}   {middle['loss'][0]:8.1e} {middle['loss'][1]:8.1e} {ms:8.2f} {peer_ms:8.2f} {peer_ms / ms:6.2f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
