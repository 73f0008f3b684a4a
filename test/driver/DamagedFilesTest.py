#!/usr/bin/env python3
# Covers: runtime Npz ZipDirectory
"""Files whose bytes are not what was written: each that carries a checksum is found out, and the same cause has the same exit code wherever such a file is read."""
import gzip
import io
import os
import shutil
import struct
import unittest
import zipfile
import zlib

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, SYSTEM, UNSUPPORTED, USAGE, main, npy
from TrainTest import Network

HOSTILE = os.path.join(os.environ.get("SINTER_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared"),
                       "data", "defects", "found-2026-11-29", "hostile")


def labels(count):
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + struct.pack(f"<{count}q", *[i % 4 for i in range(count)])


def npz(kind, **arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    return out.getvalue()


def overlapping(members):
    """An archive whose directory names one packed array of 10 MB MEMBERS times."""
    array = npy((2500000,), [0] * 2500000)
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeezer.compress(array) + squeezer.flush()
    sizes = struct.pack("<III", zlib.crc32(array), len(packed), len(array))
    out = struct.pack("<IHHHHH", 0x04034b50, 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", 5, 0) + b"a.npy" + packed
    directory = b""
    for number in range(members):
        name = b"%05d.npy" % number
        directory += (struct.pack("<IHHHHHH", 0x02014b50, 20, 20, 0, 8, 0, 0) + sizes
                      + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name)
    return out + directory + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, members, members, len(directory), len(out), 0)


class DamagedFiles(CommandTest):
    def setUp(self):
        super().setUp()
        self.model = self.write("net.onnx", Network().onnx())
        self.x = npy((6, 3), range(18))

    def flipped(self, content, places, name):
        """Files with one bit of CONTENT flipped."""
        for place in places:
            damaged = bytearray(content)
            damaged[place] ^= 1
            yield self.write(name, bytes(damaged))

    def readers(self, archive):
        """Each command that reads an .npz, with this one."""
        yield "train", self.model, "--data", archive, "-o", self.path("out.onnx"), "--force"
        yield "run", self.model, "--no-cache", "--bind", archive, "--input", "random"
        yield "quantize", self.model, "--calibration", archive, "--json"
        yield "compare", self.model, "--with", archive

    def test_arrays_in_archives(self):
        for kind in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
            content = npz(kind, x=self.x, target=labels(6))
            good = self.write("good.npz", content)
            self.assertEqual(self.sinter("train", self.model, "--data", good, "-o", self.path("out.onnx"), "--force").returncode, DONE)
            # In the elements of the first array, and in the checksum that the directory has of it.
            places = [content.index(b"NUMPY") + 130 if kind == zipfile.ZIP_STORED else 60, content.index(b"PK\x01\x02") + 16]
            for file in self.flipped(content, places, "bad.npz"):
                for command in self.readers(file):
                    self.expect_error(SYSTEM, *command, mentions=["bad.npz", "x.npy"])

    def test_archive_with_the_same_bytes_many_times(self):
        file = self.write("bomb.npz", overlapping(2500))
        self.assertLess(os.path.getsize(file), 200000)
        for command in self.readers(file):
            self.expect_error(SYSTEM, *command, mentions=["bomb.npz", "overlap"])

    def test_one_rule_for_files_of_data(self):
        """What is damaged is 5 by whatever option, what is of another kind or does not fit is 2, and the file is named."""
        os.makedirs(self.path("folder"))
        whole = npy((1, 3), [1, 2, 3])
        weight = npy((3, 4), range(12))
        for content, name in (whole[:60], "cut.npy"), (whole[:-1], "short.npy"), (b"hello", "no.npy"):
            file = self.write(name, content)
            self.write("folder/w.npy", content)
            for command in (("run", self.model, "--input", file), ("run", self.model, "--bind", f"w={file}", "--input", "random"),
                            ("run", self.model, "--bind", self.path("folder"), "--input", "random"),
                            ("quantize", self.model, "--calibration", file, "--json"), ("compare", self.model, "--input", file)):
                self.expect_error(SYSTEM, *command, mentions=["w.npy" if self.path("folder") in command else name])
        records = whole.replace(b"'<f4'", b"'|V4'")
        self.expect_error(UNSUPPORTED, "run", self.model, "--input", self.write("records.npy", records), mentions=["records.npy"])
        self.expect_error(UNSUPPORTED, "train", self.model, "--data", self.write("records.npz", npz(zipfile.ZIP_STORED, x=records)), "-o", self.path("o.onnx"), mentions=["records.npz"])
        self.expect_error(SYSTEM, "run", self.model, "--input", self.write("x.pb", b"\xff\xff"), mentions=["x.pb"])
        # Those that are whole and do not fit.
        self.write("folder/w.npy", npy((2, 4), range(8)))
        self.write("wrong.npy", npy((2, 4), range(8)))
        self.write("wrong.npz", npz(zipfile.ZIP_STORED, w=npy((2, 4), range(8))))
        self.write("names.npz", npz(zipfile.ZIP_STORED, none=weight))
        for given, file in (("w=" + self.path("wrong.npy"), "wrong.npy"), (self.path("wrong.npz"), "wrong.npz"), (self.path("names.npz"), "names.npz"),
                            (self.path("folder"), "folder")):
            self.expect_error(USAGE, "run", Bindable.write_to(self), "--no-cache", "--bind", given, "--input", "random", mentions=["--bind", file])
        self.expect_error(USAGE, "run", self.model, "--input", self.path("wrong.npy"), mentions=["wrong.npy", "'x'", "2x4xf32"])

    def test_labels(self):
        big = labels(6)[:-8] + b"\xff" * 8
        big = big.replace(b"'<i8'", b"'<u8'")
        file = self.write("labels.npz", npz(zipfile.ZIP_STORED, x=self.x, target=big))
        self.expect_error(USAGE, "train", self.model, "--data", file, "-o", self.path("o.onnx"), mentions=["labels.npz", "18446744073709551615", "4 classes"])

    def test_packed_bytes(self):
        """gzip has a checksum of what it unpacks to."""
        pixels = bytes([0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3]) + bytes(range(12))
        content = gzip.compress(pixels)
        self.write("a-labels", bytes([0, 0, 8, 1, 0, 0, 0, 4]) + bytes([0, 1, 2, 3]))
        command = "train", self.model, "-o", self.path("out.onnx"), "--force", "--data"
        good = self.sinter(*command, self.write("a-images.gz", content))
        self.assertEqual(good.returncode, DONE, good.stderr)
        for file in self.flipped(content, [len(content) - 6, 14], "a-images.gz"):
            self.assertIn(self.sinter(*command, file).returncode, (SYSTEM, USAGE))

    def test_checkpoints(self):
        """A run does not go on from a checkpoint that was damaged: neither from its arrays nor from what it says."""
        data = self.write("data.npz", npz(zipfile.ZIP_STORED, x=self.x, target=labels(6)))
        command = ["train", self.model, "--data", data, "--batch", "3", "--epochs", "2", "--optimizer", "adam", "-o", self.path("out.onnx"), "--force",
                   "--checkpoint-dir", self.path("kept"), "--checkpoint-every", "1", "--keep-checkpoints", "9"]
        self.assertEqual(self.sinter(*command).returncode, DONE)
        for step in sorted(os.listdir(self.path("kept")))[1:]:
            shutil.rmtree(self.path(f"kept/{step}"))
        folder, = os.listdir(self.path("kept"))
        for name in sorted(os.listdir(self.path(f"kept/{folder}"))):
            file = self.path(f"kept/{folder}/{name}")
            with open(file, "rb") as whole:
                content = whole.read()
            place = content.index(b'"seed"') + 8 if name.endswith(".json") else len(content) - 1
            for _ in self.flipped(content, [place], f"kept/{folder}/{name}"):
                self.expect_error(SYSTEM, *command, "--resume", mentions=[name, "checksum"])
            self.write(f"kept/{folder}/{name}", content)
        done = self.sinter(*command, "--resume")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_what_the_cache_keeps_of_a_model(self):
        cache = self.path("cache")
        command = "run", self.model, "--input", "random", "--json", "--cache-dir", cache
        first = self.sinter(*command)
        self.assertEqual(first.returncode, DONE, first.stderr)
        kept, = [name for name in os.listdir(cache) if name.endswith("-model.sinter")]
        with open(os.path.join(cache, kept), "rb") as file:
            content = file.read()
        for place in (0, 20, len(content) // 2, len(content) - 2):
            for _ in self.flipped(content, [place], f"cache/{kept}"):
                done = self.sinter(*command)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.assertIn("checksum is wrong", done.stderr)
                again = self.sinter(*command)
                self.assertEqual(again.returncode, DONE, again.stderr)
                self.assertNotIn("checksum", again.stderr)
                with open(os.path.join(cache, kept), "rb") as file:
                    self.assertEqual(file.read(), content)

    @unittest.skipUnless(os.path.isdir(HOSTILE), "the shared files are not there")
    def test_shared(self):
        model = os.path.join(HOSTILE, "mlp.onnx")
        done = self.sinter("train", model, "--data", os.path.join(HOSTILE, "mlp.npz"), "-o", self.path("out.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.expect_error(SYSTEM, "train", model, "--data", os.path.join(HOSTILE, "crc.npz"), "-o", self.path("out.onnx"), "--force", mentions=["crc.npz", "checksum"])


class Bindable:
    """y = x w, where w is an argument."""

    @staticmethod
    def write_to(test):
        return test.write("bindable.mlir", """func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
""")


if __name__ == "__main__":
    main()
