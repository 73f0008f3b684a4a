#!/usr/bin/env python3
"""Arrays of every element type in and out: by buffers, by DLPack of either version, and as the bits that they are.

    test/bindings/python/ArraysTest.py BUILD
"""
import array
import ctypes
import gc
import os
import sys
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BUILD, "python"))

import sinter  # noqa: E402

try:
    import numpy
except ImportError as missing:
    print(f"ArraysTest.py: skipped: {missing}")
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import torch
except ImportError:
    torch = None

NUMPY_TYPES = [("f64", "f8"), ("f32", "f4"), ("f16", "f2"), ("i8", "i1"), ("i16", "i2"), ("i32", "i4"), ("i64", "i8"), ("ui8", "u1"),
               ("ui16", "u2"), ("ui32", "u4"), ("ui64", "u8"), ("i1", "?"), ("complex<f32>", "c8"), ("complex<f64>", "c16")]
OTHER_TYPES = [("bf16", "u2"), ("f8E4M3", "u1"), ("f8E4M3FN", "u1"), ("f8E4M3FNUZ", "u1"), ("f8E4M3B11FNUZ", "u1"), ("f8E5M2", "u1"),
               ("f8E5M2FNUZ", "u1"), ("i4", "i1"), ("ui4", "u1")]
# 1, -2 and 0.5 of bfloat16.
BITS = numpy.array([0x3f80, 0xc000, 0x3f00], numpy.uint16)


def identity(element, shape="3"):
    text = f"func.func @main(%x: tensor<{shape}x{element}>) -> tensor<{shape}x{element}> {{\n  return %x : tensor<{shape}x{element}>\n}}\n"
    return sinter.compile(sinter.load(text.encode(), name="model.mlir", no_cache=True))


def widened():
    """bf16 to f32."""
    return sinter.compile(sinter.load(b"""func.func @main(%x: tensor<3xbf16>) -> tensor<3xf32> {
  %0 = stablehlo.convert %x : (tensor<3xbf16>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
""", name="model.mlir", no_cache=True))


class Dlpack:
    """An array that has __dlpack__ alone, of the given versions."""

    def __init__(self, tensor, versions=True):
        self.tensor, self.versions, self.asked = tensor, versions, []

    def __dlpack__(self, **given):
        if not self.versions and given:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        self.asked.append(given)
        return self.tensor.__dlpack__(**given)

    def __dlpack_device__(self):
        return 1, 0


class Named:
    """As numpy has arrays of ml_dtypes: a name, a view, no buffer of its own."""

    def __init__(self, name, bits):
        self.dtype, self.bits = type("dtype", (), {"name": name}), bits

    def view(self, dtype):
        return self.bits.view(dtype)


class Types(unittest.TestCase):
    def test_types_of_numpy(self):
        for element, dtype in NUMPY_TYPES:
            with self.subTest(element=element):
                x = numpy.array([0, 1, 1], dtype)
                y = identity(element)(x)
                self.assertIs(type(y), numpy.ndarray)
                self.assertEqual(y.dtype, x.dtype)
                numpy.testing.assert_array_equal(y, x)
                self.assertTrue(y.flags.writeable)

    def test_types_that_numpy_lacks(self):
        for element, bits in OTHER_TYPES:
            with self.subTest(element=element):
                x = numpy.array([0, 1, 3], bits)
                y = identity(element)(sinter.view(x, element))
                if ml_dtypes is None:
                    self.assertEqual((type(y), y.dtype, y.shape), (sinter.Tensor, element, (3,)))
                integers = {"u2": "ui16", "u1": "ui8", "i1": "i8"}[bits]
                numpy.testing.assert_array_equal(numpy.asarray(sinter.view(y, integers)), x)

    def test_a_type_that_does_not_fit_is_named(self):
        session = identity("f32")
        for element, dtype in NUMPY_TYPES:
            if element != "f32":
                with self.subTest(element=element), self.assertRaises(sinter.UsageError) as caught:
                    session(numpy.zeros(3, dtype))
                self.assertEqual(caught.exception.kind, "usage")
                for words in ("3xf32", f"3x{element}"):
                    self.assertIn(words, str(caught.exception))
        self.assertRaisesRegex(sinter.UsageError, "3xbf16", session, sinter.view(BITS, "bf16"))
        self.assertRaisesRegex(sinter.UsageError, "3xbf16.*3xui16", widened(), BITS)
        for dtype, words in ((">f4", "'>f'"), ("U1", "3xstring"), ("g", "'g'"), ("O", "no str or bytes"), ("M8[s]", "dtype"), ("i4,i4", "not supported")):
            with self.subTest(dtype=dtype):
                self.assertRaisesRegex((TypeError, ValueError, sinter.UsageError), words, session, numpy.zeros(3, dtype))

    def test_out_of_another_type_is_refused(self):
        x = numpy.ones(3, numpy.float32)
        self.assertRaisesRegex(sinter.UsageError, "f64", identity("f32"), x, out=numpy.zeros(3))
        self.assertRaisesRegex(TypeError, "expected an array", identity("f32"), x, out=[[0.0] * 3])
        self.assertRaisesRegex(sinter.UsageError, "1 outputs; given: 2", identity("f32"), x, out=[x, x])


class Bfloat16(unittest.TestCase):
    FLOATS = numpy.array([1, -2, 0.5], numpy.float32)

    def test_bits(self):
        session = widened()
        numpy.testing.assert_array_equal(session(sinter.view(BITS, "bf16")), self.FLOATS)
        result = identity("bf16")(sinter.view(BITS, "bf16"))
        numpy.testing.assert_array_equal(numpy.asarray(sinter.view(result, "ui16")), BITS)
        self.assertEqual(result.tobytes(), BITS.tobytes())

    def test_names_of_ml_dtypes(self):
        # Its arrays have neither a buffer nor DLPack.
        numpy.testing.assert_array_equal(widened()(Named("bfloat16", BITS)), self.FLOATS)
        out = Named("bfloat16", numpy.zeros(3, numpy.uint16))
        identity("bf16")(sinter.view(BITS, "bf16"), out=out)
        numpy.testing.assert_array_equal(out.bits, BITS)
        self.assertRaisesRegex(TypeError, "expected an array", widened(), Named("bfloat17", BITS))
        self.assertRaisesRegex(sinter.UsageError, "3xbf16.*3xf8E5M2", widened(), Named("float8_e5m2", BITS.astype(numpy.uint8)))

    @unittest.skipIf(ml_dtypes is None, "there is no ml_dtypes")
    def test_ml_dtypes(self):
        x = self.FLOATS.astype(ml_dtypes.bfloat16)
        numpy.testing.assert_array_equal(widened()(x), self.FLOATS)
        y = identity("bf16")(x[::-1])
        self.assertEqual(y.dtype, ml_dtypes.bfloat16)
        numpy.testing.assert_array_equal(y, x[::-1])
        self.assertIs(identity("bf16")(x, out=y), y)
        numpy.testing.assert_array_equal(y, x)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_torch(self):
        x = torch.tensor([1, -2, 0.5], dtype=torch.bfloat16)
        numpy.testing.assert_array_equal(widened()(x), self.FLOATS)
        out = torch.zeros(3, dtype=torch.bfloat16)
        self.assertIs(identity("bf16")(sinter.view(BITS, "bf16"), out=out), out)
        self.assertTrue(torch.equal(out, x))
        self.assertTrue(torch.equal(torch.from_dlpack(sinter.view(BITS, "bf16")), x))


class Views(unittest.TestCase):
    def test_memory_is_shared_and_kept(self):
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        view = sinter.view(x, "ui32")
        self.assertEqual((view.shape, view.dtype), ((2, 3), "ui32"))
        self.assertTrue(numpy.shares_memory(numpy.asarray(view), x))
        numpy.asarray(view)[0, 0] = 0x40000000
        self.assertEqual(x[0, 0], 2)
        again = sinter.view(sinter.view(x + 1, "i32"), "f32")
        gc.collect()
        numpy.testing.assert_array_equal(numpy.asarray(again), x + 1)

    def test_memory_that_is_read_only_stays_so(self):
        view = sinter.view(bytes(12), "i8")
        self.assertFalse(numpy.asarray(view).flags.writeable)
        self.assertRaisesRegex(TypeError, "read-only", identity("i8", "12"), view, out=view)
        with self.assertRaisesRegex(BufferError, "read-only"):
            view.__dlpack__()
        self.assertIn("dltensor_versioned", repr(view.__dlpack__(max_version=(1, 1))))
        self.assertIn('"dltensor"', repr(view.__dlpack__(copy=True)))
        frozen = Dlpack(view)
        numpy.testing.assert_array_equal(identity("i8", "12")(frozen), numpy.zeros(12))
        self.assertRaisesRegex(TypeError, "read-only", identity("i8", "12"), view, out=frozen)

    def test_mistakes_are_errors(self):
        x = numpy.zeros((2, 3), numpy.float32)
        for kind, words, given in ((ValueError, "one size", (x, "f64")), (ValueError, "no element type 'float32'", (x, "float32")),
                                   (ValueError, "row-major", (x.T, "i32")), (ValueError, "row-major", (x[:, :2], "i32")),
                                   (TypeError, "expected an array", ([1, 2], "i32")), (TypeError, "", (x,)), (TypeError, "", (x, 3))):
            with self.subTest(given=given):
                self.assertRaisesRegex(kind, words, sinter.view, *given)
        # What has no elements has no gaps.
        self.assertEqual(sinter.view(x[:, :0], "i32").shape, (2, 0))
        self.assertEqual(sinter.view(numpy.zeros(()), "i64").shape, ())

    def test_repr(self):
        self.assertEqual(repr(sinter.view(numpy.zeros((2, 3), numpy.uint16), "bf16")), "<sinter.Tensor bf16[2, 3]>")
        self.assertEqual(repr(sinter.view(numpy.zeros(()), "f64")), "<sinter.Tensor f64[]>")


class Capsules(unittest.TestCase):
    X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)

    def setUp(self):
        self.tensor = sinter.view(self.X, "f32")

    def test_inputs_and_outputs_of_either_version(self):
        session = identity("f32", "2x3")
        for versions in (True, False):
            x, out = Dlpack(self.tensor, versions), Dlpack(sinter.view(numpy.zeros_like(self.X), "f32"), versions)
            numpy.testing.assert_array_equal(session(x), self.X)
            self.assertIs(session(x, out=out), out)
            numpy.testing.assert_array_equal(numpy.asarray(out.tensor), self.X)
            self.assertEqual(x.asked[0], {"max_version": (1, 1)} if versions else {})

    def test_numpy_takes_them(self):
        numpy.testing.assert_array_equal(numpy.from_dlpack(self.tensor), self.X)
        self.assertTrue(numpy.shares_memory(numpy.from_dlpack(self.tensor), self.X))
        copied = numpy.from_dlpack(Copied(self.tensor))
        numpy.testing.assert_array_equal(copied, self.X)
        self.assertFalse(numpy.shares_memory(copied, self.X))
        self.assertEqual(copied.ctypes.data % 256, 0)

    def test_what_the_structs_hold(self):
        # Up to the tensor: major and minor version, two pointers, the flags.
        header = ctypes.c_uint64 * 5
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        for tensor, copy, flags in ((self.tensor, None, 0), (self.tensor, True, 2), (sinter.view(bytes(4), "i8"), False, 1)):
            capsule = tensor.__dlpack__(max_version=(1, 1), copy=copy, dl_device=(1, 0), stream=None)
            words = header.from_address(pointer(capsule, b"dltensor_versioned"))
            self.assertEqual((words[0] & 0xffffffff, words[0] >> 32, words[3]), (1, 1, flags))
        # Data, device, rank and type, shape, strides.
        capsule = self.tensor.__dlpack__()
        fields = (ctypes.c_uint64 * 5).from_address(pointer(capsule, b"dltensor"))
        self.assertEqual(fields[0], self.X.ctypes.data)
        self.assertEqual(fields[1], 1)
        self.assertEqual(fields[2], 2 | 2 << 32 | 32 << 40 | 1 << 48)
        self.assertEqual(list((ctypes.c_int64 * 2).from_address(fields[3])), [2, 3])
        self.assertEqual(list((ctypes.c_int64 * 2).from_address(fields[4])), [3, 1])

    def test_what_cannot_be_given_is_an_error(self):
        self.assertEqual(self.tensor.__dlpack_device__(), (1, 0))
        self.assertRaisesRegex(BufferError, "memory of the CPU", self.tensor.__dlpack__, dl_device=(2, 0))
        self.assertRaises(TypeError, self.tensor.__dlpack__, dl_device="cpu")
        self.assertRaises(TypeError, self.tensor.__dlpack__, max_version=1)
        self.assertRaises(TypeError, self.tensor.__dlpack__, unknown=1)
        self.assertRaisesRegex(BufferError, "no elements of type i4", sinter.view(bytes(2), "i4").__dlpack__, max_version=(1, 1))
        with self.assertRaisesRegex(BufferError, "sinter.view"):
            memoryview(sinter.view(BITS, "bf16"))

    def test_what_is_no_capsule_is_an_error(self):
        class Wrong:
            def __dlpack__(self, **given):
                return 3
        self.assertRaisesRegex(TypeError, "no tensor of DLPack", identity("f32", "2x3"), Wrong())

        class Raises:
            def __dlpack__(self, **given):
                raise RuntimeError("it is elsewhere")
        self.assertRaisesRegex(RuntimeError, "elsewhere", identity("f32", "2x3"), Raises())

    def test_nothing_leaks(self):
        session = identity("f32", "2x3")
        alive = []

        class Memory(array.array):
            def __del__(self):
                alive.remove(id(self))
        for _ in range(3):
            memory = Memory("f", range(6))
            alive.append(id(memory))
            tensor = sinter.view(numpy.frombuffer(memory, "f4").reshape(2, 3), "f32")
            session(Dlpack(tensor))
            session(Dlpack(tensor, versions=False))
            kept = numpy.from_dlpack(tensor)
            del tensor, memory
            self.assertEqual(len(alive), 1)
            self.assertEqual(kept[1, 2], 5)
            del kept
            gc.collect()
            self.assertEqual(alive, [])


class Copied(Dlpack):
    def __dlpack__(self, **given):
        return self.tensor.__dlpack__(**{**given, "copy": True})


class Conversions(unittest.TestCase):
    def test_what_has_only_array(self):
        class Frame:
            def __array__(self, dtype=None):
                return numpy.arange(3, dtype=numpy.float32)
        session = identity("f32")
        numpy.testing.assert_array_equal(session(Frame()), [0, 1, 2])
        self.assertRaisesRegex(TypeError, "expected an array", session, Frame(), out=Frame())

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_booleans_of_torch(self):
        # Not every release of PyTorch has them in DLPack.
        numpy.testing.assert_array_equal(identity("i1")(torch.tensor([True, False, True])), [True, False, True])
        self.assertRaises(RuntimeError, identity("f32"), torch.zeros(3, requires_grad=True))
        self.assertRaises((RuntimeError, TypeError, NotImplementedError, BufferError), identity("f32"), torch.zeros(3, device="meta"))

    def test_strides_of_every_kind(self):
        session = identity("f64", "2x3")
        x = numpy.arange(24, dtype=numpy.float64).reshape(4, 6)
        bytes_ = numpy.zeros(49, numpy.uint8)
        odd = numpy.ndarray((2, 3), numpy.float64, bytes_[1:].data)
        odd[...] = x[:2, :3]
        for given in (x[::2, ::2], x[::-2, ::-2], x.T[:2, 1:4], numpy.broadcast_to(x[0, :3], (2, 3)), odd, x[1:3, 2:5]):
            numpy.testing.assert_array_equal(session(given), given)
            out = numpy.zeros((3, 2)).T
            session(given, out=out)
            numpy.testing.assert_array_equal(out, given)


class Strings(unittest.TestCase):
    def test_all_kinds(self):
        session = identity("!text.string", "2x2")
        texts = [["a", ""], ["\u00e9t\u00e9", "x y"]]
        objects = numpy.array(texts, dtype=object)
        for given in (objects, objects.astype("U"), numpy.asfortranarray(objects), objects[::-1][::-1],
                      numpy.char.encode(objects.astype("U"), "utf-8")):
            got = session(given)
            self.assertEqual((got.dtype, got.tolist()), (numpy.dtype(object), texts))

    def test_no_utf8(self):
        session = identity("!text.string", "1")
        got = session(numpy.array([b"\xff\x00a"], dtype=object))
        self.assertEqual(got[0].encode("utf-8", "surrogateescape"), b"\xff\x00a")

    def test_refused(self):
        session = identity("!text.string", "1")
        for given in (numpy.array([1], dtype=object), numpy.array([None], dtype=object)):
            with self.assertRaises(TypeError):
                session(given)
        with self.assertRaises(sinter.UsageError):
            session(numpy.array([1.0]))
        with self.assertRaises(sinter.UsageError):
            identity("f32", "1")(numpy.array(["1"]))


if __name__ == "__main__":
    unittest.main()
