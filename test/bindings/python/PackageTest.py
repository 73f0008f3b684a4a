#!/usr/bin/env python3
"""The Python package, on arrays of numpy, of PyTorch where it is there, and of the standard library.

    test/bindings/python/PackageTest.py BUILD
"""
import array
import collections
import gc
import io
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

import sinter  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

DENSE = b"""func.func @main(%x: tensor<?x3xf32>, %b: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<?x3xf32>) {
  %w = stablehlo.constant dense<[[1.0, -1.0], [2.0, 0.5], [-3.0, 4.0]]> : tensor<3x2xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = chlo.broadcast_add %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %2 = stablehlo.add %x, %x : tensor<?x3xf32>
  return %1, %2 : tensor<?x2xf32>, tensor<?x3xf32>
}
"""
COUNTER = b"""func.func @main(%x: tensor<2xf32>, %s: tensor<2xf32> {sinter.state = "sum", sinter.initial = dense<1.0> : tensor<2xf32>})
    -> (tensor<2xf32>, tensor<2xf32> {sinter.state = "sum"}) {
  %0 = stablehlo.add %x, %s : tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}
"""
UNKNOWN = b"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @nowhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
PRINTS = b"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  interpreter.print %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
"""


def of_type(element):
    return f"func.func @main(%x: tensor<3x{element}>) -> tensor<3x{element}> {{\n  return %x : tensor<3x{element}>\n}}\n".encode()


def load(text, **options):
    return sinter.load(text, name="model.mlir", no_cache=True, **options)


class Standard(unittest.TestCase):
    """What needs nothing but Python."""

    def test_a_model_is_described(self):
        model = load(DENSE)
        self.assertEqual(model.inputs, [("arg0", "f32", (None, 3)), ("arg1", "f32", (2,))])
        self.assertEqual([each.dtype for each in model.outputs], ["f32", "f32"])
        self.assertIn("arg0: f32[?, 3]", repr(model))

    def test_arrays_of_the_standard_library(self):
        session = sinter.compile(load(of_type("f64")))
        result = session(array.array("d", [1, 2, 3]))
        self.assertEqual(bytes(memoryview(result)), array.array("d", [1, 2, 3]).tobytes())

    def test_results_live_alone(self):
        session = sinter.compile(load(of_type("i32")))
        [tensor] = session._handle.run([array.array("i", [4, 5, 6])])
        del session
        gc.collect()
        self.assertEqual((tensor.shape, tensor.dtype, memoryview(tensor).tolist()), ((3,), "i32", [4, 5, 6]))
        self.assertEqual(tensor.tobytes(), array.array("i", [4, 5, 6]).tobytes())
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))

    def test_sources_of_models(self):
        onnx = load(DENSE).tobytes(".onnx")
        self.assertEqual(sinter.load(io.BytesIO(onnx)).inputs, sinter.load(onnx).inputs)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            load(DENSE).save(path)
            self.assertEqual(len(sinter.load(path).outputs), 2)
            with open(path, "rb") as file:
                self.assertEqual(len(sinter.load(file).outputs), 2)

    def test_errors_have_fields(self):
        with self.assertRaises(sinter.SystemError) as caught:
            sinter.load("/nonexistent/m.onnx")
        self.assertIsInstance(caught.exception, OSError)
        self.assertEqual(caught.exception.file, "/nonexistent/m.onnx")
        with self.assertRaises(sinter.UsageError) as caught:
            sinter.compile(load(DENSE), thread=2)
        self.assertEqual(caught.exception.hint, "did you mean 'threads'?")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(sinter.InvalidModelError) as caught:
            load(b"func.func @main() {")
        self.assertIn("model.mlir", caught.exception.file)
        self.assertIsInstance(caught.exception, sinter.Error)

    def test_errors_of_either_side_have_all_fields(self):
        session = sinter.compile(load(DENSE))
        for kind, base, name, call in (
                (sinter.UsageError, ValueError, "usage", lambda: session(wrong=1)),
                (sinter.UsageError, ValueError, "usage", lambda: sinter.compile(load(DENSE), thread=2)),
                (sinter.InvalidModelError, ValueError, "invalid-model", lambda: load(b"func.func")),
                (sinter.UnsupportedError, NotImplementedError, "unsupported", lambda: sinter.compile(load(UNKNOWN))(array.array("f", [1, 2]))),
                (sinter.SystemError, OSError, "system", lambda: sinter.load("/nonexistent/m.onnx"))):
            with self.subTest(kind=kind), self.assertRaises(kind) as caught:
                call()
            error = caught.exception
            self.assertIsInstance(error, (sinter.Error, base))
            self.assertEqual(error.kind, name)
            self.assertTrue(error.what)
            self.assertIn(error.what, str(error))
            for field in ("file", "node", "operator", "hint"):
                self.assertIsInstance(getattr(error, field), str)
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), again.what), (kind, str(error), error.what))
        self.assertEqual(sinter.CancelledError("x").kind, "cancelled")
        self.assertEqual(sinter.WrongResultError("x").kind, "wrong-result")
        self.assertEqual(sinter.Error("x").what, "")

    def test_callbacks(self):
        told, printed = [], []
        model = load(PRINTS)
        sinter.compile(load(DENSE), progress=lambda *given: told.append(given))
        session = sinter.compile(model, print=printed.append)
        session(array.array("f", [1.5, 2]))
        self.assertIn("1.5", "".join(printed))
        self.assertTrue(told)
        for stage, done, total in told:
            self.assertIsInstance(stage, str)
            self.assertLessEqual(done, total)
        self.assertRaisesRegex(TypeError, "option 'threads' is no callable", sinter.compile, model, threads=print)
        self.assertRaisesRegex(sinter.UsageError, "progress", sinter.compile, model, progress=3)

    def test_callbacks_that_raise_do_no_harm(self):
        raised = []
        before, sys.unraisablehook = sys.unraisablehook, lambda given: raised.append(given.exc_type)
        self.addCleanup(setattr, sys, "unraisablehook", before)
        session = sinter.compile(load(PRINTS), print=lambda text: 1 / 0)
        self.assertEqual(bytes(memoryview(session(array.array("f", [1.5, 2])))), array.array("f", [1.5, 2]).tobytes())
        self.assertEqual(set(raised), {ZeroDivisionError})

    def test_callbacks_that_refer_to_their_session_are_collected(self):
        alive = weakref.WeakSet()

        class Owner:
            def __init__(self, text):
                self.model = load(text, log=self.note)
                self.session = self.model.compile(log=self.note)
                self.binding = self.session.bind([array.array("d", [1, 2, 3])], [None])
                alive.add(self)

            def note(self, line):
                pass
        for _ in range(3):
            Owner(of_type("f64"))
        gc.collect()
        self.assertEqual(len(alive), 0)

    def test_what_is_of_this_process_is_not_pickled(self):
        session = sinter.compile(load(DENSE))
        with self.assertRaisesRegex(TypeError, "pickle its model"):
            pickle.dumps(session)

    def test_what_is_shown(self):
        session = sinter.compile(load(DENSE))
        self.assertEqual(repr(session), "<sinter.Session (arg0: f32[?, 3], arg1: f32[2]) -> (result0: f32[?, 2], result1: f32[?, 3])>"
                         .replace("result0", session.outputs[0].name).replace("result1", session.outputs[1].name))
        self.assertIn("<td>input</td><td>arg0</td><td>f32</td><td>[?, 3]</td>", session._repr_html_())
        self.assertIn("<td>state</td><td>sum</td>", sinter.compile(load(COUNTER))._repr_html_())

    def test_pickles(self):
        again = pickle.loads(pickle.dumps(load(DENSE)))
        self.assertEqual([each.shape for each in again.inputs], [(None, 3), (2,)])

    def test_optimises(self):
        model = load(b"""func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.negate %x : tensor<3xf32>
  %1 = stablehlo.negate %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
""")
        self.assertEqual(model.optimize().stats["before"], {"stablehlo.negate": 2})
        self.assertIsNone(model.stats)

    def test_notes_are_warnings(self):
        # Of a cache that others may write to, each process is told once.
        text = """
import os, sys, tempfile, warnings
sys.path.insert(0, sys.argv[1])
import sinter
folder, lines = tempfile.TemporaryDirectory(), []
os.chmod(folder.name, 0o777)
model = sinter.load(sys.argv[2].encode(), name="model.mlir")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter(sys.argv[3])
    try:
        sinter.compile(model, cache_dir=folder.name, **({"log": lines.append} if sys.argv[4] else {}))
    except sinter.Warning as warning:
        print("raised", warning)
print([each.category.__module__ for each in told], [each.filename for each in told], [folder.name in each for each in lines])
"""
        for action, log, expected in (("always", "", "['sinter'] ['<string>'] []"), ("always", "log", "[] [] [True]"),
                                      ("error", "", "raised .*; the cache is not used\n\\[\\] \\[\\] \\[\\]")):
            done = subprocess.run([sys.executable, "-c", text, os.path.join(BUILD, "python"), DENSE.decode(), action, log],
                                  capture_output=True, text=True, check=True)
            (self.assertRegex if action == "error" else self.assertEqual)(done.stdout.strip(), expected)


@unittest.skipIf(numpy is None, "there is no numpy")
class Numpy(unittest.TestCase):
    W = None if numpy is None else numpy.array([[1, -1], [2, 0.5], [-3, 4]], numpy.float32)

    def setUp(self):
        self.session = sinter.compile(load(DENSE), threads=1)
        self.x = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
        self.b = numpy.array([0.5, -2], numpy.float32)

    def expect(self, results, x):
        numpy.testing.assert_array_equal(results[0], x @ self.W + self.b)
        numpy.testing.assert_array_equal(results[1], x + x)

    def test_inputs_by_position_and_name(self):
        for results in (self.session(self.x, self.b), self.session(self.x, arg1=self.b), self.session(arg1=self.b, arg0=self.x),
                        self.session({"arg0": self.x, "arg1": self.b})):
            self.expect(results, self.x)
        mapping = collections.UserDict(arg0=self.x, arg1=self.b)
        self.expect(self.session(mapping), self.x)
        self.expect(self.session(mapping, out=collections.UserDict()), self.x)
        self.assertEqual(list(self.session.run({"arg0": self.x, "arg1": self.b})), [each.name for each in self.session.outputs])

    def test_one_input_and_none(self):
        session = sinter.compile(load(of_type("f32")))
        for given in ((self.b[[0, 1, 1]],), ({"arg0": self.b[[0, 1, 1]]},), (collections.UserDict(arg0=self.b[[0, 1, 1]]),)):
            numpy.testing.assert_array_equal(session(*given), self.b[[0, 1, 1]])
        constant = sinter.compile(load(b"""func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""))
        self.assertEqual(constant().tolist(), [1, 2])
        self.assertEqual(constant({}).tolist(), [1, 2])
        self.assertRaisesRegex(sinter.UsageError, "given: 1", constant, self.b)

    def test_every_size(self):
        for rows in (1, 7, 2, 100, 0):
            x = numpy.linspace(-1, 1, rows * 3, dtype=numpy.float32).round(2).reshape(rows, 3)
            results = self.session(x, self.b)
            numpy.testing.assert_allclose(results[0], x @ self.W + self.b, rtol=1e-5, atol=1e-6)

    def test_strides_and_addresses(self):
        wide = numpy.zeros((4, 6), numpy.float32)
        wide[:, ::2] = self.x
        odd = numpy.frombuffer(b"\0" + self.x.tobytes(), numpy.uint8)[1:].view(numpy.uint8)
        unaligned = numpy.ndarray((4, 3), numpy.float32, odd.data)
        for x in (wide[:, ::2], numpy.asfortranarray(self.x), self.x[::-1][::-1], unaligned, self.x[::-1]):
            self.expect(self.session(x, self.b), numpy.array(x))

    def test_out(self):
        first, second = numpy.empty((4, 2), numpy.float32), numpy.empty((4, 6), numpy.float32)[:, ::2]
        results = self.session(self.x, self.b, out=[first, second])
        self.assertIs(results[0], first)
        self.assertIs(results[1], second)
        self.expect((first, second), self.x)
        name = self.session.outputs[0].name
        results = self.session(self.x, self.b, out={name: first})
        self.assertIs(results[0], first)
        self.expect(results, self.x)

    def test_bindings(self):
        first, second = numpy.empty((4, 2), numpy.float32), numpy.empty((4, 3), numpy.float32)
        binding = self.session.bind({"arg0": self.x, "arg1": self.b}, [first, second])
        self.assertEqual(binding.copies, [False] * 4)
        for factor in (1, 2):
            self.x *= factor
            binding()
            self.expect((first, second), self.x)

    def test_mistakes_are_errors(self):
        x, b, run = self.x, self.b, self.session
        frozen = numpy.zeros((4, 2), numpy.float32)
        frozen.flags.writeable = False
        both = numpy.zeros(20, numpy.float32)
        cases = [
            (sinter.UsageError, "float64|f64", lambda: run(x.astype(numpy.float64), b)),
            (sinter.UsageError, "4x4xf32", lambda: run(numpy.zeros((4, 4), numpy.float32), b)),
            (sinter.UsageError, "3xf32", lambda: run(x[0], b)),
            (sinter.UsageError, "missing: arg1", lambda: run(x)),
            (sinter.UsageError, "there is no input 'y'", lambda: run(x, y=b)),
            (sinter.UsageError, "twice", lambda: run(x, b, arg0=x)),
            (sinter.UsageError, "given: 3", lambda: run(x, b, b)),
            (TypeError, "expected an array", lambda: run(x, [0.5, 2])),
            (TypeError, "expected an array", lambda: run(x, 3)),
            (sinter.UsageError, "given 2xstring", lambda: run(x, numpy.array(["a", "b"]))),
            (TypeError, "not supported", lambda: run(x, b.astype(">f4"))),
            ((BufferError, ValueError), "", lambda: run(x, b, out=[frozen, None])),
            (sinter.UsageError, "there is no output 'z'", lambda: run(x, b, out={"z": both})),
            (sinter.UsageError, "output", lambda: run(x, b, out=[numpy.zeros((3, 2), numpy.float32), None])),
            (sinter.UsageError, "share", lambda: run(x, b, out=[both[:8].reshape(4, 2), both[4:16].reshape(4, 3)])),
        ]
        for kind, words, call in cases:
            with self.subTest(words=words):
                self.assertRaisesRegex(kind, words, call)
        self.expect(run(x, b), x)

    def test_threads_share_a_session(self):
        wrong = []

        def work(seed):
            x = numpy.full((seed + 1, 3), seed, numpy.float32)
            for _ in range(50):
                got = self.session(x, self.b)
                if not numpy.array_equal(got[0], x @ self.W + self.b):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_states(self):
        session = sinter.compile(load(COUNTER))
        x = numpy.array([10, 20], numpy.float32)
        self.assertEqual([each.name for each in session.states], ["sum"])
        session(x)
        numpy.testing.assert_array_equal(session(x), [21, 41])
        numpy.testing.assert_array_equal(session.read_state("sum", numpy.empty(2, numpy.float32)), [21, 41])
        session.write_state("sum", numpy.zeros(2, numpy.float32))
        numpy.testing.assert_array_equal(session(x), x)
        session.reset_states()
        numpy.testing.assert_array_equal(session(x), x + 1)
        self.assertRaises(sinter.UsageError, session.read_state, "other", x)

    def test_element_types(self):
        for element, dtype in (("f64", "f8"), ("f16", "f2"), ("i8", "i1"), ("i16", "i2"), ("i64", "i8"), ("ui8", "u1"), ("ui16", "u2"),
                               ("ui32", "u4"), ("ui64", "u8"), ("i1", "?"), ("complex<f32>", "c8"), ("complex<f64>", "c16")):
            with self.subTest(element=element):
                x = numpy.array([0, 1, 1], dtype)
                y = sinter.compile(load(of_type(element)))(x)
                self.assertEqual(y.dtype, x.dtype)
                numpy.testing.assert_array_equal(y, x)

    def test_quantises_by_any_iterable(self):
        model = load(DENSE)
        samples = ({"arg0": numpy.sin(self.x + i), "arg1": self.b} for i in range(8))
        small = model.quantize(samples, **{"for": "any"})
        self.assertEqual(small.stats["samples"] + small.stats["judged"], 8)
        got, expected = sinter.compile(small)(self.x, self.b)[0], self.session(self.x, self.b)[0]
        self.assertEqual(got.shape, expected.shape)
        # An error in the callback is the caller's.
        with self.assertRaises(KeyError):
            model.quantize([{"arg0": self.x}] * 4)
        with self.assertRaises(TypeError):
            model.quantize([[self.x, "text"]] * 4)

    def test_compares_with_another_model(self):
        model, other = load(DENSE), load(DENSE.replace(b"4.0", b"4.5"))
        self.assertTrue(model.compare(load(DENSE))["agrees"])
        report = model.compare(other)
        self.assertFalse(report["agrees"])
        self.assertEqual([each["parts"] for each in report["outputs"]], [True, False])
        self.assertTrue(model.compare(other, {"arg0": self.x * 0, "arg1": self.b})["agrees"])
        self.assertTrue(model.compare(other, rtol=0.99, atol=100, outputs_only=True)["agrees"])
        self.assertTrue(model.compare(other, min_snr=-100)["agrees"])
        self.assertFalse(model.compare(other, min_cosine=1)["agrees"])
        with self.assertRaisesRegex(sinter.UsageError, "expected 2 inputs"):
            model.compare(other, [self.x])

    def test_memory_comes_back(self):
        session = sinter.compile(load(of_type("f32")))
        x = numpy.zeros(3, numpy.float32)

        def pages():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1])

        for _ in range(2000):
            session(x)
        before = pages()
        for _ in range(20000):
            session(x)
        self.assertLess(pages() - before, 256)


@unittest.skipIf(torch is None, "there is no PyTorch")
class Torch(unittest.TestCase):
    def test_tensors_in_and_out(self):
        session = sinter.compile(load(of_type("f32")))
        x = torch.tensor([1.0, 2.0, 3.0])
        [result] = session._handle.run([x])
        self.assertTrue(torch.equal(torch.from_dlpack(result), x))
        out = torch.zeros(3)
        self.assertIs(session(x, out=out), out)
        self.assertTrue(torch.equal(out, x))

    def test_bfloat16(self):
        session = sinter.compile(load(of_type("bf16")))
        x = torch.tensor([1.0, 2.5, -3.0], dtype=torch.bfloat16)
        result = session(x)
        self.assertIsInstance(result, sinter.Tensor)
        self.assertTrue(torch.equal(torch.from_dlpack(result), x))


if __name__ == "__main__":
    unittest.main()
