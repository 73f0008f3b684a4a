"""The names of ONNX Runtime's Python package, for programs written for it.

    >>> import sinter.onnxruntime as onnxruntime
    >>> session = onnxruntime.InferenceSession("model.onnx")
    >>> session.run(None, {session.get_inputs()[0].name: x})
    [array([[ 0., 12.]], dtype=float32)]

What has no effect in Sinter is accepted with one warning. docs/python.md says what differs.
"""
from .._sinter import __version__ as _sinter_version
from . import capi  # noqa: F401
from ._errors import (EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf,  # noqa: F401
                      ModelLoaded, NoModel, NoSuchFile, NotImplemented, RuntimeException)  # noqa: A004
from ._once import without_effect as _without_effect
from ._onnx_file import ModelMetadata
from ._options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ._session import PROVIDER as _PROVIDER
from ._session import InferenceSession, NodeArg
from ._values import IOBinding, OrtValue

#: The release of ONNX Runtime whose names these are.
__version__ = "1.20.0"

__all__ = [
    "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg",
    "OrtValue", "RunOptions", "SessionOptions", "disable_telemetry_events", "enable_telemetry_events", "get_all_providers",
    "get_available_providers", "get_build_info", "get_device", "get_version_string", "set_default_logger_severity",
    "set_default_logger_verbosity", "set_seed",
]


def get_available_providers():
    return [_PROVIDER]


def get_all_providers():
    return [_PROVIDER]


def get_device():
    return "CPU"


def get_version_string():
    return __version__


def get_build_info():
    return f"Sinter {_sinter_version}"


def set_default_logger_severity(severity):
    _without_effect("set_default_logger_severity")


def set_default_logger_verbosity(verbosity):
    _without_effect("set_default_logger_verbosity")


def set_seed(seed):
    _without_effect("set_seed")


def enable_telemetry_events():
    """Nothing: there is no telemetry."""


def disable_telemetry_events():
    """Nothing: there is no telemetry."""
