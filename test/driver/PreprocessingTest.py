#!/usr/bin/env python3
# Covers: data Preprocessing
# Covers: interface PreprocessingOptions
# Covers: runtime Wav
# Covers: runtime/image Gif Jpeg Png Tiff WebP
"""How images and audio become inputs, compared with Pillow, torchvision and the definition of resampling in NumPy, and how
a model keeps that."""
import io
import json
import os
import struct
import unittest

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, INVALID, SYSTEM, UNSUPPORTED, USAGE, main

try:
    import numpy
    from PIL import Image, ImageOps
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "needs NumPy and Pillow")
class Preprocessing(CommandTest):
    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(7)
        # Smooth, so that a lossy format is close, with an edge and some noise.
        y, x = numpy.mgrid[0:90, 0:130]
        self.pixels = numpy.stack([(x * 1.5 + y) % 256 // 2 + 60, x + y * 0.5, 255 - x - y * 0.5], axis=2).astype(numpy.uint8)
        self.noise = rng.integers(0, 256, (37, 53, 3), dtype=numpy.uint8)

    @staticmethod
    def colours(file, turn=lambda picture: picture):
        """What Pillow reads."""
        with Image.open(file) as picture:
            return numpy.asarray(turn(picture).convert("RGB"), numpy.float32)

    def save(self, name, picture, **how):
        if not isinstance(picture, Image.Image):
            picture = Image.fromarray(picture)
        picture.save(self.path(name), **how)
        return self.path(name)

    def identity(self, shape, name="same.onnx", element=onnx.FLOAT):
        model = onnx.model(onnx.graph([onnx.node("Identity", ["x"], ["y"])], [onnx.value_info("x", shape, element)],
                                      [onnx.value_info("y", shape, element)]))
        return self.write(name, model)

    def prepared(self, shape, source, *options, model=None, element=onnx.FLOAT, notes=""):
        """The input that a file becomes."""
        done = self.sinter("run", model or self.identity(shape, element=element), "--input", source, "--backend", "interpreter",
                           "--output-dir", self.path("out"), *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn(notes, done.stderr)
        return numpy.load(self.path("out/y.npy"))

    def raw(self, source, *options):
        return self.prepared((1, 3, "h", "w"), source, "--preset", "raw", *options)[0].transpose(1, 2, 0)

    def test_kinds(self):
        """The pixels of all kinds of files are those that Pillow gives."""
        for name, how in (("a.png", {}), ("a.bmp", {}), ("a.tif", {}), ("lzw.tif", {"compression": "tiff_lzw"}),
                          ("deflate.tif", {"compression": "tiff_adobe_deflate"}), ("a.webp", {"lossless": True}),
                          ("lossy.webp", {"quality": 80}), ("a.jpg", {"quality": 90}), ("progressive.jpg", {"progressive": True})):
            file = self.save(name, self.pixels, **how)
            expected = self.colours(file)
            # Decoders of JPEG may differ in the last bit.
            self.assertLessEqual(abs(self.raw(file) - expected).max(), 2 if name.endswith("jpg") else 0, name)

    def test_modes(self):
        """Grey, palettes, transparency, one bit: as Pillow converts to RGB."""
        colour = Image.fromarray(self.pixels)
        alpha = colour.copy()
        alpha.putalpha(Image.fromarray(self.pixels[:, :, 0]))
        for name, picture in (("grey.png", colour.convert("L")), ("grey.bmp", colour.convert("L")), ("grey.tif", colour.convert("L")),
                              ("grey.jpg", colour.convert("L")), ("palette.png", colour.quantize(20)), ("palette.bmp", colour.quantize(20)),
                              ("palette.gif", colour.quantize(20)), ("interlaced.gif", colour.quantize(200)), ("palette.tif", colour.quantize(20)),
                              ("bits.png", colour.convert("1")), ("bits.bmp", colour.convert("1")), ("bits.tif", colour.convert("1")),
                              ("alpha.png", alpha), ("alpha.bmp", alpha), ("alpha.webp", alpha)):
            how = {"lossless": True, "exact": True} if name.endswith("webp") else {}
            file = self.save(name, picture, **how)
            expected = self.colours(file)
            self.assertLessEqual(abs(self.raw(file) - expected).max(), 2 if name.endswith("jpg") else 0, name)

    def test_orientation(self):
        """A JPEG, PNG or WebP is turned as its Exif data say, as by ImageOps.exif_transpose."""
        kinds = {"jpg": {"quality": 95}, "png": {}, "webp": {"lossless": True, "quality": 50}}
        for orientation, (kind, how) in ((number, each) for number in range(1, 9) for each in kinds.items()):
            exif = Image.Exif()
            exif[0x0112] = orientation
            file = self.save(f"{orientation}.{kind}", self.pixels, exif=exif, **how)
            expected = self.colours(file, ImageOps.exif_transpose)
            got = self.raw(file)
            self.assertEqual(got.shape, expected.shape)
            self.assertLessEqual(abs(got - expected).max(), 2)

    def test_animations(self):
        frames = [Image.fromarray(self.pixels).quantize(16), Image.fromarray(self.pixels[::-1].copy()).quantize(16)]
        frames[0].save(self.path("a.gif"), save_all=True, append_images=frames[1:])
        expected = self.colours(self.path("a.gif"))
        self.assertEqual(abs(self.raw(self.path("a.gif")) - expected).max(), 0)
        frames[0].convert("RGB").save(self.path("a.webp"), save_all=True, append_images=[frames[1].convert("RGB")])
        self.expect_error(SYSTEM, "run", self.identity((1, 3, "h", "w")), "--input", self.path("a.webp"), mentions=["a.webp", "animated"])

    def test_damaged(self):
        """Cut off anywhere: an error of one line, or what is there."""
        model = self.identity((1, 3, "h", "w"))
        for name in "a.png", "a.jpg", "a.webp", "a.bmp", "a.gif", "a.tif":
            with open(self.save(name, self.pixels), "rb") as file:
                content = file.read()
            for size in len(content) // 2, 40, 13:
                cut = self.write("cut" + name, content[:size])
                done = self.sinter("run", model, "--input", cut)
                self.assertIn(done.returncode, (USAGE, SYSTEM), f"{name} {size}: {done.stderr}")
                self.assertIn("cut" + name, done.stderr)

    def test_resizing(self):
        """Close to Pillow, which rounds to whole values after each of the two dimensions; a cubic filter enlarges that."""
        filters = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
        file = self.save("noise.png", self.noise)
        for name, how in filters.items():
            for height, width in ((20, 30), (80, 90), (37, 53), (5, 100), (100, 5), (1, 1)):
                expected = numpy.asarray(Image.fromarray(self.noise).resize((width, height), how), numpy.float32)
                got = self.raw(file, "--resize", f"{height}x{width}", "--interpolation", name)
                self.assertEqual(got.shape, expected.shape)
                self.assertLessEqual(abs(got - expected).max(), {"nearest": 0, "bilinear": 1.01, "bicubic": 1.5}[name], f"{name} {height}x{width}")
            # In floats Pillow rounds no more than we do.
            plane = Image.fromarray(self.noise[:, :, 1].astype(numpy.float32))
            if name == "bilinear":
                expected = numpy.asarray(plane.resize((30, 20), how))
                self.assertLessEqual(abs(self.raw(file, "--resize", "20x30")[:, :, 1] - expected).max(), 1e-3)

    def test_fit(self):
        """Padded and covering, as ImageOps.pad and as Resize and CenterCrop of torchvision place them."""
        file = self.save("noise.png", self.noise)
        picture = Image.fromarray(self.noise)
        expected = numpy.asarray(ImageOps.pad(picture, (64, 64), Image.BILINEAR, color=(114, 10, 20)), numpy.float32)
        got = self.raw(file, "--resize", "64", "--fit", "pad", "--pad-value", "114,10,20")
        self.assertLessEqual(abs(got - expected).max(), 1.01)
        # The shorter side becomes 32: 32 x int(32 * 53 / 37) = 45.
        scaled = picture.resize((45, 32), Image.BILINEAR)
        left = round((45 - 32) / 2)
        expected = numpy.asarray(scaled.crop((left, 0, left + 32, 32)), numpy.float32)
        self.assertLessEqual(abs(self.raw(file, "--resize", "32", "--fit", "cover") - expected).max(), 1.01)
        # What the input's own size asks for.
        got = self.prepared((1, 3, 32, 32), file, "--preset", "raw", "--fit", "cover")[0].transpose(1, 2, 0)
        self.assertLessEqual(abs(got - expected).max(), 1.01)

    def test_torchvision(self):
        try:
            import torch
            from torchvision import transforms
        except ImportError:
            self.skipTest("needs torchvision")
        self.assertTrue(torch.__version__)
        file = self.save("a.png", self.pixels)
        usual = transforms.Compose([transforms.Resize(64), transforms.CenterCrop(56), transforms.ToTensor(),
                                    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
        with Image.open(file) as picture:
            expected = usual(picture).numpy()
        for options in (["--crop", "56"], []):
            got = self.prepared((1, 3, 56, 56), file, "--preset", "imagenet", "--resize", "64", "--fit", "cover", *options)[0]
            # 1 of 255, in units of the smallest standard deviation.
            self.assertLessEqual(abs(got - expected).max(), 1.01 / 255 / 0.224)

    def test_crop_and_multiple(self):
        file = self.save("noise.png", self.noise)
        numpy.testing.assert_array_equal(self.raw(file, "--crop", "21x10"), self.noise[8:29, 22:32])
        got = self.raw(file, "--pad-multiple", "32", "--pad-value", "9")
        expected = numpy.full((64, 64, 3), 9)
        expected[:37, :53] = self.noise
        numpy.testing.assert_array_equal(got, expected)

    def test_presets(self):
        file = self.save("noise.png", self.noise)
        values = self.noise.astype(numpy.float64)
        expected = {"unit": values / 255, "raw": values, "imagenet-tf": values / 127.5 - 1,
                    "imagenet": (values / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225],
                    "imagenet-caffe": values[:, :, ::-1] - [103.939, 116.779, 123.68],
                    "clip": (values / 255 - [0.48145466, 0.4578275, 0.40821073]) / [0.26862954, 0.26130258, 0.27577711]}
        for name, array in expected.items():
            got = self.prepared((1, 3, "h", "w"), file, "--preset", name)[0].transpose(1, 2, 0)
            numpy.testing.assert_allclose(got, array, rtol=1e-5, atol=1e-5, err_msg=name)
        # What is given beside it wins, before or behind it.
        got = self.prepared((1, 3, "h", "w"), file, "--mean", "0", "--preset", "imagenet-tf")[0].transpose(1, 2, 0)
        numpy.testing.assert_allclose(got, values / 127.5, rtol=1e-5, atol=1e-5)

    def test_channels(self):
        file = self.save("noise.png", self.noise)
        numpy.testing.assert_array_equal(self.raw(file, "--channels", "bgr"), self.noise[:, :, ::-1])
        grey = numpy.asarray(Image.fromarray(self.noise).convert("L"), numpy.float32)
        self.assertLessEqual(abs(self.raw(file, "--channels", "gray") - grey[:, :, None]).max(), 0.51)
        got = self.prepared((1, "h", "w", "c"), file, "--preset", "raw", "--channels", "gray", "--layout", "nhwc")
        self.assertEqual(got.shape, (1, 37, 53, 1))
        self.expect_error(USAGE, "run", self.identity((1, 1, "h", "w")), "--input", file, "--channels", "bgr", mentions=["--channels"])

    def test_refused(self):
        file = self.save("noise.png", self.noise)
        model = self.identity((1, 3, 32, 32))
        for option, value in (("--resize", "0"), ("--resize", "5x"), ("--resize", "axb"), ("--resize", "1x2x3"), ("--resize", "99999"),
                              ("--fit", "fill"), ("--interpolation", "lanczos"), ("--crop", "-1"), ("--pad-multiple", "0"),
                              ("--pad-value", "300"), ("--channels", "rgba"), ("--preset", "none"), ("--rate", "0"), ("--scale", "inf"),
                              ("--scale", "x"), ("--std", "0"), ("--layout", "hwc")):
            self.expect_error(USAGE, "run", model, "--input", file, f"{option}={value}", mentions=[option, value])
        self.expect_error(USAGE, "run", model, "--input", file, "--resize", "16", mentions=["'x'", "16x16"])
        self.expect_error(USAGE, "run", model, "--input", file, "--crop", "40x20", mentions=["--crop 40x20", "37x53"])
        self.expect_error(USAGE, "run", model, "--input", file, "--rate", "8000", mentions=["--rate", "audio"])

    # --- Audio ---

    def wav(self, name, samples, rate, kind="<i2", encoding=1):
        data = numpy.ascontiguousarray(samples, kind)
        channels = 1 if data.ndim == 1 else data.shape[1]
        size = data.dtype.itemsize
        header = struct.pack("<HHIIHH", encoding, channels, rate, rate * channels * size, channels * size, size * 8)
        body = b"WAVEfmt " + struct.pack("<I", len(header)) + header + b"data" + struct.pack("<I", data.nbytes) + data.tobytes()
        return self.write(name, b"RIFF" + struct.pack("<I", len(body)) + body)

    def test_audio(self):
        rng = numpy.random.default_rng(3)
        stereo = rng.integers(-30000, 30000, (100, 2))
        file = self.wav("a.wav", stereo, 16000)
        mono = stereo.mean(axis=1) / 32768
        for shape in (("n",), (1, "n"), (1, 1, "n"), ("b", "n"), (100,), (1, 100)):
            got = self.prepared(shape, file)
            self.assertEqual(got.shape, (1,) * (len(shape) - 1) + (100,))
            numpy.testing.assert_allclose(got.ravel(), mono, atol=1e-6)
        for shape in ((2, "n"), (1, 2, "n")):
            numpy.testing.assert_allclose(self.prepared(shape, file).reshape(2, 100), stereo.T / 32768, atol=1e-6)
        floats = rng.standard_normal(50)
        numpy.testing.assert_allclose(self.prepared((1, "n"), self.wav("f.wav", floats, 8000, "<f8", 3))[0], floats, rtol=1e-6)
        self.expect_error(USAGE, "run", self.identity((1, 99)), "--input", file, mentions=["'x'", "100 samples"])
        self.expect_error(USAGE, "run", self.identity((3, "n")), "--input", file, mentions=["2 channels"])
        self.expect_error(USAGE, "run", self.identity((1, "n")), "--input", file, "--mean", "1", mentions=["--mean", "images"])
        self.expect_error(SYSTEM, "run", self.identity((1, "n")), "--input", self.write("cut.wav", b"RIFF\0\0\0\0WAVE"), mentions=["cut.wav"])

    @staticmethod
    def resample(x, source, target):
        """The definition: a sum over all samples of a windowed sinc."""
        f = 0.99 * min(source, target)
        j = numpy.arange(-(-len(x) * target // source))[:, None]
        t = f * (j / target - numpy.arange(len(x))[None, :] / source)
        window = numpy.where(abs(t) < 6, numpy.cos(numpy.pi * t / 12) ** 2, 0)
        return (numpy.sinc(t) * window) @ x * f / source

    def test_resampling(self):
        rng = numpy.random.default_rng(5)
        for source, target in ((44100, 16000), (8000, 16000), (16000, 8000), (22050, 16000), (11025, 44100), (16000, 16000), (7, 5)):
            samples = rng.standard_normal(700).astype(numpy.float32)
            got = self.prepared((1, "n"), self.wav("a.wav", samples, source, "<f4", 3), "--rate", str(target))[0]
            expected = samples if source == target else self.resample(samples.astype(numpy.float64), source, target)
            self.assertEqual(got.shape, expected.shape)
            numpy.testing.assert_allclose(got, expected, atol=2e-6, err_msg=f"{source} to {target}")

    # --- Metadata ---

    def test_kept_with_the_model(self):
        model = self.identity((1, 3, "h", "w"))
        file = self.save("noise.png", self.noise)
        given = ["--preset", "imagenet-caffe", "--resize", "16x20"]
        expected = self.prepared(None, file, *given, model=model)
        for name in "kept.onnx", "kept.mlir":
            source = model
            if name.endswith("mlir"):
                source = self.path("same.mlir")
                self.assertEqual(self.sinter("convert", model, "-o", source).returncode, DONE)
            kept = self.path(name)
            done = self.sinter("optimize", source, *given, "-o", kept)
            self.assertEqual(done.returncode, DONE, done.stderr)
            note = "note: pre-processing of the model: --resize 16x20 --channels bgr"
            numpy.testing.assert_array_equal(self.prepared(None, file, model=kept, notes=note), expected)
            # What is given wins, and other inputs do not ask for it.
            got = self.prepared(None, file, "--channels", "rgb", "--mean", "0", model=kept)[0].transpose(1, 2, 0)
            self.assertEqual(got.shape, (16, 20, 3))
            self.assertNotIn("note: pre-processing", self.sinter("run", kept, "--input", "random", "--shape", "x:1x3x4x4").stderr)
            # It stays where the model is written again, and in another format.
            for again in "again.onnx", "again.mlir", "again.stablehlo":
                command = "optimize" if again.endswith(name[4:]) else "convert"
                done = self.sinter(command, kept, "-o", self.path(again))
                self.assertEqual(done.returncode, DONE, done.stderr)
                numpy.testing.assert_array_equal(self.prepared(None, file, model=self.path(again), notes=note), expected)
        # More of it joins what is there.
        done = self.sinter("optimize", self.path("kept.onnx"), "--crop", "8", "-o", self.path("more.onnx"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        got = self.prepared(None, file, model=self.path("more.onnx"))
        numpy.testing.assert_allclose(got, expected[:, :, 4:12, 6:14], atol=1e-4)

    def test_metadata_are_json(self):
        kept = self.path("kept.onnx")
        done = self.sinter("optimize", self.identity((1, 3, 4, 4)), "--preset", "imagenet-tf", "--fit", "cover", "--pad-multiple", "4", "-o", kept)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with open(kept, "rb") as file:
            entries = [dict(onnx.fields(value)) for field, value in onnx.fields(file.read()) if field == 14]
        texts = {each[1].decode(): each[2].decode() for each in entries}
        self.assertEqual(json.loads(texts["sinter.preprocessing"]),
                         {"fit": "cover", "pad-multiple": 4, "channels": "rgb", "mean": 1, "std": 1, "scale": 1 / 127.5})

    def test_metadata_of_others(self):
        def with_metadata(text):
            content = onnx.model(onnx.graph([onnx.node("Identity", ["x"], ["y"])], [onnx.value_info("x", (1, 3, 4, 4))], [onnx.value_info("y", (1, 3, 4, 4))]))
            return self.write("with.onnx", content + onnx.data(14, onnx.data(1, "sinter.preprocessing") + onnx.data(2, text)))
        file = self.save("noise.png", self.noise)
        for text, mention in (("[]", "no JSON object"), ("{", "no JSON object"), ('{"resize": {}}', "'resize'"), ('{"resize": "0"}', "'0'"), ('{"blur": 1}', "'blur'"),
                              ('{"mean": ["a"]}', "'mean'"), ('{"scale": 1e999}', "sinter.preprocessing")):
            self.expect_error(INVALID, "run", with_metadata(text), "--input", file, mentions=["sinter.preprocessing", mention])
            # Only images and audio need it.
            self.assertEqual(self.sinter("run", with_metadata(text), "--input", "random").returncode, DONE)

    def test_no_place_for_metadata(self):
        model = self.identity((1, 3, 4, 4))
        self.assertEqual(self.sinter("convert", model, "-o", self.path("p.json")).returncode, DONE)
        self.expect_error(UNSUPPORTED, "optimize", self.path("p.json"), "--preset", "unit", "-o", self.path("q.json"), mentions=["PaddlePaddle", "sinter.preprocessing"])
        self.expect_error(USAGE, "optimize", model, "--preset", "unit", "--stats", mentions=["-o FILE"])


if __name__ == "__main__":
    main()
