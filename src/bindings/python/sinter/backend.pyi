from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx.backend.base import Backend, BackendRep

__all__: list[str]

class Representation(BackendRep):
    def __init__(self, model: onnx.ModelProto, options: Mapping[str, Any]) -> None: ...
    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]: ...

class SinterBackend(Backend):
    @classmethod
    def supports_device(cls, device: str) -> bool: ...
    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = ..., **kwargs: Any) -> bool: ...
    @classmethod
    def prepare(
        cls, model: onnx.ModelProto, device: str = ..., **kwargs: Any
    ) -> Representation: ...
    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = ..., **kwargs: Any
    ) -> tuple[Any, ...]: ...
    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = ...,
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = ...,
        opset_version: int | None = ...,
        **kwargs: Any,
    ) -> tuple[Any, ...]: ...

def supports_device(device: str) -> bool: ...
def is_compatible(model: onnx.ModelProto, device: str = ..., **kwargs: Any) -> bool: ...
def prepare(model: onnx.ModelProto, device: str = ..., **kwargs: Any) -> Representation: ...
def run_model(
    model: onnx.ModelProto, inputs: Any, device: str = ..., **kwargs: Any
) -> tuple[Any, ...]: ...
def run_node(
    node: onnx.NodeProto,
    inputs: Any,
    device: str = ...,
    outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = ...,
    opset_version: int | None = ...,
    **kwargs: Any,
) -> tuple[Any, ...]: ...
