#!/usr/bin/python3
"""Trains a small classifier of shapes with PyTorch, some seconds on one core, and exports it to ONNX.

    /usr/bin/python3 train.py DIR [--epochs 6]

Writes DIR/shapes.onnx (input `image`, f32 [N, 3, 32, 32] with values from 0 to 1; output `probabilities`, f32 [N, 4]),
DIR/labels.txt, and images that training never saw: DIR/calibration/ and DIR/test/, with a folder for each class.
"""
import argparse
import os
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

from make_images import CLASSES, SIDE, data_set, write


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


class ShapeNet(nn.Module):
    """Four convolutions, global average pooling and a dense layer: images to a score for each class."""

    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(block(3, 16, 2), block(16, 32, 1), block(32, 32, 2), block(32, 64, 2))
        self.classifier = nn.Linear(64, classes)

    def forward(self, x):
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(self.features(x), 1), 1))


def tensors(count, seed):
    images, labels = data_set(CLASSES, count, seed)
    return torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255, torch.from_numpy(labels)


def train(model, images, labels, epochs, batch=50):
    steps = len(labels) // batch
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-2, total_steps=epochs * steps)
    for epoch in range(epochs):
        model.train()
        for chosen in torch.randperm(len(labels)).split(batch):
            loss = F.cross_entropy(model(images[chosen]), labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        print(f"epoch {epoch + 1}/{epochs}: loss {loss.item():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=6)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    model = ShapeNet(len(CLASSES))
    train(model, *tensors(500, seed=1), arguments.epochs)
    images, labels = tensors(100, seed=2)
    with torch.no_grad():
        right = (model.eval()(images).argmax(1) == labels).float().mean().item()
    print(f"right on images that training never saw: {right:.1%}")

    os.makedirs(arguments.folder, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(nn.Sequential(model, nn.Softmax(1)), torch.zeros(1, 3, SIDE, SIDE), os.path.join(arguments.folder, "shapes.onnx"),
                          opset_version=13, input_names=["image"], output_names=["probabilities"],
                          dynamic_axes={"image": {0: "N"}, "probabilities": {0: "N"}},
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    with open(os.path.join(arguments.folder, "labels.txt"), "w") as file:
        file.writelines(name + "\n" for name in CLASSES)
    write(os.path.join(arguments.folder, "calibration"), CLASSES, 25, seed=3)
    write(os.path.join(arguments.folder, "test"), CLASSES, 100, seed=4)


if __name__ == "__main__":
    main()
