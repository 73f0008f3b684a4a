from collections.abc import Mapping, Sequence
from typing import Any

import torch

from . import Model, Session

__all__: list[str]

class Compiled:
    model: Model
    session: Session
    def __init__(self, model: Model, session: Session, options: Mapping[str, Any] | None = ...) -> None: ...
    def __call__(self, *tensors: torch.Tensor) -> Any: ...
    def to_module(self) -> torch.nn.Module: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def compile(
    module: torch.nn.Module,
    example_inputs: torch.Tensor | Sequence[torch.Tensor],
    *,
    dynamic: Sequence[Mapping[int, str]] | None = ...,
    opset_version: int | None = ...,
    **options: Any,
) -> Compiled: ...
