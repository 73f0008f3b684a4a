"""Classifies an image: resize, normalise, run, softmax, the best five."""
import sys

import numpy as np
import onnxruntime as ort

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)


def preprocess(image, height, width):
    rows = np.linspace(0, image.shape[0] - 1, height).round().astype(int)
    columns = np.linspace(0, image.shape[1] - 1, width).round().astype(int)
    image = image[rows][:, columns].astype(np.float32) / 255.0
    return np.expand_dims(((image - MEAN) / STD).transpose(2, 0, 1), 0)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


session = ort.InferenceSession(sys.argv[1], providers=ort.get_available_providers())
model_input = session.get_inputs()[0]
_, channels, height, width = model_input.shape
picture = np.random.default_rng(0).integers(0, 256, (48, 60, channels), dtype=np.uint8)
outputs = session.run([session.get_outputs()[0].name], {model_input.name: preprocess(picture, height, width)})
scores = softmax(outputs[0])[0]
for rank in np.argsort(scores)[::-1][:5]:
    print(f"class {rank}: {scores[rank]:.4f}")
