#!/usr/bin/env python3
"""sinter.torch: modules of PyTorch against PyTorch itself.

    test/bindings/python/TorchTest.py BUILD
"""
import copy
import doctest
import io
import os
import pickle
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

try:
    import torch
except ImportError as missing:
    print(f"TorchTest.py: skipped: {missing}")
    sys.exit(77)
try:
    import torchvision
except ImportError:
    torchvision = None

import sinter.torch  # noqa: E402


class Both(torch.nn.Module):
    """Two inputs and three outputs, one of booleans."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.GELU(), torch.nn.Dropout(),
                                          torch.nn.Linear(8, 3))

    def forward(self, x, y):
        z = self.layers(x * y)
        return z, torch.softmax(z, -1), z > 0


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.module = Both().eval()

    def expect(self, got, want):
        self.assertEqual(got.dtype, want.dtype)
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)

    def test_a_module(self):
        fast = sinter.torch.compile(self.module, (torch.zeros(2, 4), torch.zeros(2, 4)), dynamic=({0: "N"}, {0: "N"}), threads=1)
        for rows in (2, 7, 1):
            x, y = torch.randn(rows, 4), torch.randn(4, rows).t()
            with torch.no_grad():
                want = self.module(x, y)
            got = fast(x.requires_grad_(), y)
            self.assertIsInstance(got, tuple)
            for one, other in zip(got, want, strict=True):
                self.expect(one, other)
        self.assertFalse(self.module.training)

    def test_one_output_and_static_shapes(self):
        module = torch.nn.Conv2d(2, 3, 3, padding=1).train()
        fast = sinter.torch.compile(module, torch.zeros(1, 2, 5, 5))
        x = torch.randn(1, 2, 5, 5)
        self.expect(fast(x), module(x).detach())
        self.assertTrue(module.training)
        self.assertIn("input_0", repr(fast))

    def test_mistakes_are_errors(self):
        fast = sinter.torch.compile(torch.nn.ReLU(), torch.zeros(3))
        self.assertRaisesRegex(sinter.UsageError, "given: 2", fast, torch.zeros(3), torch.zeros(3))
        self.assertRaisesRegex(sinter.UsageError, "torch.Tensor", fast, [1.0, 2.0, 3.0])
        self.assertRaisesRegex(sinter.UsageError, "3xf32", fast, torch.zeros(3, dtype=torch.float64))
        self.assertRaisesRegex(sinter.UsageError, "meta", fast, torch.zeros(3, device="meta"))
        self.assertRaisesRegex(sinter.UsageError, "2 entries", sinter.torch.compile, torch.nn.ReLU(), torch.zeros(3), dynamic=({}, {}))

    def test_modules_in_modules(self):
        fast = sinter.torch.compile(self.module, (torch.zeros(2, 4), torch.zeros(2, 4)))
        module = fast.to_module()
        x, y = torch.randn(2, 4), torch.randn(2, 4)
        for one, other in zip(module(x, y), fast(x, y), strict=True):
            self.assertTrue(torch.equal(one, other))
        whole = torch.nn.Sequential(sinter.torch.compile(torch.nn.Linear(4, 3), torch.zeros(2, 4)).to_module(), torch.nn.Softmax(-1))
        self.assertEqual(list(whole.parameters()), [])
        self.assertAlmostEqual(whole.eval()(x).sum().item(), 2, 5)
        self.assertIn("input_0", repr(module))

    def test_copies_and_pickles(self):
        fast = sinter.torch.compile(torch.nn.Linear(4, 3), torch.zeros(2, 4), threads=1)
        x, file = torch.randn(2, 4), io.BytesIO()
        torch.save(fast.to_module(), file)
        file.seek(0)
        for again in (pickle.loads(pickle.dumps(fast)), copy.deepcopy(fast.to_module()), torch.load(file)):
            self.assertTrue(torch.equal(again(x), fast(x)))

    @unittest.skipIf(torchvision is None, "there is no torchvision")
    def test_models_of_torchvision(self):
        # On small images, since the exporter and the compiler take long for large ones.
        for name, size in (("resnet18", 64), ("mobilenet_v3_small", 64), ("squeezenet1_1", 64), ("shufflenet_v2_x0_5", 64)):
            with self.subTest(name=name):
                module = getattr(torchvision.models, name)().eval()
                fast = sinter.torch.compile(module, torch.zeros(1, 3, size, size), dynamic=({0: "N"},))
                for batch in (1, 3):
                    x = torch.randn(batch, 3, size, size)
                    with torch.no_grad():
                        want = module(x)
                    self.assertLess(((fast(x) - want).abs().max() / want.abs().max()).item(), 1e-3)
                self.assertTrue(torch.equal(fast.to_module()(x), fast(x)))

    def test_examples_of_docstrings(self):
        self.assertEqual(doctest.testmod(sinter.torch).failed, 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        unittest.main()
