#!/usr/bin/python3
"""Trains the glyph classifier and exports glyphs.onnx and labels.txt beside this script.

    /usr/bin/python3 train.py [--epochs 6] [--count 500] [--out DIR]

Needs Debian's PyTorch (scripts/deps.sh --python). The exported model takes N x 1 x 32 x 32 grey values
from 0 to 1 and gives N x 36 probabilities. Its BatchNormalization nodes are kept as they are in training.
"""
import argparse
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import make_images


def conv_norm(inputs, outputs, stride=1, groups=1, side=3):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, side, stride, side // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Residual(nn.Module):
    """relu(x + norm(conv(relu(norm(conv(x))))))"""

    def __init__(self, channels):
        super().__init__()
        self.first = conv_norm(channels, channels)
        self.second = conv_norm(channels, channels)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.first(x))))


class Separable(nn.Module):
    """A depthwise convolution that halves the side, then a pointwise one that changes the channels."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.depthwise = conv_norm(inputs, inputs, stride=2, groups=inputs)
        self.pointwise = conv_norm(inputs, outputs, side=1)

    def forward(self, x):
        return F.relu(self.pointwise(F.relu(self.depthwise(x))))


class GlyphNet(nn.Module):
    """Grey images to one score a label."""

    def __init__(self, labels):
        super().__init__()
        self.stem = conv_norm(1, 24)
        self.features = nn.Sequential(
            Separable(24, 40), Residual(40), Separable(40, 64), Residual(64), Separable(64, 128)
        )
        self.classifier = nn.Linear(128, labels)

    def forward(self, x):
        x = self.features(F.relu(self.stem(x)))
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def tensors(count, faces, seed):
    images, labels = make_images.data_set(count, faces, seed)
    return torch.from_numpy(images)[:, None].float() / 255, torch.from_numpy(labels)


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        right = sum(
            (model(x).argmax(1) == y).sum().item() for x, y in zip(images.split(256), labels.split(256))
        )
    return right / len(labels)


def train(model, images, labels, epochs, batch=64):
    """Adam with a one-cycle learning rate; prints the mean loss of every epoch."""
    steps = -(-len(labels) // batch)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=epochs * steps)
    for epoch in range(epochs):
        model.train()
        total, start = 0.0, time.time()
        for chosen in torch.randperm(len(labels)).split(batch):
            loss = F.cross_entropy(model(images[chosen]), labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item() * len(chosen)
        print(f"epoch {epoch + 1}/{epochs}: loss {total / len(labels):.4f}, {time.time() - start:.1f} s", flush=True)


def export(model, path):
    torch.onnx.export(
        nn.Sequential(model, nn.Softmax(1)).eval(),
        torch.zeros(1, 1, make_images.SIDE, make_images.SIDE),
        path,
        opset_version=13,
        input_names=["image"],
        output_names=["probabilities"],
        dynamic_axes={"image": {0: "N"}, "probabilities": {0: "N"}},
        do_constant_folding=False,
        training=torch.onnx.TrainingMode.PRESERVE,
    )


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--count", type=int, default=500, help="training images of each label")
    parser.add_argument("--out", default=here, help="where glyphs.onnx and labels.txt go")
    arguments = parser.parse_args()
    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(1)
    start = time.time()
    training = tensors(arguments.count, make_images.TRAINING_FACES, seed=1)
    seen_faces = tensors(100, make_images.TRAINING_FACES, seed=2)
    new_faces = tensors(100, make_images.HELD_OUT_FACES, seed=3)
    print(f"rendered the images in {time.time() - start:.0f} s")

    model = GlyphNet(len(make_images.LABELS))
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(training[1])} training images")
    train(model, *training, arguments.epochs)
    print(f"held-out images, faces of the training set: {accuracy(model, *seen_faces):.2%} of {len(seen_faces[1])}")
    print(f"held-out images, faces never seen:          {accuracy(model, *new_faces):.2%} of {len(new_faces[1])}")

    export(model, os.path.join(arguments.out, "glyphs.onnx"))
    with open(os.path.join(arguments.out, "labels.txt"), "w") as file:
        file.writelines(label + "\n" for label in make_images.LABELS)
    print(f"done in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
