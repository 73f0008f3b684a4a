#!/usr/bin/env python3
"""Writes a small image of each kind that is decoded, and WAV files, as the first inputs of the fuzzer of images.

    test/fuzz/WriteImages.py FOLDER
"""
import os
import struct
import sys

from PIL import Image

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
picture = Image.new("RGB", (6, 5))
picture.putdata([(i * 8, 255 - i * 8, i) for i in range(30)])
exif = Image.Exif()
exif[0x0112] = 6
for name, image, how in (("a.png", picture, {}), ("grey.png", picture.convert("L"), {}), ("palette.png", picture.quantize(4), {}),
                         ("a.jpg", picture, {"exif": exif}), ("progressive.jpg", picture, {"progressive": True}), ("a.webp", picture, {}),
                         ("lossless.webp", picture, {"lossless": True}), ("a.bmp", picture, {}), ("palette.bmp", picture.quantize(4), {}),
                         ("a.gif", picture.quantize(4), {}), ("a.tif", picture, {}), ("lzw.tif", picture, {"compression": "tiff_lzw"}),
                         ("bits.tif", picture.convert("1"), {"compression": "group4"}), ("jpeg.tif", picture, {"compression": "jpeg"})):
    image.save(os.path.join(folder, name), **how)
for name, encoding, bits in ("a.wav", 1, 16), ("wide.wav", 1, 24), ("float.wav", 3, 32):
    data = bytes(range(48))
    header = struct.pack("<HHIIHH", encoding, 2, 8000, 8000 * bits // 4, bits // 4, bits)
    body = b"WAVEfmt " + struct.pack("<I", 16) + header + b"data" + struct.pack("<I", len(data)) + data
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(body)) + body)
