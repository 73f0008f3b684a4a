#!/usr/bin/env python3
# Covers: passes EmbedPreprocessing
"""Models with their pre-processing embedded give what the models without it give for the same image: on both backends, in
all formats and in ONNX Runtime."""
import os
import sys
import unittest

import OnnxBytes as onnx
from SinterCommand import CommandTest, DONE, USAGE, main

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "judge"))
try:
    import numpy
    from PIL import Image
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "needs NumPy and Pillow")
class Embedding(CommandTest):
    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(11)
        self.images = []
        for height, width in ((37, 53), (80, 41), (16, 16), (9, 120)):
            pixels = rng.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
            self.images.append((pixels, self.path(f"{height}x{width}.png")))
            Image.fromarray(pixels).save(self.images[-1][1])

    def model(self, shape, element=onnx.FLOAT, name="net.onnx"):
        """The input itself, so that values can be compared one by one."""
        info = [onnx.value_info(each, shape, element) for each in ("x", "y")]
        return self.write(name, onnx.model(onnx.graph([onnx.node("Identity", ["x"], ["y"])], info[:1], info[1:])))

    def run_model(self, model, source, *options, backend="cpu"):
        done = self.sinter("run", model, "--input", source, "--backend", backend, "--output-dir", self.path("out"), *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return numpy.load(self.path("out/y.npy"))

    def embedded(self, model, *options, output="whole.onnx"):
        done = self.sinter("optimize", model, *options, "--embed-preprocessing", "-o", self.path(output))
        self.assertEqual(done.returncode, DONE, done.stderr)
        return self.path(output)

    def check(self, shape, *options, element=onnx.FLOAT, tolerance=2e-4, backends=("cpu", "interpreter")):
        model = self.model(shape, element)
        whole = self.embedded(model, *options)
        for _, file in self.images:
            expected = self.run_model(model, file, *options, backend="interpreter")
            for backend in backends:
                got = self.run_model(whole, file, backend=backend)
                self.assertEqual((got.shape, got.dtype), (expected.shape, expected.dtype))
                numpy.testing.assert_allclose(got.astype(float), expected.astype(float), atol=tolerance, rtol=1e-5,
                                              err_msg=f"{file} {options} {backend}")

    def test_fits(self):
        for fit in "stretch", "pad", "cover":
            self.check((1, 3, 24, 32), "--fit", fit, "--preset", "imagenet")

    def test_interpolations(self):
        for how in "nearest", "bilinear", "bicubic":
            self.check((1, 3, 20, 20), "--interpolation", how, "--fit", "cover", "--preset", "raw", tolerance=5e-3)

    def test_resize_and_crop(self):
        self.check((1, 3, 20, 20), "--resize", "27x30", "--fit", "cover", "--crop", "20")
        self.check((1, 3, 20, 20), "--resize", "24", "--fit", "pad", "--pad-value", "114,3,9", "--preset", "imagenet-caffe", tolerance=5e-3)
        self.check((1, 3, "h", "w"), "--resize", "13x15", "--pad-multiple", "8", "--pad-value", "50")
        self.check((1, 3, "h", "w"), "--crop", "9x11")

    def test_layouts_types_and_channels(self):
        self.check((1, 20, 18, 3), "--layout", "nhwc", "--channels", "bgr", "--mean", "0.1,0.2,0.3")
        self.check((3, 20, 18), "--fit", "cover")
        self.check((20, 18, 3), "--layout", "nhwc")
        self.check((1, 1, 20, 18), "--std", "0.5")
        self.check((1, 3, 20, 18), "--channels", "gray")
        self.check((1, 3, 20, 18), element=10, tolerance=2e-3)  # FLOAT16
        # Plain pixels, which may round to the other side.
        self.check((1, 20, 18, 3), "--layout", "nhwc", element=2, tolerance=1)  # UINT8

    def test_without_sizes(self):
        """Images of any size stay so."""
        self.check((1, 3, "height", "width"), "--preset", "imagenet")
        self.check(("n", "h", "w", 3), "--layout", "nhwc")

    def test_batches(self):
        """Several images of one size."""
        whole = self.embedded(self.model(("n", 3, 12, 12)), "--fit", "cover")
        batch = numpy.stack([self.images[0][0], self.images[0][0][::-1]])
        numpy.save(self.path("batch.npy"), batch)
        for backend in "cpu", "interpreter":
            got = self.run_model(whole, self.path("batch.npy"), backend=backend)
            for i in range(2):
                Image.fromarray(batch[i]).save(self.path("one.png"))
                expected = self.run_model(self.model((1, 3, 12, 12)), self.path("one.png"), "--fit", "cover")
                numpy.testing.assert_allclose(got[i:i + 1], expected, atol=2e-4)

    def test_what_is_written(self):
        whole = self.embedded(self.model((1, 3, 12, 12)), "--preset", "imagenet")
        done = self.sinter("inspect", whole, "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("ui8", done.stdout)
        # The metadata say how an image becomes plain pixels.
        done = self.sinter("run", whole, "--input", self.images[0][1])
        self.assertIn("pre-processing of the model: --channels rgb --layout nhwc", done.stderr)
        # Embedded once more: there is nothing left to do.
        self.expect_error(USAGE, "optimize", self.model((1, 3, 12, 12)), "--embed-preprocessing", "--stats", mentions=["-o FILE"])

    def test_formats(self):
        model = self.model((1, 3, 12, 14))
        options = ["--preset", "imagenet", "--fit", "pad"]
        expected = [self.run_model(model, file, *options) for _, file in self.images]
        for name in "net.mlir", "net.mlir.bc":
            self.assertEqual(self.sinter("convert", model, "-o", self.path(name)).returncode, DONE)
            whole = self.embedded(self.path(name), *options, output="whole" + name[3:])
            for (_, file), values in zip(self.images, expected):
                numpy.testing.assert_allclose(self.run_model(whole, file), values, atol=2e-4)

    def test_refused(self):
        def refused(shape, *options, code=USAGE, mentions=(), element=onnx.FLOAT):
            self.expect_error(code, "optimize", self.model(shape, element), "--embed-preprocessing", *options, "-o", self.path("no.onnx"), mentions=mentions)
            self.assertFalse(os.path.exists(self.path("no.onnx")))
        refused((2, 3), mentions=["no input can be an image", "--layout"])
        refused((1, 20, 20, 3), mentions=["no input"])
        refused((1, 3, 8, 8), mentions=["no input"], element=onnx.INT64)
        refused((1, 3, 8, "w"), mentions=["'x'", "--resize"])
        refused((1, 3, "h", "w"), "--pad-multiple", "4", mentions=["--pad-multiple"])
        refused((1, 3, 8, 8), "--resize", "4", mentions=["4x4"])
        refused((1, 3, 8, 8), "--mean", "1,2", mentions=["--mean"])
        info = [onnx.value_info(each, (1, 3, 8, 8)) for each in ("a", "b", "y")]
        two = self.write("two.onnx", onnx.model(onnx.graph([onnx.node("Add", ["a", "b"], ["y"])], info[:2], info[2:])))
        self.expect_error(USAGE, "optimize", two, "--embed-preprocessing", "-o", self.path("no.onnx"), mentions=["more than one"])

    def test_onnx_runtime(self):
        try:
            import OnnxRuntime
        except ImportError as missing:
            self.skipTest(str(missing))
        tasks, expected = [], []
        for number, options in enumerate((["--fit", "cover", "--preset", "imagenet"], ["--fit", "pad", "--pad-value", "9"],
                                          ["--interpolation", "bicubic"], ["--interpolation", "nearest"])):
            model = self.model((1, 3, 20, 24))
            whole = self.embedded(model, *options, output=f"{number}.onnx")
            for i, (pixels, file) in enumerate(self.images):
                expected.append(self.run_model(model, file, *options))
                tasks.append(OnnxRuntime.Task(whole, {"x": pixels[None]}, self.path(f"task{number}_{i}")))
        try:
            OnnxRuntime.run(tasks)
        except FileNotFoundError:
            self.skipTest("needs node")
        if any("Cannot find" in (task.error or "") for task in tasks):
            self.skipTest("needs onnxruntime-node in bench/")
        for task, values in zip(tasks, expected):
            self.assertIsNone(task.error)
            numpy.testing.assert_allclose(task.outputs["y"], values, atol=5e-4)


if __name__ == "__main__":
    main()
