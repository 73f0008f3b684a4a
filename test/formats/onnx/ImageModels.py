#!/usr/bin/env python3
# Covers: formats/onnx/ops Images
# Covers: runtime ImagePixels
# Covers: runtime/host DecodeImage
# Covers: runtime/image Pnm
"""ImageDecoder against Pillow, on both backends.

  ImageModels.py --sinter build/bin/sinter

Needs Python's onnx and PIL (Debian: python3-onnx, python3-pil); without them, it says so and ends with 77.
"""
import argparse
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from judge import Packages

Packages.skip_without()
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

try:
    import PIL.Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def encoded(kind, mode):
    rows, columns = 5, 7
    pixels = (numpy.arange(rows * columns * 3) * 37 % 256).astype(numpy.uint8).reshape(rows, columns, 3)
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).convert(mode).save(file, kind, **({"lossless": True} if kind == "WEBP" else {}))
    return file.getvalue()


def expected(data, pixel_format):
    image = PIL.Image.open(io.BytesIO(data))
    if pixel_format == "Grayscale":
        return numpy.array(image.convert("L"))[..., None]
    pixels = numpy.array(image.convert("RGB"))
    return pixels[..., ::-1] if pixel_format == "BGR" else pixels


def model(pixel_format, size=None):
    node = helper.make_node("ImageDecoder", ["x"], ["y"], pixel_format=pixel_format)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.UINT8, [size or "n"])],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, [None, None, None])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def save_case(path, made, inputs):
    os.makedirs(os.path.join(path, "test_data_set_0"))
    onnx.save(made, os.path.join(path, "model.onnx"))
    for name, array in inputs.items():
        with open(os.path.join(path, "test_data_set_0", name), "wb") as file:
            file.write(numpy_helper.from_array(numpy.ascontiguousarray(array)).SerializeToString())


PNM = {b"P1 # bits\n3 2\n1 0 1\n011": [[0, 255, 0], [255, 0, 0]], b"P2\n2 1 4\n0 2": [[0, 128]], b"P5 2 1 255\n\x07\xff": [[7, 255]],
       b"P4\n9 1\n\x80\x80": [[0] + [255] * 7 + [0]], b"P5 1 1 65535\n\x80\x00": [[128]]}
DAMAGED = [b"P5 100000 100000 255\n1", b"P6 2 2 255\n123", b"P5 2", b"P5 0 1 255\n", b"P2 1 1 0 1", b"P1 2 1\n12", b"no image", b""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sinter", default="build/bin/sinter")
    sinter = parser.parse_args().sinter
    with tempfile.TemporaryDirectory() as folder:
        paths = []

        def add(name, data, pixel_format, pixels):
            for size in (None, len(data)):
                path = os.path.join(folder, f"{name}_{pixel_format}_{size}")
                save_case(path, model(pixel_format, size), {"input_0.pb": numpy.frombuffer(data, numpy.uint8), "output_0.pb": pixels})
                paths.append(path)
        for kind in ("PNG", "BMP", "TIFF", "PPM", "WEBP", "JPEG"):
            for mode in ("RGB", "L"):
                data = encoded(kind, mode)
                for pixel_format in ("RGB", "BGR", "Grayscale"):
                    add(kind + mode, data, pixel_format, expected(data, pixel_format))
        for i, (data, pixels) in enumerate(PNM.items()):
            add(f"pnm{i}", data, "Grayscale", numpy.array(pixels, numpy.uint8)[..., None])
        for backend in ("interpreter", "cpu"):
            # No other sizes: random bytes are no image.
            done = subprocess.run([sinter, "test", "--sizes", "1", "--backend", backend, *paths], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        print(f"{len(paths)} models")
        path = os.path.join(folder, "damaged.onnx")
        onnx.save(model("RGB"), path)
        for data in DAMAGED:
            numpy.save(os.path.join(folder, "x.npy"), numpy.frombuffer(data, numpy.uint8))
            for backend in ("interpreter", "cpu"):
                done = subprocess.run([sinter, "run", path, "--backend", backend, "--input", f"x={folder}/x.npy"],
                                      capture_output=True, text=True)
                assert done.returncode not in (0, 134, 139) and "encoded stream" in done.stderr, (data, done)


if __name__ == "__main__":
    main()
