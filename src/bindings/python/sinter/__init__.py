"""Sinter compiles neural networks to native code for CPUs.

    >>> import sinter
    >>> model = sinter.load("model.onnx")
    >>> session = sinter.compile(model)
    >>> y = session(x)
    >>> y.shape
    (1, 2)

The model of the examples has an input x, f32 [N, 3], and an output y, f32 [N, 2]; x is [[1, 2, 3]].

Arrays are whatever has the buffer protocol (numpy) or `__dlpack__` (PyTorch), and as inputs what has `__array__`. Nothing is
copied that is row-major without gaps. Options have the names of the command's options, with `_` for `-`:

    >>> sinter.compile(model, threads=1, precision="f32-exact")
    <sinter.Session (x: f32[N, 3]) -> (y: f32[..., 2])>
"""
from ._sinter import (CancelledError, Error, InvalidModelError, SystemError,  # noqa: A004
                      Tensor, UnsupportedError, UsageError, WrongResultError, __version__, view)
from ._errors import Warning  # noqa: A004
from ._model import Model, compile, load  # noqa: A004
from ._session import Binding, Session
from ._trainer import Trainer
from ._values import Value

__all__ = [
    "Binding", "CancelledError", "Error", "InvalidModelError", "Model", "Session", "SystemError", "Tensor",
    "Trainer", "UnsupportedError", "UsageError", "Value", "Warning", "WrongResultError", "__version__", "compile", "load", "view",
]
