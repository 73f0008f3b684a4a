"""The classes that ONNX Runtime writes in Python."""
from .._session import InferenceSession  # noqa: F401
from .._values import IOBinding, OrtValue  # noqa: F401
