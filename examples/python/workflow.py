#!/usr/bin/env python3
"""A model's whole way: load, compile, run, simplify, quantise, train, save.

    workflow.py glyphs.onnx FOLDER

The model takes images 1x32x32 and gives a probability for each of 36 classes. FOLDER gets simple.onnx, int8.onnx and
trained.onnx. examples/c/workflow.c and examples/cpp/workflow.cpp do the same.
"""
import sys

import numpy
import sinter

BATCH, STEPS = 8, 10


def batch(index):
    """Images and classes number INDEX: the top bits of a linear congruential generator stand for data."""
    state, values = index + 1, []
    for _ in range(BATCH * 32 * 32):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state >> 8)
    images = numpy.array(values, "float32") * numpy.float32(2**-24)
    return images.reshape(BATCH, 1, 32, 32), (numpy.arange(BATCH) + index) % 36


path, folder = sys.argv[1:]
model = sinter.load(path)
session = sinter.compile(model, threads=2)
images, _ = batch(0)
print("%.8g" % session(images)[0, 0])

model.optimize().save(f"{folder}/simple.onnx")
model.quantize(batch(i)[0] for i in range(4)).save(f"{folder}/int8.onnx")

trainer = sinter.Trainer(model, loss="cross-entropy", optimizer="adamw", lr=1e-3)
for step in range(STEPS):
    loss = trainer.step(batch(step))
print("%.8g" % loss)
trainer.model().save(f"{folder}/trained.onnx")
