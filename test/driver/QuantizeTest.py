#!/usr/bin/env python3
"""`sinter quantize`."""
import json
import os
import random

from SinterCommand import CommandTest, DONE, USAGE, main, npy

GLYPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "glyphs")


class Quantize(CommandTest):
    MODEL = os.path.join(GLYPHS, "glyphs.onnx")
    IMAGES = os.path.join(GLYPHS, "images")

    def quantize(self, *options):
        done = self.sinter("quantize", self.MODEL, "--calibration", self.IMAGES, "--no-cache", "--json", *options)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)

    def label_of(self, model, image):
        done = self.sinter("run", model, "--input", image, "--labels", os.path.join(GLYPHS, "labels.txt"), "--json", "--no-cache")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return json.loads(done.stdout)["outputs"][0]["labels"][0]["label"]

    def test_both_forms_find_the_labels(self):
        for form in ("q.onnx", "q.mlir"):
            with self.subTest(form=form):
                report = self.quantize("-o", self.path(form))
                self.assertGreater(report["cosine"], 0.999)
                self.assertEqual(report["agreement"], 1)
                self.assertLess(report["after"]["bytes"], report["before"]["bytes"])
                for name in ("A", "7", "W"):
                    self.assertEqual(self.label_of(self.path(form), os.path.join(self.IMAGES, name + ".png")), name)

    def test_the_bias_of_a_product_with_a_float_result(self):
        """What runtimes want for a product of integers, here of the last layer."""
        self.quantize("-o", self.path("q.onnx"))
        with open(self.path("q.onnx"), "rb") as file:
            written = file.read()
        self.assertIn(b"classifier.bias_quantized", written)
        self.assertNotIn(b"bias_corrected", written)

    def test_weights_alone(self):
        ratios = []
        for words in ([], ["--no-bias-correction"]):
            with self.subTest(words=words):
                report = self.quantize("--activations", "float", "--weights", "int4", "-o", self.path("w.onnx"), *words)
                self.assertEqual(self.label_of(self.path("w.onnx"), os.path.join(self.IMAGES, "A.png")), "A")
                ratios.append(report["layers"][0]["snr_db"])
        self.assertGreater(ratios[0], ratios[1] + 1, "a corrected bias takes up the mean error of the weights")

    def test_few_samples_leave_channels_their_room(self):
        """Of 24 numbers a channel the greatest is not known: divided by it, every channel would be cut off by the next sample."""
        numbers = random.Random(3)

        def dense(rows, columns, spread):
            return "[" + ", ".join(str([round(numbers.gauss(0, spread), 4) for _ in range(columns)]) for _ in range(rows)) + "]"

        model = self.write("m.mlir", f"""func.func @main(%x: tensor<1x16xf32>) -> tensor<1x8xf32> {{
          %w1 = stablehlo.constant dense<{dense(16, 64, 0.3)}> : tensor<16x64xf32>
          %w2 = stablehlo.constant dense<{dense(64, 8, 0.2)}> : tensor<64x8xf32>
          %zero = stablehlo.constant dense<0.0> : tensor<1x64xf32>
          %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x64xf32>) -> tensor<1x64xf32>
          %r = stablehlo.maximum %h, %zero : tensor<1x64xf32>
          %y = stablehlo.dot_general %r, %w2, contracting_dims = [1] x [0] : (tensor<1x64xf32>, tensor<64x8xf32>) -> tensor<1x8xf32>
          return %y : tensor<1x8xf32>
        }}""")
        os.mkdir(self.path("samples"))
        for i in range(30):
            self.write(f"samples/{i:02}.npy", npy((1, 16), [numbers.gauss(0, 1) for _ in range(16)]))
        ratios = []
        for words in ([], ["--no-equalize"]):
            done = self.sinter("quantize", model, "--calibration", self.path("samples"), "--no-cache", "--json", *words)
            self.assertEqual(done.returncode, DONE, done.stderr)
            ratios.append(json.loads(done.stdout)["snr_db"])
        self.assertGreater(ratios[0], ratios[1] - 0.5)

    def test_a_profile_in_place_of_the_data(self):
        profile = self.path("p.json")
        first = self.quantize("--profile-out", profile, "-o", self.path("a.onnx"))
        done = self.sinter("quantize", self.MODEL, "--profile", profile, "-o", self.path("b.onnx"), "--json")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(json.loads(done.stdout)["samples"], first["samples"])
        with open(self.path("a.onnx"), "rb") as a, open(self.path("b.onnx"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_nothing_to_calibrate_with(self):
        self.expect_error(USAGE, "quantize", self.MODEL, "-o", self.path("q.onnx"), mentions=["--calibration"])
        os.mkdir(self.path("empty"))
        self.expect_error(USAGE, "quantize", self.MODEL, "-o", self.path("q.onnx"), "--calibration", self.path("empty"),
                          mentions=["no sample"])


if __name__ == "__main__":
    main()
