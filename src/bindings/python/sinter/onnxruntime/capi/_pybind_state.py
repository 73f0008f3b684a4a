"""The same under the other name that ONNX Runtime has for it."""
from .onnxruntime_pybind11_state import *  # noqa: F401, F403
