#!/usr/bin/python3
"""Random networks of convolutions, batch norms, pools and a product: 50 steps of `sinter train` against PyTorch's.

    /usr/bin/python3 bench/random_networks.py [--sinter PATH] [--seeds 10] [--first 0]

Strides, groups, padding, kinds of pools, activations and the norms' momentum are drawn. Prints for each network by how much of its norm the
weight or running statistic is off that is farthest from PyTorch's in f64, the same of PyTorch in f32, and how far the losses of steps are off at most, of either.
Fails where a tensor is off by more than 1e-3 or a loss by more than 1e-4, and three times PyTorch's own, and where a node of the model that is written is not the
one that was read.
"""
import argparse
import copy
import os
import random
import subprocess
import sys
import tempfile

import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F

import training

STEPS = 50


def network_of(seed):
    dice = random.Random(seed)
    layers, channels = [], 3
    for _ in range(dice.randint(1, 3)):
        groups = dice.choice([1, 1, channels])
        outputs = groups * dice.randint(2, 4)
        side = dice.choice([1, 3])
        layers += [nn.Conv2d(channels, outputs, side, dice.choice([1, 2]), side // 2, groups=groups, bias=dice.random() < 0.5),
                   nn.BatchNorm2d(outputs, momentum=dice.choice([0.1, 0.3])), dice.choice([nn.ReLU, nn.Tanh, nn.Sigmoid, nn.Identity])()]
        channels = outputs
        if dice.random() < 0.5:
            layers.append(dice.choice([nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 2), nn.MaxPool2d(3, 1, 1), nn.AvgPool2d(3, 2, 1)]))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, training.CLASSES))


def train_pytorch(network, x, target):
    network.train()
    optimizer, losses = torch.optim.SGD(network.parameters(), 0.05, momentum=0.9), []
    for samples, labels in zip(x.split(training.BATCH), target.split(training.BATCH)):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(samples), labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


def same_nodes(folder):
    """Whether each node is what it was, in its place. Nodes that only hold numbers, or those of a
    parameter that is equal at first, become initializers."""
    before, after = ([each.SerializeToString() for each in onnx.load(f"{folder}/{name}.onnx").graph.node if each.op_type not in ("Constant", "Identity")] for name in ("net", "net_trained"))
    return before == after


def compare(seed, arguments):
    torch.manual_seed(seed)
    network = training.untrained(lambda: network_of(seed))
    x, target = torch.randn(STEPS * training.BATCH, 3, 16, 16), torch.randint(0, training.CLASSES, (STEPS * training.BATCH,))
    with tempfile.TemporaryDirectory() as folder:
        training.write_files(network, x, target, "net", folder)
        try:
            lines, weights = training.run_sinter("net", f"{folder}/net.npz", folder, arguments, "--loss", "cross-entropy", "--optimizer", "sgd", "--momentum", "0.9",
                                                 "--lr", "0.05", "--epochs", "1")
        except subprocess.CalledProcessError as error:
            print(f"seed {seed}: exit code {error.returncode}", flush=True)
            return False
        is_same = same_nodes(folder)
    exact = copy.deepcopy(network).double()
    losses = train_pytorch(exact, x.double(), target)
    single = train_pytorch(network, x, target)
    ours = training.farthest(exact, weights)
    theirs = training.farthest(exact, {name: value.numpy() for name, value in network.state_dict().items()})
    apart = max(abs(line["loss"] - loss) for line, loss in zip(lines, losses))
    theirs_apart = max(abs(one - loss) for one, loss in zip(single, losses))
    print(f"seed {seed}: {ours:.1e}, PyTorch {theirs:.1e}; losses {apart:.1e}, PyTorch {theirs_apart:.1e}{'' if is_same else '; other nodes'}", flush=True)
    return is_same and len(lines) == STEPS and ours <= max(1e-3, 3 * theirs) and apart <= max(1e-4, 3 * theirs_apart)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(training.HERE, "../build/bin/sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    training.set_threads(arguments.threads)
    return 0 if all([compare(seed, arguments) for seed in range(arguments.first, arguments.first + arguments.seeds)]) else 1


if __name__ == "__main__":
    sys.exit(main())
