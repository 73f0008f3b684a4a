#!/usr/bin/python3
"""Tells whether what a first gradient is off comes from rectifiers whose operand is within rounding of a kink.

    /usr/bin/python3 bench/kinks.py [--sinter PATH] [--seeds 5] [--near 3e-6] [NETWORK ...]

Networks, weights and samples of training.py. A rectifier's operand that f32 leaves on the other side of 0 (or of 6) than f64 has a slope of 0 in place of 1, or of 1 in place
of 0. So the gradient in f64 is computed again with the sides exchanged of those elements, among the 16 that are nearest and no farther than --near from a kink, that bring it
closest to the gradient in question: one after the other, as long as one helps. If that is the cause, what is left is rounding. Prints, for each seed, how far the gradient is off
(the tensor that differs most, by its norm) before and behind that, of Sinter and of PyTorch in f32, and of how many elements and at which distances sides were exchanged. Fails
where what is left in Sinter is more than 1e-4.
"""
import argparse
import copy
import os
import sys
import tempfile

import torch
import torch.nn.functional as F

import training
from training import BATCH, HERE, gradients_pytorch, gradients_sinter, prepare, set_threads, worst_gradient

CANDIDATES = 16


class Sides:
    """Rectifiers that remember what they get, and go the other way at some elements."""

    def __init__(self, others=frozenset()):
        self.others, self.seen = others, []

    def rectified(self, x, most):
        number = len(self.seen)
        self.seen.append(x.detach())
        inside = (x > 0) & (x < most)
        for layer, place in self.others:
            if layer == number:
                inside.view(-1)[place] = ~inside.view(-1)[place]
        return x.detach().clamp(0, most) + (x - x.detach()) * inside

    def __enter__(self):
        self.kept = F.relu, F.relu6
        F.relu = lambda x, inplace=False: self.rectified(x, float("inf"))
        F.relu6 = lambda x, inplace=False: self.rectified(x, 6.0)
        return self

    def __exit__(self, *_):
        F.relu, F.relu6 = self.kept

    def nearest(self, near):
        """The elements that are nearest to a kink, as (distance, layer, place)."""
        found = []
        for layer, x in enumerate(self.seen):
            flat = x.reshape(-1).abs()
            distances = torch.minimum(flat, (flat - 6).abs())
            for place in (distances < near).nonzero().reshape(-1).tolist():
                found.append((float(distances[place]), layer, place))
        return sorted(found)[:CANDIDATES]


class ReLU6(torch.nn.ReLU6):
    """By the function that Sides exchanges."""

    def forward(self, x):
        return F.relu6(x)


def explained(exact, x, target, gradient, near):
    """How far GRADIENT is off; with which elements on the other side it is least, and how far then."""
    def gradients(others=frozenset()):
        with Sides(others) as sides:
            return gradients_pytorch(copy.deepcopy(exact), x, target), sides
    wanted, sides = gradients()
    off = before = worst_gradient(wanted, gradient)
    candidates, taken = sides.nearest(near), []
    while candidates:
        tried = [(worst_gradient(gradients(frozenset((layer, place) for _, layer, place in [*taken, one]))[0], gradient), one) for one in candidates]
        least, one = min(tried)
        if least >= off:
            break
        off = least
        taken.append(one)
        candidates.remove(one)
    return before, taken, off


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sinter", default=os.path.join(HERE, "../build/bin/sinter"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--near", type=float, default=3e-6)
    parser.add_argument("networks", nargs="*", default=["resnet", "mobilenet", "unet"], metavar="NETWORK")
    arguments = parser.parse_args()
    set_threads(arguments.threads)
    training.nn.ReLU6 = ReLU6
    failed = False
    print(f"{'':10} seed {'':8} {'off':>8} {'left':>8}  elements and their distances")
    for name in arguments.networks:
        for seed in range(arguments.seeds):
            with tempfile.TemporaryDirectory() as folder:
                # The first of as many batches as training.py draws.
                network, x, target = (each if isinstance(each, torch.nn.Module) else each[:BATCH] for each in prepare(name, folder, 8, seed))
                exact = copy.deepcopy(network).double()
                found = {"Sinter": gradients_sinter(network, name, folder, x, target, arguments), "PyTorch": gradients_pytorch(copy.deepcopy(network), x, target)}
                for who, gradient in found.items():
                    before, taken, off = explained(exact, x.double(), target, gradient, arguments.near)
                    failed |= who == "Sinter" and off > 1e-4
                    print(f"{name:10} {seed:4} {who:8} {before:8.1e} {off:8.1e}  {len(taken)} {' '.join(f'{each[0]:.0e}' for each in taken)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
