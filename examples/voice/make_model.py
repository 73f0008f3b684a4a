#!/usr/bin/python3
"""Trains a small voice activity detector with PyTorch, some seconds on one core, and exports it to ONNX.

    /usr/bin/python3 make_model.py DIR

Writes DIR/vad.onnx and DIR/speech.wav (16 kHz, 16 bits, mono), and prints where in the file somebody speaks. The model has
the interface of Silero's: inputs `input`, f32 [1, 512], a window of 32 ms; `state`, f32 [2, 1, 64]; `sr`, i64, 16000.
Outputs `output`, f32 [1, 1], the probability of speech; `stateN`, the state for the next window. Another rate than 16000
gives 0.

Nobody speaks: voices are harmonics of a gliding pitch behind three formants, with the rhythm of syllables. So the model is
for trying a stream out, not for finding speech.
"""
import argparse
import math
import os
import warnings
import wave

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F

RATE, WINDOW, HIDDEN = 16000, 512, 64
#: Of the spectrum.
LENGTH, HOP = 256, 128


def voice(samples, random):
    """SAMPLES of a voice, about 0.1 loud."""
    t = numpy.arange(samples) / RATE
    pitch = random.uniform(90, 240) * (1 + 0.15 * numpy.sin(2 * math.pi * random.uniform(0.5, 2) * t + random.uniform(0, 6)))
    phase = 2 * math.pi * numpy.cumsum(pitch) / RATE
    formants = [(random.uniform(*each), random.uniform(60, 150)) for each in ((300, 800), (900, 2200), (2300, 3200))]
    total = numpy.zeros(samples)
    for k in range(1, 30):
        strength = sum(1 / (1 + ((k * pitch - centre) / width) ** 2) for centre, width in formants)
        total += numpy.where(k * pitch < RATE / 2, strength, 0) * numpy.sin(k * phase)
    syllables = 0.6 + 0.4 * numpy.sin(2 * math.pi * random.uniform(3, 6) * t + random.uniform(0, 6))
    total *= syllables
    return total * random.uniform(0.05, 0.2) / (numpy.std(total) + 1e-9)


def noise(samples, random):
    """SAMPLES of a room: coloured noise, hum and a few clicks."""
    spectrum = numpy.fft.rfft(random.normal(size=samples))
    spectrum /= numpy.maximum(numpy.arange(len(spectrum)), 1) ** random.uniform(0, 0.5)
    sound = numpy.fft.irfft(spectrum, samples)
    sound /= numpy.std(sound)
    sound += 0.3 * numpy.sin(2 * math.pi * random.choice([50, 60]) * numpy.arange(samples) / RATE)
    for place in random.integers(0, samples, max(1, samples // 8000)):
        sound[place:place + 40] += random.normal(0, 3, len(sound[place:place + 40]))
    return sound * random.uniform(0.002, 0.02)


def recording(parts, random):
    """Sound of (seconds, whether somebody speaks) one after the other, and whether somebody speaks in each window."""
    sizes = [int(seconds * RATE) // WINDOW * WINDOW for seconds, _ in parts]
    sound = noise(sum(sizes), random)
    labels, begin = [], 0
    for size, (_, speaks) in zip(sizes, parts):
        if speaks:
            sound[begin:begin + size] += voice(size, random)
        labels += [float(speaks)] * (size // WINDOW)
        begin += size
    return numpy.clip(sound, -1, 1).astype(numpy.float32), labels


class Detector(nn.Module):
    """A spectrum as a convolution, another convolution, and an LSTM over windows."""

    def __init__(self):
        super().__init__()
        t = torch.arange(LENGTH) * (2 * math.pi / LENGTH)
        bins = torch.arange(1, LENGTH // 2)[:, None]
        basis = torch.cat([torch.cos(bins * t), torch.sin(bins * t)]) * torch.hann_window(LENGTH)
        self.register_buffer("basis", basis[:, None])
        self.encoder = nn.Conv1d(LENGTH // 2 - 1, 32, 3)
        self.rnn = nn.LSTM(32, HIDDEN)
        self.decoder = nn.Linear(HIDDEN, 1)

    def scores(self, windows, state):
        """Of (T, N, WINDOW) and a state (2, N, HIDDEN): (T, N) logits and the next state."""
        flat = windows.reshape(-1, 1, WINDOW)
        real, imaginary = F.conv1d(flat, self.basis, stride=HOP).chunk(2, 1)
        spectrum = torch.log(real * real + imaginary * imaginary + 1e-4)
        features = F.relu(self.encoder(spectrum)).mean(2).reshape(windows.shape[0], windows.shape[1], -1)
        hidden, (h, c) = self.rnn(features, (state[:1], state[1:]))
        return self.decoder(F.relu(hidden))[..., 0], torch.cat([h, c])

    def forward(self, window, state, sr):
        logits, next_state = self.scores(window[None], state)
        return torch.sigmoid(logits).reshape(1, 1) * (sr == RATE).to(torch.float32), next_state


def train(model, random, steps=60, batch=12, seconds=2.4):
    optimiser = torch.optim.Adam(model.parameters(), 4e-3)
    for _ in range(steps):
        pairs = []
        for _ in range(batch):
            cuts = [0, random.uniform(0.3, 1), random.uniform(1.3, seconds - 0.3), seconds]
            first = bool(random.integers(2))
            pairs.append(recording([(b - a, first ^ bool(i % 2)) for i, (a, b) in enumerate(zip(cuts, cuts[1:]))], random))
        length = min(len(labels) for _, labels in pairs)
        windows = torch.stack([torch.from_numpy(sound[:length * WINDOW].reshape(length, WINDOW)) for sound, _ in pairs], 1)
        targets = torch.tensor([labels[:length] for _, labels in pairs]).T
        logits, _ = model.scores(windows, torch.zeros(2, batch, HIDDEN))
        loss = F.binary_cross_entropy_with_logits(logits, targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(f"loss {loss.item():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    random = numpy.random.default_rng(1)
    model = Detector()
    train(model, random)

    parts = [(1.0, False), (1.5, True), (1.0, False), (2.0, True), (0.5, False)]
    sound, labels = recording(parts, numpy.random.default_rng(2))
    os.makedirs(arguments.folder, exist_ok=True)
    with wave.open(os.path.join(arguments.folder, "speech.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound * 32767).astype("<i2").tobytes())
    begin = 0.0
    for seconds, speaks in parts:
        size = int(seconds * RATE) // WINDOW * WINDOW / RATE
        if speaks:
            print(f"somebody speaks from {begin:.2f} s to {begin + size:.2f} s")
        begin += size
    with torch.no_grad():
        windows = torch.from_numpy(sound.reshape(-1, 1, WINDOW))
        found = torch.sigmoid(model.scores(windows, torch.zeros(2, 1, HIDDEN))[0])[:, 0] > 0.5
    print(f"windows that the model finds right: {(found == torch.tensor(labels).bool()).float().mean().item():.1%} of {len(labels)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), (torch.zeros(1, WINDOW), torch.zeros(2, 1, HIDDEN), torch.tensor(RATE)),
                          os.path.join(arguments.folder, "vad.onnx"), opset_version=13,
                          input_names=["input", "state", "sr"], output_names=["output", "stateN"])


if __name__ == "__main__":
    main()
