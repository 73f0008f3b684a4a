"""The modules in which ONNX Runtime has its exceptions."""
from . import _pybind_state, onnxruntime_inference_collection, onnxruntime_pybind11_state  # noqa: F401
