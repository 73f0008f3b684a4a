#!/usr/bin/env python3
"""Samples from every kind of source, of every float type, for models of every format and batch, on both backends."""
import json
import os
import subprocess
import zipfile

import OnnxBytes as onnx
import SinterCommand
from SinterCommand import CommandTest, DONE, main

COUNT = 10
# Of so many runs the sanitizers' builds take one.
EVERY = int(os.environ.get("SINTER_SWEEP_EVERY", 1))
# By element type: its number in ONNX, and how .npy files may hold it. NumPy has no bf16: its bits, or values of f32.
TYPES = {"f32": (1, ["<f4"]), "f64": (11, ["<f8"]), "f16": (10, ["<f2"]), "bf16": (16, ["<V2", "<u2", "<f4"])}
# The bits of small numbers, which all types hold.
BITS = {"<f4": lambda value: onnx.floats(value), "<f8": lambda value: onnx.struct.pack("<d", value), "<f2": lambda value: onnx.struct.pack("<e", value)}


def bits(kind, value):
    return BITS[kind](value) if kind in BITS else onnx.floats(value)[2:]


def array(kind, shape, values):
    """A .npy file of VALUES, each for all elements of a row."""
    each = 1
    for size in shape[1:]:
        each *= size
    return onnx.npy(shape, kind, b"".join(bits(kind, value) * each for value in values))


class ManyForms(CommandTest):
    """A model that negates, so that each sample's output says whose it is."""

    def models(self, element, batch):
        """The same model in all formats."""
        shape = (batch, 3)
        graph = onnx.graph([onnx.node("Neg", ["x"], ["y"])], [onnx.value_info("x", shape, element)], [onnx.value_info("y", shape, element)])
        whole = self.write(f"batch{batch}.onnx", onnx.model(graph))
        others = [self.path(f"batch{batch}{suffix}") for suffix in (".mlir", "/")]
        for other in others:
            done = self.sinter("convert", whole, "-o", other)
            self.assertEqual(done.returncode, DONE, done.stderr)
        return [whole, *others]

    def sources(self, kind):
        """Arguments for `--input`, and what is on standard input."""
        everything = array(kind, (COUNT, 3), range(COUNT))
        with zipfile.ZipFile(self.path("all.npz"), "w") as file:
            file.writestr("x.npy", everything)
        os.makedirs(self.path("folder"), exist_ok=True)
        rows = [array(kind, (1, 3), [value]) for value in range(COUNT)]
        for i, row in enumerate(rows):
            self.write(f"folder/{i}.npy", row)
        listed = self.write("list.txt", "".join(f"folder/{i}.npy\n" for i in range(COUNT)))
        return [(self.write("all.npy", everything), b""), (self.path("all.npz"), b""), (self.path("folder"), b""), (listed, b""), ("-", b"".join(rows))]

    def setUp(self):
        super().setUp()
        self.cells = 0

    def is_taken(self):
        self.cells += 1
        return self.cells % EVERY == 0

    def answers(self, *arguments, piped=b""):
        done = subprocess.run([SinterCommand.SINTER, "run", *arguments, "--json", "--cache-dir", self.path("cache")], capture_output=True, input=piped)
        self.assertEqual(done.returncode, DONE, f"{arguments}: {done.stderr}")
        return [json.loads(line)["outputs"][0] for line in done.stdout.splitlines()]

    def check_samples(self, name, element, kinds):
        for batch in 1, 4, "N":
            for model in self.models(element, batch):
                # What is dynamic, and what is but a hint, takes any batch.
                own_batch = ["--batch", "3"] if batch == "N" or model.endswith("/") else []
                for kind in kinds:
                    for source, piped in self.sources(kind):
                        for backend in "cpu", "interpreter":
                            if not self.is_taken():
                                continue
                            with self.subTest(type=name, batch=batch, model=model, kind=kind, source=source, backend=backend):
                                found = self.answers(model, "--input", source, "--backend", backend, *own_batch, piped=piped)
                                self.assertEqual([(each["type"], each["shape"], each["min"], each["max"]) for each in found], [(name, [1, 3], -i, -i) for i in range(COUNT)])

    def check_windows(self, name, element, kinds):
        """Windows of an array, from a file and from a pipe."""
        for model in self.models(element, 1):
            for kind in kinds:
                frames = array(kind, (6,), range(6))
                for source, piped in (self.write("frames.npy", frames), b""), ("-", frames):
                    with self.subTest(type=name, model=model, kind=kind, source=source):
                        found = self.answers(model, "--frames", source, piped=piped)
                        self.assertEqual([each["first"] for each in found], [[0, -1, -2], [-3, -4, -5]])


for type_name, (number, stored) in TYPES.items():
    setattr(ManyForms, f"test_samples_of_{type_name}", lambda self, name=type_name, element=number, kinds=stored: self.check_samples(name, element, kinds))
    setattr(ManyForms, f"test_windows_of_{type_name}", lambda self, name=type_name, element=number, kinds=stored: self.check_windows(name, element, kinds))


if __name__ == "__main__":
    main()
